//! Curves that show whether more rows, or another value of a parameter, would help.
//!
//! | curve | reads as |
//! |---|---|
//! | learning curve | scores by the number of rows learned from: still rising, more rows help; far above the tested score, the model learns by heart |
//! | validation curve | scores by the value of one parameter: the tested score is best between too simple and too complex |

use super::cross_validation::{FoldScore, Validation, cross_validate};
use super::measure::Measure;
use super::search::with_setting;
use super::space::Setting;
use crate::error::{Error, Result};
use crate::learner::{Context, Learner, fit};
use crate::matrix::Dataset;
use crate::param::Value;
use crate::rng;
use serde::Serialize;

/// The random stream of the rows that are learned from.
const ROWS: u64 = 19;

/// A point of a curve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The number of rows learned from, or the value of the parameter.
    pub at: Value,
    /// The scores on rows that were not learned from, and on those that were.
    pub score: FoldScore,
}

/// Scores of models that learned from shares of the rows, each from 0 to 1. The rows of a smaller share are among those of a larger one.
pub fn learning_curve(
    learner: &dyn Learner,
    data: &Dataset,
    validation: &Validation<'_>,
    shares: &[f64],
    context: &Context<'_>,
) -> Result<Vec<CurvePoint>> {
    if let Some(share) = shares.iter().find(|share| !(**share > 0.0 && **share <= 1.0)) {
        return Err(Error::data(format!("a learning curve needs shares above 0 and up to 1, not {share}")));
    }
    let measure = first_measure(validation)?;
    let mut points = Vec::with_capacity(shares.len());
    for &share in shares {
        let (mut tested, mut learned, mut n_rows) = (Vec::new(), Vec::new(), 0);
        for index in 0..validation.splits.len() {
            let (mut train, test) = validation.splits.split(index);
            rng::shuffle(&mut rng::stream(context.seed, &[ROWS, index as u64]), &mut train);
            train.truncate(((share * train.len() as f64).round() as usize).max(1));
            train.sort_unstable();
            n_rows = train.len();
            let train = data.select(&train)?;
            let model = fit(learner, &train, context)?;
            tested.push(model.measure(&data.select(&test)?, &[measure])?[0]);
            learned.push(model.measure(&train, &[measure])?[0]);
        }
        points
            .push(CurvePoint { at: Value::Int(n_rows as i64), score: FoldScore::new(measure, tested, Some(learned)) });
    }
    Ok(points)
}

/// Scores of a learner for each of some values of one parameter.
pub fn validation_curve(
    learner: &dyn Learner,
    data: &Dataset,
    validation: &Validation<'_>,
    parameter: &str,
    values: &[Value],
    context: &Context<'_>,
) -> Result<Vec<CurvePoint>> {
    let measure = first_measure(validation)?;
    let validation = Validation { measures: &[measure], train_scores: true, ..*validation };
    let point = |value: &Value| {
        let setting = Setting::from([(parameter.to_string(), value.clone())]);
        let validated = cross_validate(&*with_setting(learner, &setting, context)?, data, &validation, context)?;
        let untold = || Error::data(format!("{} can't be told in every split", measure.title()));
        Ok(CurvePoint { at: value.clone(), score: validated.scores.into_iter().next().ok_or_else(untold)? })
    };
    values.iter().map(point).collect()
}

fn first_measure(validation: &Validation<'_>) -> Result<Measure> {
    validation.measures.first().copied().ok_or_else(|| Error::data("a curve needs a measure"))
}
