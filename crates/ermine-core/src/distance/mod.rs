//! Distances between rows, used by nearest neighbors and by trees that compare rows.
//!
//! | file | what it holds |
//! |---|---|
//! | [`rows`] | matrices in foreign memory, and stored rows |
//! | [`metric`] | distances between numeric rows |
//! | [`whiten`], [`mixed`] | the Mahalanobis distance; numbers, categories and missing values together |
//! | [`strings`] | Hamming and edit distance of strings |

pub mod metric;
pub mod mixed;
pub mod rows;
pub mod strings;
pub mod whiten;
