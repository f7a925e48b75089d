//! Distances between rows of numbers, one exact function for all indexes.
//!
//! | metric | distance of x and y | shape that a tree can use |
//! |---|---|---|
//! | Euclidean | `sqrt(sum (x_j - y_j)^2)` | boxes |
//! | Manhattan | `sum abs(x_j - y_j)` | boxes |
//! | Minkowski p >= 1 | `(sum abs(x_j - y_j)^p)^(1/p)` | boxes |
//! | Chebyshev | `max abs(x_j - y_j)` | boxes |
//! | cosine | `1 - x'y / (norm(x) norm(y))` | boxes, on rows of length 1 |
//! | Mahalanobis | `sqrt((x - y)' S^-1 (x - y))` | boxes, on whitened rows |
//! | Hamming | share of the columns that differ; missing is a value like no other | triangle inequality |
//! | mixed (Gower) | see [`super::mixed`] | depends on the treatment of missing values |
//! | a user's own | a function | none, or the triangle inequality if the user vouches for it |
//!
//! Cosine and Mahalanobis are Euclidean in disguise: [`Metric::embed`] turns a row into one whose Euclidean distances
//! are the wanted ones, once when it enters an index. For cosine `norm(u - v)^2 / 2 = 1 - u'v` on rows of length 1, which
//! also keeps small distances accurate where `1 - u'v` would cancel. A row of zeros has no direction: it gets a direction
//! of its own (one more coordinate), at distance 1 from every other row and 0 from another row of zeros.
//!
//! Squares that would overflow or underflow are taken of differences divided by the largest of them, so that distances are right at any scale
//! whose differences are finite. An infinite distance is a distance like any other: rows that far are ordered by their numbers.
//!
//! Every index measures with [`Metric::distance`], whose additions run in one fixed order: the same pair of rows
//! has the same distance, to the last bit, whichever index finds it.

use super::mixed::{Missing, Mixed};
use super::rows::{Element, Rows};
use super::whiten::Whitening;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A user's own distance between two rows.
pub type Distance = dyn Fn(&[f64], &[f64]) -> f64 + Send + Sync;

/// A user's own metric, and whether it obeys the triangle inequality.
#[derive(Clone)]
pub struct Custom {
    distance: Arc<Distance>,
    triangle: bool,
    /// How often the function gave what is no distance. (It runs where no error can be returned: whoever asks looks here before and after.)
    flaws: Arc<AtomicU64>,
}

impl Custom {
    /// A metric of this distance, which must be symmetric, 0 or more, and never NaN. `triangle` says whether `d(x, z) <= d(x, y) + d(y, z)` always
    /// holds, so that a tree may use it.
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

/// How far apart two rows are.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Straight-line distance.
    Euclidean,
    /// Sum of the absolute differences.
    Manhattan,
    /// Largest absolute difference.
    Chebyshev,
    /// Any other power from 1 up.
    Minkowski {
        /// The power.
        p: f64,
    },
    /// One minus the cosine of the angle.
    Cosine,
    /// Euclidean after taking out scale and correlation.
    Mahalanobis(Whitening),
    /// Share of the columns that differ. Missing values (NaN) are equal to each other and to nothing else.
    Hamming,
    /// Numbers, categories and missing values together.
    Mixed(Mixed),
    /// A user's own. It can't be written to a file.
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

/// Powers of the Minkowski metric up to which single precision tells sums apart.
const LARGEST_POWER: f64 = 1000.0;

/// The sum that bounds a metric's distances in a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    SumAbs,
    SumSquares,
    Largest,
    SumPowers(f64),
}

impl Metric {
    /// Its name, as parameters spell it.
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

    /// An error if the metric can't measure rows of `n_features` numbers.
    pub fn check(&self, n_features: usize) -> Result<()> {
        let expected = match self {
            Metric::Minkowski { p } if !(*p >= 1.0 && p.is_finite()) => {
                return Err(Error::Param {
                    owner: "minkowski".into(),
                    name: "p".into(),
                    value: p.to_string(),
                    allowed: "a number from 1 up (below 1 the triangle inequality fails)".into(),
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

    /// An error if `rows` hold something that has no distance.
    pub fn check_rows(&self, rows: &Rows<'_>) -> Result<()> {
        self.check(rows.n_features())?;
        rows.check(self.takes_missing())
    }

    /// Whether a missing value (NaN) has a distance to others.
    pub(super) fn takes_missing(&self) -> bool {
        matches!(self, Metric::Mixed(_) | Metric::Hamming)
    }

    /// Does work that measures distances. An error if a user's own metric gave one that is negative or not a number.
    pub(super) fn watched<T>(&self, work: impl FnOnce() -> T) -> Result<T> {
        let Metric::Custom(custom) = self else { return Ok(work()) };
        let before = custom.flaws.load(Ordering::Relaxed);
        let done = work();
        if custom.flaws.load(Ordering::Relaxed) == before {
            return Ok(done);
        }
        Err(Error::data("the metric gave a distance that is negative or not a number: expected 0 or more"))
    }

    /// Whether rows enter an index as they are.
    pub(super) fn is_plain(&self) -> bool {
        !matches!(self, Metric::Cosine | Metric::Mahalanobis(_))
    }

    /// Width of a row after [`Metric::embed`].
    pub fn embedded_features(&self, n_features: usize) -> usize {
        if matches!(self, Metric::Cosine) { n_features + 1 } else { n_features }
    }

    /// Writes to `out` the row that the index measures in place of `row`.
    pub fn embed(&self, row: &[f64], out: &mut [f64]) {
        match self {
            Metric::Cosine => unit(row, out),
            Metric::Mahalanobis(whitening) => whitening.apply(row, out),
            _ => out.copy_from_slice(row),
        }
    }

    /// The distance between two embedded rows.
    #[inline(always)]
    pub fn distance<E: Element>(&self, a: &[f64], b: &[E]) -> f64 {
        match self {
            Metric::Euclidean | Metric::Mahalanobis(_) => euclidean(a, b),
            Metric::Cosine => 0.5 * sum(a, b, |t| t * t),
            Metric::Manhattan => sum(a, b, f64::abs),
            Metric::Chebyshev => largest(a, b),
            Metric::Minkowski { p } => minkowski(a, b, *p),
            Metric::Hamming => differing(a, b),
            Metric::Mixed(mixed) => mixed.distance(a, b),
            Metric::Custom(custom) => {
                let b: Vec<f64> = b.iter().map(|v| v.wide()).collect();
                custom.measure(a, &b)
            }
        }
    }

    /// The distance between two rows as the user gives them.
    pub fn between(&self, a: &[f64], b: &[f64]) -> f64 {
        let width = self.embedded_features(a.len());
        let (mut ea, mut eb) = (vec![0.0; width], vec![0.0; width]);
        self.embed(a, &mut ea);
        self.embed(b, &mut eb);
        self.distance(&ea, &eb)
    }

    /// The sum that a box can bound, if there is one, and p.
    pub(super) fn shape(&self) -> Option<Shape> {
        match self {
            Metric::Euclidean | Metric::Mahalanobis(_) | Metric::Cosine => Some(Shape::SumSquares),
            Metric::Manhattan => Some(Shape::SumAbs),
            Metric::Chebyshev => Some(Shape::Largest),
            Metric::Minkowski { p } if *p == 1.0 => Some(Shape::SumAbs),
            Metric::Minkowski { p } if *p == 2.0 => Some(Shape::SumSquares),
            Metric::Minkowski { p } if *p <= LARGEST_POWER => Some(Shape::SumPowers(*p)),
            Metric::Minkowski { .. } | Metric::Hamming | Metric::Mixed(_) | Metric::Custom(_) => None,
        }
    }

    /// The norm of the difference that belongs to a distance (they differ for cosine alone).
    #[inline(always)]
    pub(super) fn norm_of(&self, distance: f64) -> f64 {
        if matches!(self, Metric::Cosine) { (2.0 * distance.max(0.0)).sqrt() } else { distance }
    }

    /// Whether the triangle inequality holds for [`Metric::norm_of`] the distance.
    pub(super) fn has_triangle(&self) -> bool {
        match self {
            Metric::Mixed(mixed) => mixed.has_triangle(),
            Metric::Custom(custom) => custom.triangle,
            _ => true,
        }
    }
}

/// The sum of `f(a_j - b_j)` in eight interleaved parts, added up in a fixed order.
#[inline(always)]
pub(super) fn sum<E: Element>(a: &[f64], b: &[E], f: impl Fn(f64) -> f64) -> f64 {
    const LANES: usize = 8;
    let mut parts = [0.0; LANES];
    let (mut a_blocks, mut b_blocks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    for (a, b) in (&mut a_blocks).zip(&mut b_blocks) {
        for lane in 0..LANES {
            parts[lane] += f(a[lane] - b[lane].wide());
        }
    }
    for ((part, a), b) in parts.iter_mut().zip(a_blocks.remainder()).zip(b_blocks.remainder()) {
        *part += f(a - b.wide());
    }
    ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]))
}

#[inline(always)]
fn largest<E: Element>(a: &[f64], b: &[E]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b.wide()).abs()))
}

/// Squares whose sum is inside this range lost nothing that matters to underflow or overflow.
const SQUARES: std::ops::Range<f64> = 1e-280..f64::INFINITY;

#[inline(always)]
fn euclidean<E: Element>(a: &[f64], b: &[E]) -> f64 {
    let squares = sum(a, b, |t| t * t);
    if SQUARES.contains(&squares) { squares.sqrt() } else { far_or_near(a, b) }
}

/// The Euclidean distance of rows that are very far apart or very near.
#[cold]
fn far_or_near<E: Element>(a: &[f64], b: &[E]) -> f64 {
    let most = largest(a, b);
    if most == 0.0 || most.is_infinite() {
        return most;
    }
    // A power of two rounds nothing; its own reciprocal would leave the range for the smallest differences, so it comes in two halves.
    let half = 2f64.powi((most.log2() / 2.0) as i32);
    sum(a, b, |t| (t / half / half) * (t / half / half)).sqrt() * half * half
}

/// Scaled by the largest difference, so that no power overflows.
#[inline(always)]
fn minkowski<E: Element>(a: &[f64], b: &[E], p: f64) -> f64 {
    if p == 1.0 {
        return sum(a, b, f64::abs);
    }
    if p == 2.0 {
        return euclidean(a, b);
    }
    let most = largest(a, b);
    if most == 0.0 || most.is_infinite() {
        return most;
    }
    most * sum(a, b, |t| (t.abs() / most).powf(p)).powf(1.0 / p)
}

#[inline(always)]
fn differing<E: Element>(a: &[f64], b: &[E]) -> f64 {
    let same = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    let count = a.iter().zip(b).filter(|(a, b)| !same(**a, b.wide())).count();
    count as f64 / a.len().max(1) as f64
}

/// `row` divided by its length, with one more coordinate for the row of zeros. Dividing by the largest entry first keeps
/// the squares in range.
fn unit(row: &[f64], out: &mut [f64]) {
    let most = row.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let (head, tail) = out.split_at_mut(row.len());
    if most == 0.0 {
        head.fill(0.0);
        tail.fill(1.0);
        return;
    }
    for (to, from) in head.iter_mut().zip(row) {
        *to = from / most;
    }
    let length = head.iter().map(|v| v * v).sum::<f64>().sqrt();
    head.iter_mut().for_each(|v| *v /= length);
    tail.fill(0.0);
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
    fn distances_by_hand() {
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
        /// A power of two moves distances and nothing else.
        #[test]
        fn distances_follow_the_scale(rows in proptest::collection::vec(-9.0..9.0f64, 10), power in -1000i32..1000) {
            let scale = 2f64.powi(power);
            let moved: Vec<f64> = rows.iter().map(|v| v * scale).collect();
            for metric in all(5).iter().filter(|metric| metric.shape().is_some()) {
                let (near, far) = (metric.between(&rows[..5], &rows[5..]), metric.between(&moved[..5], &moved[5..]));
                let expected = if matches!(metric, Metric::Cosine) { near } else { near * scale };
                prop_assert!((far - expected).abs() <= 1e-12 * expected, "{:?}: {} {}", metric, far, expected);
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
