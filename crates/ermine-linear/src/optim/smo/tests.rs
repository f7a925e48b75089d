//! The solver against the optima that a general interior point solver finds, and against the optimality conditions themselves.

use super::*;
use crate::kernel::{CustomKernelMatrix, Kernel, KernelPoints};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver, SupportedConeT};
use ermine_core::linalg::{Dense, Design};
use ermine_core::progress::Silent;
use proptest::prelude::*;

fn options(tolerance: f64, working_set: usize) -> SmoOptions<'static> {
    SmoOptions { tolerance, max_steps: 10_000_000, cache: 1 << 20, working_set, observer: &Silent }
}

/// The least value of the dual, by interior points.
fn oracle(kernel: &[f64], n: usize, dual: &DualProblem) -> f64 {
    let m = dual.pull.len();
    let upper: Vec<Vec<f64>> =
        (0..m).map(|i| (0..m).map(|j| if j >= i { kernel[(i % n) * n + j % n] } else { 0.0 }).collect()).collect();
    let unit = |k: usize, sign: f64| (0..m).map(|j| if j == k { sign } else { 0.0 }).collect::<Vec<f64>>();
    let mut a = vec![vec![1.0; m]];
    let mut b = vec![dual.total];
    for k in 0..m {
        a.extend([unit(k, 1.0), unit(k, -1.0)]);
        b.extend([dual.high[k], -dual.low[k]]);
    }
    let q: Vec<f64> = dual.pull.iter().map(|p| -p).collect();
    let cones = [SupportedConeT::ZeroConeT(1), SupportedConeT::NonnegativeConeT(2 * m)];
    let settings = DefaultSettingsBuilder::default()
        .verbose(false)
        .tol_gap_abs(1e-10)
        .tol_gap_rel(1e-10)
        .tol_feas(1e-10)
        .build()
        .unwrap();
    let (p, a) = (CscMatrix::from(&upper), CscMatrix::from(&a));
    let mut solver = DefaultSolver::new(&p, &q, &a, &b, &cones, settings).unwrap();
    solver.solve();
    solver.solution.obj_val
}

/// Machines of each kind over `n` rows.
fn dual(kind: usize, n: usize, c: f64, draw: &mut impl FnMut() -> f64) -> DualProblem {
    match kind {
        0 => {
            let y: Vec<f64> = (0..n).map(|i| if i % 2 == 0 || draw() > 0.8 { 1.0 } else { -1.0 }).collect();
            let weight: Vec<f64> = (0..n).map(|_| c * (0.5 + draw())).collect();
            let low = y.iter().zip(&weight).map(|(y, c)| if *y > 0.0 { 0.0 } else { -c }).collect();
            let high = y.iter().zip(&weight).map(|(y, c)| if *y > 0.0 { *c } else { 0.0 }).collect();
            DualProblem { pull: y, low, high, total: 0.0 }
        }
        1 => {
            let y: Vec<f64> = (0..n).map(|_| 2.0 * draw() - 1.0).collect();
            let pull = y.iter().map(|y| y - 0.1).chain(y.iter().map(|y| y + 0.1)).collect();
            let (zeros, all) = (vec![0.0; n], vec![c; n]);
            let minus = vec![-c; n];
            DualProblem { pull, low: [zeros.clone(), minus].concat(), high: [all, zeros].concat(), total: 0.0 }
        }
        _ => DualProblem { pull: vec![0.0; n], low: vec![0.0; n], high: vec![1.0; n], total: 0.3 * n as f64 },
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_solver_reaches_the_optimum_and_satisfies_the_conditions(
        n in 3usize..60, d in 1usize..5, seed in 0u64..10_000, kind in 0usize..3, which in 0usize..3, c in 0.05f64..20.0, small: bool,
    ) {
        compare(n, d, seed, (kind, which), c, if small { 8 } else { 1024 })?;
    }

    #[test]
    fn warm_starts_reach_the_same_optimum(
        n in 4usize..50, seed in 0u64..1000, kind in 0usize..2, c in 0.05f64..5.0, wider in 1.0f64..50.0,
    ) {
        let mut rng = ermine_core::rng::stream(seed, &[]);
        let mut draw = || ermine_core::rng::uniform(&mut rng);
        let x: Vec<f64> = (0..n * 2).map(|_| 2.0 * draw() - 1.0).collect();
        let narrow = dual(kind, n, c, &mut draw);
        let scaled = |bounds: &[f64]| bounds.iter().map(|b| wider * b).collect::<Vec<f64>>();
        let wide = DualProblem { low: scaled(&narrow.low), high: scaled(&narrow.high), ..narrow.clone() };
        let design: Design = Dense::rows_f64(&x, n, 2, 2).unwrap().into();
        let kernel = Kernel::Gaussian { gamma: 0.8 };
        let points = KernelPoints::<f64>::new(kernel, &design, &[0.0; 2]);
        let options = options(1e-7, 1024);
        let earlier = solve(&points, &narrow, &options).unwrap();
        let warm = solve_from(&points, &wide, &options, Some(&earlier)).unwrap();
        let values: Vec<f64> = (0..n * n).map(|k| kernel.value(&x[k / n * 2..][..2], &x[k % n * 2..][..2])).collect();
        conditions(&warm, &wide, &values, n)?;
        let cold = solve(&points, &wide, &options).unwrap();
        let (a, b) = (cold.outcome.lower_bound.unwrap(), warm.outcome.lower_bound.unwrap());
        prop_assert!((a - b).abs() <= 1e-6 * (1.0 + a.abs()), "{a} {b}");
    }

    #[test]
    fn single_precision_and_a_small_cache_give_the_same_solution(n in 40usize..200, seed in 0u64..1000, cache in 0usize..20_000) {
        let mut rng = ermine_core::rng::stream(seed, &[]);
        let mut draw = || ermine_core::rng::uniform(&mut rng);
        let x: Vec<f64> = (0..n * 3).map(|_| 2.0 * draw() - 1.0).collect();
        let dual = dual(0, n, 1.0, &mut draw);
        let design: Design = Dense::rows_f64(&x, n, 3, 3).unwrap().into();
        let kernel = Kernel::Gaussian { gamma: 0.5 };
        let double = solve(&KernelPoints::<f64>::new(kernel, &design, &[0.0; 3]), &dual, &options(1e-6, 1024)).unwrap();
        let small = SmoOptions { cache, ..options(1e-6, 16) };
        let single = solve(&KernelPoints::<f32>::new(kernel, &design, &[0.0; 3]), &dual, &small).unwrap();
        let (a, b) = (double.outcome.lower_bound.unwrap(), single.outcome.lower_bound.unwrap());
        prop_assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{a} {b}");
        // Without a cache at all: the same bits.
        let none = solve(&KernelPoints::<f32>::new(kernel, &design, &[0.0; 3]), &dual, &SmoOptions { cache: 0, ..small }).unwrap();
        prop_assert!(none.n_kernel_rows >= single.n_kernel_rows);
    }
}

proptest! {
    // The oracle takes its time at this size.
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn larger_problems_reach_the_optimum(n in 60usize..=200, seed in 0u64..10_000, kind in 0usize..3, which in 0usize..3, c in 0.05f64..20.0) {
        compare(n, 3, seed, (kind, which), c, 64)?;
    }
}

/// Solves a machine of some kind with some kernel, by the solver and by the oracle.
fn compare(
    n: usize,
    d: usize,
    seed: u64,
    (kind, which): (usize, usize),
    c: f64,
    working_set: usize,
) -> std::result::Result<(), TestCaseError> {
    let mut rng = ermine_core::rng::stream(seed, &[]);
    let mut draw = || ermine_core::rng::uniform(&mut rng);
    // Some rows twice.
    let mut x: Vec<f64> = (0..n * d).map(|_| 2.0 * draw() - 1.0).collect();
    x.copy_within(0..d, (n - 1) * d);
    let kernel =
        [Kernel::Linear, Kernel::Gaussian { gamma: 0.8 }, Kernel::Polynomial { degree: 2, gamma: 1.0, coef0: 0.5 }]
            [which];
    let dual = dual(kind, n, c, &mut draw);
    let design: Design = Dense::rows_f64(&x, n, d, d).unwrap().into();
    let points = KernelPoints::<f64>::new(kernel, &design, &vec![0.0; d]);
    // A working set smaller than the problem, and one that is all of it.
    let tolerance = 1e-7;
    let solution = solve(&points, &dual, &options(tolerance, working_set)).unwrap();
    let values: Vec<f64> = (0..n * n).map(|k| kernel.value(&x[k / n * d..][..d], &x[k % n * d..][..d])).collect();
    let truth = oracle(&values, n, &dual);
    let outcome = &solution.outcome;
    prop_assert_eq!(outcome.status, SolverStatus::Converged);
    let bound = outcome.lower_bound.unwrap();
    prop_assert!((-bound - truth).abs() <= 1e-6 * (1.0 + truth.abs()), "dual {} oracle {truth}", -bound);
    prop_assert!(outcome.value >= bound - 1e-9 * (1.0 + bound.abs()), "the gap is not negative");
    prop_assert!(outcome.value - bound <= 1e-5 * (1.0 + c * n as f64), "gap {}", outcome.value - bound);
    prop_assert!(outcome.residual <= tolerance);
    conditions(&solution, &dual, &values, n)
}

/// The optimality conditions, from nothing but the variables.
fn conditions(
    solution: &SmoSolution,
    dual: &DualProblem,
    kernel: &[f64],
    n: usize,
) -> std::result::Result<(), TestCaseError> {
    let b = &solution.variables;
    prop_assert!(
        (b.iter().sum::<f64>() - dual.total).abs() < 1e-9 * (1.0 + dual.total + b.iter().map(|b| b.abs()).sum::<f64>())
    );
    for v in 0..b.len() {
        prop_assert!(b[v] >= dual.low[v] && b[v] <= dual.high[v]);
        let sum: f64 = (0..b.len()).map(|w| kernel[(v % n) * n + w % n] * b[w]).sum();
        prop_assert!((sum - solution.sums[v % n]).abs() < 1e-8 * (1.0 + sum.abs()));
        let r = dual.pull[v] - sum - solution.intercept;
        if b[v] < dual.high[v] {
            prop_assert!(r <= 1e-6, "could rise: {r}");
        }
        if b[v] > dual.low[v] {
            prop_assert!(r >= -1e-6, "could fall: {r}");
        }
    }
    Ok(())
}

#[test]
fn limits_are_reported_and_indefinite_kernels_terminate() {
    let n = 40;
    let mut rng = ermine_core::rng::stream(3, &[]);
    let dual = dual(0, n, 1.0, &mut || ermine_core::rng::uniform(&mut rng));
    let value = |i: usize, j: usize| ((i * j) as f64 * 0.37).sin();
    let gram = CustomKernelMatrix::new(n, &value);
    let few = SmoOptions { max_steps: 3, ..options(1e-6, 8) };
    let stopped = solve::<f64>(&gram, &dual, &few).unwrap();
    assert_eq!((stopped.outcome.status, stopped.outcome.n_iterations), (SolverStatus::Limit, 3));
    let ended = solve::<f64>(&gram, &dual, &SmoOptions { max_steps: 100_000, ..options(1e-6, 8) }).unwrap();
    assert!(ended.variables.iter().all(|b| b.is_finite()));
}
