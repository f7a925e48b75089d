//! Quantile regression, and least absolute deviations as its median: `min sum_i w_i rho(y_i - x_i'beta - b)`,
//! `rho(r) = tau r` above, `(tau - 1) r` below. An exact solution of the linear program, not an approximation.
//!
//! **How.**
//! 1. The dual, `max y'a, A'a = (1 - tau) A'w, 0 <= a <= w`, goes to the interior point method of
//!    [`linear_program`](super::linear_program).
//! 2. An optimal vertex passes through as many rows as there are unknowns. The rows that the interior point holds away from
//!    both bounds form a first basis; the unknowns follow from it exactly.
//! 3. At a vertex, the rows off it have `a = 0` or `w` by the sign of their residual, and the basis must balance the rest:
//!    `A_B'a_B = (1 - tau) A'w - A_N'a_N`. If `0 <= a_B <= w_B`, the vertex is optimal: that is the certificate. If not, the row
//!    that violates it most leaves, and the objective falls along the edge up to a weighted median of the crossings,
//!    where another row enters.
//!
//! Where more rows than that lie on a vertex (repeated rows, whole numbers), moves may go in circles. Then targets are moved by tiny amounts, no two the same, and the vertex that is
//! optimal for them is taken, with its dual variables as the proof of how far from optimal it can be.
//!
//! **Cost.** 10 to 20 Gram matrices, then usually no or few pivots of `n p` each.
//!
//! **Reference.** Koenker, "Quantile Regression" (2005), chapter 6; Barrodale and Roberts (1973) for the edge search.

use super::linear_program::{ConstraintRows, InteriorPoint, LinearProgram};
use super::moments::{Moments, require_products};
use super::units::ColumnUnits;
use super::{SolverOutcome, SolverStatus};
use ermine_core::error::{Error, Result};
use ermine_core::linalg::cholesky::independent_columns;
use ermine_core::linalg::{Dense, Design, Lu, Matrix, lanes};
use ermine_core::progress::{Observer, check};
use ermine_core::rng::{self, Purpose};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A quantile-regression problem.
#[derive(Debug, Clone, Copy)]
pub struct QuantileProblem<'a> {
    /// The columns.
    pub x: &'a Design<'a>,
    /// The target.
    pub y: &'a [f64],
    /// Row weights, above 0; all 1 if `None`.
    pub weights: Option<&'a [f64]>,
    /// Which quantile, between 0 and 1.
    pub tau: f64,
    /// Whether there is an intercept.
    pub intercept: bool,
}

/// The solution.
#[derive(Debug, Clone)]
pub struct QuantileSolution {
    /// One coefficient for each column; 0 for columns that others make redundant.
    pub coefficients: Vec<f64>,
    /// The intercept; 0 without.
    pub intercept: f64,
    /// The rows that the solution passes through, where it is a proven optimal vertex.
    pub basis: Vec<usize>,
    /// Columns left out because others determine them.
    pub redundant: Vec<usize>,
    /// What is known about it; the value is the mean loss.
    pub outcome: SolverOutcome,
}

impl QuantileProblem<'_> {
    /// Solves the problem.
    pub fn solve(&self, observer: &dyn Observer) -> Result<QuantileSolution> {
        if self.y.iter().any(|y| !y.is_finite()) {
            return Err(Error::data("the target holds values that are missing or infinite"));
        }
        require_products(self.x.n_columns())?;
        let moments = Moments::of(self.x, &[], self.weights, self.intercept);
        let (total, products) = (moments.total, &moments.xx);
        if products.data().iter().any(|x| !x.is_finite()) {
            return Err(Error::data("the products of the columns overflow: values are missing, infinite or too large"));
        }
        moments.check_small(self.x)?;
        let squares: Vec<f64> = products.diagonal().iter().map(|s| s / total).collect();
        if let Some(units) = ColumnUnits::of(&squares) {
            let mut solution =
                QuantileProblem { x: &units.apply(self.x)?, ..*self }.solve_varied(products, observer)?;
            units.restore(&mut solution.coefficients);
            return Ok(solution);
        }
        self.solve_varied(products, observer)
    }

    /// Solves the problem for columns of one size; `products` tell, in any units, which of them determine others.
    fn solve_varied(&self, products: &Matrix, observer: &dyn Observer) -> Result<QuantileSolution> {
        let (n, p) = (self.x.n_rows(), self.x.n_columns());
        let kept = independent_columns(products, 1e-10);
        if kept.len() == p {
            return self.solve_independent(observer);
        }
        // Dependent columns are rare; then what remains is copied.
        let mut copy = Vec::new();
        match self.x {
            Design::Dense(x) => x.gather(0..n, &kept, &mut copy),
            Design::Sparse(x) => {
                let every = x.rows().transposed(p);
                copy.resize(n * kept.len(), 0.0);
                for (k, &j) in kept.iter().enumerate() {
                    let (places, numbers) = every.line(j);
                    places.iter().zip(numbers).for_each(|(&i, &v)| copy[i as usize * kept.len() + k] = v);
                }
            }
        }
        let x = Design::from(Dense::rows_f64(&copy, n, kept.len(), kept.len())?);
        let mut solution = QuantileProblem { x: &x, ..*self }.solve_independent(observer)?;
        let mut coefficients = vec![0.0; p];
        kept.iter().zip(&solution.coefficients).for_each(|(&j, &b)| coefficients[j] = b);
        solution.coefficients = coefficients;
        solution.redundant = (0..p).filter(|j| !kept.contains(j)).collect();
        Ok(solution)
    }

    /// Solves the problem for columns of which none determines another.
    fn solve_independent(&self, observer: &dyn Observer) -> Result<QuantileSolution> {
        let (n, p) = (self.x.n_rows(), self.x.n_columns());
        let upper = self.weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        let shift = match self.x {
            Design::Dense(x) if self.intercept => x.transposed_times(&vec![1.0 / n as f64; n]),
            _ => Vec::new(),
        };
        let rows = ConstraintRows { x: self.x, intercept: self.intercept, shift: &shift, sign: None };
        let scaled: Vec<f64> = upper.iter().map(|u| (1.0 - self.tau) * u).collect();
        let right = rows.transposed_times(&scaled);
        let mut vertex =
            Vertex { y: self.y, tau: self.tau, rows, right: &right, upper: &upper, basis: vec![], w: vec![], observer };
        let (mut n_iterations, mut gap, mut proven, mut bound) = (0, 0.0, rows.width() == 0, None);
        if !proven {
            let program = LinearProgram { rows, objective: self.y, right: &right, upper: &upper };
            let interior = program.solve(1e-9, observer, |_| false)?;
            (n_iterations, gap) = (interior.n_iterations, interior.gap);
            vertex.w = interior.point.w.clone();
            proven = vertex.find_basis(&interior.point)? && vertex.pivot()?.is_some();
            if !proven {
                vertex.w = interior.point.w.clone();
                bound = vertex.break_ties(&interior.point)?;
            }
        }
        let total: f64 = upper.iter().sum();
        let value = vertex.value() / total;
        // No loss is below 0.
        let bound = bound.map_or(0.0, |b| (b / total).clamp(0.0, value));
        let lower_bound = Some(if proven { value } else { bound });
        let size: f64 = self.y.iter().zip(&upper).map(|(y, u)| u * y.abs()).sum::<f64>() / total;
        proven |= value - bound <= 1e-9 * value || value <= 1e-13 * size;
        let status = if proven { SolverStatus::Converged } else { SolverStatus::Stalled };
        let outcome = SolverOutcome {
            status,
            n_iterations,
            value,
            lower_bound,
            residual: if proven { 0.0 } else { gap / total },
        };
        let intercept = vertex.w.get(p).map_or(0.0, |b| b - lanes::dot(&shift, &vertex.w[..p]));
        let basis = if proven { vertex.basis } else { Vec::new() };
        let coefficients = vertex.w[..p].to_vec();
        Ok(QuantileSolution { coefficients, intercept, basis, redundant: Vec::new(), outcome })
    }
}

/// A candidate for the optimum: a basis of rows through which it passes.
struct Vertex<'a> {
    y: &'a [f64],
    tau: f64,
    rows: ConstraintRows<'a>,
    right: &'a [f64],
    upper: &'a [f64],
    basis: Vec<usize>,
    w: Vec<f64>,
    observer: &'a dyn Observer,
}

impl Vertex<'_> {
    fn residuals(&self) -> Vec<f64> {
        self.rows.times(&self.w).iter().zip(self.y).map(|(fit, y)| y - fit).collect()
    }

    fn value(&self) -> f64 {
        let cost = |r: f64| if r >= 0.0 { self.tau * r } else { (self.tau - 1.0) * r };
        self.residuals().iter().zip(self.upper).map(|(r, u)| u * cost(*r)).sum()
    }

    fn row(&self, i: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.rows.x.n_columns()];
        self.rows.x.row_into(i, &mut Vec::new(), &mut row);
        row.iter_mut().zip(self.rows.shift).for_each(|(x, m)| *x -= m);
        row.extend(self.rows.intercept.then_some(1.0));
        row
    }

    fn matrix(&self) -> Matrix {
        let rows: Vec<Vec<f64>> = self.basis.iter().map(|&i| self.row(i)).collect();
        Matrix::from_fn(rows.len(), rows.len(), |i, j| rows[i][j])
    }

    /// The rows that the interior point holds closest to the solution, as far as they are linearly independent; false where
    /// there are too few. A row of the basis keeps away from its bounds while its multipliers vanish.
    fn find_basis(&mut self, point: &InteriorPoint) -> Result<bool> {
        let width = self.rows.width();
        let score: Vec<f64> =
            (0..self.y.len()).map(|i| (point.z[i] + point.v[i]) / point.a[i].min(point.s[i])).collect();
        let mut order: Vec<usize> = (0..score.len()).collect();
        let nearer = |a: &usize, b: &usize| score[*a].total_cmp(&score[*b]).then(a.cmp(b));
        let first = (8 * width).min(order.len());
        if first < order.len() {
            order.select_nth_unstable_by(first, nearer);
        }
        order[..first].sort_unstable_by(nearer);
        if self.independent(&order[..first])? {
            return Ok(true);
        }
        order[first..].sort_unstable_by(nearer);
        self.independent(&order)
    }

    /// Fills the basis with the first rows of `order` that are linearly independent; false if there are too few.
    fn independent(&mut self, order: &[usize]) -> Result<bool> {
        let width = self.rows.width();
        self.basis.clear();
        let mut directions: Vec<Vec<f64>> = Vec::new();
        for (k, &i) in order.iter().enumerate() {
            if k % 64 == 0 {
                check(self.observer)?;
            }
            let mut row = self.row(i);
            let length = lanes::square_sum(&row).sqrt();
            for _ in 0..2 {
                for other in &directions {
                    let along = lanes::dot(other, &row);
                    lanes::axpy(-along, other, &mut row);
                }
            }
            let left = lanes::square_sum(&row).sqrt();
            if left > 1e-7 * length {
                row.iter_mut().for_each(|x| *x /= left);
                directions.push(row);
                self.basis.push(i);
            }
            if self.basis.len() == width {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Finds the optimal vertex of slightly different targets, among which there are no ties. Returns a lower bound on the objective of the true targets; `None`
    /// where no optimal vertex was found, and then nothing has changed.
    fn break_ties(&mut self, point: &InteriorPoint) -> Result<Option<f64>> {
        let typical = self.residuals().iter().map(|r| r.abs()).sum::<f64>() / self.y.len().max(1) as f64;
        let largest = lanes::max_abs(self.y);
        let size = (1e-11 * typical).max(1e-14 * largest);
        let mut rng = Purpose::QuantileTies.stream(0, &[]);
        let moves: Vec<f64> =
            self.y.iter().map(|_| size * (0.5 + rng::below(&mut rng, 1 << 20) as f64 / (1u32 << 21) as f64)).collect();
        let moved: Vec<f64> = self.y.iter().zip(&moves).map(|(y, m)| y + m).collect();
        let mut other = Vertex { y: &moved, basis: Vec::new(), w: self.w.clone(), ..*self };
        if !other.find_basis(point)? {
            return Ok(None);
        }
        let Some(a) = other.pivot()? else { return Ok(None) };
        let targets: Vec<f64> = other.basis.iter().map(|&i| self.y[i]).collect();
        let Some(lu) = Lu::new(&other.matrix()) else { return Ok(None) };
        let w = lu.solve(&targets);
        self.basis = std::mem::take(&mut other.basis);
        self.w = w;
        // What is feasible for the dual doesn't depend on the targets: it bounds the objective of the true ones too. `y'(a - (1 - tau) u)`, less `0 = w'A'(a - (1 - tau) u)`.
        let term = |(i, r): (usize, &f64)| r * (a[i] - (1.0 - self.tau) * self.upper[i]);
        Ok(Some(self.residuals().iter().enumerate().map(term).sum()))
    }

    /// Moves from vertex to vertex until one is proven optimal, by the dual variables that it returns; `None` if that doesn't happen in time.
    fn pivot(&mut self) -> Result<Option<Vec<f64>>> {
        let width = self.rows.width();
        for _ in 0..50 + 20 * width {
            check(self.observer)?;
            let Some(lu) = Lu::new(&self.matrix()) else { return Ok(None) };
            let targets: Vec<f64> = self.basis.iter().map(|&i| self.y[i]).collect();
            self.w = lu.solve(&targets);
            let mut residuals = self.residuals();
            self.basis.iter().for_each(|&i| residuals[i] = 0.0);
            let mut side: Vec<f64> =
                residuals.iter().zip(self.upper).map(|(r, u)| if *r > 0.0 { *u } else { 0.0 }).collect();
            let held = self.rows.transposed_times(&side);
            let missing: Vec<f64> = self.right.iter().zip(&held).map(|(b, h)| b - h).collect();
            let a = lu.solve_transposed(&missing);
            let excess = |k: usize| {
                let u = self.upper[self.basis[k]];
                (-a[k]).max(a[k] - u) / u
            };
            let worst = (0..width).fold(0, |w, k| if excess(k) > excess(w) { k } else { w });
            if excess(worst) <= 1e-9 {
                self.basis.iter().zip(&a).for_each(|(&i, a)| side[i] = a.clamp(0.0, self.upper[i]));
                return Ok(Some(side));
            }
            // Row `worst` leaves towards the side that its multiplier points to.
            let above = a[worst] > 0.0;
            let mut unit = vec![0.0; width];
            unit[worst] = if above { -1.0 } else { 1.0 };
            let direction = lu.solve(&unit);
            let slope = -excess(worst) * self.upper[self.basis[worst]];
            let Some(row) = self.entering(&direction, &residuals, slope) else { return Ok(None) };
            self.basis[worst] = row;
        }
        Ok(None)
    }

    /// The row at which the objective stops falling along `direction`, from a slope of `slope` on.
    fn entering(&self, direction: &[f64], residuals: &[f64], mut slope: f64) -> Option<usize> {
        let mut speeds = self.rows.times(direction);
        self.basis.iter().for_each(|&i| speeds[i] = 0.0);
        let crosses = |i: &usize| residuals[*i] * speeds[*i] > 0.0 || (residuals[*i] == 0.0 && speeds[*i] < 0.0);
        let crossing = |i: usize| Reverse(Crossing { at: residuals[i] / speeds[i], row: i });
        // A heap: only the first few crossings are needed.
        let mut crossings: BinaryHeap<Reverse<Crossing>> =
            (0..residuals.len()).filter(crosses).map(crossing).collect::<Vec<_>>().into();
        while let Some(Reverse(next)) = crossings.pop() {
            slope += self.upper[next.row] * speeds[next.row].abs();
            if slope >= 0.0 {
                return Some(next.row);
            }
        }
        None
    }
}

/// Where along an edge the residual of a row changes sign.
#[derive(PartialEq)]
struct Crossing {
    at: f64,
    row: usize,
}

impl Eq for Crossing {}

impl PartialOrd for Crossing {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Crossing {
    fn cmp(&self, other: &Self) -> Ordering {
        self.at.total_cmp(&other.at).then(self.row.cmp(&other.row))
    }
}
