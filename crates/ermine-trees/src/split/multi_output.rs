//! Criterion for several targets, and for the Poisson deviance.
//!
//! **Formula.** Several targets: the average of their squared errors around their means. Counts: half the Poisson deviance, sum w (y ln(y / m) - y + m), with m the mean of the side; a side whose counts are all zero would predict
//! zero, which has infinite deviance for any positive count, and is not allowed.
//!
//! **Nominal columns.** One number: by the order of the means, which is exact. Several: all bipartitions of up to [`ENUMERATED`](super::bipartition::ENUMERATED) categories, above the orders of the means of each number.
//!
//! **Cost.** O(outputs) for each entry.

use super::node::{NodeCriterion, NodeSummary, ROW};

/// A right-side sum below this fraction of the left-side sum counts as zero.
const NOTHING: f64 = 1e-12;

/// The loss of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetLoss {
    /// The mean of the squared errors of all outputs.
    Squared,
    /// Half the Poisson deviance.
    Poisson,
}

/// Criterion for one or more targets per row.
#[derive(Debug, Clone)]
pub struct MultiOutputCriterion {
    values: Vec<f64>,
    n_outputs: usize,
    weight: Option<Vec<f64>>,
    loss: TargetLoss,
}

/// Weight, means and cost of a node.
#[derive(Debug, Clone)]
pub struct MultiOutputNode {
    weight: f64,
    means: Vec<f64>,
    cost: f64,
}

impl MultiOutputCriterion {
    /// The criterion for rows of these numbers, `n_outputs` for each.
    pub fn new(values: &[f64], n_outputs: usize, weight: Option<&[f64]>, loss: TargetLoss) -> Self {
        MultiOutputCriterion { values: values.to_vec(), n_outputs, weight: weight.map(<[f64]>::to_vec), loss }
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

    /// The loss of a target `y` if `mean` is predicted.
    fn loss(&self, y: f64, mean: f64) -> f64 {
        match self.loss {
            TargetLoss::Squared => (y - mean) * (y - mean),
            TargetLoss::Poisson if y > 0.0 => y * (y / mean).ln() - y + mean,
            TargetLoss::Poisson => mean - y,
        }
    }

    fn cost(&self, entries: &[u32], means: &[f64]) -> f64 {
        let rows = entries.iter().map(|e| (e & ROW) as usize);
        let of_row = |row: usize| self.of_row(row).iter().zip(means).map(|(&y, &m)| self.loss(y, m)).sum::<f64>();
        rows.map(|row| self.weight_of(row) * of_row(row)).sum::<f64>() / self.n_outputs as f64
    }

    /// The gain of a split with this weight and these sums on the left (deviations from the node's means for the squared error).
    fn gain_of(&self, node: &MultiOutputNode, a: f64, sums: impl Iterator<Item = f64>) -> f64 {
        let b = node.weight - a;
        if b <= 0.0 {
            return f64::NAN;
        }
        let outputs = sums.zip(&node.means);
        let total: f64 = match self.loss {
            TargetLoss::Squared => outputs.map(|(s, _)| s * s * node.weight / (a * b)).sum(),
            TargetLoss::Poisson => outputs
                .map(|(left, mean)| {
                    // Rounding may make the right side slightly negative.
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

impl NodeCriterion for MultiOutputCriterion {
    type Node = MultiOutputNode;
    /// The weight, and weighted sums, around the node's means for the squared error.
    type Left = (f64, Vec<f64>);

    fn width(&self) -> usize {
        self.n_outputs
    }

    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (NodeSummary, MultiOutputNode) {
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
        (NodeSummary { weight, cost, pure }, MultiOutputNode { weight, means, cost })
    }

    fn weight(&self, entries: &[u32]) -> f64 {
        entries.iter().map(|e| self.weight_of((e & ROW) as usize)).sum()
    }

    fn select(&self, rows: &[u32]) -> Self {
        MultiOutputCriterion {
            values: rows.iter().flat_map(|&r| self.of_row(r as usize)).copied().collect(),
            weight: self.weight.as_ref().map(|w| rows.iter().map(|&r| w[r as usize]).collect()),
            ..*self
        }
    }

    fn cost(&self, node: &MultiOutputNode) -> f64 {
        node.cost
    }

    fn nothing(&self, _: &MultiOutputNode) -> (f64, Vec<f64>) {
        (0.0, vec![0.0; self.n_outputs])
    }

    fn push(&self, node: &MultiOutputNode, (weight, sums): &mut (f64, Vec<f64>), entry: u32) {
        let row = (entry & ROW) as usize;
        let w = self.weight_of(row);
        *weight += w;
        let numbers = sums.iter_mut().zip(self.of_row(row)).zip(&node.means);
        match self.loss {
            TargetLoss::Squared => numbers.for_each(|((sum, y), mean)| *sum += w * (y - mean)),
            TargetLoss::Poisson => numbers.for_each(|((sum, y), _)| *sum += w * y),
        }
    }

    fn gain(&self, node: &MultiOutputNode, (weight, sums): &(f64, Vec<f64>)) -> f64 {
        self.gain_of(node, *weight, sums.iter().copied())
    }

    fn weights(&self, node: &MultiOutputNode, (weight, _): &(f64, Vec<f64>)) -> (f64, f64) {
        (*weight, node.weight - weight)
    }

    fn responses(&self, node: &MultiOutputNode, (weight, sums): &(f64, Vec<f64>)) -> (f64, f64) {
        let (left, mean, right_weight) = (sums[0], node.means[0], node.weight - weight);
        match self.loss {
            TargetLoss::Squared => (mean + left / weight, mean - left / right_weight),
            TargetLoss::Poisson => (left / weight, (node.weight * mean - left) / right_weight),
        }
    }

    fn merge(&self, _: &MultiOutputNode, (weight, sums): &mut (f64, Vec<f64>), other: &(f64, Vec<f64>)) {
        *weight += other.0;
        sums.iter_mut().zip(&other.1).for_each(|(sum, other)| *sum += other);
    }

    /// With one output the order of the means is provably sufficient for both losses, unless a side with only zeros, which is forbidden, could be the best.
    fn exact_order(&self, node: &MultiOutputNode, groups: &[&[u32]], missing: &[u32]) -> Option<Vec<f64>> {
        let all_zero = |group: &[u32]| group.iter().all(|e| self.of_row((e & ROW) as usize)[0] == 0.0);
        let zeros = || groups.iter().any(|group| all_zero(group)) || !missing.is_empty() && all_zero(missing);
        let is_exact = self.n_outputs == 1 && !(self.loss == TargetLoss::Poisson && zeros());
        is_exact.then(|| self.promising_orders(node, groups).swap_remove(0))
    }

    /// By the means of each output.
    fn promising_orders(&self, node: &MultiOutputNode, groups: &[&[u32]]) -> Vec<Vec<f64>> {
        let sums: Vec<(f64, Vec<f64>)> = groups.iter().map(|group| self.sums(group, &node.means)).collect();
        let mean = |k: usize| sums.iter().map(move |(weight, sums)| sums[k] / weight).collect::<Vec<f64>>();
        (0..self.n_outputs).map(mean).collect()
    }

    fn cost_of(&self, node: &MultiOutputNode, value: &[f64]) -> f64 {
        let (mean, value) = (node.means[0], value[0]);
        let more = match self.loss {
            TargetLoss::Squared => (mean - value).powi(2),
            TargetLoss::Poisson if mean > 0.0 => mean * (mean / value).ln() + value - mean,
            TargetLoss::Poisson => value,
        };
        node.cost + node.weight * more
    }
}
