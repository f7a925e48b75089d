//! One-class support vector machine for novelty detection.
//!
//! **Formula.** `min |w|^2 / 2 - nu n rho + sum_i max(0, rho - w'phi(x_i))`; the score of a row is `w'phi(x) - rho`, positive inside. At most a fraction `nu` of the training rows is outside, and
//! at least that fraction are support vectors. The target is ignored.
//!
//! **Reference.** Schoelkopf et al., "Estimating the support of a high-dimensional distribution" (2001).

use super::parameters::{KernelChoice, KernelGamma, KernelName};
use super::svc::MOST_STEPS;
use super::{MACHINE, svr};
use crate::optim::smo::{DualProblem, SmoOptions, WORKING_SET};
use ermine_core::error::Result;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Proof, Status};
use ermine_core::param::Range;
use ermine_core::params;

params! {
    /// One-class support vector machine for novelty detection: the region that contains most of the data.
    pub struct OneClassSvm("one-class-svm") {
        /// Upper bound on the fraction of training rows outside the boundary, and lower bound on the fraction of support vectors.
        /// Set it to the expected fraction of outliers.
        nu: f64 = 0.5, range Range::above_to(0.0, 1.0), tune Linear(0.01, 0.5);
        /// Kernel function; "precomputed" if the columns are kernel values with every training row.
        /// "rbf" suits most data.
        kernel: KernelName = KernelName::Rbf;
        /// Degree of the polynomial kernel "poly".
        degree: usize = 3, range Range::between(0.0, 50.0);
        /// Kernel coefficient: a number, "scale" for 1 / (n_columns * variance) or "auto" for 1 / n_columns.
        /// Higher values make the influence of each row more local: the boundary follows the training set more closely.
        gamma: KernelGamma = KernelGamma::Scale, range Range::between(0.0, 1e100), tune Log(1e-4, 10.0);
        /// Independent term of the kernels "poly" and "sigmoid".
        coef0: f64 = 0.0, range Range::between(-1e100, 1e100);
        /// Stopping tolerance: the largest violation of the optimality conditions by a pair of rows.
        /// The certificate states the duality gap that was reached.
        tol: f64 = 1e-3, range Range::above_to(0.0, 1e100);
        /// Size of the kernel cache in megabytes.
        /// Raise it if training on many rows is slow and memory is free.
        cache_size: f64 = 500.0, range Range::between(0.0, 1e9);
        /// Maximum number of SMO steps; none for no limit below a hundred million.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: Option<usize> = None, range Range::at_least(1.0);
        /// Standardize columns to mean 0 and standard deviation 1 before fitting.
        /// Kernels compare columns by their values, so columns in large units dominate without it. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "one-class-svm",
    summary: "novelty detection: a score that is positive for rows like the training data; the target is ignored",
    capabilities: Capabilities { tasks: &[Task::Regression], ..MACHINE },
    family: Family::SupportVector,
};

impl Learner for OneClassSvm {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn needs_target(&self) -> bool {
        false
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let choice = KernelChoice { name: self.kernel, degree: self.degree, gamma: self.gamma, coef0: self.coef0 };
        let n = data.n_rows();
        let high = data.weight().map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        let total = self.nu * high.iter().sum::<f64>();
        let dual = DualProblem { pull: vec![0.0; n], low: vec![0.0; n], high, total };
        let options = SmoOptions {
            // Sums have the magnitude of `total`, which may be far below 1.
            tolerance: self.tol * total.min(1.0),
            max_steps: self.max_iter.unwrap_or(MOST_STEPS),
            cache: (self.cache_size * 1e6) as usize,
            working_set: WORKING_SET,
            observer: context.observer,
        };
        let objective = "|w|^2 / 2 - nu n rho + sum of distances below rho".to_string();
        let mut trained =
            svr::train_values(data, choice, self.standardize, std::slice::from_ref(&dual), &options, objective)?;
        let settled = trained.certificate.status == Status::Done;
        if settled {
            move_boundary(&mut trained, &dual);
        }
        let (sums, b) = (&trained.solutions[0].sums, trained.solutions[0].intercept);
        let slacks: Vec<f64> = sums.iter().map(|s| (-s - b).max(0.0)).collect();
        if settled {
            let outside: f64 = slacks.iter().zip(&dual.high).filter(|(s, _)| **s > 0.0).map(|(_, w)| w).sum();
            let what = "the fraction of training rows outside".into();
            let observed = outside / dual.high.iter().sum::<f64>();
            trained.certificate.proofs.push(Proof::Bound { what, bound: self.nu, observed });
        }
        trained.machine.training.slacks = slacks;
        Ok(Trained { fitted: Box::new(trained.machine), certificate: trained.certificate })
    }
}

/// Moves the boundary, within the tolerance of the solver, so that every row with a coefficient below its bound is inside. Rows at the bound make up at most a fraction `nu`, so at most
/// that fraction is outside.
fn move_boundary(trained: &mut svr::TrainedMachine, dual: &DualProblem) {
    /// Relative difference that a different order of summation can make.
    const ROUNDING: [f64; 2] = [1e-12, 1e-5];
    let solution = &mut trained.solutions[0];
    let free = |i: &usize| solution.variables[*i] < dual.high[*i];
    let least = (0..dual.high.len()).filter(free).map(|i| solution.sums[i]).fold(f64::INFINITY, f64::min);
    let largest = solution.sums.iter().fold(0.0f64, |most, s| most.max(s.abs()));
    let needed = ROUNDING[usize::from(trained.machine.form.single)] * largest - least;
    if !needed.is_finite() || needed <= solution.intercept {
        return;
    }
    let lost = |b: f64| {
        let slacks = solution.sums.iter().zip(&dual.high).map(|(s, w)| w * (-s - b).max(0.0)).sum::<f64>();
        slacks + b * dual.total
    };
    let change = lost(needed) - lost(solution.intercept);
    trained.certificate.value = trained.certificate.value.map(|value| value + change);
    trained.machine.intercepts[0] += needed - solution.intercept;
    solution.intercept = needed;
}
