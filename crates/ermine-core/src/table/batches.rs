//! A CSV file read so many rows at a time, for learners that see each row once: memory holds one batch, whatever the size of the file. Pipes work too.
//!
//! Each batch is parsed like a file of its own, with the line of the names before it. The delimiter follows from the first rows of the file.

use super::Table;
use super::block::{Block, Cutter};
use super::csv::{BLOCK_BYTES, Dialect, cell_fault, count_cells, read_source, row_start, sniff};
use super::infer::MissingMarkers;
use super::read::{ColumnType, ReadNote, ReadOptions, TextEncoding, fault};
use super::source::{ByteSource, Stream};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// The names of the columns must stand within so many bytes.
const START: usize = 1 << 22;

/// The rows of a CSV file, batch by batch.
pub struct TableBatches {
    path: PathBuf,
    cutter: Cutter<'static>,
    /// What stands before the first row of data: the line with the names.
    header: Vec<u8>,
    delimiter: u8,
    options: ReadOptions,
    rows: usize,
    /// What has been cut from the file, but not handed out.
    pending: Block,
    /// How much of it has been looked through, and how many rows were found in it.
    scanned: usize,
    found: usize,
}

impl TableBatches {
    /// Opens a CSV file, plain or gzip, or a pipe, to read `rows` rows at a time.
    pub fn open(path: impl AsRef<Path>, options: &ReadOptions, rows: usize) -> Result<TableBatches> {
        let path = path.as_ref();
        TableBatches::begin(path, options, rows).map_err(|e| e.in_file(path))
    }

    fn begin(path: &Path, options: &ReadOptions, rows: usize) -> Result<TableBatches> {
        if rows == 0 {
            return Err(Error::data("a batch needs at least one row"));
        }
        if options.encoding != TextEncoding::Utf8 {
            return Err(Error::data("a file that is read in batches must be in UTF-8"));
        }
        let mut stream = Stream::once(path)?;
        let mut start = Vec::new();
        stream.append(&mut start, START)?;
        let Dialect { delimiter, data_start, .. } =
            sniff(&ByteSource::bytes(&start), options, &MissingMarkers::new(&options.missing))?;
        if data_start > start.len() && start.len() >= START {
            return Err(fault(Some(1), None, format!("no end of the first row within {} MB", START >> 20)));
        }
        let header = start[..data_start.min(start.len())].to_vec();
        let cutter = Cutter::new(stream.after(start), Some(delimiter), BLOCK_BYTES, data_start)?;
        Ok(TableBatches {
            path: path.to_path_buf(),
            cutter,
            header,
            delimiter,
            options: ReadOptions { delimiter: Some(delimiter), ..options.clone() },
            rows,
            pending: Block::default(),
            scanned: 0,
            found: 0,
        })
    }

    /// The types of columns in all batches from the next one on.
    pub fn declare(&mut self, types: impl IntoIterator<Item = (String, ColumnType)>) {
        self.options.types.extend(types);
    }

    /// The next batch with what its reader decided; `None` at the end of the file.
    pub fn next_batch(&mut self) -> Result<Option<(Table, Vec<ReadNote>)>> {
        self.advance().map_err(|e| e.in_file(&self.path))
    }

    fn advance(&mut self) -> Result<Option<(Table, Vec<ReadNote>)>> {
        loop {
            if let Some(end) = self.end_of_batch()? {
                return self.take(end).map(Some);
            }
            match self.cutter.next_block()? {
                Some(block) if self.pending.text.is_empty() => self.pending = block,
                Some(block) => self.pending.text.extend_from_slice(&block.text),
                None if self.found > 0 => return self.take(self.pending.text.len()).map(Some),
                None => return Ok(None),
            }
        }
    }

    /// Where the last row of the next batch ends, once it has been cut from the file.
    fn end_of_batch(&mut self) -> Result<Option<usize>> {
        while self.found < self.rows {
            let Some(start) = row_start(&self.pending.text, self.scanned, self.delimiter) else { return Ok(None) };
            let (_, end) = count_cells(&self.pending.text, start, self.delimiter)
                .map_err(|what| cell_fault(&self.pending, what))?;
            (self.scanned, self.found) = (end + 1, self.found + 1);
        }
        Ok(Some(self.scanned))
    }

    /// Parses the first `end` bytes of what is pending.
    fn take(&mut self, end: usize) -> Result<(Table, Vec<ReadNote>)> {
        let rest = self.pending.text.split_off(end);
        let line = self.pending.line_at(end);
        let batch = std::mem::replace(&mut self.pending, Block { text: rest, line });
        (self.scanned, self.found) = (0, 0);
        // Lines are counted from the line of the names on.
        let n_header = self.header.iter().filter(|&&byte| byte == b'\n').count() as u64;
        let in_file = |line: u64| if line > n_header { line - n_header - 1 + batch.line } else { line };
        let text = [&self.header[..], &batch.text[..]].concat();
        let mut notes = Vec::new();
        let table = read_source(&ByteSource::bytes(&text), &self.options, BLOCK_BYTES, &mut notes);
        for ReadNote::StrayCells { line, .. } in &mut notes {
            *line = in_file(*line);
        }
        let table = table.map_err(|error| match error {
            Error::Table { mut location, message } => {
                location.line = location.line.map(in_file);
                Error::Table { location, message }
            }
            other => other,
        })?;
        Ok((table, notes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(name: &str, text: &[u8]) -> PathBuf {
        let path = std::env::temp_dir().join(format!("ermine-batches-{}-{name}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    fn all(path: &Path, rows: usize) -> Result<Vec<Table>> {
        let mut batches = TableBatches::open(path, &ReadOptions::default(), rows)?;
        std::iter::from_fn(|| batches.next_batch().transpose()).map(|batch| batch.map(|(table, _)| table)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn batches_are_the_rows_of_the_file_in_order(n in 0usize..40, rows in 1usize..12, seed in 0u64..1000, end: bool) {
            let cell = |i: usize| match (i as u64 * 7919 + seed) % 5 {
                0 => "\"two\nlines, and a comma\"".to_string(),
                1 => String::new(),
                k => format!("word {k}"),
            };
            let lines: Vec<String> = (0..n).map(|i| format!("{i},{}{}", cell(i), if i % 4 == 3 { "\n" } else { "" })).collect();
            let text = format!("number,text\n{}{}", lines.join("\n"), if end { "\n" } else { "" });
            let path = file(&format!("{n}-{rows}-{seed}-{end}.csv"), text.as_bytes());
            let whole = if n > 0 { Some(Table::read(&path).unwrap()) } else { None };
            let batches = all(&path, rows).unwrap();
            std::fs::remove_file(&path).unwrap();
            prop_assert_eq!(batches.iter().map(Table::n_rows).sum::<usize>(), n);
            prop_assert!(batches.iter().rev().skip(1).all(|batch| batch.n_rows() == rows));
            let rows = batches.iter().flat_map(|batch| (0..batch.n_rows()).map(move |i| (batch, i)));
            for (row, (batch, i)) in rows.enumerate() {
                let whole = whole.as_ref().unwrap();
                prop_assert_eq!(batch.columns()[0].number(i), whole.columns()[0].number(row));
                prop_assert_eq!(batch.columns()[1].text(i), whole.columns()[1].text(row));
            }
        }
    }

    #[test]
    fn faults_have_the_line_of_the_file() {
        let path = file("faults.csv", b"a,b\n1,2\n3,4\n5,6\n7\n");
        let mut batches = TableBatches::open(&path, &ReadOptions::default(), 2).unwrap();
        assert_eq!(batches.next_batch().unwrap().unwrap().0.n_rows(), 2);
        let message = batches.next_batch().unwrap_err().to_string();
        assert!(message.contains("line 5") && message.contains("faults.csv"), "{message}");
        std::fs::remove_file(&path).unwrap();
        let path = file("declared.csv", b"a,b\n1,2\n3,x\n");
        let mut batches = TableBatches::open(&path, &ReadOptions::default(), 1).unwrap();
        batches.next_batch().unwrap();
        batches.declare([("b".to_string(), ColumnType::Numeric)]);
        let message = batches.next_batch().unwrap_err().to_string();
        assert!(message.contains("line 3"), "{message}");
        std::fs::remove_file(&path).unwrap();
    }
}
