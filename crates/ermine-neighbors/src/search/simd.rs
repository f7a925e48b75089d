//! One source, three instruction sets. A kernel is written once as a plain inlined function; [`versions!`] compiles it for
//! AVX-512, for AVX2 and for any machine, and calls the best one that this machine has.
//!
//! Filters may round differently in the three versions (only two of them fuse multiplication and addition): whatever
//! passes a filter is measured again by the one exact distance function, so the neighbours found are the same bits.

/// An instruction set that this machine has. Only [`Level::detect`] and [`Level::at_most`] make one, so holding a level is
/// proof that its instructions exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(Set);

/// The instruction sets that kernels are compiled for, poorest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Set {
    Plain,
    Avx2,
    Avx512,
}

impl Level {
    /// The best that this machine has (the answer is cached by the standard library).
    #[inline]
    pub(crate) fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                return Level(Set::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                return Level(Set::Avx2);
            }
        }
        Level(Set::Plain)
    }

    /// The best that this machine has, but no better than `set`.
    #[cfg(test)]
    pub(crate) fn at_most(set: Set) -> Level {
        Level(Level::detect().0.min(set))
    }

    /// Which one it is.
    #[inline(always)]
    pub(crate) fn set(self) -> Set {
        self.0
    }
}

/// [`Set`] as kernels carry it at compile time.
pub(crate) const PLAIN: u8 = 0;
/// See [`Set::Avx2`].
#[cfg(target_arch = "x86_64")]
pub(crate) const AVX2: u8 = 1;
/// See [`Set::Avx512`].
#[cfg(target_arch = "x86_64")]
pub(crate) const AVX512: u8 = 2;

/// `a * b + c`, fused where the instruction set can.
#[inline(always)]
pub(crate) fn multiply_add<const SET: u8>(a: f32, b: f32, c: f32) -> f32 {
    if SET == PLAIN { a * b + c } else { a.mul_add(b, c) }
}

/// The larger of two numbers that aren't NaN: one instruction, which `f32::max` (that minds NaN) isn't.
#[inline(always)]
pub(crate) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The smaller of two numbers that aren't NaN.
#[inline(always)]
pub(crate) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// `versions!(fn name<generics>(level, args...) -> Ret = body_fn)`: `name` runs `body_fn::<SET, ...>(args)` compiled for
/// `level`. The body must be `#[inline(always)]`, so that it takes on the instruction set of the version around it.
macro_rules! versions {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident [$($generic:ident : $bound:path),*] ($($arg:ident : $type:ty),* $(,)?) $(-> $ret:ty)? = $body:ident
    ) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<$($generic: $bound),*>(level: $crate::search::simd::Level, $($arg: $type),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                #[allow(clippy::too_many_arguments)]
                fn avx512<$($generic: $bound),*>($($arg: $type),*) $(-> $ret)? {
                    $body::<{ $crate::search::simd::AVX512 }, $($generic),*>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
                #[allow(clippy::too_many_arguments)]
                fn avx2<$($generic: $bound),*>($($arg: $type),*) $(-> $ret)? {
                    $body::<{ $crate::search::simd::AVX2 }, $($generic),*>($($arg),*)
                }
                match level.set() {
                    // SAFETY: holding a level proves that the machine has it.
                    $crate::search::simd::Set::Avx512 => return unsafe { avx512::<$($generic),*>($($arg),*) },
                    // SAFETY: as above.
                    $crate::search::simd::Set::Avx2 => return unsafe { avx2::<$($generic),*>($($arg),*) },
                    $crate::search::simd::Set::Plain => {}
                }
            }
            let _ = level;
            $body::<{ $crate::search::simd::PLAIN }, $($generic),*>($($arg),*)
        }
    };
}
pub(crate) use versions;
