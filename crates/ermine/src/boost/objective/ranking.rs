//! Ranking within queries: LambdaMART, and its plain pairwise form.
//!
//! **Idea.** For every two documents of a query of which one (i) is more relevant than the other (j), the score of i should be higher. The logistic loss of the
//! difference is weighed by how much NDCG changes if the two swap places, so that gradients push where the measure gains.
//!
//! **Formula.** With p = 1 / (1 + exp(s_i - s_j)), document i gets the gradient -d p and j gets d p, both the curvature d p (1 - p);
//!
//! ```text
//! d = |2^r_i - 2^r_j| |1 / log2(1 + rank_i) - 1 / log2(1 + rank_j)| / max DCG        (pairwise: d = 1)
//! ```
//! Only pairs with a document among the first [`TRUNCATION`] count. In LambdaMART, d is divided by 0.01 + |s_i - s_j| and a query's gradients are brought to
//! the size log2(1 + sum), so that queries with many pairs don't drown the others. **Cost.** Documents x truncation for each query.
//!
//! **Reference.** Burges, From RankNet to LambdaRank to LambdaMART, 2010. The normalisation is LightGBM's.

use super::Objective;
use crate::simd::exp::sigmoid;
use std::ops::Range;

/// Pairs count if one of the two is among this many first documents.
pub const TRUNCATION: usize = 30;

/// NDCG is measured over this many first documents.
const MEASURED: usize = 10;

/// LambdaMART, or its pairwise form.
pub struct LambdaMart {
    /// 2^relevance - 1.
    gain: Vec<f64>,
    weight: Option<Vec<f64>>,
    bounds: Vec<usize>,
    /// One over the largest DCG of each query; 0 where nothing is relevant.
    inverse_max: Vec<f64>,
    pairwise: bool,
}

impl LambdaMart {
    /// Over rows that lie query by query; `bounds` are the first rows of the queries, and the number of rows.
    pub fn new(relevance: &[f64], weight: Option<&[f64]>, bounds: Vec<usize>, pairwise: bool) -> LambdaMart {
        let gain: Vec<f64> = relevance.iter().map(|r| r.exp2() - 1.0).collect();
        let inverse = |query: &[usize]| {
            let mut gains = gain[query[0]..query[1]].to_vec();
            gains.sort_unstable_by(|a, b| b.total_cmp(a));
            let most: f64 = gains.iter().take(TRUNCATION).enumerate().map(|(rank, gain)| gain * discount(rank)).sum();
            if most > 0.0 { 1.0 / most } else { 0.0 }
        };
        let inverse_max = bounds.windows(2).map(inverse).collect();
        LambdaMart { gain, weight: weight.map(<[f64]>::to_vec), bounds, inverse_max, pairwise }
    }

    /// The queries of a stretch of rows.
    fn queries(&self, rows: &Range<usize>) -> Range<usize> {
        let at = |row: usize| self.bounds.partition_point(|&bound| bound < row);
        at(rows.start)..at(rows.end)
    }

    /// The weight of a query: that of its first row.
    fn query_weight(&self, query: usize) -> f64 {
        self.weight.as_ref().map_or(1.0, |w| w[self.bounds[query]])
    }

    fn query(&self, query: usize, scores: &[f64], g: &mut [f64], h: &mut [f64]) {
        let gain = &self.gain[self.bounds[query]..self.bounds[query + 1]];
        let order = ranked(scores);
        let sorted: Vec<(f64, f64)> = order.iter().map(|&i| (scores[i], gain[i])).collect();
        let spread = sorted.first().zip(sorted.last()).is_some_and(|(a, b)| a.0 != b.0);
        let mut total = 0.0;
        for first in 0..order.len().min(if self.pairwise { usize::MAX } else { TRUNCATION }) {
            for second in first + 1..order.len() {
                let ((s, gain), (other, other_gain)) = (sorted[first], sorted[second]);
                if gain == other_gain {
                    continue;
                }
                let (high, low) = if gain > other_gain { (first, second) } else { (second, first) };
                let apart = if gain > other_gain { s - other } else { other - s };
                let mut d = 1.0;
                if !self.pairwise {
                    d = (gain - other_gain).abs() * (discount(first) - discount(second)) * self.inverse_max[query];
                    d /= if spread { 0.01 + apart.abs() } else { 1.0 };
                }
                let p = sigmoid(-apart);
                let (push, curve) = (d * p, d * p * (1.0 - p));
                g[order[high]] -= push;
                g[order[low]] += push;
                h[order[high]] += curve;
                h[order[low]] += curve;
                total += 2.0 * push;
            }
        }
        let weight = self.query_weight(query);
        let size = if !self.pairwise && total > 0.0 { (1.0 + total).log2() / total } else { 1.0 };
        g.iter_mut().chain(h).for_each(|x| *x *= size * weight);
    }

    /// NDCG over the first documents; 1 where nothing is relevant.
    fn ndcg(&self, query: usize, scores: &[f64]) -> f64 {
        let gain = &self.gain[self.bounds[query]..self.bounds[query + 1]];
        let mut best = gain.to_vec();
        best.sort_unstable_by(|a, b| b.total_cmp(a));
        let dcg = |gains: &mut dyn Iterator<Item = f64>| {
            gains.take(MEASURED).enumerate().map(|(r, g)| g * discount(r)).sum::<f64>()
        };
        let most = dcg(&mut best.into_iter());
        if most > 0.0 { dcg(&mut ranked(scores).into_iter().map(|i| gain[i])) / most } else { 1.0 }
    }
}

/// 1 / log2(1 + rank), ranks counted from 1.
fn discount(place: usize) -> f64 {
    1.0 / ((place + 2) as f64).log2()
}

/// The documents by falling score; those with the same score in their order.
fn ranked(scores: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order
}

impl Objective for LambdaMart {
    fn start(&self) -> Vec<f64> {
        vec![0.0]
    }

    fn gradients(
        &self,
        rows: Range<usize>,
        scores: &[&[f64]],
        gradient: &mut [&mut [f32]],
        curvature: &mut [&mut [f32]],
    ) {
        for query in self.queries(&rows) {
            let part = self.bounds[query] - rows.start..self.bounds[query + 1] - rows.start;
            let (mut g, mut h) = (vec![0.0; part.len()], vec![0.0; part.len()]);
            self.query(query, &scores[0][part.clone()], &mut g, &mut h);
            gradient[0][part.clone()].iter_mut().zip(g).for_each(|(to, g)| *to = g as f32);
            curvature[0][part].iter_mut().zip(h).for_each(|(to, h)| *to = h as f32);
        }
    }

    fn loss(&self, rows: Range<usize>, scores: &[&[f64]]) -> f64 {
        let loss = |query: usize| {
            let part = self.bounds[query] - rows.start..self.bounds[query + 1] - rows.start;
            self.query_weight(query) * (1.0 - self.ndcg(query, &scores[0][part]))
        };
        self.queries(&rows).map(loss).sum()
    }

    fn total_weight(&self) -> f64 {
        (0..self.inverse_max.len()).map(|query| self.query_weight(query)).sum()
    }

    fn bounds(&self) -> Option<&[usize]> {
        Some(&self.bounds)
    }

    fn name(&self) -> &'static str {
        "1 - NDCG@10"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pairwise_gradients_are_the_differences_of_the_logistic_loss_of_pairs(
            docs in prop::collection::vec((0u8..4, -2.0f64..2.0), 2..8),
        ) {
            let relevance: Vec<f64> = docs.iter().map(|d| f64::from(d.0)).collect();
            let scores: Vec<f64> = docs.iter().map(|d| d.1).collect();
            let n = docs.len();
            let loss = LambdaMart::new(&relevance, None, vec![0, n], true);
            let value = |s: &[f64]| -> f64 {
                (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| relevance[i] > relevance[j])
                    .map(|(i, j)| (-(s[i] - s[j])).exp().ln_1p()).sum()
            };
            let (mut g, mut h) = (vec![0.0f32; n], vec![0.0f32; n]);
            loss.gradients(0..n, &[&scores], &mut [&mut g], &mut [&mut h]);
            for i in 0..n {
                let at = |step: f64| { let mut s = scores.clone(); s[i] += step; value(&s) };
                prop_assert!((f64::from(g[i]) - (at(1e-4) - at(-1e-4)) / 2e-4).abs() < 1e-4);
                prop_assert!((f64::from(h[i]) - (at(1e-3) - 2.0 * at(0.0) + at(-1e-3)) / 1e-6).abs() < 1e-3);
            }
        }

        #[test]
        fn lambdas_push_the_relevant_up_and_sum_to_nothing(docs in prop::collection::vec((0u8..4, -2.0f64..2.0), 2..40)) {
            let relevance: Vec<f64> = docs.iter().map(|d| f64::from(d.0)).collect();
            let scores: Vec<f64> = docs.iter().map(|d| d.1).collect();
            let n = docs.len();
            let loss = LambdaMart::new(&relevance, None, vec![0, n], false);
            let (mut g, mut h) = (vec![0.0f32; n], vec![0.0f32; n]);
            loss.gradients(0..n, &[&scores], &mut [&mut g], &mut [&mut h]);
            prop_assert!(g.iter().sum::<f32>().abs() < 1e-4);
            prop_assert!(h.iter().all(|h| *h >= 0.0));
            let most = relevance.iter().copied().fold(0.0, f64::max);
            for i in 0..n {
                if relevance[i] == most { prop_assert!(g[i] <= 0.0); }
            }
            let perfect: Vec<f64> = relevance.clone();
            prop_assert!(loss.loss(0..n, &[&perfect]).abs() < 1e-12);
        }
    }
}
