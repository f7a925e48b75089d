//! Cross-validation, search and reports, as their users rely on them.

use ermine::evaluate::curves::{learning_curve, validation_curve};
use ermine::evaluate::journal::Journal;
use ermine::evaluate::measure::measures;
use ermine::evaluate::search::{Found, Search, Strategy, nested, search, with_setting};
use ermine::evaluate::space::{Axis, Setting, Space};
use ermine::evaluate::{Measure, Splits, Validation, cross_validate};
use ermine::learner::fit;
use ermine::param::Value;
use ermine::prelude::*;
use ermine::progress::{Control, Event, Observer};
use ermine::registry;
use ermine::report::Report;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A class that follows from two of three numbers, with some noise.
fn classes(n: usize) -> Dataset {
    let word = |i: usize| {
        let (a, b) = (i * 7919 % 101, i * 104_729 % 97);
        Some(if (a > 50) != (b > 48) || i.is_multiple_of(23) { "yes" } else { "no" })
    };
    let column = |name: &str, k: usize, m: usize| {
        Column::numeric(name, (0..n).map(|i| (i * k % m) as f64).collect::<Vec<f64>>())
    };
    let y: Vec<Option<&str>> = (0..n).map(word).collect();
    let columns = vec![column("a", 7919, 101), column("b", 104_729, 97), column("c", 31, 37), Column::nominal("y", &y)];
    Table::new(columns).unwrap().dataset("y").unwrap()
}

fn numbers(n: usize) -> Dataset {
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let (a, b) = ((i * 7919 % 101) as f64, (i * 104_729 % 97) as f64);
            vec![a, b, (a / 10.0).sin() * 5.0 + b / 20.0]
        })
        .collect();
    Table::from_rows(&["a", "b", "y"], &rows).unwrap().dataset("y").unwrap()
}

/// The values of a parameter that are worth trying; of one that finds itself (the rounds of boosting), some.
fn along(learner: &dyn Learner, name: &str) -> Axis {
    let declared = Space::declared(learner).axes().iter().find(|axis| axis.name == name).cloned();
    declared.unwrap_or_else(|| Axis::parse(learner, name, "20..200").unwrap())
}

#[test]
fn a_column_of_noise_that_names_each_row_does_not_leak() {
    // A category for every row: whoever fits target statistics or encoders on all rows, tested ones included, predicts the coin flips.
    let n = 300;
    let mut stream = ermine::rng::stream(1, &[]);
    let flips: Vec<usize> = (0..n).map(|_| ermine::rng::below(&mut stream, 2)).collect();
    let flip = |i: usize| Some(["heads", "tails"][flips[i]]);
    let ids: Vec<Option<String>> = (0..n).map(|i| Some(format!("row {}", i / 2))).collect();
    let y: Vec<Option<&str>> = (0..n).map(flip).collect();
    let data = Table::new(vec![Column::nominal("id", &ids), Column::nominal("y", &y)]).unwrap().dataset("y").unwrap();
    let splits = Splits::k_fold(&data, 5, 0).unwrap();
    let validation = Validation { splits: &splits, measures: &[Measure::Accuracy], train_scores: true };
    for entry in registry::LEARNERS {
        let learner = (entry.make)();
        let Ok(found) = cross_validate(&*learner, &data, &validation, &Context::default()) else { continue };
        let mean = found.scores[0].mean;
        assert!(mean < NO_LEAK, "{}: {mean}", learner.info().name);
        assert_eq!(found.scores[0].train.as_ref().unwrap().len(), 5);
        // The same in a search, where splits share work.
        let Some(path) = learner.path() else { continue };
        let axis = along(&*learner, path.parameter());
        let (strategy, measure, space) = (Strategy::Grid { points: 3 }, Measure::Accuracy, Space::new(vec![axis]));
        let what = Search { learner: &*learner, space: &space, strategy, splits: &splits, measure };
        let found = search(&what, &data, &Context::default(), &mut Journal::none()).unwrap();
        for trial in found.trials.iter().filter(|trial| trial.refused.is_none()) {
            assert!(trial.mean() < NO_LEAK, "{}: {trial:?}", learner.info().name);
        }
    }
    // That the test would catch it: the mean of the target over all rows of an id, the tested ones included, tells the flips.
    let mean = |i: usize| (flips[i / 2 * 2] + flips[i / 2 * 2 + 1]) as f64 / 2.0;
    let leak = Column::numeric("mean of y by id", (0..n).map(mean).collect::<Vec<f64>>());
    let data = Table::new(vec![leak, Column::nominal("y", &y)]).unwrap().dataset("y").unwrap();
    let found = cross_validate(&DecisionTree::default(), &data, &validation, &Context::default()).unwrap();
    assert!(found.scores[0].mean > NO_LEAK + 0.05, "{}", found.scores[0].mean);
}

/// Coin flips are told right more often than this only by who has seen them.
const NO_LEAK: f64 = 0.62;

#[test]
fn every_measure_can_be_told_of_some_task() {
    let (classes, numbers) = (classes(200), numbers(200));
    let (c, r) = (DecisionTree::default().fit(&classes).unwrap(), DecisionTree::default().fit(&numbers).unwrap());
    for measure in measures() {
        assert_eq!(Measure::parse(measure.word()).unwrap(), measure);
        let (model, data) = if measure.measures(Task::Classification) { (&c, &classes) } else { (&r, &numbers) };
        let rows = measure.measures(Task::Classification) || measure.measures(Task::Regression);
        let positive = [Measure::PoissonDeviance, Measure::GammaDeviance, Measure::TweedieDeviance];
        if rows && !positive.contains(&measure) {
            // Trees grown to the end are right about every row they learned from.
            let value = model.measure(data, &[measure]).unwrap()[0];
            let best = if measure.higher_is_better() { 1.0 } else { 0.0 };
            assert!((value - best).abs() < 1e-9, "{measure}: {value}");
        }
        assert!(Task::ALL.iter().any(|task| measure.check(*task).is_ok()), "{measure}");
    }
    assert!(Measure::parse("accurracy").unwrap_err().to_string().contains("accuracy"));
}

#[test]
fn intervals_contain_the_score_and_shrink_with_rows() {
    let width = |n: usize| {
        let data = classes(n);
        let (train, test) = data.split(0.5, 1).unwrap();
        let model = DecisionTree { max_depth: Some(2), ..Default::default() }.fit(&train).unwrap();
        let evaluation = model.evaluate(&test).unwrap();
        assert!(evaluation.scores.len() >= 8, "{evaluation}");
        for s in &evaluation.scores {
            assert!(s.score.low <= s.score.value && s.score.value <= s.score.high, "{s:?}");
        }
        let auc = evaluation.score("ROC AUC").unwrap();
        auc.high - auc.low
    };
    assert!(width(4000) < 0.6 * width(400));
}

fn grid_of_depths(data: &Dataset, space: &Space, journal: &mut Journal, context: &Context<'_>) -> Found {
    let splits = Splits::k_fold(data, 4, 0).unwrap();
    let learner = DecisionTree::default();
    let strategy = Strategy::Grid { points: 4 };
    let what = Search { learner: &learner, space, strategy, splits: &splits, measure: Measure::Accuracy };
    search(&what, data, context, journal).unwrap()
}

fn depths() -> Space {
    Space::new(vec![
        Axis::parse(&DecisionTree::default(), "max_depth", "1,2,3,8").unwrap(),
        Axis::parse(&DecisionTree::default(), "min_samples_leaf", "1..50").unwrap(),
    ])
}

#[test]
fn a_grid_search_finds_what_trying_everything_by_hand_finds() {
    let data = classes(400);
    let (space, context) = (depths(), Context::default());
    let found = grid_of_depths(&data, &space, &mut Journal::none(), &context);
    assert_eq!(found.trials.len(), 16);
    let splits = Splits::k_fold(&data, 4, 0).unwrap();
    let validation = Validation { splits: &splits, measures: &[Measure::Accuracy], train_scores: false };
    let mut best: f64 = 0.0;
    for trial in &found.trials {
        let learner = with_setting(&DecisionTree::default(), &trial.setting, &context).unwrap();
        let by_hand = cross_validate(&*learner, &data, &validation, &context).unwrap();
        assert_eq!(by_hand.scores[0].folds, trial.folds);
        best = best.max(by_hand.scores[0].mean);
    }
    assert_eq!(found.trials[found.best.unwrap()].mean(), best);
    assert!(best > 0.9, "{best}");
}

/// Stops after so many events.
struct Impatient(AtomicUsize);

impl Observer for Impatient {
    fn event(&self, _: &Event<'_>) -> Control {
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_ok() { Control::Continue } else { Control::Stop }
    }
}

#[test]
fn a_search_that_was_stopped_goes_on_from_its_journal_to_the_same_end() {
    let data = classes(300);
    let space = depths();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("search.journal");
    let _ = std::fs::remove_file(&path);
    let splits = Splits::k_fold(&data, 4, 0).unwrap();
    let learner = DecisionTree::default();
    let what = |measure| Search {
        learner: &learner,
        space: &space,
        strategy: Strategy::Grid { points: 4 },
        splits: &splits,
        measure,
    };
    let open = |measure| Journal::open(&path, &what(measure), &data, 0);
    let whole = search(&what(Measure::Accuracy), &data, &Context::default(), &mut Journal::none()).unwrap();

    let watcher = Impatient(AtomicUsize::new(20));
    let context = Context { observer: &watcher, ..Default::default() };
    let part = search(&what(Measure::Accuracy), &data, &context, &mut open(Measure::Accuracy).unwrap()).unwrap();
    assert!(part.stopped && !part.trials.is_empty() && part.trials.len() < whole.trials.len());

    // A line that was cut off while it was written.
    std::fs::write(&path, [std::fs::read(&path).unwrap(), b"{\"setting\":{\"max".to_vec()].concat()).unwrap();
    let mut journal = open(Measure::Accuracy).unwrap();
    assert_eq!(journal.len(), part.trials.len());
    let resumed = search(&what(Measure::Accuracy), &data, &Context::default(), &mut journal).unwrap();
    let told = |found: &Found| -> Vec<(Setting, Vec<f64>)> {
        found.trials.iter().map(|t| (t.setting.clone(), t.folds.clone())).collect()
    };
    assert_eq!((told(&resumed), resumed.best, resumed.stopped), (told(&whole), whole.best, false));
    assert_eq!(open(Measure::Accuracy).unwrap().len(), whole.trials.len());

    let other = open(Measure::MacroF1).map(|_| ()).unwrap_err().to_string();
    assert!(other.contains("another search"), "{other}");
    std::fs::write(&path, "not a journal\n").unwrap();
    assert!(open(Measure::Accuracy).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"not a journal\n");
}

#[test]
fn halving_tries_many_on_few_rows_and_one_on_all() {
    let data = classes(1500);
    let splits = Splits::k_fold(&data, 3, 0).unwrap();
    let learner = DecisionTree::default();
    let space = Space::declared(&learner);
    let what = Search {
        learner: &learner,
        space: &space,
        strategy: Strategy::Halving { trials: 9 },
        splits: &splits,
        measure: Measure::Accuracy,
    };
    let found = search(&what, &data, &Context::default(), &mut Journal::none()).unwrap();
    let settings = |rows: Option<usize>| {
        let of = |s: &Setting| {
            s.iter().filter(|(n, _)| *n != "ccp_alpha").map(|(n, v)| (n.clone(), v.to_string())).collect::<Vec<_>>()
        };
        found
            .trials
            .iter()
            .filter(|t| t.rows == rows)
            .map(|t| of(&t.setting))
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    assert_eq!((settings(Some(111)), settings(Some(333)), settings(None)), (9, 3, 1));
    assert!(found.trials[found.best.unwrap()].mean() > 0.85);
}

#[test]
fn random_search_is_at_least_as_good_as_the_defaults_and_a_bad_setting_is_no_end() {
    let data = numbers(300);
    let splits = Splits::holdout(&data, 0.3, 0).unwrap();
    let learner = DecisionTree { max_depth: Some(2), ..Default::default() };
    // Criteria for classes among those tried for numbers.
    let space = Space::declared(&learner);
    let strategy = Strategy::Random { trials: 12 };
    let what = Search { learner: &learner, space: &space, strategy, splits: &splits, measure: Measure::Rmse };
    let found = search(&what, &data, &Context::default(), &mut Journal::none()).unwrap();
    let best = &found.trials[found.best.unwrap()];
    assert!(found.trials[0].setting.keys().all(|name| name == "ccp_alpha"));
    assert!(best.mean() <= found.trials[0].mean());
    assert!(found.trials.iter().any(|t| t.refused.is_some()) && best.refused.is_none());
    let again =
        search(&what, &data, &Context { threads: Some(1), ..Default::default() }, &mut Journal::none()).unwrap();
    assert_eq!(again.best, found.best);
}

#[test]
fn a_path_predicts_what_separate_fits_predict() {
    let (classes, numbers) = (classes(300), numbers(300));
    let mut n_paths = 0;
    for entry in registry::LEARNERS {
        let learner = (entry.make)();
        let Some(path) = learner.path() else { continue };
        n_paths += 1;
        let spec = learner.specs().into_iter().find(|s| s.name == path.parameter()).unwrap();
        let values: Vec<Value> = along(&*learner, spec.name).points(5);
        for data in [&classes, &numbers] {
            if fit::check(&*learner, data).is_err() {
                continue;
            }
            let context = Context { seed: 3, ..Default::default() };
            let (train, test) = data.split(0.7, 5).unwrap();
            let predictions = fit::predict_path(&*learner, &values, &train, &test, &context).unwrap();
            for (value, predicted) in values.iter().zip(&predictions) {
                let setting = Setting::from([(spec.name.to_string(), value.clone())]);
                let alone = fit(&*with_setting(&*learner, &setting, &context).unwrap(), &train, &context).unwrap();
                let alone = alone.predict_data(&test).unwrap();
                // Solvers that begin where they ended before agree within their tolerance.
                let within = match entry.info().name {
                    "svc" | "lasso" | "elastic-net" => 5e-3,
                    _ => 0.0,
                };
                let far = predicted.values().iter().zip(alone.values()).find(|(a, b)| (*a - *b).abs() > within);
                assert_eq!(far, None, "{} {} = {value}", entry.info().name, spec.name);
                assert_eq!(predicted.values().len(), alone.values().len());
            }
        }
    }
    assert!(n_paths >= 7, "{n_paths}");
}

#[test]
fn what_splits_share_changes_nothing() {
    // Two classes in 60 columns (a kernel worth keeping) and in 2 (neighbours), folds and repeated folds (which share nothing).
    let mut stream = ermine::rng::stream(5, &[]);
    let mut wide = |n: usize, d: usize| {
        let mut columns: Vec<Column> = (0..d)
            .map(|j| {
                let numbers: Vec<f64> =
                    (0..n).map(|_| (ermine::rng::uniform(&mut stream) * 8.0).round() / 4.0).collect();
                Column::numeric(format!("x{j}"), numbers)
            })
            .collect();
        let (a, b) = (columns[0].numbers(None), columns[1].numbers(None));
        let word = |i: usize| Some(if a[i] + b[i] > 2.0 || i.is_multiple_of(17) { "yes" } else { "no" });
        columns.push(Column::nominal("y", &(0..n).map(word).collect::<Vec<_>>()));
        Table::new(columns).unwrap().dataset("y").unwrap()
    };
    let set = |name: &str, params: &[(&str, Value)]| {
        let mut learner = registry::learner(name).unwrap();
        params.iter().for_each(|(name, value)| learner.set(name, value).unwrap());
        learner
    };
    let text = |word: &str| Value::Text(word.into());
    let ks = || [1, 4, 9, 200].map(Value::Int).to_vec();
    let cases = [
        (
            wide(240, 60),
            set("svc", &[("gamma", Value::Float(0.02))]),
            [0.1, 1.0, 30.0].map(Value::Float).to_vec(),
            true,
        ),
        (wide(240, 60), set("svc", &[]), [0.1, 1.0, 30.0].map(Value::Float).to_vec(), false),
        (wide(240, 2), set("nearest-neighbors", &[]), ks(), true),
        (
            wide(700, 3),
            set("nearest-neighbors", &[("weights", text("distance")), ("tie", text("distance"))]),
            ks(),
            true,
        ),
        (wide(240, 2), set("nearest-neighbors", &[("standardize", Value::Bool(true))]), ks(), false),
        (wide(240, 2), set("nearest-neighbors", &[("tie", text("next_point"))]), ks(), false),
    ];
    for (data, learner, values, shares) in cases {
        let context = Context::default();
        for splits in [
            Splits::k_fold(&data, 4, 1).unwrap(),
            Splits::leave_one_out(&data.select(&(0..60).collect::<Vec<_>>()).unwrap()).unwrap(),
        ] {
            let data = if splits.len() > 4 { data.select(&(0..60).collect::<Vec<_>>()).unwrap() } else { data.clone() };
            let found = fit::predict_splits(&*learner, &values, &data, &splits, &context).unwrap();
            assert_eq!(found.is_some(), shares, "{}", learner.info().name);
            let Some(found) = found else { continue };
            for (index, predicted) in found.iter().enumerate() {
                let (train, test) = splits.split(index);
                let (train, test) = (data.select(&train).unwrap(), data.select(&test).unwrap());
                let alone = fit::predict_path(&*learner, &values, &train, &test, &context).unwrap();
                let within = if learner.info().name == "svc" { 5e-3 } else { 0.0 };
                for (a, b) in predicted.iter().zip(&alone) {
                    let far = a.values().iter().zip(b.values()).find(|(a, b)| (*a - *b).abs() > within);
                    assert_eq!((far, a.output(), a.values().len()), (None, b.output(), b.values().len()));
                }
            }
        }
    }
}

#[test]
fn nested_search_tests_on_rows_that_no_search_has_seen() {
    let data = classes(200);
    let space = Space::new(vec![Axis::parse(&DecisionTree::default(), "max_depth", "1,4").unwrap()]);
    let outer = Splits::k_fold(&data, 3, 0).unwrap();
    let learner = DecisionTree::default();
    let strategy = Strategy::Grid { points: 2 };
    let what = Search { learner: &learner, space: &space, strategy, splits: &outer, measure: Measure::Accuracy };
    let inner = |train: &Dataset| Splits::k_fold(train, 3, 1);
    let (score, settings) = nested(&what, &outer, inner, &data, &Context::default()).unwrap();
    assert_eq!((score.folds.len(), settings.len()), (3, 3));
    for (index, setting) in settings.iter().enumerate() {
        let (train, test) = outer.split(index);
        let learner = with_setting(&learner, setting, &Context::default()).unwrap();
        let model = fit(&*learner, &data.select(&train).unwrap(), &Context::default()).unwrap();
        assert_eq!(model.measure(&data.select(&test).unwrap(), &[Measure::Accuracy]).unwrap()[0], score.folds[index]);
    }
}

#[test]
fn curves_show_learning_by_heart() {
    let data = classes(400);
    let splits = Splits::k_fold(&data, 4, 0).unwrap();
    let validation = Validation { splits: &splits, measures: &[Measure::Accuracy], train_scores: false };
    let (learner, context) = (DecisionTree::default(), Context::default());
    let curve = learning_curve(&learner, &data, &validation, &[0.1, 0.5, 1.0], &context).unwrap();
    assert_eq!(curve.iter().map(|p| p.at.clone()).collect::<Vec<_>>(), [30, 150, 300].map(Value::Int));
    let tested: Vec<f64> = curve.iter().map(|p| p.score.mean).collect();
    assert!(tested[0] < tested[2] && curve.iter().all(|p| p.score.train.as_ref().unwrap().iter().all(|&s| s == 1.0)));
    let whole = cross_validate(&learner, &data, &validation, &context).unwrap();
    assert_eq!(whole.scores[0].folds, curve[2].score.folds, "all rows: the same as cross-validation");
    assert!(learning_curve(&learner, &data, &validation, &[0.0], &context).is_err());

    let depths = [1, 3, 12].map(Value::Int);
    let curve = validation_curve(&learner, &data, &validation, "max_depth", &depths, &context).unwrap();
    let train: Vec<f64> = curve.iter().map(|p| p.score.train.as_ref().unwrap().iter().sum::<f64>()).collect();
    assert!(train[0] < train[1] && train[1] < train[2]);
    assert!(validation_curve(&learner, &data, &validation, "depth", &depths, &context).is_err());
}

#[test]
fn spaces_say_what_is_wrong() {
    let learner = DecisionTree::default();
    let message = |name: &str, text: &str| Axis::parse(&learner, name, text).unwrap_err().to_string();
    assert!(message("max_dept", "1,2").contains("max_depth"));
    assert!(message("max_depth", "0,2").contains("at least 1"));
    assert!(message("max_depth", "9..2").contains("LOW..HIGH"));
    assert!(message("criterion", "gini,funny").contains("funny"));
}

#[test]
fn a_report_says_everything_as_text_as_a_page_and_as_json() {
    for data in [classes(600), numbers(600)] {
        let (train, test) = data.split(0.5, 1).unwrap();
        let model = DecisionTree { max_depth: Some(4), ..Default::default() }.fit(&train).unwrap();
        let report = Report::new(&model, &test, 0, &ermine::progress::Silent).unwrap();
        assert_eq!(report.importances.len(), data.features().n_columns());
        assert!(!report.dependences.is_empty() && !report.worst.is_empty());
        let (text, page) = (report.to_string(), report.html());
        for part in ["Scores", "Importances", "Worst rows", "Certificate"] {
            assert!(text.contains(part), "{text}");
        }
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n") && !page.contains("NaN"));
        assert!(
            !page.contains("http")
                || page.matches("http").count() == page.matches("http://www.w3.org/2000/svg").count()
        );
        let json: serde_json::Value = serde_json::to_value(&report).unwrap();
        assert_eq!(json["evaluation"]["n_rows"], 300);
    }
}

#[test]
fn reports_of_labels_and_of_rankings_say_what_is_worst() {
    let n = 240;
    let number = |k: usize, m: usize| (0..n).map(|i| (i * k % m) as f64).collect::<Vec<f64>>();
    let marked = |i: usize, at: usize| f64::from(u8::from(i * 7919 % 101 > at || i.is_multiple_of(13)));
    let mark = |at: usize| (0..n).map(|i| marked(i, at)).collect::<Vec<f64>>();
    let columns = |more: Vec<Column>| {
        [vec![Column::numeric("a", number(7919, 101)), Column::numeric("b", number(31, 37))], more].concat()
    };
    let labels =
        Table::new(columns(vec![Column::numeric("high", mark(50)), Column::numeric("low", mark(20))])).unwrap();
    let target = vec!["high".into(), "low".into()];
    let roles = Roles { target, task: Some(Task::Multilabel), ..Default::default() };
    let labels = Dataset::new(labels, &roles).unwrap();
    let grades = Column::numeric("y", (0..n).map(|i| (i * 7919 % 101 / 34) as f64).collect::<Vec<f64>>());
    let query = Column::numeric("q", (0..n).map(|i| (i / 12) as f64).collect::<Vec<f64>>());
    let roles =
        Roles { target: vec!["y".into()], group: Some("q".into()), task: Some(Task::Ranking), ..Default::default() };
    let ranking = Dataset::new(Table::new(columns(vec![grades, query])).unwrap(), &roles).unwrap();
    for (data, learner) in [(labels, "decision-tree"), (ranking, "gradient-boosting")] {
        let splits = Splits::k_fold(&data, 2, 0).unwrap();
        let (train, test) = splits.split(0);
        let (train, test) = (data.select(&train).unwrap(), data.select(&test).unwrap());
        let mut learner = registry::learner(learner).unwrap();
        let few = if learner.get("n_estimators").is_some() { ("n_estimators", 3) } else { ("max_depth", 1) };
        learner.set(few.0, &Value::Int(few.1)).unwrap();
        let context = Context::default();
        let model = fit(&*learner, &train, &context).unwrap();
        let report = Report::new(&model, &test, 0, &ermine::progress::Silent).unwrap();
        assert!(!report.worst.is_empty() && report.evaluation.scores.len() >= 4, "{report}");
        let report = report.with_learning_curve(&model, &train, &test, &context).unwrap();
        assert_eq!(report.learning.last().unwrap().at, Value::Int(train.n_rows() as i64));
        let whole = model.measure(&test, &[Measure::headline(data.task(), None)[0]]).unwrap()[0];
        assert_eq!(report.learning.last().unwrap().score.mean, whole, "all rows: the model itself");
        let (text, page) = (report.to_string(), report.html());
        assert!(
            text.contains("Worst rows") && text.contains("Learning curve") && page.contains("Would more rows help?")
        );
        let words: &[&str] =
            if data.task() == Task::Multilabel { &["Labels", "wrong labels"] } else { &["query", "NDCG@10"] };
        words.iter().for_each(|word| assert!(page.contains(word), "{word}"));
    }
}

#[test]
fn listed_settings_are_tried_as_they_are_and_those_of_a_path_together() {
    let data = classes(200);
    let setting = |alpha: f64, depth: i64| {
        let values = [("ccp_alpha".to_string(), Value::Float(alpha)), ("max_depth".to_string(), Value::Int(depth))];
        Setting::from(values)
    };
    let listed = vec![setting(0.0, 2), setting(0.0, 5), setting(0.02, 2), setting(0.1, 5)];
    let parts = vec![((0..120).collect(), (120..200).collect()), ((80..200).collect(), (0..80).collect())];
    let splits = Splits::given(&data, parts.clone()).unwrap();
    let (space, learner) = (Space::of_settings(listed.clone()), DecisionTree::default());
    let (strategy, measure) = (Strategy::Listed, Measure::Accuracy);
    let what = Search { learner: &learner, space: &space, strategy, splits: &splits, measure };
    let found = search(&what, &data, &Context::default(), &mut Journal::none()).unwrap();
    assert_eq!(found.trials.len(), 4);
    for trial in &found.trials {
        assert!(listed.contains(&trial.setting));
        let learner = with_setting(&learner, &trial.setting, &Context::default()).unwrap();
        for ((train, test), score) in parts.iter().zip(&trial.folds) {
            let model = fit(&*learner, &data.select(train).unwrap(), &Context::default()).unwrap();
            assert_eq!(model.measure(&data.select(test).unwrap(), &[measure]).unwrap()[0], *score);
        }
    }
    for bad in [vec![], vec![(vec![0], vec![])], vec![(vec![0], vec![200])]] {
        assert!(Splits::given(&data, bad).is_err());
    }
}
