//! The audit: random data sets, every learner of the registry, and all that a model claims recomputed from the outside, from data, predictions and published attributes alone.
//!
//! What is checked of each fit: the objective has the value that the certificate states, no bound is broken, no point near a proven optimum is better; probabilities are such; whole
//! weights are repeated rows; a saved model predicts the same bits; neither the number of threads nor the order of the rows matters.
//!
//! `make audit` runs it: `ERMINE_AUDIT` is the number of data sets, `ERMINE_AUDIT_SEED` where they start.

mod claim;

use claim::{Claim, Recomputed};
use ermine::prelude::*;
use ermine::registry::learners;
use ermine_core::learner::fit::can_learn;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Features, Target};
use ermine_core::model::{Proof, Status};
use ermine_core::rng::{self, Rng};
use std::sync::Arc;

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|e| panic!("{name} is '{text}': {e}")))
}

#[test]
fn every_claim_of_a_model_is_true() {
    let first = from_environment("ERMINE_AUDIT_SEED", 1);
    let mut findings = Vec::new();
    for seed in first..first + from_environment("ERMINE_AUDIT", 2) {
        let problem = Problem::draw(seed);
        for entry in learners() {
            let learner = crate::made(entry);
            for data in problem.datasets(&*learner) {
                let fit = Fit { learner: &*learner, data: &data, seed, numeric: problem.numeric };
                let place = format!("seed {seed}, {} for {}", entry.info().name, data.task());
                findings.extend(fit.findings().into_iter().map(|finding| format!("{place}: {finding}")));
            }
        }
    }
    assert!(findings.is_empty(), "{} findings\n{}", findings.len(), findings.join("\n"));
}

/// Columns and what depends on them.
struct Problem {
    features: Features,
    /// Something to learn, with noise.
    signal: Vec<f64>,
    weights: Option<Vec<f64>>,
    n_classes: usize,
    /// All columns are numbers, and none is missing.
    numeric: bool,
}

impl Problem {
    /// Numbers, whole or not, or also categories and missing values; without weights, with whole ones or with others.
    fn draw(seed: u64) -> Problem {
        let mut rng = rng::stream(seed, &[99]);
        let (n, d) = (20 + rng::below(&mut rng, 40), 2 + rng::below(&mut rng, 3));
        let (whole, numeric) = (rng::below(&mut rng, 3) == 0, rng::below(&mut rng, 3) > 0);
        let unit = |rng: &mut Rng| rng::below(rng, 2_000_001) as f64 / 1e6 - 1.0;
        let mut columns = Vec::new();
        let mut signal = vec![0.0; n];
        for j in 0..d {
            let scale = [1.0, 30.0, 0.01][rng::below(&mut rng, 3)];
            let x: Vec<f64> = (0..n).map(|_| unit(&mut rng)).collect();
            signal.iter_mut().zip(&x).for_each(|(s, x)| *s += x * if j % 2 == 0 { 1.0 } else { -0.6 });
            let lost = |rng: &mut Rng| !numeric && rng::below(rng, 8) == 0;
            if !numeric && j == 1 {
                let name = |x: &f64| ["low", "mid", "high", "top"][((x + 1.0) * 1.999) as usize];
                let names: Vec<Option<&str>> = x.iter().map(|x| (!lost(&mut rng)).then(|| name(x))).collect();
                columns.push(Column::nominal(format!("x{j}"), &names));
            } else {
                let value = |x: &f64| if whole { (3.0 * x).round() } else { x * scale };
                let cells: Vec<f64> = x.iter().map(|x| if lost(&mut rng) { f64::NAN } else { value(x) }).collect();
                columns.push(Column::numeric(format!("x{j}"), cells));
            }
        }
        let noise = [0.0, 0.3, 1.5][rng::below(&mut rng, 3)];
        signal.iter_mut().for_each(|s| *s += noise * unit(&mut rng));
        let weights = match rng::below(&mut rng, 3) {
            0 => None,
            1 => Some((0..n).map(|_| 1.0 + rng::below(&mut rng, 3) as f64).collect()),
            _ => Some((0..n).map(|_| 0.1 + (1.0 + unit(&mut rng))).collect()),
        };
        let features = Features::new(Arc::new(Table::new(columns).unwrap()));
        Problem { features, signal, weights, n_classes: 2 + rng::below(&mut rng, 2), numeric }
    }

    /// A data set for each task that a learner can do.
    fn datasets(&self, learner: &dyn Learner) -> Vec<Dataset> {
        let n = self.signal.len();
        let mut sorted = self.signal.clone();
        sorted.sort_by(f64::total_cmp);
        // Classes of about the same size.
        let class = |k: usize, s: f64| (sorted.partition_point(|x| *x < s) * k / n).min(k - 1);
        let classes = |k: usize| Target::Classes {
            codes: self.signal.iter().map(|&s| class(k, s) as u32).collect(),
            labels: (0..k).map(|c| format!("class {c}")).collect(),
        };
        let of_task = |task: Task| {
            let target = match task {
                // More classes are a reduction to two, which has a test of its own.
                Task::Classification if learner.info().capabilities.binary_only => classes(2),
                Task::Classification => classes(self.n_classes),
                Task::Regression => Target::Values { values: self.signal.clone(), n_outputs: 1 },
                Task::Ranking => {
                    Target::Values { values: self.signal.iter().map(|&s| class(4, s) as f64).collect(), n_outputs: 1 }
                }
                Task::Multilabel => {
                    let marks = self.signal.iter().flat_map(|&s| [s > sorted[n / 2], s > sorted[n / 4]]);
                    Target::Values { values: marks.map(|m| f64::from(u8::from(m))).collect(), n_outputs: 2 }
                }
            };
            let data = Dataset::from_parts(self.features.clone(), target, task).unwrap();
            let data = if task == Task::Ranking {
                data.with_group(Some((0..n as u32).map(|row| row / 10).collect())).unwrap()
            } else {
                data
            };
            let weights = self.weights.clone().filter(|_| learner.info().capabilities.weights);
            data.with_weight(weights).unwrap()
        };
        Task::ALL.into_iter().filter(|&task| can_learn(learner, task)).map(of_task).collect()
    }
}

/// A learner and what it learns from.
struct Fit<'a> {
    learner: &'a dyn Learner,
    data: &'a Dataset,
    seed: u64,
    numeric: bool,
}

/// Where the order of the rows decides: which of them are in which fold.
const IN_FOLDS: [&str; 3] = ["calibrated", "lasso-cv", "elastic-net-cv"];

impl Fit<'_> {
    fn model(&self, data: &Dataset, threads: usize) -> Result<Model, String> {
        let context = Context { seed: self.seed, threads: Some(threads), ..ermine::context() };
        fit(self.learner, data, &context).map_err(|e| format!("does not learn: {e}"))
    }

    /// All that is wrong.
    fn findings(&self) -> Vec<String> {
        let model = match self.model(self.data, 1) {
            Ok(model) => model,
            Err(error) => return vec![error],
        };
        let checks = [
            self.files_and_threads(&model),
            self.probabilities(&model),
            self.bounds(&model),
            self.objective(&model),
            self.optimum(&model),
            self.order_of_rows(&model),
            self.repetition(),
        ];
        checks.into_iter().filter_map(Result::err).collect()
    }

    fn files_and_threads(&self, model: &Model) -> Result<(), String> {
        let bytes = model.to_bytes().map_err(|e| e.to_string())?;
        let read = ermine::load_bytes(&bytes).map_err(|e| format!("is not read again: {e}"))?;
        let said = |model: &Model| model.predict_data(self.data).unwrap();
        let bits = |p: &Prediction| p.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        check(bits(&said(model)) == bits(&said(&read)), || "predicts other bits when read again".into())?;
        let other = self.model(self.data, 3)?.to_bytes().map_err(|e| e.to_string())?;
        check(other == bytes, || "another file with three threads".into())
    }

    fn probabilities(&self, model: &Model) -> Result<(), String> {
        let said = model.predict_data(self.data).unwrap();
        check(said.values().iter().all(|v| v.is_finite()), || "predictions are not finite".into())?;
        for row in 0..said.n_rows() {
            let Some(p) = said.probabilities(row).filter(|_| self.data.task() == Task::Classification) else {
                continue;
            };
            let sum: f64 = p.iter().sum();
            let fine = (sum - 1.0).abs() < 1e-9 && p.iter().all(|p| (-1e-12..=1.0 + 1e-12).contains(p));
            check(fine, || format!("row {row} has probabilities {p:?}"))?;
            let best = p.iter().copied().fold(0.0, f64::max);
            check(p[said.class(row)] >= best - 1e-9, || format!("row {row}: class {} of {p:?}", said.class(row)))?;
        }
        Ok(())
    }

    /// What a certificate states fits together.
    fn bounds(&self, model: &Model) -> Result<(), String> {
        let certificate = model.certificate();
        check(!certificate.proofs.is_empty(), || "the certificate neither proves nor says that it doesn't".into())?;
        check(certificate.value.is_none_or(f64::is_finite), || "the value is not finite".into())?;
        for proof in &certificate.proofs {
            let fine = match (proof, certificate.value) {
                (Proof::LowerBound(bound), Some(value)) => *bound <= value,
                (Proof::Bound { bound, observed, .. }, _) => observed <= bound,
                (Proof::Optimal { .. } | Proof::LowerBound(_), None) => false,
                _ => true,
            };
            check(fine, || format!("contradicts itself: {certificate}"))?;
        }
        Ok(())
    }

    /// The objective, recomputed.
    fn objective(&self, model: &Model) -> Result<(), String> {
        let (words, stated) = (&model.certificate().objective, model.certificate().value);
        match (Claim { model, data: self.data, seed: self.seed, numeric: self.numeric }.value()?, stated) {
            (Recomputed::NotStated, None) | (Recomputed::Hidden, _) => Ok(()),
            (Recomputed::Value(found), Some(stated)) => {
                let fine = (found - stated).abs() <= 1e-5 * stated.abs() + 1e-9;
                check(fine, || format!("{words} is {found}, but the certificate says {stated}"))
            }
            (_, stated) => Err(format!("{words}: the certificate says {stated:?}")),
        }
    }

    /// No point near one that is proven optimal is better.
    fn optimum(&self, model: &Model) -> Result<(), String> {
        let proven = |p: &Proof| matches!(p, Proof::Optimal { .. });
        let claim = Claim { model, data: self.data, seed: self.seed, numeric: self.numeric };
        let (true, Some(value)) = (model.certificate().proofs.iter().any(proven), model.certificate().value) else {
            return Ok(());
        };
        let Some(linear) = claim.linear().filter(|_| self.numeric) else { return Ok(()) };
        let mut rng = rng::stream(self.seed, &[7]);
        for size in [1e-3, 1e-1] {
            let mut near = linear.clone();
            let mut moved =
                |x: &mut f64| *x += size * (1.0 + x.abs()) * (rng::below(&mut rng, 2001) as f64 / 1000.0 - 1.0);
            near.coef.iter_mut().flatten().for_each(&mut moved);
            near.intercept.iter_mut().for_each(&mut moved);
            let Some(other) = claim.linear_value(&near) else { return Ok(()) };
            check(other >= value - 1e-9 * (1.0 + value.abs()), || {
                format!("{other} is better than the optimum {value}")
            })?;
        }
        Ok(())
    }

    fn order_of_rows(&self, model: &Model) -> Result<(), String> {
        let info = self.learner.info();
        // Of neighbors at the same distance the first rows are taken.
        let first_rows = info.name == "nearest-neighbors" && !self.has_column_without_ties();
        if info.capabilities.random || IN_FOLDS.contains(&info.name) || model.is_relative() || first_rows {
            return Ok(());
        }
        let rows: Vec<u32> = (0..self.data.n_rows() as u32).rev().collect();
        let reversed = self.model(&self.data.select(&rows).unwrap(), 1)?;
        self.same(model, &reversed).map_err(|why| format!("the order of the rows matters: {why}"))
    }

    /// Whether some column of numbers tells all rows apart.
    fn has_column_without_ties(&self) -> bool {
        let features = self.data.features();
        (0..features.n_columns()).any(|f| {
            let mut values = features.numbers(f);
            values.sort_by(f64::total_cmp);
            values.iter().all(|v| !v.is_nan()) && values.windows(2).all(|pair| pair[0] < pair[1])
        })
    }

    fn repetition(&self) -> Result<(), String> {
        let info = self.learner.info();
        if !info.capabilities.weights || info.capabilities.random || IN_FOLDS.contains(&info.name) {
            return Ok(());
        }
        let n = self.data.n_rows() as u32;
        let weights = (0..n).map(|row| f64::from(row % 3)).collect();
        let rows: Vec<u32> = (0..n).flat_map(|row| std::iter::repeat_n(row, row as usize % 3)).collect();
        let plain = self.data.clone().with_weight(None).unwrap();
        let weighted = self.model(&plain.clone().with_weight(Some(weights)).unwrap(), 1)?;
        let repeated = self.model(&plain.select(&rows).unwrap(), 1)?;
        self.same(&weighted, &repeated).map_err(|why| format!("weights are not repeated rows: {why}"))
    }

    /// Two models predict the same, or have reached the same optimum where there may be several.
    fn same(&self, a: &Model, b: &Model) -> Result<(), String> {
        // Many hyperplanes may have the same violation, and of the parts of a reduction it isn't stated.
        if self.learner.info().name == "halfspace" && a.header().learner != "halfspace" {
            return Ok(());
        }
        let told = |model: &Model| {
            let proven = |p: &Proof| matches!(p, Proof::Optimal { .. } | Proof::LowerBound(_));
            let limited = matches!(model.certificate().status, Status::Limit(_));
            model.certificate().value.filter(|_| limited || model.certificate().proofs.iter().any(proven))
        };
        // The parts of a reduction state no value: what they predict agrees to the tolerance of their solver.
        let is_reduced = self.learner.info().name != a.header().learner;
        let tol = self.learner.get("tol").and_then(|tol| tol.number()).filter(|_| is_reduced).unwrap_or(0.0);
        let equal = |a: f64, b: f64| (a - b).abs() <= tol.max(1e-6) * (1.0 + a.abs());
        if told(a).zip(told(b)).is_some_and(|(a, b)| equal(a, b)) {
            return Ok(());
        }
        let said = |model: &Model| model.predict_data(self.data).unwrap();
        let (a, b) = (said(a), said(b));
        let far = a.values().iter().zip(b.values()).find(|(a, b)| !equal(**a, **b));
        far.map_or(Ok(()), |(a, b)| Err(format!("{a} and {b} are predicted")))
    }
}

fn check(fine: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if fine { Ok(()) } else { Err(otherwise()) }
}
