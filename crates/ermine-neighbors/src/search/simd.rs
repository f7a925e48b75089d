//! One source, three instruction sets. A kernel is written once as a plain inlined function; [`versions!`] compiles it for
//! AVX-512, for AVX2 and for any machine, and calls the best one that this machine has.
//!
//! Filters may round differently in the three versions (only two of them fuse multiplication and addition): whatever
//! passes a filter is measured again by the one exact distance function, so the neighbours found are the same bits.

pub(crate) use ermine_core::simd::{Level, Set};

/// An instruction set as kernels carry it: a value of such a type proves that the instructions exist.
///
/// # Safety
/// Where `SET` is not plain, values may exist only on machines that have the set.
pub(crate) unsafe trait Instructions: Copy {
    /// Which one it is.
    const SET: Set;
}

/// Any machine.
#[derive(Clone, Copy)]
pub(crate) struct Plain;

// SAFETY: every machine has it.
unsafe impl Instructions for Plain {
    const SET: Set = Set::Plain;
}

/// Declares the proof of a set that not every machine has.
#[cfg(target_arch = "x86_64")]
macro_rules! proof {
    ($name:ident) => {
        #[doc = concat!("A machine with [`Set::", stringify!($name), "`].")]
        #[derive(Clone, Copy)]
        pub(crate) struct $name(());

        impl $name {
            /// # Safety
            /// The machine has the set.
            #[inline(always)]
            pub(crate) unsafe fn new() -> $name {
                $name(())
            }
        }

        // SAFETY: only `new` makes a value, and it asks for the set.
        unsafe impl Instructions for $name {
            const SET: Set = Set::$name;
        }
    };
}
#[cfg(target_arch = "x86_64")]
proof!(Avx2);
#[cfg(target_arch = "x86_64")]
proof!(Avx512);

/// `a * b + c`, fused where the instruction set can.
#[inline(always)]
pub(crate) fn multiply_add<S: Instructions>(_: S, a: f32, b: f32, c: f32) -> f32 {
    if matches!(S::SET, Set::Plain) { a * b + c } else { a.mul_add(b, c) }
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

/// `versions!(fn name[generics](args...) -> Ret = body_fn)`: `name(level, args...)` runs `body_fn(set, args...)` compiled for
/// `level`, where `set` is the proof of its instructions. The body must be `#[inline(always)]`, so that it takes on the instruction set of the version around it.
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
                use $crate::search::simd::{Avx2, Avx512, Set};
                ermine_core::for_set! { avx512 => compiled
                    #[allow(clippy::too_many_arguments)]
                    fn avx512<$($generic: $bound),*>(set: Avx512, $($arg: $type),*) $(-> $ret)? {
                        $body::<Avx512, $($generic),*>(set, $($arg),*)
                    }
                }
                ermine_core::for_set! { avx2 => compiled
                    #[allow(clippy::too_many_arguments)]
                    fn avx2<$($generic: $bound),*>(set: Avx2, $($arg: $type),*) $(-> $ret)? {
                        $body::<Avx2, $($generic),*>(set, $($arg),*)
                    }
                }
                match level.set() {
                    // SAFETY: holding a level proves that the machine has it.
                    Set::Avx512 => return unsafe { avx512::<$($generic),*>(Avx512::new(), $($arg),*) },
                    // SAFETY: as above.
                    Set::Avx2 => return unsafe { avx2::<$($generic),*>(Avx2::new(), $($arg),*) },
                    Set::Plain => {}
                }
            }
            let _ = level;
            $body::<$crate::search::simd::Plain, $($generic),*>($crate::search::simd::Plain, $($arg),*)
        }
    };
}
pub(crate) use versions;
