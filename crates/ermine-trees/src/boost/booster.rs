//! The fitted sum of trees: prediction, reading and writing.
//!
//! One forest for each output. The first tree of a forest is a leaf that holds where scores start, so that a score is added up here in the order in which training adds
//! it up, to the last bit: a run that continues from a model has the scores that the model's own run had.

use crate::tree::Tree;
use crate::tree::engine::{self, PredictionEngine};
use crate::tree::forest::Forest;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::Features;
use ermine_core::section::Sections;
use std::sync::{Arc, OnceLock};

/// A sum of trees.
#[derive(Debug, Clone)]
pub struct Booster {
    /// Where scores start, one for each output.
    start: Vec<f64>,
    /// The trees of each output.
    forests: Vec<Arc<Forest>>,
    /// The form for many rows, made on first use.
    engine: OnceLock<PredictionEngine>,
}

/// Sums are the same if they start alike and their trees are the same.
impl PartialEq for Booster {
    fn eq(&self, other: &Self) -> bool {
        self.start == other.start && self.forests == other.forests
    }
}

impl Booster {
    /// Puts trees together, round after round, one for each output.
    pub fn new(start: Vec<f64>, trees: impl IntoIterator<Item = Tree>) -> Booster {
        let forest = |&start: &f64| {
            let mut forest = Forest::new(1);
            forest.push(&Tree::leaf(0.0, &[start]));
            forest
        };
        let mut forests: Vec<Forest> = start.iter().map(forest).collect();
        let n = forests.len().max(1);
        trees.into_iter().enumerate().for_each(|(number, tree)| forests[number % n].push(&tree));
        Booster { start, forests: forests.into_iter().map(Arc::new).collect(), engine: OnceLock::new() }
    }

    /// How many scores a row has.
    pub fn n_scores(&self) -> usize {
        self.start.len()
    }

    /// How many rounds.
    pub fn n_rounds(&self) -> usize {
        self.forests.first().map_or(0, |forest| forest.n_trees() - 1)
    }

    /// Where scores start.
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// How many trees: one for each round and output.
    pub fn n_trees(&self) -> usize {
        self.n_rounds() * self.n_scores()
    }

    /// A tree by its number: round after round, one for each output.
    pub fn tree(&self, number: usize) -> Tree {
        let k = self.n_scores();
        self.forests[number % k].tree(1 + number / k)
    }

    /// The scores of each row after `n_rounds` rounds, row by row.
    pub fn scores(&self, features: &Features, n_rounds: usize) -> Vec<f64> {
        let n_rounds = n_rounds.min(self.n_rounds());
        let forests: Vec<&Forest> = self.forests.iter().map(AsRef::as_ref).collect();
        let engine = || Some(self.engine.get_or_init(|| PredictionEngine::new(&forests, features.n_columns())));
        engine::sums(&forests, engine, 0..n_rounds + 1, features)
    }

    /// The trees of each output; the first tree of each is the initial score.
    pub fn forests(&self) -> &[Arc<Forest>] {
        &self.forests
    }

    /// Adds what one round says to the scores of each row, row by row.
    pub fn add_round(&self, features: &Features, round: usize, scores: &mut [f64]) {
        let k = self.n_scores();
        for (output, forest) in self.forests.iter().enumerate() {
            let sums = forest.sum_of(round + 1..round + 2, features);
            scores.iter_mut().skip(output).step_by(k).zip(sums).for_each(|(score, sum)| *score += sum);
        }
    }

    /// Writes it.
    pub fn save(&self, sections: &mut Sections) -> Result<()> {
        sections.put_f64s("start", &self.start);
        for (output, forest) in self.forests.iter().enumerate() {
            sections.within(output, |sections| forest.save(sections))?;
        }
        Ok(())
    }

    /// Reads it.
    pub fn load(sections: &Sections, n_features: usize) -> Result<Booster> {
        let start = sections.f64s("start")?;
        let mut sections = sections.clone();
        let mut read = |output: usize| sections.within(output, |s| Forest::load(s, n_features, 1));
        let forests: Vec<Forest> = (0..start.len()).map(&mut read).collect::<Result<_>>()?;
        let n_trees = forests.first().map_or(0, Forest::n_trees);
        if n_trees == 0 || forests.iter().any(|f| f.n_trees() != n_trees) || start.iter().any(|s| !s.is_finite()) {
            return Err(Error::model_file("its trees don't fit together"));
        }
        Ok(Booster { start, forests: forests.into_iter().map(Arc::new).collect(), engine: OnceLock::new() })
    }
}
