//! Gradients and curvatures as integers, so that sums are exact.
//!
//! **Idea.** A row's gradient g and curvature h >= 0 are rounded to multiples of two quanta and packed into a 64-bit word, g above h: adding words adds both sums at once. The number of bits
//! is chosen such that no sum of n rows can overflow: with L = ceil(log2(n + 1)),
//!
//! ```text
//! |g| < 2^b_g, 0 <= h < 2^b_h,  b_h + L bits hold the sum of h,  1 + b_g + L bits that of g,  2 L + b_g + b_h <= 63
//! ```
//! A constant curvature is the number of rows and takes b_h = 1. If there are so many rows, or the gradients are so uneven, that the mean gradient would be less than `COARSEST` quanta, a row
//! takes two words, and either sum has 50 bits.
//!
//! **Reference.** Shi et al., Quantized Training of Gradient Boosting Decision Trees, 2022 (with fewer bits and stochastic rounding).

/// Minimum mean gradient and curvature in quanta; below it, rows take two words.
const COARSEST: f64 = 32.0;

/// Bits of a sum: sums must be below 2^51 for fast conversion to `f64`.
const SUM_BITS: u32 = 50;

/// The scale of quantized gradients and curvatures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradientScale {
    /// Quanta per unit of gradient.
    pub gradient: f64,
    /// Quanta per unit of curvature.
    pub curvature: f64,
    /// Bit position of the gradient in a packed word; 0 if rows take two words.
    pub shift: u32,
}

/// Ranges and sums of gradients and curvatures.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GradientExtent {
    /// The largest absolute gradient.
    pub max_gradient: f64,
    /// The largest curvature.
    pub max_curvature: f64,
    /// The sum of the absolute gradients.
    pub sum_gradient: f64,
    /// The sum of the curvatures.
    pub sum_curvature: f64,
}

impl GradientExtent {
    /// Computes the extent of some rows.
    pub fn of(gradient: &[f32], curvature: &[f32]) -> GradientExtent {
        let mut extent = GradientExtent::default();
        measure(gradient, curvature, &mut extent);
        extent
    }

    /// Combines two extents.
    pub fn with(self, other: GradientExtent) -> GradientExtent {
        GradientExtent {
            max_gradient: self.max_gradient.max(other.max_gradient),
            max_curvature: self.max_curvature.max(other.max_curvature),
            sum_gradient: self.sum_gradient + other.sum_gradient,
            sum_curvature: self.sum_curvature + other.sum_curvature,
        }
    }
}

ermine_core::versions! {
    fn measure(gradient: &[f32], curvature: &[f32], extent: &mut GradientExtent) {
        const LANES: usize = 16;
        let (mut max_g, mut max_h) = ([0.0f32; LANES], [0.0f32; LANES]);
        let (mut sum_g, mut sum_h) = ([0.0f64; LANES], [0.0f64; LANES]);
        for (g, h) in gradient.chunks(LANES).zip(curvature.chunks(LANES)) {
            for (l, (&g, &h)) in g.iter().zip(h).enumerate() {
                let size = g.abs();
                max_g[l] = if size > max_g[l] { size } else { max_g[l] };
                max_h[l] = if h > max_h[l] { h } else { max_h[l] };
                sum_g[l] += f64::from(size);
                sum_h[l] += f64::from(h);
            }
        }
        let most = |lanes: [f32; LANES]| f64::from(lanes.into_iter().fold(0.0, f32::max));
        *extent = GradientExtent {
            max_gradient: most(max_g),
            max_curvature: most(max_h),
            sum_gradient: sum_g.iter().sum(),
            sum_curvature: sum_h.iter().sum(),
        };
    }
}

impl GradientScale {
    /// The scale for `n` rows with this extent. `constant`: all curvatures are equal; `exact`: always use two words.
    pub fn new(n: usize, extent: &GradientExtent, constant: bool, exact: bool) -> GradientScale {
        let rows = usize::BITS - n.leading_zeros();
        let free = 63u32.saturating_sub(2 * rows);
        let curvature_bits = if constant { 1 } else { (free * 4 / 9).min(SUM_BITS - rows) };
        let gradient_bits = free.saturating_sub(curvature_bits).min(SUM_BITS - rows);
        let shift = rows + curvature_bits;
        let fits = |bits: u32, max: f64| if max > 0.0 { ((1u64 << bits) - 1) as f64 / max } else { 1.0 };
        let mut scale = GradientScale {
            gradient: fits(gradient_bits, extent.max_gradient),
            curvature: fits(curvature_bits, extent.max_curvature),
            shift,
        };
        let mean = |sum: f64| sum / n as f64;
        let coarse = |quanta: f64, max: f64| max > 0.0 && quanta < COARSEST;
        if exact
            || coarse(mean(extent.sum_gradient) * scale.gradient, extent.max_gradient)
            || (!constant && coarse(mean(extent.sum_curvature) * scale.curvature, extent.max_curvature))
        {
            let bits = (SUM_BITS - rows).min(40);
            scale = GradientScale {
                gradient: fits(bits, extent.max_gradient),
                curvature: fits(bits, extent.max_curvature),
                shift: 0,
            };
        }
        scale
    }

    /// Whether a row takes two words.
    pub fn is_wide(&self) -> bool {
        self.shift == 0
    }

    /// The sums in a word or pair of words, in quanta.
    #[inline(always)]
    pub fn unpack<const W: usize>(&self, word: [i64; W]) -> (f64, f64) {
        unpack(word, self.shift)
    }
}

/// Converts an integer below 2^51 to floating point without an AVX-512 instruction.
#[inline(always)]
pub fn float(x: i64) -> f64 {
    const BIAS: f64 = 6_755_399_441_055_744.0;
    f64::from_bits((BIAS.to_bits() as i64).wrapping_add(x) as u64) - BIAS
}

/// Unpacks gradient and curvature, in quanta.
#[inline(always)]
pub fn unpack<const W: usize>(word: [i64; W], shift: u32) -> (f64, f64) {
    if W == 1 {
        (float(word[0] >> shift), float(word[0] & ((1 << shift) - 1)))
    } else {
        (float(word[0]), float(word[W - 1]))
    }
}

ermine_core::versions! {
    /// Quantizes gradients and curvatures into `W` words per row.
    pub fn quantize<const W: usize>(scale: GradientScale, gradient: &[f32], curvature: &[f32], words: &mut [[i64; W]]) {
        // As in `exp`: adding and subtracting rounds to the nearest integer and leaves it in the low bits.
        const ROUND: f64 = 6_755_399_441_055_744.0;
        let whole = |x: f64| ((x + ROUND).to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64);
        for ((word, &g), &h) in words.iter_mut().zip(gradient).zip(curvature) {
            let (g, h) = (whole(f64::from(g) * scale.gradient), whole(f64::from(h) * scale.curvature));
            if W == 1 {
                word[0] = (g << scale.shift) + h;
            } else {
                word[0] = g;
                word[W - 1] = h;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_round_trip_without_overflow(n in 1usize..2000, pretend in 0u32..12, outlier in prop_oneof![Just(1.0f32), 1.0f32..1e8], constant: bool) {
            // `pretend` scales as if there were 2^pretend times as many rows.
            let mut rng = ermine_core::rng::stream(n as u64, &[]);
            let mut unit = || ermine_core::rng::below(&mut rng, 2001) as f32 / 1000.0 - 1.0;
            let mut g: Vec<f32> = (0..n).map(|_| unit()).collect();
            g[0] = -outlier;
            let h: Vec<f32> = (0..n).map(|_| if constant { 1.0 } else { unit().abs() }).collect();
            let extent = GradientExtent::of(&g, &h);
            let scale = GradientScale::new(n << pretend, &extent, constant, false);
            let sums = if scale.is_wide() { total::<2>(scale, &g, &h) } else { total::<1>(scale, &g, &h) };
            let exact = |v: &[f32]| v.iter().map(|&x| f64::from(x)).sum::<f64>();
            prop_assert!((sums.0 / scale.gradient - exact(&g)).abs() <= 0.5001 * n as f64 / scale.gradient);
            prop_assert!((sums.1 / scale.curvature - exact(&h)).abs() <= 0.5001 * n as f64 / scale.curvature);
            if constant && !scale.is_wide() { prop_assert_eq!(sums.1, n as f64); }
            // The worst case: all rows are extreme.
            let rows = (n << pretend) as f64;
            if !scale.is_wide() {
                prop_assert!(rows * (extent.max_curvature * scale.curvature).round() < f64::from(scale.shift).exp2());
                prop_assert!(rows * (extent.max_gradient * scale.gradient).round() < f64::from(63 - scale.shift).exp2());
            }
            prop_assert!(rows * (extent.max_gradient * scale.gradient).round() < 2f64.powi(51));
        }

        #[test]
        fn conversion_is_exact(x in -(1i64 << 50)..(1i64 << 50)) {
            prop_assert_eq!(float(x), x as f64);
        }
    }

    fn total<const W: usize>(scale: GradientScale, g: &[f32], h: &[f32]) -> (f64, f64) {
        let mut words = vec![[0; W]; g.len()];
        quantize(scale, g, h, &mut words);
        let mut sum = [0; W];
        words.iter().for_each(|w| sum.iter_mut().zip(w).for_each(|(s, w)| *s += w));
        scale.unpack(sum)
    }
}
