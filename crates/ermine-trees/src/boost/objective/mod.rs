//! What boosting minimises: value, gradient and curvature of the loss at the scores.
//!
//! | file | losses |
//! |---|---|
//! | [`classes`] | log loss of two and of several classes |
//! | [`numbers`] | squared, absolute, quantile, Huber, Poisson, Gamma, Tweedie |
//! | [`ranking`] | LambdaMART and pairwise |
//!
//! A loss sees rows in stretches and scores in one list for each output. Its sums over rows are weighted.

pub mod classes;
pub mod numbers;
pub mod ranking;

pub use classes::{Logistic, Softmax};
pub use numbers::{Absolute, Each, Gamma, Huber, Poisson, Quantile, Several, Squared, Tweedie};
pub use ranking::LambdaMart;

use std::ops::Range;

/// A loss over the rows of a data set.
pub trait Objective: Send + Sync {
    /// How many scores a row has.
    fn n_scores(&self) -> usize {
        1
    }

    /// The best constant scores.
    fn start(&self) -> Vec<f64>;

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

    /// The best change of the score of a leaf with these rows (row, score), where the quadratic is a poor guide to it: losses with corners.
    fn leaf_value(&self, _output: usize, _rows: &mut dyn Iterator<Item = (usize, f64)>) -> Option<f64> {
        None
    }

    /// The change of score that a leaf takes where the quadratic says `newton`, if the loss knows better: its minimum in closed form.
    fn step(&self, _output: usize, _newton: f64) -> Option<f64> {
        None
    }

    /// Whether [`leaf_value`](Self::leaf_value) gives values.
    fn has_leaf_values(&self) -> bool {
        false
    }

    /// Its name.
    fn name(&self) -> &'static str;

    /// What went wrong in the last call of [`gradients`](Self::gradients), if anything did.
    fn failure(&self) -> Option<ermine_core::error::Error> {
        None
    }

    /// The first row of each query, and the number of rows: rows are cut into stretches only there. `None` for anywhere.
    fn bounds(&self) -> Option<&[usize]> {
        None
    }
}

/// Targets and weights of the rows, as every loss holds them.
#[derive(Debug, Clone)]
pub struct Rows {
    target: Vec<f64>,
    weight: Option<Vec<f64>>,
}

impl Rows {
    /// Targets with weights.
    pub fn new(target: Vec<f64>, weight: Option<&[f64]>) -> Rows {
        Rows { target, weight: weight.map(<[f64]>::to_vec) }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |w| w[row])
    }

    fn total_weight(&self) -> f64 {
        self.weight.as_ref().map_or(self.target.len() as f64, |w| w.iter().sum())
    }

    fn mean(&self) -> f64 {
        let sum: f64 = self.target.iter().enumerate().map(|(row, y)| self.weight(row) * y).sum();
        sum / self.total_weight()
    }

    /// Multiplies gradients and curvatures by the weights.
    fn apply_weight(&self, rows: Range<usize>, gradient: &mut [f32], curvature: &mut [f32]) {
        if let Some(weight) = &self.weight {
            for ((g, h), &w) in gradient.iter_mut().zip(curvature).zip(&weight[rows]) {
                *g *= w as f32;
                *h *= w as f32;
            }
        }
    }
}
