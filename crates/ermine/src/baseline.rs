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
//! **Formula.** Classification: the class shares of the training data, which minimize the log loss among constants; the most frequent class minimizes the 0-1 loss.
//! Regression: the mean, which minimizes the squared error, or the median, which minimizes the absolute error. Other strategies: uniform probabilities, a quantile, a given
//! constant.

use ermine_core::error::{Error, Result};
use ermine_core::learner::{Capabilities, Context, Family, Info, Learner, Trained};
use ermine_core::matrix::{Dataset, Features, Schema, Target, Task};
use ermine_core::model::{Certificate, Fitted, Header, Output, Proof};
use ermine_core::param::Range;
use ermine_core::section::Sections;
use ermine_core::{choice, params};

choice! {
    /// What is said for every row.
    pub enum Strategy {
        /// The shares of the classes.
        Prior = "prior",
        /// The most frequent class, for certain.
        MostFrequent = "most_frequent",
        /// The shares of the classes, for who draws classes by them.
        Stratified = "stratified",
        /// All classes alike.
        Uniform = "uniform",
        /// The mean.
        Mean = "mean",
        /// The median.
        Median = "median",
        /// A quantile.
        Quantile = "quantile",
        /// What the user says.
        Constant = "constant",
    }
}

params! {
    /// The class shares, or the mean, of the training data, for every row.
    pub struct Baseline("baseline") {
        /// What is said: of classes their shares ("prior", the usual one), the most frequent one for certain ("most_frequent"), draws by their shares ("stratified", which only the Python package draws) or of all alike ("uniform"); of numbers
        /// their mean (the usual one), "median" or "quantile"; or a "constant".
        strategy: Option<Strategy> = None;
        /// Which quantile.
        quantile: Option<f64> = None, range Range::between(0.0, 1.0);
        /// Which constant: a class, or a number for each target.
        constant: Vec<String> = Vec::new();
    }
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
    family: Family::Baseline,
};

/// What is minimal or is not, among all that say the same for every row.
const CONSTANTS: &str = "all predictors that say the same for every row";

impl Learner for Baseline {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn train(&self, data: &Dataset, _: &Context<'_>) -> Result<Trained> {
        let (values, output, certificate) = match data.target() {
            Target::Classes { codes, labels } => {
                let (shares, certificate) = self.classes(data, codes, labels)?;
                (shares, Output::Probabilities, certificate)
            }
            Target::Values { values, n_outputs } => {
                let (constants, certificate) = self.numbers(data, values, *n_outputs)?;
                (constants, Output::Values, certificate)
            }
        };
        Ok(Trained { fitted: Box::new(Constant { output, values }), certificate })
    }
}

impl Baseline {
    fn not_for(&self, strategy: Strategy, allowed: &str) -> Error {
        let owner = INFO.name.to_string();
        Error::Param { owner, name: "strategy".into(), value: strategy.to_string(), allowed: allowed.into() }
    }

    fn classes(&self, data: &Dataset, codes: &[u32], labels: &[String]) -> Result<(Vec<f64>, Certificate)> {
        let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
        let mut shares = vec![0.0; labels.len()];
        codes.iter().enumerate().for_each(|(row, &c)| shares[c as usize] += data.row_weight(row));
        shares.iter_mut().for_each(|share| *share /= total);
        let certain = |class: usize| (0..labels.len()).map(|k| f64::from(u8::from(k == class))).collect::<Vec<f64>>();
        let log_loss = |said: &[f64]| mean(data, |row| -said[codes[row] as usize].ln());
        match self.strategy.unwrap_or(Strategy::Prior) {
            Strategy::Prior | Strategy::Stratified => {
                let certificate = Certificate::optimal("log loss", log_loss(&shares), CONSTANTS);
                Ok((shares, certificate))
            }
            Strategy::MostFrequent => {
                // The first of equals.
                let best = (0..shares.len()).fold(0, |best, k| if shares[k] > shares[best] { k } else { best });
                Ok((certain(best), Certificate::optimal("0-1 risk", 1.0 - shares[best], CONSTANTS)))
            }
            Strategy::Uniform => {
                let alike = vec![1.0 / labels.len() as f64; labels.len()];
                let value = log_loss(&alike);
                Ok((alike, unproven("log loss", value, "the shares of the classes are not looked at")))
            }
            Strategy::Constant => {
                let [name] = &self.constant[..] else {
                    return Err(Error::data("strategy = constant needs a constant: the class to be said"));
                };
                let known = labels.iter().position(|label| label == name);
                let class = known.ok_or_else(|| Error::unknown("class", name, labels.iter()))?;
                Ok((certain(class), unproven("0-1 risk", 1.0 - shares[class], "the user chose the class")))
            }
            other => Err(self.not_for(other, "prior | most_frequent | stratified | uniform | constant for classes")),
        }
    }

    fn numbers(&self, data: &Dataset, values: &[f64], n_outputs: usize) -> Result<(Vec<f64>, Certificate)> {
        let row = |row: usize| &values[row * n_outputs..(row + 1) * n_outputs];
        let summed = |said: &[f64], loss: fn(f64) -> f64| {
            mean(data, |i| row(i).iter().zip(said).map(|(y, c)| loss(y - c)).sum::<f64>())
        };
        let square: fn(f64) -> f64 = |e| e * e;
        let size: fn(f64) -> f64 = f64::abs;
        match self.strategy.unwrap_or(Strategy::Mean) {
            Strategy::Mean => {
                let total: f64 = (0..data.n_rows()).map(|row| data.row_weight(row)).sum();
                let mut means = vec![0.0; n_outputs];
                for i in 0..data.n_rows() {
                    means.iter_mut().zip(row(i)).for_each(|(mean, y)| *mean += data.row_weight(i) * (y / total));
                }
                let certificate = Certificate::optimal("mean squared error", summed(&means, square), CONSTANTS);
                Ok((means, certificate))
            }
            Strategy::Median => {
                let medians: Vec<f64> = (0..n_outputs).map(|o| quantile(data, values, n_outputs, o, 0.5)).collect();
                let value = summed(&medians, size);
                Ok((medians, Certificate::optimal("mean absolute error", value, CONSTANTS)))
            }
            Strategy::Quantile => {
                let missing = || Error::data("strategy = quantile needs a quantile, from 0 to 1");
                let share = self.quantile.ok_or_else(missing)?;
                let said: Vec<f64> = (0..n_outputs).map(|o| quantile(data, values, n_outputs, o, share)).collect();
                let value = summed(&said, square);
                let because = "a quantile is said, and may lie between two of the rows";
                Ok((said, unproven("mean squared error", value, because)))
            }
            Strategy::Constant => {
                let said: Option<Vec<f64>> = self.constant.iter().map(|text| text.trim().parse().ok()).collect();
                let wrong = || Error::data(format!("strategy = constant needs a constant: {n_outputs} finite numbers"));
                let said = said.filter(|said| said.len() == n_outputs && said.iter().all(|c: &f64| c.is_finite()));
                let said = said.ok_or_else(wrong)?;
                let value = summed(&said, square);
                Ok((said, unproven("mean squared error", value, "the user chose the constant")))
            }
            other => Err(self.not_for(other, "mean | median | quantile | constant for numbers")),
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

/// The quantile of one target. Without weights, between two rows as numpy has it; with weights, the least number that has at least this share of the weight up to it.
fn quantile(data: &Dataset, values: &[f64], n_outputs: usize, output: usize, share: f64) -> f64 {
    let pair = |row: usize| (values[row * n_outputs + output], data.row_weight(row));
    let mut pairs: Vec<(f64, f64)> = (0..data.n_rows()).map(pair).filter(|(_, w)| *w > 0.0).collect();
    pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let last = pairs.len().saturating_sub(1);
    if data.weight().is_none() {
        let place = share * last as f64;
        let (below, part) = (pairs[place as usize].0, place.fract());
        let above = pairs[(place as usize + 1).min(last)].0;
        // Numpy rounds from the nearer end.
        return if part < 0.5 { below + part * (above - below) } else { above - (1.0 - part) * (above - below) };
    }
    let wanted = share * pairs.iter().map(|p| p.1).sum::<f64>();
    let mut up_to = 0.0;
    let reached = |p: &&(f64, f64)| {
        up_to += p.1;
        up_to >= wanted
    };
    pairs.iter().find(reached).map_or(pairs[last].0, |p| p.0)
}

/// The fitted baseline.
#[doc(hidden)]
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

#[cfg(test)]
mod tests {
    use super::Strategy;
    use super::*;
    use crate::prelude::*;
    use proptest::prelude::*;

    fn said(baseline: &Baseline, y: Column, weight: Option<Vec<f64>>) -> Result<(Vec<f64>, Certificate)> {
        let n = y.len();
        let data = Table::new(vec![Column::numeric("x", vec![0.0; n]), y])?.dataset("y")?.with_weight(weight)?;
        let model = baseline.fit(&data)?;
        Ok((model.fitted::<Constant>().map(|c| c.values.clone()).unwrap_or_default(), model.certificate().clone()))
    }

    fn with(strategy: Strategy) -> Baseline {
        Baseline { strategy: Some(strategy), ..Default::default() }
    }

    #[test]
    fn classes_by_every_strategy() {
        let y = || Column::nominal("y", &["a", "b", "b", "c"].map(Some));
        assert_eq!(said(&with(Strategy::Stratified), y(), None).unwrap().0, [0.25, 0.5, 0.25]);
        let (most, certificate) = said(&with(Strategy::MostFrequent), y(), None).unwrap();
        assert_eq!((most, certificate.value), (vec![0.0, 1.0, 0.0], Some(0.5)));
        assert_eq!(said(&with(Strategy::Uniform), y(), None).unwrap().0, [1.0 / 3.0; 3]);
        let chosen = Baseline { constant: vec!["c".into()], ..with(Strategy::Constant) };
        assert_eq!(said(&chosen, y(), None).unwrap().0, [0.0, 0.0, 1.0]);
        for wrong in
            [with(Strategy::Median), with(Strategy::Constant), Baseline { constant: vec!["d".into()], ..chosen }]
        {
            assert!(said(&wrong, y(), None).is_err());
        }
    }

    #[test]
    fn numbers_by_every_strategy() {
        let y = || Column::numeric("y", vec![4.0, 1.0, 2.0, 10.0]);
        assert_eq!(said(&with(Strategy::Median), y(), None).unwrap().0, [3.0]);
        assert_eq!(said(&with(Strategy::Median), y(), Some(vec![1.0, 1.0, 1.0, 5.0])).unwrap().0, [10.0]);
        let upper = Baseline { quantile: Some(0.9), ..with(Strategy::Quantile) };
        assert!((said(&upper, y(), None).unwrap().0[0] - 8.2).abs() < 1e-12);
        let chosen = Baseline { constant: vec!["-1.5".into()], ..with(Strategy::Constant) };
        assert_eq!(said(&chosen, y(), None).unwrap().0, [-1.5]);
        for wrong in [with(Strategy::Quantile), with(Strategy::Uniform), with(Strategy::Constant)] {
            assert!(said(&wrong, y(), None).is_err());
        }
    }

    proptest! {
        #[test]
        fn nothing_beats_the_median(y in proptest::collection::vec(-9i8..9, 1..30), weights in proptest::collection::vec(1u8..4, 30), other in -10.0..10.0f64) {
            // Not whole, since two whole numbers are classes.
            let y: Vec<f64> = y.into_iter().map(|y| f64::from(y) + 0.25).collect();
            let weight: Vec<f64> = weights[..y.len()].iter().copied().map(f64::from).collect();
            for weight in [None, Some(weight)] {
                let (_, certificate) = said(&with(Strategy::Median), Column::numeric("y", y.clone()), weight.clone()).unwrap();
                let w = |i: usize| weight.as_ref().map_or(1.0, |w| w[i]);
                let total: f64 = (0..y.len()).map(w).sum();
                let cost: f64 = y.iter().enumerate().map(|(i, y)| w(i) * (y - other).abs()).sum::<f64>() / total;
                prop_assert!(certificate.value.unwrap() <= cost + 1e-12);
            }
        }
    }
}
