//! The best way to cut the categories of a nominal column in two.
//!
//! **Idea.** In the order of a nominal column the rows of a category stand side by side. Where a theorem says so, the best of the 2^(K-1) - 1 bipartitions is a
//! threshold in some order of the categories: their rows are laid out in that order and the ordinary sweep for thresholds runs over
//! them, with its care for missing values. Otherwise all bipartitions are tried if there are few, and the thresholds of several promising
//! orders if there are many. [`Search`] says which it was.
//!
//! **Limits** (rows or weight on a side) break the theorems: the best bipartition that is allowed need not be a threshold. The best of all is taken if it happens to be
//! allowed; otherwise the search goes on as if there were no theorem.
//!
//! **Cost.** O(n + K log K) for an order, O(2^K n) for trying all, up to [`TRIED`]. **Reference.** Fisher 1958; Breiman, Friedman, Olshen and Stone, CART (1984), 9.4.

use super::exact::Threshold;
use super::node::{Best, Limits, NodeCriterion, Segment, TIE, allowed, gain_at};

/// Up to this many categories (with those missing as one) all bipartitions are tried,
pub const ENUMERATED: usize = 9;
/// and those of more where trying them adds up at most this many rows.
pub const TRIED: usize = 1 << 16;

/// How the bipartition was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// By an order among whose thresholds the best one provably is.
    Order,
    /// By trying all.
    Enumeration,
    /// By orders that usually hold a good one.
    Heuristic,
}

/// The categories of a node on either side of a split.
#[derive(Debug, Clone, PartialEq)]
pub struct Bipartition {
    /// What it gains.
    pub gain: f64,
    /// For each category that the node has, in the order of the column, whether it is on the left.
    pub left: Vec<bool>,
    /// Whether rows without a category are on the left.
    pub missing_left: bool,
    /// How it was found.
    pub search: Search,
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
    column: Segment<'_>,
    limits: &Limits,
) -> Option<Bipartition> {
    let groups = groups(column.present);
    if groups.len() + usize::from(!column.missing.is_empty()) < 2 {
        return None;
    }
    // Categories have no order that a prediction could follow.
    let limits = limits.without_order();
    let exact = criterion.exact_order(node, &groups, column.missing);
    let categories = Categories { criterion, node, groups, missing: column.missing, limits };
    exact.map_or_else(|| categories.without_theorem(None), |keys| categories.by_theorem(keys))
}

/// The categories of a node.
struct Categories<'a, C: NodeCriterion> {
    criterion: &'a C,
    node: &'a C::Node,
    groups: Vec<&'a [u32]>,
    missing: &'a [u32],
    limits: Limits,
}

impl<C: NodeCriterion> Categories<'_, C> {
    /// The best threshold of an order that holds the best bipartition, if that is allowed.
    fn by_theorem(&self, keys: Vec<f64>) -> Option<Bipartition> {
        if self.limits == Limits::NONE {
            return self.by_order(&keys, Search::Order);
        }
        let (order, present) = self.lay_out(&keys);
        let laid_out = Segment { present: &present, missing: self.missing };
        let best = self.criterion.best_threshold(self.node, laid_out, &Limits::NONE)?;
        match gain_at(self.criterion, self.node, laid_out, best.place, &self.limits) {
            Some(_) => Some(self.cut(&order, self.evened(laid_out, best), Search::Order)),
            None => self.without_theorem(Some(keys)),
        }
    }

    /// Where no cut gains anything, the one nearest to the middle instead of the first: categories that are all alike would otherwise be taken off
    /// one by one, a chain as deep as there are categories.
    fn evened(&self, laid_out: Segment<'_>, best: Best) -> Best {
        let half = laid_out.present.len() / 2;
        let nearest = (0..half).flat_map(|far| [half - far, half + far]).find(|&n_left| laid_out.is_cut(n_left));
        let Some(n_left) = nearest.filter(|_| best.gain <= 0.0) else { return best };
        let place = Threshold { n_left, ..best.place };
        match gain_at(self.criterion, self.node, laid_out, place, &self.limits) {
            Some(gain) if self.criterion.grid(self.node).round(gain) >= best.gain => Best { place, ..best },
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
        let by_order = |keys: &Vec<f64>| self.by_order(keys, Search::Heuristic);
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
        // Place i holds what the categories from i on add up to, of those in the set.
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
            Bipartition { gain, left, missing_left: false, search: Search::Enumeration }
        })
    }

    fn by_order(&self, keys: &[f64], search: Search) -> Option<Bipartition> {
        let (order, present) = self.lay_out(keys);
        let laid_out = Segment { present: &present, missing: self.missing };
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
    fn cut(&self, order: &[usize], best: Best, search: Search) -> Bipartition {
        let mut left = vec![false; self.groups.len()];
        let mut n_left = 0;
        for &g in order {
            left[g] = n_left < best.place.n_left;
            n_left += self.groups[g].len();
        }
        Bipartition { gain: best.gain, left, missing_left: best.place.missing_left, search }
    }
}
