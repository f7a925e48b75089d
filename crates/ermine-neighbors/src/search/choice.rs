//! Which kind of index suits the rows: a value that is recorded, not a mystery.
//!
//! Boxes prune well while there are few columns; from some width on nearly every box touches the ball around a query, and reading
//! everything in order is faster. Where that happens depends on how the rows lie, not on the width alone, so for middling widths the box tree is
//! built and asked: how much of it do some of its own points read to find their neighbors? The answer is a count, so the choice is the same on
//! every machine.

use ermine_core::distance::metric::Metric;
use ermine_core::distance::rows::Rows;
use ermine_core::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Below this many rows a scan wins whatever the metric.
const FEW_ROWS: usize = 512;
/// Up to this many columns a box tree is taken without a trial.
const FEW_FEATURES: usize = 6;
/// Above this many, a scan.
const MANY_FEATURES: usize = 128;
/// A point read by the tree costs about four times a point read in order, so a tree must read less than this share of the points.
const WORTH_IT: f64 = 0.25;
/// The same where rows are kept as given and embedded whenever they are read, which costs many times the reading.
const WORTH_EMBEDDING: f64 = 0.02;
/// A wider walk in a graph is a mistake: it would see everything.
const MAX_WIDTH: usize = 1 << 20;

/// Kinds of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexKind {
    /// A tree of boxes: few columns, Minkowski family.
    BoxTree,
    /// A vantage-point tree: any metric with the triangle inequality.
    VantageTree,
    /// Every row is read, by the fastest kernel there is for the metric.
    Scan,
    /// A graph of links between near rows: any metric, fast for any number of rows, but **approximate**. Never chosen by itself.
    Graph {
        /// How many places a search keeps to go on from: more find more, later.
        width: usize,
    },
}

impl IndexKind {
    /// Its name as users know it.
    pub fn name(&self) -> &'static str {
        match self {
            IndexKind::BoxTree => "kd_tree",
            IndexKind::VantageTree => "ball_tree",
            IndexKind::Scan => "brute",
            IndexKind::Graph { .. } => "hnsw",
        }
    }
}

/// The kind chosen, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexChoice {
    /// The kind.
    pub kind: IndexKind,
    /// The reason, for people.
    pub reason: String,
    /// For an approximate index, the share of true neighbors that it found when it was tried on its own rows
    /// ([`super::index::Index::state_recall`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recall: Option<f64>,
}

impl IndexChoice {
    /// Whether a kind of index can serve a metric.
    pub(super) fn possible(kind: IndexKind, metric: &Metric) -> bool {
        match kind {
            IndexKind::BoxTree => metric.shape().is_some(),
            IndexKind::VantageTree => metric.has_triangle(),
            IndexKind::Scan => true,
            IndexKind::Graph { width } => (1..=MAX_WIDTH).contains(&width),
        }
    }

    /// The wish, if the metric allows it; else what suits the rows. `trial` builds a box tree and says what share of it a query reads; `given` says that rows are
    /// embedded whenever they are read.
    pub(super) fn make(
        rows: &Rows<'_>,
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
            (IndexKind::Scan, "a single column has only two directions".into())
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
