//! Gradient boosting: splits and leaves against the closed form, and what parameters promise.

use ermine::prelude::*;
use ermine_core::learner::{Checkpoint, Context, fit};
use ermine_core::loss;
use ermine_core::matrix::{Features, Target};
use ermine_core::measure::Measure;
use ermine_trees::boost::objective::{Objective, PointwiseObjective, WeightedTargets};
use ermine_trees::learner::gradient_boosting::{
    BoostedTrees, BoostingLoss, EvalMetric, GrowPolicy, SamplingMethod, TreeMethod,
};
use ermine_trees::split::Test;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

/// Columns, numeric and nominal with missing values, and a target that depends on them.
pub fn table(n: usize, seed: u64) -> Table {
    let mut rng = ermine_core::rng::stream(seed, &[n as u64]);
    let mut draw = |k: usize| ermine_core::rng::below(&mut rng, k);
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); 8];
    let (mut kinds, mut y) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let x: Vec<f64> = (0..8).map(|_| draw(10_000) as f64 / 1000.0 - 5.0).collect();
        let kind = draw(12);
        let noise = draw(1000) as f64 / 500.0 - 1.0;
        y.push(x[0] * x[1] / 3.0 + x[2].max(0.0) + f64::from(kind as u32 % 3) + noise);
        for (j, &value) in x.iter().enumerate() {
            columns[j].push(if j == 3 && draw(4) == 0 { f64::NAN } else { value });
        }
        kinds.push((kind > 0).then(|| format!("k{kind}")));
    }
    let mut all: Vec<Column> =
        columns.into_iter().enumerate().map(|(j, c)| Column::numeric(format!("x{j}"), c)).collect();
    all.push(Column::nominal("kind", &kinds));
    all.push(Column::numeric("y", y));
    Table::new(all).unwrap()
}

pub fn regression(n: usize, seed: u64) -> Dataset {
    table(n, seed).dataset("y").unwrap()
}

pub fn classification(n: usize, n_classes: usize, seed: u64) -> Dataset {
    let data = regression(n, seed);
    let (values, _) = data.values().unwrap();
    let code = |y: &f64| ((y + 4.0) / 8.0 * n_classes as f64).clamp(0.0, n_classes as f64 - 1.0) as u32;
    let labels = (0..n_classes).map(|c| format!("c{c}")).collect();
    data.with_target(Target::Classes { codes: values.iter().map(code).collect(), labels }, Task::Classification)
        .unwrap()
}

pub fn boosted(model: &Model) -> &BoostedTrees {
    model.fitted::<BoostedTrees>().unwrap()
}

fn mse(model: &Model, data: &Dataset) -> f64 {
    let (values, _) = data.values().unwrap();
    let prediction = model.predict_data(data).unwrap();
    values.iter().zip(prediction.values()).map(|(y, p)| (y - p).powi(2)).sum::<f64>() / values.len() as f64
}

#[test]
fn the_model_is_the_same_for_any_number_of_threads_and_any_parameters() {
    let few = |base: GradientBoosting| GradientBoosting { n_estimators: 3, ..base };
    let learners = [
        GradientBoosting::default(),
        GradientBoosting {
            subsample: 0.5,
            colsample_bytree: 0.7,
            colsample_bylevel: 0.8,
            colsample_bynode: 0.8,
            ..Default::default()
        },
        GradientBoosting {
            grow_policy: GrowPolicy::Depthwise,
            max_depth: Some(5),
            max_leaf_nodes: None,
            ..Default::default()
        },
        GradientBoosting {
            grow_policy: GrowPolicy::Symmetric,
            max_depth: Some(4),
            max_leaf_nodes: None,
            ..Default::default()
        },
        GradientBoosting { sampling_method: SamplingMethod::Goss, learning_rate: 0.9, ..Default::default() },
        GradientBoosting { rate_drop: 0.5, ..Default::default() },
        GradientBoosting { early_stopping_rounds: Some(2), min_cat_to_statistic: Some(5), ..Default::default() },
        GradientBoosting { max_bins: 400, reg_alpha: 0.5, max_delta_step: 0.7, ..Default::default() },
    ];
    // Enough values for several threads.
    let sets = [regression(45_000, 1), classification(45_000, 2, 2), classification(45_000, 3, 3)];
    for (i, learner) in learners.map(few).into_iter().enumerate() {
        let bytes = |threads: usize| {
            let context = Context { seed: 7, threads: Some(threads), ..ermine::context() };
            fit(&learner, &sets[i % 3], &context).unwrap().to_bytes().unwrap()
        };
        assert!(bytes(1) == bytes(3), "{learner:?}");
    }
}

#[test]
fn every_loss_gives_the_same_model_for_any_number_of_threads_and_is_saved() {
    let data = regression(45_000, 5);
    let (values, _) = data.values().unwrap();
    let positive = Target::Values { values: values.iter().map(|y| y.exp().min(50.0) + 0.1).collect(), n_outputs: 1 };
    let positive = data.with_target(positive, Task::Regression).unwrap();
    let losses = [
        BoostingLoss::AbsoluteError,
        BoostingLoss::Huber,
        BoostingLoss::Quantile,
        BoostingLoss::Poisson,
        BoostingLoss::Gamma,
        BoostingLoss::Tweedie,
    ];
    for loss in losses {
        let learner = GradientBoosting { loss, n_estimators: 2, quantile_alpha: vec![0.1, 0.9], ..Default::default() };
        let model =
            |threads| fit(&learner, &positive, &Context { threads: Some(threads), ..ermine::context() }).unwrap();
        let (one, two) = (model(1), model(2));
        assert_eq!(one.to_bytes().unwrap(), two.to_bytes().unwrap(), "{loss}");
        let loaded = ermine::load_bytes(&one.to_bytes().unwrap()).unwrap();
        assert_eq!(loaded.predict_data(&positive).unwrap(), one.predict_data(&positive).unwrap());
    }
    // An outlier that sets the quantum makes rows take two words.
    let (mut wild, n) = (values.to_vec(), values.len());
    wild[n / 2] = 1e12;
    let wild = data.with_target(Target::Values { values: wild, n_outputs: 1 }, Task::Regression).unwrap();
    let learner = GradientBoosting { n_estimators: 3, ..Default::default() };
    let bytes = |threads| {
        fit(&learner, &wild, &Context { threads: Some(threads), ..ermine::context() }).unwrap().to_bytes().unwrap()
    };
    assert_eq!(bytes(1), bytes(2));
}

/// Gradients, curvatures of the squared error at the mean: y - mean with the sign turned, and 1.
fn sums(rows: &[usize], y: &[f64], start: f64) -> (f64, f64) {
    (rows.iter().map(|&row| start - y[row]).sum(), rows.len() as f64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_split_is_the_best_and_every_leaf_has_the_closed_form(
        cells in prop::collection::vec((-40i32..40, -40i32..40, prop::option::weighted(0.8, 0i32..9), -100i32..100), 4..60),
        lambda in 0.0f64..5.0, gamma in 0.0f64..3.0, least in 0.0f64..4.0,
    ) {
        type Cells = (i32, i32, Option<i32>, i32);
        let column = |pick: fn(&Cells) -> f64| cells.iter().map(pick).collect::<Vec<f64>>();
        let xs = [column(|c| f64::from(c.0)), column(|c| f64::from(c.1)), column(|c| c.2.map_or(f64::NAN, f64::from))];
        let y = column(|c| f64::from(c.3) / 10.0);
        let columns = xs.iter().enumerate().map(|(j, x)| Column::numeric(format!("x{j}"), x.clone()));
        let features = Features::new(Arc::new(Table::new(columns.collect()).unwrap()));
        let data = Dataset::from_parts(features, Target::Values { values: y.clone(), n_outputs: 1 }, Task::Regression).unwrap();
        let learner = GradientBoosting {
            n_estimators: 1, learning_rate: 0.5, max_leaf_nodes: Some(8), reg_lambda: lambda, gamma, min_child_weight: least, tree_method: TreeMethod::Exact, ..Default::default()
        };
        let model = learner.fit(&data).unwrap();
        let booster = boosted(&model).booster();
        let (tree, start) = (booster.tree(0), booster.start()[0]);
        let score = |rows: &[usize]| { let (g, h) = sums(rows, &y, start); if h + lambda > 0.0 { 0.5 * g * g / (h + lambda) } else { 0.0 } };
        let best = |rows: &[usize]| {
            let mut best: f64 = 0.0;
            for x in &xs {
                for &threshold in x.iter().filter(|t| !t.is_nan()) {
                    for missing_left in [false, true] {
                        let (left, right): (Vec<usize>, Vec<usize>) =
                            rows.iter().partition(|&&row| if x[row].is_nan() { missing_left } else { x[row] <= threshold });
                        if left.len() as f64 >= least.max(1.0) && right.len() as f64 >= least.max(1.0) {
                            best = best.max(score(&left) + score(&right) - score(rows));
                        }
                    }
                }
            }
            best
        };
        let mut members = vec![Vec::new(); tree.n_nodes()];
        members[0] = (0..y.len()).collect::<Vec<_>>();
        let mut splits = Vec::new();
        for node in 0..tree.n_nodes() {
            let rows = members[node].clone();
            if tree.test[node] == Test::Leaf {
                let (g, h) = sums(&rows, &y, start);
                let weight = if h + lambda > 0.0 { -g / (h + lambda) } else { 0.0 };
                prop_assert!((tree.value(node)[0] - 0.5 * weight).abs() < 1e-6, "leaf {} {}", tree.value(node)[0], 0.5 * weight);
                continue;
            }
            let feature = tree.test[node].feature().unwrap();
            for &row in &rows {
                let branch = tree.test[node].branch(xs[feature][row]).unwrap();
                members[tree.child[node] as usize + branch].push(row);
            }
            let children: f64 = tree.children(node).map(|child| score(&members[child])).sum();
            let gain = children - score(&rows);
            prop_assert!((gain - best(&rows)).abs() < 1e-5, "gain {gain}, best {}", best(&rows));
            prop_assert!(gain > gamma - 1e-6);
            splits.push(gain);
        }
        if tree.n_leaves() < 8 {
            for leaf in (0..tree.n_nodes()).filter(|&n| tree.test[n] == Test::Leaf) {
                prop_assert!(best(&members[leaf]) <= gamma + 1e-5, "a leaf that should have been split");
            }
        }
    }

    #[test]
    fn monotone_constraints_hold_everywhere(seed in 0u64..1000, direction in prop_oneof![Just(1i64), Just(-1)], loss in prop_oneof![Just(BoostingLoss::Auto), Just(BoostingLoss::AbsoluteError)]) {
        let data = regression(400, seed);
        let mut constraints = vec![0; 9];
        constraints[0] = direction;
        let learner = GradientBoosting { loss, n_estimators: 15, monotone_constraints: constraints.into(), min_child_weight: 0.0, ..Default::default() };
        let model = learner.fit(&data).unwrap();
        let booster = boosted(&model).booster();
        for row in 0..20 {
            let at = |x: f64| {
                let value = |feature: usize| if feature == 0 { x } else { data.features().number(row, feature) };
                (0..booster.n_trees()).map(|t| { let tree = booster.tree(t); tree.value(tree.walk(value))[0] }).sum::<f64>()
            };
            let values: Vec<f64> = (-50..50).map(|i| at(f64::from(i) / 10.0)).collect();
            prop_assert!(values.windows(2).all(|pair| (pair[1] - pair[0]) * direction as f64 >= -1e-9));
        }
    }
}

#[test]
fn interaction_constraints_separate_columns() {
    for grow_policy in [GrowPolicy::Lossguide, GrowPolicy::Symmetric] {
        let learner = GradientBoosting {
            n_estimators: 20,
            grow_policy,
            interaction_constraints: vec![vec![0, 2], vec![1, 3, 8]].into(),
            ..Default::default()
        };
        apart(&learner.fit(&regression(2000, 3)).unwrap());
    }
    assert!(
        GradientBoosting { interaction_constraints: vec![vec![99]].into(), ..Default::default() }
            .fit(&regression(50, 1))
            .is_err()
    );
}

fn apart(model: &Model) {
    let booster = boosted(model).booster();
    for number in 0..booster.n_trees() {
        let tree = booster.tree(number);
        let mut paths: Vec<Vec<usize>> = vec![Vec::new(); tree.n_nodes()];
        for node in 0..tree.n_nodes() {
            if let Some(feature) = tree.test[node].feature() {
                let mut path = paths[node].clone();
                path.push(feature);
                assert!(
                    [&[0, 2][..], &[1, 3, 8]].iter().any(|set| path.iter().all(|f| set.contains(f)))
                        || path.iter().all(|f| *f == path[0])
                );
                tree.children(node).for_each(|child| paths[child] = path.clone());
            }
        }
    }
}

#[test]
fn the_automatic_number_of_rounds_is_the_best_by_cross_validation() {
    let (data, new) = (regression(700, 12), regression(3000, 13));
    let chosen = GradientBoosting::default().fit(&data).unwrap();
    let history = boosted(&chosen).history();
    let best = (0..history.len()).min_by(|&a, &b| history[a].total_cmp(&history[b])).unwrap();
    assert!(best > 5, "{best} of {}", history.len());
    let one = GradientBoosting { n_estimators: best + 1, ..Default::default() }.fit(&data).unwrap();
    assert!(mse(&chosen, &new) < mse(&one, &new), "{} {}", mse(&chosen, &new), mse(&one, &new));
    assert!(chosen.certificate().to_string().contains("the mean of 4 models of all rows"), "{}", chosen.certificate());
    let said = chosen.certificate().value.unwrap();
    assert!((said - mse(&chosen, &data) / 2.0).abs() < 1e-9, "{said} {}", mse(&chosen, &data));
    // Target statistics of all rows are the same in all models, so that these are averaged too.
    let averaged = GradientBoosting::default().fit(&cities(600, 3)).unwrap();
    assert!(averaged.certificate().to_string().contains("early stopping on 4 folds"), "{}", averaged.certificate());
    // One kind of trees of all rows alike, chosen by the user: one model, with the chosen number of rounds.
    let chosen = GradientBoosting { grow_policy: GrowPolicy::Symmetric, ..Default::default() };
    let one = chosen.fit(&data).unwrap();
    let rounds = boosted(&one).booster().n_rounds();
    let asked = GradientBoosting { n_estimators: rounds, ..chosen }.fit(&data).unwrap();
    assert_eq!(boosted(&asked).booster(), boosted(&one).booster());
    assert!(one.certificate().to_string().contains("early stopping on 3 folds"), "{}", one.certificate());
    // Noise: no rounds worth speaking of.
    let mut noise: Vec<f64> = data.values().unwrap().0.to_vec();
    ermine_core::rng::shuffle(&mut ermine_core::rng::stream(3, &[]), &mut noise);
    let noise = data.with_target(Target::Values { values: noise, n_outputs: 1 }, Task::Regression).unwrap();
    assert!(boosted(&GradientBoosting::default().fit(&noise).unwrap()).booster().n_rounds() < 5 * 40);
    // Too few rows to keep some aside.
    let few = data.select(&(0..20).collect::<Vec<_>>()).unwrap();
    assert_eq!(boosted(&GradientBoosting::default().fit(&few).unwrap()).booster().n_rounds(), 100);
}

#[test]
fn early_stopping_keeps_the_best_rounds_and_staged_prediction_agrees() {
    let data = regression(600, 11);
    let learner = GradientBoosting {
        n_estimators: 500,
        learning_rate: 0.5,
        early_stopping_rounds: Some(5),
        ..Default::default()
    };
    let model = learner.fit(&data).unwrap();
    let fitted = boosted(&model);
    let best = fitted.history().iter().copied().fold(f64::INFINITY, f64::min);
    let rounds = fitted.booster().n_rounds();
    assert_eq!(fitted.history()[rounds - 1], best);
    assert_eq!(fitted.history().len(), rounds + 5);
    let shorter = GradientBoosting { n_estimators: 10, early_stopping_rounds: Some(500), ..learner.clone() };
    let (part, whole) = (shorter.fit(&data).unwrap(), model);
    let staged = boosted(&whole).predict_after(data.features(), boosted(&part).booster().n_rounds()).unwrap();
    assert_eq!(staged, part.predict_data(&data).unwrap().values());
}

/// A column of many categories that matter, and a number.
fn cities(n: usize, seed: u64) -> Dataset {
    let mut rng = ermine_core::rng::stream(seed, &[n as u64]);
    let mut draw = |k: usize| ermine_core::rng::below(&mut rng, k);
    let effect: Vec<f64> = (0..300).map(|_| draw(1000) as f64 / 250.0 - 2.0).collect();
    let (mut names, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let city = draw(300);
        names.push((draw(20) > 0).then(|| format!("city {city}")));
        x.push(draw(1000) as f64 / 500.0);
        y.push(effect[city] + x[x.len() - 1] + draw(1000) as f64 / 500.0);
    }
    let columns = vec![Column::nominal("city", &names), Column::numeric("x", x), Column::numeric("y", y)];
    Table::new(columns).unwrap().dataset("y").unwrap()
}

#[test]
fn an_interrupted_run_resumes_to_the_same_model() {
    let base = GradientBoosting { n_estimators: 12, subsample: 0.7, colsample_bytree: 0.6, ..Default::default() };
    let stopping = GradientBoosting { early_stopping_rounds: Some(3), learning_rate: 0.9, ..base.clone() };
    let runs = [
        (classification(1500, 3, 4), base.clone()),
        (classification(1500, 2, 4), GradientBoosting { sampling_method: SamplingMethod::Goss, ..base.clone() }),
        (cities(1500, 3), base.clone()),
        (cities(1500, 3), stopping.clone()),
        (regression(900, 5), stopping),
    ];
    for (data, whole) in runs {
        let kept: Mutex<Vec<Vec<u8>>> = Mutex::default();
        let keep = |model: &Model| {
            kept.lock().unwrap().push(model.to_bytes()?);
            Ok(())
        };
        let straight = whole
            .fit_with(&data, &Context { checkpoint: Some(Checkpoint { every: 5, save: &keep }), ..ermine::context() })
            .unwrap();
        let kept = kept.into_inner().unwrap();
        assert!(!kept.is_empty());
        for bytes in kept {
            let part = ermine::load_bytes(&bytes).unwrap();
            assert!(part.certificate().to_string().contains("a checkpoint"));
            let resumed = whole.fit_with(&data, &Context { init_model: Some(&part), ..ermine::context() }).unwrap();
            assert_eq!(resumed.to_bytes().unwrap(), straight.to_bytes().unwrap(), "{whole:?}");
        }
    }
    let part = base.fit(&cities(500, 1)).unwrap();
    let dropping = GradientBoosting { rate_drop: 0.1, ..base.clone() };
    let watching = GradientBoosting { early_stopping_rounds: Some(5), ..dropping.clone() };
    assert!(watching.fit(&cities(500, 1)).is_err(), "later rounds change earlier ones");
    // Other rows: the statistics stay those of the model.
    let more = GradientBoosting { n_estimators: 30, ..base };
    let other = more.fit_with(
        &cities(500, 1).select(&(0..400).collect::<Vec<_>>()).unwrap(),
        &Context { init_model: Some(&part), ..ermine::context() },
    );
    assert_eq!(boosted(&other.unwrap()).booster().n_rounds(), 30);
}

#[test]
fn dropout_goes_on_from_a_checkpoint() {
    let data = cities(500, 1);
    let whole = GradientBoosting { n_estimators: 24, rate_drop: 0.3, ..Default::default() };
    let kept = std::sync::Mutex::new(Vec::new());
    let keep = |model: &Model| {
        kept.lock().unwrap().push(model.to_bytes().unwrap());
        Ok(())
    };
    let saving = Context { checkpoint: Some(Checkpoint { every: 8, save: &keep }), ..ermine::context() };
    let straight = whole.fit_with(&data, &saving).unwrap();
    let kept = kept.into_inner().unwrap();
    assert_eq!(kept.len(), 3);
    for (bytes, rounds) in kept.iter().zip([8, 16, 24]) {
        let part = ermine::load_bytes(bytes).unwrap();
        assert_eq!(boosted(&part).booster().n_rounds(), rounds);
        let resumed = whole.fit_with(&data, &Context { init_model: Some(&part), ..ermine::context() }).unwrap();
        assert_eq!(boosted(&resumed).booster().n_rounds(), 24);
        // The same rounds are dropped; scores are added up in another order.
        let (a, b) = (resumed.predict_data(&data).unwrap(), straight.predict_data(&data).unwrap());
        a.values().iter().zip(b.values()).for_each(|(a, b)| assert!((a - b).abs() < 1e-6, "{rounds}: {a} {b}"));
        // Earlier trees have been scaled down since.
        let changed = boosted(&resumed).booster().tree(0) != boosted(&part).booster().tree(0);
        assert!(changed || rounds == 24);
    }
    let other = GradientBoosting { max_bins: 7, ..whole };
    let part = ermine::load_bytes(&kept[0]).unwrap();
    let message = other.fit_with(&data, &Context { init_model: Some(&part), ..ermine::context() });
    assert!(message.unwrap_err().to_string().contains("rate_drop"));
}

#[test]
fn columns_of_many_categories_are_learned_by_their_target_statistics() {
    let (train, test) = cities(6000, 2).split(0.7, 5).unwrap();
    let with = GradientBoosting::default();
    let without = GradientBoosting { min_cat_to_statistic: None, ..Default::default() };
    let (with, without) = (with.fit(&train).unwrap(), without.fit(&train).unwrap());
    let base = mse(&Baseline::default().fit(&train).unwrap(), &test);
    assert!(mse(&with, &test) < 0.4 * base && mse(&with, &test) < mse(&without, &test), "{} {base}", mse(&with, &test));
    // The certified loss is that of the predictions.
    let certified = |model: &Model| 2.0 * model.certificate().value.unwrap();
    assert!((certified(&without) - mse(&without, &train)).abs() < 1e-6 * certified(&without));
    assert!((certified(&with) - mse(&with, &train)).abs() < 1e-6 * certified(&with));
    // Nothing of a row's own target is known to it: on targets that are noise, training is hardly better than testing.
    let (values, _) = train.values().unwrap();
    let mut noise = values.to_vec();
    ermine_core::rng::shuffle(&mut ermine_core::rng::stream(1, &[]), &mut noise);
    let noise = train.with_target(Target::Values { values: noise, n_outputs: 1 }, Task::Regression).unwrap();
    let only = GradientBoosting { max_leaf_nodes: Some(4), n_estimators: 20, cat_l2: 1e9, ..Default::default() };
    let model = only.fit(&noise).unwrap();
    // A single model is certified on what its rows knew in training, and says so.
    assert!(model.certificate().objective.ends_with("with the target statistics of earlier rows"));
    let constant = Baseline::default().fit(&noise).unwrap();
    assert!(model.certificate().value.unwrap() * 2.0 > 0.9 * mse(&constant, &noise), "its own target leaks");
    // Saved and read, drawn, and with importances of the columns of the data.
    let loaded = ermine::load_bytes(&with.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded.predict_data(&test).unwrap(), with.predict_data(&test).unwrap());
    assert!(loaded.text().contains("mean target by city"), "{}", loaded.text());
    // A mean target is a number of the category: the trees are trees over the columns of the data, category of one's own or none included.
    let (predictor, features, said) = (with.predictor().unwrap(), test.features(), with.predict_data(&test).unwrap());
    let mut one = [0.0];
    for row in 0..test.n_rows() {
        let values: Vec<f64> = (0..features.n_columns()).map(|column| features.number(row, column)).collect();
        predictor.predict(&values, &mut one).unwrap();
        assert_eq!(one[0].to_bits(), said.values()[row].to_bits(), "row {row}");
    }
    let names = [Some("nowhere".to_string()), None];
    let unknown = Table::new(vec![Column::nominal("city", &names), Column::numeric("x", vec![0.5, 0.5])]).unwrap();
    let of_unknown = with.predict(&unknown).unwrap();
    predictor.predict(&[f64::NAN, 0.5], &mut one).unwrap();
    assert_eq!(of_unknown.values(), [one[0], one[0]]);
    let shap = with.shap_of(features).unwrap();
    for (row, values) in shap.values.chunks(2).enumerate() {
        let sum = shap.expected[0] + values.iter().sum::<f64>();
        assert!((sum - said.values()[row]).abs() < 1e-9, "row {row}: {sum} {}", said.values()[row]);
    }
    let importances = &with.attributes()[0].values;
    assert_eq!(importances.len(), 2);
    assert!((importances.iter().sum::<f64>() - 1.0).abs() < 1e-9 && importances[0] > 0.6, "{importances:?}");
}

#[test]
fn early_stopping_uses_the_chosen_metric() {
    let data = classification(900, 2, 17);
    let base = GradientBoosting {
        n_estimators: 60,
        learning_rate: 0.5,
        early_stopping_rounds: Some(10),
        ..Default::default()
    };
    for eval_metric in [Measure::ErrorRate, Measure::RocAuc].map(EvalMetric::Measure) {
        let model = GradientBoosting { eval_metric, ..base.clone() }.fit(&data).unwrap();
        let history = boosted(&model).history();
        assert!(history.iter().all(|loss| (0.0..=0.5).contains(loss)), "{eval_metric}: {history:?}");
        let best = history.iter().copied().fold(f64::INFINITY, f64::min);
        assert_eq!(history[boosted(&model).booster().n_rounds() - 1], best);
    }
    // One of one's own: the same as the built-in one.
    let own = |data: &Dataset, p: &[f64]| -> Result<f64> {
        let (codes, _) = data.classes()?;
        let wrong = codes.iter().zip(p.chunks(2)).filter(|(c, p)| u32::from(p[1] > p[0]) != **c).count();
        Ok(wrong as f64 / codes.len() as f64)
    };
    let mine = base.fit_with(&data, &Context { metric: Some(&own), ..ermine::context() }).unwrap();
    let built_in =
        GradientBoosting { eval_metric: EvalMetric::Measure(Measure::ErrorRate), ..base.clone() }.fit(&data).unwrap();
    assert_eq!(boosted(&mine).booster(), boosted(&built_in).booster());
    assert!(GradientBoosting { eval_metric: EvalMetric::Measure(Measure::Rmse), ..base }.fit(&data).is_err());
}

#[test]
fn sparse_columns_give_the_model_of_dense_ones() {
    let data = regression(3000, 6);
    let dense: Vec<Vec<f64>> =
        (0..8).map(|j| data.features().numbers(j).iter().map(|x| if *x > 2.0 { *x } else { 0.0 }).collect()).collect();
    let (values, _) = data.values().unwrap();
    let columns = |sparse: bool| {
        let column = |(j, x): (usize, &Vec<f64>)| {
            let rows: Vec<u32> = (0..3000u32).filter(|&row| x[row as usize] != 0.0).collect();
            let values: Vec<f64> = rows.iter().map(|&row| x[row as usize]).collect();
            if sparse {
                Column::sparse(format!("x{j}"), 3000, rows.into(), values.into())
            } else {
                Column::numeric(format!("x{j}"), x.clone())
            }
        };
        let features = Features::new(Arc::new(Table::new(dense.iter().enumerate().map(column).collect()).unwrap()));
        Dataset::from_parts(features, Target::Values { values: values.to_vec(), n_outputs: 1 }, Task::Regression)
            .unwrap()
    };
    let model = |sparse| GradientBoosting { n_estimators: 10, ..Default::default() }.fit(&columns(sparse)).unwrap();
    let (sparse, dense) = (model(true), model(false));
    assert_eq!(sparse.to_bytes().unwrap(), dense.to_bytes().unwrap());
    assert_eq!(sparse.predict_data(&columns(true)).unwrap(), dense.predict_data(&columns(false)).unwrap());
}

/// The squared error once more, as somebody else would write it.
#[derive(Clone, Copy)]
struct OwnLoss;

impl loss::Loss for OwnLoss {
    fn name(&self) -> &'static str {
        "own loss"
    }
    fn value(&self, z: f64, y: f64) -> f64 {
        (z - y).powi(2)
    }
    fn gradient(&self, z: f64, y: f64) -> f64 {
        2.0 * (z - y)
    }
    fn curvature(&self, _: f64, _: f64) -> f64 {
        2.0
    }
    fn best_constant(&self, _: &[f64], _: Option<&[f64]>) -> f64 {
        1.0
    }
}

#[test]
fn custom_losses_and_initial_scores_work() {
    let data = regression(800, 8);
    let make = |data: &Dataset| -> Result<Box<dyn Objective>> {
        let (values, _) = data.values()?;
        Ok(Box::new(PointwiseObjective::new(OwnLoss, WeightedTargets::new(values.to_vec(), data.weight()))))
    };
    let params = GradientBoosting {
        n_estimators: 20,
        reg_lambda: 0.0,
        min_child_weight: 0.0,
        cat_l2: 0.0,
        cat_smooth: 0.0,
        ..Default::default()
    };
    let own = params.fit_with(&data, &Context { objective: Some(&make), ..ermine::context() }).unwrap();
    let same = GradientBoosting { base_score: Some(1.0), ..params.clone() }.fit(&data).unwrap();
    // Twice the loss has twice the gradient and curvature: the same trees, up to splits that gain the same.
    let (a, b) = (mse(&own, &data), mse(&same, &data));
    assert!((a - b).abs() < 0.02 * b, "{a} {b}");
    assert_eq!(own.certificate().objective, "mean own loss on the training data");
    let values = data.values().unwrap().0.to_vec();
    let init = params.fit(&data.clone().with_init_score(Some(values.to_vec())).unwrap()).unwrap();
    assert!(init.predict_data(&data).unwrap().values().iter().all(|p| p.abs() < 1e-6), "nothing is left to learn");
    assert!(data.clone().with_init_score(Some(values[1..].to_vec())).is_err());
    let twice = data.with_init_score(Some(values.repeat(2))).unwrap();
    assert!(params.fit(&twice).is_err(), "two scores for each row, of which the model has one");
}

#[test]
fn quantiles_cover_what_they_should_and_never_cross() {
    let (train, test) = regression(6000, 9).split(0.5, 1).unwrap();
    let learner = GradientBoosting {
        loss: BoostingLoss::Quantile,
        quantile_alpha: vec![0.1, 0.5, 0.9],
        n_estimators: 60,
        ..Default::default()
    };
    let model = learner.fit(&train).unwrap();
    let quantiles = boosted(&model).quantiles(test.features()).unwrap();
    let (values, _) = test.values().unwrap();
    assert!(quantiles.chunks(3).all(|q| q[0] <= q[1] && q[1] <= q[2]));
    for (k, share) in [0.1, 0.5, 0.9].into_iter().enumerate() {
        let below =
            values.iter().enumerate().filter(|(i, y)| **y <= quantiles[i * 3 + k]).count() as f64 / values.len() as f64;
        assert!((below - share).abs() < 0.08, "{share}: {below}");
    }
    // Reasons end at what is predicted, not at another quantile.
    let rows = Table::new(test.features().columns().to_vec()).unwrap();
    let said = model.predict(&rows).unwrap();
    for row in [0, 3] {
        let why = model.explain_row(&rows, row).unwrap().unwrap();
        let end: f64 = why.lines().last().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        assert!((end - said.row(row)[0]).abs() < 1e-4 * (1.0 + end.abs()), "{why}");
    }
    let middle: Vec<f64> = quantiles.chunks(3).map(|q| q[1]).collect();
    assert_eq!(model.predict_data(&test).unwrap().values(), middle);
}

#[test]
fn every_growth_policy_learns() {
    let (train, test) = regression(4000, 21).split(0.75, 3).unwrap();
    let base = mse(&Baseline::default().fit(&train).unwrap(), &test);
    let learners = [
        GradientBoosting::default(),
        GradientBoosting { grow_policy: GrowPolicy::Depthwise, max_depth: Some(6), ..Default::default() },
        GradientBoosting { grow_policy: GrowPolicy::Symmetric, ..Default::default() },
        GradientBoosting { tree_method: TreeMethod::Exact, ..Default::default() },
        GradientBoosting { sampling_method: SamplingMethod::Goss, ..Default::default() },
        GradientBoosting { rate_drop: 0.1, ..Default::default() },
        GradientBoosting { subsample: 0.5, colsample_bynode: 0.5, ..Default::default() },
        GradientBoosting { loss: BoostingLoss::AbsoluteError, ..Default::default() },
        GradientBoosting { loss: BoostingLoss::Huber, ..Default::default() },
    ];
    for learner in learners.map(|learner| GradientBoosting { n_estimators: 100, ..learner }) {
        let error = mse(&learner.fit(&train).unwrap(), &test);
        assert!(error < 0.3 * base, "{error} against {base}: {learner:?}");
    }
}

#[test]
fn several_targets_are_learned_like_single_targets() {
    let data = regression(700, 31);
    let (values, _) = data.values().unwrap();
    let two: Vec<f64> = values.iter().flat_map(|y| [*y, -3.0 * y]).collect();
    let both = data.with_target(Target::Values { values: two, n_outputs: 2 }, Task::Regression).unwrap();
    for loss in [BoostingLoss::Auto, BoostingLoss::Quantile, BoostingLoss::Huber] {
        let learner = GradientBoosting { loss, n_estimators: 10, ..Default::default() };
        let one = learner.fit(&data).unwrap().predict_data(&data).unwrap();
        let both = learner.fit(&both).unwrap().predict_data(&both).unwrap();
        assert!((0..700).all(|row| (both.row(row)[0] - one.row(row)[0]).abs() < 1e-9), "{loss}");
        assert!((0..700).all(|row| both.row(row).len() == 2), "{loss}");
    }
}

#[test]
fn ranking_puts_the_relevant_first() {
    let data = regression(3000, 41);
    let (values, _) = data.values().unwrap();
    let relevance: Vec<f64> = values.iter().map(|y| (y / 1.5).clamp(0.0, 4.0).floor()).collect();
    // Queries that don't lie together.
    let groups: Vec<u32> = (0..3000).map(|row| row % 100).collect();
    let ranked = data
        .with_target(Target::Values { values: relevance, n_outputs: 1 }, Task::Ranking)
        .unwrap()
        .with_group(Some(groups))
        .unwrap();
    for loss in [BoostingLoss::Auto, BoostingLoss::Pairwise] {
        let model = |n| GradientBoosting { loss, n_estimators: n, ..Default::default() }.fit(&ranked).unwrap();
        let (few, many) = (model(1).certificate().value.unwrap(), model(40).certificate().value.unwrap());
        assert!(many < 0.4 * few && many < 0.12, "1 - NDCG {few} then {many}");
    }
}

#[test]
fn histograms_of_more_than_half_a_million_rows_do_not_overflow() {
    let n = 700_000u32;
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let y: Vec<f64> = x.iter().map(|x| f64::from(u8::from(*x > 500.0))).collect();
    let table = Table::new(vec![Column::numeric_f32("x", x), Column::numeric("y", y)]).unwrap();
    let model = GradientBoosting { n_estimators: 3, max_leaf_nodes: Some(4), ..Default::default() }
        .fit(&table.dataset("y").unwrap())
        .unwrap();
    let test = boosted(&model).booster().tree(0).test[0].clone();
    assert!(matches!(test, Test::AtMost { threshold, .. } if (495.0..505.0).contains(&threshold)), "{test:?}");
}

#[test]
fn targets_outside_the_domain_of_a_loss_are_refused() {
    let data = regression(100, 1);
    for loss in [BoostingLoss::Gamma, BoostingLoss::Poisson, BoostingLoss::LogLoss, BoostingLoss::Pairwise] {
        assert!(GradientBoosting { loss, ..Default::default() }.fit(&data).is_err(), "{loss}");
    }
    assert!(
        GradientBoosting { loss: BoostingLoss::Poisson, ..Default::default() }.fit(&classification(100, 2, 1)).is_err()
    );
    assert!(GradientBoosting { monotone_constraints: vec![1, 0].into(), ..Default::default() }.fit(&data).is_err());
}
