//! Cross-validation: every row is predicted once by a model that has not seen it.
//!
//! **Idea.** The rows are cut at random into k folds; each fold is predicted by a model trained on the others. Classes are spread evenly over the
//! folds, query groups stay together. Everything that is fitted (encoders, bins, imputation) is fitted inside the training
//! part, because all of it happens inside `fit`.
//!
//! **Errors.** The mean over folds is the estimate; the spread shown is the standard deviation over folds. (The folds share training rows, so that
//! the spread is a guide and no exact confidence interval: Bengio and Grandvalet, 2004.)

use super::Evaluation;
use crate::error::{Error, Result};
use crate::learner::{Context, Learner, fit};
use crate::matrix::{Dataset, Target};
use crate::progress::{Event, report};
use crate::rng;
use serde::Serialize;

/// The random stream that deals rows to folds.
const FOLDS: u64 = 3;

/// Which fold each row belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Folds {
    fold: Vec<u32>,
    n_folds: usize,
}

impl Folds {
    /// Deals rows to `n_folds` folds at random: classes spread evenly, groups kept together.
    pub fn new(data: &Dataset, n_folds: usize, seed: u64) -> Result<Folds> {
        let n_units = data.group().map_or(data.n_rows(), |g| g.iter().max().map_or(0, |&m| m as usize + 1));
        if n_folds < 2 || n_folds > n_units {
            let (owner, name) = ("cross-validation".to_string(), "folds".to_string());
            let allowed = format!("a whole number from 2 to {n_units}");
            return Err(Error::Param { owner, name, value: n_folds.to_string(), allowed });
        }
        let mut units: Vec<u32> = (0..n_units as u32).collect();
        rng::shuffle(&mut rng::stream(seed, &[FOLDS]), &mut units);
        if let (Target::Classes { codes, .. }, None) = (data.target(), data.group()) {
            // A stable sort by class, then dealing in turn, gives every fold its share of every class.
            units.sort_by_key(|&row| codes[row as usize]);
        }
        let mut fold_of_unit = vec![0u32; n_units];
        units.iter().enumerate().for_each(|(i, &unit)| fold_of_unit[unit as usize] = (i % n_folds) as u32);
        let fold = match data.group() {
            Some(group) => group.iter().map(|&g| fold_of_unit[g as usize]).collect(),
            None => fold_of_unit,
        };
        Ok(Folds { fold, n_folds })
    }

    /// How many folds.
    pub fn n_folds(&self) -> usize {
        self.n_folds
    }

    /// The rows to train on and the rows to test on, for one fold.
    pub fn split(&self, fold: usize) -> (Vec<u32>, Vec<u32>) {
        (0..self.fold.len() as u32).partition(|&row| self.fold[row as usize] as usize != fold)
    }
}

/// A score over folds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoldScore {
    /// Its name.
    pub name: &'static str,
    /// The mean over folds.
    pub mean: f64,
    /// The standard deviation over folds.
    pub deviation: f64,
    /// Whether higher is better.
    pub higher_is_better: bool,
    /// The score of each fold.
    pub folds: Vec<f64>,
}

/// The result of cross-validating one learner. The first score is what learners are compared by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrossValidation {
    /// The scores, the most important first.
    pub scores: Vec<FoldScore>,
}

/// Cross-validates a learner.
pub fn cross_validate(
    learner: &dyn Learner,
    data: &Dataset,
    folds: &Folds,
    context: &Context<'_>,
) -> Result<CrossValidation> {
    let what = format!("cross-validating {}", learner.info().name);
    report(context.observer, Event::Begin { what: &what, total: Some(folds.n_folds() as u64) })?;
    let mut evaluations = Vec::with_capacity(folds.n_folds());
    for fold in 0..folds.n_folds() {
        let (train, test) = folds.split(fold);
        let model = fit(learner, &data.select(&train)?, context)?;
        evaluations.push(model.evaluate(&data.select(&test)?)?);
        report(context.observer, Event::Step { done: fold as u64 + 1, score: None })?;
    }
    report(context.observer, Event::End)?;
    Ok(CrossValidation { scores: summarise(&evaluations) })
}

fn summarise(evaluations: &[Evaluation]) -> Vec<FoldScore> {
    let Some(first) = evaluations.first() else { return Vec::new() };
    let summary = |named: &super::NamedScore| {
        let folds: Vec<f64> = evaluations.iter().filter_map(|e| e.score(named.name)).map(|s| s.value).collect();
        let n = folds.len() as f64;
        let mean = folds.iter().sum::<f64>() / n;
        let variance = folds.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
        let higher_is_better = named.higher_is_better;
        FoldScore { name: named.name, mean, deviation: variance.sqrt(), higher_is_better, folds }
    };
    first.scores.iter().map(summary).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Column, Table};

    #[test]
    fn folds_are_even_in_size_and_in_classes() {
        let names: Vec<Option<&str>> = (0..103).map(|i| Some(if i % 10 == 0 { "rare" } else { "common" })).collect();
        let table = Table::new(vec![Column::numeric("x", vec![0.0; 103]), Column::nominal("y", &names)]).unwrap();
        let data = table.dataset("y").unwrap();
        let folds = Folds::new(&data, 5, 1).unwrap();
        let mut seen = vec![0; 103];
        for fold in 0..5 {
            let (train, test) = folds.split(fold);
            assert_eq!(train.len() + test.len(), 103);
            test.iter().for_each(|&row| seen[row as usize] += 1);
            let rare = test.iter().filter(|&&row| row % 10 == 0).count();
            assert!((2..=3).contains(&rare) && (20..=21).contains(&test.len()));
        }
        assert!(seen.iter().all(|&n| n == 1));
        assert!(Folds::new(&data, 1, 1).is_err() && Folds::new(&data, 104, 1).is_err());
    }

    #[test]
    fn groups_stay_together() {
        let rows: Vec<Vec<f64>> = (0..60).map(|i| vec![f64::from(i), f64::from(i % 7), f64::from(i / 6)]).collect();
        let roles = crate::matrix::Roles { group: Some("q".into()), ..crate::matrix::Roles::target("y") };
        let data = Dataset::new(Table::from_rows(&["x", "y", "q"], &rows).unwrap(), &roles).unwrap();
        let folds = Folds::new(&data, 3, 1).unwrap();
        for fold in 0..3 {
            let (train, test) = folds.split(fold);
            assert!(test.iter().all(|t| train.iter().all(|s| s / 6 != t / 6)));
        }
    }
}
