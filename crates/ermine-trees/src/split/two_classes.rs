//! Criterion for two classes without weights: sweeps in blocks, skipping blocks that can't contain the best threshold.
//!
//! **Idea.** The label is a flag of the entry itself, so a sweep reads one array sequentially. The impurities are concave in the class
//! counts of the left side; within a block of 64 entries these counts stay in a box, and the least cost over a box is at a
//! corner. If no corner beats the best split so far, no threshold within the block does, and the block is skipped after
//! counting its labels.
//!
//! **Formula.** With n and p the rows and second-class rows on the left, N and P in the node, the Gini gain is 2 (pN - nP)^2 / (N n (N - n)); the other
//! impurities are the textbook ones. Entropy takes x log2 x from a table.
//!
//! **Cost.** A fraction of a nanosecond for each entry. **Reference.** Alsabti, Ranka and Singh, CLOUDS (1998), for bounds on
//! intervals.

use super::exact::ThresholdPosition;
use super::impurity::{Impurity, two_class_gini_gain, x_log2_x};
use super::label_blocks::{LabelBlock, could_win, low_bits};
use super::node::{
    BestThreshold, GainGrid, LABEL, NodeCriterion, NodeSummary, ROW, SortedSegment, SplitLimits, TIE, sweep,
};
use std::sync::Arc;

/// Number of entries per block: the bits of a word.
const BLOCK: usize = 64;

/// Two classes without weights.
#[derive(Debug, Clone)]
pub struct TwoClassCriterion {
    /// The class of each row, 0 or 1.
    codes: Vec<u8>,
    impurity: Impurity,
    /// x log2 x for whole x, where the impurity is the entropy.
    logs: Arc<[f64]>,
}

/// The class counts of a node.
#[derive(Debug, Clone, Copy)]
pub struct TwoClassNode {
    n: f64,
    p: f64,
    cost: f64,
}

impl TwoClassCriterion {
    /// The criterion for rows of these classes.
    pub fn new(codes: &[u32], impurity: Impurity) -> Self {
        let logs = if impurity == Impurity::Entropy { x_log2_x_table(codes.len()) } else { Arc::new([]) };
        TwoClassCriterion { codes: codes.iter().map(|&c| u8::from(c != 0)).collect(), impurity, logs }
    }

    /// The gain with `n` rows on the left, `p` of them of the second class.
    #[inline(always)]
    fn gain_of(&self, node: &TwoClassNode, n: f64, p: f64) -> f64 {
        match self.impurity {
            Impurity::Gini => two_class_gini_gain((n, p), (node.n, node.p)),
            Impurity::Entropy => node.cost - self.entropy_cost(n, p) - self.entropy_cost(node.n - n, node.p - p),
            Impurity::Error => {
                let right = node.p - p;
                node.cost - p.min(n - p) - right.min(node.n - n - right)
            }
        }
    }

    #[inline]
    fn entropy_cost(&self, n: f64, p: f64) -> f64 {
        self.logs[n as usize] - self.logs[p as usize] - self.logs[(n - p) as usize]
    }

    /// The best threshold with `start` rows (and second-class rows) already on the left, if it gains more than `floor`.
    fn sweep_blocks(
        &self,
        node: &TwoClassNode,
        entries: &[u32],
        start: (f64, f64),
        range: (usize, usize),
        floor: f64,
    ) -> Option<(f64, usize)> {
        let (low, high) = range;
        let mut best = (floor, 0);
        let (mut n, mut p) = start;
        for first in (0..high).step_by(BLOCK) {
            let block = LabelBlock::new(&entries[first..]);
            let len = (high - first).min(BLOCK);
            let positives = f64::from((block.labels & low_bits(len)).count_ones());
            let (n_end, p_end) = (n + len as f64, p + positives);
            if first + len >= low && self.bound(node, (n, p), (n_end, p_end)) > best.0 {
                let next_is_tied = entries.get(first + BLOCK).is_some_and(|next| next & TIE != 0);
                let cuts =
                    block.cuts(next_is_tied) & low_bits(len) & !low_bits((low - 1).saturating_sub(first).min(64));
                self.refine(node, (block.labels, cuts, first), (n, p), &mut best);
            }
            (n, p) = (n_end, p_end);
        }
        (best.1 > 0).then_some(best)
    }

    /// No threshold between these two places gains more.
    #[inline]
    fn bound(&self, node: &TwoClassNode, (n, p): (f64, f64), (n_end, p_end): (f64, f64)) -> f64 {
        let positives = p_end - p;
        let negatives = n_end - n - positives;
        let at = |n: f64, p: f64| if n > 0.0 && n < node.n { self.gain_of(node, n, p) } else { 0.0 };
        // A small tolerance allows for rounding differences between corners and thresholds.
        let corners = at(n, p).max(at(n_end, p_end)).max(at(n + negatives, p)).max(at(n + positives, p_end));
        corners + 1e-12 * node.cost
    }

    /// Tries the allowed cuts of the block that starts at entry `first`.
    fn refine(
        &self,
        node: &TwoClassNode,
        (labels, mut cuts, first): (u64, u64, usize),
        (n, p): (f64, f64),
        best: &mut (f64, usize),
    ) {
        let grid = GainGrid::new(node.cost);
        if self.impurity == Impurity::Gini && best.0 > 0.0 {
            cuts = could_win(labels, cuts, (n, p), (node.n, node.p), best.0);
        }
        while cuts != 0 {
            let i = cuts.trailing_zeros() as usize;
            cuts &= cuts - 1;
            let positives = f64::from((labels & low_bits(i + 1)).count_ones());
            let gain = grid.round(self.gain_of(node, n + (i + 1) as f64, p + positives));
            if gain > best.0 {
                *best = (gain, first + i + 1);
            }
        }
    }

    /// A node of `n` rows, `p` of them of the second class; its prediction is appended to `value`.
    fn counted(&self, n: f64, p: f64, value: &mut Vec<f64>) -> (NodeSummary, TwoClassNode) {
        let cost = self.impurity.cost(&[n - p, p]);
        value.extend([(n - p) / n, p / n]);
        (NodeSummary { weight: n, cost, pure: p == 0.0 || p == n }, TwoClassNode { n, p, cost })
    }
}

/// x log2 x for x from 0 to n.
pub(super) fn x_log2_x_table(n: usize) -> Arc<[f64]> {
    (0..=n).map(|x| x_log2_x(x as f64)).collect()
}

/// The range of allowed numbers of present values on the left if `n_missing_left` missing values are there already.
pub(super) fn positions(column: &SortedSegment<'_>, n_missing_left: usize, limits: &SplitLimits) -> (usize, usize) {
    let low = limits.min_samples.saturating_sub(n_missing_left).max(1);
    let most = if n_missing_left > 0 || column.missing.is_empty() {
        column.present.len().saturating_sub(1)
    } else {
        column.present.len()
    };
    (low, most.min((column.len() - n_missing_left).saturating_sub(limits.min_samples)))
}

impl NodeCriterion for TwoClassCriterion {
    type Node = TwoClassNode;
    /// Rows, and rows of the second class.
    type Left = (f64, f64);

    fn width(&self) -> usize {
        2
    }

    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (NodeSummary, TwoClassNode) {
        let positives = entries.iter().filter(|&&e| e & LABEL != 0).count();
        self.counted(entries.len() as f64, positives as f64, value)
    }

    fn weight(&self, entries: &[u32]) -> f64 {
        entries.len() as f64
    }

    fn select(&self, rows: &[u32]) -> Self {
        let codes = rows.iter().map(|&r| self.codes[r as usize]).collect();
        TwoClassCriterion { codes, impurity: self.impurity, logs: self.logs.clone() }
    }

    fn cost(&self, node: &TwoClassNode) -> f64 {
        node.cost
    }

    fn nothing(&self, _: &TwoClassNode) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn push(&self, _: &TwoClassNode, (n, p): &mut (f64, f64), entry: u32) {
        *n += 1.0;
        *p += f64::from(self.codes[(entry & ROW) as usize]);
    }

    fn gain(&self, node: &TwoClassNode, &(n, p): &(f64, f64)) -> f64 {
        self.gain_of(node, n, p)
    }

    fn weights(&self, node: &TwoClassNode, &(n, _): &(f64, f64)) -> (f64, f64) {
        (n, node.n - n)
    }

    fn responses(&self, node: &TwoClassNode, &(n, p): &(f64, f64)) -> (f64, f64) {
        (p / n, (node.p - p) / (node.n - n))
    }

    fn best_threshold(
        &self,
        node: &TwoClassNode,
        column: SortedSegment<'_>,
        limits: &SplitLimits,
    ) -> Option<BestThreshold> {
        if !limits.only_samples() {
            return sweep(self, node, column, limits);
        }
        let mut best: Option<BestThreshold> = None;
        for missing_left in [true, false] {
            if missing_left && column.missing.is_empty() {
                continue;
            }
            let before = if missing_left { column.missing } else { &[] };
            let positives = before.iter().filter(|&&e| e & LABEL != 0).count() as f64;
            let range = positions(&column, before.len(), limits);
            if range.0 > range.1 {
                continue;
            }
            let floor = best.map_or(f64::NEG_INFINITY, |best| best.gain);
            let start = (before.len() as f64, positives);
            if let Some((gain, n_left)) = self.sweep_blocks(node, column.present, start, range, floor) {
                best = Some(BestThreshold { gain, place: ThresholdPosition { n_left, missing_left } });
            }
        }
        best
    }

    /// A column is only searched for thresholds at least as good as those of earlier columns.
    fn best_thresholds(
        &self,
        node: &TwoClassNode,
        columns: &[&[u32]],
        limits: &SplitLimits,
        found: &mut Vec<Option<BestThreshold>>,
    ) {
        if !limits.only_samples() {
            let one = |present: &&[u32]| self.best_threshold(node, SortedSegment { present, missing: &[] }, limits);
            return found.extend(columns.iter().map(one));
        }
        let mut floor = f64::NEG_INFINITY;
        for present in columns {
            let range = positions(&SortedSegment { present, missing: &[] }, 0, limits);
            let best =
                (range.0 <= range.1).then(|| self.sweep_blocks(node, present, (0.0, 0.0), range, floor)).flatten();
            found.push(best.map(|(gain, n_left)| {
                // The next column may be as good: gains lie on a grid.
                floor = gain.next_down();
                BestThreshold { gain, place: ThresholdPosition { n_left, missing_left: false } }
            }));
        }
    }

    fn merge(&self, _: &TwoClassNode, left: &mut (f64, f64), other: &(f64, f64)) {
        *left = (left.0 + other.0, left.1 + other.1);
    }

    fn exact_order(&self, _: &TwoClassNode, groups: &[&[u32]], _: &[u32]) -> Option<Vec<f64>> {
        let share = |group: &&[u32]| group.iter().filter(|&&e| e & LABEL != 0).count() as f64 / group.len() as f64;
        Some(groups.iter().map(share).collect())
    }

    fn cost_of(&self, node: &TwoClassNode, value: &[f64]) -> f64 {
        self.impurity.cost_of(&[node.n - node.p, node.p], value)
    }

    fn mark(&self, row: usize) -> u32 {
        if self.codes[row] != 0 { LABEL } else { 0 }
    }
}
