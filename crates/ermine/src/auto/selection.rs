//! Greedy ensemble selection: weights of the candidates that minimize a loss on out-of-fold predictions.
//!
//! **Idea.** Starting from the best candidate, the candidate whose addition lowers the loss of the mean the most is added again and again, with replacement; the best of the ensembles on the
//! way is kept. Against overfitting, several bags each choose by a random half of the rows, and their weights are averaged. (The paper draws halves of a library of thousands of candidates;
//! of the few here, a bag without the best one would have to do with much worse ones.)
//!
//! **Reference.** Caruana, Niculescu-Mizil, Crew and Ksikes, Ensemble selection from libraries of models, 2004.

use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, Schema, Task};
use ermine_core::measure::Measure;
use ermine_core::measure::outcome::Outcome;
use ermine_core::model::{Output, Prediction};
use ermine_core::parallel;
use ermine_core::rng::{self, Purpose};

/// Candidates that a bag adds at most.
const ROUNDS: usize = 25;

/// Bags beside the one that chooses by all rows.
const BAGS: usize = 10;

/// Members with less weight than this are left out.
const LEAST_WEIGHT: f64 = 0.02;

/// More members than this cost more prediction time than they gain.
const MOST_MEMBERS: usize = 10;

/// More rows than this don't change the weights; fewer for measures that are costly.
const MOST_ROWS: usize = 20_000;
const MOST_ROWS_OF_MEASURES: usize = 4_000;

/// Probabilities below this count as this.
const LEAST_PROBABILITY: f64 = 1e-15;

/// What candidates predict for rows that they were not trained on.
pub(super) struct HeldOut<'a> {
    /// The rows that were predicted, with their target.
    pub data: &'a Dataset,
    pub output: Output,
    pub schema: &'a Schema,
    pub measure: Measure,
    /// The numbers of each candidate, row by row.
    pub predictions: Vec<&'a [f64]>,
    /// Candidates that may be chosen together: those whose costs add up to at most 1. Zero without constraints.
    pub costs: Vec<f64>,
    /// Choose a single candidate.
    pub single: bool,
    pub seed: u64,
}

/// The loss of a mean of predictions on some rows.
struct Losses<'a> {
    /// What is averaged: the probability of the true class, numbers, or all that is predicted.
    columns: Vec<Vec<f64>>,
    kind: LossKind<'a>,
}

enum LossKind<'a> {
    Log(Vec<f64>),
    Squared { truth: Vec<f64>, weights: Vec<f64> },
    Other { data: Dataset, of: &'a HeldOut<'a> },
}

impl<'a> Losses<'a> {
    fn new(of: &'a HeldOut<'a>, rows: &[u32]) -> Result<Losses<'a>> {
        let data = of.data;
        let width = of.output.width(of.schema);
        let weights = || rows.iter().map(|&row| data.row_weight(row as usize)).collect::<Vec<f64>>();
        let column = |pick: &dyn Fn(&[f64], u32) -> f64| -> Vec<Vec<f64>> {
            of.predictions.iter().map(|values| rows.iter().map(|&row| pick(values, row)).collect()).collect()
        };
        let is_squared = matches!(of.measure, Measure::Rmse | Measure::Mse | Measure::R2);
        if of.measure == Measure::LogLoss && data.task() == Task::Classification {
            let (codes, _) = data.classes()?;
            let columns = column(&|values, row| values[row as usize * width + codes[row as usize] as usize]);
            return Ok(Losses { columns, kind: LossKind::Log(weights()) });
        }
        if is_squared && width == 1 && data.task() == Task::Regression {
            let (truth, _) = data.values()?;
            let truth = rows.iter().map(|&row| truth[row as usize]).collect();
            let columns = column(&|values, row| values[row as usize]);
            return Ok(Losses { columns, kind: LossKind::Squared { truth, weights: weights() } });
        }
        let of_rows = |values: &&[f64]| {
            rows.iter().flat_map(|&row| &values[row as usize * width..][..width]).copied().collect::<Vec<f64>>()
        };
        let columns = of.predictions.iter().map(of_rows).collect();
        Ok(Losses { columns, kind: LossKind::Other { data: data.select(rows)?, of } })
    }

    /// The loss of `numbers / divisor`, lower is better; infinite if it is undefined.
    fn loss(&self, numbers: impl Iterator<Item = f64>, divisor: f64) -> f64 {
        let loss = match &self.kind {
            LossKind::Log(weights) => {
                let total: f64 = weights.iter().sum();
                numbers.zip(weights).map(|(p, w)| -w * (p / divisor).max(LEAST_PROBABILITY).ln()).sum::<f64>() / total
            }
            LossKind::Squared { truth, weights } => {
                let total: f64 = weights.iter().sum();
                let square = |((x, y), w): ((f64, &f64), &f64)| w * (x / divisor - y).powi(2);
                numbers.zip(truth).zip(weights).map(square).sum::<f64>() / total
            }
            LossKind::Other { data, of } => {
                let prediction = Prediction::new(of.output, numbers.map(|x| x / divisor).collect(), of.schema);
                let value = Outcome::new(&prediction, data).map(|outcome| outcome.values(&[of.measure])[0]);
                value.map_or(f64::INFINITY, |value| of.measure.sort_key(value))
            }
        };
        if loss.is_nan() { f64::INFINITY } else { loss }
    }
}

impl HeldOut<'_> {
    /// The weights of the candidates that are best on these rows, adding up to 1.
    pub fn weights(&self, rows: &[u32]) -> Result<Vec<f64>> {
        let rows = self.few(rows);
        let constrained = self.costs.iter().any(|cost| *cost > 0.0);
        // Constraints hold for each bag, not for their mean; and queries can't be cut in half.
        let one_bag = self.single || constrained || self.data.task() == Task::Ranking || self.predictions.len() < 2;
        let n_bags = if one_bag { 1 } else { BAGS + 1 };
        let bags = parallel::map(n_bags, |bag| Ok(self.bag(&Losses::new(self, &self.rows_of_bag(bag, &rows))?)));
        let mut weights = vec![0.0; self.predictions.len()];
        for bag in bags.into_iter().collect::<Result<Vec<Vec<f64>>>>()? {
            weights.iter_mut().zip(bag).for_each(|(sum, weight)| *sum += weight / n_bags as f64);
        }
        Ok(simplified(weights))
    }

    /// At most so many rows as weights depend on.
    fn few(&self, rows: &[u32]) -> Vec<u32> {
        let fast = matches!(self.measure, Measure::LogLoss | Measure::Rmse | Measure::Mse | Measure::R2);
        let most = if fast { MOST_ROWS } else { MOST_ROWS_OF_MEASURES };
        if rows.len() <= most || self.data.task() == Task::Ranking {
            return rows.to_vec();
        }
        let mut few = rows.to_vec();
        rng::shuffle(&mut Purpose::AutoRows.stream(self.seed, &[rows.len() as u64]), &mut few);
        few.truncate(most);
        few.sort_unstable();
        few
    }

    /// The rows by which a bag chooses: all, then random halves.
    fn rows_of_bag(&self, bag: usize, rows: &[u32]) -> Vec<u32> {
        let mut half = rows.to_vec();
        if bag > 0 {
            rng::shuffle(&mut Purpose::AutoBags.stream(self.seed, &[bag as u64]), &mut half);
            half.truncate(rows.len().div_ceil(2));
            half.sort_unstable();
        }
        half
    }

    /// Greedy selection with replacement.
    fn bag(&self, losses: &Losses<'_>) -> Vec<f64> {
        let mut counts = vec![0usize; self.predictions.len()];
        let mut sums = vec![0.0; losses.columns.first().map_or(0, Vec::len)];
        let (mut best_counts, mut best_loss) = (counts.clone(), f64::INFINITY);
        let rounds = if self.single { 1 } else { ROUNDS };
        for round in 0..rounds {
            let spent: f64 =
                self.costs.iter().zip(&counts).filter(|(_, count)| **count > 0).map(|(cost, _)| cost).sum();
            let affordable = |&c: &usize| counts[c] > 0 || spent + self.costs[c] <= 1.0;
            let of = |c: usize| {
                let with = sums.iter().zip(&losses.columns[c]).map(|(sum, number)| sum + number);
                losses.loss(with, (round + 1) as f64)
            };
            let choices = (0..counts.len()).filter(affordable).map(|c| (of(c), c));
            // Of equal ones the first.
            let Some((loss, choice)) = choices.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
            counts[choice] += 1;
            sums.iter_mut().zip(&losses.columns[choice]).for_each(|(sum, number)| *sum += number);
            if loss < best_loss || round == 0 {
                (best_counts, best_loss) = (counts.clone(), loss);
            }
        }
        let total = best_counts.iter().sum::<usize>().max(1) as f64;
        best_counts.iter().map(|&count| count as f64 / total).collect()
    }

    /// The weighted mean of the candidates for all rows.
    pub fn mean(&self, weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.predictions.first().map_or(0, |p| p.len())];
        for (values, &weight) in self.predictions.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
            sums.iter_mut().zip(*values).for_each(|(sum, value)| *sum += weight * value);
        }
        sums
    }

    /// The loss of numbers on some rows, lower is better; infinite if it is undefined.
    pub fn loss(&self, numbers: &[f64], rows: &[u32]) -> Result<f64> {
        let width = self.output.width(self.schema);
        let of_rows = rows.iter().flat_map(|&row| &numbers[row as usize * width..][..width]).copied().collect();
        let (prediction, data) = (Prediction::new(self.output, of_rows, self.schema), self.data.select(rows)?);
        Ok(self.measure.sort_key(Outcome::new(&prediction, &data)?.values(&[self.measure])[0]))
    }
}

/// The weights without those that hardly count, adding up to 1.
fn simplified(weights: Vec<f64>) -> Vec<f64> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let keeps = |c: usize| order.iter().position(|&o| o == c).is_some_and(|place| place < MOST_MEMBERS);
    let largest = order.first().map_or(0.0, |&c| weights[c]);
    let kept = |c: usize| weights[c] >= LEAST_WEIGHT.min(largest) && weights[c] > 0.0 && keeps(c);
    let total: f64 = (0..weights.len()).filter(|&c| kept(c)).map(|c| weights[c]).sum();
    (0..weights.len()).map(|c| if kept(c) && total > 0.0 { weights[c] / total } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::matrix::{Features, Target};
    use ermine_core::table::{Column, Table};
    use std::sync::Arc;

    fn regression(truth: &[f64]) -> Dataset {
        let table = Table::new(vec![Column::numeric("x", vec![0.0; truth.len()])]).unwrap();
        let target = Target::Values { values: truth.to_vec(), n_outputs: 1 };
        Dataset::from_parts(Features::new(Arc::new(table)), target, Task::Regression).unwrap()
    }

    fn held_out<'a>(data: &'a Dataset, schema: &'a Schema, predictions: Vec<&'a [f64]>) -> HeldOut<'a> {
        let costs = vec![0.0; predictions.len()];
        let (output, measure) = (Output::Values, Measure::Rmse);
        HeldOut { data, output, schema, measure, predictions, costs, single: false, seed: 1 }
    }

    /// Two candidates whose errors cancel: the best weights are those that cancel them, found by brute force over all counts.
    #[test]
    fn the_weights_are_those_of_brute_force() {
        let truth: Vec<f64> = (0..40).map(f64::from).collect();
        let up: Vec<f64> = truth.iter().map(|y| y + 1.0).collect();
        let down: Vec<f64> = truth.iter().map(|y| y - 2.0).collect();
        let (data, rows) = (regression(&truth), (0..40u32).collect::<Vec<_>>());
        let schema = Schema::of(&data);
        let of = held_out(&data, &schema, vec![&up, &down]);
        let weights = of.weights(&rows).unwrap();
        let loss = |w: f64| of.loss(&of.mean(&[w, 1.0 - w]), &rows).unwrap();
        let best = (0..=ROUNDS).map(|i| loss(i as f64 / ROUNDS as f64)).fold(f64::INFINITY, f64::min);
        assert!(loss(weights[0]) <= best + 1e-9, "{weights:?}");
        assert!((weights[0] - 2.0 / 3.0).abs() < 0.02, "{weights:?}");
    }

    #[test]
    fn one_that_is_perfect_takes_all_and_costs_are_kept() {
        let truth: Vec<f64> = (0..30).map(f64::from).collect();
        let bad: Vec<f64> = truth.iter().map(|y| y * 0.5).collect();
        let (data, rows) = (regression(&truth), (0..30u32).collect::<Vec<_>>());
        let schema = Schema::of(&data);
        let mut of = held_out(&data, &schema, vec![&bad, &truth, &bad]);
        of.single = true;
        assert_eq!(of.weights(&rows).unwrap(), [0.0, 1.0, 0.0]);
        of.single = false;
        assert_eq!(of.weights(&rows).unwrap(), [0.0, 1.0, 0.0], "no bag needs worse candidates");
        of.costs = vec![0.3, 1.5, 0.3];
        let weights = of.weights(&rows).unwrap();
        assert!(weights[1] == 0.0 && weights[0] > 0.0, "too costly: {weights:?}");
    }

    #[test]
    fn the_general_measure_is_the_fast_one() {
        let truth: Vec<f64> = (0..25).map(|i| f64::from(i * i % 7)).collect();
        let guess: Vec<f64> = truth.iter().map(|y| 0.5 * y + 1.0).collect();
        let (data, rows) = (regression(&truth), (0..25u32).collect::<Vec<_>>());
        let schema = Schema::of(&data);
        let of = held_out(&data, &schema, vec![&guess]);
        let fast = Losses::new(&of, &rows).unwrap().loss(guess.iter().copied(), 1.0);
        assert!((fast.sqrt() - of.loss(&guess, &rows).unwrap()).abs() < 1e-12);
    }
}
