//! SHAP values and interaction values of sums of trees, exact.
//!
//! **Idea.** What is expected of a tree when only the columns S of a row are known: at a node that asks about a column of S, follow the row; at any other node take the mean of the children, weighted
//! by the training rows in them. For a leaf this is v * product over the columns j on its way of (o_j if j is in S, else z_j), where z_j is the share of training rows that go the leaf's way at the
//! nodes about j, and o_j is 1 if the row goes that way at all of them, else 0.
//!
//! **Formula.** The Shapley value of column i adds up, over all leaves, v (o_i - z_i) times the sum over sets S of the other m - 1 columns on the way of |S|! (m - 1 - |S|)! / m! * product. Because
//! |S|! (m - 1 - |S|)! / m! is the integral of t^|S| (1 - t)^(m - 1 - |S|) over \[0, 1\], that sum is
//!
//! ```text
//! integral over t from 0 to 1 of the product over j other than i of f_j(t),   f_j(t) = z_j (1 - t) + o_j t,
//! ```
//!
//! a polynomial of degree m - 1, which a Gauss-Legendre rule with m / 2 points integrates exactly, adding up numbers that are never negative: nothing cancels. The interaction of columns i and k is, in the
//! same way, half of v (o_i - z_i) (o_k - z_k) times the integral of the product over the columns other than both; what is left of a column's value is its own.
//!
//! **How.** 64 rows walk together. At each branch, a bit mask marks the rows that take it; the masks of a column's branches, ANDed on the way down, are the o_j of 64 rows. At a leaf the products without each
//! column are those of the columns before it times those after it, for eight rows in a register.
//!
//! **Cost.** O(m * m / 2) for each leaf and 8 rows. **Reference.** Lundberg and others, From local explanations to global understanding with explainable AI for trees,
//! 2020 (path-dependent Tree SHAP); Yu, Bifet, Read and Xu, Linear TreeShap, 2022 (polynomials in place of sets).

mod quadrature;

use crate::ensemble::TreeSum;
use crate::split::Test;
use crate::tree::Tree;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::Features;
use ermine_core::model::ShapValues;
use ermine_core::parallel;
use ermine_core::versions;
use quadrature::gauss_legendre;

/// Rows that walk together: the bits of a word.
const ROWS: usize = 64;

/// Numbers of a register.
const LANES: usize = 8;

/// Numbers that interaction values may take in memory, at most.
const MOST_NUMBERS: usize = 1 << 30;

/// The SHAP values of all rows.
pub fn shap_values(sum: &TreeSum, features: &Features) -> ShapValues {
    let explained = ShapTrees::new(sum, features.n_columns());
    let (d, width) = (features.n_columns(), explained.n_outputs);
    let values = explained.explain(features, d, |walk| {
        let (elements, scratch) = (&walk.elements, &mut walk.scratch);
        scratch.shares(elements, &explained.rules, usize::MAX);
        for (i, element) in elements.iter().enumerate() {
            let place = element.feature * width + walk.output;
            walk.sums.chunks_exact_mut(ROWS).skip(place).zip(walk.value).for_each(|(sums, v)| {
                add_scaled(sums, &scratch.shares[i * ROWS..][..ROWS], *v);
            });
        }
    });
    ShapValues { n_rows: features.n_rows(), n_columns: d, n_outputs: width, values, expected: explained.expected }
}

/// The SHAP interaction values of all rows: row by row, then a table of columns by columns, then output by output. The values of a row of the table add up to the SHAP value of its column.
pub fn interaction_values(sum: &TreeSum, features: &Features) -> Result<ShapValues> {
    let explained = ShapTrees::new(sum, features.n_columns());
    let (d, width) = (features.n_columns(), explained.n_outputs);
    let numbers = d.checked_mul(d).and_then(|n| n.checked_mul(width)).and_then(|n| n.checked_mul(features.n_rows()));
    if numbers.is_none_or(|n| n > MOST_NUMBERS) {
        let n = features.n_rows();
        return Err(Error::data(format!(
            "interaction values of {n} rows and {d} columns don't fit in memory: ask about fewer rows"
        )));
    }
    let values = explained.explain(features, d * d, |walk| {
        let (elements, scratch) = (&walk.elements, &mut walk.scratch);
        scratch.shares(elements, &explained.rules, usize::MAX);
        let own = scratch.shares.clone();
        for (i, element) in elements.iter().enumerate() {
            let rows =
                walk.sums.chunks_exact_mut(ROWS).skip((element.feature * d + element.feature) * width + walk.output);
            rows.zip(walk.value).for_each(|(sums, v)| add_scaled(sums, &own[i * ROWS..][..ROWS], *v));
            scratch.shares(elements, &explained.rules, i);
            for (k, other) in elements.iter().enumerate().filter(|(k, _)| *k != i) {
                let pair = &mut scratch.shares[k * ROWS..][..ROWS];
                let factor = |row: usize| f64::from(u8::from(element.o >> row & 1 == 1)) - element.z;
                pair.iter_mut().enumerate().for_each(|(row, share)| *share *= 0.5 * factor(row));
                for (place, sign) in
                    [(element.feature * d + other.feature, 1.0), (element.feature * d + element.feature, -1.0)]
                {
                    let rows = walk.sums.chunks_exact_mut(ROWS).skip(place * width + walk.output);
                    rows.zip(walk.value).for_each(|(sums, v)| add_scaled(sums, pair, sign * v));
                }
            }
        }
    });
    Ok(ShapValues {
        n_rows: features.n_rows(),
        n_columns: d * d,
        n_outputs: width,
        values,
        expected: explained.expected,
    })
}

/// Trees and what all rows share.
struct ShapTrees {
    /// Each tree and its first output.
    trees: Vec<(Tree, usize)>,
    n_outputs: usize,
    divisor: f64,
    expected: Vec<f64>,
    rules: QuadratureRules,
}

/// Quadrature rules by the number of columns on a way.
struct QuadratureRules(Vec<Vec<(f64, f64)>>);

impl QuadratureRules {
    /// A rule that is exact for products of `m` columns but one.
    fn of(&self, m: usize) -> &[(f64, f64)] {
        &self.0[m.div_ceil(2).clamp(1, self.0.len()) - 1]
    }
}

impl ShapTrees {
    fn new(sum: &TreeSum, n_columns: usize) -> ShapTrees {
        let mut trees = Vec::new();
        let mut output = 0;
        for forest in &sum.forests {
            trees.extend((0..forest.n_trees()).map(|t| (forest.tree(t), output)));
            output += forest.width();
        }
        let mut expected = vec![0.0; output];
        for (tree, first) in &trees {
            expected[*first..].iter_mut().zip(mean(tree)).for_each(|(e, v)| *e += v / sum.divisor);
        }
        let most = trees.iter().map(|(tree, _)| tree.depth()).max().unwrap_or(0).min(n_columns);
        let rules = QuadratureRules((1..=most.div_ceil(2).max(1)).map(gauss_legendre).collect());
        ShapTrees { trees, n_outputs: output, divisor: sum.divisor, expected, rules }
    }

    /// What all trees say about all rows: `n` numbers for each row and output, to which `leaf` adds at each leaf.
    fn explain(&self, features: &Features, n: usize, leaf: impl Fn(&mut ShapWalk<'_>) + Sync) -> Vec<f64> {
        let (d, size) = (features.n_columns(), n * self.n_outputs);
        let mut values = vec![0.0; features.n_rows() * size];
        let block = |(block, values): (usize, &mut [f64])| {
            let (first, n_rows) = (block * ROWS, values.len() / size);
            let mut x = vec![0.0; d * ROWS];
            x.chunks_exact_mut(ROWS).enumerate().for_each(|(c, x)| features.part_into(c, first, &mut x[..n_rows]));
            let mut sums = vec![0.0; size * ROWS];
            let mut walk = ShapWalk {
                x: &x,
                sums: &mut sums,
                elements: Vec::new(),
                scratch: LeafScratch::default(),
                output: 0,
                value: &[],
            };
            for (tree, output) in &self.trees {
                walk.output = *output;
                walk.tree(tree, &leaf);
            }
            for (row, values) in values.chunks_exact_mut(size).enumerate() {
                values.iter_mut().enumerate().for_each(|(i, value)| *value = sums[i * ROWS + row] / self.divisor);
            }
        };
        if size > 0 {
            parallel::for_each_chunk(&mut values, ROWS * size, |part, values| block((part, values)));
        }
        values
    }
}

/// The mean prediction of the training rows.
fn mean(tree: &Tree) -> Vec<f64> {
    let width = tree.width;
    let mut means = tree.value.clone();
    for node in (0..tree.n_nodes()).rev().filter(|&node| !tree.children(node).is_empty()) {
        let share = ChildShares::of(tree, node);
        for k in 0..width {
            let part = |child: usize| share.of_child(tree, child) * means[child * width + k];
            means[node * width + k] = tree.children(node).map(part).sum();
        }
    }
    means.truncate(width);
    means
}

/// How the training rows of a node are shared out to its children. Symmetric trees have nodes that no training row came to: there, all children count the same.
#[derive(Clone, Copy)]
struct ChildShares {
    total: f64,
    n_children: f64,
}

impl ChildShares {
    fn of(tree: &Tree, node: usize) -> ChildShares {
        let total = tree.children(node).map(|child| tree.weight[child]).sum();
        ChildShares { total, n_children: tree.children(node).len() as f64 }
    }

    fn of_child(self, tree: &Tree, child: usize) -> f64 {
        if self.total > 0.0 { tree.weight[child] / self.total } else { 1.0 / self.n_children }
    }
}

/// What is known of a column on the way to a node: which rows go that way, and which share of the training rows does.
#[derive(Clone, Copy)]
struct PathElement {
    feature: usize,
    o: u64,
    z: f64,
}

/// A node on the way that is being walked.
struct PathFrame {
    node: usize,
    /// The next branch.
    branch: usize,
    /// The rows that take each branch, and last those that fit none.
    taken: Vec<u64>,
    shares: ChildShares,
    /// The place of the node's column among the elements, and what was known of it above.
    element: usize,
    above: Option<PathElement>,
}

/// The walk of 64 rows through all branches of trees.
struct ShapWalk<'a> {
    /// Column by column.
    x: &'a [f64],
    /// What was added up: for each number, one for each row.
    sums: &'a mut [f64],
    /// The columns on the way to here.
    elements: Vec<PathElement>,
    scratch: LeafScratch,
    /// The first output of the tree.
    output: usize,
    /// The prediction here.
    value: &'a [f64],
}

impl<'a> ShapWalk<'a> {
    /// Walks a tree. A list takes the place of recursion: a tree can be as deep as there are rows.
    fn tree(&mut self, tree: &'a Tree, leaf: &impl Fn(&mut ShapWalk<'_>)) {
        let mut frames: Vec<PathFrame> = Vec::new();
        self.enter(tree, 0, &mut frames, leaf);
        while let Some(frame) = frames.last_mut() {
            let n_children = tree.children(frame.node).len();
            let branch = frame.branch;
            frame.branch += 1;
            if branch > n_children {
                let (element, above) = (frame.element, frame.above);
                match above {
                    Some(above) => self.elements[element] = above,
                    None => _ = self.elements.pop(),
                }
                frames.pop();
                continue;
            }
            let above = frame.above.unwrap_or(PathElement { o: u64::MAX, z: 1.0, ..self.elements[frame.element] });
            let child = tree.children(frame.node).start + branch;
            // A row that fits no branch stops at the node: a branch without training rows.
            let share = if branch < n_children { frame.shares.of_child(tree, child) } else { 0.0 };
            let below = PathElement { o: above.o & frame.taken[branch], z: above.z * share, ..above };
            let node = frame.node;
            self.elements[frame.element] = below;
            if below.o == 0 && below.z == 0.0 {
                continue;
            }
            if branch < n_children {
                self.enter(tree, child, &mut frames, leaf);
            } else {
                self.value = tree.value(node);
                leaf(self);
            }
        }
    }

    /// Enters a node. A leaf is done at once.
    fn enter(&mut self, tree: &'a Tree, node: usize, frames: &mut Vec<PathFrame>, leaf: &impl Fn(&mut ShapWalk<'_>)) {
        let Some(feature) = tree.test[node].feature() else {
            self.value = tree.value(node);
            return leaf(self);
        };
        let known = self.elements.iter().position(|element| element.feature == feature);
        let above = known.map(|place| self.elements[place]);
        let element = known.unwrap_or_else(|| {
            self.elements.push(PathElement { feature, o: u64::MAX, z: 1.0 });
            self.elements.len() - 1
        });
        let shares = ChildShares::of(tree, node);
        let taken = taken(&tree.test[node], &self.x[feature * ROWS..][..ROWS]);
        frames.push(PathFrame { node, branch: 0, taken, shares, element, above });
    }
}

/// The rows that take each branch, and last those that fit none.
fn taken(test: &Test, x: &[f64]) -> Vec<u64> {
    let mut taken = vec![0; test.n_children() + 1];
    let last = test.n_children();
    if let Test::AtMost { threshold, missing_left, .. } = test {
        let right = rows_right(x, *threshold, *missing_left);
        (taken[0], taken[1]) = (!right, right);
    } else {
        x.iter().enumerate().for_each(|(row, &x)| taken[test.branch(x).unwrap_or(last)] |= 1 << row);
    }
    taken
}

versions! {
    /// A bit for each value above a threshold.
    fn rows_right(x: &[f64], threshold: f64, missing_left: bool) -> u64 {
        let mut right = 0;
        for (row, &x) in x.iter().enumerate() {
            let goes = if missing_left { x > threshold } else { !(x <= threshold) };
            right |= u64::from(goes) << row;
        }
        right
    }
}

/// Room for the products at a leaf.
#[derive(Default)]
struct LeafScratch {
    /// o_j of each element and row of a register.
    known: Vec<[f64; LANES]>,
    /// f_j at a point, and the product of those before.
    factors: Vec<[f64; LANES]>,
    before: Vec<[f64; LANES]>,
    /// (o_i - z_i) times the integral without i, for each element and row.
    shares: Vec<f64>,
}

impl LeafScratch {
    /// Works out the shares of all elements but `without`, which is left out of the products too.
    fn shares(&mut self, elements: &[PathElement], rules: &QuadratureRules, without: usize) {
        let m = elements.len();
        self.shares.clear();
        self.shares.resize(m * ROWS, 0.0);
        for list in [&mut self.known, &mut self.factors, &mut self.before] {
            list.resize(m.max(list.len()), [0.0; LANES]);
        }
        integrate(elements, rules.of(m), without, self);
    }
}

versions! {
    /// The shares of all elements, eight rows at a time.
    fn integrate(elements: &[PathElement], rule: &[(f64, f64)], without: usize, scratch: &mut LeafScratch) {
        let m = elements.len();
        let LeafScratch { known, factors, before, shares } = scratch;
        let (known, factors, before) = (&mut known[..m], &mut factors[..m], &mut before[..m]);
        for first in (0..ROWS).step_by(LANES) {
            for (known, element) in known.iter_mut().zip(elements) {
                let bits = element.o >> first;
                *known = std::array::from_fn(|lane| (bits >> lane & 1) as f64);
            }
            for &(t, weight) in rule {
                let mut product = [weight; LANES];
                for j in (0..m).filter(|j| *j != without) {
                    let rest = elements[j].z * (1.0 - t);
                    before[j] = product;
                    for lane in 0..LANES {
                        factors[j][lane] = known[j][lane] * t + rest;
                        product[lane] *= factors[j][lane];
                    }
                }
                let mut after = [1.0; LANES];
                for j in (0..m).rev().filter(|j| *j != without) {
                    let share = &mut shares[j * ROWS + first..][..LANES];
                    for lane in 0..LANES {
                        share[lane] += before[j][lane] * after[lane];
                        after[lane] *= factors[j][lane];
                    }
                }
            }
            for j in (0..m).filter(|j| *j != without) {
                let share = &mut shares[j * ROWS + first..][..LANES];
                for lane in 0..LANES {
                    share[lane] *= known[j][lane] - elements[j].z;
                }
            }
        }
    }
}

versions! {
    /// sums += factor * shares.
    fn add_scaled(sums: &mut [f64], shares: &[f64], factor: f64) {
        for (sum, share) in sums.iter_mut().zip(shares) {
            *sum += factor * share;
        }
    }
}

#[cfg(test)]
mod tests;
