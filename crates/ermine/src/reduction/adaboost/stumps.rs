//! AdaBoost of exact stumps.
//!
//! **Idea.** Every worker owns some columns and searches them for the best split; the best of all is the round's stump. Every worker also has a copy of all row weights and updates it itself, which is
//! less work than waiting for weights that another core has just written. The scores of the rows, from which the training error is computed, are divided by rows.
//!
//! **Cost.** O(n d) per round, see [`reweighted_stumps`](ermine_trees::split::reweighted_stumps); 16 bytes per row and worker.

use super::rounds::{RoundStep, Rounds};
use super::{AdaBoost, argmax};
use ermine_core::error::Result;
use ermine_core::learner::Context;
use ermine_core::matrix::{Dataset, Features};
use ermine_core::parallel;
use ermine_core::progress::{Event, report};
use ermine_trees::split::reweighted_stumps::{IntegerWeights, ReweightedStumpSearch, StumpCandidate, WeightedStump};
use ermine_trees::tree::{Forest, Tree};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// The state of a worker.
struct BoostingWorker {
    masses: IntegerWeights,
    columns: Vec<usize>,
    /// The rows whose scores it updates.
    rows: Range<usize>,
    /// The vote so far: one signed number per row for two classes, else one per class.
    scores: Vec<f64>,
}

/// A round that workers have to apply: its stump, the weight of its vote, and the factors of misclassified and correct rows, exp(alpha) and exp(-alpha) over a normalizer.
struct RoundUpdate {
    stump: WeightedStump,
    alpha: f64,
    if_wrong: f64,
    if_right: f64,
    log_normalizer: f64,
}

impl RoundUpdate {
    fn new(stump: WeightedStump, alpha: f64, epsilon: f64) -> RoundUpdate {
        // A learner without errors doesn't change the weights.
        let (spared, log_size) = if epsilon > 0.0 { ((-2.0 * alpha).exp(), alpha) } else { (1.0, -alpha) };
        let sum = epsilon + (1.0 - epsilon) * spared;
        RoundUpdate { stump, alpha, if_wrong: 1.0 / sum, if_right: spared / sum, log_normalizer: log_size + sum.ln() }
    }
}

/// The exponential loss of the vote so far. It is the sum of the row weights; if they are too small to be represented, it is computed from the scores.
struct VoteLoss<'a> {
    data: &'a Dataset,
    codes: &'a [u32],
    /// The sum of the first weights, in units of the masses.
    first_mass: u64,
    log_normalizers: f64,
    log_loss: f64,
}

impl VoteLoss<'_> {
    /// Completes the last round after all workers have applied it.
    fn close_round(&mut self, rounds: &mut Rounds, news: &RoundUpdate, wrong: u64, workers: &[BoostingWorker]) {
        self.log_normalizers += news.log_normalizer;
        let before = self.log_loss;
        let exact = workers[0].masses.log_total();
        self.log_loss = match exact {
            Some(log_total) => self.log_normalizers + log_total,
            None => self.log_loss_of_scores(rounds.0.iter().map(|round| round.alpha).sum(), workers),
        };
        rounds.close(wrong as f64 / self.first_mass as f64, before, self.log_loss);
    }

    /// The logarithm of the mean of exp(votes for other classes - votes for the right one); `votes` is the sum of all alphas.
    fn log_loss_of_scores(&self, votes: f64, workers: &[BoostingWorker]) -> f64 {
        let scores = workers.iter().flat_map(|worker| {
            let width = worker.scores.len() / worker.rows.len().max(1);
            worker.scores.chunks(width.max(1))
        });
        let against = |(scores, &class): (&[f64], &u32)| match scores {
            &[score] if class == 1 => -score,
            &[score] => score,
            scores => votes - 2.0 * scores[class as usize],
        };
        let against: Vec<f64> = scores.zip(self.codes).map(against).collect();
        let most = against.iter().fold(f64::NEG_INFINITY, |most: f64, &m| most.max(m));
        let weight = |row: usize| self.data.row_weight(row);
        let total: f64 = (0..against.len()).map(weight).sum();
        let sum: f64 = against.iter().enumerate().map(|(row, m)| weight(row) / total * (m - most).exp()).sum();
        most + sum.ln()
    }
}

/// Boosts stumps.
pub fn boost(
    params: &AdaBoost,
    data: &Dataset,
    held_out: Option<&Dataset>,
    context: &Context<'_>,
) -> Result<(Forest, Rounds)> {
    let (codes, labels) = data.classes()?;
    let n_classes = labels.len();
    let search = ReweightedStumpSearch::new(data.features(), codes, n_classes, params.criterion, params.max_categories);
    let first = IntegerWeights::new(data.weight(), data.n_rows());
    let mut workers = workers(&first, search.n_columns(), data.n_rows(), n_classes);
    let mut scorer = held_out.map(|held_out| ValidationVotes::new(held_out, n_classes)).transpose()?;
    let mut forest = Forest::new(width(n_classes));
    let mut rounds = Rounds::default();
    let first_mass = first.mass.iter().sum();
    let mut loss = VoteLoss { data, codes, first_mass, log_normalizers: 0.0, log_loss: 0.0 };
    let mut news: Option<RoundUpdate> = None;
    report(context.observer, Event::Begin { what: "AdaBoost", total: Some(params.n_estimators as u64) })?;
    for t in 0..params.n_estimators {
        let bar = AtomicU64::new(u64::MAX);
        let work = |worker: &mut BoostingWorker| {
            let error = news.as_ref().map(|news| worker.update(news, search.classes(), &first.mass, n_classes));
            (error, search.search(&worker.masses.mass, &worker.columns, &bar))
        };
        let results: Vec<(Option<u64>, Option<StumpCandidate>)> =
            parallel::consume(&mut workers, |_, worker| work(worker));
        if let Some(news) = &news {
            let wrong = results.iter().filter_map(|r| r.0).sum();
            loss.close_round(&mut rounds, news, wrong, &workers);
        }
        let found = results.into_iter().fold(None, |best, (_, found)| StumpCandidate::better(best, found));
        let Some(found) = found else {
            news = None;
            break;
        };
        let stump = search.stump(data.features(), &found, &workers[0].masses.mass);
        let epsilon = stump.wrong_mass as f64 / stump.total_mass as f64;
        let step = RoundStep::new(epsilon, n_classes, params.learning_rate);
        if step == RoundStep::Useless {
            news = None;
            break;
        }
        let alpha = rounds.push(epsilon, step);
        forest.push(&tree(&stump, alpha, n_classes));
        if let Some(scorer) = &mut scorer {
            let validation = scorer.error(&stump, alpha);
            rounds.0[t].validation = validation;
        }
        news = Some(RoundUpdate::new(stump, alpha, epsilon));
        report(context.observer, Event::Step { done: t as u64 + 1, score: None })?;
        let patience = params.n_iter_no_change.unwrap_or(usize::MAX);
        if step == RoundStep::Perfect || (scorer.is_some() && t + 1 - rounds.best_length() >= patience) {
            break;
        }
    }
    if let Some(news) = news {
        let error = |worker: &mut BoostingWorker| worker.update(&news, search.classes(), &first.mass, n_classes);
        let wrong: u64 = parallel::consume(&mut workers, |_, worker| error(worker)).into_iter().sum();
        loss.close_round(&mut rounds, &news, wrong, &workers);
    }
    report(context.observer, Event::End)?;
    Ok((forest, rounds))
}

/// One signed number for two classes; else one for each class.
pub fn width(n_classes: usize) -> usize {
    if n_classes <= 2 { 1 } else { n_classes }
}

/// One worker per thread, as long as each has a column.
fn workers(masses: &IntegerWeights, n_columns: usize, n_rows: usize, n_classes: usize) -> Vec<BoostingWorker> {
    let n = rayon::current_num_threads().clamp(1, n_columns.clamp(1, 16));
    let worker = |i: usize| {
        let rows = n_rows * i / n..n_rows * (i + 1) / n;
        let scores = vec![0.0; rows.len() * width(n_classes)];
        BoostingWorker { masses: masses.clone(), columns: (i..n_columns).step_by(n).collect(), rows, scores }
    };
    (0..n).map(worker).collect()
}

impl BoostingWorker {
    /// Updates weights and scores, and sums the initial weights of its misclassified rows.
    fn update(&mut self, news: &RoundUpdate, classes: &[u16], first: &[u64], n_classes: usize) -> u64 {
        self.masses.reweight(&news.stump.predictions, classes, news.if_wrong, news.if_right);
        let rows = self.rows.clone();
        let (predicted, classes, first) = (&news.stump.predictions[rows.clone()], &classes[rows.clone()], &first[rows]);
        add_votes(&mut self.scores, predicted, news.alpha, n_classes);
        if n_classes <= 2 {
            let wrong = self.scores.iter().zip(classes).map(|(&score, &class)| (score > super::TIE) != (class == 1));
            return wrong.zip(first).map(|(wrong, &mass)| if wrong { mass } else { 0 }).sum();
        }
        let wrong = self.scores.chunks(n_classes).zip(classes).map(|(scores, &class)| argmax(scores) != class as usize);
        wrong.zip(first).filter(|(wrong, _)| *wrong).map(|(_, &mass)| mass).sum()
    }
}

/// Adds a round's vote to the scores.
fn add_votes(scores: &mut [f64], predicted: &[u16], alpha: f64, n_classes: usize) {
    if n_classes <= 2 {
        scores
            .iter_mut()
            .zip(predicted)
            .for_each(|(score, &predicted)| *score += if predicted == 1 { alpha } else { -alpha });
    } else {
        scores
            .chunks_mut(n_classes)
            .zip(predicted)
            .for_each(|(scores, &predicted)| scores[predicted as usize] += alpha);
    }
}

/// A stump and its vote as a tree whose predictions sum to the scores.
fn tree(stump: &WeightedStump, alpha: f64, n_classes: usize) -> Tree {
    let value = |label: u16| {
        let mut value = vec![0.0; width(n_classes)];
        add_votes(&mut value, &[label], alpha, n_classes);
        value
    };
    let mut tree = Tree::leaf(1.0, &value(stump.default_label));
    let children: Vec<(f64, Vec<f64>)> = stump.labels.iter().map(|&label| (0.5, value(label))).collect();
    tree.split(0, stump.test.clone(), &children);
    tree
}

/// The validation set with its scores.
struct ValidationVotes<'a> {
    features: &'a Features,
    codes: &'a [u32],
    weight: Vec<f64>,
    scores: Vec<f64>,
    n_classes: usize,
}

impl<'a> ValidationVotes<'a> {
    fn new(data: &'a Dataset, n_classes: usize) -> Result<ValidationVotes<'a>> {
        let weight = (0..data.n_rows()).map(|row| data.row_weight(row)).collect();
        let scores = vec![0.0; data.n_rows() * width(n_classes)];
        Ok(ValidationVotes { features: data.features(), codes: data.classes()?.0, weight, scores, n_classes })
    }

    /// The weighted error after another round.
    fn error(&mut self, stump: &WeightedStump, alpha: f64) -> f64 {
        let label = |x: f64| stump.test.branch(x).map_or(stump.default_label, |branch| stump.labels[branch]);
        let numbers = stump.test.feature().map_or_else(Vec::new, |feature| self.features.numbers(feature));
        let predicted: Vec<u16> = numbers.into_iter().map(label).collect();
        add_votes(&mut self.scores, &predicted, alpha, self.n_classes);
        let vote =
            |scores: &[f64]| if let &[score] = scores { usize::from(score > super::TIE) } else { argmax(scores) };
        let rows = self.scores.chunks(width(self.n_classes)).zip(self.codes).zip(&self.weight);
        let wrong: f64 = rows.filter(|((s, c), _)| vote(s) != **c as usize).map(|(_, w)| w).sum();
        wrong / self.weight.iter().sum::<f64>()
    }
}
