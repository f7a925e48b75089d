//! AdaBoost over any learner.
//!
//! **Idea.** The same rounds as over stumps, with weights in f64 and the learner trained again in each round. Learners that can't do better than chance end the training, as do learners
//! without errors. A learner without support for weights is trained on rows sampled by them (Freund and Schapire 1996, boosting by resampling); its error is measured with the weights, so the
//! bound still holds. For regression, [AdaBoost.R2](boost_numbers): rows with a large error gain weight, and the prediction is the weighted median of the members.
//!
//! **Formula of R2** (Drucker, Improving regressors using boosting techniques, 1997). With e_i = |y_i - h(x_i)| / max e, optionally squared or 1 - exp(-e_i): eps = sum D_i e_i,
//! beta = eps / (1 - eps), D_i grows by beta^(rate (1 - e_i)), and the vote of the round is rate ln(1 / beta).

use super::rounds::{Round, RoundStep, Rounds};
use super::{AdaBoost, RegressionLoss, argmax};
use crate::reduction::committee::Member;
use ermine_core::error::Result;
use ermine_core::learner::{Context, Learner};
use ermine_core::matrix::Dataset;
use ermine_core::parallel;
use ermine_core::progress::{Event, report};
use ermine_core::rng::{Purpose, RngExt};

/// The data with the weights of a round, scaled to a mean of 1.
fn weighted(data: &Dataset, shares: &[f64]) -> Result<Dataset> {
    let n = shares.len() as f64;
    data.clone().with_weight(Some(shares.iter().map(|share| share * n).collect()))
}

/// The data of a round: with its weights or, for a learner without support for weights, a weighted sample.
fn of_round(learner: &dyn Learner, data: &Dataset, shares: &[f64], context: &Context<'_>, t: usize) -> Result<Dataset> {
    if learner.info().capabilities.weights {
        return weighted(data, shares);
    }
    let mut rng = Purpose::AdaBoostSample.stream(context.seed, &[t as u64]);
    let until: Vec<f64> = shares
        .iter()
        .scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        })
        .collect();
    let total = until.last().copied().unwrap_or(0.0);
    let mut draw = || {
        let at = rng.random::<f64>() * total;
        until.partition_point(|sum| *sum <= at).min(shares.len() - 1) as u32
    };
    let rows: Vec<u32> = (0..shares.len()).map(|_| draw()).collect();
    data.clone().with_weight(None)?.select(&rows)
}

/// The sample weights as shares of their sum.
fn shares(data: &Dataset) -> Vec<f64> {
    let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
    (0..data.n_rows()).map(|row| data.row_weight(row) / total).collect()
}

/// Boosts a classifier.
pub fn boost(
    params: &AdaBoost,
    learner: &dyn Learner,
    data: &Dataset,
    held_out: Option<&Dataset>,
    context: &Context<'_>,
) -> Result<(Vec<Member>, Rounds)> {
    let (codes, labels) = data.classes()?;
    let k = labels.len();
    let first = shares(data);
    let (mut against, mut log_loss) = (vec![0.0; data.n_rows()], 0.0);
    let mut weights: Vec<f64> = first.iter().map(|share| share.max(LEAST_SHARE)).collect();
    let (mut members, mut rounds) = (Vec::new(), Rounds::default());
    let mut scores = vec![0.0; data.n_rows() * k];
    let mut held_scores = vec![0.0; held_out.map_or(0, Dataset::n_rows) * k];
    report(context.observer, Event::Begin { what: "AdaBoost", total: Some(params.n_estimators as u64) })?;
    for t in 0..params.n_estimators {
        let seed = Purpose::AdaBoostRound.stream(context.seed, &[t as u64]).random();
        let member = Member::train(learner, &of_round(learner, data, &weights, context, t)?, None, seed, context)?;
        let predicted = member.classes(data.features(), k)?;
        let wrong: Vec<bool> =
            predicted.iter().zip(codes).map(|(&predicted, &class)| u32::from(predicted) != class).collect();
        let epsilon: f64 = weights.iter().zip(&wrong).filter(|(_, wrong)| **wrong).map(|(w, _)| w).sum();
        let step = RoundStep::new(epsilon, k, params.learning_rate);
        if step == RoundStep::Useless {
            break;
        }
        let alpha = rounds.push(epsilon, step);
        let error = |scores: &[f64], codes: &[u32], shares: &[f64]| -> f64 {
            let rows = scores.chunks(k).zip(codes).zip(shares);
            rows.filter(|((scores, class), _)| argmax(scores) != **class as usize).map(|(_, share)| share).sum()
        };
        add_votes(&mut scores, &predicted, alpha, k);
        against.iter_mut().zip(&wrong).for_each(|(m, wrong)| *m += if *wrong { alpha } else { -alpha });
        let before = log_loss;
        (weights, log_loss) = reweighted(&first, &against);
        rounds.close(error(&scores, codes, &first), before, log_loss);
        if let Some(held_out) = held_out {
            add_votes(&mut held_scores, &member.classes(held_out.features(), k)?, alpha, k);
            rounds.0[t].validation = error(&held_scores, held_out.classes()?.0, &shares(held_out));
        }
        members.push(member);
        report(context.observer, Event::Step { done: t as u64 + 1, score: None })?;
        let patience = params.n_iter_no_change.unwrap_or(usize::MAX);
        if step == RoundStep::Perfect || (held_out.is_some() && t + 1 - rounds.best_length() >= patience) {
            break;
        }
    }
    report(context.observer, Event::End)?;
    Ok((members, rounds))
}

/// Minimum share of the weight: negligible, but a row that has long been correct can regain weight.
const LEAST_SHARE: f64 = 1e-50;

/// The weights of the next round as shares, and the log of the exponential loss of the vote; `against` is the margin of the wrong votes of each row.
fn reweighted(first: &[f64], against: &[f64]) -> (Vec<f64>, f64) {
    let most = against.iter().fold(f64::NEG_INFINITY, |most: f64, &m| most.max(m));
    let weights: Vec<f64> = first.iter().zip(against).map(|(share, m)| share * (m - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    (weights.iter().map(|w| (w / total).max(LEAST_SHARE)).collect(), most + total.ln())
}

/// Adds a round's votes to the scores of all classes.
pub fn add_votes(scores: &mut [f64], predicted: &[u16], alpha: f64, n_classes: usize) {
    scores.chunks_mut(n_classes).zip(predicted).for_each(|(scores, &predicted)| scores[predicted as usize] += alpha);
}

/// Turns the class probabilities of a leaf into a round's vote for the likeliest class.
pub fn to_vote(predicted: &mut [f64], alpha: f64) {
    let best = (1..predicted.len()).fold(0, |best, k| if predicted[k] > predicted[best] { k } else { best });
    predicted.fill(0.0);
    predicted[best] = alpha;
}

/// Boosts a regressor. In the rounds, epsilon is the mean loss, z is beta, error and validation are the mean absolute error of the committee; no bound is proven.
pub fn boost_numbers(
    params: &AdaBoost,
    learner: &dyn Learner,
    data: &Dataset,
    held_out: Option<&Dataset>,
    context: &Context<'_>,
) -> Result<(Vec<Member>, Rounds)> {
    let (values, _) = data.values()?;
    // Each member's predictions for all rows of the training set and of the validation set.
    let (mut predictions, mut held_out_predictions) = (Vec::new(), Vec::new());
    let first = shares(data);
    let mut log_weights = vec![0.0; data.n_rows()];
    let mut weights: Vec<f64> = first.iter().map(|share| share.max(LEAST_SHARE)).collect();
    let (mut members, mut rounds) = (Vec::new(), Rounds::default());
    report(context.observer, Event::Begin { what: "AdaBoost.R2", total: Some(params.n_estimators as u64) })?;
    for t in 0..params.n_estimators {
        let seed = Purpose::AdaBoostRound.stream(context.seed, &[t as u64]).random();
        let member = Member::train(learner, &of_round(learner, data, &weights, context, t)?, None, seed, context)?;
        let predicted = member.predict(data.features())?;
        let errors: Vec<f64> = predicted.iter().zip(values).map(|(a, b)| (a - b).abs()).collect();
        let most = errors.iter().fold(0.0, |a: f64, &b| a.max(b));
        let losses: Vec<f64> = errors.iter().map(|e| if most > 0.0 { params.loss.of(e / most) } else { 0.0 }).collect();
        let mean_loss: f64 = weights.iter().zip(&losses).map(|(w, l)| w * l).sum();
        let (step, votes) = (NumberStep::new(mean_loss, params.learning_rate), rounds.0.iter().map(|r| r.alpha));
        let (alpha, beta) = match step {
            NumberStep::Useless if !members.is_empty() => break,
            NumberStep::Useless => (1.0, 0.0),
            // A perfect member decides alone.
            NumberStep::Perfect => (1.0 + votes.sum::<f64>(), 0.0),
            NumberStep::Vote { alpha, beta } => (alpha, beta),
        };
        let (bound, error, validation) = (f64::NAN, f64::NAN, f64::NAN);
        rounds.0.push(Round { epsilon: mean_loss, alpha, z: beta, error, bound, validation });
        predictions.extend(predicted);
        rounds.0[t].error = mean_error(&predictions, data, &rounds.0)?;
        if let Some(held_out) = held_out {
            held_out_predictions.extend(member.predict(held_out.features())?);
            rounds.0[t].validation = mean_error(&held_out_predictions, held_out, &rounds.0)?;
        }
        members.push(member);
        report(context.observer, Event::Step { done: t as u64 + 1, score: None })?;
        let patience = params.n_iter_no_change.unwrap_or(usize::MAX);
        let waited = held_out.is_some() && t + 1 - rounds.best_length() >= patience;
        if waited || !matches!(step, NumberStep::Vote { .. }) {
            break;
        }
        log_weights.iter_mut().zip(&losses).for_each(|(w, l)| *w += params.learning_rate * (1.0 - l) * beta.ln());
        (weights, _) = reweighted(&first, &log_weights);
    }
    report(context.observer, Event::End)?;
    Ok((members, rounds))
}

/// The outcome of a regression round, given its mean loss.
enum NumberStep {
    /// Half of the largest error or more.
    Useless,
    /// Without errors.
    Perfect,
    /// The vote, and the factor of the weight of a row without error.
    Vote { alpha: f64, beta: f64 },
}

impl NumberStep {
    fn new(mean_loss: f64, rate: f64) -> NumberStep {
        if mean_loss <= 0.0 {
            return NumberStep::Perfect;
        }
        let beta = mean_loss / (1.0 - mean_loss);
        if mean_loss >= 0.5 { NumberStep::Useless } else { NumberStep::Vote { alpha: rate * (1.0 / beta).ln(), beta } }
    }
}

/// The weighted mean absolute error of the committee so far.
fn mean_error(predicted: &[f64], data: &Dataset, rounds: &[Round]) -> Result<f64> {
    let (values, shares) = (data.values()?.0, shares(data));
    let error = |row: usize| shares[row] * (median_of_row(predicted, row, rounds) - values[row]).abs();
    let errors: Vec<f64> = parallel::map_rows(data.n_rows(), error);
    Ok(errors.iter().sum())
}

/// The weighted median of the members' predictions for a row; `predicted` has each member's predictions for all rows.
pub fn median_of_row(predicted: &[f64], row: usize, rounds: &[Round]) -> f64 {
    let n_rows = predicted.len() / rounds.len().max(1);
    let pair = |(t, round): (usize, &Round)| (predicted[t * n_rows + row], round.alpha);
    weighted_median(&mut rounds.iter().enumerate().map(pair).collect::<Vec<(f64, f64)>>())
}

impl RegressionLoss {
    fn of(self, error: f64) -> f64 {
        match self {
            RegressionLoss::Linear => error,
            RegressionLoss::Square => error * error,
            RegressionLoss::Exponential => 1.0 - (-error).exp(),
        }
    }
}

/// The weighted median: the smallest value such that the values up to it have at least half of the weight.
pub fn weighted_median(predicted: &mut [(f64, f64)]) -> f64 {
    predicted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * predicted.iter().map(|s| s.1).sum::<f64>();
    let mut sum = 0.0;
    for &(value, weight) in predicted.iter() {
        sum += weight;
        if sum >= half {
            return value;
        }
    }
    predicted.last().map_or(0.0, |s| s.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weighted_median_matches_hand_computed_values() {
        assert_eq!(weighted_median(&mut [(3.0, 1.0), (1.0, 1.0), (2.0, 1.0)]), 2.0);
        assert_eq!(weighted_median(&mut [(3.0, 5.0), (1.0, 1.0), (2.0, 1.0)]), 3.0);
        assert_eq!(weighted_median(&mut [(1.0, 1.0), (2.0, 1.0)]), 1.0);
    }
}
