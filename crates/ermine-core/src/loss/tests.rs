use super::*;
use proptest::prelude::*;

/// Checks a loss against finite differences, its conjugate against the Fenchel inequality and its equality case,
/// convexity, the curvature bound and the block form.
fn check(loss: impl Loss, z: f64, y: f64, other: f64) -> std::result::Result<(), TestCaseError> {
    let h = 1e-5 * (1.0 + z.abs());
    let slope = (loss.value(z + h, y) - loss.value(z - h, y)) / (2.0 * h);
    let (below, above) = (loss.gradient(z - h, y), loss.gradient(z + h, y));
    let g = loss.gradient(z, y);
    let size = 1.0 + g.abs() + loss.curvature(z, y);
    prop_assert!(slope >= below - 1e-4 * size && slope <= above + 1e-4 * size, "slope {slope} {below} {above}");
    prop_assert!(below <= g + 1e-9 * size && g <= above + 1e-9 * size, "gradient {g} between {below} and {above}");
    if let Some(bound) = loss.smoothness() {
        let second = (above - below) / (2.0 * h);
        prop_assert!(second <= bound * (1.0 + 1e-6) && loss.curvature(z, y) <= bound);
        let sides = [loss.curvature(z - 2.0 * h, y), loss.curvature(z + 2.0 * h, y)];
        if (sides[0] - sides[1]).abs() < 1e-3 {
            prop_assert!((second - loss.curvature(z, y)).abs() < 1e-3 * size);
        }
    }
    let line = loss.value(z, y) + g * (other - z);
    prop_assert!(loss.value(other, y) >= line - 1e-9 * (1.0 + line.abs()), "not above its tangent");
    // The conjugate of the Tweedie loss is not known.
    if loss.conjugate(g, y).is_finite() || loss.name() != "Tweedie loss" {
        let equality = loss.conjugate(g, y) + loss.value(z, y) - g * z;
        prop_assert!(equality.abs() < 1e-7 * size * (1.0 + z.abs()), "conjugate at the gradient: {equality}");
        let fenchel = loss.conjugate(g, y) + loss.value(other, y) - g * other;
        prop_assert!(fenchel > -1e-7 * size * (1.0 + other.abs()), "Fenchel inequality: {fenchel}");
    }
    let (mut v, mut d, mut c) = ([0.0], [0.0], [0.0]);
    loss.evaluate(&[z], &[y], &mut v, &mut d, &mut c);
    prop_assert!((v[0] - loss.value(z, y)).abs() <= 1e-14 * v[0].abs() && (d[0] - g).abs() <= 1e-14 * g.abs());
    prop_assert!((c[0] - loss.curvature(z, y)).abs() <= 1e-13 * c[0]);
    let (mut first, mut second) = ([0.0f32], [0.0f32]);
    loss.derivatives(&[z], &[y], &mut first, &mut second);
    let curvature = if loss.has_straight_pieces() { 1.0 } else { c[0] };
    prop_assert_eq!((first[0], second[0]), (d[0] as f32, curvature as f32));
    Ok(())
}

/// Checks the curvature of a smooth loss against differences of its gradient.
fn check_curvature(loss: impl Loss, z: f64, y: f64) -> std::result::Result<(), TestCaseError> {
    let h = 1e-5;
    let second = (loss.gradient(z + h, y) - loss.gradient(z - h, y)) / (2.0 * h);
    prop_assert!((second - loss.curvature(z, y)).abs() <= 1e-6 * (1.0 + second), "{}: {second}", loss.name());
    Ok(())
}

/// Checks that no other constant is better than the best constant.
fn check_constant(loss: impl Loss, y: &[f64], weights: &[f64]) -> std::result::Result<(), TestCaseError> {
    let sum = |z: f64| loss.weighted_sum(&vec![z; y.len()], y, Some(weights));
    let plain: f64 = (0..y.len()).map(|i| weights[i] * loss.value(0.3, y[i])).sum();
    prop_assert!((sum(0.3) - plain).abs() <= 1e-12 * (1.0 + plain.abs()));
    let (best, least) = (loss.best_constant(y, Some(weights)), minimize_constant(&loss, y, Some(weights)));
    for other in [least, best - 0.1, best - 1e-3, best + 1e-3, best + 0.1] {
        let (value, other_value) = (sum(best), sum(other));
        prop_assert!(value <= other_value + 1e-9 * (1.0 + value.abs()), "{}: {best} or {other}", loss.name());
    }
    Ok(())
}

proptest! {
    #[test]
    fn classification_losses_match_differences_and_conjugates(z in -6.0f64..6.0, positive: bool, other in -6.0f64..6.0) {
        let y = if positive { 1.0 } else { -1.0 };
        check(Hinge, z, y, other)?;
        check(SquaredHinge, z, y, other)?;
        check(Exponential, z, y, other)?;
        check(Logistic, z, y, other)?;
        for bound in [Hinge.value(z, y), 2.0 * SquaredHinge.value(z, y), Exponential.value(z, y), Logistic.value(z, y) / 2f64.ln()] {
            prop_assert!(bound >= ZeroOne.value(z, y) - 1e-12, "a surrogate bounds the 0-1 loss");
        }
    }

    #[test]
    fn regression_losses_match_differences_and_conjugates(z in -6.0f64..6.0, y in -6.0f64..6.0, other in -6.0f64..6.0, tau in 0.05f64..0.95) {
        check(Squared, z, y, other)?;
        check(Absolute, z, y, other)?;
        check(Huber { delta: 0.5 + tau }, z, y, other)?;
        check(Quantile { tau }, z, y, other)?;
        check(EpsilonInsensitive { epsilon: tau }, z, y, other)?;
        check(SquaredEpsilonInsensitive { epsilon: tau }, z, y, other)?;
        for y in [y.abs() + 0.01, 1e-3] {
            check(Poisson, z, y, other)?;
            check(Gamma, z, y, other)?;
            check(Tweedie { power: 1.0 + tau }, z, y, other)?;
            check_curvature(Poisson, z, y)?;
            check_curvature(Gamma, z, y)?;
            check_curvature(Tweedie { power: 1.0 + tau }, z, y)?;
        }
        check(Poisson, z, 0.0, other)?;
        check(Tweedie { power: 1.0 + tau }, z, 0.0, other)?;
        check_curvature(Logistic, z, y.signum())?;
        check_curvature(Exponential, z, y.signum())?;
        let median = Quantile { tau: 0.5 };
        prop_assert!((2.0 * median.value(z, y) - Absolute.value(z, y)).abs() < 1e-12);
    }
}

proptest! {
    #[test]
    fn best_constants_minimize_the_sum(rows in prop::collection::vec((-3.0f64..3.0, 0.1f64..2.0), 1..30), tau in 0.05f64..0.95) {
        let (y, w): (Vec<f64>, Vec<f64>) = rows.into_iter().unzip();
        check_constant(Squared, &y, &w)?;
        check_constant(Absolute, &y, &w)?;
        check_constant(Huber { delta: 0.5 + tau }, &y, &w)?;
        check_constant(Quantile { tau }, &y, &w)?;
        check_constant(EpsilonInsensitive { epsilon: tau }, &y, &w)?;
        check_constant(SquaredEpsilonInsensitive { epsilon: tau }, &y, &w)?;
        let positive: Vec<f64> = y.iter().map(|y| y + 3.01).collect();
        check_constant(Poisson, &positive, &w)?;
        check_constant(Gamma, &positive, &w)?;
        check_constant(Tweedie { power: 1.0 + tau }, &positive, &w)?;
        let mut signs: Vec<f64> = y.iter().map(|y| y.signum()).collect();
        signs.extend([-1.0, 1.0]);
        let w: Vec<f64> = w.into_iter().chain([0.5, 0.5]).collect();
        check_constant(Hinge, &signs, &w)?;
        check_constant(SquaredHinge, &signs, &w)?;
        check_constant(Logistic, &signs, &w)?;
        check_constant(Exponential, &signs, &w)?;
    }

    #[test]
    fn exact_steps_reach_the_minimum(
        targets in prop::collection::vec(prop_oneof![0.01f64..5.0, 100.0f64..1e3], 1..20), z in -2.0f64..2.0, power in 1.1f64..1.9,
    ) {
        fn check_step(loss: impl Loss, y: &[f64], z: f64) -> std::result::Result<(), TestCaseError> {
            let sums = |z: f64| y.iter().fold((0.0, 0.0), |s, &y| (s.0 + loss.gradient(z, y), s.1 + loss.curvature(z, y)));
            let (g, h) = sums(z);
            let step = loss.exact_step(-g / h).unwrap();
            prop_assume!(step.abs() < tweedie::LARGEST_STEP);
            let (slope, size) = sums(z + step);
            prop_assert!(slope.abs() <= 1e-6 * size, "{} at {step}: {slope} of {size}", loss.name());
            for share in [0.1, 0.9] {
                let shorter = loss.exact_step(-share * g / h).unwrap();
                prop_assert!(shorter * step >= 0.0 && shorter.abs() <= step.abs() + 1e-12);
            }
            Ok(())
        }
        check_step(Poisson, &targets, z)?;
        check_step(Gamma, &targets, z)?;
        check_step(Tweedie { power }, &targets, z)?;
    }
}

#[test]
fn poisson_and_gamma_are_the_limits_of_tweedie() {
    for (z, y) in [(0.3, 2.0), (-1.0, 0.5), (1.2, 7.0)] {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} {b}");
        close(Tweedie { power: 1.0 + 1e-7 }.gradient(z, y), Poisson.gradient(z, y));
        close(Tweedie { power: 2.0 - 1e-7 }.gradient(z, y), Gamma.gradient(z, y));
    }
}

#[test]
fn a_zero_target_costs_nothing_at_low_scores() {
    let loss = Tweedie { power: 1.5 };
    assert_eq!(loss.terms(-1e6, 0.0), [0.0, 0.0, 0.0]);
}

#[test]
fn links_map_the_best_constant_to_the_mean() {
    // The prediction at the best constant is the mean of the targets.
    let (y, signs) = ([0.5, 1.0, 4.5], [1.0, 1.0, -1.0]);
    let predict = |link: Link, z: f64| link.apply(vec![z], 1).pop().unwrap();
    for (link, z) in [(Poisson.link(), Poisson.best_constant(&y, None)), (Gamma.link(), Gamma.best_constant(&y, None))]
    {
        assert!((predict(link, z) - 2.0).abs() < 1e-12);
    }
    for (link, z) in [
        (Logistic.link(), Logistic.best_constant(&signs, None)),
        (Exponential.link(), Exponential.best_constant(&signs, None)),
    ] {
        assert!((predict(link, z) - 2.0 / 3.0).abs() < 1e-12);
    }
}

#[test]
fn conjugates_are_infinite_outside_the_range_of_the_gradient() {
    assert_eq!(Hinge.conjugate(0.5, 1.0), f64::INFINITY);
    assert_eq!(Logistic.conjugate(-1.5, 1.0), f64::INFINITY);
    assert_eq!(Logistic.conjugate(-1.0, 1.0), 0.0);
    assert_eq!(Exponential.conjugate(0.5, 1.0), f64::INFINITY);
    assert_eq!(SquaredHinge.conjugate(0.5, 1.0), f64::INFINITY);
    assert_eq!(Absolute.conjugate(1.1, 0.0), f64::INFINITY);
    assert_eq!(Huber { delta: 1.0 }.conjugate(-1.1, 0.0), f64::INFINITY);
    assert_eq!(Quantile { tau: 0.9 }.conjugate(0.2, 0.0), f64::INFINITY);
    assert_eq!(EpsilonInsensitive { epsilon: 0.1 }.conjugate(-1.1, 0.0), f64::INFINITY);
}

#[test]
fn the_logistic_loss_neither_overflows_nor_cancels() {
    assert_eq!(Logistic.value(-1e6, 1.0), 1e6);
    assert!(Logistic.value(40.0, 1.0) > 0.0);
    assert_eq!(Logistic.gradient(1e6, 1.0), 0.0);
    assert_eq!(Logistic.gradient(-1e6, 1.0), -1.0);
}
