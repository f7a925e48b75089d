//! Bodies of requests: read within limits of size, time and memory, and unpacked.

use crate::error::ApiError;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use ermine_core::memory;
use flate2::write::{GzDecoder, ZlibDecoder};
use http_body_util::BodyExt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// So many packed bytes are unpacked at a time; they become at most about a thousand times as many.
const STEP: usize = 1 << 12;
/// A long body may take longer than the timeout in all, but must arrive at this many bytes per second.
const SLOWEST: u64 = 1 << 12;
/// Every so many bytes, the memory that is left is checked.
const CHECKED_BYTES: usize = 1 << 22;

/// How a body is packed.
enum Unpacker {
    Plain,
    Gzip(Box<GzDecoder<Vec<u8>>>),
    Deflate(Box<ZlibDecoder<Vec<u8>>>),
}

impl Unpacker {
    fn of(headers: &HeaderMap) -> Result<Unpacker, ApiError> {
        let Some(encoding) = headers.get(header::CONTENT_ENCODING) else { return Ok(Unpacker::Plain) };
        match encoding.to_str().unwrap_or("?").trim().to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(Unpacker::Plain),
            "gzip" | "x-gzip" => Ok(Unpacker::Gzip(Box::new(GzDecoder::new(Vec::new())))),
            "deflate" => Ok(Unpacker::Deflate(Box::new(ZlibDecoder::new(Vec::new())))),
            other => {
                let message = format!("content encoding '{other}' is not supported: expected gzip, deflate or none");
                Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_encoding", message))
            }
        }
    }

    /// Unpacks some bytes.
    fn unpack(&mut self, packed: Bytes) -> io::Result<Bytes> {
        match self {
            Unpacker::Plain => Ok(packed),
            Unpacker::Gzip(decoder) => decoder.write_all(&packed).map(|()| std::mem::take(decoder.get_mut()).into()),
            Unpacker::Deflate(decoder) => decoder.write_all(&packed).map(|()| std::mem::take(decoder.get_mut()).into()),
        }
    }

    /// What is left after the last bytes.
    fn finish(mut self) -> io::Result<Bytes> {
        match &mut self {
            Unpacker::Plain => Ok(Bytes::new()),
            Unpacker::Gzip(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut()).into()),
            Unpacker::Deflate(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut()).into()),
        }
    }
}

/// A body that arrives in pieces.
pub struct Pieces {
    body: Body,
    unpacker: Unpacker,
    /// What arrived and is not unpacked yet.
    packed: Bytes,
    /// Bytes that arrived, and that are unpacked.
    n_arrived: u64,
    n_unpacked: u64,
    limit: u64,
    timeout: Duration,
    /// Time spent waiting for the client.
    waited: Duration,
    ended: bool,
}

impl Pieces {
    /// The pieces of a body that may have so many bytes. A client may pause for at most `timeout`, and must send faster than [`SLOWEST`] on the whole.
    pub fn new(headers: &HeaderMap, body: Body, limit: u64, timeout: Duration) -> Result<Pieces, ApiError> {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > limit) {
            return Err(too_large(limit));
        }
        Ok(Pieces {
            body,
            unpacker: Unpacker::of(headers)?,
            packed: Bytes::new(),
            n_arrived: 0,
            n_unpacked: 0,
            limit,
            timeout,
            waited: Duration::ZERO,
            ended: false,
        })
    }

    /// The next bytes; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if self.packed.is_empty() && !self.ended {
                self.arrive().await?;
            }
            let is_last = self.packed.is_empty();
            let unpacked = match &mut self.unpacker {
                unpacker if is_last => std::mem::replace(unpacker, Unpacker::Plain).finish(),
                Unpacker::Plain => Ok(std::mem::take(&mut self.packed)),
                unpacker => unpacker.unpack(self.packed.split_to(STEP.min(self.packed.len()))),
            };
            let piece = unpacked.map_err(|error| {
                ApiError::bad_request("invalid_encoding", format!("the body could not be unpacked: {error}"))
            })?;
            self.n_unpacked += piece.len() as u64;
            if self.n_unpacked > self.limit {
                return Err(too_large(self.limit));
            }
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
            if is_last {
                return Ok(None);
            }
        }
    }

    /// Waits for the next bytes of the client, or the end.
    async fn arrive(&mut self) -> Result<(), ApiError> {
        while self.packed.is_empty() && !self.ended {
            let start = Instant::now();
            let frame = tokio::time::timeout(self.timeout, self.body.frame()).await;
            self.waited += start.elapsed();
            match frame.map_err(|_| late(self.timeout))? {
                None => self.ended = true,
                Some(Err(error)) => {
                    return Err(ApiError::bad_request("aborted", format!("the body could not be read: {error}")));
                }
                // Anything but data is of no interest.
                Some(Ok(frame)) => self.packed = frame.into_data().unwrap_or_default(),
            }
            self.n_arrived += self.packed.len() as u64;
            if self.waited > self.timeout + Duration::from_secs(self.n_arrived / SLOWEST) {
                return Err(late(self.timeout));
            }
        }
        Ok(())
    }
}

fn late(timeout: Duration) -> ApiError {
    let message = format!("the body did not arrive within {} s", timeout.as_secs_f64());
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
}

fn too_large(limit: u64) -> ApiError {
    ApiError::too_large("body_too_large", format!("the body has more than the {limit} bytes that are allowed"))
}

/// The whole body, which must arrive within `timeout`.
pub async fn collect(headers: &HeaderMap, body: Body, limit: usize, timeout: Duration) -> Result<Bytes, ApiError> {
    let mut pieces = Pieces::new(headers, body, limit as u64, timeout)?;
    let whole = async {
        let Some(first) = pieces.next().await? else { return Ok(Bytes::new()) };
        // A small body comes in one piece, which is not copied.
        let Some(second) = pieces.next().await? else { return Ok(first) };
        let mut whole = first.to_vec();
        whole.extend_from_slice(&second);
        while let Some(piece) = pieces.next().await? {
            let n_checked = whole.len() / CHECKED_BYTES;
            whole.extend_from_slice(&piece);
            // Many clients at a time may send more than there is memory for.
            if whole.len() / CHECKED_BYTES > n_checked && memory::check_held(String::new, "").is_err() {
                return Err(ApiError::overloaded("there is no memory left for the body; try again later"));
            }
        }
        Ok(whole.into())
    };
    tokio::time::timeout(timeout, whole).await.unwrap_or_else(|_| Err(late(timeout)))
}
