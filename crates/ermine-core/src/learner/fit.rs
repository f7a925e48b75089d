//! Training: checks the parameters, checks the data against the learner's capabilities, trains with the given number of threads, and wraps the result in a model.

use super::estimator::Estimator;
use super::{Capabilities, Context, Learner, PathLearner, Trained};
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Schema, Splits, Target, Task};
use crate::model::{Fitted, Header, Model, Output, Prediction};
use crate::parallel::run;
use crate::param::{ParamType, Value};
use crate::table::ColumnKind;
use std::collections::BTreeMap;

/// Trains a model.
pub fn fit(learner: &dyn Learner, data: &Dataset, context: &Context<'_>) -> Result<Model> {
    learner.validate()?;
    check(learner, data)?;
    check_custom_training(learner, context)?;
    let validation = context.validation.map(|rows| validation_set(learner, data, rows)).transpose()?;
    if let Some(reduced) = reduction(learner, data, context)? {
        return fit(&*reduced, data, context);
    }
    let folds = folds_of_weighted_rows(data, context.folds)?;
    let weighted = without_weightless_rows(data)?;
    let data = weighted.as_ref().unwrap_or(data);
    let seed = context.init_model.map_or(context.seed, |model| model.header().seed);
    let context = &Context { seed, folds: folds.as_deref(), validation: validation.as_ref(), ..*context };
    if let Some(model) = context.init_model {
        check_init_model(learner, data, model)?;
    }
    run(context.threads, || {
        let trained = learner.train(data, context)?;
        check_finite(learner, &*trained.fitted)?;
        Ok(wrap(learner, data, context, trained))
    })?
}

/// Rejects a model with infinite or NaN parameters: it could neither predict nor be loaded again.
fn check_finite(learner: &dyn Learner, fitted: &dyn Fitted) -> Result<()> {
    match fitted.parameters().into_iter().flatten().find(|number| !number.is_finite()) {
        None => Ok(()),
        Some(number) => Err(Error::data(format!(
            "{}: a parameter of the model is {number}, because the values in the data are too large; divide columns and target by a large constant, or standardize them",
            learner.info().name
        ))),
    }
}

/// The folds of the rows with positive weight.
fn folds_of_weighted_rows(data: &Dataset, folds: Option<&[u32]>) -> Result<Option<Vec<u32>>> {
    let Some(folds) = folds else { return Ok(None) };
    if folds.len() != data.n_rows() {
        return Err(Error::data(format!("got folds for {} rows, but there are {} rows", folds.len(), data.n_rows())));
    }
    let has_weight = |row: &usize| data.weight().is_none_or(|weight| weight[*row] > 0.0);
    Ok(Some((0..folds.len()).filter(has_weight).map(|row| folds[row]).collect()))
}

/// Trains on `data` for each of `values` of the learner's path parameter, at about the cost of one fit, and predicts the rows of `test`.
pub fn predict_path(
    learner: &dyn Learner,
    values: &[Value],
    data: &Dataset,
    test: &Dataset,
    context: &Context<'_>,
) -> Result<Vec<Prediction>> {
    let path = checked_path(learner, values, data, context)?;
    let weighted = without_weightless_rows(data)?;
    let data = weighted.as_ref().unwrap_or(data);
    let schema = Schema::of(data);
    let features = schema.features_of_data(test)?;
    let (output, predicted) = run(context.threads, || path.predict_path(data, values, &features, context))??;
    predictions(learner, values, output, predicted, &schema, features.n_rows())
}

/// Predictions for the test rows of every split and each of `values` of the path parameter, if splits can share work; else `None`.
pub fn predict_splits(
    learner: &dyn Learner,
    values: &[Value],
    data: &Dataset,
    splits: &Splits,
    context: &Context<'_>,
) -> Result<Option<Vec<Vec<Prediction>>>> {
    let path = checked_path(learner, values, data, context)?;
    // Encodings (means for missing values, category codes) must be fitted to the training rows only.
    let plain = data.features().columns().iter().all(|c| c.kind == ColumnKind::Numeric && c.n_missing() == 0);
    if !plain || data.weight().is_some_and(|w| w.contains(&0.0)) || reduction(learner, data, context)?.is_some() {
        return Ok(None);
    }
    let found = run(context.threads, || path.predict_splits(data, values, splits, context))??;
    let Some((output, predicted)) = found else { return Ok(None) };
    let schema = Schema::of(data);
    let of_split = |(index, predicted): (usize, Vec<Vec<f64>>)| {
        predictions(learner, values, output, predicted, &schema, splits.split(index).1.len())
    };
    predicted.into_iter().enumerate().map(of_split).collect::<Result<_>>().map(Some)
}

/// The path of a learner, after parameters, values and data have been checked.
fn checked_path<'a>(
    learner: &'a dyn Learner,
    values: &[Value],
    data: &Dataset,
    context: &Context<'_>,
) -> Result<&'a dyn PathLearner> {
    let name = learner.info().name;
    let unsupported = || Error::Unsupported { learner: name.to_string(), need: "a path of models".into() };
    let path = learner.path().ok_or_else(unsupported)?;
    learner.validate()?;
    let mut probe = context.registry.learner(name)?;
    values.iter().try_for_each(|value| probe.set(path.parameter(), value))?;
    check(learner, data)?;
    Ok(path)
}

/// Converts the numbers of a path to predictions, one per value.
fn predictions(
    learner: &dyn Learner,
    values: &[Value],
    output: Output,
    predicted: Vec<Vec<f64>>,
    schema: &Schema,
    n_rows: usize,
) -> Result<Vec<Prediction>> {
    let expected = n_rows * output.width(schema);
    if predicted.len() != values.len() || predicted.iter().any(|numbers| numbers.len() != expected) {
        let (name, given, asked) = (learner.info().name, predicted.len(), values.len());
        return Err(Error::data(format!(
            "{name} gave {given} predictions for {asked} values, or not {expected} numbers"
        )));
    }
    Ok(predicted.into_iter().map(|numbers| Prediction::new(output, numbers, schema)).collect())
}

/// Wraps the result of training in a model.
pub fn wrap(learner: &dyn Learner, data: &Dataset, context: &Context<'_>, trained: Trained) -> Model {
    let params: BTreeMap<String, Value> =
        learner.values().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
    let schema = Schema::of(data).with_ranges(data);
    let schema = if trained.fitted.reads_text() { schema.open() } else { schema };
    let header = Header {
        learner: learner.info().name.to_string(),
        params,
        seed: context.seed,
        n_rows: data.n_rows(),
        schema,
        certificate: trained.certificate,
        notes: BTreeMap::new(),
    };
    Model::new(header, trained.fitted, context.registry)
}

/// Checks that a learner can continue from a model with this data.
fn check_init_model(learner: &dyn Learner, data: &Dataset, model: &Model) -> Result<()> {
    let (name, before) = (learner.info().name, model.header());
    let unsupported = |need: String| Err(Error::Unsupported { learner: name.to_string(), need });
    if !learner.supports_warm_start() || before.learner != name {
        return unsupported(format!("continuing from a model of {}", before.learner));
    }
    match before.schema.difference(&Schema::of(data)) {
        Some(difference) => unsupported(format!("continuing from a model of other data: {difference}")),
        None => Ok(()),
    }
}

/// Rejects custom functions that the learner would ignore.
fn check_custom_training(learner: &dyn Learner, context: &Context<'_>) -> Result<()> {
    let given = [
        ("a custom objective", context.objective.is_some()),
        ("a custom validation metric", context.metric.is_some()),
        ("checkpoints", context.checkpoint.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given && !learner.supports_custom_training()) {
        Some((what, _)) => {
            Err(Error::Unsupported { learner: learner.info().name.to_string(), need: (*what).to_string() })
        }
        None => Ok(()),
    }
}

/// The validation set with columns, categories and classes in the order of the training data, matched by name, if the learner can use one.
fn validation_set(learner: &dyn Learner, data: &Dataset, given: &Dataset) -> Result<Dataset> {
    if !learner.takes_validation() || !learner.info().capabilities.tasks.contains(&data.task()) {
        let users = "decision-tree with pruning = reduced_error or greedy, adaboost with n_iter_no_change";
        let need = format!("a validation set for {} (learners that use one: gradient-boosting, {users})", data.task());
        return Err(Error::Unsupported { learner: learner.info().name.to_string(), need });
    }
    let refuse = |why: &str| Err(Error::data(format!("the validation set {why}")));
    if given.n_rows() == 0 {
        return refuse("has no rows");
    }
    match (data.init_score().is_some(), given.init_score().is_some()) {
        (true, false) => return refuse("has no init scores, but the training data has"),
        (false, true) => return refuse("has init scores, but the training data has none"),
        _ => {}
    }
    if data.group().is_some() && data.task() == Task::Ranking && given.group().is_none() {
        return refuse("has no query groups, but the training data has");
    }
    let target = target_in_classes_of(given, data)?;
    let rows = Dataset::from_parts(Schema::of(data).features_of_data(given)?, target, data.task())?;
    rows.with_weight(given.weight().map(<[f64]>::to_vec))?
        .with_group(given.group().map(<[u32]>::to_vec))?
        .with_init_score(given.init_score().map(<[f64]>::to_vec))
}

/// The target of `given` with the class codes of `data`.
fn target_in_classes_of(given: &Dataset, data: &Dataset) -> Result<Target> {
    match (given.target(), data.target()) {
        (Target::Classes { codes, labels }, Target::Classes { labels: known, .. }) => {
            let code = |label: &String| {
                let code = known.iter().position(|class| class == label).map(|code| code as u32);
                code.ok_or_else(|| Error::unknown("class in the training data", label, known.iter()))
            };
            let new: Vec<u32> = labels.iter().map(code).collect::<Result<_>>()?;
            Ok(Target::Classes { codes: codes.iter().map(|&c| new[c as usize]).collect(), labels: known.clone() })
        }
        (Target::Values { n_outputs: a, .. }, Target::Values { n_outputs: b, .. }) if a == b => {
            Ok(given.target().clone())
        }
        _ => Err(Error::data("the validation set has another target than the training data")),
    }
}

/// Checks that a learner supports this data.
pub fn check(learner: &dyn Learner, data: &Dataset) -> Result<()> {
    let (name, can) = (learner.info().name, learner.info().capabilities);
    let unsupported = |need: String| Err(Error::Unsupported { learner: name.to_string(), need });
    if data.n_rows() == 0 {
        return Err(Error::data("the training set has no rows"));
    }
    if data.features().n_columns() == 0 {
        return Err(Error::data("the training set has no feature columns"));
    }
    if !can_learn(learner, data.task()) {
        let tasks: Vec<&str> = can.tasks.iter().map(|t| t.as_str()).collect();
        return unsupported(format!("the task {} (supported: {})", data.task(), tasks.join(", ")));
    }
    if data.weight().is_some() && !can.weights {
        return unsupported("row weights".into());
    }
    if data.init_score().is_some() && !learner.takes_init_scores() {
        return unsupported("init scores (use gradient-boosting)".into());
    }
    check_target(can, data).map_or(Ok(()), unsupported)?;
    // The base learner checks the data of a reduction itself.
    if can.tasks.contains(&data.task()) { learner.check_data(data) } else { Ok(()) }
}

/// Whether a learner supports a task, by itself or by an automatic reduction: a classifier can learn multilabel targets, one label at a time.
pub fn can_learn(learner: &dyn Learner, task: Task) -> bool {
    let tasks = learner.info().capabilities.tasks;
    tasks.contains(&task) || (task == Task::Multilabel && tasks.contains(&Task::Classification))
}

/// The automatic reduction for targets that the learner does not support: one-vs-rest for binary classifiers, one classifier per label for multilabel targets. The model records
/// the reduction.
fn reduction(learner: &dyn Learner, data: &Dataset, context: &Context<'_>) -> Result<Option<Box<dyn Learner>>> {
    let can = learner.info().capabilities;
    let many = matches!(data.target(), Target::Classes { labels, .. } if labels.len() > 2);
    let name = match data.task() {
        Task::Classification if many && can.binary_only => "one-vs-rest",
        Task::Multilabel if !can.tasks.contains(&Task::Multilabel) => "binary-relevance",
        _ => return Ok(None),
    };
    let mut reduced = context.registry.learner(name)?;
    reduced.set("estimator", &Estimator::of(learner).to_value())?;
    Ok(Some(reduced))
}

/// What the target needs that the learner does not support.
fn check_target(can: Capabilities, data: &Dataset) -> Option<String> {
    match data.target() {
        Target::Values { n_outputs, .. } if *n_outputs > 1 && !can.multi_output && data.task() == Task::Regression => {
            Some(format!("{n_outputs} targets at once"))
        }
        _ => None,
    }
}

/// Rows with weight zero are dropped, for every learner.
fn without_weightless_rows(data: &Dataset) -> Result<Option<Dataset>> {
    let Some(weight) = data.weight().filter(|w| w.contains(&0.0)) else { return Ok(None) };
    let rows: Vec<u32> = (0..data.n_rows() as u32).filter(|&r| weight[r as usize] > 0.0).collect();
    data.select(&rows).map(Some)
}
