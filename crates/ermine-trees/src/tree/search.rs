//! The best split of a node: over all columns, over some drawn at random, or by thresholds drawn at random.
//!
//! **Drawn columns.** A node looks at `max_features` columns in a random order that follows from the seed and the node's place in the tree. Columns
//! that are constant in the node don't count, and the search goes on until a split is found or no column is left.
//!
//! **Drawn thresholds** (extremely randomised trees). For each column one threshold, evenly between its least and largest value in the node; for a nominal
//! column a random order of its categories, cut at a random place; missing values go to a random side. The best of these splits is taken.
//! **Reference.** Geurts, Ernst and Wehenkel, Extremely randomized trees (2006).

use super::grow::{GrowOptions, Pending};
use super::orders::Orders;
use crate::split::bipartition::{Bipartition, Search, best_bipartition, groups};
use crate::split::exact::Threshold;
use crate::split::node::{Limits, NodeCriterion, ROW, Segment, TIE, gain_at};
use ermine_core::matrix::Features;
use ermine_core::parallel;
use ermine_core::rng::{self, Purpose, Rng, RngExt};
use std::ops::Range;

/// A split that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    pub feature: usize,
    pub gain: f64,
    pub place: Place,
}

/// Where a column is split.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Place {
    /// At a threshold; `value` is the number itself where it was drawn.
    Threshold { at: Threshold, value: Option<f64> },
    /// Between categories.
    Categories(Bipartition),
}

impl Place {
    pub fn missing_left(&self) -> bool {
        match self {
            Place::Threshold { at, .. } => at.missing_left,
            Place::Categories(parts) => parts.missing_left,
        }
    }
}

/// What a search looks at.
pub(super) struct Searcher<'a, C> {
    pub criterion: &'a C,
    pub orders: &'a Orders,
    pub features: &'a Features,
    pub rows: &'a [u32],
    pub options: &'a GrowOptions,
}

/// Keeps the better of two, the first of equals.
fn keep(best: &mut Option<Choice>, next: Option<Choice>) {
    if next.as_ref().is_some_and(|next| best.as_ref().is_none_or(|best| next.gain > best.gain)) {
        *best = next;
    }
}

impl<C: NodeCriterion> Searcher<'_, C> {
    /// The best split of a node that gains enough.
    pub fn search(&self, pending: &Pending<C::Node>) -> Option<Choice> {
        let n_columns = self.orders.columns.len();
        let choice = if self.draws() { self.search_drawn(pending) } else { self.search_all(pending, 0..n_columns) };
        choice.filter(|choice| self.is_enough(choice))
    }

    /// As [`search`](Self::search), with the columns of a large node dealt out to all threads.
    pub fn search_wide(&self, pending: &Pending<C::Node>) -> Option<Choice> {
        const WIDE: usize = 1 << 16;
        let small = pending.range.len() * self.orders.columns.len() < WIDE;
        if small || self.draws() {
            return self.search(pending);
        }
        self.search_level(std::slice::from_ref(pending)).pop().flatten()
    }

    /// The best split of each node, on all threads.
    pub fn search_level(&self, level: &[Pending<C::Node>]) -> Vec<Option<Choice>> {
        if self.draws() {
            return parallel::map(level.len(), |i| self.search(&level[i]));
        }
        let n_columns = self.orders.columns.len();
        let each = n_columns.div_ceil(rayon::current_num_threads());
        let blocks = parallel::map(n_columns.div_ceil(each.max(1)), |block| {
            let columns = block * each..((block + 1) * each).min(n_columns);
            level.iter().map(|pending| self.search_all(pending, columns.clone())).collect::<Vec<Option<Choice>>>()
        });
        let mut best: Vec<Option<Choice>> = level.iter().map(|_| None).collect();
        for block in blocks {
            best.iter_mut().zip(block).for_each(|(best, next)| keep(best, next));
        }
        best.into_iter().map(|choice| choice.filter(|choice| self.is_enough(choice))).collect()
    }

    pub fn draws(&self) -> bool {
        self.options.random_thresholds || self.options.max_features < self.orders.columns.len()
    }

    fn is_enough(&self, choice: &Choice) -> bool {
        self.gains_enough(choice.gain)
    }

    /// Whether this much is as much as asked for, up to rounding. With nothing asked for, a split that gains nothing is taken too, as it may lead to one that does.
    pub fn gains_enough(&self, gain: f64) -> bool {
        let least = self.options.min_gain;
        gain + 1e-12 * (gain.abs() + least) >= least || least <= 0.0
    }

    fn limits(&self, pending: &Pending<C::Node>, feature: usize) -> Limits {
        Limits {
            min_samples: self.options.min_samples_leaf.max(1),
            min_weight: self.options.min_weight_leaf,
            monotone: self.options.monotone.get(feature).copied().unwrap_or(0),
            bounds: pending.bounds,
        }
    }

    /// The best split over a range of columns.
    fn search_all(&self, pending: &Pending<C::Node>, columns: Range<usize>) -> Option<Choice> {
        let mut best: Option<Choice> = None;
        let plain = |f: usize| {
            let column = &self.orders.columns[f];
            !column.nominal && !column.has_missing() && self.options.monotone.get(f).is_none_or(|&sign| sign == 0)
        };
        let together: Vec<usize> = columns.clone().filter(|&f| plain(f)).collect();
        let entries: Vec<&[u32]> = together.iter().map(|&f| self.orders.columns[f].entries(&pending.range)).collect();
        let mut found = Vec::with_capacity(entries.len());
        self.criterion.best_thresholds(&pending.state, &entries, &self.limits(pending, 0).without_order(), &mut found);
        let mut found = together.into_iter().zip(found).peekable();
        for feature in columns {
            let next = match found.next_if(|(f, _)| *f == feature) {
                Some((_, best)) => best.map(|best| Choice {
                    feature,
                    gain: best.gain,
                    place: Place::Threshold { at: best.place, value: None },
                }),
                None => self.search_column(pending, feature),
            };
            keep(&mut best, next);
        }
        best
    }

    /// The best split of one column.
    fn search_column(&self, pending: &Pending<C::Node>, feature: usize) -> Option<Choice> {
        let column = &self.orders.columns[feature];
        let segment = column.segment(&pending.range);
        let limits = self.limits(pending, feature);
        if !column.nominal {
            let best = self.criterion.best_threshold(&pending.state, segment, &limits)?;
            return Some(Choice { feature, gain: best.gain, place: Place::Threshold { at: best.place, value: None } });
        }
        let parts = best_bipartition(self.criterion, &pending.state, segment, &limits)?;
        Some(Choice { feature, gain: parts.gain, place: Place::Categories(parts) })
    }

    /// The best split over columns drawn at random.
    fn search_drawn(&self, pending: &Pending<C::Node>) -> Option<Choice> {
        let mut rng = Purpose::NodeSplits.stream(self.options.seed, &[pending.path]);
        let mut order: Vec<usize> = (0..self.orders.columns.len()).collect();
        let mut best: Option<Choice> = None;
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
            // Columns come in a random order: of equal gains the lower column wins all the same.
            let wins = |next: &Choice, best: &Choice| (next.gain, best.feature) > (best.gain, next.feature);
            if next.as_ref().is_some_and(|next| best.as_ref().is_none_or(|best| wins(next, best))) {
                best = next;
            }
        }
        best
    }

    /// One split of a column, drawn at random; `None` where the limits forbid it.
    fn draw_split(
        &self,
        pending: &Pending<C::Node>,
        feature: usize,
        segment: Segment<'_>,
        rng: &mut Rng,
    ) -> Option<Choice> {
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
        // Rounding may give the highest value itself, above which nothing is; infinite values give no number.
        let drawn = if low < high { if drawn < high { drawn.max(low) } else { low } } else { f64::INFINITY };
        let n_left = segment.present.partition_point(|&entry| value(entry) <= drawn);
        let missing_left = missing_left && n_left < segment.present.len();
        let at = Threshold { n_left, missing_left };
        let gain = gain_at(self.criterion, &pending.state, segment, at, &limits)?;
        Some(Choice { feature, gain, place: Place::Threshold { at, value: Some(drawn) } })
    }

    fn draw_categories(
        &self,
        pending: &Pending<C::Node>,
        feature: usize,
        segment: Segment<'_>,
        missing_left: bool,
        rng: &mut Rng,
    ) -> Option<Choice> {
        let groups = groups(segment.present);
        let mut order: Vec<usize> = (0..groups.len()).collect();
        rng::shuffle(rng, &mut order);
        // One category can only be parted from the rows without one.
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
        let laid_out = Segment { present: &present, missing: segment.missing };
        let gain = gain_at(self.criterion, &pending.state, laid_out, Threshold { n_left, missing_left }, &limits)?;
        let parts = Bipartition { gain, left, missing_left, search: Search::Heuristic };
        Some(Choice { feature, gain, place: Place::Categories(parts) })
    }
}

/// Whether no threshold and no category can part the rows.
fn is_constant(segment: Segment<'_>) -> bool {
    let one_value = segment.present.iter().skip(1).all(|entry| entry & TIE != 0);
    one_value && (segment.present.is_empty() || segment.missing.is_empty())
}
