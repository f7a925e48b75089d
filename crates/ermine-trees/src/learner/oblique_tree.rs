//! Oblique tree: nodes split on linear combinations of the features, w'x <= r.
//!
//! **Idea.** If classes are separated by an oblique line, axis-parallel thresholds need a staircase of splits where one linear combination is enough. Each node tries the best threshold of every single
//! feature and of several directions: linear discriminants that separate one class from the others (least-squares directions for regression), random perturbations of them, and sparse versions.
//!
//! **Formula.** Discriminant: w = (S + e I)^-1 (m_1 - m_0), with the class means m and the within-class scatter S; least squares: w = (X'X + e I)^-1 X'y, centered. The threshold r is the best one of the
//! projected rows by Gini impurity or squared error.
//!
//! **Cost.** O(n d^2 + d^3) per node and class, plus O(n log n) per direction. **Reference.** Murthy, Kasif and Salzberg, A system for induction of oblique decision trees (OC1, 1994); Loh and Shih, Split
//! selection methods for classification trees (1997).

use super::row_tree::{FittedRowTree, RowSpace, RowTreeGrowth, greedy_certificate, grow_for};
use super::{Capabilities, Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained};
use crate::split::node::NodeCriterion;
use crate::tree::DEFAULT_MAX_DEPTH;
use crate::tree::row_tree::{OpenNode, RowLimits, RowTest, RowTreeBuilder, SplitProposal, dot};
use ermine_core::distance::metric::Metric;
use ermine_core::error::Result;
use ermine_core::linalg::{Cholesky, Matrix};
use ermine_core::matrix::{Dataset, EncodeOptions, Encoder, Target};
use ermine_core::param::Range;
use ermine_core::params;
use ermine_core::progress::Observer;
use ermine_core::rng::{self, Purpose};

params! {
    /// A tree that splits on linear combinations of the features.
    pub struct ObliqueTree("oblique-tree") {
        /// Maximum depth of the tree. None for the default limit of 1,024 levels.
        /// Lower values give simpler models that overfit less; 3 to 6 levels are still readable.
        max_depth: Option<usize> = None, range Range::at_least(1.0), tune Linear(2, 12);
        /// Minimum number of rows a node needs to be split.
        min_samples_split: usize = 2, range Range::at_least(2.0), tune Log(2, 100);
        /// Minimum number of rows in each leaf.
        /// Higher values smooth the predictions and prevent leaves that fit single rows: try 5 to 50 on noisy data.
        min_samples_leaf: usize = 1, range Range::at_least(1.0), tune Log(1, 100);
        /// Number of random perturbations of the best direction that each node tries.
        /// More find better splits and take longer.
        n_turns: usize = 20, range Range::at_least(0.0), tune Linear(0, 100);
        /// Minimum gain of an oblique split, as a multiple of the gain of the best single-feature threshold.
        /// Higher values give trees that are easier to read; 1 always takes the better split.
        preference: f64 = 1.05, range Range::at_least(1.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "oblique-tree",
    summary: "tree that splits on linear combinations of the features; small trees where class boundaries are oblique",
    capabilities: Capabilities { missing: false, nominal: false, random: true, ..TREE_CAPABILITIES },
    family: Family::Tree,
};

impl Learner for ObliqueTree {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let encoder = Encoder::fit(data.features(), EncodeOptions { standardize: true, ..Default::default() });
        let space = RowSpace::Encoded(encoder, Metric::Euclidean);
        let (rows, width) = space.rows(data.features())?;
        let directions = ObliqueProposals { learner: self, data, rows: &rows, width, seed: context.seed };
        let (tree, cost) = grow_for(data, directions, context.observer)?;
        let certificate = greedy_certificate(data, cost);
        Ok(Trained { fitted: Box::new(FittedRowTree::new(tree, space, data.task())), certificate })
    }
}

/// Proposes directions for nodes.
struct ObliqueProposals<'a> {
    learner: &'a ObliqueTree,
    data: &'a Dataset,
    rows: &'a [f64],
    width: usize,
    seed: u64,
}

impl RowTreeGrowth for ObliqueProposals<'_> {
    fn grow<C: NodeCriterion>(self, criterion: C, observer: &dyn Observer) -> Result<RowTreeBuilder<C>> {
        let limits = RowLimits {
            max_depth: self.learner.max_depth.unwrap_or(DEFAULT_MAX_DEPTH),
            min_samples_split: self.learner.min_samples_split,
            min_samples_leaf: self.learner.min_samples_leaf,
        };
        RowTreeBuilder::grow(self.data.n_rows(), criterion, limits, observer, |open| self.propose(open))
    }
}

impl ObliqueProposals<'_> {
    fn row(&self, row: u32) -> &[f64] {
        &self.rows[row as usize * self.width..(row as usize + 1) * self.width]
    }

    fn proposal(&self, open: &OpenNode, weights: Vec<f64>, preference: f64) -> SplitProposal {
        let score = open.rows.iter().map(|&row| dot(&weights, self.row(row))).collect();
        let test = Box::new(move |threshold| RowTest::Linear { weights, threshold });
        SplitProposal { score, threshold: None, test, preference }
    }

    fn propose(&self, open: &OpenNode) -> Vec<SplitProposal> {
        let axis = |j: usize| (0..self.width).map(|k| f64::from(u8::from(k == j))).collect::<Vec<f64>>();
        let mut proposals: Vec<SplitProposal> = (0..self.width).map(|j| self.proposal(open, axis(j), 1.0)).collect();
        let preference = 1.0 / self.learner.preference;
        let found = self.directions(open);
        let mut rng = Purpose::ObliqueTurns.stream(self.seed, &[open.node as u64]);
        for direction in &found {
            for _ in 0..self.learner.n_turns / found.len().max(1) {
                // One weight changes by up to the length of the direction.
                let mut turned = direction.clone();
                let j = rng::below(&mut rng, self.width);
                turned[j] += rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0;
                proposals.push(self.proposal(open, turned, preference));
            }
            // Dropping small weights gives a simpler split that is often as good.
            let largest = direction.iter().fold(0.0f64, |most, w| most.max(w.abs()));
            let sparse = direction.iter().map(|&w| if w.abs() >= 0.1 * largest { w } else { 0.0 }).collect();
            proposals.push(self.proposal(open, sparse, preference));
            proposals.push(self.proposal(open, direction.clone(), preference));
        }
        proposals
    }

    /// Candidate directions of unit length.
    fn directions(&self, open: &OpenNode) -> Vec<Vec<f64>> {
        let responses: Vec<Box<dyn Fn(u32) -> f64 + '_>> = match self.data.target() {
            // Least squares on a class indicator points along the discriminant.
            Target::Classes { codes, labels } => (0..labels.len() - usize::from(labels.len() == 2))
                .map(|k| Box::new(move |row: u32| f64::from(u8::from(codes[row as usize] as usize == k))) as _)
                .collect(),
            Target::Values { values, n_outputs } => {
                (0..*n_outputs).map(|k| Box::new(move |row: u32| values[row as usize * n_outputs + k]) as _).collect()
            }
        };
        self.least_squares(open, &responses)
    }

    fn least_squares(&self, open: &OpenNode, responses: &[Box<dyn Fn(u32) -> f64 + '_>]) -> Vec<Vec<f64>> {
        let (d, weight) = (self.width, |row: u32| self.data.row_weight(row as usize));
        let total: f64 = open.rows.iter().map(|&row| weight(row)).sum();
        let mut mean = vec![0.0; d];
        for &row in &open.rows {
            mean.iter_mut().zip(self.row(row)).for_each(|(m, x)| *m += weight(row) / total * x);
        }
        let mut scatter = Matrix::zeros(d, d);
        let mut right = vec![vec![0.0; d]; responses.len()];
        let mut centered = vec![0.0; d];
        let average = |y: &dyn Fn(u32) -> f64| open.rows.iter().map(|&row| weight(row) / total * y(row)).sum::<f64>();
        let averages: Vec<f64> = responses.iter().map(|y| average(y)).collect();
        for &row in &open.rows {
            centered.iter_mut().zip(self.row(row)).zip(&mean).for_each(|((c, x), m)| *c = x - m);
            for i in 0..d {
                let w = weight(row) * centered[i];
                scatter.row_mut(i).iter_mut().zip(&centered).for_each(|(s, c)| *s += w * c);
                for ((b, y), average) in right.iter_mut().zip(responses).zip(&averages) {
                    b[i] += w * (y(row) - average);
                }
            }
        }
        let trace: f64 = scatter.diagonal().iter().sum();
        // With few rows or collinear columns the system is singular: a small ridge makes it solvable.
        for i in 0..d {
            scatter.row_mut(i)[i] += 1e-3 * trace / d as f64 + 1e-12;
        }
        let Some(factor) = Cholesky::new(&scatter, 1e-14) else { return Vec::new() };
        let unit = |mut b: Vec<f64>| {
            factor.solve(&mut b);
            let length = dot(&b, &b).sqrt();
            let fine = length > 0.0 && length.is_finite();
            fine.then(|| b.iter().map(|w| w / length).collect::<Vec<f64>>())
        };
        right.into_iter().filter_map(unit).collect()
    }
}
