//! Every index, every metric and every instruction set against brute force: the same rows and the same bits of distance.

use super::box_tree::{BoxTree, BoxTreeScratch};
use super::choice::{IndexChoice, IndexKind};
use super::index::Index;
use super::nearest::{Nearest, Neighbors};
use super::scan::Scan;
use ermine_core::distance::metric::{Custom, Metric};
use ermine_core::distance::mixed::{Missing, Mixed};
use ermine_core::distance::rows::{Points, RowMatrix};
use ermine_core::distance::whiten::Whitening;
use ermine_core::rng::{self, Rng};
use ermine_core::section::Sections;
use ermine_core::simd::{InstructionSet, Level};
use proptest::prelude::*;

/// What the numbers look like.
#[derive(Debug, Clone, Copy)]
enum NumberStyle {
    Smooth,
    /// Whole numbers in a small range: many ties and duplicates.
    Grid,
    Constant,
    /// A small spread far from zero.
    Offset,
    /// This power of ten.
    Scaled(i32),
    /// Every value at a scale of its own.
    Uneven,
    /// One value far larger than the rest.
    Outlier,
}

fn style() -> impl Strategy<Value = NumberStyle> {
    prop_oneof![
        4 => Just(NumberStyle::Smooth),
        4 => Just(NumberStyle::Grid),
        1 => Just(NumberStyle::Constant),
        1 => Just(NumberStyle::Offset),
        // Where single precision and its squares leave their range, and far beyond.
        3 => (-50i32..45).prop_map(NumberStyle::Scaled),
        1 => (-320i32..305).prop_map(NumberStyle::Scaled),
        1 => Just(NumberStyle::Uneven),
        1 => Just(NumberStyle::Outlier),
    ]
}

fn draw(rng: &mut Rng, style: NumberStyle, len: usize) -> Vec<f64> {
    let mut values: Vec<f64> = (0..len)
        .map(|_| {
            let smooth = rng::below(rng, 1 << 30) as f64 / f64::from(1 << 29) - 1.0;
            match style {
                NumberStyle::Smooth => smooth,
                NumberStyle::Grid => rng::below(rng, 4) as f64 - 1.0,
                NumberStyle::Constant => 0.7,
                NumberStyle::Offset => 1e6 + smooth,
                NumberStyle::Scaled(power) => smooth * 10f64.powi(power / 2) * 10f64.powi(power - power / 2),
                NumberStyle::Uneven => smooth * 10f64.powi(rng::below(rng, 90) as i32 - 50),
                NumberStyle::Outlier => smooth,
            }
        })
        .collect();
    if matches!(style, NumberStyle::Outlier) && len > 0 {
        values[len / 2] = 1e4;
    }
    values
}

/// Numbers of two of the metrics below: those that take missing values.
const HAMMING: usize = 8;
const MIXED: usize = 9;

fn metric(choice: usize, rows: &RowMatrix<'_>) -> Metric {
    let d = rows.n_features();
    match choice {
        0 | 1 => Metric::Euclidean,
        2 => Metric::Manhattan,
        3 => Metric::Chebyshev,
        4 => Metric::Minkowski { p: 3.0 },
        5 => Metric::Minkowski { p: 1.3 },
        6 => Metric::Cosine,
        7 => Whitening::estimated(rows).map_or(Metric::Euclidean, Metric::Mahalanobis),
        HAMMING => Metric::Hamming,
        MIXED => {
            let categories: Vec<bool> = (0..d).map(|j| j % 2 == 1).collect();
            let missing = if d.is_multiple_of(2) { Missing::Skip } else { Missing::Far };
            Metric::Mixed(Mixed::fitted(rows, &categories, missing).unwrap())
        }
        _ => Metric::Custom(Custom::new(|a, b| a.iter().zip(b).map(|(a, b)| (a - b).abs().min(1.0)).sum(), true)),
    }
}

/// All rows by (distance, row).
fn ranking(metric: &Metric, points: &[f64], d: usize, query: &[f64]) -> Vec<(f64, u32)> {
    let mut all: Vec<(f64, u32)> =
        points.chunks(d).zip(0..).map(|(point, row)| (metric.between(query, point), row)).collect();
    all.sort_by(|a, b| a.partial_cmp(b).unwrap());
    all
}

fn pairs(found: &Neighbors, i: usize) -> Vec<(f64, u32)> {
    found.distances(i).iter().copied().zip(found.rows(i).iter().copied()).collect()
}

#[derive(Debug, Clone, Copy)]
struct TestCase {
    n: usize,
    d: usize,
    k: usize,
    style: NumberStyle,
    metric: usize,
    f32: bool,
    seed: u64,
}

fn case(n: impl Strategy<Value = usize>, d: impl Strategy<Value = usize>) -> impl Strategy<Value = TestCase> {
    (
        n,
        d,
        prop_oneof![4 => 1usize..8, 4 => 1usize..60, 1 => 60usize..600],
        style(),
        0usize..11,
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(|(n, d, k, style, metric, f32, seed)| TestCase { n, d, k, style, metric, f32, seed })
}

/// Rows and queries of a case; some queries are rows, and some values are missing where the metric takes that. In single precision the numbers are
/// rounded first.
fn data(case: TestCase, queries: usize) -> (Vec<f64>, Vec<f64>) {
    let mut rng = rng::stream(case.seed, &[case.n as u64]);
    let mut points = draw(&mut rng, case.style, case.n * case.d);
    let mut asked = draw(&mut rng, case.style, queries * case.d);
    for (i, query) in asked.chunks_mut(case.d).enumerate().step_by(3) {
        let row = i * 7 % case.n;
        query.copy_from_slice(&points[row * case.d..][..case.d]);
    }
    if matches!(case.metric, HAMMING | MIXED) {
        points.iter_mut().chain(&mut asked).filter(|_| rng::below(&mut rng, 9) == 0).for_each(|v| *v = f64::NAN);
    }
    if case.f32 {
        let largest = f64::from(f32::MAX);
        points.iter_mut().for_each(|v| *v = f64::from(v.clamp(-largest, largest) as f32));
    }
    (points, asked)
}

fn check(case: TestCase, queries: usize) -> Result<(), TestCaseError> {
    let (points, asked) = data(case, queries);
    let narrow: Vec<f32> = points.iter().map(|&v| v as f32).collect();
    let rows = if case.f32 {
        RowMatrix::row_major_f32(&narrow, case.d).unwrap()
    } else {
        RowMatrix::row_major(&points, case.d).unwrap()
    };
    let asked_rows = RowMatrix::row_major(&asked, case.d).unwrap();
    let metric = metric(case.metric, &rows);
    let rankings: Vec<_> = asked.chunks(case.d).map(|query| ranking(&metric, &points, case.d, query)).collect();
    let radius = rankings[0][case.k.min(case.n) / 2].0;
    for kind in [IndexKind::BoxTree, IndexKind::VantageTree, IndexKind::Scan] {
        let Ok(index) = Index::build_as(&rows, metric.clone(), Some(kind)) else { continue };
        let near = index.kneighbors(&asked_rows, case.k).unwrap();
        let within = index.radius_neighbors(&asked_rows, radius).unwrap();
        for (i, ranking) in rankings.iter().enumerate() {
            prop_assert_eq!(&pairs(&near, i)[..], &ranking[..case.k.min(case.n)], "{:?} {:?}", kind, metric);
            let inside: Vec<_> = ranking.iter().copied().filter(|r| r.0 <= radius).collect();
            prop_assert_eq!(pairs(&within, i), inside, "{:?} {:?} radius {}", kind, metric, radius);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(7000))]
    #[test]
    fn small_sets(case in case(1usize..120, 1usize..8)) {
        check(case, 4)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn wide_sets(case in case(1usize..400, 8usize..40)) {
        check(case, 18)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn larger_sets(case in case(500usize..2500, 1usize..5)) {
        check(case, 3)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// More rows than a filter is given to prove itself, each nearer than the one before, and up to all of them wanted.
    #[test]
    fn weak_filters(case in case(4200usize..5200, 1usize..26), k in prop_oneof![1usize..9, 100usize..5200], falling: bool) {
        let case = TestCase { k, metric: case.metric % 7, ..case };
        let (mut points, asked) = data(case, 6);
        if falling {
            let n = case.n as f64;
            points.chunks_mut(case.d).enumerate().for_each(|(i, row)| row.iter_mut().for_each(|v| *v *= 1.0 - i as f64 / n));
        }
        let (rows, asked_rows) = (RowMatrix::row_major(&points, case.d).unwrap(), RowMatrix::row_major(&asked, case.d).unwrap());
        let metric = metric(case.metric, &rows);
        let near = Index::build_as(&rows, metric.clone(), Some(IndexKind::Scan)).unwrap().kneighbors(&asked_rows, case.k).unwrap();
        for (i, query) in asked.chunks(case.d).enumerate() {
            prop_assert_eq!(&pairs(&near, i)[..], &ranking(&metric, &points, case.d, query)[..case.k.min(case.n)]);
        }
    }
}

/// Rows as wide as genomes: the sums of the byte filter would not fit 32 bits.
#[test]
fn very_wide_rows() {
    let (n, d) = (48, 110_000);
    let mut rng = rng::stream(3, &[]);
    let mut draw = |rows: usize| -> Vec<f64> {
        let noise = |rng: &mut Rng| rng::below(rng, 100) as f64 / 1e4;
        (0..rows * d)
            .map(|i| if (i / d).is_multiple_of(2) { 1.0 - noise(&mut rng) } else { noise(&mut rng) - 1.0 })
            .collect()
    };
    let (points, asked) = (draw(n), draw(6));
    let index = Index::build(&RowMatrix::row_major(&points, d).unwrap(), Metric::Euclidean).unwrap();
    let near = index.kneighbors(&RowMatrix::row_major(&asked, d).unwrap(), 5).unwrap();
    for (i, query) in asked.chunks(d).enumerate() {
        assert_eq!(pairs(&near, i), ranking(&Metric::Euclidean, &points, d, query)[..5]);
    }
}

/// A user's own metric that gives what is no distance is an error wherever it shows.
#[test]
fn invalid_distances_are_errors() {
    let values: Vec<f64> = (0..60).map(f64::from).collect();
    let rows = RowMatrix::row_major(&values, 1).unwrap();
    let (good, bad) = (RowMatrix::row_major(&[3.5], 1).unwrap(), RowMatrix::row_major(&[17.0], 1).unwrap());
    for wrong in [f64::NAN, -1.0] {
        for triangle in [false, true] {
            for kind in [None, Some(IndexKind::Scan), Some(IndexKind::Graph { width: 9 })] {
                // Row 17 has no distance to itself.
                let own = Custom::new(
                    move |a, b| if a[0] == 17.0 && b[0] == 17.0 { wrong } else { (a[0] - b[0]).abs() },
                    triangle,
                );
                let index = Index::build_as(&rows, Metric::Custom(own), kind).unwrap();
                assert_eq!(index.kneighbors(&good, 3).unwrap().rows(0), [3, 4, 2]);
                for error in [index.kneighbors(&bad, 2), index.radius_neighbors(&bad, 2.0), index.own_kneighbors(1)] {
                    assert!(error.unwrap_err().to_string().contains("negative or not a number"), "{wrong} {kind:?}");
                }
            }
        }
    }
}

/// What an index holds, compared with the rows as they were given: at most 30% more, for every exact kind and metric; the exceptions as the documentation states them.
#[test]
fn memory() {
    let mut rng = rng::stream(5, &[]);
    for (n, d) in [
        (40_000, 1),
        (700_000, 1),
        (40_000, 2),
        (700_000, 2),
        (40_000, 3),
        (10_000, 10),
        (10_000, 19),
        (10_000, 21),
        (5_000, 50),
    ] {
        let values: Vec<f32> = (0..n * d).map(|_| rng::below(&mut rng, 1 << 20) as f32 / 1e5 - 5.0).collect();
        let wide: Vec<f64> = values.iter().map(|&v| f64::from(v) * 1.000_000_1).collect();
        for single in [true, false] {
            let rows =
                if single { RowMatrix::row_major_f32(&values, d) } else { RowMatrix::row_major(&wide, d) }.unwrap();
            let given = values.len() * if single { 4 } else { 8 };
            let mixed = Mixed::fitted(&rows, &vec![false; d], Missing::Far).unwrap();
            let metrics = [
                Metric::Euclidean,
                Metric::Manhattan,
                Metric::Chebyshev,
                Metric::Minkowski { p: 3.0 },
                Metric::Cosine,
                Metric::Mahalanobis(Whitening::estimated(&rows).unwrap()),
                Metric::Hamming,
                Metric::Mixed(mixed),
            ];
            for metric in &metrics {
                for kind in [None, Some(IndexKind::BoxTree), Some(IndexKind::VantageTree), Some(IndexKind::Scan)] {
                    // Time: a tree of many points is built for one metric of each sort.
                    let costly = n > 100_000
                        && (matches!(kind, Some(IndexKind::VantageTree))
                            || matches!(metric, Metric::Hamming | Metric::Mixed(_)));
                    if kind.is_some_and(|kind| !IndexChoice::possible(kind, metric))
                        || costly && !matches!(metric, Metric::Euclidean)
                    {
                        continue;
                    }
                    let index = Index::build_as(&rows, metric.clone(), kind).unwrap();
                    assert_eq!(index.row_bytes(), given);
                    let share = index.bytes() as f64 / given as f64;
                    let narrow_cosine =
                        single && d <= 2 && matches!((metric, kind), (Metric::Cosine, Some(IndexKind::BoxTree)));
                    let most = if narrow_cosine { 1.6 } else { 1.3 };
                    assert!(share <= most, "{metric:?} {kind:?} {n} x {d} single {single}: {share}");
                }
            }
        }
    }
}

/// Points that are hardest to pack: every number at a scale of its own.
#[test]
fn memory_of_uneven_numbers() {
    let mut rng = rng::stream(6, &[]);
    for d in [1, 2] {
        let values: Vec<f32> = (0..60_000 * d).map(|_| f32::from_bits(rng::below(&mut rng, 1 << 32) as u32)).collect();
        let values: Vec<f32> = values.into_iter().map(|v| if v.is_finite() { v } else { 1.0 }).collect();
        let index = Index::build(&RowMatrix::row_major_f32(&values, d).unwrap(), Metric::Euclidean).unwrap();
        assert_eq!(index.choice().kind, IndexKind::BoxTree);
        let share = index.bytes() as f64 / index.row_bytes() as f64;
        assert!(share <= 1.3, "{d}: {share}");
    }
}

/// What a graph holds beside the rows as the metric measures them.
#[test]
fn memory_of_a_graph() {
    let values: Vec<f32> = (0..3000 * 4).map(|i| ((i * 7919) % 1009) as f32).collect();
    for (metric, row) in [(Metric::Euclidean, 16), (Metric::Cosine, 40)] {
        let rows = RowMatrix::row_major_f32(&values, 4).unwrap();
        let index = Index::build_as(&rows, metric, Some(IndexKind::Graph { width: 20 })).unwrap();
        let links = index.bytes() as f64 / 3000.0 - f64::from(row);
        // 32 links of 4 bytes, an offset and a layer make 133; the upper layers add 64 / 15 on average, with a standard deviation of 0.3.
        assert!((136.0..145.0).contains(&links), "{links}");
        assert_eq!(index.row_bytes(), values.len() * 4);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn three_levels(case in case(12_300usize..14_000, 1usize..25)) {
        check(case, 2)?;
    }

    #[test]
    fn every_instruction_set_finds_the_same(case in case(1usize..1500, 1usize..30)) {
        let case = TestCase { metric: case.metric % 6, ..case };
        let (points, asked) = data(case, 15);
        let rows = RowMatrix::row_major(&points, case.d).unwrap();
        let metric = metric(case.metric, &rows);
        let tree = BoxTree::build(&points, case.d);
        let scan = Scan::new(Points::copy(&rows), &metric);
        for set in [InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512] {
            let level = Level::at_most(set);
            let mut scanned = vec![Nearest::k(case.k.min(case.n)); 15];
            scan.search(level, &metric, &asked, &mut scanned);
            for (query, scanned) in asked.chunks(case.d).zip(&mut scanned) {
                let mut best = Nearest::k(case.k.min(case.n));
                tree.search(level, &metric, query, &mut best, &mut BoxTreeScratch::default());
                let expected = ranking(&metric, &points, case.d, query);
                prop_assert_eq!(best.sorted(), &expected[..case.k.min(case.n)]);
                prop_assert_eq!(scanned.sorted(), &expected[..case.k.min(case.n)]);
            }
        }
    }

    #[test]
    fn growing_equals_building(case in case(1usize..900, 1usize..25), steps in 1usize..5) {
        let (points, asked) = data(case, 6);
        let first = (case.n / 3).max(1);
        let rows = |from: usize, to: usize| RowMatrix::row_major(&points[from * case.d..to * case.d], case.d).unwrap();
        let metric = metric(case.metric, &rows(0, first));
        let mut grown = Index::build(&rows(0, first), metric.clone()).unwrap();
        let mut at = first;
        for step in 1..=steps {
            let to = first + (case.n - first) * step / steps;
            if to > at {
                grown.add(&rows(at, to)).unwrap();
            }
            at = to;
        }
        let built = Index::build(&rows(0, case.n), metric).unwrap();
        let asked = RowMatrix::row_major(&asked, case.d).unwrap();
        prop_assert_eq!(grown.kneighbors(&asked, case.k).unwrap(), built.kneighbors(&asked, case.k).unwrap());
        // (By their text, since a missing value is not equal to itself.)
        prop_assert_eq!(format!("{:?}", grown.kept()), format!("{:?}", built.kept()));
    }

    #[test]
    fn indexes_round_trip(case in case(1usize..900, 1usize..25)) {
        let (points, asked) = data(case, 6);
        let rows = RowMatrix::row_major(&points, case.d).unwrap();
        let metric = metric(case.metric.min(9), &rows);
        let asked = RowMatrix::row_major(&asked, case.d).unwrap();
        for kind in [IndexKind::BoxTree, IndexKind::VantageTree, IndexKind::Scan] {
            let Ok(index) = Index::build_as(&rows, metric.clone(), Some(kind)) else { continue };
            let mut sections = Sections::default();
            index.save(&mut sections).unwrap();
            let read = Index::load(&sections).unwrap();
            prop_assert_eq!(read.kneighbors(&asked, case.k).unwrap(), index.kneighbors(&asked, case.k).unwrap());
        }
    }
}

#[test]
fn values_without_distance_are_errors() {
    let good = [0.0, 1.0, 2.0, 3.0];
    let bad = [0.0, f64::NAN, 2.0, 3.0];
    let rows = |v| RowMatrix::row_major(v, 2).unwrap();
    for metric in [Metric::Euclidean, Metric::Cosine, Metric::Manhattan] {
        assert!(Index::build(&rows(&bad), metric.clone()).unwrap_err().to_string().contains("row 0, column 1"));
        let mut index = Index::build(&rows(&good), metric).unwrap();
        assert!(index.kneighbors(&rows(&bad), 1).is_err());
        assert!(index.add(&rows(&bad)).is_err());
        assert!(index.kneighbors(&rows(&good), 0).is_err());
        assert!(index.radius_neighbors(&rows(&good), -1.0).is_err());
        assert!(index.radius_neighbors(&rows(&good), f64::NAN).is_err());
        assert!(index.kneighbors(&RowMatrix::row_major(&good, 4).unwrap(), 1).is_err());
        assert_eq!(index.kneighbors(&rows(&good), 99).unwrap().rows(0).len(), 2);
    }
    assert!(Index::build(&RowMatrix::row_major(&[], 2).unwrap(), Metric::Euclidean).is_err());
    assert!(Index::build(&rows(&good), Metric::Minkowski { p: 0.3 }).is_err());
    assert!(Index::build_as(&rows(&good), Metric::Hamming, Some(IndexKind::BoxTree)).is_err());
}

#[test]
fn the_choice_is_recorded() {
    let values: Vec<f64> = (0..90_000).map(|i| f64::from(i / 10 % 977)).collect();
    let kind = |d: usize, metric: Metric| {
        let index = Index::build(&RowMatrix::row_major(&values, d).unwrap(), metric).unwrap();
        assert!(!index.choice().reason.is_empty());
        index.choice().kind
    };
    assert_eq!(kind(3, Metric::Euclidean), IndexKind::BoxTree);
    assert_eq!(kind(3, Metric::Hamming), IndexKind::VantageTree);
    assert_eq!(kind(10, Metric::Euclidean), IndexKind::BoxTree);
    assert_eq!(kind(150, Metric::Euclidean), IndexKind::Scan);
    let mixed = Mixed { columns: vec![ermine_core::distance::mixed::MixedColumn::Category; 3], missing: Missing::Skip };
    assert_eq!(kind(3, Metric::Mixed(mixed)), IndexKind::Scan);
}
