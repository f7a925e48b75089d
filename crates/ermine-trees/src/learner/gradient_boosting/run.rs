//! From data to a model: validation sets, continued training, checkpoints, custom objectives and metrics.

use super::calibration::calibrate;
use super::columns::TrainingColumns;
use super::fitted::{BoostedTrees, add_scores};
use super::{BoostingLoss, EvalMetric, GradientBoosting, TreeMethod};
use super::{eval_metric, rounds};
use crate::boost::booster::Booster;
use crate::boost::grown::{BinnedTree, center_thresholds};
use crate::boost::objective::Objective;
use crate::boost::train::{self, TrainingOptions, TrainingRows};
use ermine_core::error::{Error, Result};
use ermine_core::learner::fit::wrap;
use ermine_core::learner::{Context, PathLearner, Trained};
use ermine_core::matrix::{Dataset, Features, Target, Task};
use ermine_core::memory;
use ermine_core::model::{Certificate, Fitted, Link, Output, Proof, Status};
use ermine_core::parallel;
use ermine_core::param::Value;
use ermine_core::progress::{Event, PartObserver, report};
use ermine_core::rng::Purpose;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// A request to train: parameters, and what belongs to the fit and not to the learner.
#[derive(Clone)]
pub(super) struct FitRequest<'a> {
    pub params: GradientBoosting,
    pub context: Context<'a>,
}

/// The training set, ready for boosting.
struct FitInputs<'a> {
    data: &'a Dataset,
    columns: TrainingColumns,
    rows: TrainingRows,
    start: Vec<f64>,
    link: Link,
    init_model: Option<&'a BoostedTrees>,
    /// The trees of the model to continue from, if they may be dropped.
    earlier: Vec<BinnedTree>,
}

/// The longest model begins with the rounds of the shorter ones.
impl PathLearner for GradientBoosting {
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
            FitRequest { params: GradientBoosting { n_estimators, ..self.clone() }, context: *context }
                .train_model(data)
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
        if self.loss == BoostingLoss::Quantile && self.quantile_alpha.len() > 1 && self.eval_metric != EvalMetric::Loss
        {
            return self
                .unsupported(format!("eval_metric = {} with several quantiles (use the loss)", self.eval_metric));
        }
        match data.task() == Task::Ranking && data.group().is_none() {
            true => Err(Error::MissingGroups),
            false => Ok(()),
        }
    }
}

impl FitRequest<'_> {
    /// Trains a model of the given number of rounds, or of the best number. The data is checked already.
    pub(super) fn train_model(&self, data: &Dataset) -> Result<(BoostedTrees, Certificate)> {
        let (mut fitted, mut certificate) = match self.params.n_estimators {
            0 => self.train_with_early_stopping(data)?,
            _ => self.train_fixed_rounds(data)?,
        };
        if self.params.calibrate_quantiles && !fitted.levels.is_empty() {
            let mut notes = vec!["the quantiles are not calibrated: training continues, or is to be continued".into()];
            if self.context.init_model.is_none() && self.context.checkpoint.is_none() {
                let parts = PartObserver(self.context.observer);
                let params = GradientBoosting { calibrate_quantiles: false, ..self.params.clone() };
                let request = FitRequest { params, context: Context { observer: &parts, ..self.context } };
                let train = |rows: &Dataset| Ok(request.train_model(rows)?.0);
                (fitted, notes) = calibrate(fitted, data, self.context.seed, train)?;
            }
            certificate.notes.extend(notes);
        }
        if data.init_score().is_some() {
            certificate.notes.push("predictions are to be added to the scores that are given as init scores".into());
        }
        Ok((fitted, certificate))
    }

    /// The same inputs with other parameters.
    fn with(&self, params: GradientBoosting) -> Self {
        FitRequest { params, context: self.context }
    }

    /// Chooses the number of rounds by early stopping on validation sets.
    fn train_with_early_stopping(&self, data: &Dataset) -> Result<(BoostedTrees, Certificate)> {
        let params = |n_estimators: usize| GradientBoosting { n_estimators, ..self.params.clone() };
        if (self.context.validation.is_some() && self.params.rate_drop == 0.0)
            || self.params.early_stopping_rounds.is_some()
        {
            let patience = self.params.early_stopping_rounds.or(Some(rounds::EARLY_STOPPING_ROUNDS));
            let stopping = GradientBoosting { early_stopping_rounds: patience, ..params(rounds::MAX_ROUNDS) };
            return self.with(stopping).train_fixed_rounds(data);
        }
        // Several runs have no single state to save, or to continue from.
        if self.context.checkpoint.is_some() || self.context.init_model.is_some() {
            let what = if self.context.init_model.is_some() { "continuing from a model" } else { "checkpoints" };
            let need = format!(
                "{what} with n_estimators = 0 and no validation set (set n_estimators, which includes the rounds so far, or pass a validation set)"
            );
            return self.params.unsupported(need);
        }
        // With a single class every prediction is certain.
        if data.classes().is_ok_and(|(_, labels)| labels.len() < 2) {
            return self.with(params(1)).train_fixed_rounds(data);
        }
        let parts = if self.params.rate_drop > 0.0 { Vec::new() } else { rounds::parts(data, self.context.seed)? };
        if parts.is_empty() {
            return self.with(params(rounds::DEFAULT_ROUNDS)).train_fixed_rounds(data);
        }
        let is_small = parts.len() > 1;
        let kinds = if is_small { self.params.on_small_data(data) } else { vec![self.params.clone()] };
        let n_models = if is_small { rounds::n_models(kinds.len()) } else { 1 };
        let parts = &parts[..n_models];
        let kind = |number: usize| number % kinds.len();
        let trials = self.train_all("choosing the number of rounds", data, parts.len(), |number, request| {
            let (train, validation) = &parts[number];
            let patience = Some(rounds::EARLY_STOPPING_ROUNDS);
            let kind = kinds[kind(number)].clone();
            let params = GradientBoosting { early_stopping_rounds: patience, n_estimators: rounds::MAX_ROUNDS, ..kind };
            let context = Context { validation: Some(validation), ..request.context };
            FitRequest { params, context }.train_fixed_rounds(train)
        })?;
        let n_rounds: Vec<usize> = (0..kinds.len())
            .map(|number| {
                let alike = trials.iter().enumerate().filter(|(trial, _)| kind(*trial) == number);
                rounds::mean_count(alike.map(|(_, (trial, _))| trial.booster.n_rounds()))
            })
            .collect();
        // Models that differ in nothing but their seeds are worth their time only if they are random.
        let random = kinds[0].is_random() || !trials[0].0.statistics.is_empty();
        let n_members = if random { n_models } else { kinds.len() };
        let members = self.train_all("boosting", data, n_members, |number, request| {
            let params = GradientBoosting { n_estimators: n_rounds[kind(number)], ..kinds[kind(number)].clone() };
            let seed = Purpose::BoostingMember.seed(self.context.seed, number as u64);
            let seed = if n_members > 1 { seed } else { self.context.seed };
            FitRequest { params, context: Context { seed, ..request.context } }.train_fixed_rounds(data)
        })?;
        let histories: Vec<&[f64]> = trials.iter().map(|(trial, _)| trial.history()).collect();
        self.mean_of(members, rounds::mean_history(&histories), parts.len(), data)
    }

    /// Trains several models; at the same time, if each of them takes one thread only.
    fn train_all(
        &self,
        what: &str,
        data: &Dataset,
        n: usize,
        train: impl Fn(usize, &FitRequest<'_>) -> Result<(BoostedTrees, Certificate)> + Sync,
    ) -> Result<Vec<(BoostedTrees, Certificate)>> {
        let custom = self.context.objective.is_some() || self.context.metric.is_some();
        if n == 1 || custom || !train::takes_one_thread(data.n_rows(), data.features().n_columns()) {
            return (0..n).map(|number| train(number, self)).collect();
        }
        let observer = PartObserver(self.context.observer);
        let request =
            FitRequest { params: self.params.clone(), context: Context { observer: &observer, ..self.context } };
        report(self.context.observer, Event::Begin { what, total: Some(n as u64) })?;
        let n_done = Mutex::new(0);
        let models = parallel::try_map(n, |number| {
            let model = train(number, &request)?;
            let mut done = n_done.lock().unwrap_or_else(PoisonError::into_inner);
            *done += 1;
            report(self.context.observer, Event::Step { done: *done, score: None })?;
            Ok(model)
        })?;
        report(self.context.observer, Event::End)?;
        Ok(models)
    }

    /// The mean of models of all rows.
    fn mean_of(
        &self,
        members: Vec<(BoostedTrees, Certificate)>,
        history: Vec<f64>,
        n_folds: usize,
        data: &Dataset,
    ) -> Result<(BoostedTrees, Certificate)> {
        let n = members.len();
        let folds = if n_folds == 1 { "one fold".into() } else { format!("{n_folds} folds") };
        let chosen = format!("the number of rounds was chosen by early stopping on {folds}");
        if let [(fitted, certificate)] = &members[..] {
            let (fitted, mut certificate) = (BoostedTrees { history, ..fitted.clone() }, certificate.clone());
            certificate.notes.push(chosen);
            return Ok((fitted, certificate));
        }
        let models: Vec<BoostedTrees> = members.into_iter().map(|(fitted, _)| fitted).collect();
        let fitted = BoostedTrees { history, ..rounds::mean(&models) };
        let data = sorted_by_query(data)?;
        let objective = self.objective(&data)?;
        let scores = add_init_scores(&data, fitted.scores(data.features(), fitted.booster.n_rounds())?)?;
        let loss = train::loss_at(&*objective, &scores);
        let mut certificate = certificate(&*objective, Some((loss, false)), &fitted.booster, &self.params);
        certificate.notes.push(format!("the mean of {n} models of all rows; {chosen}"));
        Ok((fitted, certificate))
    }

    /// Trains up to `n_estimators` rounds.
    fn train_fixed_rounds(&self, data: &Dataset) -> Result<(BoostedTrees, Certificate)> {
        let (train, validation) = self.validation_split(data)?;
        let (train, validation) = (sorted_by_query(&train)?, validation.as_deref().map(sorted_by_query).transpose()?);
        let inputs = self.inputs(&train)?;
        let validation = validation.as_deref();
        let validation_rows = validation.map(|data| self.validation_rows(&inputs, data)).transpose()?;
        let metric = |scores: &[f64]| match validation {
            Some(data) => Ok(self.metric_value(inputs.link, data, scores)?.unwrap_or_default()),
            None => Ok(0.0),
        };
        let has_metric = self.context.metric.is_some() || self.params.eval_metric != EvalMetric::Loss;
        let save = |trees: &[BinnedTree], history: &[f64]| {
            let Some(checkpoint) = self.context.checkpoint else { return Ok(()) };
            let rounds = inputs.n_rounds(trees);
            let fitted = self.fitted(&inputs, trees, rounds, history.to_vec())?;
            let certificate = certificate(&*inputs.rows.objective, None, fitted.booster(), &self.params);
            let trained = Trained { fitted: Box::new(fitted), certificate };
            (checkpoint.save)(&wrap(&self.params, data, &self.context, trained))
        };
        let options = TrainingOptions {
            first_round: inputs.first_round(),
            earlier: inputs.earlier.clone(),
            tree: self.params.tree_options(&train, &inputs.columns, self.context.seed),
            metric: if has_metric { Some(&metric) } else { None },
            history: inputs.init_model.map_or_else(Vec::new, |model| model.history.clone()),
            checkpoint: self
                .context
                .checkpoint
                .map(|checkpoint| (checkpoint.every, &save as train::TreeCheckpoint<'_>)),
            ..self.params.training_options(&self.context)
        };
        let trained = options.train(&inputs.rows, validation_rows.as_ref())?;
        let fitted = self.fitted(&inputs, &trained.trees, trained.n_rounds, trained.history.clone())?;
        let loss = if fitted.booster.n_rounds() == inputs.n_rounds(&trained.trees) {
            trained.loss
        } else {
            let scores = add_init_scores(&train, inputs.columns.scores(&fitted.booster, train.features()))?;
            train::loss_at(&*inputs.rows.objective, &scores)
        };
        let outcome = Some((loss, trained.stopped_early));
        let mut certificate = certificate(&*inputs.rows.objective, outcome, &fitted.booster, &self.params);
        if !fitted.statistics.is_empty() {
            name_target_statistics(&mut certificate);
        }
        Ok((fitted, certificate))
    }
}

impl FitInputs<'_> {
    /// The number of rounds of the model to continue from.
    fn first_round(&self) -> usize {
        self.init_model.map_or(0, |model| model.booster.n_rounds())
    }

    /// The number of rounds of these trees, with those of the model to continue from.
    fn n_rounds(&self, trees: &[BinnedTree]) -> usize {
        let before = if self.earlier.is_empty() { self.first_round() } else { 0 };
        before + trees.len() / self.start.len()
    }
}

/// The total gain of the splits of each column, as a fraction of that of all splits; zeros if there is no split. A leaf of value w and curvature h has the
/// gradient -w (h + lambda), up to the learning rate; a node has the sum G of its leaves' gradients and the score G^2 / (h + lambda). The gain of a split is the score of its children minus that of the node.
fn importances(booster: &Booster, columns: &TrainingColumns, n_features: usize, reg_lambda: f64) -> Vec<f64> {
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

/// Rows in training see the target statistics of earlier rows only, those in prediction the statistics of all training rows: the same row gets another score.
fn name_target_statistics(certificate: &mut Certificate) {
    certificate.objective.push_str(", each row with the target statistics of earlier rows");
    certificate.notes.push(
        "predictions use the target statistics of all training rows, so their loss on the training data differs from the value above".into(),
    );
}

/// Adds the initial scores of the rows, if there are any.
pub(super) fn add_init_scores(data: &Dataset, scores: Vec<f64>) -> Result<Vec<f64>> {
    match data.init_score() {
        Some(init) => add_scores(scores, init),
        None => Ok(scores),
    }
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

impl FitRequest<'_> {
    /// The training set and the validation set.
    fn validation_split<'d>(&'d self, data: &'d Dataset) -> Result<(Cow<'d, Dataset>, Option<Cow<'d, Dataset>>)> {
        if let Some(validation) = self.context.validation {
            return Ok((Cow::Borrowed(data), Some(Cow::Borrowed(validation))));
        }
        if self.params.early_stopping_rounds.is_none() {
            return Ok((Cow::Borrowed(data), None));
        }
        let (train, validation) = rounds::validation_split(data, self.params.validation_fraction, self.context.seed)?;
        Ok((Cow::Owned(train), Some(Cow::Owned(validation))))
    }

    pub(super) fn objective(&self, data: &Dataset) -> Result<Box<dyn Objective>> {
        self.context.objective.map_or_else(|| self.params.objective(data), |make| make(data))
    }

    /// The model to continue from, if it has such scores.
    fn checked_init_model(&self, link: Link, n_scores: usize) -> Result<Option<&BoostedTrees>> {
        let Some(model) = self.context.init_model else { return Ok(None) };
        let Some(fitted) = model.fitted::<BoostedTrees>() else {
            return self.params.unsupported(format!("continuing from a model of {}", model.header().learner));
        };
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
    fn inputs<'d>(&'d self, data: &'d Dataset) -> Result<FitInputs<'d>> {
        let objective = self.objective(data)?;
        let link = GradientBoosting::link(data, &*objective);
        let init_model = self.checked_init_model(link, objective.n_scores())?;
        let statistics = init_model.map(|model| &model.statistics);
        let (columns, store) = TrainingColumns::new(&self.params, data, statistics, self.context.seed)?;
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
        let earlier = match init_model {
            Some(model) if self.params.rate_drop > 0.0 => self.droppable(&model.booster, &columns)?,
            _ => Vec::new(),
        };
        let rows = TrainingRows { store, objective, scores: add_init_scores(data, scores)? };
        Ok(FitInputs { data, columns, rows, start, link, init_model, earlier })
    }

    /// The trees of a model over the bins of the data, so that they can be dropped.
    fn droppable(&self, booster: &Booster, columns: &TrainingColumns) -> Result<Vec<BinnedTree>> {
        let trees = (0..booster.n_trees()).map(|number| BinnedTree::of_tree(&booster.tree(number), &columns.bins));
        trees.collect::<Option<Vec<_>>>().map_or_else(
            || {
                let need = "continuing with rate_drop from a model of other data or bins, or of tree_method = exact";
                self.params.unsupported(need.into())
            },
            Ok,
        )
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
    ) -> Result<BoostedTrees> {
        let to_tree = |binned: &BinnedTree| {
            let mut tree = binned.to_tree(&inputs.columns.bins);
            if self.params.tree_method == TreeMethod::Exact {
                center_thresholds(&mut tree, inputs.data.features());
            }
            tree
        };
        // Earlier trees that may have been dropped are among the trees.
        let before = inputs.init_model.filter(|_| inputs.earlier.is_empty()).map(|model| &model.booster);
        let before = before.into_iter().flat_map(|b| (0..b.n_trees()).map(|number| b.tree(number)));
        let all = before.chain(trees.iter().map(to_tree)).take(n_rounds * inputs.start.len());
        let booster = Booster::new(inputs.start.clone(), all);
        let n_features = inputs.data.features().n_columns();
        let importances = importances(&booster, &inputs.columns, n_features, self.params.reg_lambda);
        let n_classes = inputs.data.classes().map_or(0, |(_, labels)| labels.len());
        let statistics = inputs.columns.statistics.clone();
        let levels = if self.context.objective.is_some() { Vec::new() } else { self.params.levels(inputs.data) };
        Ok(BoostedTrees { booster, statistics, link: inputs.link, n_classes, history, importances, levels })
    }
}
