//! Custom training: an objective, a validation metric, checkpoints. Callers pass them in a [`Context`](super::Context); learners declare their support
//! ([`Learner::supports_custom_training`](super::Learner::supports_custom_training)).

use crate::error::{Error, Result};
use crate::loss::Link;
use crate::matrix::Dataset;
use crate::model::Model;
use std::ops::Range;

/// Makes the objective over a data set.
pub type MakeObjective<'a> = &'a (dyn Fn(&Dataset) -> Result<Box<dyn Objective>> + Sync);

/// The score of predictions (as the model makes them, row by row) for a validation set; lower is better.
pub type ValidationMetric<'a> = &'a (dyn Fn(&Dataset, &[f64]) -> Result<f64> + Sync);

/// Saves the model of the rounds so far. To continue from it ([`Context::init_model`](super::Context::init_model)) with the same data and parameters gives
/// the same model as training without interruption.
#[derive(Clone, Copy)]
pub struct Checkpoint<'a> {
    /// Number of rounds between two calls.
    pub every: usize,
    /// Called with the model so far.
    pub save: &'a (dyn Fn(&Model) -> Result<()> + Sync),
}

/// A loss over the rows of a data set. An objective sees rows in ranges and scores in one list for each output; its sums over rows are weighted.
pub trait Objective: Send + Sync {
    /// How many scores a row has.
    fn n_scores(&self) -> usize {
        1
    }

    /// The best constant scores.
    fn start(&self) -> Vec<f64>;

    /// How the scores of a row become its prediction, where the task leaves a choice.
    fn link(&self) -> Link {
        Link::Identity
    }

    /// Whether the curvature is the same for all rows and scores.
    fn has_constant_curvature(&self) -> bool {
        false
    }

    /// Gradient and curvature of each row in `rows`, for each score. `scores`, `gradient` and `curvature` have one list for each output, over these rows.
    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    );

    /// The sum of the losses of the rows in `rows`.
    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64;

    /// The sum of the weights of all rows.
    fn total_weight(&self) -> f64;

    /// The best change of the score of a leaf with these rows (row, score), for losses whose curvature is no guide to it.
    fn leaf_value(&self, _output: usize, _rows: &mut dyn Iterator<Item = (usize, f64)>) -> Option<f64> {
        None
    }

    /// The best change of the score of a leaf whose Newton step is `newton`, if it is known in closed form.
    fn step(&self, _output: usize, _newton: f64) -> Option<f64> {
        None
    }

    /// Whether [`leaf_value`](Self::leaf_value) gives values.
    fn has_leaf_values(&self) -> bool {
        false
    }

    /// Whether [`class_probabilities`](Self::class_probabilities) gives probabilities.
    fn has_class_probabilities(&self) -> bool {
        false
    }

    /// For the log loss of several classes: writes the probabilities `p` of the classes of a row at its scores, and returns the weight of the row. The Hessian of the row's loss is then
    /// `weight (diag(p) - p p')`.
    fn class_probabilities(&self, _row: usize, _scores: &[f64], _probabilities: &mut [f64]) -> f64 {
        0.0
    }

    /// Its name.
    fn name(&self) -> &'static str;

    /// The error of the last call of [`gradients`](Self::gradients), if it failed.
    fn failure(&self) -> Option<Error> {
        None
    }

    /// The first row of each query, and the number of rows: rows are divided into ranges only there. `None` for anywhere.
    fn bounds(&self) -> Option<&[usize]> {
        None
    }
}
