//! Small kernels for wide registers, chosen at run time.
//!
//! | item | what it does |
//! |---|---|
//! | [`Level`] | proof that this processor has an instruction set; only detection makes one |
//! | [`versions!`](crate::versions) | compiles one body for several instruction sets and calls the best |
//! | [`detected!`](crate::detected) | tells whether this processor has some features, for kernels written with intrinsics |
//! | [`exp`](mod@exp) | the exponential function over slices |
//!
//! A kernel is written once, in plain Rust over slices and short arrays, and compiled for AVX-512, for AVX2 and for any machine. All versions do the
//! same IEEE operations in the same order (the compiler never fuses a multiplication with an addition by itself), so they give the same bits.
//!
//! **Soundness.** A function must never run on a processor that lacks a feature it was compiled for. The features of [`Set`] are listed once, in `for_set!`, and
//! both the compilation and the detection take them from there. A kernel that needs other features names the same list twice, in its `target_feature` attribute
//! and in the `detected!` of its entry point. Under Miri nothing is detected, so that it runs the plain versions.

use std::sync::atomic::{AtomicU8, Ordering};

pub mod exp;

/// The instruction sets that bodies are compiled for, poorest first. `for_set!` lists their features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    /// Any machine.
    Plain,
    /// AVX2 with FMA and the bit instructions of its time.
    Avx2,
    /// The same with AVX-512 F, BW, DQ and VL.
    Avx512,
}

/// An instruction set that this processor has. Only [`Level::detect`] and [`Level::at_most`] make one, so that holding a level proves that its instructions exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(Set);

impl Level {
    /// The best that this processor has. After the first call this is one load.
    #[inline]
    pub fn detect() -> Level {
        // 0 until the processor has been asked, then 1 + the set.
        static FOUND: AtomicU8 = AtomicU8::new(0);
        match FOUND.load(Ordering::Relaxed) {
            1 => Level(Set::Plain),
            2 => Level(Set::Avx2),
            3 => Level(Set::Avx512),
            _ => {
                let set = ask();
                FOUND.store(1 + set as u8, Ordering::Relaxed);
                Level(set)
            }
        }
    }

    /// The best that this processor has, but no better than `set`.
    pub fn at_most(set: Set) -> Level {
        Level(Level::detect().0.min(set))
    }

    /// Which instruction set it is.
    #[inline(always)]
    pub fn set(self) -> Set {
        self.0
    }
}

#[cold]
fn ask() -> Set {
    #[cfg(target_arch = "x86_64")]
    {
        if crate::for_set!(avx512 => detected) {
            return Set::Avx512;
        }
        if crate::for_set!(avx2 => detected) {
            return Set::Avx2;
        }
    }
    Set::Plain
}

/// Hands the features of an instruction set to another macro of this module: the one place where they are listed.
#[macro_export]
#[doc(hidden)]
macro_rules! for_set {
    (avx512 => $then:ident $($rest:tt)*) => {
        $crate::$then! {
            ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma", "bmi1", "bmi2", "lzcnt", "popcnt"] $($rest)*
        }
    };
    (avx2 => $then:ident $($rest:tt)*) => {
        $crate::$then! { ["avx2", "fma", "bmi1", "bmi2", "lzcnt", "popcnt"] $($rest)* }
    };
}

/// A function that is compiled for some features: `compiled! { ["avx2", "fma"] fn f() {} }`.
#[macro_export]
#[doc(hidden)]
macro_rules! compiled {
    ([$($feature:tt),+] $($item:tt)*) => {
        #[target_feature($(enable = $feature),+)]
        $($item)*
    };
}

/// Whether this x86-64 processor has all of these features: `detected!("avx2", "fma")`. The answer is kept: it costs one load. It is no under Miri.
#[macro_export]
#[doc(hidden)]
macro_rules! detected {
    ([$($feature:tt),+]) => { $crate::detected!($($feature),+) };
    ($($feature:tt),+) => {{
        static DETECTED: std::sync::LazyLock<bool> =
            std::sync::LazyLock::new(|| cfg!(not(miri)) $(&& std::arch::is_x86_feature_detected!($feature))+);
        *DETECTED
    }};
}

/// Declares a function whose body is compiled for AVX-512, AVX2 and the plain machine; the best that the processor has is called.
#[macro_export]
macro_rules! versions {
    ($(#[$meta:meta])* $vis:vis fn $name:ident $(<const $w:ident: usize>)? ($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)? $body:block) => {
        $(#[$meta])*
        $vis fn $name $(<const $w: usize>)? ($($arg: $type),*) $(-> $out)? {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn plain $(<const $w: usize>)? ($($arg: $type),*) $(-> $out)? $body

            #[cfg(target_arch = "x86_64")]
            {
                $crate::for_set! { avx512 => compiled
                    #[allow(clippy::too_many_arguments)]
                    fn avx512 $(<const $w: usize>)? ($($arg: $type),*) $(-> $out)? {
                        plain $(::<$w>)? ($($arg),*)
                    }
                }
                $crate::for_set! { avx2 => compiled
                    #[allow(clippy::too_many_arguments)]
                    fn avx2 $(<const $w: usize>)? ($($arg: $type),*) $(-> $out)? {
                        plain $(::<$w>)? ($($arg),*)
                    }
                }
                match $crate::simd::Level::detect().set() {
                    // SAFETY: the processor has the features of the set that was detected.
                    $crate::simd::Set::Avx512 => return unsafe { avx512 $(::<$w>)? ($($arg),*) },
                    // SAFETY: as above.
                    $crate::simd::Set::Avx2 => return unsafe { avx2 $(::<$w>)? ($($arg),*) },
                    $crate::simd::Set::Plain => {}
                }
            }
            plain $(::<$w>)? ($($arg),*)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_never_better_than_the_processor() {
        let best = Level::detect();
        for set in [Set::Plain, Set::Avx2, Set::Avx512] {
            assert_eq!(Level::at_most(set).set(), set.min(best.set()));
        }
        assert_eq!(best, Level::detect(), "the kept answer is the first one");
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        assert_eq!(
            best.set() >= Set::Avx2,
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2")
        );
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn all_features_of_a_list_are_asked_for() {
        assert!(crate::detected!("sse2") || cfg!(miri));
        let (one, other) = (crate::detected!("avx2"), crate::detected!("avx512f"));
        assert_eq!(crate::detected!("avx2", "avx512f"), one && other);
    }
}
