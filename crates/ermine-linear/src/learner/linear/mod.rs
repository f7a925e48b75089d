//! Linear models: thin learners over the solvers of [`optim`](crate::optim).
//!
//! | file | what it holds |
//! |---|---|
//! | [`prepare`] | before solving: features become numbers, classes signs, columns get a common scale |
//! | [`least_squares`] | linear regression |
//! | [`inference`] | standard errors, t and p values, R squared |
//! | [`ridge`] | ridge regression, for one strength or the best of many |
//! | [`lasso`] | lasso and elastic net, for one strength or the best of a path |
//! | [`cross_validate`] | the errors of a path on rows left out |
//! | [`logistic`] | logistic regression of two classes or many |
//! | [`quantile`] | least absolute deviations and quantile regression |
//! | [`huber`] | Huber regression |
//! | [`halfspace`] | a separating hyperplane, or the proof that there is none |
//! | [`perceptron`] | the perceptron in all its forms |
//! | [`gradient_descent`], [`sgd`] | any loss with any penalty, over all rows or a few at a time |
//! | [`rank_svm`] | a linear score that orders rows |
//! | [`losses`] | their losses and penalties by name |
//! | [`fitted`] | the fitted form |
//! | [`sgd_model`] | the fitted form of a stream |
//! | [`kernel_machine`] | the fitted form of kernel methods |
//! | [`show`] | it for people: tables and curves |
//! | [`report`] | from what solvers know to certificates |

pub mod cross_validate;
pub mod fitted;
pub mod gradient_descent;
pub mod halfspace;
pub mod huber;
pub mod inference;
pub mod kernel_machine;
pub mod lasso;
pub mod least_squares;
pub mod logistic;
pub mod losses;
pub mod perceptron;
pub mod perceptron_stream;
pub mod prepare;
pub mod quantile;
pub mod rank_svm;
pub mod report;
pub mod ridge;
pub mod sgd;
pub mod sgd_model;
pub mod show;
