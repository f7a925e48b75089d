//! The options of a request.

use crate::error::ApiError;
use ermine_core::error::Error;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The options of a query string.
const NAMES: [&str; 6] = ["probabilities", "quantiles", "raw_scores", "contributions", "unknown", "version"];
/// Most quantiles of a request.
const MAX_LEVELS: usize = 100;

/// What becomes of columns that the model doesn't have, and of categories that its training data didn't have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// They are errors.
    #[default]
    Error,
    /// Unknown columns are ignored, unknown categories count as missing; both are reported as warnings.
    Warn,
}

/// The options of a request, in the query string of its URL or in its JSON body.
#[derive(Debug, Clone, Default, PartialEq, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Options {
    /// Version of the model; the highest if not given.
    pub version: Option<String>,
    /// Also return the probability of each class or label.
    pub probabilities: bool,
    /// Also return quantiles of the target at these levels, from 0 to 1, separated by commas.
    #[param(value_type = Option<String>, example = "0.1,0.5,0.9")]
    pub quantiles: Vec<f64>,
    /// Also return raw scores: what probabilities are computed from.
    pub raw_scores: bool,
    /// Also return the contribution of each column to the raw score (SHAP values).
    pub contributions: bool,
    /// Unknown columns and categories: `error` or `warn`.
    #[param(inline)]
    pub unknown: Unknown,
}

impl Options {
    /// The options of a query string.
    pub fn of_query(query: Option<&str>) -> Result<Options, ApiError> {
        let Some(query) = query.filter(|query| !query.is_empty()) else { return Ok(Options::default()) };
        let uri: axum::http::Uri = format!("/?{query}").parse().unwrap_or_default();
        let pairs = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri);
        let pairs = pairs.map_err(|e| ApiError::bad_request("invalid_option", e.body_text()))?.0;
        let mut options = Options::default();
        for (at, (name, value)) in pairs.iter().enumerate() {
            if pairs[..at].iter().any(|(before, _)| before == name) {
                return Err(ApiError::bad_request("invalid_option", format!("option '{name}' is given twice")));
            }
            options.set(name, value)?;
        }
        options.check()?;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), ApiError> {
        let wrong = |expected: &str| {
            let message = format!("option '{name}': expected {expected} (got '{value}')");
            ApiError::bad_request("invalid_option", message)
        };
        let truth = || value.parse::<bool>().map_err(|_| wrong("true or false"));
        match name {
            "version" => self.version = Some(value.to_string()),
            "probabilities" => self.probabilities = truth()?,
            "raw_scores" => self.raw_scores = truth()?,
            "contributions" => self.contributions = truth()?,
            "quantiles" => self.quantiles = levels(value).ok_or_else(|| wrong("numbers from 0 to 1 with commas"))?,
            "unknown" => {
                self.unknown = match value {
                    "error" => Unknown::Error,
                    "warn" => Unknown::Warn,
                    _ => return Err(wrong("error or warn")),
                }
            }
            _ => {
                return Err(ApiError::bad_request("invalid_option", Error::unknown("option", name, NAMES).to_string()));
            }
        }
        Ok(())
    }

    /// Refuses values that no model can do.
    pub fn check(&self) -> Result<(), ApiError> {
        if self.quantiles.len() > MAX_LEVELS {
            let message = format!("{} quantiles are more than the {MAX_LEVELS} of a request", self.quantiles.len());
            return Err(ApiError::bad_request("invalid_option", message));
        }
        match self.quantiles.iter().find(|level| !(0.0..=1.0).contains(*level)) {
            None => Ok(()),
            Some(level) => {
                let message = format!("the level of a quantile is a number from 0 to 1 (got {level})");
                Err(ApiError::bad_request("invalid_option", message))
            }
        }
    }

    /// Whether only predictions and probabilities are requested.
    pub fn is_plain(&self) -> bool {
        self.quantiles.is_empty() && !self.raw_scores && !self.contributions
    }
}

/// Levels of quantiles as text with commas.
pub fn levels(text: &str) -> Option<Vec<f64>> {
    text.split(',').map(|word| word.trim().parse().ok()).collect()
}
