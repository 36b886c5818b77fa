//! What the tests share: a connection with streams of its own, facts, and a server that may be killed.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chrono::Utc;
use oxagen_domain::{Actor, Fact};
use oxagen_jetstream::follow::{Delivery, Follow};
use oxagen_jetstream::publish::{PublishError, Publisher};
use oxagen_jetstream::topology::{self, STREAMS, Settings, stream_name};
use oxagen_jetstream::{Bus, NatsOptions, connect};
use serde_json::json;
use uuid::Uuid;

/// Generous: it only keeps a broken test from hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// Streams of one test's own on a server.
pub(crate) struct World {
    pub(crate) bus: Bus,
    pub(crate) publisher: Publisher,
    raw: async_nats::jetstream::Context,
}

impl World {
    /// On the test stack's server.
    pub(crate) async fn new() -> Self {
        let url = std::env::var("NATS_URL").expect("NATS_URL is not set: load .stack/test/env first");
        Self::on(&url).await
    }

    /// On this server.
    pub(crate) async fn on(url: &str) -> Self {
        let prefix = format!("t{}_", Uuid::now_v7().simple());
        let options = NatsOptions { urls: url.to_owned(), name: "test".to_owned(), prefix };
        let bus = connect(&options).await.unwrap();
        topology::apply(&bus, 0, Settings::default()).await.unwrap();
        let raw =
            async_nats::jetstream::new(async_nats::connect(url.split(',').next().unwrap()).await.unwrap());
        Self { publisher: Publisher::new(&bus), bus, raw }
    }

    /// Publishes facts of these types after the last one.
    pub(crate) async fn publish(&self, kinds: &[&str]) -> Vec<Fact> {
        let last = self.publisher.last_sequence().await.unwrap();
        let facts: Vec<Fact> = (last + 1..).zip(kinds).map(|(seq, kind)| fact(seq, kind)).collect();
        self.publisher.publish(&facts).await.unwrap();
        facts
    }

    /// The server's own view of a stream, past our code.
    pub(crate) async fn stream(&self, stream: &topology::Stream) -> async_nats::jetstream::stream::Stream {
        self.raw.get_stream(stream_name(&self.bus, stream)).await.unwrap()
    }

    /// A client past our code.
    pub(crate) fn raw(&self) -> &async_nats::jetstream::Context {
        &self.raw
    }

    /// Removes what this test made.
    pub(crate) async fn end(self) {
        for stream in STREAMS {
            self.raw.delete_stream(stream_name(&self.bus, stream)).await.unwrap();
        }
    }
}

/// A fact as the journal would have it.
pub(crate) fn fact(seq: u64, kind: &str) -> Fact {
    let aggregate_type = kind.split('.').next().unwrap().to_owned();
    let turn = Uuid::from_u128(7);
    Fact {
        seq,
        event_id: Uuid::now_v7(),
        kind: kind.to_owned(),
        version: 1,
        aggregate_type,
        aggregate_id: turn.to_string(),
        aggregate_version: seq,
        tenant_id: Uuid::from_u128(1).into(),
        workspace_id: Uuid::from_u128(2).into(),
        conversation_id: Some(Uuid::from_u128(3).into()),
        turn_id: Some(turn.into()),
        actor: Actor::system("test"),
        causation_id: Uuid::from_u128(4),
        correlation_id: Uuid::from_u128(5),
        traceparent: Some("00-00000000000000000000000000000001-0000000000000001-01".to_owned()),
        occurred_at: Utc::now(),
        payload: json!({"at": seq}),
    }
}

/// Waits for something that must happen.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing happened for a minute")
}

/// Reads on until this many facts have come; fails on a jump.
pub(crate) async fn read(follow: &mut Follow, count: usize) -> Vec<u64> {
    let mut seqs = Vec::new();
    while seqs.len() < count {
        match soon(follow.next_batch()).await {
            Delivery::Facts(facts) => seqs.extend(facts.iter().map(|fact| fact.seq)),
            Delivery::Jump { after, next } => panic!("a jump after {after} to {next}"),
        }
    }
    seqs
}

/// Publishes as a relay does: reads the last sequence again after every failure.
pub(crate) async fn relay(publisher: &Publisher, facts: &[Fact]) {
    let attempts = async {
        while publish_missing(publisher, facts).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    soon(attempts).await;
}

async fn publish_missing(publisher: &Publisher, facts: &[Fact]) -> Result<(), PublishError> {
    let last = publisher.last_sequence().await?;
    let missing: Vec<Fact> = facts.iter().filter(|fact| fact.seq > last).cloned().collect();
    publisher.publish(&missing).await
}

/// A NATS server that the test may kill.
pub(crate) struct Server {
    folder: PathBuf,
    port: u16,
    process: Child,
}

impl Server {
    /// Starts one with an empty store.
    pub(crate) async fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("oxagen-nats-{}", Uuid::now_v7()));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let process = spawn(&folder, port);
        let server = Self { folder, port, process };
        server.answers().await;
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// kill -9.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Starts it again on the same store.
    pub(crate) async fn start_again(&mut self) {
        self.process = spawn(&self.folder, self.port);
        self.answers().await;
    }

    /// Throws its store away.
    pub(crate) fn lose_everything(&self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }

    async fn answers(&self) {
        let attempts = async {
            while async_nats::connect(self.url()).await.is_err() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        soon(attempts).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn spawn(folder: &std::path::Path, port: u16) -> Child {
    Command::new(program())
        .args(["--jetstream", "--addr", "127.0.0.1", "--port", &port.to_string(), "--store_dir"])
        .arg(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The server program that the local stack has installed.
fn program() -> PathBuf {
    let home = std::env::var("HOME").unwrap_or_default();
    let caches = [
        std::env::var("OXAGEN_CACHE").ok().map(PathBuf::from),
        Some(PathBuf::from("/var/cache/oxagen")),
        std::env::var("XDG_CACHE_HOME").ok().map(|cache| PathBuf::from(cache).join("oxagen")),
        Some(PathBuf::from(home).join(".cache/oxagen")),
    ];
    let folders =
        caches.into_iter().flatten().filter_map(|cache| std::fs::read_dir(cache).ok()).flatten().flatten();
    let programs = folders
        .filter(|folder| folder.file_name().to_string_lossy().starts_with("nats-"))
        .map(|folder| folder.path().join("bin/nats-server"));
    programs.into_iter().find(|program| program.is_file()).expect("no nats-server: run dev/up first")
}
