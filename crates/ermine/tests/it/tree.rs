//! Trees against brute force: the split of a node is the best of all that there are.

use ermine::learner::decision_tree::{DecisionTree, FittedTree, TreeCriterion};
use ermine::learner::tree_parameters::Amount;
use ermine::matrix::{Features, Target};
use ermine::prelude::*;
use ermine::split::Impurity;
use proptest::prelude::*;
use std::sync::Arc;

/// A small problem with every kind of column. Values are whole numbers, so that ties abound.
#[derive(Debug, Clone)]
struct Problem {
    columns: Vec<(bool, Vec<Option<u8>>)>,
    classes: Vec<u32>,
    numbers: Vec<f64>,
    weights: Option<Vec<f64>>,
    n_classes: usize,
}

fn problem() -> impl Strategy<Value = Problem> {
    (2usize..14, 1usize..4, 2usize..5, any::<bool>(), 1u8..9).prop_flat_map(|(n, d, k, weighted, levels)| {
        let cell = prop_oneof![6 => (0..levels).prop_map(Some), 1 => Just(None)];
        let column = (any::<bool>(), prop::collection::vec(cell, n));
        let columns = prop::collection::vec(column, d);
        let classes = prop::collection::vec(0..k as u32, n);
        let numbers = prop::collection::vec((0u8..20).prop_map(f64::from), n);
        let weights = prop::collection::vec((1u8..5).prop_map(f64::from), n);
        (columns, classes, numbers, weights).prop_map(move |(columns, classes, numbers, weights)| Problem {
            columns,
            classes,
            numbers,
            weights: weighted.then_some(weights),
            n_classes: k,
        })
    })
}

impl Problem {
    fn n(&self) -> usize {
        self.classes.len()
    }

    fn features(&self) -> Features {
        let column = |(j, (nominal, cells)): (usize, &(bool, Vec<Option<u8>>))| {
            if *nominal {
                let words: Vec<Option<String>> = cells.iter().map(|c| c.map(|c| format!("v{c}"))).collect();
                Column::nominal(format!("x{j}"), &words)
            } else {
                let numbers: Vec<f64> = cells.iter().map(|c| c.map_or(f64::NAN, f64::from)).collect();
                Column::numeric(format!("x{j}"), numbers)
            }
        };
        Features::new(Arc::new(Table::new(self.columns.iter().enumerate().map(column).collect()).unwrap()))
    }

    fn classes(&self) -> Dataset {
        let labels = (0..self.n_classes).map(|c| format!("class {c}")).collect();
        let target = Target::Classes { codes: self.classes.clone(), labels };
        let data = Dataset::from_parts(self.features(), target, Task::Classification).unwrap();
        data.with_weight(self.weights.clone()).unwrap()
    }

    fn numbers(&self, n_outputs: usize) -> Dataset {
        let of_row = |row: usize| (0..n_outputs).map(move |k| self.number(row, k));
        let values = (0..self.n()).flat_map(of_row).collect();
        let data =
            Dataset::from_parts(self.features(), Target::Values { values, n_outputs }, Task::Regression).unwrap();
        data.with_weight(self.weights.clone()).unwrap()
    }

    fn number(&self, row: usize, output: usize) -> f64 {
        if output == 0 { self.numbers[row] } else { (self.numbers[row] * 7.0) % 5.0 }
    }

    fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |w| w[row])
    }

    /// Every way to part all rows by one column: for each, which rows go left.
    fn splits(&self) -> Vec<Vec<bool>> {
        let mut all = Vec::new();
        for (nominal, cells) in &self.columns {
            if *nominal {
                // Every set of categories, those missing being one more.
                for set in 0u32..1 << 9 {
                    all.push(cells.iter().map(|c| set >> c.unwrap_or(8) & 1 == 1).collect());
                }
            } else {
                for threshold in 0..9u8 {
                    for missing_left in [true, false] {
                        all.push(cells.iter().map(|c| c.map_or(missing_left, |c| c <= threshold)).collect());
                    }
                }
            }
        }
        all
    }

    /// The least cost of all splits that leave enough rows on both sides; `None` if there is none.
    fn least_cost(&self, min_samples: usize, cost: &dyn Fn(&[usize]) -> f64) -> Option<f64> {
        let mut least: Option<f64> = None;
        for left in self.splits() {
            let (a, b): (Vec<usize>, Vec<usize>) = (0..self.n()).partition(|&row| left[row]);
            if a.len() >= min_samples && b.len() >= min_samples {
                let both = cost(&a) + cost(&b);
                if both.is_finite() {
                    least = Some(least.map_or(both, |least| least.min(both)));
                }
            }
        }
        least
    }

    fn class_cost(&self, impurity: Impurity, rows: &[usize]) -> f64 {
        let mut weights = vec![0.0; self.n_classes];
        rows.iter().for_each(|&row| weights[self.classes[row] as usize] += self.weight(row));
        impurity.cost(&weights)
    }

    fn squared_cost(&self, n_outputs: usize, rows: &[usize]) -> f64 {
        let weight: f64 = rows.iter().map(|&r| self.weight(r)).sum();
        let of_output = |k: usize| {
            let mean = rows.iter().map(|&r| self.weight(r) * self.number(r, k)).sum::<f64>() / weight;
            rows.iter().map(|&r| self.weight(r) * (self.number(r, k) - mean).powi(2)).sum::<f64>()
        };
        (0..n_outputs).map(of_output).sum::<f64>() / n_outputs as f64
    }

    fn poisson_cost(&self, rows: &[usize]) -> f64 {
        let weight: f64 = rows.iter().map(|&r| self.weight(r)).sum();
        let mean = rows.iter().map(|&r| self.weight(r) * self.numbers[r]).sum::<f64>() / weight;
        if mean <= 0.0 {
            return f64::INFINITY;
        }
        let term = |y: f64| if y > 0.0 { y * (y / mean).ln() - y + mean } else { mean };
        rows.iter().map(|&r| self.weight(r) * term(self.numbers[r])).sum()
    }

    /// The absolute error is least at one of the values.
    fn absolute_cost(&self, rows: &[usize]) -> f64 {
        let error = |m: f64| rows.iter().map(|&r| self.weight(r) * (self.numbers[r] - m).abs()).sum::<f64>();
        rows.iter().map(|&r| error(self.numbers[r])).fold(f64::INFINITY, f64::min)
    }
}

/// The cost of the leaves of the best tree of one split, and whether it split at all.
fn cost_of_one_split(data: &Dataset, criterion: TreeCriterion, min_samples: usize) -> (f64, bool) {
    let learner = DecisionTree {
        criterion: Some(criterion),
        max_depth: Some(1),
        min_samples_leaf: Amount::Count(min_samples),
        ..Default::default()
    };
    let model = learner.fit(data).unwrap();
    let grown = model.fitted::<FittedTree>().unwrap().grown();
    let split = grown.tree.n_nodes() > 1;
    (if split { grown.cost[1] + grown.cost[2] } else { grown.cost[0] }, split)
}

fn assert_best(
    found: (f64, bool),
    least: Option<f64>,
    root: f64,
    exact: bool,
) -> std::result::Result<(), TestCaseError> {
    let (cost, split) = found;
    match least {
        None => prop_assert!(!split, "a split where there is none"),
        Some(_) if root <= 1e-12 => prop_assert!(cost <= 1e-9),
        Some(least) => {
            prop_assert!(split, "no split where one is allowed");
            prop_assert!(cost >= least - 1e-9 * (1.0 + least), "better than the best: {cost} {least}");
            prop_assert!(!exact || cost <= least + 1e-9 * (1.0 + least), "{cost} where {least} is possible");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn class_splits_are_the_best_of_all(problem in problem(), which in 0usize..3, min_samples in 1usize..4) {
        let (criterion, impurity) = [
            (TreeCriterion::Gini, Impurity::Gini),
            (TreeCriterion::Entropy, Impurity::Entropy),
            (TreeCriterion::Error, Impurity::Error),
        ][which];
        let cost = |rows: &[usize]| problem.class_cost(impurity, rows);
        // With a limit on rows the best allowed bipartition need not be a threshold of an order.
        let ordered = problem.n_classes == 2 && problem.columns.iter().any(|(nominal, _)| *nominal);
        let exact = !(ordered && min_samples > 1);
        let found = cost_of_one_split(&problem.classes(), criterion, min_samples);
        let root = cost(&(0..problem.n()).collect::<Vec<_>>());
        let least = problem.least_cost(min_samples, &cost);
        prop_assume!(exact || found.1 || least.is_none());
        assert_best(found, least, root, exact)?;
    }

    #[test]
    fn number_splits_are_the_best_of_all(problem in problem(), which in 0usize..4, min_samples in 1usize..4) {
        let (criterion, n_outputs) = [
            (TreeCriterion::SquaredError, 1),
            (TreeCriterion::SquaredError, 2),
            (TreeCriterion::AbsoluteError, 1),
            (TreeCriterion::Poisson, 1),
        ][which];
        prop_assume!(which != 3 || problem.numbers.iter().any(|y| *y > 0.0));
        let cost = |rows: &[usize]| match which {
            0 | 1 => problem.squared_cost(n_outputs, rows),
            2 => problem.absolute_cost(rows),
            _ => problem.poisson_cost(rows),
        };
        let nominal = problem.columns.iter().any(|(nominal, _)| *nominal);
        let heuristic = nominal && (n_outputs > 1 || which >= 2 || min_samples > 1);
        let found = cost_of_one_split(&problem.numbers(n_outputs), criterion, min_samples);
        let root = cost(&(0..problem.n()).collect::<Vec<_>>());
        let least = problem.least_cost(min_samples, &cost);
        // An order may hold no cut that the limits allow, where some other bipartition is allowed.
        prop_assume!(!(heuristic && !found.1 && least.is_some()));
        assert_best(found, least, root, !heuristic)?;
    }

    #[test]
    fn a_full_tree_says_what_it_was_told(problem in problem(), random in any::<bool>()) {
        let data = problem.classes();
        let splitter = if random { ermine::learner::decision_tree::Splitter::Random } else { Default::default() };
        let model = DecisionTree { splitter, ..Default::default() }.fit(&data).unwrap();
        let prediction = model.predict_data(&data).unwrap();
        for row in 0..problem.n() {
            // Rows that look the same share a leaf: their class shares are what it predicts.
            let same: Vec<usize> = (0..problem.n())
                .filter(|&other| problem.columns.iter().all(|(_, cells)| cells[other] == cells[row]))
                .collect();
            let total: f64 = same.iter().map(|&r| problem.weight(r)).sum();
            for (k, share) in prediction.row(row).iter().enumerate() {
                let of_class = same.iter().filter(|&&r| problem.classes[r] as usize == k);
                let expected = of_class.map(|&r| problem.weight(r)).sum::<f64>() / total;
                prop_assert!((share - expected).abs() < 1e-9, "row {row} class {k}: {share} {expected}");
            }
        }
    }
}

/// The least error of all trees of a depth, by trying them all.
fn least_error(problem: &Problem, rows: &[usize], depth: usize, penalty: f64) -> f64 {
    let leaf = problem.class_cost(Impurity::Error, rows);
    if depth == 0 || leaf == 0.0 {
        return leaf;
    }
    let mut least = leaf;
    let mut seen = std::collections::HashSet::new();
    for left in problem.splits() {
        let (a, b): (Vec<usize>, Vec<usize>) = rows.iter().partition(|&&row| left[row]);
        if a.is_empty() || b.is_empty() || !seen.insert(a.clone()) {
            continue;
        }
        least = least
            .min(penalty + least_error(problem, &a, depth - 1, penalty) + least_error(problem, &b, depth - 1, penalty));
    }
    least
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn optimal_trees_are_optimal(problem in problem(), max_depth in 1usize..3, penalised in any::<bool>()) {
        let levels = |(nominal, cells): &(bool, Vec<Option<u8>>)| {
            let distinct: std::collections::HashSet<_> = cells.iter().collect();
            !*nominal || distinct.len() <= 6
        };
        prop_assume!(problem.columns.iter().all(levels));
        let data = problem.classes();
        let total: f64 = (0..problem.n()).map(|row| problem.weight(row)).sum();
        let leaf_penalty = if penalised { 0.07 } else { 0.0 };
        let learner = OptimalTree { max_depth, leaf_penalty, ..Default::default() };
        let model = learner.fit(&data).unwrap();
        let rows: Vec<usize> = (0..problem.n()).collect();
        let least = least_error(&problem, &rows, max_depth, leaf_penalty * total) / total;
        let value = model.certificate().value.unwrap();
        prop_assert!((value - least).abs() < 1e-9, "{value} {least}");
        let tree = model.fitted::<FittedTree>().unwrap().tree();
        let prediction = model.predict_data(&data).unwrap();
        let wrong = rows.iter().filter(|&&row| prediction.class(row) != problem.classes[row] as usize);
        let risk = wrong.map(|&row| problem.weight(row)).sum::<f64>() / total;
        let n_leaves = (0..tree.n_nodes()).filter(|&node| tree.children(node).is_empty()).count();
        prop_assert!((risk + leaf_penalty * (n_leaves - 1) as f64 - least).abs() < 1e-9, "the tree is what was certified");
        prop_assert!(tree.depth() <= max_depth);
    }
}
