//! Tails of Student's t and Fisher's F distributions, for the p values of coefficients.
//!
//! **Formula.** With the regularised incomplete beta function `I_x(a, b)`: `P(|T| > t) = I_x(v/2, 1/2)` at `x = v / (v + t^2)`, and
//! `P(F > f) = I_x(v2/2, v1/2)` at `x = v2 / (v2 + v1 f)`. `I` is a continued fraction, evaluated by Lentz's method.
//!
//! **Reference.** Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.5.8 and 26.7.1; Lanczos (1964) for the gamma function.

/// The probability that a t value of `freedom` degrees is larger than `t`, whatever its sign.
pub fn t_tail(t: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// The probability that an F value of `above` and `below` degrees is larger than `f`.
pub fn f_tail(f: f64, above: f64, below: f64) -> f64 {
    incomplete_beta(below / (below + above * f.max(0.0)), below / 2.0, above / 2.0)
}

/// `I_x(a, b)`.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x.is_nan() || a.is_nan() || b.is_nan() || a <= 0.0 || b <= 0.0 {
        return f64::NAN;
    }
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    // The fraction converges fast on the near side of the mean; the other side follows by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    (front.exp() / a * continued_fraction(x, a, b)).clamp(0.0, 1.0)
}

fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            factor *= c * d;
        }
        value *= factor;
        if (factor - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for positive numbers.
fn ln_gamma(x: f64) -> f64 {
    const SERIES: [f64; 9] = [
        0.999_999_999_999_809_9,
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        let pi = std::f64::consts::PI;
        return (pi / (pi * x).sin()).ln() - ln_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let sum = SERIES[1..].iter().enumerate().fold(SERIES[0], |sum, (i, c)| sum + c / (x + 1.0 + i as f64));
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exact closed forms: one degree is Cauchy, two degrees are algebraic; F with (2, v) degrees is a power.
    #[test]
    fn tails_are_those_of_closed_forms() {
        for t in [0.0f64, 0.1, 1.0, 2.5, 30.0] {
            let cauchy = 1.0 - 2.0 / std::f64::consts::PI * t.atan();
            assert!((t_tail(t, 1.0) - cauchy).abs() < 1e-13, "{t}");
            let two = 1.0 - t / (2.0 + t * t).sqrt();
            assert!((t_tail(t, 2.0) - two).abs() < 1e-13, "{t}");
            assert!((f_tail(t, 2.0, 9.0) - (1.0 + 2.0 * t / 9.0f64).powf(-4.5)).abs() < 1e-13, "{t}");
            assert!((t_tail(t, 7.0) - f_tail(t * t, 1.0, 7.0)).abs() < 1e-13, "t squared is F");
        }
        // Far out the tail is the normal one: P(|Z| > 1.96) = 0.0499957902964409.
        assert!((t_tail(1.96, 1e6) - 0.049_995_790_296_440_9).abs() < 1e-6);
        assert!(t_tail(1e200, 5.0) >= 0.0 && t_tail(f64::NAN, 5.0).is_nan() && t_tail(1.0, 0.0).is_nan());
    }
}
