//! The decision threshold of two classes with the lowest cost.

use crate::failure::Failure;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Model, Output, Prediction};
use serde::Serialize;

/// Costs of the two kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MistakeCosts {
    /// A row of the first class that is predicted as the second.
    pub false_positive: f64,
    /// A row of the second class that is predicted as the first.
    pub false_negative: f64,
}

/// Reads `FP:FN`.
pub fn costs(text: &str) -> Result<MistakeCosts, String> {
    let cost = |text: &str| text.trim().parse().ok().filter(|cost: &f64| cost.is_finite() && *cost >= 0.0);
    let pair = text.split_once(':').and_then(|(fp, fn_)| Some((cost(fp)?, cost(fn_)?)));
    match pair.filter(|(fp, fn_)| fp + fn_ > 0.0) {
        Some((false_positive, false_negative)) => Ok(MistakeCosts { false_positive, false_negative }),
        None => Err("expected the costs of a false positive and a false negative, for example 1:5".into()),
    }
}

/// Thresholds on the probability of the second class, and their costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThresholdChoice {
    /// The class that is predicted at or above the threshold.
    pub positive: String,
    /// The threshold with the lowest cost on these rows.
    pub threshold: f64,
    /// Its mean cost per row.
    pub cost: f64,
    /// The threshold that would be best if the probabilities were exact: FP / (FP + FN).
    pub ideal_threshold: f64,
    /// Its mean cost per row.
    pub ideal_cost: f64,
    /// The mean cost per row of 0.5.
    pub default_cost: f64,
}

/// The probability of the second class of each row; an error unless the model predicts probabilities of two classes.
pub fn second_probabilities(prediction: &Prediction, flag: &str) -> Result<Vec<f64>, Failure> {
    let is_binary = prediction.task() == Task::Classification && prediction.classes().len() == 2;
    if prediction.output() != Output::Probabilities || !is_binary {
        return Err(Failure::Usage(format!("{flag}: the model must predict probabilities of two classes")));
    }
    Ok((0..prediction.n_rows()).map(|row| prediction.row(row)[1]).collect())
}

/// The cheapest threshold on the rows of a data set.
pub fn choose(model: &Model, data: &Dataset, costs: MistakeCosts) -> Result<ThresholdChoice, Failure> {
    let probabilities = second_probabilities(&model.predict_data(data)?, "--cost")?;
    let (codes, labels) = data.classes()?;
    let positive = &model.schema().classes[1];
    let is_positive: Vec<bool> = codes.iter().map(|&code| labels[code as usize] == *positive).collect();
    let weights: Vec<f64> = (0..codes.len()).map(|row| data.row_weight(row)).collect();
    Ok(cheapest(positive.clone(), &probabilities, &is_positive, &weights, costs))
}

fn cheapest(
    positive: String,
    probabilities: &[f64],
    is_positive: &[bool],
    weights: &[f64],
    costs: MistakeCosts,
) -> ThresholdChoice {
    let total: f64 = weights.iter().sum();
    let price = |row: usize| if is_positive[row] { costs.false_negative } else { costs.false_positive } * weights[row];
    let cost_of = |threshold: f64| {
        let wrong = (0..probabilities.len()).filter(|&row| (probabilities[row] >= threshold) != is_positive[row]);
        wrong.map(price).sum::<f64>() / total
    };
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    // From "all are positive" on, rows leave in ascending order of their probability; ties leave together. Between two probabilities the threshold is their mean.
    let mut cost: f64 = (0..probabilities.len()).filter(|&row| !is_positive[row]).map(price).sum();
    let (mut least, mut threshold) = (cost, 0.0);
    let mut tied = order.chunk_by(|&a, &b| probabilities[a] == probabilities[b]).peekable();
    while let Some(rows) = tied.next() {
        cost += rows.iter().map(|&row| if is_positive[row] { price(row) } else { -price(row) }).sum::<f64>();
        if cost < least - 1e-12 * total {
            let here = probabilities[rows[0]];
            // Above all probabilities, of which the highest may be 1.
            let above = if here < 1.0 { here / 2.0 + 0.5 } else { here.next_up() };
            (least, threshold) = (cost, tied.peek().map_or(above, |next| here / 2.0 + probabilities[next[0]] / 2.0));
        }
    }
    let ideal_threshold = costs.false_positive / (costs.false_positive + costs.false_negative);
    let (ideal_cost, default_cost) = (cost_of(ideal_threshold), cost_of(0.5));
    ThresholdChoice { positive, threshold, cost: least / total, ideal_threshold, ideal_cost, default_cost }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_threshold_is_that_of_trying_all() {
        let mut rng = ermine_core::rng::stream(4, &[]);
        let mut draw = |n: u64| ermine_core::rng::below(&mut rng, n as usize) as f64;
        for round in 0..200 {
            let n = 1 + round % 12;
            let probabilities: Vec<f64> = (0..n).map(|_| draw(6) / 5.0).collect();
            let is_positive: Vec<bool> = (0..n).map(|_| draw(2) > 0.0).collect();
            let weights: Vec<f64> = (0..n).map(|_| 1.0 + draw(3)).collect();
            let costs = MistakeCosts { false_positive: draw(4), false_negative: 1.0 + draw(4) };
            let found = cheapest("yes".into(), &probabilities, &is_positive, &weights, costs);
            let cost = |threshold: f64| -> f64 {
                let wrong = (0..n).filter(|&row| (probabilities[row] >= threshold) != is_positive[row]);
                let price = |row: usize| {
                    weights[row] * if is_positive[row] { costs.false_negative } else { costs.false_positive }
                };
                wrong.map(price).sum::<f64>() / weights.iter().sum::<f64>()
            };
            let least = (0..=120).map(|k| cost(k as f64 / 100.0)).fold(f64::INFINITY, f64::min);
            assert!((cost(found.threshold) - found.cost).abs() < 1e-12);
            assert!((found.cost - least).abs() < 1e-12, "{found:?} {least}");
        }
    }

    #[test]
    fn costs_are_two_numbers() {
        assert_eq!(costs("1:5"), Ok(MistakeCosts { false_positive: 1.0, false_negative: 5.0 }));
        for wrong in ["", "1", "1:x", "-1:2", "0:0", "1:inf"] {
            assert!(costs(wrong).is_err(), "{wrong}");
        }
    }
}
