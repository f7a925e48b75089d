//! The perceptron: online, averaged or in batches. With a kernel, the misclassified rows are kept instead of weights.
//!
//! **Certificate.** If a unit vector separates the rows `[x, 1]` with margin `gamma` and none is longer than `R`, the online perceptron makes at most `(R / gamma)^2` mistakes in total. If the data
//! were separated, the certificate shows this bound beside the number of mistakes. It uses the larger margin of two hyperplanes: the perceptron's own and that of [`optim::halfspace`](crate::optim::halfspace).
//!
//! More than two classes are learned one-vs-rest. **Reference.** See [`optim::perceptron`](crate::optim::perceptron).

use super::fitted::{FitHistory, LinearLink, LinearModel};
use super::gradient_descent::{DESCENT, problems};
use super::kernel_machine::{KernelMachine, dense_rows};
use super::prepare::{PreparedData, Scaling, scaled};
use crate::kernel::Kernel;
use crate::optim::halfspace::{Separation, separate};
use crate::optim::perceptron::{self, PerceptronOptions, UpdateRule};
use ermine_core::error::Result;
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Capabilities, Context, Family, IncrementalLearner, Learner, LearnerInfo, Trained};
use ermine_core::linalg::{Design, Matrix, lanes};
use ermine_core::matrix::{Dataset, DesignOptions, Task};
use ermine_core::model::{Certificate, Fitted, Header, Proof, Status};
use ermine_core::param::Range;
use ermine_core::section::Sections;
use ermine_core::{choice, params};

choice! {
    /// When the weights are updated.
    pub enum PerceptronForm {
        /// After each mistake.
        Online = "online",
        /// After each pass.
        Batch = "batch",
        /// After each mistake; the result is the average of the weights over all rows seen.
        Averaged = "averaged",
    }
}

choice! {
    /// Kernel function.
    pub enum PerceptronKernel {
        /// `x'y`.
        Linear = "linear",
        /// `(gamma x'y + coef0)^degree`.
        Poly = "poly",
        /// `exp(-gamma |x - y|^2)`.
        Rbf = "rbf",
    }
}

params! {
    /// The perceptron: weights are updated after every mistake.
    pub struct Perceptron("perceptron") {
        /// Update rule: after each mistake ("online"), after each pass ("batch"), or after each mistake with averaged weights ("averaged").
        /// "averaged" generalizes best on data that are not linearly separable.
        form: PerceptronForm = PerceptronForm::Online, tune Each;
        /// Fit an intercept.
        /// False forces the boundary through the origin.
        fit_intercept: bool = true;
        /// Maximum number of passes over the training set.
        max_iter: usize = 1000, range Range::at_least(1.0);
        /// Stop after this many passes without fewer mistakes than the best pass so far; none for never.
        /// On data that no hyperplane separates, mistakes never end: without this, all passes are made.
        n_iter_no_change: Option<usize> = Some(5), range Range::at_least(1.0);
        /// Shuffle the rows before every pass.
        /// Turn it off to get the perceptron of the textbook, in the order of the rows.
        shuffle: bool = true;
        /// Kernel function: "linear", "poly" or "rbf".
        /// "poly" and "rbf" give curved boundaries; the model then keeps the rows with mistakes instead of coefficients.
        kernel: PerceptronKernel = PerceptronKernel::Linear;
        /// Kernel coefficient of "poly" and "rbf"; none for 1 / n_columns.
        gamma: Option<f64> = None, range Range::above_to(0.0, 1e100);
        /// Independent term of the kernel "poly".
        coef0: f64 = 1.0, range Range::between(-1e100, 1e100);
        /// Degree of the polynomial kernel "poly"; for "linear" the maximum degree of polynomial terms.
        degree: usize = 1, range Range::between(1.0, 50.0);
        /// Standardize columns to mean 0 and standard deviation 1 before fitting; coefficients are reported in the original units. None: yes, unless columns are sparse.
        standardize: Option<bool> = None;
        /// Class weights: none, "balanced", or a list of class=weight.
        /// "balanced" gives all classes the same total weight: use it if rare classes matter as much as frequent ones.
        class_weight: ClassWeight = ClassWeight::Equal;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "perceptron",
    summary: "the perceptron: online, averaged, in batches or with a kernel; with a bound on the number of mistakes",
    capabilities: Capabilities { tasks: &[Task::Classification], multi_output: false, random: true, ..DESCENT },
    family: Family::Linear,
};

/// The result of one perceptron, with or without a kernel.
struct PerceptronResult {
    /// The classes it separates, if there are several problems.
    name: String,
    mistakes: Vec<u64>,
    separated: bool,
    /// The bound on its mistakes, if there is one.
    bound: Option<Proof>,
}

impl Learner for Perceptron {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let linear = self.kernel == PerceptronKernel::Linear;
        let degree = if linear { self.degree } else { 1 };
        let options = DesignOptions { degree, interaction_only: false, references: false };
        let prepared = PreparedData::new(data, options, &self.class_weight)?;
        let (targets, used) = problems(data)?;
        let labels = data.classes()?.1;
        let n_classes = labels.len();
        let name = |k: usize| match targets.len() {
            1 => String::new(),
            _ => format!(" for '{}' against the rest", labels[used[k] as usize]),
        };
        let run = self.options(context);
        if linear {
            let (x, scaling) = self.columns(&prepared, self.fit_intercept)?;
            let (mut coefficients, mut intercepts) = (Matrix::zeros(targets.len(), x.n_columns()), Vec::new());
            let mut learned = Vec::new();
            for (k, y) in targets.iter().enumerate() {
                let one = perceptron::learn(&x, y, prepared.weights(), &run)?;
                learned.push(self.assess(name(k), &x, y, prepared.weights(), (&one, context))?);
                coefficients.row_mut(k).copy_from_slice(&one.coefficients);
                intercepts.push(one.intercept);
            }
            drop(x);
            let mut certificate = self.certificate(&learned);
            if scaling.is_some() && learned.iter().any(|l| l.bound.is_some()) {
                certificate.notes.push("R and gamma refer to standardized columns".into());
            }
            let fitted = LinearModel::new(&prepared, scaling.as_ref(), coefficients, intercepts, fit_history(&learned));
            let fitted = fitted.for_classes(LinearLink::Scores, data, used)?;
            return Ok(Trained { fitted: Box::new(fitted), certificate });
        }
        let (x, scaling) = self.columns(&prepared, true)?;
        let (rows, p) = (dense_rows(&x)?, x.n_columns());
        drop(x);
        let kernel = self.kernel(p);
        let (mut learned, mut counts) = (Vec::new(), Vec::new());
        for (k, y) in targets.iter().enumerate() {
            let values = |i: usize, out: &mut [f64]| kernel.values(&rows[i * p..(i + 1) * p], &rows, out);
            let (count, mistakes, separated) = perceptron::learn_kernel(y, prepared.weights(), values, &run)?;
            learned.push(PerceptronResult { name: name(k), mistakes, separated, bound: None });
            counts.push(count);
        }
        let scaling = scaling.map(|s| s.pairs().to_vec()).unwrap_or_default();
        let machine = KernelMachine::new(prepared, kernel, (rows, scaling), counts, (n_classes, used));
        let fitted = Box::new(machine.with(self.fit_intercept, fit_history(&learned)));
        Ok(Trained { fitted, certificate: self.certificate(&learned) })
    }

    fn incremental(&self) -> Option<&dyn IncrementalLearner> {
        Some(self)
    }
}

/// Loads a fitted perceptron, with or without a kernel.
pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
    if sections.json::<Kernel>("kernel").is_ok() {
        KernelMachine::load(sections, header)
    } else {
        LinearModel::load(sections, header)
    }
}

fn fit_history(learned: &[PerceptronResult]) -> FitHistory {
    let n = learned.iter().map(|l| l.mistakes.len()).max().unwrap_or(0);
    let at = |t: usize| learned.iter().map(|l| l.mistakes.get(t).copied().unwrap_or(0) as f64).sum();
    FitHistory {
        n_iter: Some(n),
        n_mistakes: Some(learned.iter().flat_map(|l| &l.mistakes).sum()),
        curve: (0..n).map(at).collect(),
        ..FitHistory::default()
    }
}

impl Perceptron {
    /// The columns, scaled if requested, and how to convert back.
    fn columns<'a>(&self, prepared: &'a PreparedData<'_>, intercept: bool) -> Result<(Design<'a>, Option<Scaling>)> {
        let x = prepared.design()?;
        let standardize = self.standardize.unwrap_or(matches!(x, Design::Dense(_)));
        scaled(x, prepared.weights(), standardize, intercept)
    }

    pub(super) fn options<'c>(&self, context: &Context<'c>) -> PerceptronOptions<'c> {
        PerceptronOptions {
            form: match self.form {
                PerceptronForm::Online => UpdateRule::Online,
                PerceptronForm::Batch => UpdateRule::Batch,
                PerceptronForm::Averaged => UpdateRule::Averaged,
            },
            intercept: self.fit_intercept,
            max_passes: self.max_iter,
            patience: self.n_iter_no_change,
            shuffle: self.shuffle,
            seed: context.seed,
            observer: context.observer,
        }
    }

    fn kernel(&self, p: usize) -> Kernel {
        let gamma = self.gamma.unwrap_or(1.0 / p.max(1) as f64);
        match self.kernel {
            PerceptronKernel::Linear => Kernel::Linear,
            PerceptronKernel::Poly => Kernel::Polynomial { degree: self.degree as u32, gamma, coef0: self.coef0 },
            PerceptronKernel::Rbf => Kernel::Gaussian { gamma },
        }
    }

    /// The number of mistakes of one perceptron and, if it separated the data online, their bound.
    fn assess(
        &self,
        name: String,
        x: &Design,
        y: &[f64],
        weights: Option<&[f64]>,
        (learned, context): (&perceptron::PerceptronSolution, &Context<'_>),
    ) -> Result<PerceptronResult> {
        let (mistakes, separated) = (learned.mistakes.clone(), learned.separated);
        // The theorem is about updates after each mistake.
        if !separated || self.form == PerceptronForm::Batch {
            return Ok(PerceptronResult { name, mistakes, separated, bound: None });
        }
        let mut margin = self.margin(x, y, &learned.coefficients, learned.intercept);
        let separation = separate(x, y, None, self.fit_intercept, context.observer)?;
        if let Separation::Hyperplane { coefficients, intercept, .. } = separation {
            margin = margin.max(self.margin(x, y, &coefficients, intercept));
        }
        let radius = perceptron::radius(x, self.fit_intercept);
        // Weights u of mistakes: gamma sum u <= |w| <= R sqrt(sum u^2), so their number is at most (R u_max / (gamma u_min))^2.
        let (least, most) =
            weights.unwrap_or(&[1.0]).iter().fold((f64::INFINITY, 0.0f64), |(a, b), &u| (a.min(u), b.max(u)));
        let ratio = most / least;
        let formula = if ratio == 1.0 {
            "(R / gamma)^2".into()
        } else {
            format!("(R / gamma)^2 {ratio:.6}^2, the last the ratio of row weights,")
        };
        let number = (ratio * radius / margin).powi(2);
        let bound = Proof::Bound {
            what: format!("mistakes{name}: {formula} with R = {radius:.6}, gamma = {margin:.6}; their number"),
            bound: number,
            observed: mistakes.iter().sum::<u64>() as f64,
        };
        let finite = margin > 0.0 && number.is_finite();
        Ok(PerceptronResult { name, mistakes, separated, bound: finite.then_some(bound) })
    }

    /// The smallest margin of the rows `[x, 1]` for a vector of unit length.
    fn margin(&self, x: &Design, y: &[f64], w: &[f64], b: f64) -> f64 {
        let one = if self.fit_intercept { b * b } else { 0.0 };
        let least = x.times(w, b).iter().zip(y).map(|(z, y)| z * y).fold(f64::INFINITY, f64::min);
        least / (lanes::square_sum(w) + one).sqrt()
    }

    fn certificate(&self, learned: &[PerceptronResult]) -> Certificate {
        let last: u64 = learned.iter().filter_map(|l| l.mistakes.last()).sum();
        let separated = learned.iter().all(|l| l.separated);
        let exhausted = learned.iter().any(|l| !l.separated && l.mistakes.len() >= self.max_iter);
        let mut proofs: Vec<Proof> = learned.iter().filter_map(|l| l.bound.clone()).collect();
        if separated {
            let over = match learned {
                [_] => "all hyperplanes: every row is on the correct side",
                _ => "all hyperplanes, one for each class against the rest: every row is on the correct side of each",
            };
            proofs.insert(0, Proof::Optimal { over: over.into() });
        } else if proofs.is_empty() {
            let because = "the bound on the number of mistakes needs linearly separable classes".to_string();
            proofs.push(Proof::Nothing { because });
        }
        let status = if exhausted {
            Status::Limit(format!("{} passes, with {last} mistakes in the last", self.max_iter))
        } else {
            Status::Done
        };
        let all: u64 = learned.iter().flat_map(|l| &l.mistakes).sum();
        let mut notes = vec![format!("{all} mistakes in total")];
        if let [_, _, ..] = learned {
            let count = |l: &PerceptronResult| format!("{}{}", l.mistakes.iter().sum::<u64>(), l.name);
            notes.push(format!("mistakes: {}", learned.iter().map(count).collect::<Vec<_>>().join(", ")));
        }
        if !separated && !exhausted {
            notes.push(
                "stopped because the number of mistakes no longer decreased; the classes were not separated".into(),
            );
        }
        let objective = match learned {
            [_] => "mistakes in the last pass".to_string(),
            _ => "mistakes in the last pass, summed over the classes (one-vs-rest)".to_string(),
        };
        Certificate { objective, value: Some(last as f64), status, proofs, notes }
    }
}
