//! Cross-validation, search and reports, as their users rely on them.

use ermine::prelude::*;
use ermine::registry;
use ermine_core::learner::fit;
use ermine_core::measure::measures;
use ermine_core::param::Value;
use ermine_core::progress::{Control, Event, Observer};
use ermine_eval::evaluate::curves::{TrainSizes, learning_curve, validation_curve};
use ermine_eval::evaluate::journal::Journal;
use ermine_eval::evaluate::search::{HyperparameterSearch, SearchResult, Strategy, nested, search, with_setting};
use ermine_eval::evaluate::space::{SearchAxis, SearchSpace, Setting};
use ermine_eval::evaluate::{Measure, Splits, Validation, cross_validate};
use ermine_eval::report::Report;
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
fn along(learner: &dyn Learner, name: &str) -> SearchAxis {
    let declared = SearchSpace::declared(learner).axes().iter().find(|axis| axis.name == name).cloned();
    declared.unwrap_or_else(|| SearchAxis::parse(learner, name, "20..200").unwrap())
}

#[test]
fn a_random_id_column_does_not_leak() {
    // A category for every row: whoever fits target statistics or encoders on all rows, tested ones included, predicts the coin flips.
    let n = 300;
    let mut stream = ermine_core::rng::stream(1, &[]);
    let flips: Vec<usize> = (0..n).map(|_| ermine_core::rng::below(&mut stream, 2)).collect();
    let flip = |i: usize| Some(["heads", "tails"][flips[i]]);
    let ids: Vec<Option<String>> = (0..n).map(|i| Some(format!("row {}", i / 2))).collect();
    let y: Vec<Option<&str>> = (0..n).map(flip).collect();
    let data = Table::new(vec![Column::nominal("id", &ids), Column::nominal("y", &y)]).unwrap().dataset("y").unwrap();
    let splits = Splits::k_fold(&data, 5, 0).unwrap();
    let validation =
        Validation { splits: &splits, measures: &[Measure::Accuracy], train_scores: true, pool: true, custom: &[] };
    for entry in registry::learners() {
        let learner = crate::made(entry);
        let Ok(found) = cross_validate(&*learner, &data, &validation, &ermine::context()) else { continue };
        let mean = found.scores[0].mean;
        assert!(mean < NO_LEAK, "{}: {mean}", learner.info().name);
        assert_eq!(found.scores[0].train.as_ref().unwrap().len(), 5);
        // The same in a search, where splits share work.
        let Some(path) = learner.path() else { continue };
        let axis = along(&*learner, path.parameter());
        let (strategy, measure, space) =
            (Strategy::Grid { points: 3 }, Measure::Accuracy, SearchSpace::new(vec![axis]));
        let what =
            HyperparameterSearch { learner: &*learner, space: &space, strategy, splits: &splits, measure, pool: true };
        let found = search(&what, &data, &ermine::context(), &mut Journal::none()).unwrap();
        for trial in found.trials.iter().filter(|trial| trial.error.is_none()) {
            assert!(trial.mean() < NO_LEAK, "{}: {trial:?}", learner.info().name);
        }
    }
    // That the test would catch it: the mean of the target over all rows of an id, the tested ones included, tells the flips.
    let mean = |i: usize| (flips[i / 2 * 2] + flips[i / 2 * 2 + 1]) as f64 / 2.0;
    let leak = Column::numeric("mean of y by id", (0..n).map(mean).collect::<Vec<f64>>());
    let data = Table::new(vec![leak, Column::nominal("y", &y)]).unwrap().dataset("y").unwrap();
    let found = cross_validate(&DecisionTree::default(), &data, &validation, &ermine::context()).unwrap();
    assert!(found.scores[0].mean > NO_LEAK + 0.05, "{}", found.scores[0].mean);
}

/// Coin flips are told right more often than this only by who has seen them.
const NO_LEAK: f64 = 0.62;

#[test]
fn every_metric_is_defined_for_some_task() {
    let (classes, numbers) = (classes(200), numbers(200));
    let (c, r) = (DecisionTree::default().fit(&classes).unwrap(), DecisionTree::default().fit(&numbers).unwrap());
    for measure in measures() {
        assert_eq!(Measure::parse(measure.as_str()).unwrap(), measure);
        let (model, data) = if measure.measures(Task::Classification) { (&c, &classes) } else { (&r, &numbers) };
        let rows = measure.measures(Task::Classification) || measure.measures(Task::Regression);
        let positive = [Measure::PoissonDeviance, Measure::GammaDeviance, Measure::TweedieDeviance, Measure::Rmsle];
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

fn grid_of_depths(data: &Dataset, space: &SearchSpace, journal: &mut Journal, context: &Context<'_>) -> SearchResult {
    let splits = Splits::k_fold(data, 4, 0).unwrap();
    let learner = DecisionTree::default();
    let strategy = Strategy::Grid { points: 4 };
    let what = HyperparameterSearch {
        learner: &learner,
        space,
        strategy,
        splits: &splits,
        measure: Measure::Accuracy,
        pool: true,
    };
    search(&what, data, context, journal).unwrap()
}

fn depths() -> SearchSpace {
    SearchSpace::new(vec![
        SearchAxis::parse(&DecisionTree::default(), "max_depth", "1,2,3,8").unwrap(),
        SearchAxis::parse(&DecisionTree::default(), "min_samples_leaf", "1..50").unwrap(),
    ])
}

#[test]
fn a_grid_search_finds_what_trying_everything_by_hand_finds() {
    let data = classes(400);
    let (space, context) = (depths(), ermine::context());
    let found = grid_of_depths(&data, &space, &mut Journal::none(), &context);
    assert_eq!(found.trials.len(), 16);
    let splits = Splits::k_fold(&data, 4, 0).unwrap();
    let validation =
        Validation { splits: &splits, measures: &[Measure::Accuracy], train_scores: false, pool: true, custom: &[] };
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
fn a_stopped_search_resumes_from_its_journal_to_the_same_result() {
    let data = classes(300);
    let space = depths();
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("search.journal");
    let _ = std::fs::remove_file(&path);
    let splits = Splits::k_fold(&data, 4, 0).unwrap();
    let learner = DecisionTree::default();
    let what = |measure| HyperparameterSearch {
        learner: &learner,
        space: &space,
        strategy: Strategy::Grid { points: 4 },
        splits: &splits,
        measure,
        pool: true,
    };
    let open = |measure| Journal::open(&path, &what(measure), &data, 0);
    let whole = search(&what(Measure::Accuracy), &data, &ermine::context(), &mut Journal::none()).unwrap();

    let watcher = Impatient(AtomicUsize::new(20));
    let context = Context { observer: &watcher, ..ermine::context() };
    let part = search(&what(Measure::Accuracy), &data, &context, &mut open(Measure::Accuracy).unwrap()).unwrap();
    assert!(part.stopped && !part.trials.is_empty() && part.trials.len() < whole.trials.len());

    // A line that was cut off while it was written.
    std::fs::write(&path, [std::fs::read(&path).unwrap(), b"{\"setting\":{\"max".to_vec()].concat()).unwrap();
    let mut journal = open(Measure::Accuracy).unwrap();
    assert_eq!(journal.len(), part.trials.len());
    let resumed = search(&what(Measure::Accuracy), &data, &ermine::context(), &mut journal).unwrap();
    let told = |found: &SearchResult| -> Vec<(Setting, Vec<f64>)> {
        found.trials.iter().map(|t| (t.setting.clone(), t.folds.clone())).collect()
    };
    assert_eq!((told(&resumed), resumed.best, resumed.stopped), (told(&whole), whole.best, false));
    // Only one search at a time may have it open.
    assert!(open(Measure::Accuracy).is_err());
    drop(journal);
    assert_eq!(open(Measure::Accuracy).unwrap().len(), whole.trials.len());

    let other = open(Measure::MacroF1).map(|_| ()).unwrap_err().to_string();
    assert!(other.contains("another search"), "{other}");
    std::fs::write(&path, "not a journal\n").unwrap();
    assert!(open(Measure::Accuracy).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"not a journal\n");
}

#[test]
fn successive_halving_tries_many_settings_on_few_rows_and_one_on_all() {
    let data = classes(1500);
    let splits = Splits::k_fold(&data, 3, 0).unwrap();
    let learner = DecisionTree::default();
    let space = SearchSpace::declared(&learner);
    let what = HyperparameterSearch {
        learner: &learner,
        space: &space,
        strategy: Strategy::Halving { trials: 9, factor: 3 },
        splits: &splits,
        measure: Measure::Accuracy,
        pool: true,
    };
    let found = search(&what, &data, &ermine::context(), &mut Journal::none()).unwrap();
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
fn random_search_is_no_worse_than_defaults_and_survives_failed_settings() {
    let data = numbers(300);
    let splits = Splits::holdout(&data, 0.3, 0).unwrap();
    let learner = DecisionTree { max_depth: Some(2), ..Default::default() };
    // Criteria for classes among those tried for numbers.
    let space = SearchSpace::declared(&learner);
    let strategy = Strategy::Random { trials: 12 };
    let what = HyperparameterSearch {
        learner: &learner,
        space: &space,
        strategy,
        splits: &splits,
        measure: Measure::Rmse,
        pool: true,
    };
    let found = search(&what, &data, &ermine::context(), &mut Journal::none()).unwrap();
    let best = &found.trials[found.best.unwrap()];
    assert!(found.trials[0].setting.keys().all(|name| name == "ccp_alpha"));
    assert!(best.mean() <= found.trials[0].mean());
    assert!(found.trials.iter().any(|t| t.error.is_some()) && best.error.is_none());
    let again = search(&what, &data, &Context { threads: Some(1), ..ermine::context() }, &mut Journal::none()).unwrap();
    assert_eq!(again.best, found.best);
}

#[test]
fn a_path_predicts_what_separate_fits_predict() {
    let (classes, numbers) = (classes(300), numbers(300));
    let mut n_paths = 0;
    for entry in registry::learners() {
        let learner = crate::made(entry);
        let Some(path) = learner.path() else { continue };
        n_paths += 1;
        let spec = learner.specs().into_iter().find(|s| s.name == path.parameter()).unwrap();
        let values: Vec<Value> = along(&*learner, spec.name).points(5);
        for data in [&classes, &numbers] {
            if fit::check(&*learner, data).is_err() {
                continue;
            }
            let context = Context { seed: 3, ..ermine::context() };
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
fn sharing_work_between_splits_changes_nothing() {
    // Two classes in 60 columns (a kernel worth keeping) and in 2 (neighbors), folds and repeated folds (which share nothing).
    let mut stream = ermine_core::rng::stream(5, &[]);
    let mut wide = |n: usize, d: usize| {
        let mut columns: Vec<Column> = (0..d)
            .map(|j| {
                let numbers: Vec<f64> =
                    (0..n).map(|_| (ermine_core::rng::uniform(&mut stream) * 8.0).round() / 4.0).collect();
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
        let context = ermine::context();
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
fn nested_search_is_tested_on_rows_outside_the_search() {
    let data = classes(200);
    let space = SearchSpace::new(vec![SearchAxis::parse(&DecisionTree::default(), "max_depth", "1,4").unwrap()]);
    let outer = Splits::k_fold(&data, 3, 0).unwrap();
    let learner = DecisionTree::default();
    let strategy = Strategy::Grid { points: 2 };
    let what = HyperparameterSearch {
        learner: &learner,
        space: &space,
        strategy,
        splits: &outer,
        measure: Measure::Accuracy,
        pool: true,
    };
    let inner = |train: &Dataset| Splits::k_fold(train, 3, 1);
    let (score, settings) = nested(&what, &outer, inner, &data, &ermine::context()).unwrap();
    assert_eq!((score.folds.len(), settings.len()), (3, 3));
    for (index, setting) in settings.iter().enumerate() {
        let (train, test) = outer.split(index);
        let learner = with_setting(&learner, setting, &ermine::context()).unwrap();
        let model = fit(&*learner, &data.select(&train).unwrap(), &ermine::context()).unwrap();
        assert_eq!(model.measure(&data.select(&test).unwrap(), &[Measure::Accuracy]).unwrap()[0], score.folds[index]);
    }
}

#[test]
fn learning_curves_show_overfitting() {
    let data = classes(400);
    let splits = Splits::k_fold(&data, 4, 0).unwrap();
    let validation =
        Validation { splits: &splits, measures: &[Measure::Accuracy], train_scores: false, pool: true, custom: &[] };
    let (learner, context) = (DecisionTree::default(), ermine::context());
    let curve =
        learning_curve(&learner, &data, &validation, TrainSizes::Fractions(&[0.1, 0.5, 1.0]), &context).unwrap();
    assert_eq!(curve.iter().map(|p| p.at.clone()).collect::<Vec<_>>(), [30, 150, 300].map(Value::Int));
    let tested: Vec<f64> = curve.iter().map(|p| p.score.mean).collect();
    assert!(tested[0] < tested[2] && curve.iter().all(|p| p.score.train.as_ref().unwrap().iter().all(|&s| s == 1.0)));
    let whole = cross_validate(&learner, &data, &validation, &context).unwrap();
    assert_eq!(whole.scores[0].folds, curve[2].score.folds, "all rows: the same as cross-validation");
    assert!(learning_curve(&learner, &data, &validation, TrainSizes::Fractions(&[0.0]), &context).is_err());

    let depths = [1, 3, 12].map(Value::Int);
    let curve = validation_curve(&learner, &data, &validation, "max_depth", &depths, &context).unwrap();
    let train: Vec<f64> = curve.iter().map(|p| p.score.train.as_ref().unwrap().iter().sum::<f64>()).collect();
    assert!(train[0] < train[1] && train[1] < train[2]);
    assert!(validation_curve(&learner, &data, &validation, "depth", &depths, &context).is_err());
}

#[test]
fn invalid_search_spaces_are_explained() {
    let learner = DecisionTree::default();
    let message = |name: &str, text: &str| SearchAxis::parse(&learner, name, text).unwrap_err().to_string();
    assert!(message("max_dept", "1,2").contains("max_depth"));
    assert!(message("max_depth", "0,2").contains("at least 1"));
    assert!(message("max_depth", "9..2").contains("LOW..HIGH"));
    assert!(message("criterion", "gini,funny").contains("funny"));
    for empty in ["", " ", "1,,2", "3,"] {
        assert!(message("max_depth", empty).contains("separated by commas"), "{empty:?}");
    }
}

#[test]
fn a_report_is_complete_as_text_html_and_json() {
    for data in [classes(600), numbers(600)] {
        let (train, test) = data.split(0.5, 1).unwrap();
        let model = DecisionTree { max_depth: Some(4), ..Default::default() }.fit(&train).unwrap();
        let report = Report::new(&model, &test, 0, &ermine_core::progress::Silent).unwrap();
        assert_eq!(report.importances.len(), data.features().n_columns());
        assert!(!report.dependences.is_empty() && !report.worst.is_empty());
        let report = report.with_learning_curve(&model, &train, &test, &ermine::context()).unwrap();
        let (text, page) = (report.to_string(), report.html());
        // What the report has, its text and its page have, under these names.
        let is_class = data.task() == Task::Classification;
        let both = [
            ("Scores", "Scores", true),
            ("Confusion matrix", "Classes", is_class),
            ("ROC curve", "ROC curve", is_class),
            ("Precision-recall curve", "Precision-recall curve", is_class),
            ("Calibration", "Calibration curve", is_class),
            ("True against predicted values", "True against predicted values", !is_class),
            ("Residuals", "Residuals", !is_class),
            ("Distribution of residuals", "Distribution of residuals", !is_class),
            ("Learning curve", "Learning curve", true),
            ("Permutation importances", "Feature importances", true),
            ("Partial dependence on a", "with the column set to this value in every row", true),
            ("Worst predictions", "Worst predictions", true),
            ("Columns", "Columns", true),
            ("Model", "Model", true),
            ("max_depth = 4", "max_depth = 4", true),
            ("Certificate", "Certificate", true),
        ];
        for (in_text, on_page, there) in both {
            assert_eq!((text.contains(in_text), page.contains(on_page)), (there, there), "{in_text}\n{text}");
        }
        // The tree itself, and nothing that nobody knows.
        assert!(text.contains(report.model.lines().nth(1).unwrap().trim()), "{text}");
        assert!(!text.contains("others") && !page.contains(" others.") && !text.contains("has not seen"));
        assert!(text.contains("evaluated on 300 rows") && page.contains("evaluated on 300 rows"));
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n") && !page.contains("NaN"));
        assert!(
            !page.contains("http")
                || page.matches("http").count() == page.matches("http://www.w3.org/2000/svg").count()
        );
        let json: serde_json::Value = serde_json::to_value(&report).unwrap();
        assert_eq!(json["evaluation"]["n_rows"], 300);
        for part in ["learning", "importances", "dependences", "worst", "columns"] {
            assert!(!json[part].as_array().unwrap().is_empty(), "{part}");
        }
        assert!(json["model"].is_string() && json["certificate"]["objective"].is_string());
    }
}

#[test]
fn multilabel_and_ranking_reports_list_the_worst_rows() {
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
        let context = ermine::context();
        let model = fit(&*learner, &train, &context).unwrap();
        let report = Report::new(&model, &test, 0, &ermine_core::progress::Silent).unwrap();
        assert!(!report.worst.is_empty() && report.evaluation.scores.len() >= 4, "{report}");
        let report = report.with_learning_curve(&model, &train, &test, &context).unwrap();
        assert_eq!(report.learning.last().unwrap().at, Value::Int(train.n_rows() as i64));
        let whole = model.measure(&test, &[Measure::headline(data.task(), None)[0]]).unwrap()[0];
        assert_eq!(report.learning.last().unwrap().score.mean, whole, "all rows: the model itself");
        let (text, page) = (report.to_string(), report.html());
        assert!(text.contains("Worst") && text.contains("Learning curve") && page.contains("Learning curve"));
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
    let splits = Splits::from_indices(&data, parts.clone()).unwrap();
    let (space, learner) = (SearchSpace::of_settings(listed.clone()), DecisionTree::default());
    let (strategy, measure) = (Strategy::Listed, Measure::Accuracy);
    let what =
        HyperparameterSearch { learner: &learner, space: &space, strategy, splits: &splits, measure, pool: true };
    let found = search(&what, &data, &ermine::context(), &mut Journal::none()).unwrap();
    assert_eq!(found.trials.len(), 4);
    for trial in &found.trials {
        assert!(listed.contains(&trial.setting));
        let learner = with_setting(&learner, &trial.setting, &ermine::context()).unwrap();
        for ((train, test), score) in parts.iter().zip(&trial.folds) {
            let model = fit(&*learner, &data.select(train).unwrap(), &ermine::context()).unwrap();
            assert_eq!(model.measure(&data.select(test).unwrap(), &[measure]).unwrap()[0], *score);
        }
    }
    for bad in [vec![], vec![(vec![0], vec![])], vec![(vec![0], vec![200])]] {
        assert!(Splits::from_indices(&data, bad).is_err());
    }
}

/// What a model of all other rows says about each row, stacked by hand.
fn left_out(learner: &dyn Learner, data: &Dataset) -> Vec<ermine_core::model::Prediction> {
    let splits = Splits::leave_one_out(data).unwrap();
    let said = |index: usize| {
        let (train, test) = splits.split(index);
        let model = fit(learner, &data.select(&train).unwrap(), &ermine::context()).unwrap();
        model.predict_data(&data.select(&test).unwrap()).unwrap()
    };
    (0..splits.len()).map(said).collect()
}

#[test]
fn leave_one_out_pools_scores_undefined_for_one_row() {
    let tree = DecisionTree { max_depth: Some(3), ..Default::default() };
    for data in [classes(60), numbers(60)] {
        let splits = Splits::leave_one_out(&data).unwrap();
        let measures = Measure::defaults(data.task());
        let validation = Validation { splits: &splits, measures, train_scores: true, pool: true, custom: &[] };
        let found = cross_validate(&tree, &data, &validation, &ermine::context()).unwrap();
        let (said, apart) = (left_out(&tree, &data), Validation { pool: false, ..validation });
        let whole = ermine_core::model::Prediction::stacked(&said.iter().collect::<Vec<_>>()).unwrap();
        let by_hand = ermine_eval::evaluate::Evaluation::new(&whole, &data).unwrap();
        assert_eq!(found.scores.len(), measures.len());
        for score in &found.scores {
            let theirs = by_hand.score(score.name).unwrap().value;
            assert!((score.mean - theirs).abs() < 1e-12, "{}: {} {theirs}", score.name, score.mean);
            let is_mean = ["accuracy", "log loss", "Brier score", "MAE"].contains(&score.name);
            assert_eq!((score.pooled, score.folds.len()), (!is_mean, if is_mean { 60 } else { 1 }), "{}", score.name);
            assert_eq!(score.train.as_ref().unwrap().len(), 60);
        }
        // Each by itself, one row has neither an area nor a variance.
        let apart = cross_validate(&tree, &data, &apart, &ermine::context()).unwrap();
        let undefined = if data.task() == Task::Regression { Measure::R2 } else { Measure::RocAuc };
        assert!(apart.undefined.iter().any(|(measure, _)| *measure == undefined) && found.undefined.is_empty());
        assert!(apart.check_defined(Some(undefined), measures).unwrap_err().to_string().contains(undefined.as_str()));
        // A search tells the same of its settings, on a path and without one.
        let axes =
            [SearchAxis::parse(&tree, "max_depth", "3").unwrap(), SearchAxis::parse(&tree, "ccp_alpha", "0").unwrap()];
        for (space, measure) in [(&axes[..1], undefined), (&axes[..], undefined), (&axes[..], measures[0])] {
            let (space, strategy) = (SearchSpace::new(space.to_vec()), Strategy::Grid { points: 2 });
            let what =
                HyperparameterSearch { learner: &tree, space: &space, strategy, splits: &splits, measure, pool: true };
            let trial = &search(&what, &data, &ermine::context(), &mut Journal::none()).unwrap().trials[0];
            let theirs = by_hand.score(measure.title()).unwrap().value;
            assert!(
                (trial.mean() - theirs).abs() < 1e-12 && trial.pooled == (measure != Measure::Accuracy),
                "{trial:?}"
            );
        }
    }
}

#[test]
fn repeats_are_scored_separately_and_large_folds_by_themselves() {
    let data = numbers(40);
    let few = Splits::repeated(&data, 8, 3, 0).unwrap();
    let measures = [Measure::R2, Measure::Mae];
    let validation = Validation { splits: &few, measures: &measures, train_scores: false, pool: true, custom: &[] };
    let found = cross_validate(&DecisionTree::default(), &data, &validation, &ermine::context()).unwrap();
    assert_eq!(found.scores.iter().map(|s| (s.pooled, s.folds.len())).collect::<Vec<_>>(), [(true, 3), (false, 24)]);
    let many = Splits::k_fold(&data, 4, 0).unwrap();
    let validation = Validation { splits: &many, ..validation };
    let found = cross_validate(&DecisionTree::default(), &data, &validation, &ermine::context()).unwrap();
    assert_eq!(found.scores.iter().map(|s| (s.pooled, s.folds.len())).collect::<Vec<_>>(), [(false, 4), (false, 4)]);
    let ordered = Splits::time_ordered(&data, 9).unwrap();
    assert_eq!((ordered.rounds()[0].clone(), ordered.rounds().len()), (0..9, 1));
    assert_eq!((ordered.min_test_size(), few.rounds()[2].clone(), few.rounds().len()), (4, 16..24, 3));
}

#[test]
fn ties_between_settings_go_to_better_probabilities_then_to_the_defaults() {
    // Two clouds: every strength of the penalty tells them apart, the weaker ones are surer.
    let rows: Vec<Vec<f64>> = (0..60).map(|i| vec![f64::from(i % 2) * 9.0 + f64::from(i * 7 % 5) / 5.0]).collect();
    let y: Vec<Option<&str>> = (0..60).map(|i| Some(["a", "b"][i % 2])).collect();
    let x = Column::numeric("x", rows.iter().map(|row| row[0]).collect::<Vec<_>>());
    let data = Table::new(vec![x, Column::nominal("y", &y)]).unwrap().dataset("y").unwrap();
    let learner = registry::learner("logistic-regression").unwrap();
    let splits = Splits::k_fold(&data, 3, 0).unwrap();
    let setting = |c: f64| Setting::from([("C".to_string(), Value::Float(c))]);
    let space = SearchSpace::of_settings([0.01, 100.0, 0.1].map(setting).to_vec());
    let (strategy, measure) = (Strategy::Listed, Measure::Accuracy);
    let what =
        HyperparameterSearch { learner: &*learner, space: &space, strategy, splits: &splits, measure, pool: true };
    let found = search(&what, &data, &ermine::context(), &mut Journal::none()).unwrap();
    assert!(found.trials.iter().all(|trial| trial.mean() == 1.0 && trial.tie.is_some()), "{:?}", found.trials);
    assert_eq!(found.trials[found.best.unwrap()].setting, setting(100.0));
    // Nothing to break a tie by: the learner as it is, wherever it stands.
    let stump = registry::learner("decision-stump").unwrap();
    let own = stump.get("criterion").unwrap();
    let words =
        ["gini", "entropy", "error"].map(|word| Setting::from([("criterion".to_string(), Value::Text(word.into()))]));
    let space = SearchSpace::of_settings(words.to_vec());
    let what = HyperparameterSearch { learner: &*stump, space: &space, ..what };
    let found = search(&what, &data, &ermine::context(), &mut Journal::none()).unwrap();
    assert_eq!(found.trials[found.best.unwrap()].setting["criterion"], own);
}

#[test]
fn an_undefined_metric_is_an_error_with_its_reason() {
    let data = classes(80);
    let (codes, _) = data.classes().unwrap();
    let one_class: Vec<u32> = (0..80).filter(|&row| codes[row as usize] == codes[0]).collect();
    let same = data.select(&one_class).unwrap();
    let svm = registry::learner("linear-svc").unwrap();
    let model = fit(&*svm, &data, &ermine::context()).unwrap();
    let message = |measure, data| model.evaluate_by(&[Measure::Accuracy, measure], data).unwrap_err().to_string();
    let said = message(Measure::RocAuc, &same);
    assert!(said.contains("roc-auc") && said.contains("one class") && said.contains("accuracy, error-rate"), "{said}");
    assert!(message(Measure::LogLoss, &data).contains("does not predict probabilities"));
    assert!(!message(Measure::LogLoss, &data).split("defined metrics:").last().unwrap().contains("log-loss"));
    // The usual measures are those that can be told.
    assert!(model.evaluate(&same).unwrap().score("ROC AUC").is_none());
    let numbers = numbers(50);
    let model = DecisionTree::default().fit(&numbers).unwrap();
    let said = model.evaluate_by(&[Measure::GammaDeviance], &numbers).unwrap_err().to_string();
    assert!(said.contains("above 0") && said.contains("rmse"), "{said}");
}

#[test]
fn parameter_values_a_task_refuses_are_not_tried() {
    for entry in registry::learners() {
        let learner = crate::made(entry);
        for data in [classes(120), numbers(120)] {
            if !learner.needs_target() || ermine_core::learner::fit::check(&*learner, &data).is_err() {
                continue;
            }
            let declared = SearchSpace::declared(&*learner);
            let kept = declared.clone().supported_by(&*learner, &data, &ermine::context()).unwrap();
            for axis in declared.axes().iter().filter(|axis| axis.points(2).iter().all(|v| v.number().is_none())) {
                let left = kept.axes().iter().find(|a| a.name == axis.name).map_or(Vec::new(), |a| a.points(2));
                for value in axis.points(2) {
                    let setting = Setting::from([(axis.name.clone(), value.clone())]);
                    let context = ermine::context();
                    let done = with_setting(&*learner, &setting, &context).and_then(|l| fit(&*l, &data, &context));
                    let (name, of) = (entry.info().name, &axis.name);
                    assert_eq!(left.contains(&value), done.is_ok(), "{name}: {of} = {value} for {}", data.task());
                }
            }
        }
    }
    let tree = DecisionTree::default();
    let points = |data: &Dataset| {
        let space = SearchSpace::declared(&tree).supported_by(&tree, data, &ermine::context()).unwrap();
        space.axes().iter().find(|axis| axis.name == "criterion").unwrap().points(2)
    };
    assert!(points(&classes(60)).contains(&Value::Text("gini".into())));
    assert!(!points(&numbers(60)).contains(&Value::Text("gini".into())));
}
