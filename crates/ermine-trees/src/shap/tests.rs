//! SHAP values and interactions against their definition over all sets of columns.

use super::*;
use crate::ensemble::TreeSum;
use crate::split::Test;
use crate::split::test::CodeSet;
use crate::tree::Forest;
use ermine_core::model::Link;
use ermine_core::table::{Column, Table};
use proptest::prelude::*;
use std::sync::Arc;

/// A tree over four columns (the last has categories) from a list of choices; branches may be without weight.
fn tree(choices: &[(u8, u8, u8)]) -> Tree {
    let mut tree = Tree::leaf(64.0, &[0.5, -1.0]);
    for (i, &(node, what, share)) in choices.iter().enumerate() {
        let leaves: Vec<usize> = (0..tree.n_nodes()).filter(|&n| tree.test[n] == Test::Leaf).collect();
        let node = leaves[node as usize % leaves.len()];
        let feature = u32::from(what % 3);
        let test = match what / 32 {
            0 => Test::InSet {
                feature: 3,
                set: CodeSet::new((0..3).filter(|c| what >> c & 1 == 1)),
                missing_left: false,
            },
            1 => Test::Each { feature: 3, n_levels: 2, missing: false },
            _ => Test::AtMost { feature, threshold: f64::from(what % 4), missing_left: what % 2 == 0 },
        };
        let left = f64::from(share % 9) / 8.0;
        let shares = [left, 1.0 - left];
        let child =
            |c: usize| (tree.weight[node] * shares[c], vec![(7 * i + c) as f64 - 9.0, (i * i + 3 * c) as f64 / 4.0]);
        let children = [child(0), child(1)];
        tree.split(node, test, &children);
    }
    tree
}

/// What is expected of a tree when the columns of a set are known.
fn expected(tree: &Tree, node: usize, x: &[f64], set: usize) -> Vec<f64> {
    let Some(feature) = tree.test[node].feature() else { return tree.value(node).to_vec() };
    if set >> feature & 1 == 1 {
        return match tree.test[node].branch(x[feature]) {
            Some(branch) => expected(tree, tree.child[node] as usize + branch, x, set),
            None => tree.value(node).to_vec(),
        };
    }
    let total: f64 = tree.children(node).map(|child| tree.weight[child]).sum();
    let mut mean = vec![0.0; tree.width];
    for child in tree.children(node) {
        let below = expected(tree, child, x, set);
        let share = if total > 0.0 { tree.weight[child] / total } else { 1.0 / tree.children(node).len() as f64 };
        mean.iter_mut().zip(below).for_each(|(m, v)| *m += share * v);
    }
    mean
}

/// Shapley's formula, over all sets of columns.
fn by_definition(trees: &[Tree], x: &[f64]) -> Vec<Vec<f64>> {
    let d = x.len();
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let worth = |set: usize| {
        let each: Vec<Vec<f64>> = trees.iter().map(|tree| expected(tree, 0, x, set)).collect();
        (0..2).map(|k| each.iter().map(|v| v[k]).sum::<f64>()).collect::<Vec<f64>>()
    };
    (0..d)
        .map(|i| {
            let mut value = vec![0.0; 2];
            for set in (0..1usize << d).filter(|set| set >> i & 1 == 0) {
                let size = set.count_ones() as usize;
                let weight = factorial(size) * factorial(d - 1 - size) / factorial(d);
                let (with, without) = (worth(set | 1 << i), worth(set));
                (0..2).for_each(|k| value[k] += weight * (with[k] - without[k]));
            }
            value
        })
        .collect()
}

/// The formula of interaction values, over all sets of columns; the diagonal is what is left of the Shapley values.
fn interactions_by_definition(trees: &[Tree], x: &[f64]) -> Vec<Vec<Vec<f64>>> {
    let d = x.len();
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let worth = |set: usize, k: usize| trees.iter().map(|tree| expected(tree, 0, x, set)[k]).sum::<f64>();
    let mut table = vec![vec![vec![0.0; 2]; d]; d];
    for (i, j) in (0..d).flat_map(|i| (0..d).map(move |j| (i, j))).filter(|(i, j)| i != j) {
        for set in (0..1usize << d).filter(|set| set >> i & 1 == 0 && set >> j & 1 == 0) {
            let size = set.count_ones() as usize;
            let weight = factorial(size) * factorial(d - 2 - size) / (2.0 * factorial(d - 1));
            for k in 0..2 {
                let change =
                    worth(set | 1 << i | 1 << j, k) - worth(set | 1 << i, k) - worth(set | 1 << j, k) + worth(set, k);
                table[i][j][k] += weight * change;
            }
        }
    }
    for (i, whole) in by_definition(trees, x).into_iter().enumerate() {
        for k in 0..2 {
            table[i][i][k] = whole[k] - (0..d).filter(|&j| j != i).map(|j| table[i][j][k]).sum::<f64>();
        }
    }
    table
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn values_equal_shapleys_formula(
        trees in prop::collection::vec(prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>()), 0..14), 1..4),
        row in (prop::option::weighted(0.8, -1i8..5), prop::option::weighted(0.8, -1i8..5), prop::option::weighted(0.8, -1i8..5), prop::option::weighted(0.8, 0usize..4)),
    ) {
        let number = |v: Option<i8>| v.map_or(f64::NAN, f64::from);
        let names = ["a", "b", "c", "d"];
        let category = Column::coded("d", ermine_core::table::ColumnKind::Nominal,
            vec![row.3.map_or(ermine_core::table::MISSING, |c| c as u32)], Arc::new(ermine_core::table::Levels::new(names.map(String::from))));
        let columns = vec![
            Column::numeric("a", vec![number(row.0)]),
            Column::numeric("b", vec![number(row.1)]),
            Column::numeric("c", vec![number(row.2)]),
            category,
        ];
        let features = Features::new(Arc::new(Table::new(columns).unwrap()));
        let trees: Vec<Tree> = trees.iter().map(|choices| tree(choices)).collect();
        let mut forest = Forest::new(2);
        trees.iter().for_each(|tree| forest.push(tree));
        // As the forest keeps them: weights in single precision, no predictions of inner nodes but where rows stop.
        let kept: Vec<Tree> = (0..trees.len()).map(|t| forest.tree(t)).collect();
        let sum = TreeSum::of(Arc::new(forest.clone()), 2.0, Link::Identity);
        let got = shap_values(&sum, &features);
        let x: Vec<f64> = (0..4).map(|c| features.number(0, c)).collect();
        for (column, value) in by_definition(&kept, &x).iter().enumerate() {
            for k in 0..2 {
                prop_assert!((got.get(0, column)[k] - 0.5 * value[k]).abs() < 1e-9, "column {}: {:?} {:?}", column, got.get(0, column), value);
            }
        }
        let pairs = interaction_values(&sum, &features).unwrap();
        for (i, pair) in interactions_by_definition(&kept, &x).iter().enumerate().flat_map(|(i, row)| row.iter().enumerate().map(move |(j, v)| (i * 4 + j, v))) {
            for k in 0..2 {
                prop_assert!((pairs.get(0, i)[k] - 0.5 * pair[k]).abs() < 1e-9, "pair {}: {:?} {:?}", i, pairs.get(0, i), pair);
            }
        }
        // They add up to the difference between the prediction and what is expected without any knowledge.
        let predicted = forest.sum(&features);
        for k in 0..2 {
            let all: f64 = (0..4).map(|column| got.get(0, column)[k]).sum();
            prop_assert!((got.expected[k] + all - 0.5 * predicted[k]).abs() < 1e-9);
        }
    }
}

#[test]
fn a_degenerate_tree_is_explained() {
    let mut chain = Tree::leaf(2000.0, &[0.0]);
    for i in 0..2000usize {
        let node = chain.n_nodes() - 1;
        let test = Test::AtMost { feature: (i % 3) as u32, threshold: -(i as f64), missing_left: false };
        let weight = chain.weight[node];
        chain.split(node, test, &[(0.5, vec![i as f64]), (weight - 0.5, vec![1.0])]);
    }
    let mut forest = Forest::new(1);
    forest.push(&chain);
    let columns = ["a", "b", "c"].map(|name| Column::numeric(name, vec![-700.5])).to_vec();
    let features = Features::new(Arc::new(Table::new(columns).unwrap()));
    let got = shap_values(&TreeSum::of(Arc::new(forest.clone()), 1.0, Link::Identity), &features);
    let all: f64 = got.values.iter().sum();
    assert!((got.expected[0] + all - forest.sum(&features)[0]).abs() < 1e-6);
}
