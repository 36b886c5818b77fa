//! A workspace with a key: what a person at a screen can do.

use oxagen_domain::Role;
use reqwest::Method;
use serde_json::{Value, json};

use crate::events::EventStream;
use crate::http::{Answer, Http};
use crate::wait::{soon, until};

/// A turn that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The turn.
    pub id: String,
    /// Its conversation.
    pub conversation: String,
    /// The person's message.
    pub message: String,
}

impl Turn {
    /// The receipt of a turn.
    pub fn of(receipt: &Value) -> Self {
        let id = |member: &str| {
            receipt[member].as_str().unwrap_or_else(|| panic!("no {member}: {receipt}")).to_owned()
        };
        Self { id: id("turnId"), conversation: id("conversationId"), message: id("messageId") }
    }
}

/// A workspace of a test's own.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Its tenant.
    pub tenant: String,
    /// Its id.
    pub id: String,
    /// The client with its owner's key.
    pub http: Http,
}

impl Workspace {
    /// The same workspace through another gateway.
    pub fn at(&self, gateway: &str) -> Self {
        Self { http: self.http.at(gateway), ..self.clone() }
    }

    /// The same workspace with a key of this role.
    pub async fn as_role(&self, role: Role) -> Self {
        let made = self.http.post("/v1/keys", &json!({"name": "another", "role": role})).await.expect(201);
        let secret = made["secret"].as_str().unwrap();
        Self { http: self.http.with_key(secret), ..self.clone() }
    }

    /// Says something in a new conversation.
    pub async fn say(&self, text: &str) -> Turn {
        self.start(&json!({"text": text})).await
    }

    /// Says something more.
    pub async fn say_in(&self, conversation: &str, text: &str) -> Turn {
        self.start(&json!({"conversationId": conversation, "text": text})).await
    }

    /// Starts a turn.
    pub async fn start(&self, body: &Value) -> Turn {
        Turn::of(&self.http.post("/v1/turns", body).await.expect(202))
    }

    /// Says something and waits for the end of the turn; gives the events.
    pub async fn talk(&self, text: &str) -> (Turn, EventStream) {
        let turn = self.say(text).await;
        let mut events = self.events(&turn.conversation).await;
        events.turn_end().await;
        (turn, events)
    }

    /// The events of a conversation, from its first.
    pub async fn events(&self, conversation: &str) -> EventStream {
        self.stream(&format!("/v1/conversations/{conversation}/stream?after=0"), None).await
    }

    /// The events of a conversation from its first; none while the gateway cannot reach its stores.
    pub async fn try_events(&self, conversation: &str) -> Option<EventStream> {
        let path = format!("/v1/conversations/{conversation}/stream?after=0");
        let request = self.http.request(Method::GET, &path).header("Accept", "text/event-stream");
        let answer = soon("the beginning of a stream", request.send()).await.unwrap();
        (answer.status() != 503).then(|| EventStream::of(answer))
    }

    /// The events of a conversation after the last one seen.
    pub async fn events_after(&self, conversation: &str, last: &str) -> EventStream {
        self.stream(&format!("/v1/conversations/{conversation}/stream"), Some(last)).await
    }

    /// A stream of events.
    pub async fn stream(&self, path: &str, last: Option<&str>) -> EventStream {
        let mut request = self.http.request(Method::GET, path).header("Accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        EventStream::of(soon("the beginning of a stream", request.send()).await.unwrap())
    }

    /// Answers an approval.
    pub async fn resolve(&self, approval: &str, answer: &Value) -> Answer {
        self.http.post(&format!("/v1/approvals/{approval}/resolve"), answer).await
    }

    /// Approves.
    pub async fn approve(&self, approval: &str) -> Value {
        self.resolve(approval, &json!({"decision": "approve"})).await.expect(200)
    }

    /// The facts of a conversation, all of them.
    pub async fn facts(&self, conversation: &str) -> Vec<Value> {
        let mut facts = Vec::new();
        let mut after = 0;
        loop {
            let path = format!("/v1/events?conversation={conversation}&after={after}&limit=200");
            let page = self.http.get(&path).await.expect(200);
            let items = page["items"].as_array().unwrap();
            let Some(last) = items.last() else { return facts };
            after = last["seq"].as_u64().unwrap();
            facts.extend(items.iter().cloned());
        }
    }

    /// The types of a conversation's facts, in order.
    pub async fn kinds(&self, conversation: &str) -> Vec<String> {
        let facts = self.facts(conversation).await;
        facts.iter().map(|fact| fact["type"].as_str().unwrap().to_owned()).collect()
    }

    /// The conversation, once its view knows that the turn has ended in this way.
    pub async fn settled(&self, turn: &Turn, status: &str) -> Value {
        let path = format!("/v1/turns/{}", turn.id);
        until(&format!("turn {} being {status} in its view", turn.id), async || {
            let view = self.http.get(&path).await.expect(200);
            // Without a place in history it comes from the journal, and the view does not have the turn yet.
            (view["sequence"] != 0 && view["status"] == status).then_some(())
        })
        .await;
        self.http.get(&format!("/v1/conversations/{}", turn.conversation)).await.expect(200)
    }
}
