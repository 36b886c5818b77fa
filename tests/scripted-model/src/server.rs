//! The routes, and what they share.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Path, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;

use crate::{
    Scenario, Script,
    choose::{Chosen, choose},
    conform,
    render::{Rendered, fingerprint},
    stream::Plan,
};

/// Requests that are kept; older ones are forgotten.
const KEPT: usize = 10_000;
const BODY_LIMIT: usize = 64 * 1024 * 1024;
const MASKED: [&str; 3] = ["authorization", "api-key", "x-api-key"];

/// A request as it arrived, and what became of its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// Its place in the order of arrival, from 1.
    pub number: u64,
    /// The path it came to.
    pub path: String,
    /// Its headers, lower case, secrets masked.
    pub headers: HashMap<String, String>,
    /// Its body; a string when it was no JSON.
    pub body: Value,
    /// The scenario that answered.
    pub scenario: Option<String>,
    /// The step of the turn that it asked for.
    pub step: Option<usize>,
    /// How far the answer got.
    pub outcome: Outcome,
}

/// How far an answer got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It is still being written.
    Running,
    /// All that the script has was written.
    Written,
    /// The other side hung up first.
    HungUp,
    /// The request was refused as no real provider would take it, or no reply was found.
    Refused,
}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    /// Scenarios whose held answers go on.
    let_go: watch::Sender<BTreeSet<String>>,
}

#[derive(Debug)]
struct Inner {
    script: Script,
    requests: Vec<Recorded>,
    received: u64,
    /// How often a request with this content was answered, for `first`.
    attempts: HashMap<u64, usize>,
}

impl Shared {
    pub(crate) fn new(script: Script) -> Self {
        let inner = Inner { script, requests: Vec::new(), received: 0, attempts: HashMap::new() };
        Self { inner: Mutex::new(inner), let_go: watch::Sender::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_script(&self, script: Script) {
        let mut inner = self.lock();
        inner.script = script;
        inner.attempts.clear();
    }

    pub(crate) fn let_go(&self, scenario: &str) {
        self.let_go.send_modify(|let_go| _ = let_go.insert(scenario.to_owned()));
    }

    fn until_let_go(&self, scenario: String) -> impl Future<Output = ()> + use<> {
        let mut let_go = self.let_go.subscribe();
        // An error means that the provider ends.
        async move { drop(let_go.wait_for(|let_go| let_go.contains(&scenario)).await) }
    }

    pub(crate) fn add_scenarios(&self, scenarios: Vec<Scenario>) {
        self.lock().script.0.splice(0..0, scenarios);
    }

    pub(crate) fn requests(&self) -> Vec<Recorded> {
        self.lock().requests.clone()
    }

    fn record(&self, path: &str, headers: &HeaderMap, body: Value) -> u64 {
        let mut inner = self.lock();
        inner.received += 1;
        if inner.requests.len() == KEPT {
            inner.requests.remove(0);
        }
        let recorded = Recorded {
            number: inner.received,
            path: path.to_owned(),
            headers: headers.iter().map(plain).collect(),
            body,
            scenario: None,
            step: None,
            outcome: Outcome::Running,
        };
        inner.requests.push(recorded);
        inner.received
    }

    fn update(&self, number: u64, change: impl FnOnce(&mut Recorded)) {
        if let Some(request) = self.lock().requests.iter_mut().find(|request| request.number == number) {
            change(request);
        }
    }

    fn choose(&self, body: &Value) -> Result<Chosen, String> {
        let mut inner = self.lock();
        let mut chosen = choose(&inner.script, body)?;
        let attempt = inner.attempts.entry(fingerprint(body)).or_default();
        if *attempt < chosen.reply.first.len() {
            chosen.reply = chosen.reply.first.swap_remove(*attempt);
        }
        *attempt += 1;
        Ok(chosen)
    }
}

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/chat/completions", post(complete))
        .route("/__requests", get(requests).delete(forget))
        .route("/__let_go/{scenario}", post(let_go))
        .route("/__script", put(set_script).get(script))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(shared)
}

async fn requests(State(shared): State<Arc<Shared>>) -> Json<Vec<Recorded>> {
    Json(shared.requests())
}

async fn forget(State(shared): State<Arc<Shared>>) -> StatusCode {
    let mut inner = shared.lock();
    inner.requests.clear();
    inner.attempts.clear();
    StatusCode::NO_CONTENT
}

async fn let_go(State(shared): State<Arc<Shared>>, Path(scenario): Path<String>) -> StatusCode {
    shared.let_go(&scenario);
    StatusCode::NO_CONTENT
}

async fn script(State(shared): State<Arc<Shared>>) -> Json<Script> {
    Json(shared.lock().script.clone())
}

async fn set_script(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match serde_json::from_slice(&body) {
        Ok(script) => {
            shared.set_script(script);
            StatusCode::NO_CONTENT.into_response()
        }
        Err(error) => refusal(&format!("not a script: {error}")),
    }
}

async fn complete(State(shared): State<Arc<Shared>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value =
        serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into_owned().into());
    let number = shared.record(uri.path(), &headers, body.clone());
    let answered = conform::check(&body).and_then(|()| shared.choose(&body)).and_then(|chosen| {
        shared.update(number, |request| {
            request.scenario = Some(chosen.scenario.clone());
            request.step = Some(chosen.step);
        });
        respond(&shared, number, &chosen, &body).map_err(|error| format!("{error:#}"))
    });
    answered.unwrap_or_else(|reason| {
        shared.update(number, |request| request.outcome = Outcome::Refused);
        refusal(&reason)
    })
}

fn respond(shared: &Arc<Shared>, number: u64, chosen: &Chosen, body: &Value) -> anyhow::Result<Response> {
    let reply = &chosen.reply;
    let rendered = Rendered::new(reply, body);
    let mut response = if let Some(status) = reply.status {
        shared.update(number, |request| request.outcome = Outcome::Written);
        refused_by_script(StatusCode::from_u16(status)?, reply.body.as_ref())
    } else if body["stream"] == true {
        let let_go = shared.until_let_go(chosen.scenario.clone());
        stream(shared, number, Plan::new(reply, &rendered.chunks())?, let_go)
    } else {
        shared.update(number, |request| request.outcome = Outcome::Written);
        Json(rendered.whole()).into_response()
    };
    for (name, value) in &reply.headers {
        response.headers_mut().insert(HeaderName::try_from(name)?, HeaderValue::try_from(value)?);
    }
    Ok(response)
}

fn refused_by_script(status: StatusCode, body: Option<&Value>) -> Response {
    match body {
        Some(Value::String(text)) => (status, text.clone()).into_response(),
        Some(value) => (status, Json(value)).into_response(),
        None => (status, Json(json!({"error": {"message": "as the script says", "code": status.as_u16()}})))
            .into_response(),
    }
}

fn stream(
    shared: &Arc<Shared>,
    number: u64,
    plan: Plan,
    let_go: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let (sender, receiver) = mpsc::channel(1);
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let outcome = if plan.run(sender, let_go).await { Outcome::Written } else { Outcome::HungUp };
        shared.update(number, |request| request.outcome = outcome);
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(ReceiverStream::new(receiver))).into_response()
}

/// What a provider says to a request it does not understand.
fn refusal(reason: &str) -> Response {
    let error =
        json!({"error": {"message": reason, "type": "invalid_request_error", "param": null, "code": null}});
    (StatusCode::BAD_REQUEST, Json(error)).into_response()
}

fn plain((name, value): (&HeaderName, &HeaderValue)) -> (String, String) {
    let masked = MASKED.contains(&name.as_str());
    let value =
        if masked { "masked".to_owned() } else { String::from_utf8_lossy(value.as_bytes()).into_owned() };
    (name.to_string(), value)
}
