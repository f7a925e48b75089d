//! Ranks of values among the thresholds of a column.
//!
//! **Idea.** With the thresholds of a column sorted, the rank of x (the number of thresholds below it) decides all tests: `x <= t[r]` is `rank(x) <= r`. A rank is computed once per value, whatever
//! the number of trees.
//!
//! **Algorithm.** The range is divided into equal buckets, with the rank at the start of each. Rounding is monotone, so a threshold in a lower bucket than x is below x, and one in a higher bucket is not; only
//! the few thresholds in the bucket of x are compared with it. If some bucket contains many (unevenly spaced thresholds), bisection is used instead.
//!
//! **Cost.** About two cycles per value. 3 KB per column, so that buckets and thresholds stay in the first-level cache while a block is ranked.

use ermine_core::versions;

/// Maximum number of thresholds of a byte.
pub(super) const MOST_BYTES: usize = u8::MAX as usize;

/// Number of buckets per column.
const BUCKETS: usize = 1024;

/// Maximum number of comparisons in a bucket before bisection is faster.
const MOST_IN_BUCKET: usize = 5;

/// The sorted thresholds of a column.
#[derive(Debug, Clone)]
pub(super) struct ThresholdRanks {
    /// Distinct, ascending.
    thresholds: Vec<f64>,
    /// For at most [`MOST_BYTES`] thresholds.
    grid: Option<Box<RankTable>>,
    /// For more.
    wide: Option<WideRankTable>,
}

/// Buckets over many thresholds, with bisection in a bucket.
#[derive(Debug, Clone)]
struct WideRankTable {
    low: f64,
    scale: f64,
    /// The rank at the start of each bucket.
    starts: Vec<u16>,
    /// The thresholds, padded with infinities for the first bisection step.
    thresholds: Vec<f64>,
    /// The first step of bisection: a power of two.
    first: usize,
}

/// Buckets over at most 255 thresholds.
#[derive(Debug, Clone)]
struct RankTable {
    low: f64,
    scale: f64,
    /// The rank at the start of each bucket.
    starts: [u8; BUCKETS],
    /// The thresholds, padded with infinities.
    thresholds: [f64; 256],
    /// Maximum number of thresholds per bucket.
    most: usize,
}

impl ThresholdRanks {
    /// Sorts thresholds, none of which is NaN; `None` if there are too many for two bytes.
    pub fn new(mut thresholds: Vec<f64>) -> Option<ThresholdRanks> {
        thresholds.sort_unstable_by(f64::total_cmp);
        thresholds.dedup();
        if thresholds.len() > u16::MAX as usize {
            return None;
        }
        let few = thresholds.len() <= MOST_BYTES;
        let grid = few.then(|| Box::new(RankTable::new(&thresholds)));
        let wide = (!few).then(|| WideRankTable::new(&thresholds));
        Some(ThresholdRanks { thresholds, grid, wide })
    }

    /// The number of thresholds.
    pub fn len(&self) -> usize {
        self.thresholds.len()
    }

    /// The number of thresholds below x; 0 for NaN.
    #[inline]
    pub fn rank(&self, x: f64) -> usize {
        match (&self.grid, &self.wide) {
            (Some(grid), _) => grid.rank(x) as usize,
            (None, Some(wide)) => wide.rank(x),
            (None, None) => 0,
        }
    }

    /// The rank of each value as a byte, and `missing` for NaN. There are at most [`MOST_BYTES`] thresholds.
    pub fn bytes(&self, x: &[f64], missing: u8, out: &mut [u8]) {
        let Some(grid) = &self.grid else { return };
        match grid.most {
            0 | 1 => grid.ranks::<1>(x, out),
            2 => grid.ranks::<2>(x, out),
            3 => grid.ranks::<3>(x, out),
            4..=MOST_IN_BUCKET => grid.ranks::<MOST_IN_BUCKET>(x, out),
            _ => out.iter_mut().zip(x).for_each(|(out, &x)| *out = grid.bisect(x)),
        }
        mark_missing(x, missing, out);
    }
}

impl WideRankTable {
    fn new(sorted: &[f64]) -> WideRankTable {
        let n_buckets = (4 * sorted.len()).next_power_of_two();
        let (low, scale) = line(sorted, n_buckets);
        let mut inside = vec![0usize; n_buckets];
        sorted.iter().for_each(|&t| inside[bucket(t, low, scale, n_buckets)] += 1);
        let most = inside.iter().copied().max().unwrap_or(0);
        let mut before = 0;
        let start = |inside: usize| {
            before += inside;
            (before - inside) as u16
        };
        let starts = inside.into_iter().map(start).collect();
        let first = (most + 1).next_power_of_two() / 2;
        let mut thresholds = sorted.to_vec();
        thresholds.resize(sorted.len() + 2 * first.max(1), f64::INFINITY);
        WideRankTable { low, scale, starts, thresholds, first }
    }

    #[inline]
    fn rank(&self, x: f64) -> usize {
        let mut rank = self.starts[bucket(x, self.low, self.scale, self.starts.len())] as usize;
        let mut step = self.first;
        while step > 0 {
            // Thresholds in later buckets are not below x.
            rank += if self.thresholds[rank + step - 1] < x { step } else { 0 };
            step /= 2;
        }
        rank
    }
}

/// The start of the buckets and the number of buckets per unit; a single bucket if that isn't a normal number.
fn line(sorted: &[f64], n_buckets: usize) -> (f64, f64) {
    let finite = || sorted.iter().copied().filter(|t| t.is_finite());
    let (low, high) = (finite().next().unwrap_or(0.0), finite().next_back().unwrap_or(0.0));
    let scale = (n_buckets as f64 - 1.0) / (high - low);
    (low, if scale.is_normal() { scale } else { 0.0 })
}

impl RankTable {
    fn new(sorted: &[f64]) -> RankTable {
        let (low, scale) = line(sorted, BUCKETS);
        // A few thresholds are all compared.
        let scale = if sorted.len() > MOST_IN_BUCKET { scale } else { 0.0 };
        let mut grid = RankTable { low, scale, starts: [0; BUCKETS], thresholds: [f64::INFINITY; 256], most: 0 };
        grid.thresholds[..sorted.len()].copy_from_slice(sorted);
        let mut inside = [0usize; BUCKETS];
        sorted.iter().for_each(|&t| inside[bucket(t, low, scale, BUCKETS)] += 1);
        let mut before = 0;
        for (start, inside) in grid.starts.iter_mut().zip(inside) {
            *start = before as u8;
            before += inside;
            grid.most = grid.most.max(inside);
        }
        grid
    }

    #[inline]
    fn rank(&self, x: f64) -> u8 {
        if self.most > MOST_IN_BUCKET {
            return self.bisect(x);
        }
        let mut rank = self.starts[bucket(x, self.low, self.scale, BUCKETS) % BUCKETS];
        for _ in 0..self.most {
            rank += u8::from(self.thresholds[rank as usize] < x);
        }
        rank
    }

    /// The ranks of some values if no bucket has more than `MOST` thresholds.
    fn ranks<const MOST: usize>(&self, x: &[f64], out: &mut [u8]) {
        const PART: usize = 512;
        let mut buckets = [0u16; PART];
        for (x, out) in x.chunks(PART).zip(out.chunks_mut(PART)) {
            find_buckets(x, self.low, self.scale, &mut buckets[..x.len()]);
            for ((&x, &bucket), out) in x.iter().zip(&buckets).zip(out) {
                let mut rank = self.starts[bucket as usize % BUCKETS];
                for _ in 0..MOST {
                    rank = rank.wrapping_add(u8::from(self.thresholds[rank as usize] < x));
                }
                *out = rank;
            }
        }
    }

    #[inline]
    fn bisect(&self, x: f64) -> u8 {
        let mut rank = 0u8;
        for step in [128u8, 64, 32, 16, 8, 4, 2, 1] {
            rank += if self.thresholds[(rank + (step - 1)) as usize] < x { step } else { 0 };
        }
        rank
    }
}

/// The bucket of a value, monotone in x. NaN is in the first bucket.
#[inline(always)]
fn bucket(x: f64, low: f64, scale: f64, n_buckets: usize) -> usize {
    // Adding this rounds to an integer and leaves it in the low bits: a conversion that every SIMD unit can do.
    const WHOLE: f64 = 4_503_599_627_370_496.0;
    let (place, last) = ((x - low) * scale, n_buckets as f64 - 1.0);
    let place = if place > 0.0 { place } else { 0.0 };
    let place = if place < last { place } else { last };
    ((place + WHOLE).to_bits() & u64::from(u32::MAX)) as usize
}

versions! {
    /// Sets the byte of missing values.
    fn mark_missing(x: &[f64], missing: u8, out: &mut [u8]) {
        for (out, x) in out.iter_mut().zip(x) {
            *out = if x.is_nan() { missing } else { *out };
        }
    }
}

versions! {
    /// The bucket of each value.
    fn find_buckets(x: &[f64], low: f64, scale: f64, buckets: &mut [u16]) {
        for (place, &x) in buckets.iter_mut().zip(x) {
            *place = bucket(x, low, scale, BUCKETS) as u16;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Numbers of all sizes, with those that are easily got wrong.
    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(f64::INFINITY),
            Just(f64::NEG_INFINITY),
            Just(0.0),
            Just(-0.0),
            Just(f64::MIN_POSITIVE / 4.0),
            Just(f64::MAX),
            Just(f64::MIN),
            any::<f64>().prop_filter("not NaN", |x| !x.is_nan()),
            -3.0..3.0f64,
            (-20i32..20).prop_map(f64::from),
            any::<f32>().prop_filter("not NaN", |x| !x.is_nan()).prop_map(f64::from),
        ]
    }

    proptest! {
        #[test]
        fn ranks_count_the_thresholds_below(
            mut thresholds in prop::collection::vec(number(), 0..400), near in any::<bool>(), more in prop::collection::vec(number(), 1..80),
        ) {
            if near {
                // Evenly spread, as bins of a column are.
                thresholds.iter_mut().enumerate().for_each(|(i, t)| *t = (i as f64 * 0.37).sin() * 5.0);
            }
            let ranks = ThresholdRanks::new(thresholds.clone()).unwrap();
            let around = thresholds.iter().flat_map(|&t| [t, t.next_up(), t.next_down()]);
            let values: Vec<f64> = around.chain(more).chain([f64::NAN]).filter(|x| !x.is_infinite() || thresholds.len() < 400).collect();
            let distinct = |x: f64| {
                let mut below: Vec<f64> = thresholds.iter().copied().filter(|&t| t < x).collect();
                below.sort_by(f64::total_cmp);
                below.dedup();
                below.len()
            };
            for &x in &values {
                prop_assert_eq!(ranks.rank(x), distinct(x), "{}", x);
            }
            if ranks.len() <= MOST_BYTES {
                let mut bytes = vec![0; values.len()];
                ranks.bytes(&values, 255, &mut bytes);
                for (&x, &byte) in values.iter().zip(&bytes) {
                    prop_assert_eq!(byte as usize, if x.is_nan() { 255 } else { distinct(x) });
                }
            }
        }
    }
}
