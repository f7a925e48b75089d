//! Fitted models: what every model can do, whatever learner made it.
//!
//! | file | what it holds |
//! |---|---|
//! | [`certificate`] | what was minimised and what is proven about it |
//! | [`prediction`] | what a model says about rows |
//! | [`file`] | the model file |
//!
//! A [`Model`] is a [`Header`] (learner, parameters, schema, certificate), which is the same for all, and a [`Fitted`] part, which each
//! learner brings along.

pub mod certificate;
pub mod file;
pub mod prediction;

pub use certificate::{Certificate, Proof, Status};
pub use prediction::{Output, Prediction};

use crate::error::{Error, Result};
use crate::matrix::{Dataset, Features, Schema};
use crate::param::Value;
use crate::section::Sections;
use crate::table::Table;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;

/// What every model carries, whatever learner made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The name of the learner in the registry.
    pub learner: String,
    /// The learner's parameters.
    pub params: BTreeMap<String, Value>,
    /// The seed it was trained with.
    pub seed: u64,
    /// How many rows it was trained on.
    pub n_rows: usize,
    /// What it expects and predicts.
    pub schema: Schema,
    /// What was minimised and what is proven about it.
    pub certificate: Certificate,
}

/// The part of a model that its learner brings along.
pub trait Fitted: Any + Send + Sync {
    /// What the numbers of [`predict`](Self::predict) are.
    fn output(&self) -> Output;

    /// The numbers for each row, row by row: [`Output::width`] of them each. The features are in the form of the schema.
    fn predict(&self, features: &Features) -> Result<Vec<f64>>;

    /// Writes everything that [`predict`](Self::predict) needs.
    fn save(&self, sections: &mut Sections) -> Result<()>;

    /// The model for people, as text.
    fn text(&self, schema: &Schema) -> String;

    /// The model for people, as an SVG picture, where there is one.
    fn svg(&self, _schema: &Schema) -> Option<String> {
        None
    }
}

/// A fitted model.
pub struct Model {
    header: Header,
    fitted: Box<dyn Fitted>,
}

impl Model {
    /// Puts a model together. The registry and the shared `fit` do this.
    pub(crate) fn new(header: Header, fitted: Box<dyn Fitted>) -> Model {
        Model { header, fitted }
    }

    /// The learner's own part of the model.
    pub(crate) fn into_fitted(self) -> Box<dyn Fitted> {
        self.fitted
    }

    /// Learner, parameters, schema, certificate.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What it expects and predicts.
    pub fn schema(&self) -> &Schema {
        &self.header.schema
    }

    /// What was minimised and what is proven about it.
    pub fn certificate(&self) -> &Certificate {
        &self.header.certificate
    }

    /// The learner's own part of the model, if it is a `T`.
    pub fn fitted<T: Fitted>(&self) -> Option<&T> {
        (self.fitted.as_ref() as &dyn Any).downcast_ref()
    }

    /// Predicts for each row of a table. Columns are found by name; a category that training didn't have is treated as missing.
    pub fn predict(&self, table: &Table) -> Result<Prediction> {
        self.predict_features(&self.header.schema.features_of(table)?)
    }

    /// Predicts for each row of a data set, whose target is not looked at.
    pub fn predict_data(&self, data: &Dataset) -> Result<Prediction> {
        self.predict_features(&self.header.schema.features_of_data(data)?)
    }

    fn predict_features(&self, features: &Features) -> Result<Prediction> {
        let output = self.fitted.output();
        let values = self.fitted.predict(features)?;
        let expected = features.n_rows() * output.width(&self.header.schema);
        if values.len() != expected {
            let learner = &self.header.learner;
            return Err(Error::data(format!("{learner} gave {} numbers where {expected} were expected", values.len())));
        }
        Ok(Prediction::new(output, values, &self.header.schema))
    }

    /// The model for people, as text: what it was trained on, how, and what it is.
    pub fn text(&self) -> String {
        self.fitted.text(&self.header.schema)
    }

    /// The model for people, as an SVG picture, where there is one.
    pub fn svg(&self) -> Option<String> {
        self.fitted.svg(&self.header.schema)
    }

    pub(crate) fn fitted_sections(&self) -> Result<Sections> {
        let mut sections = Sections::default();
        self.fitted.save(&mut sections)?;
        Ok(sections)
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("header", &self.header).finish_non_exhaustive()
    }
}
