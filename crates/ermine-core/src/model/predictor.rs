//! A handle for predicting one row, again and again.
//!
//! A service that answers one request after the other pays for what surrounds a prediction more than for the prediction. A [`Predictor`] has done all of that before: the trees are laid out for one row
//! ([`RowScorer`]), and a call allocates nothing, takes no lock and looks nothing up. It gives the same bits as [`Model::predict`].

use super::{Link, Model, RowScorer};
use crate::error::{Error, Result};
use std::sync::Arc;

/// Predicts one row at a time; for models that are sums of trees.
#[derive(Debug, Clone)]
pub struct Predictor {
    trees: Arc<dyn RowScorer>,
    link: Link,
    n_features: usize,
    width: usize,
    /// Nominal columns, with how many categories they have.
    categories: Vec<(usize, f64)>,
}

/// Scores on the stack.
const FEW: usize = 32;

impl Predictor {
    /// How many values a row has.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// How many numbers are predicted.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Predicts for a row: its values in the order of the schema, a category as its code there, NaN for a missing one. What is no code of the column's (-1, one too high, a fraction) is an unknown
    /// category, and missing as in [`Model::predict`].
    pub fn predict(&self, row: &[f64], out: &mut [f64]) -> Result<()> {
        if row.len() != self.n_features || out.len() != self.width {
            let (n, d, k) = (row.len(), self.n_features, self.width);
            return Err(Error::data(format!(
                "{n} values and room for {} numbers, where there are {d} and {k}",
                out.len()
            )));
        }
        if self.categories.iter().any(|&(column, n_levels)| !is_code(row[column], n_levels) && !row[column].is_nan()) {
            let mut known = row.to_vec();
            for &(column, n_levels) in &self.categories {
                known[column] = if is_code(row[column], n_levels) { row[column] } else { f64::NAN };
            }
            self.predict_known(&known, out);
        } else {
            self.predict_known(row, out);
        }
        Ok(())
    }

    fn predict_known(&self, row: &[f64], out: &mut [f64]) {
        let n = self.trees.n_outputs();
        if self.link == Link::Identity {
            self.trees.score(row, out);
        } else if n <= FEW {
            let mut scores = [0.0; FEW];
            self.trees.score(row, &mut scores[..n]);
            self.link.of_row(&scores[..n], out);
        } else {
            let mut scores = vec![0.0; n];
            self.trees.score(row, &mut scores);
            self.link.of_row(&scores, out);
        }
    }
}

/// Whether a number is the code of one of so many categories.
fn is_code(x: f64, n_levels: f64) -> bool {
    (0.0..n_levels).contains(&x) && x.fract() == 0.0
}

impl Model {
    /// A handle for predicting one row, again and again. For models that are sums of trees: trees, forests, boosting.
    ///
    /// ```
    /// use ermine::prelude::*;
    ///
    /// let rows: Vec<Vec<f64>> = (0..50).map(|i| vec![f64::from(i), f64::from(i % 7), f64::from(i * i)]).collect();
    /// let data = Table::from_rows(&["a", "b", "y"], &rows)?.dataset("y")?;
    /// let model = GradientBoosting::default().fit(&data)?;
    /// let predictor = model.predictor()?;
    /// let mut number = [0.0];
    /// predictor.predict(&[3.0, f64::NAN], &mut number)?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn predictor(&self) -> Result<Predictor> {
        let ensemble = self.tree_ensemble()?;
        let n_features = self.header.schema.features.len();
        let link = ensemble.link();
        let trees: Arc<dyn RowScorer> = Arc::from(ensemble.row_scorer(n_features));
        let width = link.width(trees.n_outputs());
        let features = self.header.schema.features.iter().enumerate();
        let categories =
            features.filter(|(_, f)| !f.levels.is_empty()).map(|(j, f)| (j, f.levels.len() as f64)).collect();
        Ok(Predictor { trees, link, n_features, width, categories })
    }
}
