//! Output of any length that is kept until all of it is there: in memory while it is short, then in a temporary file.
//!
//! A response to a long CSV body is held back until the last row is predicted. So a fault in any row still gets its own status, and a client that sends all of its body before it reads
//! anything can't get stuck.

use crate::error::ApiError;
use axum::body::{Body, Bytes};
use hyper::body::Frame;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

const IN_MEMORY: usize = 1 << 20;
const PIECE: usize = 1 << 17;

/// Output that is being collected.
pub struct Spool {
    memory: Vec<u8>,
    file: Option<TemporaryFile>,
    n_bytes: u64,
    limit: u64,
}

/// A file without a name, where the system allows that: it is gone when it is closed, however the process ends.
struct TemporaryFile {
    file: File,
    /// Where it is, if its name could not be removed while it is open.
    path: Option<PathBuf>,
}

impl TemporaryFile {
    fn new() -> io::Result<TemporaryFile> {
        // A name that others can't guess, so that they can't take it first.
        let name = format!("ermine-serve-{:016x}", RandomState::new().build_hasher().finish());
        let path = std::env::temp_dir().join(name);
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        let path = std::fs::remove_file(&path).is_err().then_some(path);
        Ok(TemporaryFile { file, path })
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // What can't be removed is left to the system.
        let _ = self.path.as_ref().map(std::fs::remove_file);
    }
}

impl Spool {
    /// Output of at most so many bytes.
    pub fn new(limit: u64) -> Spool {
        Spool { memory: Vec::new(), file: None, n_bytes: 0, limit }
    }

    /// Adds output.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), ApiError> {
        self.n_bytes += bytes.len() as u64;
        if self.n_bytes > self.limit {
            let message =
                format!("the answer has more than the {} bytes that are allowed; send fewer rows", self.limit);
            return Err(ApiError::too_large("answer_too_large", message));
        }
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > IN_MEMORY {
            self.write_file().map_err(no_room)?;
        }
        Ok(())
    }

    fn write_file(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(TemporaryFile::new()?);
        }
        if let Some(file) = &mut self.file {
            file.file.write_all(&self.memory)?;
            self.memory.clear();
        }
        Ok(())
    }

    /// The output as the body of a response. A client that takes nothing for `timeout` is given up.
    pub fn into_body(mut self, timeout: Duration) -> Result<Body, ApiError> {
        if self.file.is_some() {
            self.write_file().map_err(no_room)?;
        }
        let Some(mut file) = self.file.take() else { return Ok(Body::from(self.memory)) };
        file.file.rewind().map_err(no_room)?;
        let (sender, receiver) = mpsc::channel(2);
        tokio::spawn(async move {
            let mut file = file;
            loop {
                let read = tokio::task::spawn_blocking(move || {
                    let mut piece = Vec::with_capacity(PIECE);
                    let read = (&mut file.file).take(PIECE as u64).read_to_end(&mut piece);
                    (file, read.map(|_| piece))
                });
                let Ok((same, piece)) = read.await else { return };
                file = same;
                if piece.as_ref().is_ok_and(Vec::is_empty) {
                    return;
                }
                let is_last = piece.is_err();
                let sent = tokio::time::timeout(timeout, sender.send(piece.map(Bytes::from))).await;
                if is_last || !matches!(sent, Ok(Ok(()))) {
                    return;
                }
            }
        });
        Ok(Body::new(PieceBody { receiver, left: self.n_bytes }))
    }
}

/// A disk that is full may have room again later.
fn no_room(error: io::Error) -> ApiError {
    ApiError::overloaded(format!("the answer could not be kept in a temporary file: {error}"))
}

/// A body whose pieces come through a channel. One that ends early is an error, not a short body.
struct PieceBody {
    receiver: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl hyper::body::Body for PieceBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.receiver.poll_recv(context).map(|piece| match piece {
            Some(Ok(piece)) => {
                self.left = self.left.saturating_sub(piece.len() as u64);
                Some(Ok(Frame::data(piece)))
            }
            Some(Err(error)) => Some(Err(error)),
            None if self.left > 0 => Some(Err(io::ErrorKind::UnexpectedEof.into())),
            None => None,
        })
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        hyper::body::SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;
    use http_body_util::BodyExt;

    #[test]
    fn what_is_written_comes_out_again_and_no_file_is_left() {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        for n_pieces in [1, 3, 40] {
            let mut spool = Spool::new(u64::MAX);
            let piece = |i: usize| vec![i as u8; 100_003];
            (0..n_pieces).for_each(|i| spool.write(&piece(i)).unwrap());
            if n_pieces == 40 {
                let file = spool.file.as_ref().unwrap();
                #[cfg(unix)]
                assert!(file.path.is_none(), "the file has no name");
                assert!(file.file.metadata().unwrap().len() > IN_MEMORY as u64);
            }
            let body = runtime.block_on(async {
                let body = spool.into_body(Duration::from_secs(600)).unwrap();
                body.collect().await.unwrap().to_bytes()
            });
            assert_eq!(body, (0..n_pieces).flat_map(piece).collect::<Vec<u8>>());
        }
    }

    #[test]
    fn output_is_bounded() {
        let mut spool = Spool::new(10);
        spool.write(b"0123456789").unwrap();
        let error = spool.write(b"0").unwrap_err();
        assert_eq!((error.status, &error.body.kind[..]), (StatusCode::PAYLOAD_TOO_LARGE, "answer_too_large"));
    }
}
