//! Permutation importance: how much the score on a test set drops when the values of one column are shuffled.
//!
//! **Idea.** Shuffling breaks the relation between the column and the target and keeps everything else. A column that the model doesn't use has importance 0.
//! Correlated columns share their importance, since the model can use the other one.
//!
//! **Cost.** A prediction for each column and repeat.
//!
//! **Reference.** Breiman, Random Forests, Machine Learning 45, 2001; Fisher, Rudin and Dominici, JMLR 20, 2019.

use crate::evaluate::in_classes_of;
use crate::evaluate::measure::Measure;
use crate::evaluate::outcome::Outcome;
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, Target};
use ermine_core::model::Model;
use ermine_core::progress::{Event, Observer, report};
use ermine_core::rng::{self, Purpose};
use serde::Serialize;

/// The importance of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Importance {
    /// The column.
    pub feature: String,
    /// Mean decrease of the score (or increase of the loss) over the repeats.
    pub loss: f64,
    /// The standard deviation over the repeats.
    pub deviation: f64,
}

/// The importance of each feature of a model on `data`, in the order of the schema. At least one repeat.
pub fn permutation_importances(
    model: &Model,
    data: &Dataset,
    measure: Measure,
    n_repeats: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<Vec<Importance>> {
    measure.check(data.task())?;
    let data = in_classes_of(model, data)?;
    let columns = model.schema().features_of_data(&data)?;
    let columns: Vec<_> =
        (0..columns.n_columns()).map(|j| columns.columns()[j].with_numbers(columns.numbers(j))).collect();
    let sign = if measure.higher_is_better() { -1.0 } else { 1.0 };
    let score = |columns: Vec<_>| -> Result<f64> {
        let prediction = model.predict_columns(columns, data.group())?;
        let prediction = match data.target() {
            Target::Classes { labels, .. } => prediction.with_more_classes(labels),
            Target::Values { .. } => prediction,
        };
        Ok(sign * Outcome::new(&prediction, &data)?.values(&[measure])[0])
    };
    let whole = score(columns.clone())?;
    report(observer, Event::Begin { what: "shuffling columns", total: Some(columns.len() as u64) })?;
    let mut importances = Vec::with_capacity(columns.len());
    for (j, column) in columns.iter().enumerate() {
        let mut losses = Vec::with_capacity(n_repeats);
        for repeat in 0..n_repeats.max(1) {
            let mut numbers = column.numbers(None);
            rng::shuffle(&mut Purpose::PermutationImportance.stream(seed, &[j as u64, repeat as u64]), &mut numbers);
            let mut shuffled = columns.clone();
            shuffled[j] = column.with_numbers(numbers);
            losses.push(score(shuffled)? - whole);
        }
        let n = losses.len() as f64;
        let loss = losses.iter().sum::<f64>() / n;
        let deviation = (losses.iter().map(|l| (l - loss).powi(2)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
        importances.push(Importance { feature: column.name.clone(), loss, deviation });
        report(observer, Event::Step { done: j as u64 + 1, score: None })?;
    }
    report(observer, Event::End)?;
    Ok(importances)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ermine_core::learner::{Context, fit};
    use ermine_core::progress::Silent;
    use ermine_core::registry::Registry;
    use ermine_core::table::Table;
    use ermine_trees::learner::decision_tree::DecisionTree;

    #[test]
    fn an_unused_column_has_no_importance() {
        let rows: Vec<Vec<f64>> =
            (0..200).map(|i| vec![f64::from(i % 10), f64::from(i * 7 % 13), f64::from(i % 10 * 3)]).collect();
        let data = Table::from_rows(&["used", "noise", "y"], &rows).unwrap().dataset("y").unwrap();
        let model = fit(&DecisionTree::default(), &data, &Context::new(Registry::new(&[]))).unwrap();
        let found = permutation_importances(&model, &data, Measure::Rmse, 5, 0, &Silent).unwrap();
        assert_eq!(found[1].loss, 0.0);
        // Shuffled against itself, the squared error is twice the variance of the target.
        let variance = 9.0 * 8.25;
        assert!((found[0].loss - (2.0f64 * variance).sqrt()).abs() < 2.0, "{found:?}");
    }
}
