//! A file whose end is an error.
//!
//! The decoder skips what it doesn't know in the header of a page, and takes the end of the file for skipped bytes: a list that claims two billion entries keeps it busy for hours. No page ends where the
//! file does, since the footer follows, so that reading on at the end of the file means that a length is wrong.

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// A Parquet file that can't be read past its end.
pub struct StrictFile(pub File);

/// A reader to which the end of the file is an error.
pub struct StrictReader(File);

impl Read for StrictReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            n => Ok(n),
        }
    }
}

impl Length for StrictFile {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for StrictFile {
    type T = BufReader<StrictReader>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let mut reader = self.0.try_clone()?;
        reader.seek(SeekFrom::Start(start))?;
        Ok(BufReader::new(StrictReader(reader)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}
