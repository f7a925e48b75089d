//! Prediction by walking rows down trees.
//!
//! **Idea.** A walk waits for memory at every step, so sixteen rows walk at once: while one waits, the others proceed. Rows are processed in blocks whose values are laid out in row-major order; a tree processes all
//! rows of a block before the next tree. A single row walks sixteen trees at once. For many rows and trees, [`engine`] has faster methods.
//!
//! **Order.** Predictions are summed in the order of the trees for every row, so that the sum doesn't depend on blocks or threads.
//!
//! **Cost.** About 10 cycles per step. The values of a block take 8 bytes per row and column.

use super::engine::{self, BLOCK, PredictionEngine};
use super::forest::{Forest, ForestNode, kind};
use crate::split::test::category;
use ermine_core::matrix::Features;
use ermine_core::parallel;
use std::ops::Range;

/// Number of simultaneous walks.
const LANES: usize = 16;

impl Forest {
    /// Number of rows per block.
    pub(crate) const BLOCK: usize = BLOCK;

    /// The sum of the predictions of all trees, for each row.
    pub fn sum(&self, features: &Features) -> Vec<f64> {
        self.sum_of(0..self.n_trees(), features)
    }

    /// The sum of the predictions of some trees, for each row.
    pub fn sum_of(&self, trees: Range<usize>, features: &Features) -> Vec<f64> {
        engine::sums(&[self], || Some(self.engine(features.n_columns())), trees, features)
    }

    /// Adds the predictions of some trees to `sums`, which has `outputs` numbers per row, starting at `output`.
    pub(super) fn add_walks(
        &self,
        trees: Range<usize>,
        features: &Features,
        (output, outputs): (usize, usize),
        sums: &mut [f64],
    ) {
        let block = |(block, sums): (usize, &mut [f64])| {
            let (first, n) = (block * BLOCK, sums.len() / outputs);
            let each = |row: usize, _: usize, leaf: u32| {
                add(&mut sums[row * outputs + output..][..self.width], self.value(leaf));
            };
            self.each_walk(features, first, n, trees.clone(), each);
        };
        parallel::for_each_chunk(sums, BLOCK * outputs, |part, sums| block((part, sums)));
    }

    /// The node that each row reaches in each tree: `n_trees` numbers per row.
    pub fn apply(&self, features: &Features) -> Vec<u32> {
        self.apply_to(0..self.n_trees(), features)
    }

    /// The same with nodes numbered within their tree.
    pub fn apply_within(&self, features: &Features) -> Vec<u32> {
        let mut ends = self.apply(features);
        for row in ends.chunks_mut(self.n_trees().max(1)) {
            row.iter_mut().zip(&self.roots).for_each(|(end, root)| *end -= root);
        }
        ends
    }

    /// The node that each row reaches in some trees: one number per tree for each row.
    pub fn apply_to(&self, trees: Range<usize>, features: &Features) -> Vec<u32> {
        let n_trees = trees.len();
        let mut ends = vec![0; features.n_rows() * n_trees];
        let block = |(block, ends): (usize, &mut [u32])| {
            let rows = ends.len() / n_trees;
            self.each_leaf(features, block * BLOCK, rows, trees.clone(), |row, tree, leaf| {
                ends[row * n_trees + tree - trees.start] = leaf
            });
        };
        if n_trees > 0 {
            parallel::for_each_chunk(&mut ends, BLOCK * n_trees, |part, ends| block((part, ends)));
        }
        ends
    }

    /// Calls `each(row, tree, leaf)` for `n` rows (at most a block) from `first` on, counted from `first`; tree after tree for every row.
    pub(crate) fn each_leaf(
        &self,
        features: &Features,
        first: usize,
        n: usize,
        trees: Range<usize>,
        mut each: impl FnMut(usize, usize, u32),
    ) {
        if walks_sparse(features) {
            return self.each_sparse_walk(features, first, n, trees, each);
        }
        let engine = if PredictionEngine::pays(n, trees.len()) {
            self.engine(features.n_columns())
        } else {
            &PredictionEngine::Plain
        };
        match engine {
            PredictionEngine::Sliced(sliced) => {
                let mut scratch = sliced.scratch(0);
                sliced.code(features, first, n, &mut scratch);
                for tree in trees {
                    sliced.nodes(tree, n, &mut scratch, |row, leaf| each(row, tree, leaf));
                }
            }
            PredictionEngine::Coded(coded) => {
                let codes = coded.rows(features, first, n);
                let mut leaves = Vec::new();
                for tree in trees {
                    coded.leaves(0, self.roots[tree], &codes, &mut leaves);
                    leaves.iter().enumerate().for_each(|(row, &leaf)| each(row, tree, leaf));
                }
            }
            PredictionEngine::Plain => self.each_walk(features, first, n, trees, each),
        }
    }

    /// The same by walking.
    fn each_walk(
        &self,
        features: &Features,
        first: usize,
        n: usize,
        trees: Range<usize>,
        mut each: impl FnMut(usize, usize, u32),
    ) {
        if walks_sparse(features) {
            return self.each_sparse_walk(features, first, n, trees, each);
        }
        let (width, block) = rows_of(features, first, n);
        let row = |row: usize| &block[row * width..(row + 1) * width];
        if n == 1 {
            // One row: several trees at once.
            for first in trees.clone().step_by(LANES) {
                let lanes = LANES.min(trees.end - first);
                let mut at: [u32; LANES] = std::array::from_fn(|lane| self.roots[first + lane.min(lanes - 1)]);
                self.walk(&mut at, [row(0); LANES]);
                (0..lanes).for_each(|lane| each(0, first + lane, at[lane]));
            }
            return;
        }
        for tree in trees {
            for start in (0..n).step_by(LANES) {
                let lanes = LANES.min(n - start);
                let mut at = [self.roots[tree]; LANES];
                self.walk(&mut at, std::array::from_fn(|lane| row(start + lane.min(lanes - 1))));
                (0..lanes).for_each(|lane| each(start + lane, tree, at[lane]));
            }
        }
    }

    /// The same for rows of mostly zeros, by their stored values.
    fn each_sparse_walk(
        &self,
        features: &Features,
        first: usize,
        n: usize,
        trees: Range<usize>,
        mut each: impl FnMut(usize, usize, u32),
    ) {
        let (n_words, stored) = (features.n_columns().div_ceil(64), features.sparse_rows());
        // Which columns of each lane are not zero: few bits, which stay in the cache, answer most questions.
        let mut is_stored = vec![0u64; LANES * n_words];
        for start in (0..n).step_by(LANES) {
            let lanes = LANES.min(n - start);
            let rows: [_; LANES] = std::array::from_fn(|lane| stored.row(first + start + lane.min(lanes - 1)));
            for (words, (columns, _)) in is_stored.chunks_exact_mut(n_words).zip(rows) {
                columns.iter().for_each(|&c| words[c as usize / 64] |= 1 << (c % 64));
            }
            let value = |lane: usize, feature: usize| {
                if is_stored[lane * n_words + feature / 64] >> (feature % 64) & 1 == 0 {
                    return 0.0;
                }
                let (columns, values) = rows[lane];
                columns.binary_search(&(feature as u32)).map_or(0.0, |at| values[at])
            };
            for tree in trees.clone() {
                let mut at = [self.roots[tree]; LANES];
                self.walk_by(&mut at, value);
                (0..lanes).for_each(|lane| each(start + lane, tree, at[lane]));
            }
            for (words, (columns, _)) in is_stored.chunks_exact_mut(n_words).zip(rows) {
                columns.iter().for_each(|&c| words[c as usize / 64] = 0);
            }
        }
    }

    /// Adds the predictions of all trees for one row; several trees are walked at once.
    pub(super) fn add_walks_of_row(&self, row: &[f64], sums: &mut [f64]) {
        for roots in self.roots.chunks(LANES) {
            let mut at: [u32; LANES] = std::array::from_fn(|lane| roots[lane.min(roots.len() - 1)]);
            self.walk(&mut at, [row; LANES]);
            at[..roots.len()].iter().for_each(|&leaf| add(sums, self.value(leaf)));
        }
    }

    /// Walks from `at` to the leaves. A row that matches no branch stops at the node.
    #[inline(always)]
    fn walk(&self, at: &mut [u32; LANES], rows: [&[f64]; LANES]) {
        self.walk_by(at, |lane, feature| rows[lane][feature]);
    }

    /// The same with the values of each lane given by a function.
    #[inline(always)]
    fn walk_by(&self, at: &mut [u32; LANES], value: impl Fn(usize, usize) -> f64) {
        loop {
            let mut moved = false;
            for (lane, at) in at.iter_mut().enumerate() {
                let node = &self.nodes[*at as usize];
                let next = if self.only_thresholds {
                    // Without a branch: a leaf evaluates some column too, and stays.
                    let next = threshold_step(node, value(lane, node.feature()));
                    if node.kind() == kind::LEAF { *at } else { next }
                } else {
                    self.step(node, value(lane, node.feature())).unwrap_or(*at)
                };
                moved |= next != *at;
                *at = next;
            }
            if !moved {
                return;
            }
        }
    }

    /// The next node of a row with the value `x`; `None` if it stops.
    pub(super) fn step(&self, node: &ForestNode, x: f64) -> Option<u32> {
        match node.kind() {
            kind::LEAF => None,
            kind::AT_MOST_ELSE_LEFT | kind::AT_MOST_ELSE_RIGHT => Some(threshold_step(node, x)),
            kind::IN_SET_ELSE_LEFT | kind::IN_SET_ELSE_RIGHT => {
                let missing_left = node.kind() == kind::IN_SET_ELSE_LEFT;
                let left = category(x).map_or(missing_left, |code| self.sets[node.word as usize].contains(code));
                Some(node.child + u32::from(!left))
            }
            _ => {
                let n_levels = node.word as u32;
                let missing = node.kind() == kind::EACH_AND_MISSING;
                let branch = match category(x) {
                    Some(code) => Some(code as u32).filter(|&code| code < n_levels),
                    None => missing.then_some(n_levels),
                };
                branch.map(|branch| node.child + branch)
            }
        }
    }
}

/// Whether rows are walked by their values other than zero: the engines code every value of every column.
pub(super) fn walks_sparse(features: &Features) -> bool {
    const WIDE: usize = 128;
    features.n_columns() >= WIDE && features.is_sparse()
}

#[inline(always)]
fn add(sums: &mut [f64], value: &[f64]) {
    sums.iter_mut().zip(value).for_each(|(sum, v)| *sum += v);
}

#[inline(always)]
fn threshold_step(node: &ForestNode, x: f64) -> u32 {
    let missing_right = node.kind() == kind::AT_MOST_ELSE_RIGHT;
    node.child.wrapping_add(u32::from((x > node.threshold()) | (x.is_nan() & missing_right)))
}

/// The number of values per row, and the values of some rows in row-major order.
fn rows_of(features: &Features, first: usize, n: usize) -> (usize, Vec<f64>) {
    let width = features.n_columns();
    let mut block = vec![0.0; n * width];
    let rows: Vec<u32> = (first..first + n).map(|row| features.table_row(row) as u32).collect();
    for (c, column) in features.columns().iter().enumerate() {
        rows.iter().enumerate().for_each(|(i, &row)| block[i * width + c] = column.number(row as usize));
    }
    (width, block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::Test;
    use crate::tree::Tree;
    use ermine_core::table::{Column, Table};
    use proptest::prelude::*;
    use std::sync::Arc;

    /// A tree of thresholds, sets and categories, from a list of choices.
    fn tree(choices: &[(u8, u8, bool)], only_thresholds: bool) -> Tree {
        let mut tree = Tree::leaf(1.0, &[0.5]);
        for (i, &(node, what, missing_left)) in choices.iter().enumerate() {
            let leaves: Vec<usize> = (0..tree.n_nodes()).filter(|&n| tree.test[n] == Test::Leaf).collect();
            let node = leaves[node as usize % leaves.len()];
            let threshold = f64::from(what % 16) / 2.0;
            let test = match what / 64 {
                0 if !only_thresholds => {
                    let set = crate::split::test::CodeSet::new((0..5).filter(|c| what >> c & 1 == 1));
                    Test::InSet { feature: 2, set, missing_left }
                }
                1 if !only_thresholds => Test::Each { feature: 2, n_levels: 3, missing: missing_left },
                _ => Test::AtMost { feature: u32::from(what / 16 % 2), threshold, missing_left },
            };
            let children: Vec<(f64, Vec<f64>)> =
                (0..test.n_children()).map(|c| (1.0, vec![(7 * i + c) as f64])).collect();
            tree.split(node, test, &children);
        }
        tree
    }

    proptest! {
        #[test]
        fn forest_sums_equal_the_sums_of_their_trees(
            trees in prop::collection::vec(prop::collection::vec((any::<u8>(), any::<u8>(), any::<bool>()), 0..12), 1..20),
            rows in prop::collection::vec((prop::option::weighted(0.8, 0u8..9), prop::option::weighted(0.8, 0u8..9), prop::option::weighted(0.8, 0usize..5)), 1..90),
            only_thresholds in any::<bool>(),
        ) {
            let number = |v: Option<u8>| v.map_or(f64::NAN, f64::from);
            let names: Vec<Option<String>> = rows.iter().map(|r| r.2.map(|c| format!("{c}"))).collect();
            let table = Table::new(vec![
                Column::numeric("a", rows.iter().map(|r| number(r.0)).collect::<Vec<_>>()),
                Column::numeric("b", rows.iter().map(|r| number(r.1)).collect::<Vec<_>>()),
                Column::nominal("c", &names),
            ]);
            let features = Features::new(Arc::new(table.unwrap()));
            let trees: Vec<Tree> = trees.iter().map(|choices| tree(choices, only_thresholds)).collect();
            let mut forest = Forest::new(1);
            trees.iter().for_each(|tree| forest.push(tree));
            let mut expected = vec![0.0; rows.len()];
            for tree in &trees {
                expected.iter_mut().zip(tree.predict(&features)).for_each(|(sum, v)| *sum += v);
            }
            prop_assert_eq!(&forest.sum(&features), &expected);
            for row in 0..rows.len().min(3) {
                let one = features.select(&[row as u32]).unwrap();
                prop_assert_eq!(forest.sum(&one), vec![expected[row]]);
            }
            let mut sections = ermine_core::section::Sections::default();
            forest.save(&mut sections).unwrap();
            prop_assert_eq!(&Forest::load(&sections, 3, 1).unwrap(), &forest);
        }
    }
}
