//! What boosting minimizes: value, gradient and curvature of the loss at the scores of the rows.
//!
//! | file | objectives |
//! |---|---|
//! | this file | any [`Loss`] of one score ([`PointwiseObjective`]), the log loss of several classes ([`SoftmaxObjective`]), several objectives at once |
//! | [`ranking`] | LambdaMART and pairwise |
//! | [`focal`] | the focal loss of two classes |
//! | [`survival`] | accelerated failure times and Cox's proportional hazards |
//!
//! An objective sees rows in ranges and scores in one list for each output. Its sums over rows are weighted.

pub mod focal;
pub mod ranking;
pub mod survival;

pub use ermine_core::learner::Objective;
pub use ranking::LambdaMart;

use ermine_core::error::{Error, Result};
use ermine_core::loss::softmax::{self, ClassScores};
use ermine_core::loss::{Link, Loss, weighted_quantile};
use std::ops::Range;

/// Targets of rows with their weights.
#[derive(Debug, Clone)]
pub struct WeightedTargets {
    target: Vec<f64>,
    weight: Option<Vec<f64>>,
}

impl WeightedTargets {
    /// Targets, and weights if they are not all 1.
    pub fn new(target: Vec<f64>, weight: Option<&[f64]>) -> WeightedTargets {
        WeightedTargets { target, weight: weight.map(<[f64]>::to_vec) }
    }

    fn weights(&self, rows: Range<usize>) -> Option<&[f64]> {
        self.weight.as_ref().map(|weight| &weight[rows])
    }

    fn total_weight(&self) -> f64 {
        self.weight.as_ref().map_or(self.target.len() as f64, |w| w.iter().sum())
    }

    /// Multiplies gradients and curvatures by the weights.
    fn apply_weight(&self, rows: Range<usize>, gradient: &mut [f32], curvature: &mut [f32]) {
        if let Some(weight) = self.weights(rows) {
            for ((g, h), &w) in gradient.iter_mut().zip(curvature).zip(weight) {
                *g *= w as f32;
                *h *= w as f32;
            }
        }
    }
}

/// A loss of one score over rows. Classes are -1 and +1.
pub struct PointwiseObjective<L> {
    loss: L,
    rows: WeightedTargets,
}

impl<L: Loss> PointwiseObjective<L> {
    /// The loss over these rows.
    pub fn new(loss: L, rows: WeightedTargets) -> PointwiseObjective<L> {
        PointwiseObjective { loss, rows }
    }

    /// The same, boxed, after a check of the targets.
    pub fn checked(loss: L, rows: WeightedTargets) -> Result<Box<dyn Objective>>
    where
        L: 'static,
    {
        match rows.target.iter().position(|&y| !loss.targets().contains(y)) {
            None => Ok(Box::new(PointwiseObjective::new(loss, rows))),
            Some(row) => {
                let (name, allowed, value) = (loss.name(), loss.targets(), rows.target[row]);
                Err(Error::row(row, format!("the target is {value}, but the {name} needs targets that are {allowed}")))
            }
        }
    }
}

impl<L: Loss> Objective for PointwiseObjective<L> {
    fn start(&self) -> Vec<f64> {
        vec![self.loss.best_constant(&self.rows.target, self.rows.weight.as_deref())]
    }

    fn link(&self) -> Link {
        self.loss.link()
    }

    fn has_constant_curvature(&self) -> bool {
        self.loss.has_unit_curvature() && self.rows.weight.is_none()
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        self.loss.derivatives(scores[0], &self.rows.target[rows.clone()], gradient[0], curvature[0]);
        self.rows.apply_weight(rows, gradient[0], curvature[0]);
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        self.loss.weighted_sum(scores[0], &self.rows.target[rows.clone()], self.rows.weights(rows))
    }

    fn total_weight(&self) -> f64 {
        self.rows.total_weight()
    }

    fn leaf_value(&self, _: usize, rows: &mut dyn Iterator<Item = (usize, f64)>) -> Option<f64> {
        let level = self.loss.quantile()?;
        let (target, weight) = (&self.rows.target, self.rows.weight.as_deref());
        let residual = |(row, score): (usize, f64)| (target[row] - score, weight.map_or(1.0, |w| w[row]));
        weighted_quantile(&mut rows.map(residual).collect::<Vec<_>>(), level)
    }

    fn step(&self, _: usize, newton: f64) -> Option<f64> {
        self.loss.exact_step(newton)
    }

    fn has_leaf_values(&self) -> bool {
        self.loss.quantile().is_some()
    }

    fn name(&self) -> &'static str {
        self.loss.name()
    }
}

/// The log loss of several classes, with a score for each.
pub struct SoftmaxObjective {
    rows: WeightedTargets,
    n_classes: usize,
}

impl SoftmaxObjective {
    /// Over rows whose targets are class numbers.
    pub fn new(rows: WeightedTargets, n_classes: usize) -> Result<SoftmaxObjective> {
        if n_classes < 2 {
            return Err(Error::data(format!("the target has {n_classes} classes; at least two are needed")));
        }
        Ok(SoftmaxObjective { rows, n_classes })
    }
}

impl Objective for SoftmaxObjective {
    fn n_scores(&self) -> usize {
        self.n_classes
    }

    fn start(&self) -> Vec<f64> {
        softmax::best_constants(&self.rows.target, self.rows.weight.as_deref(), self.n_classes)
    }

    fn link(&self) -> Link {
        Link::Softmax
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        let classes = ClassScores::new(scores);
        for (class, (g, h)) in gradient.iter_mut().zip(curvature).enumerate() {
            classes.derivatives(class, &self.rows.target[rows.clone()], g, h);
            self.rows.apply_weight(rows.clone(), g, h);
        }
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        ClassScores::new(scores).weighted_sum(&self.rows.target[rows.clone()], self.rows.weights(rows))
    }

    fn total_weight(&self) -> f64 {
        self.rows.total_weight()
    }

    fn has_class_probabilities(&self) -> bool {
        true
    }

    fn class_probabilities(&self, row: usize, scores: &[f64], probabilities: &mut [f64]) -> f64 {
        probabilities.copy_from_slice(scores);
        softmax::softmax(probabilities);
        self.rows.weight.as_ref().map_or(1.0, |weight| weight[row])
    }

    fn name(&self) -> &'static str {
        "log loss"
    }
}

/// Several objectives of one score each over the same rows: several targets, or several quantiles.
pub struct MultiOutputObjective {
    outputs: Vec<Box<dyn Objective>>,
    link: Link,
}

impl MultiOutputObjective {
    /// One objective for each target.
    pub fn of_targets(outputs: Vec<Box<dyn Objective>>) -> MultiOutputObjective {
        let link = outputs.first().map_or(Link::Identity, |output| output.link());
        MultiOutputObjective { outputs, link }
    }

    /// One objective for each quantile of one target.
    pub fn of_quantiles(outputs: Vec<Box<dyn Objective>>) -> MultiOutputObjective {
        MultiOutputObjective { outputs, link: Link::Quantiles }
    }
}

impl Objective for MultiOutputObjective {
    fn n_scores(&self) -> usize {
        self.outputs.len()
    }

    fn start(&self) -> Vec<f64> {
        self.outputs.iter().flat_map(|output| output.start()).collect()
    }

    fn link(&self) -> Link {
        self.link
    }

    fn has_constant_curvature(&self) -> bool {
        self.outputs.iter().all(|output| output.has_constant_curvature())
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        for (k, output) in self.outputs.iter().enumerate() {
            let one = k..k + 1;
            output.gradients(rows.clone(), &scores[one.clone()], &mut gradient[one.clone()], &mut curvature[one]);
        }
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        self.outputs.iter().enumerate().map(|(k, output)| output.loss(rows.clone(), &scores[k..=k])).sum()
    }

    fn total_weight(&self) -> f64 {
        self.outputs.first().map_or(0.0, |output| output.total_weight())
    }

    fn leaf_value(&self, output: usize, rows: &mut dyn Iterator<Item = (usize, f64)>) -> Option<f64> {
        self.outputs[output].leaf_value(0, rows)
    }

    fn step(&self, output: usize, newton: f64) -> Option<f64> {
        self.outputs[output].step(0, newton)
    }

    fn has_leaf_values(&self) -> bool {
        self.outputs.iter().any(|output| output.has_leaf_values())
    }

    fn name(&self) -> &'static str {
        self.outputs.first().map_or("nothing", |output| output.name())
    }
}
