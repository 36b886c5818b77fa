//! F36: a server that stops answering without closing, and requests that are dropped midway.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use oxagen_journal::{Journal, JournalError, JournalOptions};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::base::{Base, put};

/// Stands between the journal and Postgres, and can stop to carry what is under way.
struct Line {
    port: u16,
    stalled: watch::Sender<()>,
    carrying: AbortHandle,
}

impl Line {
    async fn to(server: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stalled, seen) = watch::channel(());
        let server = Arc::new(server);
        let carrying = tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let (server, mut seen) = (Arc::clone(&server), seen.clone());
                seen.mark_unchanged();
                tokio::spawn(async move {
                    let mut far = TcpStream::connect(server.as_str()).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        // Both ends stay open, and nothing moves.
                        _ = seen.changed() => std::future::pending().await,
                    }
                });
            }
        });
        Self { port, stalled, carrying: carrying.abort_handle() }
    }

    /// Stalls every connection made so far; later ones work.
    fn stall(&self) {
        self.stalled.send_replace(());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f36_permits_come_back_after_a_stall_and_dropped_requests() {
    let base = Base::new().await;
    let (user, rest) = base.url.rsplit_once('@').unwrap();
    let (server, name) = rest.split_once('/').unwrap();
    let line = Line::to(server.to_owned()).await;
    let url = format!("{user}@127.0.0.1:{}/{name}", line.port);
    let options = JournalOptions { url, max_connections: 4, acquire_timeout: Duration::from_secs(60) };
    let journal = Journal::connect(&options).await.unwrap();
    join_all((0..8).map(|_| journal.ping())).await;

    line.stall();
    let dropped = (0..200).map(|_| timeout(Duration::from_millis(100), journal.ping()));
    assert!(join_all(dropped).await.iter().all(|outcome| outcome.is_err()), "nothing answers");
    for version in 1..=8 {
        put(&journal, "a", version).await.unwrap();
    }
    line.carrying.abort();
    base.close().await;
}

#[tokio::test]
async fn nobody_at_the_address_is_said_within_the_wait() {
    let url = "postgres://nobody@127.0.0.1:1/none".to_owned();
    let options = JournalOptions { url, max_connections: 2, acquire_timeout: Duration::from_millis(300) };
    let error = Journal::connect(&options).await.err().unwrap();
    assert!(matches!(error, JournalError::Unavailable { .. }), "{error}");
    let options = JournalOptions { url: "nonsense".to_owned(), ..options };
    let error = Journal::connect(&options).await.err().unwrap();
    assert!(matches!(error, JournalError::Address { .. }), "{error}");
}
