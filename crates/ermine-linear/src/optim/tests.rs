//! Solvers against independent truths: normal equations, optimality conditions, finite differences, and the optima that
//! a general interior point solver (clarabel) finds.

mod stochastic;

use super::least_squares::{LeastSquares, LeastSquaresMethod};
use super::{
    SolverStatus, descent, halfspace, lasso, newton, perceptron, prox_newton, quantile, ridge_path, risk, sgd,
};
use crate::optim::multinomial::MultinomialRisk;
use crate::optim::newton::SmoothObjective;
use crate::penalty::Penalty;
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SupportedConeT};
use ermine_core::linalg::{Dense, Design};
use ermine_core::loss::{Hinge, Huber, Logistic, Loss, Squared, SquaredHinge};
use ermine_core::progress::Silent;
use ermine_core::rng;
use proptest::prelude::*;
use std::borrow::Cow;

/// The numbers of a dense table that are not zero.
pub(super) fn sparsify(x: &[f64], n: usize, p: usize) -> ermine_core::linalg::Sparse<'static> {
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        for j in (0..p).rev().filter(|&j| x[i * p + j] != 0.0) {
            indices.push(j as u32);
            values.push(x[i * p + j]);
        }
        starts.push(indices.len());
    }
    ermine_core::linalg::Sparse::from_rows(starts, indices, values, p).unwrap()
}

fn numbers(len: usize, seed: u64) -> Vec<f64> {
    let mut r = rng::stream(seed, &[]);
    let mut unit = || (rng::below(&mut r, 1 << 30) as f64 + 0.5) / f64::from(1 << 30);
    // Box and Muller: normal, so that no two are equal.
    (0..len).map(|_| (-2.0 * unit().ln()).sqrt() * (2.0 * std::f64::consts::PI * unit()).cos()).collect()
}

fn dense(x: &[f64], n: usize, p: usize) -> Design<'_> {
    Dense::rows_f64(x, n, p, p).unwrap().into()
}

/// `min x'Px/2 + q'x, a_k'x <= b_k (or = for the first n_equal)`; the optimal value.
fn clarabel(p: &[Vec<f64>], q: &[f64], a: &[Vec<f64>], b: &[f64], n_equal: usize) -> f64 {
    let upper: Vec<Vec<f64>> = p
        .iter()
        .enumerate()
        .map(|(i, r)| r.iter().enumerate().map(|(j, v)| if j >= i { *v } else { 0.0 }).collect())
        .collect();
    let cones = [SupportedConeT::ZeroConeT(n_equal), SupportedConeT::NonnegativeConeT(b.len() - n_equal)];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-11)
        .tol_gap_rel(1e-11)
        .tol_feas(1e-11)
        .build()
        .unwrap();
    let mut solver = DefaultSolver::new(&CscMatrix::from(&upper), q, &CscMatrix::from(a), b, &cones, settings).unwrap();
    solver.solve();
    solver.solution.obj_val
}

fn newton_options() -> newton::NewtonOptions<'static> {
    newton::NewtonOptions {
        tolerance: 1e-14,
        certified: 1e-9,
        max_iterations: 200,
        sampled_start: true,
        observer: &Silent,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn least_squares_satisfies_the_normal_equations(
        n in 2usize..300, p in 1usize..12, seed in 0u64..1000, intercept: bool, lambda in prop_oneof![Just(0.0), 0.01f64..10.0],
        shift in prop_oneof![Just(0.0), Just(1e5)], weighted: bool,
    ) {
        let x: Vec<f64> = numbers(n * p, seed).iter().enumerate()
            .map(|(k, v)| (v + shift) * 10f64.powi((k % p) as i32 * 4 - 12)).collect();
        let (y, z) = (numbers(n, seed + 1), numbers(n, seed + 2));
        let w: Vec<f64> = numbers(n, seed + 3).iter().map(|v| v.abs() + 0.1).collect();
        let weights = weighted.then_some(&w[..]);
        let design = dense(&x, n, p);
        let problem = LeastSquares { x: &design, targets: &[&y, &z], weights, intercept, lambda, observer: &Silent };
        let solution = problem.solve().unwrap();
        let size: f64 = x.iter().map(|v| v * v).sum();
        for (o, y) in [&y, &z].into_iter().enumerate() {
            let beta = solution.coefficients.row(o);
            let residual: Vec<f64> = (0..n).map(|i| {
                let fit: f64 = (0..p).map(|j| x[i * p + j] * beta[j]).sum::<f64>() + solution.intercepts[o];
                (y[i] - fit) * if weighted { w[i] } else { 1.0 }
            }).collect();
            // Scaled to the size of column and target: the residual is orthogonal to every column.
            for j in 0..p {
                let column: Vec<f64> = (0..n).map(|i| x[i * p + j]).collect();
                let length = column.iter().map(|c| c * c).sum::<f64>().sqrt();
                let product: f64 = column.iter().zip(&residual).map(|(c, r)| c * r).sum::<f64>() - lambda * beta[j];
                let tolerance = if shift == 0.0 { 1e-9 } else { 1e-5f64 };
                // Wide tables are solved by (X X' + lambda) alpha = y, which is exact up to rounding of X X': what is left is about eps |X X'| |alpha|, and |alpha| is at most |y| / lambda.
                let rounding = if lambda > 0.0 && solution.method == LeastSquaresMethod::Wide { 16.0 * f64::EPSILON * size / lambda } else { 0.0 };
                let tolerance = tolerance.max(rounding);
                prop_assert!(product.abs() <= tolerance * length * (n as f64).sqrt(), "{j}: {product} of {length}, {:?}", solution.method);
            }
            if intercept {
                prop_assert!(residual.iter().sum::<f64>().abs() < 1e-6 * n as f64);
            }
        }
    }

    #[test]
    fn dependent_columns_get_the_minimum_norm_solution(n in 3usize..60, p in 2usize..40, seed in 0u64..1000) {
        // The last column is the sum of the first two, and one is constant; wide tables have more dependence still.
        let mut x = numbers(n * p, seed);
        for row in x.chunks_mut(p) {
            row[p - 1] = row[0] + if p > 2 { row[1] } else { 0.0 };
            if p > 3 { row[2] = 7.0; }
        }
        let y = numbers(n, seed + 1);
        let design = dense(&x, n, p);
        let solution = LeastSquares { x: &design, targets: &[&y], weights: None, intercept: true, lambda: 0.0, observer: &Silent }.solve().unwrap();
        let beta = solution.coefficients.row(0).to_vec();
        prop_assert!(matches!(solution.method, LeastSquaresMethod::MinimumNorm { rank, .. } if rank < p), "{:?}", solution.method);
        // A vanishing ridge has the same limit.
        let ridge = LeastSquares { x: &design, targets: &[&y], weights: None, intercept: true, lambda: 1e-7, observer: &Silent }.solve().unwrap();
        prop_assert!(solution.residual_sums[0] <= ridge.residual_sums[0] + 1e-9, "{solution:?} {ridge:?}");
        for j in 0..p {
            prop_assert!((beta[j] - ridge.coefficients[(0, j)]).abs() < 1e-3 * (1.0 + beta[j].abs()), "{j}: {beta:?} {:?}", ridge.coefficients.row(0));
        }
        prop_assert!(solution.residual_sums[0] >= -1e-12);
    }

    #[test]
    fn ridge_paths_and_leave_one_out_agree_with_refits(n in 6usize..25, p in 1usize..5, seed in 0u64..1000, intercept: bool, lambda in 0.01f64..5.0) {
        let (x, y) = (numbers(n * p, seed), numbers(n, seed + 1));
        let design = dense(&x, n, p);
        let path = ridge_path::RidgePath::new(&design, &[&y], None, intercept).unwrap();
        let fit = |x: &[f64], y: &[f64]| {
            let design = dense(x, y.len(), p);
            let s = LeastSquares { x: &design, targets: &[y], weights: None, intercept, lambda, observer: &Silent }.solve().unwrap();
            (s.coefficients.row(0).to_vec(), s.intercepts[0])
        };
        let (beta, _) = fit(&x, &y);
        for (a, b) in path.coefficients(0, lambda).iter().zip(&beta) {
            prop_assert!((a - b).abs() < 1e-9);
        }
        let truth: f64 = (0..n).map(|left| {
            let keep = |v: &[f64], k: usize| [&v[..left * k], &v[(left + 1) * k..]].concat();
            let (beta, b) = fit(&keep(&x, p), &keep(&y, 1));
            let prediction: f64 = (0..p).map(|j| x[left * p + j] * beta[j]).sum::<f64>() + b;
            (y[left] - prediction).powi(2)
        }).sum::<f64>() / n as f64;
        let error = path.leave_one_out(&design, &[&y], None, intercept, &[lambda], &Silent).unwrap()[0];
        prop_assert!((error - truth).abs() < 1e-8 * (1.0 + truth), "{error} {truth}");
    }

    #[test]
    fn lasso_reaches_the_optimum_and_its_gap_is_true(
        n in 4usize..60, p in 1usize..80, seed in 0u64..1000, share in 0.02f64..0.9, ratio in 0.3f64..1.0, pure: bool,
        intercept: bool, sparse: bool, weighted: bool,
    ) {
        let mut x = numbers(n * p, seed);
        if sparse { x.iter_mut().for_each(|v| if *v < 0.3 { *v = 0.0 }); }
        let y: Vec<f64> = (0..n).map(|i| 3.0 * x[i * p] - 2.0 * x[i * p + p / 2] + 0.5 * numbers(n, seed + 1)[i] + 4.0).collect();
        let w: Vec<f64> = numbers(n, seed + 3).iter().map(|v| v.abs() + 0.1).collect();
        let weights = weighted.then_some(&w[..]);
        let design: Design = if sparse { sparsify(&x, n, p).into() } else { dense(&x, n, p) };
        let l1_ratio = if pure { 1.0 } else { ratio };
        let problem = lasso::LassoProblem { x: &design, y: &y, weights, intercept, l1_ratio, tolerance: 1e-12, max_iterations: 100, observer: &Silent };
        let lambda = problem.largest_lambda() * share;
        if lambda <= 0.0 { return Ok(()); }
        let solution = problem.solve(lambda).unwrap();
        let total: f64 = if weighted { w.iter().sum() } else { n as f64 };
        let objective = |beta: &[f64], b: f64| {
            let loss: f64 = (0..n).map(|i| {
                let fit: f64 = (0..p).map(|j| x[i * p + j] * beta[j]).sum::<f64>() + b;
                (if weighted { w[i] } else { 1.0 }) * (y[i] - fit).powi(2)
            }).sum::<f64>() / (2.0 * total);
            loss + beta.iter().map(|b| lambda * (l1_ratio * b.abs() + (1.0 - l1_ratio) * b * b / 2.0)).sum::<f64>()
        };
        let value = objective(&solution.coefficients, solution.intercept);
        prop_assert!((value - solution.outcome.value).abs() <= 1e-9 * value, "{value} {}", solution.outcome.value);
        // Split beta into its positive and negative part: a quadratic program.
        let q = usize::from(intercept);
        let m = 2 * p + q;
        let entry = |i: usize, k: usize| match k { k if k < p => x[i * p + k], k if k < 2 * p => -x[i * p + k - p], _ => 1.0 };
        let weight = |i: usize| if weighted { w[i] / total } else { 1.0 / total };
        let h: Vec<Vec<f64>> = (0..m).map(|a| (0..m).map(|b| {
            let product: f64 = (0..n).map(|i| weight(i) * entry(i, a) * entry(i, b)).sum();
            let l2 = lambda * (1.0 - l1_ratio);
            product + match (a < 2 * p, b < 2 * p) {
                (true, true) if a == b => l2,
                (true, true) if a % p == b % p => -l2,
                _ => 0.0,
            }
        }).collect()).collect();
        let linear: Vec<f64> = (0..m).map(|a| {
            let product: f64 = (0..n).map(|i| weight(i) * entry(i, a) * y[i]).sum();
            -product + if a < 2 * p { lambda * l1_ratio } else { 0.0 }
        }).collect();
        let rows: Vec<Vec<f64>> = (0..2 * p).map(|k| (0..m).map(|j| if j == k { -1.0 } else { 0.0 }).collect()).collect();
        let constant: f64 = (0..n).map(|i| weight(i) * y[i] * y[i]).sum::<f64>() / 2.0;
        let optimum = clarabel(&h, &linear, &rows, &vec![0.0; 2 * p], 0) + constant;
        prop_assert!(value <= optimum + 1e-8 * (1.0 + optimum.abs()), "{value} {optimum} {:?}", solution.outcome);
        let bound = solution.outcome.lower_bound.unwrap();
        prop_assert!(bound <= optimum + 1e-7 * (1.0 + optimum.abs()), "bound {bound} above the optimum {optimum}");
        prop_assert_eq!(solution.outcome.status, SolverStatus::Converged);
    }

    #[test]
    fn lasso_paths_equal_single_solutions(n in 10usize..60, p in 5usize..80, seed in 0u64..200) {
        let (x, y) = (numbers(n * p, seed), numbers(n, seed + 1));
        let design = dense(&x, n, p);
        let problem = lasso::LassoProblem { x: &design, y: &y, weights: None, intercept: true, l1_ratio: 1.0, tolerance: 1e-12, max_iterations: 100, observer: &Silent };
        for solution in problem.path(&problem.grid(12, 1e-3)).unwrap() {
            let single = problem.solve(solution.lambda).unwrap();
            let difference = (solution.outcome.value - single.outcome.value).abs();
            prop_assert!(difference <= 1e-9 * (1.0 + single.outcome.value), "{:?} {:?}", solution.outcome, single.outcome);
            prop_assert_eq!(solution.outcome.status, SolverStatus::Converged);
        }
        let empty = problem.solve(problem.largest_lambda() * 1.0001).unwrap();
        prop_assert!(empty.coefficients.iter().all(|b| *b == 0.0));
    }

    #[test]
    fn smooth_risks_have_the_gradient_and_hessian_of_finite_differences(
        n in 3usize..200, p in 1usize..6, seed in 0u64..1000, intercept: bool, sparse: bool,
    ) {
        let x = numbers(n * p, seed);
        let y: Vec<f64> = numbers(n, seed + 1).iter().map(|v| v.signum()).collect();
        let classes: Vec<u32> = numbers(n, seed + 2).iter().map(|v| (v.abs() * 2.0) as u32 % 3).collect();
        let w: Vec<f64> = numbers(n, seed + 3).iter().map(|v| v.abs() + 0.1).collect();
        let x_of = || if sparse { Design::from(sparsify(&x, n, p)) } else { dense(&x, n, p) };
        let weights = || Some(Cow::Borrowed(&w[..]));
        let binary = risk::Risk { x: x_of(), y: Cow::Borrowed(&y), weights: weights(), loss: Logistic, lambda: 0.1, intercept };
        let multi = MultinomialRisk { x: x_of(), y: Cow::Borrowed(&classes), n_classes: 3, weights: weights(), lambda: 0.1, intercept };
        let problems: [&dyn SmoothObjective; 2] = [&binary, &multi];
        for problem in problems {
            let m = problem.n_unknowns();
            let at: Vec<f64> = numbers(m, seed + 4);
            let (mut g, mut g_curved, mut unused) = (vec![0.0; m], vec![0.0; m], vec![0.0; m]);
            let value = problem.value_gradient(&at, &mut g);
            let (same, curvature) = problem.curvature(&at, &mut g_curved, &Silent).unwrap();
            prop_assert!((value - same).abs() < 1e-12 * (1.0 + value));
            let newton::Curvature::Full(h) = curvature else { panic!("small problems have full Hessians") };
            for j in 0..m {
                let mut moved = |d: f64| {
                    let mut at = at.clone();
                    at[j] += d;
                    let value = problem.value_gradient(&at, &mut unused);
                    (value, unused.clone())
                };
                let ((above, g_above), (below, g_below)) = (moved(1e-5), moved(-1e-5));
                prop_assert!((g[j] - g_curved[j]).abs() < 1e-10);
                prop_assert!(((above - below) / 2e-5 - g[j]).abs() < 1e-8 * (1.0 + g[j].abs()));
                for k in 0..m {
                    prop_assert!(((g_above[k] - g_below[k]) / 2e-5 - h[(j, k)]).abs() < 1e-8, "{j} {k}");
                }
            }
        }
    }

    #[test]
    fn newton_reaches_the_minimum_and_its_bound_is_true(
        n in 10usize..400, p in 1usize..8, seed in 0u64..1000, lambda in 1e-4f64..1.0, units in -6i32..6,
    ) {
        let x: Vec<f64> = numbers(n * p, seed).iter().enumerate().map(|(k, v)| v * 10f64.powi(units * (k % p) as i32 % 7)).collect();
        let noise = numbers(n, seed + 1);
        let y: Vec<f64> = (0..n).map(|i| (x[i * p] * 10f64.powi(0) + noise[i]).signum()).collect();
        let problem = risk::Risk { x: dense(&x, n, p), y: Cow::Borrowed(&y), weights: None, loss: Logistic, lambda, intercept: true };
        let mut w = vec![0.0; p + 1];
        let outcome = newton::minimize(&problem, &mut w, &newton_options()).unwrap();
        let mut g = vec![0.0; p + 1];
        let value = problem.value_gradient(&w, &mut g);
        // The bound must be below every value, and close to the best.
        let bound = problem.lower_bound(&w, 0.0).unwrap();
        prop_assert!(bound <= value + 1e-14 && value - bound <= 1e-8 * (1.0 + value), "{value} {bound} {outcome:?}");
        let elsewhere: Vec<f64> = w.iter().map(|w| w * 1.1).collect();
        prop_assert!(problem.lower_bound(&elsewhere, 0.0).is_none_or(|b| b <= value + 1e-12));
        prop_assert!(problem.lower_bound(&vec![0.0; p + 1], 0.0).is_none_or(|b| b <= value + 1e-12));
        prop_assert_eq!(outcome.status, SolverStatus::Converged);
    }

    #[test]
    fn other_smooth_losses_converge_too(n in 20usize..200, p in 1usize..5, seed in 0u64..300) {
        let (x, y) = (numbers(n * p, seed), numbers(n, seed + 1));
        fn gap<L: Loss>(loss: L, x: &[f64], y: &[f64], n: usize, p: usize) -> (f64, f64) {
            let problem = risk::Risk { x: dense(x, n, p), y: Cow::Borrowed(y), weights: None, loss, lambda: 0.05, intercept: true };
            let mut w = vec![0.0; p + 1];
            let outcome = newton::minimize(&problem, &mut w, &newton_options()).unwrap();
            (outcome.value, problem.lower_bound(&w, 0.0).unwrap())
        }
        let signs: Vec<f64> = y.iter().map(|y| y.signum()).collect();
        for (value, bound) in [gap(Huber { delta: 0.7 }, &x, &y, n, p), gap(SquaredHinge, &x, &signs, n, p), gap(Squared, &x, &y, n, p)] {
            prop_assert!(value - bound <= 1e-7 && value >= bound - 1e-12, "{value} {bound}");
        }
    }

    #[test]
    fn l1_logistic_reaches_the_minimum(n in 20usize..150, p in 1usize..12, seed in 0u64..1000, share in 0.02f64..0.9, lambda in prop_oneof![Just(0.0), 0.001f64..0.1]) {
        let x = numbers(n * p, seed);
        let noise = numbers(n, seed + 1);
        let y: Vec<f64> = (0..n).map(|i| (x[i * p] + noise[i]).signum()).collect();
        let problem = risk::Risk { x: dense(&x, n, p), y: Cow::Borrowed(&y), weights: None, loss: Logistic, lambda, intercept: true };
        let mut w = vec![0.0; p + 1];
        let mut g = vec![0.0; p + 1];
        problem.value_gradient(&w, &mut g);
        let l1 = share * g[..p].iter().fold(1e-3f64, |t, g| t.max(g.abs()));
        let outcome = prox_newton::minimize(&problem, l1, &mut w, &newton_options()).unwrap();
        prop_assert!(outcome.gap().unwrap() <= 1e-8, "{outcome:?}");
        prop_assert!(outcome.residual <= 1e-6, "{outcome:?}");
        // Proximal gradient descent gets there, too, but not below.
        let options = descent::DescentOptions { rate: descent::StepRate::Search, penalty: Penalty::L1 { lambda: l1 }, n_penalized: p, tolerance: 1e-7, max_iterations: 5000, observer: &Silent };
        let mut slow = vec![0.0; p + 1];
        let course = descent::minimize(&problem, &mut slow, &options).unwrap();
        prop_assert!((course.outcome.value - outcome.value).abs() < 1e-6, "{} {}", course.outcome.value, outcome.value);
    }

    #[test]
    fn quantile_regression_finds_the_vertex_that_clarabel_approaches(
        n in 2usize..80, p in 0usize..6, seed in 0u64..1000, tau in 0.05f64..0.95, intercept: bool, weighted: bool, ties: bool, repeated: bool,
    ) {
        let mut x = numbers(n * p, seed);
        let mut y = numbers(n, seed + 1);
        if ties {
            x.iter_mut().for_each(|v| *v = v.round());
            y.iter_mut().for_each(|v| *v = v.round());
        }
        if repeated && p > 1 { x.chunks_mut(p).for_each(|row| row[p - 1] = 2.0 * row[0]); }
        let w: Vec<f64> = numbers(n, seed + 3).iter().map(|v| v.abs() + 0.1).collect();
        let design = dense(&x, n, p);
        let problem = quantile::QuantileProblem { x: &design, y: &y, weights: weighted.then_some(&w[..]), tau, intercept };
        let solution = problem.solve(&Silent).unwrap();
        let weight = |i: usize| if weighted { w[i] } else { 1.0 };
        let total: f64 = (0..n).map(weight).sum();
        let value: f64 = (0..n).map(|i| {
            let r = y[i] - (0..p).map(|j| x[i * p + j] * solution.coefficients[j]).sum::<f64>() - solution.intercept;
            weight(i) * if r >= 0.0 { tau * r } else { (tau - 1.0) * r }
        }).sum::<f64>() / total;
        prop_assert!((value - solution.outcome.value).abs() < 1e-10 * (1.0 + value));
        // Unknowns: beta, b, residuals above and below.
        let q = p + usize::from(intercept);
        let m = q + 2 * n;
        let mut rows: Vec<Vec<f64>> = (0..n).map(|i| (0..m).map(|k| match k {
            k if k < p => x[i * p + k],
            k if k < q => 1.0,
            k if k == q + i => 1.0,
            k if k == q + n + i => -1.0,
            _ => 0.0,
        }).collect()).collect();
        rows.extend((0..2 * n).map(|k| (0..m).map(|j| if j == q + k { -1.0 } else { 0.0 }).collect::<Vec<f64>>()));
        let cost: Vec<f64> = (0..m).map(|k| match k {
            k if k < q => 0.0,
            k if k < q + n => tau * weight(k - q) / total,
            k => (1.0 - tau) * weight(k - q - n) / total,
        }).collect();
        let right = [y.clone(), vec![0.0; 2 * n]].concat();
        let optimum = clarabel(&vec![vec![0.0; m]; m], &cost, &rows, &right, n);
        prop_assert!((value - optimum).abs() < 1e-7 * (1.0 + optimum.abs()), "{value} {optimum} {:?}", solution.outcome);
        if !ties {
            prop_assert_eq!(solution.outcome.status, SolverStatus::Converged);
        }
    }

    #[test]
    fn classes_are_separated_or_proven_to_overlap(n in 2usize..60, p in 1usize..6, seed in 0u64..1000, gap in -1.0f64..1.0, intercept: bool, far in prop_oneof![Just(0.0), Just(1e4)]) {
        let mut x = numbers(n * p, seed);
        let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        x.chunks_mut(p).zip(&y).for_each(|(row, y)| row[0] += y * gap * 3.0 + if intercept { far } else { 0.0 });
        let design = dense(&x, n, p);
        let separable = {
            // min t with y (x'w + b) >= 1 - t, t >= 0: 0 if the classes are separable.
            let q = p + usize::from(intercept);
            let mut rows: Vec<Vec<f64>> = (0..n).map(|i| (0..=q).map(|k| match k {
                k if k < p => -y[i] * (x[i * p + k] - if k == 0 && intercept { far } else { 0.0 }),
                k if k < q => -y[i],
                _ => -1.0,
            }).collect()).collect();
            rows.push((0..=q).map(|k| if k == q { -1.0 } else { 0.0 }).collect());
            let right = [vec![-1.0; n], vec![0.0]].concat();
            let cost: Vec<f64> = (0..=q).map(|k| f64::from(k == q)).collect();
            clarabel(&vec![vec![0.0; q + 1]; q + 1], &cost, &rows, &right, 0)
        };
        match halfspace::separate(&design, &y, None, intercept, &Silent).unwrap() {
            halfspace::Separation::Hyperplane { coefficients, intercept: b, margin } => {
                prop_assert!(separable < 0.5, "{separable}");
                for (row, y) in x.chunks(p).zip(&y) {
                    let z: f64 = row.iter().zip(&coefficients).map(|(x, w)| x * w).sum::<f64>() + b;
                    prop_assert!(z * y > 0.0);
                }
                prop_assert!(margin > 0.0);
            }
            halfspace::Separation::Overlap { multipliers, residual, .. } => {
                prop_assert!(separable > 0.5, "{separable}");
                prop_assert!(multipliers.iter().all(|l| *l >= 0.0) && (multipliers.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                prop_assert!(residual < 1e-8);
                for j in 0..p {
                    let sum: f64 = (0..n).map(|i| multipliers[i] * y[i] * x[i * p + j]).sum();
                    prop_assert!(sum.abs() < 1e-6 * (1.0 + far), "{sum}");
                }
            }
            halfspace::Separation::Undecided { .. } => prop_assert!(false, "undecided at {separable}"),
        }
    }

    #[test]
    fn the_perceptron_keeps_its_mistake_bound(n in 2usize..80, p in 1usize..5, seed in 0u64..500, shuffle: bool) {
        let mut x = numbers(n * p, seed);
        let y: Vec<f64> = x.chunks(p).map(|row| row[0].signum()).collect();
        x.chunks_mut(p).zip(&y).for_each(|(row, y)| row[0] += y * 0.5);
        let design = dense(&x, n, p);
        let options = |form| perceptron::PerceptronOptions { form, intercept: true, max_passes: 100_000, patience: None, shuffle, seed, observer: &Silent };
        let online = perceptron::learn(&design, &y, None, &options(perceptron::UpdateRule::Online)).unwrap();
        prop_assert!(online.separated);
        // The first axis separates with margin at least 0.5 (over the length of [1, 0, ..., 0]).
        let margin = x.chunks(p).zip(&y).map(|(row, y)| row[0] * y).fold(f64::INFINITY, f64::min);
        let bound = (perceptron::radius(&design, true) / margin).powi(2);
        prop_assert!(online.mistakes.iter().sum::<u64>() as f64 <= bound);
        let (counts, mistakes, separated) = perceptron::learn_kernel(&y, None, |i, out| {
            let row = |i: usize| &x[i * p..(i + 1) * p];
            out.iter_mut().enumerate().for_each(|(k, o)| *o = row(i).iter().zip(row(k)).map(|(a, b)| a * b).sum());
        }, &options(perceptron::UpdateRule::Online)).unwrap();
        prop_assert!(separated);
        prop_assert_eq!(&mistakes, &online.mistakes, "the linear kernel makes the same mistakes");
        for j in 0..p {
            let w: f64 = (0..n).map(|i| counts[i] * x[i * p + j]).sum();
            prop_assert!((w - online.coefficients[j]).abs() < 1e-8);
        }
        let batch = perceptron::learn(&design, &y, None, &options(perceptron::UpdateRule::Batch)).unwrap();
        prop_assert!(batch.separated);
    }
}

#[test]
fn separable_classes_without_penalty_are_diagnosed() {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let y: Vec<f64> = (0..40).map(|i| if i < 17 { -1.0 } else { 1.0 }).collect();
    let problem = risk::Risk {
        x: dense(&x, 40, 1),
        y: Cow::Borrowed(&y),
        weights: None,
        loss: Logistic,
        lambda: 0.0,
        intercept: true,
    };
    let mut w = vec![0.0; 2];
    let outcome = newton::minimize(&problem, &mut w, &newton_options()).unwrap();
    assert_eq!(outcome.status, SolverStatus::Unbounded);
    assert!(w.iter().all(|w| w.is_finite()));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let (n, p) = (6000, 7);
    let x = numbers(n * p, 1);
    let y = numbers(n, 2);
    let signs: Vec<f64> = y.iter().map(|y| y.signum()).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let design = dense(&x, n, p);
            let ols = LeastSquares {
                x: &design,
                targets: &[&y],
                weights: None,
                intercept: true,
                lambda: 0.0,
                observer: &Silent,
            }
            .solve()
            .unwrap();
            let lasso = lasso::LassoProblem {
                x: &design,
                y: &y,
                weights: None,
                intercept: true,
                l1_ratio: 1.0,
                tolerance: 1e-9,
                max_iterations: 50,
                observer: &Silent,
            };
            let lasso = lasso.solve(0.01).unwrap();
            let median = quantile::QuantileProblem { x: &design, y: &y, weights: None, tau: 0.5, intercept: true }
                .solve(&Silent)
                .unwrap();
            let risk = risk::Risk {
                x: dense(&x, n, p),
                y: Cow::Borrowed(&signs),
                weights: None,
                loss: Logistic,
                lambda: 1e-3,
                intercept: true,
            };
            let mut w = vec![0.0; p + 1];
            newton::minimize(&risk, &mut w, &newton_options()).unwrap();
            [ols.coefficients.row(0).to_vec(), lasso.coefficients, median.coefficients, w].concat()
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn overflowing_data_is_an_error_not_a_number() {
    let x = [1e200, 2e200, -1e200, 3e200];
    let y = [1.0, 2.0, 3.0, -1.0];
    let design = dense(&x, 4, 1);
    assert!(
        LeastSquares { x: &design, targets: &[&y], weights: None, intercept: true, lambda: 0.0, observer: &Silent }
            .solve()
            .is_err()
    );
    let problem = quantile::QuantileProblem { x: &design, y: &y, weights: None, tau: 0.5, intercept: true };
    assert!(problem.solve(&Silent).is_err());
    assert!(halfspace::separate(&design, &[1.0, -1.0, 1.0, -1.0], None, true, &Silent).is_err());
}
