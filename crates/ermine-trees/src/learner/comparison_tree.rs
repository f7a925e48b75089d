//! Comparison tree: nodes test whether a row is closer to one training row than to another.
//!
//! **Idea.** Only comparisons of distances are used, so any metric will do: rows may be numbers, categories or strings. Each node draws pairs of its rows with different targets and takes the pair whose
//! split has the largest gain.
//!
//! **Cost.** O(n) distances per pair tried. **Reference.** Haghiri, Garreau and von Luxburg, Comparison-based random forests (2018).

use super::row_tree::{FittedRowTree, RowSpace, RowTreeGrowth, StringSpace, greedy_certificate, grow_for};
use super::{Capabilities, Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained, fit};
use crate::split::node::NodeCriterion;
use crate::tree::DEFAULT_MAX_DEPTH;
use crate::tree::row_tree::{OpenNode, RowLimits, RowTest, RowTreeBuilder, SplitProposal};
use ermine_core::distance::metric::{Custom, Metric};
use ermine_core::distance::rows::RowMatrix;
use ermine_core::distance::strings::StringMetric;
use ermine_core::distance::whiten::Whitening;
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, EncodeOptions, Encoder, Target};
use ermine_core::model::Model;
use ermine_core::param::{ParamSpec, Parameters, Range, Value};
use ermine_core::progress::Observer;
use ermine_core::rng::{Purpose, RngExt};
use ermine_core::{choice, params};
use std::cmp::Ordering;

choice! {
    /// Distance between two rows.
    pub enum ComparisonMetric {
        /// Euclidean distance of standardized numbers and one-hot encoded categories.
        Euclidean = "euclidean",
        /// Sum of absolute differences of the same values.
        Manhattan = "manhattan",
        /// Largest absolute difference of the same values.
        Chebyshev = "chebyshev",
        /// Minkowski distance of the same values, with power p.
        Minkowski = "minkowski",
        /// One minus the cosine of the angle between the same values.
        Cosine = "cosine",
        /// Euclidean distance after whitening (removing scale and correlation).
        Mahalanobis = "mahalanobis",
        /// Fraction of the features that differ.
        Hamming = "hamming",
        /// Edit distance between category names, summed; absolute differences of numbers.
        Edit = "edit",
        /// Number of positions at which category names differ, summed; absolute differences of numbers.
        HammingText = "hamming_text",
    }
}

params! {
    /// A tree whose splits only compare distances to two training rows.
    pub struct ComparisonTree("comparison-tree") {
        /// Distance between two rows: euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis or hamming for numbers, edit or hamming_text for one column of text.
        metric: ComparisonMetric = ComparisonMetric::Euclidean, tune Each;
        /// Power of the minkowski metric: 1 is manhattan, 2 is euclidean.
        p: f64 = 2.0, range Range::at_least(1.0);
        /// Number of pairs of rows that each node tries.
        /// More pairs give better splits and take longer.
        n_pairs: usize = 20, range Range::at_least(1.0), tune Log(1, 100);
        /// Maximum depth of the tree. None for the default limit of 1,024 levels.
        /// Lower values give simpler models that overfit less; 3 to 6 levels are still readable.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// Minimum number of rows in each leaf.
        /// Higher values smooth the predictions and prevent leaves that fit single rows: try 5 to 50 on noisy data.
        min_samples_leaf: usize = 1, range Range::at_least(1.0), tune Log(1, 100);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "comparison-tree",
    summary: "tree whose splits only compare distances to two training rows, for any metric, including metrics of strings",
    capabilities: Capabilities { random: true, ..TREE_CAPABILITIES },
    family: Family::Tree,
};

impl Learner for ComparisonTree {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        self.train_in(self.metric.space(data, self.p)?, data, context)
    }
}

impl ComparisonTree {
    /// Fits a model with a custom distance, as [`ComparisonForest::fit_with`](super::comparison_forest::ComparisonForest::fit_with) does.
    pub fn fit_with(
        &self,
        distance: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<Model> {
        fit(&*self.with_metric(Metric::Custom(Custom::new(distance, false))), data, context)
    }

    /// The same learner with any metric on standardized numbers and one-hot encoded categories.
    pub fn with_metric(&self, metric: Metric) -> Box<dyn Learner> {
        Box::new(CustomMetricLearner { learner: self.clone(), metric })
    }
}

/// A comparison-based learner.
pub(super) trait ComparisonLearner: Learner + Clone {
    /// Trains with this representation of the rows.
    fn train_in(&self, space: RowSpace, data: &Dataset, context: &Context<'_>) -> Result<Trained>;
}

/// A learner with a custom metric on standardized numbers and one-hot encoded categories. Its parameters are those of the wrapped learner.
pub(super) struct CustomMetricLearner<L> {
    pub learner: L,
    pub metric: Metric,
}

impl<L: ComparisonLearner> Parameters for CustomMetricLearner<L> {
    fn owner(&self) -> &'static str {
        self.learner.owner()
    }
    fn specs(&self) -> Vec<ParamSpec> {
        self.learner.specs()
    }
    fn get(&self, name: &str) -> Option<Value> {
        self.learner.get(name)
    }
    fn put(&mut self, name: &str, value: &Value) -> bool {
        self.learner.put(name, value)
    }
    fn fits(&self, name: &str, value: &Value) -> bool {
        self.learner.fits(name, value)
    }
}

impl<L: ComparisonLearner> Learner for CustomMetricLearner<L> {
    fn info(&self) -> &'static LearnerInfo {
        self.learner.info()
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = EncodeOptions { standardize: true, ..Default::default() };
        let space = RowSpace::Encoded(Encoder::fit(data.features(), options), self.metric.clone());
        self.learner.train_in(space, data, context)
    }
}

impl ComparisonLearner for ComparisonTree {
    fn train_in(&self, space: RowSpace, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (rows, width) = space.rows(data.features())?;
        let all: Vec<u32> = (0..data.n_rows() as u32).collect();
        let max_depth = self.max_depth.unwrap_or(DEFAULT_MAX_DEPTH);
        let pairs = PairProposals {
            n_pairs: self.n_pairs,
            limits: RowLimits { max_depth, min_samples_split: 2, min_samples_leaf: self.min_samples_leaf },
            data,
            space: &space,
            rows: &rows,
            width,
            place: &all,
            rank: ranks(data, &rows, width, &all),
            by_number: false,
            seed: context.seed,
        };
        let (tree, cost) = grow_for(data, pairs, context.observer)?;
        let certificate = greedy_certificate(data, cost);
        Ok(Trained { fitted: Box::new(FittedRowTree::new(tree, space, data.task())), certificate })
    }
}

impl ComparisonMetric {
    /// How rows are encoded, and the distance between them.
    pub(super) fn space(self, data: &Dataset, p: f64) -> Result<RowSpace> {
        let encoder = |standardize| {
            let options = EncodeOptions { standardize, ..Default::default() };
            Encoder::fit_weighted(data.features(), options, data.weight())
        };
        let strings = |metric| RowSpace::Strings(StringSpace::new(metric, data.features()));
        let metric = match self {
            ComparisonMetric::Edit => return Ok(strings(StringMetric::Edit)),
            ComparisonMetric::HammingText => return Ok(strings(StringMetric::Hamming)),
            ComparisonMetric::Hamming => return Ok(RowSpace::Encoded(encoder(false), Metric::Hamming)),
            ComparisonMetric::Euclidean => Metric::Euclidean,
            ComparisonMetric::Manhattan => Metric::Manhattan,
            ComparisonMetric::Chebyshev => Metric::Chebyshev,
            ComparisonMetric::Minkowski => Metric::Minkowski { p },
            ComparisonMetric::Cosine => Metric::Cosine,
            ComparisonMetric::Mahalanobis => {
                let encoder = encoder(true);
                let (rows, width) = RowSpace::Encoded(encoder.clone(), Metric::Euclidean).rows(data.features())?;
                let whitening = Whitening::estimated(&RowMatrix::row_major(&rows, width)?)?;
                return Ok(RowSpace::Encoded(encoder, Metric::Mahalanobis(whitening)));
            }
        };
        Ok(RowSpace::Encoded(encoder(true), metric))
    }
}

/// Proposes splits by pairs of rows.
pub(super) struct PairProposals<'a> {
    /// Number of pairs per node.
    pub n_pairs: usize,
    pub limits: RowLimits,
    pub data: &'a Dataset,
    pub space: &'a RowSpace,
    /// Encoded rows, `width` numbers each.
    pub rows: &'a [f64],
    pub width: usize,
    /// The index of each row of the data among them.
    pub place: &'a [u32],
    /// The rank of each row of the data by its values and its target.
    pub rank: Vec<u32>,
    /// Whether tests hold the indices of rows instead of the rows.
    pub by_number: bool,
    pub seed: u64,
}

/// The rank of each row by values and targets; equal rows are adjacent.
pub(super) fn ranks(data: &Dataset, rows: &[f64], width: usize, place: &[u32]) -> Vec<u32> {
    let row = |i: u32| &rows[place[i as usize] as usize * width..][..width];
    let target = |i: u32| match data.target() {
        Target::Classes { codes, .. } => vec![f64::from(codes[i as usize])],
        Target::Values { values, n_outputs: k } => values[i as usize * k..(i as usize + 1) * k].to_vec(),
    };
    let by = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    };
    let mut order: Vec<u32> = (0..data.n_rows() as u32).collect();
    order.sort_by(|&a, &b| by(row(a), row(b)).then_with(|| by(&target(a), &target(b))));
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &row)| rank[row as usize] = place as u32);
    rank
}

impl RowTreeGrowth for PairProposals<'_> {
    fn grow<C: NodeCriterion>(self, criterion: C, observer: &dyn Observer) -> Result<RowTreeBuilder<C>> {
        RowTreeBuilder::grow(self.data.n_rows(), criterion, self.limits, observer, |open| self.propose(open))
    }
}

impl PairProposals<'_> {
    fn row(&self, row: u32) -> &[f64] {
        &self.rows[self.place[row as usize] as usize * self.width..][..self.width]
    }

    fn test(&self, a: u32, b: u32) -> RowTest {
        let pivot = |row: u32| {
            if self.by_number { vec![f64::from(self.place[row as usize])] } else { self.row(row).to_vec() }
        };
        RowTest::Nearer { a: pivot(a), b: pivot(b) }
    }

    fn differ(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        match self.data.target() {
            Target::Classes { codes, .. } => codes[a] != codes[b],
            Target::Values { values, n_outputs: k } => values[a * k..(a + 1) * k] != values[b * k..(b + 1) * k],
        }
    }

    fn propose(&self, open: &OpenNode) -> Vec<SplitProposal> {
        let mut rng = Purpose::ComparisonPairs.stream(self.seed, &[open.node as u64]);
        // A row of weight 2 is drawn twice as often, as if it were there twice; its position in the data makes no difference.
        let mut rows = open.rows.clone();
        rows.sort_by_key(|&row| self.rank[row as usize]);
        let until: Vec<f64> = rows
            .iter()
            .scan(0.0, |sum, &row| {
                *sum += self.data.row_weight(row as usize);
                Some(*sum)
            })
            .collect();
        let mut draw = || {
            let at = rng.random::<f64>() * until[until.len() - 1];
            rows[until.partition_point(|sum| *sum <= at).min(rows.len() - 1)]
        };
        let mut proposals = Vec::new();
        for _ in 0..self.n_pairs {
            let a = draw();
            // A partner with another target; a few tries find one unless nearly all are the same.
            let partner = (0..50).map(|_| draw()).find(|&b| self.differ(a, b) && self.row(a) != self.row(b));
            let other = || rows.iter().copied().find(|&b| self.differ(a, b) && self.row(a) != self.row(b));
            let Some(b) = partner.or_else(other) else { continue };
            let distance =
                |row: u32, other: u32| self.space.distance(self.data.features(), self.row(row), self.row(other));
            // 0 if the row is no farther from a than from b, else 1: exactly as the test decides.
            let side = |&row: &u32| f64::from(u8::from(distance(row, a) > distance(row, b)));
            let score = open.rows.iter().map(side).collect();
            let nearer = self.test(a, b);
            let test = Box::new(move |_| nearer);
            proposals.push(SplitProposal { score, threshold: Some(0.5), test, preference: 1.0 });
        }
        proposals
    }
}
