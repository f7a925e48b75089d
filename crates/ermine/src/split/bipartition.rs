//! The best way to cut the categories of a nominal column in two.
//!
//! **Idea.** In the order of a nominal column the rows of a category stand side by side. Where a theorem says so, the best of the 2^(K-1) - 1 bipartitions is a
//! threshold in some order of the categories: their rows are laid out in that order and the ordinary sweep for thresholds runs over
//! them, with all its limits and its care for missing values. Otherwise all bipartitions are tried if there are few, and the thresholds of several promising
//! orders if there are many. [`Search`] says which it was.
//!
//! **Cost.** O(n + K log K) for an order. **Reference.** Fisher 1958; Breiman, Friedman, Olshen and Stone, CART (1984), 9.4.

use super::node::{CategoryOrders, Limits, NodeCriterion, Segment, TIE};

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
    let limits = &Limits { monotone: 0, ..*limits };
    match criterion.category_orders(node, &groups, column.missing, limits) {
        CategoryOrders::Exact(keys) => by_order(criterion, node, &groups, column.missing, &keys, limits, Search::Order),
        CategoryOrders::Heuristic(orders) => orders
            .iter()
            .filter_map(|keys| by_order(criterion, node, &groups, column.missing, keys, limits, Search::Heuristic))
            .reduce(|best, next| if next.gain > best.gain { next } else { best }),
        CategoryOrders::Enumerated(best) => best.map(|(gain, mut left)| {
            let missing_left = left.len() > groups.len() && left[groups.len()];
            left.truncate(groups.len());
            Bipartition { gain, left, missing_left, search: Search::Enumeration }
        }),
    }
}

fn by_order<C: NodeCriterion>(
    criterion: &C,
    node: &C::Node,
    groups: &[&[u32]],
    missing: &[u32],
    keys: &[f64],
    limits: &Limits,
    search: Search,
) -> Option<Bipartition> {
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]).then(a.cmp(&b)));
    let present: Vec<u32> = order.iter().flat_map(|&g| groups[g]).copied().collect();
    let best = criterion.best_threshold(node, Segment { present: &present, missing }, limits)?;
    let mut left = vec![false; groups.len()];
    let mut n_left = 0;
    for &g in &order {
        left[g] = n_left < best.place.n_left;
        n_left += groups[g].len();
    }
    Some(Bipartition { gain: best.gain, left, missing_left: best.place.missing_left, search })
}
