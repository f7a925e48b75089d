//! Splits text files into blocks that are parsed in parallel.
//!
//! [`Cutter`] reads a file piece by piece and splits it after the last line end of each piece, so that every [`Block`] contains complete records. A line end inside quotes does not end a
//! record. Whether a quote opens a cell depends on the bytes before it (see [`RecordScanner`]), so the cutter jumps from quote to quote; a piece without quotes takes one search from its
//! end. [`for_each_batch`] reads the next blocks while the current ones are parsed: memory contains a few blocks per thread, never the whole file.

use super::read::fault;
use super::source::Stream;
use crate::error::{Error, Result};
use crate::memory;
use crate::parallel;
use memchr::{memchr, memchr_iter, memrchr};

/// Maximum length of a record.
pub const MAX_RECORD: usize = 1 << 26;
/// Maximum length of a quoted cell, so that a missing closing quote is found without reading the whole file.
const MAX_QUOTED: usize = 1 << 24;
/// Blocks per thread.
const BLOCKS_PER_THREAD: usize = 2;

/// Complete records, each with its line end.
#[derive(Debug, Default)]
pub struct Block {
    /// The bytes of the records.
    pub text: Vec<u8>,
    /// The line number of its first line in the file, from 1.
    pub line: u64,
}

impl Block {
    /// The line number in the file of the byte at `at`.
    pub fn line_at(&self, at: usize) -> u64 {
        self.line + memchr_iter(b'\n', &self.text[..at.min(self.text.len())]).count() as u64
    }
}

/// Finds the ends of records in a text.
///
/// A quote opens a cell if only blanks are between it and the previous delimiter or line end; it closes the cell unless another quote follows. Other quotes are ordinary characters.
#[derive(Debug, Default)]
pub struct RecordScanner {
    /// The delimiter, in formats with quotes.
    delimiter: Option<u8>,
    /// The first byte that has not been scanned.
    at: usize,
    /// The position of the open quote.
    opened: Option<usize>,
    /// The end of the last complete record.
    end: usize,
}

impl RecordScanner {
    /// A scanner for cells with this delimiter, or for plain lines.
    pub fn new(delimiter: Option<u8>) -> Self {
        RecordScanner { delimiter, ..RecordScanner::default() }
    }

    /// The end of the last complete record of `text`, which has grown since the last call; 0 if there is none.
    pub fn advance(&mut self, text: &[u8]) -> usize {
        while self.at < text.len() {
            if let Some(opened) = self.opened {
                match memchr(b'"', &text[self.at..]).map(|n| self.at + n) {
                    None => self.at = text.len(),
                    // The next byte decides whether this quote closes the cell or is half of a doubled quote.
                    Some(quote) if quote + 1 == text.len() => {
                        (self.at, self.opened) = (quote, Some(opened));
                        return self.end;
                    }
                    Some(quote) if text[quote + 1] == b'"' => self.at = quote + 2,
                    Some(quote) => (self.at, self.opened) = (quote + 1, None),
                }
                continue;
            }
            let quote = self.delimiter.and_then(|_| memchr(b'"', &text[self.at..])).map(|n| self.at + n);
            let outside = &text[self.at..quote.unwrap_or(text.len())];
            self.end = memrchr(b'\n', outside).map_or(self.end, |n| self.at + n + 1);
            self.at = quote.map_or(text.len(), |quote| quote + 1);
            self.opened = quote.filter(|&quote| self.opens(text, quote));
        }
        self.end
    }

    fn opens(&self, text: &[u8], quote: usize) -> bool {
        let before = text[..quote].iter().rev().find(|&&b| !self.delimiter.is_some_and(|d| is_blank(b, d)));
        before.is_none_or(|&b| b == b'\n' || Some(b) == self.delimiter)
    }

    /// The position of the open quote if the text ends inside quotes. A quote at the very end closes its cell.
    pub fn unclosed(&self, text: &[u8]) -> Option<usize> {
        let closed_at_end = self.at + 1 == text.len() && text[self.at] == b'"';
        self.opened.filter(|_| !closed_at_end)
    }

    /// Removes the first `n` bytes, which are complete records.
    pub fn shift(&mut self, n: usize) {
        self.at -= n;
        self.end -= n;
        self.opened = self.opened.map(|opened| opened - n);
    }
}

/// Whether a byte is trimmed from the ends of cells.
#[inline]
pub fn is_blank(byte: u8, delimiter: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r') && byte != delimiter
}

/// Splits a stream into blocks.
pub struct Cutter<'s> {
    stream: Stream<'s>,
    scan: RecordScanner,
    size: usize,
    line: u64,
    rest: Vec<u8>,
    spare: Vec<Vec<u8>>,
    state: ScanState,
}

enum ScanState {
    Reading,
    Failed(Error),
    Finished,
}

impl<'s> Cutter<'s> {
    /// Splits `stream` into blocks of about `size` bytes, after skipping its first `skip` bytes, which are complete lines. Quotes are only recognized if there is a delimiter.
    pub fn new(mut stream: Stream<'s>, delimiter: Option<u8>, size: usize, skip: usize) -> Result<Self> {
        let mut head = Vec::new();
        stream.append(&mut head, skip)?;
        let line = 1 + memchr_iter(b'\n', &head).count() as u64;
        let (rest, spare) = (Vec::new(), Vec::new());
        Ok(Cutter { stream, scan: RecordScanner::new(delimiter), size, line, rest, spare, state: ScanState::Reading })
    }

    /// The size of the file in bytes, if known.
    pub fn size(&self) -> Option<u64> {
        self.stream.size()
    }

    /// The next `n` blocks, or the remaining ones. An error is returned after all blocks before it.
    fn batch(&mut self, n: usize, used: Vec<Block>) -> Result<Vec<Block>> {
        self.spare.extend(used.into_iter().map(|block| block.text));
        let mut blocks = Vec::new();
        while blocks.len() < n && matches!(self.state, ScanState::Reading) {
            match self.next_block() {
                Ok(Some(block)) => blocks.push(block),
                Ok(None) => self.state = ScanState::Finished,
                Err(e) => self.state = ScanState::Failed(e),
            }
        }
        if blocks.is_empty()
            && let ScanState::Failed(e) = std::mem::replace(&mut self.state, ScanState::Finished)
        {
            return Err(e);
        }
        Ok(blocks)
    }

    pub fn next_block(&mut self) -> Result<Option<Block>> {
        let mut text = self.spare.pop().unwrap_or_else(|| Vec::with_capacity(2 * self.size));
        text.clear();
        text.append(&mut self.rest);
        loop {
            let more = self.stream.append(&mut text, self.size);
            let more = more.map_err(|e| located(e, self.line))?;
            let mut end = self.scan.advance(&text);
            if more == 0 {
                self.finish(&mut text)?;
                end = text.len();
            }
            if end > 0 || more == 0 {
                self.rest.extend_from_slice(&text[end..]);
                text.truncate(end);
                self.scan.shift(end);
                let line = self.line;
                self.line += memchr_iter(b'\n', &text).count() as u64;
                return Ok((end > 0).then_some(Block { text, line }));
            }
            self.check_limits(&text)?;
        }
    }

    /// The last record may have no line end, but its quotes must be closed.
    fn finish(&mut self, text: &mut Vec<u8>) -> Result<()> {
        if let Some(opened) = self.scan.unclosed(text) {
            return Err(self.unclosed_quote(text, opened, "by the end of the file"));
        }
        if text.last().is_some_and(|&byte| byte != b'\n') {
            text.push(b'\n');
        }
        self.scan = RecordScanner { at: text.len(), end: text.len(), ..RecordScanner::new(self.scan.delimiter) };
        Ok(())
    }

    fn check_limits(&self, text: &[u8]) -> Result<()> {
        if let Some(opened) = self.scan.opened.filter(|opened| text.len() - opened > MAX_QUOTED) {
            return Err(self.unclosed_quote(text, opened, &format!("within {} MB", MAX_QUOTED >> 20)));
        }
        if text.len() > MAX_RECORD {
            let message = format!("this line is longer than {} MB, the maximum", MAX_RECORD >> 20);
            return Err(fault(Some(self.line), None, message));
        }
        Ok(())
    }

    fn unclosed_quote(&self, text: &[u8], opened: usize, within: &str) -> Error {
        let line = self.line + memchr_iter(b'\n', &text[..opened]).count() as u64;
        fault(Some(line), None, format!("a quote opens a cell here, but it is not closed {within}"))
    }
}

/// Adds the line to an error about the file as a whole, such as invalid gzip data.
fn located(e: Error, line: u64) -> Error {
    match e {
        Error::Table { location, message } if location.line.is_none() => {
            fault(None, None, format!("{message} (read up to line {line})"))
        }
        other => other,
    }
}

/// An error if a table of this size, as stated in its file, doesn't fit in memory.
#[cfg(any(feature = "parquet", feature = "ipc"))]
pub fn require_table(n_rows: usize, n_columns: usize) -> Result<()> {
    memory::require(
        || format!("a table of {n_rows} rows and {n_columns} columns"),
        &[n_rows, n_columns, size_of::<f64>()],
        "read fewer rows, or drop columns before reading",
    )
}

/// Stops reading when the table exceeds the memory limit: a compressed file of a few kilobytes may contain a billion rows.
pub fn check_table_size(n_rows: usize) -> Result<()> {
    memory::check_held(
        || format!("a table of more than {n_rows} rows"),
        "read fewer rows, or drop columns before reading",
    )
}

/// Parses all blocks in parallel and passes the results on in order, a few at a time. Of several errors, the first in the file is returned.
pub fn for_each_batch<T: Send>(
    mut cutter: Cutter,
    parse: impl Fn(&Block) -> Result<T> + Sync,
    mut merge: impl FnMut(Vec<T>) -> Result<()>,
) -> Result<()> {
    let n = BLOCKS_PER_THREAD * rayon::current_num_threads();
    let mut used = Vec::new();
    let mut blocks = cutter.batch(n, Vec::new())?;
    while !blocks.is_empty() {
        let (next, parsed) =
            rayon::join(|| cutter.batch(n, std::mem::take(&mut used)), || parallel::map_items(&blocks, &parse));
        merge(parsed.into_iter().collect::<Result<Vec<T>>>()?)?;
        used = std::mem::replace(&mut blocks, next?);
    }
    Ok(())
}
