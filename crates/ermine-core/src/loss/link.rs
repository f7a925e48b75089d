//! Links: how scores become predictions.
//!
//! | link | numbers from scores s |
//! |---|---|
//! | identity | s |
//! | exponential | exp(s) |
//! | logistic | two classes, s is the log odds of the second: 1 - p and p = 1 / (1 + exp(-s)) |
//! | softmax | exp(s_k) / sum_j exp(s_j) |
//! | quantiles | the median of s: its middle element, or the mean of the two middle ones |
//! | vote | AdaBoost's votes: softmax(2 s), or 1 / (1 + exp(-2 s)) for two classes and one score; scores that differ only by rounding are ties |
//! | certain | there is only one class |

use super::softmax::softmax_body;
use crate::model::Output;
use crate::parallel;
use crate::simd::exp::{exp, sigmoid};
use serde::{Deserialize, Serialize};

/// How scores become predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The score itself.
    Identity,
    /// The exponential of the score.
    Exponential,
    /// Two classes: the score is the log odds of the second.
    Logistic,
    /// Several classes: scores are log probabilities, up to a constant.
    Softmax,
    /// Several quantiles; the prediction is their median: the middle one, or the mean of the two middle ones.
    Quantiles,
    /// Votes of AdaBoost: half the log odds, or half the log probabilities up to a constant.
    Vote,
    /// Only one class, whatever the scores.
    Certain,
}

/// Votes that differ by less than this are ties: far smaller than any vote, larger than rounding errors.
pub const TIE: f64 = 1e-12;

/// Scores that fit on the stack.
const FEW: usize = 64;

impl Link {
    /// Number of predicted values for `n_scores` scores.
    pub fn width(self, n_scores: usize) -> usize {
        match self {
            Link::Logistic => 2,
            Link::Vote if n_scores == 1 => 2,
            Link::Quantiles | Link::Certain => 1,
            _ => n_scores,
        }
    }

    /// The meaning of the predicted values.
    pub fn output(self) -> Output {
        match self {
            Link::Identity | Link::Exponential | Link::Quantiles => Output::Values,
            Link::Logistic | Link::Softmax | Link::Vote | Link::Certain => Output::Probabilities,
        }
    }

    /// Predicted values of a row from its scores.
    #[inline]
    pub fn of_row(self, scores: &[f64], out: &mut [f64]) {
        rows(self, scores, scores.len(), out);
    }

    /// Predicted values of all rows from their scores, `k` per row.
    pub fn apply(self, scores: Vec<f64>, k: usize) -> Vec<f64> {
        /// Rows per task.
        const ROWS: usize = 4096;
        if self == Link::Identity {
            return scores;
        }
        let (k, width) = (k.max(1), self.width(k));
        let mut out = vec![0.0; scores.len() / k * width];
        parallel::for_each_chunk(&mut out, ROWS * width, |part, out| {
            rows(self, &scores[part * ROWS * k..][..out.len() / width * k], k, out);
        });
        out
    }
}

crate::versions! {
    /// Predicted values of some rows from their scores, `k` per row.
    fn rows(link: Link, scores: &[f64], k: usize, out: &mut [f64]) {
        let k = k.max(1);
        match link {
            Link::Identity => out.copy_from_slice(scores),
            Link::Exponential => out.iter_mut().zip(scores).for_each(|(out, &s)| *out = exp(s)),
            Link::Logistic => {
                for (out, &s) in out.as_chunks_mut::<2>().0.iter_mut().zip(scores) {
                    let p = sigmoid(s);
                    *out = [1.0 - p, p];
                }
            }
            Link::Softmax => {
                for (scores, out) in scores.chunks_exact(k).zip(out.chunks_exact_mut(k)) {
                    out.copy_from_slice(scores);
                    softmax_body(out);
                }
            }
            Link::Quantiles => scores.chunks_exact(k).zip(out).for_each(|(scores, out)| *out = median(scores)),
            Link::Vote => {
                let width = link.width(k);
                scores.chunks_exact(k).zip(out.chunks_exact_mut(width)).for_each(|(scores, out)| vote(scores, out));
            }
            Link::Certain => out.fill(1.0),
        }
    }
}

fn median(scores: &[f64]) -> f64 {
    let (mut few, mut many) = ([0.0; FEW], Vec::new());
    let sorted = match few.get_mut(..scores.len()) {
        Some(few) => few,
        None => {
            many.resize(scores.len(), 0.0);
            &mut many[..]
        }
    };
    sorted.copy_from_slice(scores);
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { 0.5 * (sorted[middle - 1] + sorted[middle]) } else { sorted[middle] }
}

#[inline(always)]
fn vote(scores: &[f64], out: &mut [f64]) {
    if let [score] = *scores {
        let score = if score.abs() <= TIE { 0.0 } else { score };
        out.copy_from_slice(&[sigmoid(-2.0 * score), sigmoid(2.0 * score)]);
        return;
    }
    let most = scores.iter().fold(f64::NEG_INFINITY, |a: f64, &b| a.max(b));
    out.iter_mut().zip(scores).for_each(|(out, &s)| *out = if s >= most - TIE { 1.0 } else { exp(2.0 * (s - most)) });
    let sum: f64 = out.iter().sum();
    out.iter_mut().for_each(|p| *p /= sum);
}
