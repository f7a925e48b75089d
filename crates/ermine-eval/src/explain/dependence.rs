//! Partial dependence: the mean prediction when a column is set to a value in every row, as a function of that value; and the
//! curves of single rows (individual conditional expectation), of which it is the mean.
//!
//! ```text
//! pd_j(v) = mean_i f(x_i with x_ij = v)
//! ```
//! **Cost.** A prediction for each value and row. **References.** Friedman 2001; Goldstein et al. 2015.

use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Features};
use ermine_core::model::Model;
use ermine_core::table::Column;
use serde::Serialize;

/// The curve of one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependence {
    /// The column.
    pub feature: String,
    /// The names of the categories of a nominal column: one for each value.
    pub categories: Option<Vec<String>>,
    /// The values it was set to.
    pub values: Vec<f64>,
    /// The mean prediction at each value, for each output.
    pub means: Vec<Vec<f64>>,
    /// The predictions of some rows at each value, for the last output.
    pub rows: Vec<Vec<f64>>,
}

/// Maximum number of categories.
const MOST_CATEGORIES: usize = 30;

/// The dependence of a model on one of its columns over the rows of `data`, at up to `n_values` quantiles of the column. Curves of the first
/// `n_curves` rows are kept.
pub fn partial_dependence(
    model: &Model,
    data: &Dataset,
    feature: &str,
    n_values: usize,
    n_curves: usize,
) -> Result<Dependence> {
    let features = model.schema().features_of_data(data)?;
    dependence(model, &features, data.group(), |row| data.row_weight(row), feature, n_values, n_curves)
}

/// The same for features in the schema of the model, with the query and the weight of each row.
pub fn dependence(
    model: &Model,
    features: &Features,
    group: Option<&[u32]>,
    weight: impl Fn(usize) -> f64,
    feature: &str,
    n_values: usize,
    n_curves: usize,
) -> Result<Dependence> {
    let columns: Vec<Column> =
        (0..features.n_columns()).map(|j| features.columns()[j].with_numbers(features.numbers(j))).collect();
    let names = || columns.iter().map(|c| c.name.as_str());
    let j = names().position(|name| name == feature).ok_or_else(|| Error::unknown("column", feature, names()))?;
    let (values, categories) = places(&columns[j], n_values);
    let (n, n_curves) = (features.n_rows(), n_curves.min(features.n_rows()));
    let total: f64 = (0..n).map(&weight).sum();
    let (mut means, mut rows) = (Vec::new(), vec![Vec::new(); n_curves]);
    for &value in &values {
        let mut set = columns.clone();
        set[j] = columns[j].with_numbers(vec![value; n]);
        let prediction = model.predict_columns(set, group)?;
        let mut mean = vec![0.0; prediction.width()];
        for row in 0..n {
            let w = weight(row) / total;
            mean.iter_mut().zip(prediction.row(row)).for_each(|(m, p)| *m += w * p);
        }
        rows.iter_mut().enumerate().for_each(|(row, curve)| curve.push(prediction.row(row)[prediction.width() - 1]));
        means.push(mean);
    }
    Ok(Dependence { feature: feature.to_string(), categories, values, means, rows })
}

/// The values of the column: its categories, or distinct quantiles.
fn places(column: &Column, n_values: usize) -> (Vec<f64>, Option<Vec<String>>) {
    if let Some(levels) = column.levels() {
        let names: Vec<String> = levels.names().iter().take(MOST_CATEGORIES).cloned().collect();
        return ((0..names.len()).map(|code| code as f64).collect(), Some(names));
    }
    let mut numbers: Vec<f64> = column.numbers(None).into_iter().filter(|x| x.is_finite()).collect();
    numbers.sort_by(f64::total_cmp);
    let last = numbers.len().saturating_sub(1);
    let step = (n_values.max(2) - 1) as f64;
    let mut values: Vec<f64> = (0..n_values.max(2))
        .filter_map(|i| numbers.get((i as f64 / step * last as f64).round() as usize).copied())
        .collect();
    values.dedup();
    (values, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::learner::{Context, fit};
    use ermine_core::registry::Registry;
    use ermine_core::table::Table;
    use ermine_trees::learner::decision_tree::DecisionTree;

    #[test]
    fn dependence_is_the_mean_prediction_with_the_value_set() {
        let rows: Vec<Vec<f64>> =
            (0..60).map(|i| vec![f64::from(i % 6), f64::from(i % 5), f64::from((i % 6) * (i % 5))]).collect();
        let data = Table::from_rows(&["a", "b", "y"], &rows).unwrap().dataset("y").unwrap();
        let model = fit(&DecisionTree::default(), &data, &Context::new(Registry::new(&[]))).unwrap();
        let found = partial_dependence(&model, &data, "a", 100, 3).unwrap();
        assert_eq!(found.values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        // The tree has learned a * b, and the mean of b is 2.
        for (value, mean) in found.values.iter().zip(&found.means) {
            assert!((mean[0] - 2.0 * value).abs() < 1e-9, "{found:?}");
        }
        assert_eq!(found.rows[1], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!(partial_dependence(&model, &data, "c", 10, 0).is_err());
    }
}
