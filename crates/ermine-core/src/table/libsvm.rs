//! Sparse text files: libsvm, svmlight and LETOR, `label [qid:N] index:value ... # comment`.
//!
//! The columns are `label`, `qid` if the rows have one, and a sparse column per index, named by it, from the lowest (0 if 0 occurs, else 1) to the highest that occurs; if indices are few and
//! far apart, only those that occur. Zeros are not stored. An index that doesn't occur but is declared numeric is a column of zeros. Indices may be in any order, but only once per row.
//! Comments and blank lines are skipped.
//!
//! Blocks of lines are parsed in parallel into compressed sparse rows; a counting sort then transposes them into one buffer that all columns share. Memory: both copies, 12 bytes per entry.

use super::block::{Block, Cutter, check_table_size, for_each_batch};
use super::infer::{MissingMarkers, retype_numbers};
use super::number::number;
use super::read::{ColumnType, ReadOptions, check_types, fault};
use super::source::ByteSource;
use super::{Buffer, Column, MAX_ROWS, Table};
use crate::error::Result;
use memchr::memchr;
use std::collections::HashSet;
use std::path::Path;

const BLOCK_BYTES: usize = 1 << 18;
/// Maximum index. An empty column takes about 150 bytes, so this bounds the memory for a short file.
const MAX_INDEX: u32 = (1 << 22) - 1;

/// From this many indices on, columns of zeros are left out if there are more than `GAPS` indices per entry.
const MANY: usize = 1 << 16;
const GAPS: usize = 16;

/// Reads the file at `path`.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Table> {
    read_source(&ByteSource::file(path)?, options, BLOCK_BYTES)
}

fn read_source(source: &ByteSource, options: &ReadOptions, block_bytes: usize) -> Result<Table> {
    let missing = MissingMarkers::new(&options.missing);
    let has_queries = first_row_has_query(source)?;
    let mut parts: Vec<LibsvmRows> = Vec::new();
    let mut n_rows = 0;
    for_each_batch(
        Cutter::new(source.open()?, None, block_bytes, 0)?,
        |block| parse(block, has_queries, &missing),
        |batch| {
            n_rows += batch.iter().map(|rows| rows.labels.len()).sum::<usize>();
            parts.extend(batch);
            if n_rows > MAX_ROWS {
                return Err(fault(None, None, format!("more than {MAX_ROWS} rows")));
            }
            check_table_size(n_rows)
        },
    )?;
    if n_rows == 0 {
        return Err(fault(None, None, "the file is empty, expected rows 'label index:value ...'"));
    }
    let mut columns = vec![Column::numeric("label", joined(&mut parts, |rows| &mut rows.labels))];
    if has_queries {
        columns.push(Column::numeric("qid", joined(&mut parts, |rows| &mut rows.queries)));
    }
    columns.extend(transposed(parts, n_rows));
    columns.extend(absent_columns(&columns, options, n_rows));
    retyped(columns, options)
}

/// Columns of zeros for indices that are declared numeric and don't occur: a sparse file doesn't state its number of columns, so new data may have fewer columns than the training data.
fn absent_columns(columns: &[Column], options: &ReadOptions, n_rows: usize) -> Vec<Column> {
    let known: HashSet<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let is_index = |name: &str| name.parse::<u32>().is_ok_and(|index| index <= MAX_INDEX && index.to_string() == name);
    let declared = options.types.iter().filter(|(_, wanted)| **wanted == ColumnType::Numeric).map(|(name, _)| name);
    let absent = declared.filter(|name| !known.contains(name.as_str()) && is_index(name));
    absent.map(|name| Column::sparse(name, n_rows, Buffer::from(Vec::new()), Buffer::from(Vec::new()))).collect()
}

fn retyped(columns: Vec<Column>, options: &ReadOptions) -> Result<Table> {
    if options.types.is_empty() {
        return Table::new(columns);
    }
    check_types(options, &columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>())?;
    let kept = columns.into_iter().filter(|column| options.types.get(&column.name) != Some(&ColumnType::Ignored));
    Table::new(
        kept.map(|column| {
            let wanted = options.types.get(&column.name);
            retype_numbers(column, wanted)
        })
        .collect::<Result<_>>()?,
    )
}

/// Some rows of the file.
#[derive(Debug, Default)]
struct LibsvmRows {
    labels: Vec<f64>,
    queries: Vec<f64>,
    /// The end of each row's entries.
    ends: Vec<usize>,
    indexes: Vec<u32>,
    values: Vec<f64>,
    /// The lowest and highest index, including zeros.
    span: Option<(u32, u32)>,
}

/// A line without comment and blanks; `None` if it is empty.
fn content(line: &[u8]) -> Option<&[u8]> {
    let line = line[..memchr(b'#', line).unwrap_or(line.len())].trim_ascii();
    (!line.is_empty()).then_some(line)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Whether the first row has a query number: either all rows have one or none.
fn first_row_has_query(source: &ByteSource) -> Result<bool> {
    const SAMPLE_BYTES: usize = 1 << 16;
    let (mut stream, mut text) = (source.open()?, Vec::new());
    loop {
        let more = stream.append(&mut text, SAMPLE_BYTES)?;
        let mut lines = text.split(|&byte| byte == b'\n');
        // The first two complete words are enough.
        let first = lines.find_map(content).map(|line| words(line).take(3).collect::<Vec<_>>()).unwrap_or_default();
        if more == 0 || first.len() == 3 {
            return Ok(first.get(1).is_some_and(|word| word.starts_with(b"qid:")));
        }
    }
}

fn parse(block: &Block, has_queries: bool, missing: &MissingMarkers) -> Result<LibsvmRows> {
    let (mut rows, mut at) = (LibsvmRows::default(), 0);
    let mut sorted = Vec::new();
    while at < block.text.len() {
        let end = memchr(b'\n', &block.text[at..]).map_or(block.text.len(), |n| at + n);
        if let Some(line) = content(&block.text[at..end]) {
            let parsed = rows.add(line, has_queries, missing, &mut sorted);
            parsed.map_err(|(column, message)| fault(Some(block.line_at(at)), column.as_deref(), message))?;
        }
        at = end + 1;
    }
    Ok(rows)
}

type LibsvmFault = (Option<String>, String);

impl LibsvmRows {
    fn add(
        &mut self,
        line: &[u8],
        has_queries: bool,
        missing: &MissingMarkers,
        sorted: &mut Vec<u32>,
    ) -> Result<(), LibsvmFault> {
        let mut words = words(line).peekable();
        let label = words.next().unwrap_or_default();
        let value = if missing.contains(label) { Some(f64::NAN) } else { number(label) };
        self.labels.push(value.ok_or_else(|| (Some("label".into()), format!("'{}' is not a number", show(label))))?);
        let query = words.next_if(|word| word.starts_with(b"qid:"));
        match (query, has_queries) {
            (Some(word), true) => self.queries.push(query_number(&word[4..])?),
            (None, false) => {}
            (Some(_), false) => return Err((Some("qid".into()), "a row with qid, but the first row has none".into())),
            (None, true) => return Err((Some("qid".into()), "a row without qid, but the first row has one".into())),
        }
        sorted.clear();
        for word in words {
            let (index, value) = entry(word, missing)?;
            sorted.push(index);
            let (low, high) = self.span.unwrap_or((index, index));
            self.span = Some((low.min(index), high.max(index)));
            if value != 0.0 {
                self.indexes.push(index);
                self.values.push(value);
            }
        }
        self.ends.push(self.indexes.len());
        if !sorted.is_sorted_by(|a, b| a < b) {
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err((Some(pair[0].to_string()), format!("index {} occurs twice in this row", pair[0])));
            }
        }
        Ok(())
    }
}

fn show(word: &[u8]) -> String {
    String::from_utf8_lossy(&word[..word.len().min(60)]).into_owned()
}

/// An integer that is exact in double precision.
fn query_number(digits: &[u8]) -> Result<f64, LibsvmFault> {
    let text = std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let query = text.and_then(|text| text.parse::<u64>().ok()).filter(|&query| query <= 1 << 53);
    query.map(|query| query as f64).ok_or_else(|| {
        (Some("qid".into()), format!("'{}' is not a query number, expected a whole number up to 2^53", show(digits)))
    })
}

fn entry(word: &[u8], missing: &MissingMarkers) -> Result<(u32, f64), LibsvmFault> {
    let colon = memchr(b':', word).ok_or_else(|| (None, format!("'{}' found, expected index:value", show(word))))?;
    let (index, value) = (&word[..colon], &word[colon + 1..]);
    let digits = !index.is_empty() && index.len() <= 19 && index.iter().all(u8::is_ascii_digit);
    let place =
        index.iter().fold(0u64, |sum, digit| sum.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0'))));
    if !digits || place > u64::from(MAX_INDEX) {
        let message = format!("'{}' is not an index, expected a whole number from 0 to {MAX_INDEX}", show(index));
        return Err((None, message));
    }
    let number = if missing.contains(value) { Some(f64::NAN) } else { number(value) };
    let number = number.ok_or_else(|| (Some(place.to_string()), format!("'{}' is not a number", show(value))))?;
    Ok((place as u32, number))
}

fn joined(parts: &mut [LibsvmRows], field: impl Fn(&mut LibsvmRows) -> &mut Vec<f64>) -> Vec<f64> {
    let mut all = Vec::new();
    parts.iter_mut().for_each(|rows| all.append(field(rows)));
    all.shrink_to_fit();
    all
}

/// Transposes the rows into columns, each by ascending row: a counting sort by index.
fn transposed(parts: Vec<LibsvmRows>, n_rows: usize) -> Vec<Column> {
    let spans = parts.iter().filter_map(|rows| rows.span);
    let Some((low, high)) = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { return Vec::new() };
    let first = low.min(1);
    let mut starts = vec![0usize; (high - first) as usize + 2];
    for index in parts.iter().flat_map(|rows| &rows.indexes) {
        starts[(index - first) as usize + 1] += 1;
    }
    for j in 1..starts.len() {
        starts[j] += starts[j - 1];
    }
    let n_entries = starts[starts.len() - 1];
    let (mut rows, mut values) = (vec![0u32; n_entries], vec![0f64; n_entries]);
    let (mut next, mut row) = (starts.clone(), 0u32);
    for part in parts {
        let mut start = 0;
        for &end in &part.ends {
            for (&index, &value) in part.indexes[start..end].iter().zip(&part.values[start..end]) {
                let place = &mut next[(index - first) as usize];
                (rows[*place], values[*place]) = (row, value);
                *place += 1;
            }
            (start, row) = (end, row + 1);
        }
    }
    let (rows, values): (Buffer<u32>, Buffer<f64>) = (rows.into(), values.into());
    let column = |(j, range): (usize, &[usize])| {
        let range = range[0]..range[1];
        Column::sparse((first as usize + j).to_string(), n_rows, rows.slice(range.clone()), values.slice(range))
    };
    // If few indices of the range occur, columns of zeros would dominate the table and the model.
    let has_gaps = starts.len() > MANY && starts.len() > GAPS * n_entries;
    starts.windows(2).enumerate().filter(|(_, range)| !has_gaps || range[0] < range[1]).map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_map, vec};
    use proptest::prelude::*;

    fn read_blocks(text: &[u8], size: usize) -> Result<Table> {
        read_source(&ByteSource::bytes(text), &ReadOptions::default(), size)
    }

    #[test]
    fn labels_queries_and_sparse_columns() {
        let text = b"# a comment\n+1 qid:7 3:0.5 1:2 # doc 1\n\n-1 qid:8 2:0 4:nan\r\n0 qid:8\n";
        let table = read_blocks(text, 1 << 19).unwrap();
        assert_eq!(table.names(), ["label", "qid", "1", "2", "3", "4"]);
        assert_eq!(table.columns()[0].numbers(None), [1.0, -1.0, 0.0]);
        assert_eq!(table.columns()[1].numbers(None), [7.0, 8.0, 8.0]);
        assert_eq!(table.columns()[2].numbers(None), [2.0, 0.0, 0.0]);
        assert_eq!(table.columns()[3].n_bytes(), 0);
        assert_eq!(table.columns()[5].n_missing(), 1);
        assert_eq!(read_blocks(b"1 0:5 2:1\n", 9).unwrap().names(), ["label", "0", "1", "2"]);
    }

    #[test]
    fn a_declared_index_without_entries_is_a_column_of_zeros() {
        let mut options = ReadOptions::default();
        for name in ["1", "3"] {
            options.types.insert(name.into(), ColumnType::Numeric);
        }
        let table = read_source(&ByteSource::bytes(b"1 1:2\n0\n"), &options, 9).unwrap();
        assert_eq!(table.names(), ["label", "1", "3"]);
        assert_eq!(table.column("3").unwrap().numbers(None), [0.0, 0.0]);
        for name in ["03", "x", "4294967296"] {
            let types = std::iter::once((name.to_string(), ColumnType::Numeric)).collect();
            let read = read_source(&ByteSource::bytes(b"1 1:2\n"), &ReadOptions { types, ..Default::default() }, 9);
            assert!(read.unwrap_err().to_string().contains(name));
        }
    }

    #[test]
    fn the_label_may_be_categorical() {
        let mut options = ReadOptions::default();
        options.types.insert("label".into(), ColumnType::Nominal);
        options.types.insert("2".into(), ColumnType::Ignored);
        let table = read_source(&ByteSource::bytes(b"+1 1:1 2:3\n-1 1:2\n"), &options, 64).unwrap();
        assert_eq!(table.names(), ["label", "1"]);
        assert_eq!(table.columns()[0].levels().unwrap().names(), ["-1", "1"]);
    }

    #[test]
    fn errors_contain_the_line() {
        let cases = [
            ("", "empty"),
            ("# only\n", "empty"),
            ("1 1:1\nx 1:1\n", "line 2, column 'label': 'x' is not a number"),
            ("1 1:1\n\n1 2:1 1:1 2:3\n", "line 3, column '2': index 2 occurs twice"),
            ("1 3:a\n", "line 1, column '3': 'a' is not a number"),
            ("1 4194304:1\n", "'4194304' is not an index, expected a whole number from 0 to 4194303"),
            ("1 99999999999999999999:1\n", "is not an index"),
            ("1 -1:1\n", "'-1' is not an index"),
            ("1 a\n", "'a' found, expected index:value"),
            ("1 qid:1 1:1\n1 1:1\n", "line 2, column 'qid': a row without qid"),
            ("1 1:1\n1 qid:1 1:1\n", "line 2, column 'qid': a row with qid"),
            ("1 qid:1.5 1:1\n", "'1.5' is not a query number"),
        ];
        for (text, expected) in cases {
            let message = read_blocks(text.as_bytes(), 1 << 19).unwrap_err().to_string();
            assert!(message.contains(expected), "{text:?}: {message}");
        }
    }

    proptest! {
        #[test]
        fn tables_equal_the_written_matrix(
            rows in vec(btree_map(1u32..12, -2i32..3, 0..6), 1..20), queries in any::<bool>(), reverse in any::<bool>(), size in 1usize..80
        ) {
            let mut text = String::new();
            for (i, row) in rows.iter().enumerate() {
                let mut entries: Vec<String> = row.iter().map(|(j, x)| format!("{j}:{x}")).collect();
                if reverse { entries.reverse() }
                let query = if queries { format!(" qid:{}", i / 3) } else { String::new() };
                text.push_str(&format!("{i}{query} {}\n", entries.join(" ")));
            }
            let table = read_blocks(text.as_bytes(), size).unwrap();
            let highest = rows.iter().flat_map(|row| row.keys()).max().copied().unwrap_or(0);
            prop_assert_eq!(table.n_columns(), 1 + usize::from(queries) + highest as usize);
            for (i, row) in rows.iter().enumerate() {
                prop_assert_eq!(table.column("label").unwrap().number(i), i as f64);
                for j in 1..=highest {
                    let expected = f64::from(row.get(&j).copied().unwrap_or(0));
                    prop_assert_eq!(table.column(&j.to_string()).unwrap().number(i), expected);
                }
            }
            let held: usize = rows.iter().flat_map(|row| row.values()).filter(|&&x| x != 0).count();
            let sparse = &table.columns()[1 + usize::from(queries)..];
            prop_assert_eq!(sparse.iter().map(Column::n_bytes).sum::<usize>(), 12 * held);
        }

        #[test]
        fn no_bytes_make_it_panic(text in vec(prop_oneof![any::<u8>(), proptest::sample::select(b"1 :#\nqid2.".to_vec())], 0..120), size in 1usize..40) {
            let _ = read_blocks(&text, size);
        }
    }
}
