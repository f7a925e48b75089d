//! Explanations of single predictions in words.
//!
//! A single tree prints its path, a linear model its terms. A tree ensemble prints the columns with the largest SHAP values, which sum to the difference between the row's score and the
//! expected score.

use crate::chart::text::number;
use crate::error::{Error, Result};
use crate::matrix::{Features, Task};
use crate::model::{Link, Model, ShapValues};
use crate::table::{Column, Table};

/// Maximum number of columns.
const SHOWN: usize = 10;

impl Model {
    /// Explains the prediction of a row of a table; `None` if the model does not support it.
    pub fn explain_row(&self, table: &Table, row: usize) -> Result<Option<String>> {
        self.explain_features(&self.schema().features_of(table)?, row)
    }

    /// The same for columns in the order of the training data, whatever their names.
    pub fn explain_row_of_columns(&self, columns: Vec<Column>, row: usize) -> Result<Option<String>> {
        self.explain_features(&self.schema().features_in_order(columns)?, row)
    }

    fn explain_features(&self, features: &Features, row: usize) -> Result<Option<String>> {
        let n = features.n_rows();
        if row >= n {
            return Err(Error::data(format!("row {row} is out of range (there are {n} rows)")));
        }
        if let Some(reasons) = self.own().explain_row(self.schema(), features, row) {
            return Ok(Some(reasons));
        }
        if self.tree_ensemble().is_err() {
            return Ok(None);
        }
        self.in_shares(&features.select(&[row as u32])?).map(Some)
    }

    /// The outputs whose mean is predicted: the middle one of several quantiles, or the two middle ones.
    fn middle(&self, shap: &ShapValues) -> Vec<usize> {
        let score = |output: usize| {
            shap.expected[output] + (0..shap.n_columns).map(|column| shap.get(0, column)[output]).sum::<f64>()
        };
        let mut order: Vec<usize> = (0..shap.n_outputs).collect();
        order.sort_by(|&a, &b| score(a).total_cmp(&score(b)));
        order[(shap.n_outputs - 1) / 2..=shap.n_outputs / 2].to_vec()
    }

    /// The contributions of the columns to the score of the row.
    fn in_shares(&self, row: &Features) -> Result<String> {
        let (trees, schema) = (self.tree_ensemble()?, self.schema());
        let shap = trees.shap_values(row);
        let prediction =
            self.predict_columns(row.columns().iter().map(|c| c.with_numbers(c.numbers(row.rows()))).collect(), None)?;
        // The predicted class; with a single score for two classes, it belongs to the second.
        let class = if schema.task == Task::Classification { prediction.class(0) } else { 0 };
        let outputs = match trees.link() {
            Link::Quantiles => self.middle(&shap),
            _ if shap.n_outputs > 1 => vec![class.min(shap.n_outputs - 1)],
            _ => vec![0],
        };
        let output = outputs[0];
        let mean = |values: &[f64]| outputs.iter().map(|&k| values[k]).sum::<f64>() / outputs.len() as f64;
        let what = match (trees.link(), schema.task) {
            (Link::Logistic, _) => format!("log odds of {}", schema.classes[1]),
            (Link::Vote, _) if shap.n_outputs == 1 => format!("half the log odds of {}", schema.classes[1]),
            (Link::Vote, _) => format!("votes for {}", schema.classes[output]),
            (Link::Softmax, _) => format!("score of {}", schema.classes[output]),
            (_, Task::Classification) => format!("probability of {}", schema.classes[output]),
            (Link::Exponential, _) => "logarithm of the prediction".into(),
            _ if schema.n_outputs > 1 => format!("prediction of {}", schema.target.get(output).map_or("", |t| t)),
            _ => "prediction".into(),
        };
        let share = |column: usize| mean(shap.get(0, column));
        let mut order: Vec<usize> = (0..shap.n_columns).filter(|&column| share(column) != 0.0).collect();
        order.sort_by(|&a, &b| share(b).abs().total_cmp(&share(a).abs()).then(a.cmp(&b)));
        let mut text = match prediction.label(0) {
            Some(label) => {
                format!("prediction: {label} ({})\n", number(prediction.row(0).get(class).copied().unwrap_or(1.0)))
            }
            None => format!("prediction: {}\n", number(prediction.row(0)[0])),
        };
        let mut score = mean(&shap.expected);
        text.push_str(&format!("{what}, expected value: {}\n", number(score)));
        for &column in order.iter().take(SHOWN) {
            let spec = &schema.features[column];
            let value = match row.number(0, column) {
                v if v.is_nan() => "missing".to_string(),
                v => spec.levels.get(v as usize).cloned().unwrap_or_else(|| number(v)),
            };
            score += share(column);
            let sign = if share(column) > 0.0 { "+" } else { "" };
            text.push_str(&format!("{} = {value}: {sign}{} to {}\n", spec.name, number(share(column)), number(score)));
        }
        let rest: f64 = order.iter().skip(SHOWN).map(|&column| share(column)).sum();
        if order.len() > SHOWN {
            text.push_str(&format!(
                "{} other columns: {} to {}\n",
                order.len() - SHOWN,
                number(rest),
                number(score + rest)
            ));
        }
        Ok(text)
    }
}
