//! Absolute-error criterion: deviations from the median of each side.
//!
//! **Idea.** A Fenwick tree over the ranks of the node's numbers holds, for the rows on one side, their weights and weighted numbers; its
//! prefix search finds the weighted median, and two prefix sums give the absolute error around it. A row that moves to the left is added to one tree and taken
//! out of the other.
//!
//! **Formula.** cost = sum w |y - m|, with m the lower weighted median: the least y with at least half of the weight at or below it (half-way to the next where it is exactly
//! half). Several outputs are averaged.
//!
//! **Cost.** O(n log n) for each column of a node. **Nominal columns**: all bipartitions if they are few, else by the order of the medians, a heuristic. **Reference.** Fenwick 1994.

use super::node::{NodeCriterion, NodeSummary, ROW};

/// Absolute error around the median.
#[derive(Debug, Clone)]
pub struct AbsoluteErrorCriterion {
    values: Vec<f64>,
    n_outputs: usize,
    weight: Option<Vec<f64>>,
    /// For each row and output, the rank of its target within its current node.
    rank: Vec<u32>,
}

/// The sorted targets of a node.
#[derive(Debug, Clone)]
pub struct MedianNode {
    cost: f64,
    weight: f64,
    outputs: Vec<RankedOutput>,
}

/// The targets of one output in a node.
#[derive(Debug, Clone)]
struct RankedOutput {
    median: f64,
    /// Deviations from the median, ascending; centering avoids cancellation when rows are removed.
    numbers: Vec<f64>,
    /// All rows of the node.
    all: FenwickSums,
}

/// For each output the rows on the left and on the right.
#[derive(Debug, Clone)]
pub struct MedianSides {
    weight: f64,
    outputs: Vec<[FenwickSums; 2]>,
}

impl AbsoluteErrorCriterion {
    /// The criterion for rows of these numbers, `n_outputs` for each.
    pub fn new(values: &[f64], n_outputs: usize, weight: Option<&[f64]>) -> Self {
        let rank = vec![0; values.len()];
        AbsoluteErrorCriterion { values: values.to_vec(), n_outputs, weight: weight.map(<[f64]>::to_vec), rank }
    }

    fn weight_of(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |w| w[row])
    }

    /// Sorts the targets of some rows, stores their ranks, and returns their absolute error.
    fn ranked(&mut self, entries: &[u32], output: usize) -> (RankedOutput, f64) {
        let mut rows: Vec<usize> = entries.iter().map(|e| (e & ROW) as usize).collect();
        let at = |row: usize| row * self.n_outputs + output;
        rows.sort_unstable_by(|&a, &b| self.values[at(a)].total_cmp(&self.values[at(b)]).then(a.cmp(&b)));
        for (rank, &row) in rows.iter().enumerate() {
            self.rank[row * self.n_outputs + output] = rank as u32;
        }
        let numbers: Vec<(f64, f64)> = rows.iter().map(|&row| (self.values[at(row)], self.weight_of(row))).collect();
        let median = weighted_median(numbers.iter().copied());
        let centered: Vec<(f64, f64)> = numbers.iter().map(|(y, w)| (y - median, *w)).collect();
        let error = centered.iter().map(|(distance, w)| w * distance.abs()).sum();
        let all = FenwickSums::of(&centered);
        (RankedOutput { median, numbers: centered.into_iter().map(|(distance, _)| distance).collect(), all }, error)
    }
}

/// The median of numbers in ascending order with their weights.
fn weighted_median(numbers: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let total: f64 = numbers.clone().map(|(_, w)| w).sum();
    let (mut below, mut half) = (0.0, None);
    for (y, w) in numbers {
        if let Some(first) = half {
            return first / 2.0 + y / 2.0;
        }
        below += w;
        if 2.0 * below > total {
            return y;
        }
        if 2.0 * below == total {
            half = Some(y);
        }
    }
    half.unwrap_or(0.0)
}

/// The rows of one side as a Fenwick tree over ranks: sums of weights and of weighted numbers.
#[derive(Debug, Clone)]
struct FenwickSums {
    sums: Vec<(f64, f64)>,
    total: (f64, f64),
}

impl FenwickSums {
    /// No rows, of `n` that there may be.
    fn none(n: usize) -> FenwickSums {
        FenwickSums { sums: vec![(0.0, 0.0); n + 1], total: (0.0, 0.0) }
    }

    /// All rows, from numbers and weights by rank.
    fn of(numbers: &[(f64, f64)]) -> FenwickSums {
        let mut side = FenwickSums::none(numbers.len());
        for (i, &(y, w)) in (1..).zip(numbers) {
            side.total = (side.total.0 + w, side.total.1 + w * y);
            side.sums[i] = (side.sums[i].0 + w, side.sums[i].1 + w * y);
            let (here, above) = (side.sums[i], i + (i & i.wrapping_neg()));
            if let Some(above) = side.sums.get_mut(above) {
                *above = (above.0 + here.0, above.1 + here.1);
            }
        }
        side
    }

    /// Adds a row; a negative weight removes it.
    fn add(&mut self, rank: usize, weight: f64, y: f64) {
        self.total.0 += weight;
        self.total.1 += weight * y;
        let mut i = rank + 1;
        while i < self.sums.len() {
            self.sums[i].0 += weight;
            self.sums[i].1 += weight * y;
            i += i & i.wrapping_neg();
        }
    }

    /// Adds (sign 1) or removes (sign -1) all rows of another side.
    fn add_all(&mut self, other: &FenwickSums, sign: f64) {
        let pairs = self.sums.iter_mut().zip(&other.sums).chain(std::iter::once((&mut self.total, &other.total)));
        pairs.for_each(|(sum, other)| *sum = (sum.0 + sign * other.0, sum.1 + sign * other.1));
    }

    /// The absolute error around a median. `numbers` are the deviations of all rows by rank.
    fn cost(&self, numbers: &[f64]) -> f64 {
        let (mut at, mut below) = (0, (0.0, 0.0));
        let mut step = self.sums.len().next_power_of_two() / 2;
        while step > 0 {
            if at + step < self.sums.len() && 2.0 * (below.0 + self.sums[at + step].0) < self.total.0 {
                at += step;
                below.0 += self.sums[at].0;
                below.1 += self.sums[at].1;
            }
            step /= 2;
        }
        let median = numbers.get(at).copied().unwrap_or(0.0);
        let above = (self.total.0 - below.0, self.total.1 - below.1);
        (median * below.0 - below.1) + (above.1 - median * above.0)
    }
}

impl NodeCriterion for AbsoluteErrorCriterion {
    type Node = MedianNode;
    type Left = MedianSides;

    fn width(&self) -> usize {
        self.n_outputs
    }

    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (NodeSummary, MedianNode) {
        let weight = self.weight(entries);
        let (mut cost, mut outputs) = (0.0, Vec::with_capacity(self.n_outputs));
        for output in 0..self.n_outputs {
            let (ranked, error) = self.ranked(entries, output);
            value.push(ranked.median);
            outputs.push(ranked);
            cost += error;
        }
        cost /= self.n_outputs as f64;
        (NodeSummary { weight, cost, pure: cost == 0.0 }, MedianNode { cost, weight, outputs })
    }

    fn weight(&self, entries: &[u32]) -> f64 {
        entries.iter().map(|e| self.weight_of((e & ROW) as usize)).sum()
    }

    fn select(&self, rows: &[u32]) -> Self {
        let k = self.n_outputs;
        let of_row = |&r: &u32| r as usize * k..(r as usize + 1) * k;
        AbsoluteErrorCriterion {
            values: rows.iter().flat_map(|r| &self.values[of_row(r)]).copied().collect(),
            rank: rows.iter().flat_map(|r| &self.rank[of_row(r)]).copied().collect(),
            weight: self.weight.as_ref().map(|w| rows.iter().map(|&r| w[r as usize]).collect()),
            n_outputs: k,
        }
    }

    fn cost(&self, node: &MedianNode) -> f64 {
        node.cost
    }

    fn nothing(&self, node: &MedianNode) -> MedianSides {
        let sides = |output: &RankedOutput| [FenwickSums::none(output.numbers.len()), output.all.clone()];
        MedianSides { weight: 0.0, outputs: node.outputs.iter().map(sides).collect() }
    }

    fn push(&self, node: &MedianNode, sides: &mut MedianSides, entry: u32) {
        let row = (entry & ROW) as usize;
        let weight = self.weight_of(row);
        sides.weight += weight;
        for ((at, [left, right]), output) in (row * self.n_outputs..).zip(&mut sides.outputs).zip(&node.outputs) {
            let (rank, distance) = (self.rank[at] as usize, self.values[at] - output.median);
            left.add(rank, weight, distance);
            right.add(rank, -weight, distance);
        }
    }

    fn gain(&self, node: &MedianNode, sides: &MedianSides) -> f64 {
        let pairs = node.outputs.iter().zip(&sides.outputs);
        let both: f64 = pairs.flat_map(|(output, sides)| sides.iter().map(|side| side.cost(&output.numbers))).sum();
        node.cost - both / self.n_outputs as f64
    }

    fn weights(&self, node: &MedianNode, sides: &MedianSides) -> (f64, f64) {
        (sides.weight, node.weight - sides.weight)
    }

    fn merge(&self, _: &MedianNode, sides: &mut MedianSides, other: &MedianSides) {
        sides.weight += other.weight;
        for ([left, right], [moved, _]) in sides.outputs.iter_mut().zip(&other.outputs) {
            left.add_all(moved, 1.0);
            right.add_all(moved, -1.0);
        }
    }

    fn merges_fast(&self) -> bool {
        false
    }

    fn exact_order(&self, _: &MedianNode, _: &[&[u32]], _: &[u32]) -> Option<Vec<f64>> {
        None
    }

    fn promising_orders(&self, _: &MedianNode, groups: &[&[u32]]) -> Vec<Vec<f64>> {
        let median = |group: &&[u32]| {
            let mut rows: Vec<usize> = group.iter().map(|e| (e & ROW) as usize).collect();
            rows.sort_unstable_by_key(|&row| self.rank[row * self.n_outputs]);
            weighted_median(rows.iter().map(|&row| (self.values[row * self.n_outputs], self.weight_of(row))))
        };
        vec![groups.iter().map(median).collect()]
    }
}
