//! GentleBoost and LogitBoost: AdaBoost as additive logistic regression, for two classes.
//!
//! **Idea.** Instead of a vote, a round adds a stump of numbers to the score F, fitted by weighted least squares. With y = -1 or 1 and p = 1 / (1 + exp(-2F)):
//!
//! | | weights | what is fitted | added to F |
//! |---|---|---|---|
//! | GentleBoost | exp(-yF) | y | the fit |
//! | LogitBoost | p (1 - p) | (\[y = 1\] - p) / (p (1 - p)), at most 4 in size | half the fit |
//!
//! Each is a Newton step on its loss: exp(-yF) and log(1 + exp(-2yF)). Both losses, the second in bits, are at least 1 if F has the wrong sign, so their means bound the training error, like the product
//! of normalizers of AdaBoost.
//!
//! **Cost.** One scan of all columns per round, O(n d). **Reference.** Friedman, Hastie and Tibshirani, Additive logistic regression, 2000, algorithms 3 and 4.

use super::rounds::{Round, Rounds};
use super::{AdaBoost, AdaBoostAlgorithm, TIE};
use ermine_core::error::Result;
use ermine_core::learner::Context;
use ermine_core::matrix::Dataset;
use ermine_core::progress::{Event, report};
use ermine_trees::split::additive::{SquaredErrorSums, TargetMoments};
use ermine_trees::split::{AdditiveCriterion, best_split};
use ermine_trees::tree::{Forest, Tree};

/// Maximum absolute working response of LogitBoost, as the authors advise.
const MOST: f64 = 4.0;

/// The scores of some rows.
struct AdditiveScores<'a> {
    data: &'a Dataset,
    /// -1 or 1 for each row.
    sign: Vec<f64>,
    /// The sample weights as shares.
    share: Vec<f64>,
    score: Vec<f64>,
}

impl<'a> AdditiveScores<'a> {
    fn new(data: &'a Dataset) -> Result<AdditiveScores<'a>> {
        let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
        let share = (0..data.n_rows()).map(|row| data.row_weight(row) / total).collect();
        let sign = data.classes()?.0.iter().map(|&class| if class == 1 { 1.0 } else { -1.0 }).collect();
        Ok(AdditiveScores { data, sign, share, score: vec![0.0; data.n_rows()] })
    }

    fn add(&mut self, tree: &Tree) {
        let nodes = tree.apply(self.data.features());
        self.score.iter_mut().zip(nodes).for_each(|(score, node)| *score += tree.value(node as usize)[0]);
    }

    /// The share of misclassified rows.
    fn error(&self) -> f64 {
        let wrong = |(score, sign): (&f64, &f64)| (*score > TIE) != (*sign > 0.0);
        self.score.iter().zip(&self.sign).zip(&self.share).filter(|(row, _)| wrong(*row)).map(|(_, share)| share).sum()
    }

    /// The mean loss.
    fn loss(&self, algorithm: AdaBoostAlgorithm) -> f64 {
        let loss = |margin: f64| match algorithm {
            AdaBoostAlgorithm::Logit => (-2.0 * margin).exp().ln_1p() / std::f64::consts::LN_2,
            _ => (-margin).exp(),
        };
        let rows = self.score.iter().zip(&self.sign).zip(&self.share);
        rows.map(|((score, sign), share)| share * loss(score * sign)).sum()
    }

    /// Weight and working response of each row.
    fn work(&self, algorithm: AdaBoostAlgorithm) -> (Vec<f64>, Vec<f64>) {
        let row = |((&score, &sign), &share): ((&f64, &f64), &f64)| match algorithm {
            AdaBoostAlgorithm::Logit => {
                let p = 1.0 / (1.0 + (-2.0 * score).exp());
                let curvature = (p * (1.0 - p)).max(1e-12);
                let response = (f64::from(u8::from(sign > 0.0)) - p) / curvature;
                (share * curvature, response.clamp(-MOST, MOST))
            }
            // Larger margins would overflow the weights.
            _ => (share * (-sign * score).clamp(-500.0, 500.0).exp(), sign),
        };
        self.score.iter().zip(&self.sign).zip(&self.share).map(row).unzip()
    }
}

/// Boosts regression stumps.
pub fn boost(
    params: &AdaBoost,
    data: &Dataset,
    held_out: Option<&Dataset>,
    context: &Context<'_>,
) -> Result<(Forest, Rounds)> {
    let mut scores = AdditiveScores::new(data)?;
    let mut scorer = held_out.map(AdditiveScores::new).transpose()?;
    let (mut forest, mut rounds) = (Forest::new(1), Rounds::default());
    let half = if params.algorithm == AdaBoostAlgorithm::Logit { 0.5 } else { 1.0 };
    report(context.observer, Event::Begin { what: "boosting", total: Some(params.n_estimators as u64) })?;
    for t in 0..params.n_estimators {
        let (weight, response) = scores.work(params.algorithm);
        let Some(tree) = stump(params, data, &weight, &response, params.learning_rate * half) else { break };
        let nodes = tree.apply(data.features());
        let says = |row: usize| tree.value(nodes[row] as usize)[0] * scores.sign[row] > 0.0;
        let wrong: f64 = (0..data.n_rows()).filter(|&row| !says(row)).map(|row| weight[row]).sum();
        let epsilon = wrong / weight.iter().sum::<f64>();
        scores.add(&tree);
        let (loss, error) = (scores.loss(params.algorithm), scores.error());
        let before = rounds.0.last().map_or(1.0, |r: &Round| r.bound);
        let mut round =
            Round { epsilon, alpha: params.learning_rate, z: loss / before, error, bound: loss, validation: f64::NAN };
        if let Some(scorer) = &mut scorer {
            scorer.add(&tree);
            round.validation = scorer.error();
        }
        rounds.0.push(round);
        forest.push(&tree);
        report(context.observer, Event::Step { done: t as u64 + 1, score: None })?;
        if scorer.is_some() && t + 1 - rounds.best_length() >= params.n_iter_no_change.unwrap_or(usize::MAX) {
            break;
        }
    }
    report(context.observer, Event::End)?;
    Ok((forest, rounds))
}

/// The stump with the least weighted squared error, its predictions multiplied by `factor`; `None` if there is no split.
fn stump(params: &AdaBoost, data: &Dataset, weight: &[f64], response: &[f64], factor: f64) -> Option<Tree> {
    let criterion = SquaredErrorSums { values: response, weight: Some(weight) };
    let mut all = criterion.zero();
    (0..data.n_rows()).for_each(|row| criterion.add(&mut all, row));
    let mean = |sum: &TargetMoments, none: f64| if sum.weight > 0.0 { sum.sum / sum.weight } else { none };
    let of_all = mean(&all, 0.0);
    let split = best_split(&criterion, data.features(), params.max_categories)?;
    let mut tree = Tree::leaf(all.weight, &[factor * of_all]);
    let leaf = |sum: &TargetMoments| (sum.weight, vec![factor * mean(sum, of_all)]);
    tree.split(0, split.test.clone(), &split.sums.iter().map(leaf).collect::<Vec<_>>());
    Some(tree)
}
