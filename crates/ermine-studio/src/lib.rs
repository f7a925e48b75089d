//! The studio: a local web app over Ermine.
//!
//! | file | what it holds |
//! |---|---|
//! | `app` | routes and requests |
//! | `guard` | token, host and origin of requests |
//! | `workspace` | the folder that paths are confined to |
//! | `session`, `journal` | the open table, comparisons and models; what survives a restart |
//! | `data_choice`, `overview`, `relation` | a table and the roles of its columns; what its page shows |
//! | `compare_run`, `events` | a comparison that runs, and the stream of its events |
//! | `trained`, `understand`, `what_if` | models: training, explanation, single rows |
//! | `playground` | learners on points in the plane |
//! | `code` | commands and programs that reproduce what was done |
//! | `assets` | pages, scripts and styles |
//!
//! There is no learning here: everything is done by `ermine` and `ermine-eval`, as on the command line.
//!
//! **Security.** The studio listens on the loopback interface only. Every request needs the random token that the program prints (as a cookie after the first page), a `Host` that is local and,
//! if the browser sends one, an `Origin` that is the studio itself. Paths outside the start folder are refused, also through symbolic links.

mod app;
mod assets;
mod code;
mod compare_run;
mod data_choice;
mod error;
mod events;
mod guard;
mod journal;
mod overview;
mod playground;
mod relation;
mod session;
mod trained;
mod understand;
mod what_if;
mod workspace;

use crate::app::StudioState;
use crate::data_choice::TableSource;
use crate::session::Session;
use crate::workspace::Workspace;
use ermine_core::error::{Error, Result};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;

/// How a studio runs.
#[derive(Debug, Clone)]
pub struct StudioConfig {
    /// The start folder: paths outside it are refused.
    pub folder: PathBuf,
    /// The folder of the session: journal, models, uploaded files.
    pub session: PathBuf,
    /// The table to open at the start; a path relative to the start folder, or inside it.
    pub table: Option<PathBuf>,
    /// The port; 0 for any.
    pub port: u16,
    /// Largest upload in bytes.
    pub max_upload: u64,
}

impl StudioConfig {
    /// The studio of a folder: its session is in `.ermine-studio` there, uploads have at most 1 GiB.
    pub fn new(folder: impl Into<PathBuf>) -> StudioConfig {
        let folder = folder.into();
        StudioConfig { session: folder.join(".ermine-studio"), folder, table: None, port: 0, max_upload: 1 << 30 }
    }
}

/// A studio that listens.
pub struct Studio {
    state: Arc<StudioState>,
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    stopper: StudioStopper,
}

/// Stops a studio from another thread.
#[derive(Clone, Default)]
pub struct StudioStopper(Arc<Notify>);

impl StudioStopper {
    /// Ends the studio.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

impl Studio {
    /// Opens the session and listens on localhost; requests are answered once [`run`](Self::run) is called.
    pub fn bind(config: &StudioConfig) -> Result<Studio> {
        let workspace = Workspace::new(&config.folder, &config.session).map_err(|e| Error::io(&config.session, e))?;
        let session = Arc::new(Session::open(workspace)?);
        if let Some(table) = &config.table {
            let source = TableSource { path: table.display().to_string(), types: Default::default() };
            // The types that were chosen for this table stay.
            let known = session.source().filter(|known| {
                let path = session.workspace.existing(&source.path);
                path.is_ok_and(|path| session.workspace.shown(&path) == known.path)
            });
            session.open_table(known.unwrap_or(source)).map_err(|e| Error::data(e.message))?;
        }
        let failed = |e: std::io::Error| Error::data(format!("cannot listen on port {}: {e}", config.port));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(failed)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, config.port));
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let state = StudioState::new(session, guard::new_token()?, address.port(), config.max_upload);
        Ok(Studio { state: Arc::new(state), runtime, listener, address, stopper: StudioStopper::default() })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address to open in a browser, with the token.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.state.token)
    }

    /// A handle that stops it.
    pub fn stopper(&self) -> StudioStopper {
        self.stopper.clone()
    }

    /// Answers requests until it is stopped.
    pub fn run(self) -> Result<()> {
        let Studio { state, runtime, listener, stopper, .. } = self;
        let router = app::router(&state);
        let served = runtime.block_on(async {
            tokio::select! {
                served = async { axum::serve(listener, router).await } => served,
                () = stopper.0.notified() => Ok(()),
            }
        });
        // Everything that matters is in the journal; work in progress is given up.
        state.session.runs().iter().for_each(|run| run.stop());
        runtime.shutdown_timeout(Duration::from_millis(500));
        served.map_err(|e| Error::data(format!("the studio stopped: {e}")))
    }
}
