//! CSV writer. Tables round-trip.
//!
//! Cells are separated by commas and quoted if they contain a comma, semicolon, tab, quote, line end or byte-order mark, or blanks at the ends. Numbers have the fewest digits that round-trip
//! (as `f32` for single-precision columns). Missing is the empty cell, or `""` in a table of one column, since blank lines are skipped. Information that CSV can't express is lost: a level that
//! looks like a missing-value marker is read as missing, and levels that all look like numbers as numbers, unless the reader is given types.

use super::{Column, Table, Values};
use crate::atomic::replace_file;
use crate::error::Result;
use flate2::{Compression, write::GzEncoder};
use std::io::{self, BufWriter, Write};
use std::path::Path;

impl Table {
    /// Writes the table to a CSV file, compressed with gzip if its name ends in `.gz`. An existing file is replaced atomically.
    pub fn write_csv(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
        replace_file(path, |file| {
            if !is_gzip {
                return self.write_csv_to(file);
            }
            let mut packed = GzEncoder::new(file, Compression::default());
            self.write_csv_to(&mut packed)?;
            packed.finish().map(drop)
        })
    }

    /// Writes the table in CSV format.
    pub fn write_csv_to(&self, writer: impl Write) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, writer);
        for (j, column) in self.columns().iter().enumerate() {
            out.write_all(if j == 0 { b"" } else { b"," })?;
            write_text(&mut out, &column.name, self.n_columns() == 1)?;
        }
        out.write_all(b"\n")?;
        let mut cells: Vec<ColumnCells> = self.columns().iter().map(ColumnCells::new).collect();
        for row in 0..self.n_rows() {
            for (j, column) in cells.iter_mut().enumerate() {
                out.write_all(if j == 0 { b"" } else { b"," })?;
                column.write(&mut out, row, self.n_columns() == 1)?;
            }
            out.write_all(b"\n")?;
        }
        out.flush()
    }
}

/// Writes the cells of a column row by row; remembers the position in a sparse column.
struct ColumnCells<'a> {
    column: &'a Column,
    next: usize,
}

impl<'a> ColumnCells<'a> {
    fn new(column: &'a Column) -> Self {
        ColumnCells { column, next: 0 }
    }

    fn write(&mut self, out: &mut impl Write, row: usize, alone: bool) -> io::Result<()> {
        match &self.column.values {
            Values::Codes { codes, levels } => write_text(out, levels.name(codes.get(row)).unwrap_or(""), alone),
            Values::F64(values) => write_number(out, values.get(row), alone),
            Values::F32(values) => {
                let value = values.get(row);
                // Formatted as f32, so that `0.1` stays `0.1`.
                if (1e-5..1e15).contains(&value.abs()) { write!(out, "{value}") } else { write_f32(out, value, alone) }
            }
            Values::Sparse { rows, values, .. } => {
                let here = self.next < rows.len() && rows.get(self.next) as usize == row;
                self.next += usize::from(here);
                write_number(out, if here { values.get(self.next - 1) } else { 0.0 }, alone)
            }
        }
    }
}

fn write_f32(out: &mut impl Write, value: f32, alone: bool) -> io::Result<()> {
    if value.is_finite() && value != 0.0 { write!(out, "{value:e}") } else { write_number(out, value.into(), alone) }
}

fn write_number(out: &mut impl Write, value: f64, alone: bool) -> io::Result<()> {
    match value.abs() {
        size if size.is_nan() => out.write_all(if alone { b"\"\"" } else { b"" }),
        size if size == 0.0 || (1e-5..1e15).contains(&size) || size.is_infinite() => write!(out, "{value}"),
        _ => write!(out, "{value:e}"),
    }
}

fn write_text(out: &mut impl Write, text: &str, alone: bool) -> io::Result<()> {
    let special = |c: char| matches!(c, ',' | ';' | '\t' | '"' | '\n' | '\r' | '\u{feff}');
    let is_plain = !text.contains(special) && text.trim_ascii().len() == text.len() && !(alone && text.is_empty());
    if is_plain { out.write_all(text.as_bytes()) } else { write!(out, "\"{}\"", text.replace('"', "\"\"")) }
}
