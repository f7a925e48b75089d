//! CSV.
use super::{ReadOptions, Table};
use crate::error::{Error, Result};
use std::path::Path;
pub fn read(_: &Path, _: &ReadOptions) -> Result<Table> {
    Err(Error::data("not built yet"))
}
