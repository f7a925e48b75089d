//! The baseline: says the same for every row, whatever its features. What any other learner must beat.
//!
//! **Formula.** Classification: the class shares of the training data, which minimise the log loss among constants; their largest is the majority
//! class, which minimises the 0-1 risk. Regression: the mean, which minimises the squared error.

use super::{Capabilities, Context, Info, Learner, Trained};
use crate::error::{Error, Result};
use crate::matrix::{Dataset, Features, Schema, Target, Task};
use crate::model::{Certificate, Fitted, Header, Output};
use crate::params;
use crate::section::Sections;

params! {
    /// The class shares, or the mean, of the training data, for every row.
    pub struct Baseline("baseline") {}
}

static INFO: Info = Info {
    name: "baseline",
    summary: "the most frequent class or the mean, for every row: what others must beat",
    capabilities: Capabilities {
        tasks: &[Task::Classification, Task::Regression],
        binary_only: false,
        multi_output: true,
        weights: true,
        missing: true,
        nominal: true,
        sparse: true,
        probabilities: true,
        random: false,
    },
};

impl Learner for Baseline {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
        let (values, output, objective) = match data.target() {
            Target::Classes { codes, labels } => {
                let mut shares = vec![0.0; labels.len()];
                codes.iter().enumerate().for_each(|(row, &c)| shares[c as usize] += data.row_weight(row));
                shares.iter_mut().for_each(|share| *share /= total);
                (shares, Output::Probabilities, "log loss")
            }
            Target::Values { values, n_outputs } => {
                let mut means = vec![0.0; *n_outputs];
                for (row, ys) in values.chunks(*n_outputs).enumerate() {
                    means.iter_mut().zip(ys).for_each(|(mean, y)| *mean += data.row_weight(row) * (y / total));
                }
                (means, Output::Values, "mean squared error")
            }
        };
        let value = objective_value(data, &values, total);
        let certificate = Certificate::optimal(objective, value, "all predictors that say the same for every row");
        Ok(Trained { fitted: Box::new(Constant { output, values }), certificate })
    }
}

/// The mean log loss, or the mean squared error, of a constant.
fn objective_value(data: &Dataset, constant: &[f64], total: f64) -> f64 {
    let loss = |row: usize| match data.target() {
        Target::Classes { codes, .. } => -constant[codes[row] as usize].ln(),
        Target::Values { values, n_outputs } => {
            let ys = &values[row * n_outputs..(row + 1) * n_outputs];
            ys.iter().zip(constant).map(|(y, c)| (y - c).powi(2)).sum()
        }
    };
    (0..data.n_rows()).map(|row| data.row_weight(row) * loss(row)).sum::<f64>() / total
}

/// The fitted baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    output: Output,
    values: Vec<f64>,
}

impl Constant {
    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let constant = Constant { output: sections.json("output")?, values: sections.f64s("values")? };
        if constant.values.len() != constant.output.width(&header.schema)
            || constant.values.iter().any(|v| !v.is_finite())
        {
            return Err(Error::model_file("the constant doesn't fit the target"));
        }
        Ok(Box::new(constant))
    }
}

impl Fitted for Constant {
    fn output(&self) -> Output {
        self.output
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        Ok(self.values.repeat(features.n_rows()))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_f64s("values", &self.values);
        sections.put_json("output", &self.output)
    }

    fn text(&self, schema: &Schema) -> String {
        let names = if schema.classes.is_empty() { &schema.target } else { &schema.classes };
        let lines: Vec<String> = names.iter().zip(&self.values).map(|(n, v)| format!("  {n}: {v:.4}")).collect();
        format!("for every row:\n{}\n", lines.join("\n"))
    }
}
