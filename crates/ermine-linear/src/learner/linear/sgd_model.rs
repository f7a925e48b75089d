//! The fitted model of stochastic gradient descent: a linear model, and the state from which training continues.

use super::fitted::LinearModel;
use super::prepare::{PreparedData, Scaling};
use super::sgd::{StochasticGradientDescent, stream_problems};
use crate::optim::sgd::SgdState;
use ermine_core::error::{Error, Result};
use ermine_core::learner::{Context, Learner, LearnerInfo, Trained, fit};
use ermine_core::matrix::{Dataset, DesignOptions, Features, Schema, Target};
use ermine_core::model::{Attribute, Certificate, Fitted, Header, Model, Output};
use ermine_core::param::{ParamSpec, Parameters, Value};
use ermine_core::section::Sections;

/// A linear model and the state of each problem.
#[derive(Debug, Clone, PartialEq)]
pub struct SgdModel {
    pub(super) linear: LinearModel,
    pub(super) states: Vec<SgdState>,
    scaling: Vec<(f64, f64)>,
}

impl SgdModel {
    pub(super) fn new(linear: LinearModel, states: Vec<SgdState>, scaling: Option<Scaling>) -> SgdModel {
        SgdModel { linear, states, scaling: scaling.map(|s| s.pairs().to_vec()).unwrap_or_default() }
    }

    pub(super) fn scaling(&self) -> Option<Scaling> {
        (!self.scaling.is_empty()).then(|| Scaling::from_pairs(self.scaling.clone()))
    }

    /// The linear model.
    pub fn linear(&self) -> &LinearModel {
        &self.linear
    }

    /// Loads the model from a file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let linear = LinearModel::read(sections, header)?;
        let p = linear.names.len();
        let numbers = sections.f64s("states")?;
        let states: Option<Vec<SgdState>> =
            numbers.chunks(7 + 3 * p).map(|part| SgdState::from_numbers(part, p)).collect();
        let pairs = sections.f64s("scaling")?;
        let scaling: Vec<(f64, f64)> = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        match states {
            Some(states) if states.len() == linear.intercepts.len() && (scaling.is_empty() || scaling.len() == p) => {
                Ok(Box::new(SgdModel { linear, states, scaling }))
            }
            _ => Err(Error::model_file("the state of stochastic gradient descent does not match the coefficients")),
        }
    }
}

impl Fitted for SgdModel {
    fn output(&self) -> Output {
        self.linear.output()
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        self.linear.predict(features)
    }

    fn margins(&self, features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        self.linear.margins(features)
    }

    fn parameters(&self) -> Vec<&[f64]> {
        self.linear.parameters()
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        self.linear.save(sections)?;
        sections.put_f64s("states", &self.states.iter().flat_map(SgdState::to_numbers).collect::<Vec<_>>());
        sections.put_f64s("scaling", &self.scaling.iter().flat_map(|(a, b)| [*a, *b]).collect::<Vec<_>>());
        Ok(())
    }

    fn text(&self, schema: &Schema) -> String {
        self.linear.text(schema)
    }

    fn svg(&self, schema: &Schema) -> Option<String> {
        self.linear.svg(schema)
    }

    fn html(&self, schema: &Schema) -> Option<String> {
        self.linear.html(schema)
    }

    fn explain_row(&self, schema: &Schema, features: &Features, row: usize) -> Option<String> {
        self.linear.explain_row(schema, features, row)
    }

    fn attributes(&self, schema: &Schema) -> Vec<Attribute> {
        self.linear.attributes(schema)
    }
}

/// Stochastic gradient descent over batches of rows: one pass over each batch.
pub struct SgdStream<'a> {
    /// The parameters.
    pub params: StochasticGradientDescent,
    /// The model of the earlier batches; `None` for the first.
    pub from: Option<&'a Model>,
}

impl SgdStream<'_> {
    /// Trains on the next batch. The target of the first batch must name all classes, whether or not they occur in it.
    pub fn fit(&self, data: &Dataset, context: &Context<'_>) -> Result<Model> {
        match self.from {
            None => fit(self, data, context),
            Some(before) => {
                let mut model = fit(self, &aligned(data, before.schema())?, context)?;
                model.parts_mut()?.0.n_rows += before.header().n_rows;
                Ok(model)
            }
        }
    }
}

/// Only the rows of the last batch are available, so the certificate is about them.
pub(super) fn of_last_batch(certificate: Certificate, n_rows: usize, before: Option<&Model>) -> Certificate {
    let n_before = before.map_or(0, |model| model.header().n_rows);
    let objective = format!("{}, over the {n_rows} rows of the last batch only", certificate.objective);
    let mut notes = certificate.notes;
    notes.push(format!(
        "trained on {} rows in batches; the certificate does not cover the {n_before} rows before the last batch",
        n_before + n_rows
    ));
    Certificate { objective, notes, ..certificate }
}

/// The data with the features and classes of a schema.
pub(super) fn aligned(data: &Dataset, schema: &Schema) -> Result<Dataset> {
    if data.task() != schema.task {
        return Err(Error::data(format!(
            "cannot continue training: the model is for {}, but the data are for {}",
            schema.task,
            data.task()
        )));
    }
    let features = schema.features_of_data(data)?;
    let target = match data.target() {
        Target::Values { .. } => data.target().clone(),
        Target::Classes { codes, labels } => {
            let place = |label: &String| {
                let found = schema.classes.iter().position(|c| c == label);
                found
                    .map(|k| k as u32)
                    .ok_or_else(|| Error::unknown("class", label, schema.classes.iter().map(String::as_str)))
            };
            let places = labels.iter().map(place).collect::<Result<Vec<u32>>>()?;
            Target::Classes {
                codes: codes.iter().map(|&c| places[c as usize]).collect(),
                labels: schema.classes.iter().cloned().collect(),
            }
        }
    };
    let fresh = Dataset::from_parts(features, target, data.task())?;
    fresh.named(schema.target.clone()).with_weight(data.weight().map(<[f64]>::to_vec))
}

impl Parameters for SgdStream<'_> {
    fn owner(&self) -> &'static str {
        self.params.owner()
    }
    fn specs(&self) -> Vec<ParamSpec> {
        self.params.specs()
    }
    fn get(&self, name: &str) -> Option<Value> {
        self.params.get(name)
    }
    fn put(&mut self, name: &str, value: &Value) -> bool {
        self.params.put(name, value)
    }
    fn fits(&self, name: &str, value: &Value) -> bool {
        self.params.fits(name, value)
    }
}

impl Learner for SgdStream<'_> {
    fn info(&self) -> &'static LearnerInfo {
        self.params.info()
    }

    fn train(&self, data: &Dataset, context: &Context<'_>) -> Result<Trained> {
        let once = StochasticGradientDescent {
            max_iter: 1,
            tol: None,
            early_stopping: false,
            // The first few rows are not enough to estimate the scale of a column.
            standardize: Some(self.params.standardize.unwrap_or(false)),
            ..self.params.clone()
        };
        let before = self.from.map(|model| {
            model.fitted::<SgdModel>().ok_or_else(|| {
                Error::data(format!(
                    "cannot continue training: the model is of learner {}, not sgd",
                    model.header().learner
                ))
            })
        });
        let before = before.transpose()?;
        let problems = stream_problems(data)?;
        let prepared = match before {
            None => {
                let options = DesignOptions { degree: 1, interaction_only: false, references: false };
                PreparedData::new(data, options, &once.class_weight)?
            }
            Some(model) => PreparedData::with_map(data, model.linear.map.clone(), &once.class_weight)?,
        };
        if before.is_some_and(|model| model.states.len() != problems.0.len()) {
            return Err(Error::data("cannot continue training: the number of targets differs from the model's"));
        }
        let trained = once.learn(data, prepared, problems, before, context)?;
        Ok(Trained { certificate: of_last_batch(trained.certificate, data.n_rows(), self.from), ..trained })
    }
}
