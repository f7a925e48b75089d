//! Parquet and Arrow.
use super::{ReadOptions, Table};
use crate::error::{Error, Result};
use std::path::Path;
pub fn read_parquet(_: &Path, _: &ReadOptions) -> Result<Table> {
    Err(Error::data("not built yet"))
}
pub fn read_ipc(_: &Path, _: &ReadOptions) -> Result<Table> {
    Err(Error::data("not built yet"))
}
