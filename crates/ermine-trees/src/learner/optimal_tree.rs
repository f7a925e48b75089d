//! Optimal decision tree: the lowest training error among all trees of a given depth, with proof.
//!
//! **Idea.** CART chooses each split greedily, but the best tree of depth 3 may start with a split that looks poor. This learner searches all trees up to a given depth by branch and bound, and certifies
//! the result as optimal or, if the time limit was reached, with a bound on the gap. See [`optimal`](crate::tree::optimal).
//!
//! **Formula.** Minimize the weighted fraction of misclassified training rows plus `leaf_penalty` for each leaf beyond the first.

use super::decision_tree::{DecisionTree, FittedTree, MissingRouting, TreeCriterion};
use super::id3::columns_with_more_categories;
use super::{Capabilities, Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained};
use crate::split::Impurity;
use crate::tree::optimal::{ALL_SETS, OptimalOptions, OptimalSubtree, OptimalTreeSearch, TreeSolution};
use crate::tree::{GrownTree, prune};
use ermine_core::error::Result;
use ermine_core::learner::parameters::CountOrFraction;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Certificate, Output, Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;
use ermine_core::progress::{Event, Patience, report};
use std::time::{Duration, Instant};

params! {
    /// The tree with the lowest training error among all trees of a given depth, with proof of optimality.
    pub struct OptimalTree("optimal-tree") {
        /// Maximum depth of the tree.
        /// Each level multiplies the work; 2 to 4 are practical.
        max_depth: usize = 3, range Range::between(1.0, 6.0), tune Linear(1, 4);
        /// Penalty for each leaf beyond the first, as a fraction of the rows; higher values give smaller trees.
        /// 0.01 means that a leaf must correct at least 1 % of the rows.
        leaf_penalty: f64 = 0.0, range Range::at_least(0.0), tune Log(1e-4, 0.1);
        /// Minimum number of rows in each leaf.
        /// Higher values smooth the predictions and prevent leaves that fit single rows: try 5 to 50 on noisy data.
        min_samples_leaf: usize = 1, range Range::at_least(1.0), tune Log(1, 100);
        /// Time limit in seconds, after which the best tree so far is returned with its optimality gap. None for no limit.
        /// If the limit is reached, the model may differ between runs.
        time_limit: Option<f64> = Some(60.0), range Range::more_than(0.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "optimal-tree",
    summary: "tree with the lowest training error among all trees of a given depth, with proof of optimality or the remaining gap",
    capabilities: Capabilities { tasks: &[Task::Classification], multi_output: false, ..TREE_CAPABILITIES },
    family: Family::Tree,
};

impl Learner for OptimalTree {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (codes, labels) = data.classes()?;
        let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
        let penalty = self.leaf_penalty * total;
        let options = OptimalOptions { max_depth: self.max_depth, penalty, min_samples_leaf: self.min_samples_leaf };
        let deadline = self.time_limit.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.min(1e9)));
        let greedy = self.best_greedy(data, context, penalty)?;
        report(context.observer, Event::Begin { what: "searching for the optimal tree", total: None })?;
        let patience = Patience::new(deadline, context.observer);
        let mut optimizer = OptimalTreeSearch::new(data, codes, labels.len(), options, &patience);
        let limit = greedy.1 + 1e-6 * total;
        let solution = match optimizer.solve_binary(limit) {
            Some(solution) => solution,
            None => optimizer.solve_all(limit),
        };
        let timed_out = patience.timed_out()?;
        report(context.observer, Event::End)?;
        // If the time limit was reached, the greedy tree may be better. It may also use sets of categories that the search doesn't cover.
        let is_greedy_better = if timed_out { greedy.1 < solution.cost } else { limit <= solution.cost };
        let (grown, value) = if is_greedy_better {
            greedy
        } else {
            (to_grown_tree(data, codes, labels.len(), &solution.tree), solution.cost)
        };
        let certificate = self.certificate(data, &solution, value / total, total, timed_out);
        let fitted = FittedTree::new(grown, Output::Probabilities, MissingRouting::Learned);
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

impl OptimalTree {
    /// The best of several greedy trees, pruned with the penalty, and its cost.
    fn best_greedy(&self, data: &Dataset, context: &Context<'_>, penalty: f64) -> Result<(GrownTree, f64)> {
        let mut best: Option<(GrownTree, f64)> = None;
        for criterion in [TreeCriterion::Gini, TreeCriterion::Entropy, TreeCriterion::Error] {
            let learner = DecisionTree {
                criterion: Some(criterion),
                max_depth: Some(self.max_depth),
                min_samples_leaf: CountOrFraction::Count(self.min_samples_leaf),
                ..Default::default()
            };
            let mut grown = learner.grow(data, context)?;
            let errors = |grown: &GrownTree, node: usize| {
                let best = grown.tree.value(node).iter().fold(0.0f64, |best, &share| best.max(share));
                grown.tree.weight[node] * (1.0 - best)
            };
            grown.cost = (0..grown.tree.n_nodes()).map(|node| errors(&grown, node)).collect();
            let grown = prune::cost_complexity(&grown, self.leaf_penalty);
            let errors: f64 = grown.tree.leaves().map(|leaf| grown.cost[leaf]).sum();
            let cost = errors + penalty * (grown.tree.n_leaves() as f64 - 1.0);
            if best.as_ref().is_none_or(|best| cost < best.1) {
                best = Some((grown, cost));
            }
        }
        best.ok_or_else(|| ermine_core::error::Error::data("no greedy tree to start from"))
    }

    fn certificate(
        &self,
        data: &Dataset,
        solution: &TreeSolution,
        value: f64,
        total: f64,
        timed_out: bool,
    ) -> Certificate {
        let objective = if self.leaf_penalty > 0.0 {
            format!("0-1 risk on the training data + {} for each leaf beyond the first", self.leaf_penalty)
        } else {
            "weighted 0-1 risk on the training data".into()
        };
        let many = columns_with_more_categories(data, ALL_SETS);
        let single =
            if many.is_empty() { String::new() } else { format!(" (single categories of {})", many.join(", ")) };
        let leaf_size = match self.min_samples_leaf {
            1 => String::new(),
            rows => format!(" and at least {rows} rows in each leaf"),
        };
        let depth = self.max_depth;
        let over =
            format!("all trees of depth at most {depth} with thresholds and sets of categories{single}{leaf_size}");
        if !timed_out {
            return Certificate::optimal(objective, value, over);
        }
        Certificate {
            objective,
            value: Some(value),
            status: Status::Limit(format!("the time limit of {} s", self.time_limit.unwrap_or(0.0))),
            proofs: vec![Proof::LowerBound((solution.bound / total).min(value))],
            notes: Vec::new(),
        }
    }
}

/// Converts the solution to a tree with the weights, predictions and costs of the training data.
fn to_grown_tree(data: &Dataset, codes: &[u32], n_classes: usize, found: &OptimalSubtree) -> GrownTree {
    let mut grown = GrownTree::default();
    grown.tree.width = n_classes;
    let add = |grown: &mut GrownTree, rows: &[u32]| {
        let mut weights = vec![0.0; n_classes];
        rows.iter().for_each(|&row| weights[codes[row as usize] as usize] += data.row_weight(row as usize));
        let total: f64 = weights.iter().sum();
        grown.tree.value.extend(weights.iter().map(|w| w / total));
        grown.push_leaf(total, Impurity::Error.cost(&weights), rows.len());
    };
    let rows: Vec<u32> = (0..data.n_rows() as u32).collect();
    add(&mut grown, &rows);
    let mut stack = vec![(0usize, found, rows)];
    while let Some((node, found, rows)) = stack.pop() {
        let OptimalSubtree::Split(test, left, right) = found else { continue };
        let Some(feature) = test.feature() else { continue };
        let is_left = |row: &u32| test.branch(data.features().number(*row as usize, feature)) == Some(0);
        let (a, b): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(is_left);
        let first = grown.tree.n_nodes();
        grown.tree.set_test(node, test.clone());
        add(&mut grown, &a);
        add(&mut grown, &b);
        stack.push((first, left, a));
        stack.push((first + 1, right, b));
    }
    grown
}
