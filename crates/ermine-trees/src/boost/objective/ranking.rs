//! Ranking within queries: LambdaMART, and its plain pairwise form.
//!
//! **Idea.** For every two documents of a query of which one (i) is more relevant than the other (j), the score of i should be higher. The logistic loss of the difference is weighted by the
//! change of NDCG if the two swap positions.
//!
//! **Formula.** With p = 1 / (1 + exp(s_i - s_j)), document i gets the gradient -d p and j gets d p, both the curvature d p (1 - p);
//!
//! ```text
//! d = |2^r_i - 2^r_j| |1 / log2(1 + rank_i) - 1 / log2(1 + rank_j)| / max DCG        (pairwise: d = 1)
//! ```
//! Only pairs with a document among the top [`TRUNCATION`] count. In LambdaMART, d is divided by 0.01 + |s_i - s_j|, and a query's gradients are scaled to log2(1 + sum), so that queries with
//! many pairs don't dominate. **Cost.** Documents x truncation per query.
//!
//! **Reference.** Burges, From RankNet to LambdaRank to LambdaMART, 2010. The normalization is LightGBM's.

use super::Objective;
use ermine_core::matrix::order;
use ermine_core::simd::exp::sigmoid;
use std::ops::Range;

/// Pairs count if one of the two documents is ranked this high.
pub const TRUNCATION: usize = 30;

/// NDCG is computed over this many top documents.
const MEASURED: usize = 10;

/// LambdaMART, or its pairwise form.
pub struct LambdaMart {
    /// 2^relevance - 1.
    gain: Vec<f64>,
    weight: Option<Vec<f64>>,
    bounds: Vec<usize>,
    /// Reciprocal of the largest DCG of each query; 0 if nothing is relevant.
    inverse_max: Vec<f64>,
    /// The discounts of the positions of the longest query.
    discounts: Vec<f64>,
    pairwise: bool,
}

impl LambdaMart {
    /// For rows sorted by query; `bounds` are the first rows of the queries, and the number of rows.
    pub fn new(relevance: &[f64], weight: Option<&[f64]>, bounds: Vec<usize>, pairwise: bool) -> LambdaMart {
        let gain: Vec<f64> = relevance.iter().map(|r| r.exp2() - 1.0).collect();
        let inverse = |query: &[usize]| {
            let mut gains = gain[query[0]..query[1]].to_vec();
            gains.sort_unstable_by(|a, b| b.total_cmp(a));
            let most: f64 = gains.iter().take(TRUNCATION).enumerate().map(|(rank, gain)| gain * discount(rank)).sum();
            if most > 0.0 { 1.0 / most } else { 0.0 }
        };
        let inverse_max = bounds.windows(2).map(inverse).collect();
        let longest = bounds.windows(2).map(|query| query[1] - query[0]).max().unwrap_or(0);
        let discounts = (0..longest).map(discount).collect();
        LambdaMart { gain, weight: weight.map(<[f64]>::to_vec), bounds, inverse_max, discounts, pairwise }
    }

    /// The queries of a range of rows.
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
        let sorted = |values: &[f64]| order.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let (scores, gains) = (sorted(scores), sorted(gain));
        let spread = scores.first() != scores.last();
        let (mut pushed, mut curved) = (vec![0.0; order.len()], vec![0.0; order.len()]);
        let mut total = 0.0;
        for first in 0..order.len().min(if self.pairwise { usize::MAX } else { TRUNCATION }) {
            let one = FirstDocument {
                score: scores[first],
                gain: gains[first],
                discount: self.discounts[first],
                scale: self.inverse_max[query],
                spread,
                pairwise: self.pairwise,
            };
            let behind = first + 1;
            let others = LaterDocuments {
                scores: &scores[behind..],
                gains: &gains[behind..],
                discounts: &self.discounts[behind..],
            };
            let sums = push_apart(one, others, &mut pushed[behind..], &mut curved[behind..]);
            pushed[first] -= sums.push;
            curved[first] += sums.curve;
            total += 2.0 * sums.size;
        }
        let weight = self.query_weight(query);
        let size = if !self.pairwise && total > 0.0 { (1.0 + total).log2() / total } else { 1.0 };
        for (place, &i) in order.iter().enumerate() {
            (g[i], h[i]) = (pushed[place] * size * weight, curved[place] * size * weight);
        }
    }

    /// NDCG of the top documents; 1 if nothing is relevant.
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

/// A document and the weighting of its pairs.
#[derive(Clone, Copy)]
struct FirstDocument {
    score: f64,
    gain: f64,
    discount: f64,
    /// Reciprocal of the largest DCG.
    scale: f64,
    /// Whether any scores differ.
    spread: bool,
    pairwise: bool,
}

/// The documents ranked after it; there may be more discounts than documents.
#[derive(Clone, Copy)]
struct LaterDocuments<'a> {
    scores: &'a [f64],
    gains: &'a [f64],
    discounts: &'a [f64],
}

/// Sums over the pairs of a document: gradient, curvature, absolute gradients.
#[derive(Default)]
struct PairGradients {
    push: f64,
    curve: f64,
    size: f64,
}

impl FirstDocument {
    /// Gradient and curvature of a pair with a later document (whose gradient is the opposite). Documents with equal gain contribute nothing.
    #[inline(always)]
    fn pair(&self, score: f64, gain: f64, discount: f64) -> (f64, f64) {
        let better = self.gain - gain;
        let above = if better > 0.0 { 1.0 } else { 0.0 };
        let side = if better < 0.0 { -1.0 } else { above };
        let apart = side * (self.score - score);
        let changed = better.abs() * (self.discount - discount) * self.scale;
        let changed = if self.spread { changed / (0.01 + apart.abs()) } else { changed };
        let d = if self.pairwise { side.abs() } else { changed };
        let p = sigmoid(-apart);
        let push = d * p;
        (side * push, push * (1.0 - p))
    }
}

/// Documents processed side by side.
const LANES: usize = 8;

ermine_core::versions! {
    /// Adds the pairs of a document with all later ones: to their gradients and curvatures, and returns its own sums.
    fn push_apart(one: FirstDocument, others: LaterDocuments<'_>, pushed: &mut [f64], curved: &mut [f64]) -> PairGradients {
        let (mut push_sum, mut curve_sum, mut size_sum) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let full = others.scores.len() / LANES * LANES;
        let chunks = others.scores.as_chunks::<LANES>().0.iter().zip(others.gains.as_chunks::<LANES>().0).zip(others.discounts.as_chunks::<LANES>().0);
        let sums = pushed.as_chunks_mut::<LANES>().0.iter_mut().zip(curved.as_chunks_mut::<LANES>().0);
        for (((scores, gains), discounts), (pushed, curved)) in chunks.zip(sums) {
            for lane in 0..LANES {
                let (push, curve) = one.pair(scores[lane], gains[lane], discounts[lane]);
                pushed[lane] += push;
                curved[lane] += curve;
                push_sum[lane] += push;
                curve_sum[lane] += curve;
                size_sum[lane] += push.abs();
            }
        }
        for place in full..others.scores.len() {
            let (push, curve) = one.pair(others.scores[place], others.gains[place], others.discounts[place]);
            pushed[place] += push;
            curved[place] += curve;
            push_sum[place - full] += push;
            curve_sum[place - full] += curve;
            size_sum[place - full] += push.abs();
        }
        PairGradients { push: push_sum.iter().sum(), curve: curve_sum.iter().sum(), size: size_sum.iter().sum() }
    }
}

/// 1 / log2(1 + rank), with ranks counted from 1.
fn discount(place: usize) -> f64 {
    1.0 / ((place + 2) as f64).log2()
}

/// The documents by descending score; ties in their order.
fn ranked(scores: &[f64]) -> Vec<usize> {
    // The highest score has the lowest key; ties by index.
    let of = |(i, &score): (usize, &f64)| (!order::key(score), i as u32);
    let mut order: Vec<(u64, u32)> = scores.iter().enumerate().map(of).collect();
    order.sort_unstable();
    order.into_iter().map(|(_, i)| i as usize).collect()
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
        fn pairwise_gradients_match_finite_differences(
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
        fn lambdas_equal_the_sum_over_pairs(docs in prop::collection::vec((0u8..4, -20i8..20), 2..70), pairwise: bool) {
            let relevance: Vec<f64> = docs.iter().map(|d| f64::from(d.0)).collect();
            let scores: Vec<f64> = docs.iter().map(|d| f64::from(d.1) / 8.0).collect();
            let n = docs.len();
            let loss = LambdaMart::new(&relevance, None, vec![0, n], pairwise);
            let order = ranked(&scores);
            let spread = scores.iter().any(|s| *s != scores[0]);
            let (mut expected, mut curves, mut total) = (vec![0.0; n], vec![0.0; n], 0.0);
            for (a, b) in (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).filter(|(a, _)| pairwise || *a < TRUNCATION) {
                let (i, j) = if relevance[order[a]] >= relevance[order[b]] { (order[a], order[b]) } else { (order[b], order[a]) };
                let apart = scores[i] - scores[j];
                let d = (relevance[i].exp2() - relevance[j].exp2()) * (discount(a) - discount(b)) * loss.inverse_max[0]
                    / if spread { 0.01 + apart.abs() } else { 1.0 };
                let d = if pairwise { f64::from(u8::from(relevance[i] != relevance[j])) } else { d };
                let p = 1.0 / (1.0 + apart.exp());
                expected[i] -= d * p;
                expected[j] += d * p;
                curves[i] += d * p * (1.0 - p);
                curves[j] += d * p * (1.0 - p);
                total += 2.0 * d * p;
            }
            let size = if !pairwise && total > 0.0 { (1.0 + total).log2() / total } else { 1.0 };
            let (mut g, mut h) = (vec![0.0f32; n], vec![0.0f32; n]);
            loss.gradients(0..n, &[&scores], &mut [&mut g], &mut [&mut h]);
            for i in 0..n {
                prop_assert!((f64::from(g[i]) - expected[i] * size).abs() < 1e-5 * (1.0 + expected[i].abs()));
                prop_assert!((f64::from(h[i]) - curves[i] * size).abs() < 1e-5 * (1.0 + curves[i].abs()));
            }
        }

        #[test]
        fn lambdas_favor_relevant_documents_and_sum_to_zero(docs in prop::collection::vec((0u8..4, -2.0f64..2.0), 2..40)) {
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
