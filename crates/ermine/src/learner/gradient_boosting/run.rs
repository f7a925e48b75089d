//! From data to a model: the loss, rows kept aside, continued training, losses of one's own.

use super::fitted::{Boosted, Link};
use super::{GradientBoosting, GrowPolicy, INFO, Loss, SamplingMethod, TreeMethod};
use crate::boost::booster::Booster;
use crate::boost::grow::{Growth, Policy};
use crate::boost::grown::{Grown, centre};
use crate::boost::objective::{
    Absolute, Each, Gamma, Huber, LambdaMart, Logistic, Objective, Poisson, Quantile, Rows, Several, Softmax, Squared,
    Tweedie,
};
use crate::boost::sample::Goss;
use crate::boost::train::{Ground, Training};
use crate::error::{Error, Result};
use crate::learner::{Context, Info, Learner, Trained};
use crate::matrix::binned::{Bins, MAX_BINS};
use crate::matrix::{Dataset, Target, Task};
use crate::model::{Certificate, Model, Proof, Status};
use crate::param::{ParamSpec, Parameters, Value};
use crate::split::histogram::categories::Caution;
use crate::split::histogram::{Regularised, Store};
use rand::RngExt;
use std::borrow::Cow;

/// The random stream that keeps rows aside.
const VALIDATION: u64 = 100;

/// Makes the loss of some rows.
pub type MakeObjective<'a> = &'a (dyn Fn(&Dataset) -> Result<Box<dyn Objective>> + Sync);

/// Sees the trees after so many rounds each.
pub type Checkpoint<'a> = &'a (dyn Fn(&Booster) -> Result<()> + Sync);

/// Gradient boosting with what parameters can't say. A learner like any other.
///
/// ```
/// use ermine::learner::gradient_boosting::Boosting;
/// use ermine::prelude::*;
///
/// let x: Vec<f64> = (0..200).map(f64::from).collect();
/// let y = x.iter().map(|x| (x / 20.0).sin()).collect::<Vec<_>>();
/// let data = Table::new(vec![Column::numeric("x", x), Column::numeric("y", y)])?.dataset("y")?;
/// let first = GradientBoosting { n_estimators: 10, ..Default::default() }.fit(&data)?;
/// // `n_estimators` counts the rounds that went before.
/// let more = GradientBoosting { n_estimators: 30, ..Default::default() };
/// let continued = Boosting { from: Some(&first), ..Boosting::new(more.clone()) }.fit(&data)?;
/// assert_eq!(continued.predict_data(&data)?, more.fit(&data)?.predict_data(&data)?);
/// # Ok::<(), ermine::Error>(())
/// ```
pub struct Boosting<'a> {
    /// The parameters.
    pub params: GradientBoosting,
    /// Go on from this model. Its rounds count among `n_estimators`.
    pub from: Option<&'a Model>,
    /// Where the scores of the rows start, row by row; the model predicts what is added to it.
    pub init_score: Option<&'a [f64]>,
    /// Early stopping watches these rows instead of a share of the data.
    pub validation: Option<&'a Dataset>,
    /// A loss of one's own. Its scores are predicted as they are for numbers; as log odds, or logarithms of probabilities, for classes.
    pub objective: Option<MakeObjective<'a>>,
    /// After so many rounds each, the trees so far are shown, to be kept.
    pub checkpoint: Option<(usize, Checkpoint<'a>)>,
}

impl Boosting<'_> {
    /// With these parameters and nothing else.
    pub fn new(params: GradientBoosting) -> Self {
        Boosting { params, from: None, init_score: None, validation: None, objective: None, checkpoint: None }
    }
}

impl Parameters for Boosting<'_> {
    fn owner(&self) -> &'static str {
        self.params.owner()
    }
    fn specs(&self) -> Vec<ParamSpec> {
        self.params.specs()
    }
    fn get(&self, name: &str) -> Option<Value> {
        self.params.get(name)
    }
    fn put(&mut self, name: &str, value: &Value) -> bool {
        self.params.put(name, value)
    }
}

impl Learner for Boosting<'_> {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let params = &self.params;
        let (train, watch) = self.kept_aside(data, context)?;
        let (train, watch) = (by_query(&train)?, watch.as_deref().map(by_query).transpose()?);
        let growth = params.growth(&train, context)?;
        let bins = params.bins(&train)?;
        let store = Store::new(train.features(), &bins);
        let objective = self.objective(&train)?;
        let earlier = self.earlier(&*objective)?;
        let start = match (earlier, params.base_score) {
            (Some(earlier), _) => earlier.start().to_vec(),
            (None, Some(score)) => vec![score; objective.n_scores()],
            (None, None) if self.init_score.is_some() => vec![0.0; objective.n_scores()],
            (None, None) => objective.start(),
        };
        let scores = self.scores(&train, &start, earlier)?;
        let ground = Ground { store: &store, objective: &*objective, scores: &scores };
        let watched = watch.as_deref().map(|w| {
            let scores = earlier.map_or_else(|| start.repeat(w.n_rows()), |b| b.scores(w.features(), b.n_rounds()));
            Ok::<_, Error>((Store::new(w.features(), &bins), self.objective(w)?, scores))
        });
        let watched = watched.transpose()?;
        let watched =
            watched.as_ref().map(|(store, objective, scores)| Ground { store, objective: &**objective, scores });
        let to_tree = |grown: &Grown| {
            let mut tree = grown.to_tree(&bins);
            if params.tree_method == TreeMethod::Exact {
                centre(&mut tree, train.features());
            }
            tree
        };
        let together = |trees: &[Grown]| {
            let before = earlier.into_iter().flat_map(|b| (0..b.n_trees()).map(|number| b.tree(number)));
            Booster::new(start.clone(), before.chain(trees.iter().map(to_tree)))
        };
        let show = |trees: &[Grown]| self.checkpoint.map_or(Ok(()), |(_, show)| show(&together(trees)));
        let checkpoint = self.checkpoint.map(|(every, _)| (every, &show as crate::boost::train::Checkpoint<'_>));
        let training = Training {
            first_round: earlier.map_or(0, Booster::n_rounds),
            growth,
            checkpoint,
            ..params.training(context)
        };
        let trained = training.train(&ground, watched.as_ref())?;
        let booster = together(&trained.trees);
        let certificate = certificate(&*objective, &trained, &booster, params);
        let n_classes = data.classes().map_or(0, |(_, labels)| labels.len());
        let link = params.link(data, objective.n_scores());
        let importances = importances(&booster, data.features().n_columns(), params.reg_lambda);
        let fitted = Boosted { booster, link, n_classes, history: trained.history, importances };
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// What the splits of each column gain, as a share of what all splits gain; zeros where there is no split. A node of value w and
/// curvature h is worth w^2 (h + lambda), up to a constant, and a split gains what its children are worth more than it.
fn importances(booster: &Booster, n_features: usize, reg_lambda: f64) -> Vec<f64> {
    let mut gains = vec![0.0; n_features];
    for tree in (0..booster.n_trees()).map(|number| booster.tree(number)) {
        let worth = |node: usize| tree.value(node)[0].powi(2) * (tree.weight[node] + reg_lambda);
        for node in 0..tree.n_nodes() {
            if let Some(feature) = tree.test[node].feature() {
                gains[feature] += (tree.children(node).map(worth).sum::<f64>() - worth(node)).max(0.0);
            }
        }
    }
    let total: f64 = gains.iter().sum();
    if total > 0.0 { gains.iter().map(|gain| gain / total).collect() } else { gains }
}

fn certificate(
    objective: &dyn Objective,
    trained: &crate::boost::train::Trained,
    booster: &Booster,
    params: &GradientBoosting,
) -> Certificate {
    let mut notes = vec![format!("{} rounds", booster.n_rounds())];
    if trained.stopped_early {
        let rounds = params.early_stopping_rounds.unwrap_or_default();
        notes.push(format!("stopped early: no better on the rows kept aside for {rounds} rounds"));
    }
    Certificate {
        objective: format!("mean {} on the training data", objective.name()),
        value: Some(trained.loss),
        status: Status::Done,
        proofs: vec![Proof::Nothing { because: "trees are added greedily".into() }],
        notes,
    }
}

/// The rows query by query, where there are queries.
fn by_query<'d>(data: &'d Dataset) -> Result<Cow<'d, Dataset>> {
    let Some(group) = data.group().filter(|g| data.task() == Task::Ranking && !g.is_sorted()) else {
        return Ok(Cow::Borrowed(data));
    };
    let mut rows: Vec<u32> = (0..data.n_rows() as u32).collect();
    rows.sort_by_key(|&row| group[row as usize]);
    data.select(&rows).map(Cow::Owned)
}

/// The first row of each query, and the number of rows.
fn query_bounds(data: &Dataset) -> Vec<usize> {
    let n = data.n_rows();
    let is_first = |&row: &usize| row == 0 || data.group().is_some_and(|g| g[row] != g[row - 1]);
    (0..n).filter(is_first).chain([n]).collect()
}

impl Boosting<'_> {
    /// The rows to train on, and those to watch.
    fn kept_aside<'d>(
        &'d self,
        data: &'d Dataset,
        context: &Context<'_>,
    ) -> Result<(Cow<'d, Dataset>, Option<Cow<'d, Dataset>>)> {
        if let Some(watch) = self.validation {
            return Ok((Cow::Borrowed(data), Some(Cow::Borrowed(watch))));
        }
        if self.params.early_stopping_rounds.is_none() {
            return Ok((Cow::Borrowed(data), None));
        }
        if self.init_score.is_some() {
            return Err(Error::data("early stopping with init scores needs validation data of its own"));
        }
        let seed = crate::rng::stream(context.seed, &[VALIDATION]).random();
        let (train, watch) = data.split(1.0 - self.params.validation_fraction, seed)?;
        if train.n_rows() == 0 || watch.n_rows() == 0 {
            let n = data.n_rows();
            return Err(Error::data(format!("{n} rows are too few to keep some aside for early stopping")));
        }
        Ok((Cow::Owned(train), Some(Cow::Owned(watch))))
    }

    fn objective(&self, data: &Dataset) -> Result<Box<dyn Objective>> {
        self.objective.map_or_else(|| self.params.objective(data), |make| make(data))
    }

    /// The sum of trees to go on from.
    fn earlier(&self, objective: &dyn Objective) -> Result<Option<&Booster>> {
        let Some(model) = self.from else { return Ok(None) };
        let fitted = model.fitted::<Boosted>().map(Boosted::booster);
        match fitted.filter(|booster| booster.n_scores() == objective.n_scores()) {
            Some(booster) => Ok(Some(booster)),
            None => Err(Error::data("the model to go on from was not made by gradient boosting for such data")),
        }
    }

    /// Where the scores of the rows start.
    fn scores(&self, data: &Dataset, start: &[f64], earlier: Option<&Booster>) -> Result<Vec<f64>> {
        let mut scores = match earlier {
            Some(booster) => booster.scores(data.features(), booster.n_rounds()),
            None => start.repeat(data.n_rows()),
        };
        if let Some(init) = self.init_score {
            if init.len() != scores.len() || init.iter().any(|s| !s.is_finite()) {
                let n = scores.len();
                return Err(Error::data(format!("init scores: {} numbers, expected {n} finite ones", init.len())));
            }
            scores.iter_mut().zip(init).for_each(|(score, init)| *score += init);
        }
        Ok(scores)
    }
}

impl GradientBoosting {
    fn unsupported<T>(&self, need: String) -> Result<T> {
        Err(Error::Unsupported { learner: INFO.name.to_string(), need })
    }

    /// How columns are cut.
    fn bins(&self, data: &Dataset) -> Result<Bins> {
        if self.tree_method == TreeMethod::Hist {
            return Ok(Bins::fit(data.features(), self.max_bins));
        }
        let bins = Bins::fit(data.features(), MAX_BINS);
        let full = |cuts: &crate::matrix::binned::Cuts| cuts.n_bins() >= MAX_BINS;
        if bins.columns.iter().any(full) || data.n_rows() > crate::matrix::binned::SAMPLE_ROWS {
            return self.unsupported(format!(
                "tree_method = exact with more than {} distinct values in a column, or more than {} rows",
                MAX_BINS - 1,
                crate::matrix::binned::SAMPLE_ROWS
            ));
        }
        Ok(bins)
    }

    /// The loss of a data set.
    fn objective(&self, data: &Dataset) -> Result<Box<dyn Objective>> {
        let weight = data.weight();
        match (data.target(), data.task(), self.loss) {
            (Target::Classes { codes, labels }, _, Loss::Auto | Loss::LogLoss) => {
                let rows = Rows::new(codes.iter().map(|&c| f64::from(c)).collect(), weight);
                Ok(if labels.len() <= 2 {
                    Box::new(Logistic::new(rows))
                } else {
                    Box::new(Softmax::new(rows, labels.len())?)
                })
            }
            (
                Target::Values { values, n_outputs: 1 },
                Task::Ranking,
                Loss::Auto | Loss::LambdaRank | Loss::Pairwise,
            ) => {
                if let Some(row) = values.iter().position(|y| !(0.0..=60.0).contains(y)) {
                    return Err(Error::data(format!(
                        "the relevance of row {row} is {}; expected 0 to 60",
                        values[row]
                    )));
                }
                let pairwise = self.loss == Loss::Pairwise;
                Ok(Box::new(LambdaMart::new(values, weight, query_bounds(data), pairwise)))
            }
            (Target::Values { values, n_outputs }, Task::Regression | Task::Ranking, _) => {
                let column = |k: usize| values.iter().skip(k).step_by(*n_outputs).copied().collect::<Vec<f64>>();
                let make = |k: usize| self.number_objective(|| Rows::new(column(k), weight), &column(k));
                match *n_outputs {
                    1 => make(0),
                    n => Ok(Box::new(Several((0..n).map(make).collect::<Result<_>>()?))),
                }
            }
            _ => self.unsupported(format!("loss = {} for {}", self.loss, data.task())),
        }
    }

    fn number_objective(&self, rows: impl Fn() -> Rows, target: &[f64]) -> Result<Box<dyn Objective>> {
        let at_least = |least: f64, open: bool| match target.iter().position(|&y| y < least || (open && y == least)) {
            Some(row) => Err(Error::data(format!(
                "loss = {} needs targets {} {least}; row {row} has {}",
                self.loss,
                if open { "above" } else { "from" },
                target[row]
            ))),
            None => Ok(()),
        };
        Ok(match self.loss {
            Loss::Auto | Loss::SquaredError => Box::new(Squared::new(rows())),
            Loss::AbsoluteError => Box::new(Each::new(Absolute, rows())),
            Loss::Huber => Box::new(Each::new(Huber(self.huber_slope), rows())),
            Loss::Quantile if self.quantile_alpha.len() == 1 => {
                Box::new(Each::new(Quantile(self.quantile_alpha[0]), rows()))
            }
            Loss::Quantile => {
                let one = |&share: &f64| Box::new(Each::new(Quantile(share), rows())) as Box<dyn Objective>;
                Box::new(Several(self.quantile_alpha.iter().map(one).collect()))
            }
            Loss::Poisson => {
                at_least(0.0, false)?;
                Box::new(Each::new(Poisson, rows()))
            }
            Loss::Gamma => {
                at_least(0.0, true)?;
                Box::new(Each::new(Gamma, rows()))
            }
            Loss::Tweedie => {
                at_least(0.0, false)?;
                Box::new(Each::new(Tweedie(self.tweedie_variance_power), rows()))
            }
            Loss::LogLoss | Loss::LambdaRank | Loss::Pairwise => {
                return self.unsupported(format!("loss = {} for {}", self.loss, Task::Regression));
            }
        })
    }

    /// How scores become predictions.
    fn link(&self, data: &Dataset, n_scores: usize) -> Link {
        match (data.target(), self.loss) {
            (Target::Classes { .. }, _) if n_scores == 1 => Link::Logistic,
            (Target::Classes { .. }, _) => Link::Softmax,
            (_, Loss::Poisson | Loss::Gamma | Loss::Tweedie) => Link::Exponential,
            (_, Loss::Quantile) if n_scores > 1 => Link::Quantiles,
            _ => Link::Identity,
        }
    }

    /// How trees are grown on this data.
    fn growth(&self, data: &Dataset, context: &Context<'_>) -> Result<Growth> {
        let columns = data.features().columns();
        let (d, monotone) = (columns.len(), &self.monotone_constraints);
        let constrained = monotone.iter().any(|&c| c != 0);
        if !monotone.is_empty() && monotone.len() != d {
            return Err(Error::data(format!("monotone_constraints: {} numbers for {d} columns", monotone.len())));
        }
        if let Some(column) = columns.iter().zip(monotone).find(|(c, m)| **m != 0 && !c.kind.is_ordered()) {
            return self.unsupported(format!("a monotone constraint on the nominal column '{}'", column.0.name));
        }
        if constrained && self.grow_policy == GrowPolicy::Symmetric {
            return self.unsupported("monotone constraints with grow_policy = symmetric".into());
        }
        if self.quantile_alpha.is_empty()
            || (self.loss == Loss::Quantile && self.quantile_alpha.len() > 1 && data.values().is_ok_and(|(_, k)| k > 1))
        {
            return self.unsupported("several quantiles of several targets, or no quantile".into());
        }
        if let Some(column) = self.interaction_constraints.iter().flatten().find(|&&column| column >= d) {
            return Err(Error::data(format!("interaction_constraints: column {column} of {d} (counted from 0)")));
        }
        let policy = match self.grow_policy {
            GrowPolicy::Lossguide => Policy::Leaf,
            GrowPolicy::Depthwise => Policy::Level,
            GrowPolicy::Symmetric => Policy::Symmetric,
        };
        Ok(Growth {
            policy,
            max_leaf_nodes: self.max_leaf_nodes.unwrap_or(usize::MAX),
            max_depth: self.max_depth.unwrap_or(usize::MAX),
            leaf: Regularised { lambda: self.reg_lambda, alpha: self.reg_alpha, max_delta_step: self.max_delta_step },
            gamma: self.gamma,
            min_child_weight: self.min_child_weight,
            learning_rate: self.learning_rate,
            monotone: if constrained { monotone.iter().map(|&c| c as i8).collect() } else { Vec::new() },
            interactions: self
                .interaction_constraints
                .iter()
                .map(|set| set.iter().map(|&c| c as u32).collect())
                .collect(),
            nominal: columns.iter().map(|c| !c.kind.is_ordered()).collect(),
            caution: Caution {
                one_against_rest: self.max_cat_to_onehot,
                smooth: self.cat_smooth,
                extra_lambda: self.cat_l2,
                most: self.max_cat_threshold,
                least: 1.0,
            },
            colsample_bylevel: self.colsample_bylevel,
            colsample_bynode: self.colsample_bynode,
            seed: context.seed,
        })
    }

    fn training<'a>(&self, context: &Context<'a>) -> Training<'a> {
        let goss = Goss { top_rate: self.top_rate, other_rate: self.other_rate };
        Training {
            first_round: 0,
            n_estimators: self.n_estimators,
            growth: Growth::default(),
            subsample: self.subsample,
            goss: (self.sampling_method == SamplingMethod::Goss).then_some(goss),
            rate_drop: self.rate_drop,
            colsample_bytree: self.colsample_bytree,
            exact: self.tree_method == TreeMethod::Exact,
            patience: self.early_stopping_rounds,
            seed: context.seed,
            threads: rayon::current_num_threads(),
            observer: context.observer,
            checkpoint: None,
        }
    }
}
