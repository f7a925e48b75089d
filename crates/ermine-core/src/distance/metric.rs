//! Distances between numeric rows. All indexes use the same exact function.
//!
//! | metric | distance of x and y | how an index can use it |
//! |---|---|---|
//! | Euclidean | `sqrt(sum (x_j - y_j)^2)` | boxes |
//! | Manhattan | `sum abs(x_j - y_j)` | boxes |
//! | Minkowski p >= 1 | `(sum abs(x_j - y_j)^p)^(1/p)` | boxes |
//! | Chebyshev | `max abs(x_j - y_j)` | boxes |
//! | cosine | `1 - x'y / (norm(x) norm(y))` | boxes, on rows of length 1 |
//! | Mahalanobis | `sqrt((x - y)' S^-1 (x - y))` | boxes, on whitened rows |
//! | Hamming | share of the columns that differ; missing equals only missing | triangle inequality |
//! | mixed (Gower) | see [`super::mixed`] | depends on the treatment of missing values |
//! | custom | a function | none, or the triangle inequality if the user asserts it |
//!
//! Cosine and Mahalanobis distances are Euclidean distances of transformed rows: [`Metric::embed`] transforms a row, either when it enters an index or, if the transformed
//! rows would take more memory (`keeps_given`), whenever it is compared. For cosine, `norm(u - v)^2 / 2 = 1 - u'v` on unit-length rows, which is also accurate for small
//! distances, where `1 - u'v` would cancel. A row of zeros has no direction; it gets an extra coordinate, which puts it at distance 1 from every other row and 0 from other
//! rows of zeros.
//!
//! If squares would overflow or underflow, differences are first divided by the largest of them, so distances are accurate at any scale. Rows at infinite distance are ordered
//! by row number.
//!
//! Every index computes distances with [`Metric::distance`], whose additions run in a fixed order, so all indexes return bit-identical distances.

use super::mixed::{Missing, Mixed};
use super::rows::{PointElement, RowMatrix};
use super::whiten::Whitening;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A custom distance function between two rows.
pub type Distance = dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync;

/// A custom metric, and whether it obeys the triangle inequality.
#[derive(Clone)]
pub struct Custom {
    distance: Arc<Distance>,
    triangle: bool,
    /// How often the function returned a negative number or NaN. It is called where no error can be returned, so callers compare the count before and after.
    flaws: Arc<AtomicU64>,
}

impl Custom {
    /// A metric with this distance function, which must be symmetric, nonnegative and never NaN. `triangle` states that `d(x, z) <= d(x, y) + d(y, z)` always holds, so
    /// that trees can use it.
    pub fn new(distance: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static, triangle: bool) -> Custom {
        Custom { distance: Arc::new(distance), triangle, flaws: Arc::default() }
    }

    fn measure(&self, a: &[f64], b: &[f64]) -> f64 {
        let distance = (self.distance)(a, b);
        if distance.is_nan() || distance < 0.0 {
            self.flaws.fetch_add(1, Ordering::Relaxed);
        }
        distance
    }
}

/// Distance between two rows.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Euclidean distance.
    Euclidean,
    /// Sum of the absolute differences.
    Manhattan,
    /// Largest absolute difference.
    Chebyshev,
    /// Minkowski distance.
    Minkowski {
        /// The power p, at least 1.
        p: f64,
    },
    /// One minus the cosine of the angle.
    Cosine,
    /// Euclidean distance after removing scale and correlation.
    Mahalanobis(Whitening),
    /// Share of the columns that differ. Missing values (NaN) are equal to each other and to nothing else.
    Hamming,
    /// Gower's distance for numbers, categories and missing values.
    Mixed(Mixed),
    /// A custom metric. It can't be saved to a file.
    #[serde(skip)]
    Custom(Custom),
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Metric::Minkowski { p } => write!(f, "{} (p = {p})", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

/// Up to this many columns, the extra coordinate of the cosine embedding costs too much memory.
const COSINE_FEW: usize = 5;
/// Largest power of the Minkowski metric for which single precision can order sums.
const LARGEST_POWER: f64 = 1000.0;

/// The sum that bounds a metric's distances in a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MetricShape {
    /// Sum of the absolute differences.
    SumAbs,
    /// Sum of the squared differences.
    SumSquares,
    /// Largest absolute difference.
    Largest,
    /// Sum of the absolute differences, each to this power.
    SumPowers(f64),
}

impl Metric {
    /// The name of the metric in parameters.
    pub fn name(&self) -> &'static str {
        match self {
            Metric::Euclidean => "euclidean",
            Metric::Manhattan => "manhattan",
            Metric::Chebyshev => "chebyshev",
            Metric::Minkowski { .. } => "minkowski",
            Metric::Cosine => "cosine",
            Metric::Mahalanobis(_) => "mahalanobis",
            Metric::Hamming => "hamming",
            Metric::Mixed(mixed) if mixed.missing == Missing::Far => "mixed_far",
            Metric::Mixed(_) => "mixed",
            Metric::Custom(_) => "custom",
        }
    }

    /// Checks that the metric can be applied to rows of `n_features` numbers.
    pub fn check(&self, n_features: usize) -> Result<()> {
        let expected = match self {
            Metric::Minkowski { p } if !(*p >= 1.0 && p.is_finite()) => {
                return Err(Error::Param {
                    owner: "minkowski".into(),
                    name: "p".into(),
                    value: p.to_string(),
                    allowed: "a number, at least 1 (below 1 the triangle inequality fails)".into(),
                });
            }
            Metric::Mahalanobis(whitening) => whitening.n_features(),
            Metric::Mixed(mixed) => mixed.columns.len(),
            _ => n_features,
        };
        if expected != n_features {
            return Err(Error::data(format!(
                "the {} metric was made for {expected} columns, but the rows have {n_features}",
                self.name()
            )));
        }
        Ok(())
    }

    /// Checks that `rows` contain only values that have a distance.
    pub fn check_rows(&self, rows: &RowMatrix<'_>) -> Result<()> {
        self.check(rows.n_features())?;
        rows.check(self.takes_missing())
    }

    /// Whether missing values (NaN) are allowed.
    pub fn takes_missing(&self) -> bool {
        matches!(self, Metric::Mixed(_) | Metric::Hamming)
    }

    /// Runs work that computes distances. Returns an error if a custom metric returned a negative number or NaN.
    pub fn check_distances<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        let Metric::Custom(custom) = self else { return Ok(work()) };
        let before = custom.flaws.load(Ordering::Relaxed);
        let done = work();
        if custom.flaws.load(Ordering::Relaxed) == before {
            return Ok(done);
        }
        Err(Error::data(
            "the custom metric returned a distance that is negative or not a number; distances must be at least 0",
        ))
    }

    /// Whether rows are stored in an index without transformation.
    pub fn is_plain(&self) -> bool {
        !matches!(self, Metric::Cosine | Metric::Mahalanobis(_))
    }

    /// Number of columns of a row after [`Metric::embed`].
    pub fn embedded_features(&self, n_features: usize) -> usize {
        if matches!(self, Metric::Cosine) { n_features + 1 } else { n_features }
    }

    /// Whether an index stores rows of `n_features` numbers as given and embeds them whenever they are compared, because embedded rows (double precision, and one column more for
    /// cosine) would take much more memory.
    pub fn keeps_given(&self, n_features: usize, single: bool) -> bool {
        match self {
            Metric::Cosine => single || n_features <= COSINE_FEW,
            Metric::Mahalanobis(_) => single,
            _ => false,
        }
    }

    /// Writes the embedding of `row` to `out`.
    pub fn embed(&self, row: &[f64], out: &mut [f64]) {
        out[..row.len()].copy_from_slice(row);
        self.embed_lanes(row.len(), out.as_chunks_mut::<1>().0);
    }

    /// Embeds `P` interleaved rows, the first `n_features` of the `columns`, in place. Bit-identical to embedding each row by itself.
    #[inline(always)]
    pub fn embed_lanes<const P: usize>(&self, n_features: usize, columns: &mut [[f64; P]]) {
        match self {
            Metric::Cosine => unit(columns, n_features),
            Metric::Mahalanobis(whitening) => whitening.apply_lanes(columns),
            _ => {}
        }
    }

    /// The distance between two embedded rows.
    #[inline(always)]
    pub fn distance<E: PointElement>(&self, a: &[f64], b: &[E]) -> f64 {
        let pair = DensePair { a, b };
        match self {
            Metric::Euclidean | Metric::Mahalanobis(_) => euclidean(pair),
            Metric::Cosine => half_square(pair),
            Metric::Manhattan => pair.sum(f64::abs),
            Metric::Chebyshev => pair.largest(),
            Metric::Minkowski { p } => minkowski(pair, *p),
            Metric::Hamming => share(pair.n_different(), a.len()),
            Metric::Mixed(mixed) => mixed.distance(a, b),
            Metric::Custom(custom) => {
                let b: Vec<f64> = b.iter().map(|v| v.wide()).collect();
                custom.measure(a, &b)
            }
        }
    }

    /// The distance between two rows before embedding.
    pub fn between(&self, a: &[f64], b: &[f64]) -> f64 {
        let width = self.embedded_features(a.len());
        let (mut ea, mut eb) = (vec![0.0; width], vec![0.0; width]);
        self.embed(a, &mut ea);
        self.embed(b, &mut eb);
        self.distance(&ea, &eb)
    }

    /// The sum that bounds distances to a box, if the metric has one.
    pub fn shape(&self) -> Option<MetricShape> {
        match self {
            Metric::Euclidean | Metric::Mahalanobis(_) | Metric::Cosine => Some(MetricShape::SumSquares),
            Metric::Manhattan => Some(MetricShape::SumAbs),
            Metric::Chebyshev => Some(MetricShape::Largest),
            Metric::Minkowski { p } if *p == 1.0 => Some(MetricShape::SumAbs),
            Metric::Minkowski { p } if *p == 2.0 => Some(MetricShape::SumSquares),
            Metric::Minkowski { p } if *p <= LARGEST_POWER => Some(MetricShape::SumPowers(*p)),
            Metric::Minkowski { .. } | Metric::Hamming | Metric::Mixed(_) | Metric::Custom(_) => None,
        }
    }

    /// The norm that corresponds to a distance; they differ only for cosine.
    #[inline(always)]
    pub fn norm_of(&self, distance: f64) -> f64 {
        if matches!(self, Metric::Cosine) { (2.0 * distance.max(0.0)).sqrt() } else { distance }
    }

    /// Whether the triangle inequality holds for [`Metric::norm_of`].
    pub fn has_triangle(&self) -> bool {
        match self {
            Metric::Mixed(mixed) => mixed.has_triangle(),
            Metric::Custom(custom) => custom.triangle,
            _ => true,
        }
    }
}

/// The differences between two rows.
pub trait DifferenceTerms: Copy {
    /// The sum of `f(a_j - b_j)` in eight interleaved parts (column j in part j mod 8), added in a fixed order. `f(0)` is 0.
    fn sum(self, f: impl Fn(f64) -> f64) -> f64;
    /// The largest `|a_j - b_j|`.
    fn largest(self) -> f64;
    /// Number of columns that differ.
    fn n_different(self) -> usize;
}

/// Number of interleaved partial sums.
pub const PARTS: usize = 8;

/// Adds up the partial sums.
#[inline(always)]
pub fn total(parts: [f64; PARTS]) -> f64 {
    ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]))
}

/// Two dense rows.
struct DensePair<'a, E> {
    a: &'a [f64],
    b: &'a [E],
}

impl<E> Clone for DensePair<'_, E> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for DensePair<'_, E> {}

impl<E: PointElement> DifferenceTerms for DensePair<'_, E> {
    #[inline(always)]
    fn sum(self, f: impl Fn(f64) -> f64) -> f64 {
        let mut parts = [0.0; PARTS];
        let (mut a_blocks, mut b_blocks) = (self.a.chunks_exact(PARTS), self.b.chunks_exact(PARTS));
        for (a, b) in (&mut a_blocks).zip(&mut b_blocks) {
            for lane in 0..PARTS {
                parts[lane] += f(a[lane] - b[lane].wide());
            }
        }
        for ((part, a), b) in parts.iter_mut().zip(a_blocks.remainder()).zip(b_blocks.remainder()) {
            *part += f(a - b.wide());
        }
        total(parts)
    }

    #[inline(always)]
    fn largest(self) -> f64 {
        self.a.iter().zip(self.b).fold(0.0, |most, (a, b)| f64::max(most, (a - b.wide()).abs()))
    }

    #[inline(always)]
    fn n_different(self) -> usize {
        let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
        self.a.iter().zip(self.b).filter(|(a, b)| !same(**a, b.wide())).count()
    }
}

/// If the sum of squares is in this range, underflow and overflow lost nothing.
const SQUARES: std::ops::Range<f64> = 1e-280..f64::INFINITY;

#[inline(always)]
/// The Euclidean distance of two rows.
pub fn euclidean(pair: impl DifferenceTerms) -> f64 {
    let squares = pair.sum(|t| t * t);
    if SQUARES.contains(&squares) { squares.sqrt() } else { far_or_near(pair) }
}

/// The cosine distance of two unit-length rows.
#[inline(always)]
pub fn half_square(pair: impl DifferenceTerms) -> f64 {
    0.5 * pair.sum(|t| t * t)
}

/// The Euclidean distance if squares would overflow or underflow.
#[cold]
fn far_or_near(pair: impl DifferenceTerms) -> f64 {
    let most = pair.largest();
    if most == 0.0 || most.is_infinite() {
        return most;
    }
    // Scaling by a power of two is exact. Its reciprocal could overflow, so it is applied in two halves.
    let half = 2f64.powi((most.log2() / 2.0) as i32);
    pair.sum(|t| (t / half / half) * (t / half / half)).sqrt() * half * half
}

/// The Minkowski distance, scaled by the largest difference so that no power overflows.
#[inline(always)]
pub fn minkowski(pair: impl DifferenceTerms, p: f64) -> f64 {
    if p == 1.0 {
        return pair.sum(f64::abs);
    }
    if p == 2.0 {
        return euclidean(pair);
    }
    let most = pair.largest();
    if most == 0.0 || most.is_infinite() {
        return most;
    }
    most * pair.sum(|t| (t.abs() / most).powf(p)).powf(1.0 / p)
}

/// The share of columns that differ.
#[inline(always)]
pub fn share(n_different: usize, n_features: usize) -> f64 {
    n_different as f64 / n_features.max(1) as f64
}

/// Scales rows to unit length and adds a coordinate for rows of zeros. Rows are first divided by the power of two nearest to their largest entry, which is exact and keeps
/// squares in range.
#[inline(always)]
fn unit<const P: usize>(columns: &mut [[f64; P]], n_features: usize) {
    let (head, tail) = columns.split_at_mut(n_features);
    let (mut most, mut squares) = ([0.0f64; P], [0.0; P]);
    for column in head.iter() {
        for p in 0..P {
            most[p] = if column[p].abs() > most[p] { column[p].abs() } else { most[p] };
        }
    }
    let scale = most.map(|most| f64::from_bits(2046u64.saturating_sub(most.to_bits() >> 52).max(1) << 52));
    for column in head.iter_mut() {
        for p in 0..P {
            column[p] *= scale[p];
            squares[p] += column[p] * column[p];
        }
    }
    let inverse = squares.map(|squares| 1.0 / squares.sqrt());
    for column in head {
        for p in 0..P {
            column[p] = if most[p] == 0.0 { 0.0 } else { column[p] * inverse[p] };
        }
    }
    for column in tail {
        *column = most.map(|most| f64::from(u8::from(most == 0.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(d: usize) -> Vec<Metric> {
        vec![
            Metric::Euclidean,
            Metric::Manhattan,
            Metric::Chebyshev,
            Metric::Minkowski { p: 1.0 },
            Metric::Minkowski { p: 2.0 },
            Metric::Minkowski { p: 3.5 },
            Metric::Cosine,
            Metric::Hamming,
            Metric::Mahalanobis(Whitening::given(&identity(d), &vec![0.0; d]).unwrap()),
        ]
    }

    fn identity(d: usize) -> Vec<f64> {
        (0..d * d).map(|i| f64::from(u8::from(i % (d + 1) == 0))).collect()
    }

    #[test]
    fn distances_match_hand_computed_values() {
        let (a, b) = ([0.0, 3.0, -1.0], [4.0, 0.0, -1.0]);
        let expected = [5.0, 7.0, 4.0, 7.0, 5.0, (4f64.powf(3.5) + 3f64.powf(3.5)).powf(1.0 / 3.5)];
        for (metric, expected) in all(3).iter().zip(expected) {
            assert!((metric.between(&a, &b) - expected).abs() < 1e-12, "{metric:?}");
        }
        let cosine = 1.0 - 1.0 / (10f64.sqrt() * 17f64.sqrt());
        assert!((Metric::Cosine.between(&a, &b) - cosine).abs() < 1e-12);
        assert_eq!(Metric::Hamming.between(&a, &b), 2.0 / 3.0);
        assert!((Metric::Cosine.between(&a, &[0.0; 3]) - 1.0).abs() < 1e-15);
        assert_eq!(Metric::Cosine.between(&[0.0; 3], &[0.0; 3]), 0.0);
        assert!(Metric::Minkowski { p: 0.5 }.check(3).is_err());
    }

    proptest! {
        /// Scaling rows by a power of two scales distances exactly.
        #[test]
        fn distances_scale_with_the_rows(rows in proptest::collection::vec(-9.0..9.0f64, 10), power in -1000i32..1000) {
            let scale = 2f64.powi(power);
            let moved: Vec<f64> = rows.iter().map(|v| v * scale).collect();
            for metric in all(5).iter().filter(|metric| metric.shape().is_some()) {
                let (near, far) = (metric.between(&rows[..5], &rows[5..]), metric.between(&moved[..5], &moved[5..]));
                let expected = if matches!(metric, Metric::Cosine) { near } else { near * scale };
                prop_assert!((far - expected).abs() <= 1e-12 * expected, "{:?}: {} {}", metric, far, expected);
            }
        }

        /// Embedding rows side by side gives the same bits as embedding them one by one.
        #[test]
        fn embed_lanes_equals_embed(rows in proptest::collection::vec(prop_oneof![3 => -9.0..9.0f64, 1 => Just(0.0), 1 => any::<f64>()], 80), d in 1usize..5) {
            let rows: Vec<f64> = rows.into_iter().map(|v| if v.abs() < 1e300 { v } else { 1.0 }).collect();
            let covariance: Vec<f64> = (0..d * d).map(|i| if i % (d + 1) == 0 { 3.0 } else { 0.7 }).collect();
            let given = Whitening::given(&covariance, &vec![0.1; d]).unwrap();
            for metric in [Metric::Cosine, Metric::Mahalanobis(given)] {
                let width = metric.embedded_features(d);
                let mut columns = vec![[0.0; 16]; width];
                rows.chunks(d).take(16).enumerate().for_each(|(p, row)| (0..d).for_each(|j| columns[j][p] = row[j]));
                metric.embed_lanes(d, &mut columns);
                let mut out = vec![0.0; width];
                for (p, row) in rows.chunks(d).take(16).enumerate() {
                    metric.embed(row, &mut out);
                    prop_assert!(out.iter().zip(&columns).all(|(a, b)| a.to_bits() == b[p].to_bits()));
                }
            }
        }

        #[test]
        fn metrics_are_metrics(rows in proptest::collection::vec(-9.0..9.0f64, 15)) {
            let (a, rest) = rows.split_at(5);
            let (b, c) = rest.split_at(5);
            for metric in all(5) {
                let d = |x: &[f64], y: &[f64]| metric.norm_of(metric.between(x, y));
                prop_assert_eq!(d(a, b).to_bits(), d(b, a).to_bits());
                prop_assert_eq!(d(a, a), 0.0);
                prop_assert!(metric.has_triangle() && d(a, c) <= (d(a, b) + d(b, c)) * (1.0 + 1e-12));
            }
        }
    }
}
