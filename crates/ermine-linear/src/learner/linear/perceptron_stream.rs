//! The online perceptron over batches of rows: one pass over each batch, starting from the weights of the batches before.
//!
//! Without shuffling, the weights do not depend on how the rows are divided into batches: they are those of one pass over all rows.

use super::fitted::{FitHistory, LinearLink, LinearModel};
use super::perceptron::{Perceptron, PerceptronForm, PerceptronKernel};
use super::prepare::PreparedData;
use super::sgd::stream_problems;
use super::sgd_model::{aligned, of_last_batch};
use crate::optim::perceptron::{self, PerceptronOptions};
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Context, IncrementalLearner, Learner, LearnerInfo, Trained, fit};
use ermine_core::linalg::Matrix;
use ermine_core::matrix::{Dataset, DesignOptions};
use ermine_core::model::{Certificate, Model, Proof, Status};
use ermine_core::param::{ParamSpec, Parameters, Value};

impl IncrementalLearner for Perceptron {
    fn fit_batch(&self, data: &Dataset, previous: Option<&Model>, context: &Context<'_>) -> Result<Model> {
        let stream = PerceptronStream { params: self, previous };
        let Some(before) = previous else { return fit(&stream, data, context) };
        let mut model = fit(&stream, &aligned(data, before.schema())?, context)?;
        model.parts_mut()?.0.n_rows += before.header().n_rows;
        Ok(model)
    }
}

/// A perceptron and the model of the batches before.
struct PerceptronStream<'a> {
    params: &'a Perceptron,
    previous: Option<&'a Model>,
}

impl PerceptronStream<'_> {
    /// An error for parameters that can't be used in batches.
    fn check(&self) -> Result<()> {
        let refused = |name: &str, value: String, allowed: &str| {
            let allowed = format!("{allowed} when training in batches");
            Err(Error::Param { owner: self.owner().into(), name: name.into(), value, allowed })
        };
        let Perceptron { form, kernel, degree, standardize, .. } = self.params;
        match (form, kernel, degree, standardize) {
            (PerceptronForm::Online, PerceptronKernel::Linear, 1, None | Some(false)) => Ok(()),
            (PerceptronForm::Batch | PerceptronForm::Averaged, ..) => refused("form", form.to_string(), "online"),
            (_, PerceptronKernel::Poly | PerceptronKernel::Rbf, ..) => refused("kernel", kernel.to_string(), "linear"),
            (.., Some(true)) => refused("standardize", "true".into(), "none or false"),
            _ => refused("degree", degree.to_string(), "1"),
        }
    }

    /// The linear model of the earlier batches.
    fn before(&self) -> Result<Option<&LinearModel>> {
        let linear = |model: &Model| {
            format!("cannot continue training: the model is of learner {}, not perceptron", model.header().learner)
        };
        self.previous.map(|model| model.fitted::<LinearModel>().ok_or_else(|| Error::data(linear(model)))).transpose()
    }
}

impl Parameters for PerceptronStream<'_> {
    fn owner(&self) -> &'static str {
        self.params.owner()
    }
    fn specs(&self) -> Vec<ParamSpec> {
        self.params.specs()
    }
    fn get(&self, name: &str) -> Option<Value> {
        self.params.get(name)
    }
    /// The parameters are those of the perceptron.
    fn put(&mut self, _: &str, _: &Value) -> bool {
        false
    }
    fn fits(&self, name: &str, value: &Value) -> bool {
        self.params.fits(name, value)
    }
}

impl Learner for PerceptronStream<'_> {
    fn info(&self) -> &'static LearnerInfo {
        self.params.info()
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        self.check()?;
        let before = self.before()?;
        let (targets, used) = stream_problems(data)?;
        let prepared = match before {
            None => {
                let options = DesignOptions { degree: 1, interaction_only: false, references: false };
                PreparedData::new(data, options, &self.params.class_weight)?
            }
            Some(model) => PreparedData::with_map(data, model.map.clone(), &self.params.class_weight)?,
        };
        if before.is_some_and(|model| model.intercepts.len() != targets.len()) {
            return Err(Error::data("cannot continue training: the number of classes differs from the model's"));
        }
        let x = prepared.design()?;
        let once = PerceptronOptions { max_passes: 1, patience: None, ..self.params.options(context) };
        let (mut coefficients, mut intercepts) = (Matrix::zeros(targets.len(), x.n_columns()), Vec::new());
        let mut mistakes = 0;
        for (k, y) in targets.iter().enumerate() {
            let start = before.map(|model| (model.coefficients.row(k), model.intercepts[k]));
            let learned = perceptron::learn_from(start, &x, y, prepared.weights(), &once)?;
            coefficients.row_mut(k).copy_from_slice(&learned.coefficients);
            intercepts.push(learned.intercept);
            mistakes += learned.mistakes.iter().sum::<u64>();
        }
        let all = mistakes + before.and_then(|model| model.course.n_mistakes).unwrap_or(0);
        let n_iter = before.and_then(|model| model.course.n_iter).unwrap_or(0) + 1;
        let course = FitHistory { n_iter: Some(n_iter), n_mistakes: Some(all), ..FitHistory::default() };
        let fitted = LinearModel::new(&prepared, None, coefficients, intercepts, course);
        let fitted = Box::new(fitted.for_classes(LinearLink::Scores, data, used)?);
        let certificate = Certificate {
            objective: "mistakes in one pass".into(),
            value: Some(mistakes as f64),
            status: Status::Done,
            proofs: vec![Proof::Nothing { because: "each row of a stream is used only once".into() }],
            notes: vec![format!("{all} mistakes in total")],
        };
        Ok(Trained { fitted, certificate: of_last_batch(certificate, data.n_rows(), self.previous) })
    }
}
