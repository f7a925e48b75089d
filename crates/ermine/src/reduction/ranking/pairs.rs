//! Which pairs of rows there are to learn from, and how much each counts.
//!
//! Within a query, rows in falling order of their grades: the pairs of a row are those behind it with a lower grade. A weight that doesn't fall with the distance is 0 only for the
//! nearest of them, so that the pairs that count are one stretch for each row, found by bisection. If there are too many, each is kept with the same probability: the gap to the next one that
//! is kept is drawn, so that those left out cost nothing; what chance brings beyond the limit is left out again, at random.

use ermine_core::error::Result;
use ermine_core::matrix::Dataset;
use ermine_core::rng::{self, Purpose, RngExt};

/// Two rows of a query, the better one first: a triplet of the pair, its sign and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// The row that comes first.
    pub better: u32,
    /// The row that comes later.
    pub worse: u32,
    /// How much the pair counts.
    pub weight: f64,
}

/// The pairs of a query.
pub struct QueryPairs<W> {
    /// Its rows in falling order of their grades, and their places in the query.
    rows: Vec<(u32, usize)>,
    /// The weights of the rows.
    weights: Vec<f64>,
    /// For each row the first one behind it that it makes a pair with.
    starts: Vec<usize>,
    /// What a pair of places in the query is worth.
    worth: W,
}

/// The pairs of all queries. `worth(grades, weights of rows)` gives, for each query, what two of its rows are worth, which doesn't fall with their distance.
pub fn queries<W: Fn(usize, usize) -> f64>(
    data: &Dataset,
    worth: impl Fn(&[f64], &[f64]) -> W,
) -> Result<Vec<QueryPairs<W>>> {
    let grades = data.grades()?;
    let query = |rows: Vec<u32>| {
        let grades: Vec<f64> = rows.iter().map(|&row| grades[row as usize]).collect();
        let weights: Vec<f64> = rows.iter().map(|&row| data.row_weight(row as usize)).collect();
        let worth = worth(&grades, &weights);
        let mut rows: Vec<(u32, usize)> = rows.into_iter().zip(0..).collect();
        rows.sort_by(|a, b| grades[b.1].total_cmp(&grades[a.1]));
        let start = |at: usize| {
            let (_, i) = rows[at];
            let counts = |&(_, j): &(u32, usize)| grades[j] < grades[i] && worth(i, j) > 0.0;
            at + rows[at..].partition_point(|row| !counts(row))
        };
        let starts = (0..rows.len()).map(start).collect();
        QueryPairs { rows, weights, starts, worth }
    };
    Ok(data.queries().into_iter().map(query).collect())
}

/// The pairs to learn from.
pub struct Pairs {
    /// Query by query.
    pub chosen: Vec<Pair>,
    /// How many there are in all.
    pub n_all: usize,
}

impl Pairs {
    /// All pairs, or about `most` of them, never more.
    pub fn draw<W: Fn(usize, usize) -> f64>(queries: &[QueryPairs<W>], most: usize, seed: u64) -> Pairs {
        let count = |query: &QueryPairs<W>| query.starts.iter().map(|start| query.rows.len() - start).sum::<usize>();
        let n_all = queries.iter().map(count).sum::<usize>();
        let mut stream = Purpose::RankingPairs.stream(seed, &[]);
        let keep = most as f64 / n_all.max(1) as f64;
        let mut gap = || match keep < 1.0 {
            // The number of failures before the first success.
            true => ((1.0 - stream.random::<f64>()).ln() / (-keep).ln_1p()) as usize,
            false => 0,
        };
        let (mut chosen, mut skip) = (Vec::with_capacity(most.min(n_all)), gap());
        for query in queries {
            for (at, &start) in query.starts.iter().enumerate() {
                let mut behind = start;
                while let Some(&(worse, j)) = query.rows.get(behind.saturating_add(skip)) {
                    behind += skip + 1;
                    let (better, i) = query.rows[at];
                    let weight = query.weights[i] * query.weights[j] * (query.worth)(i, j);
                    chosen.push(Pair { better, worse, weight });
                    skip = gap();
                }
                skip -= query.rows.len() - behind;
            }
        }
        // A choice of as many as are too many, each as likely as any other.
        let n = chosen.len();
        let mut order: Vec<usize> = (0..n).collect();
        let excess = n.saturating_sub(most);
        (0..excess).for_each(|i| order.swap(i, i + rng::below(&mut stream, n - i)));
        let mut dropped = vec![false; n];
        order[..excess].iter().for_each(|&pair| dropped[pair] = true);
        let mut drop = dropped.into_iter();
        chosen.retain(|_| !drop.next().unwrap_or(false));
        Pairs { chosen, n_all }
    }

    /// Whether none was left out.
    pub fn are_all(&self) -> bool {
        self.chosen.len() == self.n_all
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
        /// Every pair of one query with different grades that costs something, once; what is drawn is among them.
        #[test]
        fn pairs_are_those_of_the_definition(
            rows in prop::collection::vec((0u8..4, 0u32..3), 1..30), top in 1usize..5, most in 1usize..40, seed: u64,
        ) {
            let (grades, groups): (Vec<u8>, Vec<u32>) = rows.iter().copied().unzip();
            let (data, omega) = (data(&grades, &groups), Omega::Top(top));
            let queries = queries(&data, |grades, _| {
                let (places, omega) = (places(grades), omega.clone());
                move |i: usize, j: usize| omega.cost(places[i], places[j])
            }).unwrap();
            let place = |u: usize| (0..rows.len()).filter(|&v| groups[v] == groups[u] && grades[v] > grades[u]).count();
            let all = Pairs::draw(&queries, usize::MAX, seed);
            let mut found: Vec<(u32, u32)> = all.chosen.iter().map(|p| (p.better, p.worse)).collect();
            let mut expected = Vec::new();
            for (u, v) in (0..rows.len()).flat_map(|u| (0..rows.len()).map(move |v| (u, v))) {
                if groups[u] == groups[v] && grades[u] > grades[v] && omega.cost(place(u), place(v)) > 0.0 {
                    expected.push((u as u32, v as u32));
                }
            }
            found.sort_unstable();
            prop_assert_eq!(&found, &expected);
            prop_assert!(all.are_all() && all.chosen.iter().all(|p| p.weight == 1.0));
            let some = Pairs::draw(&queries, most, seed);
            prop_assert!(some.chosen.windows(2).all(|w| w[0] != w[1]));
            prop_assert!(some.chosen.iter().all(|p| found.binary_search(&(p.better, p.worse)).is_ok()));
            prop_assert!(most < expected.len() || some.are_all());
            prop_assert!(some.chosen.len() <= most);
        }
    }

    #[test]
    fn as_many_are_drawn_as_were_asked_for_from_all_places() {
        let grades: Vec<u8> = (0..200).map(|i| (i % 2) as u8).collect();
        let queries = queries(&data(&grades, &[0; 200]), |_, _| |_: usize, _: usize| 1.0).unwrap();
        let drawn = Pairs::draw(&queries, 2000, 7);
        assert_eq!(drawn.n_all, 10_000);
        assert!((1800..=2000).contains(&drawn.chosen.len()), "{}", drawn.chosen.len());
        let early = drawn.chosen.iter().filter(|p| p.better < 100).count() as f64 / drawn.chosen.len() as f64;
        assert!((0.45..0.55).contains(&early), "{early}");
    }

    #[test]
    fn places_that_differ_are_counted() {
        assert_eq!(ermine_core::metric::ranking::n_different(&[0, 1, 1, 3]), 5.0);
        assert_eq!(ermine_core::metric::ranking::n_different(&[0, 0]), 0.0);
    }
}
