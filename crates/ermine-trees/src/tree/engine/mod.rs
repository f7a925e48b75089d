//! The engine: how the trees of an ensemble are asked about many rows, or about one row again and again.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | which form an ensemble is asked in; sums over blocks of rows |
//! | `ranks` | how many thresholds are below a value |
//! | `codes` | the values of rows as bytes |
//! | `sliced` | trees of up to 256 leaves: every node is asked of 64 rows at once |
//! | `lanes` | its kernels for AVX-512 |
//! | `walk` | larger trees: many rows walk at once on their codes |
//! | [`one_row`] | one row: 64 trees are asked at once |
//!
//! Stumps, trees, forests, AdaBoost and gradient boosting all come here, as [`Forest`]s. Whatever the form, the trees' predictions are added up in the order of the trees, so that
//! the bits are those of the [plain walk](super::Tree::walk) of each tree.

mod codes;
#[cfg(target_arch = "x86_64")]
mod lanes;
pub mod one_row;
mod ranks;
mod sliced;
#[cfg(test)]
mod tests;
mod walk;

use super::Forest;
pub(super) use codes::BLOCK;
use ermine_core::matrix::Features;
use rayon::prelude::*;
pub(super) use sliced::Sliced;
use std::ops::Range;
pub(super) use walk::Coded;

/// Trees that are worth coding the rows for.
const FEW_TREES: usize = 6;

/// Rows that are worth a block.
const FEW_ROWS: usize = 32;

/// The form in which some forests are asked about many rows.
#[derive(Debug, Clone)]
pub(crate) enum Engine {
    /// All trees are small.
    Sliced(Box<Sliced>),
    /// Large trees of thresholds.
    Coded(Box<Coded>),
    /// Anything else: trees are walked as they are.
    Plain,
}

impl Engine {
    /// The form for forests of one width over the same columns.
    pub fn new(forests: &[&Forest], n_features: usize) -> Engine {
        if let Some(sliced) = Sliced::new(forests, n_features) {
            return Engine::Sliced(Box::new(sliced));
        }
        Coded::new(forests, n_features).map_or(Engine::Plain, |coded| Engine::Coded(Box::new(coded)))
    }

    /// Whether making a form of these forests pays for so many rows and trees.
    pub fn pays(n_rows: usize, n_trees: usize) -> bool {
        n_rows >= FEW_ROWS && n_trees >= FEW_TREES
    }
}

/// The sums of the trees `trees` of each forest, for each row: the outputs of the first forest, of the second, and so on. The engine, where it is worth asking, is of these forests.
pub(crate) fn sums<'a>(
    forests: &[&Forest],
    engine: impl FnOnce() -> Option<&'a Engine>,
    trees: Range<usize>,
    features: &Features,
) -> Vec<f64> {
    let outputs: usize = forests.iter().map(|forest| forest.width).sum();
    let mut sums = vec![0.0; features.n_rows() * outputs];
    if outputs == 0 {
        return sums;
    }
    let engine = if Engine::pays(features.n_rows(), trees.len() * forests.len()) { engine() } else { None };
    match engine {
        Some(Engine::Sliced(sliced)) => {
            let work = |scratch: &mut sliced::Scratch, (block, sums): (usize, &mut [f64])| {
                let n = sums.len() / outputs;
                sliced.code(features, block * BLOCK, n, scratch);
                let mut program = 0;
                for (i, forest) in forests.iter().enumerate() {
                    sliced.add(program + trees.start..program + trees.end, n, i * sliced.width, scratch);
                    program += forest.n_trees();
                }
                sums.chunks_exact_mut(outputs).enumerate().for_each(|(row, out)| sliced.sums(row, out, scratch));
            };
            sums.par_chunks_mut(BLOCK * outputs).enumerate().for_each_init(|| sliced.scratch(outputs), work);
        }
        Some(Engine::Coded(coded)) => coded.sums(forests, trees, features, &mut sums),
        Some(Engine::Plain) | None => {
            let mut output = 0;
            for forest in forests {
                forest.add_walks(trees.clone(), features, (output, outputs), &mut sums);
                output += forest.width;
            }
        }
    }
    sums
}
