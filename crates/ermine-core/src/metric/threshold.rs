//! Curves over all thresholds of a score: ROC and precision-recall, and the areas under them.
//!
//! Rows are ordered once by falling score, those with the same score together, so that any weights (bootstrap) are swept in O(n).
//! ```text
//! ROC AUC = P(score of a positive > score of a negative) + 1/2 P(the same)        average precision = sum_i (R_i - R_{i-1}) P_i
//! ```

use super::Weights;
use serde::Serialize;

/// Rows in the order of falling score.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    order: Vec<u32>,
    /// Where each run of equal scores ends in `order`.
    ends: Vec<usize>,
    positive: Vec<bool>,
    scores: Vec<f64>,
}

/// What is found when all rows from a threshold up count as positive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The lowest score that counts as positive.
    pub threshold: f64,
    /// The weight of the positive rows among them.
    pub hits: f64,
    /// The weight of the negative rows among them.
    pub false_alarms: f64,
}

impl Ranked {
    /// Orders rows; `positive` says which ones are to be found.
    pub fn new(scores: &[f64], positive: Vec<bool>) -> Ranked {
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
        let sorted: Vec<f64> = order.iter().map(|&row| scores[row as usize]).collect();
        let ends = (1..=sorted.len()).filter(|&i| i == sorted.len() || sorted[i] != sorted[i - 1]).collect();
        Ranked { order, ends, positive, scores: sorted }
    }

    /// What is found at each distinct score, from the highest down.
    pub fn points(&self, weights: Weights<'_>) -> Vec<Point> {
        let (mut hits, mut false_alarms, mut start) = (0.0, 0.0, 0);
        let mut points = Vec::with_capacity(self.ends.len());
        for &end in &self.ends {
            for &row in &self.order[start..end] {
                let w = weights.of(row as usize);
                if self.positive[row as usize] {
                    hits += w;
                } else {
                    false_alarms += w;
                }
            }
            points.push(Point { threshold: self.scores[start], hits, false_alarms });
            start = end;
        }
        points
    }

    /// Whether both positive and negative rows have weight.
    pub fn tells_apart(&self, weights: Weights<'_>) -> bool {
        let has =
            |which: bool| (0..self.positive.len()).any(|row| self.positive[row] == which && weights.of(row) > 0.0);
        has(true) && has(false)
    }

    /// The area under the ROC curve; `None` unless both positive and negative rows have weight.
    pub fn roc_auc(&self, weights: Weights<'_>) -> Option<f64> {
        let points = self.points(weights);
        let last = points.last().filter(|p| p.hits > 0.0 && p.false_alarms > 0.0)?;
        let mut area = 0.0;
        let (mut hits, mut false_alarms) = (0.0, 0.0);
        for point in &points {
            area += (point.false_alarms - false_alarms) * (point.hits + hits) / 2.0;
            (hits, false_alarms) = (point.hits, point.false_alarms);
        }
        Some(area / (last.hits * last.false_alarms))
    }

    /// The mean precision over the positive rows, each at its own threshold; `None` if none has weight.
    pub fn average_precision(&self, weights: Weights<'_>) -> Option<f64> {
        let points = self.points(weights);
        let all = points.last().filter(|p| p.hits > 0.0)?.hits;
        let mut sum = 0.0;
        let mut hits = 0.0;
        for point in &points {
            if point.hits > hits {
                sum += (point.hits - hits) / all * point.hits / (point.hits + point.false_alarms);
            }
            hits = point.hits;
        }
        Some(sum)
    }

    /// The ROC curve: (false-alarm rate, hit rate), from (0, 0) to (1, 1).
    pub fn roc(&self, weights: Weights<'_>) -> Vec<(f64, f64)> {
        let points = self.points(weights);
        let Some(last) = points.last().copied().filter(|p| p.hits > 0.0 && p.false_alarms > 0.0) else {
            return Vec::new();
        };
        let rates = points.iter().map(|p| (p.false_alarms / last.false_alarms, p.hits / last.hits));
        std::iter::once((0.0, 0.0)).chain(rates).collect()
    }

    /// The precision-recall curve: (recall, precision), from recall 0 up.
    pub fn precision_recall(&self, weights: Weights<'_>) -> Vec<(f64, f64)> {
        let points = self.points(weights);
        let Some(all) = points.last().map(|p| p.hits).filter(|&hits| hits > 0.0) else { return Vec::new() };
        let counted = points.iter().filter(|p| p.hits + p.false_alarms > 0.0);
        let rates = counted.map(|p| (p.hits / all, p.hits / (p.hits + p.false_alarms)));
        std::iter::once((0.0, 1.0)).chain(rates).collect()
    }
}
