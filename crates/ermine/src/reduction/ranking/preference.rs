//! A learned preference: how sure it is that one row comes before another.
//!
//! **Features of a pair (a, b).** Every row is turned into numbers first (categories into zeros and ones, missing values into means), and then
//! ```text
//! difference   a_k - b_k                 greater   1 if a_k > b_k, else 0
//! ```
//! Each pair is an example twice, (a, b) of the class "before" and (b, a) of the class "after", so that the classes are even and no direction is special.
//!
//! **Preference.** With c(a, b) the confidence of the classifier in "before", `F(a, b) = (c(a, b) - c(b, a)) / 2`: the same with the opposite sign for (b, a), whatever the learner.

use super::pairs::Pair;
use crate::reduction::committee::{LoadPart, Member};
use crate::reduction::estimator::Estimator;
use ermine_core::choice;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::linalg::Design;
use ermine_core::matrix::{Dataset, DesignOptions, FeatureMap, FeatureSpec, Features, Numbers, Target, Task};
use ermine_core::model::{Header, Output, Status};
use ermine_core::parallel;
use ermine_core::param::{ParamType, Value};
use ermine_core::section::Sections;
use ermine_core::table::{Column, ColumnKind, Table};
use ermine_linear::learner::linear::fitted::Linear;
use std::any::Any;
use std::sync::Arc;

choice! {
    /// What compares two rows.
    pub enum Combine {
        /// The differences of their numbers.
        Difference = "difference",
        /// For each number 1 where that of the first row is greater, else 0.
        Greater = "greater",
    }
}

/// Pairs that are compared at once: their features should fit into the caches.
const BATCH: usize = 1 << 14;

/// A learned preference.
pub struct Preference {
    combine: Combine,
    map: FeatureMap,
    /// The names of the numbers that a row becomes.
    names: Vec<String>,
    member: Member,
    estimator: String,
}

/// Rows as numbers, column by column; and whether most of them are zeros.
pub struct Encoded {
    columns: Vec<Vec<f64>>,
    sparse: bool,
}

impl Encoded {
    fn new(numbers: &Numbers<'_>) -> Result<Encoded> {
        let design = numbers.design()?;
        let sparse = matches!(design, Design::Sparse(_));
        let columns = match design {
            Design::Dense(x) => {
                let column = |j: usize| (0..x.n_rows()).map(|i| x.get(i, j)).collect();
                parallel::map(x.n_columns(), column)
            }
            Design::Sparse(x) => {
                let mut columns = vec![vec![0.0; x.n_rows()]; x.n_columns()];
                for i in 0..x.n_rows() {
                    let (places, values) = x.rows().line(i);
                    places.iter().zip(values).for_each(|(&j, &value)| columns[j as usize][i] = value);
                }
                columns
            }
        };
        Ok(Encoded { columns, sparse })
    }

    /// The features of pairs, each in both directions: first (a, b), then (b, a).
    fn pairs(
        &self,
        combine: Combine,
        names: &[String],
        pairs: impl Fn(usize) -> (u32, u32) + Sync,
        n: usize,
    ) -> Features {
        let column = |(numbers, name): (&Vec<f64>, &String)| {
            let mut out = Vec::with_capacity(2 * n);
            for pair in 0..n {
                let (a, b) = pairs(pair);
                let (a, b) = (numbers[a as usize], numbers[b as usize]);
                out.extend(match combine {
                    Combine::Difference => [a - b, b - a],
                    Combine::Greater => [f64::from(u8::from(a > b)), f64::from(u8::from(b > a))],
                });
            }
            if !self.sparse {
                return Column::numeric(name.clone(), out);
            }
            let held: Vec<u32> = (0..out.len() as u32).filter(|&row| out[row as usize] != 0.0).collect();
            let values: Vec<f64> = held.iter().map(|&row| out[row as usize]).collect();
            Column::sparse(name.clone(), out.len(), held.into(), values.into())
        };
        let columns: Vec<Column> = parallel::consume(self.columns.iter().zip(names), |_, pair| column(pair));
        Features::new(Arc::new(Table::of_columns(columns, 2 * n)))
    }
}

fn class_names() -> Arc<[String]> {
    Arc::new(["after".to_string(), "before".to_string()])
}

impl Preference {
    /// Learns from pairs of rows.
    pub fn train(
        estimator: &Estimator,
        combine: Combine,
        data: &Dataset,
        pairs: &[Pair],
        context: &Context<'_>,
    ) -> Result<Preference> {
        let learner = estimator.learner(context)?;
        if !learner.info().capabilities.tasks.contains(&Task::Classification) {
            let need = format!("{}, which doesn't learn classes", estimator.name);
            return Err(Error::Unsupported { learner: "a reduction of ranking to classes".into(), need });
        }
        if pairs.is_empty() {
            return Err(Error::data("no query has two rows of different grades: there is no order to learn"));
        }
        let options = DesignOptions { degree: 1, interaction_only: false, references: false };
        let (map, numbers) = FeatureMap::fit(data.features(), options, data.weight())?;
        let names = map.names(data.features());
        let of = |pair: usize| (pairs[pair].better, pairs[pair].worse);
        let features = Encoded::new(&numbers)?.pairs(combine, &names, of, pairs.len());
        let codes = [1, 0].repeat(pairs.len());
        let examples =
            Dataset::from_parts(features, Target::Classes { codes, labels: class_names() }, Task::Classification)?;
        // Learners that take no weights can learn from pairs that all count the same.
        let even = pairs.iter().all(|pair| pair.weight == pairs[0].weight);
        let weights = (!even).then(|| pairs.iter().flat_map(|pair| [pair.weight; 2]).collect());
        let member = Member::train(&*learner, &examples.with_weight(weights)?, None, context.seed, context)?;
        Preference::new(combine, map, names, member, estimator.to_string())
    }

    fn new(
        combine: Combine,
        map: FeatureMap,
        names: Vec<String>,
        member: Member,
        estimator: String,
    ) -> Result<Preference> {
        if member.output() == Output::Values || names.len() != map.n_columns() {
            return Err(Error::model_file("a preference doesn't fit what it compares"));
        }
        Ok(Preference { combine, map, names, member, estimator })
    }

    /// What learned it.
    pub fn estimator(&self) -> &str {
        &self.estimator
    }

    /// What compares two rows.
    pub fn combine(&self) -> Combine {
        self.combine
    }

    /// Whether comparisons are differences of probabilities.
    pub fn gives_probabilities(&self) -> bool {
        self.member.output() == Output::Probabilities
    }

    /// The weight of each number, where the preference is a linear function of differences.
    pub fn weights(&self) -> Option<&[f64]> {
        let linear = (self.member.fitted() as &dyn Any).downcast_ref::<Linear>()?;
        // With terms of higher degree there are more coefficients than numbers.
        let one = linear.intercepts.len() == 1 && linear.coefficients.n_columns() == self.names.len();
        (one && self.combine == Combine::Difference).then(|| linear.coefficients.row(0))
    }

    /// How the training of its learner ended.
    pub fn status(&self) -> &Status {
        self.member.status()
    }

    /// The names of the numbers that a row becomes.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The linear score of each row, where there is one.
    pub fn scores(&self, features: &Features) -> Result<Option<Vec<f64>>> {
        let Some(weights) = self.weights() else { return Ok(None) };
        self.map.numbers(features)?.design().map(|design| Some(design.times(weights, 0.0)))
    }

    /// Rows as numbers, to compare.
    pub fn encode(&self, features: &Features) -> Result<Encoded> {
        Encoded::new(&self.map.numbers(features)?)
    }

    /// For each pair how sure it is that the first row comes before the second: above 0 if it thinks so.
    pub fn compare(&self, rows: &Encoded, pairs: &[(u32, u32)]) -> Result<Vec<f64>> {
        let batch = |pairs: &[(u32, u32)]| {
            let features = rows.pairs(self.combine, &self.names, |pair| pairs[pair], pairs.len());
            let sure = self.member.of_second(&features)?;
            Ok(sure.chunks_exact(2).map(|c| (c[0] - c[1]) / 2.0).collect::<Vec<f64>>())
        };
        let parts: Vec<Vec<f64>> =
            parallel::consume(pairs.chunks(BATCH), |_, pairs| batch(pairs)).into_iter().collect::<Result<_>>()?;
        Ok(parts.concat())
    }

    /// Which pairs it doesn't put in the right order.
    pub fn wrong_pairs(&self, data: &Dataset, pairs: &[Pair]) -> Result<Vec<usize>> {
        let both: Vec<(u32, u32)> = pairs.iter().map(|pair| (pair.better, pair.worse)).collect();
        let said = self.compare(&self.encode(data.features())?, &both)?;
        Ok((0..pairs.len()).filter(|&pair| said[pair].is_nan() || said[pair] <= 0.0).collect())
    }

    /// Writes it.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("features", &self.combine.word())?;
        sections.put_json("map", &self.map)?;
        sections.put_json("names", &self.names)?;
        sections.put_json("estimator", &self.estimator)?;
        sections.within("preference", |sections| self.member.save(sections))
    }

    /// Reads it.
    pub fn load(sections: &Sections, header: &Header, load: LoadPart) -> Result<Preference> {
        let map: FeatureMap = sections.json("map")?;
        map.check(header.schema.features.len())?;
        let (word, names): (String, Vec<String>) = (sections.json("features")?, sections.json("names")?);
        let combine = Combine::from_value(&Value::Text(word))
            .ok_or_else(|| Error::model_file("a preference doesn't say what it compares"))?;
        let mut own = header.clone();
        let spec = |name: &String| FeatureSpec {
            name: name.clone(),
            kind: ColumnKind::Numeric,
            levels: Vec::new(),
            open: false,
        };
        own.schema.features = names.iter().map(spec).collect();
        (own.schema.task, own.schema.n_outputs) = (Task::Classification, 0);
        own.schema.classes = class_names().to_vec();
        let member = Member::load(&sections.part("preference"), &own, load)?;
        Preference::new(combine, map, names, member, sections.json("estimator")?)
    }
}
