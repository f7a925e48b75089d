//! The absolute error around the median of each side.
//!
//! **Idea.** A Fenwick tree over the ranks of the node's numbers holds, for the rows on one side, their weights and weighted numbers; its
//! prefix search finds the weighted median, and two prefix sums give the absolute error around it. One pass upward gives the cost
//! of every left side, one downward that of every right side.
//!
//! **Formula.** cost = sum w |y - m|, with m the lower weighted median: the least y with at least half of the weight at or below it (half-way to the next where it is exactly
//! half). Several outputs are added up.
//!
//! **Cost.** O(n log n) for each column of a node. **Nominal columns**: all bipartitions if they are few, else by the order of the medians, a heuristic. **Reference.** Fenwick 1994.

use super::exact::Threshold;
use super::node::{Best, CategoryOrders, Grid, Limits, NodeCriterion, ROW, Segment, Summary};

/// The absolute error around the median.
#[derive(Debug, Clone)]
pub struct Absolute {
    values: Vec<f64>,
    n_outputs: usize,
    weight: Option<Vec<f64>>,
    /// For each row and output, the rank of its number within the node in which the row is now.
    rank: Vec<u32>,
}

/// What is known about a node.
#[derive(Debug, Clone)]
pub struct Medians {
    cost: f64,
    weight: f64,
}

impl Absolute {
    /// The criterion for rows of these numbers, `n_outputs` for each.
    pub fn new(values: &[f64], n_outputs: usize, weight: Option<&[f64]>) -> Self {
        let rank = vec![0; values.len()];
        Absolute { values: values.to_vec(), n_outputs, weight: weight.map(<[f64]>::to_vec), rank }
    }

    fn weight_of(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |w| w[row])
    }

    /// Median and absolute error of some rows, by sorting; their ranks are left behind if asked for.
    fn median(&mut self, entries: &[u32], output: usize) -> (f64, f64) {
        let mut rows: Vec<usize> = entries.iter().map(|e| (e & ROW) as usize).collect();
        let at = |row: usize| row * self.n_outputs + output;
        rows.sort_unstable_by(|&a, &b| self.values[at(a)].total_cmp(&self.values[at(b)]).then(a.cmp(&b)));
        for (rank, &row) in rows.iter().enumerate() {
            self.rank[row * self.n_outputs + output] = rank as u32;
        }
        let numbers = rows.iter().map(|&row| (self.values[at(row)], self.weight_of(row)));
        let median = weighted_median(numbers.clone());
        (median, numbers.map(|(y, w)| w * (y - median).abs()).sum())
    }

    /// The cost of the first i entries, for every i from 0, in the given order.
    fn prefix_costs(&self, entries: impl Iterator<Item = u32> + Clone, n: usize) -> Vec<f64> {
        let mut costs = vec![0.0; n + 1];
        for output in 0..self.n_outputs {
            let mut side = Side::new(n);
            for (i, row) in entries.clone().map(|e| (e & ROW) as usize).enumerate() {
                let at = row * self.n_outputs + output;
                side.add(self.rank[at] as usize, self.weight_of(row), self.values[at]);
                costs[i + 1] += side.cost();
            }
        }
        costs
    }

    fn sweep_with(&self, node: &Medians, column: Segment<'_>, missing_left: bool, limits: &Limits) -> Option<Best> {
        let (before, after) = if missing_left { (column.missing, &[][..]) } else { (&[][..], column.missing) };
        let n = column.len();
        let order = before.iter().chain(column.present).chain(after).copied();
        let left = self.prefix_costs(order.clone(), n);
        let right = self.prefix_costs(order.clone().rev(), n);
        let mut best: Option<Best> = None;
        let grid = Grid::new(node.cost);
        let mut weight: f64 = before.iter().map(|e| self.weight_of((e & ROW) as usize)).sum();
        for (i, &entry) in column.present.iter().enumerate() {
            weight += self.weight_of((entry & ROW) as usize);
            let n_left = before.len() + i + 1;
            let few = n_left < limits.min_samples || n - n_left < limits.min_samples.max(1);
            let light = weight < limits.min_weight || node.weight - weight < limits.min_weight;
            if few || light || !column.is_cut(i + 1) {
                continue;
            }
            let gain = grid.round(node.cost - left[n_left] - right[n - n_left]);
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Best { gain, place: Threshold { n_left: i + 1, missing_left } });
            }
        }
        best
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
struct Side {
    sums: Vec<(f64, f64)>,
    by_rank: Vec<f64>,
    total: (f64, f64),
}

impl Side {
    fn new(n: usize) -> Side {
        Side { sums: vec![(0.0, 0.0); n + 1], by_rank: vec![0.0; n], total: (0.0, 0.0) }
    }

    fn add(&mut self, rank: usize, weight: f64, y: f64) {
        self.by_rank[rank] = y;
        self.total.0 += weight;
        self.total.1 += weight * y;
        let mut i = rank + 1;
        while i < self.sums.len() {
            self.sums[i].0 += weight;
            self.sums[i].1 += weight * y;
            i += i & i.wrapping_neg();
        }
    }

    /// The absolute error around a median: any one gives the same.
    fn cost(&self) -> f64 {
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
        let median = self.by_rank.get(at).copied().unwrap_or(0.0);
        let above = (self.total.0 - below.0, self.total.1 - below.1);
        (median * below.0 - below.1) + (above.1 - median * above.0)
    }
}

impl NodeCriterion for Absolute {
    type Node = Medians;

    fn width(&self) -> usize {
        self.n_outputs
    }

    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (Summary, Medians) {
        let weight = entries.iter().map(|e| self.weight_of((e & ROW) as usize)).sum();
        let mut cost = 0.0;
        for output in 0..self.n_outputs {
            let (median, error) = self.median(entries, output);
            value.push(median);
            cost += error;
        }
        cost /= self.n_outputs as f64;
        (
            Summary { weight, cost, pure: cost == 0.0 },
            Medians { cost: cost * self.n_outputs as f64, weight },
        )
    }

    fn weight(&self, entries: &[u32]) -> f64 {
        entries.iter().map(|e| self.weight_of((e & ROW) as usize)).sum()
    }

    fn select(&self, rows: &[u32]) -> Self {
        let k = self.n_outputs;
        let of_row = |&r: &u32| r as usize * k..(r as usize + 1) * k;
        Absolute {
            values: rows.iter().flat_map(|r| &self.values[of_row(r)]).copied().collect(),
            rank: rows.iter().flat_map(|r| &self.rank[of_row(r)]).copied().collect(),
            weight: self.weight.as_ref().map(|w| rows.iter().map(|&r| w[r as usize]).collect()),
            n_outputs: k,
        }
    }

    fn best_threshold(&self, node: &Medians, column: Segment<'_>, limits: &Limits) -> Option<Best> {
        let sides = if column.missing.is_empty() { &[false][..] } else { &[true, false] };
        let best = sides.iter().filter_map(|&missing_left| self.sweep_with(node, column, missing_left, limits));
        let best = best.reduce(|best, next| if next.gain > best.gain { next } else { best })?;
        Some(Best { gain: best.gain / self.n_outputs as f64, ..best })
    }

    fn category_orders(&self, _: &Medians, groups: &[&[u32]], _: &[u32], _: &Limits) -> CategoryOrders {
        let median = |group: &&[u32]| {
            let mut rows: Vec<usize> = group.iter().map(|e| (e & ROW) as usize).collect();
            rows.sort_unstable_by_key(|&row| self.rank[row * self.n_outputs]);
            weighted_median(rows.iter().map(|&row| (self.values[row * self.n_outputs], self.weight_of(row))))
        };
        CategoryOrders::Heuristic(vec![groups.iter().map(median).collect()])
    }

    fn grid(&self, node: &Medians) -> Grid {
        Grid::new(node.cost)
    }

    fn gain_at(&self, node: &Medians, column: Segment<'_>, place: Threshold, limits: &Limits) -> Option<f64> {
        let (left, right) = column.present.split_at(place.n_left);
        let (left_missing, right_missing) =
            if place.missing_left { (column.missing, &[][..]) } else { (&[][..], column.missing) };
        let n = column.len();
        let cost = |a: &[u32], b: &[u32]| {
            let costs = self.prefix_costs(a.iter().chain(b).copied(), n);
            costs[a.len() + b.len()]
        };
        let n_left = left.len() + left_missing.len();
        let weight: f64 = left.iter().chain(left_missing).map(|e| self.weight_of((e & ROW) as usize)).sum();
        let heavy = weight >= limits.min_weight && node.weight - weight >= limits.min_weight;
        let enough = heavy && n_left >= limits.min_samples && n - n_left >= limits.min_samples;
        let gain = node.cost - cost(left, left_missing) - cost(right, right_missing);
        enough.then_some(gain / self.n_outputs as f64)
    }
}
