//! Distances between rows, used by nearest neighbors and by trees that compare rows.
//!
//! | file | what it holds |
//! |---|---|
//! | [`rows`] | matrices seen where they lie, and rows that are kept |
//! | [`metric`] | distances between rows of numbers: one exact function for all indexes |
//! | [`whiten`], [`mixed`] | the Mahalanobis distance; numbers, categories and missing values together |
//! | [`strings`] | the Hamming and the edit distance of strings |

pub mod metric;
pub mod mixed;
pub mod rows;
pub mod strings;
pub mod whiten;
