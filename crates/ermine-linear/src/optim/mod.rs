//! Solvers. A solver sees a problem (values, gradients, curvature, proximal steps), not a model, and returns the point it
//! found together with what is known about it ([`SolverOutcome`]): how it ended and how far from optimal it can be at most.
//!
//! | file | problem | certificate |
//! |---|---|---|
//! | [`decompose`] | symmetric eigenvalues, singular values, QR of tall data block by block | |
//! | [`moments`] | the sums over rows that quadratic problems need | |
//! | [`least_squares`] | least squares and ridge, by the cheapest decomposition that is accurate enough | exact |
//! | [`conjugate`] | linear systems given as operators: very wide sparse least squares | residual |
//! | [`ridge_path`] | ridge for many strengths from one decomposition, with leave-one-out errors | exact |
//! | [`coordinate`] | quadratic + L1/L2 with a known matrix, by coordinates and then by the support | optimality residual |
//! | [`lasso`] | lasso and elastic net over data: working sets, paths | duality gap |
//! | [`risk`] | the smooth risk of a linear predictor as a function of its weights | duality gap |
//! | [`penalized_intercept`] | the same with a penalty on the intercept | duality gap |
//! | [`huber`] | Huber's regression with its scale | duality gap |
//! | [`pairwise`] | the squared hinge loss of a linear score over all pairs of a ranking, never listed | bound from the gradient |
//! | [`multinomial`] | the same for several classes | optimality residual |
//! | [`newton`] | smooth problems: Newton's method that reuses its factorization | decrement |
//! | [`row_reader`] | single rows in any order, for the methods that step from row to row | |
//! | [`row_space`] | smooth problems with a squared penalty over fewer rows than columns, in the coordinates of the rows | that of the problem |
//! | [`lbfgs`] | the limited-memory curvature that Newton and quasi-Newton steps share | |
//! | [`prox_newton`] | smooth loss + L1, by quadratic models | duality gap |
//! | [`descent`] | any loss and penalty, by (proximal) gradient descent | optimality residual |
//! | [`sgd`] | the same by one row or a few at a time; streams | nothing |
//! | [`plain_steps`] | its commonest steps | |
//! | [`linear_program`] | `max c'a, A'a = b, 0 <= a <= u` by an interior point method | duality gap |
//! | [`quantile`] | least absolute deviations and quantile regression as linear programs, down to a vertex | optimal vertex |
//! | [`units`] | columns of one size, for the programs above | |
//! | [`halfspace`] | a separating hyperplane, or a proof that there is none | either proof |
//! | [`dual_coordinate`] | linear support vector machines, row by row | duality gap |
//! | [`smo`] | the dual of support vector machines, by pairs within working sets | duality gap |
//! | [`perceptron`] | mistakes drive the weights: online, averaged, in batches, with kernels | mistake bound |

pub mod conjugate;
pub mod coordinate;
pub mod decompose;
pub mod descent;
pub mod dual_coordinate;
pub mod halfspace;
pub mod huber;
pub mod lasso;
pub mod lbfgs;
pub mod least_squares;
pub mod linear_program;
pub mod moments;
pub mod multinomial;
pub mod newton;
pub mod pairwise;
pub mod penalized_intercept;
pub mod perceptron;
pub mod plain_steps;
pub mod prox_newton;
pub mod quantile;
pub mod ridge_path;
pub mod risk;
pub mod row_reader;
pub mod row_space;
pub mod sgd;
pub mod smo;
pub mod units;

/// How a solver ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolverStatus {
    /// The tolerance was reached, or the method is exact and finished.
    Converged,
    /// The limit on iterations was reached first.
    Limit,
    /// No further progress is possible in floating-point arithmetic, short of the tolerance.
    Stalled,
    /// The objective has no finite minimizer: it keeps falling as the weights grow.
    Unbounded,
}

/// What is known about the point that a solver returns.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverOutcome {
    /// How it ended.
    pub status: SolverStatus,
    /// How many iterations it took.
    pub n_iterations: usize,
    /// The objective there.
    pub value: f64,
    /// A proven lower bound on the minimum of the objective, if the problem has a cheap one.
    pub lower_bound: Option<f64>,
    /// The largest violation of the optimality conditions, in units of the gradient.
    pub residual: f64,
}

impl SolverOutcome {
    /// How far from the minimum the objective can be at most.
    pub fn gap(&self) -> Option<f64> {
        self.lower_bound.map(|bound| (self.value - bound).max(0.0))
    }
}

#[cfg(test)]
mod tests;
