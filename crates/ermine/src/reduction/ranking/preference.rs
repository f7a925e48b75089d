//! A learned preference between two rows.
//!
//! **Features of a pair (a, b).** Each row is encoded as numbers first (one-hot categories, missing values replaced by means), and then
//! ```text
//! difference   a_k - b_k                 greater   1 if a_k > b_k, else 0
//! ```
//! Each pair is two training rows, (a, b) of the class "before" and (b, a) of the class "after", so that the classes are balanced and the model is symmetric.
//!
//! **Preference.** With c(a, b) the score of the class "before", `F(a, b) = (c(a, b) - c(b, a)) / 2`, so that F(b, a) = -F(a, b) for any classifier.

use super::pairs::PreferencePair;
use crate::reduction::committee::{LoadFitted, Member};
use crate::reduction::estimator::Estimator;
use ermine_core::choice;
use ermine_core::error::{Error, Result};
use ermine_core::learner::Context;
use ermine_core::linalg::Design;
use ermine_core::matrix::{Dataset, DesignOptions, FeatureMap, FeatureSpec, Features, NumericFeatures, Target, Task};
use ermine_core::model::{Header, Output, Status};
use ermine_core::parallel;
use ermine_core::param::{ParamType, Value};
use ermine_core::section::Sections;
use ermine_core::table::{Column, ColumnKind, Table};
use ermine_linear::learner::linear::fitted::LinearModel;
use std::any::Any;
use std::sync::Arc;

choice! {
    /// Features of a pair of rows.
    pub enum PairFeatures {
        /// Differences of the features of the two rows.
        Difference = "difference",
        /// For each feature, 1 if the value of the first row is greater, else 0.
        Greater = "greater",
    }
}

/// Number of pairs that are compared at once; their features should fit into the cache.
const BATCH: usize = 1 << 14;

/// A learned preference.
pub struct PairwisePreference {
    pair_features: PairFeatures,
    map: FeatureMap,
    /// Names of the encoded features.
    names: Vec<String>,
    member: Member,
    estimator: String,
}

/// Rows encoded as numbers, column by column, and whether the encoding is sparse.
pub struct EncodedColumns {
    columns: Vec<Vec<f64>>,
    sparse: bool,
}

impl EncodedColumns {
    fn new(numbers: &NumericFeatures<'_>) -> Result<EncodedColumns> {
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
                    let (indices, values) = x.rows().line(i);
                    indices.iter().zip(values).for_each(|(&j, &value)| columns[j as usize][i] = value);
                }
                columns
            }
        };
        Ok(EncodedColumns { columns, sparse })
    }

    /// The features of pairs, in both directions: first (a, b), then (b, a).
    fn pairs(
        &self,
        pair_features: PairFeatures,
        names: &[String],
        pairs: impl Fn(usize) -> (u32, u32) + Sync,
        n: usize,
    ) -> Features {
        let column = |(numbers, name): (&Vec<f64>, &String)| {
            let mut out = Vec::with_capacity(2 * n);
            for pair in 0..n {
                let (a, b) = pairs(pair);
                let (a, b) = (numbers[a as usize], numbers[b as usize]);
                out.extend(match pair_features {
                    PairFeatures::Difference => [a - b, b - a],
                    PairFeatures::Greater => [f64::from(u8::from(a > b)), f64::from(u8::from(b > a))],
                });
            }
            if !self.sparse {
                return Column::numeric(name.clone(), out);
            }
            let nonzero: Vec<u32> = (0..out.len() as u32).filter(|&row| out[row as usize] != 0.0).collect();
            let values: Vec<f64> = nonzero.iter().map(|&row| out[row as usize]).collect();
            Column::sparse(name.clone(), out.len(), nonzero.into(), values.into())
        };
        let columns: Vec<Column> = parallel::consume(self.columns.iter().zip(names), |_, pair| column(pair));
        Features::new(Arc::new(Table::of_columns(columns, 2 * n)))
    }
}

fn class_names() -> Arc<[String]> {
    Arc::new(["after".to_string(), "before".to_string()])
}

impl PairwisePreference {
    /// Trains the preference on pairs of rows.
    pub fn train(
        estimator: &Estimator,
        pair_features: PairFeatures,
        data: &Dataset,
        pairs: &[PreferencePair],
        context: &Context<'_>,
    ) -> Result<PairwisePreference> {
        let learner = estimator.learner(context)?;
        if !learner.info().capabilities.tasks.contains(&Task::Classification) {
            let need = format!("{}, which is not a classifier", estimator.name);
            return Err(Error::Unsupported { learner: "a pairwise ranking".into(), need });
        }
        if pairs.is_empty() {
            return Err(Error::data(
                "no query has two rows with different relevance grades, so there is nothing to learn",
            ));
        }
        let options = DesignOptions { degree: 1, interaction_only: false, references: false };
        let (map, numbers) = FeatureMap::fit(data.features(), options, data.weight())?;
        let names = map.names(data.features());
        let rows = |pair: usize| (pairs[pair].better, pairs[pair].worse);
        let features = EncodedColumns::new(&numbers)?.pairs(pair_features, &names, rows, pairs.len());
        let codes = [1, 0].repeat(pairs.len());
        let examples =
            Dataset::from_parts(features, Target::Classes { codes, labels: class_names() }, Task::Classification)?;
        // Equal weights are left out, because some learners don't support weights.
        let equal_weights = pairs.iter().all(|pair| pair.weight == pairs[0].weight);
        let weights = (!equal_weights).then(|| pairs.iter().flat_map(|pair| [pair.weight; 2]).collect());
        let member = Member::train(&*learner, &examples.with_weight(weights)?, None, context.seed, context)?;
        PairwisePreference::new(pair_features, map, names, member, estimator.to_string())
    }

    fn new(
        pair_features: PairFeatures,
        map: FeatureMap,
        names: Vec<String>,
        member: Member,
        estimator: String,
    ) -> Result<PairwisePreference> {
        if member.output() == Output::Values || names.len() != map.n_columns() {
            return Err(Error::model_file("the preference doesn't fit the features of its pairs"));
        }
        Ok(PairwisePreference { pair_features, map, names, member, estimator })
    }

    /// The base estimator.
    pub fn estimator(&self) -> &str {
        &self.estimator
    }

    /// The features of a pair.
    pub fn pair_features(&self) -> PairFeatures {
        self.pair_features
    }

    /// Whether preferences are computed from probabilities.
    pub fn has_probabilities(&self) -> bool {
        self.member.output() == Output::Probabilities
    }

    /// The coefficient of each encoded feature; `None` if the preference is not a linear function of differences.
    pub fn weights(&self) -> Option<&[f64]> {
        let linear = (self.member.fitted() as &dyn Any).downcast_ref::<LinearModel>()?;
        // With polynomial features there are more coefficients than encoded features.
        let is_linear = linear.intercepts.len() == 1 && linear.coefficients.n_columns() == self.names.len();
        (is_linear && self.pair_features == PairFeatures::Difference).then(|| linear.coefficients.row(0))
    }

    /// How the training of the classifier ended.
    pub fn status(&self) -> &Status {
        self.member.status()
    }

    /// Names of the encoded features.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The linear score of each row; `None` if the preference is not linear.
    pub fn scores(&self, features: &Features) -> Result<Option<Vec<f64>>> {
        let Some(weights) = self.weights() else { return Ok(None) };
        self.map.numbers(features)?.design().map(|design| Some(design.times(weights, 0.0)))
    }

    /// Encodes rows for [`compare`](Self::compare).
    pub fn encode(&self, features: &Features) -> Result<EncodedColumns> {
        EncodedColumns::new(&self.map.numbers(features)?)
    }

    /// The preference for each pair: positive if the first row is ranked before the second.
    pub fn compare(&self, rows: &EncodedColumns, pairs: &[(u32, u32)]) -> Result<Vec<f64>> {
        let batch = |pairs: &[(u32, u32)]| {
            let features = rows.pairs(self.pair_features, &self.names, |pair| pairs[pair], pairs.len());
            let scores = self.member.positive_scores(&features)?;
            Ok(scores.chunks_exact(2).map(|c| (c[0] - c[1]) / 2.0).collect::<Vec<f64>>())
        };
        let batches: Vec<Vec<f64>> =
            parallel::consume(pairs.chunks(BATCH), |_, pairs| batch(pairs)).into_iter().collect::<Result<_>>()?;
        Ok(batches.concat())
    }

    /// Indices of the pairs that the preference does not rank correctly.
    pub fn misranked_pairs(&self, data: &Dataset, pairs: &[PreferencePair]) -> Result<Vec<usize>> {
        let rows: Vec<(u32, u32)> = pairs.iter().map(|pair| (pair.better, pair.worse)).collect();
        let preferences = self.compare(&self.encode(data.features())?, &rows)?;
        Ok((0..pairs.len()).filter(|&pair| preferences[pair].is_nan() || preferences[pair] <= 0.0).collect())
    }

    /// Writes the preference to a model file.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("features", &self.pair_features.as_str())?;
        sections.put_json("map", &self.map)?;
        sections.put_json("names", &self.names)?;
        sections.put_json("estimator", &self.estimator)?;
        sections.within("preference", |sections| self.member.save(sections))
    }

    /// Reads the preference from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<PairwisePreference> {
        let map: FeatureMap = sections.json("map")?;
        map.check(header.schema.features.len())?;
        let (name, names): (String, Vec<String>) = (sections.json("features")?, sections.json("names")?);
        let pair_features = PairFeatures::from_value(&Value::Text(name))
            .ok_or_else(|| Error::model_file("the preference has unknown pair features"))?;
        let mut member_header = header.clone();
        let spec = |name: &String| FeatureSpec {
            name: name.clone(),
            kind: ColumnKind::Numeric,
            levels: Vec::new(),
            open: false,
            notation: Default::default(),
            range: None,
        };
        member_header.schema.features = names.iter().map(spec).collect();
        (member_header.schema.task, member_header.schema.n_outputs) = (Task::Classification, 0);
        member_header.schema.classes = class_names().to_vec();
        let member = Member::load(&sections.part("preference"), &member_header, load)?;
        PairwisePreference::new(pair_features, map, names, member, sections.json("estimator")?)
    }
}
