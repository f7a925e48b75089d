//! Nearest neighbors of sparse rows, by brute force over the nonzero entries.
//!
//! **Idea.** A block of queries is turned around: for every column, which queries have a number there. Each row is then read once for the whole block, and meets only the queries
//! that share a column with it. With `q'x` added up that way, `norm(q)^2 + norm(x)^2 - 2 q'x` is the squared distance; for Manhattan the shared columns correct the sum of both norms.
//! What that sum, less a bound on its rounding, doesn't rule out is measured exactly.
//!
//! **Exactness.** Distances are those of the same rows with all their zeros, to the last bit: a zero difference changes no sum.
//!
//! **Cost.** Per query and row, the columns they share and one comparison; the exact distance for what passes (and for every pair under Chebyshev, Hamming and other powers, which have no
//! such sum). Memory: the entries once, 12 bytes each, and 8 bytes a row.

use super::nearest::{Nearest, Neighbors};
use ermine_core::distance::metric::{
    DifferenceTerms, Metric, MetricShape, PARTS, euclidean, half_square, minkowski, share, total,
};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::SparseRows;
use ermine_core::parallel;
use ermine_core::section::Sections;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

/// Queries that meet a row at once.
const BLOCK: usize = 256;
/// Up to this many columns, where a column's queries are is looked up in a list.
const LISTED: usize = 1 << 24;

/// Sparse rows, ready to be searched.
#[derive(Debug, Clone)]
pub struct SparseIndex {
    metric: Metric,
    rows: SparseRows,
}

impl SparseIndex {
    /// An index over `rows`. An error for a metric that needs all columns (Mahalanobis, mixed, a user's own).
    pub fn build(rows: SparseRows, metric: Metric) -> Result<SparseIndex> {
        if matches!(metric, Metric::Mahalanobis(_) | Metric::Mixed(_) | Metric::Custom(_)) {
            return Err(Error::Unsupported {
                learner: "neighbors among sparse rows".into(),
                need: format!("the {} metric, which needs dense rows", metric.name()),
            });
        }
        if rows.n_rows() == 0 || rows.n_columns == 0 {
            let (n, d) = (rows.n_rows(), rows.n_columns);
            return Err(Error::data(format!(
                "the index needs at least one row and column (got {n} rows and {d} columns)"
            )));
        }
        metric.check(rows.n_columns)?;
        check(&rows)?;
        Ok(SparseIndex { metric, rows })
    }

    /// The metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.n_rows()
    }

    /// Never: an index holds at least one row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of columns of a row.
    pub fn n_features(&self) -> usize {
        self.rows.n_columns
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.rows.columns.len() * 12 + self.rows.starts.len() * 8
    }

    /// The `k` nearest rows of every query (all rows, where there are fewer).
    pub fn kneighbors(&self, queries: &SparseRows, k: usize) -> Result<Neighbors> {
        if k == 0 {
            return Err(Error::data("`k` must be at least 1 (got 0)"));
        }
        self.batch(queries, &Nearest::k(k.min(self.len())))
    }

    /// The `k` nearest other rows of every row.
    pub fn own_kneighbors(&self, k: usize) -> Result<Neighbors> {
        Ok(self.batch(&self.rows, &Nearest::k(k.saturating_add(1).min(self.len())))?.without_self(k))
    }

    /// All rows within `radius` of every query, the boundary included.
    pub fn radius_neighbors(&self, queries: &SparseRows, radius: f64) -> Result<Neighbors> {
        self.batch(queries, &Nearest::around(radius)?)
    }

    /// All other rows within `radius` of every row.
    pub fn own_radius_neighbors(&self, radius: f64) -> Result<Neighbors> {
        Ok(self.batch(&self.rows, &Nearest::around(radius)?)?.without_self(usize::MAX))
    }

    /// Appends rows.
    pub fn add(&mut self, rows: &SparseRows) -> Result<()> {
        self.check_width(rows)?;
        check(rows)?;
        if rows.n_rows() + self.len() > u32::MAX as usize {
            return Err(Error::data(format!("an index can have at most {} rows", u32::MAX)));
        }
        let shift = self.rows.columns.len();
        self.rows.starts.extend(rows.starts.iter().skip(1).map(|start| start + shift));
        self.rows.columns.extend_from_slice(&rows.columns);
        self.rows.values.extend_from_slice(&rows.values);
        Ok(())
    }

    /// Writes the index.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        let lengths: Vec<u32> = self.rows.starts.windows(2).map(|w| (w[1] - w[0]) as u32).collect();
        sections.put_json("sparse", &(&self.metric, self.rows.n_columns))?;
        sections.put_u32s("entries of rows", &lengths);
        sections.put_u32s("columns", &self.rows.columns);
        sections.put_f64s("values", &self.rows.values);
        Ok(())
    }

    /// Reads an index, and checks that its parts fit together.
    pub fn load(sections: &Sections) -> Result<SparseIndex> {
        let (metric, n_columns): (Metric, usize) = sections.json("sparse")?;
        let mut starts = vec![0usize];
        starts.extend(sections.u32s("entries of rows")?.iter().scan(0usize, |end, &n| {
            *end = end.saturating_add(n as usize);
            Some(*end)
        }));
        let (columns, values) = (sections.u32s("columns")?, sections.f64s("values")?);
        let rows = SparseRows { n_columns, starts, columns, values };
        SparseIndex::build(rows, metric).map_err(|e| Error::model_file(e.to_string()))
    }

    fn check_width(&self, rows: &SparseRows) -> Result<()> {
        let (expected, found) = (self.n_features(), rows.n_columns);
        if expected == found {
            return Ok(());
        }
        Err(Error::data(format!("the index has rows of {expected} columns, but the queries have {found}")))
    }

    fn batch(&self, queries: &SparseRows, wanted: &Nearest) -> Result<Neighbors> {
        self.check_width(queries)?;
        check(queries)?;
        let n = queries.n_rows();
        let block = n.div_ceil(8).clamp(1, BLOCK);
        let search = |b: usize| self.search_block(queries, b * block..n.min((b + 1) * block), wanted);
        let parts: Vec<Neighbors> = parallel::map(n.div_ceil(block), search);
        let mut all = Neighbors::with_capacity(n, parts.iter().map(|p| p.all_rows().len()).sum());
        parts.iter().for_each(|part| all.append(part));
        Ok(all)
    }

    fn search_block(&self, queries: &SparseRows, range: Range<usize>, wanted: &Nearest) -> Neighbors {
        let asked: Vec<SparseEntries> = range.map(|i| SparseEntries::new(&self.metric, queries, i)).collect();
        let mut best = vec![wanted.clone(); asked.len()];
        match self.metric.shape() {
            Some(MetricShape::SumSquares) => self.filter(&asked, &mut best, SquareSum),
            Some(MetricShape::SumAbs) => self.filter(&asked, &mut best, AbsoluteSum),
            _ => self.measure_all(&asked, &mut best),
        }
        let mut found = Neighbors::with_capacity(asked.len(), 0);
        best.iter_mut().for_each(|best| found.push(best.sorted().iter().copied()));
        found
    }

    /// Measures every pair.
    fn measure_all(&self, asked: &[SparseEntries], best: &mut [Nearest]) {
        for number in 0..self.len() {
            let row = SparseEntries::new(&self.metric, &self.rows, number);
            for (query, best) in asked.iter().zip(best.iter_mut()) {
                best.offer(self.distance(query, &row), number as u32);
            }
        }
    }

    /// Measures the pairs that a sum over shared columns doesn't rule out.
    fn filter(&self, asked: &[SparseEntries], best: &mut [Nearest], sum: impl SparseSum) {
        let shared = ColumnQueries::new(asked, self.rows.n_columns + 1);
        let norms: Vec<f64> = asked.iter().map(|query| query.values.iter().map(|&v| sum.own(v)).sum()).collect();
        let most = asked.iter().map(|query| query.values.len()).max().unwrap_or(0);
        let reach = |best: &Nearest| sum.reach(self.metric.norm_of(best.limit()));
        let mut reaches: Vec<f64> = best.iter().map(reach).collect();
        let mut sums = vec![0.0; asked.len()];
        let mut row = SparseEntries::default();
        for number in 0..self.len() {
            row.read(&self.metric, &self.rows, number);
            let norm: f64 = row.values.iter().map(|&v| sum.own(v)).sum();
            sums.fill(0.0);
            for (&column, &value) in row.columns.iter().zip(&row.values) {
                for &(query, other) in shared.of(column) {
                    sums[query as usize] += sum.both(other, value);
                }
            }
            let rounding = ((most + row.values.len() + 16) as f64) * 4.0 * f64::EPSILON;
            for (i, &both) in sums.iter().enumerate() {
                let size = norms[i] + norm;
                let least = size + both - rounding * size - 1e-300;
                // Written so that NaN (sums that overflow) passes.
                if least > reaches[i] {
                    continue;
                }
                best[i].offer(self.distance(&asked[i], &row), number as u32);
                reaches[i] = reach(&best[i]);
            }
        }
    }

    fn distance(&self, a: &SparseEntries, b: &SparseEntries) -> f64 {
        let pair = MergedEntries { a, b };
        match self.metric {
            Metric::Manhattan => pair.sum(f64::abs),
            Metric::Chebyshev => pair.largest(),
            Metric::Minkowski { p } => minkowski(pair, p),
            Metric::Cosine => half_square(pair),
            Metric::Hamming => share(pair.n_different(), self.rows.n_columns),
            _ => euclidean(pair),
        }
    }
}

/// An error that names the first entry that isn't in its place or isn't a finite number.
fn check(rows: &SparseRows) -> Result<()> {
    let (n, entries) = (rows.n_rows(), rows.columns.len());
    let whole = rows.values.len() == entries && rows.starts.last() == Some(&entries);
    if !whole || rows.starts.windows(2).any(|w| w[0] > w[1]) || rows.n_columns > u32::MAX as usize {
        return Err(Error::data("the parts of sparse rows are inconsistent"));
    }
    for row in 0..n {
        let (columns, values) = rows.row(row);
        let placed =
            columns.windows(2).all(|w| w[0] < w[1]) && columns.last().is_none_or(|&c| (c as usize) < rows.n_columns);
        if !placed {
            return Err(Error::data(format!("row {row}: column indices must ascend and be below {}", rows.n_columns)));
        }
        if let Some(at) = values.iter().position(|v| !v.is_finite()) {
            let (column, value) = (columns[at], values[at]);
            return Err(Error::data(format!(
                "row {row}, column {column}: {value} is not a finite number, so it has no distance to other values"
            )));
        }
    }
    Ok(())
}

/// The entries of a row as the metric measures them.
#[derive(Default)]
struct SparseEntries {
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl SparseEntries {
    fn new(metric: &Metric, rows: &SparseRows, row: usize) -> SparseEntries {
        let mut entries = SparseEntries::default();
        entries.read(metric, rows, row);
        entries
    }

    fn read(&mut self, metric: &Metric, rows: &SparseRows, row: usize) {
        let (columns, values) = rows.row(row);
        self.columns.clear();
        self.columns.extend_from_slice(columns);
        self.values.resize(metric.embedded_features(values.len()), 0.0);
        metric.embed(values, &mut self.values);
        if self.values.len() > columns.len() {
            // The column more that rows of zeros have for cosine comes after all.
            self.columns.push(rows.n_columns as u32);
        }
    }
}

/// Two rows by the columns that either has an entry in.
#[derive(Clone, Copy)]
struct MergedEntries<'a> {
    a: &'a SparseEntries,
    b: &'a SparseEntries,
}

impl MergedEntries<'_> {
    /// Column and difference of every entry, ascending.
    #[inline(always)]
    fn for_each(self, mut visit: impl FnMut(u32, f64)) {
        let (mut i, mut j) = (0, 0);
        let (a, b) = (&self.a.columns, &self.b.columns);
        while i < a.len() && j < b.len() {
            match a[i].cmp(&b[j]) {
                Ordering::Less => {
                    visit(a[i], self.a.values[i]);
                    i += 1;
                }
                Ordering::Greater => {
                    visit(b[j], 0.0 - self.b.values[j]);
                    j += 1;
                }
                Ordering::Equal => {
                    visit(a[i], self.a.values[i] - self.b.values[j]);
                    i += 1;
                    j += 1;
                }
            }
        }
        (i..a.len()).for_each(|i| visit(a[i], self.a.values[i]));
        (j..b.len()).for_each(|j| visit(b[j], 0.0 - self.b.values[j]));
    }
}

impl DifferenceTerms for MergedEntries<'_> {
    fn sum(self, f: impl Fn(f64) -> f64) -> f64 {
        let mut parts = [0.0; PARTS];
        self.for_each(|column, t| parts[column as usize % PARTS] += f(t));
        total(parts)
    }

    fn largest(self) -> f64 {
        let mut most = 0.0f64;
        self.for_each(|_, t| most = most.max(t.abs()));
        most
    }

    fn n_different(self) -> usize {
        let mut count = 0;
        self.for_each(|_, t| count += usize::from(t != 0.0));
        count
    }
}

/// A distance, or its square, as a sum of what each row has alone and what they have together.
trait SparseSum: Copy {
    /// What a number adds where the other row has none.
    fn own(self, value: f64) -> f64;
    /// What two numbers in the same column add beyond what they add alone.
    fn both(self, a: f64, b: f64) -> f64;
    /// The largest sum that belongs to a distance, rounded up.
    fn reach(self, distance: f64) -> f64;
}

/// `(a - b)^2 = a^2 + b^2 - 2 a b`.
#[derive(Clone, Copy)]
struct SquareSum;

impl SparseSum for SquareSum {
    #[inline(always)]
    fn own(self, value: f64) -> f64 {
        value * value
    }
    #[inline(always)]
    fn both(self, a: f64, b: f64) -> f64 {
        -2.0 * a * b
    }
    fn reach(self, distance: f64) -> f64 {
        distance * distance * (1.0 + 1e-12)
    }
}

/// `|a - b|`.
#[derive(Clone, Copy)]
struct AbsoluteSum;

impl SparseSum for AbsoluteSum {
    #[inline(always)]
    fn own(self, value: f64) -> f64 {
        value.abs()
    }
    #[inline(always)]
    fn both(self, a: f64, b: f64) -> f64 {
        (a - b).abs() - a.abs() - b.abs()
    }
    fn reach(self, distance: f64) -> f64 {
        distance * (1.0 + 1e-12)
    }
}

/// The queries that have a number in a column.
struct ColumnQueries {
    place: ColumnLookup,
    starts: Vec<u32>,
    /// Queries and their numbers, column after column.
    entries: Vec<(u32, f64)>,
}

/// Where a column is in the lists.
enum ColumnLookup {
    Listed(Vec<u32>),
    Hashed(HashMap<u32, u32>),
}

impl ColumnQueries {
    fn new(asked: &[SparseEntries], n_columns: usize) -> ColumnQueries {
        let mut all: Vec<(u32, u32, f64)> = Vec::new();
        for (query, entries) in (0u32..).zip(asked) {
            all.extend(entries.columns.iter().zip(&entries.values).map(|(&column, &value)| (column, query, value)));
        }
        all.sort_unstable_by_key(|&(column, query, _)| (column, query));
        let (mut columns, mut starts) = (Vec::new(), Vec::new());
        for (at, &(column, _, _)) in all.iter().enumerate() {
            if columns.last() != Some(&column) {
                columns.push(column);
                starts.push(at as u32);
            }
        }
        starts.push(all.len() as u32);
        let place = if n_columns <= LISTED {
            let mut list = vec![u32::MAX; n_columns];
            columns.iter().zip(0..).for_each(|(&column, at)| list[column as usize] = at);
            ColumnLookup::Listed(list)
        } else {
            ColumnLookup::Hashed(columns.into_iter().zip(0..).collect())
        };
        ColumnQueries { place, starts, entries: all.into_iter().map(|(_, query, value)| (query, value)).collect() }
    }

    #[inline(always)]
    fn of(&self, column: u32) -> &[(u32, f64)] {
        let at = match &self.place {
            ColumnLookup::Listed(list) => list[column as usize],
            ColumnLookup::Hashed(map) => map.get(&column).copied().unwrap_or(u32::MAX),
        };
        if at == u32::MAX {
            return &[];
        }
        &self.entries[self.starts[at as usize] as usize..self.starts[at as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::choice::IndexKind;
    use crate::search::index::Index;
    use ermine_core::distance::rows::RowMatrix;
    use ermine_core::rng;
    use proptest::prelude::*;

    fn sparse(dense: &[f64], d: usize) -> SparseRows {
        let mut rows = SparseRows { n_columns: d, starts: vec![0], columns: Vec::new(), values: Vec::new() };
        for row in dense.chunks(d) {
            for (column, &value) in row.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                rows.columns.push(column as u32);
                rows.values.push(value);
            }
            rows.starts.push(rows.columns.len());
        }
        rows
    }

    fn draw(seed: u64, len: usize, share: usize, style: u8) -> Vec<f64> {
        let mut rng = rng::stream(seed, &[u64::from(style)]);
        (0..len)
            .map(|_| {
                let there = rng::below(&mut rng, 100) < share;
                let smooth = rng::below(&mut rng, 1 << 30) as f64 / f64::from(1 << 29) - 1.0;
                let value = match style {
                    0 => smooth,
                    1 => rng::below(&mut rng, 5) as f64 - 2.0,
                    2 => smooth * 1e-160,
                    3 => smooth * 1e170,
                    _ => smooth * 10f64.powi(rng::below(&mut rng, 60) as i32 - 30),
                };
                if there { value } else { 0.0 }
            })
            .collect()
    }

    fn metrics() -> [Metric; 6] {
        [
            Metric::Euclidean,
            Metric::Manhattan,
            Metric::Cosine,
            Metric::Chebyshev,
            Metric::Minkowski { p: 3.0 },
            Metric::Hamming,
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// The same rows and the same bits of distance as among the same rows with their zeros.
        #[test]
        fn results_equal_those_of_dense_rows(n in 1usize..60, d in 1usize..40, share in 0usize..60, style in 0u8..5, k in 1usize..8, metric in 0usize..6, seed: u64) {
            let (points, asked) = (draw(seed, n * d, share, style), draw(seed ^ 1, 20 * d, share, style));
            let metric = metrics()[metric].clone();
            let half = n.div_ceil(2) * d;
            let mut index = SparseIndex::build(sparse(&points[..half], d), metric.clone()).unwrap();
            index.add(&sparse(&points[half..], d)).unwrap();
            let mut sections = Sections::default();
            index.save(&mut sections).unwrap();
            let index = SparseIndex::load(&sections).unwrap();
            let dense = Index::build_as(&RowMatrix::row_major(&points, d).unwrap(), metric, Some(IndexKind::Scan)).unwrap();
            let (queries, rows) = (sparse(&asked, d), RowMatrix::row_major(&asked, d).unwrap());
            let near = index.kneighbors(&queries, k).unwrap();
            prop_assert_eq!(&near, &dense.kneighbors(&rows, k).unwrap());
            let radius = near.distances(0)[near.distances(0).len() / 2];
            prop_assert_eq!(index.radius_neighbors(&queries, radius).unwrap(), dense.radius_neighbors(&rows, radius).unwrap());
            prop_assert_eq!(index.own_kneighbors(k).unwrap(), dense.own_kneighbors(k).unwrap());
        }
    }

    #[test]
    fn wide_rows_are_supported_and_invalid_ones_are_errors() {
        let rows = |columns: Vec<u32>, values: Vec<f64>| {
            let starts = (0..=values.len()).collect();
            SparseRows { n_columns: 1 << 30, starts, columns, values }
        };
        let index = SparseIndex::build(rows(vec![5, 1 << 29, 7], vec![1.0, 1.0, 2.0]), Metric::Euclidean).unwrap();
        let near = index.kneighbors(&rows(vec![1 << 29, 7], vec![1.0, 3.0]), 1).unwrap();
        assert_eq!((near.rows(0), near.rows(1)), (&[1][..], &[2][..]));
        assert_eq!(index.bytes(), 3 * 12 + 4 * 8);
        assert!(
            index.kneighbors(&rows(vec![1], vec![f64::NAN]), 1).unwrap_err().to_string().contains("row 0, column 1")
        );
        assert!(index.kneighbors(&rows(vec![1], vec![1.0]), 0).is_err());
        assert!(index.radius_neighbors(&rows(vec![1], vec![1.0]), -1.0).is_err());
        assert!(SparseIndex::build(rows(vec![1 << 31], vec![1.0]), Metric::Euclidean).is_err());
        let other = SparseRows { n_columns: 3, ..rows(vec![1], vec![1.0]) };
        assert!(index.kneighbors(&other, 1).unwrap_err().to_string().contains("3"));
        let own = ermine_core::distance::metric::Custom::new(|_, _| 0.0, true);
        let refused = SparseIndex::build(other, Metric::Custom(own)).unwrap_err().to_string();
        assert!(refused.contains("sparse") && refused.contains("custom"), "{refused}");
    }
}
