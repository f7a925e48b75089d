//! Changes to bytes that find more than random ones: words that mean something to parsers, whole runs, lengths in text.

use ermine_core::rng::{Rng, below};

/// Words of eight bytes that are special as a float, a length, an index or text.
const WORDS: [[u8; 8]; 10] = [
    [0; 8],
    [0xff; 8],
    [1, 0, 0, 0, 1, 0, 0, 0],
    [0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f],
    [0, 0, 0, 0, 0, 0, 0xf8, 0x7f],
    [0, 0, 0, 0, 0, 0, 0xf0, 0x7f],
    [0x9c, 0x75, 0, 0x88, 0x3c, 0xe4, 0x37, 0x7e],
    [0, 0, 0x80, 0x7f, 0, 0, 0x80, 0x7f],
    [0, 0, 0, 0, 1, 0, 0, 0],
    *b"\n\"{}[],:",
];

/// Pieces of text that stand where numbers and names do.
const TEXTS: [&[u8]; 12] = [
    b"-1",
    b"0",
    b"1e999",
    b"99999999999999999999",
    b"null",
    b"[]",
    b"{}",
    b"\"\"",
    b"nan",
    b"4294967296",
    b"\xff\xfe",
    b"e",
];

/// One to six changes.
pub fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>, other: &[u8]) {
    for _ in 0..1 + below(rng, 6) {
        if bytes.is_empty() {
            bytes.push(below(rng, 256) as u8);
        }
        let at = below(rng, bytes.len());
        match below(rng, 10) {
            0 => bytes[at] = below(rng, 256) as u8,
            1 => bytes[at] ^= 1 << below(rng, 8),
            2 | 3 => write(bytes, at / 8 * 8, &WORDS[below(rng, WORDS.len())]),
            4 => write(bytes, at / 4 * 4, &(below(rng, 300) as u32).to_le_bytes()),
            5 => {
                // A run of one word: an array of nonsense.
                let word = WORDS[below(rng, WORDS.len())];
                let words = 1 + below(rng, 64);
                (0..words).for_each(|i| write(bytes, at / 8 * 8 + 8 * i, &word));
            }
            6 => replace_number(rng, bytes, at),
            7 => {
                let end = (at + 1 + below(rng, 16)).min(bytes.len());
                bytes.drain(at..end);
            }
            8 if !other.is_empty() => {
                let from = below(rng, other.len());
                let piece = &other[from..(from + 1 + below(rng, 64)).min(other.len())];
                write(bytes, at, piece);
            }
            _ => bytes.truncate(at.max(bytes.len() / 2)),
        }
    }
}

fn write(bytes: &mut [u8], at: usize, word: &[u8]) {
    bytes.iter_mut().skip(at).zip(word).for_each(|(byte, new)| *byte = *new);
}

/// Puts another text in the place of the digits at or after `at`.
fn replace_number(rng: &mut Rng, bytes: &mut Vec<u8>, at: usize) {
    let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|n| at + n) else { return };
    let end = start + bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count();
    let text = TEXTS[below(rng, TEXTS.len())];
    bytes.splice(start..end, text.iter().copied());
}
