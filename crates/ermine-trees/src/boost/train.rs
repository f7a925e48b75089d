//! The rounds of boosting: early stopping, dropout (DART), continued training.
//!
//! **DART.** In each round some of the earlier rounds are dropped at random, and the new trees are fitted to the gradients without them. With k rounds dropped, the new trees are scaled by
//! 1 / (k + learning_rate) and the dropped ones by k / (k + learning_rate). **Reference.** Rashmi and Gilad-Bachrach, DART: Dropouts meet Multiple
//! Additive Regression Trees, 2015.

use super::grow::{HistogramPool, TreeGrower, TreeInputs, TreeOptions};
use super::grown::BinnedTree;
use super::leaves::GrownLeaves;
use super::objective::Objective;
use super::sample::{self, BootstrapWeights, Goss, RowSampler};
use super::shard::Shard;
use super::symmetric;
use super::team::{Team, with_team};
use crate::split::histogram::quantize::{GradientExtent, quantize};
use crate::split::histogram::store::BLOCK;
use crate::split::histogram::{BinStore, GradientScale};
use ermine_core::error::{Error, Result};
use ermine_core::parallel;
use ermine_core::progress::{Event, Observer, report};
use ermine_core::rng::{Purpose, RngExt};
use std::ops::Range;

/// Values (rows x columns) below which one thread is faster than several.
const SINGLE_THREAD_VALUES: usize = 400_000;

/// Most shards of rows for each thread of the team, where more threads are requested than there are cores.
const SHARDS_PER_THREAD: usize = 4;

/// Bytes of histograms up to which the trees of all classes are grown together.
const SHARED_HISTOGRAMS: usize = 256 << 20;

/// The options of a training run.
pub struct TrainingOptions<'a> {
    /// The number of the first round: the rounds of the model to continue from.
    pub first_round: usize,
    /// The number of rounds, earlier ones included.
    pub n_estimators: usize,
    /// The trees of the earlier rounds, if they may be dropped; then they are among the trees of the result.
    pub earlier: Vec<BinnedTree>,
    /// The options of trees.
    pub tree: TreeOptions,
    /// The fraction of the rows that is sampled for each round.
    pub subsample: f64,
    /// Gradient-based sampling of rows.
    pub goss: Option<Goss>,
    /// Trees are grown on rows with random weights.
    pub bayesian: bool,
    /// The probability of dropping each earlier round.
    pub rate_drop: f64,
    /// The fraction of the columns that is sampled for each tree.
    pub colsample_bytree: f64,
    /// Sums of gradients are as precise as possible.
    pub exact: bool,
    /// Stop when the validation metric has not improved for this many rounds.
    pub early_stopping_rounds: Option<usize>,
    /// The validation metric in place of the loss.
    pub metric: Option<ScoreMetric<'a>>,
    /// The validation metric after each of the earlier rounds.
    pub history: Vec<f64>,
    /// Random seed.
    pub seed: u64,
    /// The number of threads.
    pub threads: usize,
    /// Receives progress.
    pub observer: &'a dyn Observer,
    /// Called with the trees so far after every so many rounds.
    pub checkpoint: Option<(usize, TreeCheckpoint<'a>)>,
}

/// Receives the trees so far, and the validation metric after each round.
pub type TreeCheckpoint<'a> = &'a (dyn Fn(&[BinnedTree], &[f64]) -> Result<()> + Sync);

/// The validation metric of scores, row by row; lower is better.
pub type ScoreMetric<'a> = &'a (dyn Fn(&[f64]) -> Result<f64> + Sync);

/// The rows of a training set or a validation set.
pub struct TrainingRows {
    /// Their bins.
    pub store: BinStore,
    /// The objective over them.
    pub objective: Box<dyn Objective>,
    /// Their initial scores, row by row.
    pub scores: Vec<f64>,
}

/// The result of a training run.
#[derive(Debug, Clone, Default)]
pub struct TrainingHistory {
    /// Round after round, one tree for each output.
    pub trees: Vec<BinnedTree>,
    /// The number of rounds to keep, earlier ones included.
    pub n_rounds: usize,
    /// The mean loss on the training set after all rounds.
    pub loss: f64,
    /// The validation metric after each round, earlier ones included.
    pub history: Vec<f64>,
    /// Whether training stopped early.
    pub stopped_early: bool,
}

/// A training run.
struct Trainer<'a> {
    options: &'a TrainingOptions<'a>,
    team: &'a Team<'a>,
    rows: &'a TrainingRows,
    validation: Option<&'a TrainingRows>,
    shards: Vec<Shard>,
    validation_shards: Vec<Shard>,
    pools: (HistogramPool<1>, HistogramPool<2>),
}

/// Whether training on so many rows and columns is faster on one thread than on several.
pub fn takes_one_thread(n_rows: usize, n_columns: usize) -> bool {
    n_rows * n_columns < SINGLE_THREAD_VALUES
}

impl TrainingOptions<'_> {
    /// Trains on `rows`, with early stopping on `validation`.
    pub fn train(&self, rows: &TrainingRows, validation: Option<&TrainingRows>) -> Result<TrainingHistory> {
        let n = rows.store.n_rows();
        let threads = if takes_one_thread(n, rows.store.n_columns()) {
            1
        } else {
            self.threads.clamp(1, n.div_ceil(BLOCK).max(2))
        };
        // More threads than cores would only wait for each other.
        let size = threads.min(parallel::available_threads());
        let n_shards = threads.min(SHARDS_PER_THREAD * size);
        with_team(size, |team| {
            let shards = shards(rows, n_shards);
            let validation_shards = validation.map(|rows| self::shards(rows, n_shards)).unwrap_or_default();
            let pools = (HistogramPool::default(), HistogramPool::default());
            Trainer { options: self, team, rows, validation, shards, validation_shards, pools }.rounds()
        })
    }
}

impl Trainer<'_> {
    fn rounds(&mut self) -> Result<TrainingHistory> {
        let options = self.options;
        let k = self.rows.objective.n_scores();
        let mut trained =
            TrainingHistory { trees: options.earlier.clone(), history: options.history.clone(), ..Default::default() };
        let total = options.n_estimators.saturating_sub(options.first_round);
        report(options.observer, Event::Begin { what: "boosting", total: Some(total as u64) })?;
        let mut done = 0;
        while done < total && !self.is_stopping(&trained.history) {
            self.round(options.first_round + done, k, &mut trained.trees)?;
            done += 1;
            let score = self.validation_score()?.map(|loss| {
                trained.history.push(loss);
                ("validation loss", loss)
            });
            if let Some((every, save)) = options.checkpoint
                && done.is_multiple_of(every.max(1))
            {
                save(&trained.trees, &trained.history)?;
            }
            report(options.observer, Event::Step { done: done as u64, score })?;
        }
        trained.n_rounds = options.first_round + done;
        if options.early_stopping_rounds.is_some() && !trained.history.is_empty() {
            trained.stopped_early = self.is_stopping(&trained.history);
            trained.n_rounds = best_of(&trained.history) + 1;
        }
        trained.loss = mean_loss(self.team, &*self.rows.objective, &self.shards);
        report(options.observer, Event::End)?;
        Ok(trained)
    }

    /// Whether the validation metric has not improved for long enough.
    fn is_stopping(&self, history: &[f64]) -> bool {
        self.options.early_stopping_rounds.is_some_and(|rounds| history.len() > best_of(history) + rounds)
    }

    /// The validation metric of the scores so far.
    fn validation_score(&self) -> Result<Option<f64>> {
        let Some(validation) = self.validation else { return Ok(None) };
        let Some(metric) = self.options.metric else {
            return Ok(Some(mean_loss(self.team, &*validation.objective, &self.validation_shards)));
        };
        let mut scores = Vec::with_capacity(validation.scores.len());
        for shard in &self.validation_shards {
            scores.extend((0..shard.rows().len()).flat_map(|i| shard.scores.iter().map(move |of| of[i])));
        }
        metric(&scores).map(Some)
    }

    /// One tree for each output.
    fn round(&mut self, round: usize, k: usize, trees: &mut Vec<BinnedTree>) -> Result<()> {
        let dropped = self.dropped(round, trees.len() / k);
        let each = |dropped: &[usize]| dropped.iter().flat_map(|r| r * k..(r + 1) * k).collect::<Vec<_>>();
        let dropped_trees = each(&dropped);
        dropped_trees.iter().for_each(|&number| self.add_everywhere(&trees[number], number % k, -1.0));
        self.compute_gradients()?;
        if self.options.bayesian {
            let weights = BootstrapWeights::new(self.options.seed, round as u64);
            self.team.each(&mut self.shards, |_, shard| shard.weigh(weights));
        }
        let keeps = self.sampled_rows(round, k);
        let rate = self.options.tree.learning_rate;
        let share = if dropped.is_empty() { 1.0 } else { 1.0 / (dropped.len() as f64 + rate) };
        let together = if self.grows_together(k) { k } else { 1 };
        for outputs in (0..k).step_by(together).map(|first| first..first + together) {
            let grown = self.trees(&keeps, round, outputs.clone(), share)?;
            if let Some(validation) = self.validation {
                let store = &validation.store;
                self.team.each(&mut self.validation_shards, |_, shard| {
                    grown.iter().zip(outputs.clone()).for_each(|(tree, output)| walk(store, tree, shard, output, 1.0));
                });
            }
            trees.extend(grown);
        }
        for number in dropped_trees {
            let count = dropped.len() as f64;
            trees[number].value.iter_mut().for_each(|value| *value *= count / (count + rate));
            self.add_everywhere(&trees[number], number % k, 1.0);
        }
        Ok(())
    }

    /// The rounds that are dropped.
    fn dropped(&self, round: usize, n_rounds: usize) -> Vec<usize> {
        if self.options.rate_drop == 0.0 {
            return Vec::new();
        }
        let mut stream = Purpose::BoostingDropout.stream(self.options.seed, &[round as u64]);
        (0..n_rounds).filter(|_| stream.random::<f64>() < self.options.rate_drop).collect()
    }

    /// Adds a tree, times `sign`, to all scores by walking it.
    fn add_everywhere(&mut self, tree: &BinnedTree, output: usize, sign: f64) {
        let store = &self.rows.store;
        self.team.each(&mut self.shards, |_, shard| walk(store, tree, shard, output, sign));
        if let Some(validation) = self.validation {
            let store = &validation.store;
            self.team.each(&mut self.validation_shards, |_, shard| walk(store, tree, shard, output, sign));
        }
    }

    fn compute_gradients(&mut self) -> Result<()> {
        let objective = &*self.rows.objective;
        self.team.each(&mut self.shards, |_, shard| {
            let rows = shard.rows();
            let scores: Vec<&[f64]> = shard.scores.iter().map(Vec::as_slice).collect();
            let mut gradient: Vec<&mut [f32]> = shard.gradient.iter_mut().map(Vec::as_mut_slice).collect();
            let mut curvature: Vec<&mut [f32]> = shard.curvature.iter_mut().map(Vec::as_mut_slice).collect();
            objective.gradients(rows, &scores, &mut gradient, &mut curvature);
        });
        objective.failure().map_or(Ok(()), Err)
    }

    /// The rows of each shard that are sampled for this round; `None` for all.
    fn sampled_rows(&mut self, round: usize, k: usize) -> Vec<Option<Vec<bool>>> {
        let options = self.options;
        if let Some(goss) = options.goss.filter(|goss| goss.begins(round, options.tree.learning_rate)) {
            return goss.keep(&mut self.shards, k, options.seed, round as u64).into_iter().map(Some).collect();
        }
        let sampler = (options.subsample < 1.0).then(|| RowSampler::new(options.seed, round as u64, options.subsample));
        let keep =
            |shard: &Shard| sampler.map(|sampler| shard.rows().map(|row| sampler.keeps(row)).collect::<Vec<bool>>());
        self.shards.iter().map(keep).collect()
    }

    /// Grows the trees of some outputs, scales them by `share`, and adds them to the scores.
    fn trees(
        &mut self,
        keeps: &[Option<Vec<bool>>],
        round: usize,
        outputs: Range<usize>,
        share: f64,
    ) -> Result<Vec<BinnedTree>> {
        let (options, team, store) = (self.options, self.team, &self.rows.store);
        let objective = &*self.rows.objective;
        let number = (round * objective.n_scores() + outputs.start) as u64;
        let all: Vec<u32> = (0..store.n_columns() as u32).collect();
        let columns = sample::columns(&all, options.colsample_bytree, options.seed, &[number]);
        let extents: Vec<GradientExtent> =
            outputs.clone().map(|output| extent(team, objective, &self.shards, output)).collect();
        if extents.iter().any(|extent| !(extent.sum_gradient + extent.sum_curvature).is_finite()) {
            let (name, round) = (objective.name(), round + 1);
            return Err(Error::data(format!(
                "the gradients of the {name} overflow single precision in round {round}; rescale targets or weights, or lower learning_rate"
            )));
        }
        let constant = objective.has_constant_curvature() && options.goss.is_none() && !options.bayesian;
        let scales_of = |exact: bool| -> Vec<GradientScale> {
            extents.iter().map(|extent| GradientScale::new(store.n_rows(), extent, constant, exact)).collect()
        };
        let mut scales = scales_of(options.exact);
        // Trees that are grown together have histograms of the same kind.
        if scales.iter().any(GradientScale::is_wide) {
            scales = scales_of(true);
        }
        team.each(&mut self.shards, |i, shard| {
            shard.begin(keeps[i].as_deref());
            pack_gradients(shard, outputs.clone(), &scales);
        });
        let all_rows = keeps.iter().all(Option::is_none);
        let inputs = TreeInputs { store, team, columns: &columns, scales: &scales, all_rows, tree: number };
        let mut trees = if scales[0].is_wide() {
            TreeGrower::grow(&options.tree, inputs, &mut self.shards, &mut self.pools.1)
        } else {
            TreeGrower::grow(&options.tree, inputs, &mut self.shards, &mut self.pools.0)
        };
        self.refine_leaves(&mut trees, outputs.start, keeps);
        for (tree, output) in trees.iter_mut().zip(outputs) {
            self.finish(tree, output, keeps, share);
        }
        Ok(trees)
    }

    /// Whether the trees of all classes have the same tests: symmetric trees do, if the histograms of their leaves fit in memory.
    fn grows_together(&self, k: usize) -> bool {
        let tree = &self.options.tree;
        let leaves = tree.max_leaf_nodes.min(1 << tree.max_depth.min(symmetric::DEPTH));
        let histograms = leaves.saturating_mul(k).saturating_mul(self.rows.store.total() * size_of::<[i64; 2]>());
        tree.symmetric && self.rows.objective.has_class_probabilities() && histograms <= SHARED_HISTOGRAMS
    }

    /// Sets the values of leaves from all rows, if the trees were grown on a sample, or from the whole Hessian, if they are those of several classes.
    fn refine_leaves(&self, trees: &mut [BinnedTree], first: usize, keeps: &[Option<Vec<bool>>]) {
        let (options, objective) = (self.options, &*self.rows.objective);
        let sampled = options.bayesian || (options.goss.is_none() && keeps.iter().any(Option::is_some));
        let together = trees.len() > 1 && options.tree.leaf.is_plain();
        // Leaves under monotone constraints have bounds, which only growing knows.
        if objective.has_leaf_values() || !options.tree.monotone.is_empty() || !(sampled || together) {
            return;
        }
        let leaves = GrownLeaves::new(self.team, &self.rows.store, &self.shards, &trees[0], keeps);
        for (tree, output) in trees.iter_mut().zip(first..) {
            leaves.set_values(tree, output, &options.tree);
        }
        if together {
            leaves.set_joint_values(trees, objective, &options.tree);
        }
    }

    /// Gives a tree its final values, and adds it to the scores.
    fn finish(&mut self, tree: &mut BinnedTree, output: usize, keeps: &[Option<Vec<bool>>], share: f64) {
        let (options, team, store, objective) = (self.options, self.team, &self.rows.store, &*self.rows.objective);
        let (rate, most) = (options.tree.learning_rate, options.tree.leaf.max_delta_step);
        // Such values ignore the bounds of monotone constraints.
        if objective.has_leaf_values() && options.tree.monotone.is_empty() {
            refit_leaves(team, objective, &self.shards, output, tree, rate);
        }
        let most = if most > 0.0 { rate * most } else { f64::INFINITY };
        let step = |value: f64| objective.step(output, value / rate).map_or(value, |step| rate * step);
        tree.value.iter_mut().for_each(|value| *value = step(*value).clamp(-most, most) * share);
        let tree = &*tree;
        team.each(&mut self.shards, |i, shard| shard.add(store, tree, output, keeps[i].as_deref()));
    }
}

/// Sets leaves to the best change of their scores under the loss itself.
fn refit_leaves(
    team: &Team<'_>,
    objective: &dyn Objective,
    shards: &[Shard],
    output: usize,
    tree: &mut BinnedTree,
    learning_rate: f64,
) {
    let mut leaves: Vec<(usize, Option<f64>)> = tree.leaves().map(|node| (node, None)).collect();
    team.each(&mut leaves, |_, (node, value)| {
        let rows = shards.iter().flat_map(|shard| {
            shard.node(*node).iter().map(|&row| (row as usize, shard.scores[output][row as usize - shard.rows().start]))
        });
        *value = objective.leaf_value(output, &mut { rows });
    });
    for (node, value) in leaves {
        if let Some(value) = value {
            tree.value[node] = learning_rate * value;
        }
    }
}

/// Quantizes gradients and curvatures of some outputs to integers.
fn pack_gradients(shard: &mut Shard, outputs: Range<usize>, scales: &[GradientScale]) {
    let n = shard.rows().len();
    let mut packed = std::mem::take(&mut shard.words);
    packed.resize_with(packed.len().max(outputs.len()), Vec::new);
    for ((output, words), &scale) in outputs.zip(&mut packed).zip(scales) {
        words.resize(n * if scale.is_wide() { 2 } else { 1 }, 0);
        let (g, h) = shard.growth_gradients(output);
        if scale.is_wide() {
            quantize::<2>(scale, g, h, words.as_chunks_mut().0);
        } else {
            quantize::<1>(scale, g, h, words.as_chunks_mut().0);
        }
    }
    shard.words = packed;
}

/// The ranges of rows whose sums are added in order: blocks of fixed size, or queries. They don't depend on the shards.
fn pieces(objective: &dyn Objective, rows: &Range<usize>) -> Vec<Range<usize>> {
    match objective.bounds() {
        Some(bounds) => {
            let inside = bounds.windows(2).filter(|query| query[0] >= rows.start && query[1] <= rows.end);
            inside.map(|query| query[0]..query[1]).collect()
        }
        None => rows.clone().step_by(BLOCK).map(|start| start..rows.end.min(start + BLOCK)).collect(),
    }
}

/// The range and the sums of the gradients of an output.
fn extent(team: &Team<'_>, objective: &dyn Objective, shards: &[Shard], output: usize) -> GradientExtent {
    let mut parts: Vec<Vec<GradientExtent>> = vec![Vec::new(); shards.len()];
    team.each(&mut parts, |i, part| {
        let shard = &shards[i];
        let (g, h) = shard.growth_gradients(output);
        let of = |piece: Range<usize>| {
            let local = piece.start - shard.rows().start..piece.end - shard.rows().start;
            GradientExtent::of(&g[local.clone()], &h[local])
        };
        *part = pieces(objective, &shard.rows()).into_iter().map(of).collect();
    });
    parts.into_iter().flatten().fold(GradientExtent::default(), GradientExtent::with)
}

/// Adds a tree, times `sign`, to the scores by walking it.
fn walk(store: &BinStore, tree: &BinnedTree, shard: &mut Shard, output: usize, sign: f64) {
    let first = shard.rows().start;
    for (i, score) in shard.scores[output].iter_mut().enumerate() {
        *score += sign * tree.value[tree.walk(store, first + i)];
    }
}

/// The round after which the loss was lowest.
fn best_of(history: &[f64]) -> usize {
    (0..history.len()).fold(0, |best, i| if history[i] < history[best] { i } else { best })
}

/// The mean loss at scores that are given row by row.
pub fn loss_at(objective: &dyn Objective, scores: &[f64]) -> f64 {
    let k = objective.n_scores();
    let columns: Vec<Vec<f64>> =
        (0..k).map(|output| scores.iter().skip(output).step_by(k).copied().collect()).collect();
    let of_piece = |piece: Range<usize>| {
        let scores: Vec<&[f64]> = columns.iter().map(|scores| &scores[piece.clone()]).collect();
        objective.loss(piece, &scores)
    };
    let sum: f64 = pieces(objective, &(0..scores.len() / k.max(1))).into_iter().map(of_piece).sum();
    sum / objective.total_weight()
}

/// The mean loss.
fn mean_loss(team: &Team<'_>, objective: &dyn Objective, shards: &[Shard]) -> f64 {
    let mut parts: Vec<Vec<f64>> = vec![Vec::new(); shards.len()];
    team.each(&mut parts, |i, part| {
        let shard = &shards[i];
        for piece in pieces(objective, &shard.rows()) {
            let local = piece.start - shard.rows().start..piece.end - shard.rows().start;
            let scores: Vec<&[f64]> = shard.scores.iter().map(|s| &s[local.clone()]).collect();
            part.push(objective.loss(piece, &scores));
        }
    });
    parts.into_iter().flatten().sum::<f64>() / objective.total_weight()
}

/// Divides rows into `n` ranges at the boundaries of blocks, or of queries.
fn row_ranges(n_rows: usize, n: usize, bounds: Option<&[usize]>) -> Vec<Range<usize>> {
    let blocks = n_rows.div_ceil(BLOCK);
    let bound = |i: usize| {
        let row = (blocks * i / n * BLOCK).min(n_rows);
        bounds.map_or(row, |bounds| bounds.get(bounds.partition_point(|&b| b < row)).map_or(n_rows, |&b| b))
    };
    (0..n).map(|i| bound(i)..if i + 1 == n { n_rows } else { bound(i + 1) }).collect()
}

fn shards(rows: &TrainingRows, n: usize) -> Vec<Shard> {
    let k = rows.objective.n_scores();
    let make = |range: Range<usize>| {
        let column = |output: usize| range.clone().map(|row| rows.scores[row * k + output]).collect();
        let scores = (0..k).map(column).collect();
        Shard::new(range, scores)
    };
    row_ranges(rows.store.n_rows(), n, rows.objective.bounds()).into_iter().map(make).collect()
}
