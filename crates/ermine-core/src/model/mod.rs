//! Fitted models.
//!
//! | file | what it holds |
//! |---|---|
//! | [`attribute`] | public attributes of models, with their documentation |
//! | [`certificate`] | what was minimized and what is proven about it |
//! | [`ensemble`] | ensembles: stages, leaves, quantiles, trees |
//! | [`prediction`] | predictions |
//! | [`predictor`] | fast prediction of single rows |
//! | [`mod@file`] | the model file |
//!
//! A [`Model`] is a [`Header`] (learner, parameters, schema, certificate), which is the same for all models, and a [`Fitted`] part, which depends on the learner.

pub mod attribute;
pub mod certificate;
pub mod ensemble;
mod explain_row;
pub mod file;
pub mod importance;
mod picture;
pub mod prediction;
pub mod predictor;

pub mod shap;

pub use crate::loss::Link;
pub use attribute::{Attribute, AttributeKind};
pub use certificate::{Certificate, Proof, Status};
pub use ensemble::{RowScorer, Staged, Stages, TreeEnsemble};
pub use importance::ImportanceKind;
pub use prediction::{Output, Prediction};
pub use predictor::Predictor;
pub use shap::ShapValues;

use crate::error::{Error, Result};
use crate::matrix::{Dataset, Features, Schema};
use crate::param::Value;
use crate::registry::Registry;
use crate::section::Sections;
use crate::table::{Column, Table};
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The common part of all models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The name of the learner in the registry.
    pub learner: String,
    /// The learner's parameters.
    pub params: BTreeMap<String, Value>,
    /// The seed it was trained with.
    pub seed: u64,
    /// Number of training rows.
    pub n_rows: usize,
    /// The expected columns and the target.
    pub schema: Schema,
    /// What was minimized and what is proven about it.
    pub certificate: Certificate,
    /// Application data, by the name of the application (Python: the type of the labels). Not used in training or prediction.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, serde_json::Value>,
}

/// The part of a model that depends on the learner.
pub trait Fitted: Any + Send + Sync {
    /// The meaning of the predicted values.
    fn output(&self) -> Output;

    /// Predicted values, row by row, [`Output::width`] per row. The features are in the form of the schema.
    fn predict(&self, features: &Features) -> Result<Vec<f64>>;

    /// Whether the prediction for a row depends on the other rows of its query. If so, [`predict`](Self::predict) treats all rows as one query.
    fn is_relative(&self) -> bool {
        false
    }

    /// Predicted values, given the query of each row.
    fn predict_queries(&self, features: &Features, _queries: &[u32]) -> Result<Vec<f64>> {
        self.predict(features)
    }

    /// Raw scores before the link (log odds, or one score per class), and their number per row, if the model has them.
    fn margins(&self, _features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        Ok(None)
    }

    /// Whether categories are used by their text, so that new categories are not treated as missing.
    fn reads_text(&self) -> bool {
        false
    }

    /// The parameters of the model, which must be finite; [`fit`](crate::learner::fit()) rejects other models.
    fn parameters(&self) -> Vec<&[f64]> {
        Vec::new()
    }

    /// Saves everything that [`predict`](Self::predict) needs.
    fn save(&self, sections: &mut Sections) -> Result<()>;

    /// A description of the model as text.
    fn text(&self, schema: &Schema) -> String;

    /// A drawing of the model as SVG, if there is one.
    fn svg(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// A drawing of the model as an HTML page, if there is one.
    fn html(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// The model in Graphviz DOT format, if it is a graph.
    fn dot(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// The model as if-then rules, if it has that form.
    fn rules(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// The cost-complexity pruning path: alphas, total leaf impurities and numbers of leaves. `None` if the model has none.
    fn pruning_path(&self) -> Option<Vec<(f64, f64, usize)>> {
        None
    }

    /// Explains the prediction of a row, if the model supports it.
    fn explain_row(&self, _schema: &Schema, _features: &Features, _row: usize) -> Option<String> {
        None
    }

    /// Staged predictions, if the model is trained in stages.
    fn staged(&self) -> Option<&dyn Staged> {
        None
    }

    /// Number of member models; 0 if the model is not an ensemble.
    fn n_parts(&self) -> usize {
        0
    }

    /// A member model, as in its own file. Parameters that are not given have their defaults.
    fn part(&self, _part: usize, header: &Header) -> Result<(Header, Sections)> {
        Err(Error::Unsupported {
            learner: header.learner.clone(),
            need: "access to its members: it is not made of other models".into(),
        })
    }

    /// The node where each row ends, of a single tree. A row that missing values divide among several ends in the one that gets the largest share of it.
    fn leaves(&self, _features: &Features) -> Option<Vec<u32>> {
        None
    }

    /// The model as a sum of trees, if it is one.
    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        None
    }

    /// Predictions if the scores of the rows start from these initial scores, row by row; `None` if the model can't start from scores.
    fn predict_from(&self, _features: &Features, _init_scores: &[f64]) -> Option<Result<Vec<f64>>> {
        None
    }

    /// Quantiles of the target for each row, one per level, if the model supports them.
    fn quantiles(&self, _features: &Features, _levels: &[f64]) -> Option<Result<Vec<f64>>> {
        None
    }

    /// The quantile levels that the model was trained for; empty for other models.
    fn quantile_levels(&self) -> &[f64] {
        &[]
    }

    /// The log density of the features of each row, for density models.
    fn log_density(&self, _features: &Features) -> Option<Vec<f64>> {
        None
    }

    /// Public attributes: coefficients, importances, number of iterations.
    fn attributes(&self, _schema: &Schema) -> Vec<Attribute> {
        Vec::new()
    }
}

/// A fitted model.
pub struct Model {
    header: Header,
    /// Shared with the [predictors](Predictor) of the model.
    fitted: Arc<dyn Fitted>,
    registry: Registry,
}

impl Model {
    /// Creates a model; used by the registry and by `fit`.
    #[doc(hidden)]
    pub fn new(header: Header, fitted: Box<dyn Fitted>, registry: Registry) -> Model {
        Model { header, fitted: fitted.into(), registry }
    }

    /// The learners that were available when the model was trained or loaded.
    #[doc(hidden)]
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// The fitted part.
    #[doc(hidden)]
    pub fn into_fitted(self) -> Arc<dyn Fitted> {
        self.fitted
    }

    /// Header and fitted part, for models that can be updated. An error while a [`Predictor`] shares the fitted part.
    #[doc(hidden)]
    pub fn parts_mut(&mut self) -> Result<(&mut Header, &mut dyn Fitted)> {
        let shared = || Error::data("the model cannot be changed while a predictor uses it; drop the predictor first");
        let fitted = Arc::get_mut(&mut self.fitted).ok_or_else(shared)?;
        Ok((&mut self.header, fitted))
    }

    /// The fitted part.
    #[doc(hidden)]
    pub fn own(&self) -> &dyn Fitted {
        &*self.fitted
    }

    /// Learner, parameters, schema, certificate.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Stores application data in the header.
    pub fn set_note(&mut self, program: &str, note: serde_json::Value) {
        self.header.notes.insert(program.to_string(), note);
    }

    /// The meaning of the predicted values.
    pub fn output(&self) -> Output {
        self.fitted.output()
    }

    /// Public attributes.
    pub fn attributes(&self) -> Vec<Attribute> {
        self.fitted.attributes(&self.header.schema)
    }

    /// The expected columns and the target.
    pub fn schema(&self) -> &Schema {
        &self.header.schema
    }

    /// What was minimized and what is proven about it.
    pub fn certificate(&self) -> &Certificate {
        &self.header.certificate
    }

    /// The fitted part, if it has type `T`.
    pub fn fitted<T: Fitted>(&self) -> Option<&T> {
        (self.fitted.as_ref() as &dyn Any).downcast_ref()
    }

    /// Whether the prediction for a row depends on the other rows of its query.
    pub fn is_relative(&self) -> bool {
        self.fitted.is_relative()
    }

    /// Predicts all rows of a table. Columns are found by name; unknown categories are treated as missing. A model that compares the rows of a query needs the query group column that it was
    /// trained with.
    pub fn predict(&self, table: &Table) -> Result<Prediction> {
        let queries = if self.is_relative() { self.header.schema.queries_of(table)? } else { None };
        self.predict_features(&self.header.schema.features_of(table)?, queries.as_deref())
    }

    /// Predicts all rows of columns in the order of the schema, whatever their names. `queries` is the query of each row; all rows are one query if it is `None`.
    pub fn predict_columns(&self, columns: Vec<Column>, queries: Option<&[u32]>) -> Result<Prediction> {
        self.predict_features(&self.header.schema.features_in_order(columns)?, queries)
    }

    /// Raw scores of columns in the order of the schema, if the model has them.
    pub fn margins_columns(&self, columns: Vec<Column>) -> Result<Option<(Vec<f64>, usize)>> {
        self.fitted.margins(&self.header.schema.features_in_order(columns)?)
    }

    /// Predicts all rows of a data set; its target is ignored.
    pub fn predict_data(&self, data: &Dataset) -> Result<Prediction> {
        if let Some(name) = self.header.schema.group.as_ref().filter(|_| self.is_relative() && data.group().is_none()) {
            return Err(Error::data(format!(
                "ranking needs query groups: the model compares the rows of a query, which were in column '{name}' in training"
            )));
        }
        self.predict_features(&self.header.schema.features_of_data(data)?, data.group())
    }

    /// Predicts all rows of a data set. The scores of a model that was trained with initial scores start from those of the data set, if it has any.
    pub fn predict_from_init_scores(&self, data: &Dataset) -> Result<Prediction> {
        let init_scores = data.init_score().filter(|_| self.header.schema.init_score);
        let Some(init_scores) = init_scores else { return self.predict_data(data) };
        let features = self.header.schema.features_of_data(data)?;
        match self.fitted.predict_from(&features, init_scores) {
            Some(values) => self.prediction(values?, features.n_rows()),
            None => self.predict_data(data),
        }
    }

    fn predict_features(&self, features: &Features, queries: Option<&[u32]>) -> Result<Prediction> {
        if let Some(queries) = queries.filter(|q| q.len() != features.n_rows()) {
            return Err(Error::data(format!("{} query groups for {} rows", queries.len(), features.n_rows())));
        }
        let values = match queries {
            Some(queries) => self.fitted.predict_queries(features, queries)?,
            None => self.fitted.predict(features)?,
        };
        self.prediction(values, features.n_rows())
    }

    /// The values as a prediction, if there are enough for the rows.
    fn prediction(&self, values: Vec<f64>, n_rows: usize) -> Result<Prediction> {
        let output = self.fitted.output();
        let expected = n_rows * output.width(&self.header.schema);
        if values.len() != expected {
            let learner = &self.header.learner;
            return Err(Error::data(format!("{learner} gave {} numbers where {expected} were expected", values.len())));
        }
        Ok(Prediction::new(output, values, &self.header.schema))
    }

    /// A description of the model as text: training data, parameters, structure.
    pub fn text(&self) -> String {
        self.fitted.text(&self.header.schema)
    }

    /// A drawing of the model as SVG, if there is one.
    pub fn svg(&self) -> Option<String> {
        let schema = &self.header.schema;
        self.fitted.svg(schema).or_else(|| picture::of_attributes(&self.attributes(), schema))
    }

    /// A drawing of the model as an HTML page, if there is one.
    pub fn html(&self) -> Option<String> {
        let schema = &self.header.schema;
        let page = |svg: String| {
            format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>{}</title>\n{svg}", self.header.learner)
        };
        self.fitted.html(schema).or_else(|| self.svg().map(page))
    }

    /// The model in Graphviz DOT format, if it is a graph.
    pub fn dot(&self) -> Option<String> {
        self.fitted.dot(&self.header.schema)
    }

    /// The model as if-then rules, if it has that form.
    pub fn rules(&self) -> Option<String> {
        self.fitted.rules(&self.header.schema)
    }

    /// The cost-complexity pruning path of a tree, from the full tree to its root: alphas, total leaf impurities and numbers of leaves.
    pub fn pruning_path(&self) -> Option<Vec<(f64, f64, usize)>> {
        self.fitted.pruning_path()
    }

    /// The fitted part as the sections of a model file.
    #[doc(hidden)]
    pub fn fitted_sections(&self) -> Result<Sections> {
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
