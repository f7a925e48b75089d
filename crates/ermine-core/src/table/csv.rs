//! CSV files: streamed in blocks, parsed on all threads, the kinds of the columns inferred from all cells.
//!
//! 1. [`dialect`] looks at the first bytes: delimiter, names, and which columns surely hold words.
//! 2. One pass over the file parses each block on some thread ([`parse`]) and appends what it gives to the columns in
//!    the order of the file. A column is taken for numbers until a cell says otherwise; its numbers are dropped then.
//! 3. If there are such columns, a second pass reads them, and nothing else, as words.
//! 4. Words become levels ([`super::infer`]).
//!
//! Memory: the columns, and a few blocks (text and values) for each thread. Rows are never held as rows.
//!
//! Blank lines are passed over. Inside quotes a cell keeps its blanks, but a number or missing word is recognised there
//! as well as outside. See [`cell`] for the rules of quoting.

mod cell;
mod dialect;
mod parse;
#[cfg(test)]
mod tests;

use super::block::{Cutter, check_table_size, for_each_batch};
use super::infer::{MissingWords, column_of_words, retype_numbers};
use super::read::{ColumnType, ReadOptions, check_types, fault};
use super::source::Source;
use super::words::Words;
use super::{Column, Levels, MAX_ROWS, Table};
use crate::error::{Error, Result};
use crate::parallel;
use dialect::{Dialect, sniff};
use parse::{Parsed, Part, Plan, Rule, parse};
use std::path::Path;

const BLOCK_BYTES: usize = 1 << 18;

/// Reads the file at `path`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    read_source(&Source::file(path)?, options, BLOCK_BYTES)
}

fn read_source(source: &Source, options: &ReadOptions, block_bytes: usize) -> Result<Table> {
    let missing = MissingWords::new(&options.missing);
    let dialect = sniff(source, options, &missing)?;
    check_types(&options.types, &dialect.names)?;
    let wanted: Vec<Option<&ColumnType>> = dialect.names.iter().map(|name| options.types.get(name)).collect();
    let levels: Vec<Option<Levels>> = wanted.iter().map(|wanted| given_levels(*wanted)).collect();
    let pass = Pass { source, dialect: &dialect, missing: &missing, block_bytes };

    let first: Vec<Rule> = (0..wanted.len())
        .map(|j| match wanted[j] {
            Some(ColumnType::Ignored) => Rule::Skip,
            Some(ColumnType::Numeric) => Rule::Number { declared: true },
            None if !dialect.has_words[j] => Rule::Number { declared: false },
            wanted => Rule::Word { wanted, levels: levels[j].as_ref() },
        })
        .collect();
    let mut columns = pass.run(first)?;
    if columns.iter().any(|column| matches!(column, Growing::NotNumbers)) {
        let word = Rule::Word { wanted: None, levels: None };
        let again = columns.iter().map(|c| if matches!(c, Growing::NotNumbers) { word } else { Rule::Skip }).collect();
        for (column, words) in columns.iter_mut().zip(pass.run(again)?) {
            if matches!(column, Growing::NotNumbers) {
                *column = words;
            }
        }
    }
    finish(columns, &dialect.names, &wanted)
}

fn given_levels(wanted: Option<&ColumnType>) -> Option<Levels> {
    match wanted {
        Some(ColumnType::Ordinal(names)) if !names.is_empty() => Some(Levels::new(names.iter().cloned())),
        _ => None,
    }
}

fn finish(columns: Vec<Growing>, names: &[String], wanted: &[Option<&ColumnType>]) -> Result<Table> {
    let mut finished = Vec::new();
    for ((column, name), &wanted) in columns.into_iter().zip(names).zip(wanted) {
        match column {
            Growing::Skipped | Growing::NotNumbers => {}
            Growing::Numbers(mut values) => {
                values.shrink_to_fit();
                finished.push(retype_numbers(Column::numeric(name, values), wanted)?);
            }
            Growing::Words(words) => finished.push(column_of_words(name.clone(), words, wanted)?),
        }
    }
    if finished.is_empty() {
        return Err(Error::data("all columns are ignored: nothing is left to read"));
    }
    Table::new(finished)
}

/// A column while blocks are still coming.
enum Growing {
    Skipped,
    NotNumbers,
    Numbers(Vec<f64>),
    Words(Words),
}

impl Growing {
    fn new(rule: &Rule) -> Self {
        match rule {
            Rule::Skip => Growing::Skipped,
            Rule::Number { .. } => Growing::Numbers(Vec::new()),
            Rule::Word { .. } => Growing::Words(Words::default()),
        }
    }

    fn append(&mut self, part: &mut Part) {
        match (&mut *self, part) {
            (Growing::Numbers(values), Part::Numbers(more)) => values.extend_from_slice(more),
            (Growing::Words(words), Part::Words(more, _)) => words.append(more),
            (Growing::Numbers(_), Part::NotNumbers) => *self = Growing::NotNumbers,
            _ => {}
        }
    }

    /// Room for `n` rows in all; memory that is not written to costs nothing.
    fn reserve(&mut self, n: usize) {
        match self {
            Growing::Numbers(values) => values.reserve_exact(n.saturating_sub(values.len())),
            Growing::Words(words) => words.codes.reserve_exact(n.saturating_sub(words.codes.len())),
            Growing::Skipped | Growing::NotNumbers => {}
        }
    }
}

/// One reading of a file.
struct Pass<'a> {
    source: &'a Source<'a>,
    dialect: &'a Dialect,
    missing: &'a MissingWords,
    block_bytes: usize,
}

impl Pass<'_> {
    fn run(&self, rules: Vec<Rule>) -> Result<Vec<Growing>> {
        let Dialect { delimiter, names, data_start, row_bytes, .. } = self.dialect;
        let cutter = Cutter::new(self.source.open()?, Some(*delimiter), self.block_bytes, *data_start)?;
        let mut columns: Vec<Growing> = rules.iter().map(Growing::new).collect();
        if let Some(size) = cutter.size() {
            let rows = size as usize / row_bytes * 17 / 16;
            columns.iter_mut().for_each(|column| column.reserve(rows.min(MAX_ROWS)));
        }
        let plan = Plan { delimiter: *delimiter, names, rules, missing: self.missing, row_bytes: *row_bytes };
        let mut n_rows = 0;
        for_each_batch(
            cutter,
            |block| parse(&plan, block),
            |mut batch: Vec<Parsed>| {
                n_rows += batch.iter().map(|parsed| parsed.n_rows).sum::<usize>();
                if n_rows > MAX_ROWS {
                    return Err(fault(None, None, format!("more than the {MAX_ROWS} rows that a table may have")));
                }
                append(&mut columns, &mut batch);
                check_table_size(n_rows)
            },
        )?;
        Ok(columns)
    }
}

/// Appends the parts of all blocks to their columns, column by column on all threads.
fn append(columns: &mut [Growing], batch: &mut [Parsed]) {
    let mut parts: Vec<Vec<&mut Part>> = columns.iter().map(|_| Vec::with_capacity(batch.len())).collect();
    for parsed in batch {
        for (place, part) in parts.iter_mut().zip(&mut parsed.parts) {
            place.push(part);
        }
    }
    let pairs = columns.iter_mut().zip(parts);
    parallel::consume(pairs, |_, (column, parts)| parts.into_iter().for_each(|part| column.append(part)));
}
