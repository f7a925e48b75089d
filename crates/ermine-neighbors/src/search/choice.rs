//! Automatic choice of the index, with its reason.
//!
//! Boxes prune well with few columns; with many columns nearly every box intersects the ball around a query, and a sequential scan is faster. The crossover depends on the data, so for intermediate
//! widths a box tree is built and tried: how much of it do some of its own points read to find their neighbors? The result is a count, so the choice is the same on every machine.

use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::RowMatrix;
use ermine_core::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Below this many rows a scan is fastest.
const FEW_ROWS: usize = 512;
/// Up to this many columns a box tree is used without a trial.
const FEW_FEATURES: usize = 6;
/// Above this many columns a scan is used.
const MANY_FEATURES: usize = 128;
/// A point read by the tree costs about four times a point read sequentially, so a tree must read less than this share of the points.
const WORTH_IT: f64 = 0.25;
/// The same for rows that are embedded whenever they are read, which is more expensive.
const WORTH_EMBEDDING: f64 = 0.02;
/// Maximum width of a graph search.
const MAX_WIDTH: usize = 1 << 20;

/// Kinds of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexKind {
    /// A tree of boxes: few columns, Minkowski family.
    BoxTree,
    /// A vantage-point tree: any metric with the triangle inequality.
    VantageTree,
    /// Brute force with the fastest kernel for the metric.
    Scan,
    /// A graph of near rows: any metric, fast for any number of rows, but **approximate**. Never chosen automatically.
    Graph {
        /// Number of candidates that a search keeps; more give higher recall and take longer.
        width: usize,
    },
}

impl IndexKind {
    /// The name in parameters.
    pub fn name(&self) -> &'static str {
        match self {
            IndexKind::BoxTree => "kd_tree",
            IndexKind::VantageTree => "ball_tree",
            IndexKind::Scan => "brute",
            IndexKind::Graph { .. } => "hnsw",
        }
    }
}

/// The chosen kind, and the reason.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexChoice {
    /// The kind.
    pub kind: IndexKind,
    /// The reason, as text.
    pub reason: String,
    /// The recall of an approximate index, measured on its own rows ([`super::index::Index::state_recall`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
}

impl IndexChoice {
    /// Whether an index kind supports a metric.
    pub(super) fn possible(kind: IndexKind, metric: &Metric) -> bool {
        match kind {
            IndexKind::BoxTree => metric.shape().is_some(),
            IndexKind::VantageTree => metric.has_triangle(),
            IndexKind::Scan => true,
            IndexKind::Graph { width } => (1..=MAX_WIDTH).contains(&width),
        }
    }

    /// The requested kind, if the metric allows it; otherwise the best kind for the rows. `trial` builds a box tree and returns the share that a query reads; `given` states that rows are embedded
    /// whenever they are read.
    pub(super) fn make(
        rows: &RowMatrix<'_>,
        metric: &Metric,
        wish: Option<IndexKind>,
        given: bool,
        trial: impl FnOnce() -> f64,
    ) -> Result<IndexChoice> {
        let (n, d) = (rows.n_rows(), rows.n_features());
        if let Some(kind) = wish {
            if !IndexChoice::possible(kind, metric) {
                return Err(Error::Unsupported {
                    learner: kind.name().into(),
                    need: format!("the {} metric", metric.name()),
                });
            }
            return Ok(IndexChoice { kind, reason: "requested".into(), recall: None });
        }
        let (kind, reason) = if n < FEW_ROWS {
            (IndexKind::Scan, format!("brute force is fastest for {n} rows"))
        } else if metric.shape().is_none() && metric.has_triangle() {
            (IndexKind::VantageTree, "the triangle inequality holds".into())
        } else if metric.shape().is_none() {
            (IndexKind::Scan, "the triangle inequality may not hold, so every row is compared".into())
        } else if d == 1 && matches!(metric, Metric::Cosine) {
            (IndexKind::Scan, "there is a single column".into())
        } else if d <= FEW_FEATURES {
            (IndexKind::BoxTree, format!("{d} columns are few enough for a tree"))
        } else if d > MANY_FEATURES {
            (IndexKind::Scan, format!("{d} columns are too many for a tree"))
        } else {
            let share = trial();
            let kind = if share < if given { WORTH_EMBEDDING } else { WORTH_IT } {
                IndexKind::BoxTree
            } else {
                IndexKind::Scan
            };
            (kind, format!("in a trial a kd_tree read {:.0}% of the rows", 100.0 * share.min(1.0)))
        };
        Ok(IndexChoice { kind, reason, recall: None })
    }
}
