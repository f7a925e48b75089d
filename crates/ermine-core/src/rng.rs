//! Random number streams. Every stream is derived from the user's seed and its purpose (which tree, fold or round), never from a thread, so results don't depend on the number of
//! threads.
//!
//! The generator is xoshiro256++, whose output is fixed by its specification and does not depend on the platform.
//! [`Purpose`] lists all uses of random numbers. Code gets its stream from a purpose; [`stream`] itself is for tests.
//! [`Purpose`] lists everything that random numbers are drawn for. Code that needs random numbers takes a stream from its purpose; [`stream`] itself is for tests.

pub use rand::RngExt;
use rand::SeedableRng;
pub use rand_xoshiro::Xoshiro256PlusPlus as Rng;

macro_rules! purposes {
    ($($(#[$doc:meta])* $name:ident = $tag:literal,)*) => {
        /// What random numbers are used for. The tag is part of the stream's derivation, so two purposes with the same seed draw different numbers. A tag must not change, since models trained
        /// with the same seed would change. New purposes take an unused number.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u64)]
        pub enum Purpose {
            $($(#[$doc])* $name = $tag,)*
        }

        impl Purpose {
            /// All purposes.
            pub const ALL: &'static [Purpose] = &[$(Purpose::$name),*];
        }
    };
}

purposes! {
    /// Rows of the training and the test part of a data set.
    TrainTestSplit = 1,
    /// Order of the rows in a pass of stochastic gradient descent.
    SgdOrder = 2,
    /// Assignment of rows to folds.
    Folds = 3,
    /// Rows of a bootstrap sample for a confidence interval.
    Bootstrap = 11,
    /// Settings drawn by a random search.
    SearchSettings = 17,
    /// Rows of the early rounds of successive halving.
    SearchRows = 18,
    /// Rows that a point of a learning curve is trained on.
    LearningCurveRows = 19,
    /// Rows that a tree of a forest is trained on.
    ForestRows = 20,
    /// Splits that a tree of a forest tries.
    ForestSplits = 21,
    /// Shuffled columns for the out-of-bag importance of a forest.
    ForestImportance = 22,
    /// Shuffled columns for permutation importance.
    PermutationImportance = 23,
    /// Rows that the curves of a report are computed on.
    ReportRows = 29,
    /// Features and thresholds that a node of a tree tries.
    NodeSplits = 30,
    /// Order of equally good features in a node of a tree.
    SplitTies = 105,
    /// Folds that choose the pruning penalty of a tree.
    PruningFolds = 31,
    /// Perturbations of an oblique split.
    ObliqueTurns = 33,
    /// Pairs of rows that a node of a comparison tree tries.
    ComparisonPairs = 34,
    /// Rows and seed of a tree of a comparison forest.
    ComparisonForestTree = 35,
    /// Folds that choose the penalty of a linear model.
    LinearFolds = 40,
    /// Seeds of the binary models of a reduction to two classes.
    MulticlassModel = 41,
    /// Random output codes.
    OutputCode = 42,
    /// Seeds of the models of a multilabel reduction.
    MultilabelModel = 43,
    /// Order of the labels in a classifier chain.
    ChainOrder = 44,
    /// Sample of the pairs of a ranking.
    RankingPairs = 45,
    /// Pivots of the quicksort by a learned preference.
    RankingPivots = 46,
    /// Rows held out for early stopping of boosting.
    BoostingValidation = 100,
    /// Rows that a boosted tree is trained on.
    BoostingRows = 101,
    /// Columns that a boosted tree, level or node may split on.
    BoostingColumns = 102,
    /// Rounds dropped by DART.
    BoostingDropout = 103,
    /// Folds that choose the number of boosting rounds.
    BoostingFolds = 104,
    /// Seeds of the models whose mean is a boosting model.
    BoostingMember = 106,
    /// Weights of the rows that a boosted tree is trained on.
    BoostingWeights = 107,
    /// Order of the rows in a pass of the perceptron.
    PerceptronOrder = 4,
    /// Rows that bin edges are computed from.
    BinSample = 5,
    /// Order of the rows for target statistics.
    TargetStatisticsOrder = 6,
    /// Rows, columns and seed of a bagging member.
    BaggingMember = 36,
    /// Seed of a round of AdaBoost.
    AdaBoostRound = 48,
    /// Rows held out for early stopping of stochastic gradient descent.
    SgdValidation = 49,
    /// Rows of a round of AdaBoost over a learner that takes no weights.
    AdaBoostSample = 47,
    /// First direction of the search for a negative eigenvalue of a kernel matrix.
    MercerStart = 50,
    /// Perturbations of the targets that break ties in quantile regression.
    QuantileTies = 51,
    /// Order of the rows in a pass of the dual coordinate solver.
    DualCoordinateOrder = 52,
    /// Highest layer of a point in the neighbor graph.
    GraphLayers = 60,
    /// Order in which points enter the neighbor graph.
    GraphOrder = 61,
    /// Candidates that a bag of the ensemble selection of `auto` may choose from.
    AutoBags = 70,
    /// Rows that the ensemble selection of `auto` looks at.
    AutoRows = 71,
    /// Configurations that `auto` tries after its portfolio.
    AutoConfigurations = 72,
}

impl Purpose {
    /// The stream for this purpose at `place` under `seed`, e.g. `Purpose::ForestRows.stream(seed, &[12])` for the tree of index 12.
    pub fn stream(self, seed: u64, place: &[u64]) -> Rng {
        stream_from(self::place(mix(seed), self as u64), place)
    }

    /// The seed of the `part`-th of several learners that are trained for this purpose.
    pub fn seed(self, seed: u64, part: u64) -> u64 {
        place(place(seed, self as u64), part)
    }
}

/// The stream for `place` under `seed`.
pub fn stream(seed: u64, place: &[u64]) -> Rng {
    stream_from(mix(seed), place)
}

fn stream_from(state: u64, place: &[u64]) -> Rng {
    Rng::seed_from_u64(place.iter().fold(state, |state, &part| self::place(state, part)))
}

/// The finalizer of SplitMix64: a bijection of 64-bit words without visible structure.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of `place` and `part`, for nested places such as the nodes of a tree.
pub fn place(place: u64, part: u64) -> u64 {
    mix(place ^ mix(part.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// A uniform random integer from 0 to `n - 1`. `n` must be at least 1.
pub fn below(rng: &mut Rng, n: usize) -> usize {
    rng.random_range(0..n as u64) as usize
}

/// A random number in [0, 1).
pub fn uniform(rng: &mut Rng) -> f64 {
    rng.random()
}

/// Shuffles `items` uniformly (Fisher-Yates).
pub fn shuffle<T>(rng: &mut Rng, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(rng, i + 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_differ_by_place() {
        let draw = |seed, place: &[u64]| below(&mut stream(seed, place), 1_000_000);
        assert_eq!(draw(7, &[1, 2]), draw(7, &[1, 2]));
        let drawn: std::collections::HashSet<usize> = (0..100).map(|i| draw(7, &[1, i])).collect();
        assert!(drawn.len() > 98, "streams of neighboring places look alike: {}", drawn.len());
        assert_ne!(draw(7, &[1, 2]), draw(8, &[1, 2]));
    }

    #[test]
    fn purposes_have_unique_tags() {
        let mut tags: Vec<u64> = Purpose::ALL.iter().map(|&purpose| purpose as u64).collect();
        tags.sort_unstable();
        tags.dedup();
        assert_eq!(tags.len(), Purpose::ALL.len());
    }

    #[test]
    fn the_stream_of_a_purpose_is_that_of_its_tag() {
        let same = |purpose: Purpose, number| {
            let (mut a, mut b) = (purpose.stream(7, &[5, 6]), stream(7, &[number, 5, 6]));
            (0..4).all(|_| below(&mut a, 1 << 40) == below(&mut b, 1 << 40))
        };
        assert!(same(Purpose::BoostingRows, 101) && same(Purpose::QuantileTies, 51));
        assert_eq!(Purpose::MulticlassModel.seed(7, 2), place(place(7, 41), 2));
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
