//! Somebody at a screen who does not give up: repeats what got no answer, and follows on after a cut.

use std::collections::BTreeSet;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use crate::events::{EventStream, SseEvent, names};
use crate::wait::PATIENCE;
use crate::workspace::{Turn, Workspace};

const PAUSE: Duration = Duration::from_millis(50);

/// A person with a key.
#[derive(Clone, Debug)]
pub struct Person {
    /// Whose workspace it is.
    pub workspace: Workspace,
    /// When a fact was last shown.
    pub(super) shown: watch::Sender<Instant>,
}

/// A conversation that came to its end.
#[derive(Clone, Debug)]
pub struct Walked {
    /// Its turn.
    pub turn: Turn,
    /// What the screen was sent, over all its connections.
    pub events: Vec<SseEvent>,
    /// Connections that it took.
    pub connections: usize,
}

impl Walked {
    /// The calls, in the order in which they were asked for.
    pub fn calls(&self) -> Vec<String> {
        let starts = self.events.iter().filter(|event| event.name == "tool-call-start");
        starts.map(|event| event.data["callId"].as_str().unwrap().to_owned()).collect()
    }

    /// How its last call ended.
    pub fn status(&self) -> &str {
        let end = self.events.iter().rfind(|event| event.name == "tool-call-end");
        end.and_then(|event| event.data["status"].as_str()).unwrap_or("without an end")
    }

    /// The `seq` of every fact that was shown.
    pub fn ids(&self) -> Vec<u64> {
        self.events.iter().filter_map(|event| event.id).collect()
    }
}

impl Person {
    /// Says something, approves what is asked, and follows the conversation until its turn is closed.
    pub async fn walk(&self, text: &str) -> Walked {
        let turn = self.say(text).await;
        let mut walked = Walked { turn, events: Vec::new(), connections: 0 };
        if timeout(PATIENCE, self.follow(&mut walked)).await.is_err() {
            panic!(
                "conversation {} did not end within {PATIENCE:?}, after {:?}",
                walked.turn.conversation,
                names(&walked.events)
            );
        }
        walked
    }

    async fn say(&self, text: &str) -> Turn {
        let key = Uuid::now_v7().to_string();
        let receipt = self
            .insist(202, || {
                let request = self.workspace.http.request(Method::POST, "/v1/turns");
                request.header("Idempotency-Key", &key).json(&json!({"text": text}))
            })
            .await;
        Turn::of(&receipt.json().await.unwrap())
    }

    async fn follow(&self, walked: &mut Walked) {
        let path = format!("/v1/conversations/{}/stream", walked.turn.conversation);
        let (mut shown, mut open) = (BTreeSet::new(), Vec::new());
        loop {
            let last = walked.ids().last().copied().unwrap_or_default();
            let request = || self.workspace.http.request(Method::GET, &path).header("Last-Event-ID", last);
            let mut events = EventStream::of(self.insist(200, request).await);
            walked.connections += 1;
            while let Some(event) = events.next().await {
                assert_ne!(event.name, "gap", "{}", event.data);
                if let Some(seq) = event.id {
                    assert!(shown.last().is_none_or(|last| *last < seq), "fact {seq} after {shown:?}");
                    shown.insert(seq);
                    self.shown.send_replace(Instant::now());
                }
                if let ("approval-required", Value::String(id)) = (&*event.name, &event.data["approvalId"]) {
                    open.push(id.clone());
                }
                let paused = event.name == "turn-paused";
                let closed = event.data["type"] == "conversation.turn_closed";
                walked.events.push(event);
                // Not sooner: the turn would not pause, and transcripts could not be compared.
                for approval in open.extract_if(.., |_| paused) {
                    self.approve(&approval).await;
                }
                if closed {
                    return;
                }
            }
            sleep(PAUSE).await;
        }
    }

    async fn approve(&self, approval: &str) {
        let path = format!("/v1/approvals/{approval}/resolve");
        let answer = json!({"decision": "approve"});
        self.insist(200, || self.workspace.http.request(Method::POST, &path).json(&answer)).await;
    }

    /// Sends it until somebody answers; trouble of the servers passes, anything else is a defect.
    async fn insist(&self, status: u16, request: impl Fn() -> RequestBuilder) -> Response {
        let insist = async {
            loop {
                match request().timeout(Duration::from_secs(600)).send().await {
                    Ok(answer) if answer.status() == status => return answer,
                    Ok(answer) if answer.status().is_server_error() => {}
                    Ok(answer) => panic!("{}: {:?}", answer.status(), answer.text().await),
                    Err(_) => {}
                }
                sleep(PAUSE).await;
            }
        };
        timeout(PATIENCE, insist).await.unwrap_or_else(|_| panic!("no {status} within {PATIENCE:?}"))
    }
}
