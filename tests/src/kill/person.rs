//! Somebody at a screen who does not give up: repeats what got no answer, and follows on after a cut.

use std::collections::BTreeSet;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use uuid::Uuid;

use super::tale::Tale;
use crate::events::{EventStream, SseEvent, names};
use crate::wait::{PATIENCE, soon};
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
    /// Says the tale's word, answers what is asked, and follows the conversation until its turn is closed.
    pub async fn walk(&self, tale: Tale, word: &str) -> Walked {
        let turn = self.say(&tale.message(word)).await;
        let mut walked = Walked { turn, events: Vec::new(), connections: 0 };
        if timeout(PATIENCE, self.follow(tale, &mut walked)).await.is_err() {
            panic!(
                "conversation {} did not end within {PATIENCE:?}, after {:?}",
                walked.turn.conversation,
                names(&walked.events)
            );
        }
        walked
    }

    async fn say(&self, message: &Value) -> Turn {
        let key = Uuid::now_v7().to_string();
        let receipt = self
            .insist(202, || {
                let request = self.workspace.http.request(Method::POST, "/v1/turns");
                request.header("Idempotency-Key", &key).json(message)
            })
            .await;
        Turn::of(&receipt.json().await.unwrap())
    }

    async fn follow(&self, tale: Tale, walked: &mut Walked) {
        let (mut shown, mut open) = (BTreeSet::new(), Vec::new());
        loop {
            let mut events = self.connect(walked).await;
            while let Some(event) = events.next().await {
                assert_ne!(event.name, "gap", "{}", event.data);
                if let Some(seq) = event.id {
                    assert!(shown.last().is_none_or(|last| *last < seq), "fact {seq} after {shown:?}");
                    shown.insert(seq);
                    self.shown.send_replace(Instant::now());
                }
                open.extend(question(&event));
                let paused = event.name == "turn-paused";
                let closed = event.data["type"] == "conversation.turn_closed";
                walked.events.push(event);
                // Not sooner: the turn would not pause, and transcripts could not be compared.
                for path in open.extract_if(.., |_| paused) {
                    self.insist_on(&path, &tale.answer()).await;
                }
                if closed {
                    return;
                }
            }
            sleep(PAUSE).await;
        }
    }

    /// The events after the last one that was shown.
    async fn connect(&self, walked: &mut Walked) -> EventStream {
        let path = format!("/v1/conversations/{}/stream", walked.turn.conversation);
        let last = walked.ids().last().copied().unwrap_or_default();
        let request = || self.workspace.http.request(Method::GET, &path).header("Last-Event-ID", last);
        walked.connections += 1;
        EventStream::of(self.insist(200, request).await)
    }

    /// Settles the conversation's last call as done.
    pub(super) async fn settle(&self, call: &str) {
        let done = json!({"outcome": "done", "output": {"found": "by a person"}, "note": "I looked"});
        self.insist_on(&format!("/v1/tool-calls/{call}/settle"), &done).await;
    }

    /// What has been said in a conversation since its turn was closed, until its last call is known to be done.
    pub(super) async fn follow_rest(&self, walked: &mut Walked) {
        let rest = async {
            while walked.status() != "completed" {
                // A stream ends as soon as nothing runs, also before what was just decided has its number.
                sleep(PAUSE).await;
                let mut events = self.connect(walked).await;
                while let Some(event) = events.next().await {
                    walked.events.push(event);
                }
            }
        };
        soon("the rest of the conversation", rest).await;
    }

    /// Gives a conversation another name.
    pub(super) async fn rename(&self, conversation: &str, title: &str) {
        let path = format!("/v1/conversations/{conversation}");
        let title = json!({"title": title});
        self.insist(204, || self.workspace.http.request(Method::PATCH, &path).json(&title)).await;
    }

    /// What the runtime says at this address.
    pub(super) async fn read(&self, path: &str) -> Value {
        self.insist(200, || self.workspace.http.request(Method::GET, path)).await.json().await.unwrap()
    }

    /// The facts of a conversation, all of them.
    pub(super) async fn facts(&self, conversation: &str) -> Vec<Value> {
        let mut facts: Vec<Value> = Vec::new();
        loop {
            let after = facts.last().and_then(|fact| fact["seq"].as_u64()).unwrap_or_default();
            let page =
                self.read(&format!("/v1/events?conversation={conversation}&after={after}&limit=200")).await;
            match page["items"].as_array().unwrap().as_slice() {
                [] => return facts,
                items => facts.extend_from_slice(items),
            }
        }
    }

    async fn insist_on(&self, path: &str, answer: &Value) {
        self.insist(200, || self.workspace.http.request(Method::POST, path).json(answer)).await;
    }

    /// Sends it until somebody answers; trouble of the servers passes, anything else is a defect.
    async fn insist(&self, status: u16, request: impl Fn() -> RequestBuilder) -> Response {
        let insist = async {
            loop {
                match request().timeout(Duration::from_secs(600)).send().await {
                    Ok(answer) if answer.status() == status => return answer,
                    Ok(answer) if answer.status().is_server_error() => {}
                    Ok(answer) if answer.status() == StatusCode::TOO_MANY_REQUESTS => {}
                    Ok(answer) => panic!("{}: {:?}", answer.status(), answer.text().await),
                    Err(_) => {}
                }
                sleep(PAUSE).await;
            }
        };
        timeout(PATIENCE, insist).await.unwrap_or_else(|_| panic!("no {status} within {PATIENCE:?}"))
    }
}

/// Where the answer to this event goes, if it asks something.
fn question(event: &SseEvent) -> Option<String> {
    let id = |name: &str| event.data[name].as_str().unwrap().to_owned();
    match event.name.as_str() {
        "approval-required" => Some(format!("/v1/approvals/{}/resolve", id("approvalId"))),
        "plan-proposed" => Some(format!("/v1/plans/{}/resolve", id("planId"))),
        _ => None,
    }
}
