//! The comparison tree: a node asks only whether a row is nearer to one row than to another.
//!
//! **Idea.** Any metric will do, and nothing but comparisons of distances is used: rows may be numbers, categories or strings. Each node draws some pairs of its rows that differ in their target and takes
//! the pair whose question gains most.
//!
//! **Cost.** O(n) distances for each pair tried. **Reference.** Haghiri, Garreau and von Luxburg, Comparison-based random forests (2018).

use super::row_tree::{FittedRows, RowSpace, WithCriterion, greedy_certificate, grow_for};
use super::{Capabilities, Context, Info, Learner, Trained};
use crate::error::Result;
use crate::matrix::{Dataset, EncodeOptions, Encoder, Target, Task};
use crate::neighbor::metric::Metric;
use crate::neighbor::strings::StringMetric;
use crate::param::Range;
use crate::rng;
use crate::split::node::NodeCriterion;
use crate::tree::rows::{OpenNode, Proposal, RowGrower, RowLimits, RowQuestion};
use crate::{choice, params};
use rand::RngExt;
use std::cmp::Ordering;

choice! {
    /// How far apart two rows are.
    pub enum ComparisonMetric {
        /// Straight-line distance of standardised numbers and 0/1 columns for categories.
        Euclidean = "euclidean",
        /// Sum of absolute differences of the same.
        Manhattan = "manhattan",
        /// Share of the columns that differ.
        Hamming = "hamming",
        /// Fewest single-character edits between the names of categories, added up; differences of numbers.
        Edit = "edit",
        /// Places at which the names of categories differ, added up; differences of numbers.
        StringHamming = "string_hamming",
    }
}

params! {
    /// A tree that asks only which of two rows is nearer.
    pub struct ComparisonTree("comparison-tree") {
        /// How far apart two rows are.
        metric: ComparisonMetric = ComparisonMetric::Euclidean, tune Each;
        /// How many pairs of rows each node tries.
        n_pairs: usize = 20, range Range::at_least(1.0), tune Log(1, 100);
        /// No leaf is deeper than this; none for no limit.
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
};

/// The random stream of a node's pairs.
const PAIRS: u64 = 34;

impl Learner for ComparisonTree {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let encoder = |standardize| {
            let options = EncodeOptions { standardize, ..Default::default() };
            Encoder::fit_weighted(data.features(), options, data.weight())
        };
        let space = match self.metric {
            ComparisonMetric::Euclidean => RowSpace::Encoded(encoder(true), Metric::Euclidean),
            ComparisonMetric::Manhattan => RowSpace::Encoded(encoder(true), Metric::Manhattan),
            ComparisonMetric::Hamming => RowSpace::Encoded(encoder(false), Metric::Hamming),
            ComparisonMetric::Edit => RowSpace::Strings(StringMetric::Edit),
            ComparisonMetric::StringHamming => RowSpace::Strings(StringMetric::Hamming),
        };
        let (rows, width) = space.rows(data.features());
        let rank = ranks(data, &rows, width);
        let pairs = Pairs { learner: self, data, space: &space, rows: &rows, width, rank, seed: context.seed };
        let (tree, cost) = grow_for(data, pairs);
        let certificate = greedy_certificate(data, cost);
        Ok(Trained { fitted: Box::new(FittedRows::new(tree, space, data.task())), certificate })
    }
}

/// Proposes pairs of rows.
struct Pairs<'a> {
    learner: &'a ComparisonTree,
    data: &'a Dataset,
    space: &'a RowSpace,
    rows: &'a [f64],
    width: usize,
    /// Where each row stands among all, by its values and its target.
    rank: Vec<u32>,
    seed: u64,
}

/// The rank of each row in an order by values and targets, in which equal rows stand together.
fn ranks(data: &Dataset, rows: &[f64], width: usize) -> Vec<u32> {
    let row = |i: u32| &rows[i as usize * width..(i as usize + 1) * width];
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
    fn grow<C: NodeCriterion>(self, criterion: C) -> RowGrower<C> {
        let max_depth = self.learner.max_depth.unwrap_or(usize::MAX);
        let limits = RowLimits { max_depth, min_samples_split: 2, min_samples_leaf: self.learner.min_samples_leaf };
        RowGrower::grow(self.data.n_rows(), criterion, limits, |open| self.propose(open))
    }
}

impl Pairs<'_> {
    fn row(&self, row: u32) -> &[f64] {
        &self.rows[row as usize * self.width..(row as usize + 1) * self.width]
    }

    fn differ(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a as usize, b as usize);
        match self.data.target() {
            Target::Classes { codes, .. } => codes[a] != codes[b],
            Target::Values { values, n_outputs: k } => values[a * k..(a + 1) * k] != values[b * k..(b + 1) * k],
        }
    }

    fn propose(&self, open: &OpenNode) -> Vec<Proposal> {
        let mut rng = rng::stream(self.seed, &[PAIRS, open.node as u64]);
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
        for _ in 0..self.learner.n_pairs {
            let a = draw();
            // A partner with another target; a few tries find one unless nearly all are the same.
            let partner = (0..50).map(|_| draw()).find(|&b| self.differ(a, b) && self.row(a) != self.row(b));
            let other = || rows.iter().copied().find(|&b| self.differ(a, b) && self.row(a) != self.row(b));
            let Some(b) = partner.or_else(other) else { continue };
            let (a, b) = (self.row(a).to_vec(), self.row(b).to_vec());
            let features = self.data.features();
            // 0 where it is no farther from a, 1 where it is nearer to b: exactly what the question will say.
            let side = |&row: &u32| {
                let (to_a, to_b) = (
                    self.space.distance(features, self.row(row), &a),
                    self.space.distance(features, self.row(row), &b),
                );
                f64::from(u8::from(to_a > to_b))
            };
            let score = open.rows.iter().map(side).collect();
            let question = Box::new(move |_| RowQuestion::Nearer { a, b });
            proposals.push(Proposal { score, threshold: Some(0.5), question, preference: 1.0 });
        }
        proposals
    }
}
