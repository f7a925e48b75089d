//! Inference of column kinds.
//!
//! Unless declared, a column of a text file is numeric if every cell that is not missing is a number or a date, in one notation ([`notation`](super::notation)); boolean if every such cell is
//! `true` or `false` in any case; and nominal otherwise. A column without values is numeric. Levels are sorted: by name for nominal columns; as numbers for ordinal columns if all are numbers.
//! So a column does not depend on how the file was divided into blocks.

use super::coded_strings::CodedStrings;
use super::notation::Notation;
use super::number::number;
use super::read::{ColumnType, ReadNote, ReadOptions, StrayCells, fault};
use super::{Column, ColumnKind, Levels, MISSING};
use crate::error::{Error, Result};
use crate::parallel;
use rayon::prelude::*;
use std::sync::Arc;

/// Missing-value markers.
#[derive(Debug)]
pub(super) struct MissingMarkers {
    words: Vec<Vec<u8>>,
    /// Whether the empty cell is a marker.
    pub empty: bool,
    /// Whether a marker looks like a number.
    pub numeric: bool,
}

impl MissingMarkers {
    pub fn new(words: &[String]) -> Self {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.trim().as_bytes().to_vec()).collect();
        let empty = words.iter().any(Vec::is_empty);
        let numeric = words.iter().any(|word| number(word).is_some());
        MissingMarkers { words, empty, numeric }
    }

    /// Whether a trimmed cell is a marker.
    pub fn contains(&self, cell: &[u8]) -> bool {
        self.words.iter().any(|word| word == cell)
    }
}

/// The inferred boolean of a text: `true` or `false` in any case.
fn truth(word: &str) -> Option<bool> {
    let is = |other: &str| word.trim().eq_ignore_ascii_case(other);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

/// The boolean of a text in a column declared boolean: also `yes`/`no`, `y`/`n`, `t`/`f`, `1`/`0`.
pub(super) fn declared_truth(word: &str) -> Option<bool> {
    let is = |others: &[&str]| others.iter().any(|other| word.trim().eq_ignore_ascii_case(other));
    truth(word)
        .or_else(|| if is(&["yes", "y", "t", "1"]) { Some(true) } else { is(&["no", "n", "f", "0"]).then_some(false) })
}

/// Shortens a long cell.
fn shortened(cell: &str) -> String {
    match cell.char_indices().nth(60) {
        Some((cut, _)) => format!("{}...", &cell[..cut]),
        None => cell.to_string(),
    }
}

/// The error message for a cell that doesn't match the declared type of its column.
pub(super) fn misfit(cell: &str, wanted: &ColumnType) -> String {
    let cell = shortened(cell);
    match wanted {
        ColumnType::Boolean => format!("'{cell}' is neither true nor false"),
        ColumnType::Ordinal(levels) => format!("'{cell}' is not one of the levels {}", levels.join(" < ")),
        _ => format!("'{cell}' is not a number"),
    }
}

/// A column of text cells, and the cells that didn't fit.
pub(super) struct Interpreted {
    pub column: Column,
    pub stray: Option<Stray>,
}

/// Non-numeric cells in a numeric column.
#[derive(Debug, PartialEq)]
pub(super) struct Stray {
    /// The row of the first one.
    pub row: usize,
    /// Its text.
    pub value: String,
    /// Number of such cells.
    pub n: usize,
}

/// Converts text cells to a column: of the declared type, or else boolean, numeric or nominal.
pub(super) fn column_of_words(name: String, words: CodedStrings, wanted: Option<&ColumnType>) -> Result<Column> {
    interpret(name, words, wanted, &ReadOptions::default()).map(|interpreted| interpreted.column)
}

/// The same, with the stray cells according to the options.
pub(super) fn interpret(
    name: String,
    words: CodedStrings,
    wanted: Option<&ColumnType>,
    options: &ReadOptions,
) -> Result<Interpreted> {
    let CodedStrings { mut codes, dictionary } = words;
    let names: Vec<String> = (0..dictionary.len()).map(|number| dictionary.text(number)).collect();
    drop(dictionary);
    let misfit = |cell: &String, wanted| fault(None, Some(&name), misfit(cell, wanted));
    let all_true_or_false = !names.is_empty() && names.iter().all(|word| truth(word).is_some());
    if !(wanted.is_none() && all_true_or_false)
        && let Some(reading) = numbers_of(&names, &codes, wanted, options)
    {
        return reading.column(name, &names, &codes, wanted, options);
    }
    let (kind, levels, new_codes): (_, _, Vec<u32>) = match wanted {
        Some(wanted @ ColumnType::Ordinal(levels)) if !levels.is_empty() => {
            let levels = Levels::new(levels.iter().cloned());
            let codes = names.iter().map(|word| levels.code(word).ok_or_else(|| misfit(word, wanted)));
            let codes = codes.collect::<Result<_>>()?;
            (ColumnKind::Ordinal, levels, codes)
        }
        Some(ColumnType::Boolean) | None if wanted.is_some() || all_true_or_false => {
            let codes = names.iter().map(|word| declared_truth(word).map(u32::from));
            let codes = codes.zip(&names).map(|(code, word)| code.ok_or_else(|| misfit(word, &ColumnType::Boolean)));
            (ColumnKind::Boolean, Levels::new(["false", "true"]), codes.collect::<Result<_>>()?)
        }
        Some(ColumnType::Ordinal(_)) => {
            let (levels, codes) = sorted_levels(names, true);
            (ColumnKind::Ordinal, levels, codes)
        }
        _ => {
            let (levels, codes) = sorted_levels(names, false);
            (ColumnKind::Nominal, levels, codes)
        }
    };
    parallel::for_each_chunk(&mut codes, 1 << 14, |_, codes| {
        codes.iter_mut().for_each(|code| *code = new_codes.get(*code as usize).copied().unwrap_or(MISSING));
    });
    codes.shrink_to_fit();
    Ok(Interpreted { column: Column::coded(name, kind, codes, Arc::new(levels)), stray: None })
}

/// A column of a text file; `line_of` returns the line of a row. Stray cells are noted, or an error with their line.
pub(super) fn text_column(
    name: &str,
    words: CodedStrings,
    wanted: Option<&ColumnType>,
    options: &ReadOptions,
    notes: &mut Vec<ReadNote>,
    line_of: &dyn Fn(usize) -> Result<u64>,
) -> Result<Column> {
    let interpreted = interpret(name.to_string(), words, wanted, options).map_err(|error| match error {
        Error::StrayCell { row, column, message } => match line_of(row) {
            Ok(line) => fault(Some(line), Some(&column), message),
            Err(error) => error,
        },
        other => other,
    })?;
    if let Some(Stray { row, value, n }) = interpreted.stray {
        notes.push(ReadNote::StrayCells { column: name.to_string(), n_cells: n, line: line_of(row)?, value });
    }
    Ok(interpreted.column)
}

/// The numbers of distinct texts in a notation; NaN for texts that are not numbers.
struct NumberReading {
    notation: Notation,
    numbers: Vec<f64>,
}

/// How text cells are parsed as numbers: as declared, or in the notation in which all are numbers, or nearly all if stray cells are tolerated. `None` if they are not numbers.
fn numbers_of(
    names: &[String],
    codes: &[u32],
    wanted: Option<&ColumnType>,
    options: &ReadOptions,
) -> Option<NumberReading> {
    let texts = || names.iter().map(String::as_str);
    let in_notation = |notation: Notation| {
        let numbers = texts().map(|text| notation.read(text).unwrap_or(f64::NAN)).collect();
        NumberReading { notation, numbers }
    };
    let of_numbers = || {
        let plain =
            (!options.decimal_comma).then(|| in_notation(Notation::Plain)).filter(|plain| plain.n_misfits() == 0);
        plain.unwrap_or_else(|| {
            let comma = in_notation(Notation::DecimalComma);
            let plain = in_notation(Notation::Plain);
            if options.decimal_comma || comma.n_misfits() < plain.n_misfits() { comma } else { plain }
        })
    };
    match wanted {
        Some(ColumnType::Numeric) => Some(of_numbers()),
        Some(ColumnType::Written(notation)) => Some(in_notation(notation.clone())),
        Some(ColumnType::Date) => {
            let usual = Notation::Date(super::date::DateForm::YearFirst);
            Some(in_notation(Notation::of_dates(texts()).unwrap_or(usual)))
        }
        None if names.is_empty() => None,
        None => {
            // The same date in all rows may be a name.
            if let Some(notation) = Notation::of_dates(texts()).filter(|_| names.len() > 1) {
                return Some(in_notation(notation));
            }
            let numbers = of_numbers();
            let nearly = options.stray != StrayCells::AsDeclared && numbers.are_nearly_all(codes);
            (numbers.n_misfits() == 0 || nearly).then_some(numbers)
        }
        Some(_) => None,
    }
}

impl NumberReading {
    fn is_misfit(&self, code: u32) -> bool {
        self.numbers.get(code as usize).is_some_and(|x| x.is_nan())
    }

    /// Number of distinct texts that are not numbers.
    fn n_misfits(&self) -> usize {
        self.numbers.iter().filter(|x| x.is_nan()).count()
    }

    /// Whether so few cells are not numbers that they are probably mistakes: a few percent, or a single word that may mean "missing".
    fn are_nearly_all(&self, codes: &[u32]) -> bool {
        const FEWEST_NUMBERS: usize = 10;
        let mut numbers: Vec<f64> = self.numbers.iter().copied().filter(|x| !x.is_nan()).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let n_stray = codes.iter().filter(|&&code| self.is_misfit(code)).count();
        let n_present = codes.iter().filter(|&&code| code != MISSING).count();
        let few = n_stray * 20 <= n_present && self.n_misfits() <= 5;
        let one_word = self.n_misfits() == 1 && n_stray * 2 <= n_present;
        numbers.len() >= FEWEST_NUMBERS && (few || one_word)
    }

    fn column(
        self,
        name: String,
        names: &[String],
        codes: &[u32],
        wanted: Option<&ColumnType>,
        options: &ReadOptions,
    ) -> Result<Interpreted> {
        let is_stray = |&code: &u32| self.is_misfit(code);
        let stray = codes.iter().position(is_stray).map(|row| Stray {
            row,
            value: shortened(&names[codes[row] as usize]),
            n: codes.iter().filter(|code| is_stray(code)).count(),
        });
        if let Some(stray) = &stray
            && (options.stray == StrayCells::Refused || (wanted.is_some() && options.stray == StrayCells::AsDeclared))
        {
            let message = format!("'{}' is not {}", stray.value, self.notation.expected());
            return Err(Error::StrayCell { row: stray.row, column: name, message });
        }
        let value = |&code: &u32| self.numbers.get(code as usize).copied().unwrap_or(f64::NAN);
        let values: Vec<f64> = codes.iter().map(value).collect();
        Ok(Interpreted { column: Column { notation: self.notation, ..Column::numeric(name, values) }, stray })
    }
}

/// Levels sorted by name, or as numbers if requested and possible; and the new code of each level.
fn sorted_levels(mut names: Vec<String>, as_numbers: bool) -> (Levels, Vec<u32>) {
    let numbers: Option<Vec<f64>> =
        as_numbers.then(|| names.iter().map(|word| number(word.trim().as_bytes())).collect()).flatten();
    let mut order: Vec<u32> = (0..names.len() as u32).collect();
    order.par_sort_unstable_by(|&a, &b| {
        let (a, b) = (a as usize, b as usize);
        let by_number = numbers.as_ref().map_or(std::cmp::Ordering::Equal, |x| x[a].total_cmp(&x[b]));
        by_number.then_with(|| names[a].cmp(&names[b]))
    });
    let mut codes = vec![0; names.len()];
    for (rank, &word) in order.iter().enumerate() {
        codes[word as usize] = rank as u32;
    }
    let sorted = order.iter().map(|&word| std::mem::take(&mut names[word as usize]));
    (Levels::new(sorted), codes)
}

/// Converts a numeric column to the declared type. Levels are then the printed numbers.
pub(super) fn retype_numbers(column: Column, wanted: Option<&ColumnType>) -> Result<Column> {
    // Plain numbers are the same in every notation.
    if matches!(wanted, None | Some(ColumnType::Numeric | ColumnType::Written(_))) {
        let notation =
            if let Some(ColumnType::Written(notation)) = wanted { notation.clone() } else { column.notation.clone() };
        return Ok(Column { notation, ..column });
    }
    let mut words = CodedStrings::default();
    for row in 0..column.len() {
        let missing = column.number(row).is_nan();
        words.push((!missing).then(|| column.text(row)).as_deref().map(str::as_bytes));
    }
    column_of_words(column.name, words, wanted)
}
