//! The kernel matrix of the features, in single or double precision.

use crate::kernel::mercer::{self, MercerVerdict};
use crate::kernel::points::{center, mean};
use crate::kernel::{Kernel, KernelElement, KernelMatrix, KernelPoints, PrecomputedMatrix, whole};
use crate::learner::linear::kernel_machine::{dense_rows, require_rows};
use crate::optim::smo::{self, DualProblem, SmoOptions, SmoSolution};
use ermine_core::error::{Error, Result};
use ermine_core::linalg::Design;
use ermine_core::matrix::Features;
use ermine_core::progress::Observer;

/// A kernel matrix for training.
pub enum KernelSource {
    /// Single precision, for many rows: half the memory and twice the speed.
    Single(KernelPoints<f32>),
    /// Double precision, for few rows or for values that single precision can't distinguish.
    Double(KernelPoints<f64>),
    /// Precomputed, or computed once for several problems.
    Given(Vec<f64>, usize),
    /// The same in single precision.
    GivenSingle(Vec<f32>, usize),
}

/// Minimum number of rows for single precision.
const MANY: usize = 4096;
/// Maximum number of values of a sparse table that is made dense.
const MOST_NUMBERS: usize = 1 << 32;
/// Values up to this magnitude keep kernel values in the range of single precision.
const LARGEST: f64 = 1e12;
/// Exponents of Gaussians up to this magnitude lose less than 1e-5 to the rounding of squared norms.
const LARGEST_EXPONENT: f64 = 64.0;

impl KernelSource {
    /// The kernel matrix of the centered rows of a table; without a kernel, the table contains it, in the given columns or in all.
    pub fn new(kernel: Option<Kernel>, x: &Design, center: &[f64], columns: Option<&[u32]>) -> Result<KernelSource> {
        let Some(kernel) = kernel else { return given(x, columns) };
        if x.n_rows().saturating_mul(x.n_columns()) > MOST_NUMBERS {
            return Err(Error::data(format!(
                "a sparse table of {} rows and {} columns is too large for a kernel, which needs dense rows: use linear-svc or linear-svr",
                x.n_rows(),
                x.n_columns()
            )));
        }
        require_rows(x)?;
        if fits_single(&kernel, x, center) {
            return Ok(KernelSource::Single(KernelPoints::new(kernel, x, center)));
        }
        let points = KernelPoints::new(kernel, x, center);
        check_range(&kernel, &points)?;
        Ok(KernelSource::Double(points))
    }

    /// Whether values are in single precision.
    pub fn is_single(&self) -> bool {
        matches!(self, KernelSource::Single(_) | KernelSource::GivenSingle(..))
    }

    /// Solves a dual problem over some of the rows; all if `None`.
    /// Warm-starts from a solution with smaller bounds, if there is one.
    pub fn solve(
        &self,
        rows: Option<&[u32]>,
        dual: &DualProblem,
        options: &SmoOptions,
        earlier: Option<&SmoSolution>,
    ) -> Result<SmoSolution> {
        let solution = self.minimize(rows, dual, options, earlier)?;
        let all = solution.sums.iter().chain(&solution.variables).chain([&solution.intercept]);
        if all.into_iter().all(|v| v.is_finite()) {
            return Ok(solution);
        }
        Err(Error::data("sums of kernel values overflow: use standardize = true or a smaller C"))
    }

    fn minimize(
        &self,
        rows: Option<&[u32]>,
        dual: &DualProblem,
        options: &SmoOptions,
        earlier: Option<&SmoSolution>,
    ) -> Result<SmoSolution> {
        match (self, rows) {
            (KernelSource::Single(points), None) => smo::solve_from(points, dual, options, earlier),
            (KernelSource::Double(points), None) => smo::solve_from(points, dual, options, earlier),
            (KernelSource::Single(points), Some(rows)) => smo::solve_from(&points.select(rows), dual, options, earlier),
            (KernelSource::Double(points), Some(rows)) => smo::solve_from(&points.select(rows), dual, options, earlier),
            (KernelSource::Given(values, n), rows) => {
                over_given(&PrecomputedMatrix::new(values, *n), rows, dual, options, earlier)
            }
            (KernelSource::GivenSingle(values, n), rows) => {
                over_given(&PrecomputedMatrix::new(values, *n), rows, dual, options, earlier)
            }
        }
    }

    /// The full kernel matrix, if it fits into this many bytes and reading a value is faster than computing it.
    pub fn kept(&self, bytes: usize, observer: &dyn Observer) -> Result<Option<KernelSource>> {
        let fits = |n: usize, size: usize| n.saturating_mul(n).saturating_mul(size) <= bytes;
        match self {
            KernelSource::Single(p) if p.is_dear() && fits(p.len(), 4) => {
                Ok(Some(KernelSource::GivenSingle(whole(p, observer)?, p.len())))
            }
            KernelSource::Double(p) if p.is_dear() && fits(p.len(), 8) => {
                Ok(Some(KernelSource::Given(whole(p, observer)?, p.len())))
            }
            _ => Ok(None),
        }
    }

    /// The kernel value of two rows, if the full matrix is kept.
    pub fn kept_value(&self, i: usize, j: usize) -> Option<f64> {
        match self {
            KernelSource::Given(values, n) => Some(values[i * n + j]),
            KernelSource::GivenSingle(values, n) => Some(f64::from(values[i * n + j])),
            _ => None,
        }
    }

    /// The largest `k(x, x)`.
    pub fn largest_diagonal(&self) -> f64 {
        let of = |n: usize, value: &dyn Fn(usize) -> f64| (0..n).map(value).fold(0.0, f64::max);
        match self {
            KernelSource::Single(points) => of(points.len(), &|i| points.diagonal(i)),
            KernelSource::Double(points) => of(points.len(), &|i| points.diagonal(i)),
            KernelSource::Given(values, n) => of(*n, &|i| values[i * n + i]),
            KernelSource::GivenSingle(values, n) => of(*n, &|i| f64::from(values[i * n + i])),
        }
    }

    /// A warning if the kernel matrix is not, or not known to be, positive semidefinite: the problem is then not convex. Precomputed values are checked; for kernels it is known.
    pub fn warning(&self, kernel: Option<&Kernel>) -> Result<Option<String>> {
        match (self, kernel) {
            (KernelSource::Given(values, n), _) => Ok(match mercer::verdict(values, *n, 1e-7)? {
                MercerVerdict::DotProducts => None,
                MercerVerdict::Offends { least, largest } => Some(format!(
                    "the kernel matrix is not positive semidefinite (Mercer's condition): its smallest eigenvalue is {least:.6e}, its largest {largest:.6e}, so nothing is proven about the minimum"
                )),
                MercerVerdict::Unknown => Some(format!(
                    "it is not proven that the kernel matrix of {n} rows is positive semidefinite (Mercer's condition): Lanczos' method found no negative eigenvalue; nothing is proven about the minimum"
                )),
            }),
            (_, Some(kernel)) if !kernel.is_mercer() => Ok(Some(
                "this kernel need not be positive semidefinite (Mercer's condition), so nothing is proven about the minimum".into(),
            )),
            _ => Ok(None),
        }
    }
}

/// The center of the columns: their means for kernels of distances, and for dot products if the dual variables sum to 0 (`balanced`). It only changes
/// the intercept and, far from the origin, avoids rounding errors.
pub fn center_of(kernel: Option<&Kernel>, x: &Design, balanced: bool) -> Vec<f64> {
    match kernel {
        Some(Kernel::Linear) if balanced => mean(x),
        Some(kernel) => center(kernel, x),
        None => Vec::new(),
    }
}

/// For a precomputed kernel, the columns that belong to the rows of the features, one for each row of the table. A subset of rows, such as a fold or a pair of classes,
/// is then a subset of columns too.
pub fn own_columns(features: &Features) -> Option<&[u32]> {
    let square = features.columns().first().is_some_and(|column| column.len() == features.n_columns());
    features.rows().filter(|_| square)
}

/// Rejects rows whose kernel values overflow double precision.
fn check_range(kernel: &Kernel, points: &KernelPoints<f64>) -> Result<()> {
    let ((largest, square), d) = (points.largest(), points.n_columns() as f64);
    let bound = match *kernel {
        Kernel::Linear => square,
        Kernel::Polynomial { degree, gamma, coef0 } => {
            gamma.mul_add(square, coef0.abs()).powi(degree.min(i32::MAX as u32) as i32)
        }
        Kernel::Sigmoid { gamma, coef0 } => gamma.mul_add(square, coef0.abs()),
        Kernel::Gaussian { gamma } => 4.0 * gamma * square,
        Kernel::Laplacian { gamma } => 2.0 * gamma * largest * d,
    };
    let by_squares = !matches!(kernel, Kernel::Laplacian { .. });
    let wrong = if !bound.is_finite() || (by_squares && !square.is_finite()) {
        "large: kernel values overflow"
    } else if by_squares && largest > 0.0 && square < f64::MIN_POSITIVE {
        "small: kernel values underflow"
    } else {
        return Ok(());
    };
    Err(Error::data(format!("the values are too {wrong} (use standardize = true)")))
}

fn over_given<E: KernelElement>(
    gram: &PrecomputedMatrix<'_, E>,
    rows: Option<&[u32]>,
    dual: &DualProblem,
    options: &SmoOptions,
    earlier: Option<&SmoSolution>,
) -> Result<SmoSolution> {
    match rows {
        None => smo::solve_from(gram, dual, options, earlier),
        Some(rows) => smo::solve_from(&*gram.select(rows), dual, options, earlier),
    }
}

/// Some rows of a table, one after the other.
pub fn rows_of(x: &Design, rows: &[u32]) -> Vec<f64> {
    let p = x.n_columns();
    let (mut out, mut buffer) = (vec![0.0; rows.len() * p], Vec::new());
    for (&i, out) in rows.iter().zip(out.chunks_exact_mut(p.max(1))) {
        let i = i as usize;
        match x {
            Design::Dense(x) => out.copy_from_slice(x.block(i..i + 1, &mut buffer).row(0, p)),
            Design::Sparse(x) => {
                let (places, numbers) = x.rows().line(i);
                places.iter().zip(numbers).for_each(|(&j, &v)| out[j as usize] = v);
            }
        }
    }
    out
}

/// Whether single precision is enough for these rows and this kernel.
fn fits_single(kernel: &Kernel, x: &Design, center: &[f64]) -> bool {
    if x.n_rows() < MANY {
        return false;
    }
    let (mut largest, mut square) = (0.0f64, 0.0f64);
    let mut buffer = Vec::new();
    let mut look = |i: usize| {
        let size: f64 = match x {
            Design::Dense(x) => {
                let block = x.block(i..i + 1, &mut buffer);
                block.row(0, x.n_columns()).iter().zip(center).map(|(v, c)| (v - c) * (v - c)).sum()
            }
            // Sparse rows are near zero in most columns, so their norms bound the values.
            Design::Sparse(x) => x.rows().line(i).1.iter().map(|v| v * v).sum(),
        };
        square = square.max(size);
        largest = largest.max(size.sqrt());
    };
    (0..x.n_rows()).for_each(&mut look);
    match kernel {
        Kernel::Gaussian { gamma } => largest < LARGEST && gamma * square < LARGEST_EXPONENT,
        Kernel::Polynomial { degree, gamma, coef0 } => {
            largest < LARGEST && gamma.mul_add(square, coef0.abs()).powi(*degree as i32) < LARGEST
        }
        Kernel::Linear => square < LARGEST,
        Kernel::Sigmoid { .. } | Kernel::Laplacian { .. } => largest < LARGEST,
    }
}

/// Some or all columns of the table as a checked kernel matrix.
fn given(x: &Design, columns: Option<&[u32]>) -> Result<KernelSource> {
    let (n, width) = (x.n_rows(), x.n_columns());
    if let Some(columns) = columns.filter(|columns| columns.len() == n && columns.iter().all(|&c| (c as usize) < width))
    {
        let all = dense_rows(x)?;
        let values: Vec<f64> =
            all.chunks_exact(width.max(1)).flat_map(|row| columns.iter().map(|&c| row[c as usize])).collect();
        mercer::check_symmetric(&values, n)?;
        return Ok(KernelSource::Given(values, n));
    }
    if width != n {
        return Err(Error::data(format!(
            "kernel = precomputed needs one column per training row (got {n} rows and {} columns)",
            x.n_columns()
        )));
    }
    let values = dense_rows(x)?;
    mercer::check_symmetric(&values, n)?;
    Ok(KernelSource::Given(values, n))
}
