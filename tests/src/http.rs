//! A client of the HTTP door.

use reqwest::header::HeaderMap;
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::Value;

use crate::wait::soon;

/// An answer, read to its end.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, if it is JSON; else null.
    pub json: Value,
    /// The body as text.
    pub text: String,
}

impl Answer {
    async fn of(response: Response) -> Result<Self, reqwest::Error> {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await?;
        let json = serde_json::from_str(&text).unwrap_or_default();
        Ok(Self { status, headers, json, text })
    }

    /// The body of an answer that must have this status.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.json
    }

    /// The body of a refusal, which must be problem+json with this status and this stable code.
    #[track_caller]
    pub fn problem(self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, &self.json["code"]), (status, &Value::from(code)), "{}", self.text);
        let media =
            self.headers.get("content-type").and_then(|media| media.to_str().ok()).unwrap_or_default();
        assert!(media.starts_with("application/problem+json"), "{media}");
        for member in ["type", "title", "detail"] {
            assert!(
                self.json[member].as_str().is_some_and(|text| !text.is_empty()),
                "no {member}: {}",
                self.text
            );
        }
        assert_eq!(self.json["status"], status, "{}", self.text);
        self.json
    }
}

/// A client with a key, or without one.
#[derive(Clone, Debug)]
pub struct Http {
    client: Client,
    /// The address without a path.
    pub url: String,
    /// The key, if any.
    pub key: Option<String>,
}

impl Http {
    /// Without a key.
    pub fn open(url: &str) -> Self {
        // Only the first one can install it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().no_proxy().build().unwrap();
        Self { client, url: url.to_owned(), key: None }
    }

    /// With this key.
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), ..self.clone() }
    }

    /// The same key at another gateway.
    pub fn at(&self, url: &str) -> Self {
        Self { url: url.to_owned(), ..self.clone() }
    }

    /// A request to be added to.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// Sends a request.
    pub async fn send(&self, request: RequestBuilder) -> Answer {
        let answer = async { Answer::of(request.send().await?).await };
        soon("an answer over HTTP", answer).await.unwrap_or_else(|error| panic!("{}: {error:?}", self.url))
    }

    /// GET.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    /// GET; none when nobody answers.
    pub async fn try_get(&self, path: &str) -> Option<Answer> {
        Answer::of(self.request(Method::GET, path).send().await.ok()?).await.ok()
    }

    /// POST with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).json(body)).await
    }

    /// PUT with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(body)).await
    }

    /// DELETE.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    /// POST with a JSON body and an `Idempotency-Key`.
    pub async fn post_once(&self, path: &str, key: &str, body: &Value) -> Answer {
        self.send(self.request(Method::POST, path).header("Idempotency-Key", key).json(body)).await
    }
}
