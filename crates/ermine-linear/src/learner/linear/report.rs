//! From what solvers know about their point to the certificate that users see.

use crate::optim::{SolverOutcome, SolverStatus};
use ermine_core::model::{Certificate, Proof, Status};

/// The certificate of one problem, or of several that were solved side by side: values add up, the worst end counts.
pub fn certificate(objective: impl Into<String>, outcomes: &[SolverOutcome]) -> Certificate {
    let value: f64 = outcomes.iter().map(|o| o.value).sum();
    let bound: Option<f64> = outcomes.iter().map(|o| o.lower_bound).sum();
    let residual = outcomes.iter().map(|o| o.residual).fold(0.0, f64::max);
    let mut proofs = Vec::new();
    proofs.extend(bound.filter(|b| b.is_finite()).map(Proof::LowerBound));
    if residual.is_finite() && (proofs.is_empty() || residual > 0.0) {
        proofs.push(Proof::Stationary(residual));
    }
    if proofs.is_empty() {
        proofs.push(Proof::Nothing { because: "the objective overflowed".into() });
    }
    Certificate {
        objective: objective.into(),
        value: Some(value).filter(|v| v.is_finite()),
        status: worst(outcomes),
        proofs,
        notes: Vec::new(),
    }
}

/// The end that a user should hear about.
fn worst(outcomes: &[SolverOutcome]) -> Status {
    let any = |status: SolverStatus| outcomes.iter().find(|o| o.status == status);
    if any(SolverStatus::Unbounded).is_some() {
        return Status::Limit(
            "weights that grow without bound: the classes are separable, so the minimum is at infinity (a penalty makes it finite)".into(),
        );
    }
    if let Some(outcome) = any(SolverStatus::Limit) {
        return Status::Limit(format!("{} iterations before the tolerance was reached", outcome.n_iterations));
    }
    if any(SolverStatus::Stalled).is_some() {
        return Status::Limit("the limit of floating-point accuracy before the tolerance was reached".into());
    }
    Status::Done
}

/// The certificate of a method that gives no guarantee.
pub fn unproven(objective: impl Into<String>, value: f64, converged: Option<String>, because: &str) -> Certificate {
    Certificate {
        objective: objective.into(),
        value: Some(value).filter(|v| v.is_finite()),
        status: converged.map_or(Status::Done, Status::Limit),
        proofs: vec![Proof::Nothing { because: because.into() }],
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_status_is_reported_and_bounds_add_up() {
        let outcome =
            |status, lower_bound| SolverOutcome { status, n_iterations: 7, value: 2.0, lower_bound, residual: 0.1 };
        let both = [outcome(SolverStatus::Converged, Some(1.5)), outcome(SolverStatus::Limit, Some(1.0))];
        let certificate = certificate("risk", &both);
        assert_eq!((certificate.value, certificate.gap()), (Some(4.0), Some(1.5)));
        assert!(matches!(certificate.status, Status::Limit(why) if why.contains("7 iterations")));
        let unknown = super::certificate("risk", &[outcome(SolverStatus::Converged, None)]);
        assert_eq!((unknown.status, unknown.proofs), (Status::Done, vec![Proof::Stationary(0.1)]));
    }
}
