//! Bodies of requests: read within limits of size and time, and unpacked.

use crate::error::ApiError;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use flate2::write::{GzDecoder, ZlibDecoder};
use http_body_util::BodyExt;
use std::io::Write;
use std::time::Duration;

/// So many packed bytes are unpacked before the limit is checked again.
const STEP: usize = 1 << 12;
/// So much of a body that is refused is passed over.
const DRAINED: usize = 4 << 20;
const DRAIN_TIME: Duration = Duration::from_millis(500);

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
}

/// A body that arrives in pieces.
pub struct Pieces {
    body: Body,
    unpacker: Unpacker,
    /// Bytes that are unpacked already.
    n_bytes: u64,
    limit: u64,
    timeout: Duration,
    /// Whether the body is larger than allowed, according to its head.
    is_too_large: bool,
    ended: bool,
}

impl Pieces {
    /// The pieces of a body that may have so many bytes, with pauses of at most `timeout`.
    pub fn new(headers: &HeaderMap, body: Body, limit: u64, timeout: Duration) -> Result<Pieces, ApiError> {
        let length = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let is_too_large = length.is_some_and(|length| length > limit);
        Ok(Pieces { body, unpacker: Unpacker::of(headers)?, n_bytes: 0, limit, timeout, is_too_large, ended: false })
    }

    /// The next bytes; `None` after the last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        if self.is_too_large {
            return Err(self.refuse().await);
        }
        while !self.ended {
            let frame = tokio::time::timeout(self.timeout, self.body.frame()).await;
            let frame = frame.map_err(|_| {
                let message = format!("the body did not arrive within {} s", self.timeout.as_secs_f64());
                ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
            })?;
            let piece = match frame {
                None => {
                    self.ended = true;
                    self.finish()?
                }
                Some(Err(error)) => {
                    return Err(ApiError::bad_request("aborted", format!("the body could not be read: {error}")));
                }
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => match self.unpack(data) {
                        Err(error) if error.status == StatusCode::PAYLOAD_TOO_LARGE => {
                            return Err(self.refuse().await);
                        }
                        piece => piece?,
                    },
                    Err(_) => continue,
                },
            };
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    /// The error for a body that is too large, after a part of the rest was passed over: a client that is still sending when the connection is closed may never see the answer.
    async fn refuse(&mut self) -> ApiError {
        let rest = async {
            let mut n_bytes = 0;
            while let Some(Ok(frame)) = self.body.frame().await {
                n_bytes += frame.data_ref().map_or(0, Bytes::len);
                if n_bytes > DRAINED {
                    break;
                }
            }
        };
        // Whether it comes to its end doesn't matter.
        let _ = tokio::time::timeout(DRAIN_TIME, rest).await;
        self.ended = true;
        too_large(self.limit)
    }

    fn unpack(&mut self, packed: Bytes) -> Result<Bytes, ApiError> {
        if matches!(self.unpacker, Unpacker::Plain) {
            self.count(packed.len())?;
            return Ok(packed);
        }
        let mut plain = Vec::new();
        for step in packed.chunks(STEP) {
            let written = match &mut self.unpacker {
                Unpacker::Gzip(decoder) => decoder.write_all(step).map(|()| std::mem::take(decoder.get_mut())),
                Unpacker::Deflate(decoder) => decoder.write_all(step).map(|()| std::mem::take(decoder.get_mut())),
                Unpacker::Plain => Ok(Vec::new()),
            };
            let written = written.map_err(broken)?;
            self.count(written.len())?;
            plain.extend_from_slice(&written);
        }
        Ok(plain.into())
    }

    fn finish(&mut self) -> Result<Bytes, ApiError> {
        let rest = match &mut self.unpacker {
            Unpacker::Plain => return Ok(Bytes::new()),
            Unpacker::Gzip(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut())),
            Unpacker::Deflate(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut())),
        };
        let rest = rest.map_err(broken)?;
        self.count(rest.len())?;
        Ok(rest.into())
    }

    fn count(&mut self, more: usize) -> Result<(), ApiError> {
        self.n_bytes += more as u64;
        if self.n_bytes > self.limit { Err(too_large(self.limit)) } else { Ok(()) }
    }
}

fn broken(error: std::io::Error) -> ApiError {
    ApiError::bad_request("invalid_encoding", format!("the body could not be unpacked: {error}"))
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
            whole.extend_from_slice(&piece);
        }
        Ok(whole.into())
    };
    tokio::time::timeout(timeout, whole).await.unwrap_or_else(|_| {
        let message = format!("the body did not arrive within {} s", timeout.as_secs_f64());
        Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message))
    })
}
