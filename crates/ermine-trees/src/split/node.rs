//! The criterion trait of CART, and the sweep over the thresholds of a node.
//!
//! **Idea.** A tree keeps the rows of each node sorted by every column (see `tree::orders`). A sweep moves rows one at a time from the right side of the threshold to the left and computes the gain of the split.
//! Most criteria define how to move a row and what is gained, and share the sweep here; [`two_classes`](super::two_classes) and [`squared_error`](super::squared_error) have faster sweeps of their own. A
//! new criterion is one implementation of [`NodeCriterion`].
//!
//! **Gain.** The cost of the node minus the costs of both sides, where the cost of a node is its weight times its impurity.
//!
//! **Missing values.** Every threshold is tried with missing values on the left and on the right. "Is not missing" is a split too: the threshold above all values with missing values on the right.
//!
//! **Rounding.** The same rows may be summed in different orders, as weights or as repeated rows, and give gains that differ in their last bits. Gains are therefore rounded to about 12 digits of the node's cost
//! before they are compared ([`GainGrid`]), so that equally good splits are equal.
//!
//! **Ties** between thresholds: the lower one wins, missing values on the left before missing values on the right.

use super::exact::ThresholdPosition;

/// The bits of an entry that hold the row.
pub const ROW: u32 = (1 << 29) - 1;
/// The flag of an entry with a missing value.
pub const ABSENT: u32 = 1 << 29;
/// The flag of an entry of the second of two classes.
pub const LABEL: u32 = 1 << 30;
pub use ermine_core::matrix::sorted::TIE;

/// The rows of a node, sorted by one column.
#[derive(Debug, Clone, Copy)]
pub struct SortedSegment<'a> {
    /// Rows with a value, ascending; [`TIE`] marks a value equal to the previous one.
    pub present: &'a [u32],
    /// Rows with a missing value.
    pub missing: &'a [u32],
}

impl SortedSegment<'_> {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.present.len() + self.missing.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a threshold with `n_left` values below it separates different values.
    #[inline]
    pub fn is_cut(&self, n_left: usize) -> bool {
        self.present.get(n_left).is_none_or(|entry| entry & TIE == 0)
    }
}

/// Constraints on a split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitLimits {
    /// Minimum number of rows on each side.
    pub min_samples: usize,
    /// Minimum weight on each side.
    pub min_weight: f64,
    /// Monotonic constraint: 1 (increasing), -1 (decreasing) or 0 (none).
    pub monotone: i8,
    /// With a monotonic constraint, the bounds of the predictions of both sides. (For other columns the predictions are clipped to the bounds afterwards.)
    pub bounds: (f64, f64),
}

impl SplitLimits {
    /// No constraints except that both sides have a row.
    pub const NONE: SplitLimits =
        SplitLimits { min_samples: 1, min_weight: 0.0, monotone: 0, bounds: (f64::NEG_INFINITY, f64::INFINITY) };

    /// Whether only the numbers of rows are limited, so that a sweep need only check positions.
    pub fn only_samples(&self) -> bool {
        self.min_weight <= 0.0 && !self.has_order()
    }

    /// Whether predictions are constrained.
    pub fn has_order(&self) -> bool {
        self.monotone != 0
    }

    /// The same without a monotonic constraint.
    pub fn without_order(self) -> SplitLimits {
        SplitLimits { monotone: 0, bounds: SplitLimits::NONE.bounds, ..self }
    }

    fn allows(&self, left: f64, right: f64) -> bool {
        let (low, high) = self.bounds;
        let inside = |x: f64| x >= low && x <= high;
        inside(left) && inside(right) && f64::from(self.monotone) * (right - left) >= 0.0
    }
}

/// The best threshold of a column and its gain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestThreshold {
    /// The cost of the node minus the costs of both sides.
    pub gain: f64,
    /// Its position.
    pub place: ThresholdPosition,
}

/// Rounds gains so that gains that differ only by rounding errors become equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GainGrid {
    anchor: f64,
}

impl GainGrid {
    /// The grid for a node of this cost.
    pub fn new(cost: f64) -> GainGrid {
        // Numbers near 6144 costs are 2^-40 costs apart, or up to twice that: adding and taking away rounds to that.
        GainGrid { anchor: 6144.0 * cost }
    }

    /// The nearest point of the grid.
    #[inline]
    pub fn round(self, gain: f64) -> f64 {
        (gain + self.anchor) - self.anchor
    }

    /// Rounds eight gains.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn round_lanes(self, gain: std::arch::x86_64::__m512d) -> std::arch::x86_64::__m512d {
        use std::arch::x86_64::{_mm512_add_pd, _mm512_set1_pd, _mm512_sub_pd};
        let anchor = _mm512_set1_pd(self.anchor);
        _mm512_sub_pd(_mm512_add_pd(gain, anchor), anchor)
    }
}

/// Weight and cost of a node, and whether it is pure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeSummary {
    /// The weight of its rows.
    pub weight: f64,
    /// Its weight times its impurity.
    pub cost: f64,
    /// Whether no split can gain anything.
    pub pure: bool,
}

/// A criterion of CART.
pub trait NodeCriterion: Send + Sync + Sized {
    /// Node statistics shared by the sweeps of all columns.
    type Node: Send + Sync;
    /// Statistics of the left side of a split.
    type Left: Clone;

    /// The number of outputs of a node.
    fn width(&self) -> usize;

    /// Prepares a node with these entries and appends its prediction to `value`.
    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (NodeSummary, Self::Node);

    /// The weight of these entries.
    fn weight(&self, entries: &[u32]) -> f64;

    /// The same criterion restricted to these rows, renumbered from 0.
    fn select(&self, rows: &[u32]) -> Self;

    /// The cost of a node: its weight times its impurity.
    fn cost(&self, node: &Self::Node) -> f64;

    /// An empty left side.
    fn nothing(&self, node: &Self::Node) -> Self::Left;

    /// Moves a row from the right side to the left.
    fn push(&self, node: &Self::Node, left: &mut Self::Left, entry: u32);

    /// The gain of a split: the cost of the node minus those of its sides; NaN if a side is not allowed.
    fn gain(&self, node: &Self::Node, left: &Self::Left) -> f64;

    /// The weights of both sides.
    fn weights(&self, node: &Self::Node, left: &Self::Left) -> (f64, f64);

    /// The predictions of both sides, if they are single numbers.
    fn responses(&self, _node: &Self::Node, _left: &Self::Left) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// The best threshold of one column.
    fn best_threshold(
        &self,
        node: &Self::Node,
        column: SortedSegment<'_>,
        limits: &SplitLimits,
    ) -> Option<BestThreshold> {
        sweep(self, node, column, limits)
    }

    /// The best threshold of each of several columns without missing values.
    fn best_thresholds(
        &self,
        node: &Self::Node,
        columns: &[&[u32]],
        limits: &SplitLimits,
        found: &mut Vec<Option<BestThreshold>>,
    ) {
        let one = |present: &&[u32]| self.best_threshold(node, SortedSegment { present, missing: &[] }, limits);
        found.extend(columns.iter().map(one));
    }

    /// Moves all rows of another left side to this left side.
    fn merge(&self, node: &Self::Node, left: &mut Self::Left, other: &Self::Left);

    /// A key for each category such that the best bipartition is provably a threshold in the order of the keys; `None` if there is no such order.
    fn exact_order(&self, node: &Self::Node, groups: &[&[u32]], missing: &[u32]) -> Option<Vec<f64>>;

    /// Keys of orders whose thresholds usually contain a good bipartition.
    fn promising_orders(&self, node: &Self::Node, groups: &[&[u32]]) -> Vec<Vec<f64>> {
        self.exact_order(node, groups, &[]).into_iter().collect()
    }

    /// Whether merging is as cheap as moving a few rows.
    fn merges_fast(&self) -> bool {
        true
    }

    /// The cost of a node that predicts `value` instead of its optimum; for one target or two classes.
    fn cost_of(&self, _node: &Self::Node, _value: &[f64]) -> f64 {
        f64::NAN
    }

    /// The grid to which the gains of a node are rounded.
    fn grid(&self, node: &Self::Node) -> GainGrid {
        GainGrid::new(self.cost(node))
    }

    /// The flags of a row's entries: [`LABEL`] or none.
    fn mark(&self, _row: usize) -> u32 {
        0
    }
}

/// Whether the limits on weights and predictions allow a split.
pub(super) fn allowed<C: NodeCriterion>(criterion: &C, node: &C::Node, left: &C::Left, limits: &SplitLimits) -> bool {
    let (a, b) = criterion.weights(node, left);
    if a < limits.min_weight || b < limits.min_weight {
        return false;
    }
    if !limits.has_order() {
        return true;
    }
    let (left, right) = criterion.responses(node, left);
    limits.allows(left, right)
}

/// The best threshold of a column by the plain sweep.
pub fn sweep<C: NodeCriterion>(
    criterion: &C,
    node: &C::Node,
    column: SortedSegment<'_>,
    limits: &SplitLimits,
) -> Option<BestThreshold> {
    let (mut best, grid): (Option<BestThreshold>, GainGrid) = (None, criterion.grid(node));
    for missing_left in [true, false] {
        if missing_left && column.missing.is_empty() {
            continue;
        }
        let mut left = criterion.nothing(node);
        let before = if missing_left { column.missing } else { &[] };
        before.iter().for_each(|&entry| criterion.push(node, &mut left, entry));
        let last = column.len() - before.len();
        for (i, &entry) in column.present.iter().enumerate() {
            criterion.push(node, &mut left, entry);
            let n_left = i + 1;
            let n_side = before.len() + n_left;
            if n_side < limits.min_samples || !column.is_cut(n_left) || n_left == last {
                continue;
            }
            if column.len() - n_side < limits.min_samples {
                break;
            }
            let gain = grid.round(criterion.gain(node, &left));
            // False for what is not a number too.
            if best.is_none_or(|best| gain > best.gain) && !gain.is_nan() && allowed(criterion, node, &left, limits) {
                best = Some(BestThreshold { gain, place: ThresholdPosition { n_left, missing_left } });
            }
        }
    }
    best
}

/// The gain of a single threshold; `None` if the limits forbid it.
pub fn gain_at<C: NodeCriterion>(
    criterion: &C,
    node: &C::Node,
    column: SortedSegment<'_>,
    place: ThresholdPosition,
    limits: &SplitLimits,
) -> Option<f64> {
    let mut left = criterion.nothing(node);
    let before = if place.missing_left { column.missing } else { &[] };
    before.iter().chain(&column.present[..place.n_left]).for_each(|&entry| criterion.push(node, &mut left, entry));
    let n_left = before.len() + place.n_left;
    let enough = n_left >= limits.min_samples && column.len() - n_left >= limits.min_samples;
    let gain = criterion.gain(node, &left);
    (enough && !gain.is_nan() && allowed(criterion, node, &left, limits)).then_some(gain)
}
