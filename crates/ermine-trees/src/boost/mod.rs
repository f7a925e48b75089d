//! Gradient boosting: a sum of trees, each grown on the gradients of the loss at the sum so far.
//!
//! | file | what it holds |
//! |---|---|
//! | [`objective`] | what is minimised: value, gradient and curvature of the loss at the scores |
//! | [`team`] | threads that stand ready between two steps a few microseconds apart |
//! | [`shard`] | what belongs to the rows of one thread: scores, gradients, and the rows of each node |
//! | [`grow`] | one tree, leaf by leaf |
//! | [`symmetric`] | one tree, level by level, the same question for all leaves of a level |
//! | [`grown`] | the tree in terms of bins, and its translation to thresholds and categories |
//! | [`sample`] | which rows and columns a tree sees |
//! | [`booster`] | the fitted sum of trees |
//! | [`train`](mod@train) | round after round; early stopping |
//!
//! **Formula.** In round t the tree f minimises sum_i [g_i f(x_i) + h_i f(x_i)^2 / 2] + sum over leaves of (lambda w^2 / 2 + alpha |w| + gamma), with g and h the first and
//! second derivatives of the loss at the scores of round t - 1; the scores become F + learning_rate f.
//!
//! **Same bits on any number of threads.** Rows belong to threads, but everything that is added up over rows is whole numbers
//! ([`quantise`](crate::split::histogram::quantise)), or is added up in blocks of fixed size, in order.

pub mod booster;
pub mod grow;
pub mod grown;
pub mod objective;
pub mod sample;
pub mod shard;
pub mod symmetric;
pub mod team;
pub mod train;
