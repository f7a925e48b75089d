//! Scores of predictions, as the core computes them. The Python module `ermine.metrics` checks what it is given and names them as scikit-learn does.

use crate::array;
use ermine_core::metric::confusion::Confusion;
use ermine_core::metric::omega::Omega;
use ermine_core::metric::threshold::Ranked;
use ermine_core::metric::{Weights, probability, ranking, regression};
use ermine_core::param::{ParamType, Value};
use numpy::{Element, IxDyn, PyArray, PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The names of the measures of a task (`classification`, `regression`, `ranking`, `multilabel`).
#[pyfunction]
pub fn measures(task: &str) -> Vec<&'static str> {
    let task = ermine_core::matrix::Task::ALL.into_iter().find(|known| known.as_str() == task);
    task.map(|task| ermine_core::measure::Measure::names(task).collect()).unwrap_or_default()
}

type FloatArray<'py> = PyReadonlyArray1<'py, f64>;
type Array<'py> = Bound<'py, PyArray<f64, IxDyn>>;

/// Refuses arrays of other lengths than the first one's.
fn check(n: usize, others: &[usize]) -> PyResult<()> {
    match others.iter().find(|&&m| m != n) {
        Some(m) => Err(PyValueError::new_err(format!("arrays of {n} and {m} entries don't belong together"))),
        None => Ok(()),
    }
}

fn weights<'a>(weight: Option<&'a FloatArray<'_>>, n: usize) -> PyResult<Weights<'a>> {
    let Some(weight) = weight else { return Ok(Weights::EQUAL) };
    let weight = weight.as_slice()?;
    check(n, &[weight.len()])?;
    Ok(Weights::from(weight))
}

fn below<'a, T: Element + Copy + PartialOrd>(codes: &'a PyReadonlyArray1<'_, T>, limit: T) -> PyResult<&'a [T]> {
    let codes = codes.as_slice()?;
    let fine = codes.iter().all(|&code| code < limit);
    if fine { Ok(codes) } else { Err(PyValueError::new_err("a class has no name")) }
}

/// The matrix; accuracy, balanced accuracy, Matthews' correlation and Cohen's kappa.
type ConfusionScores<'py> = (Array<'py>, [f64; 4]);

/// Which of `n_classes` classes were taken for which, and what is read off it.
#[pyfunction]
pub fn confusion<'py>(
    py: Python<'py>,
    truth: PyReadonlyArray1<'py, u32>,
    predicted: PyReadonlyArray1<'py, u32>,
    n_classes: u32,
    weight: Option<FloatArray<'py>>,
) -> PyResult<ConfusionScores<'py>> {
    let (truth, predicted) = (below(&truth, n_classes)?, below(&predicted, n_classes)?);
    check(truth.len(), &[predicted.len()])?;
    let k = n_classes as usize;
    let matrix = Confusion::new(truth, predicted, &vec![String::new(); k], weights(weight.as_ref(), truth.len())?);
    let read = [matrix.accuracy(), matrix.balanced_accuracy(), matrix.matthews(), matrix.kappa()];
    let counts = matrix.counts.into_iter().flatten().collect();
    Ok((array::shaped(py, counts, &[k, k])?, read))
}

/// The log loss and the Brier score of probabilities, row by row, of `n_classes` classes.
#[pyfunction]
pub fn probability_losses(
    probabilities: FloatArray<'_>,
    n_classes: u32,
    truth: PyReadonlyArray1<'_, u32>,
    weight: Option<FloatArray<'_>>,
) -> PyResult<(f64, f64)> {
    let (probabilities, truth, k) = (probabilities.as_slice()?, below(&truth, n_classes)?, n_classes as usize);
    check(probabilities.len(), &[truth.len() * k])?;
    let weights = weights(weight.as_ref(), truth.len())?;
    let log = weights.mean(probability::log_losses(probabilities, k, truth));
    Ok((log, weights.mean(probability::brier_losses(probabilities, k, truth))))
}

/// Predicted and observed shares and the weight of each bin that has rows, and the mean distance between both shares.
type CalibrationBins<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64);

/// Predicted against observed shares.
#[pyfunction]
pub fn calibration<'py>(
    py: Python<'py>,
    probabilities: FloatArray<'py>,
    happened: PyReadonlyArray1<'py, bool>,
    n_bins: usize,
    weight: Option<FloatArray<'py>>,
) -> PyResult<CalibrationBins<'py>> {
    let (probabilities, happened) = (probabilities.as_slice()?, happened.as_slice()?);
    check(probabilities.len(), &[happened.len()])?;
    let weights = weights(weight.as_ref(), happened.len())?;
    let bins = probability::calibration(probabilities, happened, n_bins.max(1), weights);
    let of = |part: fn(&probability::Bin) -> f64| PyArray1::from_vec(py, bins.iter().map(part).collect());
    let error = probability::calibration_error(&bins);
    Ok((of(|bin| bin.predicted), of(|bin| bin.observed), of(|bin| bin.weight), error))
}

/// The areas under the ROC curve and the precision-recall curve; and for each distinct score, from the highest down, the score, and the weights of the positive and negative rows
/// from it up.
type ThresholdCurves<'py> =
    (Option<f64>, Option<f64>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// What is found above each threshold of a score.
#[pyfunction]
pub fn thresholds<'py>(
    py: Python<'py>,
    scores: FloatArray<'py>,
    positive: PyReadonlyArray1<'py, bool>,
    weight: Option<FloatArray<'py>>,
) -> PyResult<ThresholdCurves<'py>> {
    let (scores, positive) = (scores.as_slice()?, positive.as_slice()?);
    check(scores.len(), &[positive.len()])?;
    let weights = weights(weight.as_ref(), scores.len())?;
    let ranked = Ranked::new(scores, positive.to_vec());
    let points = ranked.points(weights);
    let of = |part: fn(&ermine_core::metric::threshold::ThresholdPoint) -> f64| {
        PyArray1::from_vec(py, points.iter().map(part).collect())
    };
    let areas = (ranked.roc_auc(weights), ranked.average_precision(weights));
    Ok((areas.0, areas.1, of(|p| p.threshold), of(|p| p.true_positives), of(|p| p.false_positives)))
}

/// Mean squared error, its root, mean absolute error, median absolute error and R squared of one output.
#[pyfunction]
pub fn errors(predicted: FloatArray<'_>, truth: FloatArray<'_>, weight: Option<FloatArray<'_>>) -> PyResult<[f64; 5]> {
    let (predicted, truth) = (predicted.as_slice()?, truth.as_slice()?);
    check(truth.len(), &[predicted.len()])?;
    let weights = weights(weight.as_ref(), truth.len())?;
    Ok([
        regression::mse(predicted, truth, 1, weights),
        regression::rmse(predicted, truth, 1, weights),
        weights.mean(regression::absolute_errors(predicted, truth, 1)),
        regression::median_absolute_error(predicted, truth, 1, weights),
        regression::r2(predicted, truth, 1, weights),
    ])
}

/// The mean pinball loss of a quantile.
#[pyfunction]
pub fn pinball_loss(
    predicted: FloatArray<'_>,
    truth: FloatArray<'_>,
    level: f64,
    weight: Option<FloatArray<'_>>,
) -> PyResult<f64> {
    let (predicted, truth) = (predicted.as_slice()?, truth.as_slice()?);
    check(truth.len(), &[predicted.len()])?;
    Ok(weights(weight.as_ref(), truth.len())?.mean(regression::pinball_losses(predicted, truth, 1, level)))
}

/// The mean Tweedie deviance; `None` if a number is not possible under the distribution.
#[pyfunction]
pub fn deviance(
    predicted: FloatArray<'_>,
    truth: FloatArray<'_>,
    power: f64,
    weight: Option<FloatArray<'_>>,
) -> PyResult<Option<f64>> {
    let (predicted, truth) = (predicted.as_slice()?, truth.as_slice()?);
    check(truth.len(), &[predicted.len()])?;
    let weights = weights(weight.as_ref(), truth.len())?;
    Ok(regression::deviances(predicted, truth, power).map(|each| weights.mean(each.into_iter())))
}

/// NDCG of the first `k` places, average precision, reciprocal rank and Kendall's tau-b of an order within one query.
#[pyfunction]
pub fn order(scores: FloatArray<'_>, grades: FloatArray<'_>, k: usize, exponential: bool) -> PyResult<[f64; 4]> {
    let (scores, grades) = (scores.as_slice()?, grades.as_slice()?);
    check(scores.len(), &[grades.len()])?;
    let gain = if exponential { ranking::Gain::Exponential } else { ranking::Gain::Linear };
    Ok([
        ranking::ndcg(scores, grades, k, gain),
        ranking::average_precision(scores, grades),
        ranking::reciprocal_rank(scores, grades),
        ranking::kendall_tau(scores, grades),
    ])
}

/// The mean cost of the pairs that an order within one query has in the wrong order, by the name of the cost.
#[pyfunction]
pub fn omega_loss(scores: FloatArray<'_>, grades: FloatArray<'_>, omega: &str) -> PyResult<f64> {
    let (scores, grades) = (scores.as_slice()?, grades.as_slice()?);
    check(scores.len(), &[grades.len()])?;
    let known = Omega::from_value(&Value::Text(omega.into()));
    let unknown = || {
        PyValueError::new_err(format!("omega must be 'all-pairs', 'dcg' or 'top-K', such as 'top-10', got '{omega}'"))
    };
    Ok(ranking::omega_loss(scores, &ranking::places(grades), &known.ok_or_else(unknown)?))
}
