//! CSV text that arrives in pieces, such as the body of a request: whenever enough rows have come, they become a table of their own. Memory holds one block, however long the text is.

use super::dialect::{Dialect, sniff};
use super::{BLOCK_BYTES, read_dialect};
use crate::error::{Error, Result};
use crate::table::block::{MAX_RECORD, RecordScanner};
use crate::table::infer::MissingMarkers;
use crate::table::read::fault;
use crate::table::source::ByteSource;
use crate::table::{ReadOptions, Table};
use memchr::{memchr_iter, memrchr};

/// The delimiter is found from this many bytes, or from all if there are fewer.
const SAMPLE_BYTES: usize = 1 << 16;

/// Reads CSV text that arrives in pieces.
///
/// ```
/// use ermine_core::table::{CsvBlocks, ReadOptions};
///
/// let (mut text, options) = (CsvBlocks::new(16), ReadOptions::default());
/// text.push(b"a,b\n1,2\n3,");
/// text.push(b"4\n5,6");
/// assert_eq!(text.header(&options, true)?.unwrap(), ["a", "b"]);
/// let table = text.next_table(&options, true)?.unwrap();
/// assert_eq!(table.column("b")?.numbers(None), [2.0, 4.0, 6.0]);
/// # Ok::<(), ermine_core::error::Error>(())
/// ```
pub struct CsvBlocks {
    /// About how many bytes become a table.
    size: usize,
    dialect: Option<Dialect>,
    pending: Vec<u8>,
    scan: RecordScanner,
    /// The number of lines before the pending ones.
    lines: u64,
}

impl CsvBlocks {
    /// Tables of about this many bytes of text.
    pub fn new(size: usize) -> CsvBlocks {
        CsvBlocks { size, dialect: None, pending: Vec::new(), scan: RecordScanner::default(), lines: 0 }
    }

    /// Adds the next bytes of the text.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// Whether enough bytes are there for a table.
    pub fn has_block(&self) -> bool {
        self.pending.len() >= self.size
    }

    /// The names of the columns, once enough of the text is there. No more bytes will come if `ended`.
    pub fn header(&mut self, options: &ReadOptions, ended: bool) -> Result<Option<&[String]>> {
        if self.dialect.is_none() {
            let end = if ended { self.pending.len() } else { memrchr(b'\n', &self.pending).map_or(0, |at| at + 1) };
            if !ended && (self.pending.len() < SAMPLE_BYTES || end == 0) {
                return self.check_length(self.pending.len()).map(|()| None);
            }
            if self.pending.starts_with(b"\x1f\x8b") {
                return Err(fault(None, None, "the text is packed with gzip; expected plain CSV"));
            }
            let source = ByteSource::bytes(&self.pending[..end]);
            let dialect = sniff(&source, options, &MissingMarkers::new(&options.missing))?;
            let start = dialect.data_start.min(self.pending.len());
            self.lines = memchr_iter(b'\n', &self.pending[..start]).count() as u64;
            self.pending.drain(..start);
            self.scan = RecordScanner::new(Some(dialect.delimiter));
            self.dialect = Some(Dialect { data_start: 0, ..dialect });
        }
        Ok(self.dialect.as_ref().map(|dialect| &dialect.names[..]))
    }

    /// The table of the next rows, once there are enough of them. After the last bytes (`ended`), the rest; then `None`.
    pub fn next_table(&mut self, options: &ReadOptions, ended: bool) -> Result<Option<Table>> {
        if self.header(options, ended)?.is_none() || self.pending.is_empty() {
            return Ok(None);
        }
        let mut end = self.scan.advance(&self.pending);
        if ended {
            if self.pending.last() != Some(&b'\n') {
                self.pending.push(b'\n');
            }
            end = self.pending.len();
        } else if self.pending.len() < self.size || end == 0 {
            return self.check_length(self.pending.len() - end).map(|()| None);
        }
        let Some(dialect) = &self.dialect else { return Ok(None) };
        let rows = ByteSource::bytes(&self.pending[..end]);
        let missing = MissingMarkers::new(&options.missing);
        let table = read_dialect(&rows, dialect, options, &missing, BLOCK_BYTES, &mut Vec::new());
        let table = table.map_err(|error| moved_down(error, self.lines))?;
        self.lines += memchr_iter(b'\n', &self.pending[..end]).count() as u64;
        self.pending.drain(..end);
        if ended {
            self.scan = RecordScanner::new(Some(dialect.delimiter));
        } else {
            self.scan.shift(end);
        }
        Ok(Some(table))
    }

    fn check_length(&self, length: usize) -> Result<()> {
        if length <= MAX_RECORD {
            return Ok(());
        }
        let message = format!("this line is longer than the {} MB that are read as one", MAX_RECORD >> 20);
        Err(fault(Some(self.lines + 1), None, message))
    }
}

/// The same error with its line counted from the start of the text.
fn moved_down(error: Error, lines: u64) -> Error {
    match error {
        Error::Table { mut location, message } => {
            location.line = location.line.map(|line| line + lines);
            Error::Table { location, message }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::csv::read_source;
    use proptest::prelude::*;

    /// All tables of a text that comes in pieces of this size, one below the other, as text.
    fn cells(text: &[u8], piece: usize, size: usize) -> Result<(Vec<String>, Vec<String>)> {
        let (mut blocks, options) = (CsvBlocks::new(size), ReadOptions::default());
        let (mut names, mut cells) = (Vec::new(), Vec::new());
        let mut take = |blocks: &mut CsvBlocks, ended: bool| -> Result<()> {
            while let Some(table) = blocks.next_table(&options, ended)? {
                names = table.names().into_iter().map(String::from).collect();
                cells.extend(
                    (0..table.n_rows())
                        .flat_map(|row| table.columns().iter().map(|column| column.text(row)).collect::<Vec<_>>()),
                );
            }
            Ok(())
        };
        for piece in text.chunks(piece) {
            blocks.push(piece);
            take(&mut blocks, false)?;
        }
        take(&mut blocks, true)?;
        Ok((names, cells))
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_give_the_cells_of_the_whole(
            rows in proptest::collection::vec(("[a-c\" ,]{0,4}", -99i32..99), 1..60), piece in 1usize..50, size in 1usize..200,
        ) {
            let quoted = |text: &str| format!("\"x{}\"", text.replace('"', "\"\""));
            let mut text = String::from("word,number\n");
            rows.iter().for_each(|(word, number)| text.push_str(&format!("{},{number}\n", quoted(word))));
            let source = ByteSource::bytes(text.as_bytes());
            let whole = read_source(&source, &ReadOptions::default(), BLOCK_BYTES, &mut Vec::new()).unwrap();
            let expected: Vec<String> = (0..whole.n_rows())
                .flat_map(|row| whole.columns().iter().map(|column| column.text(row)).collect::<Vec<_>>())
                .collect();
            prop_assert_eq!(cells(text.as_bytes(), piece, size).unwrap().1, expected);
        }
    }

    #[test]
    fn a_fault_is_named_with_its_line_in_the_whole_text() {
        let mut text = String::from("a,b\n");
        (0..20_000).for_each(|i| text.push_str(&format!("{i},1\n")));
        text.push_str("1,2,3\n");
        let message = cells(text.as_bytes(), 1000, 5000).unwrap_err().to_string();
        assert!(message.starts_with("line 20002"), "{message}");
    }

    #[test]
    fn a_text_without_rows_has_names_and_an_empty_text_is_an_error() {
        let options = ReadOptions::default();
        let mut blocks = CsvBlocks::new(10);
        blocks.push(b"a;b\n");
        assert_eq!(blocks.header(&options, false).unwrap(), None);
        assert_eq!(blocks.header(&options, true).unwrap().unwrap(), ["a", "b"]);
        assert!(blocks.next_table(&options, true).unwrap().is_none());
        assert!(CsvBlocks::new(10).header(&options, true).is_err());
    }
}
