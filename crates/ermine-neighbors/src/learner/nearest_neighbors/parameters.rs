//! The parameters of nearest neighbours, the words they take, and what a user may bring along in their place.

use super::NearestNeighborsOf;
use crate::search::choice::Kind;
use crate::search::vote::Tie;
use crate::search::weight::{KernelShape, OwnWeights, Weights};
use ermine_core::distance::metric::Custom;
use ermine_core::distance::strings::StringMetric;
use ermine_core::param::Range;
use ermine_core::{choice, params};
use std::sync::Arc;

choice! {
    /// How far apart two rows are.
    pub enum MetricName {
        /// Straight-line distance.
        Euclidean = "euclidean",
        /// Sum of the absolute differences.
        Manhattan = "manhattan",
        /// Largest absolute difference.
        Chebyshev = "chebyshev",
        /// The p-th root of the sum of p-th powers.
        Minkowski = "minkowski",
        /// One minus the cosine of the angle.
        Cosine = "cosine",
        /// Euclidean after taking out scale and correlation, estimated from the training rows.
        Mahalanobis = "mahalanobis",
        /// Share of the columns that differ: categories, numbers and missing values are equal or not.
        Hamming = "hamming",
        /// Gower's: numbers in parts of their range, categories equal or not, missing values left out.
        Mixed = "mixed",
        /// The same, with a missing value as far from everything as can be.
        MixedFar = "mixed_far",
        /// One column of text: the fewest insertions, deletions and replacements of a character.
        Edit = "edit",
        /// One column of text: the places with different characters.
        HammingText = "hamming_text",
    }
}

choice! {
    /// How much each neighbour counts.
    pub enum WeightName {
        /// All the same.
        Uniform = "uniform",
        /// Inverse distance; an exact hit wins.
        Distance = "distance",
        /// A kernel: `1 - u`.
        Triangular = "triangular",
        /// A kernel: `1 - u^2`.
        Epanechnikov = "epanechnikov",
        /// A kernel: `(1 - u^2)^2`.
        Biweight = "biweight",
        /// A kernel: `(1 - u^2)^3`.
        Triweight = "triweight",
        /// A kernel: `(1 - u^3)^3`.
        Tricube = "tricube",
        /// A kernel: `cos(pi u / 2)`.
        Cosine = "cosine",
        /// A kernel: `exp(-u^2 / 2)`.
        Gaussian = "gaussian",
    }
}

choice! {
    /// What decides between classes with equally many votes.
    pub enum TieName {
        /// The class that comes first.
        First = "first",
        /// The next neighbour votes too, and so on.
        NextPoint = "next_point",
        /// The farthest neighbour is dropped, and so on.
        DropFarthest = "drop_farthest",
        /// The sum of inverse distances.
        Distance = "distance",
        /// The neighbours by another metric.
        OtherMetric = "other_metric",
    }
}

choice! {
    /// The kind of index.
    pub enum Algorithm {
        /// What suits the rows.
        Auto = "auto",
        /// A tree of boxes.
        KdTree = "kd_tree",
        /// A vantage-point tree.
        BallTree = "ball_tree",
        /// Every row is read.
        Brute = "brute",
        /// A graph of near rows: approximate, with the share of neighbours found in the certificate.
        Hnsw = "hnsw",
    }
}

choice! {
    /// Which training rows are kept.
    pub enum Keep {
        /// All of them.
        All = "all",
        /// Hart's condensed set: those needed to classify all others by their nearest neighbour.
        Condensed = "condensed",
        /// Wilson's edited set: those that their neighbours agree with.
        Edited = "edited",
    }
}

params! {
    /// The nearest training rows vote, or their mean is taken.
    pub struct NearestNeighbors("nearest-neighbors") {
        /// How many neighbours count.
        n_neighbors: usize = 5, range Range::at_least(1.0), tune Log(1, 50);
        /// Choose the number of neighbours from 1 to this by leave-one-out error, in place of n_neighbors.
        max_neighbors: Option<usize> = None, range Range::at_least(1.0);
        /// Count all training rows within this distance, in place of the nearest n_neighbors; the nearest alone where there are none.
        radius: Option<f64> = None, range Range::more_than(0.0);
        /// How much each neighbour counts.
        weights: WeightName = WeightName::Uniform, tune Each;
        /// The width of a kernel; without one, the distance of the next neighbour after those that count.
        kernel_width: Option<f64> = None, range Range::more_than(0.0);
        /// How far apart two rows are.
        metric: MetricName = MetricName::Minkowski;
        /// The power of the minkowski metric: 1 is manhattan, 2 is euclidean.
        p: f64 = 2.0, range Range::between(1.0, 1000.0);
        /// The covariance of the mahalanobis metric, row after row (of the columns after encoding); estimated from the training rows if none is given.
        covariance: Option<Vec<f64>> = None;
        /// Bring numbers to mean 0 and standard deviation 1 first.
        standardize: bool = false, tune Each;
        /// What decides between classes with equally many votes.
        tie: TieName = TieName::First;
        /// The other metric of tie = other_metric.
        tie_metric: MetricName = MetricName::Manhattan;
        /// The kind of index. All but hnsw give the same neighbours.
        algorithm: Algorithm = Algorithm::Auto;
        /// How many places a search with algorithm = hnsw keeps to go on from: more find more neighbours, later.
        search_width: usize = 100, range Range::between(1.0, 1_000_000.0);
        /// Which training rows are kept (classification).
        keep: Keep = Keep::All;
    }
}

/// What a user brings along: functions, which can't be parameters and aren't written to files.
#[derive(Clone, Default)]
pub struct Own {
    /// The distance between two rows of numbers (encoded, as for the other metrics), in place of `metric`.
    pub metric: Option<Custom>,
    /// How much each neighbour counts, in place of `weights`.
    pub weights: Option<Arc<OwnWeights>>,
}

impl NearestNeighbors {
    /// The same learner with a distance of the user's own. It must be symmetric, 0 or more, and never NaN; `triangle` says whether
    /// `d(x, z) <= d(x, y) + d(y, z)` always holds, so that a tree may use it.
    pub fn with_metric(
        self,
        distance: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
        triangle: bool,
    ) -> NearestNeighborsOf {
        self.with(Own { metric: Some(Custom::new(distance, triangle)), weights: None })
    }

    /// The same learner with weights of the user's own: from the distances of the neighbours, nearest first, to as many weights.
    pub fn with_weights(self, weights: impl Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static) -> NearestNeighborsOf {
        self.with(Own { metric: None, weights: Some(Arc::new(weights)) })
    }

    /// The same learner with what the user brings along.
    pub fn with(self, own: Own) -> NearestNeighborsOf {
        NearestNeighborsOf { params: self, own }
    }

    /// The kind of index that is asked for, if one is.
    pub(super) fn wish(&self) -> Option<Kind> {
        match self.algorithm {
            Algorithm::Auto => None,
            Algorithm::KdTree => Some(Kind::BoxTree),
            Algorithm::BallTree => Some(Kind::VantageTree),
            Algorithm::Brute => Some(Kind::Scan),
            Algorithm::Hnsw => Some(Kind::Graph { width: self.search_width }),
        }
    }

    pub(super) fn weighting(&self) -> Weights {
        let kernel = |shape| Weights::Kernel { shape, width: self.kernel_width };
        match self.weights {
            WeightName::Uniform => Weights::Uniform,
            WeightName::Distance => Weights::Distance,
            WeightName::Triangular => kernel(KernelShape::Triangular),
            WeightName::Epanechnikov => kernel(KernelShape::Epanechnikov),
            WeightName::Biweight => kernel(KernelShape::Biweight),
            WeightName::Triweight => kernel(KernelShape::Triweight),
            WeightName::Tricube => kernel(KernelShape::Tricube),
            WeightName::Cosine => kernel(KernelShape::Cosine),
            WeightName::Gaussian => kernel(KernelShape::Gaussian),
        }
    }

    pub(super) fn tie_rule(&self) -> Tie {
        match self.tie {
            TieName::First => Tie::FirstClass,
            TieName::NextPoint => Tie::NextPoint,
            TieName::DropFarthest => Tie::DropFarthest,
            TieName::Distance => Tie::Distance,
            TieName::OtherMetric => Tie::OtherMetric,
        }
    }
}

/// The form in which rows are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Numbers, with nothing missing.
    Encoded,
    /// Numbers and codes as they are.
    Raw,
    /// Text.
    Text,
}

impl MetricName {
    /// The form in which it compares rows.
    pub(super) fn form(self) -> Form {
        match self {
            MetricName::Hamming | MetricName::Mixed | MetricName::MixedFar => Form::Raw,
            MetricName::Edit | MetricName::HammingText => Form::Text,
            _ => Form::Encoded,
        }
    }

    /// For text, the distance between strings.
    pub(super) fn of_text(self) -> Option<StringMetric> {
        match self {
            MetricName::Edit => Some(StringMetric::Edit),
            MetricName::HammingText => Some(StringMetric::Hamming),
            _ => None,
        }
    }
}
