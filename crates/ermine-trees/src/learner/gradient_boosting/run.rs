//! From data to a model: rows kept aside, continued training, checkpoints, losses and metrics of one's own.

use super::columns::Columns;
use super::fitted::Boosted;
use super::{EvalMetric, GradientBoosting, INFO, Loss, TreeMethod};
use super::{rounds, watch};
use crate::boost::booster::Booster;
use crate::boost::grown::{Grown, centre};
use crate::boost::objective::Objective;
use crate::boost::train::{self, Ground, Training};
use ermine_core::error::{Error, Result};
use ermine_core::learner::fit::wrap;
use ermine_core::learner::{Context, Info, Learner, Path, Trained};
use ermine_core::matrix::{Dataset, Features, Schema, Target, Task};
use ermine_core::memory;
use ermine_core::model::{Certificate, Fitted, Link, Model, Output, Proof, Status};
use ermine_core::param::{ParamSpec, Parameters, Value};
use std::borrow::Cow;

/// Makes the loss of some rows.
pub type MakeObjective<'a> = &'a (dyn Fn(&Dataset) -> Result<Box<dyn Objective>> + Sync);

/// Sees the model so far.
pub type Checkpoint<'a> = &'a (dyn Fn(&Model) -> Result<()> + Sync);

/// Judges predictions (as the model gives them, row by row) for the rows that early stopping watches: lower is better.
pub type Metric<'a> = &'a (dyn Fn(&Dataset, &[f64]) -> Result<f64> + Sync);

/// Gradient boosting with what parameters can't say. A learner like any other.
#[derive(Clone)]
pub struct Boosting<'a> {
    /// The parameters.
    pub params: GradientBoosting,
    /// Go on from this model. Its rounds count among `n_estimators`.
    pub from: Option<&'a Model>,
    /// Early stopping watches these rows instead of a share of the data. Where the data has scores to start from ([`Dataset::with_init_score`]), they need theirs.
    pub validation: Option<&'a Dataset>,
    /// A loss of one's own. Its scores are predicted as they are for numbers; as log odds, or logarithms of probabilities, for classes. They start from `base_score`, or
    /// where [`Objective::start`] says: from the same start the same loss gives the same model as a built-in one.
    pub objective: Option<MakeObjective<'a>>,
    /// Early stopping watches this instead of the loss.
    pub metric: Option<Metric<'a>>,
    /// After so many rounds each, the model so far is shown, to be kept: going on [`from`](Self::from) it, with the same data and parameters, gives the same model.
    pub checkpoint: Option<(usize, Checkpoint<'a>)>,
}

impl Boosting<'_> {
    /// With these parameters and nothing else.
    pub fn new(params: GradientBoosting) -> Self {
        Boosting { params, from: None, validation: None, objective: None, metric: None, checkpoint: None }
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
    fn fits(&self, name: &str, value: &Value) -> bool {
        self.params.fits(name, value)
    }
}

/// What training rests on.
struct Base<'a> {
    data: &'a Dataset,
    columns: Columns,
    objective: Box<dyn Objective>,
    start: Vec<f64>,
    link: Link,
    earlier: Option<&'a Boosted>,
}

/// Rows that are watched, with their bins, loss and scores.
struct Watched<'a> {
    data: &'a Dataset,
    store: crate::split::histogram::Store,
    objective: Box<dyn Objective>,
    scores: Vec<f64>,
}

impl Learner for Boosting<'_> {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn check_data(&self, data: &Dataset) -> Result<()> {
        self.params.check_all(data)
    }

    fn takes_init_scores(&self) -> bool {
        true
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let (fitted, certificate) = self.of_rounds(data, context)?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// The rounds of the longest model are those of the shorter ones, and then some.
impl Path for GradientBoosting {
    fn parameter(&self) -> &'static str {
        "n_estimators"
    }

    fn predict_path(
        &self,
        data: &Dataset,
        values: &[Value],
        features: &Features,
        context: &Context<'_>,
    ) -> Result<(Output, Vec<Vec<f64>>)> {
        let rounds: Vec<usize> = values.iter().map(|value| value.number().unwrap_or(0.0) as usize).collect();
        let boosted = |n_estimators: usize| {
            Boosting::new(GradientBoosting { n_estimators, ..self.clone() }).of_rounds(data, context)
        };
        let (longest, _) = boosted(rounds.iter().copied().max().unwrap_or(0))?;
        let predict = |&n_rounds: &usize| match n_rounds {
            0 => boosted(0)?.0.predict(features),
            _ => longest.predict_after(features, n_rounds),
        };
        Ok((longest.output(), rounds.iter().map(predict).collect::<Result<_>>()?))
    }
}

/// Bytes of a tree of a few nodes, as most are where classes are many.
const LEAST_TREE: usize = 256;

impl GradientBoosting {
    /// A score, a gradient and a curvature for every row and class, and a tree for every round and class: with many classes that is far more than the data.
    fn check_memory(&self, data: &Dataset) -> Result<()> {
        let Target::Classes { labels, .. } = data.target() else { return Ok(()) };
        let (n, k) = (data.n_rows(), labels.len());
        if k <= 2 {
            return Ok(());
        }
        let advice =
            "join rare classes, or take a learner that grows one tree for all classes (random-forest, decision-tree)";
        memory::require(
            || format!("boosting {k} classes with a score, a gradient and a curvature for each of {n} rows"),
            &[n, k, 3 * size_of::<f64>()],
            advice,
        )?;
        memory::require(
            || format!("{} rounds of boosting with a tree for each of {k} classes", self.n_estimators),
            &[self.n_estimators, k, LEAST_TREE],
            advice,
        )
    }

    /// Refuses data that the parameters don't fit, and rankings of unknown queries.
    pub(super) fn check_all(&self, data: &Dataset) -> Result<()> {
        self.check(data)?;
        self.check_memory(data)?;
        watch::check(self.eval_metric, data)?;
        if self.loss == Loss::Quantile && self.quantile_alpha.len() > 1 && self.eval_metric != EvalMetric::Loss {
            return self
                .unsupported(format!("eval_metric = {} with several quantiles: watch the loss", self.eval_metric));
        }
        match data.task() == Task::Ranking && data.group().is_none() {
            true => Err(Error::data(
                "which query is a row of? Rows are ranked within queries: name the column that says it with --group (in code: Roles::group, Dataset::with_group, fit(group=) or fit(qid=)); where all rows are one query, a column that is the same in all rows",
            )),
            false => Ok(()),
        }
    }
}

impl Boosting<'_> {
    /// The model of as many rounds as asked for, or as do best.
    fn of_rounds(&self, data: &Dataset, context: &Context<'_>) -> Result<(Boosted, Certificate)> {
        self.params.check_all(data)?;
        if self.checkpoint.is_some() && self.params.rate_drop > 0.0 {
            return self.params.unsupported("checkpoints with rate_drop: later rounds change earlier ones".into());
        }
        let (fitted, mut certificate) = match self.params.n_estimators {
            0 => self.with_chosen_rounds(data, context)?,
            _ => self.boosted(data, context)?,
        };
        if data.init_score().is_some() {
            certificate.notes.push("what it predicts is to be added to the scores that rows start from".into());
        }
        Ok((fitted, certificate))
    }

    /// The same, with other parameters.
    fn with(&self, params: GradientBoosting) -> Boosting<'_> {
        Boosting { params, ..self.clone() }
    }

    /// Trains with as many rounds as do best on rows kept aside.
    fn with_chosen_rounds(&self, data: &Dataset, context: &Context<'_>) -> Result<(Boosted, Certificate)> {
        let params = |n_estimators: usize| GradientBoosting { n_estimators, ..self.params.clone() };
        if (self.validation.is_some() && self.params.rate_drop == 0.0) || self.params.early_stopping_rounds.is_some() {
            let patience = self.params.early_stopping_rounds.or(Some(rounds::PATIENCE));
            let watching = GradientBoosting { early_stopping_rounds: patience, ..params(rounds::MOST) };
            return self.with(watching).boosted(data, context);
        }
        // Several runs have no one state to keep, or to go on from.
        if self.checkpoint.is_some() || self.from.is_some() {
            let what = if self.from.is_some() { "going on from a model" } else { "checkpoints" };
            let need = format!(
                "{what} where the rounds are to be found: give n_estimators (with the rounds before), or rows to watch"
            );
            return self.params.unsupported(need);
        }
        // A single class is certain, however many rounds.
        if data.classes().is_ok_and(|(_, labels)| labels.len() < 2) {
            return self.with(params(1)).boosted(data, context);
        }
        let parts = if self.params.rate_drop > 0.0 { Vec::new() } else { rounds::parts(data, context.seed)? };
        let chosen = if parts.len() > 1 { self.params.on_small_data(data) } else { self.params.clone() };
        let params = |n_estimators: usize| GradientBoosting { n_estimators, ..chosen.clone() };
        let mut models: Vec<Boosted> = Vec::new();
        for (train, watch) in &parts {
            let mut trial = GradientBoosting { early_stopping_rounds: Some(rounds::PATIENCE), ..params(rounds::MOST) };
            // A mean of unlike trees is better than one of like trees.
            if models.len() % 2 == 1 && models[0].statistics.is_empty() {
                (trial.grow_policy, trial.max_leaf_nodes) = (self.params.grow_policy, self.params.max_leaf_nodes);
            }
            let trial = Boosting { validation: Some(watch), ..self.with(trial) };
            models.push(trial.boosted(train, context)?.0);
        }
        if models.is_empty() {
            return self.with(params(rounds::ROUNDS_OF_FEW)).boosted(data, context);
        }
        let histories: Vec<&[f64]> = models.iter().map(Boosted::history).collect();
        let (best, means) = rounds::best(&histories);
        if models.len() > 1 && models.iter().all(|model| model.statistics.is_empty()) {
            return self.mean_of(&models, means, data);
        }
        let (mut fitted, mut certificate) = self.with(params(best)).boosted(data, context)?;
        fitted.history = means;
        let parts = if parts.len() == 1 { "a part of the rows".into() } else { format!("{} folds", parts.len()) };
        certificate.notes.push(format!("the number of rounds is the best on {parts}"));
        Ok((fitted, certificate))
    }

    /// The mean of the models that watched the folds.
    fn mean_of(&self, models: &[Boosted], history: Vec<f64>, data: &Dataset) -> Result<(Boosted, Certificate)> {
        let fitted = Boosted { history, ..rounds::mean(models) };
        let data = by_query(data)?;
        let objective = self.objective(&data)?;
        let scores = with_init(&data, fitted.scores(data.features(), fitted.booster.n_rounds())?)?;
        let loss = watch::mean_loss(&*objective, &scores);
        let mut certificate = certificate(&*objective, Some((loss, false)), &fitted.booster, &self.params);
        let n = models.len();
        certificate
            .notes
            .push(format!("the mean of {n} models, each trained without one of {n} folds, which says when to stop"));
        Ok((fitted, certificate))
    }

    fn boosted(&self, data: &Dataset, context: &Context<'_>) -> Result<(Boosted, Certificate)> {
        let (kept, watch) = self.kept_aside(data, context)?;
        let (kept, watch) = (by_query(&kept)?, watch.as_deref().map(by_query).transpose()?);
        let base = self.base(&kept, context)?;
        let watched = watch.as_deref().map(|rows| self.watched(&base, rows)).transpose()?;
        let scores = self.scores(&base)?;
        let ground = Ground { store: &base.columns.store, objective: &*base.objective, scores: &scores };
        let watched_ground =
            watched.as_ref().map(|w| Ground { store: &w.store, objective: &*w.objective, scores: &w.scores });
        let judge = |scores: &[f64]| match &watched {
            Some(watched) => Ok(self.judged(base.link, watched.data, scores)?.unwrap_or_default()),
            None => Ok(0.0),
        };
        let judged = self.metric.is_some() || self.params.eval_metric != EvalMetric::Loss;
        let show = |trees: &[Grown], history: &[f64]| {
            let Some((_, show)) = self.checkpoint else { return Ok(()) };
            let rounds = base.rounds_before() + trees.len() / base.start.len();
            let fitted = self.fitted(&base, trees, rounds, history.to_vec())?;
            let certificate = certificate(&*base.objective, None, fitted.booster(), &self.params);
            let trained = Trained { fitted: Box::new(fitted), certificate };
            show(&wrap(self, data, context, trained))
        };
        let training = Training {
            first_round: base.rounds_before(),
            growth: self.params.growth(&kept, &base.columns, context.seed),
            metric: if judged { Some(&judge) } else { None },
            history: base.earlier.map_or_else(Vec::new, |earlier| earlier.history.clone()),
            checkpoint: self.checkpoint.map(|(every, _)| (every, &show as train::Checkpoint<'_>)),
            ..self.params.training(context)
        };
        let trained = training.train(&ground, watched_ground.as_ref())?;
        let fitted = self.fitted(&base, &trained.trees, trained.n_rounds, trained.history.clone())?;
        let loss = if fitted.booster.n_rounds() == base.rounds_before() + trained.trees.len() / base.start.len() {
            trained.loss
        } else {
            let scores = with_init(&kept, base.columns.scores(&fitted.booster, kept.features()))?;
            train::loss_at(&Ground { scores: &scores, ..ground })
        };
        let outcome = Some((loss, trained.stopped_early));
        let certificate = certificate(&*base.objective, outcome, &fitted.booster, &self.params);
        Ok((fitted, certificate))
    }
}

impl Base<'_> {
    fn rounds_before(&self) -> usize {
        self.earlier.map_or(0, |earlier| earlier.booster.n_rounds())
    }
}

/// What the splits of each column gain, as a share of what all splits gain; zeros where there is no split. A leaf of value w and curvature h has the
/// gradient -w (h + lambda), up to the learning rate; a node the sum of its leaves' gradients G; it is worth G^2 / (h + lambda), and a split gains what its children are worth more than it.
fn importances(booster: &Booster, columns: &Columns, n_features: usize, reg_lambda: f64) -> Vec<f64> {
    let mut gains = vec![0.0; n_features];
    for tree in (0..booster.n_trees()).map(|number| booster.tree(number)) {
        let curvature = |node: usize| tree.weight[node] + reg_lambda;
        let mut gradient = vec![0.0; tree.n_nodes()];
        let worth = |gradient: &[f64], node: usize| {
            if curvature(node) > 0.0 { gradient[node].powi(2) / curvature(node) } else { 0.0 }
        };
        // Children stand after their parents.
        for node in (0..tree.n_nodes()).rev() {
            let Some(feature) = tree.test[node].feature() else {
                gradient[node] = tree.value(node)[0] * curvature(node);
                continue;
            };
            gradient[node] = tree.children(node).map(|child| gradient[child]).sum();
            let children: f64 = tree.children(node).map(|child| worth(&gradient, child)).sum();
            gains[columns.origin(feature)] += (children - worth(&gradient, node)).max(0.0);
        }
    }
    let total: f64 = gains.iter().sum();
    if total > 0.0 { gains.iter().map(|gain| gain / total).collect() } else { gains }
}

/// `outcome`: the mean loss on the training rows, and whether early stopping ended it.
fn certificate(
    objective: &dyn Objective,
    outcome: Option<(f64, bool)>,
    booster: &Booster,
    params: &GradientBoosting,
) -> Certificate {
    let mut notes = vec![format!("{} rounds", booster.n_rounds())];
    match outcome {
        Some((_, true)) => {
            let rounds = params.early_stopping_rounds.unwrap_or_default();
            notes.push(format!("stopped early: no better on the rows kept aside for {rounds} rounds"));
        }
        Some(_) => {}
        None => notes.push("a checkpoint: training was to go on".into()),
    }
    if booster.n_trees() > 0 && (0..booster.n_trees()).all(|number| booster.tree(number).n_nodes() == 1) {
        notes.push(
            "no tree has a split: none gains enough and leaves a curvature of min_child_weight on both sides".into(),
        );
    }
    Certificate {
        objective: format!("mean {} on the training data", objective.name()),
        value: outcome.map(|(loss, _)| loss),
        status: Status::Done,
        proofs: vec![Proof::Nothing { because: "trees are added greedily".into() }],
        notes,
    }
}

/// Other rows in the form of the training data: columns, categories and classes are found by name.
fn in_form(other: &Dataset, data: &Dataset) -> Result<Dataset> {
    let refuse = |why: &str| Err(Error::data(format!("the validation data {why}")));
    if other.n_rows() == 0 {
        return refuse("has no rows");
    }
    let target = match (other.target(), data.target()) {
        (Target::Classes { codes, labels }, Target::Classes { labels: known, .. }) => {
            let code = |label: &String| {
                let code = known.iter().position(|class| class == label).map(|code| code as u32);
                code.ok_or_else(|| Error::unknown("class in the training data", label, known.iter()))
            };
            let new: Vec<u32> = labels.iter().map(code).collect::<Result<_>>()?;
            Target::Classes { codes: codes.iter().map(|&c| new[c as usize]).collect(), labels: known.clone() }
        }
        (Target::Values { n_outputs: a, .. }, Target::Values { n_outputs: b, .. }) if a == b => other.target().clone(),
        _ => return refuse("has another target than the training data"),
    };
    match (data.init_score().is_some(), other.init_score().is_some()) {
        (true, false) => return refuse("has no init scores, and the training data has: say where its rows start"),
        (false, true) => return refuse("has init scores, and the training data has none"),
        _ => {}
    }
    if data.group().is_some() && data.task() == Task::Ranking && other.group().is_none() {
        return refuse("doesn't say which query a row is of, and the training data does");
    }
    let features = Schema::of(data).features_of_data(other)?;
    let made = Dataset::from_parts(features, target, data.task())?;
    let made = made.with_weight(other.weight().map(<[f64]>::to_vec))?.with_group(other.group().map(<[u32]>::to_vec))?;
    made.with_init_score(other.init_score().map(<[f64]>::to_vec))
}

/// Scores with those added that the rows start from.
pub(super) fn with_init(data: &Dataset, mut scores: Vec<f64>) -> Result<Vec<f64>> {
    if let Some(init) = data.init_score() {
        if init.len() != scores.len() {
            let (n, given, needed) = (data.n_rows(), init.len(), scores.len());
            return Err(Error::data(format!("init scores: {given} numbers for {n} rows, expected {needed}")));
        }
        scores.iter_mut().zip(init).for_each(|(score, init)| *score += init);
    }
    Ok(scores)
}

/// The rows query by query, where there are queries.
pub(super) fn by_query<'d>(data: &'d Dataset) -> Result<Cow<'d, Dataset>> {
    let Some(group) = data.group().filter(|g| data.task() == Task::Ranking && !g.is_sorted()) else {
        return Ok(Cow::Borrowed(data));
    };
    let mut rows: Vec<u32> = (0..data.n_rows() as u32).collect();
    rows.sort_by_key(|&row| group[row as usize]);
    data.select(&rows).map(Cow::Owned)
}

impl Boosting<'_> {
    /// The rows to train on, and those to watch.
    fn kept_aside<'d>(
        &'d self,
        data: &'d Dataset,
        context: &Context<'_>,
    ) -> Result<(Cow<'d, Dataset>, Option<Cow<'d, Dataset>>)> {
        if let Some(watch) = self.validation {
            return Ok((Cow::Borrowed(data), Some(Cow::Owned(in_form(watch, data)?))));
        }
        if self.params.early_stopping_rounds.is_none() {
            return Ok((Cow::Borrowed(data), None));
        }
        let (train, watch) = rounds::kept_aside(data, self.params.validation_fraction, context.seed)?;
        Ok((Cow::Owned(train), Some(Cow::Owned(watch))))
    }

    pub(super) fn objective(&self, data: &Dataset) -> Result<Box<dyn Objective>> {
        self.objective.map_or_else(|| self.params.objective(data), |make| make(data))
    }

    /// The model to go on from: of such scores of such data.
    fn earlier(&self, data: &Dataset, link: Link, n_scores: usize) -> Result<Option<&Boosted>> {
        let Some(model) = self.from else { return Ok(None) };
        if self.params.rate_drop > 0.0 {
            return self.params.unsupported("going on from a model with rate_drop: its rounds can't be dropped".into());
        }
        let Some(fitted) = model.fitted::<Boosted>() else {
            return self.params.unsupported(format!("going on from a model of {}", model.header().learner));
        };
        if let Some(difference) = model.schema().difference(&Schema::of(data)) {
            return self.params.unsupported(format!("going on from a model of other data: {difference}"));
        }
        if fitted.link != link || fitted.booster.n_scores() != n_scores {
            let said = |link: Link, n: usize| format!("{n} score(s) per row with the link {link:?}");
            let (before, now) = (said(fitted.link, fitted.booster.n_scores()), said(link, n_scores));
            return self
                .params
                .unsupported(format!("going on from a model of another loss: {now} instead of {before}"));
        }
        Ok(Some(fitted))
    }

    /// All that training rests on, for the rows to train on.
    fn base<'d>(&'d self, data: &'d Dataset, context: &Context<'_>) -> Result<Base<'d>> {
        let objective = self.objective(data)?;
        let link = self.params.link(data, objective.n_scores());
        let earlier = self.earlier(data, link, objective.n_scores())?;
        let columns = Columns::new(&self.params, data, earlier.map(|e| &e.statistics), context.seed)?;
        let start = match (earlier, self.params.base_score) {
            (Some(earlier), _) => earlier.booster.start().to_vec(),
            (None, Some(score)) => vec![score; objective.n_scores()],
            (None, None) if data.init_score().is_some() => vec![0.0; objective.n_scores()],
            (None, None) => objective.start(),
        };
        Ok(Base { data, columns, objective, start, link, earlier })
    }

    fn watched<'d>(&self, base: &Base<'_>, data: &'d Dataset) -> Result<Watched<'d>> {
        let features = data.features();
        let scores = match base.earlier {
            Some(earlier) => {
                earlier.booster.scores(&base.columns.statistics.extend(features)?, earlier.booster.n_rounds())
            }
            None => base.start.repeat(data.n_rows()),
        };
        let scores = with_init(data, scores)?;
        Ok(Watched { data, store: base.columns.store_of(features), objective: self.objective(data)?, scores })
    }

    /// The model of the first `n_rounds` rounds: those that went before, and these trees.
    fn fitted(&self, base: &Base<'_>, trees: &[Grown], n_rounds: usize, history: Vec<f64>) -> Result<Boosted> {
        let to_tree = |grown: &Grown| {
            let mut tree = grown.to_tree(&base.columns.bins);
            if self.params.tree_method == TreeMethod::Exact {
                centre(&mut tree, base.data.features());
            }
            tree
        };
        let before = base.earlier.map(|earlier| &earlier.booster);
        let before = before.into_iter().flat_map(|b| (0..b.n_trees()).map(|number| b.tree(number)));
        let all = before.chain(trees.iter().map(to_tree)).take(n_rounds * base.start.len());
        let booster = Booster::new(base.start.clone(), all);
        let n_features = base.data.features().n_columns();
        let importances = importances(&booster, &base.columns, n_features, self.params.reg_lambda);
        let n_classes = base.data.classes().map_or(0, |(_, labels)| labels.len());
        let statistics = base.columns.statistics.clone();
        let levels = if self.objective.is_some() { Vec::new() } else { self.params.levels(base.data) };
        Ok(Boosted { booster, statistics, link: base.link, n_classes, history, importances, levels })
    }

    /// Where the scores of the rows start.
    fn scores(&self, base: &Base<'_>) -> Result<Vec<f64>> {
        let scores = match base.earlier {
            Some(earlier) => base.columns.scores(&earlier.booster, base.data.features()),
            None => base.start.repeat(base.data.n_rows()),
        };
        with_init(base.data, scores)
    }
}
