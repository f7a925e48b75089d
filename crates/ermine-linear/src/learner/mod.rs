//! The learners of this family: linear models and support vector machines.

pub mod linear;
pub mod svm;

use ermine_core::registry::Entry;
use linear::{
    fitted::Linear, gradient_descent, halfspace, huber, lasso, least_squares, logistic, perceptron, quantile, rank_svm,
    ridge, sgd, sgd_model,
};
use svm::machine::Machine;

/// The linear models and support vector machines, in the order in which users see them.
pub const LEARNERS: &[Entry] = &[
    Entry { make: || Box::new(least_squares::LinearRegression::default()), load: Linear::load },
    Entry { make: || Box::new(ridge::Ridge::default()), load: Linear::load },
    Entry { make: || Box::new(ridge::RidgeCv::default()), load: Linear::load },
    Entry { make: || Box::new(lasso::Lasso::default()), load: Linear::load },
    Entry { make: || Box::new(lasso::LassoCv::default()), load: Linear::load },
    Entry { make: || Box::new(lasso::ElasticNet::default()), load: Linear::load },
    Entry { make: || Box::new(lasso::ElasticNetCv::default()), load: Linear::load },
    Entry { make: || Box::new(logistic::LogisticRegression::default()), load: Linear::load },
    Entry { make: || Box::new(quantile::LeastAbsoluteDeviations::default()), load: Linear::load },
    Entry { make: || Box::new(quantile::QuantileRegression::default()), load: Linear::load },
    Entry { make: || Box::new(huber::HuberRegression::default()), load: Linear::load },
    Entry { make: || Box::new(halfspace::Halfspace::default()), load: Linear::load },
    Entry { make: || Box::new(perceptron::Perceptron::default()), load: perceptron::load },
    Entry { make: || Box::new(gradient_descent::GradientDescent::default()), load: Linear::load },
    Entry { make: || Box::new(sgd::StochasticGradientDescent::default()), load: sgd_model::SgdModel::load },
    Entry { make: || Box::new(rank_svm::RankSvm::default()), load: Linear::load },
    Entry { make: || Box::new(svm::svc::Svc::default()), load: Machine::load },
    Entry { make: || Box::new(svm::svr::Svr::default()), load: Machine::load },
    Entry { make: || Box::new(svm::linear::LinearSvc::default()), load: Linear::load },
    Entry { make: || Box::new(svm::linear::LinearSvr::default()), load: Linear::load },
    Entry { make: || Box::new(svm::one_class::OneClassSvm::default()), load: Machine::load },
];
