//! A hyperplane that separates two classes, or the proof that there is none.
//!
//! **Formula.** Separable means: there are `w, b` with `y_i (x_i'w + b) >= 1` for all `i`. By Gordan's theorem exactly one of two holds:
//! such a hyperplane exists, or there are multipliers `l_i >= 0` of sum 1 with `sum l_i y_i [x_i, 1] = 0`, that is, a point that is a convex
//! combination of either class. Both come from one linear program, `min sum max(0, 1 - y_i (x_i'w + b))`, whose dual
//! `max sum a_i, sum a_i y_i [x_i, 1] = 0, 0 <= a <= 1` has the value 0 in the first case and gives `l = a / sum a` in the second.
//!
//! **Cost.** As [`linear_program`](super::linear_program): 10 to 20 Gram matrices; a first hyperplane that separates ends it early.
//!
//! **Reference.** Mangasarian, "Linear and nonlinear separation of patterns by linear programming" (1965).

use super::least_squares::is_varied;
use super::linear_program::{ConstraintRows, InteriorPoint, LinearProgram, factor};
use super::moments::{Moments, require_products};
use super::newton;
use super::risk::Risk;
use super::units::ColumnUnits;
use ermine_core::error::{Error, Result};
use ermine_core::linalg::{Design, lanes};
use ermine_core::loss::SquaredHinge;
use ermine_core::progress::Observer;
use ermine_core::rng;
use std::borrow::Cow;

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub enum Separation {
    /// A hyperplane with every row on the correct side: `y_i (x_i'w + b) >= 1`, up to rounding.
    Hyperplane {
        /// Coefficients.
        coefficients: Vec<f64>,
        /// Intercept; 0 without.
        intercept: f64,
        /// The smallest distance of a row from the hyperplane, above 0.
        margin: f64,
    },
    /// A common point of the convex hulls of the classes.
    Overlap {
        /// The multiplier of each row; at least 0, of sum 1.
        multipliers: Vec<f64>,
        /// The largest entry of `sum l_i y_i [x_i, 1]`, as a share of the largest entry of the rows: 0 but for rounding.
        residual: f64,
        /// The hyperplane with the least total violation.
        coefficients: Vec<f64>,
        /// Its intercept; 0 without.
        intercept: f64,
    },
    /// Neither could be proven within floating-point accuracy: the classes touch or nearly so.
    Undecided {
        /// The hyperplane with the least total violation that was found.
        coefficients: Vec<f64>,
        /// Its intercept; 0 without.
        intercept: f64,
    },
}

/// Separates the classes `y` (-1 and +1). Weights (all 1 if `None`) weight the violations if no hyperplane separates the classes.
pub fn separate(
    x: &Design,
    y: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    observer: &dyn Observer,
) -> Result<Separation> {
    require_products(x.n_columns())?;
    let moments = Moments::of(x, &[], None, intercept);
    if moments.xx.data().iter().any(|v| !v.is_finite()) {
        return Err(Error::data("the products of the columns overflow: values are missing, infinite or too large"));
    }
    moments.check_small(x)?;
    let squares: Vec<f64> = moments.xx.diagonal().iter().map(|s| s / moments.total).collect();
    // With an intercept a constant column is redundant, and the rounding errors of a large one would hide the other columns.
    let p = x.n_columns();
    let constant: Vec<usize> = (0..p).filter(|&j| intercept && !is_varied(&moments, j)).collect();
    let Some(units) = ColumnUnits::leaving_out(ColumnUnits::of(&squares), &constant, p) else {
        return Ok(separate_scaled(x, y, weights, intercept, observer)?.with_unit_margins(x, y));
    };
    let mut found = separate_scaled(&units.apply(x)?, y, weights, intercept, observer)?;
    let (Separation::Hyperplane { coefficients, .. }
    | Separation::Overlap { coefficients, .. }
    | Separation::Undecided { coefficients, .. }) = &mut found;
    units.restore(coefficients);
    Ok(found.with_unit_margins(x, y))
}

impl Separation {
    /// A hyperplane scaled so that the least `y_i (x_i'w + b)` is 1, with its margin in the units of these rows.
    fn with_unit_margins(mut self, x: &Design, y: &[f64]) -> Separation {
        if let Separation::Hyperplane { coefficients, intercept, margin } = &mut self {
            // Slightly more than 1, and more if rounding cancels that.
            for slack in [1e-12, 1e-9, 1e-6] {
                let factor = (1.0 + slack) / least_of(x, y, coefficients, *intercept);
                let scaled: Vec<f64> = coefficients.iter().map(|w| w * factor).collect();
                if !scaled.iter().all(|w| w.is_finite()) {
                    break;
                }
                (*coefficients, *intercept) = (scaled, *intercept * factor);
                if least_of(x, y, coefficients, *intercept) >= 1.0 {
                    break;
                }
            }
            *margin = least_of(x, y, coefficients, *intercept) / lanes::square_sum(coefficients).sqrt();
        }
        self
    }
}

/// The same for columns of one size.
fn separate_scaled(
    x: &Design,
    y: &[f64],
    weights: Option<&[f64]>,
    intercept: bool,
    observer: &dyn Observer,
) -> Result<Separation> {
    let n = x.n_rows();
    let shift = match x {
        Design::Dense(x) if intercept => x.transposed_times(&vec![1.0 / n as f64; n]),
        _ => Vec::new(),
    };
    let rows = ConstraintRows { x, intercept, shift: &shift, sign: Some(y) };
    let (ones, zeros) = (vec![1.0; n], vec![0.0; rows.width()]);
    let program = LinearProgram { rows, objective: &ones, right: &zeros, upper: weights.unwrap_or(&ones) };
    let split = |w: &[f64]| {
        let (beta, b) = w.split_at(x.n_columns());
        (beta.to_vec(), b.first().map_or(0.0, |b| b - lanes::dot(&shift, beta)))
    };
    // What counts is the hyperplane as the user gets it, so it is tried on the rows as they are.
    let margin = |w: &[f64]| {
        let (beta, b) = split(w);
        least_of(x, y, &beta, b) / lanes::square_sum(&beta).sqrt()
    };
    let found = |point: &InteriorPoint| rows.times(&point.w).iter().all(|m| *m > 0.0) && margin(&point.w) > 0.0;
    let interior = program.solve(1e-10, observer, found)?;
    let (coefficients, b) = split(&interior.point.w);
    let reached = margin(&interior.point.w);
    if reached > 0.0 {
        return Ok(Separation::Hyperplane { coefficients, intercept: b, margin: reached });
    }
    Ok(match balance(&rows, &interior.point) {
        Some((multipliers, residual)) if residual <= 1e-8 => {
            Separation::Overlap { multipliers, residual, coefficients, intercept: b }
        }
        _ => match shared_row(&rows, y) {
            Some(multipliers) => Separation::Overlap { multipliers, residual: 0.0, coefficients, intercept: b },
            None => match by_squared_hinge(x, y, intercept, (&coefficients, b), observer)? {
                w if margin_of(x, y, &w) > 0.0 => {
                    let (beta, b) = w.split_at(x.n_columns());
                    let (intercept, margin) = (b.first().copied().unwrap_or(0.0), margin_of(x, y, &w));
                    Separation::Hyperplane { coefficients: beta.to_vec(), intercept, margin }
                }
                _ => Separation::Undecided { coefficients, intercept: b },
            },
        },
    })
}

/// Multipliers of two rows that are the same but of different classes, if there are such: the simplest common point of both.
fn shared_row(rows: &ConstraintRows, y: &[f64]) -> Option<Vec<f64>> {
    /// Maximum number of candidate pairs of equal rows that are compared.
    const COMPARED: usize = 64;
    let direction: Vec<f64> =
        (0..rows.width()).map(|j| 1.0 + rng::place(7, j as u64) as f64 / u64::MAX as f64).collect();
    let mut places: Vec<(f64, u32)> = rows.times(&direction).into_iter().zip(0..).collect();
    // Rows were multiplied by their class.
    places.iter_mut().for_each(|(place, row)| *place *= y[*row as usize]);
    places.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let reach = 1e-12 * places.iter().fold(0.0f64, |most, (place, _)| most.max(place.abs()));
    let alike = places.chunk_by(|a, b| b.0 - a.0 <= reach);
    let both = alike.filter_map(|group| {
        let of = |sign: f64| group.iter().find(|(_, row)| y[*row as usize] == sign).map(|(_, row)| *row as usize);
        of(1.0).zip(of(-1.0))
    });
    both.take(COMPARED).find_map(|(i, j)| {
        let mut multipliers = vec![0.0; y.len()];
        (multipliers[i], multipliers[j]) = (0.5, 0.5);
        rows.transposed_times(&multipliers).iter().all(|x| *x == 0.0).then_some(multipliers)
    })
}

/// The least `y_i (x_i'w + b)`.
fn least_of(x: &Design, y: &[f64], beta: &[f64], b: f64) -> f64 {
    x.times(beta, b).iter().zip(y).map(|(z, y)| z * y).fold(f64::INFINITY, f64::min)
}

/// The least distance of a row from the hyperplane `w`, below 0 if it is on the wrong side.
fn margin_of(x: &Design, y: &[f64], w: &[f64]) -> f64 {
    let (beta, b) = w.split_at(x.n_columns());
    least_of(x, y, beta, b.first().copied().unwrap_or(0.0)) / lanes::square_sum(beta).sqrt()
}

/// The hyperplane with the least squared violations. Where a hyperplane separates, the dual program has no inner points, and interior points may get stuck on the way
/// there; the squared violations have a minimum of 0, which Newton's method reaches in few steps.
fn by_squared_hinge(
    x: &Design,
    y: &[f64],
    intercept: bool,
    (start, b): (&[f64], f64),
    observer: &dyn Observer,
) -> Result<Vec<f64>> {
    let loss = SquaredHinge;
    let risk = Risk { x: x.clone(), y: Cow::Borrowed(y), weights: None, loss, lambda: 0.0, intercept };
    let mut w = start.to_vec();
    w.extend(intercept.then_some(b));
    let (tolerance, certified, max_iterations, sampled_start) = (1e-16, f64::INFINITY, 500, false);
    let options = newton::NewtonOptions { tolerance, certified, max_iterations, sampled_start, observer };
    newton::minimize(&risk, &mut w, &options)?;
    Ok(w)
}

/// Multipliers that add up to 1 and balance the rows: those of the program, moved onto the balance by a weighted
/// projection that leaves zeros alone.
fn balance(rows: &ConstraintRows, point: &InteriorPoint) -> Option<(Vec<f64>, f64)> {
    let total: f64 = point.a.iter().sum();
    if !(total > 1e-7 * point.a.len() as f64 || total > 0.5) {
        return None;
    }
    let mut multipliers: Vec<f64> = point.a.iter().map(|a| a / total).collect();
    for _ in 0..3 {
        let weights: Vec<f64> = multipliers.iter().zip(&point.s).map(|(l, s)| l * s.clamp(1e-6, 1.0)).collect();
        let off = rows.transposed_times(&multipliers);
        let (products, _) = rows.weighted(&weights, &weights);
        let Some(factor) = factor(products) else { break };
        let mut step = off;
        factor.solve(&mut step);
        let change = rows.times(&step);
        let moved: Vec<f64> = multipliers.iter().zip(&change).zip(&weights).map(|((l, c), w)| l - w * c).collect();
        if moved.iter().any(|l| *l < 0.0) {
            break;
        }
        let sum: f64 = moved.iter().sum();
        multipliers = moved.iter().map(|l| l / sum).collect();
    }
    let off = rows.transposed_times(&multipliers);
    let ones = vec![1.0; multipliers.len()];
    let (products, _) = rows.weighted(&multipliers, &ones);
    // Each entry beside the root mean square of its column under the multipliers.
    let residual = off.iter().zip(products.diagonal()).map(|(o, d)| if *o == 0.0 { 0.0 } else { o.abs() / d.sqrt() });
    Some((multipliers, residual.fold(0.0, f64::max)))
}
