//! What kind of column a list of words or numbers is, and the column that it becomes.
//!
//! Not said otherwise, a column of a text file is numeric if every cell that is not missing is a number (`number`),
//! boolean if every such cell is `true` or `false` in any case, and nominal otherwise; with all cells missing it is
//! numeric. Levels are sorted: by name for nominal columns, as numbers where they all are numbers for ordinal ones. So a
//! column depends on its cells alone, not on how a file was cut into pieces or in which order they came.

use super::number::number;
use super::read::{ColumnType, fault};
use super::words::Words;
use super::{Column, ColumnKind, Levels, MISSING};
use crate::error::Result;
use crate::parallel;
use rayon::prelude::*;
use std::sync::Arc;

/// The cells that mean "missing".
#[derive(Debug)]
pub(super) struct MissingWords {
    words: Vec<Vec<u8>>,
    /// Whether the empty cell is one.
    pub empty: bool,
    /// Whether one of them looks like a number.
    pub numeric: bool,
}

impl MissingWords {
    pub fn new(words: &[String]) -> Self {
        let words: Vec<Vec<u8>> = words.iter().map(|word| word.trim().as_bytes().to_vec()).collect();
        let empty = words.iter().any(Vec::is_empty);
        let numeric = words.iter().any(|word| number(word).is_some());
        MissingWords { words, empty, numeric }
    }

    /// Whether a cell, its ends cut, means "missing".
    pub fn contains(&self, cell: &[u8]) -> bool {
        self.words.iter().any(|word| word == cell)
    }
}

/// The truth value that a word is taken for without being told: `true` or `false` in any case.
fn truth(word: &str) -> Option<bool> {
    let is = |other: &str| word.trim().eq_ignore_ascii_case(other);
    if is("true") { Some(true) } else { is("false").then_some(false) }
}

/// The truth value of a word in a column declared boolean: also `yes`/`no`, `y`/`n`, `t`/`f`, `1`/`0`.
pub(super) fn declared_truth(word: &str) -> Option<bool> {
    let is = |others: &[&str]| others.iter().any(|other| word.trim().eq_ignore_ascii_case(other));
    truth(word)
        .or_else(|| if is(&["yes", "y", "t", "1"]) { Some(true) } else { is(&["no", "n", "f", "0"]).then_some(false) })
}

/// What was expected where a cell doesn't fit the declared type of its column.
pub(super) fn misfit(cell: &str, wanted: &ColumnType) -> String {
    let mut cell = cell.to_string();
    if let Some((cut, _)) = cell.char_indices().nth(60) {
        cell.truncate(cut);
        cell.push_str("...");
    }
    match wanted {
        ColumnType::Boolean => format!("'{cell}' is neither true nor false"),
        ColumnType::Ordinal(levels) => format!("'{cell}' is none of the levels {}", levels.join(" < ")),
        _ => format!("'{cell}' is not a number"),
    }
}

/// The column that words become: of the type that was declared, or else boolean or nominal.
pub(super) fn column_of_words(name: String, words: Words, wanted: Option<&ColumnType>) -> Result<Column> {
    let Words { mut codes, dictionary } = words;
    let names: Vec<String> = (0..dictionary.len()).map(|number| dictionary.text(number)).collect();
    drop(dictionary);
    let misfit = |cell: &String, wanted| fault(None, Some(&name), misfit(cell, wanted));
    let all_true_or_false = !names.is_empty() && names.iter().all(|word| truth(word).is_some());
    let (kind, levels, new_codes): (_, _, Vec<u32>) = match wanted {
        Some(wanted @ ColumnType::Numeric) => {
            let numbers: Result<Vec<f64>> =
                names.iter().map(|word| number(word.trim().as_bytes()).ok_or_else(|| misfit(word, wanted))).collect();
            let numbers = numbers?;
            let values: Vec<f64> =
                codes.iter().map(|&code| numbers.get(code as usize).copied().unwrap_or(f64::NAN)).collect();
            return Ok(Column::numeric(name, values));
        }
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
    Ok(Column::coded(name, kind, codes, Arc::new(levels)))
}

/// Levels by name, or as numbers where that is asked for and possible; and the new code of each word.
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

/// A column of numbers as the type that was declared for it. The levels are then the numbers as they are printed.
pub(super) fn retype_numbers(column: Column, wanted: Option<&ColumnType>) -> Result<Column> {
    if matches!(wanted, None | Some(ColumnType::Numeric)) {
        return Ok(column);
    }
    let mut words = Words::default();
    for row in 0..column.len() {
        let missing = column.number(row).is_nan();
        words.push((!missing).then(|| column.text(row)).as_deref().map(str::as_bytes));
    }
    column_of_words(column.name, words, wanted)
}
