//! Pruning: turning nodes back into leaves.
//!
//! | way | which nodes become leaves |
//! |---|---|
//! | cost-complexity | one after the other the node whose split gains least for each leaf it adds, up to alpha |
//! | greedy | one after the other the node whose removal lowers the validation error most, while any does |
//! | reduced error | bottom-up every node that as a leaf has no more validation error than its subtree |
//! | pessimistic (C4.5) | bottom-up every node that as a leaf has no larger upper limit of training errors than its subtree |
//!
//! **Formula.** Cost-complexity: R(t) is the cost of node t as a share of all weight, R(T_t) the sum over the leaves below it and L their number; the weakest link
//! minimises (R(t) - R(T_t)) / (L - 1). Pessimistic: with E errors among N rows, the upper limit of a binomial share with the given
//! confidence. Where a node and its subtree are equal the smaller tree is kept.
//!
//! **Cost.** The whole path in O(L log L + sum of the depths of the removed nodes), by a heap whose outdated entries are passed over; the bottom-up ways O(nodes).
//! **Reference.** Breiman et al., CART (1984), chapter 3; Quinlan, C4.5 (1993), chapter 4.

use super::{Grown, Tree};
use crate::matrix::Features;
use crate::split::Test;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One step of a pruning path: the tree after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// From this alpha on (for greedy pruning: the change of the validation error).
    pub alpha: f64,
    /// The sum over its leaves: of the impurities as shares of all weight, or of the validation errors.
    pub total: f64,
    /// How many leaves it has.
    pub n_leaves: usize,
    /// The node that became a leaf; `None` for the whole tree.
    pub node: Option<usize>,
}

/// What each node costs as a leaf, all that lies below it, and its leaves.
struct Links<'a> {
    tree: &'a Tree,
    parent: Vec<u32>,
    own: Vec<f64>,
    branch: Vec<f64>,
    leaves: Vec<u32>,
}

impl<'a> Links<'a> {
    fn new(tree: &'a Tree, own: Vec<f64>) -> Links<'a> {
        let mut links = Links {
            tree,
            parent: vec![u32::MAX; own.len()],
            branch: vec![0.0; own.len()],
            leaves: vec![0; own.len()],
            own,
        };
        for node in (0..tree.n_nodes()).rev() {
            let children = tree.children(node);
            if children.is_empty() {
                links.branch[node] = links.own[node];
                links.leaves[node] = 1;
            }
            for child in children {
                links.parent[child] = node as u32;
                links.branch[node] += links.branch[child];
                links.leaves[node] += links.leaves[child];
            }
        }
        links
    }

    /// Makes a node a leaf; gives back its ancestors, nearest first.
    fn collapse(&mut self, node: usize) -> Vec<usize> {
        let (change, leaves) = (self.own[node] - self.branch[node], self.leaves[node] - 1);
        self.branch[node] = self.own[node];
        self.leaves[node] = 1;
        let mut ancestors = Vec::new();
        let mut at = self.parent[node];
        while at != u32::MAX {
            let up = at as usize;
            self.branch[up] += change;
            self.leaves[up] -= leaves;
            ancestors.push(up);
            at = self.parent[up];
        }
        ancestors
    }

    /// Always collapses the node with the least key, as long as it is below `limit`.
    fn weakest(mut self, key: impl Fn(f64, f64, u32) -> f64, stop: impl Fn(f64) -> bool) -> Vec<Step> {
        let mut steps = vec![self.step(0.0, None)];
        let mut gone = vec![false; self.own.len()];
        let of = |links: &Self, node: usize| key(links.own[node], links.branch[node], links.leaves[node]);
        let inner = (0..self.own.len()).filter(|&node| self.leaves[node] > 1);
        let mut heap: BinaryHeap<Reverse<(Key, usize)>> =
            inner.map(|node| Reverse((Key(of(&self, node)), node))).collect();
        while let Some(Reverse((Key(weakest), node))) = heap.pop() {
            // Outdated: the node is a leaf now, is gone, or has another key.
            if gone[node] || self.leaves[node] == 1 || of(&self, node).total_cmp(&weakest).is_ne() {
                continue;
            }
            if stop(weakest) {
                break;
            }
            self.mark_below(node, &mut gone);
            for up in self.collapse(node) {
                heap.push(Reverse((Key(of(&self, up)), up)));
            }
            steps.push(self.step(weakest, Some(node)));
        }
        steps
    }

    fn mark_below(&self, node: usize, gone: &mut [bool]) {
        let mut stack: Vec<usize> = self.tree.children(node).collect();
        while let Some(below) = stack.pop() {
            if !std::mem::replace(&mut gone[below], true) {
                stack.extend(self.tree.children(below));
            }
        }
    }

    fn step(&self, alpha: f64, node: Option<usize>) -> Step {
        Step { alpha, total: self.branch[0], n_leaves: self.leaves[0] as usize, node }
    }
}

/// A number with a total order.
#[derive(PartialEq)]
struct Key(f64);
impl Eq for Key {}
impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The whole path of cost-complexity pruning, from the tree as it is to its root.
pub fn cost_complexity_path(grown: &Grown) -> Vec<Step> {
    let total = grown.tree.weight[0];
    let own = grown.cost.iter().map(|cost| cost / total).collect();
    let key = |own: f64, branch: f64, leaves: u32| (own - branch) / f64::from(leaves - 1).max(1.0);
    Links::new(&grown.tree, own).weakest(key, |_| false)
}

/// The tree of the path for this alpha: every link whose strength is at most alpha is removed.
pub fn cost_complexity(grown: &Grown, alpha: f64) -> Grown {
    let path = cost_complexity_path(grown);
    let weak = path.iter().take_while(|step| step.alpha <= alpha).filter_map(|step| step.node);
    collapse(grown, &weak.collect::<Vec<_>>())
}

/// The loss of each node as a leaf on the given rows: `loss(prediction, row)` is added up for the nodes that a row comes through.
pub fn loss_by_node(tree: &Tree, features: &Features, loss: impl Fn(&[f64], usize) -> f64) -> Vec<f64> {
    let mut total = vec![0.0; tree.n_nodes()];
    let numbers: Vec<Vec<f64>> = used_columns(tree, features);
    let mut walk = |row: usize| {
        let mut node = 0;
        loop {
            total[node] += loss(tree.value(node), row);
            let Some(feature) = tree.test[node].feature() else { break };
            let Some(branch) = tree.test[node].branch(numbers[feature][row]) else { break };
            node = tree.children(node).start + branch;
        }
    };
    (0..features.n_rows()).for_each(&mut walk);
    total
}

/// The values of the columns that a tree asks about; nothing for the others.
fn used_columns(tree: &Tree, features: &Features) -> Vec<Vec<f64>> {
    let mut used = vec![false; features.n_columns()];
    tree.test.iter().filter_map(Test::feature).for_each(|f| used[f] = true);
    let numbers = |(f, used): (usize, &bool)| if *used { features.numbers(f) } else { Vec::new() };
    used.iter().enumerate().map(numbers).collect()
}

/// The losses along the cost-complexity path of a tree, for rows that have `loss` in each node: from which alpha, and how much.
pub fn losses_along_path(grown: &Grown, loss: &[f64]) -> Vec<(f64, f64)> {
    let mut links = Links::new(&grown.tree, loss.to_vec());
    let path = cost_complexity_path(grown);
    let after = |step: &Step| {
        if let Some(node) = step.node {
            links.collapse(node);
        }
        (step.alpha, links.branch[0])
    };
    path.iter().map(after).collect()
}

/// Removes the split that lowers the validation error most, again and again, while any does. `loss` is the validation loss of each node as a leaf.
pub fn greedy(grown: &Grown, loss: Vec<f64>) -> Grown {
    let steps = Links::new(&grown.tree, loss).weakest(|own, branch, _| own - branch, |change| change >= 0.0);
    collapse(grown, &steps.iter().filter_map(|step| step.node).collect::<Vec<_>>())
}

/// Bottom-up, makes a node a leaf if that has no more loss than its subtree has after pruning. `slack` is forgiven.
pub fn reduced_error(grown: &Grown, loss: &[f64], slack: f64) -> Grown {
    let tree = &grown.tree;
    let mut branch = loss.to_vec();
    let mut removed = Vec::new();
    for node in (0..tree.n_nodes()).rev() {
        let children = tree.children(node);
        if children.is_empty() {
            continue;
        }
        let below: f64 = children.map(|child| branch[child]).sum();
        if loss[node] <= below + slack { removed.push(node) } else { branch[node] = below }
    }
    collapse(grown, &removed)
}

/// C4.5's pruning: reduced error with the upper limit of each node's training errors in place of validation errors.
pub fn pessimistic(grown: &Grown, confidence: f64) -> Grown {
    let tree = &grown.tree;
    let limit = |node: usize| {
        let best = tree.value(node).iter().fold(0.0f64, |best, &share| best.max(share));
        let n = tree.weight[node];
        let errors = n * (1.0 - best);
        errors + added_errors(n, errors, confidence)
    };
    let loss: Vec<f64> = (0..tree.n_nodes()).map(limit).collect();
    // Quinlan's programs give the leaf a tenth of an error.
    reduced_error(grown, &loss, 0.1)
}

/// How many errors to add to `e` of `n`, so that their share is the upper limit of its confidence interval (Quinlan 1993, 4.2).
pub fn added_errors(n: f64, e: f64, confidence: f64) -> f64 {
    let none = n * (1.0 - (confidence.ln() / n).exp());
    if e < 1e-6 {
        none
    } else if e < 0.9999 {
        none + e * (added_errors(n, 1.0, confidence) - none)
    } else if e + 0.5 >= n {
        0.67 * (n - e)
    } else {
        let z = normal_quantile(1.0 - confidence);
        let (z2, share) = (z * z, (e + 0.5) / n);
        let upper =
            (share + z2 / (2.0 * n) + z * (share / n - share * share / n + z2 / (4.0 * n * n)).sqrt()) / (1.0 + z2 / n);
        (upper * n - e).max(0.0)
    }
}

/// Where the standard normal distribution has `p` below it, for 0 < p < 1, by bisection of its integral.
fn normal_quantile(p: f64) -> f64 {
    // Simpson's rule from 0 with steps of at most 0.01: ten digits.
    let below = |x: f64| {
        let n = ((x.abs() / 0.01).ceil() as usize).max(1) * 2;
        let h = x / n as f64;
        let density = |t: f64| (-t * t / 2.0).exp();
        let weight = |i: usize| if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * (i % 2) as f64 };
        let sum: f64 = (0..=n).map(|i| weight(i) * density(i as f64 * h)).sum();
        0.5 + sum * h / 3.0 / (2.0 * std::f64::consts::PI).sqrt()
    };
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if below(middle) < p { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The tree with these nodes as leaves, without what was below them.
pub fn collapse(grown: &Grown, removed: &[usize]) -> Grown {
    let tree = &grown.tree;
    let mut is_leaf = vec![false; tree.n_nodes()];
    removed.iter().for_each(|&node| is_leaf[node] = true);
    let width = tree.width;
    let mut out = Grown { searches: grown.searches, ..Grown::default() };
    out.tree.width = width;
    let mut queue = std::collections::VecDeque::from([0usize]);
    let mut n_made = 1;
    while let Some(node) = queue.pop_front() {
        let leaf = is_leaf[node] || tree.children(node).is_empty();
        out.tree.test.push(if leaf { Test::Leaf } else { tree.test[node].clone() });
        out.tree.child.push(if leaf { 0 } else { n_made });
        out.tree.weight.push(tree.weight[node]);
        out.tree.value.extend_from_slice(tree.value(node));
        out.cost.push(grown.cost[node]);
        out.count.push(grown.count[node]);
        if !leaf {
            n_made += tree.children(node).len() as u32;
            queue.extend(tree.children(node));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_limits_are_those_of_the_book() {
        // Quinlan 1993, 4.2: U_25%(0, 6) = 0.206, U_25%(0, 9) = 0.143, U_25%(0, 1) = 0.750.
        for (n, share) in [(6.0, 0.206), (9.0, 0.143), (1.0, 0.750)] {
            assert!((added_errors(n, 0.0, 0.25) / n - share).abs() < 5e-4);
        }
        // U_25%(1, 16) = 0.157, which the programs approximate.
        assert!(((1.0 + added_errors(16.0, 1.0, 0.25)) / 16.0 - 0.157).abs() < 5e-3);
        assert!((normal_quantile(0.75) - 0.674_489_750_196).abs() < 1e-9);
    }
}
