//! Random streams. Every stream is derived from the user's seed and the place that needs it (which tree, which fold,
//! which round), never from a thread, so that the same seed gives the same model on any number of threads.
//!
//! The generator is xoshiro256++, whose output is fixed by its specification and does not depend on the platform.

pub use rand::RngExt;
use rand::SeedableRng;
pub use rand_xoshiro::Xoshiro256PlusPlus as Rng;

/// The stream that belongs to `place` under `seed`, e.g. `stream(seed, &[TREE, 12])`.
pub fn stream(seed: u64, place: &[u64]) -> Rng {
    let mixed = place.iter().fold(mix(seed), |state, &part| self::place(state, part));
    Rng::seed_from_u64(mixed)
}

/// The finaliser of SplitMix64: a bijection of 64-bit words without visible structure.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The place of the `part`-th thing within `place`, as one number: for places as deep as the nodes of a tree.
pub fn place(place: u64, part: u64) -> u64 {
    mix(place ^ mix(part.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// A number from 0 to `n - 1`, each equally likely. `n` must be at least 1.
pub fn below(rng: &mut Rng, n: usize) -> usize {
    rng.random_range(0..n as u64) as usize
}

/// A number from 0 up to, but not, 1.
pub fn uniform(rng: &mut Rng) -> f64 {
    rng.random()
}

/// Puts `items` in a random order, each order equally likely (Fisher-Yates).
pub fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(rng, i + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_for_ever_and_differ_by_place() {
        let draw = |seed, place: &[u64]| below(&mut stream(seed, place), 1_000_000);
        assert_eq!(draw(7, &[1, 2]), draw(7, &[1, 2]));
        let drawn: std::collections::HashSet<usize> = (0..100).map(|i| draw(7, &[1, i])).collect();
        assert!(drawn.len() > 98, "streams of neighbouring places look alike: {}", drawn.len());
        assert_ne!(draw(7, &[1, 2]), draw(8, &[1, 2]));
    }

    #[test]
    fn a_shuffle_is_a_permutation() {
        let mut items: Vec<u32> = (0..1000).collect();
        shuffle(&mut stream(1, &[]), &mut items);
        assert_ne!(items, (0..1000).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..1000).collect::<Vec<_>>());
    }
}
