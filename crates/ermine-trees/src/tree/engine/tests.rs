//! Every form of the engine against the plain walk of each tree, bit for bit.

use super::single_row::SingleRowForests;
use super::*;
use crate::split::Test;
use crate::split::test::CodeSet;
use crate::tree::Tree;
use ermine_core::table::{Column, ColumnKind, Levels, MISSING, Table};
use proptest::prelude::*;
use std::sync::Arc;

/// Columns: two of f64, one of f32, one sparse, one of categories.
const D: usize = 5;
const CATEGORIES: u32 = 4;

/// Numbers where comparisons go wrong first.
fn number() -> impl Strategy<Value = f64> {
    let edges = [
        0.0,
        -0.0,
        1.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        f64::MIN_POSITIVE / 8.0,
        -f64::MIN_POSITIVE / 8.0,
        f32::MAX as f64,
        f32::MIN_POSITIVE as f64,
        1.0 + f64::EPSILON,
        1.0 + f32::EPSILON as f64,
        0.1,
        0.1f32 as f64,
    ];
    prop_oneof![
        prop::sample::select(edges.to_vec()),
        prop::sample::select(edges.to_vec()).prop_map(f64::next_up),
        prop::sample::select(edges.to_vec()).prop_map(f64::next_down),
        (-6i32..6).prop_map(|x| f64::from(x) / 2.0),
        any::<f64>().prop_filter("not NaN", |x| !x.is_nan()),
    ]
}

/// What a node asks: which leaf to split, the column, a threshold, a set, what becomes of missing values.
type Choice = (u16, u8, f64, u64, bool);

fn choice() -> impl Strategy<Value = Choice> {
    (any::<u16>(), any::<u8>(), number(), any::<u64>(), any::<bool>())
}

fn tree(choices: &[Choice], width: usize, categories: bool) -> Tree {
    let value = |i: usize, c: usize| {
        (0..width).map(|k| ((i * 7 + c * 3 + k) as f64).sin() * 1e3f64.powi(c as i32 % 3)).collect::<Vec<f64>>()
    };
    let mut tree = Tree::leaf(1.0, &value(99, 0));
    for (i, &(leaf, what, threshold, set, missing_left)) in choices.iter().enumerate() {
        let leaves: Vec<usize> = (0..tree.n_nodes()).filter(|&n| tree.test[n] == Test::Leaf).collect();
        let node = leaves[leaf as usize % leaves.len()];
        let feature = u32::from(what) % CATEGORIES;
        let test = match what / 64 {
            0 if categories => {
                // Every other set has categories of more than one word.
                let codes = (0..200).filter(|c| set.rotate_left(c / 3) & 1 == 1 && (c % 64 < 10 || set % 2 == 0));
                Test::InSet { feature: CATEGORIES, set: CodeSet::new(codes.map(|c| c as usize)), missing_left }
            }
            1 if categories => {
                Test::Each { feature: CATEGORIES, n_levels: (set % 9) as u32 + 1, missing: missing_left }
            }
            _ => Test::AtMost { feature, threshold, missing_left },
        };
        let children: Vec<(f64, Vec<f64>)> = (0..test.n_children()).map(|c| (1.0, value(i, c))).collect();
        tree.split(node, test, &children);
    }
    tree
}

/// Rows of numbers and a category each; some are missing.
type Row = (Option<f64>, Option<f64>, Option<f64>, Option<f64>, Option<u16>);

fn row() -> impl Strategy<Value = Row> {
    let maybe = || prop::option::weighted(0.85, number());
    (
        maybe(),
        maybe(),
        maybe(),
        prop_oneof![Just(Some(0.0)), prop::option::weighted(0.85, number())],
        prop::option::weighted(0.85, 0u16..300),
    )
}

fn features(rows: &[Row]) -> Features {
    let number = |x: Option<f64>| x.unwrap_or(f64::NAN);
    let sparse: Vec<(u32, f64)> =
        rows.iter().enumerate().map(|(i, r)| (i as u32, number(r.3))).filter(|(_, x)| x.to_bits() != 0).collect();
    let levels = Levels::new((0..300).map(|c| c.to_string()));
    let columns = vec![
        Column::numeric("a", rows.iter().map(|r| number(r.0)).collect::<Vec<f64>>()),
        Column::numeric("b", rows.iter().map(|r| number(r.1)).collect::<Vec<f64>>()),
        Column::numeric_f32("c", rows.iter().map(|r| number(r.2) as f32).collect::<Vec<f32>>()),
        Column::sparse(
            "d",
            rows.len(),
            sparse.iter().map(|s| s.0).collect::<Vec<u32>>().into(),
            sparse.iter().map(|s| s.1).collect::<Vec<f64>>().into(),
        ),
        Column::coded(
            "e",
            ColumnKind::Nominal,
            rows.iter().map(|r| r.4.map_or(MISSING, u32::from)).collect::<Vec<u32>>(),
            Arc::new(levels),
        ),
    ];
    Features::new(Arc::new(Table::new(columns).unwrap()))
}

/// The sums of the plain walks.
fn plain(trees: &[Tree], features: &Features, width: usize) -> Vec<u64> {
    let mut sums = vec![0.0; features.n_rows() * width];
    for tree in trees {
        for (row, sums) in sums.chunks_mut(width).enumerate() {
            let node = tree.walk(|feature| features.number(row, feature));
            sums.iter_mut().zip(tree.value(node)).for_each(|(sum, v)| *sum += v);
        }
    }
    sums.into_iter().map(f64::to_bits).collect()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

fn forest(trees: &[Tree], width: usize) -> Forest {
    let mut forest = Forest::new(width);
    trees.iter().for_each(|tree| forest.push(tree));
    forest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_engine_matches_the_plain_walk(
        choices in prop::collection::vec(prop::collection::vec(choice(), 0..40), 6..70), few in 1usize..12,
        rows in prop::collection::vec(row(), 32..140), width in 1usize..4, categories in any::<bool>(),
    ) {
        let trees: Vec<Tree> = choices.iter().map(|c| tree(c, width, categories)).collect();
        let (all, features) = (forest(&trees, width), features(&rows));
        let expected = plain(&trees, &features, width);
        prop_assert_eq!(&bits(&all.sum(&features)), &expected);
        // The plain walk of forests, and the two forms on codes.
        let mut walked = vec![0.0; expected.len()];
        all.add_walks(0..trees.len(), &features, (0, width), &mut walked);
        prop_assert_eq!(&bits(&walked), &expected);
        if let Some(sliced) = SlicedTrees::new(&[&all], D) {
            for plain in [true, false] {
                let mut scratch = sliced.scratch(width);
                sliced.code(&features, 0, rows.len(), &mut scratch);
                if plain { sliced.add_plain(0..trees.len(), rows.len(), 0, &mut scratch) } else { sliced.add(0..trees.len(), rows.len(), 0, &mut scratch) }
                let mut sums = vec![0.0; expected.len()];
                sums.chunks_mut(width).enumerate().for_each(|(row, out)| sliced.sums(row, out, &scratch));
                prop_assert_eq!(&bits(&sums), &expected);
            }
        }
        if let Some(coded) = CodedTrees::new(&[&all], D) {
            let mut sums = vec![0.0; expected.len()];
            coded.sums(&[&all], 0..trees.len(), &features, &mut sums);
            prop_assert_eq!(&bits(&sums), &expected);
        }
        // Nodes where rows end.
        let ends = all.apply_within(&features);
        for (row, ends) in ends.chunks(trees.len()).enumerate() {
            for (tree, &end) in trees.iter().zip(ends) {
                prop_assert_eq!(end as usize, tree.walk(|feature| features.number(row, feature)));
            }
        }
        // One row, and several forests at once.
        let halves = [forest(&trees[..few.min(trees.len() - 1)], width), forest(&trees[few.min(trees.len() - 1)..], width)];
        let one = SingleRowForests::new(halves.iter().cloned().map(Arc::new).collect(), D);
        for row in 0..rows.len().min(20) {
            let x: Vec<f64> = (0..D).map(|c| features.number(row, c)).collect();
            let mut sums = vec![1.0; 2 * width];
            one.sum(&x, &mut sums);
            let single = features.select(&[row as u32]).unwrap();
            let parts = [plain(&trees[..few.min(trees.len() - 1)], &single, width), plain(&trees[few.min(trees.len() - 1)..], &single, width)];
            prop_assert_eq!(bits(&sums), parts.concat());
        }
        let same: Vec<&Forest> = vec![&all, &all];
        let engine = PredictionEngine::new(&same, D);
        let twice = sums(&same, || Some(&engine), 0..trees.len(), &features);
        for (twice, once) in twice.chunks(2 * width).zip(expected.chunks(width)) {
            prop_assert_eq!(bits(twice), [once, once].concat());
        }
    }

    #[test]
    fn large_trees_match_the_plain_walk(
        choices in prop::collection::vec(prop::collection::vec(choice(), 260..700), 6..9), rows in prop::collection::vec(row(), 32..200),
    ) {
        let trees: Vec<Tree> = choices.iter().map(|c| tree(c, 2, false)).collect();
        let (all, features) = (forest(&trees, 2), features(&rows));
        prop_assert!(SlicedTrees::new(&[&all], D).is_none());
        prop_assert_eq!(bits(&all.sum(&features)), plain(&trees, &features, 2));
        let one = SingleRowForests::new(vec![Arc::new(all)], D);
        let x: Vec<f64> = (0..D).map(|c| features.number(0, c)).collect();
        let mut sums = vec![1.0; 2];
        one.sum(&x, &mut sums);
        prop_assert_eq!(bits(&sums), plain(&trees, &features.select(&[0]).unwrap(), 2));
    }
}

#[test]
fn a_degenerate_tree_is_walked() {
    let n = 3000;
    let mut made = Tree::leaf(1.0, &[0.5]);
    for i in 0..n {
        let test = Test::AtMost { feature: 0, threshold: f64::from(i), missing_left: i == 2000 };
        made.split(made.n_nodes() - 1, test, &[(1.0, vec![f64::from(i)]), (1.0, vec![-1.0])]);
    }
    let values: Vec<f64> = (0..4 * n).map(|i| f64::from(i) / 4.0).chain([f64::NAN, f64::INFINITY, -0.0]).collect();
    let features = Features::new(Arc::new(Table::new(vec![Column::numeric("a", values)]).unwrap()));
    let all = forest(std::slice::from_ref(&made), 1);
    let expected = plain(std::slice::from_ref(&made), &features, 1);
    assert_eq!(bits(&made.predict(&features)), expected);
    assert_eq!(bits(&all.sum(&features)), expected);
    let one = SingleRowForests::new(vec![Arc::new(all.clone())], 1);
    for row in (0..features.n_rows()).step_by(97).chain([features.n_rows() - 3]) {
        let mut sums = [1.0];
        one.sum(&[features.number(row, 0)], &mut sums);
        assert_eq!(sums[0].to_bits(), expected[row]);
    }
}
