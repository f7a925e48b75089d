//! Gradient and curvature of a row as whole numbers, so that their sums are exact.
//!
//! **Idea.** A row's gradient g and curvature h >= 0 are rounded to multiples of two quanta and packed into one 64-bit word, g above h: adding words adds
//! both sums at once. How many bits each gets follows from the number of rows n, so that no sum can run over: with L = ceil(log2(n + 1)),
//!
//! ```text
//! |g| < 2^b_g, 0 <= h < 2^b_h,  b_h + L bits hold the sum of h,  1 + b_g + L bits that of g,  2 L + b_g + b_h <= 63
//! ```
//! A constant curvature is the number of rows and takes b_h = 1. Where rows are so many, or gradients so uneven (a few outliers set the
//! quantum), that an average gradient would be less than `COARSEST` quanta, a row takes two words, one for each, and 50 bits hold either sum.
//!
//! **Reference.** Shi et al., Quantized Training of Gradient Boosting Decision Trees, 2022 (there: a few bits, rounded at random).

/// An average gradient or curvature must be at least this many quanta, or rows take two words.
const COARSEST: f64 = 32.0;

/// Bits that hold any sum: sums are turned into `f64` by a trick that needs them below 2^51.
const SUM_BITS: u32 = 50;

/// How gradients and curvatures become whole numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Quanta for one unit of gradient.
    pub gradient: f64,
    /// Quanta for one unit of curvature.
    pub curvature: f64,
    /// How far the gradient is shifted up in a packed word; 0 where rows take two words.
    pub shift: u32,
}

/// The size of the gradients and curvatures of some rows.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Extent {
    /// The largest gradient, without its sign.
    pub max_gradient: f64,
    /// The largest curvature.
    pub max_curvature: f64,
    /// The sum of the gradients without their signs.
    pub sum_gradient: f64,
    /// The sum of the curvatures.
    pub sum_curvature: f64,
}

impl Extent {
    /// The extent of these rows.
    pub fn of(gradient: &[f32], curvature: &[f32]) -> Extent {
        let mut extent = Extent::default();
        measure(gradient, curvature, &mut extent);
        extent
    }

    /// The extent of the rows of both.
    pub fn with(self, other: Extent) -> Extent {
        Extent {
            max_gradient: self.max_gradient.max(other.max_gradient),
            max_curvature: self.max_curvature.max(other.max_curvature),
            sum_gradient: self.sum_gradient + other.sum_gradient,
            sum_curvature: self.sum_curvature + other.sum_curvature,
        }
    }
}

ermine_core::versions! {
    fn measure(gradient: &[f32], curvature: &[f32], extent: &mut Extent) {
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
        *extent = Extent {
            max_gradient: most(max_g),
            max_curvature: most(max_h),
            sum_gradient: sum_g.iter().sum(),
            sum_curvature: sum_h.iter().sum(),
        };
    }
}

impl Scale {
    /// The scale for `n` rows with this extent. `constant`: all curvatures are the same; `exact`: two words in any case.
    pub fn new(n: usize, extent: &Extent, constant: bool, exact: bool) -> Scale {
        let rows = usize::BITS - n.leading_zeros();
        let free = 63u32.saturating_sub(2 * rows);
        let curvature_bits = if constant { 1 } else { (free * 4 / 9).min(SUM_BITS - rows) };
        let gradient_bits = free.saturating_sub(curvature_bits).min(SUM_BITS - rows);
        let shift = rows + curvature_bits;
        let fits = |bits: u32, max: f64| if max > 0.0 { ((1u64 << bits) - 1) as f64 / max } else { 1.0 };
        let mut scale = Scale {
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
            scale = Scale {
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

    /// The sums that a word, or a pair of words, stands for, in quanta.
    #[inline(always)]
    pub fn unpack<const W: usize>(&self, word: [i64; W]) -> (f64, f64) {
        unpack(word, self.shift)
    }
}

/// A whole number below 2^51 as a floating-point number, without the instruction that only AVX-512 has for a whole register.
#[inline(always)]
pub fn float(x: i64) -> f64 {
    const BIAS: f64 = 6_755_399_441_055_744.0;
    f64::from_bits((BIAS.to_bits() as i64).wrapping_add(x) as u64) - BIAS
}

/// Gradient and curvature, in quanta, out of a word or a pair of words.
#[inline(always)]
pub fn unpack<const W: usize>(word: [i64; W], shift: u32) -> (f64, f64) {
    if W == 1 {
        (float(word[0] >> shift), float(word[0] & ((1 << shift) - 1)))
    } else {
        (float(word[0]), float(word[W - 1]))
    }
}

ermine_core::versions! {
    /// Turns gradients and curvatures into words, `W` for each row.
    pub fn quantise<const W: usize>(scale: Scale, gradient: &[f32], curvature: &[f32], words: &mut [[i64; W]]) {
        // As in `exp`: adding and subtracting rounds to the nearest whole number and leaves it in the low bits.
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
        fn sums_come_back_and_never_run_over(n in 1usize..2000, pretend in 0u32..12, outlier in prop_oneof![Just(1.0f32), 1.0f32..1e8], constant: bool) {
            // Every row at the extreme is the worst case; `pretend` scales as if there were 2^pretend times as many rows.
            let mut rng = ermine_core::rng::stream(n as u64, &[]);
            let mut unit = || ermine_core::rng::below(&mut rng, 2001) as f32 / 1000.0 - 1.0;
            let mut g: Vec<f32> = (0..n).map(|_| unit()).collect();
            g[0] = -outlier;
            let h: Vec<f32> = (0..n).map(|_| if constant { 1.0 } else { unit().abs() }).collect();
            let extent = Extent::of(&g, &h);
            let scale = Scale::new(n << pretend, &extent, constant, false);
            let sums = if scale.is_wide() { total::<2>(scale, &g, &h) } else { total::<1>(scale, &g, &h) };
            let exact = |v: &[f32]| v.iter().map(|&x| f64::from(x)).sum::<f64>();
            prop_assert!((sums.0 / scale.gradient - exact(&g)).abs() <= 0.5001 * n as f64 / scale.gradient);
            prop_assert!((sums.1 / scale.curvature - exact(&h)).abs() <= 0.5001 * n as f64 / scale.curvature);
            if constant && !scale.is_wide() { prop_assert_eq!(sums.1, n as f64); }
            // The worst case: all rows at the extreme.
            let rows = (n << pretend) as f64;
            if !scale.is_wide() {
                prop_assert!(rows * (extent.max_curvature * scale.curvature).round() < f64::from(scale.shift).exp2());
                prop_assert!(rows * (extent.max_gradient * scale.gradient).round() < f64::from(63 - scale.shift).exp2());
            }
            prop_assert!(rows * (extent.max_gradient * scale.gradient).round() < 2f64.powi(51));
        }

        #[test]
        fn the_trick_converts_exactly(x in -(1i64 << 50)..(1i64 << 50)) {
            prop_assert_eq!(float(x), x as f64);
        }
    }

    fn total<const W: usize>(scale: Scale, g: &[f32], h: &[f32]) -> (f64, f64) {
        let mut words = vec![[0; W]; g.len()];
        quantise(scale, g, h, &mut words);
        let mut sum = [0; W];
        words.iter().for_each(|w| sum.iter_mut().zip(w).for_each(|(s, w)| *s += w));
        scale.unpack(sum)
    }
}
