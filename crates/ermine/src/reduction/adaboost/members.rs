//! AdaBoost over any learner that takes row weights.
//!
//! **Idea.** The same rounds as over stumps, with weights in f64 and the learner trained anew in each round. Learners that can't do better than chance end the work, as do learners
//! without errors. For numbers, [AdaBoost.R2](boost_numbers): rows with a large error gain weight, and the committee answers with the weighted median.
//!
//! **Formula of R2** (Drucker, Improving regressors using boosting techniques, 1997). With e_i = |y_i - h(x_i)| / max e, squared or 1 - exp(-e_i) if asked for: eps = sum D_i e_i,
//! beta = eps / (1 - eps), D_i grows by beta^(rate (1 - e_i)), and the vote of the round is rate ln(1 / beta).

use super::rounds::{Round, Rounds, Step};
use super::{AdaBoost, RegressionLoss, heaviest};
use crate::error::Result;
use crate::learner::{Context, Learner};
use crate::matrix::Dataset;
use crate::progress::{Event, report};
use crate::reduction::committee::Member;
use crate::rng;
use rand::RngExt;

/// The random stream of a round.
const ROUND: u64 = 40;

/// The data under the weights of a round. Weights are scaled to a mean of 1, as learners expect.
fn weighted(data: &Dataset, shares: &[f64]) -> Result<Dataset> {
    let n = shares.len() as f64;
    data.clone().with_weight(Some(shares.iter().map(|share| share * n).collect()))
}

/// The given weights as shares of their sum.
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
    let mut weights = first.clone();
    let (mut members, mut rounds) = (Vec::new(), Rounds::default());
    let mut scores = vec![0.0; data.n_rows() * k];
    let mut held_scores = vec![0.0; held_out.map_or(0, Dataset::n_rows) * k];
    report(context.observer, Event::Begin { what: "AdaBoost", total: Some(params.n_estimators as u64) })?;
    for t in 0..params.n_estimators {
        let seed = rng::stream(context.seed, &[ROUND, t as u64]).random();
        let member = Member::train(learner, &weighted(data, &weights)?, None, seed, context)?;
        let said = member.classes(data.features(), k)?;
        let wrong: Vec<bool> = said.iter().zip(codes).map(|(&said, &class)| u32::from(said) != class).collect();
        let epsilon: f64 = weights.iter().zip(&wrong).filter(|(_, wrong)| **wrong).map(|(w, _)| w).sum();
        let step = Step::new(epsilon, k, params.learning_rate);
        if step == Step::Useless {
            break;
        }
        let alpha = rounds.push(epsilon, step);
        let error = |scores: &[f64], codes: &[u32], shares: &[f64]| -> f64 {
            let rows = scores.chunks(k).zip(codes).zip(shares);
            rows.filter(|((scores, class), _)| heaviest(scores) != **class as usize).map(|(_, share)| share).sum()
        };
        add_votes(&mut scores, &said, alpha, k);
        rounds.0[t].error = error(&scores, codes, &first);
        if let Some(held_out) = held_out {
            add_votes(&mut held_scores, &member.classes(held_out.features(), k)?, alpha, k);
            rounds.0[t].validation = error(&held_scores, held_out.classes()?.0, &shares(held_out));
        }
        members.push(member);
        report(context.observer, Event::Step { done: t as u64 + 1, score: None })?;
        let patience = params.n_iter_no_change.unwrap_or(usize::MAX);
        let Step::Vote { alpha, z } = step else { break };
        if held_out.is_some() && t + 1 - rounds.best_length() >= patience {
            break;
        }
        for (weight, wrong) in weights.iter_mut().zip(wrong) {
            *weight *= if wrong { alpha.exp() } else { (-alpha).exp() } / z;
        }
    }
    report(context.observer, Event::End)?;
    Ok((members, rounds))
}

/// Adds a round's votes to the scores of all classes.
pub fn add_votes(scores: &mut [f64], said: &[u16], alpha: f64, n_classes: usize) {
    scores.chunks_mut(n_classes).zip(said).for_each(|(scores, &said)| scores[said as usize] += alpha);
}

/// Boosts a regressor. In the rounds, epsilon is the mean loss, z is beta, and error the mean absolute error of the committee; no bound is proven.
pub fn boost_numbers(
    params: &AdaBoost,
    learner: &dyn Learner,
    data: &Dataset,
    context: &Context<'_>,
) -> Result<(Vec<Member>, Rounds)> {
    let (values, _) = data.values()?;
    let mut weights = shares(data);
    let (mut members, mut rounds) = (Vec::new(), Rounds::default());
    report(context.observer, Event::Begin { what: "AdaBoost.R2", total: Some(params.n_estimators as u64) })?;
    for t in 0..params.n_estimators {
        let seed = rng::stream(context.seed, &[ROUND, t as u64]).random();
        let member = Member::train(learner, &weighted(data, &weights)?, None, seed, context)?;
        let said = member.predict(data.features())?;
        let errors: Vec<f64> = said.iter().zip(values).map(|(a, b)| (a - b).abs()).collect();
        let most = errors.iter().fold(0.0, |a: f64, &b| a.max(b));
        let mut round =
            Round { epsilon: 0.0, alpha: 1.0, z: 0.0, error: f64::NAN, bound: f64::NAN, validation: f64::NAN };
        if most <= 0.0 {
            // Without errors: nothing is left to learn, and this one alone has the say.
            round.alpha = 1.0 + rounds.0.iter().map(|r| r.alpha).sum::<f64>();
            rounds.0.push(round);
            members.push(member);
            break;
        }
        let losses: Vec<f64> = errors.iter().map(|e| params.loss.of(e / most)).collect();
        round.epsilon = weights.iter().zip(&losses).map(|(w, l)| w * l).sum();
        if round.epsilon >= 0.5 {
            if members.is_empty() {
                rounds.0.push(round);
                members.push(member);
            }
            break;
        }
        round.z = round.epsilon / (1.0 - round.epsilon);
        round.alpha = params.learning_rate * (1.0 / round.z).ln();
        weights.iter_mut().zip(&losses).for_each(|(w, l)| *w *= round.z.powf(params.learning_rate * (1.0 - l)));
        let total: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|w| *w /= total);
        rounds.0.push(round);
        members.push(member);
        report(context.observer, Event::Step { done: t as u64 + 1, score: None })?;
    }
    report(context.observer, Event::End)?;
    Ok((members, rounds))
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

/// The weighted median of what members say about a row: the least number such that those up to it have half of the weight.
pub fn weighted_median(said: &mut [(f64, f64)]) -> f64 {
    said.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * said.iter().map(|s| s.1).sum::<f64>();
    let mut sum = 0.0;
    for &(value, weight) in said.iter() {
        sum += weight;
        if sum >= half {
            return value;
        }
    }
    said.last().map_or(0.0, |s| s.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_where_half_of_the_weight_is_reached() {
        assert_eq!(weighted_median(&mut [(3.0, 1.0), (1.0, 1.0), (2.0, 1.0)]), 2.0);
        assert_eq!(weighted_median(&mut [(3.0, 5.0), (1.0, 1.0), (2.0, 1.0)]), 3.0);
        assert_eq!(weighted_median(&mut [(1.0, 1.0), (2.0, 1.0)]), 1.0);
    }
}
