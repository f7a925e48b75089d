//! Gradient boosting: a sum of trees, each grown on the gradients of the loss at the sum so far.
//!
//! | file | what it holds |
//! |---|---|
//! | [`objective`] | objectives: value, gradient and curvature of a loss at the scores of rows |
//! | [`team`] | threads for short parallel steps |
//! | [`shard`] | a range of rows: scores, gradients, and the rows of each node |
//! | [`grow`] | one tree, leaf by leaf |
//! | [`symmetric`] | one tree, level by level, with the same test for all leaves of a level |
//! | [`leaves`] | values of leaves from all rows, and from the whole Hessian of several classes |
//! | [`grown`] | the tree over bins, and its translation to thresholds and categories |
//! | [`sample`] | sampling of rows and columns |
//! | [`booster`] | the fitted sum of trees |
//! | [`train`](mod@train) | the rounds; early stopping |
//!
//! **Formula.** In round t the tree f minimizes sum_i [g_i f(x_i) + h_i f(x_i)^2 / 2] + sum over leaves of (lambda w^2 / 2 + alpha |w| + gamma), with g and h the first and
//! second derivatives of the loss at the scores of round t - 1; the scores become F + learning_rate f.
//!
//! **Same bits on any number of threads.** Whatever thread works on them, sums over rows are sums of integers
//! ([`quantize`](crate::split::histogram::quantize)), or are added up in blocks of fixed size, in order.

pub mod booster;
pub mod grow;
pub mod grown;
pub mod leaves;
pub mod objective;
pub mod sample;
pub mod shard;
pub mod symmetric;
pub mod team;
pub mod train;
