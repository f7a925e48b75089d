//! Arrow IPC files (file and stream format). See `arrow` for the supported types.
//!
//! Columns of other types are errors, unless they are ignored.

mod bounds;
#[cfg(test)]
mod tests;

use super::arrow::is_readable;
use super::block::require_table;
use super::piece::{Piece, guarded};
use super::read::{ColumnType, ReadOptions, check_types, fault};
use super::source::check_file;
use super::{MAX_ROWS, Table};
use crate::error::{Error, Result};
use crate::parallel;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::Schema;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;

/// Reads an Arrow IPC file or stream.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    check_file(path)?;
    let file = BufReader::new(File::open(path).map_err(|e| Error::io(path, e))?);
    guarded("Arrow IPC", || decode(file, path, options))
}

impl Table {
    /// Reads the bytes of an Arrow IPC file or stream.
    pub fn from_ipc_bytes(bytes: &[u8], options: &ReadOptions) -> Result<Table> {
        guarded("Arrow IPC", || decode(Cursor::new(bytes), Path::new("memory"), options))
    }
}

fn decode<R: Read + Seek>(mut file: R, path: &Path, options: &ReadOptions) -> Result<Table> {
    let mut magic = Vec::new();
    file.by_ref().take(6).read_to_end(&mut magic).map_err(|e| Error::io(path, e))?;
    bounds::check(&mut file, magic == b"ARROW1")?;
    file.rewind().map_err(|e| Error::io(path, e))?;
    let broken = |e: arrow_schema::ArrowError| fault(None, None, format!("not readable as Arrow IPC: {e}"));
    if magic == b"ARROW1" {
        let reader = FileReader::try_new(file, None).map_err(broken)?;
        return read_batches(&reader.schema().clone(), reader.map(|batch| batch.map_err(broken)), options);
    }
    let reader = StreamReader::try_new(file, None).map_err(broken)?;
    read_batches(&reader.schema().clone(), reader.map(|batch| batch.map_err(broken)), options)
}

fn read_batches(
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    options: &ReadOptions,
) -> Result<Table> {
    let kept = kept_columns(schema, options)?;
    let mut columns = columns_of(schema, &kept);
    for batch in batches {
        let batch = batch?.project(&kept).map_err(|e| fault(None, None, e.to_string()))?;
        require_table(batch.num_rows(), kept.len())?;
        append_batch(&mut columns, &batch)?;
        check_rows(&columns)?;
    }
    finish(columns, schema, &kept, options)
}

/// The indices of the columns that are not ignored; an error if one has an unsupported type.
fn kept_columns(schema: &Schema, options: &ReadOptions) -> Result<Vec<usize>> {
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    check_types(options, &names)?;
    let mut kept = Vec::new();
    for (j, field) in schema.fields().iter().enumerate() {
        if options.types.get(field.name()) == Some(&ColumnType::Ignored) {
            continue;
        }
        if !is_readable(field.data_type()) {
            let message = format!(
                "values of type {} are not supported; expected numbers, booleans, strings or dates (or ignore the column)",
                field.data_type()
            );
            return Err(fault(None, Some(field.name()), message));
        }
        kept.push(j);
    }
    if kept.is_empty() { Err(Error::data("all columns are ignored; at least one must be read")) } else { Ok(kept) }
}

fn columns_of(schema: &Schema, kept: &[usize]) -> Vec<Piece> {
    kept.iter().map(|&j| Piece::new(schema.field(j).data_type())).collect()
}

fn append_batch(columns: &mut [Piece], batch: &RecordBatch) -> Result<()> {
    let pairs = columns.iter_mut().zip(batch.columns());
    parallel::consume(pairs, |_, (column, array)| column.push_array(array)).into_iter().collect()
}

fn check_rows(columns: &[Piece]) -> Result<()> {
    if columns.iter().any(|column| column.len() > MAX_ROWS) {
        return Err(fault(None, None, format!("the file has more than {MAX_ROWS} rows, the maximum of a table")));
    }
    Ok(())
}

fn finish(columns: Vec<Piece>, schema: &Schema, kept: &[usize], options: &ReadOptions) -> Result<Table> {
    let column = |(piece, &j): (Piece, &usize)| {
        let name = schema.field(j).name().clone();
        let wanted = options.types.get(&name);
        piece.column(name, wanted)
    };
    Table::new(columns.into_iter().zip(kept).map(column).collect::<Result<_>>()?)
}
