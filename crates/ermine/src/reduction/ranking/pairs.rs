//! The pairs of rows to learn from, and their weights.
//!
//! The rows of a query are sorted by falling grade: a row makes pairs with the later rows of lower grade. The cost of a pair does not decrease with the distance of its rows, so it is 0
//! only for the nearest of them, and the pairs of a row with positive weight are one contiguous range, found by bisection. If there are too many pairs, each is kept with the same
//! probability: the gap to the next kept pair is drawn, so that skipped pairs cost nothing. If more than the limit are kept by chance, the excess is dropped at random.

use ermine_core::error::Result;
use ermine_core::matrix::Dataset;
use ermine_core::rng::{self, Purpose, RngExt};

/// Two rows of a query with different grades, and the weight of the pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PreferencePair {
    /// The row with the higher grade.
    pub better: u32,
    /// The row with the lower grade.
    pub worse: u32,
    /// Weight of the pair.
    pub weight: f64,
}

/// The pairs of a query.
pub struct QueryPairs<W> {
    /// Its rows by falling grade, each with its index in the query.
    rows: Vec<(u32, usize)>,
    /// The weights of the rows.
    weights: Vec<f64>,
    /// For each row, the position of the first later row that it makes a pair with.
    starts: Vec<usize>,
    /// The cost of a pair, by the indices of its rows in the query.
    cost: W,
}

/// The pairs of all queries. `pair_cost(grades, row weights)` returns the cost function of a query, which must not decrease with the distance of two rows.
pub fn queries<W: Fn(usize, usize) -> f64>(
    data: &Dataset,
    pair_cost: impl Fn(&[f64], &[f64]) -> W,
) -> Result<Vec<QueryPairs<W>>> {
    let grades = data.grades()?;
    let query = |rows: Vec<u32>| {
        let grades: Vec<f64> = rows.iter().map(|&row| grades[row as usize]).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| data.row_weight(row as usize)).collect();
        let cost = pair_cost(&grades, &weights);
        let mut rows: Vec<(u32, usize)> = rows.into_iter().zip(0..).collect();
        rows.sort_by(|a, b| grades[b.1].total_cmp(&grades[a.1]));
        let start = |at: usize| {
            let (_, i) = rows[at];
            let counts = |&(_, j): &(u32, usize)| grades[j] < grades[i] && cost(i, j) > 0.0;
            at + rows[at..].partition_point(|row| !counts(row))
        };
        let starts = (0..rows.len()).map(start).collect();
        QueryPairs { rows, weights, starts, cost }
    };
    Ok(data.queries().into_iter().map(query).collect())
}

/// The pairs to learn from.
pub struct TrainingPairs {
    /// The chosen pairs, query by query.
    pub chosen: Vec<PreferencePair>,
    /// Number of pairs before sampling.
    pub n_total: usize,
}

impl TrainingPairs {
    /// All pairs, or a random sample of about `max_pairs` pairs, never more.
    pub fn draw<W: Fn(usize, usize) -> f64>(queries: &[QueryPairs<W>], max_pairs: usize, seed: u64) -> TrainingPairs {
        let count = |query: &QueryPairs<W>| query.starts.iter().map(|start| query.rows.len() - start).sum::<usize>();
        let n_total = queries.iter().map(count).sum::<usize>();
        let mut stream = Purpose::RankingPairs.stream(seed, &[]);
        let keep = max_pairs as f64 / n_total.max(1) as f64;
        let mut gap = || match keep < 1.0 {
            // The number of failures before the first success.
            true => ((1.0 - stream.random::<f64>()).ln() / (-keep).ln_1p()) as usize,
            false => 0,
        };
        let (mut chosen, mut skip) = (Vec::with_capacity(max_pairs.min(n_total)), gap());
        for query in queries {
            for (at, &start) in query.starts.iter().enumerate() {
                let mut behind = start;
                while let Some(&(worse, j)) = query.rows.get(behind.saturating_add(skip)) {
                    behind += skip + 1;
                    let (better, i) = query.rows[at];
                    let weight = query.weights[i] * query.weights[j] * (query.cost)(i, j);
                    chosen.push(PreferencePair { better, worse, weight });
                    skip = gap();
                }
                skip -= query.rows.len() - behind;
            }
        }
        // The excess pairs, chosen uniformly at random.
        let n = chosen.len();
        let mut order: Vec<usize> = (0..n).collect();
        let excess = n.saturating_sub(max_pairs);
        (0..excess).for_each(|i| order.swap(i, i + rng::below(&mut stream, n - i)));
        let mut dropped = vec![false; n];
        order[..excess].iter().for_each(|&pair| dropped[pair] = true);
        let mut drop = dropped.into_iter();
        chosen.retain(|_| !drop.next().unwrap_or(false));
        TrainingPairs { chosen, n_total }
    }

    /// Whether no pair was left out.
    pub fn is_complete(&self) -> bool {
        self.chosen.len() == self.n_total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::matrix::{Features, Target, Task};
    use ermine_core::metric::omega::Omega;
    use ermine_core::metric::ranking::places;
    use ermine_core::table::{Column, Table};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn data(grades: &[u8], groups: &[u32]) -> Dataset {
        let table = Table::new(vec![Column::numeric("x", vec![0.0; grades.len()])]).unwrap();
        let target = Target::Values { values: grades.iter().map(|&g| f64::from(g)).collect(), n_outputs: 1 };
        let data = Dataset::from_parts(Features::new(Arc::new(table)), target, Task::Ranking).unwrap();
        data.with_group(Some(groups.to_vec())).unwrap()
    }

    proptest! {
        /// All pairs of rows of a query with different grades and a positive cost, once each; a sample is a subset of them.
        #[test]
        fn pairs_match_the_definition(
            rows in prop::collection::vec((0u8..4, 0u32..3), 1..30), top in 1usize..5, max_pairs in 1usize..40, seed: u64,
        ) {
            let (grades, groups): (Vec<u8>, Vec<u32>) = rows.iter().copied().unzip();
            let (data, omega) = (data(&grades, &groups), Omega::Top(top));
            let queries = queries(&data, |grades, _| {
                let (places, omega) = (places(grades), omega.clone());
                move |i: usize, j: usize| omega.cost(places[i], places[j])
            }).unwrap();
            let place = |u: usize| (0..rows.len()).filter(|&v| groups[v] == groups[u] && grades[v] > grades[u]).count();
            let all = TrainingPairs::draw(&queries, usize::MAX, seed);
            let mut found: Vec<(u32, u32)> = all.chosen.iter().map(|p| (p.better, p.worse)).collect();
            let mut expected = Vec::new();
            for (u, v) in (0..rows.len()).flat_map(|u| (0..rows.len()).map(move |v| (u, v))) {
                if groups[u] == groups[v] && grades[u] > grades[v] && omega.cost(place(u), place(v)) > 0.0 {
                    expected.push((u as u32, v as u32));
                }
            }
            found.sort_unstable();
            prop_assert_eq!(&found, &expected);
            prop_assert!(all.is_complete() && all.chosen.iter().all(|p| p.weight == 1.0));
            let some = TrainingPairs::draw(&queries, max_pairs, seed);
            prop_assert!(some.chosen.windows(2).all(|w| w[0] != w[1]));
            prop_assert!(some.chosen.iter().all(|p| found.binary_search(&(p.better, p.worse)).is_ok()));
            prop_assert!(max_pairs < expected.len() || some.is_complete());
            prop_assert!(some.chosen.len() <= max_pairs);
        }
    }

    #[test]
    fn a_sample_has_the_requested_size_and_is_uniform() {
        let grades: Vec<u8> = (0..200).map(|i| (i % 2) as u8).collect();
        let queries = queries(&data(&grades, &[0; 200]), |_, _| |_: usize, _: usize| 1.0).unwrap();
        let drawn = TrainingPairs::draw(&queries, 2000, 7);
        assert_eq!(drawn.n_total, 10_000);
        assert!((1800..=2000).contains(&drawn.chosen.len()), "{}", drawn.chosen.len());
        let early = drawn.chosen.iter().filter(|p| p.better < 100).count() as f64 / drawn.chosen.len() as f64;
        assert!((0.45..0.55).contains(&early), "{early}");
    }

    #[test]
    fn pairs_with_different_positions_are_counted() {
        assert_eq!(ermine_core::metric::ranking::n_different(&[0, 1, 1, 3]), 5.0);
        assert_eq!(ermine_core::metric::ranking::n_different(&[0, 0]), 0.0);
    }
}
