//! Fitted models: what every model can do, whatever learner made it.
//!
//! | file | what it holds |
//! |---|---|
//! | [`attribute`] | the numbers of a model that users look at, with their documentation |
//! | [`certificate`] | what was minimised and what is proven about it |
//! | [`ensemble`] | what models made of many parts can tell: stages, leaves, quantiles, trees |
//! | [`prediction`] | what a model says about rows |
//! | [`predictor`] | a handle for predicting one row, again and again |
//! | [`mod@file`] | the model file |
//!
//! A [`Model`] is a [`Header`] (learner, parameters, schema, certificate), which is the same for all, and a [`Fitted`] part, which each
//! learner brings along.

pub mod attribute;
pub mod certificate;
pub mod ensemble;
pub mod file;
pub mod importance;
mod picture;
pub mod prediction;
pub mod predictor;
mod reasons;
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
    /// What a program wants to find again when it reads its model back (Python: the type of the labels), under the
    /// name of the program. Learning and predicting don't look at it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, serde_json::Value>,
}

/// The part of a model that its learner brings along.
pub trait Fitted: Any + Send + Sync {
    /// What the numbers of [`predict`](Self::predict) are.
    fn output(&self) -> Output;

    /// The numbers for each row, row by row: [`Output::width`] of them each. The features are in the form of the schema.
    fn predict(&self, features: &Features) -> Result<Vec<f64>>;

    /// Whether what it says about a row depends on the other rows of its query. Then [`predict`](Self::predict) takes all rows as one query.
    fn is_relative(&self) -> bool {
        false
    }

    /// The numbers for each row, given the number of the query that it belongs to.
    fn predict_queries(&self, features: &Features, _queries: &[u32]) -> Result<Vec<f64>> {
        self.predict(features)
    }

    /// The numbers that probabilities are made of (log odds, or one score for each class), and how many there are for each row, where the
    /// model has such.
    fn margins(&self, _features: &Features) -> Result<Option<(Vec<f64>, usize)>> {
        Ok(None)
    }

    /// Whether categories are read by their text, so that new ones stay as they are and don't count as missing.
    fn reads_text(&self) -> bool {
        false
    }

    /// The numbers that predictions are computed from, all of which must be finite; [`fit`](crate::learner::fit()) refuses a model in which they are not.
    fn parameters(&self) -> Vec<&[f64]> {
        Vec::new()
    }

    /// Writes everything that [`predict`](Self::predict) needs.
    fn save(&self, sections: &mut Sections) -> Result<()>;

    /// The model for people, as text.
    fn text(&self, schema: &Schema) -> String;

    /// The model for people, as an SVG picture, where there is one.
    fn svg(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// The model for people, as a page of HTML, where there is one.
    fn html(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// The model in the language of Graphviz, where it is a graph.
    fn dot(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// The model as if-then rules, where it can be said in rules.
    fn rules(&self, _schema: &Schema) -> Option<String> {
        None
    }

    /// The path of cost-complexity pruning: from which alpha on, what the leaves' impurities add up to, and how many leaves there are. `None` where nothing is pruned.
    fn pruning_path(&self) -> Option<Vec<(f64, f64, usize)>> {
        None
    }

    /// Why a row gets its prediction, where the model can say it.
    fn reasons(&self, _schema: &Schema, _features: &Features, _row: usize) -> Option<String> {
        None
    }

    /// The stages that it is made of, where it is made in stages.
    fn staged(&self) -> Option<&dyn Staged> {
        None
    }

    /// How many models it is made of; 0 where it isn't made of models.
    fn n_parts(&self) -> usize {
        0
    }

    /// One of the models that it is made of, as in a file of its own. Parameters that are not named have their defaults.
    fn part(&self, _part: usize, header: &Header) -> Result<(Header, Sections)> {
        Err(Error::Unsupported { learner: header.learner.clone(), need: "being made of other models".into() })
    }

    /// It as a sum of trees, where it is one.
    fn tree_ensemble(&self) -> Option<Box<dyn TreeEnsemble>> {
        None
    }

    /// Quantiles of the target for each row, one for each level, where it keeps what they follow from.
    fn quantiles(&self, _features: &Features, _levels: &[f64]) -> Option<Result<Vec<f64>>> {
        None
    }

    /// The levels of the quantiles that it was trained for; none where it was trained for something else.
    fn quantile_levels(&self) -> &[f64] {
        &[]
    }

    /// The logarithm of the density of the features at each row, where the model is one of densities.
    fn log_density(&self, _features: &Features) -> Option<Vec<f64>> {
        None
    }

    /// The numbers in it that users look at: coefficients, importances, how many iterations it took.
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
    /// Puts a model together. The registry and the shared `fit` do this.
    #[doc(hidden)]
    pub fn new(header: Header, fitted: Box<dyn Fitted>, registry: Registry) -> Model {
        Model { header, fitted: fitted.into(), registry }
    }

    /// The learners that were known when it was trained or read.
    #[doc(hidden)]
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// The learner's own part of the model.
    #[doc(hidden)]
    pub fn into_fitted(self) -> Arc<dyn Fitted> {
        self.fitted
    }

    /// Header and fitted part, for learners whose models take in more rows. An error while a [`Predictor`] shares the fitted part.
    #[doc(hidden)]
    pub fn parts_mut(&mut self) -> Result<(&mut Header, &mut dyn Fitted)> {
        let shared =
            || Error::data("the model cannot be changed while a predictor of it is in use; drop the predictor first");
        let fitted = Arc::get_mut(&mut self.fitted).ok_or_else(shared)?;
        Ok((&mut self.header, fitted))
    }

    /// The learner's own part of the model, whatever it is.
    #[doc(hidden)]
    pub fn own(&self) -> &dyn Fitted {
        &*self.fitted
    }

    /// Learner, parameters, schema, certificate.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Leaves a note in the header for the program of that name.
    pub fn set_note(&mut self, program: &str, note: serde_json::Value) {
        self.header.notes.insert(program.to_string(), note);
    }

    /// What the numbers that it predicts mean.
    pub fn output(&self) -> Output {
        self.fitted.output()
    }

    /// The numbers in it that users look at.
    pub fn attributes(&self) -> Vec<Attribute> {
        self.fitted.attributes(&self.header.schema)
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

    /// Whether what it says about a row depends on the other rows of its query.
    pub fn is_relative(&self) -> bool {
        self.fitted.is_relative()
    }

    /// Predicts for each row of a table. Columns are found by name; a category that training didn't have is treated as missing. A model to which the other rows of a
    /// query matter needs the column that names the query, if it was trained with one.
    pub fn predict(&self, table: &Table) -> Result<Prediction> {
        let queries = if self.is_relative() { self.header.schema.queries_of(table)? } else { None };
        self.predict_features(&self.header.schema.features_of(table)?, queries.as_deref())
    }

    /// Predicts for each row of columns that stand in the order of the schema, whatever they are called. `queries` says which query each row belongs to; all
    /// are one where it is `None`.
    pub fn predict_columns(&self, columns: Vec<Column>, queries: Option<&[u32]>) -> Result<Prediction> {
        self.predict_features(&self.header.schema.features_in_order(columns)?, queries)
    }

    /// The margins of each row of columns that stand in the order of the schema: what probabilities are made of, where the model has such.
    pub fn margins_columns(&self, columns: Vec<Column>) -> Result<Option<(Vec<f64>, usize)>> {
        self.fitted.margins(&self.header.schema.features_in_order(columns)?)
    }

    /// Predicts for each row of a data set, whose target is not looked at.
    pub fn predict_data(&self, data: &Dataset) -> Result<Prediction> {
        if let Some(name) = self.header.schema.group.as_ref().filter(|_| self.is_relative() && data.group().is_none()) {
            return Err(Error::data(format!(
                "ranking needs query groups: the model compares the rows of a query, which were in column '{name}' in training"
            )));
        }
        self.predict_features(&self.header.schema.features_of_data(data)?, data.group())
    }

    fn predict_features(&self, features: &Features, queries: Option<&[u32]>) -> Result<Prediction> {
        let output = self.fitted.output();
        if let Some(queries) = queries.filter(|q| q.len() != features.n_rows()) {
            return Err(Error::data(format!("{} query groups for {} rows", queries.len(), features.n_rows())));
        }
        let values = match queries {
            Some(queries) => self.fitted.predict_queries(features, queries)?,
            None => self.fitted.predict(features)?,
        };
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
        let schema = &self.header.schema;
        self.fitted.svg(schema).or_else(|| picture::of_attributes(&self.attributes(), schema))
    }

    /// The model for people, as a page of HTML, where there is one: at least its picture, where it has one.
    pub fn html(&self) -> Option<String> {
        let schema = &self.header.schema;
        let page = |svg: String| {
            format!("<!doctype html>\n<meta charset=\"utf-8\">\n<title>{}</title>\n{svg}", self.header.learner)
        };
        self.fitted.html(schema).or_else(|| self.svg().map(page))
    }

    /// The model in the language of Graphviz, where it is a graph.
    pub fn dot(&self) -> Option<String> {
        self.fitted.dot(&self.header.schema)
    }

    /// The model as if-then rules, where it can be said in rules.
    pub fn rules(&self) -> Option<String> {
        self.fitted.rules(&self.header.schema)
    }

    /// The path of cost-complexity pruning of a tree, from the tree as it is to its root: from which alpha on, what the leaves' impurities add up to, and how many leaves there are.
    pub fn pruning_path(&self) -> Option<Vec<(f64, f64, usize)>> {
        self.fitted.pruning_path()
    }

    /// Why a row of a table gets its prediction, where the model can say it.
    pub fn reasons(&self, table: &Table, row: usize) -> Result<Option<String>> {
        if row >= table.n_rows() {
            return Err(Error::data(format!("row {row} was asked for, but there are {} rows", table.n_rows())));
        }
        Ok(self.fitted.reasons(&self.header.schema, &self.header.schema.features_of(table)?, row))
    }

    /// The same for columns in the order of the training data, whatever their names.
    pub fn reasons_of_columns(&self, columns: Vec<Column>, row: usize) -> Result<Option<String>> {
        let features = self.header.schema.features_in_order(columns)?;
        if row >= features.n_rows() {
            return Err(Error::data(format!("row {row} was asked for, but there are {} rows", features.n_rows())));
        }
        Ok(self.fitted.reasons(&self.header.schema, &features, row))
    }

    /// The learner's own part of the model as the sections of a model file.
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
