//! Looks at the lengths that an Arrow IPC file claims before its decoder believes them.
//!
//! The decoder allocates what the file says: the length of a message, of its body, and of each compressed buffer once it is unpacked. A few wrong bytes ask for terabytes, and an
//! allocation that fails ends the process. So every message is visited first: lengths must lie inside the file, and what is unpacked must fit into memory.
//!
//! A stream is a row of messages; a file has a footer that says where they are.
//!
//! **Reference.** Apache Arrow, "Arrow Columnar Format", sections "Encapsulated message format" and "IPC File Format".

use crate::error::{Error, Result};
use crate::memory;
use crate::table::read::fault;
use arrow_ipc::{Message, RecordBatch, root_as_footer, root_as_message};
use std::io::{Read, Seek, SeekFrom};

/// What stands before the length of a message, in files of recent versions.
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

    /// The messages that the footer names.
    fn check_blocks(&mut self) -> Result<()> {
        const END: u64 = 4 + 6; // The length of the footer, and the magic.
        let end = self.size.checked_sub(END).ok_or_else(|| broken("it is cut short"))?;
        let length = u64::try_from(self.number(end)?).map_err(|_| broken("the footer has a negative length"))?;
        let start = end.checked_sub(length).ok_or_else(|| broken("the footer is longer than the file"))?;
        let footer = self.bytes(start, length)?;
        let footer = root_as_footer(&footer).map_err(|e| broken(&e.to_string()))?;
        let blocks = [footer.dictionaries(), footer.recordBatches()];
        for block in blocks.into_iter().flatten().flat_map(|blocks| blocks.iter().copied().collect::<Vec<_>>()) {
            let claims = (block.offset(), i64::from(block.metaDataLength()), block.bodyLength());
            let (Ok(at), Ok(head), Ok(body)) = (claims.0.try_into(), claims.1.try_into(), claims.2.try_into()) else {
                return Err(broken("a block has a negative length"));
            };
            let (at, head, body): (u64, u64, u64) = (at, head, body);
            if at.checked_add(head).and_then(|end| end.checked_add(body)).is_none_or(|end| end > self.size) {
                return Err(broken("a block reaches past the end of the file"));
            }
            self.check_message(at)?;
        }
        Ok(())
    }

    /// One message after the other, up to the end.
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

    /// Checks the message at `at`: where the next one is, if this one isn't the end of a stream.
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

    /// What the buffers of a batch unpack to must fit into memory.
    fn check_batch(&mut self, batch: &RecordBatch<'_>, body: u64, body_length: u64) -> Result<()> {
        let Some(buffers) = batch.buffers().filter(|_| batch.compression().is_some()) else { return Ok(()) };
        let mut unpacked = 0usize;
        for buffer in buffers.iter() {
            let (Ok(offset), Ok(length)) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length())) else {
                return Err(broken("a buffer has a negative length"));
            };
            if offset.checked_add(length).is_none_or(|end| end > body_length) {
                return Err(broken("a buffer reaches past the end of its message"));
            }
            if length == 0 {
                continue;
            }
            if length < 8 {
                return Err(broken("a compressed buffer is too short to say its length"));
            }
            let claim = i64::from_le_bytes(self.bytes(body + offset, 8)?.try_into().unwrap_or_default());
            // -1 marks a buffer that is not compressed after all.
            match usize::try_from(claim) {
                Ok(claim) => unpacked = unpacked.saturating_add(claim),
                Err(_) if claim == -1 => {}
                Err(_) => return Err(broken("a compressed buffer has a negative length")),
            }
        }
        memory::require(
            || "unpacking a batch of an Arrow file".to_string(),
            &[unpacked],
            "the file is damaged, or must be written in smaller batches",
        )
    }
}

fn batch_of<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch()?.data())
}
