//! The one list of learners. The command line, the Python package, the contract tests and the reader of model files all go
//! through it.

use crate::baseline;
use crate::reduction::{adaboost, bagging, calibration, multiclass, multilabel, ranking};
use ermine_core::error::Result;
use ermine_core::learner::Learner;
use ermine_core::model::{Fitted, Header};
pub use ermine_core::registry::{Entry, Registry};
use ermine_core::section::Sections;

/// All learners of Ermine.
pub const REGISTRY: Registry = Registry::new(&[
    BASELINE,
    ermine_trees::learner::LEARNERS,
    ermine_linear::learner::LEARNERS,
    ermine_neighbors::learner::LEARNERS,
    REDUCTIONS,
]);

/// All learners, in the order in which users see them.
pub fn learners() -> impl Iterator<Item = &'static Entry> {
    REGISTRY.entries()
}

/// A learner with its default parameters.
pub fn learner(name: &str) -> Result<Box<dyn Learner>> {
    REGISTRY.learner(name)
}

/// The learner that is used where none is named.
pub const DEFAULT: &str = "gradient-boosting";

const BASELINE: &[Entry] =
    &[Entry { make: || Box::new(baseline::Baseline::default()), load: baseline::Constant::load }];

/// Learners over learners.
const REDUCTIONS: &[Entry] = &[
    Entry {
        make: || Box::new(adaboost::AdaBoost::default()),
        load: |sections, header| adaboost::Boosted::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(bagging::Bagging::default()),
        load: |sections, header| bagging::Bag::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(calibration::Calibrated::default()),
        load: |sections, header| calibration::FittedCalibration::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(multiclass::OneVsRest::default()),
        load: |sections, header| multiclass::Coded::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(multiclass::OneVsOne::default()),
        load: |sections, header| multiclass::Coded::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(multiclass::OutputCode::default()),
        load: |sections, header| multiclass::Coded::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(multilabel::BinaryRelevance::default()),
        load: |sections, header| multilabel::Chains::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(multilabel::ClassifierChain::default()),
        load: |sections, header| multilabel::Chains::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(multilabel::LabelPowerset::default()),
        load: |sections, header| multilabel::Powerset::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(ranking::PairwiseRanking::default()),
        load: |sections, header| ranking::Ranker::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(ranking::OmegaRanking::default()),
        load: |sections, header| ranking::Ranker::load(sections, header, load_part),
    },
];

/// Reads the part of a model that belongs to the learner of this name.
fn load_part(name: &str, sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
    REGISTRY.load_part(name, sections, header)
}
