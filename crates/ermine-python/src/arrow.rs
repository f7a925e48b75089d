//! Import of data frames through the Arrow PyCapsule interface, without depending on any frame library.
//!
//! `__arrow_c_stream__` gives a capsule that points to a C stream of batches, `__arrow_c_array__` a pair of capsules: a type and an array of it. Both are read while the interpreter is held, because the
//! other library's callbacks may need it; what is read becomes columns without it.

use crate::error::python;
use ermine_core::table::frame::Frame;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::{CStr, c_void};

/// What a frame hands over; `None` if it is no frame of columns, but one column or a number.
pub fn frame(frame: &Bound<'_, PyAny>) -> PyResult<Option<Frame>> {
    let read = if frame.hasattr("__arrow_c_stream__")? {
        let capsule = frame.call_method0("__arrow_c_stream__")?;
        let stream = pointer(&capsule, c"arrow_array_stream")?;
        // SAFETY: a capsule of this name points to a valid stream (the Arrow PyCapsule interface), and lives until the end of this block.
        unsafe { Frame::from_stream(stream) }
    } else {
        let pair = frame.call_method0("__arrow_c_array__")?;
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let (schema_at, array_at) = (pointer(&schema, c"arrow_schema")?, pointer(&array, c"arrow_array")?);
        // SAFETY: capsules of these names point to a valid type and array (the Arrow PyCapsule interface), and live until the end of this block.
        unsafe { Frame::from_array(schema_at, array_at) }
    };
    read.map_err(python)
}

/// Where a capsule of this name points.
fn pointer(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<*mut c_void> {
    Ok(capsule.cast::<PyCapsule>()?.pointer_checked(Some(name))?.as_ptr())
}
