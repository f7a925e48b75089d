//! The list of learners, by name: for programs that let their users choose a learner, and for reading model files.
//!
//! ```
//! for entry in ermine::registry::learners() {
//!     println!("{:<24} {}", entry.info().name, entry.info().summary);
//! }
//! let mut learner = ermine::registry::learner("random-forest")?;
//! learner.set("n_estimators", &ermine::learner::Value::Int(50))?;
//! # Ok::<(), ermine::Error>(())
//! ```

#[cfg(feature = "trees")]
use crate::auto;
use crate::baseline;
#[cfg(feature = "linear")]
use crate::reduction::ranking;
#[cfg(feature = "trees")]
use crate::reduction::{adaboost, bagging};
use crate::reduction::{calibration, multiclass, multilabel, stacking, voting};
use ermine_core::error::Result;
use ermine_core::learner::Learner;
use ermine_core::model::{Fitted, Header};
#[doc(inline)]
pub use ermine_core::registry::{Registry, RegistryEntry};
use ermine_core::section::Sections;

/// The learners of the enabled features.
pub const REGISTRY: Registry = Registry::new(&[
    BASELINE,
    #[cfg(feature = "trees")]
    ermine_trees::learner::LEARNERS,
    #[cfg(feature = "linear")]
    ermine_linear::learner::LEARNERS,
    #[cfg(feature = "neighbors")]
    ermine_neighbors::learner::LEARNERS,
    REDUCTIONS,
]);

/// All learners, in the order in which users see them.
pub fn learners() -> impl Iterator<Item = &'static RegistryEntry> {
    REGISTRY.entries()
}

/// A learner with its default parameters.
pub fn learner(name: &str) -> Result<Box<dyn Learner>> {
    REGISTRY.learner(name)
}

/// The learner that the interfaces of Ermine use by default; it needs the feature `trees`.
pub const DEFAULT: &str = "gradient-boosting";

const BASELINE: &[RegistryEntry] =
    &[RegistryEntry { make: || Box::new(baseline::Baseline::default()), load: baseline::FittedBaseline::load }];

/// Meta-estimators.
const REDUCTIONS: &[RegistryEntry] = &[
    #[cfg(feature = "trees")]
    RegistryEntry {
        make: || Box::new(adaboost::AdaBoost::default()),
        load: |sections, header| adaboost::BoostedVote::load(sections, header, load_part),
    },
    #[cfg(feature = "trees")]
    RegistryEntry {
        make: || Box::new(bagging::Bagging::default()),
        load: |sections, header| bagging::FittedBagging::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(stacking::Stacking::default()),
        load: |sections, header| stacking::FittedStacking::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(voting::Voting::default()),
        load: |sections, header| voting::FittedVoting::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(calibration::Calibrated::default()),
        load: |sections, header| calibration::FittedCalibration::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(multiclass::OneVsRest::default()),
        load: |sections, header| multiclass::FittedMulticlass::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(multiclass::OneVsOne::default()),
        load: |sections, header| multiclass::FittedMulticlass::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(multiclass::OutputCode::default()),
        load: |sections, header| multiclass::FittedMulticlass::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(multilabel::BinaryRelevance::default()),
        load: |sections, header| multilabel::FittedChains::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(multilabel::ClassifierChain::default()),
        load: |sections, header| multilabel::FittedChains::load(sections, header, load_part),
    },
    RegistryEntry {
        make: || Box::new(multilabel::LabelPowerset::default()),
        load: |sections, header| multilabel::FittedPowerset::load(sections, header, load_part),
    },
    #[cfg(feature = "linear")]
    RegistryEntry {
        make: || Box::new(ranking::PairwiseRanking::default()),
        load: |sections, header| ranking::FittedRanker::load(sections, header, load_part),
    },
    #[cfg(feature = "linear")]
    RegistryEntry {
        make: || Box::new(ranking::OmegaRanking::default()),
        load: |sections, header| ranking::FittedRanker::load(sections, header, load_part),
    },
    #[cfg(feature = "trees")]
    RegistryEntry {
        make: || Box::new(auto::Auto::default()),
        load: |sections, header| auto::FittedAuto::load(sections, header, load_part),
    },
];

/// Reads a fitted model from its sections, given the name of its learner.
fn load_part(name: &str, sections: &Sections, header: &Header) -> Result<Box<dyn Fitted>> {
    REGISTRY.load_part(name, sections, header)
}
