//! The options of a request.

use crate::error::ApiError;
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

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
#[derive(Debug, Clone, Default, PartialEq, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Version of the model; the highest if not given.
    pub version: Option<String>,
    /// Also return the probability of each class or label.
    pub probabilities: bool,
    /// Also return quantiles of the target at these levels, from 0 to 1, separated by commas.
    #[param(value_type = Option<String>, example = "0.1,0.5,0.9")]
    #[serde(deserialize_with = "levels")]
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
        let parsed = axum::extract::Query::<Options>::try_from_uri(&uri);
        let options = parsed.map_err(|e| ApiError::bad_request("invalid_option", e.body_text()))?.0;
        options.check()?;
        Ok(options)
    }

    /// Refuses values that no model can do.
    pub fn check(&self) -> Result<(), ApiError> {
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
fn levels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let level = |word: &str| {
        let level = word.trim().parse::<f64>();
        level.map_err(|_| serde::de::Error::custom(format!("quantiles: expected numbers from 0 to 1, found '{word}'")))
    };
    text.split(',').filter(|word| !word.trim().is_empty()).map(level).collect()
}
