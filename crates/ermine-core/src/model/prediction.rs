//! Predictions.

use crate::matrix::{Schema, Task};
use crate::table::{Column, ColumnKind, Levels};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The meaning of predicted values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// A probability per class, summing to 1; or per label.
    Probabilities,
    /// A score per class, of which the highest wins; or per label, which is predicted if its score is positive.
    Scores,
    /// A signed score: positive for the second of two classes.
    Margin,
    /// Predicted numbers, or ranking scores.
    Values,
}

impl Output {
    /// Number of values per row.
    pub fn width(self, schema: &Schema) -> usize {
        match self {
            Output::Probabilities | Output::Scores => schema.classes.len(),
            Output::Margin => 1,
            Output::Values => schema.n_outputs,
        }
    }
}

/// Predictions for some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    output: Output,
    width: usize,
    values: Vec<f64>,
    task: Task,
    classes: Arc<[String]>,
}

impl Prediction {
    /// Predictions from the values of all rows.
    pub fn new(output: Output, values: Vec<f64>, schema: &Schema) -> Self {
        let classes = schema.classes.iter().cloned().collect();
        Prediction { output, width: output.width(schema), values, task: schema.task, classes }
    }

    /// Predictions from the numbers of all rows, `width` for each, with names of classes that are shared.
    pub(super) fn of_parts(
        output: Output,
        width: usize,
        values: Vec<f64>,
        task: Task,
        classes: Arc<[String]>,
    ) -> Prediction {
        Prediction { output, width, values, task, classes }
    }

    /// Concatenates predictions of one kind; `None` if they differ.
    pub fn stacked(parts: &[&Prediction]) -> Option<Prediction> {
        let first = *parts.first()?;
        let alike = |p: &&&Prediction| {
            (p.output, p.width, p.task) == (first.output, first.width, first.task) && p.classes == first.classes
        };
        let values = || parts.iter().flat_map(|part| &part.values).copied().collect();
        (parts.iter().filter(alike).count() == parts.len()).then(|| Prediction { values: values(), ..first.clone() })
    }

    /// Adds classes that are never predicted, with probability 0 or the lowest score.
    pub fn with_more_classes(self, classes: &Arc<[String]>) -> Prediction {
        let n_more = classes.len().saturating_sub(self.classes.len());
        if n_more == 0 || self.task != Task::Classification {
            return self;
        }
        let (output, never) = match self.output {
            Output::Probabilities => (Output::Probabilities, 0.0),
            _ => (Output::Scores, f64::MIN),
        };
        let own = |row: &[f64]| if self.output == Output::Margin { vec![-row[0], row[0]] } else { row.to_vec() };
        let rows = self.values.chunks(self.width.max(1));
        let values = rows.flat_map(|row| own(row).into_iter().chain(std::iter::repeat_n(never, n_more))).collect();
        Prediction { output, width: classes.len(), values, task: self.task, classes: classes.clone() }
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// The meaning of the values.
    pub fn output(&self) -> Output {
        self.output
    }

    /// The task.
    pub fn task(&self) -> Task {
        self.task
    }

    /// All values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Number of values per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The values of a row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// Class names; empty for regression.
    pub fn classes(&self) -> &Arc<[String]> {
        &self.classes
    }

    /// The class probabilities of a row, if the model predicts them.
    pub fn probabilities(&self, row: usize) -> Option<&[f64]> {
        (self.output == Output::Probabilities).then(|| self.row(row))
    }

    /// The predicted class of a row: the one with the highest value; the first if tied.
    pub fn class(&self, row: usize) -> usize {
        let numbers = self.row(row);
        if self.output == Output::Margin {
            return usize::from(numbers[0] > 0.0);
        }
        (1..numbers.len()).fold(0, |best, k| if numbers[k] > numbers[best] { k } else { best })
    }

    /// Whether a row is predicted to have a label.
    pub fn has(&self, row: usize, label: usize) -> bool {
        self.row(row)[label] > if self.output == Output::Probabilities { 0.5 } else { 0.0 }
    }

    /// The names of the predicted labels of a row; `None` unless the task is multilabel.
    pub fn labels(&self, row: usize) -> Option<Vec<&str>> {
        let has = |&label: &usize| self.has(row, label);
        (self.task == Task::Multilabel)
            .then(|| (0..self.classes.len()).filter(has).map(|label| self.classes[label].as_str()).collect())
    }

    /// The predictions as columns of a table: `predicted_<target>` (for labels in the form of the training data: 0 and 1 for each label, or one column with lists), and with
    /// `with_probabilities` `probability_<class>` for each class or label, where the model gives probabilities.
    pub fn columns(&self, schema: &Schema, with_probabilities: bool) -> Vec<Column> {
        let n = self.n_rows();
        let numbers = |k: usize| (0..n).map(|row| self.row(row)[k]).collect::<Vec<f64>>();
        let target = format!("predicted_{}", schema.target.join("_"));
        let mut columns: Vec<Column> = match self.task {
            Task::Classification => {
                let codes: Vec<u32> = (0..n).map(|row| self.class(row) as u32).collect();
                let levels = Arc::new(Levels::new(self.classes.iter().cloned()));
                vec![Column::coded(target, ColumnKind::Nominal, codes, levels)]
            }
            Task::Multilabel if schema.target == schema.classes => {
                let mark = |k: usize| (0..n).map(|row| f64::from(u8::from(self.has(row, k)))).collect::<Vec<f64>>();
                let names = schema.classes.iter().map(|label| format!("predicted_{label}"));
                names.enumerate().map(|(k, name)| Column::numeric(name, mark(k))).collect()
            }
            Task::Multilabel => {
                let list = |row: usize| self.labels(row).map(|list| list.join(";")).filter(|list| !list.is_empty());
                vec![Column::nominal(target, &(0..n).map(list).collect::<Vec<Option<String>>>())]
            }
            Task::Regression | Task::Ranking => {
                let names = schema.target.iter().map(|target| format!("predicted_{target}"));
                names.enumerate().map(|(k, name)| Column::numeric(name, numbers(k))).collect()
            }
        };
        if with_probabilities && self.output == Output::Probabilities {
            let names = self.classes.iter().map(|class| format!("probability_{class}"));
            columns.extend(names.enumerate().map(|(k, name)| Column::numeric(name, numbers(k))));
        }
        columns
    }

    /// The name of the predicted class of a row; `None` for regression.
    pub fn label(&self, row: usize) -> Option<&str> {
        (self.task == Task::Classification).then(|| self.classes[self.class(row)].as_str())
    }
}
