//! The one list of learners. The command line, the Python package, the contract tests and the reader of model files all go
//! through it.

use crate::error::{Error, Result};
use crate::learner::{self, Context, Info, Learner};
use crate::model::file;
use crate::model::{Fitted, Header, Model};
use crate::progress::Silent;
use crate::reduction;
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
    Entry { make: || Box::new(learner::baseline::Baseline::default()), load: learner::baseline::Constant::load },
    Entry { make: || Box::new(learner::stump::DecisionStump::default()), load: learner::stump::Stump::load },
    Entry {
        make: || Box::new(learner::decision_tree::DecisionTree::default()),
        load: learner::fitted_tree::FittedTree::load,
    },
    Entry { make: || Box::new(learner::id3::Id3::default()), load: learner::fitted_tree::FittedTree::load },
    Entry { make: || Box::new(learner::c45::C45::default()), load: learner::fitted_tree::FittedTree::load },
    Entry {
        make: || Box::new(learner::optimal_tree::OptimalTree::default()),
        load: learner::fitted_tree::FittedTree::load,
    },
    Entry {
        make: || Box::new(learner::oblique_tree::ObliqueTree::default()),
        load: learner::row_tree::FittedRows::load,
    },
    Entry {
        make: || Box::new(learner::comparison_tree::ComparisonTree::default()),
        load: learner::row_tree::FittedRows::load,
    },
    Entry {
        make: || Box::new(learner::comparison_forest::ComparisonForest::default()),
        load: learner::comparison_forest::FittedComparisons::load,
    },
    Entry { make: || Box::new(learner::quad_tree::QuadTree::default()), load: learner::row_tree::FittedRows::load },
    Entry {
        make: || Box::new(learner::density_tree::DensityTree::default()),
        load: learner::density_tree::FittedDensity::load,
    },
    Entry {
        make: || Box::new(learner::gradient_boosting::GradientBoosting::default()),
        load: learner::gradient_boosting::Boosted::load,
    },
    Entry { make: || Box::new(learner::forest::RandomForest::default()), load: learner::forest::FittedForest::load },
    Entry { make: || Box::new(learner::forest::ExtraTrees::default()), load: learner::forest::FittedForest::load },
    Entry {
        make: || Box::new(learner::linear::least_squares::LinearRegression::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry { make: || Box::new(learner::linear::ridge::Ridge::default()), load: learner::linear::fitted::Linear::load },
    Entry {
        make: || Box::new(learner::linear::ridge::RidgeCv::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry { make: || Box::new(learner::linear::lasso::Lasso::default()), load: learner::linear::fitted::Linear::load },
    Entry {
        make: || Box::new(learner::linear::lasso::LassoCv::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::lasso::ElasticNet::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::lasso::ElasticNetCv::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::logistic::LogisticRegression::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::quantile::LeastAbsoluteDeviations::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::quantile::QuantileRegression::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::huber::HuberRegression::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::halfspace::Halfspace::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::perceptron::Perceptron::default()),
        load: learner::linear::perceptron::load,
    },
    Entry {
        make: || Box::new(learner::linear::gradient_descent::GradientDescent::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::linear::sgd::StochasticGradientDescent::default()),
        load: learner::linear::sgd_model::SgdModel::load,
    },
    Entry {
        make: || Box::new(learner::linear::rank_svm::RankSvm::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::nearest_neighbors::NearestNeighbors::default()),
        load: learner::nearest_neighbors::NeighborModel::load,
    },
    Entry { make: || Box::new(learner::svm::svc::Svc::default()), load: learner::svm::machine::Machine::load },
    Entry { make: || Box::new(learner::svm::svr::Svr::default()), load: learner::svm::machine::Machine::load },
    Entry {
        make: || Box::new(learner::svm::linear::LinearSvc::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::svm::linear::LinearSvr::default()),
        load: learner::linear::fitted::Linear::load,
    },
    Entry {
        make: || Box::new(learner::svm::one_class::OneClassSvm::default()),
        load: learner::svm::machine::Machine::load,
    },
    Entry {
        make: || Box::new(reduction::adaboost::AdaBoost::default()),
        load: |sections, header| reduction::adaboost::Boosted::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::bagging::Bagging::default()),
        load: |sections, header| reduction::bagging::Bag::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::calibration::Calibrated::default()),
        load: |sections, header| reduction::calibration::FittedCalibration::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::multiclass::OneVsRest::default()),
        load: |sections, header| reduction::multiclass::Coded::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::multiclass::OneVsOne::default()),
        load: |sections, header| reduction::multiclass::Coded::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::multiclass::OutputCode::default()),
        load: |sections, header| reduction::multiclass::Coded::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::multilabel::BinaryRelevance::default()),
        load: |sections, header| reduction::multilabel::Chains::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::multilabel::ClassifierChain::default()),
        load: |sections, header| reduction::multilabel::Chains::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::multilabel::LabelPowerset::default()),
        load: |sections, header| reduction::multilabel::Powerset::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::ranking::PairwiseRanking::default()),
        load: |sections, header| reduction::ranking::Ranker::load(sections, header, load_part),
    },
    Entry {
        make: || Box::new(reduction::ranking::OmegaRanking::default()),
        load: |sections, header| reduction::ranking::Ranker::load(sections, header, load_part),
    },
];

/// The learner that is used where none is named.
pub const DEFAULT: &str = "gradient-boosting";

impl Default for Context<'_> {
    /// Seed 0, all cores, nobody watching, all learners of the registry.
    fn default() -> Self {
        Context { seed: 0, threads: None, observer: &Silent, previous: None, folds: None, learners: learner }
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

    /// How many models it is made of: the trees of a forest, the members of a committee. 0 where it isn't made of models.
    pub fn n_members(&self) -> usize {
        self.own().n_parts()
    }

    /// One of the models that it is made of, as a model of its own.
    pub fn member(&self, member: usize) -> Result<Model> {
        let n = self.n_members();
        if member >= n && n > 0 {
            return Err(Error::data(format!("member {member} was asked for, but there are {n}")));
        }
        let (mut header, sections) = self.own().part(member, self.header())?;
        let entry = find(&header.learner)?;
        let mut learner = (entry.make)();
        // Parameters of the whole that its parts don't have, or have in another form, are passed over.
        header.params.iter().for_each(|(name, value)| drop(learner.set(name, value)));
        header.params = learner.values().into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        header.notes.clear();
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
