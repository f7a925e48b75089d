//! Numbers by other losses than one squared error: several numbers at once, and counts by the Poisson deviance.
//!
//! **Formula.** Several numbers: the sum of the squared errors of each around its mean, divided by how many there are, as if each column
//! were a row's share. Counts: half the Poisson deviance, sum w (y ln(y / m) - y + m), with m the mean of the side; a side whose counts are all zero predicts
//! zero, which is impossible for any later count, and is not allowed.
//!
//! **Nominal columns.** One number: by the order of the means, which is exact. Several: all bipartitions of up to [`ENUMERATED`](super::bipartition::ENUMERATED) categories, above the orders of the means of each number.
//!
//! **Cost.** O(outputs) for each entry.

use super::node::{NodeCriterion, ROW, Summary};

/// What is this share of the left side's sum, or less, is nothing.
const NOTHING: f64 = 1e-12;

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

    /// Weight and sums of some rows, around these means.
    fn sums(&self, entries: &[u32], means: &[f64]) -> (f64, Vec<f64>) {
        let mut weight = 0.0;
        let mut sums = vec![0.0; self.n_outputs];
        for row in entries.iter().map(|e| (e & ROW) as usize) {
            let w = self.weight_of(row);
            weight += w;
            let numbers = sums.iter_mut().zip(self.of_row(row)).zip(means);
            numbers.for_each(|((sum, y), mean)| *sum += w * (y - mean));
        }
        (weight, sums)
    }

    /// What a number `y` costs where `mean` is predicted.
    fn loss(&self, y: f64, mean: f64) -> f64 {
        match self.loss {
            Loss::Squared => (y - mean) * (y - mean),
            Loss::Poisson if y > 0.0 => y * (y / mean).ln() - y + mean,
            Loss::Poisson => mean - y,
        }
    }

    fn cost(&self, entries: &[u32], means: &[f64]) -> f64 {
        let rows = entries.iter().map(|e| (e & ROW) as usize);
        let of_row = |row: usize| self.of_row(row).iter().zip(means).map(|(&y, &m)| self.loss(y, m)).sum::<f64>();
        rows.map(|row| self.weight_of(row) * of_row(row)).sum::<f64>() / self.n_outputs as f64
    }

    /// What a split gains with this weight and these sums, around the node's means for the squared error, on the left.
    fn gain_of(&self, node: &Sums, a: f64, sums: impl Iterator<Item = f64>) -> f64 {
        let b = node.weight - a;
        if b <= 0.0 {
            return f64::NAN;
        }
        let outputs = sums.zip(&node.means);
        let total: f64 = match self.loss {
            Loss::Squared => outputs.map(|(s, _)| s * s * node.weight / (a * b)).sum(),
            Loss::Poisson => outputs
                .map(|(left, mean)| {
                    // What is left of the right side after rounding may be a hair below zero.
                    let right = node.weight * mean - left;
                    if left <= 0.0 || right <= NOTHING * left {
                        return f64::NAN;
                    }
                    left * (left / (a * mean)).ln() + right * (right / (b * mean)).ln()
                })
                .sum(),
        };
        total / self.n_outputs as f64
    }
}

impl NodeCriterion for Numbers {
    type Node = Sums;
    /// The weight, and weighted sums, around the node's means for the squared error.
    type Left = (f64, Vec<f64>);

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

    fn cost(&self, node: &Sums) -> f64 {
        node.cost
    }

    fn nothing(&self, _: &Sums) -> (f64, Vec<f64>) {
        (0.0, vec![0.0; self.n_outputs])
    }

    fn push(&self, node: &Sums, (weight, sums): &mut (f64, Vec<f64>), entry: u32) {
        let row = (entry & ROW) as usize;
        let w = self.weight_of(row);
        *weight += w;
        let numbers = sums.iter_mut().zip(self.of_row(row)).zip(&node.means);
        match self.loss {
            Loss::Squared => numbers.for_each(|((sum, y), mean)| *sum += w * (y - mean)),
            Loss::Poisson => numbers.for_each(|((sum, y), _)| *sum += w * y),
        }
    }

    fn gain(&self, node: &Sums, (weight, sums): &(f64, Vec<f64>)) -> f64 {
        self.gain_of(node, *weight, sums.iter().copied())
    }

    fn weights(&self, node: &Sums, (weight, _): &(f64, Vec<f64>)) -> (f64, f64) {
        (*weight, node.weight - weight)
    }

    fn responses(&self, node: &Sums, (weight, sums): &(f64, Vec<f64>)) -> (f64, f64) {
        let (left, mean, right_weight) = (sums[0], node.means[0], node.weight - weight);
        match self.loss {
            Loss::Squared => (mean + left / weight, mean - left / right_weight),
            Loss::Poisson => (left / weight, (node.weight * mean - left) / right_weight),
        }
    }

    fn merge(&self, _: &Sums, (weight, sums): &mut (f64, Vec<f64>), other: &(f64, Vec<f64>)) {
        *weight += other.0;
        sums.iter_mut().zip(&other.1).for_each(|(sum, other)| *sum += other);
    }

    /// With one output the order of the means is provably enough, for the deviance as for the squared error; but not where a side of nothing but zeros, which is forbidden, could be the best.
    fn exact_order(&self, node: &Sums, groups: &[&[u32]], missing: &[u32]) -> Option<Vec<f64>> {
        let all_zero = |group: &[u32]| group.iter().all(|e| self.of_row((e & ROW) as usize)[0] == 0.0);
        let zeros = || groups.iter().any(|group| all_zero(group)) || !missing.is_empty() && all_zero(missing);
        let is_exact = self.n_outputs == 1 && !(self.loss == Loss::Poisson && zeros());
        is_exact.then(|| self.promising_orders(node, groups).swap_remove(0))
    }

    /// By the means of each output.
    fn promising_orders(&self, node: &Sums, groups: &[&[u32]]) -> Vec<Vec<f64>> {
        let sums: Vec<(f64, Vec<f64>)> = groups.iter().map(|group| self.sums(group, &node.means)).collect();
        let mean = |k: usize| sums.iter().map(move |(weight, sums)| sums[k] / weight).collect::<Vec<f64>>();
        (0..self.n_outputs).map(mean).collect()
    }

    fn cost_of(&self, node: &Sums, value: &[f64]) -> f64 {
        let (mean, value) = (node.means[0], value[0]);
        let more = match self.loss {
            Loss::Squared => (mean - value).powi(2),
            Loss::Poisson if mean > 0.0 => mean * (mean / value).ln() + value - mean,
            Loss::Poisson => value,
        };
        node.cost + node.weight * more
    }
}
