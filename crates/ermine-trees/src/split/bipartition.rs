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
use super::node::{Best, CategoryOrders, Limits, NodeCriterion, Segment, TIE, gain_at};

/// All bipartitions are tried by adding up rows if that adds up at most this many.
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
    let orders = criterion.category_orders(node, &groups, column.missing, &limits);
    let categories = Categories { criterion, node, groups, missing: column.missing, limits };
    match orders {
        CategoryOrders::Exact(keys) => categories.by_theorem(keys),
        CategoryOrders::Heuristic(orders) => categories.without_theorem(&orders),
        CategoryOrders::Enumerated(best) => best.map(|(gain, mut left)| {
            let missing_left = left.len() > categories.groups.len() && left[categories.groups.len()];
            left.truncate(categories.groups.len());
            Bipartition { gain, left, missing_left, search: Search::Enumeration }
        }),
    }
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
            None => self.without_theorem(&[keys]),
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

    /// The best of all bipartitions if they are few, otherwise the best threshold of these orders.
    fn without_theorem(&self, orders: &[Vec<f64>]) -> Option<Bipartition> {
        let n_free = self.groups.len() - usize::from(self.missing.is_empty());
        let n_rows = self.missing.len() + self.groups.iter().map(|group| group.len()).sum::<usize>();
        if n_free < 16 && n_rows << n_free <= TRIED {
            return self.try_all(n_free);
        }
        let by_order = |keys: &Vec<f64>| self.by_order(keys, Search::Heuristic);
        orders.iter().filter_map(by_order).reduce(|best, next| if next.gain > best.gain { next } else { best })
    }

    /// Every set of the first `n_free` categories on the left. What is left out (the missing ones, or the last category) stays on the right: a set and its complement are the same split.
    fn try_all(&self, n_free: usize) -> Option<Bipartition> {
        let mut best: Option<Bipartition> = None;
        let mut present = Vec::new();
        for set in 1u32..1 << n_free {
            let left: Vec<bool> = (0..self.groups.len()).map(|g| set >> g & 1 == 1).collect();
            let side = |wanted: bool| self.groups.iter().zip(&left).filter(move |(_, left)| **left == wanted);
            present.clear();
            side(true).for_each(|(group, _)| present.extend_from_slice(group));
            let place = Threshold { n_left: present.len(), missing_left: false };
            side(false).for_each(|(group, _)| present.extend_from_slice(group));
            let laid_out = Segment { present: &present, missing: self.missing };
            let gain = gain_at(self.criterion, self.node, laid_out, place, &self.limits);
            let gain = gain.map(|gain| self.criterion.grid(self.node).round(gain));
            if let Some(gain) = gain.filter(|gain| best.as_ref().is_none_or(|best| *gain > best.gain)) {
                best = Some(Bipartition { gain, left, missing_left: false, search: Search::Enumeration });
            }
        }
        best
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
