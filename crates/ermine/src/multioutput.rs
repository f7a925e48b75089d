//! Multilabel classification by classifiers.

/// One classifier per label.
///
/// ```
/// use ermine::prelude::*;
///
/// let table = Table::new(vec![
///     Column::numeric("length", vec![90.0, 12.0, 95.0, 15.0, 130.0, 8.0]),
///     Column::numeric("year", vec![1990.0, 2001.0, 2010.0, 1985.0, 2020.0, 2015.0]),
///     Column::numeric("drama", vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
///     Column::numeric("cartoon", vec![0.0, 1.0, 1.0, 1.0, 0.0, 1.0]),
/// ])?;
/// let roles = Roles { target: vec!["drama".into(), "cartoon".into()], ..Default::default() };
/// let data = Dataset::new(table, &roles)?;
/// let model = BinaryRelevance { estimator: Estimator::named("decision-tree") }.fit(&data)?;
/// println!("{:?}", model.predict_data(&data)?.labels(0));
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::multilabel::BinaryRelevance;

/// A chain of classifiers, each of which sees the labels before it.
///
/// ```
/// use ermine::prelude::*;
///
/// let table = Table::new(vec![
///     Column::numeric("length", vec![90.0, 12.0, 95.0, 15.0, 130.0, 8.0]),
///     Column::numeric("year", vec![1990.0, 2001.0, 2010.0, 1985.0, 2020.0, 2015.0]),
///     Column::numeric("drama", vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
///     Column::numeric("cartoon", vec![0.0, 1.0, 1.0, 1.0, 0.0, 1.0]),
/// ])?;
/// let roles = Roles { target: vec!["drama".into(), "cartoon".into()], ..Default::default() };
/// let data = Dataset::new(table, &roles)?;
/// let model = ClassifierChain { estimator: Estimator::named("decision-tree"), ..Default::default() }.fit(&data)?;
/// println!("{:?}", model.predict_data(&data)?.labels(0));
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::multilabel::ClassifierChain;

/// One class per set of labels.
///
/// ```
/// use ermine::prelude::*;
///
/// let table = Table::new(vec![
///     Column::numeric("length", vec![90.0, 12.0, 95.0, 15.0, 130.0, 8.0]),
///     Column::numeric("year", vec![1990.0, 2001.0, 2010.0, 1985.0, 2020.0, 2015.0]),
///     Column::numeric("drama", vec![1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
///     Column::numeric("cartoon", vec![0.0, 1.0, 1.0, 1.0, 0.0, 1.0]),
/// ])?;
/// let roles = Roles { target: vec!["drama".into(), "cartoon".into()], ..Default::default() };
/// let data = Dataset::new(table, &roles)?;
/// let model = LabelPowerset { estimator: Estimator::named("decision-tree"), ..Default::default() }.fit(&data)?;
/// println!("{:?}", model.predict_data(&data)?.labels(0));
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use crate::reduction::multilabel::LabelPowerset;

#[doc(inline)]
pub use crate::reduction::multilabel::{ChainOrder, PowersetDecoding};
