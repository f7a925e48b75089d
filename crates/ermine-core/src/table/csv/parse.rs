//! Parses a block of CSV records into parts of columns.
//!
//! One pass over the bytes, cell by cell. In a numeric column the number parser itself finds the end of the cell; blanks, quotes and missing-value markers take the general path through
//! [`cell_at`]. In a text column a cell costs one search for its end and one lookup in the block's dictionary; only strings that are new to the block are checked for missing values, UTF-8
//! and valid levels.

use super::cell::{Cell, CellFault, cell_at, cell_end, skip_blanks, trim_end};
use crate::error::{Error, Result};
use crate::table::block::{Block, is_blank};
use crate::table::coded_strings::CodedStrings;
use crate::table::infer::{MissingMarkers, declared_truth, misfit};
use crate::table::number::{leading_number, number};
use crate::table::read::{ColumnType, fault};
use crate::table::{Levels, MISSING};

/// How the cells of a column are parsed.
#[derive(Debug, Clone, Copy)]
pub enum CellRule<'a> {
    /// Skipped.
    Skip,
    /// As numbers. Any other text ends the attempt.
    Number,
    /// As text, which must match the declared type, if any.
    Word { wanted: Option<&'a ColumnType>, levels: Option<&'a Levels> },
}

/// How the blocks of a file are parsed.
pub struct ParsePlan<'a> {
    /// The delimiter.
    pub delimiter: u8,
    /// The names of the columns.
    pub names: &'a [String],
    /// One rule per column.
    pub rules: Vec<CellRule<'a>>,
    /// Missing-value markers.
    pub missing: &'a MissingMarkers,
    /// Approximate number of bytes per row.
    pub row_bytes: usize,
}

/// The rows of a block in one column.
pub enum ColumnPart {
    /// The column is skipped.
    Skipped,
    /// A cell is not a number.
    NotNumbers,
    /// Numbers; NaN is missing.
    Numbers(Vec<f64>),
    /// Strings, and the code of each dictionary entry: its number, or [`MISSING`].
    CodedStrings(CodedStrings, Vec<u32>),
}

/// The parts of all columns, and their number of rows.
pub struct Parsed {
    pub n_rows: usize,
    pub parts: Vec<ColumnPart>,
}

/// Parses a block. Returns the first error.
pub fn parse(plan: &ParsePlan, block: &Block) -> Result<Parsed> {
    let rows = block.text.len() / plan.row_bytes.max(1) * 9 / 8 + 8;
    let part = |rule: &CellRule| match rule {
        CellRule::Skip => ColumnPart::Skipped,
        CellRule::Number => ColumnPart::Numbers(Vec::with_capacity(rows)),
        CellRule::Word { .. } => ColumnPart::CodedStrings(
            CodedStrings { codes: Vec::with_capacity(rows), ..CodedStrings::default() },
            Vec::new(),
        ),
    };
    let mut parts: Vec<ColumnPart> = plan.rules.iter().map(part).collect();
    let mut cursor = Cursor { plan, block, text: &block.text, at: 0, scratch: Vec::new() };
    let mut n_rows = 0;
    while let Some(start) = cursor.next_row() {
        cursor.row(&mut parts, start)?;
        n_rows += 1;
    }
    Ok(Parsed { n_rows, parts })
}

/// The start of the first non-blank row at or after `at`; `None` at the end of the text.
pub fn row_start(text: &[u8], mut at: usize, delimiter: u8) -> Option<usize> {
    while at < text.len() {
        let first = skip_blanks(text, at, delimiter);
        if text[first] != b'\n' {
            return Some(at);
        }
        at = first + 1;
    }
    None
}

struct Cursor<'a> {
    plan: &'a ParsePlan<'a>,
    block: &'a Block,
    text: &'a [u8],
    at: usize,
    scratch: Vec<u8>,
}

impl<'a> Cursor<'a> {
    #[inline]
    fn next_row(&mut self) -> Option<usize> {
        let first = *self.text.get(self.at)?;
        if first == b'\n' || is_blank(first, self.plan.delimiter) {
            self.at = row_start(self.text, self.at, self.plan.delimiter)?;
        }
        Some(self.at)
    }

    /// Parses one row.
    fn row(&mut self, parts: &mut [ColumnPart], start: usize) -> Result<()> {
        let last = parts.len() - 1;
        for (column, part) in parts.iter_mut().enumerate() {
            match part {
                ColumnPart::Numbers(values) => match self.number_cell() {
                    Some(value) => values.push(value),
                    None => self.not_a_short_number(part)?,
                },
                ColumnPart::CodedStrings(words, codes) => self.word_cell(column, words, codes)?,
                ColumnPart::Skipped | ColumnPart::NotNumbers => self.at = self.cell(self.at)?.end,
            }
            let ends_row = self.text[self.at] == b'\n';
            if ends_row != (column == last) {
                return Err(self.ragged(start));
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Parses a number or empty cell that ends at a delimiter or line end; `None` leaves the position unchanged.
    #[inline]
    fn number_cell(&mut self) -> Option<f64> {
        let (delimiter, missing) = (self.plan.delimiter, self.plan.missing);
        let first = self.text[self.at];
        if first == delimiter || first == b'\n' {
            return missing.empty.then_some(f64::NAN);
        }
        if missing.numeric || !matches!(first, b'0'..=b'9' | b'-' | b'+' | b'.') {
            return None;
        }
        let (value, n) = leading_number(&self.text[self.at..])?;
        let end = skip_blanks(self.text, self.at + n, delimiter);
        let ends = self.text[end] == delimiter || self.text[end] == b'\n';
        ends.then(|| {
            self.at = end;
            value
        })
    }

    /// Parses any other cell of a numeric column: missing, a number in quotes or between blanks, or not a number.
    #[cold]
    fn not_a_short_number(&mut self, part: &mut ColumnPart) -> Result<()> {
        let start = self.at;
        let Cell { text, end } = cell_at(self.text, start, self.plan.delimiter, &mut self.scratch)
            .map_err(|fault| cell_fault(self.block, fault))?;
        let text = text.trim_ascii();
        let value = if self.plan.missing.contains(text) { Some(f64::NAN) } else { number(text) };
        match (value, &mut *part) {
            (Some(value), ColumnPart::Numbers(values)) => values.push(value),
            _ => *part = ColumnPart::NotNumbers,
        }
        self.at = end;
        Ok(())
    }

    #[inline]
    fn word_cell(&mut self, column: usize, words: &mut CodedStrings, codes: &mut Vec<u32>) -> Result<()> {
        let (text, at, delimiter) = (self.text, self.at, self.plan.delimiter);
        let first = text[at];
        let Cell { text: word, end } = if first == b'"' || is_blank(first, delimiter) {
            cell_at(text, at, delimiter, &mut self.scratch).map_err(|fault| cell_fault(self.block, fault))?
        } else {
            let end = cell_end(text, at, delimiter);
            Cell { text: trim_end(&text[at..end], delimiter), end }
        };
        let (number, is_new) = words.dictionary.number(word);
        if is_new {
            let code = code_of(self.plan, column, word, number);
            codes.push(code.map_err(|message| self.misfit(at, column, message))?);
        }
        words.codes.push(codes[number as usize]);
        self.at = end;
        Ok(())
    }

    fn cell(&mut self, at: usize) -> Result<Cell<'_>> {
        cell_at(self.text, at, self.plan.delimiter, &mut self.scratch).map_err(|fault| cell_fault(self.block, fault))
    }

    #[cold]
    fn misfit(&self, at: usize, column: usize, message: String) -> Error {
        fault(Some(self.block.line_at(at)), Some(&self.plan.names[column]), message)
    }

    #[cold]
    fn ragged(&mut self, start: usize) -> Error {
        let n = match count_cells(self.text, start, self.plan.delimiter) {
            Ok((n, _)) => n,
            Err(fault) => return cell_fault(self.block, fault),
        };
        let expected = self.plan.names.len();
        let cells = if n == 1 { "cell" } else { "cells" };
        let message = format!("{n} {cells} in this row, expected {expected} as in the first line");
        fault(Some(self.block.line_at(start)), None, message)
    }
}

/// The code of a string that is new to a block: its number, or missing; or an error.
#[cold]
fn code_of(plan: &ParsePlan, column: usize, word: &[u8], number: u32) -> Result<u32, String> {
    if plan.missing.contains(word.trim_ascii()) {
        return Ok(MISSING);
    }
    let text = std::str::from_utf8(word).map_err(|_| {
        format!("'{}' is not valid UTF-8 (is the file in another encoding?)", String::from_utf8_lossy(word))
    })?;
    match plan.rules[column] {
        CellRule::Word { levels: Some(levels), wanted: Some(wanted) } if levels.code(text).is_none() => {
            Err(misfit(text, wanted))
        }
        CellRule::Word { wanted: Some(wanted @ ColumnType::Boolean), .. } if declared_truth(text).is_none() => {
            Err(misfit(text, wanted))
        }
        _ => Ok(number),
    }
}

/// The number of cells of the row that starts at `start`, and the position of its line end.
pub fn count_cells(text: &[u8], start: usize, delimiter: u8) -> Result<(usize, usize), CellFault> {
    let (mut n, mut at, mut scratch) = (0, start, Vec::new());
    loop {
        let end = cell_at(text, at, delimiter, &mut scratch)?.end;
        n += 1;
        if text[end] == b'\n' {
            return Ok((n, end));
        }
        at = end + 1;
    }
}

/// The error for a malformed cell.
pub fn cell_fault(block: &Block, what: CellFault) -> Error {
    match what {
        CellFault::Unclosed(at) => {
            fault(Some(block.line_at(at)), None, "a quote opens a cell here, but it is not closed")
        }
        CellFault::AfterQuote(at) => {
            let rest = &block.text[at..];
            let rest = String::from_utf8_lossy(&rest[..rest.len().min(20)]);
            let found = rest.chars().next().unwrap_or(' ');
            let message = format!("'{found}' after a closing quote, expected a delimiter or the end of the line");
            fault(Some(block.line_at(at)), None, message)
        }
    }
}
