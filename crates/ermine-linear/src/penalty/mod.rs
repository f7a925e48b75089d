//! Penalties on coefficients. The penalty of a vector is the sum over its entries.
//!
//! | penalty | of one coefficient | shrinks |
//! |---|---|---|
//! | none | 0 | nothing |
//! | [`l1`] | `lambda abs(w)` | to exactly 0 |
//! | [`l2`] | `lambda w^2 / 2` | in proportion |
//! | [`elastic`] | `lambda (r abs(w) + (1 - r) w^2 / 2)` | both |
//! | [`lp`] | `lambda abs(w)^p / p`, `p >= 1` | depends on p |
//!
//! Descent methods use the proximal step `argmin_w (w - v)^2 / 2 + t phi(w)` for penalties that are not differentiable;
//! duality gaps use the conjugate `phi*(u) = sup_w (u w - phi(w))`.

pub mod elastic;
pub mod l1;
pub mod l2;
pub mod lp;

use ermine_core::linalg::lanes;

/// A penalty with its strength.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalty {
    /// No penalty.
    None,
    /// `lambda sum abs(w_j)`.
    L1 {
        /// Strength, at least 0.
        lambda: f64,
    },
    /// `lambda / 2 sum w_j^2`.
    L2 {
        /// Strength, at least 0.
        lambda: f64,
    },
    /// `lambda sum (ratio abs(w_j) + (1 - ratio) w_j^2 / 2)`.
    Elastic {
        /// Strength, at least 0.
        lambda: f64,
        /// Mixing parameter, from 0 (L2) to 1 (L1).
        ratio: f64,
    },
    /// `lambda / p sum abs(w_j)^p`.
    Lp {
        /// Strength, at least 0.
        lambda: f64,
        /// The exponent, at least 1.
        p: f64,
    },
}

impl Penalty {
    /// `phi(w)` of one coefficient.
    pub fn of(&self, w: f64) -> f64 {
        match *self {
            Penalty::None => 0.0,
            Penalty::L1 { lambda } => l1::value(lambda, w),
            Penalty::L2 { lambda } => l2::value(lambda, w),
            Penalty::Elastic { lambda, ratio } => elastic::value(lambda, ratio, w),
            Penalty::Lp { lambda, p } => lp::value(lambda, p, w),
        }
    }

    /// The sum over the coefficients.
    pub fn value(&self, w: &[f64]) -> f64 {
        w.iter().map(|&w| self.of(w)).sum()
    }

    /// `phi'(w)`; the smallest subgradient where it is not differentiable.
    #[inline(always)]
    pub fn gradient(&self, w: f64) -> f64 {
        match *self {
            Penalty::None => 0.0,
            Penalty::L1 { lambda } => l1::gradient(lambda, w),
            Penalty::L2 { lambda } => lambda * w,
            Penalty::Elastic { lambda, ratio } => elastic::gradient(lambda, ratio, w),
            Penalty::Lp { lambda, p } => lp::gradient(lambda, p, w),
        }
    }

    /// `argmin_w (w - v)^2 / 2 + step phi(w)`.
    #[inline(always)]
    pub fn prox(&self, v: f64, step: f64) -> f64 {
        match *self {
            Penalty::None => v,
            Penalty::L1 { lambda } => l1::prox(step * lambda, v),
            Penalty::L2 { lambda } => v / (1.0 + step * lambda),
            Penalty::Elastic { lambda, ratio } => elastic::prox(step * lambda, ratio, v),
            Penalty::Lp { lambda, p } => lp::prox(step * lambda, p, v),
        }
    }

    /// The conjugate `phi*(u)` of one coefficient; may be infinite.
    pub fn conjugate(&self, u: f64) -> f64 {
        match *self {
            Penalty::None if u == 0.0 => 0.0,
            Penalty::None => f64::INFINITY,
            Penalty::L1 { lambda } => l1::conjugate(lambda, u),
            Penalty::L2 { lambda } => l2::conjugate(lambda, u),
            Penalty::Elastic { lambda, ratio } => elastic::conjugate(lambda, ratio, u),
            Penalty::Lp { lambda, p } => lp::conjugate(lambda, p, u),
        }
    }

    /// The norm dual to the penalty's own norm (largest entry for L1, Euclidean for L2, `q` with `1/p + 1/q = 1` for
    /// Lp); `None` if the penalty is not the power of a norm.
    pub fn dual_norm(&self, u: &[f64]) -> Option<f64> {
        match *self {
            Penalty::L1 { .. } => Some(lanes::max_abs(u)),
            Penalty::L2 { .. } => Some(lanes::square_sum(u).sqrt()),
            Penalty::Lp { p, .. } => Some(lp::dual_norm(p, u)),
            Penalty::Elastic { .. } | Penalty::None => None,
        }
    }

    /// How far `-gradient` is from being a subgradient of the penalty at `w`: 0 at a minimum of loss plus penalty.
    pub fn violation(&self, w: f64, gradient: f64) -> f64 {
        let kink = match *self {
            Penalty::L1 { lambda } => lambda,
            Penalty::Elastic { lambda, ratio } => lambda * ratio,
            Penalty::Lp { lambda, p: 1.0 } => lambda,
            _ => 0.0,
        };
        if w == 0.0 { (gradient.abs() - kink).max(0.0) } else { (gradient + self.gradient(w)).abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(lambda: f64, ratio: f64, p: f64) -> Vec<Penalty> {
        vec![
            Penalty::None,
            Penalty::L1 { lambda },
            Penalty::L2 { lambda },
            Penalty::Elastic { lambda, ratio },
            Penalty::Lp { lambda, p },
            Penalty::Lp { lambda, p: 1.0 },
            Penalty::Lp { lambda, p: 2.0 },
        ]
    }

    proptest! {
        #[test]
        fn proximal_steps_minimize_their_objective(
            v in -5.0f64..5.0, lambda in 0.01f64..3.0, step in 0.01f64..3.0, ratio in 0.0f64..1.0, p in 1.0f64..4.0,
            other in -5.0f64..5.0,
        ) {
            for penalty in all(lambda, ratio, p) {
                let cost = |w: f64| (w - v) * (w - v) / 2.0 + step * penalty.of(w);
                let w = penalty.prox(v, step);
                prop_assert!(cost(w) <= cost(other) + 1e-12, "{penalty:?}: {w} against {other}");
                prop_assert!(cost(w) <= cost(w + 1e-3) && cost(w) <= cost(w - 1e-3), "{penalty:?}: {w}");
                prop_assert!(penalty.violation(w, (w - v) / step) < 1e-8 * (1.0 + 1.0 / step), "{penalty:?}: {w}");
            }
        }

        #[test]
        fn gradients_match_conjugates(
            w in -5.0f64..5.0, lambda in 0.01f64..3.0, ratio in 0.0f64..1.0, p in 1.01f64..4.0, other in -5.0f64..5.0,
        ) {
            for penalty in all(lambda, ratio, p) {
                let g = penalty.gradient(w);
                let slope = (penalty.of(w + 1e-6) - penalty.of(w - 1e-6)) / 2e-6;
                prop_assert!(w.abs() < 1e-3 || (slope - g).abs() < 1e-3 * (1.0 + g.abs()), "{penalty:?} {slope} {g}");
                let conjugate = penalty.conjugate(g);
                prop_assert!((conjugate + penalty.of(w) - g * w).abs() < 1e-8 * (1.0 + conjugate), "{penalty:?}");
                prop_assert!(conjugate + penalty.of(other) - g * other > -1e-8 * (1.0 + conjugate), "{penalty:?}");
            }
        }

        #[test]
        fn dual_norms_bound_products(u in prop::collection::vec(-3.0f64..3.0, 1..6), seed in 0u64..100, p in 1.0f64..4.0) {
            let w: Vec<f64> = u.iter().enumerate().map(|(j, _)| ((seed + j as u64 * 7) as f64).sin()).collect();
            let product: f64 = u.iter().zip(&w).map(|(u, w)| u * w).sum();
            let norm = w.iter().map(|w| w.abs().powf(p)).sum::<f64>().powf(1.0 / p);
            let dual = Penalty::Lp { lambda: 1.0, p }.dual_norm(&u).unwrap();
            prop_assert!(product <= dual * norm * (1.0 + 1e-9));
            let l1: f64 = w.iter().map(|w| w.abs()).sum();
            let largest = Penalty::L1 { lambda: 1.0 }.dual_norm(&u).unwrap();
            prop_assert!(product <= largest * l1 + 1e-12);
        }
    }
}
