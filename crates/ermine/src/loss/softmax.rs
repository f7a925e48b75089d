//! The multinomial logistic loss `ln sum_k exp(z_k) - z_y`: minus the log-likelihood of class `y` when the classes'
//! log-odds are `z`. Its gradient is `p - e_y` with the probabilities `p = softmax(z)`, its Hessian `diag(p) - p p'`.

use crate::linalg::lanes::exp;

/// Replaces the margins of one row by the probabilities of the classes and returns `ln sum_k exp(z_k)`.
pub fn softmax(z: &mut [f64]) -> f64 {
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut sum = 0.0;
    for z in z.iter_mut() {
        *z = exp(*z - top);
        sum += *z;
    }
    let inverse = 1.0 / sum;
    z.iter_mut().for_each(|p| *p *= inverse);
    top + sum.ln()
}

/// The loss of one row: `ln sum_k exp(z_k) - z_y`.
pub fn value(z: &[f64], y: usize) -> f64 {
    let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum: f64 = z.iter().map(|z| exp(z - top)).sum();
    top - z[y] + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Logistic, Loss};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_gradient_is_that_of_finite_differences(z in prop::collection::vec(-20.0f64..20.0, 2..6), which in 0usize..100) {
            let y = which % z.len();
            let mut p = z.clone();
            let normaliser = softmax(&mut p);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            prop_assert!((normaliser - z[y] - value(&z, y)).abs() < 1e-12);
            for k in 0..z.len() {
                let shifted = |h: f64| {
                    let mut z = z.clone();
                    z[k] += h;
                    value(&z, y)
                };
                let slope = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
                let gradient = p[k] - if k == y { 1.0 } else { 0.0 };
                prop_assert!((slope - gradient).abs() < 1e-7);
            }
        }

        #[test]
        fn two_classes_are_the_logistic_loss(z in -30.0f64..30.0) {
            prop_assert!((value(&[0.0, z], 1) - Logistic.value(z, 1.0)).abs() < 1e-13);
            prop_assert!((value(&[0.0, z], 0) - Logistic.value(z, -1.0)).abs() < 1e-13);
        }
    }

    #[test]
    fn large_margins_do_not_overflow() {
        let mut z = [1e6, 0.0, -1e6];
        assert_eq!(softmax(&mut z), 1e6);
        assert_eq!(z, [1.0, 0.0, 0.0]);
    }
}
