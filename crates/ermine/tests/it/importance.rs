//! Importances of the splits of a sum of trees, and the reasons for one prediction.

use ermine::prelude::*;
use ermine_core::model::ImportanceKind;

#[test]
fn a_split_counts_once_and_covers_its_rows() {
    let rows: Vec<Vec<f64>> =
        (0..8).map(|i| vec![f64::from(i / 4), f64::from(i % 4 / 2), f64::from(10 * (i / 4) + i % 4 / 2)]).collect();
    let data = Table::from_rows(&["a", "b", "y"], &rows).unwrap().dataset("y").unwrap();
    let model = DecisionTree::default().fit(&data).unwrap();
    assert_eq!(model.tree_importances(ImportanceKind::Count).unwrap(), [1.0, 2.0]);
    assert_eq!(model.tree_importances(ImportanceKind::Cover).unwrap(), [8.0, 8.0]);
    let gain = model.tree_importances(ImportanceKind::Gain).unwrap();
    assert!((gain[0] - 200.0 / 202.0).abs() < 1e-12 && (gain[1] - 2.0 / 202.0).abs() < 1e-12, "{gain:?}");
}

#[test]
fn contributions_sum_to_the_score() {
    let rows: Vec<Vec<f64>> = (0..90).map(|i| vec![f64::from(i % 9), f64::from(i % 7), f64::from(i % 9 * 3)]).collect();
    let table = Table::from_rows(&["a", "b", "y"], &rows).unwrap();
    let model =
        GradientBoosting { n_estimators: 30, ..Default::default() }.fit(&table.clone().dataset("y").unwrap()).unwrap();
    let text = model.explain_row(&table, 5).unwrap().unwrap();
    assert!(text.starts_with("prediction: ") && text.contains("expected value") && text.contains("a = 5: +"), "{text}");
    assert!(model.explain_row(&table, 90).is_err());
}
