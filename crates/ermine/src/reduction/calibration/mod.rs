//! Calibrated probabilities and cost-sensitive predictions for any classifier.
//!
//! **Idea.** The classifier is cross-validated, and the calibration curve is fitted to its predictions for held-out rows. The classifier itself is then trained on all rows. With more
//! than two classes, each class is calibrated against the rest and the probabilities are normalized; temperature scaling calibrates all classes at once.
//!
//! **Costs.** With calibrated probabilities, the class of minimal expected cost is the one with the largest product of probability and misclassification cost. For two classes
//! this is the threshold c_false_positive / (c_false_positive + c_false_negative) on the probability of the second class.
//!
//! | file | contents |
//! |---|---|
//! | this file | the learner |
//! | [`curve`] | sigmoid (Platt), isotonic regression, temperature scaling |
//! | [`fitted`] | the fitted model |
//!
//! **References.** Platt 1999; Zadrozny and Elkan 2002; Guo et al. 2017; Elkan, The foundations of cost-sensitive learning, 2001.

pub mod curve;
pub mod fitted;

pub use fitted::FittedCalibration;

use super::committee::{self, Member};
use super::estimator::Estimator;
use super::out_of_fold::{folds, out_of_fold};
use curve::{Calibrator, isotonic, sigmoid, temperature};
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Task};
use ermine_core::model::{Certificate, Output, Proof, Status};
use ermine_core::param::Range;
use ermine_core::progress::{Event, report};
use ermine_core::{choice, params};
use fitted::{class_scores, log_probabilities};

choice! {
    /// Calibration method.
    pub enum CalibrationMethod {
        /// A sigmoid of the score (Platt scaling); works with few rows.
        Sigmoid = "sigmoid",
        /// Isotonic regression: any non-decreasing curve; needs about a thousand rows or more.
        Isotonic = "isotonic",
        /// Temperature scaling: all scores are divided by one number, which keeps the predicted class.
        Temperature = "temperature",
    }
}

params! {
    /// Calibrated probabilities and cost-sensitive predictions for any classifier.
    pub struct Calibrated("calibrated") {
        /// Classifier: its name, with non-default parameters in parentheses, such as decision-tree(max_depth=3).
        estimator: Estimator = Estimator::named("gradient-boosting");
        /// Calibration method.
        /// "sigmoid" (Platt) suits small data and margins; "isotonic" corrects any monotonic distortion but needs about 1,000 rows; "temperature" has one parameter for all classes.
        method: CalibrationMethod = CalibrationMethod::Sigmoid, tune Each;
        /// Number of cross-validation folds.
        /// More folds use more rows for training, and take longer.
        cv: usize = 5, range Range::between(2.0, 1000.0);
        /// Cost of misclassifying each class, in the order of the classes; equal if not given. The class of minimal expected cost is predicted.
        costs: Vec<f64> = Vec::new(), range Range::more_than(0.0);
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "calibrated",
    summary: "calibrated probabilities and cost-sensitive predictions for any classifier",
    capabilities: Capabilities {
        tasks: &[Task::Classification],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        // If the base learner does.
        sparse: true,
        probabilities: true,
        random: true,
    },
    family: Family::Calibration,
};

impl Learner for Calibrated {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let learner = self.estimator.learner(context)?;
        let (codes, labels) = data.classes()?;
        let k = labels.len();
        if !self.costs.is_empty() && self.costs.len() != k {
            let allowed = format!("one cost for each of the {k} classes: {}", labels.join(", "));
            let value = format!("{} costs", self.costs.len());
            return Err(Error::Param { owner: "calibrated".into(), name: "costs".into(), value, allowed });
        }
        let (scores, output, mut statuses) = self.out_of_fold(&*learner, data, context)?;
        let weight: Vec<f64> = (0..data.n_rows()).map(|row| data.row_weight(row)).collect();
        let member = Member::train(&*learner, data, None, context.seed, context)?;
        statuses.push(member.status().clone());
        let calibrators = match self.method {
            CalibrationMethod::Temperature => {
                vec![temperature(&log_probabilities(&scores, k, output), k, codes, &weight)]
            }
            // Two classes need a single curve.
            method => (usize::from(k == 2)..k)
                .map(|class| {
                    let f: Vec<f64> = class_scores(&scores, k, output, class);
                    let y: Vec<bool> = codes.iter().map(|&c| c as usize == class).collect();
                    if method == CalibrationMethod::Sigmoid {
                        sigmoid(&f, &y, &weight)
                    } else {
                        isotonic(&f, &y, &weight)
                    }
                })
                .collect(),
        };
        let certificate = self.certificate(&calibrators, committee::combined_status(&statuses));
        let fitted = FittedCalibration::new(member, calibrators, k, self.costs.clone(), self.estimator.to_string())?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

impl Calibrated {
    /// Cross-validated outputs of all rows, their kind, and the status of each training.
    fn out_of_fold(
        &self,
        learner: &dyn Learner,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, Output, Vec<Status>)> {
        let splits = folds(data, self.cv, "calibration", context)?;
        report(context.observer, Event::Begin { what: "calibration folds", total: Some(1) })?;
        let found = out_of_fold(learner, data, &splits, context, &|member, features| member.predict(features))?;
        report(context.observer, Event::End)?;
        let output = found.members.first().map_or(Output::Values, Member::output);
        let statuses = found.members.iter().map(|member| member.status().clone()).collect();
        if output == Output::Values {
            let need = format!("{}, which is not a classifier", self.estimator.name);
            return Err(Error::Unsupported { learner: "calibrated".into(), need });
        }
        Ok((found.values, output, statuses))
    }

    fn certificate(&self, calibrators: &[Calibrator], status: Status) -> Certificate {
        let (over, objective) = match self.method {
            CalibrationMethod::Sigmoid => {
                ("all sigmoids of the score", "mean log loss of the sigmoid against Platt's targets")
            }
            CalibrationMethod::Isotonic => ("all non-decreasing curves", "mean squared error of the curve"),
            CalibrationMethod::Temperature => ("all temperatures", "mean log loss"),
        };
        let objective = match calibrators.len() {
            1 => format!("{objective} on held-out rows"),
            _ => format!("{objective} on held-out rows, summed over each class against the rest"),
        };
        let value = calibrators.iter().map(|c| c.loss).sum::<f64>();
        Certificate {
            objective,
            value: Some(value),
            status,
            proofs: vec![Proof::Optimal { over: over.into() }],
            notes: vec![format!("{} cross-validated in {} folds, then trained on all rows", self.estimator, self.cv)],
        }
    }
}
