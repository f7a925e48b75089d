//! The certificate that every fit carries: the objective that was minimised, its value, and what is proven about it, or plainly that
//! nothing is. Non-convergence is a value here, which users see, never a silent warning.

use crate::chart::text::number;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What was minimised, how it ended and what is proven.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// What was minimised, in words or as a formula.
    pub objective: String,
    /// Its value on the training data, where it has one.
    pub value: Option<f64>,
    /// How the work ended.
    pub status: Status,
    /// What is proven.
    pub proofs: Vec<Proof>,
    /// What else a careful user should know: choices made by itself, diagnoses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How the work ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It came to its natural end: an exact method finished, or a tolerance was reached.
    Done,
    /// A limit (iterations, time, rounds) ended it before its tolerance was reached.
    Limit(String),
}

/// One statement that is proven, or that nothing is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// No member of the class has a lower objective.
    Optimal {
        /// The class of predictors that was searched.
        over: String,
    },
    /// The optimum is at least this much.
    LowerBound(f64),
    /// No optimality condition is violated by more than this, in units of the gradient.
    Stationary(f64),
    /// A quantity that theory bounds, and what was observed of it.
    Bound {
        /// The quantity.
        what: String,
        /// It is at most this.
        bound: f64,
        /// What it is.
        observed: f64,
    },
    /// Nothing is proven.
    Nothing {
        /// Why not.
        because: String,
    },
}

impl Certificate {
    /// A certificate of an exact minimiser.
    pub fn optimal(objective: impl Into<String>, value: f64, over: impl Into<String>) -> Self {
        let proofs = vec![Proof::Optimal { over: over.into() }];
        Certificate { objective: objective.into(), value: Some(value), status: Status::Done, proofs, notes: Vec::new() }
    }

    /// The gap between value and lower bound, where both are known.
    pub fn gap(&self) -> Option<f64> {
        let bound = self.proofs.iter().find_map(|p| if let Proof::LowerBound(b) = p { Some(*b) } else { None });
        self.value.zip(bound).map(|(value, bound)| value - bound)
    }
}

/// What a line of a certificate is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateLine {
    /// The objective and its value.
    Objective,
    /// A limit ended the work early.
    NotConverged,
    /// A proof, or that nothing is proven.
    Proof,
    /// A note.
    Note,
}

impl Certificate {
    /// The certificate as lines of text, each with what it is about.
    pub fn lines(&self) -> Vec<(CertificateLine, String)> {
        let value = self.value.map_or_else(String::new, |value| format!(" = {}", number(value)));
        let mut lines = vec![(CertificateLine::Objective, format!("minimised: {}{value}", self.objective))];
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
    fn it_reads_as_a_statement() {
        let mut certificate = Certificate::optimal("weighted 0-1 risk", 0.25, "all stumps");
        assert_eq!(certificate.to_string(), "minimised: weighted 0-1 risk = 0.25\nproven: optimal over all stumps");
        certificate.status = Status::Limit("100 iterations".into());
        certificate.proofs = vec![Proof::LowerBound(0.2)];
        assert!((certificate.gap().unwrap() - 0.05).abs() < 1e-12);
        assert!(certificate.to_string().contains("NOT CONVERGED: stopped at 100 iterations"));
    }
}
