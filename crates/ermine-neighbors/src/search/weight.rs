//! How much each neighbor counts.
//!
//! | weights | weight of a neighbor at distance d |
//! |---|---|
//! | uniform | 1 |
//! | distance | 1 / d (in parts of the nearest one's, so that none is infinite); a neighbor at distance 0 counts alone, together with others at distance 0 |
//! | kernel | `K(d / h)`, h a fixed width or the distance of the next neighbor after the k counted |
//! | a user's own | any function of the distances |
//!
//! Weights that are all zero (everything outside a kernel's reach) count as uniform.
//!
//! Reference: Dudani (1976), "The distance-weighted k-nearest-neighbor rule"; Hechenbichler and Schliep (2004), "Weighted
//! k-nearest-neighbor techniques and ordinal classification".

use ermine_core::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A user's own weights: from the distances of the neighbors, nearest first, to as many weights.
pub type CustomWeights = dyn Fn(&[f64]) -> Vec<f64> + Send + Sync;

/// The shape of a kernel, on [0, 1] except for the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KernelShape {
    /// `1 - u`
    Triangular,
    /// `1 - u^2`
    Epanechnikov,
    /// `(1 - u^2)^2`
    Biweight,
    /// `(1 - u^2)^3`
    Triweight,
    /// `(1 - u^3)^3`
    Tricube,
    /// `cos(pi u / 2)`
    Cosine,
    /// `exp(-u^2 / 2)`
    Gaussian,
}

impl KernelShape {
    fn at(self, u: f64) -> f64 {
        if self == KernelShape::Gaussian {
            return (-0.5 * u * u).exp();
        }
        if u >= 1.0 {
            return 0.0;
        }
        match self {
            KernelShape::Triangular => 1.0 - u,
            KernelShape::Epanechnikov => 1.0 - u * u,
            KernelShape::Biweight => (1.0 - u * u).powi(2),
            KernelShape::Triweight => (1.0 - u * u).powi(3),
            KernelShape::Tricube => (1.0 - u * u * u).powi(3),
            KernelShape::Cosine => (std::f64::consts::FRAC_PI_2 * u).cos(),
            KernelShape::Gaussian => 0.0,
        }
    }
}

/// How much each neighbor counts.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeighborWeights {
    /// All the same.
    #[default]
    Uniform,
    /// Inverse distance; an exact hit wins.
    Distance,
    /// A kernel of the distance.
    Kernel {
        /// Its shape.
        shape: KernelShape,
        /// Its width; without one, the distance of the next neighbor after those counted.
        width: Option<f64>,
    },
    /// A user's own. It can't be written to a file.
    #[serde(skip)]
    Own(Arc<CustomWeights>),
}

impl std::fmt::Debug for NeighborWeights {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NeighborWeights::Uniform => f.write_str("uniform"),
            NeighborWeights::Distance => f.write_str("distance"),
            NeighborWeights::Kernel { shape, width } => write!(f, "{shape:?} kernel of width {width:?}"),
            NeighborWeights::Own(_) => f.write_str("own"),
        }
    }
}

/// The weight of a neighbor at distance `d`, in parts of the weight of the nearest: with a hit, hits alone count.
pub(super) fn inverse_distance(nearest: f64, d: f64) -> f64 {
    if nearest == 0.0 || nearest.is_infinite() { f64::from(u8::from(d == nearest)) } else { nearest / d }
}

impl NeighborWeights {
    /// Whether the neighbor after the k counted must be known.
    pub fn needs_next(&self) -> bool {
        matches!(self, NeighborWeights::Kernel { width: None, .. })
    }

    /// An error if a kernel's width can't be used.
    pub fn check(&self) -> Result<()> {
        if let NeighborWeights::Kernel { width: Some(width), .. } = self
            && !(*width > 0.0 && width.is_finite())
        {
            return Err(Error::Param {
                owner: "kernel weights".into(),
                name: "width".into(),
                value: width.to_string(),
                allowed: "a number above 0".into(),
            });
        }
        Ok(())
    }

    /// Writes the weights of neighbors at `distances` (nearest first) to `out`. `next` is the distance of the neighbor after them.
    pub fn weigh(&self, distances: &[f64], next: Option<f64>, out: &mut Vec<f64>) -> Result<()> {
        out.clear();
        match self {
            NeighborWeights::Uniform => out.resize(distances.len(), 1.0),
            NeighborWeights::Distance => {
                out.extend(distances.iter().map(|&d| inverse_distance(distances[0], d)));
            }
            NeighborWeights::Kernel { shape, width } => {
                let width = width.or(next).or(distances.last().copied()).unwrap_or(0.0);
                out.extend(distances.iter().map(|d| if width > 0.0 { shape.at(d / width) } else { 1.0 }));
            }
            NeighborWeights::Own(own) => out.extend(own(distances)),
        }
        let ok = out.len() == distances.len() && out.iter().all(|w| *w >= 0.0 && w.is_finite());
        if !ok {
            return Err(Error::data(format!(
                "weights of {} neighbors: expected as many numbers, finite and 0 or more, but got {out:?}",
                distances.len()
            )));
        }
        if out.iter().all(|w| *w == 0.0) {
            out.fill(1.0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weigh(weights: &NeighborWeights, distances: &[f64], next: Option<f64>) -> Vec<f64> {
        let mut out = Vec::new();
        weights.weigh(distances, next, &mut out).unwrap();
        out
    }

    #[test]
    fn weights_match_hand_computed_values() {
        assert_eq!(weigh(&NeighborWeights::Uniform, &[0.0, 3.0], None), [1.0, 1.0]);
        assert_eq!(weigh(&NeighborWeights::Distance, &[0.5, 2.0], None), [1.0, 0.25]);
        assert_eq!(weigh(&NeighborWeights::Distance, &[1e-310, 2e-310, 1.0], None)[..2], [1.0, 0.5]);
        assert_eq!(weigh(&NeighborWeights::Distance, &[0.0, 0.0, 2.0], None), [1.0, 1.0, 0.0]);
        let kernel = |shape, width| NeighborWeights::Kernel { shape, width };
        assert_eq!(weigh(&kernel(KernelShape::Triangular, None), &[0.0, 1.0], Some(4.0)), [1.0, 0.75]);
        assert_eq!(weigh(&kernel(KernelShape::Epanechnikov, Some(2.0)), &[1.0, 2.0, 3.0], None), [0.75, 0.0, 0.0]);
        // everything outside the kernel, and everything in one place
        assert_eq!(weigh(&kernel(KernelShape::Tricube, Some(0.5)), &[1.0, 2.0], None), [1.0, 1.0]);
        assert_eq!(weigh(&kernel(KernelShape::Gaussian, None), &[0.0, 0.0], Some(0.0)), [1.0, 1.0]);
        assert!(kernel(KernelShape::Cosine, Some(0.0)).check().is_err());
        let own = NeighborWeights::Own(Arc::new(|d| d.iter().map(|d| d - 1.0).collect()));
        assert!(own.weigh(&[0.5], None, &mut Vec::new()).is_err());
        assert_eq!(weigh(&own, &[3.0], None), [2.0]);
    }
}
