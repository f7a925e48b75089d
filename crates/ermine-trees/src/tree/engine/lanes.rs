//! The kernels of [`SlicedTrees`] for AVX-512: the bytes of 512 rows stay in eight registers while all nodes of a tree are evaluated.
//!
//! Predictions are picked out of registers too: a table of up to 64 is eight of them, and `vpermi2pd` picks from two by the low bits of the byte.

use super::codes::BLOCK;
use super::sliced::{NodeOp, SlicedTrees, TreeProgram};
#[cfg(target_arch = "x86_64")]
use ermine_core::simd::InstructionSet;
use std::arch::x86_64::*;
use std::ops::Range;

/// Rows per register.
const LANES: usize = 64;

/// Registers per block.
const GROUPS: usize = BLOCK / LANES;

/// Whether the processor supports the kernels.
pub(super) fn is_here() -> bool {
    ermine_core::simd::has(InstructionSet::IceLake)
}

/// Adds the predictions of some programs for the first `groups` groups of 64 rows to the sums, output by output.
pub(super) fn add(sliced: &SlicedTrees, programs: Range<usize>, groups: usize, codes: &[u8], sums: &mut [f64]) {
    assert!(
        is_here()
            && groups <= GROUPS
            && codes.len() >= sliced.codes.len() * BLOCK
            && sums.len() >= sliced.width * BLOCK
    );
    // SAFETY: the processor has the features, as just asserted.
    unsafe { add_all(sliced, programs, groups, codes, sums) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512bitalg")]
fn add_all(sliced: &SlicedTrees, programs: Range<usize>, groups: usize, codes: &[u8], sums: &mut [f64]) {
    for program in &sliced.programs[programs] {
        let ops = sliced.ops_of(program);
        if groups == GROUPS {
            let bytes = bytes::<GROUPS>(sliced, ops, codes, 0);
            add_values(sliced, program, &bytes, 0, sums);
        } else {
            for group in 0..groups {
                let bytes = bytes::<1>(sliced, ops, codes, group);
                add_values(sliced, program, &bytes, group, sums);
            }
        }
    }
}

/// The bytes of the rows of `G` groups from `first` on.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512bitalg")]
#[inline]
fn bytes<const G: usize>(sliced: &SlicedTrees, ops: &[NodeOp], codes: &[u8], first: usize) -> [__m512i; G] {
    let mut bytes = [_mm512_setzero_si512(); G];
    for op in ops {
        let column = &codes[op.column as usize * BLOCK + first * LANES..][..G * LANES];
        let (from, to) = (_mm512_set1_epi8(op.from as i8), _mm512_set1_epi8(op.to as i8));
        let above = _mm512_set1_epi8(op.byte as i8);
        let set = sliced.set(op);
        for (group, bytes) in bytes.iter_mut().enumerate() {
            // SAFETY: `column` has G * 64 bytes.
            let code = unsafe { _mm512_loadu_si512(column.as_ptr().add(group * LANES).cast()) };
            let here = _mm512_cmpeq_epi8_mask(*bytes, from);
            let go = match set {
                None => _mm512_mask_cmpgt_epu8_mask(here, code, above),
                Some(set) => here & !contains(set, code),
            };
            *bytes = _mm512_mask_mov_epi8(*bytes, go, to);
        }
    }
    bytes
}

/// Which of 64 codes are in a set.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512bitalg")]
#[inline]
fn contains(set: &[u64; 4], code: __m512i) -> u64 {
    let within = |word: usize| _mm512_bitshuffle_epi64_mask(_mm512_set1_epi64(set[word] as i64), code);
    let high = _mm512_movepi8_mask(code);
    let second = _mm512_test_epi8_mask(code, _mm512_set1_epi8(64));
    (within(0) & !high & !second)
        | (within(1) & !high & second)
        | (within(2) & high & !second)
        | (within(3) & high & second)
}

/// Adds the predictions of a tree to the sums of `G` groups of rows.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512bitalg")]
#[inline]
fn add_values<const G: usize>(
    sliced: &SlicedTrees,
    program: &TreeProgram,
    bytes: &[__m512i; G],
    first: usize,
    sums: &mut [f64],
) {
    let size = program.size as usize;
    for output in 0..sliced.width {
        let table = &sliced.values[program.values as usize + output * size..][..size];
        let sums = &mut sums[output * BLOCK + first * LANES..][..G * LANES];
        match size {
            8 => pick_and_add::<1, G>(table, bytes, sums),
            16 => pick_and_add::<2, G>(table, bytes, sums),
            32 => pick_and_add::<4, G>(table, bytes, sums),
            64 => pick_and_add::<8, G>(table, bytes, sums),
            _ => {
                for (sums, &bytes) in sums.chunks_exact_mut(LANES).zip(bytes) {
                    let mut each = [0u8; LANES];
                    // SAFETY: `each` has 64 bytes.
                    unsafe { _mm512_storeu_si512(each.as_mut_ptr().cast(), bytes) };
                    sums.iter_mut().zip(each).for_each(|(sum, byte)| *sum += table[byte as usize]);
                }
            }
        }
    }
}

/// The same for a table of `R` registers: 1, 2, 4 or 8.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512bitalg")]
#[inline]
fn pick_and_add<const R: usize, const G: usize>(table: &[f64], bytes: &[__m512i; G], sums: &mut [f64]) {
    assert!(table.len() == R * 8 && sums.len() == G * LANES);
    // SAFETY: the table has R * 8 numbers.
    let table: [__m512d; R] = std::array::from_fn(|r| unsafe { _mm512_loadu_pd(table.as_ptr().add(r * 8)) });
    for (group, &bytes) in bytes.iter().enumerate() {
        let bit = |bit: i8| if R > 2 { _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(bit)) } else { 0 };
        let (bit_4, bit_5) = (bit(16), bit(32));
        let mut eights = [0u8; LANES];
        // SAFETY: `eights` has 64 bytes.
        unsafe { _mm512_storeu_si512(eights.as_mut_ptr().cast(), bytes) };
        for part in 0..8 {
            // SAFETY: eight bytes from `part * 8` on are within the 64.
            let index = _mm512_cvtepu8_epi64(unsafe { _mm_loadl_epi64(eights.as_ptr().add(part * 8).cast()) });
            let two = |r: usize| _mm512_permutex2var_pd(table[r % R], index, table[(r + 1) % R]);
            let four = |r: usize| _mm512_mask_blend_pd((bit_4 >> (part * 8)) as u8, two(r), two(r + 2));
            let value = match R {
                1 => _mm512_permutexvar_pd(index, table[0]),
                2 => two(0),
                4 => four(0),
                _ => _mm512_mask_blend_pd((bit_5 >> (part * 8)) as u8, four(0), four(4)),
            };
            // SAFETY: `sums` has G * 64 numbers.
            unsafe {
                let place = sums.as_mut_ptr().add(group * LANES + part * 8);
                _mm512_storeu_pd(place, _mm512_add_pd(_mm512_loadu_pd(place), value));
            }
        }
    }
}
