//! Steps on single rows: they approach the minimum, averages are means, and the quick way takes the same steps.

use super::*;

#[test]
fn stochastic_descent_approaches_the_minimum() {
    let (n, p) = (2000, 6);
    let x = numbers(n * p, 1);
    let noise = numbers(n, 2);
    let y: Vec<f64> = (0..n).map(|i| (x[i * p] - 0.5 * x[i * p + 1] + noise[i]).signum()).collect();
    let lambda = 0.01;
    let problem =
        risk::Risk { x: dense(&x, n, p), y: Cow::Borrowed(&y), weights: None, loss: Logistic, lambda, intercept: true };
    let mut exact = vec![0.0; p + 1];
    let best = newton::minimize(&problem, &mut exact, &newton_options()).unwrap().value;
    let design = dense(&x, n, p);
    for (average, batch) in [(false, 1), (true, 1), (true, 8)] {
        let options = sgd::SgdOptions {
            schedule: sgd::RateSchedule::Optimal { rate: 0.1, strength: lambda },
            penalty: Penalty::L2 { lambda },
            intercept: true,
            batch,
            average,
            shuffle: true,
            seed: 7,
            max_passes: 30,
            tolerance: None,
            patience: 5,
            held: &[],
            observer: &Silent,
        };
        let mut model = sgd::SgdState::new(p);
        model.run(Logistic, &design, &y, None, &options).unwrap();
        let (mut w, b) = model.weights(average);
        w.push(b);
        let mut g = vec![0.0; p + 1];
        let value = problem.value_gradient(&w, &mut g);
        assert!(value - best < 2e-3, "{value} {best} averaged: {average}, batch: {batch}");
    }
}

#[test]
fn averages_are_the_mean_of_all_steps() {
    let (n, p) = (50, 3);
    let (x, y) = (numbers(n * p, 1), numbers(n, 2));
    let design = dense(&x, n, p);
    let options = |penalty, average| sgd::SgdOptions {
        schedule: sgd::RateSchedule::Inverse { rate: 0.1, power: 0.3 },
        penalty,
        intercept: true,
        batch: 1,
        average,
        shuffle: false,
        seed: 0,
        max_passes: 1,
        tolerance: None,
        patience: 5,
        held: &[],
        observer: &Silent,
    };
    let penalty = Penalty::L2 { lambda: 0.1 };
    let mut whole = sgd::SgdState::new(p);
    let order: Vec<u32> = (0..n as u32).collect();
    whole.pass(Squared, &design, &y, None, &order, &options(penalty, true));
    let (mut steps, mut sum, mut sum_b) = (sgd::SgdState::new(p), vec![0.0; p], 0.0);
    for i in 0..n as u32 {
        steps.pass(Squared, &design, &y, None, &[i], &options(penalty, false));
        let (w, b) = steps.weights(false);
        sum.iter_mut().zip(&w).for_each(|(s, w)| *s += w / n as f64);
        sum_b += b / n as f64;
    }
    let (average, b) = whole.weights(true);
    for (a, s) in average.iter().zip(&sum) {
        assert!((a - s).abs() < 1e-12);
    }
    assert!((b - sum_b).abs() < 1e-12);
    assert_eq!(whole.weights(false), steps.weights(false), "a stream in pieces is the same stream");
}

#[test]
fn fast_steps_are_bit_identical() {
    for p in [1, 5, 37, 100] {
        let n = 60;
        let (x, noise) = (numbers(n * p, 1), numbers(n, 2));
        let y: Vec<f64> = (0..n).map(|i| (x[i * p] + noise[i]).signum()).collect();
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        let columns: Vec<f64> = (0..p).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| x[i * p + j]).collect();
        // Rows of an array take the short way, columns the long one.
        let (short, long) = (dense(&x, n, p), Design::from(Dense::columns_f64(&columns, n, p, n).unwrap()));
        let schedules = [
            sgd::RateSchedule::Optimal { rate: 10.0, strength: 0.1 },
            sgd::RateSchedule::Inverse { rate: 0.1, power: 0.3 },
            sgd::RateSchedule::Adaptive { rate: 0.1 },
        ];
        for (schedule, penalty) in
            schedules.into_iter().zip([Penalty::L2 { lambda: 0.1 }, Penalty::None, Penalty::L2 { lambda: 9.0 }])
        {
            let options = sgd::SgdOptions {
                schedule,
                penalty,
                intercept: p != 5,
                batch: 1,
                average: false,
                shuffle: true,
                seed: 3,
                max_passes: 20,
                tolerance: Some(1e-3),
                patience: 2,
                held: &[],
                observer: &Silent,
            };
            let [a, b] = [&short, &long].map(|x| {
                let mut model = sgd::SgdState::new(p);
                model.run(Hinge, x, &y, Some(&weights), &options).unwrap();
                model
            });
            assert_eq!(a, b, "{schedule:?} {penalty:?} {p}");
        }
    }
}
