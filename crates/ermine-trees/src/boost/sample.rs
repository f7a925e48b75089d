//! Sampling of rows and columns.
//!
//! Whether a row is sampled depends only on the seed, the tree and the row, not on how rows are divided among threads.

use super::shard::Shard;
use ermine_core::rng::{self, Purpose, RngExt};

/// A hash of a row as a number in [0, 1).
#[inline]
fn unit(key: u64, row: usize) -> f64 {
    let mut z = key ^ (row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Samples the rows of a tree.
#[derive(Debug, Clone, Copy)]
pub struct RowSampler {
    key: u64,
    share: f64,
}

impl RowSampler {
    /// Each row with probability `share`, for tree `tree` under `seed`.
    pub fn new(seed: u64, tree: u64, share: f64) -> RowSampler {
        RowSampler { key: Purpose::BoostingRows.stream(seed, &[tree]).random(), share }
    }

    /// Whether a row is sampled.
    #[inline]
    pub fn keeps(&self, row: usize) -> bool {
        unit(self.key, row) < self.share
    }
}

/// Draws the weights of rows for a round: the Bayesian bootstrap.
///
/// **Reference.** Rubin, The Bayesian Bootstrap, 1981.
#[derive(Debug, Clone, Copy)]
pub struct BootstrapWeights {
    key: u64,
}

impl BootstrapWeights {
    /// For round `round` under `seed`.
    pub fn new(seed: u64, round: u64) -> BootstrapWeights {
        BootstrapWeights { key: Purpose::BoostingWeights.stream(seed, &[round]).random() }
    }

    /// The weight of a row: exponentially distributed with mean 1.
    #[inline]
    pub fn of(&self, row: usize) -> f32 {
        -(1.0 - unit(self.key, row)).ln() as f32
    }
}

/// Gradient-based one-side sampling: all rows with large gradients, and a sample of the others with increased weight.
///
/// **Reference.** Ke et al., LightGBM, 2017, section 3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goss {
    /// The share of rows with the largest gradients that is kept.
    pub top_rate: f64,
    /// The share of rows that is sampled from the others.
    pub other_rate: f64,
}

impl Goss {
    /// Sampling starts when there are first predictions.
    pub fn begins(&self, round: usize, learning_rate: f64) -> bool {
        round as f64 >= 1.0 / learning_rate
    }

    /// Samples rows, and scales up gradients and curvatures of those sampled from the others.
    pub fn keep(&self, shards: &mut [Shard], k: usize, seed: u64, round: u64) -> Vec<Vec<bool>> {
        let size = |shard: &Shard, i: usize| (0..k).map(|output| shard.gradient[output][i].abs()).sum::<f32>();
        let mut sizes: Vec<f32> = shards.iter().flat_map(|s| (0..s.rows().len()).map(move |i| size(s, i))).collect();
        let n_top = ((self.top_rate * sizes.len() as f64) as usize).clamp(1, sizes.len());
        let (_, &mut least, _) = sizes.select_nth_unstable_by(n_top - 1, |a, b| b.total_cmp(a));
        let sampler = RowSampler::new(seed, round, (self.other_rate / (1.0 - self.top_rate)).min(1.0));
        let raise = ((1.0 - self.top_rate) / self.other_rate).max(1.0) as f32;
        let keep = |shard: &mut Shard| {
            let mut keep = vec![true; shard.rows().len()];
            for (i, row) in shard.rows().enumerate() {
                if size(shard, i) < least {
                    keep[i] = sampler.keeps(row);
                    for output in 0..k {
                        shard.gradient[output][i] *= raise;
                        shard.curvature[output][i] *= raise;
                    }
                }
            }
            keep
        };
        shards.iter_mut().map(keep).collect()
    }
}

/// A sample of the columns, at least one, ascending. `place`: tree, level, node.
pub fn columns(of: &[u32], share: f64, seed: u64, place: &[u64]) -> Vec<u32> {
    if share >= 1.0 {
        return of.to_vec();
    }
    let n = ((share * of.len() as f64).round() as usize).clamp(1, of.len().max(1));
    let mut all = of.to_vec();
    let mut stream = Purpose::BoostingColumns.stream(seed, place);
    rng::shuffle(&mut stream, &mut all);
    all.truncate(n);
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_the_given_share_of_rows_is_sampled_and_trees_differ() {
        let kept = |tree: u64| (0..100_000).map(|row| RowSampler::new(3, tree, 0.3).keeps(row)).collect::<Vec<_>>();
        let (a, b) = (kept(1), kept(2));
        let count = a.iter().filter(|k| **k).count();
        assert!((29_000..31_000).contains(&count), "{count}");
        let both = a.iter().zip(&b).filter(|(a, b)| **a && **b).count();
        assert!((8_000..10_000).contains(&both), "independent: about 9% in both, not {both}");
    }

    #[test]
    fn weights_are_exponential_and_rounds_differ() {
        let drawn =
            |round: u64| (0..100_000).map(|row| f64::from(BootstrapWeights::new(3, round).of(row))).collect::<Vec<_>>();
        let (a, b) = (drawn(1), drawn(2));
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / 1e5;
        assert!((mean(&mut a.iter().copied()) - 1.0).abs() < 0.02);
        assert!((mean(&mut a.iter().map(|w| w * w)) - 2.0).abs() < 0.1);
        assert!((mean(&mut a.iter().zip(&b).map(|(a, b)| a * b)) - 1.0).abs() < 0.03, "independent");
        assert!(a.iter().all(|w| *w >= 0.0 && w.is_finite()));
    }

    #[test]
    fn the_requested_share_of_columns_is_sampled() {
        let all: Vec<u32> = (0..10).collect();
        assert_eq!(columns(&all, 0.5, 1, &[0]).len(), 5);
        assert_eq!(columns(&all, 0.01, 1, &[0]).len(), 1);
        assert_eq!(columns(&all, 1.0, 1, &[0]), all);
        assert_ne!(columns(&all, 0.5, 1, &[0]), columns(&all, 0.5, 1, &[1]));
    }
}
