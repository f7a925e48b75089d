//! Why a measure can't be told of some rows, and which ones can.

use super::{Kind, Outcome};
use crate::error::{Error, Result};
use crate::measure::{Measure, measures};
use Measure::*;

impl Outcome<'_> {
    /// Why a measure can't be told, in a few words.
    pub fn why_untold(&self, measure: Measure) -> String {
        let said = match (&self.kind, measure) {
            (Kind::Classes(c), LogLoss | Brier | CalibrationError) if !c.has_probabilities() => {
                "the model gives no probabilities"
            }
            (Kind::Classes(_), RocAuc | AveragePrecision) => "all rows are of one class, with none to be told from it",
            (Kind::Classes(_), Kappa) => "all rows are of one class and predicted as it, which chance does as well",
            (Kind::Values { .. }, R2) => "one row has no variance",
            (Kind::Values { n_outputs: 1, .. }, PoissonDeviance | TweedieDeviance) => {
                "it needs predictions above 0 and a target that is never below"
            }
            (Kind::Values { n_outputs: 1, .. }, GammaDeviance) => "it needs predictions and a target above 0",
            (Kind::Values { .. }, PoissonDeviance | GammaDeviance | TweedieDeviance) => {
                "it is for one number at a time, not for several"
            }
            (Kind::Queries(_), RocAuc) => "no query has both relevant and irrelevant rows",
            _ => "these rows don't have it",
        };
        said.into()
    }

    /// An error unless all of these measures can be told.
    pub fn check_told(&self, asked: &[Measure]) -> Result<()> {
        let Some(untold) = asked.iter().zip(self.values(asked)).find(|(_, value)| value.is_nan()) else {
            return Ok(());
        };
        let all: Vec<Measure> = measures().filter(|measure| measure.measures(self.task())).collect();
        let told = all.iter().zip(self.values(&all)).filter(|(_, value)| !value.is_nan()).map(|(m, _)| *m);
        Err(untold_error(*untold.0, &self.why_untold(*untold.0), told))
    }
}

/// What is said where a measure that was asked for can't be told.
pub fn untold_error(measure: Measure, why: &str, told: impl Iterator<Item = Measure>) -> Error {
    let others: Vec<&str> = told.map(|measure| measure.word()).collect();
    Error::data(format!(
        "{} can't be told of these rows: {why}; what can be told: {}",
        measure.word(),
        others.join(", ")
    ))
}
