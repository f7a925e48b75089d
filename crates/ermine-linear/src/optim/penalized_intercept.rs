//! A risk whose intercept is penalized too, as LIBLINEAR's machines have it: `F(beta, b) + mu b^2 / 2`. The same as a further column of constants.
//!
//! **Certificate.** Without a free intercept the gradients of the losses need not add up to zero: `a = l'(z)` is feasible as it is, and the bound is
//! `-sum w_i l*(a_i) / W - |X'(w a) / W|^2 / (2 lambda) - (sum w_i a_i / W)^2 / (2 mu)`.

use super::newton::{Curvature, SmoothObjective};
use super::risk::Risk;
use ermine_core::error::Result;
use ermine_core::linalg::lanes;
use ermine_core::loss::Loss;
use ermine_core::progress::Observer;

/// A risk with a penalty on its intercept.
pub struct PenalizedIntercept<'a, L: Loss> {
    /// The risk; it must have an intercept.
    pub risk: Risk<'a, L>,
    /// The strength of the penalty, above 0.
    pub strength: f64,
}

impl<L: Loss> PenalizedIntercept<'_, L> {
    /// A lower bound on the minimum, from the gradients of the losses at `w`.
    pub fn lower_bound(&self, w: &[f64]) -> f64 {
        let (risk, p) = (&self.risk, self.risk.x.n_columns());
        let weight = |i: usize| risk.weights.as_ref().map_or(1.0, |w| w[i]);
        let total: f64 = (0..risk.y.len()).map(weight).sum();
        let (a, [plus, minus]) = risk.signed_sums(w);
        let conjugate: f64 = (0..a.len()).map(|i| weight(i) * risk.loss.conjugate(a[i], risk.y[i])).sum();
        let sums: Vec<f64> = plus.iter().zip(&minus).map(|(a, b)| (a + b) / total).collect();
        let pull = lanes::square_sum(&sums[..p]) / (2.0 * risk.lambda);
        let level = sums[p].powi(2) / (2.0 * self.strength);
        -conjugate / total - pull - level
    }
}

impl<L: Loss> SmoothObjective for PenalizedIntercept<'_, L> {
    fn n_unknowns(&self) -> usize {
        self.risk.n_unknowns()
    }

    fn value_gradient(&self, w: &[f64], g: &mut [f64]) -> f64 {
        let (value, p) = (self.risk.value_gradient(w, g), self.risk.x.n_columns());
        g[p] += self.strength * w[p];
        value + self.strength * w[p] * w[p] / 2.0
    }

    fn curvature(&self, w: &[f64], g: &mut [f64], observer: &dyn Observer) -> Result<(f64, Curvature)> {
        let (p, (value, mut curvature)) = (self.risk.x.n_columns(), self.risk.curvature(w, g, observer)?);
        g[p] += self.strength * w[p];
        match &mut curvature {
            Curvature::Full(h) => h[(p, p)] += self.strength,
            Curvature::Diagonal(d) => d[p] += self.strength,
            Curvature::Blocks(_) => {}
        }
        Ok((value + self.strength * w[p] * w[p] / 2.0, curvature))
    }

    fn sample(&self) -> Option<Box<dyn SmoothObjective + '_>> {
        let step = self.risk.sample_step();
        let part = || PenalizedIntercept { risk: self.risk.every(step), strength: self.strength };
        (step >= 4).then(|| Box::new(part()) as Box<dyn SmoothObjective + '_>)
    }

    fn bound(&self, w: &[f64]) -> Option<f64> {
        Some(self.lower_bound(w))
    }

    /// Both parts are strongly convex.
    fn excess(&self, g: &[f64]) -> f64 {
        let p = self.risk.x.n_columns();
        lanes::square_sum(&g[..p]) / (2.0 * self.risk.lambda) + g[p] * g[p] / (2.0 * self.strength)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::newton;
    use ermine_core::linalg::{Dense, Design};
    use ermine_core::loss::{SquaredEpsilonInsensitive, SquaredHinge};
    use ermine_core::progress::Silent;
    use ermine_core::rng;
    use proptest::prelude::*;
    use std::borrow::Cow;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]
        #[test]
        fn a_penalized_intercept_equals_a_constant_column(n in 5usize..80, d in 1usize..4, seed in 0u64..500, classes: bool) {
            let mut stream = rng::stream(seed, &[]);
            let mut draw = || 2.0 * rng::uniform(&mut stream) - 1.0;
            let x: Vec<f64> = (0..n * d).map(|_| draw()).collect();
            let y: Vec<f64> = (0..n).map(|_| if classes { draw().signum() } else { draw() }).collect();
            let wide: Vec<f64> = x.chunks_exact(d).flat_map(|row| row.iter().copied().chain([2.0])).collect();
            let design: Design = Dense::rows_f64(&x, n, d, d).unwrap().into();
            let constant: Design = Dense::rows_f64(&wide, n, d + 1, d + 1).unwrap().into();
            if classes {
                compare(design, constant, &y, SquaredHinge)?;
            } else {
                compare(design, constant, &y, SquaredEpsilonInsensitive { epsilon: 0.05 })?;
            }
        }
    }

    fn compare(x: Design, wide: Design, y: &[f64], loss: impl Loss) -> Result<(), TestCaseError> {
        let options = newton::NewtonOptions {
            tolerance: 1e-14,
            certified: 1e-10,
            max_iterations: 300,
            sampled_start: true,
            observer: &Silent,
        };
        let risk = |x, intercept| Risk { x, y: Cow::Borrowed(y), weights: None, loss, lambda: 0.1, intercept };
        let (ours, truth) = (PenalizedIntercept { risk: risk(x, true), strength: 0.1 / 4.0 }, risk(wide, false));
        let (mut w, mut v) = (vec![0.0; ours.n_unknowns()], vec![0.0; truth.n_unknowns()]);
        let found = newton::minimize(&ours, &mut w, &options).unwrap();
        let expected = newton::minimize(&truth, &mut v, &options).unwrap();
        prop_assert!((found.value - expected.value).abs() <= 1e-9 * (1.0 + expected.value), "{found:?} {expected:?}");
        let bound = ours.lower_bound(&w);
        prop_assert!(
            bound <= found.value + 1e-12 && found.value - bound < 1e-6 * (1.0 + found.value),
            "{bound} {found:?}"
        );
        prop_assert!((w[w.len() - 1] - 2.0 * v[v.len() - 1]).abs() < 1e-4);
        Ok(())
    }
}
