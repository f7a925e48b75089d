//! Baselines: the same prediction for every row, whatever its features. Every other learner must beat them.
//!
//! ```
//! # std::env::set_current_dir("../../examples/data").unwrap();
//! use ermine::prelude::*;
//!
//! let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
//! let model = Baseline::default().fit(&train)?;
//! println!("{}", model.evaluate(&test)?);
//! # Ok::<(), Error>(())
//! ```
//!
//! **Formula.** Classification: the class frequencies of the training data, which minimize the log loss among constants; the most frequent class minimizes the 0-1 loss.
//! Regression: the mean, which minimizes the squared error, or the median, which minimizes the absolute error. Other strategies: uniform probabilities, a quantile, a given
//! constant.

use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Learner, LearnerInfo, Trained};
use ermine_core::matrix::{Dataset, Features, Schema, Target, Task};
use ermine_core::model::{Certificate, Fitted, Header, Output, Proof};
use ermine_core::param::Range;
use ermine_core::section::Sections;
use ermine_core::{choice, params};

choice! {
    /// What the baseline predicts.
    pub enum BaselineStrategy {
        /// Class frequencies as probabilities.
        Prior = "prior",
        /// The most frequent class, with probability 1.
        MostFrequent = "most_frequent",
        /// Class frequencies as probabilities; the Python package draws random classes from them.
        Stratified = "stratified",
        /// Equal probabilities for all classes.
        Uniform = "uniform",
        /// The mean of the target.
        Mean = "mean",
        /// The median of the target.
        Median = "median",
        /// A quantile of the target.
        Quantile = "quantile",
        /// A given class or value.
        Constant = "constant",
    }
}

params! {
    /// Predicts the class frequencies, or the mean, of the training data for every row.
    pub struct Baseline("baseline") {
        /// What to predict. Classification: "prior" (class frequencies, the default), "most_frequent", "stratified" (random classes by frequency; drawn by the Python package only) or "uniform".
        /// Regression: "mean" (the default), "median" or "quantile". Both: "constant".
        strategy: Option<BaselineStrategy> = None;
        /// Quantile to predict, from 0 to 1; for strategy "quantile".
        quantile: Option<f64> = None, range Range::between(0.0, 1.0);
        /// Class, or one number per target, to predict; for strategy "constant".
        constant: Vec<String> = Vec::new();
    }
}

static INFO: LearnerInfo = LearnerInfo {
    name: "baseline",
    summary: "predicts the class frequencies or the mean for every row; a reference for other learners",
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
    family: Family::Baseline,
};

/// The predictors that the baseline is optimal among.
const CONSTANTS: &str = "all constant predictors";

impl Learner for Baseline {
    fn info(&self) -> &'static LearnerInfo {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let (values, output, certificate) = match data.target() {
            Target::Classes { codes, labels } => {
                let (frequencies, certificate) = self.train_classes(data, codes, labels)?;
                (frequencies, Output::Probabilities, certificate)
            }
            Target::Values { values, n_outputs } => {
                let (constants, certificate) = self.train_values(data, values, *n_outputs)?;
                (constants, Output::Values, certificate)
            }
        };
        Ok(Trained { fitted: Box::new(FittedBaseline { output, values }), certificate })
    }
}

impl Baseline {
    fn unsupported_strategy(&self, strategy: BaselineStrategy, allowed: &str) -> Error {
        let owner = INFO.name.to_string();
        Error::Param { owner, name: "strategy".into(), value: strategy.to_string(), allowed: allowed.into() }
    }

    fn train_classes(&self, data: &Dataset, codes: &[u32], labels: &[String]) -> Result<(Vec<f64>, Certificate)> {
        let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
        let mut frequencies = vec![0.0; labels.len()];
        codes.iter().enumerate().for_each(|(row, &c)| frequencies[c as usize] += data.row_weight(row));
        frequencies.iter_mut().for_each(|fraction| *fraction /= total);
        let certain = |class: usize| (0..labels.len()).map(|k| f64::from(u8::from(k == class))).collect::<Vec<f64>>();
        let log_loss = |probabilities: &[f64]| mean(data, |row| -probabilities[codes[row] as usize].ln());
        match self.strategy.unwrap_or(BaselineStrategy::Prior) {
            BaselineStrategy::Prior | BaselineStrategy::Stratified => {
                let certificate = Certificate::optimal("log loss", log_loss(&frequencies), CONSTANTS);
                Ok((frequencies, certificate))
            }
            BaselineStrategy::MostFrequent => {
                // Ties are broken by the order of the classes.
                let best =
                    (0..frequencies.len()).fold(0, |best, k| if frequencies[k] > frequencies[best] { k } else { best });
                Ok((certain(best), Certificate::optimal("0-1 risk", 1.0 - frequencies[best], CONSTANTS)))
            }
            BaselineStrategy::Uniform => {
                let uniform = vec![1.0 / labels.len() as f64; labels.len()];
                let value = log_loss(&uniform);
                Ok((uniform, unproven("log loss", value, "class frequencies are ignored")))
            }
            BaselineStrategy::Constant => {
                let [name] = &self.constant[..] else {
                    return Err(Error::data("strategy = constant needs `constant`: the class to predict"));
                };
                let known = labels.iter().position(|label| label == name);
                let class = known.ok_or_else(|| Error::unknown("class", name, labels.iter()))?;
                Ok((certain(class), unproven("0-1 risk", 1.0 - frequencies[class], "the class was given")))
            }
            other => Err(self.unsupported_strategy(
                other,
                "prior | most_frequent | stratified | uniform | constant for classification",
            )),
        }
    }

    fn train_values(&self, data: &Dataset, values: &[f64], n_outputs: usize) -> Result<(Vec<f64>, Certificate)> {
        let row = |row: usize| &values[row * n_outputs..(row + 1) * n_outputs];
        let mean_loss = |constants: &[f64], loss: fn(f64) -> f64| {
            mean(data, |i| row(i).iter().zip(constants).map(|(y, c)| loss(y - c)).sum::<f64>())
        };
        let squared: fn(f64) -> f64 = |e| e * e;
        let absolute: fn(f64) -> f64 = f64::abs;
        match self.strategy.unwrap_or(BaselineStrategy::Mean) {
            BaselineStrategy::Mean => {
                let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
                let mut means = vec![0.0; n_outputs];
                for i in 0..data.n_rows() {
                    means.iter_mut().zip(row(i)).for_each(|(mean, y)| *mean += data.row_weight(i) * (y / total));
                }
                let certificate = Certificate::optimal("mean squared error", mean_loss(&means, squared), CONSTANTS);
                Ok((means, certificate))
            }
            BaselineStrategy::Median => {
                let medians: Vec<f64> = (0..n_outputs).map(|o| quantile(data, values, n_outputs, o, 0.5)).collect();
                let value = mean_loss(&medians, absolute);
                Ok((medians, Certificate::optimal("mean absolute error", value, CONSTANTS)))
            }
            BaselineStrategy::Quantile => {
                let missing = || Error::data("strategy = quantile needs `quantile`, from 0 to 1");
                let fraction = self.quantile.ok_or_else(missing)?;
                let quantiles: Vec<f64> =
                    (0..n_outputs).map(|o| quantile(data, values, n_outputs, o, fraction)).collect();
                let value = mean_loss(&quantiles, squared);
                let because = "the quantile does not minimize the squared error";
                Ok((quantiles, unproven("mean squared error", value, because)))
            }
            BaselineStrategy::Constant => {
                let constants: Option<Vec<f64>> = self.constant.iter().map(|text| text.trim().parse().ok()).collect();
                let wrong = || Error::data(format!("strategy = constant needs `constant`: {n_outputs} finite numbers"));
                let constants = constants
                    .filter(|constants| constants.len() == n_outputs && constants.iter().all(|c: &f64| c.is_finite()));
                let constants = constants.ok_or_else(wrong)?;
                let value = mean_loss(&constants, squared);
                Ok((constants, unproven("mean squared error", value, "the constant was given")))
            }
            other => Err(self.unsupported_strategy(other, "mean | median | quantile | constant for regression")),
        }
    }
}

fn unproven(objective: &str, value: f64, because: &str) -> Certificate {
    let proofs = vec![Proof::Nothing { because: because.into() }];
    Certificate { proofs, ..Certificate::optimal(objective, value, "") }
}

/// The weighted mean of a loss.
fn mean(data: &Dataset, loss: impl Fn(usize) -> f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for row in (0..data.n_rows()).filter(|&row| data.row_weight(row) > 0.0) {
        sum += data.row_weight(row) * loss(row);
        total += data.row_weight(row);
    }
    sum / total
}

/// The quantile of one target. Without weights, interpolated as in NumPy; with weights, the smallest value such that at least this fraction of the weight is at or below it.
fn quantile(data: &Dataset, values: &[f64], n_outputs: usize, output: usize, fraction: f64) -> f64 {
    let pair = |row: usize| (values[row * n_outputs + output], data.row_weight(row));
    let mut pairs: Vec<(f64, f64)> = (0..data.n_rows()).map(pair).filter(|(_, w)| *w > 0.0).collect();
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let last = pairs.len().saturating_sub(1);
    if data.weight().is_none() {
        let position = fraction * last as f64;
        let (below, remainder) = (pairs[position as usize].0, position.fract());
        let above = pairs[(position as usize + 1).min(last)].0;
        // Like NumPy, interpolate from the nearer end.
        return if remainder < 0.5 {
            below + remainder * (above - below)
        } else {
            above - (1.0 - remainder) * (above - below)
        };
    }
    let target_weight = fraction * pairs.iter().map(|p| p.1).sum::<f64>();
    let mut cumulative = 0.0;
    let reached = |p: &&(f64, f64)| {
        cumulative += p.1;
        cumulative >= target_weight
    };
    pairs.iter().find(reached).map_or(pairs[last].0, |p| p.0)
}

/// The fitted baseline.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct FittedBaseline {
    output: Output,
    values: Vec<f64>,
}

impl FittedBaseline {
    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
        let baseline = FittedBaseline { output: sections.json("output")?, values: sections.f64s("values")? };
        if baseline.values.len() != baseline.output.width(&header.schema)
            || baseline.values.iter().any(|v| !v.is_finite())
        {
            return Err(Error::model_file("the values of the baseline don't fit the target"));
        }
        Ok(Box::new(baseline))
    }
}

impl Fitted for FittedBaseline {
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
        format!("prediction for every row:\n{}\n", lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::BaselineStrategy;
    use super::*;
    use crate::prelude::*;
    use proptest::prelude::*;

    fn fit_values(baseline: &Baseline, y: Column, weight: Option<Vec<f64>>) -> Result<(Vec<f64>, Certificate)> {
        let n = y.len();
        let data = Table::new(vec![Column::numeric("x", vec![0.0; n]), y])?.dataset("y")?.with_weight(weight)?;
        let model = baseline.fit(&data)?;
        Ok((
            model.fitted::<FittedBaseline>().map(|c| c.values.clone()).unwrap_or_default(),
            model.certificate().clone(),
        ))
    }

    fn with(strategy: BaselineStrategy) -> Baseline {
        Baseline { strategy: Some(strategy), ..Default::default() }
    }

    #[test]
    fn every_strategy_predicts_classes() {
        let y = || Column::nominal("y", &["a", "b", "b", "c"].map(Some));
        assert_eq!(fit_values(&with(BaselineStrategy::Stratified), y(), None).unwrap().0, [0.25, 0.5, 0.25]);
        let (most, certificate) = fit_values(&with(BaselineStrategy::MostFrequent), y(), None).unwrap();
        assert_eq!((most, certificate.value), (vec![0.0, 1.0, 0.0], Some(0.5)));
        assert_eq!(fit_values(&with(BaselineStrategy::Uniform), y(), None).unwrap().0, [1.0 / 3.0; 3]);
        let chosen = Baseline { constant: vec!["c".into()], ..with(BaselineStrategy::Constant) };
        assert_eq!(fit_values(&chosen, y(), None).unwrap().0, [0.0, 0.0, 1.0]);
        for wrong in [
            with(BaselineStrategy::Median),
            with(BaselineStrategy::Constant),
            Baseline { constant: vec!["d".into()], ..chosen },
        ] {
            assert!(fit_values(&wrong, y(), None).is_err());
        }
    }

    #[test]
    fn every_strategy_predicts_values() {
        let y = || Column::numeric("y", vec![4.0, 1.0, 2.0, 10.0]);
        assert_eq!(fit_values(&with(BaselineStrategy::Median), y(), None).unwrap().0, [3.0]);
        assert_eq!(fit_values(&with(BaselineStrategy::Median), y(), Some(vec![1.0, 1.0, 1.0, 5.0])).unwrap().0, [10.0]);
        let upper = Baseline { quantile: Some(0.9), ..with(BaselineStrategy::Quantile) };
        assert!((fit_values(&upper, y(), None).unwrap().0[0] - 8.2).abs() < 1e-12);
        let chosen = Baseline { constant: vec!["-1.5".into()], ..with(BaselineStrategy::Constant) };
        assert_eq!(fit_values(&chosen, y(), None).unwrap().0, [-1.5]);
        for wrong in
            [with(BaselineStrategy::Quantile), with(BaselineStrategy::Uniform), with(BaselineStrategy::Constant)]
        {
            assert!(fit_values(&wrong, y(), None).is_err());
        }
    }

    proptest! {
        #[test]
        fn the_median_minimizes_the_absolute_error(y in proptest::collection::vec(-9i8..9, 1..30), weights in proptest::collection::vec(1u8..4, 30), other in -10.0..10.0f64) {
            // Not integers: a target with two integers would be a classification task.
            let y: Vec<f64> = y.into_iter().map(|y| f64::from(y) + 0.25).collect();
            let weight: Vec<f64> = weights[..y.len()].iter().copied().map(f64::from).collect();
            for weight in [None, Some(weight)] {
                let (_, certificate) = fit_values(&with(BaselineStrategy::Median), Column::numeric("y", y.clone()), weight.clone()).unwrap();
                let w = |i: usize| weight.as_ref().map_or(1.0, |w| w[i]);
                let total: f64 = (0..y.len()).map(w).sum();
                let cost: f64 = y.iter().enumerate().map(|(i, y)| w(i) * (y - other).abs()).sum::<f64>() / total;
                prop_assert!(certificate.value.unwrap() <= cost + 1e-12);
            }
        }
    }
}
