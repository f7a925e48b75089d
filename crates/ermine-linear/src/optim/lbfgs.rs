//! Limited-memory curvature: an approximation of the inverse Hessian from the last few steps and gradient changes, on top
//! of a base that is solved exactly (a factorization, or a diagonal).
//!
//! **Formula.** For pairs `s = w' - w`, `v = g' - g` the update `H' = (I - r s v') H (I - r v s') + r s s'`, `r = 1 / s'v`, is
//! applied from the newest to the oldest pair and back (the two-loop recursion), with the base in the middle. With a
//! factored Hessian of a nearby point as the base, each gradient corrects what has changed since.
//!
//! **Cost.** `4 m p` per direction for `m` pairs, besides the base.
//!
//! **Reference.** Nocedal and Wright, "Numerical Optimization", algorithm 7.4.

use ermine_core::linalg::lanes::{axpy, dot};
use std::collections::VecDeque;

/// The last steps and gradient changes.
#[derive(Debug, Clone)]
pub struct CurvatureMemory {
    capacity: usize,
    pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
}

impl CurvatureMemory {
    /// A memory of at most `capacity` pairs.
    pub fn new(capacity: usize) -> Self {
        CurvatureMemory { capacity, pairs: VecDeque::new() }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }

    /// How many pairs are held.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether no pair is held.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Keeps a step with its gradient change, if there was curvature along it.
    pub fn push(&mut self, step: Vec<f64>, change: Vec<f64>) {
        let curvature = dot(&step, &change);
        if curvature > 1e-14 * (dot(&step, &step) * dot(&change, &change)).sqrt() {
            if self.pairs.len() == self.capacity {
                self.pairs.pop_front();
            }
            self.pairs.push_back((step, change, curvature));
        }
    }

    /// `H g`, where `base` applies the inverse of the base Hessian in place.
    pub fn apply(&self, g: &[f64], base: impl FnOnce(&mut Vec<f64>)) -> Vec<f64> {
        let mut q = g.to_vec();
        let mut along = Vec::with_capacity(self.pairs.len());
        for (step, change, curvature) in self.pairs.iter().rev() {
            let a = dot(step, &q) / curvature;
            axpy(-a, change, &mut q);
            along.push(a);
        }
        base(&mut q);
        for ((step, change, curvature), a) in self.pairs.iter().zip(along.into_iter().rev()) {
            let b = dot(change, &q) / curvature;
            axpy(a - b, step, &mut q);
        }
        q
    }

    /// The size of the newest curvature, `s'v / v'v`: the usual guess where the base is the identity.
    pub fn scale(&self) -> f64 {
        self.pairs.back().map_or(1.0, |(_, change, curvature)| curvature / dot(change, change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enough_pairs_reproduce_a_quadratic() {
        // H = diag(1, 4, 9): three independent steps along conjugate directions give the exact inverse.
        let mut memory = CurvatureMemory::new(5);
        for (j, h) in [1.0, 4.0, 9.0].into_iter().enumerate() {
            let (mut s, mut v) = (vec![0.0; 3], vec![0.0; 3]);
            (s[j], v[j]) = (0.5, 0.5 * h);
            memory.push(s, v);
        }
        let direction = memory.apply(&[1.0, 4.0, 9.0], |_| {});
        assert!(direction.iter().all(|d| (d - 1.0).abs() < 1e-12), "{direction:?}");
        memory.push(vec![1.0, 0.0, 0.0], vec![-1.0, 0.0, 0.0]);
        assert_eq!(memory.len(), 3, "a step without curvature is not kept");
    }
}
