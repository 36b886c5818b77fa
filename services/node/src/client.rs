//! The gateway, as a client sees it.

mod follow;
mod history;
mod problem;
mod sse;

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

pub(crate) use follow::{Follow, Seen};
pub(crate) use history::Which;
pub(crate) use problem::Problem;

use crate::config::{Config, ConfigError, need};
use crate::failure::Failure;

/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The longest wait for an answer that is not a stream.
const ANSWER: Duration = Duration::from_secs(60);

/// Speaks to one gateway with one key. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    key: HeaderValue,
}

impl Client {
    /// A client for the address and the key that are configured.
    ///
    /// # Errors
    /// [`Failure::Config`] when one is missing or unusable.
    pub(crate) fn new(config: &Config) -> Result<Self, Failure> {
        let key = need(config.client.api_key.as_ref(), "client.api_key")?;
        let mut key = HeaderValue::from_str(&format!("Bearer {}", key.trim()))
            .map_err(|_| Failure::Usage("OXAGEN_API_KEY has characters that no key has".to_owned()))?;
        key.set_sensitive(true);
        let bad = |cause: String| ConfigError::Value {
            place: "configuration".to_owned(),
            name: "OXAGEN_URL".to_owned(),
            found: cause,
            expected: "an address such as http://127.0.0.1:15390".to_owned(),
        };
        let base = Url::parse(&config.client.url).map_err(|error| bad(error.to_string()))?;
        let mut http = reqwest::Client::builder().connect_timeout(CONNECT).user_agent(crate::PROGRAM);
        // A proxy in the environment is for the world outside.
        if base
            .host_str()
            .is_some_and(|host| host == "localhost" || host == "[::1]" || host.starts_with("127."))
        {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| Failure::Failed(format!("no HTTP client: {error}")))?;
        Ok(Self { http, base, key })
    }

    /// Reads.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
    ) -> Result<T, Failure> {
        self.json(self.request(Method::GET, path, query).timeout(ANSWER)).await
    }

    /// Asks for something, once: a repeat of the same request by the network changes nothing.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        let once = Uuid::now_v7().to_string();
        let request =
            self.request(Method::POST, path, &[]).timeout(ANSWER).header("Idempotency-Key", once).json(body);
        self.json(request).await
    }

    /// Sets the whole of something.
    pub(crate) async fn put<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failure> {
        self.json(self.request(Method::PUT, path, &[]).timeout(ANSWER).json(body)).await
    }

    /// Takes something away.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), Failure> {
        self.send(self.request(Method::DELETE, path, &[]).timeout(ANSWER)).await.map(drop)
    }

    /// Opens a stream of events after `after`; without it, where the gateway begins by itself.
    pub(crate) async fn stream(
        &self,
        path: &str,
        query: &[(&str, String)],
        after: Option<u64>,
    ) -> Result<Response, Failure> {
        let mut request = self.request(Method::GET, path, query).header(ACCEPT, "text/event-stream");
        if let Some(after) = after {
            request = request.header("Last-Event-ID", after);
        }
        self.send(request).await
    }

    /// The address, for people.
    pub(crate) fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    fn request(&self, method: Method, path: &str, query: &[(&str, String)]) -> RequestBuilder {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.http.request(method, url).header(AUTHORIZATION, self.key.clone())
    }

    async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Failure> {
        let answer = self.send(request).await?;
        let bytes = answer.bytes().await.map_err(|error| self.unreachable(&error))?;
        let body = if bytes.is_empty() { &b"null"[..] } else { &bytes };
        serde_json::from_slice(body).map_err(|error| {
            Failure::Failed(format!("{} answered what this program cannot read: {error}", self.address()))
        })
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, Failure> {
        let answer = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let bytes = answer.bytes().await.unwrap_or_default();
        let problem = Problem::read(status.as_u16(), &bytes);
        if problem.is_bare() && (502..=504).contains(&status.as_u16()) {
            return Err(Failure::Unreachable(format!(
                "nothing serves {} ({status}): is Oxagen up?",
                self.address()
            )));
        }
        Err(Failure::Refused(Box::new(problem)))
    }

    /// No answer, in words.
    pub(crate) fn unreachable(&self, error: &reqwest::Error) -> Failure {
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let what = if error.is_timeout() { "no answer in time".to_owned() } else { cause.to_string() };
        Failure::Unreachable(format!(
            "cannot reach Oxagen at {}: {what}. Is it up (`oxagen dev`, `make up`), and is OXAGEN_URL right?",
            self.address()
        ))
    }
}
