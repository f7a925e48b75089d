//! The optimal decision tree: the least training error of all trees of a given depth, proven.
//!
//! **Idea.** CART chooses each split for itself; the best tree of depth 3 may start with a split that looks poor. This learner searches all trees up to a depth, with bounds that pass over most of
//! them, and certifies the result: optimal, or how far from it at most, if time ran out. See [`optimal`](crate::tree::optimal).
//!
//! **Formula.** Minimise the share of the training rows (by weight) that are classified wrongly, plus `leaf_penalty` for each leaf beyond the first.

use super::decision_tree::{DecisionTree, FittedTree, Missing, TreeCriterion};
use super::id3::columns_with_more_categories;
use super::{Capabilities, Context, Family, Info, Learner, Trained};
use crate::split::{Impurity, Test};
use crate::tree::optimal::{ALL_SETS, Found, OptimalOptions, Optimiser, Solution};
use crate::tree::{Grown, prune};
use ermine_core::error::Result;
use ermine_core::learner::parameters::Amount;
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Certificate, Output, Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;
use ermine_core::progress::{Event, Patience, report};
use std::time::{Duration, Instant};

params! {
    /// The tree with the least training error of all trees of a given depth, with proof.
    pub struct OptimalTree("optimal-tree") {
        /// No leaf is deeper than this. Each level multiplies the work.
        max_depth: usize = 3, range Range::between(1.0, 6.0), tune Linear(1, 4);
        /// What each leaf beyond the first costs, as a share of the rows: higher gives smaller trees.
        leaf_penalty: f64 = 0.0, range Range::at_least(0.0), tune Log(1e-4, 0.1);
        /// Every leaf has at least this many rows.
        min_samples_leaf: usize = 1, range Range::at_least(1.0), tune Log(1, 100);
        /// After this many seconds the best tree so far is given, with the gap that is left; none for no limit. A model that was cut short may differ from run to run.
        time_limit: Option<f64> = Some(60.0), range Range::more_than(0.0);
    }
}

static INFO: Info = Info {
    name: "optimal-tree",
    summary: "the tree with the least training error of all trees of a given depth, proven optimal or with the gap left",
    capabilities: Capabilities {
        tasks: &[Task::Classification],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        sparse: false,
        probabilities: true,
        random: false,
    },
    family: Family::Tree,
};

impl Learner for OptimalTree {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (codes, labels) = data.classes()?;
        let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
        let penalty = self.leaf_penalty * total;
        let options = OptimalOptions { max_depth: self.max_depth, penalty, min_samples_leaf: self.min_samples_leaf };
        let deadline = self.time_limit.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds.min(1e9)));
        let greedy = self.best_greedy(data, context, penalty)?;
        report(context.observer, Event::Begin { what: "searching the best tree", total: None })?;
        let patience = Patience::new(deadline, context.observer);
        let mut optimiser = Optimiser::new(data, codes, labels.len(), options, &patience);
        let limit = greedy.1 + 1e-6 * total;
        let solution = match optimiser.solve_binary(limit) {
            Some(solution) => solution,
            None => optimiser.solve_all(limit),
        };
        let timed_out = patience.ran_out()?;
        report(context.observer, Event::End)?;
        // Out of time, a greedy tree may still be the better one; and it may part many categories in ways that are not searched.
        let is_greedy_better = if timed_out { greedy.1 < solution.cost } else { limit <= solution.cost };
        let (grown, value) =
            if is_greedy_better { greedy } else { (plant(data, codes, labels.len(), &solution.tree), solution.cost) };
        let certificate = self.certificate(data, &solution, value / total, total, timed_out);
        let fitted = FittedTree::new(grown, Output::Probabilities, Missing::Learned);
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

impl OptimalTree {
    /// The best of some greedy trees, pruned by the penalty, and its cost.
    fn best_greedy(&self, data: &Dataset, context: &Context<'_>, penalty: f64) -> Result<(Grown, f64)> {
        let mut best: Option<(Grown, f64)> = None;
        for criterion in [TreeCriterion::Gini, TreeCriterion::Entropy, TreeCriterion::Error] {
            let learner = DecisionTree {
                criterion: Some(criterion),
                max_depth: Some(self.max_depth),
                min_samples_leaf: Amount::Count(self.min_samples_leaf),
                ..Default::default()
            };
            let mut grown = learner.grow(data, context)?;
            let errors = |grown: &Grown, node: usize| {
                let best = grown.tree.value(node).iter().fold(0.0f64, |best, &share| best.max(share));
                grown.tree.weight[node] * (1.0 - best)
            };
            grown.cost = (0..grown.tree.n_nodes()).map(|node| errors(&grown, node)).collect();
            let grown = prune::cost_complexity(&grown, self.leaf_penalty);
            let leaves = (0..grown.tree.n_nodes()).filter(|&node| grown.tree.children(node).is_empty());
            let (mut cost, mut n_leaves) = (0.0, 0.0);
            leaves.for_each(|leaf| {
                cost += grown.cost[leaf];
                n_leaves += 1.0;
            });
            cost += penalty * (n_leaves - 1.0);
            if best.as_ref().is_none_or(|best| cost < best.1) {
                best = Some((grown, cost));
            }
        }
        best.ok_or_else(|| ermine_core::error::Error::data("there is no tree to start from"))
    }

    fn certificate(&self, data: &Dataset, solution: &Solution, value: f64, total: f64, timed_out: bool) -> Certificate {
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

/// The found tree with the rows of the data in it.
fn plant(data: &Dataset, codes: &[u32], n_classes: usize, found: &Found) -> Grown {
    let mut grown = Grown::default();
    grown.tree.width = n_classes;
    let add = |grown: &mut Grown, rows: &[u32]| {
        let mut weights = vec![0.0; n_classes];
        rows.iter().for_each(|&row| weights[codes[row as usize] as usize] += data.row_weight(row as usize));
        let total: f64 = weights.iter().sum();
        grown.tree.test.push(Test::Leaf);
        grown.tree.child.push(0);
        grown.tree.weight.push(total);
        grown.tree.value.extend(weights.iter().map(|w| w / total));
        grown.cost.push(Impurity::Error.cost(&weights));
        grown.count.push(rows.len() as u32);
    };
    let rows: Vec<u32> = (0..data.n_rows() as u32).collect();
    add(&mut grown, &rows);
    let mut stack = vec![(0usize, found, rows)];
    while let Some((node, found, rows)) = stack.pop() {
        let Found::Split(test, left, right) = found else { continue };
        let Some(feature) = test.feature() else { continue };
        let is_left = |row: &u32| test.branch(data.features().number(*row as usize, feature)) == Some(0);
        let (a, b): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(is_left);
        let first = grown.tree.n_nodes();
        grown.tree.test[node] = test.clone();
        grown.tree.child[node] = first as u32;
        add(&mut grown, &a);
        add(&mut grown, &b);
        stack.push((first, left, a));
        stack.push((first + 1, right, b));
    }
    grown
}
