//! What trees say about themselves agrees with what they predict: texts, rules, pictures and reasons.

use ermine::prelude::*;
use ermine_core::matrix::{Features, Target};
use ermine_trees::learner::comparison_tree::ComparisonTree;
use ermine_trees::learner::density_tree::DensityTree;
use ermine_trees::learner::oblique_tree::ObliqueTree;
use ermine_trees::learner::quad_tree::QuadTree;
use proptest::prelude::*;
use std::sync::Arc;

/// Quinlan's Saturday mornings: outlook, temperature, humidity, windy, and whether to play.
const MORNINGS: &str = "sunny hot high n no,sunny hot high y no,overcast hot high n yes,rainy mild high n yes,rainy cool normal n yes,rainy cool normal y no,overcast cool normal y yes,\
sunny mild high n no,sunny cool normal n yes,rainy mild normal n yes,sunny mild normal y yes,overcast mild high y yes,overcast hot normal n yes,rainy mild high y no";

fn words() -> Vec<Vec<&'static str>> {
    MORNINGS.split(',').map(|row| row.split(' ').collect()).collect()
}

fn table(rows: &[Vec<Option<&str>>]) -> Table {
    let nominal = |j: usize, name: &str| Column::nominal(name, &rows.iter().map(|row| row[j]).collect::<Vec<_>>());
    let windy: Vec<Option<bool>> = rows.iter().map(|row| row[3].map(|word| word == "y")).collect();
    let columns = vec![
        nominal(0, "outlook"),
        nominal(1, "temperature"),
        nominal(2, "humidity"),
        Column::boolean("windy", &windy),
    ];
    Table::new(columns).unwrap()
}

fn mornings() -> Dataset {
    let rows: Vec<Vec<Option<&str>>> = words().iter().map(|row| row.iter().map(|w| Some(*w)).collect()).collect();
    let codes = words().iter().map(|row| u32::from(row[4] == "yes")).collect();
    let target = Target::Classes { codes, labels: ["no", "yes"].map(String::from).into() };
    Dataset::from_parts(Features::new(Arc::new(table(&rows))), target, Task::Classification).unwrap()
}

/// "yes (60.0%)" from class shares.
fn said(shares: &[f64], classes: &[String]) -> String {
    let best = if shares[1] > shares[0] { 1 } else { 0 };
    format!("{} ({:.1}%)", classes[best], 100.0 * shares[best])
}

proptest! {
    /// Reasons end with the prediction, whatever is missing and whatever is new.
    #[test]
    fn decision_paths_end_with_the_prediction(
        cells in prop::collection::vec((0usize..4, 0usize..4, 0usize..3, 0usize..3), 1..12),
        which in 0usize..3,
    ) {
        let model = match which {
            0 => C45 { prune: false, ..Default::default() }.fit(&mornings()).unwrap(),
            1 => C45 { binary_splits: true, prune: false, ..Default::default() }.fit(&mornings()).unwrap(),
            _ => Id3::default().fit(&mornings()).unwrap(),
        };
        let pick = |words: &[&'static str], i: usize| words.get(i).copied();
        let rows: Vec<Vec<Option<&str>>> = cells.iter().map(|&(o, t, h, w)| vec![
            // "fog" is new; what is past the end is missing.
            pick(&["sunny", "rainy", "fog"], o),
            pick(&["hot", "mild", "cool"], t),
            pick(&["high", "normal"], h),
            pick(&["y", "n"], w),
        ]).collect();
        let table = table(&rows);
        let predicted = model.predict(&table).unwrap();
        for row in 0..rows.len() {
            let reasons = model.explain_row(&table, row).unwrap().unwrap();
            let last = reasons.lines().last().unwrap();
            let expected = said(predicted.row(row), &model.schema().classes);
            prop_assert!(last.ends_with(&expected), "{reasons}\npredicted {expected}");
        }
    }
}

#[test]
fn tree_text_shows_where_missing_values_go() {
    let c45 = C45 { prune: false, ..Default::default() }.fit(&mornings()).unwrap();
    let all = "missing or new values follow all branches, weighted by their training rows";
    for text in [c45.text(), c45.rules().unwrap(), c45.svg().unwrap(), c45.html().unwrap(), c45.dot().unwrap()] {
        assert!(text.contains(all) && !text.contains("or missing"), "{text}");
    }
    assert!(c45.rules().unwrap().contains("windy = false") && c45.rules().unwrap().contains("windy = true"));
    // Every node of ID3 that asks for a category says what it does with others.
    let id3 = Id3::default().fit(&mornings()).unwrap();
    let text = id3.text();
    let n_asking = text.lines().filter(|line| line.contains("outlook?") || line.contains("humidity?")).count();
    assert_eq!(text.matches("missing or new: → ").count(), n_asking, "{text}");
    assert!(n_asking > 1 && id3.dot().unwrap().contains("missing or new: "));
}

/// Numbers of very different sizes, and a class that one sum of them decides.
fn slanted(n: usize) -> Dataset {
    let x = |i: usize, j: u64| ermine_core::rng::place(j, i as u64) as f64 / u64::MAX as f64;
    let (a, b) = (|i: usize| 5000.0 + 1000.0 * x(i, 1), |i: usize| 0.01 * x(i, 2));
    let columns = vec![
        Column::numeric("a", (0..n).map(a).collect::<Vec<_>>()),
        Column::numeric("b", (0..n).map(b).collect::<Vec<_>>()),
    ];
    let target = Target::Classes {
        codes: (0..n).map(|i| u32::from(a(i) - 5000.0 > 100_000.0 * b(i))).collect(),
        labels: ["below", "above"].map(String::from).into(),
    };
    Dataset::from_parts(Features::new(Arc::new(Table::new(columns).unwrap())), target, Task::Classification).unwrap()
}

#[test]
fn row_trees_use_the_units_of_the_data() {
    let data = slanted(400);
    let oblique = ObliqueTree { max_depth: Some(1), ..Default::default() }.fit(&data).unwrap();
    // a - 100000 b <= 5000, about.
    let text = oblique.text();
    let line = text.lines().nth(1).unwrap();
    let (left, right) = line.split_once(" <= ").or(line.split_once(" >= ")).unwrap();
    let weight: f64 = left.strip_prefix("a - ").unwrap().strip_suffix(" b").unwrap().parse().unwrap();
    let threshold: f64 = right.split('?').next().unwrap().parse().unwrap();
    assert!((weight / 1e5 - 1.0).abs() < 0.2 && (threshold - 5000.0).abs() < 150.0, "{line}");
    assert!(text.contains("├─ yes: ") && text.contains("└─ no: "), "{text}");
    // A comparison tree names rows of the data.
    let comparison = ComparisonTree { max_depth: Some(1), ..Default::default() }.fit(&data).unwrap();
    let text = comparison.text();
    let named = text.split("nearer to (a ").nth(1).unwrap();
    let a: f64 = named.split(',').next().unwrap().parse().unwrap();
    let near = (0..400).any(|i| (data.features().number(i, 0) - a).abs() < 0.1);
    assert!(near && (5000.0..6000.0).contains(&a), "{text}");
}

#[test]
fn all_trees_are_drawn_and_explain_predictions() {
    let data = slanted(60);
    let table = Table::new(data.features().columns().to_vec()).unwrap();
    let models = [
        ObliqueTree::default().fit(&data).unwrap(),
        QuadTree::default().fit(&data).unwrap(),
        ComparisonTree::default().fit(&data).unwrap(),
        DecisionStump::default().fit(&data).unwrap(),
    ];
    for model in models {
        let name = &model.header().learner;
        assert!(model.svg().unwrap().contains("<svg") && model.html().unwrap().contains("<!doctype"), "{name}");
        assert!(model.dot().unwrap().contains("->") && model.rules().unwrap().contains("then above"), "{name}");
        let predicted = model.predict(&table).unwrap();
        for row in 0..20 {
            let reasons = model.explain_row(&table, row).unwrap().unwrap();
            let expected = said(predicted.row(row), &model.schema().classes);
            assert!(reasons.lines().last().unwrap().ends_with(&expected), "{name}: {reasons}\n{expected}");
        }
    }
}

#[test]
fn a_density_tree_shows_its_boxes_and_clips_outliers() {
    let n = 400;
    let x = |i: usize, j: u64| ermine_core::rng::place(j, i as u64) as f64 / u64::MAX as f64;
    let data = |first: f64| {
        let a: Vec<f64> = (0..n).map(|i| if i == 0 { first } else { x(i, 1) }).collect();
        let b: Vec<f64> = (0..n).map(|i| x(i, 2)).collect();
        let table = Table::new(vec![Column::numeric("a", a), Column::numeric("b", b)]).unwrap();
        let codes = (0..n).map(|i| u32::from(x(i, 1) > 0.5)).collect();
        let target = Target::Classes { codes, labels: ["low", "high"].map(String::from).into() };
        Dataset::from_parts(Features::new(Arc::new(table)), target, Task::Classification).unwrap()
    };
    let right = |model: &Model, data: &Dataset| {
        let predicted = model.predict_data(data).unwrap();
        (0..n).filter(|&i| (predicted.row(i)[1] > 0.5) == (x(i, 1) > 0.5)).count()
    };
    let plain = data(x(0, 1));
    let model = DensityTree::default().fit(&plain).unwrap();
    assert!(right(&model, &plain) > 380);
    assert!(model.text().contains("log density") && model.text().contains("a "), "{}", model.text());
    // One value that is far away changes little, and is told.
    let slip = data(1e300);
    let with_slip = DensityTree::default().fit(&slip).unwrap();
    assert!(right(&with_slip, &slip) > 350, "{}", right(&with_slip, &slip));
    assert!(with_slip.certificate().notes.iter().any(|note| note.contains("column 'a': 1 outliers")));
    let error = DensityTree::default().fit(&data(f64::INFINITY)).err().unwrap().to_string();
    assert!(error.contains("column 'a'") && error.contains("row 1"), "{error}");
    // The density adds up to 1 over the box.
    let steps = 200;
    let at = |k: usize| -0.1 + 1.2 * (k as f64 + 0.5) / steps as f64;
    let a: Vec<f64> = (0..steps * steps).map(|k| at(k / steps)).collect();
    let b: Vec<f64> = (0..steps * steps).map(|k| at(k % steps)).collect();
    let grid = Table::new(vec![Column::numeric("a", a), Column::numeric("b", b)]).unwrap();
    let logs = model.log_density(&model.schema().features_of(&grid).unwrap()).unwrap();
    let total: f64 = logs.iter().map(|log| log.exp()).sum::<f64>() * (1.2 / steps as f64).powi(2);
    assert!((total - 1.0).abs() < 0.05, "{total}");
    assert!(logs[0] == f64::NEG_INFINITY, "outside of the box nothing is likely");
}
