//! A report on a model: data, scores, curves, importances and the worst predictions, as HTML or text.

/// A report on a model and its predictions for a test set.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::learner::Silent;
/// use ermine::prelude::*;
/// use ermine::report::Report;
///
/// let (train, test) = Table::read("penguins.csv")?.dataset("species")?.split(0.8, 7)?;
/// let model = DecisionTree::default().fit(&train)?;
/// let report = Report::new(&model, &test, 0, &Silent)?;
/// println!("{}", report.title());
/// let page = report.html();
/// assert!(page.starts_with("<!"));
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_eval::report::Report;

#[doc(inline)]
pub use ermine_eval::report::{ClassCurves, ColumnFacts, WorstRow};
