//! From data to a model: validation sets, continued training, checkpoints, custom objectives and metrics.

use super::columns::Columns;
use super::fitted::Boosted;
use super::{EvalMetric, GradientBoosting, INFO, Loss, TreeMethod};
use super::{eval_metric, rounds};
use crate::boost::booster::Booster;
use crate::boost::grown::{BinnedTree, center_thresholds};
use crate::boost::objective::Objective;
use crate::boost::train::{self, TrainingOptions, TrainingRows};
use ermine_core::error::{Error, Result};
use ermine_core::learner::fit::wrap;
use ermine_core::learner::{Context, Info, Learner, Path, Trained};
use ermine_core::matrix::{Dataset, Features, Schema, Target, Task};
use ermine_core::memory;
use ermine_core::model::{Certificate, Fitted, Link, Model, Output, Proof, Status};
use ermine_core::param::{ParamSpec, Parameters, Value};
use std::borrow::Cow;

/// Makes the objective over a data set.
pub type MakeObjective<'a> = &'a (dyn Fn(&Dataset) -> Result<Box<dyn Objective>> + Sync);

/// Receives the model of the rounds so far.
pub type Checkpoint<'a> = &'a (dyn Fn(&Model) -> Result<()> + Sync);

/// The score of predictions (as the model makes them, row by row) for a validation set; lower is better.
pub type Metric<'a> = &'a (dyn Fn(&Dataset, &[f64]) -> Result<f64> + Sync);

/// Gradient boosting with inputs that are not parameters: a model to continue from, a validation set, a custom objective or metric, checkpoints. A learner like any other.
#[derive(Clone)]
pub struct Boosting<'a> {
    /// The parameters.
    pub params: GradientBoosting,
    /// Continue training from this model. Its rounds count toward `n_estimators`.
    pub init_model: Option<&'a Model>,
    /// The validation set of early stopping, in place of a fraction of the data. If the data has initial scores ([`Dataset::with_init_score`]), it needs them too.
    pub validation: Option<&'a Dataset>,
    /// A custom objective. Its scores are the predictions in regression, and log-odds or logarithms of probabilities in classification. They start from `base_score`, or
    /// from [`Objective::start`]: with the same start, the same loss gives the same model as a built-in one.
    pub objective: Option<MakeObjective<'a>>,
    /// A custom validation metric, in place of the loss.
    pub metric: Option<Metric<'a>>,
    /// After every so many rounds, this is called with the model so far: to continue from it ([`init_model`](Self::init_model)) with the same data and parameters gives the
    /// same model as training without interruption.
    pub checkpoint: Option<(usize, Checkpoint<'a>)>,
}

impl Boosting<'_> {
    /// With these parameters and no other inputs.
    pub fn new(params: GradientBoosting) -> Self {
        Boosting { params, init_model: None, validation: None, objective: None, metric: None, checkpoint: None }
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

/// The training set, ready for boosting.
struct FitInputs<'a> {
    data: &'a Dataset,
    columns: Columns,
    rows: TrainingRows,
    start: Vec<f64>,
    link: Link,
    init_model: Option<&'a Boosted>,
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
        let (fitted, certificate) = self.train_model(data, context)?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

/// The longest model begins with the rounds of the shorter ones.
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
            Boosting::new(GradientBoosting { n_estimators, ..self.clone() }).train_model(data, context)
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
    /// Checks the memory for a score, a gradient and a curvature of every row and class, and a tree for every round and class: with many classes that is far more than the data.
    fn check_memory(&self, data: &Dataset) -> Result<()> {
        let Target::Classes { labels, .. } = data.target() else { return Ok(()) };
        let (n, k) = (data.n_rows(), labels.len());
        if k <= 2 {
            return Ok(());
        }
        let advice =
            "merge rare classes, or use a learner that grows one tree for all classes (random-forest, decision-tree)";
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

    /// Checks that the parameters fit the data, and that ranking has query groups.
    pub(super) fn check_all(&self, data: &Dataset) -> Result<()> {
        self.check(data)?;
        self.check_memory(data)?;
        eval_metric::check(self.eval_metric, data)?;
        if self.loss == Loss::Quantile && self.quantile_alpha.len() > 1 && self.eval_metric != EvalMetric::Loss {
            return self
                .unsupported(format!("eval_metric = {} with several quantiles (use the loss)", self.eval_metric));
        }
        match data.task() == Task::Ranking && data.group().is_none() {
            true => Err(Error::MissingGroups),
            false => Ok(()),
        }
    }
}

impl Boosting<'_> {
    /// Trains a model of the given number of rounds, or of the best number. The data is checked already.
    fn train_model(&self, data: &Dataset, context: &Context<'_>) -> Result<(Boosted, Certificate)> {
        if self.checkpoint.is_some() && self.params.rate_drop > 0.0 {
            return self
                .params
                .unsupported("checkpoints with rate_drop, because later rounds change earlier ones".into());
        }
        let (fitted, mut certificate) = match self.params.n_estimators {
            0 => self.train_with_early_stopping(data, context)?,
            _ => self.train_fixed_rounds(data, context)?,
        };
        if data.init_score().is_some() {
            certificate.notes.push("predictions are to be added to the scores that are given as init scores".into());
        }
        Ok((fitted, certificate))
    }

    /// The same inputs with other parameters.
    fn with(&self, params: GradientBoosting) -> Boosting<'_> {
        Boosting { params, ..self.clone() }
    }

    /// Chooses the number of rounds by early stopping on validation sets.
    fn train_with_early_stopping(&self, data: &Dataset, context: &Context<'_>) -> Result<(Boosted, Certificate)> {
        let params = |n_estimators: usize| GradientBoosting { n_estimators, ..self.params.clone() };
        if (self.validation.is_some() && self.params.rate_drop == 0.0) || self.params.early_stopping_rounds.is_some() {
            let patience = self.params.early_stopping_rounds.or(Some(rounds::EARLY_STOPPING_ROUNDS));
            let stopping = GradientBoosting { early_stopping_rounds: patience, ..params(rounds::MAX_ROUNDS) };
            return self.with(stopping).train_fixed_rounds(data, context);
        }
        // Several runs have no single state to save, or to continue from.
        if self.checkpoint.is_some() || self.init_model.is_some() {
            let what = if self.init_model.is_some() { "continuing from a model" } else { "checkpoints" };
            let need = format!(
                "{what} with n_estimators = 0 and no validation set (set n_estimators, which includes the rounds so far, or pass a validation set)"
            );
            return self.params.unsupported(need);
        }
        // With a single class every prediction is certain.
        if data.classes().is_ok_and(|(_, labels)| labels.len() < 2) {
            return self.with(params(1)).train_fixed_rounds(data, context);
        }
        let parts = if self.params.rate_drop > 0.0 { Vec::new() } else { rounds::parts(data, context.seed)? };
        let chosen = if parts.len() > 1 { self.params.on_small_data(data) } else { self.params.clone() };
        let params = |n_estimators: usize| GradientBoosting { n_estimators, ..chosen.clone() };
        let mut models: Vec<Boosted> = Vec::new();
        for (train, validation) in &parts {
            let mut trial = GradientBoosting {
                early_stopping_rounds: Some(rounds::EARLY_STOPPING_ROUNDS),
                ..params(rounds::MAX_ROUNDS)
            };
            // A mean of different kinds of trees predicts better than one of similar trees.
            if models.len() % 2 == 1 && models[0].statistics.is_empty() {
                (trial.grow_policy, trial.max_leaf_nodes) = (self.params.grow_policy, self.params.max_leaf_nodes);
            }
            let trial = Boosting { validation: Some(validation), ..self.with(trial) };
            models.push(trial.train_fixed_rounds(train, context)?.0);
        }
        if models.is_empty() {
            return self.with(params(rounds::DEFAULT_ROUNDS)).train_fixed_rounds(data, context);
        }
        let histories: Vec<&[f64]> = models.iter().map(Boosted::history).collect();
        let (best, means) = rounds::best(&histories);
        if models.len() > 1 && models.iter().all(|model| model.statistics.is_empty()) {
            return self.mean_of(&models, means, data);
        }
        let (mut fitted, mut certificate) = self.with(params(best)).train_fixed_rounds(data, context)?;
        fitted.history = means;
        let parts = if parts.len() == 1 { "one fold".into() } else { format!("{} folds", parts.len()) };
        certificate.notes.push(format!("the number of rounds was chosen by early stopping on {parts}"));
        Ok((fitted, certificate))
    }

    /// The mean of the models of the folds.
    fn mean_of(&self, models: &[Boosted], history: Vec<f64>, data: &Dataset) -> Result<(Boosted, Certificate)> {
        let fitted = Boosted { history, ..rounds::mean(models) };
        let data = sorted_by_query(data)?;
        let objective = self.objective(&data)?;
        let scores = add_init_scores(&data, fitted.scores(data.features(), fitted.booster.n_rounds())?)?;
        let loss = train::loss_at(&*objective, &scores);
        let mut certificate = certificate(&*objective, Some((loss, false)), &fitted.booster, &self.params);
        let n = models.len();
        certificate.notes.push(format!(
            "the mean of {n} models, each trained without one of {n} folds and stopped early by its loss on that fold"
        ));
        Ok((fitted, certificate))
    }

    /// Trains up to `n_estimators` rounds.
    fn train_fixed_rounds(&self, data: &Dataset, context: &Context<'_>) -> Result<(Boosted, Certificate)> {
        let (train, validation) = self.validation_split(data, context)?;
        let (train, validation) = (sorted_by_query(&train)?, validation.as_deref().map(sorted_by_query).transpose()?);
        let inputs = self.inputs(&train, context)?;
        let validation = validation.as_deref();
        let validation_rows = validation.map(|data| self.validation_rows(&inputs, data)).transpose()?;
        let metric = |scores: &[f64]| match validation {
            Some(data) => Ok(self.metric_value(inputs.link, data, scores)?.unwrap_or_default()),
            None => Ok(0.0),
        };
        let has_metric = self.metric.is_some() || self.params.eval_metric != EvalMetric::Loss;
        let save = |trees: &[BinnedTree], history: &[f64]| {
            let Some((_, save)) = self.checkpoint else { return Ok(()) };
            let rounds = inputs.first_round() + trees.len() / inputs.start.len();
            let fitted = self.fitted(&inputs, trees, rounds, history.to_vec())?;
            let certificate = certificate(&*inputs.rows.objective, None, fitted.booster(), &self.params);
            let trained = Trained { fitted: Box::new(fitted), certificate };
            save(&wrap(self, data, context, trained))
        };
        let options = TrainingOptions {
            first_round: inputs.first_round(),
            tree: self.params.tree_options(&train, &inputs.columns, context.seed),
            metric: if has_metric { Some(&metric) } else { None },
            history: inputs.init_model.map_or_else(Vec::new, |model| model.history.clone()),
            checkpoint: self.checkpoint.map(|(every, _)| (every, &save as train::Checkpoint<'_>)),
            ..self.params.training_options(context)
        };
        let trained = options.train(&inputs.rows, validation_rows.as_ref())?;
        let fitted = self.fitted(&inputs, &trained.trees, trained.n_rounds, trained.history.clone())?;
        let loss = if fitted.booster.n_rounds() == inputs.first_round() + trained.trees.len() / inputs.start.len() {
            trained.loss
        } else {
            let scores = add_init_scores(&train, inputs.columns.scores(&fitted.booster, train.features()))?;
            train::loss_at(&*inputs.rows.objective, &scores)
        };
        let outcome = Some((loss, trained.stopped_early));
        let certificate = certificate(&*inputs.rows.objective, outcome, &fitted.booster, &self.params);
        Ok((fitted, certificate))
    }
}

impl FitInputs<'_> {
    /// The number of rounds of the model to continue from.
    fn first_round(&self) -> usize {
        self.init_model.map_or(0, |model| model.booster.n_rounds())
    }
}

/// The total gain of the splits of each column, as a fraction of that of all splits; zeros if there is no split. A leaf of value w and curvature h has the
/// gradient -w (h + lambda), up to the learning rate; a node has the sum G of its leaves' gradients and the score G^2 / (h + lambda). The gain of a split is the score of its children minus that of the node.
fn importances(booster: &Booster, columns: &Columns, n_features: usize, reg_lambda: f64) -> Vec<f64> {
    let mut gains = vec![0.0; n_features];
    for tree in (0..booster.n_trees()).map(|number| booster.tree(number)) {
        let curvature = |node: usize| tree.weight[node] + reg_lambda;
        let mut gradient = vec![0.0; tree.n_nodes()];
        let score = |gradient: &[f64], node: usize| {
            if curvature(node) > 0.0 { gradient[node].powi(2) / curvature(node) } else { 0.0 }
        };
        // Children stand after their parents.
        for node in (0..tree.n_nodes()).rev() {
            let Some(feature) = tree.test[node].feature() else {
                gradient[node] = tree.value(node)[0] * curvature(node);
                continue;
            };
            gradient[node] = tree.children(node).map(|child| gradient[child]).sum();
            let children: f64 = tree.children(node).map(|child| score(&gradient, child)).sum();
            gains[columns.origin(feature)] += (children - score(&gradient, node)).max(0.0);
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
            notes.push(format!("stopped early: no improvement on the validation set for {rounds} rounds"));
        }
        Some(_) => {}
        None => notes.push("a checkpoint of an unfinished training run".into()),
    }
    if booster.n_trees() > 0 && (0..booster.n_trees()).all(|number| booster.tree(number).n_nodes() == 1) {
        notes.push(
            "no tree has a split: none has enough gain and a sum of Hessians of min_child_weight on both sides".into(),
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

/// The validation set with columns, categories and classes in the order of the training data, matched by name.
fn align_validation(other: &Dataset, data: &Dataset) -> Result<Dataset> {
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
        (true, false) => return refuse("has no init scores, but the training data has"),
        (false, true) => return refuse("has init scores, but the training data has none"),
        _ => {}
    }
    if data.group().is_some() && data.task() == Task::Ranking && other.group().is_none() {
        return refuse("has no query groups, but the training data has");
    }
    let features = Schema::of(data).features_of_data(other)?;
    let made = Dataset::from_parts(features, target, data.task())?;
    let made = made.with_weight(other.weight().map(<[f64]>::to_vec))?.with_group(other.group().map(<[u32]>::to_vec))?;
    made.with_init_score(other.init_score().map(<[f64]>::to_vec))
}

/// Adds the initial scores of the rows, if there are any.
pub(super) fn add_init_scores(data: &Dataset, mut scores: Vec<f64>) -> Result<Vec<f64>> {
    if let Some(init) = data.init_score() {
        if init.len() != scores.len() {
            let (n, given, needed) = (data.n_rows(), init.len(), scores.len());
            return Err(Error::data(format!("init scores: {given} numbers for {n} rows, expected {needed}")));
        }
        scores.iter_mut().zip(init).for_each(|(score, init)| *score += init);
    }
    Ok(scores)
}

/// The rows sorted by query in ranking.
pub(super) fn sorted_by_query<'d>(data: &'d Dataset) -> Result<Cow<'d, Dataset>> {
    let Some(group) = data.group().filter(|g| data.task() == Task::Ranking && !g.is_sorted()) else {
        return Ok(Cow::Borrowed(data));
    };
    let mut rows: Vec<u32> = (0..data.n_rows() as u32).collect();
    rows.sort_by_key(|&row| group[row as usize]);
    data.select(&rows).map(Cow::Owned)
}

impl Boosting<'_> {
    /// The training set and the validation set.
    fn validation_split<'d>(
        &'d self,
        data: &'d Dataset,
        context: &Context<'_>,
    ) -> Result<(Cow<'d, Dataset>, Option<Cow<'d, Dataset>>)> {
        if let Some(validation) = self.validation {
            return Ok((Cow::Borrowed(data), Some(Cow::Owned(align_validation(validation, data)?))));
        }
        if self.params.early_stopping_rounds.is_none() {
            return Ok((Cow::Borrowed(data), None));
        }
        let (train, validation) = rounds::validation_split(data, self.params.validation_fraction, context.seed)?;
        Ok((Cow::Owned(train), Some(Cow::Owned(validation))))
    }

    pub(super) fn objective(&self, data: &Dataset) -> Result<Box<dyn Objective>> {
        self.objective.map_or_else(|| self.params.objective(data), |make| make(data))
    }

    /// The model to continue from, if it has such scores of such data.
    fn checked_init_model(&self, data: &Dataset, link: Link, n_scores: usize) -> Result<Option<&Boosted>> {
        let Some(model) = self.init_model else { return Ok(None) };
        if self.params.rate_drop > 0.0 {
            return self.params.unsupported("continuing from a model with rate_drop".into());
        }
        let Some(fitted) = model.fitted::<Boosted>() else {
            return self.params.unsupported(format!("continuing from a model of {}", model.header().learner));
        };
        if let Some(difference) = model.schema().difference(&Schema::of(data)) {
            return self.params.unsupported(format!("continuing from a model of other data: {difference}"));
        }
        if fitted.link != link || fitted.booster.n_scores() != n_scores {
            let kind = |link: Link, n: usize| format!("{n} score(s) per row with the link {link:?}");
            let (before, now) = (kind(fitted.link, fitted.booster.n_scores()), kind(link, n_scores));
            return self
                .params
                .unsupported(format!("continuing from a model of another loss: {now} instead of {before}"));
        }
        Ok(Some(fitted))
    }

    /// Bins, objective and initial scores of the training set.
    fn inputs<'d>(&'d self, data: &'d Dataset, context: &Context<'_>) -> Result<FitInputs<'d>> {
        let objective = self.objective(data)?;
        let link = GradientBoosting::link(data, &*objective);
        let init_model = self.checked_init_model(data, link, objective.n_scores())?;
        let statistics = init_model.map(|model| &model.statistics);
        let (columns, store) = Columns::new(&self.params, data, statistics, context.seed)?;
        let start = match (init_model, self.params.base_score) {
            (Some(model), _) => model.booster.start().to_vec(),
            (None, Some(score)) => vec![score; objective.n_scores()],
            (None, None) if data.init_score().is_some() => vec![0.0; objective.n_scores()],
            (None, None) => objective.start(),
        };
        let scores = match init_model {
            Some(model) => columns.scores(&model.booster, data.features()),
            None => start.repeat(data.n_rows()),
        };
        let rows = TrainingRows { store, objective, scores: add_init_scores(data, scores)? };
        Ok(FitInputs { data, columns, rows, start, link, init_model })
    }

    /// Bins, objective and initial scores of the validation set.
    fn validation_rows(&self, inputs: &FitInputs<'_>, data: &Dataset) -> Result<TrainingRows> {
        let features = data.features();
        let scores = match inputs.init_model {
            Some(model) => model.scores(features, model.booster.n_rounds())?,
            None => inputs.start.repeat(data.n_rows()),
        };
        let (store, objective) = (inputs.columns.store_of(features), self.objective(data)?);
        Ok(TrainingRows { store, objective, scores: add_init_scores(data, scores)? })
    }

    /// The model of the first `n_rounds` rounds: those of the model to continue from, then these trees.
    fn fitted(
        &self,
        inputs: &FitInputs<'_>,
        trees: &[BinnedTree],
        n_rounds: usize,
        history: Vec<f64>,
    ) -> Result<Boosted> {
        let to_tree = |binned: &BinnedTree| {
            let mut tree = binned.to_tree(&inputs.columns.bins);
            if self.params.tree_method == TreeMethod::Exact {
                center_thresholds(&mut tree, inputs.data.features());
            }
            tree
        };
        let before = inputs.init_model.map(|model| &model.booster);
        let before = before.into_iter().flat_map(|b| (0..b.n_trees()).map(|number| b.tree(number)));
        let all = before.chain(trees.iter().map(to_tree)).take(n_rounds * inputs.start.len());
        let booster = Booster::new(inputs.start.clone(), all);
        let n_features = inputs.data.features().n_columns();
        let importances = importances(&booster, &inputs.columns, n_features, self.params.reg_lambda);
        let n_classes = inputs.data.classes().map_or(0, |(_, labels)| labels.len());
        let statistics = inputs.columns.statistics.clone();
        let levels = if self.objective.is_some() { Vec::new() } else { self.params.levels(inputs.data) };
        Ok(Boosted { booster, statistics, link: inputs.link, n_classes, history, importances, levels })
    }
}
