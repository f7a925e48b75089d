//! Random forests and extra-trees against brute force and against what they promise.

use ermine::prelude::*;
use ermine_core::learner::parameters::{ClassWeight, CountOrFraction, MaxFeatures};
use ermine_core::learner::{Context, fit};
use ermine_core::matrix::{Features, Target};
use ermine_trees::learner::decision_tree::TreeCriterion;
use ermine_trees::learner::forest::{FittedForest, ForestClassWeight, ForestMaxFeatures, ForestMethod};
use ermine_trees::split::Impurity;
use proptest::prelude::*;
use std::sync::Arc;

/// One tree on all rows and columns.
fn one_tree() -> RandomForest {
    RandomForest {
        n_estimators: 1,
        bootstrap: false,
        max_features: ForestMaxFeatures::Of(MaxFeatures::All),
        ..Default::default()
    }
}

fn classes(columns: Vec<Column>, codes: &[usize], k: usize) -> Dataset {
    let features = Features::new(Arc::new(Table::new(columns).unwrap()));
    let labels = (0..k).map(|c| c.to_string()).collect();
    let target = Target::Classes { codes: codes.iter().map(|&c| c as u32).collect(), labels };
    Dataset::from_parts(features, target, Task::Classification).unwrap()
}

fn numbers(columns: Vec<Column>, values: Vec<f64>, n_outputs: usize) -> Dataset {
    let features = Features::new(Arc::new(Table::new(columns).unwrap()));
    Dataset::from_parts(features, Target::Values { values, n_outputs }, Task::Regression).unwrap()
}

fn accuracy(model: &Model, data: &Dataset) -> f64 {
    let said = model.predict_data(data).unwrap();
    let (codes, _) = data.classes().unwrap();
    codes.iter().enumerate().filter(|&(row, &c)| said.class(row) == c as usize).count() as f64 / codes.len() as f64
}

/// Ten columns of which three matter, some values missing, and a nominal one.
fn sample(n: usize, seed: u64, k: usize) -> Dataset {
    let mut rng = ermine_core::rng::stream(seed, &[9]);
    let mut draw = |k: usize| ermine_core::rng::below(&mut rng, k);
    let columns: Vec<Vec<f64>> = (0..9)
        .map(|c| {
            (0..n).map(|_| if c == 8 && draw(5) == 0 { f64::NAN } else { draw(1000) as f64 / 500.0 - 1.0 }).collect()
        })
        .collect();
    let names: Vec<usize> = (0..n).map(|_| draw(6)).collect();
    let codes: Vec<usize> = (0..n)
        .map(|i| {
            let score = columns[0][i] + columns[1][i] * columns[2][i] + [0.5, -0.5, 0.3, -0.3, 0.0, 0.1][names[i]];
            let clean = ((score + 1.5) / 3.0 * k as f64).clamp(0.0, k as f64 - 1.0) as usize;
            if draw(20) == 0 { draw(k) } else { clean }
        })
        .collect();
    let mut made: Vec<Column> =
        columns.into_iter().enumerate().map(|(c, x)| Column::numeric(format!("x{c}"), x)).collect();
    made.push(Column::nominal("name", &names.iter().map(|n| Some(format!("n{n}"))).collect::<Vec<_>>()));
    classes(made, &codes, k)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_first_split_is_the_best_one(
        rows in prop::collection::vec((prop::option::weighted(0.9, -3i8..4), -3i8..4, 0usize..4, 1u8..4), 2..30),
        n_classes in 2usize..5, half_weights in any::<bool>(), entropy in any::<bool>(), exact in any::<bool>(),
    ) {
        let columns = vec![
            Column::numeric("a", rows.iter().map(|r| r.0.map_or(f64::NAN, f64::from)).collect::<Vec<_>>()),
            Column::numeric("b", rows.iter().map(|r| f64::from(r.1)).collect::<Vec<_>>()),
        ];
        let codes: Vec<usize> = rows.iter().map(|r| r.2 % n_classes).collect();
        let weights: Vec<f64> = rows.iter().map(|r| f64::from(r.3) * if half_weights { 0.5 } else { 1.0 }).collect();
        let data = classes(columns.clone(), &codes, n_classes).with_weight(Some(weights.clone())).unwrap();
        let (criterion, impurity) = if entropy {
            (Some(TreeCriterion::Entropy), Impurity::Entropy)
        } else {
            (None, Impurity::Gini)
        };
        let tree_method = if exact { ForestMethod::Exact } else { ForestMethod::Hist };
        let model = RandomForest { max_depth: Some(1), criterion, tree_method, ..one_tree() }.fit(&data).unwrap();
        // The impurity of the leaves against that of the best of all thresholds.
        let leaves = model.fitted::<FittedForest>().unwrap().forest().apply(data.features());
        let cost = |side: &dyn Fn(usize) -> bool| -> f64 {
            let mut sides = [vec![0.0; n_classes], vec![0.0; n_classes]];
            for row in 0..rows.len() { sides[usize::from(side(row))][codes[row]] += weights[row]; }
            sides.iter().map(|s| impurity.cost(s)).sum()
        };
        let mut least = f64::INFINITY;
        for column in &columns {
            for threshold in (-4..4).map(|t| f64::from(t) + 0.5) {
                for missing in [true, false] {
                    least = least.min(cost(&|row| { let x = column.number(row); if x.is_nan() { missing } else { x > threshold } }));
                }
            }
        }
        let first = leaves.iter().copied().min().unwrap();
        let got = cost(&|row| leaves[row] != first);
        prop_assert!((got - least).abs() < 1e-9, "{got} is not {least}");
    }

    #[test]
    fn a_full_tree_classifies_distinct_rows_correctly(
        x in prop::collection::vec((0u8..20, 0u8..20, 0usize..3), 1..120), k in 1usize..4, extra in any::<bool>(), seed in any::<u64>(),
    ) {
        let mut rows: Vec<(u8, u8, usize)> = x;
        rows.sort_unstable();
        rows.dedup_by_key(|r| (r.0, r.1));
        let columns = vec![
            Column::numeric("a", rows.iter().map(|r| f64::from(r.0)).collect::<Vec<_>>()),
            Column::nominal("b", &rows.iter().map(|r| Some(r.1.to_string())).collect::<Vec<_>>()),
        ];
        let codes: Vec<usize> = rows.iter().map(|r| r.2 % k).collect();
        let data = classes(columns.clone(), &codes, k);
        let context = Context { seed, ..ermine::context() };
        let tree = RandomForest { max_features: ForestMaxFeatures::Auto, ..one_tree() };
        let model = if extra { fit(&ExtraTrees { n_estimators: 2, ..Default::default() }, &data, &context) } else { fit(&tree, &data, &context) }.unwrap();
        prop_assert_eq!(accuracy(&model, &data), 1.0);
        // The same for numbers, several at once too.
        let values: Vec<f64> = codes.iter().enumerate().flat_map(|(i, &c)| [c as f64 * 1e3, i as f64]).collect();
        for n_outputs in [1, 2] {
            let y: Vec<f64> = values.chunks(2).flat_map(|v| v[..n_outputs].to_vec()).collect();
            let data = numbers(columns.clone(), y.clone(), n_outputs);
            let said = fit(&tree, &data, &context).unwrap().predict_data(&data).unwrap();
            prop_assert!(said.values().iter().zip(&y).all(|(a, b)| (a - b).abs() < 1e-9));
        }
    }
}

#[test]
fn integer_weights_equal_repeated_rows_and_other_weights_scale() {
    for k in [2, 3] {
        let data = sample(200, 4, k);
        let weights: Vec<f64> = (0..200).map(|row| f64::from(1 + row % 3)).collect();
        let repeated: Vec<u32> = (0..200u32).flat_map(|row| std::iter::repeat_n(row, 1 + row as usize % 3)).collect();
        let forest = RandomForest { min_samples_split: CountOrFraction::Count(12), ..one_tree() };
        let said = |data: &Dataset| forest.fit(data).unwrap().predict_data(&sample(200, 4, k)).unwrap();
        let whole = said(&data.clone().with_weight(Some(weights.clone())).unwrap());
        let rows = said(&data.select(&repeated).unwrap());
        assert!(whole.values().iter().zip(rows.values()).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}

#[test]
fn forests_generalize_and_estimate_it_out_of_bag() {
    for (k, least) in [(2, 0.8), (4, 0.7)] {
        let (train, test) = (sample(3000, 1, k), sample(3000, 2, k));
        let model = RandomForest { n_estimators: 60, oob_score: true, ..Default::default() }.fit(&train).unwrap();
        let forest = model.fitted::<FittedForest>().unwrap();
        let (seen, oob) = (accuracy(&model, &test), forest.out_of_bag().unwrap());
        assert!(seen > least && (seen - oob.score).abs() < 0.03, "{k} classes: {seen}, out of bag {}", oob.score);
        assert!(oob.n_evaluated > 2990 && model.certificate().to_string().contains("out-of-bag accuracy"));
        let shares = forest.importances();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares[0] > 0.2 && shares[5] < 0.1, "{shares:?}");
        let extra = ExtraTrees { n_estimators: 60, ..Default::default() }.fit(&train).unwrap();
        assert!(accuracy(&extra, &test) > least);
        let balanced = RandomForest {
            n_estimators: 30,
            class_weight: ForestClassWeight::Of(ClassWeight::Balanced),
            ..Default::default()
        };
        assert!(accuracy(&balanced.fit(&train).unwrap(), &test) > least - 0.02);
        assert!(model.text().contains("out-of-bag accuracy"));
    }
}

#[test]
fn a_larger_forest_begins_with_the_smaller_one() {
    let data = sample(400, 3, 2);
    let grow = |n_estimators: usize| RandomForest { n_estimators, ..Default::default() }.fit(&data).unwrap();
    let (short, long) = (grow(3), grow(40));
    let tree = |model: &Model, t: usize| model.fitted::<FittedForest>().unwrap().forest().tree(t);
    (0..3).for_each(|t| assert_eq!(tree(&short, t), tree(&long, t)));
    assert_ne!(tree(&long, 0), tree(&long, 1));
}

#[test]
fn growth_limits_hold() {
    let data = sample(1000, 5, 2);
    let forest = RandomForest { n_estimators: 5, max_leaf_nodes: Some(7), ..Default::default() }.fit(&data).unwrap();
    let trees = |m: &Model| (0..5).map(|t| m.fitted::<FittedForest>().unwrap().forest().tree(t)).collect::<Vec<_>>();
    assert!(trees(&forest).iter().all(|t| t.n_leaves() == 7));
    assert!(accuracy(&forest, &data) > 0.7, "the best splits come first");
    let learner = RandomForest {
        n_estimators: 5,
        max_depth: Some(3),
        min_samples_leaf: CountOrFraction::Count(40),
        ..Default::default()
    };
    for tree in trees(&learner.fit(&data).unwrap()) {
        assert!(tree.depth() <= 3 && tree.weight.iter().all(|&w| w >= 40.0));
    }
    assert!(RandomForest { bootstrap: false, oob_score: true, ..Default::default() }.fit(&data).is_err());
}

#[test]
fn rows_of_one_leaf_are_alike() {
    let data = sample(60, 6, 2);
    let model = RandomForest { n_estimators: 20, ..Default::default() }.fit(&data).unwrap();
    let alike = model.proximity(data.features()).unwrap();
    for a in 0..60 {
        assert_eq!(alike[a * 60 + a], 1.0);
        (0..60).for_each(|b| assert_eq!(alike[a * 60 + b], alike[b * 60 + a]));
    }
}

#[test]
fn targets_of_any_scale_are_fitted() {
    for (scale, shift) in [(1.0, 0.0), (1e-90, 0.0), (1e90, 0.0), (1.0, 1e9)] {
        let x: Vec<f64> = (0..500).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| (x / 40.0).sin() * scale + shift).collect();
        let data = numbers(vec![Column::numeric("x", x)], y.clone(), 1);
        let said =
            RandomForest { n_estimators: 30, ..Default::default() }.fit(&data).unwrap().predict_data(&data).unwrap();
        let worst = said.values().iter().zip(&y).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst < 0.1 * scale, "{scale} {shift}: {worst}");
    }
}

#[test]
fn a_forest_needs_little_memory() {
    let model = RandomForest { n_estimators: 20, ..Default::default() }.fit(&sample(3000, 7, 2)).unwrap();
    let n_nodes = model.fitted::<FittedForest>().unwrap().forest().n_nodes();
    // A node of scikit-learn takes 64 bytes, and 16 for the shares of two classes.
    assert!(model.to_bytes().unwrap().len() < 40 * n_nodes);
}

#[test]
fn warm_start_gives_the_forest_grown_at_once() {
    let data = sample(300, 8, 3);
    for (oob_score, tree_method) in
        [(false, ForestMethod::Hist), (true, ForestMethod::Hist), (true, ForestMethod::Exact)]
    {
        let forest = |n_estimators: usize| RandomForest { n_estimators, oob_score, tree_method, ..Default::default() };
        let context = Context { seed: 5, ..ermine::context() };
        let half = fit(&forest(20), &data, &context).unwrap();
        let whole = fit(&forest(45), &data, &context).unwrap();
        // Whatever seed is given, the one that it began with goes on.
        let on = Context { seed: 99, init_model: Some(&half), ..ermine::context() };
        let same =
            |on: &Context<'_>| fit(&forest(45), &data, on).unwrap().to_bytes().unwrap() == whole.to_bytes().unwrap();
        assert!(same(&on));
        let read = ermine::load_bytes(&half.to_bytes().unwrap()).unwrap();
        let on = Context { init_model: Some(&read), ..ermine::context() };
        assert!(same(&on), "from a file");
        assert!(fit(&forest(10), &data, &on).unwrap_err().to_string().contains("at least 20"));
        assert!(fit(&ExtraTrees::default(), &data, &on).is_err(), "another learner");
        assert!(fit(&forest(45), &sample(300, 8, 2), &on).is_err(), "other classes");
        assert_eq!(
            fit(&forest(45), &sample(200, 8, 3), &on).is_err(),
            oob_score,
            "other rows have no out-of-bag trees"
        );
        assert!(fit(&DecisionTree::default(), &data, &on).unwrap_err().to_string().contains("continuing from a model"));
    }
}

#[test]
fn exact_and_binned_forests_are_equally_accurate() {
    let (train, test) = (sample(3000, 1, 3), sample(3000, 2, 3));
    let score = |tree_method| {
        let forest = RandomForest { n_estimators: 60, tree_method, ..Default::default() };
        let model = forest.fit(&train).unwrap();
        let said = model.certificate().to_string();
        assert_eq!(said.contains("(exact)"), tree_method == ForestMethod::Exact, "{said}");
        accuracy(&model, &test)
    };
    let (hist, exact, auto) = (score(ForestMethod::Hist), score(ForestMethod::Exact), score(ForestMethod::Auto));
    assert!((hist - exact).abs() < 0.02 && auto == hist, "{hist} {exact}");
    let extra = ExtraTrees { n_estimators: 60, tree_method: ForestMethod::Exact, ..Default::default() };
    assert!((accuracy(&extra.fit(&train).unwrap(), &test) - hist).abs() < 0.03);
}

#[test]
fn options_without_a_binned_form_use_exact_splits() {
    let x: Vec<f64> = (0..600).map(|i| f64::from(i * 7919 % 600)).collect();
    let y: Vec<f64> =
        x.iter().map(|x| (x / 100.0).floor() + if (*x as u32).is_multiple_of(50) { 90.0 } else { 0.0 }).collect();
    let data = numbers(vec![Column::numeric("x", x.clone())], y, 1);
    let forest = |criterion| RandomForest {
        criterion,
        n_estimators: 20,
        min_samples_leaf: CountOrFraction::Count(20),
        ..Default::default()
    };
    let said = |learner: &RandomForest| learner.fit(&data).unwrap().predict_data(&data).unwrap();
    // Medians pass over the outliers that pull means up.
    let (mean, median) = (said(&forest(None)), said(&forest(Some(TreeCriterion::AbsoluteError))));
    let worst = |p: &Prediction| (0..600).map(|i| (p.row(i)[0] - (x[i] / 100.0).floor()).abs()).fold(0.0, f64::max);
    assert!(worst(&median) < 1.0 && worst(&mean) > 1.0, "{} {}", worst(&median), worst(&mean));
    assert!(said(&forest(Some(TreeCriterion::Poisson))).values().iter().all(|v| *v >= 0.0));
    let rising = said(&RandomForest { monotonic_cst: vec![1], ..forest(None) });
    let mut order: Vec<usize> = (0..600).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    assert!(order.windows(2).all(|w| rising.row(w[0])[0] <= rising.row(w[1])[0] + 1e-9));
    let n_nodes = |l: &RandomForest| l.fit(&data).unwrap().fitted::<FittedForest>().unwrap().forest().n_nodes();
    assert!(n_nodes(&RandomForest { ccp_alpha: 1.0, ..forest(None) }) < n_nodes(&forest(None)));
    let hist = RandomForest { tree_method: ForestMethod::Hist, ..forest(Some(TreeCriterion::Poisson)) };
    assert!(hist.fit(&data).unwrap_err().to_string().contains("tree_method"));
    assert!(forest(Some(TreeCriterion::Gini)).fit(&data).is_err());
}

#[test]
fn balanced_subsamples_help_a_rare_class() {
    let mut rng = ermine_core::rng::stream(3, &[]);
    let x: Vec<f64> = (0..4000).map(|_| ermine_core::rng::below(&mut rng, 1000) as f64).collect();
    let rare = |x: f64, noise: usize| usize::from(x > 900.0 && noise < 3);
    let codes: Vec<usize> = x.iter().map(|&x| rare(x, ermine_core::rng::below(&mut rng, 10))).collect();
    let data = classes(vec![Column::numeric("x", x.clone())], &codes, 2);
    let share = |class_weight, tree_method| {
        let leaf = CountOrFraction::Count(50);
        let forest =
            RandomForest { class_weight, min_samples_leaf: leaf, n_estimators: 20, tree_method, ..Default::default() };
        let said = forest.fit(&data).unwrap().predict_data(&data).unwrap();
        (0..4000).filter(|&row| x[row] > 900.0 && said.class(row) == 1).count() as f64
            / x.iter().filter(|x| **x > 900.0).count() as f64
    };
    for method in [ForestMethod::Hist, ForestMethod::Exact] {
        assert!(share(ForestClassWeight::Of(ClassWeight::Equal), method) < 0.2);
        assert!(share(ForestClassWeight::BalancedSubsample, method) > 0.9);
    }
}

/// A forest that keeps the targets of its leaves, and the leaves of all rows.
fn quantile_forest(extra: bool) -> (Dataset, Model) {
    let mut rng = ermine_core::rng::stream(12, &[]);
    let mut draw = |k: usize| ermine_core::rng::below(&mut rng, k) as f64;
    let x: Vec<f64> = (0..300).map(|_| draw(100)).collect();
    let y: Vec<f64> = x.iter().map(|x| x / 10.0 + draw(8)).collect();
    let data = numbers(vec![Column::numeric("x", x)], y, 1);
    let leaf = CountOrFraction::Count(5);
    let model = if extra {
        ExtraTrees { quantiles: true, n_estimators: 12, min_samples_leaf: leaf, ..Default::default() }.fit(&data)
    } else {
        RandomForest {
            quantiles: true,
            n_estimators: 12,
            min_samples_leaf: leaf,
            bootstrap: false,
            ..Default::default()
        }
        .fit(&data)
    };
    (data, model.unwrap())
}

#[test]
fn quantiles_are_those_of_the_weights_that_the_leaves_give() {
    for extra in [false, true] {
        let (data, model) = quantile_forest(extra);
        let (leaves, n_trees) = model.leaves(data.features()).unwrap();
        let y = data.values().unwrap().0;
        let levels = [0.0, 0.1, 0.5, 0.9, 1.0];
        let got = model.quantiles(data.features(), &levels).unwrap();
        let of = |row: usize| &leaves[row * n_trees..(row + 1) * n_trees];
        for row in 0..300 {
            // Meinshausen's weights: the share of the row's leaf that each training row is, the mean over all trees. All rows were drawn once.
            let size = |t: usize| (0..300).filter(|&i| of(i)[t] == of(row)[t]).count() as f64;
            let sizes: Vec<f64> = (0..n_trees).map(size).collect();
            let mut weights: Vec<(f64, f64)> = (0..300)
                .map(|i| (y[i], (0..n_trees).filter(|&t| of(i)[t] == of(row)[t]).map(|t| 1.0 / sizes[t]).sum::<f64>()))
                .filter(|w| w.1 > 0.0)
                .collect();
            weights.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (k, level) in levels.iter().enumerate() {
                let mut sum = 0.0;
                let reached = |w: &&(f64, f64)| {
                    sum += w.1;
                    sum >= level * n_trees as f64 - 1e-9
                };
                let expected = weights.iter().find(reached).unwrap().0;
                assert_eq!(got[row * levels.len() + k], expected, "row {row}, level {level}");
            }
        }
        let read = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(read.quantiles(data.features(), &levels).unwrap(), got);
        assert!(
            model.quantiles(data.features(), &[1.5]).is_err() && model.quantiles(data.features(), &[f64::NAN]).is_err()
        );
    }
    let plain = one_tree().fit(&quantile_forest(false).0).unwrap();
    assert!(plain.quantiles(quantile_forest(false).0.features(), &[0.5]).is_err());
    assert!(
        RandomForest { quantiles: true, ..Default::default() }.fit(&sample(50, 1, 2)).is_err(),
        "classes have none"
    );
}

#[test]
fn shuffling_a_column_that_matters_costs_accuracy() {
    for k in [2, 3] {
        let data = sample(2000, 9, k);
        let forest = RandomForest { n_estimators: 40, permutation_importances: true, ..Default::default() };
        let model = forest.fit(&data).unwrap();
        let lost = model.fitted::<FittedForest>().unwrap().permutation_importances().unwrap().to_vec();
        let (least, most) =
            (lost[0].min(lost[1]).min(lost[2]), lost[3..9].iter().fold(0.0, |a: f64, b| a.max(b.abs())));
        assert!(least > 0.01 && most < 0.006 && lost[9] > most, "{lost:?}");
        let one = fit(&forest, &data, &Context { threads: Some(1), ..ermine::context() }).unwrap();
        assert!(one.to_bytes().unwrap() == model.to_bytes().unwrap());
        assert!(model.text().contains("decrease in accuracy"));
    }
    assert!(ExtraTrees { permutation_importances: true, ..Default::default() }.fit(&sample(50, 1, 2)).is_err());
}

#[test]
fn stages_lead_to_the_whole() {
    let data = sample(400, 10, 3);
    let model = RandomForest { n_estimators: 12, ..Default::default() }.fit(&data).unwrap();
    let mut stages = model.stages(data.features().clone()).unwrap();
    let mut last = None;
    for n in 1.. {
        let Some(stage) = stages.next(&model) else { break };
        let short = RandomForest { n_estimators: n, ..Default::default() }.fit(&data).unwrap();
        let (a, b) = (stage.unwrap(), short.predict_data(&data).unwrap());
        assert!(a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-12), "after {n} trees");
        last = Some(a);
    }
    assert_eq!(last.unwrap(), model.predict_data(&data).unwrap());
}

#[test]
fn the_trees_of_a_forest_are_models() {
    let data = sample(500, 11, 3);
    let model = RandomForest { n_estimators: 6, max_depth: Some(4), ..Default::default() }.fit(&data).unwrap();
    let said = model.predict_data(&data).unwrap();
    let mut mean = vec![0.0; said.values().len()];
    for t in 0..6 {
        let tree = model.member(t).unwrap();
        assert_eq!(
            (tree.header().learner.as_str(), tree.header().params["max_depth"].to_string()),
            ("decision-tree", "4".into())
        );
        mean.iter_mut().zip(tree.predict_data(&data).unwrap().values()).for_each(|(sum, v)| *sum += v / 6.0);
        assert!(tree.svg().is_some() && tree.rules().is_some());
    }
    assert!(mean.iter().zip(said.values()).all(|(a, b)| (a - b).abs() < 1e-12));
    // What one tree says of its columns is what the forest of that tree says.
    let one = RandomForest { n_estimators: 1, bootstrap: false, ..Default::default() }.fit(&data).unwrap();
    let shares = |m: &Model| m.attributes().into_iter().find(|a| a.name == "feature_importances").unwrap().values;
    let (forest, tree) = (shares(&one), shares(&one.member(0).unwrap()));
    assert!(forest.iter().zip(&tree).all(|(a, b)| (a - b).abs() < 1e-6), "{forest:?} {tree:?}");
}

#[test]
fn shap_values_add_up_and_find_the_columns_that_matter() {
    let data = sample(600, 12, 3);
    let model = RandomForest { n_estimators: 10, ..Default::default() }.fit(&data).unwrap();
    let rows = data.select(&(0..40).collect::<Vec<u32>>()).unwrap();
    let (shap, said) = (model.shap_of(rows.features()).unwrap(), model.predict_data(&rows).unwrap());
    for row in 0..40 {
        for k in 0..3 {
            let all: f64 = (0..10).map(|column| shap.get(row, column)[k]).sum();
            assert!((shap.expected[k] + all - said.row(row)[k]).abs() < 1e-9);
        }
    }
    let importances = model.shap_importances(&rows).unwrap();
    assert!((3..9).all(|column| importances[column] < importances[0]), "{importances:?}");
    assert!(Baseline::default().fit(&data).unwrap().shap_of(rows.features()).is_err());
}
