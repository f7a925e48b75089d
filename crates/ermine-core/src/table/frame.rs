//! Data frames of other libraries, through the Arrow C interfaces.
//!
//! Polars, pyarrow, DuckDB and others export frames as C structs (the Arrow C data and C stream interfaces), whose layout is stable; so none of these libraries is a dependency, and no Arrow
//! type is in this interface. A contiguous `f64` or `f32` column without missing values is used in place; all other columns are copied as in the file readers (see `arrow`), except that
//!
//! - a dictionary is categorical, whatever its values; an ordered one is ordinal, and all its levels are kept in order;
//! - dates, times and durations are rejected: users can convert them to the numbers that they mean.
//!
//! **Reference.** The Arrow C data interface, <https://arrow.apache.org/docs/format/CDataInterface.html>, and C stream interface, <https://arrow.apache.org/docs/format/CStreamInterface.html>.

#[cfg(test)]
mod tests;

use super::arrow::is_readable;
use super::piece::{Piece, guarded};
use super::read::{ColumnType, fault};
use super::{Buffer, Column, ColumnKind, MAX_ROWS, Table, Values};
use crate::error::Result;
use crate::parallel;
use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{ArrayStreamReader, FFI_ArrowArrayStream};
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, ArrayReader, ArrayRef, PrimitiveArray, RecordBatch, RecordBatchOptions, make_array};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use std::collections::HashSet;
use std::ffi::c_void;
use std::sync::Arc;

/// An imported frame.
pub struct Frame {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Frame {
    /// Imports all batches of a stream; `None` if it contains single columns instead of frames.
    ///
    /// # Safety
    /// `stream` must point to a valid `ArrowArrayStream` of the C stream interface that nobody else uses meanwhile. It is taken over: what it points to is marked as released.
    pub unsafe fn from_stream(stream: *mut c_void) -> Result<Option<Frame>> {
        // SAFETY: guaranteed by the caller.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.cast()) };
        guarded("an Arrow stream", || {
            let arrays = ArrayStreamReader::try_new(stream).map_err(broken)?;
            let DataType::Struct(fields) = arrays.field().data_type().clone() else { return Ok(None) };
            let schema = Arc::new(Schema::new(fields));
            let batches = arrays.map(|array| batch(&schema, array?)).collect::<std::result::Result<_, _>>();
            Ok(Some(Frame { schema, batches: batches.map_err(broken)? }))
        })
    }

    /// Imports one batch; `None` if it is a single column instead of a frame.
    ///
    /// # Safety
    /// `schema` and `array` must point to a valid `ArrowSchema` and an `ArrowArray` of its type, of the C data interface, that nobody else uses meanwhile. Both are taken over.
    pub unsafe fn from_array(schema: *mut c_void, array: *mut c_void) -> Result<Option<Frame>> {
        // SAFETY: guaranteed by the caller.
        let (schema, array) =
            unsafe { (FFI_ArrowSchema::from_raw(schema.cast()), FFI_ArrowArray::from_raw(array.cast())) };
        guarded("an Arrow array", || {
            let field = Field::try_from(&schema).map_err(broken)?;
            let DataType::Struct(fields) = field.data_type().clone() else { return Ok(None) };
            // SAFETY: guaranteed by the caller: the array has this type.
            let data = unsafe { from_ffi(array, &schema) }.map_err(broken)?;
            let schema = Arc::new(Schema::new(fields));
            let batches = vec![batch(&schema, make_array(data)).map_err(broken)?];
            Ok(Some(Frame { schema, batches }))
        })
    }

    /// The first column with an unsupported type, and the type.
    pub fn unreadable(&self) -> Option<(String, String)> {
        let found = self.schema.fields().iter().find(|field| !is_learnable(field.data_type()));
        found.map(|field| (field.name().clone(), field.data_type().to_string()))
    }

    /// The table of the frame.
    pub fn table(&self) -> Result<Table> {
        if let Some((name, kind)) = self.unreadable() {
            return Err(fault(None, Some(&name), format!("values of type {kind} are not supported")));
        }
        let n_rows: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        if n_rows > MAX_ROWS {
            return Err(fault(None, None, format!("the frame has more than {MAX_ROWS} rows, the maximum of a table")));
        }
        let columns: Vec<Result<Column>> =
            parallel::map(self.schema.fields().len(), |j| guarded("Arrow data", || self.column(j)));
        Table::new(columns.into_iter().collect::<Result<_>>()?)
    }

    fn column(&self, j: usize) -> Result<Column> {
        let field = self.schema.field(j);
        let pieces: Vec<&ArrayRef> = self.batches.iter().map(|batch| batch.column(j)).collect();
        if let [array] = pieces[..]
            && let Some(values) = values_in_place(array)
        {
            return Ok(Column {
                name: field.name().clone(),
                kind: ColumnKind::Numeric,
                values,
                notation: Default::default(),
            });
        }
        let mut whole = Piece::new(field.data_type());
        pieces.iter().try_for_each(|array| whole.push_array(array))?;
        whole.column(field.name().clone(), wanted(field, &pieces)?.as_ref())
    }
}

/// The columns of a struct array.
fn batch(schema: &SchemaRef, array: ArrayRef) -> std::result::Result<RecordBatch, ArrowError> {
    let frame = array.as_struct();
    if frame.null_count() > 0 {
        return Err(ArrowError::CDataInterface("rows that are missing as a whole".to_string()));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(frame.len()));
    RecordBatch::try_new_with_options(schema.clone(), frame.columns().to_vec(), &options)
}

fn broken(error: ArrowError) -> crate::Error {
    fault(None, None, format!("not readable as Arrow data: {error}"))
}

/// Types supported in files, without dates.
fn is_learnable(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_learnable(values),
        kind => is_readable(kind) && !kind.is_temporal(),
    }
}

/// The numbers in place, if no value is missing.
fn values_in_place(array: &dyn Array) -> Option<Values> {
    match array.data_type() {
        DataType::Float64 => window::<Float64Type>(array).map(Values::F64),
        DataType::Float32 => window::<Float32Type>(array).map(Values::F32),
        _ => None,
    }
}

fn window<T: ArrowPrimitiveType>(array: &dyn Array) -> Option<Buffer<T::Native>>
where
    T::Native: Send + Sync,
{
    let array: PrimitiveArray<T> = array.as_primitive::<T>().clone();
    if array.null_count() > 0 {
        return None;
    }
    let (start, len) = (array.values().as_ptr(), array.len());
    // SAFETY: the values of the array lie side by side, aligned; the owner is the array itself, which keeps them alive and unchanged.
    Some(unsafe { Buffer::foreign(start, len, 1, Arc::new(array)) })
}

/// The type of a categorical column, if the Arrow type determines it.
fn wanted(field: &Field, pieces: &[&ArrayRef]) -> Result<Option<ColumnType>> {
    let DataType::Dictionary(_, values) = field.data_type() else { return Ok(None) };
    if field.dict_is_ordered() != Some(true) {
        return Ok(Some(ColumnType::Nominal));
    }
    // All levels in order; batches may have different dictionaries.
    let (mut levels, mut seen): (Vec<String>, HashSet<String>) = Default::default();
    for array in pieces {
        let mut piece = Piece::new(values);
        piece.push_array(array.as_any_dictionary().values().as_ref())?;
        let column = piece.column(String::new(), None)?;
        let texts = (0..column.len()).filter(|&row| !column.number(row).is_nan()).map(|row| column.text(row));
        levels.extend(texts.filter(|text| seen.insert(text.clone())));
    }
    Ok(Some(ColumnType::Ordinal(levels)))
}
