//! The best bipartition of the categories of a nominal column.
//!
//! **Idea.** In the sorted order of a nominal column the rows of a category are adjacent. For some criteria the best of the 2^(K-1) - 1 bipartitions is provably a
//! threshold in some order of the categories: their rows are laid out in that order and swept like an ordered column. Otherwise all bipartitions are
//! enumerated if there are few, and the thresholds of several promising orders are tried if there are many. [`BipartitionSearch`] records which it was.
//!
//! **Limits** (rows or weight on a side) invalidate the theorems: the best allowed bipartition need not be a threshold. The best of all is taken if it is
//! allowed; otherwise the search continues as if there were no theorem.
//!
//! **Cost.** O(n + K log K) for an order, O(2^K n) for trying all, up to [`TRIED`]. **Reference.** Fisher 1958; Breiman, Friedman, Olshen and Stone, CART (1984), 9.4.

use super::exact::ThresholdPosition;
use super::node::{BestThreshold, NodeCriterion, SortedSegment, SplitLimits, TIE, allowed, gain_at};

/// Up to this many categories (with those missing as one) all bipartitions are tried,
pub const ENUMERATED: usize = 9;
/// and those of more if enumeration moves at most this many rows.
pub const TRIED: usize = 1 << 16;

/// How the bipartition was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BipartitionSearch {
    /// By an order whose thresholds provably contain the best.
    Order,
    /// By enumeration.
    Enumeration,
    /// By orders whose thresholds usually contain a good one.
    Heuristic,
}

/// The categories of a node on either side of a split.
#[derive(Debug, Clone, PartialEq)]
pub struct Bipartition {
    /// Its gain.
    pub gain: f64,
    /// Whether each category of the node, in the order of the column, is on the left.
    pub left: Vec<bool>,
    /// Whether rows without a category are on the left.
    pub missing_left: bool,
    /// How it was found.
    pub search: BipartitionSearch,
}

impl Bipartition {
    /// Swaps the sides.
    pub fn flip(&mut self) {
        self.left.iter_mut().for_each(|left| *left = !*left);
        self.missing_left = !self.missing_left;
    }
}

/// The rows of each category in the order of a nominal column.
pub fn groups(present: &[u32]) -> Vec<&[u32]> {
    present.chunk_by(|_, next| next & TIE != 0).collect()
}

/// The best bipartition of a nominal column; `None` where the limits allow none.
pub fn best_bipartition<C: NodeCriterion>(
    criterion: &C,
    node: &C::Node,
    column: SortedSegment<'_>,
    limits: &SplitLimits,
) -> Option<Bipartition> {
    let groups = groups(column.present);
    if groups.len() + usize::from(!column.missing.is_empty()) < 2 {
        return None;
    }
    // Categories have no order that a prediction could follow.
    let limits = limits.without_order();
    let exact = criterion.exact_order(node, &groups, column.missing);
    let categories = CategorySearch { criterion, node, groups, missing: column.missing, limits };
    exact.map_or_else(|| categories.without_theorem(None), |keys| categories.by_theorem(keys))
}

/// The categories of a node.
struct CategorySearch<'a, C: NodeCriterion> {
    criterion: &'a C,
    node: &'a C::Node,
    groups: Vec<&'a [u32]>,
    missing: &'a [u32],
    limits: SplitLimits,
}

impl<C: NodeCriterion> CategorySearch<'_, C> {
    /// The best threshold of an order that holds the best bipartition, if that is allowed.
    fn by_theorem(&self, keys: Vec<f64>) -> Option<Bipartition> {
        if self.limits == SplitLimits::NONE {
            return self.by_order(&keys, BipartitionSearch::Order);
        }
        let (order, present) = self.lay_out(&keys);
        let laid_out = SortedSegment { present: &present, missing: self.missing };
        let best = self.criterion.best_threshold(self.node, laid_out, &SplitLimits::NONE)?;
        match gain_at(self.criterion, self.node, laid_out, best.place, &self.limits) {
            Some(_) => Some(self.cut(&order, self.evened(laid_out, best), BipartitionSearch::Order)),
            None => self.without_theorem(Some(keys)),
        }
    }

    /// If no cut has a positive gain, the one nearest to the middle instead of the first: identical categories would otherwise be split off one by one,
    /// in a tree as deep as the number of categories.
    fn evened(&self, laid_out: SortedSegment<'_>, best: BestThreshold) -> BestThreshold {
        let half = laid_out.present.len() / 2;
        let nearest = (0..half).flat_map(|far| [half - far, half + far]).find(|&n_left| laid_out.is_cut(n_left));
        let Some(n_left) = nearest.filter(|_| best.gain <= 0.0) else { return best };
        let place = ThresholdPosition { n_left, ..best.place };
        match gain_at(self.criterion, self.node, laid_out, place, &self.limits) {
            Some(gain) if self.criterion.grid(self.node).round(gain) >= best.gain => BestThreshold { place, ..best },
            _ => best,
        }
    }

    /// The best of all bipartitions if they are few, otherwise the best threshold of promising orders; `keys` are those of one that would be exact without limits.
    fn without_theorem(&self, keys: Option<Vec<f64>>) -> Option<Bipartition> {
        // What is left out (the missing ones, or the last category) stays on the right: a set and its complement are the same split.
        let n_free = self.groups.len() - usize::from(self.missing.is_empty());
        let n_rows = self.missing.len() + self.groups.iter().map(|group| group.len()).sum::<usize>();
        if n_free < ENUMERATED && self.criterion.merges_fast() || n_free < 16 && n_rows << n_free <= TRIED {
            return self.try_all(n_free, n_rows);
        }
        let orders = keys.map_or_else(|| self.criterion.promising_orders(self.node, &self.groups), |keys| vec![keys]);
        let by_order = |keys: &Vec<f64>| self.by_order(keys, BipartitionSearch::Heuristic);
        orders.iter().filter_map(by_order).reduce(|best, next| if next.gain > best.gain { next } else { best })
    }

    /// Every set of the first `n_free` categories on the left, in ascending order of the set as a number.
    fn try_all(&self, n_free: usize, n_rows: usize) -> Option<Bipartition> {
        let (criterion, node) = (self.criterion, self.node);
        let sum = |group: &&[u32]| {
            let mut sum = criterion.nothing(node);
            group.iter().for_each(|&entry| criterion.push(node, &mut sum, entry));
            sum
        };
        let sums: Vec<C::Left> = self.groups[..n_free].iter().map(sum).collect();
        // Entry i is the sum of the categories of the set from i on.
        let mut from = vec![criterion.nothing(node); n_free + 1];
        let mut best: Option<(f64, u32)> = None;
        for set in 1u32..1 << n_free {
            let first = set.trailing_zeros() as usize;
            let mut left = from[first + 1].clone();
            criterion.merge(node, &mut left, &sums[first]);
            from[..=first].iter_mut().for_each(|place| place.clone_from(&left));
            let n_left: usize = (0..n_free).filter(|g| set >> g & 1 == 1).map(|g| self.groups[g].len()).sum();
            let enough = n_left >= self.limits.min_samples && n_rows - n_left >= self.limits.min_samples;
            let gain = criterion.grid(node).round(criterion.gain(node, &left));
            let better = best.is_none_or(|best| gain > best.0) && !gain.is_nan();
            if enough && better && allowed(criterion, node, &left, &self.limits) {
                best = Some((gain, set));
            }
        }
        best.map(|(gain, set)| {
            let left = (0..self.groups.len()).map(|g| set >> g & 1 == 1).collect();
            Bipartition { gain, left, missing_left: false, search: BipartitionSearch::Enumeration }
        })
    }

    fn by_order(&self, keys: &[f64], search: BipartitionSearch) -> Option<Bipartition> {
        let (order, present) = self.lay_out(keys);
        let laid_out = SortedSegment { present: &present, missing: self.missing };
        let best = self.criterion.best_threshold(self.node, laid_out, &self.limits)?;
        Some(self.cut(&order, self.evened(laid_out, best), search))
    }

    /// The categories in ascending order of their keys, and their rows in that order.
    fn lay_out(&self, keys: &[f64]) -> (Vec<usize>, Vec<u32>) {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]).then(a.cmp(&b)));
        let present = order.iter().flat_map(|&g| self.groups[g]).copied().collect();
        (order, present)
    }

    /// The bipartition of a threshold in an order.
    fn cut(&self, order: &[usize], best: BestThreshold, search: BipartitionSearch) -> Bipartition {
        let mut left = vec![false; self.groups.len()];
        let mut n_left = 0;
        for &g in order {
            left[g] = n_left < best.place.n_left;
            n_left += self.groups[g].len();
        }
        Bipartition { gain: best.gain, left, missing_left: best.place.missing_left, search }
    }
}
