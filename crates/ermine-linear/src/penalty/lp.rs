//! Lp: `lambda abs(w)^p / p` for `p >= 1`. Between 1 and 2 it penalizes small coefficients more than L2, above 2
//! large ones. The proximal step solves `w + t w^(p-1) = v` for `w >= 0`, which has one root.

use super::l1;

/// `lambda abs(w)^p / p`.
pub fn value(lambda: f64, p: f64, w: f64) -> f64 {
    lambda * w.abs().powf(p) / p
}

/// `lambda abs(w)^(p-1) sign(w)`.
#[inline(always)]
pub fn gradient(lambda: f64, p: f64, w: f64) -> f64 {
    if w == 0.0 { 0.0 } else { (lambda * w.abs().powf(p - 1.0)).copysign(w) }
}

/// `argmin_w (w - v)^2 / 2 + strength abs(w)^p / p`.
pub fn prox(strength: f64, p: f64, v: f64) -> f64 {
    if p == 1.0 || v == 0.0 {
        return l1::prox(strength, v);
    }
    // The left side of w + t w^(p-1) = |v| rises with w, so the root lies between 0 and |v|: Newton's method, held
    // inside a bracket that shrinks with every step.
    let (target, mut low, mut high) = (v.abs(), 0.0, v.abs());
    let mut w = target / (1.0 + strength * target.powf(p - 2.0));
    // A root far below |v| (p near 1) takes many halvings before Newton's steps stay inside the bracket.
    for _ in 0..1200 {
        let power = strength * w.powf(p - 1.0);
        let excess = w + power - target;
        if excess > 0.0 {
            high = w
        } else {
            low = w
        }
        let newton = w - excess / (1.0 + (p - 1.0) * power / w);
        let next = if newton > low && newton < high { newton } else { (low + high) / 2.0 };
        if (next - w).abs() <= 1e-15 * w || next == 0.0 {
            w = next;
            break;
        }
        w = next;
    }
    w.copysign(v)
}

/// `lambda^(1-q) abs(u)^q / q` with `1/p + 1/q = 1`.
pub fn conjugate(lambda: f64, p: f64, u: f64) -> f64 {
    if p == 1.0 {
        return l1::conjugate(lambda, u);
    }
    let q = p / (p - 1.0);
    if u == 0.0 { 0.0 } else { lambda * (u.abs() / lambda).powf(q) / q }
}

/// The norm of power `q` with `1/p + 1/q = 1`.
pub fn dual_norm(p: f64, u: &[f64]) -> f64 {
    let top = u.iter().fold(0.0f64, |m, u| m.max(u.abs()));
    if p == 1.0 || top == 0.0 {
        return top;
    }
    let q = p / (p - 1.0);
    top * u.iter().map(|u| (u.abs() / top).powf(q)).sum::<f64>().powf(1.0 / q)
}
