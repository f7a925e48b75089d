//! Prediction engines: fast prediction with many trees for many rows, or for one row at a time.
//!
//! | file | contents |
//! |---|---|
//! | this file | the choice of the engine; sums over blocks of rows |
//! | `ranks` | the number of thresholds below a value |
//! | `codes` | feature values as bytes |
//! | `sliced` | trees of up to 256 leaves: every node is evaluated for 64 rows at once |
//! | `lanes` | its AVX-512 kernels |
//! | `walk` | larger trees: many rows walk at once on their codes |
//! | [`single_row`] | one row: 64 trees at once |
//!
//! All tree models predict here, as [`Forest`]s. Whatever the engine, predictions are summed in the order of the trees, so that the result is bit-identical to the [plain walk](super::Tree::walk) of each tree.

mod codes;
#[cfg(target_arch = "x86_64")]
mod lanes;
mod ranks;
pub mod single_row;
mod sliced;
#[cfg(test)]
mod tests;
mod walk;

use super::Forest;
use super::predict::walks_sparse;
pub(super) use codes::BLOCK;
use ermine_core::matrix::Features;
use rayon::prelude::*;
pub(super) use sliced::SlicedTrees;
use std::ops::Range;
pub(super) use walk::CodedTrees;

/// Minimum number of trees for which encoding the rows pays.
const FEW_TREES: usize = 6;

/// Minimum number of rows for which an engine pays.
const FEW_ROWS: usize = 32;

/// The prediction engine of some forests.
#[derive(Debug, Clone)]
pub(crate) enum PredictionEngine {
    /// All trees are small.
    Sliced(Box<SlicedTrees>),
    /// Large trees of thresholds.
    Coded(Box<CodedTrees>),
    /// Anything else: trees are walked.
    Plain,
}

impl PredictionEngine {
    /// The engine of forests with the same width and columns.
    pub fn new(forests: &[&Forest], n_features: usize) -> PredictionEngine {
        if let Some(sliced) = SlicedTrees::new(forests, n_features) {
            return PredictionEngine::Sliced(Box::new(sliced));
        }
        CodedTrees::new(forests, n_features)
            .map_or(PredictionEngine::Plain, |coded| PredictionEngine::Coded(Box::new(coded)))
    }

    /// Whether an engine pays for this number of rows and trees.
    pub fn pays(n_rows: usize, n_trees: usize) -> bool {
        n_rows >= FEW_ROWS && n_trees >= FEW_TREES
    }
}

/// The sums of the trees `trees` of each forest for each row: the outputs of the first forest, of the second, and so on. `engine` provides the engine of these forests.
pub(crate) fn sums<'a>(
    forests: &[&Forest],
    engine: impl FnOnce() -> Option<&'a PredictionEngine>,
    trees: Range<usize>,
    features: &Features,
) -> Vec<f64> {
    let outputs: usize = forests.iter().map(|forest| forest.width).sum();
    let mut sums = vec![0.0; features.n_rows() * outputs];
    if outputs == 0 {
        return sums;
    }
    let pays = PredictionEngine::pays(features.n_rows(), trees.len() * forests.len()) && !walks_sparse(features);
    let engine = if pays { engine() } else { None };
    match engine {
        Some(PredictionEngine::Sliced(sliced)) => {
            let work = |scratch: &mut sliced::SlicedScratch, (block, sums): (usize, &mut [f64])| {
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
        Some(PredictionEngine::Coded(coded)) => coded.sums(forests, trees, features, &mut sums),
        Some(PredictionEngine::Plain) | None => {
            let mut output = 0;
            for forest in forests {
                forest.add_walks(trees.clone(), features, (output, outputs), &mut sums);
                output += forest.width;
            }
        }
    }
    sums
}
