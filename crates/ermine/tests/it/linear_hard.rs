//! Linear models on hard data: units and means of any size, exact fits, dependent columns, weights, steps that are too long.

use crate::linear::{classes, draw, learner, numbers, train};
use ermine::prelude::*;
use ermine_core::learner::fit;
use ermine_core::model::{Proof, Status};
use proptest::prelude::*;

/// The proven bound of a certificate.
fn bound(model: &Model) -> f64 {
    let of = |proof: &Proof| if let Proof::LowerBound(bound) = proof { Some(*bound) } else { None };
    model.certificate().proofs.iter().find_map(of).unwrap_or_else(|| panic!("{}", model.certificate()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// The units of columns change nothing about a linear programme: neither its optimum nor that it is proven.
    #[test]
    fn linear_programs_do_not_depend_on_units(
        seed in 0u64..1000,
        powers in proptest::collection::vec(-12i32..=12, 4),
        ties: bool,
        alpha in prop_oneof![Just("0"), Just("0.05")],
    ) {
        let mut rows = draw(40, 4, seed);
        if ties {
            rows.iter_mut().flatten().for_each(|x| *x = (2.0 * *x).round());
        }
        let noise = draw(40, 1, seed + 1);
        let y: Vec<f64> = (0..40).map(|i| rows[i][0] - rows[i][1] + noise[i][0]).collect();
        let factor = |j: usize| 10f64.powi(powers[j]);
        let scaled: Vec<Vec<f64>> = rows.iter().map(|r| r.iter().enumerate().map(|(j, x)| x * factor(j)).collect()).collect();
        for quantile in ["0.5", "0.9"] {
            let params = [("alpha", "0"), ("quantile", quantile)];
            let [plain, other] = [&rows, &scaled].map(|rows| train("quantile-regression", &params, &numbers(rows, &y)));
            let (a, b) = (plain.certificate().value.unwrap(), other.certificate().value.unwrap());
            prop_assert!((a - b).abs() <= 1e-7 * a, "{a} {b}");
            prop_assert_eq!(&other.certificate().status, &Status::Done);
            prop_assert!(b - bound(&other) <= 1e-8 * b);
            // A penalty is in the user's units; its proof must hold in any.
            let penalised = train("quantile-regression", &[("alpha", alpha), ("quantile", quantile)], &numbers(&scaled, &y));
            let value = penalised.certificate().value.unwrap();
            prop_assert!(penalised.certificate().status == Status::Done && value - bound(&penalised) <= 1e-8 * value, "{}", penalised.certificate());
        }
        let codes: Vec<usize> = y.iter().map(|y| usize::from(*y > 0.0)).collect();
        prop_assume!(codes.contains(&0) && codes.contains(&1));
        let [plain, other] = [&rows, &scaled].map(|rows| train("halfspace", &[], &classes(rows, &codes)));
        let (a, b) = (plain.certificate().value.unwrap(), other.certificate().value.unwrap());
        prop_assert!((a - b).abs() <= 1e-6 * a, "{} {}", plain.certificate(), other.certificate());
    }

    /// The gap of any loss under an Lp penalty closes, and no point is below the bound.
    #[test]
    fn penalties_of_any_power_have_a_gap(seed in 0u64..1000, p in 1.1f64..4.0, alpha in 0.01f64..0.5) {
        let rows = draw(80, 3, seed);
        let codes: Vec<usize> = rows.iter().map(|r| usize::from(r[0] + 0.5 * r[1] * r[2] > 0.0)).collect();
        prop_assume!(codes.contains(&0) && codes.contains(&1));
        let (power, strength) = (p.to_string(), alpha.to_string());
        let params = [("loss", "log_loss"), ("penalty", "lp"), ("p", &power), ("alpha", &strength), ("tol", "1e-9"), ("max_iter", "20000")];
        let data = classes(&rows, &codes);
        let best = train("gradient-descent", &params, &data);
        let value = best.certificate().value.unwrap();
        prop_assert!(value - bound(&best) <= 1e-4 * value, "{}", best.certificate());
        let rough = train("gradient-descent", &[&params[..4], &[("max_iter", "3")]].concat(), &data);
        prop_assert!(bound(&rough) <= value * (1.0 + 1e-9) && bound(&rough) >= 0.0, "{}", rough.certificate());
    }

    /// Where there is an intercept, the means of columns change no prediction.
    #[test]
    fn column_means_do_not_change_the_fit(seed in 0u64..1000, power in 0i32..8) {
        let rows = draw(60, 3, seed);
        let shift = 10f64.powi(power);
        let moved: Vec<Vec<f64>> = rows.iter().map(|r| vec![r[0] + shift, r[1], r[2] - shift]).collect();
        let codes: Vec<usize> = rows.iter().map(|r| usize::from(r[0] + r[1] * r[2] > 0.0)).collect();
        prop_assume!(codes.contains(&0) && codes.contains(&1));
        let three: Vec<usize> = (0..60).map(|i| codes[i] + usize::from(rows[i][1] > 0.3)).collect();
        type Job<'a> = (&'a str, &'a [(&'a str, &'a str)], [Dataset; 2]);
        let jobs: [Job<'_>; 3] = [
            ("logistic-regression", &[], [&rows, &moved].map(|rows| classes(rows, &codes))),
            ("logistic-regression", &[("l1_ratio", "1")], [&rows, &moved].map(|rows| classes(rows, &codes))),
            ("logistic-regression", &[], [&rows, &moved].map(|rows| classes(rows, &three))),
        ];
        for (name, params, data) in jobs {
            let [a, b] = data.each_ref().map(|data| train(name, params, data));
            prop_assert_eq!(&b.certificate().status, &Status::Done, "{} {:?}", name, params);
            let (x, y) = (a.certificate().value.unwrap(), b.certificate().value.unwrap());
            // Adding a large number costs digits of the columns themselves.
            prop_assert!((x - y).abs() <= (1e-8 + 1e-14 * shift) * x, "{name} {params:?}: {x} {y}");
        }
    }
}

#[test]
fn stochastic_steps_adapt_to_the_scale_of_columns() {
    let base = draw(300, 3, 8);
    let rows: Vec<Vec<f64>> = base.iter().map(|r| vec![r[0], 1000.0 + 100.0 * r[1], 1e-6 * r[2]]).collect();
    let y: Vec<f64> = base.iter().map(|r| 2.0 * r[0] + r[1] - r[2]).collect();
    let codes: Vec<usize> = y.iter().map(|y| usize::from(*y > 0.0)).collect();
    let model = train("sgd", &[], &numbers(&rows, &y));
    assert_eq!(model.certificate().status, Status::Done, "{}", model.certificate());
    let said = model.predict_data(&numbers(&rows, &y)).unwrap();
    let off: f64 = said.values().iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum();
    assert!(off < 0.02 * y.iter().map(|y| y * y).sum::<f64>(), "{off}");
    for name in ["sgd", "perceptron"] {
        let data = classes(&rows, &codes);
        let said = train(name, &[], &data).predict_data(&data).unwrap();
        assert!((0..300).filter(|&i| said.class(i) == codes[i]).count() > 280, "{name}");
    }
    // Steps that are too long for the columns as they are end in a status that says so.
    let lost = train("sgd", &[("standardize", "false")], &numbers(&rows, &y));
    assert!(matches!(&lost.certificate().status, Status::Limit(why) if why.contains("eta0")), "{}", lost.certificate());
}

#[test]
fn dependent_columns_of_any_size_are_fitted_as_well_as_they_can_be() {
    for reach in [1.0, 10.0, 1000.0] {
        let rows: Vec<Vec<f64>> = (0..200).map(|i| vec![reach * (i as f64 / 99.5 - 1.0)]).collect();
        let y: Vec<f64> = rows.iter().map(|r| (5.0 * r[0] / reach).sin()).collect();
        let data = numbers(&rows, &y);
        let model = train("linear-regression", &[("degree", "50")], &data);
        let said = model.predict_data(&data).unwrap();
        let off: f64 = said.values().iter().zip(&y).map(|(a, b)| (a - b).powi(2)).sum();
        assert!(off < 1e-12, "{reach}: {off} {}", model.certificate());
    }
    // Numbers so small that their products vanish are no constants.
    let rows: Vec<Vec<f64>> = draw(30, 2, 5).iter().map(|r| vec![r[0] * 1e-200, r[1]]).collect();
    let y: Vec<f64> = (0..30).map(f64::from).collect();
    for name in ["linear-regression", "least-absolute-deviations"] {
        let refused = fit(&*learner(name, &[]), &numbers(&rows, &y), &ermine::context()).unwrap_err().to_string();
        assert!(refused.contains("column 1"), "{refused}");
    }
    let constant: Vec<Vec<f64>> = rows.iter().map(|r| vec![1e-200, r[1]]).collect();
    assert!(fit(&*learner("linear-regression", &[]), &numbers(&constant, &y), &ermine::context()).is_ok());
}

#[test]
fn exact_fits_are_optimal() {
    let rows = draw(30, 3, 6);
    for y in [vec![4.0; 30], rows.iter().map(|r| 1.0 + r[0] - 2.0 * r[2]).collect()] {
        for name in ["least-absolute-deviations", "huber-regression"] {
            let model = train(name, &[], &numbers(&rows, &y));
            let certificate = model.certificate();
            let penalised = if name == "huber-regression" { 1e-3 } else { 1e-12 };
            assert!(certificate.value.unwrap() <= penalised && bound(&model) >= 0.0, "{certificate}");
            assert!(name == "huber-regression" || certificate.status == Status::Done, "{name}: {certificate}");
        }
    }
}

#[test]
fn weights_enter_the_bound_of_mistakes() {
    for seed in 0..10 {
        let rows = draw(40, 2, 50 + seed);
        let codes: Vec<usize> = rows.iter().map(|r| usize::from(r[0] > 0.05)).collect();
        let weight: Vec<f64> = (0..40).map(|i| if i % 5 == 0 { 8.0 } else { 0.5 }).collect();
        let data = classes(&rows, &codes).with_weight(Some(weight)).unwrap();
        let model = train("perceptron", &[("n_iter_no_change", "none"), ("max_iter", "100000")], &data);
        let bound = model.certificate().proofs.iter().find_map(|p| match p {
            Proof::Bound { what, bound, observed } => Some((what.clone(), *bound, *observed)),
            _ => None,
        });
        let (what, bound, observed) = bound.unwrap_or_else(|| panic!("{}", model.certificate()));
        assert!(what.contains("16.000000^2") && observed <= bound, "{what}: {observed} of {bound}");
    }
}
