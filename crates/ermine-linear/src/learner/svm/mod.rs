//! Support vector machines.
//!
//! | file | what it holds |
//! |---|---|
//! | [`svc`] | classification: hard or soft margin; more than two classes one-vs-one |
//! | [`svr`] | regression: epsilon-insensitive tube |
//! | [`one_class`] | novelty detection |
//! | [`linear`] | linear classification and regression for many rows, dense and sparse |
//! | [`parameters`] | kernels as parameters |
//! | [`source`] | the kernel matrix of the features |
//! | [`custom_kernel`] | custom kernels over items of any type |
//! | [`machine`] | the fitted kernel machine |
//! | [`margin_side`] | position of training rows relative to the margin |
//! | [`show`] | text, and a plot for two columns |
//!
//! The solver is [`optim::smo`](crate::optim::smo).

pub mod custom_kernel;
pub mod linear;
pub mod machine;
pub mod margin_side;
pub mod one_class;
pub mod parameters;
pub mod show;
pub mod source;
pub mod svc;
pub mod svr;

use crate::optim::SolverStatus;
use crate::optim::smo::SmoSolution;
use ermine_core::learner::Capabilities;
use ermine_core::matrix::Task;
use ermine_core::model::{Certificate, Proof, Status};

/// Capabilities of kernel machines.
pub const MACHINE: Capabilities = Capabilities {
    tasks: &[Task::Classification],
    binary_only: false,
    multi_output: false,
    weights: true,
    missing: true,
    nominal: true,
    sparse: true,
    probabilities: false,
    random: false,
};

/// The certificate of one or several problems: objectives are summed, and the worst status is reported.
pub fn certificate(objective: String, solutions: &[SmoSolution]) -> Certificate {
    let sum = |of: fn(&SmoSolution) -> f64| solutions.iter().map(of).sum::<f64>();
    let value = sum(|s| s.outcome.value);
    let bound = sum(|s| s.outcome.lower_bound.unwrap_or(f64::NEG_INFINITY));
    let residual = solutions.iter().map(|s| s.outcome.residual).fold(0.0, f64::max);
    let steps: usize = solutions.iter().map(|s| s.outcome.n_iterations).sum();
    let worst = |status: SolverStatus| solutions.iter().any(|s| s.outcome.status == status);
    let most = solutions.iter().any(|s| s.outcome.n_iterations >= svc::MOST_STEPS);
    let status = if worst(SolverStatus::Limit) {
        let which = if most { "the default limit" } else { "max_iter" };
        Status::Limit(format!("{steps} SMO steps ({which}), with a violation of {residual:.3e}"))
    } else if worst(SolverStatus::Stalled) {
        Status::Limit(format!("the limit of floating-point accuracy, with a violation of {residual:.3e}"))
    } else {
        Status::Done
    };
    let mut proofs = Vec::new();
    proofs.extend(bound.is_finite().then_some(Proof::LowerBound(bound)));
    proofs.push(Proof::Stationary(residual));
    let rows: u64 = solutions.iter().map(|s| s.n_kernel_rows).sum();
    let notes = vec![format!("{steps} SMO steps; {rows} rows of the kernel matrix computed")];
    Certificate { objective, value: Some(value).filter(|v| v.is_finite()), status, proofs, notes }
}
