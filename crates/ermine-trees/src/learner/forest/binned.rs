//! Forest trees on histogram bins: chooses the bin statistics for the target and the weights.

use super::fitted::FittedForest;
use super::train::ForestTraining;
use super::{ForestClassWeight, train};
use crate::learner::decision_tree::TreeCriterion;
use crate::split::Impurity;
use crate::split::bin_statistics::{BinStatistics, PackedStatistics, SampledRow};
use crate::split::class_counts::ClassCountStatistics;
use crate::split::target_sums::TargetSumStatistics;
use crate::tree::binned_rows::{BinnedRows, ForestTreeLimits};
use crate::tree::{DEFAULT_MAX_DEPTH, Forest};
use ermine_core::error::Result;
use ermine_core::matrix::Target;
use ermine_core::matrix::ranked::{ranked_bins, ranked_sparse_bins};
use ermine_core::rng::Purpose;
use std::borrow::Cow;

impl ForestTraining<'_> {
    /// Grows trees on histogram bins.
    pub(super) fn grow_on_bins(&self, fitted: &mut FittedForest) -> Result<()> {
        let (features, n_rows) = (self.data.features(), self.data.n_rows());
        if BinnedRows::is_wide(features.n_columns()) && features.is_sparse() {
            let (bins, columns) = ranked_sparse_bins(features, self.settings.max_bins);
            return self.grow_on_rows(&BinnedRows::of_sparse(&bins, columns, n_rows), fitted);
        }
        let (bins, binned) = ranked_bins(features, self.settings.max_bins);
        self.grow_on_rows(&BinnedRows::new(&bins, &binned, n_rows), fitted)
    }

    fn grow_on_rows(&self, lines: &BinnedRows<'_>, fitted: &mut FittedForest) -> Result<()> {
        let grower = BinnedForestGrowth { job: self, lines, limits: self.limits(), criterion: self.bin_criterion() };
        match self.data.target() {
            Target::Classes { codes, labels } => grower.classes(codes, labels.len(), fitted),
            Target::Values { values, n_outputs } => grower.numbers(values, *n_outputs, fitted),
        }
    }

    fn bin_criterion(&self) -> Impurity {
        match self.settings.criterion {
            Some(TreeCriterion::Entropy | TreeCriterion::LogLoss) => Impurity::Entropy,
            _ => Impurity::Gini,
        }
    }

    fn limits(&self) -> ForestTreeLimits {
        let (s, n) = (self.settings, self.n_draws());
        let (d, task) = (self.data.features().n_columns(), self.data.task());
        let total = self.weight.map_or(n as f64, |w| w.iter().sum::<f64>() * n as f64 / w.len() as f64);
        ForestTreeLimits {
            max_features: s.max_features.of(d, task),
            max_depth: s.max_depth.unwrap_or(DEFAULT_MAX_DEPTH),
            min_samples_split: s.min_samples_split.of(n) as f64,
            min_samples_leaf: s.min_samples_leaf.of(n) as f64,
            min_weight_leaf: s.min_weight_fraction_leaf * total,
            min_gain: s.min_impurity_decrease * total,
            max_leaf_nodes: s.max_leaf_nodes,
            random_splits: s.random_splits,
        }
    }

    /// The number of outputs of a tree.
    fn width(&self) -> usize {
        match self.data.target() {
            Target::Classes { labels, .. } => labels.len(),
            Target::Values { n_outputs, .. } => *n_outputs,
        }
    }

    /// An upper bound of the total weight of a tree's rows.
    fn most_weight(&self) -> u64 {
        let heaviest = self.weight.map_or(1.0, |w| w.iter().fold(1.0, |a: f64, &b| a.max(b)));
        self.data.n_rows() as u64 * heaviest as u64
    }
}

/// The weights as small integers, if they are; only those work with integer statistics.
fn whole(weight: &[f64]) -> Option<Vec<u16>> {
    weight.iter().map(|&w| (w.fract() == 0.0 && w <= 1000.0).then_some(w as u16)).collect()
}

/// Normalizes numbers to a sum of 1.
fn shares(sums: impl Iterator<Item = f64> + Clone, out: &mut [f64]) {
    let total: f64 = sums.clone().sum();
    out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum / total);
}

/// The rows of a leaf.
type LeafRows<'i> = &'i mut dyn Iterator<Item = SampledRow>;

struct BinnedForestGrowth<'a> {
    job: &'a ForestTraining<'a>,
    lines: &'a BinnedRows<'a>,
    limits: ForestTreeLimits,
    criterion: Impurity,
}

impl BinnedForestGrowth<'_> {
    fn classes(&self, codes: &[u32], n_classes: usize, fitted: &mut FittedForest) -> Result<()> {
        let (job, criterion) = (self.job, self.criterion);
        let class = |row: usize| codes[row] as i32;
        let of_sums = |_: LeafRows<'_>, sums: &[f64], out: &mut [f64]| shares(sums[2..].iter().copied(), out);
        let sums =
            |weight| TargetSumStatistics { weight, classes: Some(codes), values: &[], n_targets: n_classes, criterion };
        if *job.settings.class_weight == ForestClassWeight::BalancedSubsample {
            return self.grow_each(fitted, |drawn| Ok(sums(Cow::Owned(job.balanced(drawn)?))), class, of_sums);
        }
        if let Some(weight) = job.weight.filter(|weight| whole(weight).is_none()) {
            return self.grow(fitted, &sums(Cow::Borrowed(weight)), class, of_sums);
        }
        if n_classes <= 2 {
            let packed = PackedStatistics::new(job.most_weight(), criterion, true).0;
            let value = |_: LeafRows<'_>, sums: &[u64], out: &mut [f64]| match out {
                [first, second] => {
                    *second = packed.order(sums, sums);
                    *first = 1.0 - *second;
                }
                _ => out.fill(1.0),
            };
            return self.grow(fitted, &packed, class, value);
        }
        let value = |_: LeafRows<'_>, sums: &[u32], out: &mut [f64]| shares(sums.iter().map(|&c| f64::from(c)), out);
        self.grow(fitted, &ClassCountStatistics { n_classes, criterion }, class, value)
    }

    /// Grows regression trees: with integer statistics for a single target and integer weights, otherwise in f64.
    fn numbers(&self, values: &[f64], n_outputs: usize, fitted: &mut FittedForest) -> Result<()> {
        let weight = self.job.weight;
        let of_row = |row: u32| weight.map_or(1.0, |w| w[row as usize]);
        let whole_weights = weight.is_none_or(|w| whole(w).is_some());
        let mean = |items: LeafRows<'_>, sums: &mut [f64]| {
            let mut total = 0.0;
            sums.fill(0.0);
            for item in items {
                let w = if whole_weights { f64::from(item.weight) } else { f64::from(item.weight) * of_row(item.row) };
                let ys = &values[item.row as usize * n_outputs..(item.row as usize + 1) * n_outputs];
                sums.iter_mut().zip(ys).for_each(|(sum, y)| *sum += w * y);
                total += w;
            }
            sums.iter_mut().for_each(|sum| *sum /= total);
        };
        if n_outputs == 1 && whole_weights {
            let (packed, most) = PackedStatistics::new(self.job.most_weight(), Impurity::Gini, false);
            let steps = TargetQuantizer::new(values, most);
            return self.grow(fitted, &packed, |row| steps.of(values[row]), |items, _, out| mean(items, out));
        }
        let n = self.job.data.n_rows();
        let means: Vec<f64> =
            (0..n_outputs).map(|k| values.iter().skip(k).step_by(n_outputs).sum::<f64>() / n as f64).collect();
        let centered: Vec<f64> = values.iter().enumerate().map(|(i, y)| y - means[i % n_outputs]).collect();
        // Integer weights are part of the draws already.
        let weight = weight.filter(|_| !whole_weights).map_or_else(|| Cow::Owned(vec![1.0; n]), Cow::Borrowed);
        let sums = TargetSumStatistics {
            weight,
            classes: None,
            values: &centered,
            n_targets: n_outputs,
            criterion: Impurity::Gini,
        };
        self.grow(fitted, &sums, |_| 0, |items, _, out| mean(items, out))
    }

    /// Grows all trees with the same statistics.
    fn grow<S: BinStatistics>(
        &self,
        fitted: &mut FittedForest,
        statistics: &S,
        target: impl Fn(usize) -> i32 + Sync,
        value: impl Fn(LeafRows<'_>, &[S::Number], &mut [f64]) + Sync,
    ) -> Result<()> {
        let given = self.job.weight.and_then(whole);
        self.job.each_tree(fitted, |tree| {
            let mut drawn = self.job.draws(tree);
            if let Some(given) = &given {
                drawn.iter_mut().zip(given).for_each(|(drawn, w)| *drawn = drawn.saturating_mul(*w));
            }
            Ok(self.tree(tree, statistics, &drawn, &target, &value))
        })
    }

    /// Grows each tree with its own statistics, which depend on the bootstrap sample.
    fn grow_each<S: BinStatistics>(
        &self,
        fitted: &mut FittedForest,
        statistics: impl Fn(&[u16]) -> Result<S> + Sync,
        target: impl Fn(usize) -> i32 + Sync,
        value: impl Fn(LeafRows<'_>, &[S::Number], &mut [f64]) + Sync,
    ) -> Result<()> {
        self.job.each_tree(fitted, |tree| {
            let drawn = self.job.draws(tree);
            Ok(self.tree(tree, &statistics(&drawn)?, &drawn, &target, &value))
        })
    }

    fn tree<S: BinStatistics>(
        &self,
        tree: usize,
        statistics: &S,
        drawn: &[u16],
        target: impl Fn(usize) -> i32,
        value: impl Fn(LeafRows<'_>, &[S::Number], &mut [f64]),
    ) -> train::ForestMember {
        let rng = Purpose::ForestSplits.stream(self.job.context.seed, &[tree as u64]);
        let grown = self.lines.grow(statistics, drawn, target, &self.limits, rng, (self.job.width(), value));
        (Forest::of(&grown.tree), grown.gains)
    }
}

/// Quantizes targets to integers.
struct TargetQuantizer {
    middle: f64,
    scale: f64,
    most: i32,
}

impl TargetQuantizer {
    fn new(values: &[f64], most: i32) -> TargetQuantizer {
        let grow = |(low, high): (f64, f64), &y: &f64| (low.min(y), high.max(y));
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), grow);
        let half = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
        TargetQuantizer { middle: low / 2.0 + high / 2.0, scale: f64::from(most) / half, most }
    }

    fn of(&self, y: f64) -> i32 {
        // The scale may underflow to zero or overflow to infinity for extreme ranges; then all targets are equal.
        let step = ((y - self.middle) * self.scale).round();
        if step.is_finite() { (step as i64).clamp(-i64::from(self.most), i64::from(self.most)) as i32 } else { 0 }
    }
}
