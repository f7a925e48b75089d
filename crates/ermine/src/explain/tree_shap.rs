//! SHAP values of sums of trees, exact, in time linear in the size of the trees times half their depth.
//!
//! **Idea.** What is expected of a tree when only the columns S of a row are known: at a node that asks about a column of S, follow the row; at any other node take the mean of the children, weighted
//! by the training rows in them. For a leaf this is v * product over the columns j on its way of (o_j if j is in S, else z_j), where z_j is the share of training rows that go the leaf's way at the
//! nodes about j, and o_j is 1 if the row goes that way at all of them, else 0.
//!
//! **Formula.** The Shapley value of column i adds up, over all leaves, v (o_i - z_i) times the sum over sets S of the other columns on the way of |S|! (m - 1 - |S|)! / m! * product. Because
//! |S|! (m - 1 - |S|)! / m! is the integral of t^|S| (1 - t)^(m - 1 - |S|) over \[0, 1\], that sum is
//!
//! ```text
//! integral over t from 0 to 1 of the product over j other than i of f_j(t),   f_j(t) = z_j (1 - t) + o_j t,
//! ```
//!
//! a polynomial of degree m - 1, which a Gauss-Legendre rule with m / 2 points integrates exactly, adding up numbers that are never negative: nothing cancels. The product over all columns
//! of the way is kept at each point while the tree is walked; dividing by f_i gives what is needed, and sums over the leaves below a branch are shared by all of them. Where
//! a column is asked about twice on a way, the lower branch takes the place of the upper one.
//!
//! **Cost.** O(nodes * depth / 2) for each row and output. **Reference.** Lundberg and others, From local explanations to global understanding with explainable AI for trees,
//! 2020 (path-dependent Tree SHAP); Yu, Bifet, Read and Xu, Linear TreeShap, 2022 (polynomials in place of sets).

use super::quadrature::gauss_legendre;
use crate::matrix::Features;
use crate::model::TreeSum;
use crate::tree::Tree;
use rayon::prelude::*;

/// SHAP values of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ShapValues {
    /// How many rows.
    pub n_rows: usize,
    /// How many columns.
    pub n_columns: usize,
    /// How many numbers are explained for each row: classes, or numbers predicted.
    pub n_outputs: usize,
    /// Row by row, then column by column, then output by output.
    pub values: Vec<f64>,
    /// What is predicted when nothing is known of a row, for each output.
    pub expected: Vec<f64>,
}

impl ShapValues {
    /// The values of one row and column, one for each output.
    pub fn get(&self, row: usize, column: usize) -> &[f64] {
        &self.values[(row * self.n_columns + column) * self.n_outputs..][..self.n_outputs]
    }

    /// The mean size of each column's values, added up over the outputs.
    pub fn importances(&self) -> Vec<f64> {
        let size = |row: usize, column: usize| self.get(row, column).iter().map(|v| v.abs()).sum::<f64>();
        let mean = |column: usize| (0..self.n_rows).map(|row| size(row, column)).sum::<f64>() / self.n_rows as f64;
        (0..self.n_columns).map(mean).collect()
    }
}

/// The SHAP values of all rows.
pub fn shap_values(sum: &TreeSum<'_>, features: &Features) -> ShapValues {
    let (d, width) = (features.n_columns(), sum.forest.width());
    let trees: Vec<Explained> = (0..sum.forest.n_trees()).map(|t| Explained::new(sum.forest.tree(t), d)).collect();
    let mut expected = sum.base.clone();
    for tree in &trees {
        expected.iter_mut().zip(tree.mean(0)).for_each(|(e, v)| *e += sum.scale * v);
    }
    let of_row = |row: usize| {
        let x: Vec<f64> = (0..d).map(|column| features.number(row, column)).collect();
        let mut values = vec![0.0; d * width];
        trees.iter().for_each(|tree| tree.add(&x, &mut values));
        values.iter_mut().for_each(|value| *value *= sum.scale);
        values
    };
    let values = (0..features.n_rows()).into_par_iter().flat_map_iter(of_row).collect();
    ShapValues { n_rows: features.n_rows(), n_columns: d, n_outputs: width, values, expected }
}

/// A tree and what all rows share.
struct Explained {
    tree: Tree,
    /// The points of the rule and their weights.
    points: Vec<(f64, f64)>,
    /// The mean prediction of the training rows below each node.
    means: Vec<f64>,
}

/// What is known of a column on the way to a node: whether the row goes that way, and which share of the training rows does.
#[derive(Clone, Copy)]
struct Known {
    o: f64,
    z: f64,
}

impl Known {
    /// The column's factor of the product at a point.
    #[inline(always)]
    fn factor(self, t: f64) -> f64 {
        self.z * (1.0 - t) + self.o * t
    }
}

/// A node on the way that is being walked.
struct Frame {
    node: usize,
    /// The branches of the node that were walked already.
    n_done: usize,
    /// What was known of the node's column above it.
    above: Known,
    /// What is known of it in the branch that is being walked.
    below: Known,
}

impl Explained {
    fn new(tree: Tree, n_columns: usize) -> Explained {
        let width = tree.width;
        let mut means = tree.value.clone();
        for node in (0..tree.n_nodes()).rev().filter(|&node| !tree.children(node).is_empty()) {
            let total: f64 = tree.children(node).map(|child| tree.weight[child]).sum();
            for k in 0..width {
                let part = |child: usize| tree.weight[child] / total * means[child * width + k];
                means[node * width + k] = tree.children(node).map(part).sum();
            }
        }
        let most = tree.depth().min(n_columns);
        let points = gauss_legendre(most.div_ceil(2).max(1));
        Explained { tree, points, means }
    }

    fn mean(&self, node: usize) -> &[f64] {
        &self.means[node * self.tree.width..(node + 1) * self.tree.width]
    }

    /// Adds the tree's SHAP values of a row. A list takes the place of recursion: a tree can be as deep as there are rows.
    fn add(&self, x: &[f64], values: &mut [f64]) {
        let mut walk = Walk {
            tree: &self.tree,
            points: &self.points,
            x,
            values,
            known: vec![Known { o: 1.0, z: 1.0 }; x.len()],
            frames: Vec::new(),
            products: vec![1.0; self.points.len()],
            sums: Vec::new(),
        };
        walk.enter(0);
        while !walk.frames.is_empty() {
            walk.go_on();
        }
    }
}

/// The walk of a row through all branches of a tree.
struct Walk<'a> {
    tree: &'a Tree,
    points: &'a [(f64, f64)],
    x: &'a [f64],
    values: &'a mut [f64],
    /// What is known of each column here.
    known: Vec<Known>,
    /// The nodes from the root to here.
    frames: Vec<Frame>,
    /// The product over the columns at each point, for each frame and the branch below the last.
    products: Vec<f64>,
    /// The sum of prediction times product over the leaves below, for each point and output; for each frame, and for a branch that is done.
    sums: Vec<f64>,
}

impl Walk<'_> {
    /// Enters a node whose product is there. A leaf is done at once.
    fn enter(&mut self, node: usize) {
        match self.tree.test[node].feature() {
            None => self.say(node),
            Some(feature) => {
                let above = self.known[feature];
                self.frames.push(Frame { node, n_done: 0, above, below: above });
                self.sums.resize(self.sums.len() + self.points.len() * self.tree.width, 0.0);
            }
        }
    }

    /// The row gets the prediction of a node: the sum below the branch that led there is its product times that.
    fn say(&mut self, node: usize) {
        let product = &self.products[self.products.len() - self.points.len()..];
        let value = self.tree.value(node);
        self.sums.extend(product.iter().flat_map(|p| value.iter().map(move |v| p * v)));
        self.leave();
    }

    /// Walks the next branch of the last frame, or leaves it.
    fn go_on(&mut self) {
        let Some(frame) = self.frames.last_mut() else { return };
        let (node, branch, above) = (frame.node, frame.n_done, frame.above);
        let children = self.tree.children(node);
        let (Some(feature), n) = (self.tree.test[node].feature(), children.len()) else { return };
        let taken = self.tree.test[node].branch(self.x[feature]);
        // A row that fits no branch stops at the node: a branch without training rows.
        if branch >= n + usize::from(taken.is_none()) {
            self.known[feature] = above;
            self.frames.pop();
            self.leave();
            return;
        }
        frame.n_done += 1;
        let total: f64 = children.clone().map(|child| self.tree.weight[child]).sum();
        let (goes, share) = if branch < n {
            (taken == Some(branch), self.tree.weight[children.start + branch] / total)
        } else {
            (true, 0.0)
        };
        let below = Known { o: above.o * f64::from(u8::from(goes)), z: above.z * share };
        if below.o == 0.0 && below.z == 0.0 {
            return;
        }
        frame.below = below;
        self.known[feature] = below;
        let from = self.products.len() - self.points.len();
        for (i, &(t, _)) in self.points.iter().enumerate() {
            self.products.push(self.products[from + i] * below.factor(t) / above.factor(t));
        }
        if branch < n { self.enter(children.start + branch) } else { self.say(node) }
    }

    /// Ends a branch, whose sums stand last: shares it out to the column that was asked, and adds it to the frame above.
    fn leave(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        let Some(feature) = self.tree.test[frame.node].feature() else { return };
        let (width, size) = (self.tree.width, self.points.len() * self.tree.width);
        let (above, below) = (frame.above, frame.below);
        let values = &mut self.values[feature * width..(feature + 1) * width];
        let end = self.sums.len() - size;
        let (upper, sum) = self.sums.split_at_mut(end);
        for (&(t, weight), sum) in self.points.iter().zip(sum.chunks(width)) {
            // The branch takes the place of what was known of the column above it.
            let share = (below.o - below.z) / below.factor(t) - (above.o - above.z) / above.factor(t);
            values.iter_mut().zip(sum).for_each(|(value, s)| *value += weight * share * s);
        }
        let start = upper.len() - size;
        upper[start..].iter_mut().zip(sum).for_each(|(total, s)| *total += *s);
        self.sums.truncate(self.sums.len() - size);
        self.products.truncate(self.products.len() - self.points.len());
    }
}

#[cfg(test)]
mod tests;
