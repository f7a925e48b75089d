//! Probabilities that mean what they say, over any learner of classes, and the class that costs least.
//!
//! **Idea.** The learner is cross-validated; what it says about rows it has not seen, beside the truth, is what the calibrator learns from. The learner itself is
//! then trained on all rows. Of several classes each is calibrated against the rest, and the probabilities are made to add up to 1; temperature takes all at once.
//!
//! **Costs.** With probabilities that can be believed, the class of least expected cost is that of the highest probability times the cost of missing it. For two classes
//! that is the threshold c_false_alarm / (c_false_alarm + c_miss) on the second one's probability.
//!
//! | file | what it holds |
//! |---|---|
//! | this file | the learner |
//! | [`curve`] | Platt's sigmoid, isotonic regression, temperature |
//! | [`fitted`] | the fitted model |
//!
//! **References.** Platt 1999; Zadrozny and Elkan 2002; Guo et al. 2017; Elkan, The foundations of cost-sensitive learning, 2001.

pub mod curve;
pub mod fitted;

pub use fitted::FittedCalibration;

use super::committee::{self, Member};
use super::estimator::Estimator;
use curve::{Calibrator, isotonic, sigmoid, temperature};
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::matrix::{Dataset, Splits, Task};
use ermine_core::model::{Certificate, Output, Proof, Status};
use ermine_core::param::Range;
use ermine_core::progress::{Event, report};
use ermine_core::{choice, params};
use fitted::{confidences, log_odds};

choice! {
    /// How scores become probabilities.
    pub enum Method {
        /// A sigmoid of the score (Platt): few rows are enough.
        Sigmoid = "sigmoid",
        /// Any curve that doesn't fall: needs a thousand rows or more.
        Isotonic = "isotonic",
        /// All scores divided by one number: the order of the classes stays.
        Temperature = "temperature",
    }
}

params! {
    /// Probabilities that mean what they say, over any learner of classes.
    pub struct Calibrated("calibrated") {
        /// The learner: its name, and in brackets the parameters in which it differs from its defaults.
        estimator: Estimator = Estimator::named("gradient-boosting");
        /// How scores become probabilities.
        method: Method = Method::Sigmoid, tune Each;
        /// How many parts the rows are cut into, each scored by a model of the others.
        cv: usize = 5, range Range::between(2.0, 1000.0);
        /// The cost of missing each class, in the order of the classes; all the same if not given. The class of least expected cost is predicted.
        costs: Vec<f64> = Vec::new(), range Range::more_than(0.0);
    }
}

static INFO: Info = Info {
    name: "calibrated",
    summary: "probabilities that mean what they say, and the class of least cost, over any learner of classes",
    capabilities: Capabilities {
        tasks: &[Task::Classification],
        binary_only: false,
        multi_output: false,
        weights: true,
        missing: true,
        nominal: true,
        // As far as the learner below does.
        sparse: true,
        probabilities: true,
        random: true,
    },
    family: Family::Calibration,
};

impl Learner for Calibrated {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let learner = self.estimator.learner(context)?;
        let (codes, labels) = data.classes()?;
        let k = labels.len();
        if !self.costs.is_empty() && self.costs.len() != k {
            let allowed = format!("a cost for each of the {k} classes: {}", labels.join(", "));
            let value = format!("{} of them", self.costs.len());
            return Err(Error::Param { owner: "calibrated".into(), name: "costs".into(), value, allowed });
        }
        let (scores, output, mut ended) = self.out_of_fold(&*learner, data, context)?;
        let weight: Vec<f64> = (0..data.n_rows()).map(|row| data.row_weight(row)).collect();
        let member = Member::train(&*learner, data, None, context.seed, context)?;
        ended.push(member.status().clone());
        let calibrators = match self.method {
            Method::Temperature => vec![temperature(&log_odds(&scores, k, output), k, codes, &weight)],
            // Of two classes one curve says it all.
            method => (usize::from(k == 2)..k)
                .map(|class| {
                    let f: Vec<f64> = confidences(&scores, k, output, class);
                    let y: Vec<bool> = codes.iter().map(|&c| c as usize == class).collect();
                    if method == Method::Sigmoid { sigmoid(&f, &y, &weight) } else { isotonic(&f, &y, &weight) }
                })
                .collect(),
        };
        let certificate = self.certificate(&calibrators, committee::worst_of(&ended));
        let fitted = FittedCalibration::new(member, calibrators, k, self.costs.clone(), self.estimator.to_string())?;
        Ok(Trained { fitted: Box::new(fitted), certificate })
    }
}

impl Calibrated {
    /// What models that have not seen it say about each row, and how the training of each ended.
    fn out_of_fold(
        &self,
        learner: &dyn Learner,
        data: &Dataset,
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, Output, Vec<Status>)> {
        let splits = match context.folds {
            Some(folds) => Splits::of_folds(data, folds)?,
            None if data.n_rows() < 2 => return Err(Error::data("one sample is too few to calibrate on")),
            None => Splits::k_fold(data, self.cv.min(data.n_rows()), context.seed)?,
        };
        let n_folds = splits.len();
        report(context.observer, Event::Begin { what: "calibrating", total: Some(n_folds as u64 + 1) })?;
        let (mut all, mut output, mut ended) = (Vec::new(), Output::Probabilities, Vec::new());
        for index in 0..splits.len() {
            let (train, test) = splits.split(index);
            let member = Member::train(learner, &data.select(&train)?, None, context.seed, context)?;
            output = member.output();
            ended.push(member.status().clone());
            let said = member.predict(&data.features().select(&test)?)?;
            let width = said.len() / test.len().max(1);
            all.resize(data.n_rows() * width, 0.0);
            for (&row, said) in test.iter().zip(said.chunks(width.max(1))) {
                all[row as usize * width..][..width].copy_from_slice(said);
            }
            report(context.observer, Event::Step { done: index as u64 + 1, score: None })?;
        }
        report(context.observer, Event::End)?;
        if output == Output::Values {
            let need = format!("{}, which doesn't learn classes", self.estimator.name);
            return Err(Error::Unsupported { learner: "calibrated".into(), need });
        }
        Ok((all, output, ended))
    }

    fn certificate(&self, calibrators: &[Calibrator], status: Status) -> Certificate {
        let over = match self.method {
            Method::Sigmoid => "all sigmoids of the score",
            Method::Isotonic => "all curves that don't fall",
            Method::Temperature => "all temperatures",
        };
        let objective = match self.method {
            Method::Isotonic => "squared error of the calibrated probabilities, on rows not learned from",
            _ => "log loss of the calibrated probabilities, on rows not learned from",
        };
        let value = calibrators.iter().map(|c| c.loss).sum::<f64>();
        Certificate {
            objective: objective.into(),
            value: Some(value),
            status,
            proofs: vec![Proof::Optimal { over: over.into() }],
            notes: vec![format!("{} cross-validated in {} folds, then trained on all rows", self.estimator, self.cv)],
        }
    }
}
