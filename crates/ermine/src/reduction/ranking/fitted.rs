//! A fitted ranking model.

use super::order::{RankAggregation, scores};
use super::preference::PairwisePreference;
use crate::reduction::committee::LoadFitted;
use ermine_core::error::Result;
use ermine_core::matrix::dataset::queries;
use ermine_core::matrix::{Features, Schema};
use ermine_core::model::{Attribute, Fitted, Header, Output};
use ermine_core::section::Sections;

/// A preference and how it is turned into a ranking.
pub struct FittedRanker {
    preference: PairwisePreference,
    aggregation: RankAggregation,
    seed: u64,
}

impl FittedRanker {
    pub(super) fn new(preference: PairwisePreference, aggregation: RankAggregation, seed: u64) -> FittedRanker {
        FittedRanker { preference, aggregation, seed }
    }

    /// The learned preference.
    pub fn preference(&self) -> &PairwisePreference {
        &self.preference
    }

    /// Reads the model from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadFitted) -> Result<Box<dyn Fitted>> {
        let (preference, aggregation) = (PairwisePreference::load(sections, header, load)?, sections.json("order")?);
        Ok(Box::new(FittedRanker::new(preference, aggregation, header.seed)))
    }

    fn scores_within(&self, features: &Features, group: Option<&[u32]>) -> Result<Vec<f64>> {
        if !self.is_relative()
            && let Some(scores) = self.preference.scores(features)?
        {
            return Ok(scores);
        }
        let rows = self.preference.encode(features)?;
        let compare = |pairs: &[(u32, u32)]| self.preference.compare(&rows, pairs);
        scores(self.aggregation, &queries(group, features.n_rows()), features.n_rows(), self.seed, &compare)
    }
}

impl Fitted for FittedRanker {
    fn output(&self) -> Output {
        Output::Values
    }

    fn is_relative(&self) -> bool {
        // A linear preference has one score per row; votes and quicksort both rank by it.
        self.preference.weights().is_none() || self.aggregation == RankAggregation::Probabilistic
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        self.scores_within(features, None)
    }

    fn predict_queries(&self, features: &Features, queries: &[u32]) -> Result<Vec<f64>> {
        self.scores_within(features, Some(queries))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("order", &self.aggregation)?;
        self.preference.save(sections)
    }

    fn text(&self, _: &Schema) -> String {
        let how = match self.aggregation {
            RankAggregation::Votes => "votes of all pairs",
            RankAggregation::Quicksort => "quicksort with random pivots",
            RankAggregation::Probabilistic => "quicksort with random pivots and comparisons drawn by probability",
        };
        let mut text = format!("ranking by {how}, with a preference learned by {}\n", self.preference.estimator());
        text += &format!(
            "features of a pair: {}\n",
            match self.preference.pair_features() {
                super::preference::PairFeatures::Difference => "differences of the values",
                super::preference::PairFeatures::Greater => "which value is greater",
            }
        );
        if let Some(weights) = self.preference.weights() {
            text += "the preference is linear; coefficients of the score of a row:\n";
            let mut by_size: Vec<usize> = (0..weights.len()).collect();
            by_size.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
            const SHOWN: usize = 20;
            for &k in by_size.iter().take(SHOWN) {
                text += &format!("  {:>12.6}  {}\n", weights[k], self.preference.names()[k]);
            }
            if by_size.len() > SHOWN {
                text += &format!("  ... and {} more\n", by_size.len() - SHOWN);
            }
        }
        text
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let coefficients = |weights: &[f64]| Attribute::coefficients(vec![weights.len()], weights.to_vec());
        self.preference.weights().map(coefficients).into_iter().collect()
    }
}
