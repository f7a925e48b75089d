//! From data to trees: draw rows, choose the statistics that fit the target, grow trees side by side.

use super::fitted::{FittedForest, OutOfBag};
use super::{Amount, ClassWeight, ColumnsTried};
use crate::error::{Error, Result};
use crate::learner::{Context, Trained};
use crate::matrix::ranked::ranked_bins;
use crate::matrix::{Dataset, Target, Task};
use crate::model::{Certificate, Output, Proof, Status};
use crate::progress::{Event, report};
use crate::rng::{self, Rng};
use crate::split::cells::{Counts, ForestCriterion, Item, Packed, Statistics, Sums};
use crate::tree::Forest;
use crate::tree::lines::{Grown, Limits, Lines};
use rayon::prelude::*;

/// The random streams of a tree: which rows it sees, and which splits it tries.
const ROWS: u64 = 20;
const SPLITS: u64 = 21;

/// Trees between two reports of progress.
const BATCH: usize = 32;

/// The parameters of both forests.
pub struct Settings<'a> {
    pub(super) n_estimators: usize,
    pub(super) criterion: ForestCriterion,
    pub(super) max_depth: Option<usize>,
    pub(super) min_samples_split: Amount,
    pub(super) min_samples_leaf: Amount,
    pub(super) min_weight_fraction_leaf: f64,
    pub(super) max_features: ColumnsTried,
    pub(super) max_leaf_nodes: Option<usize>,
    pub(super) min_impurity_decrease: f64,
    pub(super) bootstrap: bool,
    pub(super) max_samples: Option<Amount>,
    pub(super) class_weight: &'a ClassWeight,
    pub(super) oob_score: bool,
    pub(super) max_bins: usize,
    pub(super) random_splits: bool,
}

/// Trains a forest.
pub fn train(settings: &Settings<'_>, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
    settings.check()?;
    let (bins, binned) = ranked_bins(data.features(), settings.max_bins);
    let lines = Lines::new(&bins, &binned, data.n_rows());
    let weight = settings.class_weight.apply(data)?.or_else(|| data.weight().map(<[f64]>::to_vec));
    let job = Job { settings, data, lines: &lines, context, weight: &weight };
    let (forest, gains) = match (&weight, data.target()) {
        (Some(weight), Target::Classes { codes, labels }) if whole(weight).is_none() => {
            let (weight, n_targets, criterion) = (weight, labels.len(), settings.criterion);
            let sums = Sums { weight, classes: Some(codes), values: &[], n_targets, criterion };
            job.grow(&sums, |row| codes[row] as i32, |_, sums| shares(&sums[2..]))?
        }
        (_, Target::Classes { codes, labels }) if labels.len() <= 2 => {
            let packed = Packed::new(job.most_weight(), settings.criterion, true).0;
            let one_class = labels.len() == 1;
            let value = |_: &mut dyn Iterator<Item = Item>, sums: &[u64]| {
                let second = packed.order(sums, sums);
                if one_class { vec![1.0] } else { vec![1.0 - second, second] }
            };
            job.grow(&packed, |row| codes[row] as i32, value)?
        }
        (_, Target::Classes { codes, labels }) => {
            let counts = Counts { n_classes: labels.len(), criterion: settings.criterion };
            let value = |_: &mut dyn Iterator<Item = Item>, sums: &[u32]| {
                shares(&sums.iter().map(|&c| f64::from(c)).collect::<Vec<f64>>())
            };
            job.grow(&counts, |row| codes[row] as i32, value)?
        }
        (weight, Target::Values { values, n_outputs }) => job.grow_numbers(values, *n_outputs, weight.as_deref())?,
    };
    let output = if data.task() == Task::Classification { Output::Probabilities } else { Output::Values };
    let importances = importances(&gains);
    let mut fitted = FittedForest { forest, output, importances, out_of_bag: None };
    if settings.oob_score {
        fitted.out_of_bag = job.out_of_bag(&fitted)?;
    }
    let certificate = job.certificate(&fitted);
    Ok(Trained { fitted: Box::new(fitted), certificate })
}

impl Settings<'_> {
    fn check(&self) -> Result<()> {
        let refuse = |name: &str, value: String, allowed: &str| {
            let owner = if self.random_splits { "extra-trees" } else { "random-forest" };
            Err(Error::Param { owner: owner.into(), name: name.into(), value, allowed: allowed.into() })
        };
        if !self.bootstrap && self.oob_score {
            return refuse("oob_score", "true".into(), "false, or bootstrap = true");
        }
        if !self.bootstrap && self.max_samples.is_some() {
            return refuse("max_samples", "a number".into(), "none, or bootstrap = true");
        }
        Ok(())
    }
}

/// Weights that are small whole numbers, which the fast statistics can take.
fn whole(weight: &[f64]) -> Option<Vec<u16>> {
    weight.iter().map(|&w| (w.fract() == 0.0 && w <= 1000.0).then_some(w as u16)).collect()
}

fn shares(sums: &[f64]) -> Vec<f64> {
    let total: f64 = sums.iter().sum();
    sums.iter().map(|s| s / total).collect()
}

/// The gains of each tree as shares, and their mean over the trees that have any.
fn importances(gains: &[Vec<f64>]) -> Vec<f64> {
    let mut mean = vec![0.0; gains.first().map_or(0, Vec::len)];
    for gains in gains {
        let total: f64 = gains.iter().sum();
        if total > 0.0 {
            mean.iter_mut().zip(gains).for_each(|(m, g)| *m += g / total);
        }
    }
    let total: f64 = mean.iter().sum();
    if total > 0.0 {
        mean.iter_mut().for_each(|m| *m /= total);
    }
    mean
}

/// All that growing the trees of a forest needs.
struct Job<'a> {
    settings: &'a Settings<'a>,
    data: &'a Dataset,
    lines: &'a Lines<'a>,
    context: &'a Context<'a>,
    weight: &'a Option<Vec<f64>>,
}

impl Job<'_> {
    /// How often each row was drawn for a tree.
    fn draws(&self, tree: usize) -> Vec<u16> {
        let n = self.data.n_rows();
        if !self.settings.bootstrap {
            return vec![1; n];
        }
        let mut rng = rng::stream(self.context.seed, &[ROWS, tree as u64]);
        let mut drawn = vec![0u16; n];
        for _ in 0..self.n_draws() {
            let row = &mut drawn[rng::below(&mut rng, n)];
            *row = row.saturating_add(1);
        }
        drawn
    }

    fn n_draws(&self) -> usize {
        let n = self.data.n_rows();
        self.settings.max_samples.map_or(n, |amount| amount.of(n).clamp(1, n))
    }

    /// What the weights of a tree's rows add up to, at most.
    fn most_weight(&self) -> u64 {
        let heaviest = self.weight.as_ref().map_or(1.0, |w| w.iter().fold(1.0, |a: f64, &b| a.max(b)));
        self.data.n_rows() as u64 * heaviest as u64
    }

    fn limits(&self) -> Limits {
        let (s, n) = (self.settings, self.n_draws());
        let (d, task) = (self.data.features().n_columns(), self.data.task());
        let total = self.weight.as_ref().map_or(n as f64, |w| w.iter().sum::<f64>() * n as f64 / w.len() as f64);
        Limits {
            max_features: s.max_features.of(d, task),
            max_depth: s.max_depth.unwrap_or(usize::MAX),
            min_samples_split: s.min_samples_split.of(n) as f64,
            min_samples_leaf: s.min_samples_leaf.of(n) as f64,
            min_weight_leaf: s.min_weight_fraction_leaf * total,
            min_gain: s.min_impurity_decrease * total,
            max_leaf_nodes: s.max_leaf_nodes,
            random_splits: s.random_splits,
        }
    }

    /// Grows all trees with the given statistics.
    fn grow<S: Statistics>(
        &self,
        statistics: &S,
        target: impl Fn(usize) -> i32 + Sync,
        value: impl Fn(&mut dyn Iterator<Item = Item>, &[S::Number]) -> Vec<f64> + Sync,
    ) -> Result<(Forest, Vec<Vec<f64>>)> {
        let limits = self.limits();
        let given = self.weight.as_ref().and_then(|weight| whole(weight));
        let tree = |tree: usize| -> Grown {
            let mut drawn = self.draws(tree);
            if let Some(given) = &given {
                drawn.iter_mut().zip(given).for_each(|(drawn, w)| *drawn = drawn.saturating_mul(*w));
            }
            let rng: Rng = rng::stream(self.context.seed, &[SPLITS, tree as u64]);
            self.lines.grow(statistics, &drawn, &target, &limits, rng, &value)
        };
        let n = self.settings.n_estimators;
        report(self.context.observer, Event::Begin { what: "trees", total: Some(n as u64) })?;
        let mut forest: Option<Forest> = None;
        let mut gains = Vec::new();
        for first in (0..n).step_by(BATCH) {
            let last = (first + BATCH).min(n);
            let grown: Vec<Grown> = (first..last).into_par_iter().with_max_len(1).map(tree).collect();
            for grown in grown {
                forest.get_or_insert_with(|| Forest::new(grown.tree.width)).push(&grown.tree);
                gains.push(grown.gains);
            }
            report(self.context.observer, Event::Step { done: last as u64, score: None })?;
        }
        report(self.context.observer, Event::End)?;
        Ok((forest.unwrap_or_default(), gains))
    }

    /// Grows all trees for numbers: one without weights in steps of its range, others in f64.
    fn grow_numbers(
        &self,
        values: &[f64],
        n_outputs: usize,
        weight: Option<&[f64]>,
    ) -> Result<(Forest, Vec<Vec<f64>>)> {
        let of_row = |row: u32| weight.map_or(1.0, |w| w[row as usize]);
        let whole_weights = weight.is_none_or(|w| whole(w).is_some());
        let mean = |items: &mut dyn Iterator<Item = Item>| {
            let (mut sums, mut total) = (vec![0.0; n_outputs], 0.0);
            for item in items {
                let w = if whole_weights { f64::from(item.weight) } else { f64::from(item.weight) * of_row(item.row) };
                let ys = &values[item.row as usize * n_outputs..(item.row as usize + 1) * n_outputs];
                sums.iter_mut().zip(ys).for_each(|(sum, y)| *sum += w * y);
                total += w;
            }
            sums.iter_mut().for_each(|sum| *sum /= total);
            sums
        };
        if n_outputs == 1 && whole_weights {
            let (packed, most) = Packed::new(self.most_weight(), ForestCriterion::Gini, false);
            let steps = Steps::new(values, most);
            return self.grow(&packed, |row| steps.of(values[row]), |items, _| mean(items));
        }
        let means: Vec<f64> = (0..n_outputs)
            .map(|k| values.iter().skip(k).step_by(n_outputs).sum::<f64>() / self.data.n_rows() as f64)
            .collect();
        let centred: Vec<f64> = values.iter().enumerate().map(|(i, y)| y - means[i % n_outputs]).collect();
        let ones = vec![1.0; self.data.n_rows()];
        // Whole weights are in the draws already.
        let weight = if whole_weights { &ones } else { weight.unwrap_or(&ones) };
        let sums =
            Sums { weight, classes: None, values: &centred, n_targets: n_outputs, criterion: ForestCriterion::Gini };
        self.grow(&sums, |_| 0, |items, _| mean(items))
    }

    /// What each row is given by the trees that didn't see it.
    fn out_of_bag(&self, fitted: &FittedForest) -> Result<Option<OutOfBag>> {
        let (n, width) = (self.data.n_rows(), fitted.forest.width());
        let mut sums = vec![0.0; n * width];
        let mut counts = vec![0u32; n];
        for tree in 0..fitted.forest.n_trees() {
            let drawn = self.draws(tree);
            let rows: Vec<u32> = (0..n as u32).filter(|&row| drawn[row as usize] == 0).collect();
            let said = fitted.forest.sum_of(tree..tree + 1, &self.data.features().select(&rows)?);
            for (&row, said) in rows.iter().zip(said.chunks(width)) {
                counts[row as usize] += 1;
                sums[row as usize * width..][..width].iter_mut().zip(said).for_each(|(sum, v)| *sum += v);
            }
        }
        sums.chunks_mut(width)
            .zip(&counts)
            .for_each(|(sums, &count)| sums.iter_mut().for_each(|s| *s /= f64::from(count)));
        Ok(OutOfBag::new(sums, width, self.data))
    }

    fn certificate(&self, fitted: &FittedForest) -> Certificate {
        let objective = match (self.data.task(), self.settings.criterion) {
            (Task::Classification, ForestCriterion::Gini) => "Gini impurity of the leaves, tree by tree",
            (Task::Classification, ForestCriterion::Entropy) => "entropy of the leaves, tree by tree",
            _ => "squared error of the leaves, tree by tree",
        };
        let mut notes = vec![format!("splits are between bins, at most {} for each column", self.settings.max_bins)];
        if let Some(oob) = &fitted.out_of_bag {
            notes.push(format!(
                "out-of-bag {}: {:.6} on {} rows",
                oob.measure(self.data.task()),
                oob.score,
                oob.n_judged
            ));
        }
        let proofs = vec![Proof::Nothing { because: "trees are grown greedily, on random rows and columns".into() }];
        Certificate { objective: objective.into(), value: None, status: Status::Done, proofs, notes }
    }
}

/// A number as a whole number of steps of its range.
struct Steps {
    middle: f64,
    scale: f64,
    most: i32,
}

impl Steps {
    fn new(values: &[f64], most: i32) -> Steps {
        let grow = |(low, high): (f64, f64), &y: &f64| (low.min(y), high.max(y));
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), grow);
        let half = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
        Steps { middle: low / 2.0 + high / 2.0, scale: f64::from(most) / half, most }
    }

    fn of(&self, y: f64) -> i32 {
        // Of a huge range the scale may be zero, and of a tiny one infinite: then all steps are alike, which splits can't tell apart.
        let step = ((y - self.middle) * self.scale).round();
        if step.is_finite() { (step as i64).clamp(-i64::from(self.most), i64::from(self.most)) as i32 } else { 0 }
    }
}
