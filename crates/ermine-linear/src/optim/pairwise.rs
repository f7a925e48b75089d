//! A linear score `x'w` that ranks the rows of each query by level: the squared hinge loss over all pairs, without listing them.
//!
//! **Formula.** Over all pairs (i, j) of a query in which i has the higher level,
//! ```text
//! min  |w|^2 / 2 + C sum c_ij max(0, 1 - (s_i - s_j))^2,    s = X w,    c_ij = v_i v_j (1, or t_i - t_j)
//! ```
//! with `v` the weights of rows and `t` a number that rises with the level (the grade, or how many rows stand below).
//!
//! **Idea.** With the scores sorted, the pairs of row i that lose are a stretch of the order, of which only lower (or higher) levels count. Going along the order, rows enter
//! a Fenwick tree over levels that holds `sum v_j`, `sum v_j a_j` and the same times `t_j`; a look-up gives what gradient (`a = s`) and product with the Hessian (`a = X d`)
//! need. Newton's method takes its direction from conjugate gradients, and its length from the scores alone. Where columns of different sizes make these slow, a Hessian
//! is made from as many products as there are columns; its factor preconditions this step and the ones after it.
//!
//! **Cost.** O(n log n) for each value, gradient or product, besides one product with X; nothing grows with the number of pairs.
//!
//! **Certificate.** The objective is strongly convex with modulus 1, so that it is at most `|g|^2 / 2` above its minimum.
//!
//! **References.** Joachims 2006; Airola, Pahikkala and Salakoski 2011; Lee and Lin, Large-scale linear RankSVM, Neural Computation 26, 2014.

use super::{SolverOutcome, SolverStatus, conjugate};
use ermine_core::error::Result;
use ermine_core::linalg::{Cholesky, Design, Matrix, lanes};
use ermine_core::parallel;
use ermine_core::progress::{Event, Observer, check, report};

/// With more columns than this no Hessian is made.
const FULL_HESSIAN: usize = 1500;

/// The rows of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedQuery {
    rows: Vec<u32>,
    /// The level of each row, from 0.
    levels: Vec<u32>,
    n_levels: usize,
    /// The weight of each row.
    weights: Vec<f64>,
    /// The weight of a pair is the difference of these values; `None` if all pairs have weight 1.
    pair_value: Option<Vec<f64>>,
}

impl RankedQuery {
    /// Rows with their grades, weights and pair values, which must rise with the grade.
    pub fn new(rows: Vec<u32>, grades: &[f64], weights: Vec<f64>, pair_value: Option<Vec<f64>>) -> RankedQuery {
        let mut distinct = grades.to_vec();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let levels = grades.iter().map(|g| distinct.partition_point(|d| d < g) as u32).collect();
        RankedQuery { rows, levels, n_levels: distinct.len(), weights, pair_value }
    }

    fn pair_value(&self, i: usize) -> f64 {
        self.pair_value.as_ref().map_or(0.0, |pair_value| pair_value[i])
    }

    /// Scores of the rows, less their mean, which no pair sees.
    fn scores(&self, all: &[f64]) -> Vec<f64> {
        let scores: Vec<f64> = self.rows.iter().map(|&row| all[row as usize]).collect();
        let mean = scores.iter().sum::<f64>() / scores.len().max(1) as f64;
        scores.iter().map(|s| s - mean).collect()
    }
}

/// Sums over the rows that entered, up to a level.
struct Fenwick(Vec<[f64; 4]>);

impl Fenwick {
    fn add(&mut self, level: usize, what: [f64; 4]) {
        let mut at = level + 1;
        while at <= self.0.len() {
            self.0[at - 1].iter_mut().zip(what).for_each(|(sum, x)| *sum += x);
            at += at & at.wrapping_neg();
        }
    }

    /// The sums over all levels below this one.
    fn below(&self, level: usize) -> [f64; 4] {
        let (mut sums, mut at) = ([0.0; 4], level);
        while at > 0 {
            sums.iter_mut().zip(self.0[at - 1]).for_each(|(sum, x)| *sum += x);
            at -= at & at.wrapping_neg();
        }
        sums
    }
}

/// For each row the sums over the pairs that lose in which it is the better one, or the worse one: of `c_ij / v_i`, and of that times `a_j`.
struct PairSums {
    better: Vec<(f64, f64)>,
    worse: Vec<(f64, f64)>,
}

/// The sums of a query whose rows stand in ascending order of their scores.
fn sweep(query: &RankedQuery, scores: &[f64], order: &[u32], a: &[f64]) -> PairSums {
    let n = scores.len();
    let (mut better, mut worse) = (vec![(0.0, 0.0); n], vec![(0.0, 0.0); n]);
    let entry = |j: usize| {
        let (v, t) = (query.weights[j], query.pair_value(j));
        [v, v * a[j], v * t, v * t * a[j]]
    };
    // The weight of a pair is t of the better one less t of the worse one; `sign` selects which of the two is meant.
    let of = |sums: [f64; 4], i: usize, sign: f64| match &query.pair_value {
        None => (sums[0], sums[1]),
        Some(t) => (sign * (t[i] * sums[0] - sums[2]), sign * (t[i] * sums[1] - sums[3])),
    };
    let mut tree = Fenwick(vec![[0.0; 4]; query.n_levels]);
    let mut enter = order.iter().rev().map(|&j| j as usize).peekable();
    for i in order.iter().rev().map(|&i| i as usize) {
        while let Some(j) = enter.next_if(|&j| scores[j] > scores[i] - 1.0) {
            tree.add(query.levels[j] as usize, entry(j));
        }
        better[i] = of(tree.below(query.levels[i] as usize), i, 1.0);
    }
    let mut tree = Fenwick(vec![[0.0; 4]; query.n_levels]);
    let turned = |j: usize| query.n_levels - 1 - query.levels[j] as usize;
    let mut enter = order.iter().map(|&j| j as usize).peekable();
    for i in order.iter().map(|&i| i as usize) {
        while let Some(j) = enter.next_if(|&j| scores[j] < scores[i] + 1.0) {
            tree.add(turned(j), entry(j));
        }
        worse[i] = of(tree.below(turned(i)), i, -1.0);
    }
    PairSums { better, worse }
}

/// A point on the search line: the value, the coefficients, and the queries at them.
type LinePoint = (f64, Vec<f64>, Vec<QueryPoint>);

/// Where the scores of a query stand, for products with the Hessian.
struct QueryPoint {
    scores: Vec<f64>,
    order: Vec<u32>,
    /// The diagonal of the Hessian in the scores, but for 2 C.
    curvature: Vec<f64>,
}

/// The objective.
pub struct PairRisk<'a> {
    /// The features.
    pub x: Design<'a>,
    /// The queries; rows of none of them don't count.
    pub queries: Vec<RankedQuery>,
    /// How much a pair counts against the penalty.
    pub c: f64,
}

impl PairRisk<'_> {
    /// The loss of these scores, its gradient in them, and where they stand.
    fn loss(&self, scores: &[f64]) -> (f64, Vec<f64>, Vec<QueryPoint>) {
        let of = |query: &RankedQuery| {
            let scores = query.scores(scores);
            let mut order: Vec<u32> = (0..scores.len() as u32).collect();
            order.sort_unstable_by(|&i, &j| scores[i as usize].total_cmp(&scores[j as usize]).then(i.cmp(&j)));
            let sums = sweep(query, &scores, &order, &scores);
            let (mut loss, mut slope) = (0.0, vec![0.0; scores.len()]);
            let mut curvature = vec![0.0; scores.len()];
            for (i, (&s, &v)) in scores.iter().zip(&query.weights).enumerate() {
                let (better, worse) = (sums.better[i], sums.worse[i]);
                // The sums of c d over the pairs that lose, d = 1 - (s_i - s_j): as the better one, and as the worse one.
                let as_better = v * ((1.0 - s) * better.0 + better.1);
                let as_worse = v * ((1.0 + s) * worse.0 - worse.1);
                // c d^2 = c d - s_i (c d) + s_j (c d), added up row by row.
                loss += as_better + s * (as_worse - as_better);
                slope[i] = as_worse - as_better;
                curvature[i] = v * (better.0 + worse.0);
            }
            (loss, slope, QueryPoint { scores, order, curvature })
        };
        let parts: Vec<(f64, Vec<f64>, QueryPoint)> = parallel::map_items(&self.queries, of);
        let (mut loss, mut gradient, mut places) = (0.0, vec![0.0; scores.len()], Vec::with_capacity(parts.len()));
        for (query, (part, slope, place)) in self.queries.iter().zip(parts) {
            loss += part;
            query.rows.iter().zip(slope).for_each(|(&row, g)| gradient[row as usize] = 2.0 * self.c * g);
            places.push(place);
        }
        (self.c * loss, gradient, places)
    }

    /// The Hessian of the loss in the scores, times a direction of the scores.
    fn hessian_product(&self, places: &[QueryPoint], direction: &[f64]) -> Vec<f64> {
        let of = |q: usize| {
            let (query, place) = (&self.queries[q], &places[q]);
            let a: Vec<f64> = query.rows.iter().map(|&row| direction[row as usize]).collect();
            let sums = sweep(query, &place.scores, &place.order, &a);
            let across = |i: usize| query.weights[i] * (sums.better[i].1 + sums.worse[i].1);
            (0..a.len()).map(|i| place.curvature[i] * a[i] - across(i)).collect::<Vec<f64>>()
        };
        let parts: Vec<Vec<f64>> = parallel::map(places.len(), of);
        let mut out = vec![0.0; direction.len()];
        for (query, part) in self.queries.iter().zip(parts) {
            query.rows.iter().zip(part).for_each(|(&row, h)| out[row as usize] = 2.0 * self.c * h);
        }
        out
    }

    /// The objective.
    pub fn value(&self, w: &[f64]) -> f64 {
        lanes::square_sum(w) / 2.0 + self.loss(&self.x.times(w, 0.0)).0
    }

    /// Minimizes from zero on, until the objective is proven to be within `tolerance` times itself of the minimum.
    pub fn minimize(
        &self,
        tolerance: f64,
        max_iterations: usize,
        observer: &dyn Observer,
    ) -> Result<(SolverOutcome, Vec<f64>)> {
        let mut w = vec![0.0; self.x.n_columns()];
        let mut scores = vec![0.0; self.x.n_rows()];
        let (mut loss, mut slope, mut places) = self.loss(&scores);
        let (mut status, mut n_iterations, mut first) = (SolverStatus::Limit, 0, None);
        let mut factor = None;
        let (value, g) = loop {
            let value = lanes::square_sum(&w) / 2.0 + loss;
            let mut g = self.x.transposed_times(&slope);
            lanes::axpy(1.0, &w, &mut g);
            let square = lanes::square_sum(&g);
            report(observer, Event::Step { done: n_iterations as u64, score: Some(("objective", value)) })?;
            if square / 2.0 <= tolerance * value {
                status = SolverStatus::Converged;
            }
            if status == SolverStatus::Converged || !value.is_finite() || n_iterations == max_iterations {
                break (value, g);
            }
            // Far from the minimum a rough direction is enough.
            let rough = (square / *first.get_or_insert(square)).sqrt().clamp(1e-8, 0.1);
            let direction = self.direction(&places, &g, rough, &mut factor, observer)?;
            n_iterations += 1;
            match self.step(&mut w, &mut scores, value, &direction, observer, lanes::dot(&g, &direction))? {
                Some(next) => (loss, slope, places) = next,
                None => {
                    status = SolverStatus::Stalled;
                    break (value, g);
                }
            }
        };
        let square = lanes::square_sum(&g);
        let lower_bound = Some((value - square / 2.0).max(0.0)).filter(|b| b.is_finite());
        Ok((SolverOutcome { status, n_iterations, value, lower_bound, residual: lanes::max_abs(&g) }, w))
    }

    /// The Hessian times a vector.
    fn hessian_times(&self, places: &[QueryPoint], d: &[f64]) -> Vec<f64> {
        let mut image = self.x.transposed_times(&self.hessian_product(places, &self.x.times(d, 0.0)));
        lanes::axpy(1.0, d, &mut image);
        image
    }

    /// The direction of Newton's method, up to a share `rough` of the gradient. If conjugate gradients with the present `factor` take long, a new one is made here.
    fn direction(
        &self,
        places: &[QueryPoint],
        g: &[f64],
        rough: f64,
        factor: &mut Option<Cholesky>,
        observer: &dyn Observer,
    ) -> Result<Vec<f64>> {
        let p = g.len();
        let right: Vec<f64> = g.iter().map(|g| -g).collect();
        let solve = |factor: &Option<Cholesky>, most: usize| {
            let precondition = |r: &mut [f64]| factor.iter().for_each(|factor| factor.solve(r));
            let apply = |d: &[f64]| self.hessian_times(places, d);
            conjugate::solve_preconditioned(apply, precondition, &right, rough, most, observer)
        };
        if p > FULL_HESSIAN {
            return Ok(solve(&None, 4 * p + 50)?.beta);
        }
        let few = p / 4 + 20;
        let found = solve(factor, few)?;
        if found.n_iterations < few {
            return Ok(found.beta);
        }
        *factor = Cholesky::new(&self.hessian(places, p, observer)?, 1e-14);
        Ok(solve(factor, 4 * p + 50)?.beta)
    }

    /// The Hessian, column by column.
    fn hessian(&self, places: &[QueryPoint], p: usize, observer: &dyn Observer) -> Result<Matrix> {
        let column = |j: usize| {
            check(observer)?;
            let mut unit = vec![0.0; p];
            unit[j] = 1.0;
            Ok(self.hessian_times(places, &unit))
        };
        let columns = (0..p).map(column).collect::<Result<Vec<_>>>()?;
        // Both halves are the same but for rounding.
        Ok(Matrix::from_fn(p, p, |i, j| (columns[i][j] + columns[j][i]) / 2.0))
    }

    /// A step along `direction`, halved until the objective falls enough; `None` if it doesn't.
    fn step(
        &self,
        w: &mut [f64],
        scores: &mut [f64],
        value: f64,
        direction: &[f64],
        observer: &dyn Observer,
        slope: f64,
    ) -> Result<Option<LinePoint>> {
        let along = self.x.times(direction, 0.0);
        let (ww, wd, dd) = (lanes::square_sum(w), lanes::dot(w, direction), lanes::square_sum(direction));
        let rounding = 4.0 * f64::EPSILON * value.abs();
        let mut length = 1.0;
        for _ in 0..40 {
            check(observer)?;
            let mut moved = scores.to_vec();
            lanes::axpy(length, &along, &mut moved);
            let next = self.loss(&moved);
            let penalty = (ww + length * (2.0 * wd + length * dd)) / 2.0;
            if penalty + next.0 <= value + 1e-4 * length * slope + rounding {
                lanes::axpy(length, direction, w);
                scores.copy_from_slice(&moved);
                return Ok(Some(next));
            }
            length *= 0.5;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::linalg::dense::Dense;
    use ermine_core::progress::Silent;
    use proptest::prelude::*;

    /// The objective, its gradient and curvature along a direction, over listed pairs.
    fn listed(x: &[Vec<f64>], queries: &[RankedQuery], c: f64, w: &[f64], d: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut value, mut g, mut h) = (dot(w, w) / 2.0, w.to_vec(), d.to_vec());
        for q in queries {
            for (i, j) in (0..q.rows.len()).flat_map(|i| (0..q.rows.len()).map(move |j| (i, j))) {
                if q.levels[i] <= q.levels[j] {
                    continue;
                }
                let pair_value = q.pair_value.as_ref().map_or(1.0, |t| t[i] - t[j]);
                let weight = c * q.weights[i] * q.weights[j] * pair_value;
                let apart: Vec<f64> =
                    x[q.rows[i] as usize].iter().zip(&x[q.rows[j] as usize]).map(|(a, b)| a - b).collect();
                let short = 1.0 - dot(&apart, w);
                if short > 0.0 {
                    value += weight * short * short;
                    let along = dot(&apart, d);
                    for (k, step) in apart.iter().enumerate() {
                        g[k] -= 2.0 * weight * short * step;
                        h[k] += 2.0 * weight * along * step;
                    }
                }
            }
        }
        (value, g, h)
    }

    /// Rows of three columns in some queries, with few or many levels, weights and pair values.
    fn problem() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<RankedQuery>)> {
        let row = (prop::collection::vec(-2.0f64..2.0, 3), 0u32..4, 0usize..3, 1u32..4);
        (prop::collection::vec(row, 2..40), 0usize..3).prop_map(|(rows, kind)| {
            let of = |q: usize| {
                let mine: Vec<u32> = (0..rows.len() as u32).filter(|&r| rows[r as usize].2 == q).collect();
                let grades: Vec<f64> = mine.iter().map(|&r| f64::from(rows[r as usize].1)).collect();
                let weights = mine.iter().map(|&r| f64::from(rows[r as usize].3) / 2.0).collect();
                let pair_value = (kind > 0).then(|| grades.iter().map(|g| g.powi(kind as i32)).collect());
                RankedQuery::new(mine, &grades, weights, pair_value)
            };
            (rows.iter().map(|r| r.0.clone()).collect(), (0..3).map(of).collect())
        })
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
    }

    proptest! {
        #[test]
        fn sweeps_equal_sums_over_all_pairs(
            (x, queries) in problem(), w in prop::collection::vec(-1.0f64..1.0, 3), d in prop::collection::vec(-1.0f64..1.0, 3),
        ) {
            let flat = x.concat();
            let (c, design) = (0.7, Dense::rows_f64(&flat, x.len(), 3, 3).unwrap());
            let (value, g, h) = listed(&x, &queries, c, &w, &d);
            let risk = PairRisk { x: design.into(), queries, c };
            let (loss, slope, places) = risk.loss(&risk.x.times(&w, 0.0));
            prop_assert!(close(loss + lanes::square_sum(&w) / 2.0, value));
            prop_assert!(close(risk.value(&w), value));
            let gradient = risk.x.transposed_times(&slope);
            let bent = risk.x.transposed_times(&risk.hessian_product(&places, &risk.x.times(&d, 0.0)));
            for (k, (g, h)) in g.iter().zip(&h).enumerate() {
                prop_assert!(close(gradient[k] + w[k], *g), "{gradient:?}");
                prop_assert!(close(bent[k] + d[k], *h), "{bent:?}");
            }
        }

        #[test]
        fn the_minimum_equals_that_over_all_pairs((x, queries) in problem()) {
            let flat = x.concat();
            let (c, design) = (0.3, Dense::rows_f64(&flat, x.len(), 3, 3).unwrap());
            let risk = PairRisk { x: design.into(), queries: queries.clone(), c };
            let (outcome, w) = risk.minimize(1e-13, 100, &Silent).unwrap();
            prop_assert_eq!(outcome.status, SolverStatus::Converged);
            let (value, g, _) = listed(&x, &queries, c, &w, &[0.0; 3]);
            prop_assert!(close(value, outcome.value));
            prop_assert!(g.iter().all(|g| g.abs() < 1e-5 * (1.0 + value)), "{g:?}");
            // No lower than the tolerance allows, but for rounding.
            prop_assert!((outcome.lower_bound.unwrap() - value).abs() <= 1e-11 * (1.0 + value));
        }
    }
}
