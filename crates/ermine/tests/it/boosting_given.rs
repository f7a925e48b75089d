//! Gradient boosting: what it is given beside parameters. Scores to start from, rows to watch and measures to watch them by, queries, names of columns, weights, losses of one's own.

use crate::boosting::{boosted, classification, regression, table};
use ermine::prelude::*;
use ermine_core::loss;
use ermine_core::matrix::Target;
use ermine_core::measure::{Measure, measures};
use ermine_core::param::{Parameters, Value};
use ermine_trees::boost::objective::{Objective, PointwiseObjective, WeightedTargets};
use ermine_trees::learner::gradient_boosting::{
    BoostingLoss, EvalMetric, InteractionConstraints, MonotoneConstraints, TreeMethod,
};
use ermine_trees::split::Test;

/// The data with a rough guess of its target to start from.
fn with_guess(data: &Dataset) -> Dataset {
    let (x, y) = (data.features().numbers(2), data.values().unwrap().0);
    let guess = x.iter().zip(y).map(|(x, y)| 40.0 + x + y.floor()).collect();
    data.clone().with_init_score(Some(guess)).unwrap()
}

fn half_mse(scores: impl Iterator<Item = f64>, y: &[f64]) -> f64 {
    scores.zip(y).map(|(s, y)| (s - y).powi(2) / 2.0).sum::<f64>() / y.len() as f64
}

/// The loss of the rows after each round, when what the model says is added to what they start from.
fn staged(model: &Model, rows: &Dataset) -> Vec<f64> {
    let fitted = boosted(model);
    let (y, init) = (rows.values().unwrap().0, rows.init_score().unwrap());
    let of_round = |n: usize| {
        let said = fitted.predict_after(rows.features(), n).unwrap();
        half_mse(said.iter().zip(init).map(|(s, i)| s + i), y)
    };
    (1..=fitted.booster().n_rounds()).map(of_round).collect()
}

fn assert_near(a: &[f64], b: &[f64]) {
    assert!(a.len() >= b.len() && !b.is_empty());
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() < 1e-6 * (1.0 + b.abs()), "{a} {b}"));
}

#[test]
fn validation_rows_start_from_their_own_initial_scores() {
    let (train, watch) = regression(900, 3).split(0.7, 1).unwrap();
    let params = GradientBoosting { n_estimators: 40, early_stopping_rounds: Some(5), ..Default::default() };
    let (given, watched) = (with_guess(&train), with_guess(&watch));
    let model = params.fit_with(&given, &Context { validation: Some(&watched), ..ermine::context() }).unwrap();
    assert_near(boosted(&model).history(), &staged(&model, &watched));
    let told = params.validation_history(&model, &watched, &ermine::context()).unwrap();
    assert_near(boosted(&model).history(), &told);
    let message = |data: &Dataset, watch: &Dataset| {
        params.fit_with(data, &Context { validation: Some(watch), ..ermine::context() }).unwrap_err().to_string()
    };
    assert!(message(&given, &watch).contains("the validation set has no init scores"), "{}", message(&given, &watch));
    assert!(message(&train, &watched).contains("has init scores, but the training data has none"));
    assert!(DecisionTree::default().fit(&given).unwrap_err().to_string().contains("init scores"));
}

#[test]
fn initial_scores_follow_their_rows_through_holdout_zero_weights_and_sorting() {
    // Rows that start at their targets, far apart: wherever a score goes to another row, there is something to learn.
    let data = regression(700, 5);
    let y: Vec<f64> = data.values().unwrap().0.iter().map(|y| 1000.0 * y).collect();
    let of = |values: &[f64]| Target::Values { values: values.to_vec(), n_outputs: 1 };
    let exact = data.with_target(of(&y), Task::Regression).unwrap().with_init_score(Some(y.clone())).unwrap();
    let weights = (0..700).map(|row| f64::from(row % 3)).collect();
    let weighted = exact.clone().with_weight(Some(weights)).unwrap();
    let shared = GradientBoosting { n_estimators: 20, early_stopping_rounds: Some(3), ..Default::default() };
    for (learner, data) in [
        (&shared, &exact),
        (&shared, &weighted),
        (&GradientBoosting::default(), &exact),
        (&GradientBoosting::default(), &weighted),
    ] {
        let model = learner.fit(data).unwrap();
        assert!(boosted(&model).history().iter().all(|loss| *loss < 1e-6), "{:?}", boosted(&model).history());
        assert!(model.predict_data(data).unwrap().values().iter().all(|p| p.abs() < 1e-6));
        assert!(model.certificate().value.unwrap() < 1e-6);
        assert!(model.certificate().to_string().contains("to be added to the scores"));
    }
    // Queries that don't lie together are put in order: their scores too.
    let grades: Vec<f64> = data.values().unwrap().0.iter().map(|y| y.clamp(0.0, 4.0).floor()).collect();
    let ranked =
        data.with_target(of(&grades), Task::Ranking).unwrap().with_group(Some((0..700).map(|r| r % 31).collect()));
    let ranked = ranked.unwrap().with_init_score(Some(grades)).unwrap();
    let model = GradientBoosting { n_estimators: 1, ..Default::default() }.fit(&ranked).unwrap();
    assert!(model.certificate().value.unwrap() < 1e-9, "the order is right from the start");
}

fn ranking(n: usize, seed: u64) -> Dataset {
    let data = regression(n, seed);
    let values = data.values().unwrap().0.iter().map(|y| (y / 1.5).clamp(0.0, 4.0).floor()).collect();
    let data = data.with_target(Target::Values { values, n_outputs: 1 }, Task::Ranking).unwrap();
    data.with_group(Some((0..n as u32).map(|row| row / 20).collect())).unwrap()
}

#[test]
fn early_stopping_supports_every_metric_of_its_task() {
    let positive = regression(500, 8);
    let values = positive.values().unwrap().0.iter().map(|y| 1.0 + y.abs()).collect();
    let positive = positive.with_target(Target::Values { values, n_outputs: 1 }, Task::Regression).unwrap();
    let weights = |data: Dataset| {
        let weight = (0..data.n_rows()).map(|row| 1.0 + f64::from((row / 20) as u32 % 3)).collect();
        data.with_weight(Some(weight)).unwrap()
    };
    let (two, three) = (classification(500, 2, 4), classification(500, 3, 4));
    for data in [two, three, positive, ranking(800, 6)].map(weights) {
        let rows: Vec<u32> = (0..data.n_rows() as u32).collect();
        let (train, watch) = rows.split_at(data.n_rows() / 2);
        let (train, watch) = (data.select(train).unwrap(), data.select(watch).unwrap());
        for measure in measures().filter(|measure| measure.measures(data.task())) {
            let params = GradientBoosting {
                n_estimators: 6,
                loss: if data.task() == Task::Regression { BoostingLoss::Gamma } else { BoostingLoss::Auto },
                eval_metric: EvalMetric::Measure(measure),
                ..Default::default()
            };
            let model = params.fit_with(&train, &Context { validation: Some(&watch), ..ermine::context() }).unwrap();
            let found = model.evaluate_by(&[measure], &watch).unwrap().scores[0].score.value;
            let last = *boosted(&model).history().last().unwrap();
            assert!((last - measure.as_loss(found)).abs() < 1e-9, "{measure}: {last} {found}");
        }
    }
}

#[test]
fn metrics_of_other_tasks_and_unknown_metrics_are_refused_by_name() {
    let data = classification(200, 3, 1);
    let wrong = GradientBoosting { eval_metric: EvalMetric::Measure(Measure::Ndcg), ..Default::default() };
    let message = wrong.fit(&data).unwrap_err().to_string();
    assert!(
        message.contains("eval_metric must be")
            && message.contains("(got ndcg)")
            && message.contains("loss | accuracy |"),
        "{message}"
    );
    let message = GradientBoosting::default().set("eval_metric", &Value::Text("auc".into())).unwrap_err().to_string();
    assert!(message.contains("roc-auc") && message.contains("ndcg-5") && message.contains("rmse"), "{message}");
}

#[test]
fn ranking_needs_query_groups() {
    let data = ranking(300, 2);
    let without = data.clone().with_group(None).unwrap();
    let message = GradientBoosting::default().fit(&without).unwrap_err().to_string();
    assert!(message.contains("query groups"), "{message}");
    let params = GradientBoosting { n_estimators: 2, ..Default::default() };
    let watched = params.fit_with(&data, &Context { validation: Some(&without), ..ermine::context() });
    assert!(watched.unwrap_err().to_string().contains("query groups"));
    assert!(params.fit(&data.with_group(Some(vec![0; 300])).unwrap()).is_ok(), "one query that is stated");
}

#[test]
fn validation_classes_are_matched_by_name() {
    let data = classification(400, 3, 9);
    let (codes, _) = data.classes().unwrap();
    let some: Vec<u32> = (0..400u32).filter(|&row| codes[row as usize] != 0).collect();
    let params = GradientBoosting { n_estimators: 5, ..Default::default() };
    let history = |watch: &Dataset| {
        let model = params.fit_with(&data, &Context { validation: Some(watch), ..ermine::context() }).unwrap();
        boosted(&model).history().to_vec()
    };
    let as_it_is = data.select(&some).unwrap();
    let turned = Target::Classes {
        codes: as_it_is.classes().unwrap().0.iter().map(|c| 2 - c).collect(),
        labels: ["c2", "c1"].map(String::from).into_iter().collect(),
    };
    assert_eq!(history(&as_it_is), history(&as_it_is.with_target(turned, Task::Classification).unwrap()));
    let strange = Target::Classes { codes: vec![0; some.len()], labels: ["zebra".to_string()].into_iter().collect() };
    let strange = as_it_is.with_target(strange, Task::Classification).unwrap();
    let wrong = params.fit_with(&data, &Context { validation: Some(&strange), ..ermine::context() });
    assert!(wrong.unwrap_err().to_string().contains("zebra"));
}

/// Half the squared error once more, from where it is told to start.
#[derive(Clone, Copy)]
struct OwnLoss(f64);

impl loss::Loss for OwnLoss {
    fn name(&self) -> &'static str {
        "own loss"
    }
    fn value(&self, z: f64, y: f64) -> f64 {
        (z - y).powi(2) / 2.0
    }
    fn gradient(&self, z: f64, y: f64) -> f64 {
        z - y
    }
    fn curvature(&self, _: f64, _: f64) -> f64 {
        1.0
    }
    fn best_constant(&self, _: &[f64], _: Option<&[f64]>) -> f64 {
        self.0
    }
}

#[test]
fn a_custom_loss_with_the_same_start_gives_the_built_in_model() {
    let data = regression(900, 12);
    let params = GradientBoosting { n_estimators: 25, ..Default::default() };
    let built_in = params.fit(&data).unwrap();
    let start = boosted(&built_in).booster().start()[0];
    let fit = |start: f64, base_score: Option<f64>| {
        let make = move |data: &Dataset| -> Result<Box<dyn Objective>> {
            Ok(Box::new(PointwiseObjective::new(
                OwnLoss(start),
                WeightedTargets::new(data.values()?.0.to_vec(), data.weight()),
            )))
        };
        let params = GradientBoosting { base_score, ..params.clone() };
        params.fit_with(&data, &Context { objective: Some(&make), ..ermine::context() }).unwrap()
    };
    for own in [fit(start, None), fit(0.0, Some(start))] {
        let (a, b) = (own.predict_data(&data).unwrap(), built_in.predict_data(&data).unwrap());
        assert!(a.values().iter().zip(b.values()).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + b.abs())));
    }
}

#[test]
fn columns_are_constrained_by_name_or_index() {
    let data = regression(600, 14);
    let base = GradientBoosting { n_estimators: 8, ..Default::default() };
    let fit = |monotone: MonotoneConstraints, groups: InteractionConstraints| {
        let params =
            GradientBoosting { monotone_constraints: monotone, interaction_constraints: groups, ..base.clone() };
        params.fit(&data)
    };
    let trees = |model: &Model| boosted(model).booster().clone();
    let by_name = fit([("x2", 1), ("x0", -1)].into(), InteractionConstraints::default()).unwrap();
    let by_place = fit(vec![-1, 0, 1, 0, 0, 0, 0, 0, 0].into(), InteractionConstraints::default()).unwrap();
    assert_eq!(trees(&by_name), trees(&by_place));
    assert_ne!(trees(&by_name), trees(&base.fit(&data).unwrap()));
    let mut named = base.clone();
    named.set("interaction_constraints", &Value::parse("x0,x2;x1,x3,kind")).unwrap();
    let by_place = fit(MonotoneConstraints::default(), vec![vec![0, 2], vec![1, 3, 8]].into()).unwrap();
    assert_eq!(trees(&named.fit(&data).unwrap()), trees(&by_place));
    let message = |result: Result<Model>| result.unwrap_err().to_string();
    let wrong = message(fit([("x22", 1)].into(), InteractionConstraints::default()));
    assert!(
        wrong.contains("monotone_constraints must be") && wrong.contains("(got x22)") && wrong.contains("did you mean"),
        "{wrong}"
    );
    assert!(message(fit([("x2", 1), ("x2", 1)].into(), InteractionConstraints::default())).contains("one direction"));
    assert!(message(fit([("kind", 1)].into(), InteractionConstraints::default())).contains("nominal column 'kind'"));
    named.set("interaction_constraints", &Value::parse("x0,zebra")).unwrap();
    assert!(message(named.fit(&data)).contains("(got zebra)"));
    let wrong = named.set("interaction_constraints", &Value::parse("x0;")).unwrap_err().to_string();
    assert!(wrong.contains("interaction_constraints") && wrong.contains("semicolon"), "{wrong}");
}

#[test]
fn integer_weights_give_the_model_of_repeated_rows() {
    for (seed, max_bins) in [(1, 16), (2, 40), (3, 255)] {
        let weighted = table(1200, seed).dataset("y").unwrap();
        let weight: Vec<f64> = (0..1200).map(|row| f64::from(1 + row * 7 % 5)).collect();
        let rows: Vec<u32> = (0..1200u32).flat_map(|row| vec![row; weight[row as usize] as usize]).collect();
        let repeated = weighted.select(&rows).unwrap();
        let weighted = weighted.with_weight(Some(weight)).unwrap();
        for tree_method in [TreeMethod::Hist, TreeMethod::Exact] {
            let params = GradientBoosting { n_estimators: 15, max_bins, tree_method, ..Default::default() };
            let (a, b) = (params.fit(&weighted).unwrap(), params.fit(&repeated).unwrap());
            // Which way missing values go is a matter of rounding where there are none.
            let question = |test: &Test| match test {
                Test::AtMost { feature, threshold, .. } => format!("{feature} {threshold}"),
                other => format!("{other:?}"),
            };
            let questions =
                |model: &Model| boosted(model).booster().tree(0).test.iter().map(question).collect::<Vec<_>>();
            assert_eq!(questions(&a), questions(&b), "{seed} {tree_method}");
            let (a, b) = (a.predict_data(&weighted).unwrap(), b.predict_data(&weighted).unwrap());
            let apart = a.values().iter().zip(b.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(apart < 1e-2, "{seed} {tree_method} {apart}");
        }
    }
}

#[test]
fn quantiles_are_named_by_their_levels_and_evaluated() {
    let (train, test) = regression(1500, 9).split(0.5, 1).unwrap();
    let levels = [0.9, 0.1, 0.5];
    let params = GradientBoosting {
        loss: BoostingLoss::Quantile,
        quantile_alpha: levels.to_vec(),
        n_estimators: 30,
        ..Default::default()
    };
    let model = ermine::load_bytes(&params.fit(&train).unwrap().to_bytes().unwrap()).unwrap();
    assert_eq!(model.quantile_levels(), levels);
    let found = model.quantiles(test.features(), &levels).unwrap();
    let ascending = boosted(&model).quantiles(test.features()).unwrap();
    for (found, ascending) in found.chunks(3).zip(ascending.chunks(3)) {
        assert_eq!(found, [ascending[2], ascending[0], ascending[1]]);
    }
    let message = model.quantiles(test.features(), &[0.2]).unwrap_err().to_string();
    assert!(message.contains("0.2") && message.contains("0.9, 0.1, 0.5"), "{message}");
    let evaluation = model.evaluate(&test).unwrap();
    let scores = evaluation.quantiles.clone().unwrap();
    let (y, high) = (test.values().unwrap().0, found.iter().step_by(3));
    let pinball: f64 = y.iter().zip(high).map(|(y, q)| if y > q { 0.9 * (y - q) } else { 0.1 * (q - y) }).sum();
    assert!((scores.levels[0].pinball.value - pinball / y.len() as f64).abs() < 1e-9);
    assert!(evaluation.to_string().contains("coverage (0.1 to 0.9)"), "{evaluation}");
    let plain = GradientBoosting { n_estimators: 2, ..Default::default() }.fit(&train).unwrap();
    assert!(plain.evaluate(&test).unwrap().quantiles.is_none() && plain.quantile_levels().is_empty());
}

#[test]
fn evaluation_and_cross_validation_start_from_initial_scores() {
    let (train, test) = regression(900, 3).split(0.7, 1).unwrap();
    let (given, tested) = (with_guess(&train), with_guess(&test));
    let params = GradientBoosting { n_estimators: 100, ..Default::default() };
    let model = params.fit(&given).unwrap();
    let said = model.predict_data(&tested).unwrap();
    let (y, init) = (tested.values().unwrap().0, tested.init_score().unwrap());
    let mse = 2.0 * half_mse(said.values().iter().zip(init).map(|(s, i)| s + i), y);
    let rmse = model.evaluate(&tested).unwrap().score("RMSE").unwrap().value;
    assert!((rmse - mse.sqrt()).abs() < 1e-9 * (1.0 + rmse), "{rmse} {}", mse.sqrt());
    // Without them it is as far off as they are.
    assert!(model.evaluate(&test).unwrap().score("RMSE").unwrap().value > 10.0 * rmse);
    let splits = ermine_eval::evaluate::Splits::k_fold(&given, 3, 1).unwrap();
    let validation = ermine_eval::evaluate::Validation::new(&splits, &[Measure::Rmse]);
    let found = ermine_eval::evaluate::cross_validate(&params, &given, &validation, &ermine::context()).unwrap();
    assert!(found.scores[0].mean < 3.0 * rmse, "{found}");
}

#[test]
fn scores_of_two_classes_start_from_initial_scores() {
    let data = classification(600, 2, 7);
    let init: Vec<f64> = (0..600).map(|i| f64::from(i % 7) - 3.0).collect();
    let given = data.clone().with_init_score(Some(init.clone())).unwrap();
    let model = GradientBoosting { n_estimators: 5, ..Default::default() }.fit(&given).unwrap();
    let scores = boosted(&model).scores(data.features(), 5).unwrap();
    let found = model.predict_from_init_scores(&given).unwrap();
    for (row, (score, init)) in scores.iter().zip(&init).enumerate() {
        let p = 1.0 / (1.0 + (-(score + init)).exp());
        assert!((found.row(row)[1] - p).abs() < 1e-12);
    }
}

#[test]
fn cross_validation_of_quantiles_has_their_pinball_loss() {
    let data = regression(600, 9);
    let params = GradientBoosting {
        loss: BoostingLoss::Quantile,
        quantile_alpha: vec![0.9, 0.1],
        n_estimators: 10,
        ..Default::default()
    };
    let splits = ermine_eval::evaluate::Splits::k_fold(&data, 3, 1).unwrap();
    let validation = ermine_eval::evaluate::Validation::new(&splits, &[Measure::Mae]);
    let found = ermine_eval::evaluate::cross_validate(&params, &data, &validation, &ermine::context()).unwrap();
    assert_eq!(found.scores.iter().map(|score| score.name).collect::<Vec<_>>(), ["MAE", "mean pinball loss"]);
    let mut by_hand = Vec::new();
    for index in 0..3 {
        let (train, test) = splits.split(index);
        let (model, test) = (params.fit(&data.select(&train).unwrap()).unwrap(), data.select(&test).unwrap());
        let quantiles = model.quantiles(test.features(), &[0.9, 0.1]).unwrap();
        let y = test.values().unwrap().0;
        let pinball = |y: f64, q: f64, level: f64| if y > q { level * (y - q) } else { (1.0 - level) * (q - y) };
        let sum: f64 =
            y.iter().zip(quantiles.chunks(2)).map(|(&y, q)| pinball(y, q[0], 0.9) + pinball(y, q[1], 0.1)).sum();
        by_hand.push(sum / (2 * y.len()) as f64);
    }
    assert_near(&found.scores[1].folds, &by_hand);
}

/// Survival times whose logarithm is 1 + 2 x plus noise, of which about a third are censored; and x.
fn survival(n: usize) -> (Dataset, Vec<f64>) {
    let mut rng = ermine_core::rng::stream(5, &[]);
    let mut unit = || (ermine_core::rng::below(&mut rng, 100_000) as f64 + 0.5) / 100_000.0;
    let rows: Vec<(f64, f64)> = (0..n)
        .map(|_| {
            let x = unit();
            let noise = 0.5 * (unit() + unit() + unit() - 1.5);
            let (event, end) = ((1.0 + 2.0 * x + noise).exp(), (0.5 + 3.5 * unit()).exp());
            (x, if event <= end { event } else { -end })
        })
        .collect();
    let x: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let y = Column::numeric("y", rows.iter().map(|row| row.1).collect::<Vec<_>>());
    (Table::new(vec![Column::numeric("x", x.clone()), y]).unwrap().dataset("y").unwrap(), x)
}

#[test]
fn survival_losses_learn_from_censored_rows() {
    let (data, x) = survival(3000);
    let censored = data.values().unwrap().0.iter().filter(|y| **y < 0.0).count();
    assert!((600..1500).contains(&censored), "{censored}");
    let fit = |loss: BoostingLoss, threads: usize| {
        let learner = GradientBoosting { loss, n_estimators: 60, aft_scale: 0.25, ..Default::default() };
        learner.fit_with(&data, &Context { threads: Some(threads), ..ermine::context() }).unwrap()
    };
    let aft = fit(BoostingLoss::Aft, 1);
    let off = |row: usize| aft.predict_data(&data).unwrap().row(row)[0].ln() - (1.0 + 2.0 * x[row]);
    let rows: Vec<usize> = (0..3000).step_by(50).collect();
    let bias = rows.iter().map(|&row| off(row)).sum::<f64>() / rows.len() as f64;
    assert!(bias.abs() < 0.1, "{bias}");
    // Long times have low hazards.
    let cox = fit(BoostingLoss::Cox, 1).predict_data(&data).unwrap();
    let mut order: Vec<usize> = (0..3000).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let mean = |rows: &[usize]| rows.iter().map(|&row| cox.row(row)[0].ln()).sum::<f64>() / rows.len() as f64;
    assert!(mean(&order[..1000]) > mean(&order[1000..2000]) + 1.0);
    assert!(mean(&order[1000..2000]) > mean(&order[2000..]) + 1.0);
    for loss in [BoostingLoss::Aft, BoostingLoss::Cox] {
        assert_eq!(fit(loss, 1).to_bytes().unwrap(), fit(loss, 3).to_bytes().unwrap());
        // The number of rounds by early stopping, and a model that is read again.
        let model = GradientBoosting { loss, ..Default::default() }.fit(&data).unwrap();
        let again = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again.predict_data(&data).unwrap().values(), model.predict_data(&data).unwrap().values());
    }
    let zero = data.with_target(Target::Values { values: vec![0.0; 3000], n_outputs: 1 }, Task::Regression).unwrap();
    let message = GradientBoosting { loss: BoostingLoss::Cox, ..Default::default() }.fit(&zero).unwrap_err();
    assert!(message.to_string().contains("row 1 has 0"), "{message}");
}

#[test]
fn the_focal_loss_is_for_two_classes() {
    let data = classification(800, 2, 3);
    let learner = GradientBoosting { loss: BoostingLoss::Focal, n_estimators: 30, ..Default::default() };
    let focal = learner.fit(&data).unwrap();
    let accuracy = focal.evaluate(&data).unwrap().score("accuracy").unwrap().value;
    assert!(accuracy > 0.9, "{accuracy}");
    // Without focus it is the log loss.
    let log = GradientBoosting { loss: BoostingLoss::LogLoss, ..learner.clone() }.fit(&data).unwrap();
    let plain = GradientBoosting { focal_gamma: 0.0, ..learner.clone() }.fit(&data).unwrap();
    let (a, b) = (plain.predict_data(&data).unwrap(), log.predict_data(&data).unwrap());
    a.values().iter().zip(b.values()).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{a} {b}"));
    // Probabilities are less extreme.
    let extreme =
        |model: &Model| model.predict_data(&data).unwrap().values().iter().map(|p| (p - 0.5).abs()).sum::<f64>();
    assert!(extreme(&focal) < extreme(&log));
    assert!(learner.fit(&classification(800, 3, 3)).unwrap_err().to_string().contains("3 classes"));
}
