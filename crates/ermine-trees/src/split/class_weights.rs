//! Criterion for any number of classes, with or without weights.
//!
//! **Idea.** The class weights of both sides are kept, and with them what the impurity needs of them: the sums of squares (Gini) or of
//! x log2 x (entropy) change in one term when a row moves; the largest weight (error rate) is recomputed.
//!
//! **Nominal columns.** With two classes the best bipartition is a threshold in the order of the class shares (Breiman et al. 1984, theorem 4.5). With more,
//! up to [`ENUMERATED`](super::bipartition::ENUMERATED) categories all bipartitions are tried; above, the
//! thresholds of several orders: by the first principal component of the class shares (Coppersmith, Hong and Hosking 1999) and by the share
//! of each class.
//!
//! **Cost.** O(1) for each entry (error: O(K)); enumeration O(2^c K) for c categories.

use super::impurity::{Impurity, x_log2_x};
use super::node::{NodeCriterion, NodeSummary, ROW};
use super::two_classes::x_log2_x_table;
use std::sync::Arc;

/// Criterion for weighted classes.
#[derive(Debug, Clone)]
pub struct ClassWeightCriterion {
    codes: Vec<u16>,
    weight: Option<Vec<f64>>,
    n_classes: usize,
    impurity: Impurity,
    /// x log2 x for whole x, where the impurity is the entropy and rows count the same.
    logs: Arc<[f64]>,
}

/// The class weights of a node.
#[derive(Debug, Clone)]
pub struct ClassWeightNode {
    classes: Vec<f64>,
    total: f64,
    cost: f64,
}

/// The class weights of both sides of a split, and the impurity statistic of each side: the sum of squares, or of x log2 x.
#[derive(Debug, Clone)]
pub struct ClassWeightSides {
    left: Vec<f64>,
    right: Vec<f64>,
    left_total: f64,
    left_part: f64,
    right_part: f64,
}

impl ClassWeightCriterion {
    /// The criterion for rows of these classes; there are at most 65,536 of them.
    pub fn new(codes: &[u32], weight: Option<&[f64]>, n_classes: usize, impurity: Impurity) -> Self {
        let tabled = impurity == Impurity::Entropy && weight.is_none();
        let logs = if tabled { x_log2_x_table(codes.len()) } else { Arc::new([]) };
        let codes = codes.iter().map(|&c| c as u16).collect();
        ClassWeightCriterion { codes, weight: weight.map(<[f64]>::to_vec), n_classes, impurity, logs }
    }

    #[inline]
    fn weight_of(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |w| w[row])
    }

    #[inline]
    fn x_log2_x(&self, x: f64) -> f64 {
        match self.logs.get(x as usize) {
            Some(&tabled) => tabled,
            None => x_log2_x(x),
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
    fn weighed(&self, classes: Vec<f64>, value: &mut Vec<f64>) -> (NodeSummary, ClassWeightNode) {
        let total: f64 = classes.iter().sum();
        let cost = self.impurity.cost(&classes);
        value.extend(classes.iter().map(|w| w / total));
        let pure = classes.iter().filter(|&&w| w > 0.0).count() < 2;
        (NodeSummary { weight: total, cost, pure }, ClassWeightNode { classes, total, cost })
    }

    /// The gain of a split with weight `a` on the left, from the impurity statistic of each side.
    #[inline]
    fn gain_of(&self, node: &ClassWeightNode, a: f64, left_part: f64, right_part: f64) -> f64 {
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

    /// The impurity statistic of a side: the sum of squares, of x log2 x, or the maximum.
    fn part(&self, weights: impl Iterator<Item = f64>) -> f64 {
        match self.impurity {
            Impurity::Entropy => weights.map(|w| self.x_log2_x(w)).sum(),
            impurity => impurity.part(weights),
        }
    }
}

impl NodeCriterion for ClassWeightCriterion {
    type Node = ClassWeightNode;
    type Left = ClassWeightSides;

    fn width(&self) -> usize {
        self.n_classes
    }

    fn prepare(&mut self, entries: &[u32], value: &mut Vec<f64>) -> (NodeSummary, ClassWeightNode) {
        self.weighed(self.class_weights(entries), value)
    }

    fn weight(&self, entries: &[u32]) -> f64 {
        entries.iter().map(|e| self.weight_of((e & ROW) as usize)).sum()
    }

    fn select(&self, rows: &[u32]) -> Self {
        ClassWeightCriterion {
            codes: rows.iter().map(|&r| self.codes[r as usize]).collect(),
            weight: self.weight.as_ref().map(|w| rows.iter().map(|&r| w[r as usize]).collect()),
            logs: self.logs.clone(),
            ..*self
        }
    }

    fn cost(&self, node: &ClassWeightNode) -> f64 {
        node.cost
    }

    fn nothing(&self, node: &ClassWeightNode) -> ClassWeightSides {
        let right_part = self.part(node.classes.iter().copied());
        let (left, right) = (vec![0.0; self.n_classes], node.classes.clone());
        ClassWeightSides { left, right, left_total: 0.0, left_part: 0.0, right_part }
    }

    #[inline]
    fn push(&self, _: &ClassWeightNode, sides: &mut ClassWeightSides, entry: u32) {
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
    fn gain(&self, node: &ClassWeightNode, sides: &ClassWeightSides) -> f64 {
        let parts = match self.impurity {
            Impurity::Error => [&sides.left, &sides.right].map(|side| self.part(side.iter().copied())),
            _ => [sides.left_part, sides.right_part],
        };
        self.gain_of(node, sides.left_total, parts[0], parts[1])
    }

    fn weights(&self, node: &ClassWeightNode, sides: &ClassWeightSides) -> (f64, f64) {
        (sides.left_total, node.total - sides.left_total)
    }

    /// The proportion of the second class.
    fn responses(&self, node: &ClassWeightNode, sides: &ClassWeightSides) -> (f64, f64) {
        (sides.left[1] / sides.left_total, sides.right[1] / (node.total - sides.left_total))
    }

    fn merge(&self, _: &ClassWeightNode, sides: &mut ClassWeightSides, other: &ClassWeightSides) {
        for ((left, right), moved) in sides.left.iter_mut().zip(&mut sides.right).zip(&other.left) {
            (*left, *right) = (*left + moved, (*right - moved).max(0.0));
        }
        sides.left_total += other.left_total;
        sides.left_part = self.part(sides.left.iter().copied());
        sides.right_part = self.part(sides.right.iter().copied());
    }

    /// Two classes: by the share of the second.
    fn exact_order(&self, _: &ClassWeightNode, groups: &[&[u32]], _: &[u32]) -> Option<Vec<f64>> {
        let share = |group: &&[u32]| {
            let weights = self.class_weights(group);
            weights[1] / weights.iter().sum::<f64>()
        };
        (self.n_classes == 2).then(|| groups.iter().map(share).collect())
    }

    /// By the first principal component of the class shares, and by the share of each class.
    fn promising_orders(&self, node: &ClassWeightNode, groups: &[&[u32]]) -> Vec<Vec<f64>> {
        let weights: Vec<Vec<f64>> = groups.iter().map(|group| self.class_weights(group)).collect();
        let share = |k: usize| weights.iter().map(move |w| w[k] / w.iter().sum::<f64>()).collect();
        let component = (self.n_classes > 2).then(|| principal_scores(&weights, node));
        let classes = if self.n_classes == 2 { 1..2 } else { 0..self.n_classes };
        component.into_iter().chain(classes.map(share)).collect()
    }

    fn cost_of(&self, node: &ClassWeightNode, value: &[f64]) -> f64 {
        self.impurity.cost_of(&node.classes, value)
    }
}

/// The scores of the groups on the first principal component of their class shares, each group counting by its weight.
fn principal_scores(groups: &[Vec<f64>], node: &ClassWeightNode) -> Vec<f64> {
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
    // Power iteration from an asymmetric start. An inexact axis only costs a little gain.
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
