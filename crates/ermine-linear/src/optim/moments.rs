//! Means and centered products of columns and targets: all that quadratic problems know of tall data.
//!
//! **Formula.** With weights `w_i` of sum `W` and means `m`: `xx = sum w (x - m)(x - m)'`, `xy = sum w (x - m)(y - my)`,
//! `yy = sum w (y - my)^2`; without intercept, all means are 0.
//!
//! Summing `x x'` first and subtracting `W m m'` afterwards loses all digits where a column's mean is large beside its
//! spread. So rows are shifted by a pilot mean (of 64 rows spread over the table) while they are summed; if that
//! turns out to be far from the true mean, a second pass uses the true one.
//!
//! **Cost.** One pass, `n p^2` flops; rarely two.

use ermine_core::error::{Error, Result};
use ermine_core::linalg::{Design, Gram, Matrix};
use ermine_core::memory;

/// Means and centered products.
#[derive(Debug, Clone)]
pub struct Moments {
    /// Sum of the weights.
    pub total: f64,
    /// Mean of each column; zeros without intercept.
    pub x_mean: Vec<f64>,
    /// Mean of each target; zeros without intercept.
    pub y_mean: Vec<f64>,
    /// Centered products of the columns.
    pub xx: Matrix,
    /// Centered products of the columns with each target.
    pub xy: Vec<Vec<f64>>,
    /// Centered square sum of each target.
    pub yy: Vec<f64>,
}

impl Moments {
    /// Sums over all rows. Targets are given one after the other.
    pub fn of(x: &Design, targets: &[&[f64]], weights: Option<&[f64]>, intercept: bool) -> Moments {
        let p = x.n_columns();
        if !intercept {
            return Moments::centered(&sums(x, &[], targets, weights), vec![0.0; p], vec![0.0; targets.len()], false);
        }
        let pilot = match x {
            Design::Dense(_) => pilot_mean(x),
            Design::Sparse(_) => vec![0.0; p],
        };
        let y_pilot: Vec<f64> = targets.iter().map(|y| mean(y, weights)).collect();
        let shifted: Vec<Vec<f64>> =
            targets.iter().zip(&y_pilot).map(|(y, m)| y.iter().map(|y| y - m).collect()).collect();
        let shifted: Vec<&[f64]> = shifted.iter().map(Vec::as_slice).collect();
        let moments = Moments::centered(&sums(x, &pilot, &shifted, weights), pilot.clone(), y_pilot.clone(), true);
        let far = (0..p).any(|j| {
            let offset = moments.x_mean[j] - pilot[j];
            moments.total * offset * offset > 1e4 * moments.xx[(j, j)]
        });
        if far && matches!(x, Design::Dense(_)) {
            return Moments::centered(&sums(x, &moments.x_mean, &shifted, weights), moments.x_mean, y_pilot, true);
        }
        moments
    }

    /// Centers the sums of rows that were shifted by `x_shift` and `y_shift`.
    fn centered(gram: &Gram, x_shift: Vec<f64>, y_shift: Vec<f64>, center: bool) -> Moments {
        let (p, k) = (x_shift.len(), y_shift.len());
        let sums = &gram.products;
        let total = sums[(p + k, p + k)];
        // The mean of entry i of a shifted row.
        let offset = |i: usize| if center { sums[(i, p + k)] / total } else { 0.0 };
        let product = |i: usize, j: usize| sums[(i, j)] - total * offset(i) * offset(j);
        // Rounding may give a negative value; NaN must stay NaN.
        let square = |i: usize| Some(product(i, i)).filter(|s| *s >= 0.0 || s.is_nan()).unwrap_or(0.0);
        Moments {
            total,
            x_mean: (0..p).map(|j| x_shift[j] + offset(j)).collect(),
            y_mean: (0..k).map(|o| y_shift[o] + offset(p + o)).collect(),
            xx: Matrix::from_fn(p, p, |i, j| if i == j { square(i) } else { product(i, j) }),
            xy: (0..k).map(|o| (0..p).map(|j| product(j, p + o)).collect()).collect(),
            yy: (0..k).map(|o| square(p + o)).collect(),
        }
    }

    /// An error for columns that vary so little that their squared deviations underflow: they would look constant.
    pub fn check_small(&self, x: &Design) -> Result<()> {
        const LEAST: f64 = 1e-140;
        let p = self.x_mean.len();
        let vanished: Vec<usize> = (0..p).filter(|&j| self.xx[(j, j)] <= self.total * LEAST * LEAST).collect();
        if vanished.is_empty() {
            return Ok(());
        }
        let varied =
            |(_, (low, high)): &(&usize, (f64, f64))| high - low > 64.0 * f64::EPSILON * low.abs().max(high.abs());
        match vanished.iter().zip(ranges(x, &vanished)).find(varied) {
            Some((j, (low, high))) => Err(Error::data(format!(
                "the numbers of column {} differ by no more than {:.1e}, too little for products in double precision: a multiple of them is needed",
                j + 1,
                high - low
            ))),
            None => Ok(()),
        }
    }

    /// The intercept that belongs to coefficients for target `o`.
    pub fn intercept(&self, o: usize, coefficients: &[f64]) -> f64 {
        self.y_mean[o] - coefficients.iter().zip(&self.x_mean).map(|(w, m)| w * m).sum::<f64>()
    }
}

/// An error if the products of `p` columns with each other don't fit into memory.
pub fn require_products(p: usize) -> Result<()> {
    /// Sums over parts of the rows, and what is made of them.
    const COPIES: usize = 4;
    memory::require(
        || format!("the products of {p} columns with each other"),
        &[COPIES, p, p, size_of::<f64>()],
        "leave out columns with many categories, or take a learner for wide data (sgd, ridge, lasso, linear-svc)",
    )
}

/// The least and the largest number of each of some columns, which rise.
fn ranges(x: &Design, chosen: &[usize]) -> Vec<(f64, f64)> {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let widen = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
    match x {
        Design::Dense(x) => chosen.iter().map(|&j| (0..x.n_rows()).map(|i| x.get(i, j)).fold(none, widen)).collect(),
        Design::Sparse(x) => {
            let mut found = vec![(0, none); chosen.len()];
            for i in 0..x.n_rows() {
                let (places, numbers) = x.rows().line(i);
                for (&place, &v) in places.iter().zip(numbers) {
                    if let Ok(at) = chosen.binary_search(&(place as usize)) {
                        found[at] = (found[at].0 + 1, widen(found[at].1, v));
                    }
                }
            }
            // What is not there is 0.
            found.iter().map(|&(n, range)| if n < x.n_rows() { widen(range, 0.0) } else { range }).collect()
        }
    }
}

/// The weighted mean of some numbers.
pub fn mean(y: &[f64], weights: Option<&[f64]>) -> f64 {
    match weights {
        None => y.iter().sum::<f64>() / y.len().max(1) as f64,
        Some(w) => {
            let total: f64 = w.iter().sum();
            y.iter().zip(w).map(|(y, w)| y * (w / total)).sum()
        }
    }
}

fn sums(x: &Design, shift: &[f64], targets: &[&[f64]], weights: Option<&[f64]>) -> Gram {
    match x {
        Design::Dense(x) => Gram::of_targets(x, shift, targets, weights),
        Design::Sparse(x) => x.gram(targets.len() + 1, |rows, scale, extra| {
            for ((r, i), extra) in rows.enumerate().zip(extra.chunks_exact_mut(targets.len() + 1)) {
                scale[r] = weights.map_or(1.0, |w| w[i].sqrt());
                extra[targets.len()] = scale[r];
                extra.iter_mut().zip(targets).for_each(|(e, y)| *e = scale[r] * y[i]);
            }
            0.0
        }),
    }
}

fn pilot_mean(x: &Design) -> Vec<f64> {
    let step = (x.n_rows() / 64).max(1);
    let sample = x.every(step);
    let n = sample.n_rows();
    sample.transposed_times(&vec![1.0 / n as f64; n])
}
