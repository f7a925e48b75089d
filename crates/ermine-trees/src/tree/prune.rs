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
//! **The path** is found bottom-up. As a function of alpha, the least cost of a subtree is made of straight pieces, whose ends are the alphas at which nodes below become leaves. From large alphas down, the
//! line of the node as a leaf is held against that of its children: where they meet, the node becomes a leaf, and what would have happened below it at larger alphas is dropped.
//!
//! **Greedy.** Once a node is removed because its change is the least, no node above it can lower the error any more: its change was no less, and is now made less by just that. So one pass over the
//! nodes in order of their changes does it, passing over what lies below or above a removed node.
//!
//! **Cost.** The whole path in O(L log^2 L) by heaps that are merged, the smaller into the larger, also for trees as deep as a chain; greedy O(L log L); the bottom-up ways O(nodes).
//! **Reference.** Breiman et al., CART (1984), chapter 3; Quinlan, C4.5 (1993), chapter 4.

use super::{Grown, Tree};
use crate::split::Test;
use ermine_core::matrix::Features;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// One step of a pruning path: the tree after it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// From this alpha on.
    pub alpha: f64,
    /// The sum over its leaves of the impurities as shares of all weight.
    pub total: f64,
    /// How many leaves it has.
    pub n_leaves: usize,
    /// The node that became a leaf; `None` for the whole tree.
    pub node: Option<usize>,
}

/// A node that becomes a leaf at some alpha, and what that changes. Ordered by alpha, of equal ones the higher node first.
#[derive(Debug, Clone, Copy)]
struct Link {
    alpha: f64,
    node: usize,
    /// How much the cost rises, and another loss with it.
    rise: f64,
    loss_rise: f64,
    /// How many leaves go.
    leaves: usize,
}

impl Ord for Link {
    fn cmp(&self, other: &Self) -> Ordering {
        self.alpha.total_cmp(&other.alpha).then(self.node.cmp(&other.node))
    }
}
impl PartialOrd for Link {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Link {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Link {}

/// The nodes that become leaves as alpha grows, in this order. `own` is the cost of each node as a leaf, `loss` another loss of it.
fn links(tree: &Tree, own: &[f64], loss: &[f64]) -> Vec<Link> {
    let mut heaps: Vec<BinaryHeap<Link>> = vec![BinaryHeap::new(); tree.n_nodes()];
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
        while heap.peek().is_some_and(|last: &Link| meet(cost, leaves) <= last.alpha) {
            let Some(last) = heap.pop() else { break };
            cost -= last.rise;
            lost -= last.loss_rise;
            leaves += last.leaves;
        }
        let link = Link {
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

/// The cost of each node as a leaf, as a share of all weight.
fn shares(grown: &Grown) -> Vec<f64> {
    grown.cost.iter().map(|cost| cost / grown.tree.weight[0]).collect()
}

/// What the leaves of a tree add up to.
fn over_leaves(tree: &Tree, of_node: &[f64]) -> f64 {
    (0..tree.n_nodes()).filter(|&node| tree.children(node).is_empty()).map(|leaf| of_node[leaf]).sum()
}

/// The whole path of cost-complexity pruning, from the tree as it is to its root.
pub fn cost_complexity_path(grown: &Grown) -> Vec<Step> {
    let own = shares(grown);
    let whole = Step { alpha: 0.0, total: over_leaves(&grown.tree, &own), n_leaves: grown.tree.n_leaves(), node: None };
    let mut steps = vec![whole];
    for link in links(&grown.tree, &own, &own) {
        let before = steps[steps.len() - 1];
        // All leaves gone, the root's own cost is what is left, without what rounding made of the sum.
        let total = if link.node == 0 { own[0] } else { before.total + link.rise };
        let n_leaves = before.n_leaves - link.leaves;
        steps.push(Step { alpha: link.alpha, total, n_leaves, node: Some(link.node) });
    }
    steps
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
    let mut losses = vec![(0.0, over_leaves(&grown.tree, loss))];
    for link in links(&grown.tree, &shares(grown), loss) {
        losses.push((link.alpha, losses[losses.len() - 1].1 + link.loss_rise));
    }
    losses
}

/// Removes the split that lowers the validation error most, again and again, while any does. `loss` is the validation loss of each node as a leaf.
pub fn greedy(grown: &Grown, loss: &[f64]) -> Grown {
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
    let pessimism = Pessimism::new(confidence);
    let limit = |node: usize| {
        let best = tree.value(node).iter().fold(0.0f64, |best, &share| best.max(share));
        let n = tree.weight[node];
        let errors = n * (1.0 - best);
        errors + pessimism.added_errors(n, errors)
    };
    let loss: Vec<f64> = (0..tree.n_nodes()).map(limit).collect();
    // Quinlan's programs give the leaf a tenth of an error.
    reduced_error(grown, &loss, 0.1)
}

/// How much worse than on its training rows a node is taken to be.
struct Pessimism {
    confidence: f64,
    /// Where the normal distribution has that much above it.
    z: f64,
}

impl Pessimism {
    fn new(confidence: f64) -> Pessimism {
        Pessimism { confidence, z: normal_quantile(1.0 - confidence) }
    }

    /// How many errors to add to `e` of `n`, so that their share is the upper limit of its confidence interval (Quinlan 1993, 4.2).
    fn added_errors(&self, n: f64, e: f64) -> f64 {
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
    use proptest::prelude::*;

    /// A tree by where to split: the n-th number chooses the leaf that is split next. Costs fall from a node to its children, losses are anything.
    fn random_tree(choices: &[(u8, u8, u8)]) -> (Grown, Vec<f64>) {
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
        (Grown { tree, cost, count, searches: [0; 3] }, loss)
    }

    /// Removes the node with the least key, again and again, looking at all nodes each time: nodes, keys, leaves left and what they add up to.
    fn by_hand(grown: &Grown, own: &[f64], per_leaf: bool, stop: f64) -> Vec<(usize, f64)> {
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
        fn paths_are_those_of_removing_one_after_the_other(choices in prop::collection::vec(any::<(u8, u8, u8)>(), 1..12)) {
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
                let tree = collapse(&Grown { cost: loss.clone(), ..grown.clone() }, &pruned);
                let total = over_leaves(&tree.tree, &tree.cost);
                let equal = path.iter().filter(|s| (s.alpha - alpha).abs() < 1e-12).count();
                prop_assert!(equal > 1 || (total - lost).abs() < 1e-9, "{step:?}: {total} {lost}");
            }
        }

        #[test]
        fn greedy_removes_what_helps_most_first(choices in prop::collection::vec(any::<(u8, u8, u8)>(), 1..12)) {
            let (grown, loss) = random_tree(&choices);
            let removed: Vec<usize> = by_hand(&grown, &loss, false, 0.0).into_iter().map(|(node, _)| node).collect();
            prop_assert_eq!(greedy(&grown, &loss).tree, collapse(&grown, &removed).tree);
        }
    }

    #[test]
    fn chains_are_pruned_in_no_time() {
        // 200,000 nodes one below the other: quadratic work would take hours.
        let n = 200_000;
        let mut grown = Grown { tree: Tree::leaf(1.0, &[0.0]), cost: vec![1.0], count: vec![1], ..Grown::default() };
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
    fn upper_limits_are_those_of_the_book() {
        // Quinlan 1993, 4.2: U_25%(0, 6) = 0.206, U_25%(0, 9) = 0.143, U_25%(0, 1) = 0.750.
        for (n, share) in [(6.0, 0.206), (9.0, 0.143), (1.0, 0.750)] {
            assert!((Pessimism::new(0.25).added_errors(n, 0.0) / n - share).abs() < 5e-4);
        }
        // U_25%(1, 16) = 0.157, which the programs approximate.
        assert!(((1.0 + Pessimism::new(0.25).added_errors(16.0, 1.0)) / 16.0 - 0.157).abs() < 5e-3);
        assert!((normal_quantile(0.75) - 0.674_489_750_196).abs() < 1e-9);
    }
}
