//! A model whose scores are calibrated.

use super::curve::{CalibrationCurve, Calibrator};
use crate::reduction::committee::{LoadFitted, Member};
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Features, Schema};
use ermine_core::model::{Fitted, Header, Output};
use ermine_core::section::Sections;

/// Probabilities are clipped to this distance from 0 and 1.
const EPSILON: f64 = 1e-15;

/// Scores of a class against the rest: log odds, margins, or the difference from the largest other score.
pub(super) fn class_scores(scores: &[f64], n_classes: usize, output: Output, class: usize) -> Vec<f64> {
    match output {
        Output::Margin => scores.iter().map(|&m| if class == 1 { m } else { -m }).collect(),
        Output::Probabilities => {
            let odds = |p: f64| (p.clamp(EPSILON, 1.0 - EPSILON) / (1.0 - p.clamp(EPSILON, 1.0 - EPSILON))).ln();
            scores.chunks(n_classes).map(|p| odds(p[class])).collect()
        }
        _ => {
            let difference = |s: &[f64]| {
                let other = s.iter().enumerate().filter(|(k, _)| *k != class).map(|(_, s)| *s);
                (s[class] - other.fold(f64::NEG_INFINITY, f64::max)).clamp(-1e100, 1e100)
            };
            scores.chunks(n_classes).map(difference).collect()
        }
    }
}

/// Logarithms of unnormalized probabilities of all classes.
pub(crate) fn log_probabilities(scores: &[f64], n_classes: usize, output: Output) -> Vec<f64> {
    match output {
        Output::Margin => scores.iter().flat_map(|&m| [0.0, m]).collect(),
        Output::Probabilities => scores.iter().map(|p| p.max(EPSILON).ln()).collect(),
        _ => scores
            .chunks(n_classes)
            .flat_map(|s| {
                let largest = s.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                s.iter().map(move |x| (x - largest).max(-1e100))
            })
            .collect(),
    }
}

/// Probabilities at a temperature, from the logarithms of unnormalized probabilities of all classes.
pub(crate) fn scale_log_probabilities(z: &[f64], n_classes: usize, inverse: f64) -> Vec<f64> {
    let mut p = vec![0.0; z.len()];
    for (p, z) in p.chunks_mut(n_classes).zip(z.chunks(n_classes)) {
        let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        p.iter_mut().zip(z).for_each(|(p, z)| *p = (inverse * (z - largest)).exp());
    }
    normalize(&mut p, n_classes);
    p
}

/// Divides the numbers of each row by their sum.
fn normalize(p: &mut [f64], n_classes: usize) {
    for p in p.chunks_mut(n_classes) {
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|x| *x = if sum > 0.0 { *x / sum } else { 1.0 / n_classes as f64 });
    }
}

/// A classifier and the calibration curves of its classes.
pub struct FittedCalibration {
    member: Member,
    calibrators: Vec<Calibrator>,
    n_classes: usize,
    costs: Vec<f64>,
    estimator: String,
}

impl FittedCalibration {
    pub(super) fn new(
        member: Member,
        calibrators: Vec<Calibrator>,
        n_classes: usize,
        costs: Vec<f64>,
        estimator: String,
    ) -> Result<FittedCalibration> {
        let by_temperature = |c: &Calibrator| matches!(c.curve, CalibrationCurve::Temperature { .. });
        let is_shared = calibrators.len() == 1 && calibrators.iter().all(by_temperature);
        let is_per_class =
            calibrators.len() == if n_classes == 2 { 1 } else { n_classes } && !calibrators.iter().any(by_temperature);
        let costs_are_valid =
            costs.is_empty() || costs.len() == n_classes && costs.iter().all(|c| *c > 0.0 && c.is_finite());
        let curves_are_valid = calibrators.iter().all(|c| c.curve.is_valid()) && member.output() != Output::Values;
        if !(is_shared || is_per_class)
            || !curves_are_valid
            || !costs_are_valid
            || (member.output() == Output::Margin && n_classes != 2)
        {
            return Err(Error::model_file("the calibration curves don't fit the classes"));
        }
        Ok(FittedCalibration { member, calibrators, n_classes, costs, estimator })
    }

    /// Reads the model from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let member = Member::load(&sections.part("model"), header, load)?;
        let (calibrators, costs) = (sections.json("calibrators")?, sections.json("costs")?);
        let (estimator, n_classes) = (sections.json("estimator")?, header.schema.classes.len());
        Ok(Box::new(FittedCalibration::new(member, calibrators, n_classes, costs, estimator)?))
    }

    /// The curves: one for the second of two classes, one per class for more classes, or a single temperature.
    pub fn calibrators(&self) -> &[Calibrator] {
        &self.calibrators
    }

    /// The calibrated probabilities of all rows.
    fn probabilities(&self, features: &Features) -> Result<Vec<f64>> {
        let (k, output) = (self.n_classes, self.member.output());
        let scores = self.member.predict(features)?;
        let mut p = vec![0.0; features.n_rows() * k];
        match &self.calibrators[0].curve {
            CalibrationCurve::Temperature { inverse } => {
                return Ok(scale_log_probabilities(&log_probabilities(&scores, k, output), k, *inverse));
            }
            curve if k == 2 => {
                for (p, f) in p.chunks_mut(2).zip(class_scores(&scores, k, output, 1)) {
                    p[1] = curve.probability(f);
                    p[0] = 1.0 - p[1];
                }
            }
            _ => {
                for (class, calibrator) in self.calibrators.iter().enumerate() {
                    let scores_of_class = class_scores(&scores, k, output, class);
                    p.chunks_mut(k).zip(scores_of_class).for_each(|(p, f)| p[class] = calibrator.curve.probability(f));
                }
            }
        }
        normalize(&mut p, k);
        Ok(p)
    }
}

impl Fitted for FittedCalibration {
    fn output(&self) -> Output {
        if self.costs.is_empty() { Output::Probabilities } else { Output::Scores }
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        let mut p = self.probabilities(features)?;
        if !self.costs.is_empty() {
            // The expected cost of not predicting the class.
            p.chunks_mut(self.n_classes).for_each(|p| p.iter_mut().zip(&self.costs).for_each(|(p, cost)| *p *= cost));
        }
        Ok(p)
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("calibrators", &self.calibrators)?;
        sections.put_json("costs", &self.costs)?;
        sections.put_json("estimator", &self.estimator)?;
        sections.within("model", |sections| self.member.save(sections))
    }

    fn text(&self, schema: &Schema) -> String {
        let mut text = format!("calibrated: {}\n", self.estimator);
        for (i, calibrator) in self.calibrators.iter().enumerate() {
            let class = if self.n_classes == 2 { 1 } else { i };
            let name = schema.classes.get(class).map_or("", String::as_str);
            text += &match &calibrator.curve {
                CalibrationCurve::Sigmoid { a, b } => format!("  p({name}) = 1 / (1 + exp(-({a:.6} f + {b:.6})))\n"),
                CalibrationCurve::Isotonic { scores, .. } => {
                    format!("  p({name}): isotonic curve with {} points\n", scores.len())
                }
                CalibrationCurve::Temperature { inverse } => format!("  temperature {:.6}\n", 1.0 / inverse),
            };
        }
        if !self.costs.is_empty() {
            let costs: Vec<String> =
                schema.classes.iter().zip(&self.costs).map(|(class, cost)| format!("{class}: {cost}")).collect();
            text += &format!("  cost of misclassifying {}\n", costs.join(", "));
        }
        text
    }
}
