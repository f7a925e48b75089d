//! Numbers by other losses than one squared error: several numbers at once, and counts by the Poisson deviance.
//!
//! **Formula.** Several numbers: the sum of the squared errors of each around its mean, divided by how many there are, as if each column
//! were a row's share. Counts: half the Poisson deviance, sum w (y ln(y / m) - y + m), with m the mean of the side; a side whose counts are all zero predicts
//! zero, which is impossible for any later count, and is not allowed.
//!
//! **Cost.** O(outputs) for each entry.

use super::exact::Threshold;
use super::node::{Best, CategoryOrders, Grid, Limits, NodeCriterion, ROW, Running, Segment, Summary, gain_at, sweep};

/// Which loss is summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The mean of the squared errors of all outputs.
    Squared,
    /// Half the Poisson deviance.
    Poisson,
}

/// Several numbers for each row.
#[derive(Debug, Clone)]
pub struct Numbers {
    values: Vec<f64>,
    n_outputs: usize,
    weight: Option<Vec<f64>>,
    loss: Loss,
}

/// Weight and sums of a node. The sums of the squared error are around the node's means.
#[derive(Debug, Clone)]
pub struct Sums {
    weight: f64,
    means: Vec<f64>,
    cost: f64,
}

impl Numbers {
    /// The criterion for rows of these numbers, `n_outputs` for each.
    pub fn new(values: &[f64], n_outputs: usize, weight: Option<&[f64]>, loss: Loss) -> Self {
        Numbers { values: values.to_vec(), n_outputs, weight: weight.map(<[f64]>::to_vec), loss }
    }

    fn weight_of(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |w| w[row])
    }

    fn of_row(&self, row: usize) -> &[f64] {
        &self.values[row * self.n_outputs..(row + 1) * self.n_outputs]
    }

    fn running<'a>(&'a self, node: &'a Sums) -> RunningSums<'a> {
        RunningSums { criterion: self, node, weight: 0.0, sums: vec![0.0; self.n_outputs] }
    }

    fn cost(&self, entries: &[u32], means: &[f64]) -> f64 {
        let rows = entries.iter().map(|e| (e & ROW) as usize);
        let loss = |y: f64, mean: f64| match self.loss {
            Loss::Squared => (y - mean) * (y - mean),
            Loss::Poisson if y > 0.0 => y * (y / mean).ln() - y + mean,
            Loss::Poisson => mean - y,
        };
        let of_row = |row: usize| self.of_row(row).iter().zip(means).map(|(&y, &m)| loss(y, m)).sum::<f64>();
        rows.map(|row| self.weight_of(row) * of_row(row)).sum::<f64>() / self.n_outputs as f64
    }
}

impl NodeCriterion for Numbers {
    type Node = Sums;

    fn width(&self) -> usize {
        self.n_outputs
    }

    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (Summary, Sums) {
        let mut weight = 0.0;
        let mut means = vec![0.0; self.n_outputs];
        let mut pure = true;
        let first = self.of_row((entries[0] & ROW) as usize).to_vec();
        for row in entries.iter().map(|e| (e & ROW) as usize) {
            let w = self.weight_of(row);
            weight += w;
            means.iter_mut().zip(self.of_row(row)).for_each(|(mean, y)| *mean += w * y);
            pure &= self.of_row(row) == first;
        }
        means.iter_mut().for_each(|mean| *mean /= weight);
        if pure {
            means = first;
        }
        let cost = if pure { 0.0 } else { self.cost(entries, &means) };
        value.extend(&means);
        (Summary { weight, cost, pure }, Sums { weight, means, cost })
    }

    fn weight(&self, entries: &[u32]) -> f64 {
        entries.iter().map(|e| self.weight_of((e & ROW) as usize)).sum()
    }

    fn select(&self, rows: &[u32]) -> Self {
        Numbers {
            values: rows.iter().flat_map(|&r| self.of_row(r as usize)).copied().collect(),
            weight: self.weight.as_ref().map(|w| rows.iter().map(|&r| w[r as usize]).collect()),
            ..*self
        }
    }

    fn best_threshold(&self, node: &Sums, column: Segment<'_>, limits: &Limits) -> Option<Best> {
        sweep(&self.running(node), column, limits, Grid::new(node.cost))
    }

    fn category_orders(&self, _: &Sums, groups: &[&[u32]], _: &[u32], _: &Limits) -> CategoryOrders {
        let mean = |k: usize| {
            move |group: &&[u32]| {
                let (mut weight, mut sum) = (0.0, 0.0);
                for row in group.iter().map(|e| (e & ROW) as usize) {
                    weight += self.weight_of(row);
                    sum += self.weight_of(row) * self.of_row(row)[k];
                }
                sum / weight
            }
        };
        let mut orders: Vec<Vec<f64>> = (0..self.n_outputs).map(|k| groups.iter().map(mean(k)).collect()).collect();
        // With one output the order of the means is provably enough, for the deviance as for the squared error.
        if orders.len() == 1 { CategoryOrders::Exact(orders.remove(0)) } else { CategoryOrders::Heuristic(orders) }
    }

    fn gain_at(&self, node: &Sums, column: Segment<'_>, place: Threshold, limits: &Limits) -> Option<f64> {
        gain_at(&self.running(node), column, place, limits)
    }
}

/// The left side of a threshold that moves up.
#[derive(Clone)]
struct RunningSums<'a> {
    criterion: &'a Numbers,
    node: &'a Sums,
    weight: f64,
    /// Weighted sums, around the node's means for the squared error.
    sums: Vec<f64>,
}

impl Running for RunningSums<'_> {
    fn push(&mut self, entry: u32) {
        let row = (entry & ROW) as usize;
        let w = self.criterion.weight_of(row);
        self.weight += w;
        let numbers = self.sums.iter_mut().zip(self.criterion.of_row(row)).zip(&self.node.means);
        match self.criterion.loss {
            Loss::Squared => numbers.for_each(|((sum, y), mean)| *sum += w * (y - mean)),
            Loss::Poisson => numbers.for_each(|((sum, y), _)| *sum += w * y),
        }
    }

    fn gain(&self) -> f64 {
        let (a, b) = (self.weight, self.node.weight - self.weight);
        if b <= 0.0 {
            return f64::NAN;
        }
        let outputs = self.sums.iter().zip(&self.node.means);
        let total: f64 = match self.criterion.loss {
            Loss::Squared => outputs.map(|(s, _)| s * s * self.node.weight / (a * b)).sum(),
            Loss::Poisson => outputs
                .map(|(&left, mean)| {
                    // What is left of the right side after rounding may be a hair below zero.
                    let right = self.node.weight * mean - left;
                    if left <= 0.0 || right <= 1e-12 * left {
                        return f64::NAN;
                    }
                    left * (left / (a * mean)).ln() + right * (right / (b * mean)).ln()
                })
                .sum(),
        };
        total / self.sums.len() as f64
    }

    fn weights(&self) -> (f64, f64) {
        (self.weight, self.node.weight - self.weight)
    }

    fn responses(&self) -> (f64, f64) {
        let (left, mean, right_weight) = (self.sums[0], self.node.means[0], self.node.weight - self.weight);
        match self.criterion.loss {
            Loss::Squared => (mean + left / self.weight, mean - left / right_weight),
            Loss::Poisson => (left / self.weight, (self.node.weight * mean - left) / right_weight),
        }
    }
}
