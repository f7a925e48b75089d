//! The stump against brute force: every column, every threshold, every labelling of the sides, every side for missing values.

use ermine::prelude::*;
use ermine_trees::learner::stump::FittedStump;
use ermine_trees::learner::stump::Polarity;
use ermine_trees::split::{Impurity, Test};
use proptest::prelude::*;

#[derive(Debug, Clone)]
struct Problem {
    /// Columns of small whole numbers (so that ties abound), some missing.
    columns: Vec<Vec<Option<i8>>>,
    classes: Vec<usize>,
    weights: Vec<u8>,
    n_classes: usize,
}

fn problem() -> impl Strategy<Value = Problem> {
    (1usize..12, 1usize..4, 2usize..4).prop_flat_map(|(n, d, k)| {
        let cell = prop_oneof![5 => (-3i8..4).prop_map(Some), 1 => Just(None)];
        let columns = prop::collection::vec(prop::collection::vec(cell, n), d);
        let classes = prop::collection::vec(0..k, n);
        let weights = prop::collection::vec(1u8..5, n);
        (columns, classes, weights).prop_map(move |(columns, classes, weights)| Problem {
            columns,
            classes,
            weights,
            n_classes: k,
        })
    })
}

impl Problem {
    fn dataset(&self) -> Dataset {
        let mut columns: Vec<Column> = Vec::new();
        for (j, column) in self.columns.iter().enumerate() {
            let values: Vec<f64> = column.iter().map(|v| v.map_or(f64::NAN, f64::from)).collect();
            columns.push(Column::numeric(format!("x{j}"), values));
        }
        let names: Vec<Option<String>> = self.classes.iter().map(|c| Some(format!("class {c}"))).collect();
        columns.push(Column::nominal("y", &names));
        columns.push(Column::numeric("w", self.weights.iter().map(|&w| f64::from(w)).collect::<Vec<_>>()));
        let roles = Roles { weight: Some("w".into()), ..Roles::target("y") };
        Dataset::new(Table::new(columns).unwrap(), &roles).unwrap()
    }

    /// The least weight that any stump gets wrong. `labels(left, right)` says which labellings of the sides are allowed.
    fn least_error(&self, labels: impl Fn(usize, usize) -> bool) -> f64 {
        let mut least = f64::INFINITY;
        for column in &self.columns {
            // Half-way marks between all whole numbers that can occur, and one on either end.
            for threshold in (-5..6).map(|t| f64::from(t) + 0.5) {
                for missing_left in [true, false] {
                    for (left, right) in
                        (0..self.n_classes * self.n_classes).map(|p| (p / self.n_classes, p % self.n_classes))
                    {
                        if !labels(left, right) {
                            continue;
                        }
                        let wrong = column.iter().enumerate().filter(|(row, value)| {
                            let goes_left = value.map_or(missing_left, |v| f64::from(v) <= threshold);
                            self.classes[*row] != if goes_left { left } else { right }
                        });
                        least = least.min(wrong.map(|(row, _)| f64::from(self.weights[row])).sum());
                    }
                }
            }
        }
        least
    }

    fn total(&self) -> f64 {
        self.weights.iter().map(|&w| f64::from(w)).sum()
    }
}

/// The weighted share of rows that a model gets wrong.
fn risk(model: &Model, data: &Dataset) -> f64 {
    let prediction = model.predict_data(data).unwrap();
    let (codes, _) = data.classes().unwrap();
    let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
    let wrong = (0..data.n_rows()).filter(|&row| prediction.class(row) != codes[row] as usize);
    wrong.map(|row| data.row_weight(row)).sum::<f64>() / total
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_stump_has_a_lower_risk(problem in problem()) {
        let data = problem.dataset();
        let model = DecisionStump::default().fit(&data).unwrap();
        let least = problem.least_error(|_, _| true) / problem.total();
        prop_assert!((model.certificate().value.unwrap() - least).abs() < 1e-12, "{:?} {least}", model.certificate());
        prop_assert!((risk(&model, &data) - least).abs() < 1e-12, "the certificate says what prediction does");
    }

    #[test]
    fn a_fixed_polarity_is_kept_and_best(mut problem in problem(), positive: bool) {
        problem.n_classes = 2;
        problem.classes.iter_mut().for_each(|c| *c %= 2);
        let data = problem.dataset();
        prop_assume!(data.classes().unwrap().1.len() == 2);
        let polarity = if positive { Polarity::Positive } else { Polarity::Negative };
        let model = DecisionStump { polarity, ..Default::default() }.fit(&data).unwrap();
        let sides = if positive { (1, 0) } else { (0, 1) };
        let least = problem.least_error(|left, right| (left, right) == sides) / problem.total();
        prop_assert!((risk(&model, &data) - least).abs() < 1e-12, "{} {least}", risk(&model, &data));
    }

    #[test]
    fn impurity_is_minimal_over_all_splits(problem in problem(), gini: bool) {
        let data = problem.dataset();
        let criterion = if gini { Impurity::Gini } else { Impurity::Entropy };
        let model = DecisionStump { criterion, ..Default::default() }.fit(&data).unwrap();
        let mut least = f64::INFINITY;
        for column in &problem.columns {
            for threshold in (-5..6).map(|t| f64::from(t) + 0.5) {
                for missing_left in [true, false] {
                    let mut sides = [vec![0.0; problem.n_classes], vec![0.0; problem.n_classes]];
                    for (row, value) in column.iter().enumerate() {
                        let left = value.map_or(missing_left, |v| f64::from(v) <= threshold);
                        sides[usize::from(!left)][problem.classes[row]] += f64::from(problem.weights[row]);
                    }
                    least = least.min(sides.iter().map(|s| criterion.cost(s)).sum());
                }
            }
        }
        prop_assert!((model.certificate().value.unwrap() - least / problem.total()).abs() < 1e-9);
    }

    #[test]
    fn regression_has_the_least_squared_error(
        rows in prop::collection::vec((prop::option::weighted(0.8, -3i8..4), -5i8..6, 1u8..4), 1..12),
    ) {
        let number = |v: &Option<i8>| v.map_or(f64::NAN, f64::from);
        let table = Table::new(vec![
            Column::numeric("x", rows.iter().map(|r| number(&r.0)).collect::<Vec<_>>()),
            Column::numeric("y", rows.iter().map(|r| f64::from(r.1)).collect::<Vec<_>>()),
            Column::numeric("w", rows.iter().map(|r| f64::from(r.2)).collect::<Vec<_>>()),
        ]).unwrap();
        let roles = Roles { weight: Some("w".into()), task: Some(Task::Regression), ..Roles::target("y") };
        let model = DecisionStump::default().fit(&Dataset::new(table, &roles).unwrap()).unwrap();
        let total: f64 = rows.iter().map(|r| f64::from(r.2)).sum();
        let mut least = f64::INFINITY;
        for threshold in (-5..6).map(|t| f64::from(t) + 0.5) {
            for missing_left in [true, false] {
                let side = |left: bool| rows.iter().filter(move |r| r.0.map_or(missing_left, |v| f64::from(v) <= threshold) == left);
                let error = |left: bool| {
                    let weight: f64 = side(left).map(|r| f64::from(r.2)).sum();
                    let mean = side(left).map(|r| f64::from(r.2) * f64::from(r.1)).sum::<f64>() / weight.max(1.0);
                    side(left).map(|r| f64::from(r.2) * (f64::from(r.1) - mean).powi(2)).sum::<f64>()
                };
                least = least.min(error(true) + error(false));
            }
        }
        prop_assert!((model.certificate().value.unwrap() - least / total).abs() < 1e-9);
    }
}

fn one_column(values: Vec<f64>, classes: &[&str]) -> Dataset {
    let classes: Vec<Option<&str>> = classes.iter().map(|c| Some(*c)).collect();
    Table::new(vec![Column::numeric("x", values), Column::nominal("y", &classes)]).unwrap().dataset("y").unwrap()
}

#[test]
fn thresholds_lie_halfway_between_neighboring_values() {
    let model = DecisionStump::default().fit(&one_column(vec![4.0, 1.0, 2.0, 8.0], &["b", "a", "a", "b"])).unwrap();
    let stump = model.fitted::<FittedStump>().unwrap();
    assert_eq!(stump.tree().test[0], Test::AtMost { feature: 0, threshold: 3.0, missing_left: false });
    assert_eq!(model.certificate().value, Some(0.0));
    assert_eq!(stump.curve().len(), 5, "three thresholds between values and one on either end");
    assert_eq!((stump.curve()[0].0, stump.curve()[4].0), (0.0, 9.0), "min - 1 and max + 1");
}

#[test]
fn a_category_predicts_its_majority_and_an_unseen_one_the_overall_majority() {
    let colors = [Some("red"), Some("red"), Some("blue"), Some("blue"), Some("blue"), None];
    let classes = [Some("a"), Some("a"), Some("b"), Some("b"), Some("a"), Some("b")];
    let table = Table::new(vec![Column::nominal("color", &colors), Column::nominal("y", &classes)]).unwrap();
    let model = DecisionStump::default().fit(&table.dataset("y").unwrap()).unwrap();
    let new = [Some("red"), Some("blue"), None, Some("green")];
    let prediction = model.predict(&Table::new(vec![Column::nominal("color", &new)]).unwrap()).unwrap();
    let labels: Vec<&str> = (0..4).map(|row| prediction.label(row).unwrap()).collect();
    // A category that training didn't have is missing, and training has a missing row of class b.
    assert_eq!(labels, ["a", "b", "b", "b"]);
    assert!((model.certificate().value.unwrap() - 1.0 / 6.0).abs() < 1e-12);
}

#[test]
fn extreme_numbers_are_separated() {
    let huge = f64::MAX;
    for values in [
        vec![-huge, huge],
        vec![f64::NEG_INFINITY, f64::INFINITY],
        vec![1e300, 1.0000000000000002e300],
        vec![0.0, 5e-324],
    ] {
        let data = one_column(values.clone(), &["a", "b"]);
        let model = DecisionStump::default().fit(&data).unwrap();
        assert_eq!(risk(&model, &data), 0.0, "{values:?}");
    }
    let data = one_column(vec![f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NAN], &["a", "a", "b"]);
    assert_eq!(risk(&DecisionStump::default().fit(&data).unwrap(), &data), 0.0, "missing against minus infinity");
}

#[test]
fn a_stump_of_fixed_polarity_claims_no_more_than_it_has() {
    // Small values are 'a': the fixed polarity labels them 'b', and no threshold is better than one below all rows or above them.
    let data = one_column(vec![1.0, 2.0, 3.0, 4.0], &["a", "a", "b", "b"]);
    let model = DecisionStump { polarity: Polarity::Positive, ..Default::default() }.fit(&data).unwrap();
    assert_eq!(model.certificate().value, Some(0.5));
    let said = model.certificate().to_string();
    assert!(said.contains("'b' up to a threshold and 'a' above it (polarity = positive)"), "{said}");
    let free = DecisionStump::default().fit(&data).unwrap();
    assert_eq!(free.certificate().value, Some(0.0));
    assert!(free.certificate().to_string().contains("the labels of the branches"));
    // What the rules claim adds up to what the certificate says, saved or not.
    let loaded = ermine::load_bytes(&model.to_bytes().unwrap()).unwrap();
    for text in [model.rules().unwrap(), loaded.rules().unwrap()] {
        let percent = |line: &str, before: &str| -> f64 {
            line.split(before).nth(1).unwrap().split('%').next().unwrap().parse::<f64>().unwrap() / 100.0
        };
        let right: f64 = text.lines().map(|line| percent(line, "coverage ") * percent(line, "precision ")).sum();
        assert!((right - 0.5).abs() < 1e-9, "{text}");
    }
    assert!(!model.text().contains("100.0%") && !model.dot().unwrap().contains("100.0%"), "{}", model.text());
}

#[test]
fn rules_have_thresholds_that_predict_the_same() {
    let x: Vec<f64> = (0..6).map(|i| 1.0 + f64::from(i) * 1e-9).collect();
    let data = one_column(x.clone(), &["a", "a", "a", "b", "b", "b"]);
    for learner in ["decision-stump", "decision-tree", "optimal-tree", "c45"] {
        let model = ermine_core::learner::fit(&*ermine::registry::learner(learner).unwrap(), &data, &ermine::context());
        let rules = model.unwrap().rules().unwrap();
        let line = rules.lines().find(|line| line.contains("<= ")).unwrap();
        let threshold: f64 = line.split("<= ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
        assert!(x[2] <= threshold && threshold < x[3], "{learner}: {rules}");
    }
}
