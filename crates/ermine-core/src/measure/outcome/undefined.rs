//! Why a metric is undefined on some rows, and which ones are defined.

use super::{Kind, Outcome};
use crate::error::{Error, Result};
use crate::measure::{Measure, measures};
use Measure::*;

impl Outcome<'_> {
    /// Why a metric is undefined.
    pub fn why_undefined(&self, measure: Measure) -> String {
        let said = match (&self.kind, measure) {
            (Kind::Classes(c), LogLoss | Brier | CalibrationError) if !c.has_probabilities() => {
                "the model gives no probabilities"
            }
            (Kind::Classes(_), RocAuc | AveragePrecision) => "all rows are of one class",
            (Kind::Classes(_), Kappa) => "all rows are of one class and predicted as it",
            (Kind::Values { .. }, Rmsle) => "predictions and the target must be above -1",
            (Kind::Values { .. }, R2) => "one row has no variance",
            (Kind::Values { n_outputs: 1, .. }, PoissonDeviance | TweedieDeviance) => {
                "predictions must be above 0, and the target at least 0"
            }
            (Kind::Values { n_outputs: 1, .. }, GammaDeviance) => "predictions and the target must be above 0",
            (Kind::Values { .. }, PoissonDeviance | GammaDeviance | TweedieDeviance) => {
                "it is defined for one target, not for several"
            }
            (Kind::Queries(_), RocAuc) => "no query has both relevant and irrelevant rows",
            _ => "it is not defined for these rows",
        };
        said.into()
    }

    /// An error unless all of these metrics are defined.
    pub fn check_defined(&self, asked: &[Measure]) -> Result<()> {
        let Some(undefined) = asked.iter().zip(self.values(asked)).find(|(_, value)| value.is_nan()) else {
            return Ok(());
        };
        let all: Vec<Measure> = measures().filter(|measure| measure.measures(self.task())).collect();
        let told = all.iter().zip(self.values(&all)).filter(|(_, value)| !value.is_nan()).map(|(m, _)| *m);
        Err(undefined_error(*undefined.0, &self.why_undefined(*undefined.0), told))
    }
}

/// The error for a requested metric that is undefined.
pub fn undefined_error(measure: Measure, why: &str, told: impl Iterator<Item = Measure>) -> Error {
    let others: Vec<&str> = told.map(|measure| measure.word()).collect();
    Error::data(format!("{} is undefined on these rows: {why}; defined metrics: {}", measure.word(), others.join(", ")))
}
