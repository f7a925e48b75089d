//! Support vector classification: the hyperplane with the maximum margin.
//!
//! **Formula.** `min |w|^2 / 2 + C sum_i c_i max(0, 1 - y_i f(x_i))` with `f(x) = w'phi(x) + b`, where the kernel is `phi(x)'phi(y)` and `c_i` the row's weight; the dual is solved
//! ([`optim::smo`](crate::optim::smo)). `C = infinity` is the hard margin: no row may be inside it, and it is an error if the classes can't be separated.
//!
//! **Classes.** More than two classes are learned one-vs-one, pairs in parallel. For one-vs-rest, use the learner `one-vs-rest` with this one as its `estimator`.
//!
//! **Reference.** Cortes and Vapnik, "Support-vector networks" (1995).

use super::machine::{SvmModel, SvmSettings, SvmTrainingFacts};
use super::parameters::{KernelChoice, KernelGamma, KernelName};
use super::source::{KernelSource, center_of, own_columns, rows_of};
use super::{MACHINE, certificate};
use crate::kernel::Kernel;
use crate::learner::linear::prepare::{ObservedClasses, PreparedData, scaled};
use crate::optim::halfspace::{Separation, separate};
use crate::optim::smo::{DualProblem, SmoOptions, SmoSolution, WORKING_SET};
use ermine_core::error::{Error, Result};
use ermine_core::learner::parameters::ClassWeight;
use ermine_core::learner::{Context, Family, Learner, LearnerInfo, PathLearner, SplitPredictions, Trained};
use ermine_core::linalg::{Design, Matrix};
use ermine_core::matrix::{Dataset, DesignOptions, FeatureMap, Features, Splits};
use ermine_core::model::{Certificate, Fitted, Output};
use ermine_core::parallel;
use ermine_core::param::{Range, Value};
use ermine_core::progress::{Control, Event, Observer};
use ermine_core::{choice, params};
use std::sync::{Mutex, PoisonError};

choice! {
    /// Shape of the decision function for more than two classes.
    pub enum DecisionShape {
        /// One value per class: its votes, with ties broken by the sums of its decision values.
        Ovr = "ovr",
        /// One value per pair of classes, positive for the first.
        Ovo = "ovo",
    }
}

params! {
    /// Support vector classification: the hyperplane with the maximum margin.
    #[allow(non_snake_case)]
    pub struct Svc("svc") {
        /// Inverse of the regularization strength: the cost of a unit of slack; infinity for a hard margin.
        /// Higher values fit the training set more closely. Choose it by cross-validation, on a logarithmic scale, together with `gamma`.
        C: f64 = 1.0, range Range::more_than(0.0), tune Log(1e-3, 1e4);
        /// Kernel function; "precomputed" if the columns are kernel values with every training row.
        /// "rbf" suits most data; "linear" is fast and gives coefficients (linear-svc is faster still); "poly" and "sigmoid" are for special cases.
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
        /// Class weights: none, "balanced", or a list of class=weight.
        /// "balanced" gives all classes the same total weight: use it if rare classes matter as much as frequent ones.
        class_weight: ClassWeight = ClassWeight::Equal;
        /// Maximum number of SMO steps for each pair of classes; none for no limit below a hundred million.
        /// Raise it if the certificate reports that the limit was reached.
        max_iter: Option<usize> = None, range Range::at_least(1.0);
        /// Break ties between the votes of the pairs of classes by their decision values instead of choosing the first class. For more than two classes.
        break_ties: bool = false;
        /// Shape of the decision function for more than two classes: "ovr", one value for each class, or "ovo", one for each pair. Predictions do not depend on it.
        decision_function_shape: DecisionShape = DecisionShape::Ovr;
        /// Standardize columns to mean 0 and standard deviation 1 before fitting.
        /// Kernels compare columns by their values, so columns in large units dominate without it. False in Rust and Python, as in scikit-learn; the command line sets it to true for dense columns.
        standardize: bool = false;
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "svc",
    summary: "support vector classification with kernels, with a hard or soft margin",
    capabilities: MACHINE,
    family: Family::SupportVector,
};

/// Default iteration limit: without one, an indefinite kernel might never converge.
pub const MOST_STEPS: usize = 100_000_000;
/// `C` times the largest `k(x, x)` that represents infinity: margins down to 1e-5 of the row norms are found.
const HARD: f64 = 1e10;
/// Number of steps after which the search for a hard margin is given up.
const HARD_STEPS: usize = 5_000_000;
/// Number of pairs of classes that are solved in parallel.
const AT_ONCE: usize = 16;
/// Maximum number of rows (of two columns) that are kept for plots.
const PICTURE: usize = 5000;

/// Two classes of `used` and the rows that belong to them, those of the first class first.
struct ClassPair {
    classes: (usize, usize),
    rows: Vec<u32>,
    n_first: usize,
}

impl Learner for Svc {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        self.with_problem(data, |problem| {
            let mut solutions = self.solve(problem, problem.source, None, context)?;
            if self.C.is_infinite() {
                self.harden(problem, problem.source, &mut solutions, context)?;
            }
            let certificate = self.certificate(problem.source, problem.kernel.as_ref(), &solutions)?;
            Ok(Trained { fitted: Box::new(self.machine(problem, &solutions)), certificate })
        })
    }

    fn path(&self) -> Option<&dyn PathLearner> {
        Some(self)
    }
}

/// A path of increasing values of `C`, each warm-started from the solution before it, over the same kernel matrix.
impl PathLearner for Svc {
    fn parameter(&self) -> &'static str {
        "C"
    }

    fn predict_path(
        &self,
        data: &Dataset,
        values: &[Value],
        features: &Features,
        context: &Context<'_>,
    ) -> Result<(Output, Vec<Vec<f64>>)> {
        self.with_problem(data, |problem| {
            let mut output = Output::Values;
            let mut predicted = vec![Vec::new(); values.len()];
            self.solve_path(problem, problem.source, values, context, |at, solutions| {
                let machine = self.machine(problem, solutions);
                output = machine.output();
                predicted[at] = machine.predict(features)?;
                Ok(())
            })?;
            Ok((output, predicted))
        })
    }

    /// One kernel matrix for all folds and values of `C`, if it fits into the cache and reading is faster than computing. Not if kernel parameters are estimated from the
    /// training rows.
    fn predict_splits(
        &self,
        data: &Dataset,
        values: &[Value],
        splits: &Splits,
        context: &Context<'_>,
    ) -> Result<Option<SplitPredictions>> {
        let scaled = self.kernel != KernelName::Linear && self.gamma == KernelGamma::Scale;
        if scaled || self.standardize || self.class_weight != ClassWeight::Equal {
            return Ok(None);
        }
        self.with_problem(data, |problem| {
            let parts: Vec<(Vec<ClassPair>, Vec<u32>)> = (0..splits.len())
                .map(|index| {
                    let (train, test) = splits.split(index);
                    (pairs(problem.classes, train), test)
                })
                .collect();
            let whole = parts.iter().flat_map(|part| &part.0).all(|p| p.n_first > 0 && p.n_first < p.rows.len());
            let bytes = (self.cache_size * 1e6) as usize;
            let kept = if whole { problem.source.kept(bytes, context.observer)? } else { None };
            let Some(kept) = kept else { return Ok(None) };
            let one_at_a_time = SerialObserver { lock: Mutex::new(()), observer: context.observer };
            let context = &Context { observer: &one_at_a_time, ..*context };
            let of_split = |(pairs, test): (Vec<ClassPair>, Vec<u32>)| {
                let mut predicted = vec![Vec::new(); values.len()];
                // A precomputed kernel needs no kernel function and no rows.
                let problem = SvcProblem { pairs, kernel: None, columns: None, ..*problem };
                let mut output = Output::Values;
                self.solve_path(&problem, &kept, values, context, |at, solutions| {
                    let machine = self.machine(&problem, solutions);
                    output = machine.output();
                    predicted[at] = machine.predictions(decisions(&machine, &kept, &test));
                    Ok(())
                })?;
                Ok((output, predicted))
            };
            let found: Vec<(Output, Vec<Vec<f64>>)> =
                parallel::consume(parts, |_, part| of_split(part)).into_iter().collect::<Result<_>>()?;
            let output = found.first().map_or(Output::Values, |(output, _)| *output);
            Ok(Some((output, found.into_iter().map(|(_, predicted)| predicted).collect())))
        })
    }
}

/// The decision values of some rows of the kernel matrix.
fn decisions(machine: &SvmModel, kept: &KernelSource, rows: &[u32]) -> Vec<f64> {
    let width = machine.n_decisions();
    let mut out = vec![0.0; rows.len() * width];
    for (&row, out) in rows.iter().zip(out.chunks_exact_mut(width)) {
        let value = |&s: &u32| kept.kept_value(row as usize, s as usize).unwrap_or(f64::NAN);
        machine.combine(&machine.support.iter().map(value).collect::<Vec<f64>>(), out);
    }
    out
}

/// The problem without its value of `C`.
struct SvcProblem<'a> {
    data: &'a Dataset,
    classes: &'a ObservedClasses,
    pairs: Vec<ClassPair>,
    map: &'a FeatureMap,
    weights: Option<&'a [f64]>,
    x: &'a Design<'a>,
    scaling: &'a [(f64, f64)],
    kernel: Option<Kernel>,
    source: &'a KernelSource,
    /// Center of the columns.
    center: &'a [f64],
    /// The columns of the rows, for a precomputed kernel.
    columns: Option<&'a [u32]>,
}

/// The rows of each pair of classes.
fn pairs(classes: &ObservedClasses, rows: Vec<u32>) -> Vec<ClassPair> {
    let k = classes.used.len();
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); k];
    rows.into_iter().for_each(|i| members[classes.places[i as usize] as usize].push(i));
    let of = |a: usize, b: usize| ClassPair {
        classes: (a, b),
        rows: [&members[a][..], &members[b][..]].concat(),
        n_first: members[a].len(),
    };
    (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).map(|(a, b)| of(a, b)).collect()
}

impl Svc {
    fn choice(&self) -> KernelChoice {
        KernelChoice { name: self.kernel, degree: self.degree, gamma: self.gamma, coef0: self.coef0 }
    }

    /// Prepares the problem and calls `work` with it.
    fn with_problem<T>(&self, data: &Dataset, work: impl FnOnce(&SvcProblem<'_>) -> Result<T>) -> Result<T> {
        let classes = ObservedClasses::of(data)?;
        let options = DesignOptions { degree: 1, interaction_only: false, references: false };
        let prepared = PreparedData::new(data, options, &self.class_weight)?;
        let (x, scaling) = scaled(prepared.design()?, data.weight(), self.standardize, true)?;
        let kernel = self.choice().kernel(&x, data.weight())?;
        // The coefficients of a pair sum to 0.
        let center = center_of(kernel.as_ref(), &x, true);
        let columns = own_columns(data.features());
        let source = KernelSource::new(kernel, &x, &center, columns)?;
        let scaling = scaling.map(|s| s.pairs().to_vec()).unwrap_or_default();
        work(&SvcProblem {
            data,
            classes: &classes,
            pairs: pairs(&classes, (0..data.n_rows() as u32).collect()),
            map: &prepared.map,
            weights: prepared.weights(),
            x: &x,
            scaling: &scaling,
            kernel,
            source: &source,
            center: &center,
            columns,
        })
    }

    /// Solves for each value of `C`, the smallest first, and calls back with its index and solution.
    fn solve_path(
        &self,
        problem: &SvcProblem<'_>,
        source: &KernelSource,
        values: &[Value],
        context: &Context<'_>,
        mut on_solution: impl FnMut(usize, &[SmoSolution]) -> Result<()>,
    ) -> Result<()> {
        let price = |at: &usize| values[*at].number().unwrap_or(self.C);
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| price(a).total_cmp(&price(b)));
        let mut earlier: Option<Vec<SmoSolution>> = None;
        for at in order {
            let priced = Svc { C: price(&at), ..self.clone() };
            let mut solutions = priced.solve(problem, source, earlier.as_deref(), context)?;
            if priced.C.is_infinite() {
                priced.harden(problem, source, &mut solutions, context)?;
            }
            on_solution(at, &solutions)?;
            earlier = Some(solutions);
        }
        Ok(())
    }

    /// Solves pairs in parallel, as many as share the cache.
    fn solve(
        &self,
        problem: &SvcProblem<'_>,
        source: &KernelSource,
        earlier: Option<&[SmoSolution]>,
        context: &Context<'_>,
    ) -> Result<Vec<SmoSolution>> {
        let one_at_a_time = SerialObserver { lock: Mutex::new(()), observer: context.observer };
        let context = &Context { observer: &one_at_a_time, ..*context };
        let pairs = &problem.pairs;
        let cache = (self.cache_size / pairs.len().clamp(1, AT_ONCE) as f64 * 1e6) as usize;
        let c = if self.C.is_infinite() { HARD / source.largest_diagonal().max(f64::MIN_POSITIVE) } else { self.C };
        let mut solutions = Vec::with_capacity(pairs.len());
        for (first, some) in (0..).step_by(AT_ONCE).zip(pairs.chunks(AT_ONCE)) {
            let solve = |k: usize| {
                let earlier = earlier.map(|earlier| &earlier[first + k]);
                self.solve_pair(&some[k], source, problem.weights, c, earlier, cache, context)
            };
            solutions.extend(parallel::try_map(some.len(), solve)?);
        }
        Ok(solutions)
    }

    #[expect(clippy::too_many_arguments, reason = "what pairs share, and what each has")]
    fn solve_pair(
        &self,
        pair: &ClassPair,
        source: &KernelSource,
        weights: Option<&[f64]>,
        c: f64,
        earlier: Option<&SmoSolution>,
        cache: usize,
        context: &Context<'_>,
    ) -> Result<SmoSolution> {
        let hard = self.C.is_infinite();
        let weight = |k: usize| weights.map_or(1.0, |w| w[pair.rows[k] as usize]) * c;
        let first = |k: usize| k < pair.n_first;
        let m = pair.rows.len();
        let dual = DualProblem {
            pull: (0..m).map(|k| if first(k) { 1.0 } else { -1.0 }).collect(),
            low: (0..m).map(|k| if first(k) { 0.0 } else { -weight(k) }).collect(),
            high: (0..m).map(|k| if first(k) { weight(k) } else { 0.0 }).collect(),
            total: 0.0,
        };
        let options = SmoOptions {
            tolerance: self.tol,
            max_steps: self.max_iter.unwrap_or(if hard { HARD_STEPS } else { MOST_STEPS }),
            cache,
            working_set: WORKING_SET,
            observer: context.observer,
        };
        source.solve(Some(&pair.rows), &dual, &options, earlier)
    }

    /// The fitted model.
    fn machine(&self, problem: &SvcProblem<'_>, solutions: &[SmoSolution]) -> SvmModel {
        let SvcProblem { data, classes, pairs, x, kernel, source, .. } = problem;
        let mut assembled = assemble(classes, pairs, solutions, data.n_rows());
        if x.n_columns() == 2 && pairs.len() == 1 && kernel.is_some() && data.n_rows() <= PICTURE {
            let all: Vec<u32> = (0..data.n_rows() as u32).collect();
            let (rows, codes) = (rows_of(x, &all), &classes.places);
            let point = |i: usize| [rows[2 * i], rows[2 * i + 1], f64::from(codes[i])];
            assembled.training.picture = (0..codes.len()).flat_map(point).collect();
        }
        let form = SvmSettings {
            kernel: *kernel,
            single: source.is_single(),
            n_classes: data.classes().map_or(0, |(_, labels)| labels.len()),
            n_train: data.n_rows(),
            break_ties: self.break_ties,
            pairs: self.decision_function_shape == DecisionShape::Ovo,
            tolerance: self.tol,
            n_iter: solutions.iter().map(|s| s.outcome.n_iterations).sum(),
        };
        let SvmParts { support, coefficients, intercepts, n_support, training } = assembled;
        let rows = if kernel.is_some() { rows_of(x, &support) } else { Vec::new() };
        let (map, scaling, used) = (problem.map.clone(), problem.scaling.to_vec(), classes.used.clone());
        let mut machine =
            SvmModel { map, form, scaling, rows, support, coefficients, intercepts, used, n_support, training };
        machine.uncenter(problem.center);
        if let (None, Some(columns)) = (kernel, problem.columns) {
            machine.support.iter_mut().for_each(|i| *i = columns[*i as usize]);
        }
        machine
    }

    /// Whether every row of a pair is outside the margin.
    fn is_hard(&self, pair: &ClassPair, solution: &SmoSolution) -> bool {
        let f = |k: usize| solution.sums[k] + solution.intercept;
        let own = |k: usize| if k < pair.n_first { f(k) } else { -f(k) };
        (0..pair.rows.len()).all(|k| own(k) >= 1.0 - 10.0 * self.tol)
    }

    /// A hard margin exists only if every row is outside it. If rows are inside it although a hyperplane separates the classes, the problem is solved again with a `C` bounded by the margin of
    /// that hyperplane: the coefficients of the maximum margin sum to `1 / margin^2`.
    fn harden(
        &self,
        problem: &SvcProblem<'_>,
        source: &KernelSource,
        solutions: &mut [SmoSolution],
        context: &Context<'_>,
    ) -> Result<()> {
        let SvcProblem { x, kernel, classes, pairs, .. } = problem;
        let refuse = |why: String| {
            Err(Error::data(format!(
                "the classes can't be separated with a hard margin (C = infinity){why}; use a finite C"
            )))
        };
        for (pair, solution) in pairs.iter().zip(solutions) {
            if self.is_hard(pair, solution) {
                continue;
            }
            let separation = match kernel {
                Some(Kernel::Linear) if pairs.len() == 1 => {
                    Some(separate(x, &classes.signs(0), None, true, context.observer)?)
                }
                _ => None,
            };
            match separation {
                Some(Separation::Hyperplane { margin, .. }) => {
                    let (c, cache) = ((2.0 / margin).powi(2), (self.cache_size * 1e6) as usize);
                    *solution = self.solve_pair(pair, source, problem.weights, c, None, cache, context)?;
                    if !self.is_hard(pair, solution) {
                        return Err(Error::data(format!(
                            "the classes are linearly separable with a margin of {margin:.3e}, but the maximum margin (C = infinity) was not found within the tolerance: use standardize = true or a large finite C"
                        )));
                    }
                }
                Some(Separation::Overlap { .. }) => {
                    return refuse(": no hyperplane separates them (proven by linear programming)".into());
                }
                _ => {
                    let proven = if kernel.is_some_and(|kernel| kernel.is_mercer()) { " (proven)" } else { "" };
                    let widest = 1.0 / (2.0 * solution.outcome.lower_bound.unwrap_or(0.0)).sqrt();
                    return refuse(format!(" of more than {widest:.3e}{proven}, and no smaller one was found"));
                }
            }
        }
        Ok(())
    }

    fn certificate(
        &self,
        source: &KernelSource,
        kernel: Option<&Kernel>,
        solutions: &[SmoSolution],
    ) -> Result<Certificate> {
        let objective = if self.C.is_infinite() {
            "|w|^2 / 2, with no row inside the margin".to_string()
        } else {
            format!("|w|^2 / 2 + {} * sum of slacks", self.C)
        };
        let over =
            if solutions.len() > 1 { format!(", over {} pairs of classes", solutions.len()) } else { String::new() };
        let mut certificate = certificate(objective + &over, solutions);
        if let Some(warning) = source.warning(kernel)? {
            certificate.proofs.retain(|p| !matches!(p, ermine_core::model::Proof::LowerBound(_)));
            certificate.notes.push(warning);
        }
        Ok(certificate)
    }
}

/// An observer that several problems share; their calls are serialized.
struct SerialObserver<'a> {
    lock: Mutex<()>,
    observer: &'a dyn Observer,
}

impl Observer for SerialObserver<'_> {
    fn event(&self, event: &Event<'_>) -> Control {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.observer.event(event)
    }
}

/// The parts of the model that are computed from the solutions.
struct SvmParts {
    support: Vec<u32>,
    coefficients: Matrix,
    intercepts: Vec<f64>,
    n_support: Vec<u32>,
    training: SvmTrainingFacts,
}

/// The support vectors of all pairs, by class, and their coefficients in each pair.
fn assemble(classes: &ObservedClasses, pairs: &[ClassPair], solutions: &[SmoSolution], n: usize) -> SvmParts {
    let k = classes.used.len();
    let mut supports = vec![false; n];
    for (pair, solution) in pairs.iter().zip(solutions) {
        let used = pair.rows.iter().zip(&solution.variables).filter(|(_, b)| **b != 0.0);
        used.for_each(|(&row, _)| supports[row as usize] = true);
    }
    let mut support: Vec<u32> = (0..n as u32).filter(|&i| supports[i as usize]).collect();
    support.sort_by_key(|&i| classes.places[i as usize]);
    let mut n_support = vec![0u32; k];
    let mut place = vec![0usize; n];
    for (at, &i) in support.iter().enumerate() {
        n_support[classes.places[i as usize] as usize] += 1;
        place[i as usize] = at;
    }
    let mut coefficients = Matrix::zeros(k - 1, support.len());
    for (pair, solution) in pairs.iter().zip(solutions) {
        let (a, b) = pair.classes;
        for (at, (&row, &value)) in pair.rows.iter().zip(&solution.variables).enumerate() {
            if value != 0.0 {
                let line = if at < pair.n_first { b - 1 } else { a };
                coefficients[(line, place[row as usize])] = value;
            }
        }
    }
    // Without support vectors there is no margin; an indefinite kernel may have no positive width.
    let width = |s: &SmoSolution| {
        let square: f64 = s.variables.iter().zip(&s.sums).map(|(b, s)| b * s).sum();
        if square >= 0.0 { 1.0 / square.sqrt() } else { f64::NAN }
    };
    let mut slacks = Vec::new();
    if let ([pair], [solution]) = (pairs, solutions) {
        slacks = vec![0.0; n];
        for (at, &row) in pair.rows.iter().enumerate() {
            let f = solution.sums[at] + solution.intercept;
            slacks[row as usize] = (1.0 - if at < pair.n_first { f } else { -f }).max(0.0);
        }
    }
    SvmParts {
        support,
        coefficients,
        intercepts: solutions.iter().map(|s| s.intercept).collect(),
        n_support,
        training: SvmTrainingFacts { slacks, margins: solutions.iter().map(width).collect(), picture: Vec::new() },
    }
}
