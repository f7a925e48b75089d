//! `A beta = c` for a symmetric positive semidefinite `A` that is given as an operator: least squares over sparse tables with too many columns for a matrix of
//! their products.
//!
//! **Idea.** Conjugate gradients. From zero on, every step stays in the space that the data spans, so of several solutions the one with the smallest norm is found.
//!
//! A preconditioner `M`, known by `M^-1 r`, makes the steps fewer: the nearer `M` is to `A`, the fewer there are.
//!
//! **Cost.** A step is one application of `A`: two passes over the data. **Reference.** Hestenes and Stiefel (1952); Björck, "Numerical Methods for Least Squares Problems", section 7.4.

use ermine_core::error::Result;
use ermine_core::linalg::lanes;
use ermine_core::progress::{Observer, check};

/// A solution and how good it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ConjugateSolution {
    /// The solution.
    pub beta: Vec<f64>,
    /// How many steps it took.
    pub n_iterations: usize,
    /// The length of `c - A beta`, as a share of that of `c`.
    pub residual: f64,
}

/// Solves until the residual is below `tolerance` times the right-hand side, or for `max_iterations` steps.
pub fn solve(
    apply: impl Fn(&[f64]) -> Vec<f64>,
    right: &[f64],
    tolerance: f64,
    max_iterations: usize,
    observer: &dyn Observer,
) -> Result<ConjugateSolution> {
    solve_preconditioned(apply, |_| (), right, tolerance, max_iterations, observer)
}

/// The same with a preconditioner, which turns `r` into `M^-1 r`. Residuals are then measured by the length `sqrt(r'M^-1 r)`.
pub fn solve_preconditioned(
    apply: impl Fn(&[f64]) -> Vec<f64>,
    precondition: impl Fn(&mut [f64]),
    right: &[f64],
    tolerance: f64,
    max_iterations: usize,
    observer: &dyn Observer,
) -> Result<ConjugateSolution> {
    let preconditioned = |left: &[f64]| {
        let mut z = left.to_vec();
        precondition(&mut z);
        z
    };
    let mut beta = vec![0.0; right.len()];
    let (mut left, mut direction) = (right.to_vec(), preconditioned(right));
    let mut square = lanes::dot(&left, &direction);
    let size = square.sqrt();
    let mut n_iterations = 0;
    while n_iterations < max_iterations && square.sqrt() > tolerance * size {
        check(observer)?;
        let image = apply(&direction);
        let curvature = lanes::dot(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        n_iterations += 1;
        let step = square / curvature;
        lanes::axpy(step, &direction, &mut beta);
        lanes::axpy(-step, &image, &mut left);
        let z = preconditioned(&left);
        let next = lanes::dot(&left, &z);
        let keep = next / square;
        direction.iter_mut().zip(&z).for_each(|(d, z)| *d = keep.mul_add(*d, *z));
        square = next;
    }
    let residual = if size > 0.0 { square.sqrt() / size } else { 0.0 };
    Ok(ConjugateSolution { beta, n_iterations, residual })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::linalg::Matrix;
    use ermine_core::progress::Silent;

    #[test]
    fn singular_systems_get_the_shortest_solution() {
        // The third column is the sum of the first two.
        let a = Matrix::from_fn(3, 3, |i, j| [[2.0, 0.0, 2.0], [0.0, 1.0, 1.0], [2.0, 1.0, 3.0]][i][j]);
        let found = solve(|v| a.times(v), &[2.0, 3.0, 5.0], 1e-14, 100, &Silent).unwrap();
        assert!(found.residual < 1e-12 && found.n_iterations <= 5);
        // All solutions are (1, 3, 0) + t (1, 1, -1); the shortest is orthogonal to that direction.
        assert!((found.beta[0] + found.beta[1] - found.beta[2]).abs() < 1e-10, "{found:?}");
        assert_eq!(solve(|v| a.times(v), &[0.0; 3], 1e-14, 100, &Silent).unwrap().beta, [0.0; 3]);
    }

    #[test]
    fn an_exact_preconditioner_needs_one_step() {
        let a = Matrix::from_fn(3, 3, |i, j| [[4e6, 1.0, 0.0], [1.0, 3.0, 1e-3], [0.0, 1e-3, 1e-6]][i][j]);
        let inverse = ermine_core::linalg::Cholesky::new(&a, 1e-14).unwrap();
        let right = [1.0, -2.0, 3.0];
        let found = solve_preconditioned(|v| a.times(v), |r| inverse.solve(r), &right, 1e-10, 100, &Silent).unwrap();
        assert_eq!(found.n_iterations, 1);
        assert!(a.times(&found.beta).iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-8));
    }
}
