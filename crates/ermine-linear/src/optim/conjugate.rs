//! `A beta = c` for a symmetric positive semidefinite `A` that is only known by what it does to vectors: least squares over sparse tables with too many columns for a matrix of
//! their products.
//!
//! **Idea.** Conjugate gradients. From zero on, every step stays in the space that the data spans, so of several solutions the one with the smallest norm is found.
//!
//! **Cost.** A step is one application of `A`: two passes over the data. **Reference.** Hestenes and Stiefel (1952); Björck, "Numerical Methods for Least Squares Problems", section 7.4.

use ermine_core::linalg::lanes;

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
) -> ConjugateSolution {
    let size = lanes::square_sum(right).sqrt();
    let mut beta = vec![0.0; right.len()];
    let (mut left, mut direction) = (right.to_vec(), right.to_vec());
    let mut square = lanes::square_sum(&left);
    let mut n_iterations = 0;
    while n_iterations < max_iterations && square.sqrt() > tolerance * size {
        let image = apply(&direction);
        let curvature = lanes::dot(&direction, &image);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        n_iterations += 1;
        let step = square / curvature;
        lanes::axpy(step, &direction, &mut beta);
        lanes::axpy(-step, &image, &mut left);
        let next = lanes::square_sum(&left);
        let keep = next / square;
        direction.iter_mut().zip(&left).for_each(|(d, r)| *d = keep.mul_add(*d, *r));
        square = next;
    }
    ConjugateSolution { beta, n_iterations, residual: if size > 0.0 { square.sqrt() / size } else { 0.0 } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::linalg::Matrix;

    #[test]
    fn singular_systems_get_the_shortest_solution() {
        // The third column is the sum of the first two.
        let a = Matrix::from_fn(3, 3, |i, j| [[2.0, 0.0, 2.0], [0.0, 1.0, 1.0], [2.0, 1.0, 3.0]][i][j]);
        let found = solve(|v| a.times(v), &[2.0, 3.0, 5.0], 1e-14, 100);
        assert!(found.residual < 1e-12 && found.n_iterations <= 5);
        // All solutions are (1, 3, 0) + t (1, 1, -1); the shortest is orthogonal to that direction.
        assert!((found.beta[0] + found.beta[1] - found.beta[2]).abs() < 1e-10, "{found:?}");
        assert_eq!(solve(|v| a.times(v), &[0.0; 3], 1e-14, 100).beta, [0.0; 3]);
    }
}
