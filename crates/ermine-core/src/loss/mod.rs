//! Losses: the cost `l(z, y)` of a score `z` (a margin or a raw prediction) for a target `y`. Boosting, linear models, early stopping and certificates use the same definitions.
//!
//! | loss | `l(z, y)` | target | smooth |
//! |---|---|---|---|
//! | [`ZeroOne`] | 1 if `y z <= 0` | class, for reports | no |
//! | [`Hinge`] | `max(0, 1 - y z)` | class | no |
//! | [`SquaredHinge`] | `max(0, 1 - y z)^2 / 2` | class | once |
//! | [`Exponential`] | `exp(-y z)` | class | yes |
//! | [`Logistic`] | `ln(1 + exp(-y z))` | class | yes |
//! | [`softmax`] | `ln sum_k exp(z_k) - z_y` | one of several classes | yes |
//! | [`Squared`] | `(z - y)^2 / 2` | number | yes |
//! | [`Absolute`] | `abs(z - y)` | number | no |
//! | [`Huber`] | squared near 0, absolute beyond `delta` | number | once |
//! | [`Quantile`] | `tau (y - z)` above, `(1 - tau)(z - y)` below | number | no |
//! | [`Poisson`] | `e^z - y z` | number from 0 | yes |
//! | [`Gamma`] | `z + y e^-z` | number above 0 | yes |
//! | [`Tweedie`] | `e^((2 - p) z) / (2 - p) - y e^((1 - p) z) / (1 - p)` | number from 0 | yes |
//! | [`EpsilonInsensitive`] | `max(0, abs(z - y) - epsilon)` | number | no |
//! | [`SquaredEpsilonInsensitive`] | `max(0, abs(z - y) - epsilon)^2 / 2` | number | once |
//!
//! Classes are -1 and +1. A loss is convex in `z` (all but the 0-1 loss). Its conjugate `l*(a) = sup_z (a z - l(z))` gives lower bounds on
//! regularized risks, and so duality gaps. A new loss is a file with a type that implements [`Loss`].

mod absolute;
mod epsilon_insensitive;
mod exponential;
mod gamma;
mod hinge;
mod huber;
mod link;
mod logistic;
mod poisson;
mod quantile;
pub mod softmax;
mod squared;
mod squared_epsilon_insensitive;
mod squared_hinge;
mod tweedie;
mod zero_one;

pub use absolute::Absolute;
pub use epsilon_insensitive::EpsilonInsensitive;
pub use exponential::Exponential;
pub use gamma::Gamma;
pub use hinge::Hinge;
pub use huber::Huber;
pub use link::{Link, TIE};
pub use logistic::Logistic;
pub use poisson::Poisson;
pub use quantile::{Quantile, weighted_quantile};
pub use squared::Squared;
pub use squared_epsilon_insensitive::SquaredEpsilonInsensitive;
pub use squared_hinge::SquaredHinge;
pub use tweedie::Tweedie;
pub use zero_one::ZeroOne;

use std::fmt;

/// A loss of one score.
pub trait Loss: Copy + Send + Sync {
    /// Its name in reports and certificates.
    fn name(&self) -> &'static str;

    /// `l(z, y)`.
    fn value(&self, z: f64, y: f64) -> f64;

    /// `dl/dz`; at a kink, a subgradient.
    fn gradient(&self, z: f64, y: f64) -> f64;

    /// `d2l/dz2`; 0 on linear pieces, the right derivative at kinks.
    fn curvature(&self, z: f64, y: f64) -> f64;

    /// Value, gradient and curvature; overridden by losses that can share work.
    #[inline(always)]
    fn terms(&self, z: f64, y: f64) -> [f64; 3] {
        [self.value(z, y), self.gradient(z, y), self.curvature(z, y)]
    }

    /// The conjugate `sup_z (a z - l(z, y))`: infinite if the supremum is infinite or unknown; then there is no lower bound.
    fn conjugate(&self, _a: f64, _y: f64) -> f64 {
        f64::INFINITY
    }

    /// The largest curvature, if it is bounded and the gradient is continuous.
    fn smoothness(&self) -> Option<f64> {
        None
    }

    /// Whether the loss has linear pieces, where Newton's method has no curvature to divide by: boosting uses 1 instead.
    fn has_straight_pieces(&self) -> bool {
        false
    }

    /// Whether the curvature is 1 everywhere.
    fn has_unit_curvature(&self) -> bool {
        false
    }

    /// How scores become predictions.
    fn link(&self) -> Link {
        Link::Identity
    }

    /// The targets that the loss is defined for.
    fn targets(&self) -> TargetRange {
        TargetRange::Any
    }

    /// The constant score that minimizes the weighted sum of losses.
    fn best_constant(&self, y: &[f64], weights: Option<&[f64]>) -> f64 {
        minimize_constant(self, y, weights)
    }

    /// The level of the quantile that is the best constant, for losses that estimate a quantile.
    fn quantile(&self) -> Option<f64> {
        None
    }

    /// The optimal common change of the scores of some rows, given the Newton step, if it has a closed form.
    fn exact_step(&self, _newton: f64) -> Option<f64> {
        None
    }

    /// Value, gradient and curvature of a block of scores.
    fn evaluate(&self, z: &[f64], y: &[f64], value: &mut [f64], gradient: &mut [f64], curvature: &mut [f64]) {
        evaluate(*self, z, y, value, gradient, curvature);
    }

    /// Gradient and curvature of a block of scores in single precision, for boosting: the curvature is 1 for losses with linear pieces.
    fn derivatives(&self, z: &[f64], y: &[f64], gradient: &mut [f32], curvature: &mut [f32]) {
        derivatives(*self, z, y, gradient, curvature);
        if self.has_straight_pieces() {
            curvature.fill(1.0);
        }
    }

    /// The weighted sum of the losses of a block of scores, added in order.
    fn weighted_sum(&self, z: &[f64], y: &[f64], weights: Option<&[f64]>) -> f64 {
        weighted_sum(*self, z, y, weights)
    }
}

crate::versions! {
    fn evaluate<L: Loss>(loss: L, z: &[f64], y: &[f64], value: &mut [f64], gradient: &mut [f64], curvature: &mut [f64]) {
        let n = z.len();
        let (y, value, gradient, curvature) = (&y[..n], &mut value[..n], &mut gradient[..n], &mut curvature[..n]);
        for i in 0..n {
            [value[i], gradient[i], curvature[i]] = loss.terms(z[i], y[i]);
        }
    }

    fn derivatives<L: Loss>(loss: L, z: &[f64], y: &[f64], gradient: &mut [f32], curvature: &mut [f32]) {
        let n = z.len();
        let (y, gradient, curvature) = (&y[..n], &mut gradient[..n], &mut curvature[..n]);
        for i in 0..n {
            let [_, first, second] = loss.terms(z[i], y[i]);
            (gradient[i], curvature[i]) = (first as f32, second as f32);
        }
    }

    fn weighted_sum<L: Loss>(loss: L, z: &[f64], y: &[f64], weights: Option<&[f64]>) -> f64 {
        // Values are computed side by side in blocks, then added in order.
        const BLOCK: usize = 64;
        let (mut values, mut sum) = ([0.0; BLOCK], 0.0);
        for (start, (z, y)) in (0..).step_by(BLOCK).zip(z.chunks(BLOCK).zip(y.chunks(BLOCK))) {
            for ((value, &z), &y) in values.iter_mut().zip(z).zip(y) {
                *value = loss.value(z, y);
            }
            for (i, value) in values[..z.len().min(y.len())].iter().enumerate() {
                sum += weights.map_or(1.0, |w| w[start + i]) * value;
            }
        }
        sum
    }
}

/// The targets that a loss is defined for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetRange {
    /// All numbers.
    Any,
    /// Zero and above.
    NonNegative,
    /// Above zero.
    Positive,
}

impl TargetRange {
    /// Whether a target is in the range.
    pub fn contains(self, y: f64) -> bool {
        match self {
            TargetRange::Any => true,
            TargetRange::NonNegative => y >= 0.0,
            TargetRange::Positive => y > 0.0,
        }
    }
}

impl fmt::Display for TargetRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TargetRange::Any => "any number",
            TargetRange::NonNegative => "at least 0",
            TargetRange::Positive => "greater than 0",
        })
    }
}

/// The weighted mean of targets.
fn mean(y: &[f64], weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let sum: f64 = y.iter().enumerate().map(|(i, y)| weight(i) * y).sum();
    sum / weights.map_or(y.len() as f64, |w| w.iter().sum())
}

/// Number of bisection steps; enough for full precision.
const HALVINGS: usize = 80;

/// The best constant of a convex loss, by bisection on the sign of the summed gradient.
pub fn minimize_constant<L: Loss>(loss: &L, y: &[f64], weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let slope = |z: f64| y.iter().enumerate().map(|(i, &y)| weight(i) * loss.gradient(z, y)).sum::<f64>();
    let (mut low, mut high) = (-1.0, 1.0);
    while slope(low) > 0.0 && low > f64::MIN / 4.0 {
        (low, high) = (2.0 * low, low);
    }
    while slope(high) < 0.0 && high < f64::MAX / 4.0 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..HALVINGS {
        let middle = low + (high - low) / 2.0;
        if slope(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests;
