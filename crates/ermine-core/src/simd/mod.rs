//! Small kernels for wide registers, chosen at run time.
//!
//! | item | what it does |
//! |---|---|
//! | [`Level`] | proof that this processor has an instruction set; only detection makes one |
//! | [`versions!`](crate::versions) | compiles one body for several instruction sets and calls the best |
//! | [`has`] | tells whether this processor has a set, for kernels written with intrinsics |
//! | [`exp`](mod@exp) | the exponential function over slices |
//!
//! A kernel is written once, in plain Rust over slices and short arrays, and compiled for AVX-512, for AVX2 and for any machine. All versions do the
//! same IEEE operations in the same order (the compiler never fuses a multiplication with an addition by itself), so they give the same bits.
//!
//! **Soundness.** A function must never run on a processor that lacks a feature it was compiled for. The features of each [`InstructionSet`] are listed once, in `for_set!`, and
//! both the compilation and the detection take them from there. A kernel written with intrinsics names a part of the features of one set in its `target_feature` attribute, and
//! is called where [`has`] finds that set; a test reads all such attributes. Under Miri nothing is detected, so that it runs the plain versions.

use std::sync::atomic::{AtomicU8, Ordering};

pub mod exp;

/// The instruction sets that kernels are compiled for; each includes those before it. `for_set!` lists their features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InstructionSet {
    /// Any machine.
    Plain,
    /// AVX2 with FMA and the bit instructions of its time.
    Avx2,
    /// AVX-512 F, BW, DQ and VL.
    Avx512,
    /// What AVX-512 gained with Ice Lake and Zen 4: VBMI, VNNI, BITALG and VPOPCNTDQ.
    IceLake,
}

/// An instruction set that this processor has. Only [`Level::detect`] and [`Level::at_most`] make one, so that holding a level proves that its instructions exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(InstructionSet);

impl Level {
    /// The best that this processor has. After the first call this is one load.
    #[inline]
    pub fn detect() -> Level {
        // 0 until the processor has been asked, then 1 + the set.
        static DETECTED: AtomicU8 = AtomicU8::new(0);
        match DETECTED.load(Ordering::Relaxed) {
            1 => Level(InstructionSet::Plain),
            2 => Level(InstructionSet::Avx2),
            3 => Level(InstructionSet::Avx512),
            4 => Level(InstructionSet::IceLake),
            _ => {
                let set = best_set();
                DETECTED.store(1 + set as u8, Ordering::Relaxed);
                Level(set)
            }
        }
    }

    /// The best that this processor has, but no better than `set`.
    pub fn at_most(set: InstructionSet) -> Level {
        Level(Level::detect().0.min(set))
    }

    /// Whether it includes a set.
    #[inline(always)]
    pub fn has(self, set: InstructionSet) -> bool {
        self.0 >= set
    }

    /// The proof of AVX2 for kernels that carry it as a type.
    #[inline(always)]
    pub fn avx2(self) -> Option<Avx2> {
        self.has(InstructionSet::Avx2).then_some(Avx2(()))
    }

    /// The proof of AVX-512 for kernels that carry it as a type.
    #[inline(always)]
    pub fn avx512(self) -> Option<Avx512> {
        self.has(InstructionSet::Avx512).then_some(Avx512(()))
    }
}

/// Whether this processor has an instruction set. It costs one load.
#[inline(always)]
pub fn has(set: InstructionSet) -> bool {
    Level::detect().has(set)
}

#[cold]
fn best_set() -> InstructionSet {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        if crate::for_set!(ice_lake detect) {
            return InstructionSet::IceLake;
        }
        if crate::for_set!(avx512 detect) {
            return InstructionSet::Avx512;
        }
        if crate::for_set!(avx2 detect) {
            return InstructionSet::Avx2;
        }
    }
    InstructionSet::Plain
}

/// An instruction set as kernels carry it: a value of such a type proves that the instructions exist, and the compiler knows the set.
///
/// # Safety
/// Where `SET` is not plain, values may exist only on machines that have the set.
pub unsafe trait Instructions: Copy {
    /// Which one it is.
    const SET: InstructionSet;

    /// Whether the set includes AVX-512; known when the kernel is compiled.
    #[inline(always)]
    fn has_avx512(self) -> bool {
        Self::SET >= InstructionSet::Avx512
    }

    /// `a * b + c`, fused where the instruction set can.
    #[inline(always)]
    fn multiply_add(self, a: f32, b: f32, c: f32) -> f32 {
        if matches!(Self::SET, InstructionSet::Plain) { a * b + c } else { a.mul_add(b, c) }
    }
}

/// Proof of nothing: every machine has [`InstructionSet::Plain`].
#[derive(Debug, Clone, Copy)]
pub struct Plain;

/// Proof of [`InstructionSet::Avx2`]; [`Level::avx2`] makes it.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

/// Proof of [`InstructionSet::Avx512`]; [`Level::avx512`] makes it.
#[derive(Debug, Clone, Copy)]
pub struct Avx512(());

// SAFETY: every machine has it.
unsafe impl Instructions for Plain {
    const SET: InstructionSet = InstructionSet::Plain;
}

// SAFETY: only a level that has the set makes a value.
unsafe impl Instructions for Avx2 {
    const SET: InstructionSet = InstructionSet::Avx2;
}

// SAFETY: only a level that has the set makes a value.
unsafe impl Instructions for Avx512 {
    const SET: InstructionSet = InstructionSet::Avx512;
}

/// The features of each instruction set: the one place where they are listed. `for_set!(avx2 detect)` tells whether the processor has them, and
/// `for_set! { avx2 compile fn f() {} }` compiles a function for them.
#[macro_export]
#[doc(hidden)]
macro_rules! for_set {
    (ice_lake $($then:tt)+) => {
        $crate::for_set! {
            @$($then)+
            ["avx512vbmi", "avx512vnni", "avx512bitalg", "avx512vpopcntdq", "avx512f", "avx512bw", "avx512dq", "avx512vl",
             "avx2", "fma", "bmi1", "bmi2", "lzcnt", "popcnt"]
        }
    };
    (avx512 $($then:tt)+) => {
        $crate::for_set! {
            @$($then)+
            ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx2", "fma", "bmi1", "bmi2", "lzcnt", "popcnt"]
        }
    };
    (avx2 $($then:tt)+) => {
        $crate::for_set! { @$($then)+ ["avx2", "fma", "bmi1", "bmi2", "lzcnt", "popcnt"] }
    };
    (@detect [$($feature:tt),+]) => { true $(&& std::arch::is_x86_feature_detected!($feature))+ };
    (@list [$($feature:tt),+]) => { [$($feature),+] };
    (@compile $item:item [$($feature:tt),+]) => {
        #[target_feature($(enable = $feature),+)]
        #[allow(clippy::too_many_arguments)]
        $item
    };
}

/// Declares functions whose bodies are compiled for AVX-512, AVX2 and the plain machine; the best that the processor has is called.
///
/// Functions may have type parameters with one bound each, or constant parameters (`<const W: usize>`). Where the first argument is
/// `set: impl Instructions`, callers pass a [`Level`](crate::simd::Level) in its place, and the body receives the proof of the instructions that it is compiled for:
///
/// ```
/// use ermine_core::simd::{Instructions, Level};
///
/// ermine_core::versions! {
///     fn sum(x: &[f32]) -> f32 {
///         x.iter().sum()
///     }
///
///     fn scaled<T: Into<f32>>(set: impl Instructions, x: T, factor: f32) -> f32 {
///         set.multiply_add(x.into(), factor, 0.0)
///     }
/// }
/// assert_eq!(sum(&[1.0, 2.0]), 3.0);
/// assert_eq!(scaled(Level::detect(), 2.0, 3.0), 6.0);
/// ```
#[macro_export]
macro_rules! versions {
    () => {};
    ($(#[$meta:meta])* $vis:vis fn $name:ident ($($args:tt)*) $(-> $out:ty)? $body:block $($rest:tt)*) => {
        $crate::versions! { @arguments [$(#[$meta])* $vis] $name [] [] ($($args)*) [$(-> $out)?] $body }
        $crate::versions! { $($rest)* }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident <$($t:ident: $bound:path),+> ($($args:tt)*) $(-> $out:ty)? $body:block $($rest:tt)*) => {
        $crate::versions! { @arguments [$(#[$meta])* $vis] $name [<$($t: $bound),+>] [::<$($t),+>] ($($args)*) [$(-> $out)?] $body }
        $crate::versions! { $($rest)* }
    };
    ($(#[$meta:meta])* $vis:vis fn $name:ident <$(const $n:ident: $type:ty),+> ($($args:tt)*) $(-> $out:ty)? $body:block $($rest:tt)*) => {
        $crate::versions! { @arguments [$(#[$meta])* $vis] $name [<$(const $n: $type),+>] [::<$($n),+>] ($($args)*) [$(-> $out)?] $body }
        $crate::versions! { $($rest)* }
    };
    (@arguments $head:tt $name:ident $generics:tt $uses:tt ($set:ident: impl Instructions $(, $arg:ident: $type:ty)* $(,)?) $out:tt $body:block) => {
        $crate::versions! { @define $head $name $generics $uses [level: $crate::simd::Level,] level $set ($($arg: $type),*) $out $body }
    };
    (@arguments $head:tt $name:ident $generics:tt $uses:tt ($($arg:ident: $type:ty),* $(,)?) $out:tt $body:block) => {
        $crate::versions! { @define $head $name $generics $uses [] ($crate::simd::Level::detect()) _set ($($arg: $type),*) $out $body }
    };
    (
        @define [$($head:tt)*] $name:ident [$($generics:tt)*] [$($uses:tt)*] [$($first:tt)*] $level:tt $set:ident ($($arg:ident: $type:ty),*) [$($out:tt)*] $body:block
    ) => {
        #[allow(clippy::too_many_arguments)]
        $($head)* fn $name $($generics)* ($($first)* $($arg: $type),*) $($out)* {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body $($generics)* ($set: impl $crate::simd::Instructions, $($arg: $type),*) $($out)* $body

            let best = $level;
            #[cfg(target_arch = "x86_64")]
            {
                $crate::for_set! { avx512 compile
                    fn avx512 $($generics)* (set: $crate::simd::Avx512, $($arg: $type),*) $($out)* {
                        body $($uses)* (set, $($arg),*)
                    }
                }
                $crate::for_set! { avx2 compile
                    fn avx2 $($generics)* (set: $crate::simd::Avx2, $($arg: $type),*) $($out)* {
                        body $($uses)* (set, $($arg),*)
                    }
                }
                if let Some(set) = best.avx512() {
                    // SAFETY: the set is the proof that the processor has its features.
                    return unsafe { avx512 $($uses)* (set, $($arg),*) };
                }
                if let Some(set) = best.avx2() {
                    // SAFETY: as above.
                    return unsafe { avx2 $($uses)* (set, $($arg),*) };
                }
            }
            let _ = best;
            body $($uses)* ($crate::simd::Plain, $($arg),*)
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_level_is_never_better_than_the_processor() {
        let best = Level::detect();
        for set in [InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512, InstructionSet::IceLake] {
            let level = Level::at_most(set);
            assert!(level <= best && level.has(set) == best.has(set) && has(set) == best.has(set));
            assert_eq!(level.avx2().is_some(), level.has(InstructionSet::Avx2));
            assert_eq!(level.avx512().is_some(), level.has(InstructionSet::Avx512));
        }
        assert_eq!(best, Level::detect(), "the second answer is the first one");
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        assert_eq!(
            best.has(InstructionSet::Avx2),
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2")
        );
    }

    versions! {
        fn set_of(set: impl Instructions) -> InstructionSet {
            fn of<S: Instructions>(_: S) -> InstructionSet {
                S::SET
            }
            of(set)
        }

        fn lengths<const N: usize>(lists: [&[u8]; N]) -> [usize; N] {
            lists.map(<[u8]>::len)
        }
    }

    #[test]
    fn the_version_of_the_level_is_called() {
        for set in [InstructionSet::Plain, InstructionSet::Avx2, InstructionSet::Avx512] {
            assert_eq!(set_of(Level::at_most(set)), set.min(Level::detect().0));
        }
        assert_eq!(lengths([&[1, 2], &[]]), [2, 0]);
    }

    /// Features that appear in `target_feature` attributes of a folder's files.
    fn kernel_features(folder: &Path, features: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                kernel_features(&path, features);
            } else if path.extension().is_some_and(|end| end == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // Split, so that this file doesn't match itself.
                for list in text.split(concat!("target_", "feature(enable = \"")).skip(1) {
                    let list = list.split('"').next().unwrap();
                    features.extend(list.split(',').map(|feature| (path.display().to_string(), feature.into())));
                }
                assert!(
                    path.ends_with("simd/mod.rs") || !text.contains(concat!("is_x86_feature", "_detected!")),
                    "{} detects features by itself; use `simd::has`",
                    path.display()
                );
            }
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "reads files")]
    fn kernels_use_only_features_that_are_detected() {
        let known = crate::for_set!(ice_lake list);
        let mut features = Vec::new();
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for entry in std::fs::read_dir(crates).unwrap() {
            let sources = entry.unwrap().path().join("src");
            if sources.is_dir() {
                kernel_features(&sources, &mut features);
            }
        }
        assert!(features.len() > 5, "kernels are found");
        for (path, feature) in features {
            assert!(
                known.contains(&feature.as_str()),
                "{path} is compiled for {feature}, which no instruction set lists"
            );
        }
    }
}
