//! Kernel parameters.

use crate::kernel::Kernel;
use ermine_core::choice;
use ermine_core::error::{Error, Result};
use ermine_core::linalg::Design;
use ermine_core::linalg::dense::BLOCK;
use ermine_core::param::{ParamKind, ParamType, Value};

choice! {
    /// Kernel function.
    pub enum KernelName {
        /// `x'y`.
        Linear = "linear",
        /// `(gamma x'y + coef0)^degree`.
        Poly = "poly",
        /// `exp(-gamma |x - y|^2)`.
        Rbf = "rbf",
        /// `tanh(gamma x'y + coef0)`.
        Sigmoid = "sigmoid",
        /// `exp(-gamma |x - y|_1)`.
        Laplacian = "laplacian",
        /// The columns are the kernel values of a row with every training row.
        Precomputed = "precomputed",
    }
}

/// Kernel coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KernelGamma {
    /// 1 / (number of columns * variance of all values).
    Scale,
    /// 1 / number of columns.
    Auto,
    /// A given value.
    Value(f64),
}

impl ParamType for KernelGamma {
    fn kind() -> ParamKind {
        ParamKind::Either(vec![ParamKind::Float, ParamKind::Choice(vec!["scale", "auto"])])
    }
    fn to_value(&self) -> Value {
        match self {
            KernelGamma::Scale => Value::Text("scale".into()),
            KernelGamma::Auto => Value::Text("auto".into()),
            KernelGamma::Value(gamma) => Value::Float(*gamma),
        }
    }
    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) if word == "scale" => Some(KernelGamma::Scale),
            Value::Text(word) if word == "auto" => Some(KernelGamma::Auto),
            other => f64::from_value(other).filter(|g| g.is_finite() && *g >= 0.0).map(KernelGamma::Value),
        }
    }
}

/// The kernel parameters that all kernel machines share.
#[derive(Debug, Clone, Copy)]
pub struct KernelChoice {
    /// The kernel.
    pub name: KernelName,
    /// Degree of "poly".
    pub degree: usize,
    /// Kernel coefficient.
    pub gamma: KernelGamma,
    /// Independent term of "poly" and "sigmoid".
    pub coef0: f64,
}

impl KernelChoice {
    /// The kernel for these rows; `None` if it is precomputed.
    pub fn kernel(&self, x: &Design, weights: Option<&[f64]>) -> Result<Option<Kernel>> {
        let (degree, coef0) = (self.degree as u32, self.coef0);
        let gamma = || {
            let columns = x.n_columns().max(1) as f64;
            let gamma = match self.gamma {
                KernelGamma::Value(gamma) => gamma,
                KernelGamma::Auto => 1.0 / columns,
                KernelGamma::Scale => match variance(x, weights) {
                    variance if variance > 0.0 => 1.0 / (columns * variance),
                    _ if is_constant(x) => 1.0,
                    // The variance underflows or overflows, though the values differ.
                    variance => 1.0 / variance,
                },
            };
            let given = matches!(self.gamma, KernelGamma::Value(_));
            if gamma.is_finite() && (given || gamma > 0.0) {
                Ok(gamma)
            } else {
                Err(Error::data(
                    "gamma = scale is not finite: the columns vary too little or too much (use standardize = true)",
                ))
            }
        };
        Ok(match self.name {
            KernelName::Linear => Some(Kernel::Linear),
            KernelName::Poly => Some(Kernel::Polynomial { degree, gamma: gamma()?, coef0 }),
            KernelName::Rbf => Some(Kernel::Gaussian { gamma: gamma()? }),
            KernelName::Sigmoid => Some(Kernel::Sigmoid { gamma: gamma()?, coef0 }),
            KernelName::Laplacian => Some(Kernel::Laplacian { gamma: gamma()? }),
            KernelName::Precomputed => None,
        })
    }
}

/// The variance of all values of a table; weights count as repeated rows.
fn variance(x: &Design, weights: Option<&[f64]>) -> f64 {
    let (n, p) = (x.n_rows(), x.n_columns());
    let weight = |i: usize| weights.map_or(1.0, |w| w[i]);
    let total = (0..n).map(weight).sum::<f64>() * p as f64;
    let mut numbers = Vec::new();
    // Two passes: the squared mean may be much larger than the variance.
    let mut pass = |mean: f64, power: i32| {
        let mut sum = 0.0;
        for start in (0..n).step_by(BLOCK) {
            for i in start..(start + BLOCK).min(n) {
                sum += weight(i) * row_sum(x, i, mean, power, &mut numbers);
            }
        }
        sum / total
    };
    let mean = pass(0.0, 1);
    pass(mean, 2)
}

/// Whether all values of a table are equal.
fn is_constant(x: &Design) -> bool {
    let (mut low, mut high, mut buffer) = (f64::INFINITY, f64::NEG_INFINITY, Vec::new());
    let mut look = |v: f64| (low, high) = (low.min(v), high.max(v));
    for i in 0..x.n_rows() {
        match x {
            Design::Dense(x) => x.block(i..i + 1, &mut buffer).row(0, x.n_columns()).iter().for_each(|v| look(*v)),
            Design::Sparse(x) => {
                let numbers = x.rows().line(i).1;
                numbers.iter().for_each(|v| look(*v));
                if numbers.len() < x.n_columns() {
                    look(0.0);
                }
            }
        }
    }
    low >= high
}

/// `sum_j (x_ij - mean)^power`.
fn row_sum(x: &Design, i: usize, mean: f64, power: i32, buffer: &mut Vec<f64>) -> f64 {
    match x {
        Design::Dense(x) => {
            x.block(i..i + 1, buffer).row(0, x.n_columns()).iter().map(|v| (v - mean).powi(power)).sum()
        }
        Design::Sparse(x) => {
            let numbers = x.rows().line(i).1;
            let zeros = (x.n_columns() - numbers.len()) as f64 * (-mean).powi(power);
            zeros + numbers.iter().map(|v| (v - mean).powi(power)).sum::<f64>()
        }
    }
}
