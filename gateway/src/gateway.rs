//! The service: answers on a listener until it is told to stop, then lets what is under way end.

use std::io;

use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::select;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use crate::hub::{follow_facts, follow_frames};
use crate::options::Options;
use crate::router::router;
use crate::state::{App, Parts};

/// The gateway.
pub struct Gateway {
    app: App,
    stop: CancellationToken,
}

/// A view of a running gateway. Cheap to clone.
#[derive(Clone)]
pub struct Handle(App);

impl Handle {
    /// Whether facts are being followed, so that streams and waits work.
    pub fn is_ready(&self) -> bool {
        self.0.hub().is_ready()
    }

    /// The newest fact that this gateway has seen.
    pub fn seq(&self) -> u64 {
        self.0.hub().head()
    }

    /// Open streams.
    pub fn streams(&self) -> usize {
        self.0.tasks().len()
    }
}

impl Gateway {
    /// A gateway that has not begun to answer.
    pub fn new(options: Options, parts: Parts) -> Self {
        let stop = CancellationToken::new();
        Self { app: App::new(options, parts, stop.clone()), stop }
    }

    /// A view of it.
    pub fn handle(&self) -> Handle {
        Handle(self.app.clone())
    }

    /// Answers until `shutdown` is cancelled. Then nothing new is taken, streams end (viewers come back with their
    /// cursor), and what is being answered has the drain time to end.
    ///
    /// # Errors
    /// When the listener fails for good.
    pub async fn run(self, listener: TcpListener, shutdown: CancellationToken) -> io::Result<()> {
        let Self { app, stop } = self;
        if let Ok(address) = listener.local_addr() {
            info!(%address, "the gateway answers");
        }
        let _stopping = stop.clone().drop_guard();
        // An event goes out at once, and does not wait for the acknowledgement of the one before it.
        let listener = listener.tap_io(|connection| {
            if let Err(error) = connection.set_nodelay(true) {
                debug!(%error, "small events may be late on a connection");
            }
        });
        // Made so, connections share the routes; a router given as it is would be copied whole for each of them.
        let connections = router(app.clone()).into_make_service();
        let server = axum::serve(listener, connections).with_graceful_shutdown(async move {
            shutdown.cancelled().await;
            stop.cancel();
        });
        let drained = async {
            app.shutdown().cancelled().await;
            tokio::time::sleep(app.options().drain).await;
        };
        let feed = async {
            let facts = follow_facts(app.hub().clone(), app.journal().clone(), app.bus().clone(), app.keys());
            let frames = follow_frames(app.hub().clone(), app.bus().clone());
            tokio::join!(facts, frames)
        };
        let result = select! {
            result = server => result,
            () = drained => {
                warn!("some requests did not end in time and are cut");
                Ok(())
            }
            _ = feed => Ok(()),
        };
        app.tasks().close();
        if timeout(app.options().drain, app.tasks().wait()).await.is_err() {
            warn!("some streams did not end in time");
        }
        info!("the gateway has stopped");
        result
    }
}
