//! C4.5's pruning with subtree raising: a node becomes a leaf, or its largest branch takes its place.
//!
//! **Idea.** A split near the root may be of no use while one below it is: turning the node into a leaf would lose both. So where the node's rows, all sent down its largest branch, have no more estimated
//! errors than the node's own subtree has, that branch is raised: it takes the place of the node, its rows are counted again, and it is pruned again.
//!
//! **Formula.** Estimated errors of a leaf: the upper limit of its training errors, see [`prune`](super::prune). A leaf is taken if it has no more of them than both alternatives, a raised branch if it has
//! no more than the subtree; a tenth of an error is forgiven, as in Quinlan's programs.
//!
//! **Cost.** O(n) for each node of the way down, and as much again for each branch that is raised. **Reference.** Quinlan, C4.5 (1993), chapter 4.

use super::GrownTree;
use super::multiway::{WeightedRows, branch_rows};
use super::prune::Pessimism;
use crate::split::{Impurity, Test};
use ermine_core::error::Result;
use ermine_core::matrix::Dataset;
use std::collections::VecDeque;

/// What is forgiven to the smaller tree.
const SLACK: f64 = 0.1;

/// A node with what is below it.
struct Subtree {
    test: Test,
    children: Vec<Subtree>,
    /// The weight of each class among its rows.
    classes: Vec<f64>,
    n_rows: u32,
}

/// What rows are looked up in.
struct PruningData<'a> {
    numbers: Vec<Vec<f64>>,
    codes: &'a [u32],
    n_classes: usize,
    pessimism: Pessimism,
}

impl PruningData<'_> {
    fn class_weights(&self, rows: &WeightedRows) -> Vec<f64> {
        let mut weights = vec![0.0; self.n_classes];
        rows.iter().for_each(|&(row, weight)| weights[self.codes[row as usize] as usize] += weight);
        weights
    }

    /// The upper limit of the errors of a leaf.
    fn leaf_errors(&self, classes: &[f64]) -> f64 {
        let n: f64 = classes.iter().sum();
        let errors = n - classes.iter().fold(0.0f64, |most, &weight| most.max(weight));
        if n > 0.0 { errors + self.pessimism.added_errors(n, errors) } else { 0.0 }
    }

    fn parts(&self, test: &Test, rows: &WeightedRows) -> Vec<WeightedRows> {
        test.feature().map_or_else(Vec::new, |feature| branch_rows(rows, test, &self.numbers[feature], true))
    }
}

/// Prunes a tree of C4.5 that was grown on these rows, with these weights in units of rows. Returns it with the number of branches that were raised.
pub fn pessimistic_with_raising(
    grown: &GrownTree,
    data: &Dataset,
    rows: WeightedRows,
    confidence: f64,
) -> Result<(GrownTree, usize)> {
    let (codes, labels) = data.classes()?;
    let features = data.features();
    let mut used = vec![false; features.n_columns()];
    grown.tree.test.iter().filter_map(Test::feature).for_each(|feature| used[feature] = true);
    let numbers = |(f, used): (usize, &bool)| if *used { features.numbers(f) } else { Vec::new() };
    let sample = PruningData {
        numbers: used.iter().enumerate().map(numbers).collect(),
        codes,
        n_classes: labels.len(),
        pessimism: Pessimism::new(confidence),
    };
    let mut root = Subtree::of(grown, 0);
    root.count(&sample, &rows);
    let n_raised = root.prune(&sample, &rows);
    Ok((root.flat(grown), n_raised))
}

impl Subtree {
    fn of(grown: &GrownTree, node: usize) -> Subtree {
        let children = grown.tree.children(node).map(|child| Subtree::of(grown, child)).collect();
        Subtree { test: grown.tree.test[node].clone(), children, classes: Vec::new(), n_rows: 0 }
    }

    /// Counts these rows in this node and all below it.
    fn count(&mut self, sample: &PruningData<'_>, rows: &WeightedRows) {
        self.classes = sample.class_weights(rows);
        self.n_rows = rows.len() as u32;
        let parts = sample.parts(&self.test, rows);
        self.children.iter_mut().zip(&parts).for_each(|(child, part)| child.count(sample, part));
    }

    /// The estimated errors of its leaves, as they were counted.
    fn errors(&self, sample: &PruningData<'_>) -> f64 {
        if self.children.is_empty() {
            return sample.leaf_errors(&self.classes);
        }
        self.children.iter().map(|child| child.errors(sample)).sum()
    }

    /// The estimated errors of its leaves if these were its rows.
    fn errors_on(&self, sample: &PruningData<'_>, rows: &WeightedRows) -> f64 {
        if self.children.is_empty() {
            return sample.leaf_errors(&sample.class_weights(rows));
        }
        let parts = sample.parts(&self.test, rows);
        self.children.iter().zip(&parts).map(|(child, part)| child.errors_on(sample, part)).sum()
    }

    /// Prunes from the leaves up, and returns how many branches were raised.
    fn prune(&mut self, sample: &PruningData<'_>, rows: &WeightedRows) -> usize {
        let mut n_raised = 0;
        while !self.children.is_empty() {
            let parts = sample.parts(&self.test, rows);
            n_raised +=
                self.children.iter_mut().zip(&parts).map(|(child, part)| child.prune(sample, part)).sum::<usize>();
            let weight = |child: &Subtree| child.classes.iter().sum::<f64>();
            let heavier =
                |best: usize, i: usize| if weight(&self.children[i]) > weight(&self.children[best]) { i } else { best };
            let largest = (1..self.children.len()).fold(0, heavier);
            let (as_leaf, as_tree) = (sample.leaf_errors(&self.classes), self.errors(sample));
            let raised = match self.children[largest].children.is_empty() {
                true => f64::INFINITY,
                false => self.children[largest].errors_on(sample, rows),
            };
            if as_leaf <= as_tree + SLACK && as_leaf <= raised + SLACK {
                self.test = Test::Leaf;
                self.children.clear();
            } else if raised <= as_tree + SLACK {
                *self = self.children.swap_remove(largest);
                self.count(sample, rows);
                n_raised += 1;
            } else {
                break;
            }
        }
        n_raised
    }

    /// The tree in arrays, level by level. A leaf without rows predicts what its parent does.
    fn flat(&self, before: &GrownTree) -> GrownTree {
        let mut out = GrownTree { searches: before.searches, ..GrownTree::default() };
        out.tree.width = before.tree.width;
        let mut queue = VecDeque::from([(self, before.tree.value(0).to_vec())]);
        let mut n_made = 1;
        while let Some((node, parent)) = queue.pop_front() {
            let total: f64 = node.classes.iter().sum();
            let value = if total > 0.0 { node.classes.iter().map(|w| w / total).collect() } else { parent };
            out.tree.test.push(node.test.clone());
            out.tree.child.push(if node.children.is_empty() { 0 } else { n_made });
            out.tree.weight.push(total);
            out.tree.value.extend_from_slice(&value);
            out.cost.push(Impurity::Entropy.cost(&node.classes));
            out.count.push(node.n_rows);
            n_made += node.children.len() as u32;
            queue.extend(node.children.iter().map(|child| (child, value.clone())));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::multiway::{MultiwayOptions, grow_multiway, weighted_rows};
    use crate::tree::prune;
    use ermine_core::matrix::{Features, Target, Task};
    use ermine_core::table::{Column, Table};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn data(columns: Vec<Vec<f64>>, classes: &[u32]) -> Dataset {
        let columns = columns.into_iter().enumerate().map(|(j, x)| Column::numeric(format!("x{j}"), x)).collect();
        let target = Target::Classes { codes: classes.to_vec(), labels: ["a", "b", "c"].map(String::from).into() };
        let features = Features::new(Arc::new(Table::new(columns).unwrap()));
        Dataset::from_parts(features, target, Task::Classification).unwrap()
    }

    fn options() -> MultiwayOptions {
        let (c45, binary, max_depth, max_categories) = (true, false, 20, 256);
        MultiwayOptions {
            c45,
            binary,
            max_depth,
            min_samples_split: 2.0,
            min_samples: 1.0,
            min_gain: 0.0,
            max_categories,
        }
    }

    /// The root splits by x0, of which only the larger branch is split further; x1 alone says nearly as much.
    #[test]
    fn the_largest_branch_replaces_a_useless_split() {
        let mut grown = GrownTree::default();
        let test = |feature: u32| Test::AtMost { feature, threshold: 0.5, missing_left: false };
        grown.tree = crate::tree::Tree::leaf(1.0, &[0.4, 0.6, 0.0]);
        let leaf = || (1.0, vec![0.4, 0.6, 0.0]);
        grown.tree.split(0, test(0), &[leaf(), leaf()]);
        grown.tree.split(2, test(1), &[leaf(), leaf()]);
        (grown.cost, grown.count) = (vec![0.0; 5], vec![0; 5]);
        let x0: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i >= 2))).collect();
        let x1: Vec<f64> = (0..40).map(|i| f64::from(i % 2)).collect();
        let classes: Vec<u32> = (0..40).map(|i| i % 2).collect();
        let data = data(vec![x0, x1], &classes);
        let (pruned, n_raised) = pessimistic_with_raising(&grown, &data, weighted_rows(&data), 0.25).unwrap();
        assert_eq!((n_raised, pruned.tree.n_leaves()), (1, 2));
        assert_eq!(pruned.tree.test[0], test(1));
        assert_eq!((pruned.tree.weight.clone(), pruned.count), (vec![40.0, 20.0, 20.0], vec![40, 20, 20]));
        assert_eq!(pruned.tree.value(1), [1.0, 0.0, 0.0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// Every node holds exactly the rows that walk through it, and no pruning that replaces or raises once more has fewer estimated errors.
        #[test]
        fn raised_trees_count_their_own_rows(rows in prop::collection::vec((0u8..6, 0u8..6, 0u8..4, 0u32..3), 5..60), confidence in 0.05..0.5f64) {
            let column = |get: fn(&(u8, u8, u8, u32)) -> u8| rows.iter().map(|row| f64::from(get(row))).collect::<Vec<f64>>();
            let classes: Vec<u32> = rows.iter().map(|row| row.3).collect();
            let data = data(vec![column(|r| r.0), column(|r| r.1), column(|r| r.2)], &classes);
            let grown = grow_multiway(&data, &options()).unwrap();
            let (pruned, n_raised) = pessimistic_with_raising(&grown, &data, weighted_rows(&data), confidence).unwrap();
            let tree = &pruned.tree;
            let mut counted = vec![[0.0; 3]; tree.n_nodes()];
            for (row, &class) in classes.iter().enumerate() {
                let mut node = 0;
                loop {
                    counted[node][class as usize] += 1.0;
                    let Some(feature) = tree.test[node].feature() else { break };
                    node = tree.children(node).start + tree.test[node].branch(data.features().number(row, feature)).unwrap();
                }
            }
            for (node, counted) in counted.iter().enumerate() {
                let total: f64 = counted.iter().sum();
                prop_assert!((tree.weight[node] - total).abs() < 1e-9);
                for (share, count) in tree.value(node).iter().zip(counted) {
                    prop_assert!(total == 0.0 || (share - count / total).abs() < 1e-12);
                }
            }
            if n_raised == 0 {
                let replaced = prune::pessimistic(&grown, confidence);
                prop_assert!(tree.n_leaves() >= replaced.tree.n_leaves());
            }
            let (again, more) = pessimistic_with_raising(&pruned, &data, weighted_rows(&data), confidence).unwrap();
            prop_assert_eq!((again.tree, more), (pruned.tree.clone(), 0));
        }
    }
}
