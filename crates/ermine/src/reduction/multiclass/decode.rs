//! From what binary parts say about a row to scores or probabilities of its classes.
//!
//! Confidence is a part's probability of its positive side, or its margin; in duels its log odds, where its probabilities are made of such. With c_p the confidence of part p:
//! ```text
//! confidence   one against the rest: c_k, divided by their sum if they are probabilities
//!              all against all:      sum over duels of the confidence in k
//! majority     duels won by k + s / (3 (|s| + 1)), with s the sum of confidences in k
//! distance     -|c - M_k|^2, with M_k the code of class k
//! coupling     min over p of sum_{i<j} (r_ji p_i - r_ij p_j)^2, sum p = 1, with r_ij the probability that i wins against j
//! ```
//! **Reference.** Wu, Lin and Weng, Probability estimates for multi-class classification by pairwise coupling, JMLR 2004 (their second method).

use super::matrix::Coding;
use serde::{Deserialize, Serialize};

/// How what the parts say becomes an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decoder {
    /// By confidence.
    Confidence,
    /// By duels won.
    Majority,
    /// By distance from the codes.
    Distance,
    /// By probabilities that fit the duels.
    Coupling,
}

/// What the parts' confidences are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// Probabilities of the positive side, from 0 to 1.
    Probability,
    /// Signed margins.
    Margin,
}

/// The scores of the classes of one row; `said` has the confidence of each part.
pub fn decode(decoder: Decoder, coding: &Coding, kind: Confidence, said: &[f64], scores: &mut [f64]) {
    match decoder {
        Decoder::Confidence if is_one_vs_rest(coding, scores.len()) => {
            scores.copy_from_slice(said);
            if kind == Confidence::Probability {
                normalise(scores);
            }
        }
        Decoder::Confidence => duels(coding, kind, said, scores, |confidence, _| confidence),
        Decoder::Majority => {
            let mut sums = vec![0.0; scores.len()];
            duels(coding, kind, said, &mut sums, |confidence, _| confidence);
            duels(coding, kind, said, scores, |_, won| f64::from(u8::from(won)));
            // Less than a duel, but enough to tell ties apart.
            scores.iter_mut().zip(sums).for_each(|(score, s)| *score += s / (3.0 * (s.abs() + 1.0)));
        }
        Decoder::Distance => {
            let low = if kind == Confidence::Probability { 0.0 } else { -1.0 };
            for (k, score) in scores.iter_mut().enumerate() {
                let bit = |p: usize| if coding.sign(k, p) > 0 { 1.0 } else { low };
                *score = -said.iter().enumerate().map(|(p, c)| (c - bit(p)).powi(2)).sum::<f64>();
            }
        }
        Decoder::Coupling => couple(coding, said, scores),
    }
}

fn is_one_vs_rest(coding: &Coding, n_classes: usize) -> bool {
    coding.n_parts() == n_classes && (0..n_classes).all(|k| coding.sign(k, k) == 1)
}

fn normalise(scores: &mut [f64]) {
    let sum: f64 = scores.iter().sum();
    let even = 1.0 / scores.len() as f64;
    scores.iter_mut().for_each(|score| *score = if sum > 0.0 { *score / sum } else { even });
}

/// Adds for each duel what `worth` says of (confidence in the class, whether it won) to both of its classes.
fn duels(coding: &Coding, kind: Confidence, said: &[f64], scores: &mut [f64], worth: impl Fn(f64, bool) -> f64) {
    scores.fill(0.0);
    let middle = if kind == Confidence::Probability { 0.5 } else { 0.0 };
    for (p, &confidence) in said.iter().enumerate() {
        // Above the middle, as in a single part: a tie goes to the first class.
        let (margin, won) = (confidence - middle, confidence > middle);
        for (k, score) in scores.iter_mut().enumerate() {
            match coding.sign(k, p) {
                1 => *score += worth(margin, won),
                -1 => *score += worth(-margin, !won),
                _ => {}
            }
        }
    }
}

/// Steps of the coupling's fixed point; it converges in a few dozen.
const MOST_STEPS: usize = 1000;

/// The probabilities that fit those of the duels best.
fn couple(coding: &Coding, said: &[f64], p: &mut [f64]) {
    let k = p.len();
    // Sure duels would make the system singular.
    const LEAST: f64 = 1e-7;
    let mut r = vec![0.0; k * k];
    for (part, &c) in said.iter().enumerate() {
        let (mut winner, mut loser) = (0, 0);
        for class in 0..k {
            match coding.sign(class, part) {
                1 => winner = class,
                -1 => loser = class,
                _ => {}
            }
        }
        let c = c.clamp(LEAST, 1.0 - LEAST);
        r[winner * k + loser] = c;
        r[loser * k + winner] = 1.0 - c;
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
    for _ in 0..MOST_STEPS {
        let mut qp: Vec<f64> = (0..k).map(|t| (0..k).map(|j| q[t * k + j] * p[j]).sum()).collect();
        let mut pqp: f64 = p.iter().zip(&qp).map(|(p, q)| p * q).sum();
        if qp.iter().all(|x| (x - pqp).abs() < 1e-12 / k as f64) {
            break;
        }
        for t in 0..k {
            // The step that solves equation t, and then the sum is made 1 again.
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
        let coding = Coding::one_vs_one(3);
        // Parts: (0, 1), (0, 2), (1, 2), the later class positive. Each class wins once: 1 over 0, 0 over 2, 2 over 1.
        let said = [0.9, 0.4, 0.6];
        let mut scores = [0.0; 3];
        decode(Decoder::Majority, &coding, Confidence::Probability, &said, &mut scores);
        assert!(scores[1] > scores[2] && scores[2] > scores[0], "{scores:?}");
        assert!(scores.iter().all(|s| (0.6..1.4).contains(s)));
    }

    proptest! {
        /// Duels that come from probabilities, r_ij = p_i / (p_i + p_j), are coupled back to them.
        #[test]
        fn coupling_finds_probabilities_again(raw in prop::collection::vec(0.05f64..1.0, 2..7)) {
            let total: f64 = raw.iter().sum();
            let p: Vec<f64> = raw.iter().map(|x| x / total).collect();
            let coding = Coding::one_vs_one(p.len());
            let mut said = Vec::new();
            for i in 0..p.len() {
                (i + 1..p.len()).for_each(|j| said.push(p[j] / (p[i] + p[j])));
            }
            let mut found = vec![0.0; p.len()];
            decode(Decoder::Coupling, &coding, Confidence::Probability, &said, &mut found);
            for (a, b) in found.iter().zip(&p) {
                prop_assert!((a - b).abs() < 1e-6, "{found:?} {p:?}");
            }
        }

        /// Any duels: the coupled probabilities add up to 1 and no small change of them fits better.
        #[test]
        fn coupling_is_a_minimum(said in prop::collection::vec(0.02f64..0.98, 6)) {
            let coding = Coding::one_vs_one(4);
            let mut p = [0.0; 4];
            decode(Decoder::Coupling, &coding, Confidence::Probability, &said, &mut p);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-9 && p.iter().all(|&x| x >= 0.0));
            let misfit = |p: &[f64]| {
                let mut at = 0;
                let mut sum = 0.0;
                for i in 0..4 {
                    for j in i + 1..4 {
                        sum += (said[at] * p[i] - (1.0 - said[at]) * p[j]).powi(2);
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
