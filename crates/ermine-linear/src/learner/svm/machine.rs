//! The fitted kernel machine: support vectors, dual coefficients and intercepts.
//!
//! **Formula.** `f(x) = sum_i c_i k(x_i, x) + intercept` over the support vectors. For more than two classes there is such a function for each pair of classes, positive for the first of
//! them; a support vector of class `a` has a coefficient in the `k - 1` pairs of its class, so the coefficients are a table of `k - 1` rows: row `b - 1` for a pair with a later class `b`, row `b`
//! for one with an earlier class. The class that wins the most pairs is predicted. Regression has a function, and a row of coefficients, for each target.

use super::margin_side::MarginSide;
use super::show;
use crate::kernel::points::center;
use crate::kernel::{Kernel, KernelElement, KernelPoints};
use crate::learner::linear::kernel_machine::dense_rows;
use ermine_core::error::{Error, Result};
use ermine_core::linalg::{Dense, Design, Matrix, lanes};
use ermine_core::matrix::{FeatureMap, Features, Schema, Task};
use ermine_core::model::{Attribute, Fitted, Header, Output};
use ermine_core::parallel;
use ermine_core::section::Sections;
use serde::{Deserialize, Serialize};

/// Number of rows that are predicted at once.
const ROWS: usize = 64;

/// A fitted kernel machine.
#[derive(Debug, Clone, PartialEq)]
pub struct SvmModel {
    /// Encoding of the features.
    pub map: FeatureMap,
    /// Kernel and decision settings.
    pub form: SvmSettings,
    /// Offsets and factors of the standardized columns; empty for none.
    pub scaling: Vec<(f64, f64)>,
    /// The support vectors, one after the other, scaled, grouped by class. Empty for a precomputed kernel.
    pub rows: Vec<f64>,
    /// Row indices of the support vectors in the training set.
    pub support: Vec<u32>,
    /// Dual coefficients.
    pub coefficients: Matrix,
    /// The intercept of each pair, or of each target.
    pub intercepts: Vec<f64>,
    /// The classes that occur in the training set; empty for regression.
    pub used: Vec<u32>,
    /// Number of support vectors of each class.
    pub n_support: Vec<u32>,
    /// Slacks and margins of the training rows.
    pub training: SvmTrainingFacts,
}

/// Kernel and decision settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SvmSettings {
    /// The kernel; `None` if it is precomputed.
    pub kernel: Option<Kernel>,
    /// Whether kernel values are computed in single precision.
    pub single: bool,
    /// Number of classes; 0 for regression.
    pub n_classes: usize,
    /// Number of training rows.
    pub n_train: usize,
    /// Whether ties between votes are broken by the sums of the decision values instead of by class order.
    pub break_ties: bool,
    /// Whether the decision function has one value per pair of classes instead of per class.
    pub pairs: bool,
    /// Tolerance of the solver.
    pub tolerance: f64,
    /// Number of solver steps.
    pub n_iter: usize,
}

/// Slacks and margins of the training rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SvmTrainingFacts {
    /// The slack of each row, for two classes or regression; empty for more classes.
    pub slacks: Vec<f64>,
    /// The width `1 / |w|` of the margin, for each pair.
    pub margins: Vec<f64>,
    /// For tables of two columns: the values and class of each row, for plots.
    pub picture: Vec<f64>,
}

impl SvmModel {
    /// Loads the model from a file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let map: FeatureMap = sections.json("map")?;
        map.check(header.schema.features.len())?;
        let form: SvmSettings = sections.json("form")?;
        let (support, used, n_support) =
            (sections.u32s("support")?, sections.u32s("used")?, sections.u32s("n_support")?);
        let (rows, counts) = (sections.f64s("rows")?, sections.f64s("coefficients")?);
        // One row for each target, or for each other class.
        let lines = if used.is_empty() { header.schema.n_outputs } else { used.len().saturating_sub(1).max(1) };
        let n = support.len();
        if lines.checked_mul(n) != Some(counts.len()) {
            return Err(Error::model_file("the number of support vectors does not match the dual coefficients"));
        }
        let pairs = sections.f64s("scaling")?;
        let machine = SvmModel {
            scaling: pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
            rows,
            coefficients: Matrix::from_fn(lines, n, |k, i| counts[k * n + i]),
            intercepts: sections.f64s("intercepts")?,
            training: SvmTrainingFacts {
                slacks: sections.f64s("slacks")?,
                margins: sections.f64s("margins")?,
                picture: sections.f64s("picture")?,
            },
            map,
            form,
            support,
            used,
            n_support,
        };
        machine.check(&header.schema)?;
        Ok(Box::new(machine))
    }

    fn check(&self, schema: &Schema) -> Result<()> {
        let (p, n, k) = (self.map.n_columns(), self.support.len(), self.used.len());
        let width = if self.form.kernel.is_some() { p } else { 0 };
        let n_targets = if k == 0 { schema.n_outputs } else { 1 };
        let n_decisions = if k == 0 { n_targets } else { k * (k - 1) / 2 };
        let task = match schema.task {
            Task::Classification => k >= 2 && self.form.n_classes == schema.classes.len(),
            _ => k == 0 && self.form.n_classes == 0,
        };
        let numbers = [&self.rows, self.coefficients.data(), &self.intercepts];
        let fits = task
            && self.rows.len() == n * width
            && self.intercepts.len() == n_decisions
            && self.n_support.len() == k.max(1)
            && self.n_support.iter().map(|&c| c as usize).sum::<usize>() == n
            && self.support.iter().all(|&i| (i as usize) < if width > 0 { self.form.n_train } else { p })
            && self.used.iter().all(|&c| (c as usize) < self.form.n_classes)
            && (self.scaling.is_empty() || self.scaling.len() == p)
            && (self.training.slacks.is_empty()
                || Some(self.training.slacks.len()) == self.form.n_train.checked_mul(n_targets))
            && numbers.iter().all(|v| v.iter().all(|x| x.is_finite()));
        if fits { Ok(()) } else { Err(Error::model_file("the support vectors do not match the target")) }
    }

    /// Number of decision values per row.
    pub fn n_decisions(&self) -> usize {
        self.intercepts.len()
    }

    /// The decision values of each row: one for each pair of classes (positive for the first), or the predicted values.
    pub fn decisions(&self, features: &Features) -> Result<Vec<f64>> {
        let numbers = self.map.numbers(features)?;
        self.decisions_of(&scaled(numbers.design()?, &self.scaling)?)
    }

    /// The same for columns that are already scaled.
    pub fn decisions_of(&self, x: &Design) -> Result<Vec<f64>> {
        let (k, out) = (self.n_decisions(), self.sums_of(x)?);
        match out.iter().position(|f| !f.is_finite()) {
            Some(at) => Err(Error::row(at / k, "the kernel values overflow double precision")),
            None => Ok(out),
        }
    }

    fn sums_of(&self, x: &Design) -> Result<Vec<f64>> {
        let k = self.n_decisions();
        let mut out = vec![0.0; x.n_rows() * k];
        let Some(kernel) = &self.form.kernel else {
            let (rows, p) = (dense_rows(x)?, x.n_columns());
            let values = |i: usize| self.support.iter().map(|&j| rows[i * p + j as usize]).collect::<Vec<f64>>();
            parallel::for_each_row(&mut out, k, |i, out| self.combine(&values(i), out));
            return Ok(out);
        };
        if let Some(weights) = self.scaled_weights() {
            // For the linear kernel, one weight vector replaces all support vectors, with less rounding.
            for (pair, w) in weights.iter().enumerate() {
                let values = x.times(w, self.intercepts[pair]);
                out.iter_mut().skip(pair).step_by(k).zip(values).for_each(|(out, f)| *out = f);
            }
            return Ok(out);
        }
        let (n, p) = (self.support.len(), self.map.n_columns());
        let support: Design = Dense::rows_f64(&self.rows, n, p, p)?.into();
        let center = center(kernel, &support);
        if self.form.single {
            let (ours, theirs) =
                (KernelPoints::<f32>::new(*kernel, &support, &center), KernelPoints::new(*kernel, x, &center));
            self.sum(&ours, &theirs, &mut out);
        } else {
            let (ours, theirs) =
                (KernelPoints::<f64>::new(*kernel, &support, &center), KernelPoints::new(*kernel, x, &center));
            self.sum(&ours, &theirs, &mut out);
        }
        Ok(out)
    }

    fn sum<E: KernelElement>(&self, support: &KernelPoints<E>, points: &KernelPoints<E>, out: &mut [f64]) {
        let (k, n) = (self.n_decisions(), support.len());
        parallel::for_each_chunk(out, ROWS * k, |c, out| {
            let mut values = vec![E::ZERO; 8 * n];
            for (g, out) in out.chunks_mut(8 * k).enumerate() {
                let first = (c * ROWS + g * 8) as u32;
                let rows: Vec<u32> = (first..first + (out.len() / k) as u32).collect();
                let values = &mut values[..rows.len() * n];
                support.block(points, &rows, 0..n, values);
                for (i, out) in out.chunks_exact_mut(k).enumerate() {
                    self.combine(&values[i * n..(i + 1) * n], out);
                }
            }
        });
    }

    /// Decision values from the kernel values with all support vectors.
    pub(super) fn combine<E: KernelElement>(&self, values: &[E], out: &mut [f64]) {
        if self.used.len() < 2 {
            for (target, out) in out.iter_mut().enumerate() {
                *out = lanes::dot(values, self.coefficients.row(target)) + self.intercepts[target];
            }
            return;
        }
        let mut begins = vec![0];
        self.n_support.iter().for_each(|&n| begins.push(begins[begins.len() - 1] + n as usize));
        let part = |class: usize, line: usize| {
            let range = begins[class]..begins[class + 1];
            lanes::dot(&values[range.clone()], &self.coefficients.row(line)[range])
        };
        let pairs = (0..self.used.len()).flat_map(|a| (a + 1..self.used.len()).map(move |b| (a, b)));
        for (pair, (a, b)) in pairs.enumerate() {
            out[pair] = part(a, b - 1) + part(b, a) + self.intercepts[pair];
        }
    }

    /// Predictions from decision values.
    pub(super) fn predictions(&self, decisions: Vec<f64>) -> Vec<f64> {
        match self.output() {
            Output::Values => decisions,
            // The public margin is positive for the second class.
            Output::Margin => decisions.iter().map(|f| -f).collect(),
            _ => {
                let classes = self.form.n_classes;
                let mut out = vec![f64::MIN; decisions.len() / self.n_decisions() * classes];
                for (f, out) in decisions.chunks_exact(self.n_decisions()).zip(out.chunks_exact_mut(classes)) {
                    for (&class, (votes, sum)) in self.used.iter().zip(self.votes(f)) {
                        out[class as usize] = votes + if self.form.break_ties { sum } else { 0.0 };
                    }
                }
                out
            }
        }
    }

    /// Votes for each class, plus the sums of its decision values, squashed to the range from -1/3 to 1/3.
    fn votes(&self, decisions: &[f64]) -> Vec<(f64, f64)> {
        let k = self.used.len();
        let mut votes = vec![(0.0, 0.0); k];
        let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
        for ((a, b), f) in pairs.zip(decisions) {
            votes[if *f > 0.0 { a } else { b }].0 += 1.0;
            votes[a].1 += f;
            votes[b].1 -= f;
        }
        votes.iter().map(|(v, sum)| (*v, sum / (3.0 * (sum.abs() + 1.0)))).collect()
    }

    fn is_margin(&self) -> bool {
        self.form.n_classes == 2 && self.used.len() == 2
    }

    /// Converts intercepts of centered rows to the original rows: `w'(x - center) + b = w'x + (b - w'center)`. Only for dot products.
    pub fn uncenter(&mut self, center: &[f64]) {
        let weights = self.scaled_weights().unwrap_or_default();
        for (b, w) in self.intercepts.iter_mut().zip(weights) {
            *b -= lanes::dot(center, &w);
        }
    }

    /// `w` and the intercept of each pair, in the original units, for the linear kernel.
    fn weights(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let (mut all, mut intercepts) = (Vec::new(), self.intercepts.clone());
        for (mut w, b) in self.scaled_weights()?.into_iter().zip(&mut intercepts) {
            w.iter_mut().zip(&self.scaling).for_each(|(w, (_, factor))| *w *= factor);
            *b -= w.iter().zip(&self.scaling).map(|(w, (offset, _))| w * offset).sum::<f64>();
            all.extend(w);
        }
        Some((all, intercepts))
    }

    /// `w` of each pair, in the units of the scaled columns, for the linear kernel.
    fn scaled_weights(&self) -> Option<Vec<Vec<f64>>> {
        if self.form.kernel != Some(Kernel::Linear) {
            return None;
        }
        let (p, k) = (self.map.n_columns(), self.used.len());
        let row = |i: usize| &self.rows[i * p..(i + 1) * p];
        let mut begins = vec![0usize];
        self.n_support.iter().for_each(|&n| begins.push(begins[begins.len() - 1] + n as usize));
        let mut all = Vec::new();
        let mut add = |parts: &[(usize, usize)]| {
            let mut w = vec![0.0; p];
            for &(class, line) in parts {
                for i in begins[class]..begins[class + 1] {
                    lanes::axpy(self.coefficients[(line, i)], row(i), &mut w);
                }
            }
            all.push(w);
        };
        if k < 2 {
            (0..self.coefficients.n_rows()).for_each(|target| add(&[(0, target)]));
        } else {
            (0..k).for_each(|a| (a + 1..k).for_each(|b| add(&[(a, b - 1), (b, a)])));
        }
        Some(all)
    }

    /// Number of training rows outside the margin, inside it, and misclassified, for two classes.
    pub fn cases(&self) -> Option<[usize; 3]> {
        if self.used.len() != 2 || self.training.slacks.is_empty() {
            return None;
        }
        let mut counts = [0; 3];
        self.training.slacks.iter().for_each(|&s| counts[MarginSide::of(s, self.form.tolerance) as usize] += 1);
        Some(counts)
    }
}

/// The table with its columns scaled as in training.
fn scaled<'a>(x: Design<'a>, scaling: &[(f64, f64)]) -> Result<Design<'a>> {
    if scaling.is_empty() {
        return Ok(x);
    }
    crate::learner::linear::prepare::Scaling::from_pairs(scaling.to_vec()).apply(&x)
}

impl Fitted for SvmModel {
    fn output(&self) -> Output {
        match self.form.n_classes {
            0 => Output::Values,
            _ if self.is_margin() => Output::Margin,
            _ => Output::Scores,
        }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        Ok(self.predictions(self.decisions(features)?))
    }

    fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        if self.form.n_classes == 0 {
            return Ok(None);
        }
        let decisions = self.decisions(features)?;
        if self.is_margin() {
            return Ok(Some((decisions.iter().map(|f| -f).collect(), 1)));
        }
        if self.form.pairs {
            return Ok(Some((decisions, self.n_decisions())));
        }
        let classes = self.form.n_classes;
        let mut out = vec![f64::MIN; features.n_rows() * classes];
        for (f, out) in decisions.chunks_exact(self.n_decisions()).zip(out.chunks_exact_mut(classes)) {
            let votes = self.votes(f);
            self.used.iter().zip(votes).for_each(|(&class, (votes, sum))| out[class as usize] = votes + sum);
        }
        Ok(Some((out, classes)))
    }

    fn parameters(&self) -> Vec<&[f64]> {
        vec![&self.rows, self.coefficients.data(), &self.intercepts]
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("map", &self.map)?;
        sections.put_json("form", &self.form)?;
        sections.put_u32s("support", &self.support);
        sections.put_u32s("used", &self.used);
        sections.put_u32s("n_support", &self.n_support);
        sections.put_f64s("rows", &self.rows);
        sections.put_f64s("coefficients", self.coefficients.data());
        sections.put_f64s("intercepts", &self.intercepts);
        sections.put_f64s("scaling", &self.scaling.iter().flat_map(|(a, b)| [*a, *b]).collect::<Vec<_>>());
        sections.put_f64s("slacks", &self.training.slacks);
        sections.put_f64s("margins", &self.training.margins);
        sections.put_f64s("picture", &self.training.picture);
        Ok(())
    }

    fn text(&self, schema: &Schema) -> String {
        show::text(self, schema)
    }

    fn svg(&self, schema: &Schema) -> Option<String> {
        show::svg(self, schema)
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let (n, p, lines) = (self.support.len(), self.map.n_columns(), self.coefficients.n_rows());
        let whole = |values: &[u32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<f64>>();
        // Positive for the second of two classes, as in the public API.
        let sign = if self.is_margin() { -1.0 } else { 1.0 };
        let signed = |values: &[f64]| values.iter().map(|v| sign * v).collect::<Vec<f64>>();
        let (weights, intercepts) = self.weights().unzip();
        let intercept = signed(intercepts.as_ref().unwrap_or(&self.intercepts));
        let mut all = vec![
            Attribute::vector(
                "support",
                whole(&self.support),
                "(n_support,)",
                "Row indices of the support vectors in the training set, grouped by class.",
            ),
            Attribute::vector(
                "n_support",
                whole(&self.n_support),
                "(n_classes,)",
                "Number of support vectors of each class.",
            ),
            Attribute::matrix(
                "dual_coef",
                [lines, n],
                signed(self.coefficients.data()),
                "(n_classes - 1, n_support)",
                "Dual coefficients of the support vectors in each pair of classes.",
            ),
            Attribute::intercepts(vec![intercept.len()], intercept),
            Attribute::n_iter(self.form.n_iter),
        ];
        if self.form.kernel.is_some() {
            let doc = "Support vectors, after encoding and scaling.";
            all.push(Attribute::matrix("support_vectors", [n, p], self.rows.clone(), "(n_support, n_columns)", doc));
        }
        if let Some(weights) = weights {
            all.push(Attribute::coefficients(vec![weights.len() / p.max(1), p], signed(&weights)));
        }
        if !self.training.slacks.is_empty() {
            let doc = "Slack of each training row: how far it lies inside the margin or beyond; for two classes, or for regression.";
            let slacks = self.training.slacks.clone();
            all.push(match slacks.len() / self.form.n_train.max(1) {
                0 | 1 => Attribute::vector("slack", slacks, "(n_samples,)", doc),
                k => Attribute::matrix("slack", [self.form.n_train, k], slacks, "(n_samples, n_targets)", doc),
            });
        }
        if self.cases().is_some() {
            let code = |&s: &f64| MarginSide::of(s, self.form.tolerance) as usize as f64;
            let doc =
                "Position of each training row: 0 outside the margin, 1 inside it, 2 misclassified; for two classes.";
            all.push(Attribute::vector("case", self.training.slacks.iter().map(code).collect(), "(n_samples,)", doc));
        }
        if !self.training.margins.is_empty() {
            let doc = "Width of the margin, 1 / ||w||, for each pair of classes.";
            all.push(Attribute::vector("margin", self.training.margins.clone(), "(n_pairs,)", doc));
        }
        all
    }
}
