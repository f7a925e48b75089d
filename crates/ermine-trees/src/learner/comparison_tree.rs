//! The comparison tree: a node asks only whether a row is nearer to one row than to another.
//!
//! **Idea.** Any metric will do, and nothing but comparisons of distances is used: rows may be numbers, categories or strings. Each node draws some pairs of its rows that differ in their target and takes
//! the pair whose question gains most.
//!
//! **Cost.** O(n) distances for each pair tried. **Reference.** Haghiri, Garreau and von Luxburg, Comparison-based random forests (2018).

use super::row_tree::{FittedRows, RowSpace, StringSpace, WithCriterion, greedy_certificate, grow_for};
use super::{Capabilities, Context, Family, Info, Learner, Trained, fit};
use crate::split::node::NodeCriterion;
use crate::tree::DEEPEST;
use crate::tree::rows::{OpenNode, Proposal, RowGrower, RowLimits, RowQuestion};
use ermine_core::distance::metric::{Custom, Metric};
use ermine_core::distance::rows::Rows;
use ermine_core::distance::strings::StringMetric;
use ermine_core::distance::whiten::Whitening;
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, EncodeOptions, Encoder, Target, Task};
use ermine_core::model::Model;
use ermine_core::param::{ParamSpec, Parameters, Range, Value};
use ermine_core::progress::Observer;
use ermine_core::rng::{Purpose, RngExt};
use ermine_core::{choice, params};
use std::cmp::Ordering;

choice! {
    /// How far apart two rows are.
    pub enum ComparisonMetric {
        /// Straight-line distance of standardised numbers and 0/1 columns for categories.
        Euclidean = "euclidean",
        /// Sum of absolute differences of the same.
        Manhattan = "manhattan",
        /// Largest absolute difference of the same.
        Chebyshev = "chebyshev",
        /// The power p of the differences.
        Minkowski = "minkowski",
        /// One minus the cosine of the angle between the same.
        Cosine = "cosine",
        /// Straight-line distance after taking out scale and correlation.
        Mahalanobis = "mahalanobis",
        /// Share of the columns that differ.
        Hamming = "hamming",
        /// Fewest single-character edits between the names of categories, added up; differences of numbers.
        Edit = "edit",
        /// Places at which the names of categories differ, added up; differences of numbers.
        HammingText = "hamming_text",
    }
}

params! {
    /// A tree that asks only which of two rows is nearer.
    pub struct ComparisonTree("comparison-tree") {
        /// How far apart two rows are.
        metric: ComparisonMetric = ComparisonMetric::Euclidean, tune Each;
        /// The power of the minkowski metric.
        p: f64 = 2.0, range Range::at_least(1.0);
        /// How many pairs of rows each node tries.
        n_pairs: usize = 20, range Range::at_least(1.0), tune Log(1, 100);
        /// No leaf is deeper than this; none for 1,024.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 20);
        /// Every leaf has at least this many rows.
        min_samples_leaf: usize = 1, range Range::at_least(1.0), tune Log(1, 100);
    }
}

static INFO: Info = Info {
    name: "comparison-tree",
    summary: "a tree that asks only which of two rows is nearer, for any metric, strings too",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: true,
        weights: true,
        missing: true,
        nominal: true,
        sparse: false,
        probabilities: true,
        random: true,
    },
    family: Family::Tree,
};

impl Learner for ComparisonTree {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        self.train_in(self.metric.space(data, self.p)?, data, context)
    }
}

impl ComparisonTree {
    /// Learns a model with a user's own distance between rows, as [`ComparisonForest::fit_with`](super::comparison_forest::ComparisonForest::fit_with) does.
    pub fn fit_with(
        &self,
        distance: impl Fn(&[f64], &[f64]) -> f64 + Send + Sync + 'static,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<Model> {
        fit(&*self.with_metric(Metric::Custom(Custom::new(distance, false))), data, context)
    }

    /// The same learner with any metric between numbers standardised and categories as 0/1 columns.
    pub fn with_metric(&self, metric: Metric) -> Box<dyn Learner> {
        Box::new(Own { learner: self.clone(), metric })
    }
}

/// A learner by comparisons in any space.
pub(super) trait InSpace: Learner + Clone {
    /// Learns in a space.
    fn train_in(&self, space: RowSpace, data: &Dataset, context: &Context<'_>) -> Result<Trained>;
}

/// A learner with a user's own metric: between numbers standardised, categories as 0/1 columns. Its parameters are those of the learner.
pub(super) struct Own<L> {
    pub learner: L,
    pub metric: Metric,
}

impl<L: InSpace> Parameters for Own<L> {
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

impl<L: InSpace> Learner for Own<L> {
    fn info(&self) -> &'static Info {
        self.learner.info()
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = EncodeOptions { standardize: true, ..Default::default() };
        let space = RowSpace::Encoded(Encoder::fit(data.features(), options), self.metric.clone());
        self.learner.train_in(space, data, context)
    }
}

impl InSpace for ComparisonTree {
    fn train_in(&self, space: RowSpace, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (rows, width) = space.rows(data.features())?;
        let all: Vec<u32> = (0..data.n_rows() as u32).collect();
        let max_depth = self.max_depth.unwrap_or(DEEPEST);
        let pairs = Pairs {
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
        Ok(Trained { fitted: Box::new(FittedRows::new(tree, space, data.task())), certificate })
    }
}

impl ComparisonMetric {
    /// How rows of the data become numbers, and how far they are apart.
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
                let whitening = Whitening::estimated(&Rows::row_major(&rows, width)?)?;
                return Ok(RowSpace::Encoded(encoder, Metric::Mahalanobis(whitening)));
            }
        };
        Ok(RowSpace::Encoded(encoder(true), metric))
    }
}

/// Proposes pairs of rows.
pub(super) struct Pairs<'a> {
    /// How many for each node.
    pub n_pairs: usize,
    pub limits: RowLimits,
    pub data: &'a Dataset,
    pub space: &'a RowSpace,
    /// Rows as numbers, `width` each.
    pub rows: &'a [f64],
    pub width: usize,
    /// Where each row of the data stands among them.
    pub place: &'a [u32],
    /// Where each row of the data stands among all, by its values and its target.
    pub rank: Vec<u32>,
    /// Whether questions name rows by their place, instead of holding them.
    pub by_number: bool,
    pub seed: u64,
}

/// The rank of each row in an order by values and targets, in which equal rows stand together.
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

impl WithCriterion for Pairs<'_> {
    fn grow<C: NodeCriterion>(self, criterion: C, observer: &dyn Observer) -> Result<RowGrower<C>> {
        RowGrower::grow(self.data.n_rows(), criterion, self.limits, observer, |open| self.propose(open))
    }
}

impl Pairs<'_> {
    fn row(&self, row: u32) -> &[f64] {
        &self.rows[self.place[row as usize] as usize * self.width..][..self.width]
    }

    fn question(&self, a: u32, b: u32) -> RowQuestion {
        let said = |row: u32| {
            if self.by_number { vec![f64::from(self.place[row as usize])] } else { self.row(row).to_vec() }
        };
        RowQuestion::Nearer { a: said(a), b: said(b) }
    }

    fn differ(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        match self.data.target() {
            Target::Classes { codes, .. } => codes[a] != codes[b],
            Target::Values { values, n_outputs: k } => values[a * k..(a + 1) * k] != values[b * k..(b + 1) * k],
        }
    }

    fn propose(&self, open: &OpenNode) -> Vec<Proposal> {
        let mut rng = Purpose::ComparisonPairs.stream(self.seed, &[open.node as u64]);
        // A row that counts twice is drawn twice as often, as if it were there twice; where it stands in the data makes no difference.
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
            // 0 where it is no farther from a, 1 where it is nearer to b: exactly what the question will say.
            let side = |&row: &u32| f64::from(u8::from(distance(row, a) > distance(row, b)));
            let score = open.rows.iter().map(side).collect();
            let nearer = self.question(a, b);
            let question = Box::new(move |_| nearer);
            proposals.push(Proposal { score, threshold: Some(0.5), question, preference: 1.0 });
        }
        proposals
    }
}
