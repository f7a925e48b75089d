//! Pruning: turning nodes back into leaves.
//!
//! | method | nodes that become leaves |
//! |---|---|
//! | cost-complexity | repeatedly the weakest link: the node with the smallest cost increase per removed leaf, up to alpha |
//! | greedy | repeatedly the node whose removal reduces the validation error most, while any does |
//! | reduced error | bottom-up: nodes whose validation error as a leaf is at most that of their subtree |
//! | pessimistic (C4.5) | bottom-up: nodes whose upper confidence limit of the training error as a leaf is at most that of their subtree |
//!
//! **Formula.** Cost-complexity: R(t) is the cost of node t relative to the total weight, R(T_t) the sum over the leaves below it and L their number; the weakest link minimizes (R(t) - R(T_t)) / (L - 1).
//! Pessimistic: with E errors among N rows, the upper limit of a binomial proportion at the given confidence. If a node and its subtree are equally good, the smaller tree is kept.
//!
//! **The path** is computed bottom-up. As a function of alpha, the minimum cost of a subtree is piecewise linear; its breakpoints are the alphas at which nodes below become leaves. From large alphas down, the line
//! of the node as a leaf is compared with that of its children: where they intersect, the node becomes a leaf, and the breakpoints below it at larger alphas are dropped.
//!
//! **Greedy.** Once a node is removed because its change is the smallest, no ancestor can reduce the error any more: its change was no smaller, and has now increased by that amount. So one pass over the nodes in
//! order of their changes suffices, skipping descendants and ancestors of removed nodes.
//!
//! **Cost.** The whole path in O(L log^2 L) by merging the smaller heap into the larger, for trees of any depth; greedy O(L log L); bottom-up methods O(nodes).
//! **Reference.** Breiman et al., CART (1984), chapter 3; Quinlan, C4.5 (1993), chapter 4.

use super::{GrownTree, Tree};
use crate::split::Test;
use ermine_core::matrix::Features;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One step of a pruning path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PruningStep {
    /// The smallest alpha of this tree.
    pub alpha: f64,
    /// The total impurity of its leaves, relative to the total weight.
    pub total: f64,
    /// Its number of leaves.
    pub n_leaves: usize,
    /// The node that became a leaf; `None` for the unpruned tree.
    pub node: Option<usize>,
}

/// A node that becomes a leaf at some alpha. Ordered by alpha, then by node.
#[derive(Debug, Clone, Copy)]
struct WeakestLink {
    alpha: f64,
    node: usize,
    /// The increase in cost and in another loss.
    rise: f64,
    loss_rise: f64,
    /// Number of removed leaves.
    leaves: usize,
}

impl Ord for WeakestLink {
    fn cmp(&self, other: &Self) -> Ordering {
        self.alpha.total_cmp(&other.alpha).then(self.node.cmp(&other.node))
    }
}
impl PartialOrd for WeakestLink {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for WeakestLink {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for WeakestLink {}

/// The nodes that become leaves, in order of alpha. `own` is the cost of each node as a leaf, `loss` another loss of it.
fn links(tree: &Tree, own: &[f64], loss: &[f64]) -> Vec<WeakestLink> {
    let mut heaps: Vec<BinaryHeap<WeakestLink>> = vec![BinaryHeap::new(); tree.n_nodes()];
    for node in (0..tree.n_nodes()).rev() {
        let children = tree.children(node);
        if children.is_empty() {
            continue;
        }
        let mut heap = BinaryHeap::new();
        let (mut cost, mut lost, mut leaves) = (0.0, 0.0, 0);
        for child in children {
            let mut other = std::mem::take(&mut heaps[child]);
            if other.len() > heap.len() {
                std::mem::swap(&mut heap, &mut other);
            }
            heap.extend(other);
            cost += own[child];
            lost += loss[child];
            leaves += 1;
        }
        // For all alphas above the largest link below, the children are leaves.
        let meet = |cost: f64, leaves: usize| (own[node] - cost) / (leaves - 1).max(1) as f64;
        while heap.peek().is_some_and(|last: &WeakestLink| meet(cost, leaves) <= last.alpha) {
            let Some(last) = heap.pop() else { break };
            cost -= last.rise;
            lost -= last.loss_rise;
            leaves += last.leaves;
        }
        let link = WeakestLink {
            alpha: meet(cost, leaves),
            node,
            rise: own[node] - cost,
            loss_rise: loss[node] - lost,
            leaves: leaves - 1,
        };
        heap.push(link);
        heaps[node] = heap;
    }
    std::mem::take(&mut heaps[0]).into_sorted_vec()
}

/// The cost of each node as a leaf, relative to the total weight.
fn shares(grown: &GrownTree) -> Vec<f64> {
    grown.cost.iter().map(|cost| cost / grown.tree.weight[0]).collect()
}

/// The sum over the leaves of a tree.
fn over_leaves(tree: &Tree, of_node: &[f64]) -> f64 {
    tree.leaves().map(|leaf| of_node[leaf]).sum()
}

/// The path of cost-complexity pruning, from the unpruned tree to its root.
pub fn cost_complexity_path(grown: &GrownTree) -> Vec<PruningStep> {
    let own = shares(grown);
    let whole =
        PruningStep { alpha: 0.0, total: over_leaves(&grown.tree, &own), n_leaves: grown.tree.n_leaves(), node: None };
    let mut steps = vec![whole];
    for link in links(&grown.tree, &own, &own) {
        let before = steps[steps.len() - 1];
        // At the root, use its exact cost instead of the rounded sum.
        let total = if link.node == 0 { own[0] } else { before.total + link.rise };
        let n_leaves = before.n_leaves - link.leaves;
        steps.push(PruningStep { alpha: link.alpha, total, n_leaves, node: Some(link.node) });
    }
    steps
}

/// The tree of the path for this alpha.
pub fn cost_complexity(grown: &GrownTree, alpha: f64) -> GrownTree {
    let path = cost_complexity_path(grown);
    let weak = path.iter().take_while(|step| step.alpha <= alpha).filter_map(|step| step.node);
    collapse(grown, &weak.collect::<Vec<_>>())
}

/// The loss of each node as a leaf on the given rows: `loss(prediction, row)` is summed over the nodes on each row's path.
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

/// The values of the columns that a tree uses; empty for the others.
fn used_columns(tree: &Tree, features: &Features) -> Vec<Vec<f64>> {
    let mut used = vec![false; features.n_columns()];
    tree.test.iter().filter_map(Test::feature).for_each(|f| used[f] = true);
    let numbers = |(f, used): (usize, &bool)| if *used { features.numbers(f) } else { Vec::new() };
    used.iter().enumerate().map(numbers).collect()
}

/// The losses along the cost-complexity path of a tree, as (alpha, loss); `loss` is the loss of each node as a leaf.
pub fn losses_along_path(grown: &GrownTree, loss: &[f64]) -> Vec<(f64, f64)> {
    let mut losses = vec![(0.0, over_leaves(&grown.tree, loss))];
    for link in links(&grown.tree, &shares(grown), loss) {
        losses.push((link.alpha, losses[losses.len() - 1].1 + link.loss_rise));
    }
    losses
}

/// Repeatedly removes the split whose removal reduces the validation error most. `loss` is the validation loss of each node as a leaf.
pub fn greedy(grown: &GrownTree, loss: &[f64]) -> GrownTree {
    let tree = &grown.tree;
    let mut parent = vec![usize::MAX; tree.n_nodes()];
    let mut branch = loss.to_vec();
    for node in (0..tree.n_nodes()).rev().filter(|&node| !tree.children(node).is_empty()) {
        branch[node] = tree.children(node).map(|child| branch[child]).sum();
        tree.children(node).for_each(|child| parent[child] = node);
    }
    let change = |node: usize| loss[node] - branch[node];
    let mut order: Vec<usize> = (0..tree.n_nodes()).filter(|&node| change(node) < 0.0).collect();
    order.sort_by(|&a, &b| change(a).total_cmp(&change(b)).then(a.cmp(&b)));
    let mut settled = vec![false; tree.n_nodes()];
    let mut removed = Vec::new();
    for node in order {
        if settled[node] {
            continue;
        }
        removed.push(node);
        let mut stack = vec![node];
        while let Some(below) = stack.pop() {
            settled[below] = true;
            stack.extend(tree.children(below).filter(|&child| !settled[child]));
        }
        let mut above = parent[node];
        while above != usize::MAX && !settled[above] {
            settled[above] = true;
            above = parent[above];
        }
    }
    collapse(grown, &removed)
}

/// Bottom-up, makes a node a leaf if its loss is at most that of its pruned subtree plus `slack`.
pub fn reduced_error(grown: &GrownTree, loss: &[f64], slack: f64) -> GrownTree {
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

/// C4.5's pruning: reduced error with the upper confidence limit of each node's training errors instead of validation errors.
pub fn pessimistic(grown: &GrownTree, confidence: f64) -> GrownTree {
    let tree = &grown.tree;
    let pessimism = Pessimism::new(confidence);
    let limit = |node: usize| {
        let best = tree.value(node).iter().fold(0.0f64, |best, &share| best.max(share));
        let n = tree.weight[node];
        let errors = n * (1.0 - best);
        errors + pessimism.added_errors(n, errors)
    };
    let loss: Vec<f64> = (0..tree.n_nodes()).map(limit).collect();
    // Quinlan's program allows a tenth of an error.
    reduced_error(grown, &loss, 0.1)
}

/// The pessimistic error estimate of C4.5.
pub(super) struct Pessimism {
    confidence: f64,
    /// The corresponding quantile of the normal distribution.
    z: f64,
}

impl Pessimism {
    pub(super) fn new(confidence: f64) -> Pessimism {
        Pessimism { confidence, z: normal_quantile(1.0 - confidence) }
    }

    /// The number of errors to add to `e` of `n` to reach the upper confidence limit (Quinlan 1993, 4.2).
    pub(super) fn added_errors(&self, n: f64, e: f64) -> f64 {
        let none = n * (1.0 - (self.confidence.ln() / n).exp());
        if e < 1e-6 {
            return none;
        }
        if e < 0.9999 {
            return none + e * (self.added_errors(n, 1.0) - none);
        }
        if e + 0.5 >= n {
            return 0.67 * (n - e);
        }
        let (z, z2, share) = (self.z, self.z * self.z, (e + 0.5) / n);
        let upper =
            (share + z2 / (2.0 * n) + z * (share / n - share * share / n + z2 / (4.0 * n * n)).sqrt()) / (1.0 + z2 / n);
        (upper * n - e).max(0.0)
    }
}

/// The `p` quantile of the standard normal distribution, for 0 < p < 1, by bisection.
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

/// The tree with these nodes as leaves.
pub fn collapse(grown: &GrownTree, removed: &[usize]) -> GrownTree {
    let tree = &grown.tree;
    let mut is_leaf = vec![false; tree.n_nodes()];
    removed.iter().for_each(|&node| is_leaf[node] = true);
    let width = tree.width;
    let mut out = GrownTree { searches: grown.searches, ..GrownTree::default() };
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
    use proptest::prelude::*;

    /// A tree by where to split: the n-th number chooses the leaf that is split next. Costs fall from a node to its children, losses are anything.
    fn random_tree(choices: &[(u8, u8, u8)]) -> (GrownTree, Vec<f64>) {
        let mut tree = Tree::leaf(1.0, &[0.0]);
        let (mut cost, mut loss) = (vec![1.0], vec![100.0]);
        for &(which, part, lost) in choices {
            let leaves: Vec<usize> = (0..tree.n_nodes()).filter(|&node| tree.children(node).is_empty()).collect();
            let node = leaves[which as usize * leaves.len() / 256];
            let test = Test::AtMost { feature: 0, threshold: 0.0, missing_left: false };
            tree.split(node, test, &[(0.5, vec![0.0]), (0.5, vec![0.0])]);
            let (own, share) = (cost[node], f64::from(part) / 256.0);
            cost.extend([own * 0.9 * share, own * 0.9 * (1.0 - share)]);
            loss.extend([f64::from(lost % 16) * 0.5, f64::from(lost / 16) * 0.4]);
        }
        let count = vec![1; cost.len()];
        (GrownTree { tree, cost, count, searches: [0; 3] }, loss)
    }

    /// Removes the node with the least key, again and again, looking at all nodes each time: nodes, keys, leaves left and what they add up to.
    fn by_hand(grown: &GrownTree, own: &[f64], per_leaf: bool, stop: f64) -> Vec<(usize, f64)> {
        let mut tree = grown.tree.clone();
        let mut removed = Vec::new();
        loop {
            let (mut branch, mut leaves) = (own.to_vec(), vec![1.0f64; own.len()]);
            for node in (0..tree.n_nodes()).rev().filter(|&node| !tree.children(node).is_empty()) {
                branch[node] = tree.children(node).map(|child| branch[child]).sum();
                leaves[node] = tree.children(node).map(|child| leaves[child]).sum();
            }
            let reached = (0..tree.n_nodes()).filter(|&node| {
                let mut stack = vec![0];
                let mut found = false;
                while let Some(at) = stack.pop() {
                    found |= at == node;
                    stack.extend(tree.children(at));
                }
                found && !tree.children(node).is_empty()
            });
            let key = |node: usize| (own[node] - branch[node]) / if per_leaf { leaves[node] - 1.0 } else { 1.0 };
            let Some(least) = reached.min_by(|&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b))) else { break };
            if key(least) >= stop {
                break;
            }
            removed.push((least, key(least)));
            tree.test[least] = Test::Leaf;
        }
        removed
    }

    proptest! {
        #[test]
        fn pruning_paths_match_repeated_removal(choices in prop::collection::vec(any::<(u8, u8, u8)>(), 1..12)) {
            let (grown, loss) = random_tree(&choices);
            let slow = by_hand(&grown, &grown.cost, true, f64::INFINITY);
            let path = cost_complexity_path(&grown);
            for step in &path[1..] {
                // Of nodes with equal keys it may be the other one; where it stands by itself, node and alpha are the same.
                let near: Vec<_> = slow.iter().filter(|(_, key)| (key - step.alpha).abs() < 1e-9).collect();
                prop_assert!(!near.is_empty(), "{step:?} {slow:?}");
                prop_assert!(near.len() > 1 || Some(near[0].0) == step.node, "{step:?} {slow:?}");
            }
            let last = path[path.len() - 1];
            prop_assert_eq!((last.node, last.n_leaves), (Some(0), 1));
            for (step, (alpha, lost)) in path.iter().zip(losses_along_path(&grown, &loss)) {
                let pruned: Vec<usize> = path.iter().filter(|s| s.alpha <= alpha).filter_map(|s| s.node).collect();
                let tree = collapse(&GrownTree { cost: loss.clone(), ..grown.clone() }, &pruned);
                let total = over_leaves(&tree.tree, &tree.cost);
                let equal = path.iter().filter(|s| (s.alpha - alpha).abs() < 1e-12).count();
                prop_assert!(equal > 1 || (total - lost).abs() < 1e-9, "{step:?}: {total} {lost}");
            }
        }

        #[test]
        fn greedy_pruning_removes_the_most_helpful_split_first(choices in prop::collection::vec(any::<(u8, u8, u8)>(), 1..12)) {
            let (grown, loss) = random_tree(&choices);
            let removed: Vec<usize> = by_hand(&grown, &loss, false, 0.0).into_iter().map(|(node, _)| node).collect();
            prop_assert_eq!(greedy(&grown, &loss).tree, collapse(&grown, &removed).tree);
        }
    }

    #[test]
    fn degenerate_trees_are_pruned_in_near_linear_time() {
        // 200,000 nodes one below the other: quadratic work would take hours.
        let n = 200_000;
        let mut grown =
            GrownTree { tree: Tree::leaf(1.0, &[0.0]), cost: vec![1.0], count: vec![1], ..GrownTree::default() };
        let test = Test::AtMost { feature: 0, threshold: 0.0, missing_left: false };
        let mut node = 0;
        for i in 0..n {
            grown.tree.split(node, test.clone(), &[(0.0, vec![0.0]), (1.0, vec![0.0])]);
            node = grown.tree.n_nodes() - 1;
            grown.cost.extend([0.0, 1.0 - (i + 1) as f64 / n as f64]);
            grown.count.extend([1, 1]);
        }
        assert_eq!(cost_complexity_path(&grown).last().map(|step| step.n_leaves), Some(1));
        assert_eq!(greedy(&grown, &grown.cost).tree.n_leaves(), n + 1);
        assert_eq!(
            losses_along_path(&grown, &grown.cost).last().map(|(_, loss)| (loss - 1.0).abs() < 1e-6),
            Some(true)
        );
    }

    #[test]
    fn upper_limits_match_quinlan() {
        // Quinlan 1993, 4.2: U_25%(0, 6) = 0.206, U_25%(0, 9) = 0.143, U_25%(0, 1) = 0.750.
        for (n, share) in [(6.0, 0.206), (9.0, 0.143), (1.0, 0.750)] {
            assert!((Pessimism::new(0.25).added_errors(n, 0.0) / n - share).abs() < 5e-4);
        }
        // U_25%(1, 16) = 0.157, which the programs approximate.
        assert!(((1.0 + Pessimism::new(0.25).added_errors(16.0, 1.0)) / 16.0 - 0.157).abs() < 5e-3);
        assert!((normal_quantile(0.75) - 0.674_489_750_196).abs() < 1e-9);
    }
}
