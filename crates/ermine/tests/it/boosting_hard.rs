//! Gradient boosting where it could go wrong unseen: heavy tails, models of other data, numbers beyond single precision, few rows for each category.

use ermine::prelude::*;
use ermine_core::learner::{Checkpoint, Context};
use ermine_core::param::Parameters;
use ermine_trees::learner::gradient_boosting::{BoostedTrees, BoostingLoss, SamplingMethod};
use proptest::prelude::*;

/// A number in [0, 1) for each place.
fn drawn(seed: u64, i: usize) -> f64 {
    (ermine_core::rng::place(seed, i as u64) >> 11) as f64 / (1u64 << 53) as f64
}

fn dataset(columns: Vec<Column>) -> Dataset {
    Table::new(columns).unwrap().dataset("y").unwrap()
}

fn numbers(name: &str, n: usize, of: impl Fn(usize) -> f64) -> Column {
    Column::numeric(name, (0..n).map(of).collect::<Vec<_>>())
}

fn refusal(outcome: Result<Model, Error>) -> String {
    outcome.map(|_| ()).unwrap_err().to_string()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Targets over many orders of magnitude: each round lowers the loss, and the model is one that can be kept.
    #[test]
    fn losses_with_a_log_link_decrease_every_round(
        seed: u64, tail in 1.0f64..12.0, learning_rate in 0.1f64..1.0, lambda in prop_oneof![Just(0.0), Just(1.0)],
        loss in prop_oneof![Just(BoostingLoss::Poisson), Just(BoostingLoss::Gamma), Just(BoostingLoss::Tweedie)],
    ) {
        let n = 300;
        let y = move |i: usize| (drawn(seed, 2 * i) * tail).exp() * drawn(seed, i).powi(4) + 1e-6;
        let data = dataset(vec![numbers("x", n, |i| y(i).ln() + drawn(seed ^ 1, i)), numbers("z", n, |i| drawn(seed ^ 2, i)), numbers("y", n, y)]);
        let params = GradientBoosting { loss, learning_rate, reg_lambda: lambda, n_estimators: 40, ..Default::default() };
        let model = params.fit(&data).unwrap();
        let fitted = model.fitted::<BoostedTrees>().unwrap();
        let deviance = |mean: f64, i: usize| match loss {
            BoostingLoss::Poisson => mean - y(i) * mean.ln(),
            BoostingLoss::Gamma => mean.ln() + y(i) / mean,
            _ => 2.0 * mean.sqrt() + 2.0 * y(i) / mean.sqrt(),
        };
        let mut before = f64::INFINITY;
        let mut stages = fitted.stages(data.features()).unwrap();
        while let Some(means) = fitted.next_stage(&mut stages) {
            let total: f64 = means.iter().enumerate().map(|(i, &mean)| deviance(mean, i)).sum();
            prop_assert!(total.is_finite() && total <= before + 1e-4 * (1.0 + before.abs().min(1e300)), "{total} after {before}");
            before = total;
        }
        let again = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
        prop_assert_eq!(again.predict_data(&data).unwrap(), model.predict_data(&data).unwrap());
    }
}

#[test]
fn steps_are_limited_by_max_delta_step_for_every_loss() {
    let n = 400;
    let y = |i: usize| (drawn(5, i) * 6.0).exp();
    let data = dataset(vec![numbers("x", n, |i| y(i).sqrt()), numbers("y", n, y)]);
    for loss in [
        BoostingLoss::SquaredError,
        BoostingLoss::AbsoluteError,
        BoostingLoss::Quantile,
        BoostingLoss::Poisson,
        BoostingLoss::Gamma,
        BoostingLoss::Tweedie,
    ] {
        let params = GradientBoosting { loss, max_delta_step: 0.3, n_estimators: 3, ..Default::default() };
        let model = params.fit(&data).unwrap();
        let booster = model.fitted::<BoostedTrees>().unwrap().booster();
        let values = (0..booster.n_trees()).flat_map(|number| booster.tree(number).value);
        let largest = values.fold(0.0, |most: f64, value| most.max(value.abs()));
        assert!(largest > 0.02 && largest <= 0.03 + 1e-12, "{loss}: {largest}");
    }
}

#[test]
fn training_continues_only_from_models_of_the_same_form() {
    let n = 300;
    let names = |shift: usize| (0..n).map(|i| Some(format!("c{}", i % 7 + shift))).collect::<Vec<_>>();
    let x = || numbers("x", n, |i| drawn(1, i));
    let kind = |shift: usize| Column::nominal("kind", &names(shift));
    let y = || numbers("y", n, |i| (6.0 * drawn(1, i)).floor());
    let classes = |k: usize| {
        Column::nominal(
            "y",
            &(0..n).map(|i| Some(format!("k{}", (drawn(1, i) * k as f64) as usize))).collect::<Vec<_>>(),
        )
    };
    let of = |loss: BoostingLoss, n_estimators: usize| GradientBoosting { loss, n_estimators, ..Default::default() };
    let first = of(BoostingLoss::Auto, 5).fit(&dataset(vec![x(), kind(0), y()])).unwrap();
    let go_on = |from: &Model, loss: BoostingLoss, columns: Vec<Column>| {
        of(loss, 9).fit_with(&dataset(columns), &Context { init_model: Some(from), ..ermine::context() })
    };
    assert!(go_on(&first, BoostingLoss::Auto, vec![x(), kind(0), y()]).is_ok());
    assert!(go_on(&first, BoostingLoss::Huber, vec![x(), kind(0), y()]).is_ok(), "scores mean the same");
    let cases = [
        (BoostingLoss::Auto, vec![x(), y()], "1 columns instead of 2"),
        (BoostingLoss::Auto, vec![kind(0), x(), y()], "'kind' (nominal) instead of 'x' (numeric)"),
        (BoostingLoss::Auto, vec![x(), kind(3), y()], "other categories in column 'kind'"),
        (BoostingLoss::Poisson, vec![x(), kind(0), y()], "another loss"),
        (BoostingLoss::Auto, vec![x(), kind(0), classes(3)], "classification"),
    ];
    for (loss, columns, said) in cases {
        let error = refusal(go_on(&first, loss, columns));
        assert!(error.contains(said), "{error}");
    }
    let of_classes = of(BoostingLoss::Auto, 5).fit(&dataset(vec![x(), kind(0), classes(3)])).unwrap();
    let error = refusal(go_on(&of_classes, BoostingLoss::Auto, vec![x(), kind(0), classes(4)]));
    assert!(error.contains("the classes"), "{error}");
    let tree = DecisionTree::default().fit(&dataset(vec![x(), kind(0), y()])).unwrap();
    assert!(refusal(go_on(&tree, BoostingLoss::Auto, vec![x(), kind(0), y()])).contains("decision-tree"));
}

#[test]
fn training_that_cannot_be_resumed_is_refused_at_the_start() {
    let n = 200;
    let data = dataset(vec![numbers("x", n, |i| drawn(1, i)), numbers("y", n, |i| drawn(1, i).powi(2))]);
    let keep = |_: &Model| -> Result<(), Error> { panic!("nothing is to be kept") };
    let saving = Context { checkpoint: Some(Checkpoint { every: 1, save: &keep }), ..ermine::context() };
    let early_stopping = GradientBoosting::default();
    assert!(refusal(early_stopping.fit_with(&data, &saving)).contains("n_estimators"));
    let fixed = GradientBoosting { n_estimators: 5, ..Default::default() };
    let first = fixed.fit(&data).unwrap();
    let continuing = Context { init_model: Some(&first), ..ermine::context() };
    assert!(refusal(early_stopping.fit_with(&data, &continuing)).contains("n_estimators"));
    let validated = Context { validation: Some(&data), ..continuing };
    assert!(
        early_stopping.fit_with(&data, &validated).unwrap().fitted::<BoostedTrees>().unwrap().booster().n_rounds() > 5
    );
}

#[test]
fn few_rows_for_each_category_are_enough() {
    // A thousand names with an effect each, two rows for each in training: what is known of a name in training is less than what new rows know.
    let effect = |name: usize| 4.0 * (drawn(8, name) - 0.5);
    let made = |n: usize, seed: u64| {
        let name = move |i: usize| (drawn(seed, i) * 1000.0) as usize;
        let names: Vec<Option<String>> = (0..n).map(|i| Some(format!("n{}", name(i)))).collect();
        let x = numbers("x", n, |i| drawn(seed ^ 1, i));
        let y = numbers("y", n, |i| effect(name(i)) + drawn(seed ^ 1, i) + 0.3 * drawn(seed ^ 2, i));
        dataset(vec![Column::nominal("name", &names), x, y])
    };
    let (train, test) = (made(2000, 10), made(4000, 20));
    let model = GradientBoosting { n_estimators: 100, ..Default::default() }.fit(&train).unwrap();
    let explained = |data: &Dataset| {
        let (y, _) = data.values().unwrap();
        let mean = y.iter().sum::<f64>() / y.len() as f64;
        let prediction = model.predict_data(data).unwrap();
        let left: f64 = y.iter().zip(prediction.values()).map(|(y, p)| (y - p).powi(2)).sum();
        1.0 - left / y.iter().map(|y| (y - mean).powi(2)).sum::<f64>()
    };
    let (seen, new) = (explained(&train), explained(&test));
    assert!(seen > 0.8 && new > 0.55, "{seen} {new}");
}

#[test]
fn values_beyond_single_precision_are_refused() {
    let n = 100;
    let of = |size: f64| dataset(vec![numbers("x", n, |i| drawn(1, i)), numbers("y", n, |i| size * drawn(1, i))]);
    let learner = GradientBoosting { n_estimators: 5, ..Default::default() };
    for size in [1e50, 1e-50] {
        assert!(refusal(learner.fit(&of(size))).contains("largest of the targets"));
        let weighted = of(1.0).with_weight(Some(vec![size; n])).unwrap();
        assert!(refusal(learner.fit(&weighted)).contains("largest of the weights"));
    }
    let both = of(1e29).with_weight(Some(vec![1e29; n])).unwrap();
    assert!(refusal(learner.fit(&both)).contains("single precision"));
    assert!(learner.fit(&of(1e25)).is_ok() && learner.fit(&of(1e-25)).is_ok());
    // Nothing is wrong here, but nobody would expect the constant that comes of it.
    let light = of(1.0).with_weight(Some(vec![1e-3; n])).unwrap();
    assert!(learner.fit(&light).unwrap().certificate().to_string().contains("no tree has a split"));
    let goss = GradientBoosting { sampling_method: SamplingMethod::Goss, top_rate: 0.6, other_rate: 0.5, ..learner };
    assert!(refusal(goss.fit(&of(1.0))).contains("top_rate"));
}

#[test]
fn integer_weights_equal_repeated_rows() {
    // Just the least curvature on one side is enough, whatever quanta it is rounded to.
    let data =
        dataset(vec![Column::numeric("x", vec![0.0, 1.0, 1.0, 1.0]), Column::numeric("y", vec![10.0, 0.0, 1.0, 2.0])]);
    let learner = GradientBoosting { n_estimators: 1, learning_rate: 1.0, reg_lambda: 0.0, ..Default::default() };
    for heavy in [1.0, 3.0, 7.0, 11.0, 13.0] {
        let weighted = data.clone().with_weight(Some(vec![1.0, heavy, heavy, heavy])).unwrap();
        let model = learner.fit(&weighted).unwrap();
        let prediction = model.predict_data(&weighted).unwrap();
        let right = |(said, y): (&f64, &f64)| (said - y).abs() < 1e-5;
        let y = [10.0, 1.0, 1.0, 1.0];
        assert!(prediction.values().iter().zip(&y).all(right), "{heavy}: {:?}", prediction.values());
    }
    // Weights that are all the same say nothing but how much penalties and limits count.
    let n = 1500;
    let data = dataset(vec![numbers("x", n, |i| drawn(1, i)), numbers("y", n, |i| (9.0 * drawn(1, i)).sin())]);
    let free = GradientBoosting { min_child_weight: 0.0, max_leaf_nodes: Some(5), ..learner };
    let plain = free.fit(&data).unwrap().predict_data(&data).unwrap();
    let heavy = data.clone().with_weight(Some(vec![4.0; n])).unwrap();
    let heavy = free.fit(&heavy).unwrap().predict_data(&data).unwrap();
    assert!(plain.values().iter().zip(heavy.values()).all(|(a, b)| (a - b).abs() < 1e-5));
}

#[test]
fn a_single_class_needs_no_rounds_and_several_quantiles_have_one_loss() {
    let n = 200;
    let class = Column::nominal("y", &vec![Some("only".to_string()); n]);
    let model = GradientBoosting::default().fit(&dataset(vec![numbers("x", n, |i| drawn(1, i)), class])).unwrap();
    assert_eq!(model.fitted::<BoostedTrees>().unwrap().booster().n_rounds(), 1);
    let data = dataset(vec![numbers("x", n, |i| drawn(1, i)), numbers("y", n, |i| drawn(2, i))]);
    let mut several =
        GradientBoosting { loss: BoostingLoss::Quantile, quantile_alpha: vec![0.1, 0.9], ..Default::default() };
    several.set("eval_metric", &ermine_core::param::Value::Text("pinball-90".into())).unwrap();
    assert!(refusal(several.fit(&data)).contains("several quantiles"));
}

#[test]
fn columns_outside_all_interaction_groups_do_not_interact() {
    let n = 600;
    let x = |name: &str, seed: u64| numbers(name, n, move |i| drawn(seed, i));
    let y = numbers("y", n, |i| drawn(1, i) * drawn(2, i) + 5.0 * drawn(3, i));
    let data = dataset(vec![x("a", 1), x("b", 2), x("c", 3), y]);
    let constraints = ermine_core::param::Value::List(vec![ermine_core::param::Value::List(vec![
        ermine_core::param::Value::Int(0),
        ermine_core::param::Value::Int(1),
    ])]);
    let mut learner = GradientBoosting { n_estimators: 20, ..Default::default() };
    learner.set("interaction_constraints", &constraints).unwrap();
    let model = learner.fit(&data).unwrap();
    assert!(model.attributes()[0].values[2] > 0.5, "{:?}", model.attributes()[0].values);
}
