//! Connections: accepted up to a limit, with TLS where it is set, and finished when the server stops.

use crate::config::{LogLevel, TlsFiles};
use crate::metrics::Metrics;
use crate::server::Application;
use crate::stream::ClientStream;
use axum::body::Body;
use axum::http::Request;
use ermine_core::error::{Error, Result};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

/// One of the connections that may be open at a time; it no longer is when this is dropped.
struct OpenConnection {
    metrics: Arc<Metrics>,
    _permit: OwnedSemaphorePermit,
}

impl OpenConnection {
    fn new(metrics: Arc<Metrics>, permit: OwnedSemaphorePermit) -> OpenConnection {
        metrics.connections.inc();
        OpenConnection { metrics, _permit: permit }
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.metrics.connections.dec();
    }
}

/// Accepts connections until `stop` is ready; then requests in progress are finished.
pub async fn serve(
    application: &Application,
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    stop: impl Future<Output = ()>,
) {
    let state = application.state();
    let permits = Arc::new(Semaphore::new(state.config.limits.max_connections));
    let connections = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = async {
            // A connection waits to be accepted until there is a place for it.
            let permit = permits.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            accepted = accepted => accepted,
            () = &mut stop => break,
        };
        let (Ok(permit), Ok((stream, _))) = (permit, accepted) else {
            // Too many open files, say: give others time to close.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let open = OpenConnection::new(state.metrics.clone(), permit);
        tokio::spawn(connection(application.clone(), stream, tls.clone(), connections.watcher(), open));
    }
    drop(listener);
    state.is_stopping.store(true, Ordering::Relaxed);
    state.log.write(LogLevel::Events, "stopping", json!({ "connections": connections.count() }));
    let _ = tokio::time::timeout(state.config.limits.shutdown_timeout, connections.shutdown()).await;
}

async fn connection(
    application: Application,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    watcher: Watcher,
    open: OpenConnection,
) {
    // Answers are written as a whole; waiting for more to send would only delay them.
    let _ = stream.set_nodelay(true);
    match tls {
        None => requests(application, stream, watcher).await,
        Some(tls) => {
            let timeout = application.state().config.limits.header_timeout;
            if let Ok(Ok(stream)) = tokio::time::timeout(timeout, tls.accept(stream)).await {
                requests(application, stream, watcher).await;
            }
        }
    }
    drop(open);
}

/// Answers the requests of a connection.
async fn requests<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    application: Application,
    stream: S,
    watcher: Watcher,
) {
    let limits = &application.state().config.limits;
    let (header_timeout, stream) = (limits.header_timeout, ClientStream::new(stream, limits.request_timeout));
    let service = service_fn(move |request: Request<Incoming>| {
        let application = application.clone();
        async move { Ok::<_, std::convert::Infallible>(application.handle(request.map(Body::new)).await) }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(header_timeout).pipeline_flush(true);
    // A connection that breaks is the client's matter.
    let _ = watcher.watch(builder.serve_connection(TokioIo::new(stream), service)).await;
}

/// What speaks TLS with the certificate and key of these files.
pub fn tls_acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let wrong = |path: &Path, e: String| Error::data(format!("{}: {e}", path.display()));
    let certificates = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(|certificates| certificates.collect::<std::result::Result<Vec<_>, _>>())
        .map_err(|e| wrong(&files.certificate, format!("not readable as PEM certificates: {e}")))?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|e| wrong(&files.key, format!("not readable as a PEM private key: {e}")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|e| wrong(&files.certificate, e.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
