//! Custom kernels: items of any type and a function of two of them become a kernel matrix for `kernel = precomputed`.

use ermine_core::error::{Error, Result};
use ermine_core::matrix::Features;
use ermine_core::parallel;
use ermine_core::table::{Column, Table};
use std::sync::Arc;

/// The kernel values of `items`, one row for each, with each of the `training` items, one column for each.
pub fn features<T: Sync>(items: &[T], training: &[T], kernel: impl Fn(&T, &T) -> f64 + Sync) -> Result<Features> {
    let column = |j: usize| {
        let values: Vec<f64> = items.iter().map(|item| kernel(item, &training[j])).collect();
        match values.iter().position(|v| !v.is_finite()) {
            Some(i) => Err(Error::data(format!(
                "the kernel value of items {} and {} must be finite (got {})",
                i + 1,
                j + 1,
                values[i]
            ))),
            None => Ok(Column::numeric(format!("k{}", j + 1), values)),
        }
    };
    let columns = parallel::try_map(training.len(), column)?;
    Ok(Features::new(Arc::new(Table::new(columns)?)))
}
