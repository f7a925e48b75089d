//! Forest trees on all thresholds, grown by the tree builder of single trees; a row drawn k times has weight k.
//!
//! The sorted orders of a bootstrap sample are derived from those of the full data; the data are not copied.

use super::fitted::FittedForest;
use super::train::{ForestMember, ForestTraining};
use super::{ForestClassWeight, ForestMaxFeatures};
use crate::learner::decision_tree::{DecisionTree, Splitter};
use crate::learner::fitted_tree::importances;
use crate::tree::Forest;
use crate::tree::prune::cost_complexity;
use ermine_core::error::Result;
use ermine_core::learner::Context;
use ermine_core::learner::parameters::{ClassWeight, CountOrFraction, MaxFeatures};
use ermine_core::matrix::Task;
use ermine_core::progress::PartObserver;
use ermine_core::rng::{Purpose, RngExt};

impl ForestTraining<'_> {
    /// Grows exact trees.
    pub(super) fn grow_exact(&self, fitted: &mut FittedForest) -> Result<()> {
        let learner = self.tree_learner();
        // Sorted once; the orders of each sample are derived from it.
        self.data.features().sorted();
        self.each_tree(fitted, |tree| self.exact_tree(&learner, tree))
    }

    fn tree_learner(&self) -> DecisionTree {
        let (s, n) = (self.settings, self.n_draws());
        let max_features = match (s.max_features, self.data.task()) {
            (ForestMaxFeatures::Of(max_features), _) => max_features,
            (ForestMaxFeatures::Auto, Task::Classification) => MaxFeatures::Sqrt,
            (ForestMaxFeatures::Auto, _) => MaxFeatures::All,
        };
        DecisionTree {
            criterion: s.criterion,
            splitter: if s.random_splits { Splitter::Random } else { Splitter::Best },
            max_depth: s.max_depth,
            min_samples_split: CountOrFraction::Count(s.min_samples_split.of(n)),
            min_samples_leaf: CountOrFraction::Count(s.min_samples_leaf.of(n)),
            min_weight_fraction_leaf: s.min_weight_fraction_leaf,
            max_features,
            max_leaf_nodes: s.max_leaf_nodes,
            min_impurity_decrease: s.min_impurity_decrease,
            class_weight: ClassWeight::Equal,
            monotonic_cst: s.monotonic_cst.to_vec(),
            ..Default::default()
        }
    }

    fn exact_tree(&self, learner: &DecisionTree, tree: usize) -> Result<ForestMember> {
        let drawn = self.draws(tree);
        let rows: Vec<u32> = (0..drawn.len() as u32).filter(|&row| drawn[row as usize] > 0).collect();
        let balanced = match self.settings.class_weight {
            ForestClassWeight::BalancedSubsample => Some(self.balanced(&drawn)?),
            ForestClassWeight::Of(_) => None,
        };
        let given = balanced.as_deref().or(self.weight);
        let weight = |&row: &u32| f64::from(drawn[row as usize]) * given.map_or(1.0, |w| w[row as usize]);
        let weight: Vec<f64> = rows.iter().map(weight).collect();
        let plain = weight.iter().all(|&w| w == 1.0);
        let data = self.data.select(&rows)?.with_weight((!plain).then_some(weight))?;
        let seed = Purpose::ForestSplits.stream(self.context.seed, &[tree as u64]).random();
        let own =
            Context { seed, observer: &PartObserver(self.context.observer), ..Context::new(self.context.registry) };
        let mut grown = learner.grow(&data, &own)?;
        if self.settings.ccp_alpha > 0.0 {
            grown = cost_complexity(&grown, self.settings.ccp_alpha);
        }
        let gains = importances(&grown, self.data.features().n_columns());
        Ok((Forest::of(&grown.tree), gains))
    }
}
