//! Comparison-based forest: the average of many comparison trees.
//!
//! **Idea.** A [comparison tree](super::comparison_tree) only compares distances, and a single one depends strongly on the pairs of rows that were drawn. The average of many trees is stable, for any
//! metric: of numbers, categories or strings, or a custom metric ([`ComparisonForest::fit_with`]).
//!
//! **Memory.** Trees store the indices of their pivot rows; each pivot row is stored once.
//!
//! **Cost.** O(n log n) distances per tree and pair tried at a node; a prediction needs two distances per node on its path.
//! **Reference.** Haghiri, Garreau and von Luxburg, Comparison-based random forests, 2018.

use super::comparison_tree::{ComparisonLearner, ComparisonMetric, CustomMetricLearner, PairProposals, ranks};
use super::forest::out_of_bag::OutOfBag;
use super::row_tree::{RowSpace, grow_for};
use super::{Capabilities, Context, Family, Learner, LearnerInfo, TREE_CAPABILITIES, Trained, fit};
use crate::tree::DEFAULT_MAX_DEPTH;
use crate::tree::row_tree::{RowLimits, RowTest, RowTree};
use ermine_core::distance::metric::{Custom, Metric};
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::CountOrFraction;
use ermine_core::matrix::{Dataset, Features, Schema, Task};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Model, Output, Proof, Status};
use ermine_core::parallel;
use ermine_core::param::{ParamType, Range};
use ermine_core::params;
use ermine_core::progress::{Event, PartObserver, report};
use ermine_core::rng::{self, Purpose, RngExt};
use ermine_core::section::Sections;
use rayon::prelude::*;

params! {
    /// The average of many trees whose splits only compare distances to two training rows.
    pub struct ComparisonForest("comparison-forest") {
        /// Number of trees.
        /// More trees never overfit more; they make predictions more stable, and training and prediction slower. 100 to 500 are usual.
        n_estimators: usize = 100, range Range::between(1.0, 1e6), tune Log(10, 500);
        /// Distance between two rows: euclidean, manhattan, chebyshev, minkowski, cosine, mahalanobis or hamming for numbers, edit or hamming_text for one column of text.
        metric: ComparisonMetric = ComparisonMetric::Euclidean, tune Each;
        /// Power of the minkowski metric: 1 is manhattan, 2 is euclidean.
        p: f64 = 2.0, range Range::at_least(1.0);
        /// Number of pairs of rows that each node tries.
        /// More pairs give better splits and take longer. With 1, pairs are chosen without regard to the target.
        n_pairs: usize = 5, range Range::at_least(1.0), tune Log(1, 50);
        /// Maximum depth of each tree. None for the default limit of 1,024 levels.
        max_depth: Option<usize> = None, range Range::at_least(1.0);
        /// Minimum number of rows in each leaf.
        /// Higher values smooth the predictions and prevent leaves that fit single rows: try 5 to 50 on noisy data.
        min_samples_leaf: usize = 1, range Range::at_least(1.0), tune Log(1, 50);
        /// Whether each tree is trained on a bootstrap sample (rows drawn with replacement) instead of all rows.
        /// Without it, trees differ only by their random splits, and there are no out-of-bag rows.
        bootstrap: bool = true;
        /// Number of rows in each bootstrap sample, as a count or as a fraction of the rows. None for as many as there are rows. Requires bootstrap.
        /// Lower values train faster and make the trees more different.
        max_samples: Option<CountOrFraction> = None, range Range::more_than(0.0);
        /// Whether to evaluate the forest on out-of-bag rows: each row is predicted by the trees that were not trained on it. Requires bootstrap.
        /// An estimate of the test score without a validation set.
        oob_score: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "comparison-forest",
    summary: "average of many trees whose splits only compare distances to two training rows, for any metric, including metrics of strings",
    capabilities: Capabilities { random: true, ..TREE_CAPABILITIES },
    family: Family::Ensemble,
};

/// Number of trees between two progress reports.
const BATCH: usize = 32;

impl Learner for ComparisonForest {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        self.train_in(self.metric.space(data, self.p)?, data, context)
    }
}

impl ComparisonForest {
    /// Fits a model with a custom distance between encoded rows (standardized numbers, one-hot encoded categories, missing values imputed by the mean). The distance must be symmetric and
    /// never NaN. Such a model can't be saved to a file.
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

impl ComparisonLearner for ComparisonForest {
    fn train_in(&self, space: RowSpace, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let given =
            [("oob_score", self.oob_score.to_value(), "false"), ("max_samples", self.max_samples.to_value(), "none")];
        for (name, value, unless) in given {
            if !self.bootstrap && value.to_string() != unless {
                let (owner, allowed) = (INFO.name.into(), format!("{unless}, or bootstrap = true"));
                return Err(Error::Param { owner, name: name.into(), value: value.to_string(), allowed });
            }
        }
        self.max_samples.map(|amount| amount.of_at_most(data.n_rows(), INFO.name, "max_samples")).transpose()?;
        let (rows, width) = space.rows(data.features())?;
        let n = self.n_estimators;
        report(context.observer, Event::Begin { what: "trees", total: Some(n as u64) })?;
        let mut trees = Vec::with_capacity(n);
        for first in (0..n).step_by(BATCH) {
            let last = (first + BATCH).min(n);
            let grow = |tree: usize| self.grow(&space, (&rows, width), data, context, tree);
            trees.extend(parallel::try_map(last - first, |i| grow(first + i))?);
            report(context.observer, Event::Step { done: last as u64, score: None })?;
        }
        report(context.observer, Event::End)?;
        let output = if data.task() == Task::Classification { Output::Probabilities } else { Output::Values };
        let mut fitted = FittedComparisons::new(trees, &rows, width, space, output);
        if self.oob_score {
            fitted.out_of_bag = Some(self.out_of_bag(&fitted, data, context.seed)?);
        }
        let mut notes = Vec::new();
        if let Some(oob) = &fitted.out_of_bag {
            let measure = oob.measure(data.task());
            notes.push(format!("out-of-bag {measure}: {:.6} on {} rows", oob.score, oob.n_evaluated));
            notes.extend(oob.missing_note(data.n_rows()));
        }
        let proofs = vec![Proof::Nothing { because: "trees are grown greedily on random rows and pairs".into() }];
        let impurity = if output == Output::Values { "squared error" } else { "Gini impurity" };
        let objective = format!("{impurity} of the leaves, tree by tree");
        let certificate = Certificate { objective, value: None, status: Status::Done, proofs, notes };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

impl ComparisonForest {
    /// How often each row was drawn for a tree, and the random seed of its pairs.
    fn draws(&self, n: usize, seed: u64, tree: usize) -> (Vec<u32>, u64) {
        let mut rng = Purpose::ComparisonForestTree.stream(seed, &[tree as u64]);
        let own = rng.random();
        if !self.bootstrap {
            return (vec![1; n], own);
        }
        let mut drawn = vec![0; n];
        let count = self.max_samples.map_or(n, |amount| amount.of(n).clamp(1, n));
        (0..count).for_each(|_| drawn[rng::below(&mut rng, n)] += 1);
        (drawn, own)
    }

    fn grow(
        &self,
        space: &RowSpace,
        (rows, width): (&[f64], usize),
        data: &Dataset,
        context: &Context<'_>,
        tree: usize,
    ) -> Result<RowTree> {
        let (drawn, seed) = self.draws(data.n_rows(), context.seed, tree);
        let place: Vec<u32> = (0..drawn.len() as u32).filter(|&row| drawn[row as usize] > 0).collect();
        let weight = place.iter().map(|&row| f64::from(drawn[row as usize]) * data.row_weight(row as usize)).collect();
        let data = data.select(&place)?.with_weight(Some(weight))?;
        let max_depth = self.max_depth.unwrap_or(DEFAULT_MAX_DEPTH);
        let limits = RowLimits { max_depth, min_samples_split: 2, min_samples_leaf: self.min_samples_leaf };
        let (n_pairs, data, place) = (self.n_pairs, &data, &place);
        let rank = ranks(data, rows, width, place);
        let pairs = PairProposals { n_pairs, limits, data, space, rows, width, place, rank, by_number: true, seed };
        Ok(grow_for(data, pairs, &PartObserver(context.observer))?.0)
    }

    fn out_of_bag(&self, fitted: &FittedComparisons, data: &Dataset, seed: u64) -> Result<OutOfBag> {
        let (n, n_trees) = (data.n_rows(), fitted.trees.len());
        let drawn: Vec<Vec<u32>> = parallel::map(n_trees, |tree| self.draws(n, seed, tree).0);
        let prediction = fitted.mean_of(data.features(), |row, tree| drawn[tree][row] == 0)?;
        OutOfBag::new(prediction, fitted.trees[0].width, data)
    }
}

/// A fitted comparison-based forest. The tests of its trees hold indices of pivot rows.
pub struct FittedComparisons {
    trees: Vec<RowTree>,
    /// The pivot rows, `width` numbers each.
    pivots: Vec<f64>,
    width: usize,
    space: RowSpace,
    output: Output,
    out_of_bag: Option<OutOfBag>,
}

impl FittedComparisons {
    /// Stores the pivot rows that the trees use, and renumbers them.
    fn new(mut trees: Vec<RowTree>, rows: &[f64], width: usize, space: RowSpace, output: Output) -> Self {
        let mut number = vec![None; rows.len() / width.max(1)];
        let mut pivots = Vec::new();
        let mut again = |place: &mut Vec<f64>| {
            let row = place[0] as usize;
            let next = pivots.len() / width.max(1);
            let new = *number[row].get_or_insert_with(|| {
                pivots.extend_from_slice(&rows[row * width..(row + 1) * width]);
                next
            });
            place[0] = new as f64;
        };
        for test in trees.iter_mut().flat_map(|tree| &mut tree.test) {
            if let RowTest::Nearer { a, b } = test {
                again(a);
                again(b);
            }
        }
        FittedComparisons { trees, pivots, width, space, output, out_of_bag: None }
    }

    /// The out-of-bag evaluation, if `oob_score` is set.
    pub fn out_of_bag(&self) -> Option<&OutOfBag> {
        self.out_of_bag.as_ref()
    }

    /// The number of trees.
    pub fn n_trees(&self) -> usize {
        self.trees.len()
    }

    /// The average prediction of the trees for which `counts(row, tree)` holds; NaN if there are none.
    fn mean_of(&self, features: &Features, counts: impl Fn(usize, usize) -> bool + Sync) -> Result<Vec<f64>> {
        let (rows, width) = self.space.rows(features)?;
        let pivot = |place: &[f64]| &self.pivots[place[0] as usize * width..][..width];
        let of_row = |row: usize| {
            let here = &rows[row * width..(row + 1) * width];
            let mut sums = vec![0.0; self.trees[0].width];
            let mut n = 0;
            for (_, tree) in self.trees.iter().enumerate().filter(|(t, _)| counts(row, *t)) {
                let node = tree.walk(here, |row, place| self.space.distance(features, row, pivot(place)));
                sums.iter_mut().zip(tree.value(node)).for_each(|(sum, v)| *sum += v);
                n += 1;
            }
            sums.iter_mut().for_each(|sum| *sum /= f64::from(n));
            sums
        };
        Ok((0..features.n_rows()).into_par_iter().with_min_len(16).flat_map_iter(of_row).collect())
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let (output, space): (Output, RowSpace) = (sections.json("output")?, sections.json("space")?);
        let n_features = header.schema.features.len();
        space.check(n_features)?;
        let (width, pivots) = (space.width(n_features), sections.f64s("pivot")?);
        let wrong = || Error::model_file("the arrays of a comparison forest are inconsistent");
        if width == 0 && !pivots.is_empty() || width > 0 && pivots.len() % width != 0 {
            return Err(wrong());
        }
        let n_pivots = pivots.len() / width.max(1);
        let n: usize = sections.json("n_trees")?;
        let tree = |t: usize| load_tree(&sections.part(t), output.width(&header.schema), n_pivots);
        let trees = (0..n).map(tree).collect::<Result<Vec<RowTree>>>()?;
        if trees.is_empty() || pivots.iter().any(|x| !x.is_finite()) {
            return Err(wrong());
        }
        let out_of_bag = sections.json("out_of_bag")?;
        Ok(Box::new(FittedComparisons { trees, pivots, width, space, output, out_of_bag }))
    }
}

/// Reads and validates a tree.
fn load_tree(sections: &Sections, width: usize, n_pivots: usize) -> Result<RowTree> {
    let pairs = sections.u32s("pair")?;
    let test = |pair: &[u32]| match pair {
        &[a, b] if (a, b) != (0, 0) => RowTest::Nearer { a: vec![f64::from(a)], b: vec![f64::from(b)] },
        _ => RowTest::Leaf,
    };
    let tree = RowTree {
        test: pairs.chunks(2).map(test).collect(),
        child: sections.u32s("child")?,
        weight: sections.f64s("weight")?,
        value: sections.f64s("value")?,
        width,
    };
    tree.check()?;
    if pairs.iter().any(|&pivot| pivot as usize >= n_pivots.max(1)) {
        return Err(Error::model_file("a comparison tree has a pivot that the model doesn't have"));
    }
    Ok(tree)
}

impl Fitted for FittedComparisons {
    fn output(&self) -> Output {
        self.output
    }

    fn reads_text(&self) -> bool {
        matches!(self.space, RowSpace::Strings(_))
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        self.mean_of(features, |_, _| true)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("space", &self.space)?;
        sections.put_json("output", &self.output)?;
        sections.put_json("n_trees", &self.trees.len())?;
        sections.put_json("out_of_bag", &self.out_of_bag)?;
        sections.put_f64s("pivot", &self.pivots);
        for (t, tree) in self.trees.iter().enumerate() {
            // The two rows of a pair differ, so two zeros can represent a leaf.
            let pair = |test: &RowTest| match test {
                RowTest::Nearer { a, b } => [a[0] as u32, b[0] as u32],
                _ => [0, 0],
            };
            sections.within(t, |sections| {
                sections.put_u32s("pair", &tree.test.iter().flat_map(pair).collect::<Vec<u32>>());
                sections.put_u32s("child", &tree.child);
                sections.put_f64s("weight", &tree.weight);
                sections.put_f64s("value", &tree.value);
            });
        }
        Ok(())
    }

    fn text(&self, schema: &Schema) -> String {
        let n_nodes: usize = self.trees.iter().map(|tree| tree.n_nodes()).sum();
        let n_pivots = self.pivots.len() / self.width.max(1);
        let n_trees = self.trees.len();
        let mut text = format!(
            "the average of {n_trees} trees with {n_nodes} nodes in total, which compare distances to {n_pivots} rows\n"
        );
        if let Some(oob) = &self.out_of_bag {
            text.push_str(&format!(
                "out-of-bag {}: {:.4} on {} rows\n",
                oob.measure(schema.task),
                oob.score,
                oob.n_evaluated
            ));
        }
        text
    }

    fn attributes(&self, schema: &Schema) -> Vec<Attribute> {
        self.out_of_bag.iter().flat_map(|oob| oob.attributes(schema.task, self.trees[0].width)).collect()
    }
}
