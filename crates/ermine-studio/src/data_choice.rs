//! Which table, and the roles of its columns: what a comparison and a model are made of.

use crate::error::StudioError;
use ermine_core::error::{Error, Result};
use ermine_core::matrix::{Dataset, Roles, Task};
use ermine_core::table::{ColumnType, ReadOptions, StrayCells, Table};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A table file and the types of its columns that were changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSource {
    /// Its path, relative to the start folder.
    pub path: String,
    /// Types by column, as `ermine --type` takes them.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
}

impl TableSource {
    /// How the table is read.
    pub fn read_options(&self) -> Result<ReadOptions> {
        let mut options = ReadOptions { stray: StrayCells::Missing, ..ReadOptions::default() };
        for (column, word) in &self.types {
            options.types.insert(column.clone(), ColumnType::parse(word)?);
        }
        Ok(options)
    }
}

/// A table and the roles of its columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataChoice {
    /// The table.
    pub source: TableSource,
    /// The target column.
    pub target: String,
    /// The task; `None` to choose it by the target.
    #[serde(default)]
    pub task: Option<Task>,
    /// The column with sample weights.
    #[serde(default)]
    pub weight: Option<String>,
    /// The column with groups.
    #[serde(default)]
    pub group: Option<String>,
    /// Columns that are left out.
    #[serde(default)]
    pub ignore: Vec<String>,
}

impl DataChoice {
    /// The data set. Rows without a target are left out.
    pub fn dataset(&self, table: &Table) -> std::result::Result<Dataset, StudioError> {
        let named = [Some(&self.target), self.weight.as_ref(), self.group.as_ref()];
        let named: Vec<&String> = named.into_iter().flatten().chain(&self.ignore).collect();
        if let Some(twice) = named.iter().enumerate().find_map(|(i, name)| named[..i].contains(name).then_some(name)) {
            return Err(StudioError::bad_request(format!("column '{twice}' has two roles; choose one")));
        }
        let roles = Roles {
            target: vec![self.target.clone()],
            weight: self.weight.clone(),
            group: self.group.clone(),
            task: self.task,
            ignore: self.ignore.clone(),
            drop_missing_target: true,
            ..Default::default()
        };
        if table.n_rows() == 0 {
            return Err(Error::data("the table has no rows").into());
        }
        Ok(Dataset::new(table.clone(), &roles)?)
    }
}
