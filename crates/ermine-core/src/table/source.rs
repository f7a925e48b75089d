//! The bytes of a table file: from a file or from memory, plain or gzip (one or more members).
//!
//! A reader may need two passes over a file, so a [`ByteSource`] can be opened repeatedly. A regular file is streamed; a pipe or `/dev/stdin` is first read into memory.

use super::read::{TextEncoding, fault};
use crate::error::{Error, Result};
use crate::memory;
use flate2::bufread::MultiGzDecoder;
use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const GZIP_BUFFER: usize = 1 << 17;

/// Bytes that can be read repeatedly from the start.
pub struct ByteSource<'a> {
    path: PathBuf,
    bytes: Option<Cow<'a, [u8]>>,
}

impl<'a> ByteSource<'a> {
    /// The file at `path`.
    pub fn file(path: &Path) -> Result<ByteSource<'static>> {
        let facts = check_file(path)?;
        let mut source = ByteSource { path: path.to_path_buf(), bytes: None };
        if !facts.is_file() {
            source.bytes = Some(Cow::Owned(memory::read_file(path)?));
        }
        Ok(source)
    }

    /// The text file at `path`, converted to UTF-8. Files in another encoding are read into memory.
    pub fn text_file(path: &Path, encoding: TextEncoding) -> Result<ByteSource<'static>> {
        let mut source = ByteSource::file(path)?;
        let mut start = Vec::new();
        source.open()?.append(&mut start, 2)?;
        let encoding = match (&start[..], encoding) {
            (b"\xff\xfe" | b"\xfe\xff", _) => TextEncoding::Utf16,
            (_, encoding) => encoding,
        };
        if encoding != TextEncoding::Utf8 {
            let bytes = source.all()?;
            source.bytes = Some(Cow::Owned(to_utf8(&bytes, encoding)));
            // The bytes in memory are no longer compressed.
            source.path = source.path.with_extension("");
        }
        Ok(source)
    }

    /// Reads all bytes.
    pub fn all(&self) -> Result<Vec<u8>> {
        let (mut bytes, mut stream) = (Vec::new(), self.open()?);
        while stream.append(&mut bytes, 1 << 20)? > 0 {}
        Ok(bytes)
    }

    /// Bytes in memory.
    pub fn bytes(bytes: &'a [u8]) -> Self {
        ByteSource { path: PathBuf::from("memory"), bytes: Some(Cow::Borrowed(bytes)) }
    }

    /// Opens a stream of the bytes, decompressed if they are gzip.
    pub fn open(&self) -> Result<Stream<'_>> {
        match &self.bytes {
            Some(bytes) => self.unpack(Cursor::new(&bytes[..]), Some(bytes.len() as u64)),
            None => {
                let file = File::open(&self.path).map_err(|e| Error::io(&self.path, e))?;
                let size = file.metadata().ok().map(|facts| facts.len());
                self.unpack(file, size)
            }
        }
    }

    fn unpack<'s, R: Read + Seek + Send + 's>(&'s self, mut raw: R, size: Option<u64>) -> Result<Stream<'s>> {
        let mut magic = Vec::new();
        raw.by_ref().take(2).read_to_end(&mut magic).map_err(|e| Error::io(&self.path, e))?;
        raw.rewind().map_err(|e| Error::io(&self.path, e))?;
        if magic == GZIP_MAGIC {
            let packed = BufReader::with_capacity(GZIP_BUFFER, raw);
            return Ok(Stream {
                path: &self.path,
                reader: Box::new(MultiGzDecoder::new(packed)),
                size: None,
                gzip: true,
            });
        }
        if self.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz")) {
            return Err(fault(None, None, "not a gzip file, though its name ends in .gz"));
        }
        Ok(Stream { path: &self.path, reader: Box::new(raw), size, gzip: false })
    }
}

/// Converts text in another encoding to UTF-8; invalid characters become U+FFFD.
fn to_utf8(bytes: &[u8], encoding: TextEncoding) -> Vec<u8> {
    /// The characters of Windows-1252 from 0x80 to 0x9f; all others equal Unicode.
    const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";
    let text: String = match encoding {
        TextEncoding::Utf8 => return bytes.to_vec(),
        TextEncoding::Latin1 => {
            let windows: Vec<char> = WINDOWS.chars().collect();
            let character = |&byte: &u8| match byte {
                0x80..=0x9f => windows[usize::from(byte - 0x80)],
                _ => char::from(byte),
            };
            bytes.iter().map(character).collect()
        }
        TextEncoding::Utf16 => {
            let big = bytes.starts_with(b"\xfe\xff");
            let unit = |pair: &[u8]| if big { [pair[0], pair[1]] } else { [pair[1], pair[0]] };
            let units = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes(unit(pair)));
            char::decode_utf16(units).map(|c| c.unwrap_or('\u{fffd}')).filter(|c| *c != '\u{feff}').collect()
        }
    };
    text.into_bytes()
}

/// The metadata of an existing file that is not a directory.
pub fn check_file(path: &Path) -> Result<Metadata> {
    let facts = std::fs::metadata(path).map_err(|e| Error::io(path, e))?;
    if facts.is_dir() { Err(fault(None, None, "this is a directory, expected a file")) } else { Ok(facts) }
}

/// The bytes of a [`ByteSource`] in order.
pub struct Stream<'s> {
    path: &'s Path,
    reader: Box<dyn Read + Send + 's>,
    size: Option<u64>,
    gzip: bool,
}

impl Stream<'_> {
    /// Total number of bytes, if known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Appends the next `n` bytes to `text`, or the remaining ones; returns their number.
    pub fn append(&mut self, text: &mut Vec<u8>, n: usize) -> Result<usize> {
        text.reserve(n);
        let read = self.reader.by_ref().take(n as u64).read_to_end(text);
        read.map_err(|e| match e.kind() {
            _ if !self.gzip => Error::io(self.path, e),
            io::ErrorKind::UnexpectedEof => fault(None, None, "broken gzip: the file ends too early"),
            _ => fault(None, None, format!("broken gzip: {e}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;

    fn zip(text: &[u8]) -> Vec<u8> {
        let mut zipper = GzEncoder::new(Vec::new(), Compression::fast());
        zipper.write_all(text).unwrap();
        zipper.finish().unwrap()
    }

    fn all(source: &ByteSource) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut stream = source.open()?;
        while stream.append(&mut text, 3)? > 0 {}
        Ok(text)
    }

    #[test]
    fn gzip_files_with_several_members_can_be_read_repeatedly() {
        let packed = [zip(b"a,b\n1,2\n"), zip(b"3,4\n")].concat();
        let source = ByteSource::bytes(&packed);
        assert_eq!(all(&source).unwrap(), b"a,b\n1,2\n3,4\n");
        assert_eq!(all(&source).unwrap(), b"a,b\n1,2\n3,4\n");
        assert_eq!(all(&ByteSource::bytes(b"plain")).unwrap(), b"plain");
    }

    #[test]
    fn truncated_gzip_is_an_error() {
        let text: Vec<u8> = (0..2000u32).flat_map(|i| i.wrapping_mul(2654435761).to_le_bytes()).collect();
        let packed = zip(&text);
        for n in (2..packed.len()).step_by(97) {
            let message = all(&ByteSource::bytes(&packed[..n])).unwrap_err().to_string();
            assert!(message.contains("broken gzip"), "cut at {n}: {message}");
        }
        let mut flipped = packed.clone();
        let middle = flipped.len() / 2;
        flipped[middle] ^= 0x55;
        assert!(all(&ByteSource::bytes(&flipped)).unwrap_err().to_string().contains("broken gzip"));
    }
}
