//! Certificates from the outcomes of solvers.

use crate::optim::{SolverOutcome, SolverStatus};
use ermine_core::model::{Certificate, Proof, Status};

/// The certificate of one or several problems: objectives are summed, and the worst status is reported.
pub fn certificate(objective: impl Into<String>, outcomes: &[SolverOutcome]) -> Certificate {
    let value: f64 = outcomes.iter().map(|o| o.value).sum();
    let bound: Option<f64> = outcomes.iter().map(|o| o.lower_bound).sum();
    let residual = outcomes.iter().map(|o| o.residual).fold(0.0, f64::max);
    let mut proofs = Vec::new();
    proofs.extend(bound.and_then(|bound| proven(value, bound)).map(Proof::LowerBound));
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

/// A lower bound for a certificate. By weak duality it can't be above the objective: a bound that is above it by rounding is lowered, and one that is further above is discarded.
pub fn proven(value: f64, bound: f64) -> Option<f64> {
    const ROUNDING: f64 = 1e-9;
    let stated = bound.min(value);
    (stated.is_finite() && bound - stated <= ROUNDING * (1.0 + value.abs())).then_some(stated)
}

/// The status of the worst outcome.
fn worst(outcomes: &[SolverOutcome]) -> Status {
    let any = |status: SolverStatus| outcomes.iter().find(|o| o.status == status);
    if any(SolverStatus::Unbounded).is_some() {
        return Status::Limit(
            "coefficients that grow without bound: the classes are linearly separable, so there is no finite minimum (add a penalty)".into(),
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
        // Rounding may put a bound above the value, but a certificate doesn't state it so; nor a bound that is none.
        let above = |bound| super::certificate("risk", &[outcome(SolverStatus::Converged, Some(bound))]);
        assert_eq!(above(2.0 + 1e-12).gap(), Some(0.0));
        assert_eq!(above(2.1).proofs, vec![Proof::Stationary(0.1)]);
        let unknown = super::certificate("risk", &[outcome(SolverStatus::Converged, None)]);
        assert_eq!((unknown.status, unknown.proofs), (Status::Done, vec![Proof::Stationary(0.1)]));
    }
}
