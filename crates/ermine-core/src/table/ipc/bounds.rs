//! Checks the lengths in an Arrow IPC file before its decoder relies on them.
//!
//! The decoder allocates the lengths that the file states: of a message, its body, each column, and each compressed buffer after decompression. A few damaged bytes may state terabytes, and
//! a failed allocation ends the process. So every message is checked first: offsets and lengths must lie inside the file, no buffer may decompress to more than its codec allows, and
//! everything must fit in memory.
//!
//! A stream is a sequence of messages; a file has a footer that lists them.
//!
//! **Bounds of the codecs.** An LZ4 sequence grows by at most 255 bytes for each byte of its length; a Zstandard block of one repeated byte takes 4 bytes and is at most 128 KiB long.
//!
//! **Reference.** Apache Arrow, "Arrow Columnar Format", sections "Encapsulated message format" and "IPC File Format"; LZ4 block format; RFC 8878, section 3.1.1.2.

use crate::error::{Error, Result};
use crate::memory;
use crate::table::MAX_ROWS;
use crate::table::read::fault;
use arrow_ipc::{CompressionType, Message, RecordBatch, root_as_footer, root_as_message};
use std::io::{Read, Seek, SeekFrom};

/// The prefix of a message length in recent versions.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Checks all messages of a stream, or of a file with a footer.
pub fn check<R: Read + Seek>(input: &mut R, has_footer: bool) -> Result<()> {
    let size = input.seek(SeekFrom::End(0)).map_err(unreadable)?;
    let mut file = Claims { input, size };
    if has_footer { file.check_blocks() } else { file.check_stream() }
}

fn broken(what: &str) -> Error {
    fault(None, None, format!("not readable as Arrow IPC: {what}"))
}

fn unreadable(e: std::io::Error) -> Error {
    broken(&e.to_string())
}

struct Claims<'r, R> {
    input: &'r mut R,
    size: u64,
}

impl<R: Read + Seek> Claims<'_, R> {
    fn bytes(&mut self, at: u64, length: u64) -> Result<Vec<u8>> {
        if at.checked_add(length).is_none_or(|end| end > self.size) {
            return Err(broken("a length reaches past the end of the file"));
        }
        let mut bytes = vec![0; length as usize];
        self.input.seek(SeekFrom::Start(at)).and_then(|_| self.input.read_exact(&mut bytes)).map_err(unreadable)?;
        Ok(bytes)
    }

    fn number(&mut self, at: u64) -> Result<i32> {
        let bytes = self.bytes(at, 4)?;
        Ok(i32::from_le_bytes(bytes.try_into().unwrap_or_default()))
    }

    /// Checks the messages listed in the footer.
    fn check_blocks(&mut self) -> Result<()> {
        const END: u64 = 4 + 6; // The length of the footer, and the magic.
        let end = self.size.checked_sub(END).ok_or_else(|| broken("it is cut short"))?;
        let length = u64::try_from(self.number(end)?).map_err(|_| broken("the footer has a negative length"))?;
        let start = end.checked_sub(length).ok_or_else(|| broken("the footer is longer than the file"))?;
        let footer = self.bytes(start, length)?;
        let footer = root_as_footer(&footer).map_err(|e| broken(&e.to_string()))?;
        let blocks = [footer.dictionaries(), footer.recordBatches()];
        for block in blocks.into_iter().flatten().flat_map(|blocks| blocks.iter().copied().collect::<Vec<_>>()) {
            let claims = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
            let [Ok(at), Ok(head), Ok(body)] = claims.map(u64::try_from) else {
                return Err(broken("a block has a negative length"));
            };
            self.check_block(at, head, body)?;
        }
        Ok(())
    }

    /// Checks a block: its metadata with their prefix, and its body.
    fn check_block(&mut self, at: u64, head: u64, body: u64) -> Result<()> {
        let bytes = self.bytes(at, head)?;
        let prefix = if bytes.starts_with(&CONTINUATION) { 8 } else { 4 };
        let metadata = bytes.get(prefix..).ok_or_else(|| broken("the metadata of a block is cut short"))?;
        let message = root_as_message(metadata).map_err(|e| broken(&e.to_string()))?;
        let body_start = at + head;
        if body_start.checked_add(body).is_none_or(|end| end > self.size) {
            return Err(broken("a block reaches past the end of the file"));
        }
        match batch_of(&message) {
            Some(batch) => self.check_batch(&batch, body_start, body),
            None => Err(broken("a block holds neither a batch nor a dictionary")),
        }
    }

    /// Checks all messages of a stream.
    fn check_stream(&mut self) -> Result<()> {
        let mut at = 0;
        while at + 4 <= self.size {
            match self.check_message(at)? {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(())
    }

    /// Checks the message at `at` and returns the position of the next one, unless the stream ends.
    fn check_message(&mut self, at: u64) -> Result<Option<u64>> {
        let has_mark = self.bytes(at, 4)? == CONTINUATION;
        let start = if has_mark { at + 4 } else { at };
        let length = u64::try_from(self.number(start)?).map_err(|_| broken("a message has a negative length"))?;
        if length == 0 {
            return Ok(None);
        }
        let head = self.bytes(start + 4, length)?;
        let message = root_as_message(&head).map_err(|e| broken(&e.to_string()))?;
        let body = start + 4 + length;
        let body_length = u64::try_from(message.bodyLength()).map_err(|_| broken("a body has a negative length"))?;
        let next = body.checked_add(body_length).filter(|&next| next <= self.size);
        let next = next.ok_or_else(|| broken("the body of a message reaches past the end of the file"))?;
        if let Some(batch) = batch_of(&message) {
            self.check_batch(&batch, body, body_length)?;
        }
        Ok(Some(next))
    }

    /// Checks the columns and buffers of a batch.
    fn check_batch(&mut self, batch: &RecordBatch<'_>, body: u64, body_length: u64) -> Result<()> {
        let mut needed = 0usize;
        let lengths = batch.nodes().into_iter().flatten().map(|node| node.length());
        for length in lengths.chain([batch.length()]) {
            let rows = usize::try_from(length).ok().filter(|&rows| rows <= MAX_ROWS);
            let rows = rows.ok_or_else(|| broken(&format!("a column claims {length} rows (at most {MAX_ROWS})")))?;
            needed = needed.saturating_add(rows.saturating_mul(size_of::<f64>()));
        }
        let growth = batch.compression().map(|compression| match compression.codec() {
            CompressionType::LZ4_FRAME => 255,
            _ => (128 << 10) / 4,
        });
        for buffer in batch.buffers().into_iter().flatten() {
            let (Ok(offset), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length())) else {
                return Err(broken("a buffer has a negative length"));
            };
            if offset.checked_add(length).is_none_or(|end| end > body_length) {
                return Err(broken("a buffer reaches past the end of its message"));
            }
            if let Some(growth) = growth.filter(|_| length > 0) {
                needed = needed.saturating_add(self.decompressed_length(body + offset, length, growth)?);
            }
        }
        memory::require(
            || "reading a batch of an Arrow file".to_string(),
            &[needed],
            "the file is damaged, or must be written in smaller batches",
        )
    }

    /// The stated decompressed length of a buffer; `growth` is the maximum expansion of its codec.
    fn decompressed_length(&mut self, at: u64, length: u64, growth: u64) -> Result<usize> {
        let packed =
            length.checked_sub(8).ok_or_else(|| broken("a compressed buffer is too short to state its length"))?;
        let claim = i64::from_le_bytes(self.bytes(at, 8)?.try_into().unwrap_or_default());
        match u64::try_from(claim) {
            Ok(claim) if claim <= packed.saturating_mul(growth) => Ok(claim as usize),
            Ok(claim) => Err(broken(&format!("a buffer of {packed} bytes claims to decompress to {claim}"))),
            // -1 marks an uncompressed buffer.
            Err(_) if claim == -1 => Ok(0),
            Err(_) => Err(broken("a compressed buffer has a negative length")),
        }
    }
}

fn batch_of<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch()?.data())
}
