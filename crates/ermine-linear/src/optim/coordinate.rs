//! `min_w  w'Hw/2 - c'w + sum_j (l1_j abs(w_j) + l2_j w_j^2 / 2)` for a known matrix `H`: the inner problem of the lasso (where `H` is
//! the product matrix of the working set) and of every proximal Newton step.
//!
//! **Idea.** One coordinate at a time has a closed form: the soft-thresholded residual of the others. The vector
//! `q = c - Hw` is kept up to date, so an update costs one row of `H`, and a coordinate that stays put costs nothing.
//! Coordinates find the right support quickly, but then converge slowly where columns are correlated. So after a few
//! rounds the support is taken as known: with signs `s` fixed, the minimizer solves the linear system
//! `(H_AA + l2) w_A = c_A - l1 s_A`. If a coefficient would change sign on the way there, the step stops at the first
//! zero, that coefficient leaves the support, and the rest is solved again. Each such step lowers the objective, and
//! with the right support the answer is exact.
//!
//! **Cost.** A round of coordinates: `m` per update. A support step: `|A|^3 / 3`.
//!
//! **Reference.** Friedman, Hastie and Tibshirani, "Regularization paths for generalized linear models via coordinate
//! descent" (2010), section 2.2 (covariance updates); the support step is the active-set method of Osborne, Presnell and
//! Turlach, "A new approach to variable selection in least squares problems" (2000).

use crate::penalty::l1;
use ermine_core::error::Result;
use ermine_core::linalg::{Cholesky, Matrix, lanes};
use ermine_core::progress::{Observer, check};

/// The quadratic and its penalties.
#[derive(Debug, Clone, Copy)]
pub struct Quadratic<'a> {
    /// The rows of `H`; each at least as long as there are coordinates.
    pub rows: &'a [Vec<f64>],
    /// The linear part.
    pub linear: &'a [f64],
    /// L1 strength of each coordinate.
    pub l1: &'a [f64],
    /// L2 strength of each coordinate.
    pub l2: &'a [f64],
}

/// Rounds of coordinates before the support is solved for directly.
const ROUNDS: usize = 8;
/// Supports larger than this are left to coordinates: a factorization would cost more than it saves.
const LARGEST_SUPPORT: usize = 4000;

impl Quadratic<'_> {
    /// How many coordinates.
    pub fn len(&self) -> usize {
        self.linear.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.linear.is_empty()
    }

    /// `c - Hw`.
    pub fn residual(&self, w: &[f64]) -> Vec<f64> {
        let mut q = self.linear.to_vec();
        for (row, &w) in self.rows.iter().zip(w).filter(|(_, w)| **w != 0.0) {
            lanes::axpy(-w, &row[..q.len()], &mut q);
        }
        q
    }

    /// How far coordinate `j` is from optimal, in units of the gradient.
    fn violation(&self, j: usize, w: f64, q: f64) -> f64 {
        let g = q - self.l2[j] * w;
        if w == 0.0 { (g.abs() - self.l1[j]).max(0.0) } else { (g - self.l1[j].copysign(w)).abs() }
    }

    /// The largest violation.
    pub fn largest_violation(&self, w: &[f64], q: &[f64]) -> f64 {
        (0..self.len()).map(|j| self.violation(j, w[j], q[j])).fold(0.0, f64::max)
    }

    /// Minimizes from `w` on, until no violation exceeds `tolerance`; returns the largest violation that remains.
    pub fn minimize(&self, w: &mut [f64], tolerance: f64, max_rounds: usize, observer: &dyn Observer) -> Result<f64> {
        let mut q = self.residual(w);
        let (mut lowest, mut idle, mut worst) = (f64::INFINITY, 0, f64::INFINITY);
        for _ in 0..max_rounds.div_ceil(ROUNDS) {
            check(observer)?;
            self.coordinates(w, &mut q);
            let before = std::mem::replace(&mut worst, self.largest_violation(w, &q));
            if worst <= tolerance {
                // What was added up on the way has rounding in it.
                q = self.residual(w);
                worst = self.largest_violation(w, &q);
            } else if self.suffices(w, before, worst, tolerance) {
                continue;
            } else {
                self.improve_support(w, &mut q, observer)?;
                worst = self.largest_violation(w, &q);
            }
            if worst <= tolerance {
                return Ok(worst);
            }
            // Rounding sets a floor that no further round gets below.
            let value = self.value(w, &q);
            idle = if value < lowest - 1e-15 * lowest.abs() { 0 } else { idle + 1 };
            lowest = lowest.min(value);
            if idle > 5 {
                return Ok(worst);
            }
        }
        Ok(self.largest_violation(w, &self.residual(w)))
    }

    /// Whether coordinates alone, at the speed at which violations fell, will be done before the support could be solved for.
    fn suffices(&self, w: &[f64], before: f64, worst: f64, tolerance: f64) -> bool {
        let size = w.iter().filter(|w| **w != 0.0).count() as f64;
        // Factoring costs size^3 / 3, a round size^2.
        let affordable = size / (3.0 * ROUNDS as f64);
        if !before.is_finite() {
            return affordable >= 2.0;
        }
        let fall = (before / worst).ln();
        fall > 0.0 && (worst / tolerance.max(f64::MIN_POSITIVE)).ln() <= affordable * fall
    }

    /// Solves for the support, unless that makes things worse.
    fn improve_support(&self, w: &mut [f64], q: &mut Vec<f64>, observer: &dyn Observer) -> Result<()> {
        let (before, value) = (w.to_vec(), self.value(w, q));
        self.solve_support(w, observer)?;
        *q = self.residual(w);
        if self.value(w, q) > value {
            // Rounding, on nearly dependent columns.
            w.copy_from_slice(&before);
            *q = self.residual(w);
        }
        Ok(())
    }

    /// The objective, from `w` and `q = c - Hw`.
    fn value(&self, w: &[f64], q: &[f64]) -> f64 {
        let term = |j: usize| -0.5 * w[j] * (self.linear[j] + q[j] - self.l2[j] * w[j]) + self.l1[j] * w[j].abs();
        (0..self.len()).map(term).sum()
    }

    /// One round over all coordinates, then a few over the support.
    fn coordinates(&self, w: &mut [f64], q: &mut [f64]) {
        let all: Vec<usize> = (0..self.len()).collect();
        self.round(&all, w, q);
        for _ in 1..ROUNDS {
            let support: Vec<usize> = (0..self.len()).filter(|&j| w[j] != 0.0).collect();
            if self.round(&support, w, q) == 0.0 {
                break;
            }
        }
    }

    /// Updates these coordinates in turn; returns the largest change of the objective's gradient that one made.
    fn round(&self, coordinates: &[usize], w: &mut [f64], q: &mut [f64]) -> f64 {
        let mut largest = 0.0f64;
        for &j in coordinates {
            let curvature = self.rows[j][j];
            let new = if curvature + self.l2[j] > 0.0 {
                l1::prox(self.l1[j], curvature.mul_add(w[j], q[j])) / (curvature + self.l2[j])
            } else {
                0.0
            };
            let change = new - w[j];
            if change != 0.0 {
                lanes::axpy(-change, &self.rows[j][..q.len()], q);
                w[j] = new;
                largest = largest.max(change.abs() * curvature);
            }
        }
        largest
    }

    /// Solves for the support with its signs; coefficients that reach zero on the way leave it.
    fn solve_support(&self, w: &mut [f64], observer: &dyn Observer) -> Result<()> {
        let mut support: Vec<usize> = (0..self.len()).filter(|&j| w[j] != 0.0).collect();
        // Many departures mean that the support is not yet the right one: then coordinates are cheaper.
        let departures = if support.len() < 300 { support.len() + 1 } else { 16 };
        for _ in 0..departures {
            check(observer)?;
            if support.is_empty() || support.len() > LARGEST_SUPPORT {
                return Ok(());
            }
            let h = Matrix::from_fn(support.len(), support.len(), |a, b| {
                self.rows[support[a]][support[b]] + if a == b { self.l2[support[a]] } else { 0.0 }
            });
            let here: Vec<f64> = support.iter().map(|&j| w[j]).collect();
            let curved = h.times(&here);
            let gradient: Vec<f64> = (0..here.len())
                .map(|k| self.linear[support[k]] - self.l1[support[k]].copysign(here[k]) - curved[k])
                .collect();
            let Some(direction) = newton_direction(&h, &gradient) else { return Ok(()) };
            let curvature = lanes::dot(&h.times(&direction), &direction);
            // The best step along the direction; infinite if the columns are dependent and the quadratic is flat.
            let longest = lanes::dot(&gradient, &direction) / curvature.max(0.0);
            if self.move_along(&support, &direction, longest, w) {
                return Ok(());
            }
            support.retain(|&j| w[j] != 0.0);
        }
        Ok(())
    }

    /// Moves by `longest` times the direction, but stops where the first coefficient reaches zero; false if one did.
    fn move_along(&self, support: &[usize], direction: &[f64], longest: f64, w: &mut [f64]) -> bool {
        let zero_at = |j: usize, d: f64| if self.l1[j] > 0.0 && d * w[j] < 0.0 { -w[j] / d } else { f64::INFINITY };
        let reached: Vec<f64> = support.iter().zip(direction).map(|(&j, &d)| zero_at(j, d)).collect();
        let first = reached.iter().copied().fold(f64::INFINITY, f64::min);
        let step = first.min(longest);
        if !step.is_finite() {
            return true;
        }
        for ((&j, &d), at) in support.iter().zip(direction).zip(reached) {
            w[j] = if at <= step { 0.0 } else { step.mul_add(d, w[j]) };
        }
        first > longest
    }
}

/// `H^-1 g`. Where columns are dependent, a little is added to the diagonal: the direction then leads far along what doesn't
/// change the quadratic, towards a smaller L1 norm.
fn newton_direction(h: &Matrix, gradient: &[f64]) -> Option<Vec<f64>> {
    let exact = Cholesky::new(h, 1e-12);
    let refine = exact.is_some();
    let factor = exact.or_else(|| {
        let mut damped = h.clone();
        (0..h.n_rows()).for_each(|j| damped[(j, j)] *= 1.0 + 1e-10);
        Cholesky::new(&damped, 1e-12)
    })?;
    let mut direction = gradient.to_vec();
    factor.solve(&mut direction);
    if refine {
        let mut left: Vec<f64> = h.times(&direction).iter().zip(gradient).map(|(h, g)| g - h).collect();
        factor.solve(&mut left);
        lanes::axpy(1.0, &left, &mut direction);
    }
    Some(direction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn the_minimizer_satisfies_the_optimality_conditions(m in 1usize..25, n in 1usize..30, seed in 0u64..10_000, strength in 0.0f64..0.8, l2 in 0.0f64..0.5) {
            let mut rng = ermine_core::rng::stream(seed, &[]);
            let mut draw = || ermine_core::rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0;
            let x = Matrix::from_fn(n, m, |_, _| draw());
            let y: Vec<f64> = (0..n).map(|_| draw()).collect();
            let rows: Vec<Vec<f64>> = (0..m)
                .map(|i| (0..m).map(|j| (0..n).map(|k| x[(k, i)] * x[(k, j)]).sum::<f64>() / n as f64).collect())
                .collect();
            let linear: Vec<f64> = (0..m).map(|j| (0..n).map(|k| x[(k, j)] * y[k]).sum::<f64>() / n as f64).collect();
            let top = linear.iter().fold(0.0f64, |t, c| t.max(c.abs()));
            let (l1, l2) = (vec![(strength + 0.01) * top; m], vec![l2; m]);
            let problem = Quadratic { rows: &rows, linear: &linear, l1: &l1, l2: &l2 };
            let mut w = vec![0.0; m];
            let violation = problem.minimize(&mut w, 1e-12 * top, 1000, &ermine_core::progress::Silent).unwrap();
            prop_assert!(violation <= 1e-10 * top + 1e-300, "violation {violation} of {top}");
            let q = problem.residual(&w);
            for j in 0..m {
                let g = q[j] - l2[j] * w[j];
                if w[j] == 0.0 {
                    prop_assert!(g.abs() <= l1[j] + 1e-9 * top);
                } else {
                    prop_assert!((g - l1[j] * w[j].signum()).abs() <= 1e-9 * top);
                }
            }
        }
    }
}
