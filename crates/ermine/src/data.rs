//! Tables and data sets: what learners are trained on.
//!
//! A [`Table`] holds named columns; a [`Dataset`] is a table whose columns have roles: features, target, and optionally weights and query groups.

/// Named columns of equal length, read from a file or made from columns.
///
/// ```
/// use ermine::prelude::*;
///
/// let table = Table::new(vec![
///     Column::numeric("size", vec![1.0, 2.5, f64::NAN]),
///     Column::nominal("color", &[Some("red"), None, Some("blue")]),
/// ])?;
/// assert_eq!((table.n_rows(), table.n_columns()), (3, 2));
/// assert_eq!(table.column("color")?.text(2), "blue");
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::table::Table;

/// A named column of numbers, truth values or categories, with missing values.
///
/// ```
/// use ermine::prelude::*;
/// use std::sync::Arc;
///
/// let plain = Column::numeric("age", vec![31.0, f64::NAN, 54.0]);
/// let color = Column::nominal("color", &[Some("red"), None, Some("blue")]);
/// let size = Column::ordinal("size", &[Some("S"), Some("L"), Some("M")], &["S", "M", "L"]);
///
/// // Shared memory is used without a copy.
/// let shared: Arc<[f64]> = Arc::from([1.0, 2.0, 3.0]);
/// let free = Column::numeric("weight", shared.clone());
/// println!("{:?}", Table::new(vec![plain, color, size, free])?.names());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::table::Column;

/// Features and target, with optional weights and query groups.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// // From a file: every column but the target is a feature.
/// let penguins = Table::read("penguins.csv")?.dataset("species")?;
/// println!("{} rows, {}", penguins.n_rows(), penguins.task());
///
/// // From vectors or slices: numbers for regression, strings or integers for classification.
/// let numbers = Dataset::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &[0.5, 1.5, 2.5])?;
/// let classes = Dataset::from_rows(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], &["a", "b", "a"])?;
/// assert_eq!((numbers.task(), classes.task()), (Task::Regression, Task::Classification));
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::matrix::Dataset;

/// Which columns are target, weight, query group or ignored; all others are features.
///
/// ```
/// # std::env::set_current_dir("../../examples/data").unwrap();
/// use ermine::prelude::*;
///
/// let roles = Roles {
///     ignore: vec!["island".into()],
///     drop_missing_target: true,
///     ..Roles::target("body_mass_g")
/// };
/// let data = Dataset::new(Table::read("penguins.csv")?, &roles)?;
/// println!("{} rows, {} features", data.n_rows(), data.features().n_columns());
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::matrix::Roles;

/// Shared memory behind a column. Without a copy, it wraps a `Vec`, an `Arc<[T]>`, an `Arc<Vec<T>>` or any owner that lends a slice.
///
/// ```
/// use ermine::prelude::*;
/// use ermine::data::Buffer;
/// use std::sync::Arc;
///
/// // A type of your own that lends its values, such as a memory-mapped file.
/// struct Mapped(Vec<f64>);
/// impl AsRef<[f64]> for Mapped {
///     fn as_ref(&self) -> &[f64] {
///         &self.0
///     }
/// }
///
/// let mapped = Arc::new(Mapped(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0]));
/// let data = Dataset::from_row_major(Buffer::shared(mapped), 2, &[0.1, 0.2, 0.3])?;
/// assert_eq!(data.features().numbers(1), [10.0, 20.0, 30.0]);
/// # Ok::<(), Error>(())
/// ```
#[doc(inline)]
pub use ermine_core::table::Buffer;

#[doc(inline)]
pub use ermine_core::matrix::{FeatureSpec, Features, Schema, Splits, Target, TargetValue, Task};

#[doc(inline)]
pub use ermine_core::table::{ColumnKind, ColumnType, Levels, MAX_ROWS, MISSING, ReadOptions, TableBatches, Values};
