//! Small kernels for wide registers, chosen at run time.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | [`versions!`](crate::versions): one body, compiled for several instruction sets |
//! | [`exp`](mod@exp) | the exponential function over slices |
//!
//! A kernel is written once, in plain Rust over slices and short arrays, and compiled for AVX-512, for AVX2 and for any machine. All versions do the
//! same IEEE operations in the same order (the compiler never fuses a multiplication with an addition by itself), so they give the same bits.

pub mod exp;

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
            #[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,bmi2")]
            #[allow(clippy::too_many_arguments)]
            fn avx512 $(<const $w: usize>)? ($($arg: $type),*) $(-> $out)? {
                plain $(::<$w>)? ($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi2")]
            #[allow(clippy::too_many_arguments)]
            fn avx2 $(<const $w: usize>)? ($($arg: $type),*) $(-> $out)? {
                plain $(::<$w>)? ($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            {
                if std::arch::is_x86_feature_detected!("avx512dq") && std::arch::is_x86_feature_detected!("avx512vl") && std::arch::is_x86_feature_detected!("avx512bw") {
                    // SAFETY: the processor has the features, as just asked.
                    return unsafe { avx512 $(::<$w>)? ($($arg),*) };
                }
                if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("bmi2") {
                    // SAFETY: the processor has the features, as just asked.
                    return unsafe { avx2 $(::<$w>)? ($($arg),*) };
                }
            }
            plain $(::<$w>)? ($($arg),*)
        }
    };
}
