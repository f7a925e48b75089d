//! The playground: a learner on points in the plane, with its decision surface and objective.

use crate::error::StudioError;
use crate::understand::certificate;
use ermine::registry;
use ermine_core::error::Error;
use ermine_core::learner::{Context, fit};
use ermine_core::matrix::{Dataset, Target, Task};
use ermine_core::model::Model;
use ermine_core::param::{ParamSpec, Value as ParamValue};
use ermine_core::progress::{Control, Event, Observer};
use ermine_core::table::{Column, Table};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Most points.
const MOST_POINTS: usize = 2000;
/// Most cells of the surface along each axis.
const MOST_CELLS: usize = 120;
/// A fit may take so long.
const MOST_TIME: Duration = Duration::from_secs(10);

/// What is drawn and chosen.
#[derive(Debug, Clone, Deserialize)]
pub struct PlaygroundRequest {
    /// The points; each axis goes from 0 to 1.
    points: Vec<(f64, f64)>,
    /// The class of each point: 0, 1, 2, ...
    classes: Vec<usize>,
    /// The learner.
    learner: String,
    /// Its parameters, as the command line takes them.
    #[serde(default)]
    params: BTreeMap<String, String>,
    /// Cells of the surface along each axis.
    #[serde(default = "default_cells")]
    cells: usize,
    /// Random seed.
    #[serde(default)]
    seed: u64,
}

fn default_cells() -> usize {
    60
}

/// A learner of the playground: its name, the parameter that the button Step raises, and parameters to change.
struct PlaygroundLearner {
    name: &'static str,
    step: Option<(&'static str, i64)>,
    params: &'static [&'static str],
}

const LEARNERS: [PlaygroundLearner; 12] = [
    PlaygroundLearner {
        name: "decision-tree",
        step: Some(("max_depth", 1)),
        params: &["max_depth", "criterion", "min_samples_leaf"],
    },
    PlaygroundLearner {
        name: "gradient-boosting",
        step: Some(("n_estimators", 1)),
        params: &["n_estimators", "learning_rate", "max_leaf_nodes"],
    },
    PlaygroundLearner { name: "adaboost", step: Some(("n_estimators", 1)), params: &["n_estimators", "learning_rate"] },
    PlaygroundLearner {
        name: "random-forest",
        step: Some(("n_estimators", 1)),
        params: &["n_estimators", "max_depth", "min_samples_leaf"],
    },
    PlaygroundLearner { name: "extra-trees", step: Some(("n_estimators", 1)), params: &["n_estimators", "max_depth"] },
    PlaygroundLearner { name: "perceptron", step: Some(("max_iter", 1)), params: &["max_iter"] },
    PlaygroundLearner { name: "logistic-regression", step: None, params: &["C", "degree"] },
    PlaygroundLearner { name: "svc", step: None, params: &["C", "kernel", "gamma"] },
    PlaygroundLearner { name: "linear-svc", step: None, params: &["C", "loss"] },
    PlaygroundLearner {
        name: "nearest-neighbors",
        step: Some(("n_neighbors", 1)),
        params: &["n_neighbors", "weights"],
    },
    PlaygroundLearner { name: "optimal-tree", step: Some(("max_depth", 1)), params: &["max_depth"] },
    PlaygroundLearner { name: "oblique-tree", step: Some(("max_depth", 1)), params: &["max_depth"] },
];

/// The learners of the playground with the parameters that can be changed.
pub fn learners() -> Value {
    let one = |known: &PlaygroundLearner| {
        let learner = registry::learner(known.name).ok()?;
        let specs: Vec<ParamSpec> =
            learner.specs().into_iter().filter(|spec| known.params.contains(&spec.name)).collect();
        Some(json!({
            "name": known.name,
            "summary": learner.info().summary,
            "step": known.step.map(|(name, _)| name),
            "params": specs.iter().map(|spec| json!({
                "name": spec.name, "doc": spec.doc, "kind": spec.kind, "default": spec.default.to_string(), "allowed": spec.allowed(),
            })).collect::<Vec<_>>(),
        }))
    };
    json!(LEARNERS.iter().filter_map(one).collect::<Vec<_>>())
}

/// Fits the points and predicts the surface.
pub fn fit_points(request: &PlaygroundRequest) -> Result<Value, StudioError> {
    let n = request.points.len();
    if n != request.classes.len() || n > MOST_POINTS || !(2..=MOST_CELLS).contains(&request.cells) {
        let message = format!("expected as many classes as points, at most {MOST_POINTS}, and 2 to {MOST_CELLS} cells");
        return Err(StudioError::bad_request(message));
    }
    let n_classes = request.classes.iter().max().map_or(0, |&last| last + 1);
    if !(2..=6).contains(&n_classes) || (0..n_classes).any(|k| !request.classes.contains(&k)) {
        return Err(StudioError::bad_request("draw points of at least two classes"));
    }
    let mut learner = registry::learner(&request.learner)?;
    for (name, value) in &request.params {
        learner.set(name, &ParamValue::parse(value))?;
    }
    let data = dataset(request, n_classes)?;
    let deadline = FitDeadline(Instant::now() + MOST_TIME);
    let context = Context { seed: request.seed, threads: Some(1), observer: &deadline, ..ermine::context() };
    let start = Instant::now();
    let model = fit(&*learner, &data, &context).map_err(|error| match error {
        Error::Stopped => StudioError::bad_request(format!("the fit took more than {} s", MOST_TIME.as_secs())),
        other => other.into(),
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let (surface, is_probability) = surface(&model, request.cells)?;
    let prediction = model.predict_data(&data)?;
    let n_wrong = (0..n).filter(|&row| prediction.class(row) != request.classes[row]).count();
    let wanted = ["support", "margin", "coef", "intercept", "estimator_errors", "train_errors", "n_mistakes"];
    let attributes: Vec<Value> = model
        .attributes()
        .into_iter()
        .filter(|a| wanted.contains(&a.name) && a.values.len() <= MOST_POINTS)
        .map(|a| json!({ "name": a.name, "values": a.values, "doc": a.doc }))
        .collect();
    Ok(json!({
        "surface": surface,
        "is_probability": is_probability,
        "n_classes": n_classes,
        "n_wrong": n_wrong,
        "n_points": n,
        "objective": model.certificate().value,
        "certificate": certificate(model.certificate()),
        "attributes": attributes,
        "n_members": model.n_members(),
        "seconds": seconds,
        "text": model.text().chars().take(4000).collect::<String>(),
    }))
}

fn dataset(request: &PlaygroundRequest, n_classes: usize) -> Result<Dataset, StudioError> {
    let axis = |of: fn(&(f64, f64)) -> f64| request.points.iter().map(of).collect::<Vec<f64>>();
    if request.points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return Err(StudioError::bad_request("points must be finite numbers"));
    }
    let table = Table::new(vec![Column::numeric("x", axis(|p| p.0)), Column::numeric("y", axis(|p| p.1))])?;
    let labels: Vec<String> = (0..n_classes).map(|k| format!("class {}", k + 1)).collect();
    let codes = request.classes.iter().map(|&class| class as u32).collect();
    let features = ermine_core::matrix::Features::new(std::sync::Arc::new(table));
    Ok(Dataset::from_parts(features, Target::Classes { codes, labels: labels.into() }, Task::Classification)?)
}

/// For each cell, row by row from the bottom left, the predicted class and how sure it is (from 0 to 1).
fn surface(model: &Model, cells: usize) -> Result<(Vec<(usize, f64)>, bool), StudioError> {
    let at = |i: usize| (i as f64 + 0.5) / cells as f64;
    let xs: Vec<f64> = (0..cells * cells).map(|i| at(i % cells)).collect();
    let ys: Vec<f64> = (0..cells * cells).map(|i| at(i / cells)).collect();
    let prediction = model.predict(&Table::new(vec![Column::numeric("x", xs), Column::numeric("y", ys)])?)?;
    let sure = |row: usize| match prediction.probabilities(row) {
        Some(p) => p[prediction.class(row)],
        None => {
            let margin = prediction.row(row).iter().fold(0.0f64, |most, x| most.max(x.abs()));
            1.0 / (1.0 + (-margin).exp())
        }
    };
    let rounded = |x: f64| (x * 1000.0).round() / 1000.0;
    let found = (0..cells * cells).map(|row| (prediction.class(row), rounded(sure(row)))).collect();
    Ok((found, prediction.probabilities(0).is_some()))
}

/// Stops a fit that takes too long.
struct FitDeadline(Instant);

impl Observer for FitDeadline {
    fn event(&self, _: &Event<'_>) -> Control {
        if Instant::now() >= self.0 { Control::Stop } else { Control::Continue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_learner_of_the_playground_has_its_parameters() {
        for known in &LEARNERS {
            let learner = registry::learner(known.name).unwrap();
            for name in known.params.iter().chain(known.step.iter().map(|(name, _)| name)) {
                assert!(learner.get(name).is_some(), "{} has no parameter {name}", known.name);
            }
        }
    }

    #[test]
    fn every_learner_of_the_playground_draws_a_surface() {
        let points: Vec<(f64, f64)> = (0..40).map(|i| (f64::from(i % 7) / 7.0, f64::from(i % 5) / 5.0)).collect();
        let classes: Vec<usize> = points.iter().map(|(x, y)| usize::from(x + y > 0.9)).collect();
        for known in &LEARNERS {
            let request = PlaygroundRequest {
                points: points.clone(),
                classes: classes.clone(),
                learner: known.name.into(),
                params: BTreeMap::new(),
                cells: 10,
                seed: 0,
            };
            let found = fit_points(&request).unwrap_or_else(|e| panic!("{}: {}", known.name, e.message));
            assert_eq!(found["surface"].as_array().unwrap().len(), 100, "{}", known.name);
        }
    }
}
