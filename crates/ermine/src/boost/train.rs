//! Round after round; early stopping.

use super::grow::{Grower, Growth, Pool, Soil};
use super::grown::Grown;
use super::objective::Objective;
use super::sample::{self, RowSampler};
use super::shard::Shard;
use super::team::{Team, with_team};
use crate::error::Result;
use crate::progress::{Event, Observer, report};
use crate::split::histogram::quantise::{Extent, quantise};
use crate::split::histogram::store::BLOCK;
use crate::split::histogram::{Scale, Store};
use std::ops::Range;

/// Values (rows x columns) below which one thread is faster than several.
const ALONE: usize = 400_000;

/// How a sum of trees is trained.
pub struct Training<'a> {
    /// Most rounds.
    pub n_estimators: usize,
    /// How a tree is grown.
    pub growth: Growth,
    /// The share of the rows that each tree sees.
    pub subsample: f64,
    /// The share of the columns that each tree sees.
    pub colsample_bytree: f64,
    /// Stop when the loss on the watched rows has not improved for this many rounds.
    pub patience: Option<usize>,
    /// Every random choice follows from this.
    pub seed: u64,
    /// How many threads.
    pub threads: usize,
    /// Who is told about progress.
    pub observer: &'a dyn Observer,
}

/// Rows with what is known about them.
pub struct Ground<'a> {
    /// Their bins.
    pub store: &'a Store,
    /// Their loss.
    pub objective: &'a dyn Objective,
}

/// What training gives.
#[derive(Debug, Clone, Default)]
pub struct Trained {
    /// Where scores start, one for each output.
    pub start: Vec<f64>,
    /// Round after round, one tree for each output.
    pub trees: Vec<Grown>,
    /// The mean loss on the training rows at the end.
    pub loss: f64,
    /// The mean loss on the watched rows after each round.
    pub history: Vec<f64>,
    /// Whether early stopping ended it.
    pub stopped_early: bool,
}

impl Training<'_> {
    /// Trains on `ground`; early stopping watches `watch`.
    pub fn train(&self, ground: &Ground<'_>, watch: Option<&Ground<'_>>) -> Result<Trained> {
        let n = ground.store.n_rows();
        let small = n * ground.store.n_columns() < ALONE;
        let threads = if small { 1 } else { self.threads.min(n.div_ceil(BLOCK)).max(1) };
        with_team(threads, |team| self.rounds(team, ground, watch))
    }

    fn rounds(&self, team: &Team<'_>, ground: &Ground<'_>, watch: Option<&Ground<'_>>) -> Result<Trained> {
        let start = ground.objective.start();
        let mut trained = Trained { start: start.clone(), ..Default::default() };
        let mut shards = shards(ground, &start, team.size());
        let mut watched = watch.map(|watch| shards_of(watch, &start, team.size()));
        let mut pools = (Pool::<1>::default(), Pool::<2>::default());
        report(self.observer, Event::Begin { what: "boosting", total: Some(self.n_estimators as u64) })?;
        let mut best = (f64::INFINITY, 0);
        for round in 0..self.n_estimators {
            self.compute_gradients(team, ground, &mut shards);
            for output in 0..start.len() {
                let tree = self.tree(team, ground, &mut shards, &mut pools, (round, output));
                if let (Some(watch), Some(watched)) = (watch, &mut watched) {
                    team.each(watched, |_, shard| walk(watch.store, &tree, shard, output));
                }
                trained.trees.push(tree);
            }
            let mut score = None;
            if let (Some(watch), Some(watched)) = (watch, &watched) {
                let loss = mean_loss(team, watch.objective, watched);
                trained.history.push(loss);
                score = Some(("validation loss", loss));
                if loss < best.0 {
                    best = (loss, round);
                }
                if self.patience.is_some_and(|patience| round >= best.1 + patience) {
                    trained.stopped_early = true;
                    break;
                }
            }
            report(self.observer, Event::Step { done: round as u64 + 1, score })?;
        }
        if self.patience.is_some() && watch.is_some() {
            trained.trees.truncate((best.1 + 1) * start.len());
        }
        trained.loss = mean_loss(team, ground.objective, &shards);
        report(self.observer, Event::End)?;
        Ok(trained)
    }

    fn compute_gradients(&self, team: &Team<'_>, ground: &Ground<'_>, shards: &mut [Shard]) {
        team.each(shards, |_, shard| {
            let scores: Vec<&[f64]> = shard.scores.iter().map(Vec::as_slice).collect();
            let mut gradient: Vec<&mut [f32]> = shard.gradient.iter_mut().map(Vec::as_mut_slice).collect();
            let mut curvature: Vec<&mut [f32]> = shard.curvature.iter_mut().map(Vec::as_mut_slice).collect();
            ground.objective.gradients(shard.rows.clone(), &scores, &mut gradient, &mut curvature);
        });
    }

    /// Grows one tree and adds it to the scores.
    fn tree(
        &self,
        team: &Team<'_>,
        ground: &Ground<'_>,
        shards: &mut [Shard],
        pools: &mut (Pool<1>, Pool<2>),
        (round, output): (usize, usize),
    ) -> Grown {
        let store = ground.store;
        let number = (round * ground.objective.n_scores() + output) as u64;
        let all: Vec<u32> = (0..store.n_columns() as u32).collect();
        let columns = sample::columns(&all, self.colsample_bytree, self.seed, &[number]);
        // All trees of a round see the same rows.
        let sampler = (self.subsample < 1.0).then(|| RowSampler::new(self.seed, round as u64, self.subsample));
        let keeps: Vec<Option<Vec<bool>>> = shards
            .iter()
            .map(|s| sampler.map(|sampler| s.rows.clone().map(|row| sampler.keeps(row)).collect()))
            .collect();
        let extent = extent(team, shards, output);
        let scale = Scale::new(store.n_rows(), &extent, ground.objective.has_constant_curvature());
        team.each(shards, |i, shard| {
            shard.begin(keeps[i].as_deref());
            make_words(shard, output, scale);
        });
        let soil = Soil { store, team, columns: &columns, scale, all_rows: sampler.is_none(), tree: number };
        let tree = if scale.is_wide() {
            Grower::grow(&self.growth, soil, shards, &mut pools.1)
        } else {
            Grower::grow(&self.growth, soil, shards, &mut pools.0)
        };
        team.each(shards, |i, shard| shard.add(store, &tree, output, keeps[i].as_deref()));
        tree
    }
}

/// Gradients and curvatures of an output as whole numbers.
fn make_words(shard: &mut Shard, output: usize, scale: Scale) {
    let n = shard.rows.len();
    shard.words.resize(n * if scale.is_wide() { 2 } else { 1 }, 0);
    let (g, h) = (&shard.gradient[output], &shard.curvature[output]);
    if scale.is_wide() {
        quantise::<2>(scale, g, h, shard.words.as_chunks_mut().0);
    } else {
        quantise::<1>(scale, g, h, shard.words.as_chunks_mut().0);
    }
}

/// How large the gradients of an output are; added up block by block, so that it doesn't depend on the shards.
fn extent(team: &Team<'_>, shards: &[Shard], output: usize) -> Extent {
    let mut parts: Vec<Vec<Extent>> = vec![Vec::new(); shards.len()];
    team.each(&mut parts, |i, part| {
        let (g, h) = (&shards[i].gradient[output], &shards[i].curvature[output]);
        *part = g.chunks(BLOCK).zip(h.chunks(BLOCK)).map(|(g, h)| Extent::of(g, h)).collect();
    });
    parts.into_iter().flatten().fold(Extent::default(), Extent::with)
}

/// Adds a tree to the scores of rows that it was not grown on.
fn walk(store: &Store, tree: &Grown, shard: &mut Shard, output: usize) {
    let first = shard.rows.start;
    for (i, score) in shard.scores[output].iter_mut().enumerate() {
        *score += tree.value[tree.walk(store, first + i)];
    }
}

/// The mean loss; added up block by block.
fn mean_loss(team: &Team<'_>, objective: &dyn Objective, shards: &[Shard]) -> f64 {
    let mut parts: Vec<Vec<f64>> = vec![Vec::new(); shards.len()];
    team.each(&mut parts, |i, part| {
        let shard = &shards[i];
        for start in shard.rows.clone().step_by(BLOCK) {
            let rows = start..shard.rows.end.min(start + BLOCK);
            let local = start - shard.rows.start..rows.end - shard.rows.start;
            let scores: Vec<&[f64]> = shard.scores.iter().map(|s| &s[local.clone()]).collect();
            part.push(objective.loss(rows, &scores));
        }
    });
    parts.into_iter().flatten().sum::<f64>() / objective.total_weight()
}

/// Cuts rows into stretches, at bounds of blocks: one for each thread.
fn stretches(n_rows: usize, n: usize) -> Vec<Range<usize>> {
    let blocks = n_rows.div_ceil(BLOCK);
    let bound = |i: usize| (blocks * i / n * BLOCK).min(n_rows);
    (0..n).map(|i| bound(i)..bound(i + 1)).collect()
}

fn shards(ground: &Ground<'_>, start: &[f64], n: usize) -> Vec<Shard> {
    shards_of(ground, start, n)
}

fn shards_of(ground: &Ground<'_>, start: &[f64], n: usize) -> Vec<Shard> {
    let make = |rows: Range<usize>| {
        let scores = start.iter().map(|&s| vec![s; rows.len()]).collect();
        Shard::new(rows, scores)
    };
    stretches(ground.store.n_rows(), n).into_iter().map(make).collect()
}
