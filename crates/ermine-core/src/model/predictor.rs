//! Fast prediction of single rows.
//!
//! A service that predicts one row per request spends more time on overhead than on the prediction. A [`Predictor`] does this work once. For tree ensembles, the trees are laid out for
//! single rows ([`RowScorer`]), and a call does not allocate, lock or look anything up. For other models, a call builds a table of one row. The result has the same bits as that of
//! [`Model::predict`].

use super::{Fitted, Link, Model, Output, Prediction, RowScorer};
use crate::error::{Error, Result};
use crate::matrix::{Features, Task};
use crate::table::{Column, ColumnKind, Levels, MISSING, Table};
use std::fmt;
use std::sync::Arc;

/// Predicts one row at a time.
///
/// A row is a slice of numbers in the order of the training columns: a number as it is, a category as its code (its position in
/// [`FeatureSpec::levels`](crate::matrix::FeatureSpec::levels)), a missing value as NaN.
#[derive(Debug, Clone)]
pub struct Predictor {
    engine: Engine,
    n_features: usize,
    width: usize,
    /// Nominal columns and their numbers of categories.
    categories: Vec<(usize, f64)>,
    output: Output,
    task: Task,
    classes: Arc<[String]>,
}

#[derive(Clone)]
enum Engine {
    /// A tree ensemble, laid out for single rows.
    Trees { scorer: Arc<dyn RowScorer>, link: Link },
    /// Any other model.
    OneRowTable { fitted: Arc<dyn Fitted>, columns: Arc<[ColumnForm]> },
}

/// The name, kind and levels of a column.
struct ColumnForm {
    name: String,
    kind: ColumnKind,
    levels: Option<Arc<Levels>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Engine::Trees { scorer, link } => {
                f.debug_struct("Trees").field("scorer", scorer).field("link", link).finish()
            }
            Engine::OneRowTable { .. } => f.write_str("OneRowTable"),
        }
    }
}

/// Scores that fit on the stack.
const FEW: usize = 32;

impl Predictor {
    /// Number of values per row.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of values predicted per row: one per class, label or target, or one margin.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Predicts a row and writes [`width`](Self::width) values to `out`. A value that is not a category code of its column is an unknown category, which is treated as missing, as in
    /// [`Model::predict`].
    pub fn predict(&self, row: &[f64], out: &mut [f64]) -> Result<()> {
        if row.len() != self.n_features || out.len() != self.width {
            return Err(Error::data(format!(
                "the row has {} values and the output has room for {}; the model needs {} values and predicts {}",
                row.len(),
                out.len(),
                self.n_features,
                self.width
            )));
        }
        if self.categories.iter().any(|&(column, n_levels)| !is_code(row[column], n_levels) && !row[column].is_nan()) {
            let mut known = row.to_vec();
            for &(column, n_levels) in &self.categories {
                known[column] = if is_code(row[column], n_levels) { row[column] } else { f64::NAN };
            }
            self.predict_known(&known, out)
        } else {
            self.predict_known(row, out)
        }
    }

    /// Predicts for several rows, one after the other in `rows`. The result has the same bits as that of [`Model::predict`], which is faster for many rows.
    pub fn predict_rows(&self, rows: &[f64]) -> Result<Prediction> {
        let n_rows = rows.len().checked_div(self.n_features).unwrap_or(0);
        if rows.len() != n_rows * self.n_features {
            let (n, width) = (rows.len(), self.n_features);
            return Err(Error::data(format!("{n} values are no whole number of rows of {width} values")));
        }
        let mut values = vec![0.0; n_rows * self.width];
        for (row, out) in rows.chunks_exact(self.n_features.max(1)).zip(values.chunks_exact_mut(self.width.max(1))) {
            self.predict(row, out)?;
        }
        Ok(Prediction::of_parts(self.output, self.width, values, self.task, self.classes.clone()))
    }

    fn predict_known(&self, row: &[f64], out: &mut [f64]) -> Result<()> {
        match &self.engine {
            Engine::Trees { scorer, link } => predict_trees(&**scorer, *link, row, out),
            Engine::OneRowTable { fitted, columns } => {
                let columns = columns.iter().zip(row).map(|(form, &x)| form.column(x)).collect();
                let values = fitted.predict(&Features::new(Arc::new(Table::of_columns(columns, 1))))?;
                if values.len() != out.len() {
                    let (n, expected) = (values.len(), out.len());
                    return Err(Error::data(format!("the model predicted {n} values; expected {expected}")));
                }
                out.copy_from_slice(&values);
            }
        }
        Ok(())
    }
}

fn predict_trees(trees: &dyn RowScorer, link: Link, row: &[f64], out: &mut [f64]) {
    let n = trees.n_outputs();
    if link == Link::Identity {
        trees.score(row, out);
    } else if n <= FEW {
        let mut scores = [0.0; FEW];
        trees.score(row, &mut scores[..n]);
        link.of_row(&scores[..n], out);
    } else {
        let mut scores = vec![0.0; n];
        trees.score(row, &mut scores);
        link.of_row(&scores, out);
    }
}

impl ColumnForm {
    /// A column of one value.
    fn column(&self, x: f64) -> Column {
        match &self.levels {
            None => Column::numeric(self.name.clone(), vec![x]),
            Some(levels) => {
                let code = if x.is_nan() { MISSING } else { x as u32 };
                Column::coded(self.name.clone(), self.kind, vec![code], levels.clone())
            }
        }
    }
}

/// Whether a number is a valid category code.
fn is_code(x: f64, n_levels: f64) -> bool {
    (0.0..n_levels).contains(&x) && x.fract() == 0.0
}

impl Model {
    /// A handle for predicting single rows.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the prediction for a row depends on the other rows of its query ([`is_relative`](Model::is_relative)), or if the model reads text, which a row of
    /// numbers cannot hold. Use [`predict`](Model::predict) for these.
    pub fn predictor(&self) -> Result<Predictor> {
        if self.fitted.tree_ensemble().is_some() {
            return self.tree_predictor();
        }
        let unsupported = |need: String| Err(Error::Unsupported { learner: self.header.learner.clone(), need });
        if self.is_relative() {
            return unsupported("single rows: its predictions compare all rows of a query".into());
        }
        let features = &self.header.schema.features;
        if let Some(feature) = features.iter().find(|feature| feature.open) {
            return unsupported(format!("rows of numbers: it reads the text of column '{}'", feature.name));
        }
        let form = |feature: &crate::matrix::FeatureSpec| ColumnForm {
            name: feature.name.clone(),
            kind: feature.kind,
            levels: (feature.kind != ColumnKind::Numeric)
                .then(|| Arc::new(Levels::new(feature.levels.iter().cloned()))),
        };
        let columns = features.iter().map(form).collect();
        let width = self.output().width(&self.header.schema);
        Ok(self.predictor_of(Engine::OneRowTable { fitted: self.fitted.clone(), columns }, width))
    }

    /// The same, only for tree ensembles.
    #[doc(hidden)]
    pub fn tree_predictor(&self) -> Result<Predictor> {
        let ensemble = self.tree_ensemble()?;
        let link = ensemble.link();
        let scorer: Arc<dyn RowScorer> = Arc::from(ensemble.row_scorer(self.header.schema.features.len()));
        let width = link.width(scorer.n_outputs());
        Ok(self.predictor_of(Engine::Trees { scorer, link }, width))
    }

    fn predictor_of(&self, engine: Engine, width: usize) -> Predictor {
        let features = &self.header.schema.features;
        let nominal = features.iter().enumerate().filter(|(_, feature)| feature.kind != ColumnKind::Numeric);
        let categories = nominal.map(|(column, feature)| (column, feature.levels.len() as f64)).collect();
        let (output, task) = (self.output(), self.header.schema.task);
        let classes = self.header.schema.classes.iter().cloned().collect();
        Predictor { engine, n_features: features.len(), width, categories, output, task, classes }
    }
}
