//! What growing a tree asks of a criterion, and the plain sweep over the thresholds of one node.
//!
//! **Idea.** A tree keeps, for every column, the rows of each node in ascending order of their values (see
//! `tree::orders`). A sweep moves them one after the other from the right side of the threshold to the left and
//! asks what the split would gain. Criteria with a faster way ([`two_classes`](super::two_classes), [`variance`](super::variance)) have a sweep of their own;
//! all others say how to move a row and what is gained, and share the sweep here.
//!
//! **Gain.** The cost of the node less the costs of both sides, where the cost of a node is its weight times its impurity.
//!
//! **Missing values.** Every threshold is tried with the rows that have no value on the left and on the right. "Has a value" is a split too: the
//! threshold above all values, with the others on the right.
//!
//! **Rounding.** The same rows may be added up in different orders, as weights or as repeated rows, and give gains that differ in their last bits.
//! Gains are therefore rounded to about 12 digits of the node's cost before they are compared ([`Grid`]), so that splits that are equally good are equal.
//!
//! **Ties** between thresholds: the lower one wins, missing values on the left before missing values on the right.

use super::exact::Threshold;

/// The part of an entry that is the row.
pub const ROW: u32 = (1 << 29) - 1;
/// The mark on an entry without a value.
pub const ABSENT: u32 = 1 << 29;
/// The mark on an entry whose row is of the second of two classes.
pub const LABEL: u32 = 1 << 30;
pub use ermine_core::matrix::sorted::TIE;

/// The rows of a node in ascending order of one column.
#[derive(Debug, Clone, Copy)]
pub struct Segment<'a> {
    /// Those that have a value, ascending by it; [`TIE`] marks a value equal to the one before.
    pub present: &'a [u32],
    /// Those without one.
    pub missing: &'a [u32],
}

impl Segment<'_> {
    /// How many rows the node has.
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

/// What a split must keep to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// The fewest rows on a side.
    pub min_samples: usize,
    /// The least weight on a side.
    pub min_weight: f64,
    /// 1 where the prediction may not fall with the column, -1 where it may not rise, 0 where it is free.
    pub monotone: i8,
    /// Where the column is not free, the predictions of both sides lie between these. (A split of a free column parts the rows as it likes; what its sides predict is moved into the bounds afterwards.)
    pub bounds: (f64, f64),
}

impl Limits {
    /// Nothing but that both sides have a row.
    pub const NONE: Limits =
        Limits { min_samples: 1, min_weight: 0.0, monotone: 0, bounds: (f64::NEG_INFINITY, f64::INFINITY) };

    /// Whether only numbers of rows are limited, so that positions are all that a sweep must look at.
    pub fn only_samples(&self) -> bool {
        self.min_weight <= 0.0 && !self.has_order()
    }

    /// Whether predictions are limited.
    pub fn has_order(&self) -> bool {
        self.monotone != 0
    }

    /// The same for a column whose values have no order that a prediction could follow.
    pub fn without_order(self) -> Limits {
        Limits { monotone: 0, bounds: Limits::NONE.bounds, ..self }
    }

    fn allows(&self, left: f64, right: f64) -> bool {
        let (low, high) = self.bounds;
        let inside = |x: f64| x >= low && x <= high;
        inside(left) && inside(right) && f64::from(self.monotone) * (right - left) >= 0.0
    }
}

/// The best threshold of a column and what it gains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// The cost of the node less the cost of its sides.
    pub gain: f64,
    /// Where it is.
    pub place: Threshold,
}

/// Rounds gains, so that those that differ by rounding errors only become equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    anchor: f64,
}

impl Grid {
    /// The grid for a node of this cost.
    pub fn new(cost: f64) -> Grid {
        // Numbers near 6144 costs are 2^-40 costs apart, or up to twice that: adding and taking away rounds to that.
        Grid { anchor: 6144.0 * cost }
    }

    /// The nearest point of the grid.
    #[inline]
    pub fn round(self, gain: f64) -> f64 {
        (gain + self.anchor) - self.anchor
    }

    /// The same for eight gains.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn round_lanes(self, gain: std::arch::x86_64::__m512d) -> std::arch::x86_64::__m512d {
        use std::arch::x86_64::{_mm512_add_pd, _mm512_set1_pd, _mm512_sub_pd};
        let anchor = _mm512_set1_pd(self.anchor);
        _mm512_sub_pd(_mm512_add_pd(gain, anchor), anchor)
    }
}

/// A node's weight and cost, and whether there is anything to gain in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The weight of its rows.
    pub weight: f64,
    /// Its weight times its impurity.
    pub cost: f64,
    /// No split can gain anything.
    pub pure: bool,
}

/// What is minimised when a tree is grown.
pub trait NodeCriterion: Send + Sync + Sized {
    /// What is known about a node and shared by the sweeps of all columns.
    type Node: Send + Sync;
    /// What is added up over the rows on the left of a split.
    type Left: Clone;

    /// How many numbers a node predicts.
    fn width(&self) -> usize;

    /// Prepares a node with these entries and appends its prediction to `value`.
    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (Summary, Self::Node);

    /// The weight of these entries.
    fn weight(&self, entries: &[u32]) -> f64;

    /// The same criterion for these rows only, counted from 0.
    fn select(&self, rows: &[u32]) -> Self;

    /// What a node costs: its weight times its impurity.
    fn cost(&self, node: &Self::Node) -> f64;

    /// The left side of a split that has no rows yet.
    fn nothing(&self, node: &Self::Node) -> Self::Left;

    /// Moves a row from the right side to the left.
    fn push(&self, node: &Self::Node, left: &mut Self::Left, entry: u32);

    /// What a split gains: the cost of the node less those of its sides; not a number where a side can't be.
    fn gain(&self, node: &Self::Node, left: &Self::Left) -> f64;

    /// The weights of both sides.
    fn weights(&self, node: &Self::Node, left: &Self::Left) -> (f64, f64);

    /// The predictions of both sides, where they are single numbers.
    fn responses(&self, _node: &Self::Node, _left: &Self::Left) -> (f64, f64) {
        (0.0, 0.0)
    }

    /// The best threshold of one column.
    fn best_threshold(&self, node: &Self::Node, column: Segment<'_>, limits: &Limits) -> Option<Best> {
        sweep(self, node, column, limits)
    }

    /// The best threshold of each of several columns, none of which lacks a value.
    fn best_thresholds(&self, node: &Self::Node, columns: &[&[u32]], limits: &Limits, found: &mut Vec<Option<Best>>) {
        let one = |present: &&[u32]| self.best_threshold(node, Segment { present, missing: &[] }, limits);
        found.extend(columns.iter().map(one));
    }

    /// Moves all rows of another left side to the left too.
    fn merge(&self, node: &Self::Node, left: &mut Self::Left, other: &Self::Left);

    /// A key for each category with these entries, such that the best bipartition is a threshold in the order of the keys, provably; `None` where there is no such order.
    fn exact_order(&self, node: &Self::Node, groups: &[&[u32]], missing: &[u32]) -> Option<Vec<f64>>;

    /// Keys of orders among whose thresholds a good bipartition usually is.
    fn promising_orders(&self, node: &Self::Node, groups: &[&[u32]]) -> Vec<Vec<f64>> {
        self.exact_order(node, groups, &[]).into_iter().collect()
    }

    /// Whether merging costs no more than a few rows do, however many were added up.
    fn merges_fast(&self) -> bool {
        true
    }

    /// What a node costs that predicts `value` instead of what is best for it; for one number, or two classes.
    fn cost_of(&self, _node: &Self::Node, _value: &[f64]) -> f64 {
        f64::NAN
    }

    /// The grid on which the gains of a node lie.
    fn grid(&self, node: &Self::Node) -> Grid {
        Grid::new(self.cost(node))
    }

    /// The marks that the entries of a row carry: [`LABEL`] or nothing.
    fn mark(&self, _row: usize) -> u32 {
        0
    }
}

/// Whether the limits on weights and predictions allow a split.
pub(super) fn allowed<C: NodeCriterion>(criterion: &C, node: &C::Node, left: &C::Left, limits: &Limits) -> bool {
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
pub fn sweep<C: NodeCriterion>(criterion: &C, node: &C::Node, column: Segment<'_>, limits: &Limits) -> Option<Best> {
    let (mut best, grid): (Option<Best>, Grid) = (None, criterion.grid(node));
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
                best = Some(Best { gain, place: Threshold { n_left, missing_left } });
            }
        }
    }
    best
}

/// What one threshold gains, by moving the rows below it; `None` where the limits forbid it.
pub fn gain_at<C: NodeCriterion>(
    criterion: &C,
    node: &C::Node,
    column: Segment<'_>,
    place: Threshold,
    limits: &Limits,
) -> Option<f64> {
    let mut left = criterion.nothing(node);
    let before = if place.missing_left { column.missing } else { &[] };
    before.iter().chain(&column.present[..place.n_left]).for_each(|&entry| criterion.push(node, &mut left, entry));
    let n_left = before.len() + place.n_left;
    let enough = n_left >= limits.min_samples && column.len() - n_left >= limits.min_samples;
    let gain = criterion.gain(node, &left);
    (enough && !gain.is_nan() && allowed(criterion, node, &left, limits)).then_some(gain)
}
