//! Losses: what a margin (or a prediction) `z` costs when the truth is `y`. One file for each.
//!
//! | loss | `l(z, y)` | for | smooth |
//! |---|---|---|---|
//! | [`ZeroOne`] | 1 if `y z <= 0` | reports | no |
//! | [`Hinge`] | `max(0, 1 - y z)` | classes `y = -1, +1` | no |
//! | [`SquaredHinge`] | `max(0, 1 - y z)^2 / 2` | classes | once |
//! | [`Exponential`] | `exp(-y z)` | classes | yes |
//! | [`Logistic`] | `ln(1 + exp(-y z))` | classes | yes |
//! | [`softmax`] | `ln sum_k exp(z_k) - z_y` | several classes | yes |
//! | [`Squared`] | `(z - y)^2 / 2` | numbers | yes |
//! | [`Absolute`] | `abs(z - y)` | numbers | no |
//! | [`Huber`] | squared near 0, absolute beyond `delta` | numbers | once |
//! | [`Quantile`] | `tau (y - z)` above, `(1 - tau)(z - y)` below | numbers | no |
//! | [`EpsilonInsensitive`] | `max(0, abs(z - y) - epsilon)` | numbers | no |
//! | [`SquaredEpsilonInsensitive`] | `max(0, abs(z - y) - epsilon)^2 / 2` | numbers | once |
//!
//! A loss is convex in `z` (all but the 0-1 loss). Its conjugate `l*(a) = sup_z (a z - l(z))` gives lower bounds on
//! regularised risks, and so duality gaps.

mod absolute;
mod epsilon_insensitive;
mod exponential;
mod hinge;
mod huber;
mod logistic;
mod quantile;
pub mod softmax;
mod squared;
mod squared_epsilon_insensitive;
mod squared_hinge;
mod zero_one;

pub use absolute::Absolute;
pub use epsilon_insensitive::EpsilonInsensitive;
pub use exponential::Exponential;
pub use hinge::Hinge;
pub use huber::Huber;
pub use logistic::Logistic;
pub use quantile::Quantile;
pub use squared::Squared;
pub use squared_epsilon_insensitive::SquaredEpsilonInsensitive;
pub use squared_hinge::SquaredHinge;
pub use zero_one::ZeroOne;

/// A loss of one real output. Classes are -1 and +1.
pub trait Loss: Copy + Send + Sync {
    /// `l(z, y)`.
    fn value(&self, z: f64, y: f64) -> f64;

    /// `dl/dz`; where the loss has a kink, one of its subgradients.
    fn gradient(&self, z: f64, y: f64) -> f64;

    /// `d2l/dz2`; 0 on straight pieces, from the right at kinks.
    fn curvature(&self, z: f64, y: f64) -> f64;

    /// The conjugate `sup_z (a z - l(z, y))`: infinite where the supremum is.
    fn conjugate(&self, a: f64, y: f64) -> f64;

    /// The largest curvature, where it is bounded and the gradient has no jumps.
    fn smoothness(&self) -> Option<f64>;

    /// The prediction that a margin stands for: a probability of the class +1 for losses that model one, else `z`.
    fn link(&self, z: f64) -> f64 {
        z
    }

    /// Value, gradient and curvature of a block of margins at once.
    fn evaluate(&self, z: &[f64], y: &[f64], value: &mut [f64], gradient: &mut [f64], curvature: &mut [f64]) {
        for i in 0..z.len() {
            value[i] = self.value(z[i], y[i]);
            gradient[i] = self.gradient(z[i], y[i]);
            curvature[i] = self.curvature(z[i], y[i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks a loss against finite differences, its conjugate against the Fenchel inequality and its equality case,
    /// convexity, the curvature bound and the block form.
    fn check(loss: impl Loss, z: f64, y: f64, other: f64) -> std::result::Result<(), TestCaseError> {
        let h = 1e-5 * (1.0 + z.abs());
        let slope = (loss.value(z + h, y) - loss.value(z - h, y)) / (2.0 * h);
        let (below, above) = (loss.gradient(z - h, y), loss.gradient(z + h, y));
        let g = loss.gradient(z, y);
        let size = 1.0 + g.abs() + loss.curvature(z, y);
        prop_assert!(slope >= below - 1e-4 * size && slope <= above + 1e-4 * size, "slope {slope} {below} {above}");
        prop_assert!(below <= g + 1e-9 * size && g <= above + 1e-9 * size, "gradient {g} between {below} and {above}");
        if let Some(bound) = loss.smoothness() {
            let second = (above - below) / (2.0 * h);
            prop_assert!(second <= bound * (1.0 + 1e-6) && loss.curvature(z, y) <= bound);
            let sides = [loss.curvature(z - 2.0 * h, y), loss.curvature(z + 2.0 * h, y)];
            if (sides[0] - sides[1]).abs() < 1e-3 {
                prop_assert!((second - loss.curvature(z, y)).abs() < 1e-3 * size);
            }
        }
        let line = loss.value(z, y) + g * (other - z);
        prop_assert!(loss.value(other, y) >= line - 1e-9 * (1.0 + line.abs()), "not above its tangent");
        let equality = loss.conjugate(g, y) + loss.value(z, y) - g * z;
        prop_assert!(equality.abs() < 1e-7 * size * (1.0 + z.abs()), "conjugate at the gradient: {equality}");
        let fenchel = loss.conjugate(g, y) + loss.value(other, y) - g * other;
        prop_assert!(fenchel > -1e-7 * size * (1.0 + other.abs()), "Fenchel inequality: {fenchel}");
        let (mut v, mut d, mut c) = ([0.0], [0.0], [0.0]);
        loss.evaluate(&[z], &[y], &mut v, &mut d, &mut c);
        prop_assert!((v[0] - loss.value(z, y)).abs() <= 1e-14 * v[0] && (d[0] - g).abs() <= 1e-14 * g.abs());
        prop_assert!((c[0] - loss.curvature(z, y)).abs() <= 1e-13 * c[0]);
        Ok(())
    }

    proptest! {
        #[test]
        fn losses_of_classes_are_what_they_say(z in -6.0f64..6.0, positive: bool, other in -6.0f64..6.0) {
            let y = if positive { 1.0 } else { -1.0 };
            check(Hinge, z, y, other)?;
            check(SquaredHinge, z, y, other)?;
            check(Exponential, z, y, other)?;
            check(Logistic, z, y, other)?;
            for bound in [Hinge.value(z, y), 2.0 * SquaredHinge.value(z, y), Exponential.value(z, y), Logistic.value(z, y) / 2f64.ln()] {
                prop_assert!(bound >= ZeroOne.value(z, y) - 1e-12, "a surrogate bounds the 0-1 loss");
            }
        }

        #[test]
        fn losses_of_numbers_are_what_they_say(z in -6.0f64..6.0, y in -6.0f64..6.0, other in -6.0f64..6.0, tau in 0.05f64..0.95) {
            check(Squared, z, y, other)?;
            check(Absolute, z, y, other)?;
            check(Huber { delta: 0.5 + tau }, z, y, other)?;
            check(Quantile { tau }, z, y, other)?;
            check(EpsilonInsensitive { epsilon: tau }, z, y, other)?;
            check(SquaredEpsilonInsensitive { epsilon: tau }, z, y, other)?;
            let median = Quantile { tau: 0.5 };
            prop_assert!((2.0 * median.value(z, y) - Absolute.value(z, y)).abs() < 1e-12);
        }
    }

    #[test]
    fn conjugates_are_infinite_outside_the_gradients_range() {
        assert_eq!(Hinge.conjugate(0.5, 1.0), f64::INFINITY);
        assert_eq!(Logistic.conjugate(-1.5, 1.0), f64::INFINITY);
        assert_eq!(Logistic.conjugate(-1.0, 1.0), 0.0);
        assert_eq!(Exponential.conjugate(0.5, 1.0), f64::INFINITY);
        assert_eq!(SquaredHinge.conjugate(0.5, 1.0), f64::INFINITY);
        assert_eq!(Absolute.conjugate(1.1, 0.0), f64::INFINITY);
        assert_eq!(Huber { delta: 1.0 }.conjugate(-1.1, 0.0), f64::INFINITY);
        assert_eq!(Quantile { tau: 0.9 }.conjugate(0.2, 0.0), f64::INFINITY);
        assert_eq!(EpsilonInsensitive { epsilon: 0.1 }.conjugate(-1.1, 0.0), f64::INFINITY);
    }

    #[test]
    fn the_logistic_loss_neither_overflows_nor_cancels() {
        assert_eq!(Logistic.value(-1e6, 1.0), 1e6);
        assert!(Logistic.value(40.0, 1.0) > 0.0);
        assert_eq!(Logistic.gradient(1e6, 1.0), 0.0);
        assert_eq!(Logistic.gradient(-1e6, 1.0), -1.0);
        assert_eq!((Logistic.link(1e6), Logistic.link(-1e6), Logistic.link(0.0)), (1.0, 0.0, 0.5));
    }
}
