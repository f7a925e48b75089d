//! ROC and precision-recall curves and the areas under them.
//!
//! Rows are sorted once by descending score, so that curves for any weights (bootstrap) take O(n).
//! ```text
//! ROC AUC = P(score of a positive > score of a negative) + 1/2 P(the same)        average precision = sum_i (R_i - R_{i-1}) P_i
//! ```

use super::Weights;
use serde::Serialize;

/// Rows sorted by descending score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    order: Vec<u32>,
    /// The end of each run of equal scores in `order`.
    ends: Vec<usize>,
    positive: Vec<bool>,
    scores: Vec<f64>,
}

/// A point of the curves: all rows with a score at or above a threshold are predicted positive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ThresholdPoint {
    /// The threshold.
    pub threshold: f64,
    /// The weight of the true positives.
    pub true_positives: f64,
    /// The weight of the false positives.
    pub false_positives: f64,
}

impl Ranked {
    /// Sorts rows; `positive` marks the positive ones.
    pub fn new(scores: &[f64], positive: Vec<bool>) -> Ranked {
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
        let sorted: Vec<f64> = order.iter().map(|&row| scores[row as usize]).collect();
        let ends = (1..=sorted.len()).filter(|&i| i == sorted.len() || sorted[i] != sorted[i - 1]).collect();
        Ranked { order, ends, positive, scores: sorted }
    }

    /// True and false positives at each distinct score, from the highest down.
    pub fn points(&self, weights: Weights<'_>) -> Vec<ThresholdPoint> {
        let (mut true_positives, mut false_positives, mut start) = (0.0, 0.0, 0);
        let mut points = Vec::with_capacity(self.ends.len());
        for &end in &self.ends {
            for &row in &self.order[start..end] {
                let w = weights.of(row as usize);
                if self.positive[row as usize] {
                    true_positives += w;
                } else {
                    false_positives += w;
                }
            }
            points.push(ThresholdPoint { threshold: self.scores[start], true_positives, false_positives });
            start = end;
        }
        points
    }

    /// Whether both positive and negative rows have weight.
    pub fn has_both_classes(&self, weights: Weights<'_>) -> bool {
        let has =
            |which: bool| (0..self.positive.len()).any(|row| self.positive[row] == which && weights.of(row) > 0.0);
        has(true) && has(false)
    }

    /// The area under the ROC curve; `None` unless both positive and negative rows have weight.
    pub fn roc_auc(&self, weights: Weights<'_>) -> Option<f64> {
        let points = self.points(weights);
        let last = points.last().filter(|p| p.true_positives > 0.0 && p.false_positives > 0.0)?;
        let mut area = 0.0;
        let (mut true_positives, mut false_positives) = (0.0, 0.0);
        for point in &points {
            area += (point.false_positives - false_positives) * (point.true_positives + true_positives) / 2.0;
            (true_positives, false_positives) = (point.true_positives, point.false_positives);
        }
        Some(area / (last.true_positives * last.false_positives))
    }

    /// The average precision; `None` if no positive row has weight.
    pub fn average_precision(&self, weights: Weights<'_>) -> Option<f64> {
        let points = self.points(weights);
        let all = points.last().filter(|p| p.true_positives > 0.0)?.true_positives;
        let mut sum = 0.0;
        let mut true_positives = 0.0;
        for point in &points {
            if point.true_positives > true_positives {
                sum += (point.true_positives - true_positives) / all * point.true_positives
                    / (point.true_positives + point.false_positives);
            }
            true_positives = point.true_positives;
        }
        Some(sum)
    }

    /// The ROC curve: (false positive rate, true positive rate), from (0, 0) to (1, 1).
    pub fn roc(&self, weights: Weights<'_>) -> Vec<(f64, f64)> {
        let points = self.points(weights);
        let Some(last) = points.last().copied().filter(|p| p.true_positives > 0.0 && p.false_positives > 0.0) else {
            return Vec::new();
        };
        let rates =
            points.iter().map(|p| (p.false_positives / last.false_positives, p.true_positives / last.true_positives));
        std::iter::once((0.0, 0.0)).chain(rates).collect()
    }

    /// The precision-recall curve: (recall, precision), by increasing recall.
    pub fn precision_recall(&self, weights: Weights<'_>) -> Vec<(f64, f64)> {
        let points = self.points(weights);
        let Some(all) = points.last().map(|p| p.true_positives).filter(|&true_positives| true_positives > 0.0) else {
            return Vec::new();
        };
        let counted = points.iter().filter(|p| p.true_positives + p.false_positives > 0.0);
        let rates =
            counted.map(|p| (p.true_positives / all, p.true_positives / (p.true_positives + p.false_positives)));
        std::iter::once((0.0, 1.0)).chain(rates).collect()
    }
}
