//! The fitted form of rankings by preference.

use super::order::{Order, scores};
use super::preference::Preference;
use crate::reduction::committee::LoadPart;
use ermine_core::error::Result;
use ermine_core::matrix::dataset::queries;
use ermine_core::matrix::{Features, Schema};
use ermine_core::model::{Attribute, Fitted, Header, Output};
use ermine_core::section::Sections;

/// A preference, and how it becomes an order.
pub struct Ranker {
    preference: Preference,
    order: Order,
    seed: u64,
}

impl Ranker {
    pub(super) fn new(preference: Preference, order: Order, seed: u64) -> Ranker {
        Ranker { preference, order, seed }
    }

    /// The learned preference.
    pub fn preference(&self) -> &Preference {
        &self.preference
    }

    /// Reads it from a model file.
    pub fn load(sections: &Sections, header: &Header, load: LoadPart) -> Result<Box<dyn Fitted>> {
        let (preference, order) = (Preference::load(sections, header, load)?, sections.json("order")?);
        Ok(Box::new(Ranker::new(preference, order, header.seed)))
    }

    fn within(&self, features: &Features, group: Option<&[u32]>) -> Result<Vec<f64>> {
        if !self.is_relative()
            && let Some(scores) = self.preference.scores(features)?
        {
            return Ok(scores);
        }
        let rows = self.preference.encode(features)?;
        let compare = |pairs: &[(u32, u32)]| self.preference.compare(&rows, pairs);
        scores(self.order, &queries(group, features.n_rows()), features.n_rows(), self.seed, &compare)
    }
}

impl Fitted for Ranker {
    fn output(&self) -> Output {
        Output::Values
    }

    fn is_relative(&self) -> bool {
        // A linear preference has a score for each row: votes and sorting give its order.
        self.preference.weights().is_none() || self.order == Order::Probabilistic
    }

    fn predict(&self, features: &Features) -> Result<Vec<f64>> {
        self.within(features, None)
    }

    fn predict_queries(&self, features: &Features, queries: &[u32]) -> Result<Vec<f64>> {
        self.within(features, Some(queries))
    }

    fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_json("order", &self.order)?;
        self.preference.save(sections)
    }

    fn text(&self, _: &Schema) -> String {
        let how = match self.order {
            Order::Votes => "the votes of all pairs",
            Order::Quicksort => "quicksort with random pivots",
            Order::Probabilistic => "quicksort with random pivots and comparisons drawn by their probability",
        };
        let mut text = format!("an order by {how}, with a preference learned by {}\n", self.preference.estimator());
        text += &format!(
            "from the {} of two rows\n",
            match self.preference.combine() {
                super::preference::Combine::Difference => "differences",
                super::preference::Combine::Greater => "greater numbers",
            }
        );
        if let Some(weights) = self.preference.weights() {
            text += "it is linear, so that each row has a score of its own:\n";
            let mut order: Vec<usize> = (0..weights.len()).collect();
            order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
            const SHOWN: usize = 20;
            for &k in order.iter().take(SHOWN) {
                text += &format!("  {:>12.6}  {}\n", weights[k], self.preference.names()[k]);
            }
            if order.len() > SHOWN {
                text += &format!("  ... and {} more\n", order.len() - SHOWN);
            }
        }
        text
    }

    fn attributes(&self, _: &Schema) -> Vec<Attribute> {
        let coefficients = |weights: &[f64]| Attribute::coefficients(vec![weights.len()], weights.to_vec());
        self.preference.weights().map(coefficients).into_iter().collect()
    }
}
