//! The stream of events of a comparison (server-sent events): `run` with the whole leaderboard when it changes, `progress` in between.
//!
//! Every stream begins with the whole state, so that a page that is loaded again, or a second one, misses nothing.

use crate::compare_run::{CompareRun, RunStatus};
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hyper::body::Frame;
use serde_json::Value;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

/// A comment is sent so often, so that a client that is gone is noticed.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The events of a comparison from now on.
pub fn stream(run: Arc<CompareRun>) -> Response {
    let (sender, receiver) = mpsc::channel(8);
    tokio::spawn(send(run, sender));
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::new(EventBody(receiver))).into_response()
}

async fn send(run: Arc<CompareRun>, sender: mpsc::Sender<Bytes>) {
    let mut changes = run.changes.subscribe();
    let mut sent: Option<(usize, RunStatus)> = None;
    loop {
        changes.borrow_and_update();
        let now = {
            let progress = run.progress();
            (progress.entries.len(), progress.status)
        };
        let event = match sent == Some(now) {
            true => event("progress", &run.doing()),
            false => event("run", &run.view()),
        };
        sent = Some(now);
        if sender.send(event).await.is_err() {
            return;
        }
        while tokio::time::timeout(HEARTBEAT, changes.changed()).await.is_err() {
            if sender.send(Bytes::from_static(b":\n\n")).await.is_err() {
                return;
            }
        }
    }
}

fn event(name: &str, data: &Value) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

/// A body whose pieces come through a channel.
struct EventBody(mpsc::Receiver<Bytes>);

impl hyper::body::Body for EventBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
