//! Linear models: thin learners over the solvers of [`optim`](crate::optim).
//!
//! | file | what it holds |
//! |---|---|
//! | [`prepare`] | preparation of the data: encoding, class signs, scaling |
//! | [`least_squares`] | linear regression |
//! | [`inference`] | standard errors, p-values, R squared |
//! | [`ridge`] | ridge regression, for one penalty strength or the best of several |
//! | [`lasso`] | lasso and elastic net, for one penalty strength or the best of a path |
//! | [`cross_validate`] | cross-validation errors of a path |
//! | [`logistic`] | binary and multinomial logistic regression |
//! | [`quantile`] | least absolute deviations and quantile regression |
//! | [`huber`] | Huber regression |
//! | [`halfspace`] | a separating hyperplane, or the proof that there is none |
//! | [`perceptron`] | the perceptron: online, averaged, batch, kernel |
//! | [`gradient_descent`], [`sgd`] | any loss with any penalty, by batch or stochastic gradient descent |
//! | [`rank_svm`] | linear ranking |
//! | [`losses`] | losses and penalties by name |
//! | [`fitted`] | the fitted linear model |
//! | [`sgd_model`] | the fitted model of stochastic gradient descent |
//! | [`kernel_machine`] | the fitted kernel perceptron |
//! | [`show`] | text and HTML: tables and curves |
//! | [`report`] | certificates from solver outcomes |

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
