//! Values of the leaves of a grown tree: from all rows, and from the whole Hessian of several classes.
//!
//! **Idea.** A tree that is grown on a sample of the rows is random, which makes the mean of many trees better. The values of its leaves need not be: all rows know better. Trees of several classes with
//! the same leaves take a Newton step in all scores at once. With G the sum of the gradients of a leaf and H that of the Hessians w (diag(p) - p p'),
//!
//! ```text
//! values = -(H + lambda I)^-1 G
//! ```
//!
//! **Same bits.** Sums over rows are sums of integers, so that their order doesn't matter.
//!
//! **Cost.** For K classes, K^2 / 2 additions per row and K^3 / 3 per leaf. **Reference.** Prokhorenkova et al., CatBoost, 2018.

use super::grow::TreeOptions;
use super::grown::BinnedTree;
use super::objective::Objective;
use super::shard::Shard;
use super::team::Team;
use crate::split::histogram::BinStore;
use crate::split::histogram::leaf_penalty::WeightBounds;
use std::ops::Range;

/// The leaf of each row of the shards.
pub(super) struct GrownLeaves<'a> {
    team: &'a Team<'a>,
    shards: &'a [Shard],
    /// For each shard, the number of the leaf of each row, counted over leaves only.
    leaf: Vec<Vec<u32>>,
    /// The nodes of the leaves.
    nodes: Vec<usize>,
}

/// Numbers as integers, whose sums over rows are at most `most` in absolute value.
#[derive(Clone, Copy)]
struct FixedPoint {
    scale: f64,
}

impl FixedPoint {
    /// Bits of a sum: with those of rounding errors they fit in an integer.
    const BITS: u32 = 60;

    fn new(most: f64) -> FixedPoint {
        FixedPoint { scale: if most > 0.0 { (1u64 << Self::BITS) as f64 / most } else { 1.0 } }
    }

    fn integer(self, x: f64) -> i64 {
        (x * self.scale) as i64
    }

    fn number(self, sum: i64) -> f64 {
        sum as f64 / self.scale
    }
}

impl<'a> GrownLeaves<'a> {
    /// The rows of the leaves of a tree. `keeps`: the rows of each shard that it was grown on.
    pub fn new(
        team: &'a Team<'a>,
        store: &BinStore,
        shards: &'a [Shard],
        tree: &BinnedTree,
        keeps: &[Option<Vec<bool>>],
    ) -> GrownLeaves<'a> {
        let nodes: Vec<usize> = tree.leaves().collect();
        let mut number = vec![0; tree.test.len()];
        nodes.iter().zip(0..).for_each(|(&node, leaf)| number[node] = leaf);
        let mut leaf: Vec<Vec<u32>> = vec![Vec::new(); shards.len()];
        team.each(&mut leaf, |i, leaf| {
            *leaf = shards[i].leaves(store, tree, keeps[i].as_deref());
            leaf.iter_mut().for_each(|node| *node = number[*node as usize]);
        });
        GrownLeaves { team, shards, leaf, nodes }
    }

    fn n_rows(&self) -> usize {
        self.leaf.iter().map(Vec::len).sum()
    }

    /// The sums over the rows of each leaf of `width` integers that `add` adds to them, for each shard, its number, and a row of it.
    fn sums(&self, width: usize, add: impl Fn(&Shard, usize, usize, &mut [i64]) + Sync) -> Vec<i64> {
        let mut parts: Vec<Vec<i64>> = vec![vec![0; width * self.nodes.len()]; self.shards.len()];
        self.team.each(&mut parts, |i, sums| {
            for (row, &leaf) in self.leaf[i].iter().enumerate() {
                add(&self.shards[i], i, row, &mut sums[leaf as usize * width..][..width]);
            }
        });
        let mut total = vec![0; width * self.nodes.len()];
        parts.iter().for_each(|part| total.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        total
    }

    /// Sets the values of the leaves of an output's tree, and the curvatures of all of its nodes.
    pub fn set_values(&self, tree: &mut BinnedTree, output: usize, options: &TreeOptions) {
        let fixed = |of: fn(&Shard) -> &[Vec<f32>]| {
            let numbers = self.shards.iter().flat_map(|shard| &of(shard)[output]);
            let largest = f64::from(numbers.fold(0.0f32, |most, x| most.max(x.abs())));
            FixedPoint::new(largest * self.n_rows() as f64)
        };
        let (g, h) = (fixed(|shard| &shard.gradient), fixed(|shard| &shard.curvature));
        let sums = self.sums(2, |shard, _, row, sums| {
            sums[0] += g.integer(f64::from(shard.gradient[output][row]));
            sums[1] += h.integer(f64::from(shard.curvature[output][row]));
        });
        for (&node, sums) in self.nodes.iter().zip(sums.chunks(2)) {
            let (gradient, curvature) = (g.number(sums[0]), h.number(sums[1]));
            tree.value[node] = options.learning_rate * options.leaf.weight(gradient, curvature, WeightBounds::NONE);
            tree.weight[node] = curvature;
        }
        // Children stand after their parents.
        for node in (0..tree.test.len()).rev().filter(|&node| tree.test[node].is_some()) {
            let children: Range<usize> = tree.child[node] as usize..tree.child[node] as usize + 2;
            tree.weight[node] = tree.weight[children].iter().sum();
        }
    }

    /// Sets the values of the leaves of all classes by a Newton step with the whole Hessian.
    pub fn set_joint_values(&self, trees: &mut [BinnedTree], objective: &dyn Objective, options: &TreeOptions) {
        let k = trees.len();
        // The probabilities of the classes of each row, then its weight.
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); self.shards.len()];
        self.team.each(&mut rows, |i, rows| {
            let shard = &self.shards[i];
            rows.resize(shard.rows().len() * (k + 1), 0.0);
            let mut scores = vec![0.0; k];
            for (row, out) in rows.chunks_mut(k + 1).enumerate() {
                scores.iter_mut().zip(&shard.scores).for_each(|(score, of_class)| *score = of_class[row]);
                out[k] = objective.class_probabilities(shard.rows().start + row, &scores, &mut out[..k]);
            }
        });
        // No sum of gradients or second derivatives is larger than that of the weights.
        let fixed = FixedPoint::new(objective.total_weight());
        // The gradient, then the Hessian below and on its diagonal, row by row.
        let width = k + k * (k + 1) / 2;
        let sums = self.sums(width, |shard, i, row, sums| {
            let (p, weight) = rows[i][row * (k + 1)..][..=k].split_at(k);
            let (gradient, hessian) = sums.split_at_mut(k);
            for (sum, of_class) in gradient.iter_mut().zip(&shard.gradient) {
                *sum += fixed.integer(f64::from(of_class[row]));
            }
            let mut start = 0;
            for (a, &of_class) in p.iter().enumerate() {
                let share = weight[0] * of_class;
                let below = &mut hessian[start..=start + a];
                below.iter_mut().zip(p).for_each(|(sum, p)| *sum -= fixed.integer(share * p));
                below[a] += fixed.integer(share);
                start += a + 1;
            }
        });
        for (&node, sums) in self.nodes.iter().zip(sums.chunks(width)) {
            let (gradient, hessian) = sums.split_at(k);
            let mut step: Vec<f64> = gradient.iter().map(|&g| -fixed.number(g)).collect();
            let mut matrix: Vec<f64> = hessian.iter().map(|&h| fixed.number(h)).collect();
            solve(&mut matrix, &mut step, options.leaf.lambda);
            trees.iter_mut().zip(step).for_each(|(tree, step)| tree.value[node] = options.learning_rate * step);
        }
    }
}

/// Solves (A + lambda I) x = b by a Cholesky factorization, in place. `a` is the part of a positive semidefinite A below and on its diagonal, row by row. The Hessian of classes is singular: scores may all rise
/// together; pivots that are lost in rounding become small ones, which leaves out such directions.
fn solve(a: &mut [f64], b: &mut [f64], lambda: f64) {
    let k = b.len();
    let row = |i: usize| i * (i + 1) / 2;
    let trace: f64 = (0..k).map(|i| a[row(i) + i]).sum();
    let least = (1e-9 * trace).max(f64::MIN_POSITIVE);
    for i in 0..k {
        a[row(i) + i] += lambda;
        for j in 0..=i {
            let dot: f64 = (0..j).map(|l| a[row(i) + l] * a[row(j) + l]).sum();
            let rest = a[row(i) + j] - dot;
            a[row(i) + j] = if i == j { rest.max(least).sqrt() } else { rest / a[row(j) + j] };
        }
        let dot: f64 = (0..i).map(|l| a[row(i) + l] * b[l]).sum();
        b[i] = (b[i] - dot) / a[row(i) + i];
    }
    for i in (0..k).rev() {
        let dot: f64 = (i + 1..k).map(|l| a[row(l) + i] * b[l]).sum();
        b[i] = (b[i] - dot) / a[row(i) + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn newton_steps_solve_their_equations(
            rows in prop::collection::vec(prop::collection::vec(-3.0f64..3.0, 4), 1..9), b in prop::collection::vec(-2.0f64..2.0, 4), lambda in 0.01f64..5.0,
        ) {
            // A sum of outer products is positive semidefinite.
            let k = 4;
            let entry = |i: usize, j: usize| rows.iter().map(|row| row[i] * row[j]).sum::<f64>();
            let mut a: Vec<f64> = (0..k).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect();
            let mut x = b.clone();
            solve(&mut a, &mut x, lambda);
            for i in 0..k {
                let found = (0..k).map(|j| entry(i, j) * x[j]).sum::<f64>() + lambda * x[i];
                prop_assert!((found - b[i]).abs() < 1e-6, "{found} {}", b[i]);
            }
        }

        #[test]
        fn sums_of_integers_are_close(numbers in prop::collection::vec(-100.0f64..100.0, 1..200)) {
            let fixed = FixedPoint::new(100.0 * numbers.len() as f64);
            let sum: i64 = numbers.iter().map(|&x| fixed.integer(x)).sum();
            prop_assert!((fixed.number(sum) - numbers.iter().sum::<f64>()).abs() < 1e-9);
        }
    }

    #[test]
    fn a_singular_hessian_gives_a_finite_step() {
        // Two classes with probabilities 0.3 and 0.7, without a penalty: the step along (1, -1) is known, that along (1, 1) is free.
        let (mut a, mut b) = (vec![0.21, -0.21, 0.21], vec![0.1, -0.1]);
        solve(&mut a, &mut b, 0.0);
        assert!(b.iter().all(|x| x.is_finite()), "{b:?}");
        assert!((b[0] - b[1] - 0.1 / 0.21).abs() < 1e-6, "{b:?}");
    }
}
