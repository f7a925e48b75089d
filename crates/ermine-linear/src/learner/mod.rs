//! The learners of this family: linear models and support vector machines.

pub mod linear;
pub mod svm;

use ermine_core::registry::RegistryEntry;
use linear::{
    fitted::LinearModel, gradient_descent, halfspace, huber, lasso, least_squares, logistic, perceptron, quantile,
    rank_svm, ridge, sgd, sgd_model,
};
use svm::machine::SvmModel;

/// The linear models and support vector machines, in the order in which users see them.
pub const LEARNERS: &[RegistryEntry] = &[
    RegistryEntry { make: || Box::new(least_squares::LinearRegression::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(ridge::Ridge::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(ridge::RidgeCv::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(lasso::Lasso::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(lasso::LassoCv::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(lasso::ElasticNet::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(lasso::ElasticNetCv::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(logistic::LogisticRegression::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(quantile::LeastAbsoluteDeviations::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(quantile::QuantileRegression::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(huber::HuberRegression::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(halfspace::Halfspace::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(perceptron::Perceptron::default()), load: perceptron::load },
    RegistryEntry { make: || Box::new(gradient_descent::GradientDescent::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(sgd::StochasticGradientDescent::default()), load: sgd_model::SgdModel::load },
    RegistryEntry { make: || Box::new(rank_svm::RankSvm::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(svm::svc::Svc::default()), load: SvmModel::load },
    RegistryEntry { make: || Box::new(svm::svr::Svr::default()), load: SvmModel::load },
    RegistryEntry { make: || Box::new(svm::linear::LinearSvc::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(svm::linear::LinearSvr::default()), load: LinearModel::load },
    RegistryEntry { make: || Box::new(svm::one_class::OneClassSvm::default()), load: SvmModel::load },
];
