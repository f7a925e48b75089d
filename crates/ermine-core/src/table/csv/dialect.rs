//! The format of a CSV file, detected from its first bytes: the delimiter, the column names, the start of the data, and which columns are not numeric.
//!
//! Of `,`, `;` and tab, the delimiter is the one that splits most of the first rows into as many cells as the first row (more than one); of several such, the one with more cells.

use super::cell::{CellFault, cell_at};
use super::parse::{CellRule, ColumnPart, ParsePlan, cell_fault, count_cells, parse, row_start};
use crate::error::{Error, Result};
use crate::table::block::{Block, RecordScanner};
use crate::table::infer::MissingMarkers;
use crate::table::read::{ReadOptions, fault};
use crate::table::source::ByteSource;
use std::collections::HashMap;

const SAMPLE_BYTES: usize = 1 << 18;
const SAMPLE_ROWS: usize = 100;
const MAX_HEADER: usize = 1 << 26;
/// Maximum number of columns.
pub const MAX_COLUMNS: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The format of a CSV file.
#[derive(Debug)]
pub struct Dialect {
    /// The delimiter.
    pub delimiter: u8,
    /// The names of the columns.
    pub names: Vec<String>,
    /// Number of bytes before the first data row.
    pub data_start: usize,
    /// For each column, whether the first rows contain a non-numeric cell.
    pub has_words: Vec<bool>,
    /// Approximate number of bytes per row.
    pub row_bytes: usize,
}

/// The first bytes of a file, starting at a record, and whether they are the whole file.
struct FileSample {
    text: Vec<u8>,
    whole: bool,
}

impl FileSample {
    fn take(source: &ByteSource, n: usize) -> Result<Self> {
        let mut text = Vec::new();
        source.open()?.append(&mut text, n)?;
        let whole = text.len() < n;
        Ok(FileSample { text, whole })
    }

    /// The complete records after the first `skip` bytes, given a delimiter.
    fn records(&self, skip: usize, delimiter: u8) -> Vec<u8> {
        let mut records = self.text[skip..].to_vec();
        let end = RecordScanner::new(Some(delimiter)).advance(&records);
        if !self.whole {
            records.truncate(end);
        } else if records.last().is_some_and(|&byte| byte != b'\n') {
            records.push(b'\n');
        }
        records
    }
}

/// Detects the format of a file.
pub fn sniff(source: &ByteSource, options: &ReadOptions, missing: &MissingMarkers) -> Result<Dialect> {
    let mut n = SAMPLE_BYTES;
    loop {
        let sample = FileSample::take(source, n)?;
        check_encoding(&sample)?;
        let skip = if sample.text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let delimiter = match options.delimiter {
            Some(delimiter) => checked(delimiter)?,
            None => find_delimiter(&sample, skip),
        };
        let block = Block { text: sample.records(skip, delimiter), line: 1 };
        if let Some(start) = row_start(&block.text, 0, delimiter) {
            return describe(&block, start, skip, delimiter, options.header, missing);
        }
        if sample.whole {
            let expected = if options.header { "a line with the names of the columns" } else { "rows of cells" };
            return Err(fault(None, None, format!("the file is empty, expected {expected}")));
        }
        if n > MAX_HEADER {
            return Err(fault(Some(1), None, format!("no end of the first row within {} MB", MAX_HEADER >> 20)));
        }
        n *= 4;
    }
}

fn checked(delimiter: u8) -> Result<u8> {
    if delimiter == b'\t' || delimiter == b' ' || delimiter.is_ascii_punctuation() && !b"\"+-.".contains(&delimiter) {
        return Ok(delimiter);
    }
    let found = char::from(delimiter).escape_default();
    Err(Error::data(format!(
        "'{found}' can't be a delimiter: use a tab, a space or a punctuation mark other than \" + - ."
    )))
}

fn check_encoding(sample: &FileSample) -> Result<()> {
    if sample.text.starts_with(b"\xff\xfe") || sample.text.starts_with(b"\xfe\xff") {
        return Err(fault(None, None, "the file is in UTF-16, expected UTF-8"));
    }
    if sample.text.contains(&b'\r') && !sample.text.contains(&b'\n') && sample.text.trim_ascii().contains(&b'\r') {
        return Err(fault(None, None, "lines end in carriage returns alone, expected line feeds"));
    }
    Ok(())
}

fn find_delimiter(sample: &FileSample, skip: usize) -> u8 {
    let mut best = ((0, 0), b',');
    for delimiter in [b',', b';', b'\t'] {
        let records = sample.records(skip, delimiter);
        let score = agreement(&records, delimiter);
        if score > best.0 {
            best = (score, delimiter);
        }
    }
    best.1
}

/// The number of first rows with as many cells as the first one, and the number of cells; zero if there is only one.
fn agreement(records: &[u8], delimiter: u8) -> (usize, usize) {
    let (mut at, mut first, mut agree) = (0, 0, 0);
    for _ in 0..SAMPLE_ROWS {
        let Some(start) = row_start(records, at, delimiter) else { break };
        let Ok((n, end)) = count_cells(records, start, delimiter) else { break };
        first = if first == 0 { n } else { first };
        agree += usize::from(n == first);
        at = end + 1;
    }
    if first > 1 { (agree, first) } else { (0, 0) }
}

fn describe(
    block: &Block,
    start: usize,
    skip: usize,
    delimiter: u8,
    header: bool,
    missing: &MissingMarkers,
) -> Result<Dialect> {
    let (names, end) = first_row(block, start, delimiter)?;
    let (names, data) = if header {
        (checked_names(names, block.line_at(start))?, end + 1)
    } else {
        ((0..names.len()).map(|j| format!("c{j}")).collect(), 0)
    };
    let rows = Block { text: block.text[data..].to_vec(), line: block.line_at(data) };
    let rules = vec![CellRule::Number; names.len()];
    let plan = ParsePlan { delimiter, names: &names, rules, missing, row_bytes: end + 1 - start };
    // Errors in the first rows are reported when the file is read.
    let (has_words, row_bytes) = match parse(&plan, &rows) {
        Ok(parsed) => {
            let has_words = parsed.parts.iter().map(|part| matches!(part, ColumnPart::NotNumbers)).collect();
            (has_words, rows.text.len() / parsed.n_rows.max(1))
        }
        Err(_) => (vec![false; names.len()], plan.row_bytes),
    };
    Ok(Dialect { delimiter, data_start: skip + data, has_words, row_bytes: row_bytes.max(1), names })
}

/// The cells of the row that starts at `start`, and the position of its line end.
fn first_row(block: &Block, start: usize, delimiter: u8) -> Result<(Vec<String>, usize)> {
    let (mut cells, mut at, mut scratch) = (Vec::new(), start, Vec::new());
    let wrong = |what: CellFault| cell_fault(block, what);
    loop {
        let cell = cell_at(&block.text, at, delimiter, &mut scratch).map_err(wrong)?;
        let text = std::str::from_utf8(cell.text).map_err(|_| {
            let text = String::from_utf8_lossy(cell.text);
            fault(Some(block.line_at(at)), None, format!("the name '{text}' is not valid UTF-8"))
        })?;
        cells.push(text.to_string());
        if cells.len() > MAX_COLUMNS {
            let message = format!("the row has more than {MAX_COLUMNS} cells, the maximum");
            return Err(fault(Some(block.line_at(start)), None, message));
        }
        if block.text[cell.end] == b'\n' {
            return Ok((cells, cell.end));
        }
        at = cell.end + 1;
    }
}

/// Checks that names are distinct. A column without a name is named by its index: the third is `c2`.
fn checked_names(mut names: Vec<String>, line: u64) -> Result<Vec<String>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (j, name) in names.iter_mut().enumerate() {
        if name.trim().is_empty() {
            *name = format!("c{j}");
        }
        if let Some(first) = places.insert(name.clone(), j) {
            let message = format!("columns {} and {} have the same name", first + 1, j + 1);
            return Err(fault(Some(line), Some(name), message));
        }
    }
    Ok(names)
}
