//! One row at a time: 64 trees are evaluated at once.
//!
//! **Idea.** The operations of `SlicedTrees` with rows and trees exchanged: a register holds, for 64 trees, the byte of the row's current node. Step s does the s-th operation of all 64 trees: their codes are
//! selected from the row's codes, which are a few registers (`vpermi2b`), and compared with 64 thresholds. Trees with fewer operations do nothing in the remaining steps.
//!
//! **Order.** The predictions are then summed tree by tree, so that the result is bit-identical to the plain walk. This chain of additions is a third of the time.
//!
//! Larger trees, processors without these instructions and tests on sets of categories are walked, sixteen trees at a time. Nothing is allocated or locked: codes and bytes are on the stack.

use super::super::forest::Forest;
use super::sliced::{SlicedTrees, TreeProgram};
use std::sync::Arc;

/// Trees per register.
const LANES: usize = 64;

/// Maximum number of columns of codes: four registers.
const MOST_CODES: usize = 256;

/// A byte that no tree uses, as they have fewer leaves.
const NOWHERE: u8 = u8::MAX;

/// Forests of one width, prepared for prediction of single rows.
#[derive(Debug, Clone)]
pub struct SingleRowForests {
    forests: Vec<Arc<Forest>>,
    lanes: Option<Box<TreeLanes>>,
    width: usize,
}

/// One operation of each of 64 trees.
#[repr(C, align(64))]
#[derive(Debug, Clone)]
struct LaneStep {
    column: [u8; LANES],
    byte: [u8; LANES],
    from: [u8; LANES],
    to: [u8; LANES],
}

/// All trees, 64 at a time.
#[derive(Debug, Clone)]
struct TreeLanes {
    sliced: SlicedTrees,
    steps: Vec<LaneStep>,
    /// The steps of each 64 trees.
    starts: Vec<u32>,
}

impl SingleRowForests {
    /// Prepares forests of one width over the same columns.
    pub fn new(forests: Vec<Arc<Forest>>, n_features: usize) -> SingleRowForests {
        let all: Vec<&Forest> = forests.iter().map(AsRef::as_ref).collect();
        let lanes = TreeLanes::new(&all, n_features).map(Box::new);
        let width = forests.first().map_or(0, |forest| forest.width);
        SingleRowForests { forests, lanes, width }
    }

    /// The number of outputs.
    pub fn n_outputs(&self) -> usize {
        self.forests.len() * self.width
    }

    /// The sums of all trees for a row: the outputs of the first forest, of the second, and so on.
    pub fn sum(&self, row: &[f64], sums: &mut [f64]) {
        sums.fill(0.0);
        #[cfg(target_arch = "x86_64")]
        if let (Some(lanes), true) = (&self.lanes, super::lanes::is_here()) {
            return lanes.add(row, self.forests.iter().map(|forest| forest.n_trees()), self.width, sums);
        }
        self.walk(row, sums);
    }

    /// The same by walking.
    fn walk(&self, row: &[f64], sums: &mut [f64]) {
        let forests = self.forests.iter().zip(sums.chunks_exact_mut(self.width.max(1)));
        forests.for_each(|(forest, sums)| forest.add_walks_of_row(row, sums));
    }
}

impl TreeLanes {
    fn new(forests: &[&Forest], n_features: usize) -> Option<TreeLanes> {
        let sliced = SlicedTrees::new(forests, n_features)?;
        let small = sliced.programs.iter().all(|program| (program.size as usize) < MOST_CODES);
        if sliced.codes.len() > MOST_CODES || !small || !sliced.ops.iter().all(|op| op.compares()) {
            return None;
        }
        let nothing = LaneStep { column: [0; LANES], byte: [NOWHERE; LANES], from: [NOWHERE; LANES], to: [0; LANES] };
        let (mut steps, mut starts) = (Vec::new(), vec![0]);
        for programs in sliced.programs.chunks(LANES) {
            let first = steps.len();
            let longest = programs.iter().map(|program| program.ops.len()).max().unwrap_or(0);
            steps.resize(first + longest, nothing.clone());
            for (lane, program) in programs.iter().enumerate() {
                for (step, op) in steps[first..].iter_mut().zip(sliced.ops_of(program)) {
                    (step.column[lane], step.byte[lane]) = (op.column as u8, op.byte);
                    (step.from[lane], step.to[lane]) = (op.from, op.to);
                }
            }
            starts.push(steps.len() as u32);
        }
        Some(TreeLanes { sliced, steps, starts })
    }

    /// Adds the predictions of all trees, `n_trees` per forest.
    #[cfg(target_arch = "x86_64")]
    fn add(&self, row: &[f64], n_trees: impl Iterator<Item = usize>, width: usize, sums: &mut [f64]) {
        let mut codes = [0u8; MOST_CODES];
        self.sliced.codes.row(row, &mut codes);
        let mut bytes = [0u8; LANES];
        let mut next = 0;
        for (n_trees, sums) in n_trees.zip(sums.chunks_exact_mut(width)) {
            for tree in next..next + n_trees {
                if tree % LANES == 0 || tree == 0 {
                    let group = tree / LANES;
                    let steps = &self.steps[self.starts[group] as usize..self.starts[group + 1] as usize];
                    kernel::bytes(steps, &codes, self.sliced.codes.len(), &mut bytes);
                }
                self.add_value(&self.sliced.programs[tree], bytes[tree % LANES], sums);
            }
            next += n_trees;
        }
    }

    #[inline(always)]
    fn add_value(&self, program: &TreeProgram, byte: u8, sums: &mut [f64]) {
        let (from, size) = (program.values as usize + byte as usize, program.size as usize);
        for (output, sum) in sums.iter_mut().enumerate() {
            *sum += self.sliced.values[from + output * size];
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod kernel {
    use super::{LANES, LaneStep, MOST_CODES};
    use std::arch::x86_64::*;

    /// The byte of the leaf in each of 64 trees; `n_codes` of the codes are used.
    pub fn bytes(steps: &[LaneStep], codes: &[u8; MOST_CODES], n_codes: usize, bytes: &mut [u8; LANES]) {
        assert!(super::super::lanes::is_here());
        // SAFETY: the processor has the features, as just asserted.
        unsafe {
            match n_codes {
                0..=64 => all::<1>(steps, codes, bytes),
                65..=128 => all::<2>(steps, codes, bytes),
                _ => all::<4>(steps, codes, bytes),
            }
        }
    }

    /// `R` registers of codes: 1, 2 or 4.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi")]
    fn all<const R: usize>(steps: &[LaneStep], codes: &[u8; MOST_CODES], bytes: &mut [u8; LANES]) {
        // SAFETY: `codes` has 256 bytes, and R is at most 4.
        let codes: [__m512i; R] =
            std::array::from_fn(|r| unsafe { _mm512_loadu_si512(codes.as_ptr().add(r * 64).cast()) });
        let mut at = _mm512_setzero_si512();
        for step in steps {
            // SAFETY: each array of a step has 64 bytes and begins at a multiple of 64, as does the step.
            let [column, byte, from, to] = [&step.column, &step.byte, &step.from, &step.to]
                .map(|a| unsafe { _mm512_load_si512(a.as_ptr().cast()) });
            let code = match R {
                1 => _mm512_permutexvar_epi8(column, codes[0]),
                2 => _mm512_permutex2var_epi8(codes[0], column, codes[1]),
                _ => {
                    let low = _mm512_permutex2var_epi8(codes[0], column, codes[1 % R]);
                    let high = _mm512_permutex2var_epi8(codes[2 % R], column, codes[3 % R]);
                    _mm512_mask_blend_epi8(_mm512_movepi8_mask(column), low, high)
                }
            };
            let here = _mm512_cmpeq_epi8_mask(at, from);
            let go = _mm512_mask_cmpgt_epu8_mask(here, code, byte);
            at = _mm512_mask_mov_epi8(at, go, to);
        }
        // SAFETY: `bytes` has 64 bytes.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), at) };
    }
}
