//! The one list of learners. The command line, the Python package, the contract tests and the reader of model files all go
//! through it.

use crate::error::{Error, Result};
use crate::learner::baseline::{Baseline, Constant};
use crate::learner::forest::{ExtraTrees, FittedForest, RandomForest};
use crate::learner::stump::{DecisionStump, Stump};
use crate::learner::{Context, Info, Learner};
use crate::model::file;
use crate::model::{Fitted, Header, Model};
use crate::progress::Silent;
use crate::reduction::adaboost::{AdaBoost, Boosted};
use crate::reduction::bagging::{Bag, Bagging};
use crate::section::Sections;
use std::path::Path;

/// A learner in the registry.
pub struct Entry {
    /// Makes the learner with its default parameters.
    pub make: fn() -> Box<dyn Learner>,
    /// Reads its part of a model file, checking it.
    pub load: fn(&Sections, &Header) -> Result<Box<dyn Fitted>>,
}

/// All learners, in the order in which users see them.
pub const LEARNERS: &[Entry] = &[
    Entry { make: || Box::new(Baseline::default()), load: Constant::load },
    Entry { make: || Box::new(DecisionStump::default()), load: Stump::load },
    Entry { make: || Box::new(RandomForest::default()), load: FittedForest::load },
    Entry { make: || Box::new(ExtraTrees::default()), load: FittedForest::load },
    Entry {
        make: || Box::new(AdaBoost::default()),
        load: |sections, header| Boosted::load(sections, header, load_part),
    },
    Entry { make: || Box::new(Bagging::default()), load: |sections, header| Bag::load(sections, header, load_part) },
];

impl Default for Context<'_> {
    /// Seed 0, all cores, nobody watching, all learners of the registry.
    fn default() -> Self {
        Context { seed: 0, threads: None, observer: &Silent, learners: learner }
    }
}

impl Entry {
    /// Its name and what it can do.
    pub fn info(&self) -> &'static Info {
        (self.make)().info()
    }
}

/// The entry of a learner.
pub fn find(name: &str) -> Result<&'static Entry> {
    let found = LEARNERS.iter().find(|entry| entry.info().name == name);
    found.ok_or_else(|| Error::unknown("learner", name, LEARNERS.iter().map(|entry| entry.info().name)))
}

/// A learner with its default parameters.
pub fn learner(name: &str) -> Result<Box<dyn Learner>> {
    Ok((find(name)?.make)())
}

/// Reads the part of a model that belongs to the learner of this name.
fn load_part(name: &str, sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
    let entry = find(name).map_err(|_| Error::model_file(format!("a part was made by an unknown learner '{name}'")))?;
    (entry.load)(sections, header)
}

impl Model {
    /// Reads a model from the bytes of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Model> {
        let (header, sections) = file::from_bytes(bytes)?;
        let entry = find(&header.learner).map_err(|_| {
            Error::model_file(format!("it was made by a learner '{}' that is not known here", header.learner))
        })?;
        let fitted = (entry.load)(&sections, &header)?;
        Ok(Model::new(header, fitted))
    }

    /// Reads a model file.
    pub fn load(path: impl AsRef<Path>) -> Result<Model> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io(path, e))?;
        Model::from_bytes(&bytes).map_err(|e| e.in_file(path))
    }
}
