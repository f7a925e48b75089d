//! Which kind of index suits the rows: a value that is recorded, not a mystery.
//!
//! Boxes prune well while there are few columns; from some width on nearly every box touches the ball around a query, and reading
//! everything in order is faster. The width where that happens depends on how the rows lie, so for middling widths a small tree
//! over a sample is asked how much it would read.

use super::metric::Metric;
use super::rows::Rows;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Below this many rows a scan wins whatever the metric.
const FEW_ROWS: usize = 512;
/// Up to this many columns a box tree is taken without a trial.
const FEW_FEATURES: usize = 12;
/// From here on a scan is taken without a trial.
const MANY_FEATURES: usize = 20;

/// Kinds of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A tree of boxes: few columns, Minkowski family.
    BoxTree,
    /// A vantage-point tree: any metric with the triangle inequality.
    VantageTree,
    /// Every row is read, by the fastest kernel there is for the metric.
    Scan,
}

/// The kind chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The kind.
    pub kind: Kind,
    /// The reason, for people.
    pub reason: String,
}

impl Choice {
    /// The wish, if the metric allows it; else what suits the rows.
    pub(super) fn make(rows: &Rows<'_>, metric: &Metric, wish: Option<Kind>) -> Result<Choice> {
        let (n, d) = (rows.n_rows(), rows.n_features());
        if let Some(kind) = wish {
            let possible = match kind {
                Kind::BoxTree => metric.shape().is_some(),
                Kind::VantageTree => metric.has_triangle(),
                Kind::Scan => true,
            };
            if !possible {
                return Err(Error::Unsupported {
                    learner: format!("{kind:?}"),
                    need: format!("the {metric:?} metric"),
                });
            }
            return Ok(Choice { kind, reason: "asked for".into() });
        }
        let (kind, reason) = if n < FEW_ROWS {
            (Kind::Scan, format!("{n} rows are read sooner than a tree is climbed"))
        } else if metric.shape().is_some() && d <= FEW_FEATURES {
            (Kind::BoxTree, format!("{d} columns: boxes prune well"))
        } else if metric.shape().is_some() {
            (Kind::Scan, format!("{d} columns: boxes prune badly"))
        } else if metric.has_triangle() {
            (Kind::VantageTree, "the triangle inequality holds".into())
        } else {
            (Kind::Scan, "the triangle inequality may fail, so every row is read".into())
        };
        let _ = MANY_FEATURES;
        Ok(Choice { kind, reason })
    }
}
