//! Output of any length that is kept until all of it is there: in memory while it is short, then in a temporary file.
//!
//! A response to a long CSV body is held back until the last row is predicted. So a fault in any row still gets its own status, and a client that sends all of its body before it reads
//! anything can't get stuck.

use axum::body::{Body, Bytes};
use hyper::body::Frame;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

const IN_MEMORY: usize = 1 << 20;
const PIECE: usize = 1 << 17;

/// Output that is being collected.
#[derive(Default)]
pub struct Spool {
    memory: Vec<u8>,
    file: Option<TemporaryFile>,
}

/// A file that is gone when it is dropped.
struct TemporaryFile {
    file: File,
    path: PathBuf,
}

impl TemporaryFile {
    fn new() -> io::Result<TemporaryFile> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ermine-serve-{}-{number}", std::process::id()));
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        Ok(TemporaryFile { file, path })
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        // What can't be removed is left to the system.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Spool {
    /// Adds output.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.memory.extend_from_slice(bytes);
        if self.memory.len() > IN_MEMORY {
            if self.file.is_none() {
                self.file = Some(TemporaryFile::new()?);
            }
            if let Some(file) = &mut self.file {
                file.file.write_all(&self.memory)?;
                self.memory.clear();
            }
        }
        Ok(())
    }

    /// The output as the body of a response. A client that takes nothing for `timeout` is given up.
    pub fn into_body(mut self, timeout: Duration) -> io::Result<Body> {
        let Some(mut file) = self.file.take() else { return Ok(Body::from(self.memory)) };
        file.file.write_all(&self.memory)?;
        let length = file.file.stream_position()?;
        file.file.rewind()?;
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
        Ok(Body::new(PieceBody { receiver, left: length }))
    }
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
