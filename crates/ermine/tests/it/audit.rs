//! The audit: random data sets, every learner of the registry, and all that a model claims recomputed from the outside, from data, predictions and published attributes alone.
//!
//! What is checked of each fit: the objective has the value that the certificate states, no bound is broken, no point near a proven optimum is better; probabilities are such; whole
//! weights are repeated rows; a saved model predicts the same bits; neither the number of threads nor the order of the rows matters.
//!
//! `make audit` runs it: `ERMINE_AUDIT` is the number of data sets, `ERMINE_AUDIT_SEED` where they start.

use ermine::prelude::*;
use ermine::reduction::adaboost::Boosted;
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
#[ignore = "open findings: huber-regression, halfspace, nearest-neighbors, calibrated (make audit lists them)"]
fn what_models_claim_is_true() {
    let first = from_environment("ERMINE_AUDIT_SEED", 1);
    let mut findings = Vec::new();
    for seed in first..first + from_environment("ERMINE_AUDIT", 2) {
        let problem = Problem::draw(seed);
        for entry in learners() {
            let learner = (entry.make)();
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

/// What the order of rows may change: which of them are in which fold.
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
                (Proof::LowerBound(bound), Some(value)) => *bound <= value + 1e-7 * (1.0 + value.abs()),
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
        match (Claim { model, data: self.data, numeric: self.numeric }.value()?, stated) {
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
        let claim = Claim { model, data: self.data, numeric: self.numeric };
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
        if info.capabilities.random || IN_FOLDS.contains(&info.name) || model.is_relative() {
            return Ok(());
        }
        let rows: Vec<u32> = (0..self.data.n_rows() as u32).rev().collect();
        let reversed = self.model(&self.data.select(&rows).unwrap(), 1)?;
        self.same(model, &reversed).map_err(|why| format!("the order of the rows matters: {why}"))
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
        let told = |model: &Model| {
            let proven = |p: &Proof| matches!(p, Proof::Optimal { .. } | Proof::LowerBound(_));
            let limited = matches!(model.certificate().status, Status::Limit(_));
            model.certificate().value.filter(|_| limited || model.certificate().proofs.iter().any(proven))
        };
        let equal = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs());
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

/// What the auditor finds for an objective.
enum Recomputed {
    Value(f64),
    /// The certificate states no value for such an objective.
    NotStated,
    /// What it takes is not published: densities, kernels.
    Hidden,
}

/// The coefficients of a linear model: a row for each output or class.
#[derive(Clone)]
struct LinearForm {
    coef: Vec<Vec<f64>>,
    intercept: Vec<f64>,
    /// What a column is multiplied by before coefficients are counted.
    unit: Vec<f64>,
}

/// What a model claims about its data.
struct Claim<'a> {
    model: &'a Model,
    data: &'a Dataset,
    numeric: bool,
}

impl Claim<'_> {
    fn attribute(&self, name: &str) -> Option<Vec<f64>> {
        self.model.attributes().into_iter().find(|a| a.name == name).map(|a| a.values)
    }

    fn weight(&self, row: usize) -> f64 {
        self.data.row_weight(row)
    }

    fn total(&self) -> f64 {
        (0..self.data.n_rows()).map(|row| self.weight(row)).sum()
    }

    /// The sum of a loss of each row, by weight.
    fn sum(&self, loss: impl Fn(usize) -> f64) -> f64 {
        (0..self.data.n_rows()).map(|row| self.weight(row) * loss(row)).sum()
    }

    fn mean(&self, loss: impl Fn(usize) -> f64) -> f64 {
        self.sum(loss) / self.total()
    }

    fn code(&self, row: usize) -> usize {
        self.data.classes().unwrap().0[row] as usize
    }

    fn number(&self, row: usize) -> f64 {
        self.data.values().unwrap().0[row]
    }

    /// The value of the stated objective.
    fn value(&self) -> Result<Recomputed, String> {
        let words = self.model.certificate().objective.as_str();
        let said = self.model.predict_data(self.data).map_err(|e| e.to_string())?;
        let shares = |row: usize| said.probabilities(row).unwrap_or(&[]).to_vec();
        let zero_one = |row: usize| f64::from(u8::from(said.class(row) != self.code(row)));
        let residual = |row: usize| said.row(row)[0] - self.number(row);
        let log_loss = |row: usize| -shares(row)[self.code(row)].max(1e-300).ln();
        let bits = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        let has_missing = self.data.features().columns().iter().any(|c| c.n_missing() > 0);
        let found = match words {
            // A row without a value is in several leaves of C4.5.
            "entropy (bits) of the leaves" if has_missing => return Ok(Recomputed::Hidden),
            "Gini impurity of the leaves" => self.mean(|row| 1.0 - shares(row).iter().map(|p| p * p).sum::<f64>()),
            "entropy (bits) of the leaves" => self.mean(|row| shares(row).iter().map(|p| bits(*p)).sum()),
            "weighted 0-1 risk on the training data" | "0-1 risk" => self.mean(zero_one),
            "mean squared error on the training data"
            | "weighted mean squared error on the training data"
            | "mean squared error" => self.mean(|row| residual(row).powi(2)),
            "mean half squared error on the training data" => self.mean(|row| residual(row).powi(2) / 2.0),
            "log loss" | "mean log loss on the training data" => self.mean(log_loss),
            "mistakes in the last pass" | "mistakes in the last pass, added up over each class against the rest" => {
                // Of a pass without mistakes more is known: every row is on its own side.
                let wrong = self.sum(zero_one);
                return match self.model.certificate().value {
                    Some(0.0) if wrong > 0.0 => Err(format!("separated, but {wrong} rows are on the wrong side")),
                    _ => Ok(Recomputed::Hidden),
                };
            }
            _ if words.starts_with("exponential loss of the vote") => return self.vote().map(Recomputed::Value),
            _ if words.starts_with("mean negative log-likelihood") => return Ok(Recomputed::Hidden),
            _ if words.starts_with("mean 1 - NDCG") => return Ok(Recomputed::Hidden),
            _ if words.ends_with("tree by tree") || words.starts_with("what ") || words == "nothing" => {
                return Ok(Recomputed::NotStated);
            }
            _ if words.contains("loss of each round's learner") => return Ok(Recomputed::NotStated),
            _ if self.attribute("support").is_some() || words.contains("pairs") => return Ok(Recomputed::Hidden),
            // How categories and missing values become columns is not for the auditor to know.
            _ if !self.numeric => return Ok(Recomputed::Hidden),
            _ => {
                let linear = self.linear().ok_or_else(|| format!("nobody knows how to recompute '{words}'"))?;
                self.linear_value(&linear).ok_or_else(|| format!("nobody knows how to recompute '{words}'"))?
            }
        };
        Ok(Recomputed::Value(found))
    }

    /// The mean of exp(votes for other classes - votes for the right one), from what each member says.
    fn vote(&self) -> Result<f64, String> {
        let boosted = self.model.fitted::<Boosted>().ok_or("is not boosted")?;
        let mut against = vec![0.0; self.data.n_rows()];
        for (t, round) in boosted.rounds().iter().enumerate() {
            let said = self.model.member(t).and_then(|m| m.predict_data(self.data)).map_err(|e| e.to_string())?;
            let sign = |row: usize| if said.class(row) == self.code(row) { -1.0 } else { 1.0 };
            against.iter_mut().enumerate().for_each(|(row, m)| *m += sign(row) * round.alpha);
        }
        Ok(self.mean(|row| against[row].exp()))
    }

    /// The published coefficients, with the deviations of the columns where the certificate counts in these.
    fn linear(&self) -> Option<LinearForm> {
        let d = self.data.features().n_columns();
        let (coef, intercept) = (self.attribute("coef")?, self.attribute("intercept")?);
        let deviation = |f: usize| {
            let x = self.data.features().numbers(f);
            let mean = self.mean(|row| x[row]);
            self.mean(|row| (x[row] - mean).powi(2)).sqrt()
        };
        let scaled = self.model.certificate().objective.ends_with("of columns with deviation 1");
        let unit = (0..d).map(|f| if scaled { deviation(f) } else { 1.0 }).collect();
        (coef.len() == d * intercept.len() && d > 0).then(|| LinearForm {
            coef: coef.chunks(d).map(<[f64]>::to_vec).collect(),
            intercept,
            unit,
        })
    }

    /// The stated objective of a linear model at any coefficients.
    fn linear_value(&self, linear: &LinearForm) -> Option<f64> {
        let words = self.model.certificate().objective.trim_end_matches(" of columns with deviation 1");
        let x: Vec<Vec<f64>> = (0..linear.unit.len()).map(|f| self.data.features().numbers(f)).collect();
        let score = |k: usize, row: usize| {
            linear.intercept[k] + linear.coef[k].iter().zip(&x).map(|(w, x)| w * x[row]).sum::<f64>()
        };
        let coefficients = || linear.coef.iter().flat_map(|row| row.iter().zip(&linear.unit).map(|(w, u)| w * u));
        let (absolute, squares) =
            (coefficients().map(f64::abs).sum::<f64>(), coefficients().map(|w| w * w).sum::<f64>());
        let n_scores = linear.intercept.len();
        // A class against the rest, or the second of two against the first.
        let sign = |k: usize, row: usize| {
            let is = if n_scores == 1 { self.code(row) == 1 } else { self.code(row) == k };
            if is { 1.0 } else { -1.0 }
        };
        let slack = |k: usize, row: usize| (1.0 - sign(k, row) * score(k, row)).max(0.0);
        let over_scores =
            |loss: &dyn Fn(usize, usize) -> f64, row: usize| (0..n_scores).map(|k| loss(k, row)).sum::<f64>();
        let residual = |row: usize| score(0, row) - self.number(row);
        let parameter = |name: &str| self.model.header().params.get(name).and_then(|v| v.number());
        let mut terms = words.split(" + ");
        let first = match terms.next()? {
            "sum of squared residuals" => self.sum(|row| residual(row).powi(2)),
            "half the mean squared residual" | "mean squared_error loss" => {
                self.mean(|row| residual(row).powi(2) / 2.0)
            }
            "mean absolute deviation" => self.mean(|row| residual(row).abs()),
            "mean log loss" | "mean log_loss loss" if n_scores == 1 => {
                self.mean(|row| (-sign(0, row) * score(0, row)).exp().ln_1p())
            }
            "mean log loss" => self.mean(|row| {
                let sum: f64 = (0..n_scores).map(|k| (score(k, row) - score(self.code(row), row)).exp()).sum();
                sum.ln()
            }),
            "mean hinge loss" => self.mean(|row| over_scores(&slack, row)),
            "total violation, sum of max(0, 1 - y (x'w" => return Some(self.sum(|row| slack(0, row))),
            "Huber's loss with its scale" => {
                let (scale, epsilon) = (self.attribute("scale")?[0], parameter("epsilon")?);
                let huber = |r: f64| if r < epsilon { r * r } else { 2.0 * epsilon * r - epsilon * epsilon };
                self.sum(|row| scale + huber(residual(row).abs() / scale) * scale)
            }
            "|w|^2 / 2" => {
                let free = if parameter("fit_intercept") == Some(0.0) { 0.0 } else { 1.0 };
                let with_intercept = squares + free * linear.intercept.iter().map(|b| b * b).sum::<f64>();
                let (c, rest) = terms.next()?.split_once(" * sum of ")?;
                let c: f64 = c.parse().ok()?;
                let loss = |k: usize, row: usize| match rest {
                    "slacks" => Some(slack(k, row)),
                    "squared slacks" => Some(slack(k, row).powi(2)),
                    _ => rest
                        .strip_prefix("distances beyond ")
                        .map(|epsilon| (residual(row).abs() - epsilon.parse::<f64>().unwrap_or(f64::NAN)).max(0.0)),
                };
                loss(0, 0)?;
                return Some(
                    with_intercept / 2.0 + c * self.sum(|row| (0..n_scores).filter_map(|k| loss(k, row)).sum()),
                );
            }
            other => {
                let tau: f64 = other.strip_prefix("mean quantile loss at ")?.parse().ok()?;
                self.mean(|row| (-residual(row)).max(0.0) * tau + residual(row).max(0.0) * (1.0 - tau))
            }
        };
        let mut value = first;
        for term in terms {
            let (strength, of) = term.split_once(' ')?;
            let strength: f64 = strength.parse().ok()?;
            value += strength
                * match of {
                    "* sum of absolute coefficients" => absolute,
                    "* sum of squared coefficients" => squares,
                    "/ 2 * sum of squared coefficients" => squares / 2.0,
                    _ => return None,
                };
        }
        Some(value)
    }
}
