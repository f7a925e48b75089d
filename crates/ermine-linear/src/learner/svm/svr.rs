//! Support vector regression with an epsilon-insensitive tube.
//!
//! **Formula.** `min |w|^2 / 2 + C sum_i c_i max(0, |y_i - f(x_i)| - epsilon)` with `f(x) = w'phi(x) + b`; the dual is solved ([`optim::smo`](crate::optim::smo)). Only rows on or outside the
//! tube are support vectors. Several targets are separate problems over the same kernel matrix.
//!
//! **Reference.** Smola and Schoelkopf, "A tutorial on support vector regression" (2004).

use super::machine::{SvmModel, SvmSettings, SvmTrainingFacts};
use super::parameters::{KernelChoice, KernelGamma, KernelName};
use super::source::{KernelSource, center_of, own_columns, rows_of};
use super::svc::MOST_STEPS;
use super::{MACHINE, certificate};
use crate::learner::linear::prepare::{PreparedData, outputs, scaled};
use crate::optim::smo::{DualProblem, SmoOptions, SmoSolution, WORKING_SET};
use ermine_core::error::Result;
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::Matrix;
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::model::Proof;
use ermine_core::param::Range;
use ermine_core::params;
use std::borrow::Cow;

params! {
    /// Support vector regression.
    #[allow(non_snake_case)]
    pub struct Svr("svr") {
        /// Inverse of the regularization strength: the cost of a unit of error outside the tube.
        /// Higher values fit the training set more closely. Choose it by cross-validation, on a logarithmic scale, together with `gamma`.
        C: f64 = 1.0, range Range::above_to(0.0, 1e100), tune Log(1e-3, 1e4);
        /// Half the width of the epsilon-insensitive tube: smaller errors do not count.
        /// In the units of the target. Higher values give fewer support vectors.
        epsilon: f64 = 0.1, range Range::between(0.0, 1e100), tune Log(1e-4, 1.0);
        /// Kernel function; "precomputed" if the columns are kernel values with every training row.
        /// "rbf" suits most data; "linear" is fast and gives coefficients (linear-svr is faster still); "poly" and "sigmoid" are for special cases.
        kernel: KernelName = KernelName::Rbf;
        /// Degree of the polynomial kernel "poly".
        degree: usize = 3, range Range::between(0.0, 50.0);
        /// Kernel coefficient: a number, "scale" for 1 / (n_columns * variance) or "auto" for 1 / n_columns.
        /// Higher values make the influence of each row more local: the model fits the training set more closely. Tune it together with `C`.
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
    name: "svr",
    summary: "support vector regression with kernels",
    capabilities: Capabilities { tasks: &[Task::Regression], multi_output: true, ..MACHINE },
    family: Family::SupportVector,
};

impl Learner for Svr {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let choice = KernelChoice { name: self.kernel, degree: self.degree, gamma: self.gamma, coef0: self.coef0 };
        let (targets, weights) = (outputs(data)?, data.weight());
        let c = |i: usize| self.C * weights.map_or(1.0, |w| w[i]);
        let n = data.n_rows();
        let dual = |y: &[f64]| DualProblem {
            pull: y.iter().map(|y| y - self.epsilon).chain(y.iter().map(|y| y + self.epsilon)).collect(),
            low: (0..2 * n).map(|v| if v < n { 0.0 } else { -c(v - n) }).collect(),
            high: (0..2 * n).map(|v| if v < n { c(v) } else { 0.0 }).collect(),
            total: 0.0,
        };
        let duals: Vec<DualProblem> = targets.iter().map(|y| dual(y)).collect();
        let options = SmoOptions {
            tolerance: self.tol,
            max_steps: self.max_iter.unwrap_or(MOST_STEPS),
            cache: (self.cache_size * 1e6) as usize,
            working_set: WORKING_SET,
            observer: context.observer,
        };
        let mut objective = format!("|w|^2 / 2 + {} * sum of absolute errors beyond {}", self.C, self.epsilon);
        if targets.len() > 1 {
            objective.push_str(", summed over the targets");
        }
        let mut trained = train_values(data, choice, self.standardize, &duals, &options, objective)?;
        let slack = |y: f64, f: f64| ((y - f).abs() - self.epsilon).max(0.0);
        let slack_of = |i: usize, (y, solution): (&Cow<'_, [f64]>, &SmoSolution)| {
            slack(y[i], solution.sums[i] + solution.intercept)
        };
        let pairs = || targets.iter().zip(&trained.solutions);
        trained.machine.training.slacks = (0..n).flat_map(|i| pairs().map(move |pair| slack_of(i, pair))).collect();
        Ok(Trained { fitted: Box::new(trained.machine), certificate: trained.certificate })
    }
}

/// A fitted regression machine with its solutions.
pub struct TrainedMachine {
    /// The model.
    pub machine: SvmModel,
    /// The solution for each target.
    pub solutions: Vec<SmoSolution>,
    /// Its certificate.
    pub certificate: ermine_core::model::Certificate,
}

/// Trains a machine for regression or one class: a function for each dual problem, over the same kernel matrix.
pub fn train_values(
    data: &Dataset,
    choice: KernelChoice,
    standardize: bool,
    duals: &[DualProblem],
    options: &SmoOptions,
    objective: String,
) -> Result<TrainedMachine> {
    let design = DesignOptions { degree: 1, interaction_only: false, references: false };
    let prepared = PreparedData::new(data, design, &ClassWeight::Equal)?;
    let (x, scaling) = scaled(prepared.design()?, data.weight(), standardize, true)?;
    let kernel = choice.kernel(&x, data.weight())?;
    let center = center_of(kernel.as_ref(), &x, duals.iter().all(|dual| dual.total == 0.0));
    let columns = own_columns(data.features());
    let source = KernelSource::new(kernel, &x, &center, columns)?;
    let solve = |dual: &DualProblem| source.solve(None, dual, options, None);
    let solutions: Vec<SmoSolution> = duals.iter().map(solve).collect::<Result<_>>()?;
    let mut certificate = certificate(objective, &solutions);
    if let Some(warning) = source.warning(kernel.as_ref())? {
        certificate.proofs.retain(|p| !matches!(p, Proof::LowerBound(_)));
        certificate.notes.push(warning);
    }
    let n = data.n_rows();
    // The two dual variables of a row are combined.
    let count = |s: &SmoSolution, i: usize| s.variables[i] + s.variables.get(n + i).copied().unwrap_or(0.0);
    let supports = |i: &u32| solutions.iter().any(|s| count(s, *i as usize) != 0.0);
    let support: Vec<u32> = (0..n as u32).filter(supports).collect();
    let square = |s: &SmoSolution| (0..n).map(|i| count(s, i) * s.sums[i]).sum::<f64>();
    let squares: Vec<f64> = solutions.iter().map(square).collect();
    let has_margins = squares.iter().all(|&square| square > 0.0);
    let mut machine = SvmModel {
        form: SvmSettings {
            kernel,
            single: source.is_single(),
            n_classes: 0,
            n_train: n,
            break_ties: false,
            pairs: false,
            tolerance: options.tolerance,
            n_iter: solutions.iter().map(|s| s.outcome.n_iterations).sum(),
        },
        scaling: scaling.map(|s| s.pairs().to_vec()).unwrap_or_default(),
        rows: if kernel.is_some() { rows_of(&x, &support) } else { Vec::new() },
        coefficients: Matrix::from_fn(solutions.len(), support.len(), |t, k| count(&solutions[t], support[k] as usize)),
        intercepts: solutions.iter().map(|s| s.intercept).collect(),
        used: Vec::new(),
        n_support: vec![support.len() as u32],
        training: SvmTrainingFacts {
            margins: if has_margins { squares.iter().map(|s| 1.0 / s.sqrt()).collect() } else { Vec::new() },
            ..SvmTrainingFacts::default()
        },
        support,
        map: prepared.map.clone(),
    };
    machine.uncenter(&center);
    if let (None, Some(columns)) = (kernel, columns) {
        machine.support.iter_mut().for_each(|i| *i = columns[*i as usize]);
    }
    Ok(TrainedMachine { machine, solutions, certificate })
}
