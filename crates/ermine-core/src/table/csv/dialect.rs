//! How a CSV file is written, found out from its first bytes: the delimiter, the names of the columns, where the data
//! start, and which columns can't be numbers.
//!
//! Of `,`, `;` and tab the delimiter is the one that cuts the most of the first rows into as many cells as the first row
//! (more than one); of several such, the one that gives more cells.

use super::cell::{CellFault, cell_at};
use super::parse::{CellRule, ColumnPart, ParsePlan, cell_fault, count_cells, parse, row_start};
use crate::error::{Error, Result};
use crate::table::block::{Block, Scan};
use crate::table::infer::MissingMarkers;
use crate::table::read::{ReadOptions, fault};
use crate::table::source::Source;
use std::collections::HashMap;

const SAMPLE_BYTES: usize = 1 << 18;
const SAMPLE_ROWS: usize = 100;
const MAX_HEADER: usize = 1 << 26;
/// The most columns that a file may have.
pub const MAX_COLUMNS: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How a file is written.
#[derive(Debug)]
pub struct Dialect {
    /// The byte between cells.
    pub delimiter: u8,
    /// The names of the columns.
    pub names: Vec<String>,
    /// How many bytes stand before the first row of data.
    pub data_start: usize,
    /// For each column, whether the first rows hold a word that is no number.
    pub has_words: Vec<bool>,
    /// About how many bytes a row takes.
    pub row_bytes: usize,
}

/// The first bytes of a file, from a place where a record starts, and whether they are all there is.
struct Sample {
    text: Vec<u8>,
    whole: bool,
}

impl Sample {
    fn take(source: &Source, n: usize) -> Result<Self> {
        let mut text = Vec::new();
        source.open()?.append(&mut text, n)?;
        let whole = text.len() < n;
        Ok(Sample { text, whole })
    }

    /// The whole records in it after the first `skip` bytes, if cells are cut at this delimiter.
    fn records(&self, skip: usize, delimiter: u8) -> Vec<u8> {
        let mut records = self.text[skip..].to_vec();
        let end = Scan::new(Some(delimiter)).advance(&records);
        if !self.whole {
            records.truncate(end);
        } else if records.last().is_some_and(|&byte| byte != b'\n') {
            records.push(b'\n');
        }
        records
    }
}

/// Finds out how a file is written.
pub fn sniff(source: &Source, options: &ReadOptions, missing: &MissingMarkers) -> Result<Dialect> {
    let mut n = SAMPLE_BYTES;
    loop {
        let sample = Sample::take(source, n)?;
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
        "'{found}' can't be a delimiter: expected a tab, a blank or a punctuation mark other than \" + - ."
    )))
}

fn check_encoding(sample: &Sample) -> Result<()> {
    if sample.text.starts_with(b"\xff\xfe") || sample.text.starts_with(b"\xfe\xff") {
        return Err(fault(None, None, "the file is in UTF-16, expected UTF-8"));
    }
    if sample.text.contains(&b'\r') && !sample.text.contains(&b'\n') && sample.text.trim_ascii().contains(&b'\r') {
        return Err(fault(None, None, "lines end in carriage returns alone, expected line feeds"));
    }
    Ok(())
}

fn find_delimiter(sample: &Sample, skip: usize) -> u8 {
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

/// How many of the first rows have as many cells as the first one, and how many cells that is; zero if it is one.
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
    // A fault in the first rows is for the reading proper to report, with all that comes before it.
    let (has_words, row_bytes) = match parse(&plan, &rows) {
        Ok(parsed) => {
            let has_words = parsed.parts.iter().map(|part| matches!(part, ColumnPart::NotNumbers)).collect();
            (has_words, rows.text.len() / parsed.n_rows.max(1))
        }
        Err(_) => (vec![false; names.len()], plan.row_bytes),
    };
    Ok(Dialect { delimiter, data_start: skip + data, has_words, row_bytes: row_bytes.max(1), names })
}

/// The cells of the row that starts at `start`, and where its line end stands.
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
            let message = format!("more than the {MAX_COLUMNS} cells that a row may have");
            return Err(fault(Some(block.line_at(start)), None, message));
        }
        if block.text[cell.end] == b'\n' {
            return Ok((cells, cell.end));
        }
        at = cell.end + 1;
    }
}

/// Names have to be distinct. A column without one is called after its place: the third is `c2`.
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
