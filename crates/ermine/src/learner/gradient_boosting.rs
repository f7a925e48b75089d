//! Gradient boosting: a sum of trees, each grown on the gradients of the loss at the sum so far.

use super::{Capabilities, Context, Info, Learner, Trained};
use crate::boost::booster::Booster;
use crate::boost::grow::Growth;
use crate::boost::grown::Grown;
use crate::boost::objective::{Logistic, Objective, Rows, Softmax, Squared};
use crate::boost::train::{Ground, Training};
use crate::error::{Error, Result};
use crate::matrix::binned::{Bins, MAX_BINS};
use crate::matrix::{Dataset, Features, Schema, Target, Task};
use crate::model::{Attribute, Certificate, Fitted, Header, Output, Proof, Status};
use crate::param::Range;
use crate::section::Sections;
use crate::split::histogram::categories::Caution;
use crate::split::histogram::{Regularised, Store};
use crate::tree::draw;
use crate::{choice, params};
use rand::RngExt;
use serde::{Deserialize, Serialize};

choice! {
    /// Which leaf is split next.
    pub enum GrowPolicy {
        /// The leaf that gains most.
        Lossguide = "lossguide",
        /// The leaves of a level one after the other.
        Depthwise = "depthwise",
    }
}

params! {
    /// A sum of trees, each grown on the gradients of the loss at the sum so far.
    pub struct GradientBoosting("gradient-boosting") {
        /// How many rounds; in each, one tree is grown (one for each class where there are more than two).
        n_estimators: usize = 100, range Range::at_least(1.0), tune Log(50.0, 1000.0);
        /// What the weights of each tree's leaves are multiplied by.
        learning_rate: f64 = 0.1, range Range::more_than(0.0), tune Log(0.01, 0.3);
        /// Most leaves of a tree; none for no limit.
        max_leaf_nodes: Option<usize> = Some(31), range Range::at_least(2.0), tune Log(7.0, 127.0);
        /// Longest way from the root of a tree to a leaf; none for no limit.
        max_depth: Option<usize> = None, range Range::at_least(1.0);
        /// Which leaf is split next: the one that gains most (lossguide), or those of a level one after the other (depthwise).
        grow_policy: GrowPolicy = GrowPolicy::Lossguide;
        /// Into how many bins the values of a column are cut.
        max_bins: usize = 255, range Range::between(2.0, MAX_BINS as f64);
        /// L2 penalty on leaf weights.
        reg_lambda: f64 = 1.0, range Range::at_least(0.0), tune Log(0.001, 100.0);
        /// L1 penalty on leaf weights.
        reg_alpha: f64 = 0.0, range Range::at_least(0.0), tune Linear(0.0, 10.0);
        /// The least that a split must lower the objective by.
        gamma: f64 = 0.0, range Range::at_least(0.0), tune Linear(0.0, 5.0);
        /// The least sum of curvatures in a leaf.
        min_child_weight: f64 = 1.0, range Range::at_least(0.0), tune Log(0.01, 30.0);
        /// Largest weight of a leaf, without its sign; 0 for no limit.
        max_delta_step: f64 = 0.0, range Range::at_least(0.0);
        /// The share of the rows that each round sees, drawn at random.
        subsample: f64 = 1.0, range Range::above_to(0.0, 1.0), tune Linear(0.5, 1.0);
        /// The share of the columns that each tree sees, drawn at random.
        colsample_bytree: f64 = 1.0, range Range::above_to(0.0, 1.0), tune Linear(0.3, 1.0);
        /// The share of the tree's columns that each level of it sees.
        colsample_bylevel: f64 = 1.0, range Range::above_to(0.0, 1.0);
        /// The share of the level's columns that each node sees.
        colsample_bynode: f64 = 1.0, range Range::above_to(0.0, 1.0);
        /// Stop when the loss on rows kept aside has not improved for this many rounds, and keep the rounds up to the best; none for never.
        early_stopping_rounds: Option<usize> = None, range Range::at_least(1.0);
        /// The share of the rows that is kept aside for early stopping.
        validation_fraction: f64 = 0.1, range Range::inside(0.0, 1.0);
    }
}

static INFO: Info = Info {
    name: "gradient-boosting",
    summary: "a sum of trees, each grown on the gradients of the loss at the sum so far",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        sparse: false,
        probabilities: true,
        random: true,
    },
};

/// The random stream that keeps rows aside.
const VALIDATION: u64 = 100;

impl Learner for GradientBoosting {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (train, watch) = match self.early_stopping_rounds {
            None => (None, None),
            Some(_) => {
                let seed = crate::rng::stream(context.seed, &[VALIDATION]).random();
                let (train, watch) = data.split(1.0 - self.validation_fraction, seed)?;
                if train.n_rows() == 0 || watch.n_rows() == 0 {
                    return Err(Error::data(format!(
                        "{} rows are too few to keep some aside for early stopping",
                        data.n_rows()
                    )));
                }
                (Some(train), Some(watch))
            }
        };
        let train = train.as_ref().unwrap_or(data);
        let bins = Bins::fit(train.features(), self.max_bins);
        let store = Store::new(train.features(), &bins);
        let objective = objective(train)?;
        let ground = Ground { store: &store, objective: &*objective };
        let watched = watch
            .as_ref()
            .map(|w| Ok::<_, Error>((Store::new(w.features(), &bins), self::objective(w)?)))
            .transpose()?;
        let watched = watched.as_ref().map(|(store, objective)| Ground { store, objective: &**objective });
        let training = self.training(train, context);
        let trained = training.train(&ground, watched.as_ref())?;
        let (link, n_classes) = (Link::of(data), data.classes().map_or(0, |(_, labels)| labels.len()));
        let booster = Booster::new(trained.start.clone(), trained.trees.iter().map(|tree| tree.to_tree(&bins)));
        let certificate = Certificate {
            objective: format!("mean {} on the training data", objective.name()),
            value: Some(trained.loss),
            status: Status::Done,
            proofs: vec![Proof::Nothing { because: "trees are added greedily".into() }],
            notes: Vec::new(),
        };
        let importances = importances(&trained.trees, data.features().n_columns());
        let fitted = Boosted { booster, link, n_classes, history: trained.history, importances };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// What the splits of each column gain in all trees, as a share of what all splits gain; zeros where there is no split.
fn importances(trees: &[Grown], n_features: usize) -> Vec<f64> {
    let mut gains = vec![0.0; n_features];
    for tree in trees {
        for (test, gain) in tree.test.iter().zip(&tree.gain) {
            test.iter().for_each(|(column, _)| gains[*column as usize] += gain);
        }
    }
    let total: f64 = gains.iter().sum();
    if total > 0.0 { gains.iter().map(|gain| gain / total).collect() } else { gains }
}

/// The loss of a data set.
fn objective(data: &Dataset) -> Result<Box<dyn Objective>> {
    let weight = data.weight();
    Ok(match data.target() {
        Target::Classes { codes, labels } => {
            let rows = Rows::new(codes.iter().map(|&c| f64::from(c)).collect(), weight);
            if labels.len() <= 2 { Box::new(Logistic::new(rows)) } else { Box::new(Softmax::new(rows, labels.len())?) }
        }
        Target::Values { values, .. } => Box::new(Squared::new(Rows::new(values.clone(), weight))),
    })
}

impl GradientBoosting {
    fn training<'a>(&self, data: &Dataset, context: &Context<'a>) -> Training<'a> {
        let columns = data.features().columns();
        let growth = Growth {
            by_level: self.grow_policy == GrowPolicy::Depthwise,
            max_leaf_nodes: self.max_leaf_nodes.unwrap_or(usize::MAX),
            max_depth: self.max_depth.unwrap_or(usize::MAX),
            leaf: Regularised { lambda: self.reg_lambda, alpha: self.reg_alpha, max_delta_step: self.max_delta_step },
            gamma: self.gamma,
            min_child_weight: self.min_child_weight,
            learning_rate: self.learning_rate,
            monotone: Vec::new(),
            interactions: Vec::new(),
            nominal: columns.iter().map(|c| !c.kind.is_ordered()).collect(),
            caution: Caution { one_against_rest: 4, smooth: 10.0, extra_lambda: 10.0, most: 32, least: 1.0 },
            colsample_bylevel: self.colsample_bylevel,
            colsample_bynode: self.colsample_bynode,
            seed: context.seed,
        };
        Training {
            n_estimators: self.n_estimators,
            growth,
            subsample: self.subsample,
            colsample_bytree: self.colsample_bytree,
            patience: self.early_stopping_rounds,
            seed: context.seed,
            threads: rayon::current_num_threads(),
            observer: context.observer,
        }
    }
}

/// How scores become predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The score itself.
    Identity,
    /// Two classes: the score is the log odds of the second.
    Logistic,
    /// Several classes: scores are logarithms of probabilities, up to a constant.
    Softmax,
}

impl Link {
    fn of(data: &Dataset) -> Link {
        match data.target() {
            Target::Classes { labels, .. } if labels.len() <= 2 => Link::Logistic,
            Target::Classes { .. } => Link::Softmax,
            Target::Values { .. } => Link::Identity,
        }
    }
}

/// The fitted sum of trees.
#[derive(Debug, Clone, PartialEq)]
pub struct Boosted {
    booster: Booster,
    link: Link,
    n_classes: usize,
    history: Vec<f64>,
    importances: Vec<f64>,
}

impl Boosted {
    /// The sum of trees.
    pub fn booster(&self) -> &Booster {
        &self.booster
    }

    /// The mean loss on the rows kept aside, after each round.
    pub fn history(&self) -> &[f64] {
        &self.history
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let link: Link = sections.json("link")?;
        let n_scores = match (link, header.schema.task) {
            (Link::Logistic, Task::Classification) if header.schema.classes.len() <= 2 => 1,
            (Link::Softmax, Task::Classification) => header.schema.classes.len(),
            (Link::Identity, Task::Regression | Task::Ranking) => header.schema.n_outputs,
            _ => return Err(Error::model_file("the scores don't fit the target")),
        };
        let booster = Booster::load(sections, header.schema.features.len(), n_scores)?;
        let n_classes = header.schema.classes.len();
        let (history, importances) = (sections.f64s("history")?, sections.f64s("importance")?);
        if importances.len() != header.schema.features.len() {
            return Err(Error::model_file("boosting has importances of other columns"));
        }
        Ok(Box::new(Boosted { booster, link, n_classes, history, importances }))
    }

    fn linked(&self, scores: Vec<f64>) -> Vec<f64> {
        match self.link {
            Link::Identity => scores,
            Link::Logistic if self.n_classes == 1 => vec![1.0; scores.len()],
            Link::Logistic => scores
                .into_iter()
                .flat_map(|s| {
                    let p = crate::simd::exp::sigmoid(s);
                    [1.0 - p, p]
                })
                .collect(),
            Link::Softmax => {
                let mut scores = scores;
                for row in scores.chunks_mut(self.booster.n_scores()) {
                    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    row.iter_mut().for_each(|s| *s = crate::simd::exp::exp(*s - most));
                    let total: f64 = row.iter().sum();
                    row.iter_mut().for_each(|s| *s /= total);
                }
                scores
            }
        }
    }
}

impl Fitted for Boosted {
    fn output(&self) -> Output {
        if self.link == Link::Identity { Output::Values } else { Output::Probabilities }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let scores = self.booster.scores(features, self.booster.n_rounds());
        Ok(self.linked(scores))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("link", &self.link)?;
        sections.put_f64s("history", &self.history);
        sections.put_f64s("importance", &self.importances);
        self.booster.save(sections)
    }

    fn text(&self, schema: &Schema) -> String {
        let n = self.booster.n_trees();
        let mut text = format!("a sum of {n} trees in {} rounds", self.booster.n_rounds());
        if n > 0 {
            text.push_str(&format!(
                "; the first:\n{}",
                draw::text(&self.booster.tree(0), &Schema { task: Task::Regression, ..schema.clone() })
            ));
        }
        text
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let importances = self.importances.clone();
        vec![
            Attribute { name: "feature_importances", shape: vec![importances.len()], values: importances },
            Attribute { name: "n_estimators", shape: Vec::new(), values: vec![self.booster.n_rounds() as f64] },
        ]
    }
}
