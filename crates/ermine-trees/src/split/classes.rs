//! Any number of classes, with or without weights.
//!
//! **Idea.** The class weights of both sides are kept, and with them what the impurity needs of them: the sums of squares (Gini) or of
//! x log2 x (entropy) change in one term when a row moves; the largest weight (training error) is looked up again.
//!
//! **Formula.** Cost of a node with class weights w_k and W their sum: Gini W - sum w_k^2 / W, entropy W log2 W - sum w_k log2 w_k, error W - max w_k.
//!
//! **Nominal columns.** With two classes the best bipartition is a threshold in the order of the class shares (Breiman et al. 1984, theorem 4.5). With more,
//! up to [`ENUMERATED`] categories all bipartitions are tried, each from the one before by moving one category (Gray code); above, the
//! thresholds of several orders: by the first principal component of the class shares (Coppersmith, Hong and Hosking 1999) and by the share
//! of each class.
//!
//! **Cost.** O(1) for each entry (error: O(K)); enumeration O(2^c K) for c categories.

use super::criterion::Impurity;
use super::node::{CategoryOrders, Grid, Limits, NodeCriterion, ROW, Summary};
use super::twig::{self, ROWS, Twig, TwigNode, TwigSplit};
use super::two_classes::x_log2_x_table;
use std::sync::Arc;

/// Up to this many categories (with those missing as one) all bipartitions are tried.
pub const ENUMERATED: usize = 9;

/// Classes by weight.
#[derive(Debug, Clone)]
pub struct ClassWeights {
    codes: Vec<u16>,
    weight: Option<Vec<f64>>,
    n_classes: usize,
    impurity: Impurity,
    /// x log2 x for whole x, where the impurity is the entropy and rows count the same.
    logs: Arc<[f64]>,
}

/// The class weights of a node.
#[derive(Debug, Clone)]
pub struct Weights {
    classes: Vec<f64>,
    total: f64,
    cost: f64,
}

/// The class weights of both sides of a split, and what the impurity needs of them: the sum of squares, or of x log2 x.
#[derive(Debug, Clone)]
pub struct Sides {
    left: Vec<f64>,
    right: Vec<f64>,
    left_total: f64,
    left_part: f64,
    right_part: f64,
}

impl ClassWeights {
    /// The criterion for rows of these classes; there are at most 65,536 of them.
    pub fn new(codes: &[u32], weight: Option<&[f64]>, n_classes: usize, impurity: Impurity) -> Self {
        let tabled = impurity == Impurity::Entropy && weight.is_none();
        let logs = if tabled { x_log2_x_table(codes.len()) } else { Arc::new([]) };
        let codes = codes.iter().map(|&c| c as u16).collect();
        ClassWeights { codes, weight: weight.map(<[f64]>::to_vec), n_classes, impurity, logs }
    }

    #[inline]
    fn weight_of(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |w| w[row])
    }

    #[inline]
    fn x_log2_x(&self, x: f64) -> f64 {
        match self.logs.get(x as usize) {
            Some(&tabled) => tabled,
            None if x > 0.0 => x * x.log2(),
            None => 0.0,
        }
    }

    fn class_weights(&self, entries: &[u32]) -> Vec<f64> {
        let mut classes = vec![0.0; self.n_classes];
        for row in entries.iter().map(|e| (e & ROW) as usize) {
            classes[self.codes[row] as usize] += self.weight_of(row);
        }
        classes
    }

    /// A node with these class weights; its prediction is appended to `value`.
    fn weighed(&self, classes: Vec<f64>, value: &mut Vec<f64>) -> (Summary, Weights) {
        let total: f64 = classes.iter().sum();
        let cost = self.impurity.cost(&classes);
        value.extend(classes.iter().map(|w| w / total));
        let pure = classes.iter().filter(|&&w| w > 0.0).count() < 2;
        (Summary { weight: total, cost, pure }, Weights { classes, total, cost })
    }

    /// What a split gains with weight `a` on the left, from what the impurity needs of each side.
    #[inline]
    fn gain_of(&self, node: &Weights, a: f64, left_part: f64, right_part: f64) -> f64 {
        let b = node.total - a;
        if b <= 0.0 {
            return f64::NAN;
        }
        let cost = match self.impurity {
            Impurity::Gini => node.total - left_part / a - right_part / b,
            Impurity::Entropy => self.x_log2_x(a) - left_part + self.x_log2_x(b) - right_part,
            Impurity::Error => node.total - left_part - right_part,
        };
        node.cost - cost
    }

    /// What the impurity needs of the weights of a side: their squares, x log2 x, or the largest.
    fn part(&self, weights: impl Iterator<Item = f64>) -> f64 {
        match self.impurity {
            Impurity::Gini => weights.map(|w| w * w).sum(),
            Impurity::Entropy => weights.map(|w| self.x_log2_x(w)).sum(),
            Impurity::Error => weights.fold(0.0, f64::max),
        }
    }

    /// The best bipartition of all, by Gray code: step t moves the group that is the number of trailing zeros of t. The last group stays on the right.
    fn enumerate(
        &self,
        node: &Weights,
        groups: &[Vec<f64>],
        sizes: &[usize],
        limits: &Limits,
    ) -> Option<(f64, Vec<bool>)> {
        let n_rows: usize = sizes.iter().sum();
        let mut left = vec![0.0; self.n_classes];
        let mut is_left = vec![false; groups.len()];
        let mut n_left = 0;
        let mut best: Option<(f64, Vec<bool>)> = None;
        let grid = Grid::new(node.cost);
        for step in 1u32..1 << (groups.len() - 1) {
            let g = step.trailing_zeros() as usize;
            is_left[g] = !is_left[g];
            let sign = if is_left[g] { 1.0 } else { -1.0 };
            left.iter_mut().zip(&groups[g]).for_each(|(l, w)| *l += sign * w);
            n_left = if is_left[g] { n_left + sizes[g] } else { n_left - sizes[g] };
            let right: Vec<f64> = node.classes.iter().zip(&left).map(|(a, l)| (a - l).max(0.0)).collect();
            let (a, b): (f64, f64) = (left.iter().sum(), right.iter().sum());
            let few = n_left < limits.min_samples || n_rows - n_left < limits.min_samples;
            if few || a < limits.min_weight || b < limits.min_weight {
                continue;
            }
            let gain = grid.round(node.cost - self.impurity.cost(&left) - self.impurity.cost(&right));
            if best.as_ref().is_none_or(|best| gain > best.0) {
                best = Some((gain, is_left.clone()));
            }
        }
        best
    }
}

impl NodeCriterion for ClassWeights {
    type Node = Weights;
    type Left = Sides;

    fn width(&self) -> usize {
        self.n_classes
    }

    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (Summary, Weights) {
        self.weighed(self.class_weights(entries), value)
    }

    fn weight(&self, entries: &[u32]) -> f64 {
        entries.iter().map(|e| self.weight_of((e & ROW) as usize)).sum()
    }

    fn select(&self, rows: &[u32]) -> Self {
        ClassWeights {
            codes: rows.iter().map(|&r| self.codes[r as usize]).collect(),
            weight: self.weight.as_ref().map(|w| rows.iter().map(|&r| w[r as usize]).collect()),
            logs: self.logs.clone(),
            ..*self
        }
    }

    fn cost(&self, node: &Weights) -> f64 {
        node.cost
    }

    fn nothing(&self, node: &Weights) -> Sides {
        let right_part = self.part(node.classes.iter().copied());
        let (left, right) = (vec![0.0; self.n_classes], node.classes.clone());
        Sides { left, right, left_total: 0.0, left_part: 0.0, right_part }
    }

    #[inline]
    fn push(&self, _: &Weights, sides: &mut Sides, entry: u32) {
        let row = (entry & ROW) as usize;
        let (k, w) = (self.codes[row] as usize, self.weight_of(row));
        let (l, r) = (sides.left[k], sides.right[k]);
        let (l_new, r_new) = (l + w, (r - w).max(0.0));
        match self.impurity {
            Impurity::Gini => {
                sides.left_part += l_new * l_new - l * l;
                sides.right_part += r_new * r_new - r * r;
            }
            Impurity::Entropy => {
                sides.left_part += self.x_log2_x(l_new) - self.x_log2_x(l);
                sides.right_part += self.x_log2_x(r_new) - self.x_log2_x(r);
            }
            Impurity::Error => {}
        }
        sides.left[k] = l_new;
        sides.right[k] = r_new;
        sides.left_total += w;
    }

    #[inline]
    fn gain(&self, node: &Weights, sides: &Sides) -> f64 {
        let parts = match self.impurity {
            Impurity::Error => [&sides.left, &sides.right].map(|side| self.part(side.iter().copied())),
            _ => [sides.left_part, sides.right_part],
        };
        self.gain_of(node, sides.left_total, parts[0], parts[1])
    }

    fn weights(&self, node: &Weights, sides: &Sides) -> (f64, f64) {
        (sides.left_total, node.total - sides.left_total)
    }

    /// The share of the second class, which is all where there are two.
    fn responses(&self, node: &Weights, sides: &Sides) -> (f64, f64) {
        (sides.left[1] / sides.left_total, sides.right[1] / (node.total - sides.left_total))
    }

    fn category_orders(&self, node: &Weights, groups: &[&[u32]], missing: &[u32], limits: &Limits) -> CategoryOrders {
        let mut weights: Vec<Vec<f64>> = groups.iter().map(|group| self.class_weights(group)).collect();
        let share = |k: usize| move |w: &Vec<f64>| w[k] / w.iter().sum::<f64>();
        if self.n_classes == 2 {
            return CategoryOrders::Exact(weights.iter().map(share(1)).collect());
        }
        let n_groups = groups.len() + usize::from(!missing.is_empty());
        if n_groups <= ENUMERATED {
            let mut sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
            if !missing.is_empty() {
                weights.push(self.class_weights(missing));
                sizes.push(missing.len());
            }
            return CategoryOrders::Enumerated(self.enumerate(node, &weights, &sizes, limits));
        }
        let mut orders = vec![principal_scores(&weights, node)];
        orders.extend((0..self.n_classes).map(|k| weights.iter().map(share(k)).collect()));
        CategoryOrders::Heuristic(orders)
    }

    fn twig_marks(&self, entries: &[u32]) -> Option<[u8; ROWS]> {
        let plain = self.weight.is_none() && self.impurity == Impurity::Gini;
        if !plain || self.n_classes > twig::classes::CLASSES || !twig::available() {
            return None;
        }
        let mut marks = [0; ROWS];
        for (mark, entry) in marks.iter_mut().zip(entries) {
            *mark = 8 * self.codes[(entry & ROW) as usize] as u8;
        }
        Some(marks)
    }

    #[cfg(target_arch = "x86_64")]
    fn best_in_twig(&self, state: &Weights, twig: &Twig, node: TwigNode, _: &[u32]) -> Option<TwigSplit> {
        let counts = state.classes.iter().rev().fold(0u64, |word, &count| word << 8 | count as u64);
        twig::classes::best(twig, node, counts, state.cost, self.grid(state))
    }

    fn cost_of(&self, node: &Weights, value: &[f64]) -> f64 {
        self.impurity.cost_of(&node.classes, value)
    }
}

/// The scores of the groups on the first principal component of their class shares, each group counting by its weight.
fn principal_scores(groups: &[Vec<f64>], node: &Weights) -> Vec<f64> {
    let n_classes = node.classes.len();
    let mean: Vec<f64> = node.classes.iter().map(|w| w / node.total).collect();
    let shares: Vec<(f64, Vec<f64>)> = groups
        .iter()
        .map(|w| {
            let total: f64 = w.iter().sum();
            (total, w.iter().zip(&mean).map(|(w, m)| w / total - m).collect())
        })
        .collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // Power iteration; the start is no symmetry axis of the shares. An inexact axis costs a little gain, nothing else.
    let mut axis: Vec<f64> = (0..n_classes).map(|k| 1.0 / (k as f64 + 1.5)).collect();
    for _ in 0..50 {
        let mut next = vec![0.0; n_classes];
        for (weight, share) in &shares {
            let along = weight * dot(share, &axis);
            next.iter_mut().zip(share).for_each(|(n, s)| *n += along * s);
        }
        let length = dot(&next, &next).sqrt();
        if length <= 0.0 {
            break;
        }
        axis = next.into_iter().map(|x| x / length).collect();
    }
    shares.iter().map(|(_, share)| dot(share, &axis)).collect()
}

