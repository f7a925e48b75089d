//! What is chosen from the candidates, and an honest estimate of its score.
//!
//! Weights that are best on some rows look better on these rows than on new ones. So the whole choice is repeated without each fold, and scored on that fold: the weights, the temperature,
//! and the decision whether to use them or the first candidate alone. What is reported is the score of these cross-fitted predictions, with its interval. In rows that are ordered by
//! time, the choice for a stretch only sees earlier stretches.

use super::selection::HeldOut;
use crate::reduction::calibration::curve::{CalibrationCurve, temperature};
use crate::reduction::calibration::fitted::{log_probabilities, scale_log_probabilities};
use ermine_core::error::Result;
use ermine_core::matrix::Task;
use ermine_core::measure::Measure;
use ermine_core::measure::outcome::Outcome;
use ermine_core::metric::Score;
use ermine_core::model::{Output, Prediction};

/// What is made of the candidates, the simplest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combination {
    /// The first candidate alone.
    First,
    /// The weighted mean.
    Mean,
    /// The weighted mean with a temperature.
    CalibratedMean,
}

/// What was chosen, and how good it is.
pub(super) struct EnsembleChoice {
    pub combination: Combination,
    pub weights: Vec<f64>,
    pub inverse_temperature: Option<f64>,
    /// The score of the whole procedure on rows that it has not seen; `None` if the measure is undefined.
    pub estimate: Option<Score>,
    /// The cross-fitted score of each combination that was considered.
    pub considered: Vec<(Combination, f64)>,
}

/// The rows of a split of the held-out rows.
struct FoldRows {
    before: Vec<u32>,
    tested: Vec<u32>,
}

/// Chooses. `fold` is the fold of each held-out row; with `ordered`, later folds are later in time. With `guarded`, the first candidate alone is considered too.
pub(super) fn choose(held_out: &HeldOut<'_>, fold: &[u32], ordered: bool, guarded: bool) -> Result<EnsembleChoice> {
    let all: Vec<u32> = (0..fold.len() as u32).collect();
    let n_folds = fold.iter().max().map_or(0, |&last| last + 1);
    let combinations = combinations(held_out, guarded);
    let rows_of = |f: u32| {
        let before = |other: u32| if ordered { other < f } else { other != f };
        let pick = |keep: &dyn Fn(u32) -> bool| all.iter().copied().filter(|&row| keep(fold[row as usize])).collect();
        FoldRows { before: pick(&before), tested: pick(&|other| other == f) }
    };
    let folds: Vec<FoldRows> = (0..n_folds).map(rows_of).collect();
    let n_numbers = held_out.predictions.first().map_or(0, |values| values.len());
    let mut fitted: Vec<Vec<f64>> = vec![vec![0.0; n_numbers]; combinations.len()];
    for rows in &folds {
        let weights = if rows.before.is_empty() { first_only(held_out) } else { held_out.weights(&rows.before)? };
        let mean = held_out.mean(&weights);
        for (combination, fitted) in combinations.iter().zip(&mut fitted) {
            let numbers = combined(held_out, *combination, &mean, &rows.before)?.0;
            copy_rows(held_out, &numbers, fitted, &rows.tested);
        }
    }
    // Which combination is used for a fold is decided by the others.
    let mut assembled = vec![0.0; n_numbers];
    for rows in &folds {
        let best = if rows.before.is_empty() { 0 } else { best_of(held_out, &fitted, &rows.before)? };
        copy_rows(held_out, &fitted[best], &mut assembled, &rows.tested);
    }
    let prediction = Prediction::new(held_out.output, assembled, held_out.schema);
    let scores = Outcome::new(&prediction, held_out.data)?.scores(&[held_out.measure]);
    let combination = combinations[best_of(held_out, &fitted, &all)?];
    let weights = if combination == Combination::First { first_only(held_out) } else { held_out.weights(&all)? };
    let (_, inverse_temperature) = combined(held_out, combination, &held_out.mean(&weights), &all)?;
    let score = |(combination, numbers): (&Combination, &Vec<f64>)| {
        let loss = held_out.loss(numbers, &all)?;
        Ok((*combination, if held_out.measure.higher_is_better() { -loss } else { loss }))
    };
    let considered = combinations.iter().zip(&fitted).map(score).collect::<Result<_>>()?;
    Ok(EnsembleChoice {
        combination,
        weights,
        inverse_temperature,
        estimate: scores.first().map(|(_, score)| *score),
        considered,
    })
}

fn combinations(held_out: &HeldOut<'_>, guarded: bool) -> Vec<Combination> {
    let probabilistic = matches!(held_out.measure, Measure::LogLoss | Measure::Brier | Measure::CalibrationError);
    let calibrates = probabilistic && held_out.data.task() == Task::Classification && !held_out.single;
    let mut found = Vec::new();
    found.extend(guarded.then_some(Combination::First));
    found.push(Combination::Mean);
    found.extend(calibrates.then_some(Combination::CalibratedMean));
    found
}

fn first_only(held_out: &HeldOut<'_>) -> Vec<f64> {
    (0..held_out.predictions.len()).map(|c| f64::from(u8::from(c == 0))).collect()
}

/// The predictions of a combination for all rows, with what it fits to the rows `before`.
fn combined(
    held_out: &HeldOut<'_>,
    combination: Combination,
    mean: &[f64],
    before: &[u32],
) -> Result<(Vec<f64>, Option<f64>)> {
    match combination {
        Combination::First => Ok((held_out.predictions[0].to_vec(), None)),
        Combination::CalibratedMean if !before.is_empty() => {
            let (codes, labels) = held_out.data.classes()?;
            let k = labels.len();
            let z = log_probabilities(mean, k, Output::Probabilities);
            let of_rows: Vec<f64> = before.iter().flat_map(|&row| &z[row as usize * k..][..k]).copied().collect();
            let y: Vec<u32> = before.iter().map(|&row| codes[row as usize]).collect();
            let w: Vec<f64> = before.iter().map(|&row| held_out.data.row_weight(row as usize)).collect();
            let CalibrationCurve::Temperature { inverse } = temperature(&of_rows, k, &y, &w).curve else {
                return Ok((mean.to_vec(), None));
            };
            Ok((scale_log_probabilities(&z, k, inverse), Some(inverse)))
        }
        _ => Ok((mean.to_vec(), None)),
    }
}

fn copy_rows(held_out: &HeldOut<'_>, from: &[f64], to: &mut [f64], rows: &[u32]) {
    let width = held_out.output.width(held_out.schema);
    for &row in rows {
        let place = row as usize * width..(row as usize + 1) * width;
        to[place.clone()].copy_from_slice(&from[place]);
    }
}

/// The index of the best; of equal ones the first.
fn best_of(held_out: &HeldOut<'_>, fitted: &[Vec<f64>], rows: &[u32]) -> Result<usize> {
    let mut best = (f64::INFINITY, 0);
    for (index, numbers) in fitted.iter().enumerate() {
        let loss = held_out.loss(numbers, rows)?;
        if loss < best.0 {
            best = (loss, index);
        }
    }
    Ok(best.1)
}
