//! Round after round; early stopping, dropped trees (DART), continued training.
//!
//! **DART.** In each round some of the trees so far are left out at random; the new trees learn what is missing without them. With k rounds left out, the new trees count
//! 1 / (k + learning_rate) and those left out k / (k + learning_rate) of what they did. **Reference.** Rashmi and Gilad-Bachrach, DART: Dropouts meet Multiple
//! Additive Regression Trees, 2015.

use super::grow::{Grower, Growth, Pool, Soil};
use super::grown::Grown;
use super::objective::Objective;
use super::sample::{self, Goss, RowSampler};
use super::shard::Shard;
use super::team::{Team, with_team};
use crate::split::histogram::quantise::{Extent, quantise};
use crate::split::histogram::store::BLOCK;
use crate::split::histogram::{Scale, Store};
use ermine_core::error::{Error, Result};
use ermine_core::progress::{Event, Observer, report};
use ermine_core::rng::{Purpose, RngExt};
use std::ops::Range;

/// Values (rows x columns) below which one thread is faster than several.
const ALONE: usize = 400_000;

/// How a sum of trees is trained.
pub struct Training<'a> {
    /// The number of the first round: how many went before.
    pub first_round: usize,
    /// The number of rounds, with those that went before.
    pub n_estimators: usize,
    /// How a tree is grown.
    pub growth: Growth,
    /// The share of the rows that each tree sees.
    pub subsample: f64,
    /// Keep rows with large gradients, and some of the others.
    pub goss: Option<Goss>,
    /// Drop each earlier round with this probability.
    pub rate_drop: f64,
    /// The share of the columns that each tree sees.
    pub colsample_bytree: f64,
    /// Sums of gradients as finely as possible.
    pub exact: bool,
    /// Stop when the loss on the watched rows has not improved for this many rounds.
    pub patience: Option<usize>,
    /// What is watched instead of the loss.
    pub metric: Option<Metric<'a>>,
    /// The loss on the watched rows after each of the rounds that went before.
    pub history: Vec<f64>,
    /// Every random choice follows from this.
    pub seed: u64,
    /// How many threads.
    pub threads: usize,
    /// Who is told about progress.
    pub observer: &'a dyn Observer,
    /// After so many rounds each, the trees so far are shown.
    pub checkpoint: Option<(usize, Checkpoint<'a>)>,
}

/// Sees the trees so far, and the losses on the watched rows.
pub type Checkpoint<'a> = &'a (dyn Fn(&[Grown], &[f64]) -> Result<()> + Sync);

/// Judges the scores of the watched rows, row by row: lower is better.
pub type Metric<'a> = &'a (dyn Fn(&[f64]) -> Result<f64> + Sync);

/// Rows with what is known about them.
pub struct Ground<'a> {
    /// Their bins.
    pub store: &'a Store,
    /// Their loss.
    pub objective: &'a dyn Objective,
    /// Where their scores start, row by row.
    pub scores: &'a [f64],
}

/// What training gives.
#[derive(Debug, Clone, Default)]
pub struct Trained {
    /// Round after round, one tree for each output.
    pub trees: Vec<Grown>,
    /// How many rounds are worth keeping, those that went before included.
    pub n_rounds: usize,
    /// The mean loss on the training rows after all rounds.
    pub loss: f64,
    /// The mean loss on the watched rows after each round, those that went before included.
    pub history: Vec<f64>,
    /// Whether early stopping ended it.
    pub stopped_early: bool,
}

/// A training run.
struct Run<'a> {
    training: &'a Training<'a>,
    team: &'a Team<'a>,
    ground: &'a Ground<'a>,
    watch: Option<&'a Ground<'a>>,
    shards: Vec<Shard>,
    watched: Vec<Shard>,
    pools: (Pool<1>, Pool<2>),
}

impl Training<'_> {
    /// Trains on `ground`; early stopping watches `watch`.
    pub fn train(&self, ground: &Ground<'_>, watch: Option<&Ground<'_>>) -> Result<Trained> {
        let n = ground.store.n_rows();
        let small = n * ground.store.n_columns() < ALONE;
        let threads = if small { 1 } else { self.threads.clamp(1, n.div_ceil(BLOCK).max(2)) };
        with_team(threads, |team| {
            let shards = shards(ground, team.size());
            let watched = watch.map(|watch| self::shards(watch, team.size())).unwrap_or_default();
            let pools = (Pool::default(), Pool::default());
            Run { training: self, team, ground, watch, shards, watched, pools }.rounds()
        })
    }
}

impl Run<'_> {
    fn rounds(&mut self) -> Result<Trained> {
        let training = self.training;
        let k = self.ground.objective.n_scores();
        let mut trained = Trained { history: training.history.clone(), ..Default::default() };
        let total = training.n_estimators.saturating_sub(training.first_round);
        report(training.observer, Event::Begin { what: "boosting", total: Some(total as u64) })?;
        let mut done = 0;
        while done < total && !self.is_enough(&trained.history) {
            self.round(training.first_round + done, k, &mut trained.trees)?;
            done += 1;
            let score = self.watch_score()?.map(|loss| {
                trained.history.push(loss);
                ("validation loss", loss)
            });
            if let Some((every, show)) = training.checkpoint
                && done.is_multiple_of(every.max(1))
            {
                show(&trained.trees, &trained.history)?;
            }
            report(training.observer, Event::Step { done: done as u64, score })?;
        }
        trained.n_rounds = training.first_round + done;
        if training.patience.is_some() && !trained.history.is_empty() {
            trained.stopped_early = self.is_enough(&trained.history);
            trained.n_rounds = best_of(&trained.history) + 1;
        }
        trained.loss = mean_loss(self.team, self.ground.objective, &self.shards);
        report(training.observer, Event::End)?;
        Ok(trained)
    }

    /// Whether the watched loss has not improved for long enough.
    fn is_enough(&self, history: &[f64]) -> bool {
        self.training.patience.is_some_and(|patience| history.len() > best_of(history) + patience)
    }

    /// What is watched, on the rows that are watched.
    fn watch_score(&self) -> Result<Option<f64>> {
        let Some(watch) = self.watch else { return Ok(None) };
        let Some(metric) = self.training.metric else {
            return Ok(Some(mean_loss(self.team, watch.objective, &self.watched)));
        };
        let mut scores = Vec::with_capacity(watch.scores.len());
        for shard in &self.watched {
            scores.extend((0..shard.rows().len()).flat_map(|i| shard.scores.iter().map(move |of| of[i])));
        }
        metric(&scores).map(Some)
    }

    /// One tree for each output.
    fn round(&mut self, round: usize, k: usize, trees: &mut Vec<Grown>) -> Result<()> {
        let dropped = self.dropped(round, trees.len() / k);
        let each = |dropped: &[usize]| dropped.iter().flat_map(|r| r * k..(r + 1) * k).collect::<Vec<_>>();
        let dropped_trees = each(&dropped);
        dropped_trees.iter().for_each(|&number| self.add_everywhere(&trees[number], number % k, -1.0));
        self.compute_gradients()?;
        let keeps = self.keeps(round, k);
        let rate = self.training.growth.learning_rate;
        let share = if dropped.is_empty() { 1.0 } else { 1.0 / (dropped.len() as f64 + rate) };
        for output in 0..k {
            let tree = self.tree(&keeps, (round, output), share)?;
            if let Some(watch) = self.watch {
                self.team.each(&mut self.watched, |_, shard| walk(watch.store, &tree, shard, output, 1.0));
            }
            trees.push(tree);
        }
        for number in dropped_trees {
            let count = dropped.len() as f64;
            trees[number].value.iter_mut().for_each(|value| *value *= count / (count + rate));
            self.add_everywhere(&trees[number], number % k, 1.0);
        }
        Ok(())
    }

    /// The rounds that are left out.
    fn dropped(&self, round: usize, n_rounds: usize) -> Vec<usize> {
        if self.training.rate_drop == 0.0 {
            return Vec::new();
        }
        let mut stream = Purpose::BoostingDropout.stream(self.training.seed, &[round as u64]);
        (0..n_rounds).filter(|_| stream.random::<f64>() < self.training.rate_drop).collect()
    }

    /// Adds a tree, times `sign`, to all scores by walking it.
    fn add_everywhere(&mut self, tree: &Grown, output: usize, sign: f64) {
        let store = self.ground.store;
        self.team.each(&mut self.shards, |_, shard| walk(store, tree, shard, output, sign));
        if let Some(watch) = self.watch {
            self.team.each(&mut self.watched, |_, shard| walk(watch.store, tree, shard, output, sign));
        }
    }

    fn compute_gradients(&mut self) -> Result<()> {
        let objective = self.ground.objective;
        self.team.each(&mut self.shards, |_, shard| {
            let rows = shard.rows();
            let scores: Vec<&[f64]> = shard.scores.iter().map(Vec::as_slice).collect();
            let mut gradient: Vec<&mut [f32]> = shard.gradient.iter_mut().map(Vec::as_mut_slice).collect();
            let mut curvature: Vec<&mut [f32]> = shard.curvature.iter_mut().map(Vec::as_mut_slice).collect();
            objective.gradients(rows, &scores, &mut gradient, &mut curvature);
        });
        objective.failure().map_or(Ok(()), Err)
    }

    /// Which rows of each shard the trees of this round see; `None` for all.
    fn keeps(&mut self, round: usize, k: usize) -> Vec<Option<Vec<bool>>> {
        let training = self.training;
        if let Some(goss) = training.goss.filter(|goss| goss.begins(round, training.growth.learning_rate)) {
            return goss.keep(&mut self.shards, k, training.seed, round as u64).into_iter().map(Some).collect();
        }
        let sampler =
            (training.subsample < 1.0).then(|| RowSampler::new(training.seed, round as u64, training.subsample));
        let keep =
            |shard: &Shard| sampler.map(|sampler| shard.rows().map(|row| sampler.keeps(row)).collect::<Vec<bool>>());
        self.shards.iter().map(keep).collect()
    }

    /// Grows one tree, whose leaves count `share`, and adds it to the scores.
    fn tree(&mut self, keeps: &[Option<Vec<bool>>], (round, output): (usize, usize), share: f64) -> Result<Grown> {
        let (training, team, store) = (self.training, self.team, self.ground.store);
        let objective = self.ground.objective;
        let number = (round * objective.n_scores() + output) as u64;
        let all: Vec<u32> = (0..store.n_columns() as u32).collect();
        let columns = sample::columns(&all, training.colsample_bytree, training.seed, &[number]);
        let extent = extent(team, objective, &self.shards, output);
        if !(extent.sum_gradient + extent.sum_curvature).is_finite() {
            let (name, round) = (objective.name(), round + 1);
            return Err(Error::data(format!(
                "{name}: gradients beyond single precision in round {round}; expected smaller targets, weights, scores or steps"
            )));
        }
        let constant = objective.has_constant_curvature() && training.goss.is_none();
        let scale = Scale::new(store.n_rows(), &extent, constant, training.exact);
        team.each(&mut self.shards, |i, shard| {
            shard.begin(keeps[i].as_deref());
            make_words(shard, output, scale);
        });
        let all_rows = keeps.iter().all(Option::is_none);
        let soil = Soil { store, team, columns: &columns, scale, all_rows, tree: number };
        let mut tree = if scale.is_wide() {
            Grower::grow(&training.growth, soil, &mut self.shards, &mut self.pools.1)
        } else {
            Grower::grow(&training.growth, soil, &mut self.shards, &mut self.pools.0)
        };
        let (rate, most) = (training.growth.learning_rate, training.growth.leaf.max_delta_step);
        // Such values know nothing of bounds that keep predictions monotone.
        if objective.has_leaf_values() && training.growth.monotone.is_empty() {
            renew(team, objective, &self.shards, output, &mut tree, rate);
        }
        let most = if most > 0.0 { rate * most } else { f64::INFINITY };
        let step = |value: f64| objective.step(output, value / rate).map_or(value, |step| rate * step);
        tree.value.iter_mut().for_each(|value| *value = step(*value).clamp(-most, most) * share);
        team.each(&mut self.shards, |i, shard| shard.add(store, &tree, output, keeps[i].as_deref()));
        Ok(tree)
    }
}

/// Gives leaves the best change of their scores under the loss itself.
fn renew(
    team: &Team<'_>,
    objective: &dyn Objective,
    shards: &[Shard],
    output: usize,
    tree: &mut Grown,
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

/// Gradients and curvatures of an output as whole numbers.
fn make_words(shard: &mut Shard, output: usize, scale: Scale) {
    let n = shard.rows().len();
    shard.words.resize(n * if scale.is_wide() { 2 } else { 1 }, 0);
    let (g, h) = (&shard.gradient[output], &shard.curvature[output]);
    if scale.is_wide() {
        quantise::<2>(scale, g, h, shard.words.as_chunks_mut().0);
    } else {
        quantise::<1>(scale, g, h, shard.words.as_chunks_mut().0);
    }
}

/// The stretches whose sums are added in order: blocks of fixed size, or queries. They don't depend on the shards.
fn pieces(objective: &dyn Objective, rows: &Range<usize>) -> Vec<Range<usize>> {
    match objective.bounds() {
        Some(bounds) => {
            let inside = bounds.windows(2).filter(|query| query[0] >= rows.start && query[1] <= rows.end);
            inside.map(|query| query[0]..query[1]).collect()
        }
        None => rows.clone().step_by(BLOCK).map(|start| start..rows.end.min(start + BLOCK)).collect(),
    }
}

/// How large the gradients of an output are.
fn extent(team: &Team<'_>, objective: &dyn Objective, shards: &[Shard], output: usize) -> Extent {
    let mut parts: Vec<Vec<Extent>> = vec![Vec::new(); shards.len()];
    team.each(&mut parts, |i, part| {
        let shard = &shards[i];
        let (g, h) = (&shard.gradient[output], &shard.curvature[output]);
        let of = |piece: Range<usize>| {
            let local = piece.start - shard.rows().start..piece.end - shard.rows().start;
            Extent::of(&g[local.clone()], &h[local])
        };
        *part = pieces(objective, &shard.rows()).into_iter().map(of).collect();
    });
    parts.into_iter().flatten().fold(Extent::default(), Extent::with)
}

/// Adds a tree, times `sign`, to the scores by walking it.
fn walk(store: &Store, tree: &Grown, shard: &mut Shard, output: usize, sign: f64) {
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
pub fn loss_at(ground: &Ground<'_>) -> f64 {
    with_team(1, |team| mean_loss(team, ground.objective, &shards(ground, 1)))
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

/// Cuts rows into one stretch for each thread: at bounds of blocks, or of queries.
fn stretches(n_rows: usize, n: usize, bounds: Option<&[usize]>) -> Vec<Range<usize>> {
    let blocks = n_rows.div_ceil(BLOCK);
    let bound = |i: usize| {
        let row = (blocks * i / n * BLOCK).min(n_rows);
        bounds.map_or(row, |bounds| bounds.get(bounds.partition_point(|&b| b < row)).map_or(n_rows, |&b| b))
    };
    (0..n).map(|i| bound(i)..if i + 1 == n { n_rows } else { bound(i + 1) }).collect()
}

fn shards(ground: &Ground<'_>, n: usize) -> Vec<Shard> {
    let k = ground.objective.n_scores();
    let make = |rows: Range<usize>| {
        let column = |output: usize| rows.clone().map(|row| ground.scores[row * k + output]).collect();
        let scores = (0..k).map(column).collect();
        Shard::new(rows, scores)
    };
    stretches(ground.store.n_rows(), n, ground.objective.bounds()).into_iter().map(make).collect()
}
