//! The best split of a node: over all features, over random features, or by random thresholds.
//!
//! **Random features.** A node considers `max_features` features in a random order that depends on the random seed and the path of the node. Constant features don't count, and the search continues until a
//! split is found or no feature is left.
//!
//! **Random thresholds** (extremely randomized trees). One threshold per feature, uniform between its minimum and maximum in the node; for a nominal feature a random order of its categories, cut at a random
//! position; missing values go to a random side. The best of these splits is taken. **Reference.** Geurts, Ernst and Wehenkel, Extremely randomized trees (2006).

use super::grow::{GrowOptions, PendingNode};
use super::orders::ColumnOrders;
use crate::split::bipartition::{Bipartition, BipartitionSearch, best_bipartition, groups};
use crate::split::exact::ThresholdPosition;
use crate::split::node::{BestThreshold, NodeCriterion, ROW, SortedSegment, SplitLimits, TIE, gain_at};
use ermine_core::matrix::Features;
use ermine_core::parallel;
use ermine_core::rng::{self, Purpose, Rng, RngExt};
use std::ops::Range;

/// A split that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChosenSplit {
    pub feature: usize,
    pub gain: f64,
    pub place: SplitPosition,
}

impl ChosenSplit {
    /// A split at the best threshold of a column.
    fn threshold(feature: usize, best: BestThreshold) -> ChosenSplit {
        ChosenSplit { feature, gain: best.gain, place: SplitPosition::Threshold { at: best.place, value: None } }
    }
}

/// The columns of a tree by how they are searched; each list ascends.
pub(super) struct SearchedColumns {
    /// Numbers without missing values and without constraints: searched together.
    plain: Vec<usize>,
    /// All others: searched one by one.
    other: Vec<usize>,
}

impl SearchedColumns {
    pub fn new(orders: &ColumnOrders, monotone: &[i8]) -> SearchedColumns {
        let is_plain = |&f: &usize| {
            let column = &orders.columns[f];
            !column.nominal && !column.has_missing() && monotone.get(f).is_none_or(|&sign| sign == 0)
        };
        let (plain, other) = (0..orders.columns.len()).partition(is_plain);
        SearchedColumns { plain, other }
    }
}

/// The part of an ascending list that lies in a range.
fn within<'a>(list: &'a [usize], range: &Range<usize>) -> &'a [usize] {
    &list[list.partition_point(|&f| f < range.start)..list.partition_point(|&f| f < range.end)]
}

/// Where the rows of a node are split.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SplitPosition {
    /// At a threshold; `value` is the threshold if it was drawn at random.
    Threshold { at: ThresholdPosition, value: Option<f64> },
    /// Between categories.
    Categories(Bipartition),
}

impl SplitPosition {
    pub fn missing_left(&self) -> bool {
        match self {
            SplitPosition::Threshold { at, .. } => at.missing_left,
            SplitPosition::Categories(parts) => parts.missing_left,
        }
    }
}

/// The inputs of the split search of a node.
pub(super) struct SplitSearch<'a, C> {
    pub criterion: &'a C,
    pub orders: &'a ColumnOrders,
    pub columns: &'a SearchedColumns,
    pub features: &'a Features,
    pub rows: &'a [u32],
    pub options: &'a GrowOptions,
    /// Where the random numbers that break ties start.
    pub ties: u64,
}

impl<C: NodeCriterion> SplitSearch<'_, C> {
    /// Whether the first of two splits of a node, each a gain and a column, is better. Equally good columns come in a random order, which depends on the random seed and the path of the node only.
    #[inline]
    fn is_better(&self, pending: &PendingNode<C::Node>, split: (f64, usize), other: (f64, usize)) -> bool {
        let rank = |feature: usize| rng::place(rng::place(self.ties, pending.path), feature as u64);
        split.0 > other.0 || (split.0 == other.0 && rank(split.1) < rank(other.1))
    }

    /// Keeps the better of two splits of a node.
    fn keep(&self, pending: &PendingNode<C::Node>, best: &mut Option<ChosenSplit>, next: Option<ChosenSplit>) {
        let key = |split: &ChosenSplit| (split.gain, split.feature);
        let wins = |next: &ChosenSplit| best.as_ref().is_none_or(|best| self.is_better(pending, key(next), key(best)));
        if next.as_ref().is_some_and(wins) {
            *best = next;
        }
    }

    /// The best split of a node, if its gain is large enough.
    pub fn search(&self, pending: &PendingNode<C::Node>) -> Option<ChosenSplit> {
        let n_columns = self.orders.columns.len();
        let choice = if self.draws() { self.search_drawn(pending) } else { self.search_all(pending, 0..n_columns) };
        choice.filter(|choice| self.is_enough(choice))
    }

    /// As [`search`](Self::search), with the columns of a large node distributed over all threads.
    pub fn search_wide(&self, pending: &PendingNode<C::Node>) -> Option<ChosenSplit> {
        const WIDE: usize = 1 << 16;
        let small = pending.range.len() * self.orders.columns.len() < WIDE;
        if small || self.draws() {
            return self.search(pending);
        }
        self.search_level(std::slice::from_ref(pending)).pop().flatten()
    }

    /// The best split of each node, on all threads.
    pub fn search_level(&self, level: &[PendingNode<C::Node>]) -> Vec<Option<ChosenSplit>> {
        if self.draws() {
            return parallel::map(level.len(), |i| self.search(&level[i]));
        }
        let n_columns = self.orders.columns.len();
        let each = n_columns.div_ceil(rayon::current_num_threads());
        let blocks = parallel::map(n_columns.div_ceil(each.max(1)), |block| {
            let columns = block * each..((block + 1) * each).min(n_columns);
            level.iter().map(|pending| self.search_all(pending, columns.clone())).collect::<Vec<Option<ChosenSplit>>>()
        });
        let mut best: Vec<Option<ChosenSplit>> = level.iter().map(|_| None).collect();
        for block in blocks {
            for ((best, next), pending) in best.iter_mut().zip(block).zip(level) {
                self.keep(pending, best, next);
            }
        }
        best.into_iter().map(|choice| choice.filter(|choice| self.is_enough(choice))).collect()
    }

    pub fn draws(&self) -> bool {
        self.options.random_thresholds || self.options.max_features < self.orders.columns.len()
    }

    fn is_enough(&self, choice: &ChosenSplit) -> bool {
        self.gains_enough(choice.gain)
    }

    /// Whether a gain reaches `min_gain`, up to rounding. If `min_gain` is 0, a split without gain is taken too, as its children may gain.
    pub fn gains_enough(&self, gain: f64) -> bool {
        let least = self.options.min_gain;
        gain + 1e-12 * (gain.abs() + least) >= least || least <= 0.0
    }

    fn limits(&self, pending: &PendingNode<C::Node>, feature: usize) -> SplitLimits {
        SplitLimits {
            min_samples: self.options.min_samples_leaf.max(1),
            min_weight: self.options.min_weight_leaf,
            monotone: self.options.monotone.get(feature).copied().unwrap_or(0),
            bounds: pending.bounds,
        }
    }

    /// The best split over a range of columns.
    fn search_all(&self, pending: &PendingNode<C::Node>, columns: Range<usize>) -> Option<ChosenSplit> {
        let mut best = self.search_plain(pending, within(&self.columns.plain, &columns));
        for &feature in within(&self.columns.other, &columns) {
            self.keep(pending, &mut best, self.search_column(pending, feature));
        }
        best
    }

    /// The best threshold of plain columns, which are searched together.
    fn search_plain(&self, pending: &PendingNode<C::Node>, columns: &[usize]) -> Option<ChosenSplit> {
        let entries: Vec<&[u32]> = columns.iter().map(|&f| self.orders.columns[f].entries(&pending.range)).collect();
        let mut found = Vec::with_capacity(entries.len());
        self.criterion.best_thresholds(&pending.state, &entries, &self.limits(pending, 0).without_order(), &mut found);
        let mut best: Option<(usize, BestThreshold)> = None;
        for (&feature, next) in columns.iter().zip(found) {
            let Some(next) = next else { continue };
            if best.is_none_or(|(f, best)| self.is_better(pending, (next.gain, feature), (best.gain, f))) {
                best = Some((feature, next));
            }
        }
        best.map(|(feature, best)| ChosenSplit::threshold(feature, best))
    }

    /// The best split of one column.
    fn search_column(&self, pending: &PendingNode<C::Node>, feature: usize) -> Option<ChosenSplit> {
        let column = &self.orders.columns[feature];
        let segment = column.segment(&pending.range);
        let limits = self.limits(pending, feature);
        if !column.nominal {
            let best = self.criterion.best_threshold(&pending.state, segment, &limits)?;
            return Some(ChosenSplit::threshold(feature, best));
        }
        let parts = best_bipartition(self.criterion, &pending.state, segment, &limits)?;
        Some(ChosenSplit { feature, gain: parts.gain, place: SplitPosition::Categories(parts) })
    }

    /// The best split over columns drawn at random.
    fn search_drawn(&self, pending: &PendingNode<C::Node>) -> Option<ChosenSplit> {
        let mut rng = Purpose::NodeSplits.stream(self.options.seed, &[pending.path]);
        let mut order: Vec<usize> = (0..self.orders.columns.len()).collect();
        let mut best: Option<ChosenSplit> = None;
        let mut n_seen = 0;
        for i in 0..order.len() {
            if n_seen >= self.options.max_features && best.is_some() {
                break;
            }
            let drawn = i + rng::below(&mut rng, order.len() - i);
            order.swap(i, drawn);
            let feature = order[i];
            let segment = self.orders.columns[feature].segment(&pending.range);
            if is_constant(segment) {
                continue;
            }
            n_seen += 1;
            let next = if self.options.random_thresholds {
                self.draw_split(pending, feature, segment, &mut rng)
            } else {
                self.search_column(pending, feature)
            };
            // Columns come in a random order: the first of equally good ones wins.
            if next.as_ref().is_some_and(|next| best.as_ref().is_none_or(|best| next.gain > best.gain)) {
                best = next;
            }
        }
        best
    }

    /// One random split of a column; `None` if the limits forbid it.
    fn draw_split(
        &self,
        pending: &PendingNode<C::Node>,
        feature: usize,
        segment: SortedSegment<'_>,
        rng: &mut Rng,
    ) -> Option<ChosenSplit> {
        let limits = self.limits(pending, feature);
        let coin = rng::below(rng, 2) == 0;
        let missing_left = !segment.missing.is_empty() && coin;
        if self.orders.columns[feature].nominal {
            return self.draw_categories(pending, feature, segment, missing_left, rng);
        }
        let value = |entry: u32| self.features.number(self.rows[(entry & ROW) as usize] as usize, feature);
        let (&first, &last) = (segment.present.first()?, segment.present.last()?);
        let (low, high) = (value(first), value(last));
        let share: f64 = rng.random();
        let drawn = low * (1.0 - share) + high * share;
        // Rounding may give the maximum itself, and infinite values give NaN.
        let drawn = if low < high { if drawn < high { drawn.max(low) } else { low } } else { f64::INFINITY };
        let n_left = segment.present.partition_point(|&entry| value(entry) <= drawn);
        let missing_left = missing_left && n_left < segment.present.len();
        let at = ThresholdPosition { n_left, missing_left };
        let gain = gain_at(self.criterion, &pending.state, segment, at, &limits)?;
        Some(ChosenSplit { feature, gain, place: SplitPosition::Threshold { at, value: Some(drawn) } })
    }

    fn draw_categories(
        &self,
        pending: &PendingNode<C::Node>,
        feature: usize,
        segment: SortedSegment<'_>,
        missing_left: bool,
        rng: &mut Rng,
    ) -> Option<ChosenSplit> {
        let groups = groups(segment.present);
        let mut order: Vec<usize> = (0..groups.len()).collect();
        rng::shuffle(rng, &mut order);
        // A single category can only be separated from missing values.
        let missing_left = missing_left && groups.len() > 1;
        let most = if segment.missing.is_empty() || missing_left { groups.len() - 1 } else { groups.len() };
        if most == 0 {
            return None;
        }
        let n_groups_left = 1 + rng::below(rng, most);
        let mut left = vec![false; groups.len()];
        order[..n_groups_left].iter().for_each(|&g| left[g] = true);
        let present: Vec<u32> = order.iter().flat_map(|&g| groups[g]).copied().collect();
        let n_left = order[..n_groups_left].iter().map(|&g| groups[g].len()).sum();
        let limits = self.limits(pending, feature).without_order();
        let laid_out = SortedSegment { present: &present, missing: segment.missing };
        let gain =
            gain_at(self.criterion, &pending.state, laid_out, ThresholdPosition { n_left, missing_left }, &limits)?;
        let parts = Bipartition { gain, left, missing_left, search: BipartitionSearch::Heuristic };
        Some(ChosenSplit { feature, gain, place: SplitPosition::Categories(parts) })
    }
}

/// Whether the column is constant in the node.
fn is_constant(segment: SortedSegment<'_>) -> bool {
    let one_value = segment.present.iter().skip(1).all(|entry| entry & TIE != 0);
    one_value && (segment.present.is_empty() || segment.missing.is_empty())
}
