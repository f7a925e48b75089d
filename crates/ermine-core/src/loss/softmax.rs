//! The multinomial logistic loss `ln sum_k exp(z_k) - z_y`: minus the log-likelihood of class `y` when the classes'
//! log-odds are `z`. Its gradient is `p - e_y` with the probabilities `p = softmax(z)`, its Hessian `diag(p) - p p'`.

use crate::linalg::lanes::{LANES, exp};

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

vectorised! {
    /// Rows of `width` margins (a multiple of eight; those beyond the classes are minus infinity) become the probabilities of the classes; `ln sum_k exp(z_k)` of each row goes to `normalisers`.
    pub fn softmax_rows(z: &mut [f64], width: usize, normalisers: &mut [f64]) {
        for (row, top) in z.chunks_exact_mut(width).zip(normalisers.iter_mut()) {
            let mut tops = [f64::NEG_INFINITY; LANES];
            for group in row.chunks_exact(LANES) {
                for l in 0..LANES {
                    tops[l] = if group[l] > tops[l] { group[l] } else { tops[l] };
                }
            }
            *top = tops.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            row.iter_mut().for_each(|z| *z -= *top);
        }
        // All rows in one loop: it is long enough to be vectorised well.
        z.iter_mut().for_each(|z| *z = exp(*z));
        for (row, normaliser) in z.chunks_exact_mut(width).zip(normalisers) {
            let mut sums = [0.0; LANES];
            for group in row.chunks_exact(LANES) {
                for l in 0..LANES {
                    sums[l] += group[l];
                }
            }
            let sum: f64 = sums.iter().sum();
            let inverse = 1.0 / sum;
            row.iter_mut().for_each(|p| *p *= inverse);
            *normaliser += sum.ln();
        }
    }
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
        fn many_rows_at_once_are_one_after_the_other(z in prop::collection::vec(-800.0f64..800.0, 0..40), classes in 1usize..12) {
            let (n, width) = (z.len() / classes, classes.next_multiple_of(LANES));
            let mut rows: Vec<f64> = (0..n * width)
                .map(|i| if i % width < classes { z[i / width * classes + i % width] } else { f64::NEG_INFINITY })
                .collect();
            let mut normalisers = vec![0.0; n];
            softmax_rows(&mut rows, width, &mut normalisers);
            for i in 0..n {
                let mut row = z[i * classes..(i + 1) * classes].to_vec();
                let normaliser = softmax(&mut row);
                prop_assert!((normaliser - normalisers[i]).abs() <= 1e-12 * normaliser.abs().max(1.0));
                for k in 0..width {
                    let truth = row.get(k).copied().unwrap_or(0.0);
                    prop_assert!((rows[i * width + k] - truth).abs() <= 1e-14);
                }
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
