//! A crowd of screens on one gateway: what each of them costs while nothing happens, and that none misses a fact when all
//! come back at the same moment.

use std::fs;
use std::time::Duration;

use futures::future::join_all;
use oxagen_tests::{Process, Workspace, soon, word, world};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::road;

/// Screens on one gateway.
const VIEWERS: usize = 2_000;
/// The first ones: pools and caches grow with them, which are not theirs alone.
const FIRST: usize = 200;
/// Connections that are opened at a time while memory is measured.
const AT_ONCE: usize = 50;
/// Turns while the crowd comes back.
const TURNS: usize = 3;
/// What a screen that waits may cost; what it does cost is printed.
const LIMIT: u64 = 128 * 1024;

/// Limits of which a crowd with one key does not think.
const CROWD: &[(&str, &str)] = &[
    ("OXAGEN_KEY_RATE", "100000"),
    ("OXAGEN_TENANT_RATE", "100000"),
    ("OXAGEN_KEY_REQUESTS", "10000"),
    ("OXAGEN_TENANT_REQUESTS", "10000"),
    ("OXAGEN_KEY_STREAMS", "10000"),
    ("OXAGEN_QUEUE", "10000"),
    // All come at once, and a slow machine takes its time: nobody is to be turned away for that.
    ("OXAGEN_REQUEST_TIMEOUT", "600"),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f14_a_crowd_that_comes_back_at_once_misses_nothing_and_sees_nothing_twice() {
    let world = world();
    let gateway = world.installation.start_with(&["gateway"], CROWD).await;
    let (workspace, word) = (world.workspace().await.at(&gateway.url), word("crowd"));
    world.script(road::looks(&word));
    let turn = workspace.say(&word).await;
    workspace.settled(&turn, "completed").await;
    let conversation = turn.conversation;

    let path = format!("/v1/conversations/{conversation}/stream?follow=true");
    let mut crowd = join(&workspace, &path, FIRST).await;
    let before = resident(&gateway).await;
    crowd.extend(join(&workspace, &path, VIEWERS - FIRST).await);
    let each = resident(&gateway).await.saturating_sub(before) / (VIEWERS - FIRST) as u64;
    println!("memory of a screen that waits: {:.1} KiB, of {VIEWERS}", each as f64 / 1024.0);
    assert!(each < LIMIT, "{each} bytes");

    let (cut, at) = watch::channel(());
    let screens: Vec<_> =
        crowd.into_iter().map(|viewer| tokio::spawn(viewer.watches_to_the_end(at.clone()))).collect();
    for nth in 0..TURNS {
        let turn = workspace.say_in(&conversation, &word).await;
        if nth == 1 {
            cut.send_replace(());
        }
        workspace.settled(&turn, "completed").await;
    }
    // The last fact of all, so that a screen knows that it has seen the end.
    let rename = workspace.http.request(Method::PATCH, &format!("/v1/conversations/{conversation}"));
    workspace.http.send(rename.json(&json!({"title": "the end"}))).await.expect(204);
    let facts = workspace.facts(&conversation).await;
    let all: Vec<_> = facts.iter().map(|fact| fact["seq"].as_u64().unwrap()).collect();
    for (nth, screen) in join_all(screens).await.into_iter().enumerate() {
        let (ids, cut_at) = screen.unwrap();
        assert_eq!(ids, all, "screen {nth}, which was cut after {cut_at}");
    }
}

/// Opens so many screens, each of which has seen all that there is.
async fn join(workspace: &Workspace, path: &str, count: usize) -> Vec<Viewer> {
    let mut all = Vec::new();
    while all.len() < count {
        let some = (0..AT_ONCE.min(count - all.len())).map(|_| async {
            let mut viewer = Viewer::open(workspace.clone(), path.to_owned()).await;
            while !viewer.line().await.starts_with("event: caught-up") {}
            viewer
        });
        all.extend(join_all(some).await);
    }
    all
}

/// A screen with a connection of its own, which keeps of what it is shown the places alone.
struct Viewer {
    workspace: Workspace,
    path: String,
    stream: BufReader<TcpStream>,
    ids: Vec<u64>,
    /// The place of the event that is being read, which counts when it was read whole.
    id: Option<u64>,
}

impl Viewer {
    async fn open(workspace: Workspace, path: String) -> Self {
        let stream = connect(&workspace, &path, None).await;
        Self { workspace, path, stream, ids: Vec::new(), id: None }
    }

    /// The next line. A place is kept at the end of its event.
    async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = soon("a line of a stream", self.stream.read_line(&mut line)).await.unwrap();
        assert!(read > 0, "the stream has ended after {:?}", self.ids.last());
        if let Some(id) = line.strip_prefix("id: ") {
            self.id = Some(id.trim_end().parse().unwrap());
        } else if line == "\n" {
            self.ids.extend(self.id.take());
        }
        line
    }

    /// Watches to the end, and comes back once when it is cut. Gives what it saw and where it was cut.
    async fn watches_to_the_end(mut self, mut cut: watch::Receiver<()>) -> (Vec<u64>, u64) {
        let mut cut_at = 0;
        loop {
            let line = tokio::select! {
                line = self.line() => line,
                Ok(()) = cut.changed() => {
                    cut_at = self.ids.last().copied().unwrap_or_default();
                    (self.id, self.stream) = (None, connect(&self.workspace, &self.path, Some(cut_at)).await);
                    continue;
                }
            };
            if line.starts_with("data: ") && line.contains("\"type\":\"conversation.renamed\"") {
                self.line().await;
                return (self.ids, cut_at);
            }
        }
    }
}

async fn connect(workspace: &Workspace, path: &str, last: Option<u64>) -> BufReader<TcpStream> {
    let host = workspace.http.url.strip_prefix("http://").unwrap();
    let key = workspace.http.key.as_deref().unwrap();
    let last = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n{last}\r\n");
    let mut stream = soon("a connection", TcpStream::connect(host)).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut stream, mut status) = (BufReader::with_capacity(4096, stream), String::new());
    soon("the beginning of a stream", stream.read_line(&mut status)).await.unwrap();
    assert_eq!(status.trim_end(), "HTTP/1.1 200 OK");
    stream
}

/// Memory of the process that is really there, in bytes, once it has settled.
async fn resident(gateway: &Process) -> u64 {
    sleep(Duration::from_secs(1)).await;
    let status = fs::read_to_string(format!("/proc/{}/status", gateway.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}
