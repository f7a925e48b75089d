//! Quantile regression, and least absolute deviations as its median: exact solutions of linear programs.
//!
//! **Formula.** `min sum_i w_i rho(y_i - x_i'beta - b) / W + alpha |beta|_1` with `rho(r) = tau r` for positive residuals and `(tau - 1) r` for negative ones; see [`optim::quantile`](crate::optim::quantile). Least absolute
//! deviations minimize `sum_i w_i |y_i - x_i'beta - b| / W`, twice the loss of the median.
//!
//! An L1 penalty is two more rows for each column, `x = e_j` and `x = -e_j` with `y = 0` and weight `alpha W`: their losses sum to `alpha W |beta_j|`, and the
//! problem is still a quantile regression.

use super::fitted::{FitHistory, LinearModel};
use super::least_squares::REGRESSION;
use super::prepare::{PreparedData, outputs, scaled};
use super::report;
use crate::optim::SolverOutcome;
use crate::optim::quantile::{QuantileProblem, QuantileSolution};
use ermine_core::error::Result;
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::linalg::{Dense, Design, Matrix, lanes};
use ermine_core::matrix::{Dataset, DesignOptions};
use ermine_core::model::{Certificate, Proof};
use ermine_core::param::Range;
use ermine_core::params;

params! {
    /// Quantile regression: a quantile of the target as a linear function of the columns.
    pub struct QuantileRegression("quantile-regression") {
        /// Quantile to predict; 0.5 is the median.
        /// Two models, for 0.05 and 0.95, give a 90 % prediction interval.
        quantile: f64 = 0.5, range Range::inside(0.0, 1.0);
        /// Strength of the L1 penalty; 0 for none.
        /// The default of 1 is scikit-learn's, and is strong: many coefficients are zero. Choose it by cross-validation.
        alpha: f64 = 1.0, range Range::between(0.0, 1e100), tune Log(1e-4, 10.0);
        /// Fit an intercept, which is never penalized.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Standardize the columns (standard deviation 1) before the penalty is applied; coefficients are reported in the original units.
        /// Without it, the penalty depends on the units of the columns. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 2);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
    }
}

params! {
    /// Linear regression by least absolute deviations.
    pub struct LeastAbsoluteDeviations("least-absolute-deviations") {
        /// Fit an intercept.
        /// Set it to false only if predictions must be 0 where all columns are 0.
        fit_intercept: bool = true;
        /// Maximum degree of polynomial terms; 1 for the columns themselves.
        /// 2 adds squares and products of two columns, for targets that are not linear in the columns; the number of terms grows quickly with the degree.
        degree: usize = 1, range Range::between(1.0, 50.0), tune Linear(1, 2);
        /// Add only products of different columns, no powers; for `degree` above 1.
        interaction_only: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "quantile-regression",
    summary: "linear quantile regression, solved exactly as a linear program",
    capabilities: REGRESSION,
    family: Family::Linear,
};

static INFO_LAD: LearnerInfo = LearnerInfo {
    name: "least-absolute-deviations",
    summary: "linear regression by least absolute deviations, solved exactly as a linear program",
    capabilities: REGRESSION,
    family: Family::Linear,
};

impl Learner for LeastAbsoluteDeviations {
    fn info(&self) -> &'static LearnerInfo {
        &INFO_LAD
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let LeastAbsoluteDeviations { fit_intercept, degree, interaction_only } = self.clone();
        let median = QuantileRegression {
            quantile: 0.5,
            alpha: 0.0,
            fit_intercept,
            standardize: false,
            degree,
            interaction_only,
        };
        let mut trained = median.solve(data, context)?;
        let Certificate { objective, value, proofs, .. } = &mut trained.certificate;
        *objective = "mean absolute deviation".into();
        // The quantile loss of the median is half the absolute deviation.
        *value = value.map(|v| 2.0 * v);
        for proof in proofs {
            if let Proof::LowerBound(bound) = proof {
                *bound *= 2.0;
            }
        }
        Ok(trained)
    }
}

impl Learner for QuantileRegression {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        self.solve(data, context)
    }
}

impl QuantileRegression {
    fn solve(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let options = DesignOptions {
            degree: self.degree,
            interaction_only: self.interaction_only,
            references: self.fit_intercept && self.alpha == 0.0,
        };
        let prepared = PreparedData::new(data, options, &ClassWeight::Equal)?;
        let (x, scaling) = scaled(prepared.design()?, prepared.weights(), self.standardize, self.fit_intercept)?;
        let solve = |y: &[f64]| match self.alpha {
            0.0 => {
                let (tau, intercept) = (self.quantile, self.fit_intercept);
                QuantileProblem { x: &x, y, weights: prepared.weights(), tau, intercept }.solve(context.observer)
            }
            _ => self.penalized(&x, y, prepared.weights(), context),
        };
        let solutions: Vec<QuantileSolution> = outputs(data)?.iter().map(|y| solve(y)).collect::<Result<_>>()?;
        drop(x);
        let outcomes: Vec<SolverOutcome> = solutions.iter().map(|s| s.outcome.clone()).collect();
        let mut certificate = report::certificate(self.objective(), &outcomes);
        certificate.notes = self.notes(&solutions, &prepared.names);
        let coefficients = Matrix::from_fn(solutions.len(), prepared.names.len(), |o, j| solutions[o].coefficients[j]);
        let intercepts = solutions.iter().map(|s| s.intercept).collect();
        let course = FitHistory { n_iter: outcomes.iter().map(|o| o.n_iterations).max(), ..FitHistory::default() };
        let fitted = LinearModel::new(&prepared, scaling.as_ref(), coefficients, intercepts, course);
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }

    fn objective(&self) -> String {
        let mut text = format!("mean quantile loss at {}", self.quantile);
        if self.alpha > 0.0 {
            text += &format!(" + {} * sum of absolute coefficients", self.alpha);
        }
        text
    }

    fn notes(&self, solutions: &[QuantileSolution], names: &[String]) -> Vec<String> {
        let mut notes = Vec::new();
        if solutions.iter().all(|s| !s.basis.is_empty()) && self.alpha == 0.0 {
            let counts: Vec<String> = solutions.iter().map(|s| s.basis.len().to_string()).collect();
            notes.push(format!("an optimal vertex: the fit passes through {} rows", counts.join(", ")));
        }
        let mut redundant: Vec<usize> = solutions.iter().flat_map(|s| s.redundant.iter().copied()).collect();
        redundant.retain(|&j| j < names.len());
        redundant.sort_unstable();
        redundant.dedup();
        let shown: Vec<&str> = redundant.iter().take(10).map(|&j| names[j].as_str()).collect();
        if !shown.is_empty() {
            let more = if redundant.len() > shown.len() { ", ..." } else { "" };
            notes.push(format!(
                "columns with coefficient 0 because they are linear combinations of others: {}{more}",
                shown.join(", ")
            ));
        }
        notes
    }

    /// For centered columns: powers of two that bring them to the same magnitude, and the penalty of each coefficient in those units. A penalty above the steepest slope of
    /// the losses makes the coefficient 0 (`true`) and is lowered, so that all penalties have similar magnitudes.
    fn penalties(&self, x: &Design, means: &[f64], weights: Option<&[f64]>) -> (Vec<f64>, Vec<(bool, f64)>) {
        let (n, p) = (x.n_rows(), x.n_columns());
        let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
        let total: f64 = (0..n).map(weight).sum();
        let mut sums = vec![0.0; p];
        let (mut buffer, mut row) = (Vec::new(), vec![0.0; p]);
        for i in 0..n {
            x.row_into(i, &mut buffer, &mut row);
            let terms = sums.iter_mut().zip(&row).zip(means);
            terms.for_each(|((sum, x), mean)| *sum += weight(i) * (x - mean).abs());
        }
        let size = |sum: &f64| if *sum > 0.0 { (-(sum / total).log2()).round().exp2() } else { 1.0 };
        let factors: Vec<f64> = sums.iter().map(size).collect();
        let price = |(sum, factor): (&f64, &f64)| {
            let (price, most) = (self.alpha * total * factor, 2.0 * sum * factor);
            if *sum > 0.0 && price <= most { (false, price) } else { (true, most.max(total)) }
        };
        let prices = sums.iter().zip(&factors).map(price).collect();
        (factors, prices)
    }

    /// With an L1 penalty: adds the rows that represent it.
    fn penalized(
        &self,
        x: &Design,
        y: &[f64],
        weights: Option<&[f64]>,
        context: &Context<'_>,
    ) -> Result<QuantileSolution> {
        let (n, p) = (x.n_rows(), x.n_columns());
        let width = p + usize::from(self.fit_intercept);
        let total: f64 = weights.map_or(n as f64, |w| w.iter().sum());
        // Columns are centered if there is an intercept: large means would dominate the rows of the penalty.
        let means = match self.fit_intercept {
            true => x.transposed_times(&vec![1.0 / n as f64; n]),
            false => vec![0.0; p],
        };
        let (factors, prices) = self.penalties(x, &means, weights);
        let mut rows = vec![0.0; (n + 2 * p) * width];
        let (mut buffer, mut row) = (Vec::new(), vec![0.0; p]);
        for (i, out) in rows.chunks_exact_mut(width.max(1)).enumerate().take(n) {
            x.row_into(i, &mut buffer, &mut row);
            let terms = out.iter_mut().zip(&row).zip(means.iter().zip(&factors));
            terms.for_each(|((out, x), (mean, factor))| *out = (x - mean) * factor);
            out[p..].fill(1.0);
        }
        for j in 0..p {
            rows[(n + 2 * j) * width + j] = 1.0;
            rows[(n + 2 * j + 1) * width + j] = -1.0;
        }
        let mut all_y = y.to_vec();
        all_y.resize(n + 2 * p, 0.0);
        let mut all_weights = weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        all_weights.extend(prices.iter().flat_map(|price| [price.1; 2]));
        let design = Design::from(Dense::rows_f64(&rows, n + 2 * p, width, width)?);
        let problem = QuantileProblem {
            x: &design,
            y: &all_y,
            weights: Some(&all_weights),
            tau: self.quantile,
            intercept: false,
        };
        let mut solution = problem.solve(context.observer)?;
        for (j, b) in solution.coefficients[..p].iter_mut().enumerate() {
            *b = if prices[j].0 { 0.0 } else { *b * factors[j] };
        }
        // From the mean over all rows to the mean over the data rows.
        let factor = all_weights.iter().sum::<f64>() / total;
        solution.outcome.value *= factor;
        solution.outcome.lower_bound = solution.outcome.lower_bound.map(|b| b * factor);
        solution.outcome.residual *= factor;
        if self.fit_intercept {
            let centered = solution.coefficients.pop().unwrap_or(0.0);
            solution.intercept = centered - lanes::dot(&means, &solution.coefficients);
        }
        Ok(solution)
    }
}
