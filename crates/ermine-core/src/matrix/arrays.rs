//! A [`Dataset`] from vectors, slices and arrays.

use super::{Dataset, Features, Target, Task};
use crate::error::{Error, Result};
use crate::table::{Buffer, Column, Table};
use std::sync::Arc;

/// A type of target values, which determines the task: regression for floating-point numbers; classification for strings, integers and booleans. To predict integers as numbers,
/// convert them to `f64`.
///
/// Classes are in ascending order: strings by their bytes, integers by their value, `false` before `true`.
pub trait TargetValue: Sized + private::Sealed {
    /// The target and the task.
    #[doc(hidden)]
    fn target(values: &[Self]) -> (Target, Task);
}

mod private {
    /// Seals [`TargetValue`](super::TargetValue), so that types can be added later.
    pub trait Sealed {}
}

macro_rules! numbers {
    ($($type:ty),*) => { $(
        impl private::Sealed for $type {}
        impl TargetValue for $type {
            fn target(values: &[Self]) -> (Target, Task) {
                (Target::Values { values: values.iter().map(|&y| f64::from(y)).collect(), n_outputs: 1 }, Task::Regression)
            }
        }
    )* };
}

macro_rules! classes {
    ($($type:ty),*) => { $(
        impl private::Sealed for $type {}
        impl TargetValue for $type {
            fn target(values: &[Self]) -> (Target, Task) {
                (classes(values), Task::Classification)
            }
        }
    )* };
}

numbers!(f32, f64);
classes!(String, bool, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

impl private::Sealed for &str {}
impl TargetValue for &str {
    fn target(values: &[Self]) -> (Target, Task) {
        (classes(values), Task::Classification)
    }
}

fn classes<Y: Ord + ToString>(values: &[Y]) -> Target {
    let mut distinct: Vec<&Y> = values.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let code = |y: &Y| distinct.partition_point(|class| *class < y) as u32;
    Target::Classes {
        codes: values.iter().map(code).collect(),
        labels: distinct.iter().map(|y| y.to_string()).collect(),
    }
}

impl Dataset {
    /// A data set from numeric rows and one target value per row. The features are named `x0`, `x1`, ...; NaN is a missing value. The type of the target values determines the task, see
    /// [`TargetValue`].
    pub fn from_rows<R: AsRef<[f64]>, Y: TargetValue>(rows: &[R], target: &[Y]) -> Result<Dataset> {
        let n_columns = rows.first().map_or(0, |row| row.as_ref().len());
        if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.as_ref().len() != n_columns) {
            let n = row.as_ref().len();
            return Err(Error::data(format!("row {i} has {n} values, but row 0 has {n_columns}")));
        }
        let column = |j: usize| rows.iter().map(|row| row.as_ref()[j]).collect::<Vec<f64>>();
        let columns = (0..n_columns).map(|j| Column::numeric(format!("x{j}"), column(j))).collect();
        from_columns(columns, rows.len(), target)
    }

    /// A data set from columns and one target value per row. The type of the target values determines the task, see [`TargetValue`].
    pub fn from_columns<Y: TargetValue>(columns: Vec<Column>, target: &[Y]) -> Result<Dataset> {
        let n_rows = columns.first().map_or(0, Column::len);
        from_columns(columns, n_rows, target)
    }

    /// A data set from a row-major array with `n_columns` columns and one target value per row. A shared array (`Arc<[f64]>`, `Arc<Vec<f64>>`, [`Buffer::shared`]) or a `Vec` is used
    /// without a copy.
    pub fn from_row_major<Y: TargetValue>(
        values: impl Into<Buffer<f64>>,
        n_columns: usize,
        target: &[Y],
    ) -> Result<Dataset> {
        let values = values.into();
        let n = values.len();
        if n_columns == 0 || n % n_columns != 0 {
            return Err(Error::data(format!("{n} values do not fill rows of {n_columns} columns")));
        }
        let column = |j: usize| Ok(Column::numeric(format!("x{j}"), values.step_by(j, n_columns)?));
        let columns = (0..n_columns).map(column).collect::<Result<_>>()?;
        from_columns(columns, n / n_columns, target)
    }

    /// A data set from a two-dimensional array and a one-dimensional array of target values. The numbers are copied, column by column; use
    /// [`from_row_major`](Dataset::from_row_major) to avoid the copy.
    #[cfg(feature = "ndarray")]
    pub fn from_ndarray<A, Y>(
        features: ndarray::ArrayView2<'_, A>,
        target: ndarray::ArrayView1<'_, Y>,
    ) -> Result<Dataset>
    where
        A: Copy + Into<f64>,
        Y: TargetValue + Clone,
    {
        let column = |(j, column): (usize, ndarray::ArrayView1<'_, A>)| {
            Column::numeric(format!("x{j}"), column.iter().map(|&x| x.into()).collect::<Vec<f64>>())
        };
        let columns = features.columns().into_iter().enumerate().map(column).collect();
        from_columns(columns, features.nrows(), &target.to_vec())
    }
}

fn from_columns<Y: TargetValue>(columns: Vec<Column>, n_rows: usize, target: &[Y]) -> Result<Dataset> {
    let table = if columns.is_empty() { Table::of_columns(columns, n_rows) } else { Table::new(columns)? };
    let (target, task) = Y::target(target);
    Dataset::from_parts(Features::new(Arc::new(table)), target, task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_target_type_determines_the_task() {
        let rows = [[1.0, 2.0], [3.0, f64::NAN], [5.0, 6.0]];
        let data = Dataset::from_rows(&rows, &[0.5, 1.5, 2.5]).unwrap();
        assert_eq!((data.task(), data.features().n_columns()), (Task::Regression, 2));
        assert_eq!(data.features().numbers(0), [1.0, 3.0, 5.0]);
        let names = |data: &Dataset| data.classes().unwrap().1.to_vec();
        let data = Dataset::from_rows(&rows.map(Vec::from), &["b", "a", "b"]).unwrap();
        assert_eq!((data.classes().unwrap().0, names(&data)), (&[1, 0, 1][..], vec!["a".into(), "b".into()]));
        let data = Dataset::from_rows(&rows, &[10, 9, -1]).unwrap();
        assert_eq!(
            (data.classes().unwrap().0, names(&data)),
            (&[2, 1, 0][..], vec!["-1".into(), "9".into(), "10".into()])
        );
    }

    #[test]
    fn row_major_values_are_not_copied() {
        let values: Arc<[f64]> = (0..6).map(f64::from).collect();
        let data = Dataset::from_row_major(values.clone(), 2, &[true, false, true]).unwrap();
        assert_eq!(data.features().numbers(1), [1.0, 3.0, 5.0]);
        assert_eq!(Arc::strong_count(&values), 2);
        let error = Dataset::from_row_major(values, 4, &[true]).unwrap_err().to_string();
        assert_eq!(error, "6 values do not fill rows of 4 columns");
    }

    #[test]
    fn different_lengths_are_errors() {
        let error = |rows: &[Vec<f64>], y: &[f64]| Dataset::from_rows(rows, y).unwrap_err().to_string();
        assert_eq!(error(&[vec![1.0], vec![1.0, 2.0]], &[1.0, 2.0]), "row 1 has 2 values, but row 0 has 1");
        assert_eq!(error(&[vec![1.0], vec![2.0]], &[1.0]), "the features have 2 rows, but the target has 1");
    }

    #[cfg(feature = "ndarray")]
    #[test]
    fn arrays_become_columns() {
        let x = ndarray::array![[1.0f32, 2.0], [3.0, 4.0]];
        let data = Dataset::from_ndarray(x.t(), ndarray::array!["a", "b"].view()).unwrap();
        assert_eq!(data.features().numbers(0), [1.0, 2.0]);
        assert_eq!(data.classes().unwrap().0, [0, 1]);
    }
}
