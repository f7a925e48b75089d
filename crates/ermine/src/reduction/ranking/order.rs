//! From a preference between two rows to an order of many.
//!
//! **Votes.** `score_i += F(i, j)` and `score_j -= F(i, j)` for every two rows: n (n - 1) / 2 comparisons, no chance.
//!
//! **Quicksort.** A pivot is drawn at random; rows that are preferred to it go before it, the others behind, and both parts are sorted in the same way. The pivots of all parts of all queries are
//! compared in one batch, round by round: O(n log n) comparisons in O(log n) batches, on average. The preference need not be transitive; the random pivots are what keeps an adversary from
//! building on its cycles. In the probabilistic form a row goes before the pivot with the probability that the preference gives.
//!
//! **Reference.** Ailon and Mohri, Preference-based learning to rank, 2010.

use ermine_core::error::Result;
use ermine_core::rng::{self, Purpose, RngExt};
use serde::{Deserialize, Serialize};

/// Comparisons in one batch of votes.
const BATCH: usize = 1 << 18;

/// How preferences become an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By the sum of votes.
    Votes,
    /// By quicksort.
    Quicksort,
    /// By quicksort with drawn comparisons.
    Probabilistic,
}

/// Compares pairs of rows: above 0 where the first comes before the second, at most 1/2 from 0 where these are probabilities.
pub type Compare<'a> = &'a dyn Fn(&[(u32, u32)]) -> Result<Vec<f64>>;

/// The score of each row within its query: the higher, the earlier.
pub fn scores(order: Order, queries: &[Vec<u32>], n_rows: usize, seed: u64, compare: Compare<'_>) -> Result<Vec<f64>> {
    match order {
        Order::Votes => votes(queries, n_rows, compare),
        Order::Quicksort => quicksort(queries, n_rows, seed, false, compare),
        Order::Probabilistic => quicksort(queries, n_rows, seed, true, compare),
    }
}

fn votes(queries: &[Vec<u32>], n_rows: usize, compare: Compare<'_>) -> Result<Vec<f64>> {
    let mut scores = vec![0.0; n_rows];
    let mut batch = Vec::with_capacity(BATCH.min(n_rows * 8));
    let mut count = |batch: &mut Vec<(u32, u32)>| -> Result<()> {
        for (&(a, b), said) in batch.iter().zip(compare(batch)?) {
            scores[a as usize] += said;
            scores[b as usize] -= said;
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

/// A part of a query that is yet to be sorted.
struct Part {
    query: usize,
    /// How many rows of the query stand before it.
    before: usize,
    rows: Vec<u32>,
}

fn quicksort(queries: &[Vec<u32>], n_rows: usize, seed: u64, drawn: bool, compare: Compare<'_>) -> Result<Vec<f64>> {
    let mut scores = vec![0.0; n_rows];
    let whole = |(query, rows): (usize, &Vec<u32>)| Part { query, before: 0, rows: rows.clone() };
    let mut parts: Vec<Part> = queries.iter().enumerate().map(whole).collect();
    for round in 0u64.. {
        for part in parts.iter().filter(|part| part.rows.len() == 1) {
            scores[part.rows[0] as usize] = -(part.before as f64);
        }
        parts.retain(|part| part.rows.len() > 1);
        if parts.is_empty() {
            break;
        }
        let streams =
            |part: &Part| Purpose::RankingPivots.stream(seed, &[part.query as u64, round, part.before as u64]);
        let mut streams: Vec<rng::Rng> = parts.iter().map(streams).collect();
        let pivots: Vec<usize> =
            parts.iter().zip(&mut streams).map(|(part, stream)| rng::below(stream, part.rows.len())).collect();
        let pair = |(part, &pivot): (&Part, &usize)| {
            let (rows, at) = (part.rows.clone(), part.rows[pivot]);
            rows.into_iter().filter(move |&row| row != at).map(move |row| (row, at))
        };
        let pairs: Vec<(u32, u32)> = parts.iter().zip(&pivots).flat_map(pair).collect();
        let mut said = compare(&pairs)?.into_iter();
        let mut next = Vec::with_capacity(2 * parts.len());
        for ((part, &pivot), stream) in parts.iter().zip(&pivots).zip(&mut streams) {
            let (mut first, mut last) = (Vec::new(), Vec::new());
            for (at, &row) in part.rows.iter().enumerate().filter(|(at, _)| *at != pivot) {
                let said = said.next().unwrap_or(0.0);
                let earlier =
                    if drawn { stream.random::<f64>() < said + 0.5 } else { said > 0.0 || (said == 0.0 && at < pivot) };
                if earlier { first.push(row) } else { last.push(row) }
            }
            let place = part.before + first.len();
            scores[part.rows[pivot] as usize] = -(place as f64);
            next.push(Part { query: part.query, before: part.before, rows: first });
            next.push(Part { query: part.query, before: place + 1, rows: last });
        }
        parts = next;
    }
    Ok(scores)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    proptest! {
        /// A preference that follows numbers sorts by them, in every way.
        #[test]
        fn a_consistent_preference_is_followed(
            numbers in prop::collection::vec((-100i32..100, 0usize..3), 1..60), seed: u64,
        ) {
            let queries: Vec<Vec<u32>> =
                (0..3).map(|q| (0..numbers.len() as u32).filter(|&r| numbers[r as usize].1 == q).collect()).collect();
            let compare = |pairs: &[(u32, u32)]| {
                Ok(pairs.iter().map(|&(a, b)| {
                    f64::from((numbers[a as usize].0 - numbers[b as usize].0).signum()) / 2.0
                }).collect())
            };
            for order in [Order::Votes, Order::Quicksort] {
                let scores = scores(order, &queries, numbers.len(), seed, &compare).unwrap();
                for rows in &queries {
                    for (&a, &b) in rows.iter().flat_map(|a| rows.iter().map(move |b| (a, b))) {
                        let (x, y) = (numbers[a as usize].0, numbers[b as usize].0);
                        prop_assert!(x <= y || scores[a as usize] > scores[b as usize], "{order:?}");
                    }
                }
            }
            let again = |seed| scores(Order::Probabilistic, &queries, numbers.len(), seed, &compare).unwrap();
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
        scores(Order::Quicksort, &[(0..n).collect()], n as usize, 5, &compare).unwrap();
        // 2 n ln n on average.
        assert!(calls.get() < 45_000 && batches.get() < 40, "{} {}", calls.get(), batches.get());
    }

    #[test]
    fn comparisons_are_drawn_with_their_probability_and_cycles_are_no_trouble() {
        let sure = |p: f64| {
            move |pairs: &[(u32, u32)]| Ok(pairs.iter().map(|&(a, b)| if a < b { p - 0.5 } else { 0.5 - p }).collect())
        };
        let first = |seed| scores(Order::Probabilistic, &[vec![0, 1]], 2, seed, &sure(0.8)).unwrap()[0] == 0.0;
        let share = (0..2000).filter(|&seed| first(seed)).count() as f64 / 2000.0;
        assert!((0.77..0.83).contains(&share), "{share}");
        // Rock, paper, scissors: each is first in a third of the orders.
        let cycle =
            |pairs: &[(u32, u32)]| Ok(pairs.iter().map(|&(a, b)| if (a + 1) % 3 == b { 0.5 } else { -0.5 }).collect());
        let winner = |seed| scores(Order::Quicksort, &[vec![0, 1, 2]], 3, seed, &cycle).unwrap()[0] == 0.0;
        let share = (0..3000).filter(|&seed| winner(seed)).count() as f64 / 3000.0;
        assert!((0.30..0.37).contains(&share), "{share}");
    }
}
