//! One cell of a CSV record.
//!
//! Cells are separated by delimiters and line ends. Blanks (spaces, tabs, carriage returns, except the delimiter) at the ends of a cell are trimmed. A cell whose first non-blank byte is a
//! quote extends to the closing quote; inside, delimiters, line ends and blanks are kept, and two quotes stand for one. Only blanks may follow the closing quote.

use crate::table::block::is_blank;
use memchr::{memchr, memchr2};

/// The content of a cell, and its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Cell<'t> {
    /// Its bytes; blanks at the ends are trimmed unless it is quoted.
    pub text: &'t [u8],
    /// The position of the byte that ends it.
    pub end: usize,
}

/// A malformed cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellFault {
    /// A quote that is not closed.
    Unclosed(usize),
    /// Something other than a blank follows a closing quote.
    AfterQuote(usize),
}

/// The cell that starts at `at`, in a text that ends with a line end. Doubled quotes are resolved in `scratch`.
pub fn cell_at<'t>(text: &'t [u8], at: usize, delimiter: u8, scratch: &'t mut Vec<u8>) -> Result<Cell<'t>, CellFault> {
    let start = skip_blanks(text, at, delimiter);
    if text[start] == b'"' {
        return quoted(text, start, delimiter, scratch);
    }
    let end = cell_end(text, start, delimiter);
    Ok(Cell { text: trim_end(&text[start..end], delimiter), end })
}

/// The first delimiter or line end at or after `at`.
#[inline]
pub fn cell_end(text: &[u8], at: usize, delimiter: u8) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // A byte equal to the one sought becomes zero; the lowest zero byte sets the lowest high bit.
    let zeros = |x: u64| x.wrapping_sub(LOW) & !x & HIGH;
    let (mut at, limit) = (at, at + 32);
    while at < limit {
        let Some(chunk) = text.get(at..at + 8) else { break };
        let x = chunk.try_into().map_or(0, u64::from_le_bytes);
        let hits = zeros(x ^ (LOW * u64::from(delimiter))) | zeros(x ^ (LOW * u64::from(b'\n')));
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    memchr2(delimiter, b'\n', &text[at..]).map_or(text.len() - 1, |n| at + n)
}

/// The first non-blank byte at or after `at`.
#[inline]
pub fn skip_blanks(text: &[u8], mut at: usize, delimiter: u8) -> usize {
    while is_blank(text[at], delimiter) {
        at += 1;
    }
    at
}

/// Trims blanks at the end.
#[inline]
pub fn trim_end(cell: &[u8], delimiter: u8) -> &[u8] {
    let blanks = cell.iter().rev().take_while(|&&byte| is_blank(byte, delimiter)).count();
    &cell[..cell.len() - blanks]
}

fn quoted<'t>(text: &'t [u8], open: usize, delimiter: u8, scratch: &'t mut Vec<u8>) -> Result<Cell<'t>, CellFault> {
    scratch.clear();
    let mut from = open + 1;
    let close = loop {
        let quote = memchr(b'"', &text[from..]).map(|n| from + n).ok_or(CellFault::Unclosed(open))?;
        if text.get(quote + 1) != Some(&b'"') {
            break quote;
        }
        scratch.extend_from_slice(&text[from..=quote]);
        from = quote + 2;
    };
    if close + 1 == text.len() {
        return Err(CellFault::Unclosed(open));
    }
    let end = skip_blanks(text, close + 1, delimiter);
    if text[end] != delimiter && text[end] != b'\n' {
        return Err(CellFault::AfterQuote(end));
    }
    if scratch.is_empty() {
        return Ok(Cell { text: &text[open + 1..close], end });
    }
    scratch.extend_from_slice(&text[from..close]);
    Ok(Cell { text: scratch, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cell(text: &str) -> Result<(String, usize), CellFault> {
        let mut scratch = Vec::new();
        let cell = cell_at(text.as_bytes(), 0, b',', &mut scratch)?;
        Ok((String::from_utf8(cell.text.to_vec()).unwrap(), cell.end))
    }

    #[test]
    fn blanks_are_trimmed_outside_quotes_and_kept_inside() {
        assert_eq!(cell(" \ta b \r\n"), Ok(("a b".into(), 7)));
        assert_eq!(cell(" \" a,\n\"\"b\"\" \" ,x\n"), Ok((" a,\n\"b\" ".into(), 14)));
        assert_eq!(cell("\"\"\n"), Ok((String::new(), 2)));
        assert_eq!(cell("5\" pipe,\n"), Ok(("5\" pipe".into(), 7)));
        assert_eq!(cell("\"a\"b,\n"), Err(CellFault::AfterQuote(3)));
        assert_eq!(cell(" \"a\n"), Err(CellFault::Unclosed(1)));
    }

    proptest! {
        #[test]
        fn the_end_of_a_cell_is_the_first_delimiter_or_line_end(text in "[a-c,;\u{80}\u{100}\n]{0,70}", at in 0usize..70) {
            let mut text = text.into_bytes();
            text.push(b'\n');
            let at = at.min(text.len() - 1);
            for delimiter in [b',', b';', b'\t'] {
                let expected = at + text[at..].iter().position(|&b| b == delimiter || b == b'\n').unwrap();
                prop_assert_eq!(cell_end(&text, at, delimiter), expected);
            }
        }
    }
}
