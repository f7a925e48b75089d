//! Reasons why a metric is undefined, and which metrics are defined.

use super::{Outcome, OutcomeKind};
use crate::error::{Error, Result};
use crate::measure::{Measure, measures};
use Measure::*;

impl Outcome<'_> {
    /// Why a metric is undefined.
    pub fn why_undefined(&self, measure: Measure) -> String {
        let reason = match (&self.kind, measure) {
            (OutcomeKind::Classes(c), LogLoss | Brier | CalibrationError) if !c.has_probabilities() => {
                "the model does not predict probabilities"
            }
            (OutcomeKind::Classes(_), RocAuc | AveragePrecision) => "all rows belong to one class",
            (OutcomeKind::Classes(_), Kappa) => "all rows belong to one class and are predicted as that class",
            (OutcomeKind::Values { .. }, Rmsle) => "predictions and the target must be above -1",
            (OutcomeKind::Values { .. }, R2) => "a single row has no variance",
            (OutcomeKind::Values { n_outputs: 1, .. }, PoissonDeviance | TweedieDeviance) => {
                "predictions must be above 0, and the target at least 0"
            }
            (OutcomeKind::Values { n_outputs: 1, .. }, GammaDeviance) => "predictions and the target must be above 0",
            (OutcomeKind::Values { .. }, PoissonDeviance | GammaDeviance | TweedieDeviance) => {
                "it is only defined for a single target"
            }
            (OutcomeKind::Queries(_), RocAuc) => "no query has both relevant and irrelevant rows",
            _ => "it is not defined for these rows",
        };
        reason.into()
    }

    /// An error unless all of these metrics are defined.
    pub fn check_defined(&self, requested: &[Measure]) -> Result<()> {
        let Some(undefined) = requested.iter().zip(self.values(requested)).find(|(_, value)| value.is_nan()) else {
            return Ok(());
        };
        let all: Vec<Measure> = measures().filter(|measure| measure.measures(self.task())).collect();
        let defined = all.iter().zip(self.values(&all)).filter(|(_, value)| !value.is_nan()).map(|(m, _)| *m);
        Err(undefined_error(*undefined.0, &self.why_undefined(*undefined.0), defined))
    }
}

/// The error for a requested metric that is undefined.
pub fn undefined_error(measure: Measure, why: &str, defined: impl Iterator<Item = Measure>) -> Error {
    let others: Vec<&str> = defined.map(|measure| measure.as_str()).collect();
    Error::data(format!(
        "{} is undefined on these rows: {why}; defined metrics: {}",
        measure.as_str(),
        others.join(", ")
    ))
}
