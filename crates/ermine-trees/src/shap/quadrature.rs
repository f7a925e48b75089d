//! Gauss-Legendre quadrature on \[0, 1\]: with k points, the integral of every polynomial of degree up to 2k - 1 is exact.
//!
//! **Formula.** The points are the zeros of the Legendre polynomial P_k, found by Newton's method from a good guess; the weight of a point x on \[-1, 1\] is 2 / ((1 - x^2) P_k'(x)^2).
//! **Reference.** Golub and Welsch, Calculation of Gauss quadrature rules, 1969; Press and others, Numerical Recipes, section 4.6.

/// The points and their weights.
pub fn gauss_legendre(k: usize) -> Vec<(f64, f64)> {
    let point = |i: usize| {
        let mut x = (std::f64::consts::PI * (i as f64 + 0.75) / (k as f64 + 0.5)).cos();
        let mut slope = 1.0;
        // Newton's method doubles the digits with every step.
        for _ in 0..8 {
            let (p, d) = legendre(k, x);
            slope = d;
            x -= p / d;
        }
        ((1.0 + x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..k).map(point).collect()
}

/// The Legendre polynomial of degree k and its derivative at x.
fn legendre(k: usize, x: f64) -> (f64, f64) {
    let (mut before, mut p) = (0.0, 1.0);
    for j in 1..=k {
        let j = j as f64;
        (before, p) = (p, ((2.0 * j - 1.0) * x * p - (j - 1.0) * before) / j);
    }
    (p, k as f64 * (x * p - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_integrated_exactly() {
        for k in 1..40 {
            let points = gauss_legendre(k);
            for power in 0..2 * k as i32 {
                let sum: f64 = points.iter().map(|(x, w)| w * x.powi(power)).sum();
                let exact = 1.0 / (f64::from(power) + 1.0);
                assert!((sum - exact).abs() < 1e-14, "{k} points, x^{power}: {sum} is not {exact}");
            }
        }
    }
}
