//! AdaBoost against its theory and against brute force.

use ermine::prelude::*;
use ermine::reduction::adaboost::{AdaBoostAlgorithm, BoostedVote};
use ermine_core::learner::{Context, fit};
use ermine_core::matrix::Target;
use ermine_core::model::Proof;
use ermine_trees::split::Test;
use proptest::prelude::*;

#[derive(Debug, Clone)]
struct Problem {
    columns: Vec<Vec<Option<i8>>>,
    classes: Vec<usize>,
    weights: Vec<f64>,
    n_classes: usize,
}

fn problem() -> impl Strategy<Value = Problem> {
    (2usize..5, 2usize..25, 1usize..4).prop_flat_map(|(n_classes, n, d)| {
        let column = prop::collection::vec(prop::option::weighted(0.9, -4i8..5), n);
        let weight = prop_oneof![(1u8..5).prop_map(f64::from), 0.1..3.0f64];
        (prop::collection::vec(column, d), prop::collection::vec(0..n_classes, n), prop::collection::vec(weight, n))
            .prop_map(move |(columns, classes, weights)| Problem { columns, classes, weights, n_classes })
    })
}

impl Problem {
    fn data(&self) -> Dataset {
        let number = |v: &Option<i8>| v.map_or(f64::NAN, f64::from);
        let column = |(i, c): (usize, &Vec<Option<i8>>)| {
            Column::numeric(format!("x{i}"), c.iter().map(number).collect::<Vec<f64>>())
        };
        let table = Table::new(self.columns.iter().enumerate().map(column).collect()).unwrap();
        let features = ermine_core::matrix::Features::new(std::sync::Arc::new(table));
        let target = Target::Classes {
            codes: self.classes.iter().map(|&c| c as u32).collect(),
            labels: (0..self.n_classes).map(|c| c.to_string()).collect(),
        };
        let data = Dataset::from_parts(features, target, Task::Classification).unwrap();
        data.with_weight(Some(self.weights.clone())).unwrap()
    }

    /// The least weighted error of any threshold on any column with any labels.
    fn least_error(&self, weights: &[f64]) -> f64 {
        let mut least = f64::INFINITY;
        for column in &self.columns {
            for threshold in (-5..6).map(|t| f64::from(t) + 0.5) {
                for missing_left in [true, false] {
                    let mut sides = [vec![0.0; self.n_classes], vec![0.0; self.n_classes]];
                    for (row, value) in column.iter().enumerate() {
                        let left = value.map_or(missing_left, |v| f64::from(v) <= threshold);
                        sides[usize::from(!left)][self.classes[row]] += weights[row];
                    }
                    let cost = |s: &Vec<f64>| s.iter().sum::<f64>() - s.iter().fold(0.0, |a: f64, &b| a.max(b));
                    least = least.min(sides.iter().map(cost).sum());
                }
            }
        }
        least
    }
}

/// The classes that the first round, the first two and so on give to each row.
fn stages(model: &Model, data: &Dataset) -> Vec<Vec<usize>> {
    let mut stages = model.stages(data.features().clone()).unwrap();
    let classes = |p: Prediction| (0..p.n_rows()).map(|row| p.class(row)).collect();
    std::iter::from_fn(|| stages.next(model)).map(|stage| classes(stage.unwrap())).collect()
}

/// What the tree of a round says for each row: the class with the vote.
fn said(model: &BoostedVote, round: usize, data: &Dataset) -> Vec<usize> {
    let tree = model.forest().unwrap().tree(round);
    let class = |value: &[f64]| match value {
        [vote] => usize::from(*vote > 0.0),
        votes => votes.iter().position(|&v| v > 0.0).unwrap(),
    };
    tree.apply(data.features()).iter().map(|&node| class(tree.value(node as usize))).collect()
}

/// The mean of exp(sum of the votes for the other classes - sum of those for the right one) after some rounds, from what each member says.
fn exponential_loss(model: &Model, data: &Dataset, n_rounds: usize) -> f64 {
    let (codes, boosted) = (data.classes().unwrap().0, model.fitted::<BoostedVote>().unwrap());
    let mut against = vec![0.0; data.n_rows()];
    for t in 0..n_rounds {
        let (said, alpha) = (model.member(t).unwrap().predict_data(data).unwrap(), boosted.rounds()[t].alpha);
        (0..data.n_rows()).for_each(|i| against[i] += if said.class(i) == codes[i] as usize { -alpha } else { alpha });
    }
    let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
    against.iter().enumerate().map(|(row, m)| data.row_weight(row) / total * m.exp()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_certified_loss_is_that_of_the_vote(problem in problem(), rate in 0.5..6.0f64, trees in any::<bool>()) {
        let data = problem.data();
        let estimator = Estimator::named("decision-tree").with("max_depth", 2usize);
        let estimator = if trees { estimator } else { Estimator::named("decision-stump") };
        let model = AdaBoost { n_estimators: 30, learning_rate: rate, estimator, ..Default::default() }.fit(&data).unwrap();
        let rounds = model.fitted::<BoostedVote>().unwrap().rounds().to_vec();
        for (t, round) in rounds.iter().enumerate() {
            let loss = exponential_loss(&model, &data, t + 1);
            // Numbers below 1e-308 have fewer digits.
            let tolerance = 1e-6 * loss + 1e-314;
            prop_assert!(round.bound == loss || (round.bound - loss).abs() <= tolerance, "round {t}: {} {loss}", round.bound);
            prop_assert!(round.error <= loss + 1e-9);
        }
        let last = rounds.last().map_or(1.0, |round| round.bound);
        prop_assert_eq!(model.certificate().value, Some(last).filter(|loss| loss.is_finite()));
    }
}

#[test]
fn boosting_continues_when_weights_become_tiny() {
    let data = ring(120, 4);
    let estimator = Estimator::named("decision-tree").with("max_depth", 3usize).with("min_samples_leaf", 8usize);
    let model =
        AdaBoost { n_estimators: 1200, learning_rate: 1.9, estimator, ..Default::default() }.fit(&data).unwrap();
    let rounds = model.fitted::<BoostedVote>().unwrap().rounds();
    let loss = exponential_loss(&model, &data, rounds.len());
    assert!((rounds.last().unwrap().bound - loss).abs() <= 1e-6 * loss, "{loss}");
    // Weights given by the user may span as much.
    let weights = (0..120).map(|i| if i % 2 == 0 { 1e-59 } else { 1e59 }).collect();
    let model = AdaBoost { estimator: Estimator::named("decision-tree"), ..Default::default() };
    assert!(model.fit(&data.with_weight(Some(weights)).unwrap()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_round_matches_the_theory(problem in problem(), rate in prop_oneof![Just(1.0), 0.2..1.0f64]) {
        let data = problem.data();
        let model = AdaBoost { n_estimators: 12, learning_rate: rate, ..Default::default() }.fit(&data).unwrap();
        let boosted = model.fitted::<BoostedVote>().unwrap();
        let total: f64 = problem.weights.iter().sum();
        let first: Vec<f64> = problem.weights.iter().map(|w| w / total).collect();
        let mut weights = first.clone();
        let mut bound = 1.0;
        let stages = stages(&model, &data);
        for (t, round) in boosted.rounds().iter().enumerate() {
            let said = said(boosted, t, &data);
            let wrong: Vec<bool> = said.iter().zip(&problem.classes).map(|(a, b)| a != b).collect();
            let weight_of = |weights: &[f64]| weights.iter().zip(&wrong).filter(|w| *w.1).map(|w| w.0).sum::<f64>();
            // The stump is the exact minimizer, and its error is what the round says.
            prop_assert!((weight_of(&weights) - round.epsilon).abs() < 1e-9);
            prop_assert!(round.epsilon <= problem.least_error(&weights) + 1e-9, "round {t}");
            // The training error is below the product of the normalizers.
            bound *= round.z;
            prop_assert!((bound - round.bound).abs() < 1e-9 * bound);
            prop_assert!((exponential_loss(&model, &data, t + 1) - bound).abs() < 1e-9 * bound);
            let error: f64 = (0..data.n_rows()).filter(|&r| stages[t][r] != problem.classes[r]).map(|r| first[r]).sum();
            prop_assert!((error - round.error).abs() < 1e-9);
            prop_assert!(error <= bound + 1e-9, "round {t}: {error} > {bound}");
            if round.epsilon == 0.0 {
                prop_assert_eq!(t + 1, boosted.rounds().len(), "nothing comes after a learner without errors");
                prop_assert_eq!(error, 0.0);
                break;
            }
            let sum = (1.0 - round.epsilon) * (-round.alpha).exp() + round.epsilon * round.alpha.exp();
            prop_assert!((sum - round.z).abs() < 1e-9, "{sum} {}", round.z);
            for (w, wrong) in weights.iter_mut().zip(&wrong) {
                *w *= if *wrong { round.alpha.exp() } else { (-round.alpha).exp() } / round.z;
            }
            if rate == 1.0 {
                let chance = (problem.n_classes as f64 - 1.0) / problem.n_classes as f64;
                prop_assert!((weight_of(&weights) - chance).abs() < 1e-9, "the next weights give the stump the error of chance");
            }
        }
        if boosted.rounds().len() < 12 && boosted.rounds().last().is_none_or(|r| r.epsilon > 0.0) {
            let chance = 1.0 - 1.0 / problem.n_classes as f64;
            prop_assert!(problem.least_error(&weights) > chance - 1e-9, "it stopped, but a stump is better than chance");
        }
        // The model predicts what the last stage says.
        let prediction = model.predict_data(&data).unwrap();
        if let Some(last) = stages.last() {
            prop_assert_eq!(&(0..data.n_rows()).map(|row| prediction.class(row)).collect::<Vec<_>>(), last);
        }
    }
}

/// A ring in the plane, which no single stump gets right.
fn ring(n: usize, seed: u64) -> Dataset {
    let mut rng = ermine_core::rng::stream(seed, &[]);
    let mut draw = || ermine_core::rng::below(&mut rng, 20001) as f64 / 10000.0 - 1.0;
    let (x, y): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (draw(), draw())).unzip();
    let class: Vec<Option<&str>> =
        x.iter().zip(&y).map(|(x, y)| Some(if x * x + y * y < 0.5 { "in" } else { "out" })).collect();
    Table::new(vec![Column::numeric("x", x), Column::numeric("y", y), Column::nominal("class", &class)])
        .unwrap()
        .dataset("class")
        .unwrap()
}

#[test]
fn the_certificate_states_the_bound_and_that_the_error_is_below_it() {
    let data = ring(2000, 1);
    let model = AdaBoost { n_estimators: 60, ..Default::default() }.fit(&data).unwrap();
    let Proof::Bound { bound, observed, .. } = &model.certificate().proofs[0] else { panic!("no bound") };
    assert!(observed <= bound && *observed < 0.1, "{observed} {bound}");
    let accuracy = model.evaluate(&data).unwrap();
    assert!(accuracy.to_string().contains("accuracy"), "{accuracy}");
    let text = model.text();
    assert!(text.contains("training error (o) under its bound (-)") && text.contains("x <="), "{text}");
    assert!(model.svg().unwrap().contains("training error"));
}

#[test]
fn a_perfect_stump_ends_boosting_and_decides_alone() {
    let table = Table::new(vec![
        Column::numeric("x", vec![1.0, 2.0, 3.0, 4.0]),
        Column::nominal("y", &[Some("a"), Some("a"), Some("b"), Some("b")]),
    ]);
    let model = AdaBoost::default().fit(&table.unwrap().dataset("y").unwrap()).unwrap();
    let boosted = model.fitted::<BoostedVote>().unwrap();
    assert_eq!(
        (boosted.rounds().len(), boosted.rounds()[0].epsilon, boosted.rounds()[0].bound),
        (1, 0.0, (-1.0f64).exp())
    );
    assert_eq!(model.certificate().value, Some((-1.0f64).exp()), "the loss of the vote as it is given");
    assert!(matches!(boosted.forest().unwrap().tree(0).test[0], Test::AtMost { threshold: 2.5, .. }));
}

#[test]
fn a_learner_no_better_than_chance_is_not_boosted() {
    let table = Table::new(vec![
        Column::numeric("x", vec![1.0, 1.0, 2.0, 2.0]),
        Column::nominal("y", &[Some("a"), Some("b"), Some("a"), Some("b")]),
    ]);
    let model = AdaBoost::default().fit(&table.unwrap().dataset("y").unwrap()).unwrap();
    assert!(model.fitted::<BoostedVote>().unwrap().rounds().is_empty());
    assert!(model.certificate().to_string().contains("no decision-stump is better than chance"));
}

#[test]
fn early_stopping_keeps_the_rounds_up_to_the_lowest_validation_error() {
    let learner = AdaBoost { n_estimators: 400, n_iter_no_change: Some(10), ..Default::default() };
    let model = fit(&learner, &ring(600, 3), &Context { seed: 5, ..ermine::context() }).unwrap();
    let rounds = model.fitted::<BoostedVote>().unwrap().rounds();
    let last = rounds.last().unwrap().validation;
    assert!(rounds.len() < 400 && rounds.iter().all(|r| r.validation >= last), "{}", rounds.len());
    assert!(rounds[..rounds.len() - 1].iter().all(|r| r.validation > last), "the first of the lowest");
}

#[test]
fn any_learner_that_takes_weights_can_be_boosted() {
    let (train, test) = (ring(800, 1), ring(800, 2));
    let right = |model: &Model| {
        let said = model.predict_data(&test).unwrap();
        let codes = test.classes().unwrap().0;
        (0..800).filter(|&row| said.class(row) == codes[row] as usize).count() as f64 / 800.0
    };
    // Stumps by way of the general loop are the same stumps.
    let general = AdaBoost {
        estimator: Estimator::named("decision-stump").with("max_categories", 64usize),
        ..Default::default()
    };
    let general = general.fit(&train).unwrap();
    let special = AdaBoost::default().fit(&train).unwrap();
    let rounds = |model: &Model| model.fitted::<BoostedVote>().unwrap().rounds().to_vec();
    for (a, b) in rounds(&general).iter().zip(rounds(&special)).take(5) {
        assert!((a.epsilon - b.epsilon).abs() < 1e-9 && (a.bound - b.bound).abs() < 1e-9);
    }
    let forest = Estimator::named("random-forest").with("n_estimators", 1usize).with("max_depth", 3usize);
    let forest = AdaBoost { estimator: forest, n_estimators: 20, ..Default::default() }.fit(&train).unwrap();
    assert!(right(&forest) > right(&special) && right(&forest) > 0.93, "{} {}", right(&forest), right(&special));
    let bytes = forest.to_bytes().unwrap();
    assert_eq!(ermine::load_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
    for algorithm in [AdaBoostAlgorithm::Gentle, AdaBoostAlgorithm::Logit] {
        let model = AdaBoost { algorithm, n_estimators: 60, ..Default::default() }.fit(&train).unwrap();
        assert!(right(&model) > 0.88, "{algorithm}: {}", right(&model));
        for round in rounds(&model) {
            assert!(round.error <= round.bound + 1e-12, "the mean loss is above the training error");
        }
        assert!(rounds(&model).windows(2).all(|r| r[1].bound <= r[0].bound + 1e-9), "{algorithm} lowers its loss");
    }
}

#[test]
fn boosted_regression_beats_one_round_and_weights_follow_from_losses() {
    let n = 400;
    let x: Vec<f64> = (0..n).map(|i| f64::from(i) / 40.0).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin() + x / 5.0).collect();
    let table = Table::new(vec![Column::numeric("x", x), Column::numeric("y", y)]).unwrap();
    let data = table.dataset("y").unwrap();
    let error = |n_estimators: usize| {
        let estimator = Estimator::named("random-forest").with("n_estimators", 1usize).with("max_depth", 3usize);
        let model = AdaBoost { estimator, n_estimators, ..Default::default() }.fit(&data).unwrap();
        for round in model.fitted::<BoostedVote>().unwrap().rounds() {
            assert!((round.alpha - ((1.0 - round.epsilon) / round.epsilon).ln()).abs() < 1e-12 && round.epsilon < 0.5);
        }
        let said = model.predict_data(&data).unwrap();
        said.values().iter().zip(data.values().unwrap().0).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / f64::from(n)
    };
    assert!(error(30) < 0.9 * error(1), "{} {}", error(30), error(1));
}

#[test]
fn stages_and_members_of_boosted_regression() {
    let x: Vec<f64> = (0..400).map(|i| f64::from(i) / 40.0).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin() + x / 5.0).collect();
    let data = Table::new(vec![Column::numeric("x", x), Column::numeric("y", y)]).unwrap().dataset("y").unwrap();
    let estimator = Estimator::named("decision-tree").with("max_depth", 2usize);
    let learner = AdaBoost { estimator, n_estimators: 15, ..Default::default() };
    let model = learner.fit(&data).unwrap();
    let rounds = model.fitted::<BoostedVote>().unwrap().rounds();
    let mut stages = model.stages(data.features().clone()).unwrap();
    let said: Vec<Vec<f64>> =
        std::iter::from_fn(|| stages.next(&model)).map(|p| p.unwrap().values().to_vec()).collect();
    assert_eq!(said.len(), rounds.len());
    assert_eq!(said.last().unwrap(), model.predict_data(&data).unwrap().values());
    for (round, said) in rounds.iter().zip(&said) {
        let error = said.iter().zip(data.values().unwrap().0).map(|(a, b)| (a - b).abs()).sum::<f64>() / 400.0;
        assert!((error - round.error).abs() < 1e-12);
    }
    assert_eq!(model.n_members(), rounds.len());
    let first = model.member(0).unwrap();
    assert_eq!(first.header().learner, "decision-tree");
    assert_eq!(first.header().params["max_depth"].to_string(), "2");
    assert_eq!(first.predict_data(&data).unwrap().values(), said[0]);
    assert!(model.member(99).is_err());
    // Early stopping keeps the rounds up to the lowest error on rows kept aside.
    let stopping = AdaBoost { n_iter_no_change: Some(3), n_estimators: 200, ..learner };
    let model = fit(&stopping, &data, &Context { seed: 3, ..ermine::context() }).unwrap();
    let rounds = model.fitted::<BoostedVote>().unwrap().rounds();
    let last = rounds.last().unwrap().validation;
    assert!(rounds.len() < 200 && rounds[..rounds.len() - 1].iter().all(|r| r.validation > last));
    let again = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
    assert!(again.to_bytes().unwrap() == model.to_bytes().unwrap());
}

#[test]
fn chance_level_depends_on_the_number_of_classes() {
    for n_classes in 2..8u32 {
        let n = 3 * n_classes;
        let features = ermine_core::matrix::Features::new(std::sync::Arc::new(
            Table::new(vec![Column::numeric("x", vec![1.0; n as usize])]).unwrap(),
        ));
        let labels = (0..n_classes).map(|c| c.to_string()).collect();
        let target = Target::Classes { codes: (0..n).map(|i| i % n_classes).collect(), labels };
        let data = Dataset::from_parts(features, target, Task::Classification).unwrap();
        for estimator in ["decision-stump", "decision-tree"] {
            let learner = AdaBoost { estimator: Estimator::named(estimator), ..Default::default() };
            let model = learner.fit(&data).unwrap();
            assert_eq!(model.fitted::<BoostedVote>().unwrap().rounds().len(), 0, "{n_classes} classes, {estimator}");
        }
    }
}

#[test]
fn a_vacuous_bound_is_not_certified() {
    let x: Vec<f64> = (0..90).map(f64::from).collect();
    let y: Vec<String> = (0..90).map(|i| format!("c{}", i * 7 % 5)).collect();
    let names: Vec<Option<&str>> = y.iter().map(|y| Some(y.as_str())).collect();
    let table = Table::new(vec![Column::numeric("x", x), Column::nominal("y", &names)]).unwrap();
    let data = table.dataset("y").unwrap();
    for learning_rate in [1.0, 1e6] {
        let model = AdaBoost { learning_rate, n_estimators: 20, ..Default::default() }.fit(&data).unwrap();
        let certificate = model.certificate();
        for proof in &certificate.proofs {
            assert!(!matches!(proof, Proof::Bound { bound, .. } if *bound >= 1.0), "{certificate}");
        }
        let text = certificate.to_string();
        assert!(!text.contains("inf;") && !text.contains("observed -0"), "{text}");
        assert!(learning_rate == 1.0 || text.contains("overshoot"), "{text}");
    }
}

#[test]
fn member_stumps_are_models_that_predict_their_vote() {
    let x: Vec<Vec<f64>> = (0..300).map(|i| vec![f64::from(i % 17), f64::from(i % 23)]).collect();
    let label =
        |row: &Vec<f64>| Some(["low", "mid", "high"][(row[0] > 8.0) as usize + (row[1] > 11.0) as usize].to_string());
    for n_classes in [2, 3] {
        let labels: Vec<Option<String>> =
            x.iter().map(label).map(|l| l.filter(|l| n_classes == 3 || l != "mid").or(Some("low".into()))).collect();
        let mut columns = Table::from_rows(&["a", "b"], &x).unwrap().into_columns();
        columns.push(Column::nominal("y", &labels));
        let data = Table::new(columns).unwrap().dataset("y").unwrap();
        let model = AdaBoost { n_estimators: 6, ..Default::default() }.fit(&data).unwrap();
        let rounds = model.fitted::<BoostedVote>().unwrap().rounds();
        assert_eq!(model.n_members(), rounds.len());
        let k = model.schema().classes.len();
        let mut votes = vec![0.0; 300 * k];
        for (t, round) in rounds.iter().enumerate() {
            let member = model.member(t).unwrap();
            assert_eq!(member.header().learner, "decision-stump");
            let said = member.predict_data(&data).unwrap();
            (0..300).for_each(|row| votes[row * k + said.class(row)] += round.alpha);
        }
        let whole = model.predict_data(&data).unwrap();
        for (row, votes) in votes.chunks(k).enumerate() {
            let most = votes.iter().copied().fold(0.0, f64::max);
            assert!(votes[whole.class(row)] > most - 1e-9, "{votes:?}");
        }
    }
}

#[test]
fn learners_without_weights_are_boosted_by_resampling() {
    let data = ring(300, 8);
    let estimator = Estimator::named("nearest-neighbors").with("n_neighbors", 25usize);
    assert!(!estimator.learner(&ermine::context()).unwrap().info().capabilities.weights);
    let learner = AdaBoost { estimator, n_estimators: 15, ..Default::default() };
    let fit_with = |seed: u64, threads: usize| {
        fit(&learner, &data, &Context { seed, threads: Some(threads), ..ermine::context() }).unwrap()
    };
    let model = fit_with(3, 1);
    assert_eq!(model.to_bytes().unwrap(), fit_with(3, 4).to_bytes().unwrap());
    assert_ne!(model.to_bytes().unwrap(), fit_with(4, 1).to_bytes().unwrap(), "rows are drawn");
    let rounds = model.fitted::<BoostedVote>().unwrap().rounds();
    assert!(rounds.len() > 1);
    for (t, round) in rounds.iter().enumerate() {
        let loss = exponential_loss(&model, &data, t + 1);
        assert!((round.bound - loss).abs() <= 1e-6 * loss && round.error <= loss + 1e-12);
    }
    assert!(rounds.last().unwrap().error < rounds[0].error, "{rounds:?}");
    // Numbers, too.
    let x: Vec<f64> = (0..200).map(|i| f64::from(i) / 20.0).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    let numbers = Table::new(vec![Column::numeric("x", x), Column::numeric("y", y)]).unwrap().dataset("y").unwrap();
    assert!(learner.fit(&numbers).is_ok());
}
