//! JSON lines: one object per row. Columns are in order of first appearance; absent keys and `null` are missing. Column kinds are inferred as in CSV files, whether values are strings or not.

use super::coded_strings::CodedStrings;
use super::infer::{MissingMarkers, text_column};
use super::read::{ColumnType, ReadNote, ReadOptions, check_types, fault};
use super::source::ByteSource;
use super::{MAX_ROWS, Table};
use crate::error::Result;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// Reads the file at `path`.
pub fn read(path: &Path, options: &ReadOptions, notes: &mut Vec<ReadNote>) -> Result<Table> {
    read_text(&ByteSource::text_file(path, options.encoding)?.all()?, options, notes)
}

fn read_text(text: &[u8], options: &ReadOptions, notes: &mut Vec<ReadNote>) -> Result<Table> {
    let missing = MissingMarkers::new(&options.missing);
    let (mut names, mut columns, mut lines): (Vec<String>, Vec<CodedStrings>, Vec<u64>) = Default::default();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (line, text) in (1u64..).zip(text.split(|&byte| byte == b'\n')) {
        if text.trim_ascii().is_empty() {
            continue;
        }
        let object: Map<String, Value> = serde_json::from_slice(text)
            .map_err(|e| fault(Some(line), None, format!("expected a JSON object: {e}")))?;
        for (name, value) in object {
            let cell = cell(&value).map_err(|message| fault(Some(line), Some(&name), message))?;
            let place = *places.entry(name).or_insert_with_key(|name| {
                names.push(name.clone());
                columns.push(CodedStrings::default());
                columns.len() - 1
            });
            // A new column is missing in all rows before.
            fill(&mut columns[place], lines.len());
            columns[place].push(cell.as_deref().map(str::as_bytes).filter(|cell| !missing.contains(cell.trim_ascii())));
        }
        lines.push(line);
        if lines.len() > MAX_ROWS {
            return Err(fault(
                Some(line),
                None,
                format!("the file has more than {MAX_ROWS} rows, the maximum of a table"),
            ));
        }
        columns.iter_mut().for_each(|column| fill(column, lines.len()));
    }
    check_types(options, &names)?;
    let line_of = |row: usize| Ok(lines.get(row).copied().unwrap_or(0));
    let mut finished = Vec::new();
    for (name, words) in names.into_iter().zip(columns) {
        if options.types.get(&name) != Some(&ColumnType::Ignored) {
            let wanted = options.types.get(&name);
            finished.push(text_column(&name, words, wanted, options, notes, &line_of)?);
        }
    }
    if finished.is_empty() {
        return Err(fault(None, None, "the file is empty, expected a JSON object in each line"));
    }
    Table::new(finished)
}

/// Pads a column with missing values up to row `n`.
fn fill(column: &mut CodedStrings, n: usize) {
    while column.codes.len() < n {
        column.push(None);
    }
}

/// The text of a value; `None` if it is missing.
fn cell(value: &Value) -> Result<Option<String>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Bool(truth) => Ok(Some(truth.to_string())),
        Value::Number(number) => Ok(Some(number.to_string())),
        Value::String(text) => Ok(Some(text.clone())),
        Value::Array(_) | Value::Object(_) => {
            Err("expected a number, a string, true, false or null, found an array or an object".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ColumnKind;

    fn read_str(text: &str) -> Result<Table> {
        read_text(text.as_bytes(), &ReadOptions::default(), &mut Vec::new())
    }

    #[test]
    fn keys_may_be_absent_or_new() {
        let table =
            read_str("{\"x\": 1.5, \"c\": \"a\"}\n\n{\"c\": null, \"t\": true}\n{\"t\":false,\"x\":-2e3}").unwrap();
        assert_eq!(table.names(), ["x", "c", "t"]);
        let x = table.column("x").unwrap().numbers(None);
        assert!(x[0] == 1.5 && x[1].is_nan() && x[2] == -2000.0);
        let kinds: Vec<ColumnKind> = table.columns().iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [ColumnKind::Numeric, ColumnKind::Nominal, ColumnKind::Boolean]);
        assert_eq!(table.column("c").unwrap().n_missing(), 2);
    }

    #[test]
    fn errors_contain_the_line() {
        let message = |text: &str| read_str(text).unwrap_err().to_string();
        assert!(message("{\"x\": 1}\n[1, 2]\n").contains("line 2: expected a JSON object"));
        assert!(message("{\"x\": [1]}\n").contains("line 1, column 'x': expected a number"));
        assert!(message("\n").contains("the file is empty"));
    }
}
