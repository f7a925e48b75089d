//! A file reader that treats the end of the file as an error.
//!
//! The decoder skips unknown fields in a page header and treats the end of the file as skipped bytes: a list that states two billion entries would take hours. No page ends at the end of the
//! file, since the footer follows, so reaching it means that a length is wrong.

use bytes::Bytes;
use parquet::errors::Result;
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

/// A Parquet file that can't be read past its end.
pub struct StrictFile(pub File);

/// A reader that treats the end of the file as an error.
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
