//! Whitening for the Mahalanobis distance.
//!
//! With the covariance `S = L L'` (Cholesky), `(x - y)' S^-1 (x - y) = norm(L^-1 x - L^-1 y)^2`. Each row is transformed once to `z = L^-1 (x - center)`; distances are then
//! Euclidean. Cost: d^3 / 6 for the factor, d^2 / 2 per row.
//!
//! Centering changes no distance, but keeps precision if a column is far from zero.

use super::rows::RowMatrix;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The Cholesky factor of a covariance matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Whitening {
    center: Vec<f64>,
    /// The lower triangle of L, row by row.
    factor: Vec<f64>,
}

impl Whitening {
    /// Estimates the covariance of `rows` (divided by n - 1).
    pub fn estimated(rows: &RowMatrix<'_>) -> Result<Whitening> {
        rows.check(false)?;
        let (n, d) = (rows.n_rows(), rows.n_features());
        if n < 2 {
            return Err(Error::data(format!("a covariance needs two rows or more, but there are {n}")));
        }
        let mut row = vec![0.0; d];
        let mut center = vec![0.0; d];
        for i in 0..n {
            rows.copy_row(i, &mut row);
            center.iter_mut().zip(&row).for_each(|(c, v)| *c += v);
        }
        center.iter_mut().for_each(|c| *c /= n as f64);
        let mut covariance = vec![0.0; d * d];
        for i in 0..n {
            rows.copy_row(i, &mut row);
            row.iter_mut().zip(&center).for_each(|(v, c)| *v -= c);
            for (j, line) in covariance.chunks_exact_mut(d).enumerate() {
                let scale = row[j] / (n - 1) as f64;
                line[..=j].iter_mut().zip(&row).for_each(|(s, v)| *s += scale * v);
            }
        }
        Whitening::given(&covariance, &center)
    }

    /// From a d x d covariance matrix, row-major (the lower triangle is used), and a center.
    pub fn given(covariance: &[f64], center: &[f64]) -> Result<Whitening> {
        let d = center.len();
        if covariance.len() != d * d {
            let n = covariance.len();
            return Err(Error::data(format!("a covariance of {d} columns has {} numbers, not {n}", d * d)));
        }
        let mut factor: Vec<f64> = Vec::with_capacity(d * (d + 1) / 2);
        for i in 0..d {
            let start = factor.len();
            for j in 0..=i {
                let (line_i, line_j) = (&factor[start..], &factor[j * (j + 1) / 2..]);
                let dot: f64 = line_i.iter().zip(line_j).take(j).map(|(a, b)| a * b).sum();
                let rest = covariance[i * d + j] - dot;
                let value = if i == j { pivot(rest, covariance[i * d + i], i)? } else { rest / line_j[j] };
                factor.push(value);
            }
        }
        Ok(Whitening { center: center.to_vec(), factor })
    }

    /// Number of columns.
    pub fn n_features(&self) -> usize {
        self.center.len()
    }

    /// Transforms `P` interleaved rows to `L^-1 (row - center)` in place, by forward substitution.
    #[inline(always)]
    pub(super) fn apply_lanes<const P: usize>(&self, columns: &mut [[f64; P]]) {
        let mut start = 0;
        for i in 0..columns.len().min(self.center.len()) {
            let line = &self.factor[start..=start + i];
            let (done, rest) = columns.split_at_mut(i);
            let mut dot = [0.0; P];
            for (z, &l) in done.iter().zip(line) {
                for p in 0..P {
                    dot[p] += l * z[p];
                }
            }
            let (inverse, center) = (1.0 / line[i], self.center[i]);
            for p in 0..P {
                rest[0][p] = (rest[0][p] - center - dot[p]) * inverse;
            }
            start += i + 1;
        }
    }
}

/// The square root of a remaining variance; an error if it is (nearly) zero.
fn pivot(rest: f64, variance: f64, column: usize) -> Result<f64> {
    if rest > 1e-13 * variance && rest.is_finite() {
        return Ok(rest.sqrt());
    }
    Err(Error::data(format!(
        "the covariance is singular: column {column} is constant or a combination of the columns before it; \
         drop it or use another metric"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::metric::Metric;
    use proptest::prelude::*;

    #[test]
    fn distances_match_hand_computed_values() {
        // S = [[4, 2], [2, 2]], S^-1 = [[.5, -.5], [-.5, 1]]; for t = (2, 1): .5*4 - 2*.5*2 + 1 = 1.
        let metric = Metric::Mahalanobis(Whitening::given(&[4.0, 2.0, 2.0, 2.0], &[10.0, -3.0]).unwrap());
        assert!((metric.between(&[3.0, 5.0], &[1.0, 4.0]) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn singular_covariances_are_errors() {
        let rows: Vec<f64> = (0..20).flat_map(|i| [f64::from(i), 2.0 * f64::from(i) + 1.0]).collect();
        let error = Whitening::estimated(&RowMatrix::row_major(&rows, 2).unwrap()).unwrap_err().to_string();
        assert!(error.contains("column 1"), "{error}");
        assert!(Whitening::given(&[0.0], &[0.0]).is_err());
        assert!(Whitening::estimated(&RowMatrix::row_major(&rows[..2], 2).unwrap()).is_err());
    }

    proptest! {
        #[test]
        fn whitened_rows_have_unit_covariance(values in proptest::collection::vec(-5.0..5.0f64, 60)) {
            let rows = RowMatrix::row_major(&values, 3).unwrap();
            let whitening = Whitening::estimated(&rows).unwrap();
            let mut white = vec![0.0; 60];
            white.copy_from_slice(&values);
            white.chunks_mut(3).for_each(|row| whitening.apply_lanes(row.as_chunks_mut::<1>().0));
            for (a, b) in [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)] {
                let cross: f64 = white.chunks(3).map(|z| z[a] * z[b]).sum::<f64>() / 19.0;
                prop_assert!((cross - f64::from(u8::from(a == b))).abs() < 1e-9);
            }
        }
    }
}
