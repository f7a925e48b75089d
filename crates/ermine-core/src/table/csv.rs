//! CSV reader: streamed in blocks, parsed in parallel, with column kinds inferred from all cells.
//!
//! 1. [`dialect`] inspects the first bytes: delimiter, column names, and which columns certainly contain text.
//! 2. One pass over the file parses the blocks in parallel ([`parse`]) and appends the results to the columns in file order. A column is assumed to be numeric until a cell is not a number;
//!    its numbers are dropped then.
//! 3. If there are such columns, a second pass reads them, and nothing else, as text.
//! 4. Strings become levels ([`super::infer`]).
//!
//! Memory: the columns, and a few blocks (text and values) per thread.
//!
//! Blank lines are skipped. Inside quotes a cell keeps its blanks, but numbers and missing-value markers are recognized. See [`cell`] for the quoting rules.

mod blocks;
mod cell;
mod dialect;
mod parse;
#[cfg(test)]
mod tests;

pub use blocks::CsvBlocks;

use super::block::{Cutter, check_table_size, for_each_batch};
use super::coded_strings::CodedStrings;
use super::infer::{MissingMarkers, retype_numbers, text_column};
use super::read::{ColumnType, ReadNote, ReadOptions, check_types, fault};
use super::source::ByteSource;
use super::{Column, Levels, MAX_ROWS, Table};
use crate::error::{Error, Result};
use crate::parallel;
pub use dialect::{Dialect, sniff};
use parse::{CellRule, ColumnPart, ParsePlan, Parsed, parse};
pub use parse::{cell_fault, count_cells, row_start};
use std::path::Path;

/// About how many bytes are parsed together.
pub const BLOCK_BYTES: usize = 1 << 18;

/// Reads the file at `path`.
pub fn read(path: &Path, options: &ReadOptions, notes: &mut Vec<ReadNote>) -> Result<Table> {
    read_source(&ByteSource::text_file(path, options.encoding)?, options, BLOCK_BYTES, notes)
}

/// Reads a source in blocks of about so many bytes.
pub fn read_source(
    source: &ByteSource,
    options: &ReadOptions,
    block_bytes: usize,
    notes: &mut Vec<ReadNote>,
) -> Result<Table> {
    let missing = MissingMarkers::new(&options.missing);
    let dialect = sniff(source, options, &missing)?;
    read_dialect(source, &dialect, options, &missing, block_bytes, notes)
}

/// Reads a source that is written in a known way.
fn read_dialect(
    source: &ByteSource,
    dialect: &Dialect,
    options: &ReadOptions,
    missing: &MissingMarkers,
    block_bytes: usize,
    notes: &mut Vec<ReadNote>,
) -> Result<Table> {
    check_types(options, &dialect.names)?;
    let wanted: Vec<Option<&ColumnType>> = dialect.names.iter().map(|name| options.types.get(name)).collect();
    let levels: Vec<Option<Levels>> = wanted.iter().map(|wanted| given_levels(*wanted)).collect();
    let pass = FilePass { source, dialect, missing, block_bytes };

    let first: Vec<CellRule> = (0..wanted.len())
        .map(|j| match wanted[j] {
            Some(ColumnType::Ignored) => CellRule::Skip,
            Some(ColumnType::Numeric | ColumnType::Written(_) | ColumnType::Date) | None if !dialect.has_words[j] => {
                CellRule::Number
            }
            wanted => CellRule::Word { wanted, levels: levels[j].as_ref() },
        })
        .collect();
    let mut columns = pass.run(first)?;
    if columns.iter().any(|column| matches!(column, ColumnBuilder::NotNumbers)) {
        // Cells of declared types are checked after all have been read.
        let word = CellRule::Word { wanted: None, levels: None };
        let again = columns
            .iter()
            .map(|c| if matches!(c, ColumnBuilder::NotNumbers) { word } else { CellRule::Skip })
            .collect();
        for (column, words) in columns.iter_mut().zip(pass.run(again)?) {
            if matches!(column, ColumnBuilder::NotNumbers) {
                *column = words;
            }
        }
    }
    finish(columns, &dialect.names, &wanted, options, notes, &|row| pass.line_of(row))
}

fn given_levels(wanted: Option<&ColumnType>) -> Option<Levels> {
    match wanted {
        Some(ColumnType::Ordinal(names)) if !names.is_empty() => Some(Levels::new(names.iter().cloned())),
        _ => None,
    }
}

fn finish(
    columns: Vec<ColumnBuilder>,
    names: &[String],
    wanted: &[Option<&ColumnType>],
    options: &ReadOptions,
    notes: &mut Vec<ReadNote>,
    line_of: &dyn Fn(usize) -> Result<u64>,
) -> Result<Table> {
    let mut finished = Vec::new();
    for ((column, name), &wanted) in columns.into_iter().zip(names).zip(wanted) {
        match column {
            ColumnBuilder::Skipped | ColumnBuilder::NotNumbers => {}
            ColumnBuilder::Numbers(mut values) => {
                values.shrink_to_fit();
                finished.push(retype_numbers(Column::numeric(name, values), wanted)?);
            }
            ColumnBuilder::CodedStrings(words) => {
                finished.push(text_column(name, words, wanted, options, notes, line_of)?);
            }
        }
    }
    if finished.is_empty() {
        return Err(Error::data("all columns are ignored; at least one must be read"));
    }
    Table::new(finished)
}

/// A column under construction.
enum ColumnBuilder {
    Skipped,
    NotNumbers,
    Numbers(Vec<f64>),
    CodedStrings(CodedStrings),
}

impl ColumnBuilder {
    fn new(rule: &CellRule) -> Self {
        match rule {
            CellRule::Skip => ColumnBuilder::Skipped,
            CellRule::Number => ColumnBuilder::Numbers(Vec::new()),
            CellRule::Word { .. } => ColumnBuilder::CodedStrings(CodedStrings::default()),
        }
    }

    fn append(&mut self, part: &mut ColumnPart) {
        match (&mut *self, part) {
            (ColumnBuilder::Numbers(values), ColumnPart::Numbers(more)) => values.extend_from_slice(more),
            (ColumnBuilder::CodedStrings(words), ColumnPart::CodedStrings(more, _)) => words.append(more),
            (ColumnBuilder::Numbers(_), ColumnPart::NotNumbers) => *self = ColumnBuilder::NotNumbers,
            _ => {}
        }
    }

    /// Reserves memory for `n` rows in total.
    fn reserve(&mut self, n: usize) {
        match self {
            ColumnBuilder::Numbers(values) => values.reserve_exact(n.saturating_sub(values.len())),
            ColumnBuilder::CodedStrings(words) => words.codes.reserve_exact(n.saturating_sub(words.codes.len())),
            ColumnBuilder::Skipped | ColumnBuilder::NotNumbers => {}
        }
    }
}

/// One pass over a file.
struct FilePass<'a> {
    source: &'a ByteSource<'a>,
    dialect: &'a Dialect,
    missing: &'a MissingMarkers,
    block_bytes: usize,
}

impl FilePass<'_> {
    fn run(&self, rules: Vec<CellRule>) -> Result<Vec<ColumnBuilder>> {
        let Dialect { delimiter, names, data_start, row_bytes, .. } = self.dialect;
        let cutter = Cutter::new(self.source.open()?, Some(*delimiter), self.block_bytes, *data_start)?;
        let mut columns: Vec<ColumnBuilder> = rules.iter().map(ColumnBuilder::new).collect();
        if let Some(size) = cutter.size() {
            let rows = size as usize / row_bytes * 17 / 16;
            columns.iter_mut().for_each(|column| column.reserve(rows.min(MAX_ROWS)));
        }
        let plan = ParsePlan { delimiter: *delimiter, names, rules, missing: self.missing, row_bytes: *row_bytes };
        let mut n_rows = 0;
        for_each_batch(
            cutter,
            |block| parse(&plan, block),
            |mut batch: Vec<Parsed>| {
                n_rows += batch.iter().map(|parsed| parsed.n_rows).sum::<usize>();
                if n_rows > MAX_ROWS {
                    return Err(fault(
                        None,
                        None,
                        format!("the file has more than {MAX_ROWS} rows, the maximum of a table"),
                    ));
                }
                append(&mut columns, &mut batch);
                check_table_size(n_rows)
            },
        )?;
        Ok(columns)
    }
}

impl FilePass<'_> {
    /// The line of a data row, found by reading the file again.
    fn line_of(&self, row: usize) -> Result<u64> {
        let Dialect { delimiter, data_start, .. } = self.dialect;
        let mut cutter = Cutter::new(self.source.open()?, Some(*delimiter), self.block_bytes, *data_start)?;
        let mut left = row;
        while let Some(block) = cutter.next_block()? {
            let mut at = 0;
            while let Some(start) = row_start(&block.text, at, *delimiter) {
                if left == 0 {
                    return Ok(block.line_at(start));
                }
                left -= 1;
                let (_, end) =
                    count_cells(&block.text, start, *delimiter).map_err(|fault| cell_fault(&block, fault))?;
                at = end + 1;
            }
        }
        Ok(0)
    }
}

/// Appends the parts of all blocks to their columns, in parallel over columns.
fn append(columns: &mut [ColumnBuilder], batch: &mut [Parsed]) {
    let mut parts: Vec<Vec<&mut ColumnPart>> = columns.iter().map(|_| Vec::with_capacity(batch.len())).collect();
    for parsed in batch {
        for (place, part) in parts.iter_mut().zip(&mut parsed.parts) {
            place.push(part);
        }
    }
    let pairs = columns.iter_mut().zip(parts);
    parallel::consume(pairs, |_, (column, parts)| parts.into_iter().for_each(|part| column.append(part)));
}
