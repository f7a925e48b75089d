//! The parameters of nearest neighbors, and custom functions.

use super::NearestNeighborsOf;
use crate::search::choice::IndexKind;
use crate::search::vote::TieRule;
use crate::search::weight::{CustomWeights, KernelShape, NeighborWeights};
use ermine_core::distance::metric::Custom;
use ermine_core::distance::strings::StringMetric;
use ermine_core::param::Range;
use ermine_core::{choice, params};
use std::sync::Arc;

choice! {
    /// How far apart two rows are.
    pub enum MetricName {
        /// Euclidean distance.
        Euclidean = "euclidean",
        /// Sum of the absolute differences.
        Manhattan = "manhattan",
        /// Largest absolute difference.
        Chebyshev = "chebyshev",
        /// The p-th root of the sum of p-th powers.
        Minkowski = "minkowski",
        /// One minus the cosine of the angle.
        Cosine = "cosine",
        /// Euclidean after removing scale and correlation, estimated from the training rows.
        Mahalanobis = "mahalanobis",
        /// Share of the columns that differ: categories, numbers and missing values are equal or not.
        Hamming = "hamming",
        /// Gower's distance: numbers relative to their range, categories equal or not, missing values left out.
        Mixed = "mixed",
        /// The same, with missing values at the largest distance from all others.
        MixedFar = "mixed_far",
        /// One column of text: the minimum number of insertions, deletions and substitutions.
        Edit = "edit",
        /// One column of text: the number of positions with different characters.
        HammingText = "hamming_text",
    }
}

choice! {
    /// Weight of each neighbor.
    pub enum WeightName {
        /// All neighbors count the same.
        Uniform = "uniform",
        /// Inverse distance; rows at distance 0 count alone.
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
    /// How ties between classes are broken.
    pub enum TieName {
        /// The class that comes first.
        First = "first",
        /// The next neighbor votes too, and so on.
        NextPoint = "next_point",
        /// The farthest neighbor is dropped, and so on.
        DropFarthest = "drop_farthest",
        /// The sum of inverse distances.
        Distance = "distance",
        /// The neighbors by another metric.
        OtherMetric = "other_metric",
    }
}

choice! {
    /// Index that is searched.
    pub enum SearchAlgorithm {
        /// Chosen by the number of rows and columns and the metric.
        Auto = "auto",
        /// A kd-tree of bounding boxes.
        KdTree = "kd_tree",
        /// A vantage-point tree.
        BallTree = "ball_tree",
        /// Brute force: every row is compared.
        Brute = "brute",
        /// A graph of near rows: approximate, with the share of neighbors found in the certificate.
        Hnsw = "hnsw",
    }
}

choice! {
    /// Training rows to keep.
    pub enum PrototypeSelection {
        /// All of them.
        All = "all",
        /// Hart's condensed set: those needed to classify all others by their nearest neighbor.
        Condensed = "condensed",
        /// Wilson's edited set: those that their neighbors agree with.
        Edited = "edited",
    }
}

params! {
    /// Predicts the majority class or the mean of the nearest training rows.
    pub struct NearestNeighbors("nearest-neighbors") {
        /// Number of neighbors that vote (classification) or are averaged (regression).
        /// More neighbors give smoother predictions: 1 fits every training row. Choose it by cross-validation, or with `max_neighbors`.
        n_neighbors: usize = 5, range Range::at_least(1.0), tune Log(1, 50);
        /// Choose the number of neighbors from 1 to this by leave-one-out error; overrides `n_neighbors`.
        /// One search of the training set is enough for all of them.
        max_neighbors: Option<usize> = None, range Range::at_least(1.0);
        /// Use all training rows within this distance instead of the `n_neighbors` nearest; the nearest one if there are none.
        /// For data whose density varies little; the number of neighbors then follows the density.
        radius: Option<f64> = None, range Range::more_than(0.0);
        /// Weight of each neighbor: equal (uniform), inverse distance (distance), or a kernel of the distance.
        /// distance gives near neighbors more influence, which helps if the data are sparse.
        weights: WeightName = WeightName::Uniform, tune Each;
        /// Width of the kernel, for `weights` that are kernels; none for the distance of the first neighbor that is not counted.
        kernel_width: Option<f64> = None, range Range::more_than(0.0);
        /// Distance between two rows.
        /// euclidean and minkowski need comparable units (see `standardize`); manhattan is less sensitive to outliers; hamming compares categories, mixed (Gower) numbers and categories, edit and hamming_text one column of text.
        metric: MetricName = MetricName::Minkowski;
        /// Power of the minkowski metric: 1 is manhattan, 2 is euclidean.
        p: f64 = 2.0, range Range::between(1.0, 1000.0);
        /// Covariance matrix of the mahalanobis metric, row by row, for the encoded columns; estimated from the training set if not given.
        covariance: Option<Vec<f64>> = None;
        /// Standardize numeric columns to mean 0 and standard deviation 1 first.
        /// Without it, columns in large units dominate the distance. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false, tune Each;
        /// How ties between classes are broken: the first class, one more or one fewer neighbor, the distances, or the neighbors by `tie_metric`.
        tie: TieName = TieName::First;
        /// Second metric, for `tie` = other_metric.
        tie_metric: MetricName = MetricName::Manhattan;
        /// Search index: auto, kd_tree, ball_tree, brute or hnsw (approximate).
        /// All but hnsw return the same neighbors. Use hnsw for millions of rows with many columns; the certificate states its recall.
        algorithm: SearchAlgorithm = SearchAlgorithm::Auto;
        /// Number of candidates that a search with `algorithm` = hnsw keeps.
        /// Higher values find more of the true neighbors but take longer.
        search_width: usize = 100, range Range::between(1.0, 1_000_000.0);
        /// Training rows to keep: all, Hart's condensed set (rows needed to classify the others) or Wilson's edited set (rows that their neighbors agree with). For classification.
        /// Smaller sets make the model smaller and prediction faster.
        keep: PrototypeSelection = PrototypeSelection::All;
    }
}

/// Custom functions, which can't be parameters and aren't saved to files.
#[derive(Clone, Default)]
pub struct CustomFunctions {
    /// The distance between two numeric (encoded) rows, instead of `metric`.
    pub metric: Option<Custom>,
    /// The weights of the neighbors, instead of `weights`.
    pub weights: Option<Arc<CustomWeights>>,
}

impl NearestNeighbors {
    /// The same learner with a custom distance, which must be symmetric, nonnegative and never NaN; `triangle` states that `d(x, z) <= d(x, y) + d(y, z)` always holds, so that trees can use it.
    pub fn with_metric(
        self,
        distance: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
        triangle: bool,
    ) -> NearestNeighborsOf {
        self.with(CustomFunctions { metric: Some(Custom::new(distance, triangle)), weights: None })
    }

    /// The same learner with custom weights: a function from the distances of the neighbors, nearest first, to their weights.
    pub fn with_weights(self, weights: impl Fn(&[f64]) -> Vec<f64> + Send + Sync + 'static) -> NearestNeighborsOf {
        self.with(CustomFunctions { metric: None, weights: Some(Arc::new(weights)) })
    }

    /// The same learner with custom functions.
    pub fn with(self, own: CustomFunctions) -> NearestNeighborsOf {
        NearestNeighborsOf { params: self, own }
    }

    /// The requested kind of index, if any.
    pub(super) fn wish(&self) -> Option<IndexKind> {
        match self.algorithm {
            SearchAlgorithm::Auto => None,
            SearchAlgorithm::KdTree => Some(IndexKind::BoxTree),
            SearchAlgorithm::BallTree => Some(IndexKind::VantageTree),
            SearchAlgorithm::Brute => Some(IndexKind::Scan),
            SearchAlgorithm::Hnsw => Some(IndexKind::Graph { width: self.search_width }),
        }
    }

    pub(super) fn weighting(&self) -> NeighborWeights {
        let kernel = |shape| NeighborWeights::Kernel { shape, width: self.kernel_width };
        match self.weights {
            WeightName::Uniform => NeighborWeights::Uniform,
            WeightName::Distance => NeighborWeights::Distance,
            WeightName::Triangular => kernel(KernelShape::Triangular),
            WeightName::Epanechnikov => kernel(KernelShape::Epanechnikov),
            WeightName::Biweight => kernel(KernelShape::Biweight),
            WeightName::Triweight => kernel(KernelShape::Triweight),
            WeightName::Tricube => kernel(KernelShape::Tricube),
            WeightName::Cosine => kernel(KernelShape::Cosine),
            WeightName::Gaussian => kernel(KernelShape::Gaussian),
        }
    }

    pub(super) fn tie_rule(&self) -> TieRule {
        match self.tie {
            TieName::First => TieRule::FirstClass,
            TieName::NextPoint => TieRule::NextPoint,
            TieName::DropFarthest => TieRule::DropFarthest,
            TieName::Distance => TieRule::Distance,
            TieName::OtherMetric => TieRule::OtherMetric,
        }
    }
}

/// The form in which rows are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowForm {
    /// Numbers without missing values.
    Encoded,
    /// Numbers and category codes.
    Raw,
    /// Text.
    Text,
}

impl MetricName {
    /// The form in which the metric compares rows.
    pub(super) fn form(self) -> RowForm {
        match self {
            MetricName::Hamming | MetricName::Mixed | MetricName::MixedFar => RowForm::Raw,
            MetricName::Edit | MetricName::HammingText => RowForm::Text,
            _ => RowForm::Encoded,
        }
    }

    /// The string metric, for text.
    pub(super) fn of_text(self) -> Option<StringMetric> {
        match self {
            MetricName::Edit => Some(StringMetric::Edit),
            MetricName::HammingText => Some(StringMetric::Hamming),
            _ => None,
        }
    }
}
