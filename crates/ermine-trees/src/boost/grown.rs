//! A tree over bins, and its translation to thresholds and categories.

use crate::split::Test;
use crate::split::histogram::scan::BinTest;
use crate::split::histogram::store::BinStore;
use crate::split::test::CodeSet;
use crate::tree::Tree;
use ermine_core::matrix::Features;
use ermine_core::matrix::binned::{Bins, Cuts, between};

/// A tree over bins, one entry for each node; the root is node 0, children stand side by side after their parent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BinnedTree {
    /// Column and test of each node; `None` for a leaf.
    pub test: Vec<Option<(u32, BinTest)>>,
    /// The first child of each node.
    pub child: Vec<u32>,
    /// What each node adds to the score.
    pub value: Vec<f64>,
    /// The sum of the curvatures of each node.
    pub weight: Vec<f64>,
    /// How much each node's split lowers the objective, before `gamma`; 0 for a leaf.
    pub gain: Vec<f64>,
}

impl BinnedTree {
    /// Adds a leaf.
    pub fn push(&mut self, value: f64, weight: f64) -> usize {
        self.test.push(None);
        self.child.push(0);
        self.value.push(value);
        self.weight.push(weight);
        self.gain.push(0.0);
        self.test.len() - 1
    }

    /// The leaves.
    pub fn leaves(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.test.len()).filter(|&node| self.test[node].is_none())
    }

    /// The leaf of a row.
    pub fn walk(&self, store: &BinStore, row: usize) -> usize {
        let mut node = 0;
        while let Some((column, test)) = &self.test[node] {
            let column = *column as usize;
            let left = test.is_left(store.bin(row, column), store.n_slots()[column] as usize);
            node = self.child[node] as usize + usize::from(!left);
        }
        node
    }

    /// The tree over bins that [`to_tree`](Self::to_tree) turns into `tree`; `None` if it was grown on other bins.
    pub fn of_tree(tree: &Tree, bins: &Bins) -> Option<BinnedTree> {
        let test = |test: &Test| match test {
            Test::Leaf => Some(None),
            Test::AtMost { feature, .. } | Test::InSet { feature, .. } | Test::Each { feature, .. } => {
                Some(Some((*feature, bin_test(test, bins.columns.get(*feature as usize)?)?)))
            }
        };
        Some(BinnedTree {
            test: tree.test.iter().map(test).collect::<Option<_>>()?,
            child: tree.child.clone(),
            value: tree.value.clone(),
            weight: tree.weight.clone(),
            gain: vec![0.0; tree.n_nodes()],
        })
    }

    /// The tree over values instead of bins.
    pub fn to_tree(&self, bins: &Bins) -> Tree {
        let test = |test: &Option<(u32, BinTest)>| {
            test.as_ref()
                .map_or(Test::Leaf, |(column, test)| value_test(*column, test, &bins.columns[*column as usize]))
        };
        Tree {
            test: self.test.iter().map(test).collect(),
            child: self.child.clone(),
            weight: self.weight.clone(),
            value: self.value.clone(),
            width: 1,
        }
    }
}

/// Moves each threshold half-way between the values on either side of it among the node's own rows: bins depend on the values of all rows.
pub fn center_thresholds(tree: &mut Tree, features: &Features) {
    let mut sides = vec![(f64::NEG_INFINITY, f64::INFINITY); tree.n_nodes()];
    for row in 0..features.n_rows() {
        let mut node = 0;
        while let Some(feature) = tree.test[node].feature() {
            let x = features.number(row, feature);
            if let Test::AtMost { threshold, .. } = tree.test[node] {
                let (below, above) = &mut sides[node];
                if x <= threshold {
                    *below = below.max(x);
                } else if x > threshold {
                    *above = above.min(x);
                }
            }
            let Some(branch) = tree.test[node].branch(x) else { break };
            node = tree.child[node] as usize + branch;
        }
    }
    for (test, (below, above)) in tree.test.iter_mut().zip(sides) {
        if let Test::AtMost { threshold, .. } = test
            && below.is_finite()
            && above.is_finite()
        {
            *threshold = between(below, above);
        }
    }
}

/// The test of bins that agrees with that of their values, if there is one.
fn bin_test(test: &Test, cuts: &Cuts) -> Option<BinTest> {
    match (test, cuts) {
        (Test::AtMost { threshold, missing_left, .. }, Cuts::Numbers(cuts)) => {
            let above_all = *threshold == f64::INFINITY;
            let bin =
                if above_all { cuts.len() } else { cuts.binary_search_by(|cut| cut.total_cmp(threshold)).ok()? };
            Some(BinTest::AtMost { bin: bin as u32, missing_left: *missing_left })
        }
        (Test::InSet { set, missing_left, .. }, Cuts::Categories(bins)) => {
            let n_slots = cuts.n_bins() + 1;
            let mut words = vec![0u64; n_slots.div_ceil(64)];
            let mut add = |slot: usize| words[slot / 64] |= 1 << (slot % 64);
            bins.iter().enumerate().filter(|(code, _)| set.contains(*code)).for_each(|(_, &bin)| add(bin as usize));
            if *missing_left {
                add(n_slots - 1);
            }
            Some(BinTest::InSet(words.into()))
        }
        _ => None,
    }
}

/// The test of values that agrees with that of their bins.
fn value_test(feature: u32, test: &BinTest, cuts: &Cuts) -> Test {
    let n_slots = cuts.n_bins() + 1;
    let missing_left = test.is_left(n_slots - 1, n_slots);
    match (test, cuts) {
        (BinTest::AtMost { bin, .. }, Cuts::Numbers(cuts)) => {
            // Above the last cut there is nothing but missing values.
            let threshold = cuts.get(*bin as usize).copied().unwrap_or(f64::INFINITY);
            Test::AtMost { feature, threshold, missing_left }
        }
        (_, Cuts::Categories(bins)) => {
            let inside = bins.iter().enumerate().filter(|(_, bin)| test.is_left(**bin as usize, n_slots));
            Test::InSet { feature, set: CodeSet::new(inside.map(|(code, _)| code)), missing_left }
        }
        (BinTest::InSet(_), Cuts::Numbers(_)) => Test::Leaf,
    }
}
