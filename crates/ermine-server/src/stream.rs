//! The stream of a connection. It gives up clients that don't take their answers, and is closed so that a client that is still sending can read its answer.

use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a client may continue to send after the answer. If the connection were closed at once, its system would report a broken connection instead of the answer.
const LINGER: Duration = Duration::from_secs(2);

/// The stream of a connection.
pub struct ClientStream<S> {
    inner: S,
    timeout: Duration,
    /// When the client is given up, while something waits to be sent.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Until when the rest of what the client sends is read, after the last answer.
    linger: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> ClientStream<S> {
    /// A stream whose client may take nothing for `timeout` while something is to be sent.
    pub fn new(inner: S, timeout: Duration) -> ClientStream<S> {
        ClientStream { inner, timeout, deadline: None, linger: None }
    }

    /// Sends something. An error if nothing could be sent for too long.
    fn poll_send<T>(
        &mut self,
        context: &mut Context<'_>,
        send: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let sent = send(Pin::new(&mut self.inner), context);
        if sent.is_ready() {
            self.deadline = None;
            return sent;
        }
        let timeout = self.timeout;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(timeout)));
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for ClientStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for ClientStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_send(context, |inner, context| inner.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_send(context, |inner, context| inner.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_send(context, |inner, context| inner.poll_flush(context))
    }

    /// Tells the client that no more is sent, and passes over what it still sends.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.linger.is_none() {
            ready!(self.poll_send(context, |inner, context| inner.poll_shutdown(context)))?;
            self.linger = Some(Box::pin(sleep(LINGER)));
        }
        let this = &mut *self;
        loop {
            if let Some(linger) = &mut this.linger
                && linger.as_mut().poll(context).is_ready()
            {
                return Poll::Ready(Ok(()));
            }
            let mut bytes = [0; 1 << 13];
            let mut buffer = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut this.inner).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}
