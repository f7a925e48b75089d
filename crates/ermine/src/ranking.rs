//! Learning to rank the rows of a query. [Gradient boosting](crate::ensemble::GradientBoosting) ranks too.

/// Linear ranking by a support vector machine over pairs of rows.
///
/// ```
/// use ermine::prelude::*;
///
/// // Four queries with five rows each; the second feature decides the relevance.
/// let rows: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i % 3), f64::from(i * 7 % 5)]).collect();
/// let relevance: Vec<f64> = rows.iter().map(|[_, b]| (b / 2.0).floor()).collect();
/// let columns = vec![
///     Column::numeric("a", rows.iter().map(|row| row[0]).collect::<Vec<_>>()),
///     Column::numeric("b", rows.iter().map(|row| row[1]).collect::<Vec<_>>()),
///     Column::numeric("query", (0..20).map(|i| f64::from(i / 5)).collect::<Vec<_>>()),
///     Column::numeric("relevance", relevance),
/// ];
/// let roles = Roles { group: Some("query".into()), ..Roles::target("relevance") };
/// let data = Dataset::new(Table::new(columns)?, &roles)?;
/// let model = RankSvm::default().fit(&data)?;
/// println!("{}", model.evaluate(&data)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_linear::learner::linear::rank_svm::RankSvm;

/// Ranking by the votes of a classifier that compares two rows.
///
/// ```
/// use ermine::prelude::*;
///
/// // Four queries with five rows each; the second feature decides the relevance.
/// let rows: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i % 3), f64::from(i * 7 % 5)]).collect();
/// let relevance: Vec<f64> = rows.iter().map(|[_, b]| (b / 2.0).floor()).collect();
/// let columns = vec![
///     Column::numeric("a", rows.iter().map(|row| row[0]).collect::<Vec<_>>()),
///     Column::numeric("b", rows.iter().map(|row| row[1]).collect::<Vec<_>>()),
///     Column::numeric("query", (0..20).map(|i| f64::from(i / 5)).collect::<Vec<_>>()),
///     Column::numeric("relevance", relevance),
/// ];
/// let roles = Roles { group: Some("query".into()), ..Roles::target("relevance") };
/// let data = Dataset::new(Table::new(columns)?, &roles)?;
/// let model = PairwiseRanking { estimator: Estimator::named("logistic-regression"), ..Default::default() }.fit(&data)?;
/// println!("{}", model.evaluate(&data)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::ranking::PairwiseRanking;

/// Ranking by quicksort with a learned preference, for a given cost of each pair of positions.
///
/// ```
/// use ermine::prelude::*;
///
/// // Four queries with five rows each; the second feature decides the relevance.
/// let rows: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i % 3), f64::from(i * 7 % 5)]).collect();
/// let relevance: Vec<f64> = rows.iter().map(|[_, b]| (b / 2.0).floor()).collect();
/// let columns = vec![
///     Column::numeric("a", rows.iter().map(|row| row[0]).collect::<Vec<_>>()),
///     Column::numeric("b", rows.iter().map(|row| row[1]).collect::<Vec<_>>()),
///     Column::numeric("query", (0..20).map(|i| f64::from(i / 5)).collect::<Vec<_>>()),
///     Column::numeric("relevance", relevance),
/// ];
/// let roles = Roles { group: Some("query".into()), ..Roles::target("relevance") };
/// let data = Dataset::new(Table::new(columns)?, &roles)?;
/// let model = OmegaRanking { estimator: Estimator::named("logistic-regression"), ..Default::default() }.fit(&data)?;
/// println!("{}", model.evaluate(&data)?);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::ranking::OmegaRanking;

#[doc(inline)]
pub use crate::reduction::ranking::{RankingSort, preference::PairFeatures};

#[doc(inline)]
pub use ermine_core::metric::omega::Omega;

#[doc(inline)]
pub use ermine_linear::learner::linear::rank_svm::PairWeight;
