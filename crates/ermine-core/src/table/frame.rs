//! Frames of other libraries, in memory, through Arrow's C interfaces.
//!
//! Polars, pyarrow, DuckDB and many more hand a frame over as a C struct of pointers and callbacks (the Arrow C data and C stream interfaces), which stays the same from version to version; so none of
//! them has to be here, and no type of Arrow is in this door. A column of `f64` or `f32` without missing values in one piece is learned from where it lies, and all else is copied as the reader of
//! files does it (see `arrow`), except that
//!
//! - a dictionary holds categories, whatever its values are; one that says it is ordered is ordinal, and all its levels are kept, in its order;
//! - dates, times and durations are refused: in memory, whoever has them can say what number they are meant to be.
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

/// A frame that was handed over.
pub struct Frame {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Frame {
    /// Takes all batches out of a stream; `None` where it is no stream of frames, but of single columns.
    ///
    /// # Safety
    /// `stream` must point to a valid `ArrowArrayStream` of the C stream interface that nobody else uses meanwhile. It is taken over: what it points to is marked as released.
    pub unsafe fn from_stream(stream: *mut c_void) -> Result<Option<Frame>> {
        // SAFETY: the caller's promise.
        let stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.cast()) };
        guarded("an Arrow stream", || {
            let arrays = ArrayStreamReader::try_new(stream).map_err(broken)?;
            let DataType::Struct(fields) = arrays.field().data_type().clone() else { return Ok(None) };
            let schema = Arc::new(Schema::new(fields));
            let batches = arrays.map(|array| batch(&schema, array?)).collect::<std::result::Result<_, _>>();
            Ok(Some(Frame { schema, batches: batches.map_err(broken)? }))
        })
    }

    /// Takes one batch over; `None` where it is no frame, but a single column.
    ///
    /// # Safety
    /// `schema` and `array` must point to a valid `ArrowSchema` and an `ArrowArray` of its type, of the C data interface, that nobody else uses meanwhile. Both are taken over.
    pub unsafe fn from_array(schema: *mut c_void, array: *mut c_void) -> Result<Option<Frame>> {
        // SAFETY: the caller's promise.
        let (schema, array) =
            unsafe { (FFI_ArrowSchema::from_raw(schema.cast()), FFI_ArrowArray::from_raw(array.cast())) };
        guarded("an Arrow array", || {
            let field = Field::try_from(&schema).map_err(broken)?;
            let DataType::Struct(fields) = field.data_type().clone() else { return Ok(None) };
            // SAFETY: the caller's promise: the array is of this type.
            let data = unsafe { from_ffi(array, &schema) }.map_err(broken)?;
            let schema = Arc::new(Schema::new(fields));
            let batches = vec![batch(&schema, make_array(data)).map_err(broken)?];
            Ok(Some(Frame { schema, batches }))
        })
    }

    /// The first column that can't be learned from, and its type.
    pub fn unreadable(&self) -> Option<(String, String)> {
        let found = self.schema.fields().iter().find(|field| !is_learnable(field.data_type()));
        found.map(|field| (field.name().clone(), field.data_type().to_string()))
    }

    /// The table of the frame.
    pub fn table(&self) -> Result<Table> {
        if let Some((name, kind)) = self.unreadable() {
            return Err(fault(None, Some(&name), format!("values of type {kind} can't be learned from")));
        }
        let n_rows: usize = self.batches.iter().map(RecordBatch::num_rows).sum();
        if n_rows > MAX_ROWS {
            return Err(fault(None, None, format!("more than the {MAX_ROWS} rows that a table may have")));
        }
        let columns: Vec<Result<Column>> =
            parallel::map(self.schema.fields().len(), |j| guarded("Arrow data", || self.column(j)));
        Table::new(columns.into_iter().collect::<Result<_>>()?)
    }

    fn column(&self, j: usize) -> Result<Column> {
        let field = self.schema.field(j);
        let pieces: Vec<&ArrayRef> = self.batches.iter().map(|batch| batch.column(j)).collect();
        if let [array] = pieces[..]
            && let Some(values) = as_it_lies(array)
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

/// What files give, without dates.
fn is_learnable(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_learnable(values),
        kind => is_readable(kind) && !kind.is_temporal(),
    }
}

/// The numbers where they are, if there is one for each row.
fn as_it_lies(array: &dyn Array) -> Option<Values> {
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

/// What a column is to become, where its type says more than its values: categories.
fn wanted(field: &Field, pieces: &[&ArrayRef]) -> Result<Option<ColumnType>> {
    let DataType::Dictionary(_, values) = field.data_type() else { return Ok(None) };
    if field.dict_is_ordered() != Some(true) {
        return Ok(Some(ColumnType::Nominal));
    }
    // All levels in their order, once each; batches may have dictionaries of their own.
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
