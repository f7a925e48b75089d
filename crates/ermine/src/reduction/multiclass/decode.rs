//! Combines the outputs of binary classifiers into scores or probabilities of the classes.
//!
//! The confidence of a binary classifier is its probability of the positive class, or its margin. One-vs-one uses log odds where the classifier computes its probabilities
//! from them. With c_p the confidence of classifier p:
//! ```text
//! confidence   one-vs-rest: c_k, divided by their sum if they are probabilities
//!              one-vs-one:  sum of the confidences in k over all pairs with k
//! majority     pairs won by k + s / (3 (|s| + 1)), with s the sum of the confidences in k
//! distance     -|c - M_k|^2, with M_k the code of class k
//! coupling     min over p of sum_{i<j} (r_ji p_i - r_ij p_j)^2, sum p = 1, with r_ij the probability of i among the rows of i and j
//! ```
//! **Reference.** Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise coupling, JMLR 2004 (their second method).

use super::matrix::CodingMatrix;
use serde::{Deserialize, Serialize};

/// How the outputs of the binary classifiers are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decoder {
    /// Confidences, or their sums over pairs.
    Confidence,
    /// Number of pairs won.
    Majority,
    /// Distance from the codes of the classes.
    Distance,
    /// Pairwise coupling of probabilities.
    Coupling,
}

/// Meaning of the confidences of binary classifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfidenceKind {
    /// Probabilities of the positive class, from 0 to 1.
    Probability,
    /// Signed margins.
    Margin,
}

/// Computes the scores of the classes of one row from the confidence of each binary classifier.
pub fn decode(decoder: Decoder, coding: &CodingMatrix, kind: ConfidenceKind, confidences: &[f64], scores: &mut [f64]) {
    match decoder {
        Decoder::Confidence if is_one_vs_rest(coding, scores.len()) => {
            scores.copy_from_slice(confidences);
            if kind == ConfidenceKind::Probability {
                normalize(scores);
            }
        }
        Decoder::Confidence => add_pairwise_scores(coding, kind, confidences, scores, |confidence, _| confidence),
        Decoder::Majority => {
            let mut sums = vec![0.0; scores.len()];
            add_pairwise_scores(coding, kind, confidences, &mut sums, |confidence, _| confidence);
            add_pairwise_scores(coding, kind, confidences, scores, |_, won| f64::from(u8::from(won)));
            // Less than one pair, so that confidence only breaks ties.
            scores.iter_mut().zip(sums).for_each(|(score, s)| *score += s / (3.0 * (s.abs() + 1.0)));
        }
        Decoder::Distance => {
            let low = if kind == ConfidenceKind::Probability { 0.0 } else { -1.0 };
            for (k, score) in scores.iter_mut().enumerate() {
                let bit = |p: usize| if coding.sign(k, p) > 0 { 1.0 } else { low };
                *score = -confidences.iter().enumerate().map(|(p, c)| (c - bit(p)).powi(2)).sum::<f64>();
            }
        }
        Decoder::Coupling => couple_probabilities(coding, confidences, scores),
    }
}

fn is_one_vs_rest(coding: &CodingMatrix, n_classes: usize) -> bool {
    coding.n_classifiers() == n_classes && (0..n_classes).all(|k| coding.sign(k, k) == 1)
}

fn normalize(scores: &mut [f64]) {
    let sum: f64 = scores.iter().sum();
    let uniform = 1.0 / scores.len() as f64;
    scores.iter_mut().for_each(|score| *score = if sum > 0.0 { *score / sum } else { uniform });
}

/// Adds `score_of(confidence in the class, whether it won)` to both classes of each pair.
fn add_pairwise_scores(
    coding: &CodingMatrix,
    kind: ConfidenceKind,
    confidences: &[f64],
    scores: &mut [f64],
    score_of: impl Fn(f64, bool) -> f64,
) {
    scores.fill(0.0);
    let threshold = if kind == ConfidenceKind::Probability { 0.5 } else { 0.0 };
    for (p, &confidence) in confidences.iter().enumerate() {
        // A tie goes to the first class, as with a single binary classifier.
        let (margin, won) = (confidence - threshold, confidence > threshold);
        for (k, score) in scores.iter_mut().enumerate() {
            match coding.sign(k, p) {
                1 => *score += score_of(margin, won),
                -1 => *score += score_of(-margin, !won),
                _ => {}
            }
        }
    }
}

/// Maximum number of iterations of pairwise coupling; a few dozen are usual.
const MAX_ITERATIONS: usize = 1000;

/// Computes the probabilities that fit the pairwise probabilities best.
fn couple_probabilities(coding: &CodingMatrix, confidences: &[f64], p: &mut [f64]) {
    let k = p.len();
    // Pairwise probabilities of 0 or 1 would make the system singular.
    const MIN_PROBABILITY: f64 = 1e-7;
    let mut r = vec![0.0; k * k];
    for (classifier, &c) in confidences.iter().enumerate() {
        let (mut positive, mut negative) = (0, 0);
        for class in 0..k {
            match coding.sign(class, classifier) {
                1 => positive = class,
                -1 => negative = class,
                _ => {}
            }
        }
        let c = c.clamp(MIN_PROBABILITY, 1.0 - MIN_PROBABILITY);
        r[positive * k + negative] = c;
        r[negative * k + positive] = 1.0 - c;
    }
    // Q_tt = sum_{s != t} r_st^2, Q_tj = -r_jt r_tj; p solves Q p = (p'Qp) 1 with sum p = 1.
    let q = |t: usize, j: usize| -> f64 {
        match t == j {
            true => (0..k).filter(|&s| s != t).map(|s| r[s * k + t].powi(2)).sum(),
            false => -r[j * k + t] * r[t * k + j],
        }
    };
    let q: Vec<f64> = (0..k * k).map(|i| q(i / k, i % k)).collect();
    p.fill(1.0 / k as f64);
    for _ in 0..MAX_ITERATIONS {
        let mut qp: Vec<f64> = (0..k).map(|t| (0..k).map(|j| q[t * k + j] * p[j]).sum()).collect();
        let mut pqp: f64 = p.iter().zip(&qp).map(|(p, q)| p * q).sum();
        if qp.iter().all(|x| (x - pqp).abs() < 1e-12 / k as f64) {
            break;
        }
        for t in 0..k {
            // The step that solves equation t; afterwards the probabilities are scaled to sum to 1.
            let step = (pqp - qp[t]) / q[t * k + t];
            p[t] += step;
            let scale = 1.0 + step;
            pqp = (pqp + step * (step * q[t * k + t] + 2.0 * qp[t])) / (scale * scale);
            for j in 0..k {
                qp[j] = (qp[j] + step * q[t * k + j]) / scale;
                p[j] /= scale;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn majority_breaks_ties_by_confidence() {
        let coding = CodingMatrix::one_vs_one(3);
        // Pairs: (0, 1), (0, 2), (1, 2), the later class positive. Each class wins once: 1 over 0, 0 over 2, 2 over 1.
        let confidences = [0.9, 0.4, 0.6];
        let mut scores = [0.0; 3];
        decode(Decoder::Majority, &coding, ConfidenceKind::Probability, &confidences, &mut scores);
        assert!(scores[1] > scores[2] && scores[2] > scores[0], "{scores:?}");
        assert!(scores.iter().all(|s| (0.6..1.4).contains(s)));
    }

    proptest! {
        /// Coupling recovers probabilities p from consistent pairs, r_ij = p_i / (p_i + p_j).
        #[test]
        fn coupling_recovers_consistent_probabilities(raw in prop::collection::vec(0.05f64..1.0, 2..7)) {
            let total: f64 = raw.iter().sum();
            let p: Vec<f64> = raw.iter().map(|x| x / total).collect();
            let coding = CodingMatrix::one_vs_one(p.len());
            let mut confidences = Vec::new();
            for i in 0..p.len() {
                (i + 1..p.len()).for_each(|j| confidences.push(p[j] / (p[i] + p[j])));
            }
            let mut found = vec![0.0; p.len()];
            decode(Decoder::Coupling, &coding, ConfidenceKind::Probability, &confidences, &mut found);
            for (a, b) in found.iter().zip(&p) {
                prop_assert!((a - b).abs() < 1e-6, "{found:?} {p:?}");
            }
        }

        /// For any pairwise probabilities, the result sums to 1 and no small change of it fits better.
        #[test]
        fn coupling_minimizes_the_misfit(confidences in prop::collection::vec(0.02f64..0.98, 6)) {
            let coding = CodingMatrix::one_vs_one(4);
            let mut p = [0.0; 4];
            decode(Decoder::Coupling, &coding, ConfidenceKind::Probability, &confidences, &mut p);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9 && p.iter().all(|&x| x >= 0.0));
            let misfit = |p: &[f64]| {
                let mut at = 0;
                let mut sum = 0.0;
                for i in 0..4 {
                    for j in i + 1..4 {
                        sum += (confidences[at] * p[i] - (1.0 - confidences[at]) * p[j]).powi(2);
                        at += 1;
                    }
                }
                sum
            };
            let best = misfit(&p);
            for (i, j) in [(0, 1), (1, 2), (2, 3), (3, 0)] {
                for step in [1e-3, -1e-3] {
                    let mut other = p;
                    other[i] += step;
                    other[j] -= step;
                    prop_assert!(misfit(&other) >= best - 1e-12);
                }
            }
        }
    }
}
