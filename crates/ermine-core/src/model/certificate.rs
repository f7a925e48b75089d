//! The certificate of a fit: the objective, its value, and what is proven about it. Non-convergence is recorded here, where users see it.

use crate::chart::text::number;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The objective, how the fit ended and what is proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The objective, in words or as a formula.
    pub objective: String,
    /// Its value on the training data, if it has one.
    pub value: Option<f64>,
    /// How the fit ended.
    pub status: Status,
    /// Proven statements.
    pub proofs: Vec<Proof>,
    /// Remarks: automatic choices, diagnostics.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How a fit ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Converged, or an exact method finished.
    Done,
    /// A limit (iterations, time, rounds) was reached first.
    Limit(String),
}

/// A proven statement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// No predictor of the class has a lower objective.
    Optimal {
        /// The class of predictors.
        over: String,
    },
    /// A lower bound on the optimum.
    LowerBound(f64),
    /// No optimality condition is violated by more than this, in units of the gradient.
    Stationary(f64),
    /// A quantity with a theoretical bound.
    Bound {
        /// The quantity.
        what: String,
        /// The bound.
        bound: f64,
        /// The observed value.
        observed: f64,
    },
    /// Nothing is proven.
    Nothing {
        /// The reason.
        because: String,
    },
}

impl Certificate {
    /// The certificate of an exact minimizer.
    pub fn optimal(objective: impl Into<String>, value: f64, over: impl Into<String>) -> Self {
        let proofs = vec![Proof::Optimal { over: over.into() }];
        Certificate { objective: objective.into(), value: Some(value), status: Status::Done, proofs, notes: Vec::new() }
    }

    /// The gap between value and lower bound, if both are known.
    pub fn gap(&self) -> Option<f64> {
        let bound = self.proofs.iter().find_map(|p| if let Proof::LowerBound(b) = p { Some(*b) } else { None });
        self.value.zip(bound).map(|(value, bound)| value - bound)
    }
}

/// The kind of a line of a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateLine {
    /// The objective and its value.
    Objective,
    /// A limit was reached before convergence.
    NotConverged,
    /// A proven statement, or that nothing is proven.
    Proof,
    /// A note.
    Note,
}

impl Certificate {
    /// The certificate as lines of text with their kinds.
    pub fn lines(&self) -> Vec<(CertificateLine, String)> {
        let value = self.value.map_or_else(String::new, |value| format!(" = {}", number(value)));
        let mut lines = vec![(CertificateLine::Objective, format!("minimized: {}{value}", self.objective))];
        if let Status::Limit(which) = &self.status {
            lines.push((CertificateLine::NotConverged, format!("NOT CONVERGED: stopped at {which}")));
        }
        lines.extend(self.proofs.iter().map(|proof| (CertificateLine::Proof, self.proof_text(proof))));
        lines.extend(self.notes.iter().map(|note| (CertificateLine::Note, format!("note: {note}"))));
        lines
    }

    fn proof_text(&self, proof: &Proof) -> String {
        match proof {
            Proof::Optimal { over } => format!("proven: optimal over {over}"),
            Proof::LowerBound(bound) => {
                let gap = self.gap().map_or_else(String::new, |gap| format!(" (gap {gap:.3e})"));
                format!("proven: the optimum is at least {}{gap}", number(*bound))
            }
            Proof::Stationary(residual) => {
                format!("checked: no optimality condition is violated by more than {residual:.3e}")
            }
            Proof::Bound { what, bound, observed } => {
                format!("proven: {what} is at most {}; observed {}", number(*bound), number(*observed))
            }
            Proof::Nothing { because } => format!("proven: nothing ({because})"),
        }
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.lines().into_iter().map(|(_, line)| line).collect();
        f.write_str(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_printed() {
        let mut certificate = Certificate::optimal("weighted 0-1 risk", 0.25, "all stumps");
        assert_eq!(certificate.to_string(), "minimized: weighted 0-1 risk = 0.25\nproven: optimal over all stumps");
        certificate.status = Status::Limit("100 iterations".into());
        certificate.proofs = vec![Proof::LowerBound(0.2)];
        assert!((certificate.gap().unwrap() - 0.05).abs() < 1e-12);
        assert!(certificate.to_string().contains("NOT CONVERGED: stopped at 100 iterations"));
    }
}
