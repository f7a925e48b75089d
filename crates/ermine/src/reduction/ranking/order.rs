//! From a preference between two rows to a ranking.
//!
//! **Votes.** `score_i += F(i, j)` and `score_j -= F(i, j)` for every pair of rows: n (n - 1) / 2 comparisons, deterministic.
//!
//! **Quicksort.** A pivot is probabilistic at random; rows that are preferred to it are placed before it and the others after it, and both segments are sorted in the same way. The pivots of
//! all segments of all queries are compared in one batch per round: O(n log n) comparisons in O(log n) batches on average. The preference need not be transitive; the random pivots
//! keep the expected loss small even if it has cycles. In the probabilistic variant a row is placed before the pivot with the probability that the preference predicts.
//!
//! **Reference.** Ailon and Mohri, Preference-based learning to rank, 2010.

use ermine_core::error::Result;
use ermine_core::rng::{self, Purpose, RngExt};
use serde::{Deserialize, Serialize};

/// Number of comparisons in one batch of votes.
const BATCH: usize = 1 << 18;

/// How pairwise preferences are turned into a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RankAggregation {
    /// Sum of the votes of all pairs.
    Votes,
    /// Quicksort with the preference as comparison.
    Quicksort,
    /// Quicksort with random comparisons, probabilistic by their probability.
    Probabilistic,
}

/// Compares pairs of rows: positive if the first row is ranked before the second; between -1/2 and 1/2 if the classifier has probabilities.
pub type Compare<'a> = &'a dyn Fn(&[(u32, u32)]) -> Result<Vec<f64>>;

/// The score of each row within its query; higher scores are ranked first.
pub fn scores(
    order: RankAggregation,
    queries: &[Vec<u32>],
    n_rows: usize,
    seed: u64,
    compare: Compare<'_>,
) -> Result<Vec<f64>> {
    match order {
        RankAggregation::Votes => votes(queries, n_rows, compare),
        RankAggregation::Quicksort => quicksort(queries, n_rows, seed, false, compare),
        RankAggregation::Probabilistic => quicksort(queries, n_rows, seed, true, compare),
    }
}

fn votes(queries: &[Vec<u32>], n_rows: usize, compare: Compare<'_>) -> Result<Vec<f64>> {
    let mut scores = vec![0.0; n_rows];
    let mut batch = Vec::with_capacity(BATCH.min(n_rows * 8));
    let mut count = |batch: &mut Vec<(u32, u32)>| -> Result<()> {
        for (&(a, b), preference) in batch.iter().zip(compare(batch)?) {
            scores[a as usize] += preference;
            scores[b as usize] -= preference;
        }
        batch.clear();
        Ok(())
    };
    for rows in queries {
        for (at, &a) in rows.iter().enumerate() {
            for &b in &rows[at + 1..] {
                batch.push((a, b));
                if batch.len() == BATCH {
                    count(&mut batch)?;
                }
            }
        }
    }
    count(&mut batch)?;
    Ok(scores)
}

/// A segment of a query that is not sorted yet.
struct UnsortedSegment {
    query: usize,
    /// Number of rows of the query before the segment.
    before: usize,
    rows: Vec<u32>,
}

fn quicksort(
    queries: &[Vec<u32>],
    n_rows: usize,
    seed: u64,
    probabilistic: bool,
    compare: Compare<'_>,
) -> Result<Vec<f64>> {
    let mut scores = vec![0.0; n_rows];
    let whole = |(query, rows): (usize, &Vec<u32>)| UnsortedSegment { query, before: 0, rows: rows.clone() };
    let mut segments: Vec<UnsortedSegment> = queries.iter().enumerate().map(whole).collect();
    for round in 0u64.. {
        for segment in segments.iter().filter(|segment| segment.rows.len() == 1) {
            scores[segment.rows[0] as usize] = -(segment.before as f64);
        }
        segments.retain(|segment| segment.rows.len() > 1);
        if segments.is_empty() {
            break;
        }
        let streams = |segment: &UnsortedSegment| {
            Purpose::RankingPivots.stream(seed, &[segment.query as u64, round, segment.before as u64])
        };
        let mut streams: Vec<rng::Rng> = segments.iter().map(streams).collect();
        let pivots: Vec<usize> =
            segments.iter().zip(&mut streams).map(|(segment, stream)| rng::below(stream, segment.rows.len())).collect();
        let pair = |(segment, &pivot): (&UnsortedSegment, &usize)| {
            let (rows, at) = (segment.rows.clone(), segment.rows[pivot]);
            rows.into_iter().filter(move |&row| row != at).map(move |row| (row, at))
        };
        let pairs: Vec<(u32, u32)> = segments.iter().zip(&pivots).flat_map(pair).collect();
        let mut preferences = compare(&pairs)?.into_iter();
        let mut next = Vec::with_capacity(2 * segments.len());
        for ((segment, &pivot), stream) in segments.iter().zip(&pivots).zip(&mut streams) {
            let (mut first, mut last) = (Vec::new(), Vec::new());
            for (at, &row) in segment.rows.iter().enumerate().filter(|(at, _)| *at != pivot) {
                let preference = preferences.next().unwrap_or(0.0);
                let earlier = if probabilistic {
                    stream.random::<f64>() < preference + 0.5
                } else {
                    preference > 0.0 || (preference == 0.0 && at < pivot)
                };
                if earlier { first.push(row) } else { last.push(row) }
            }
            let position = segment.before + first.len();
            scores[segment.rows[pivot] as usize] = -(position as f64);
            next.push(UnsortedSegment { query: segment.query, before: segment.before, rows: first });
            next.push(UnsortedSegment { query: segment.query, before: position + 1, rows: last });
        }
        segments = next;
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    proptest! {
        /// If the preference compares numbers, rows are sorted by these numbers.
        #[test]
        fn a_transitive_preference_is_sorted_by(
            numbers in prop::collection::vec((-100i32..100, 0usize..3), 1..60), seed: u64,
        ) {
            let queries: Vec<Vec<u32>> =
                (0..3).map(|q| (0..numbers.len() as u32).filter(|&r| numbers[r as usize].1 == q).collect()).collect();
            let compare = |pairs: &[(u32, u32)]| {
                Ok(pairs.iter().map(|&(a, b)| {
                    f64::from((numbers[a as usize].0 - numbers[b as usize].0).signum()) / 2.0
                }).collect())
            };
            for order in [RankAggregation::Votes, RankAggregation::Quicksort] {
                let scores = scores(order, &queries, numbers.len(), seed, &compare).unwrap();
                for rows in &queries {
                    for (&a, &b) in rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b))) {
                        let (x, y) = (numbers[a as usize].0, numbers[b as usize].0);
                        prop_assert!(x <= y || scores[a as usize] > scores[b as usize], "{order:?}");
                    }
                }
            }
            let again = |seed| scores(RankAggregation::Probabilistic, &queries, numbers.len(), seed, &compare).unwrap();
            prop_assert_eq!(again(seed), again(seed));
        }
    }

    #[test]
    fn quicksort_takes_few_comparisons_in_few_batches() {
        let n = 2000u32;
        let (calls, batches) = (Cell::new(0), Cell::new(0));
        let compare = |pairs: &[(u32, u32)]| {
            calls.set(calls.get() + pairs.len());
            batches.set(batches.get() + 1);
            Ok(pairs.iter().map(|&(a, b)| if a * 7919 % 2003 < b * 7919 % 2003 { 0.5 } else { -0.5 }).collect())
        };
        scores(RankAggregation::Quicksort, &[(0..n).collect()], n as usize, 5, &compare).unwrap();
        // 2 n ln n on average.
        assert!(calls.get() < 45_000 && batches.get() < 40, "{} {}", calls.get(), batches.get());
    }

    #[test]
    fn comparisons_are_drawn_by_probability_and_cycles_are_ranked_uniformly() {
        let with_probability = |p: f64| {
            move |pairs: &[(u32, u32)]| Ok(pairs.iter().map(|&(a, b)| if a < b { p - 0.5 } else { 0.5 - p }).collect())
        };
        let first = |seed| {
            scores(RankAggregation::Probabilistic, &[vec![0, 1]], 2, seed, &with_probability(0.8)).unwrap()[0] == 0.0
        };
        let share = (0..2000).filter(|&seed| first(seed)).count() as f64 / 2000.0;
        assert!((0.77..0.83).contains(&share), "{share}");
        // Rock, paper, scissors: each is ranked first in a third of the runs.
        let cycle =
            |pairs: &[(u32, u32)]| Ok(pairs.iter().map(|&(a, b)| if (a + 1) % 3 == b { 0.5 } else { -0.5 }).collect());
        let winner = |seed| scores(RankAggregation::Quicksort, &[vec![0, 1, 2]], 3, seed, &cycle).unwrap()[0] == 0.0;
        let share = (0..3000).filter(|&seed| winner(seed)).count() as f64 / 3000.0;
        assert!((0.30..0.37).contains(&share), "{share}");
    }
}
