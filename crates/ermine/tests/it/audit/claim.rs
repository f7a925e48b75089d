//! What a model claims about its objective, recomputed from data, predictions and published attributes.

use super::check;
use ermine::prelude::*;
use ermine::reduction::adaboost::BoostedVote;
use ermine::reduction::calibration::FittedCalibration;
use ermine::reduction::calibration::curve::CalibrationCurve;
use ermine_core::learner::{Context, fit};
use ermine_core::matrix::Splits;

/// What the auditor finds for an objective.
pub enum Recomputed {
    Value(f64),
    /// The certificate states no value for such an objective.
    NotStated,
    /// What it takes is not published: densities, kernels.
    Hidden,
}

/// The coefficients of a linear model: a row for each output or class.
#[derive(Clone)]
pub struct LinearForm {
    /// Coefficients.
    pub coef: Vec<Vec<f64>>,
    /// Intercepts.
    pub intercept: Vec<f64>,
    /// What a column is multiplied by before coefficients are counted.
    unit: Vec<f64>,
}

/// What a model claims about its data.
pub struct Claim<'a> {
    pub model: &'a Model,
    pub data: &'a Dataset,
    pub seed: u64,
    pub numeric: bool,
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
    pub fn value(&self) -> Result<Recomputed, String> {
        let words = self.model.certificate().objective.as_str();
        let prediction = self.model.predict_data(self.data).map_err(|e| e.to_string())?;
        let shares = |row: usize| prediction.probabilities(row).unwrap_or(&[]).to_vec();
        let zero_one = |row: usize| f64::from(u8::from(prediction.class(row) != self.code(row)));
        let residual = |row: usize| prediction.row(row)[0] - self.number(row);
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
            "mistakes in the last pass" | "mistakes in the last pass, summed over the classes (one-vs-rest)" => {
                // Of a pass without mistakes more is known: every row is on its own side.
                let wrong = self.sum(zero_one);
                return match self.model.certificate().value {
                    Some(0.0) if wrong > 0.0 => Err(format!("separated, but {wrong} rows are on the wrong side")),
                    _ => Ok(Recomputed::Hidden),
                };
            }
            _ if words.starts_with("exponential loss of the vote") => return self.vote().map(Recomputed::Value),
            _ if words.contains("on held-out rows") => return self.calibration().map(Recomputed::Value),
            _ if words.starts_with("mean negative log-likelihood") => return Ok(Recomputed::Hidden),
            _ if words.starts_with("mean 1 - NDCG") => return Ok(Recomputed::Hidden),
            _ if words.ends_with("tree by tree")
                || words.starts_with("what ")
                || words.starts_with("the objective of ")
                || words == "nothing" =>
            {
                return Ok(Recomputed::NotStated);
            }
            _ if words.contains("loss of each round's learner") => return Ok(Recomputed::NotStated),
            // How categories and missing values become columns is not for the auditor to know.
            _ if !self.numeric => return Ok(Recomputed::Hidden),
            _ if self.attribute("support").is_some() => return self.machine(&prediction),
            _ if words.contains("pairs") => self.ordered_pairs().ok_or("the pairs can't be recomputed")?,
            _ => {
                let linear = self.linear().ok_or_else(|| format!("nobody knows how to recompute '{words}'"))?;
                self.linear_value(&linear).ok_or_else(|| format!("nobody knows how to recompute '{words}'"))?
            }
        };
        Ok(Recomputed::Value(found))
    }

    /// The mean of exp(votes for other classes - votes for the right one), from what each member says.
    fn vote(&self) -> Result<f64, String> {
        let boosted = self.model.fitted::<BoostedVote>().ok_or("is not boosted")?;
        let mut against = vec![0.0; self.data.n_rows()];
        for (t, round) in boosted.rounds().iter().enumerate() {
            let prediction = self.model.member(t).and_then(|m| m.predict_data(self.data)).map_err(|e| e.to_string())?;
            let sign = |row: usize| if prediction.class(row) == self.code(row) { -1.0 } else { 1.0 };
            against.iter_mut().enumerate().for_each(|(row, m)| *m += sign(row) * round.alpha);
        }
        Ok(self.mean(|row| against[row].exp()))
    }

    /// The objective of a machine with the Gaussian kernel, from its support vectors and decision values.
    fn machine(&self, prediction: &Prediction) -> Result<Recomputed, String> {
        let of = |name: &str| self.attribute(name).ok_or_else(|| format!("there is no {name}"));
        let (count, rows, intercept) = (of("dual_coef")?, of("support_vectors")?, of("intercept")?);
        if intercept.len() > 1 {
            // Pairs of classes are machines of two classes, which are audited.
            return Ok(Recomputed::Hidden);
        }
        let d = self.data.features().n_columns();
        let x: Vec<Vec<f64>> = (0..d).map(|f| self.data.features().numbers(f)).collect();
        // gamma = "scale": one over the number of columns times the variance of all numbers.
        let mean = self.mean(|row| x.iter().map(|x| x[row]).sum::<f64>()) / d as f64;
        let variance = self.mean(|row| x.iter().map(|x| (x[row] - mean).powi(2)).sum::<f64>()) / d as f64;
        let gamma = 1.0 / (d as f64 * variance);
        let kernel = |a: &[f64], b: &[f64]| (-gamma * a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()).exp();
        let at = |i: usize| &rows[i * d..(i + 1) * d];
        let sum = |i: usize| (0..count.len()).map(|j| count[j] * kernel(at(i), at(j))).sum::<f64>();
        let square: f64 = (0..count.len()).map(|i| count[i] * sum(i)).sum();
        let parameter = |name: &str| self.model.header().params.get(name).and_then(|v| v.number()).unwrap_or(f64::NAN);
        let score = |row: usize| prediction.row(row)[0];
        let losses = match self.model.header().learner.as_str() {
            "svc" => {
                let sign = |row: usize| if self.code(row) == 1 { 1.0 } else { -1.0 };
                parameter("C") * self.sum(|row| (1.0 - sign(row) * score(row)).max(0.0))
            }
            "svr" => {
                let outside = |row: usize| ((score(row) - self.number(row)).abs() - parameter("epsilon")).max(0.0);
                parameter("C") * self.sum(outside)
            }
            "one-class-svm" => {
                let offset = -parameter("nu") * self.total() * -intercept[0];
                offset + self.sum(|row| (-score(row)).max(0.0))
            }
            other => return Err(format!("nobody knows the losses of {other}")),
        };
        Ok(Recomputed::Value(square / 2.0 + losses))
    }

    /// The objective of a linear score over all pairs of a query in which one row is better.
    fn ordered_pairs(&self) -> Option<f64> {
        let linear = self.linear()?;
        let words = self.model.certificate().objective.strip_prefix("|w|^2 / 2 + ")?;
        let (c, rest) = words.split_once(" sum of ")?;
        let by_grade = match rest.split_whitespace().next()? {
            "equal" => false,
            "grade" => true,
            _ => return None,
        };
        let x: Vec<Vec<f64>> = (0..linear.unit.len()).map(|f| self.data.features().numbers(f)).collect();
        let score = |row: usize| linear.coef[0].iter().zip(&x).map(|(w, x)| w * x[row]).sum::<f64>();
        let grade = |row: usize| match self.data.task() {
            Task::Classification => self.code(row) as f64,
            _ => self.number(row),
        };
        let mut sum = 0.0;
        for rows in self.data.queries() {
            for (i, j) in rows.iter().flat_map(|&i| rows.iter().map(move |&j| (i as usize, j as usize))) {
                if grade(i) > grade(j) {
                    let weight = if by_grade { grade(i) - grade(j) } else { 1.0 };
                    let slack = (1.0 - score(i) + score(j)).max(0.0);
                    sum += self.weight(i) * self.weight(j) * weight * slack * slack;
                }
            }
        }
        let squares: f64 = linear.coef[0].iter().zip(&linear.unit).map(|(w, u)| (w * u).powi(2)).sum();
        Some(squares / 2.0 + c.parse::<f64>().ok()? * sum)
    }

    /// The loss of Platt's sigmoids on what models of the other folds predict; an error where a sigmoid nearby is better.
    fn calibration(&self) -> Result<f64, String> {
        let text = |e: ermine_core::error::Error| e.to_string();
        let (n, k) = (self.data.n_rows(), self.model.schema().classes.len());
        let calibrated = self.model.fitted::<FittedCalibration>().ok_or("is not calibrated")?;
        let context = Context { seed: self.seed, threads: Some(1), ..ermine::context() };
        let learner = Estimator::named("gradient-boosting").learner(&context).map_err(text)?;
        let splits = Splits::k_fold(self.data, 5, self.seed).map_err(text)?;
        let mut log_odds = vec![0.0; n * k];
        for (train, test) in (0..splits.len()).map(|fold| splits.split(fold)) {
            let model = fit(&*learner, &self.data.select(&train).map_err(text)?, &context).map_err(text)?;
            let prediction = model.predict_data(&self.data.select(&test).map_err(text)?).map_err(text)?;
            for (i, &row) in test.iter().enumerate() {
                for (class, p) in prediction.probabilities(i).unwrap_or(&[]).iter().enumerate() {
                    let p = p.clamp(1e-15, 1.0 - 1e-15);
                    log_odds[row as usize * k + class] = (p / (1.0 - p)).ln();
                }
            }
        }
        let mut sum = 0.0;
        for (class, calibrator) in (usize::from(k == 2)..k).zip(calibrated.calibrators()) {
            let CalibrationCurve::Sigmoid { a, b } = calibrator.curve else { return Err("has no sigmoid".into()) };
            let of_class = |row: usize| self.code(row) == class;
            let positive = self.sum(|row| f64::from(u8::from(of_class(row))));
            let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (self.total() - positive + 2.0));
            let loss = |a: f64, b: f64| {
                self.mean(|row| {
                    let (z, t) = (a * log_odds[row * k + class] + b, if of_class(row) { high } else { low });
                    t * (-z).exp().ln_1p() + (1.0 - t) * z.exp().ln_1p()
                })
            };
            let value = loss(a, b);
            for (da, db) in [(1e-2, 0.0), (-1e-2, 0.0), (0.0, 1e-2), (0.0, -1e-2), (1e-2, 1e-2), (1e-2, -1e-2)] {
                check(loss(a + da, b + db) > value - 1e-9, || format!("class {class}: a better sigmoid is near"))?;
            }
            sum += value;
        }
        Ok(sum)
    }

    /// The published coefficients, with the deviations of the columns where the certificate counts in these.
    pub fn linear(&self) -> Option<LinearForm> {
        let d = self.data.features().n_columns();
        let (coef, intercept) = (self.attribute("coef")?, self.attribute("intercept")?);
        let deviation = |f: usize| {
            let x = self.data.features().numbers(f);
            let mean = self.mean(|row| x[row]);
            self.mean(|row| (x[row] - mean).powi(2)).sqrt()
        };
        let scaled = self.model.certificate().objective.ends_with("of standardized columns");
        let unit = (0..d).map(|f| if scaled { deviation(f) } else { 1.0 }).collect();
        (coef.len() == d * intercept.len() && d > 0).then(|| LinearForm {
            coef: coef.chunks(d).map(<[f64]>::to_vec).collect(),
            intercept,
            unit,
        })
    }

    /// The stated objective of a linear model at any coefficients.
    pub fn linear_value(&self, linear: &LinearForm) -> Option<f64> {
        let words = self.model.certificate().objective.trim_end_matches(" of standardized columns");
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
            "Huber loss with estimated scale" => {
                let (scale, epsilon) = (self.attribute("scale")?[0], parameter("epsilon")?);
                let huber = |r: f64| if r < epsilon { r * r } else { 2.0 * epsilon * r - epsilon * epsilon };
                let loss = |r: f64| if scale > 0.0 { scale + scale * huber(r / scale) } else { 2.0 * epsilon * r };
                self.sum(|row| loss(residual(row).abs()))
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
                        .strip_prefix("absolute errors beyond ")
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
