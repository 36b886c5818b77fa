//! The request itself: one POST, one stream, one answer.

use std::{fmt, time::Duration};

use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, CONTENT_TYPE},
    redirect::Policy,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::{
    ApiKey, Completion, Delta, ErrorCode, ModelError, ModelSettings, Request,
    assemble::Assembler,
    failure,
    settings::origin,
    sse::{Decoder, Event},
    wire::{self, Signal},
};

/// How long usage may follow the end of the answer; some providers keep the connection open for ever.
const TRAILER_GRACE: Duration = Duration::from_secs(2);
/// Bytes of an answer that does not stream.
const WHOLE_LIMIT: usize = 8 * crate::OUTPUT_LIMIT;
/// Bytes of a refusal that are read.
const REFUSAL_LIMIT: usize = 64 * 1024;

/// A provider, ready to be asked. Cheap to clone; its connections are shared.
#[derive(Clone)]
pub struct ModelClient {
    http: Client,
    url: Url,
    settings: ModelSettings,
}

impl fmt::Debug for ModelClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ModelClient").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl ModelClient {
    /// Prepares the client without connecting. Fails on an address that is none.
    pub fn new(settings: ModelSettings) -> Result<Self, ModelError> {
        let refuse = |what: String| ModelError::new(ErrorCode::BadRequest, what);
        let url = endpoint(&settings.base_url).ok_or_else(|| {
            refuse("the model URL is not an http(s) address such as http://host:port/v1".to_owned())
        })?;
        // The client panics without a provider; a program that has chosen one keeps it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = Client::builder()
            .connect_timeout(settings.connect_timeout)
            .read_timeout(settings.read_timeout)
            // A redirected POST would become a GET, and carry the conversation to a host nobody chose.
            .redirect(Policy::none());
        // A proxy in the environment is for the world outside.
        let host = url.host_str().unwrap_or_default();
        if host == "localhost" || host == "[::1]" || host.starts_with("127.") {
            http = http.no_proxy();
        }
        let http =
            http.build().map_err(|error| refuse(format!("the model client cannot be set up: {error}")))?;
        Ok(Self { http, url, settings })
    }

    /// Asks for one answer. Pieces go to the sink as they come; the answer that counts is what is returned.
    ///
    /// Nothing is repeated in here: whether to ask again is the caller's decision, by
    /// [`ModelError::retryable`]. Cancelling closes the connection at once.
    pub async fn complete(
        &self,
        request: &Request,
        mut sink: impl FnMut(Delta) + Send,
        cancel: &CancellationToken,
    ) -> Result<Completion, ModelError> {
        let mut answer = Assembler::default();
        let outcome = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ModelError::new(ErrorCode::Cancelled, "the model request was cancelled")),
            outcome = timeout(self.settings.total_timeout, self.stream(request, &mut answer, &mut sink)) => {
                outcome.unwrap_or_else(|_| Err(self.took_too_long()))
            }
        };
        let partial = answer.partial();
        outcome.and_then(|()| answer.finish()).map_err(|error| {
            let message = self.without_key(error.message);
            tracing::debug!(code = error.code.as_str(), status = error.status, %message, "model request failed");
            ModelError { message, partial, ..error }
        })
    }

    /// Reads until the answer is whole; returns without error only then.
    async fn stream(
        &self,
        request: &Request,
        answer: &mut Assembler,
        sink: &mut (impl FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        let mut response = self.send(request).await?;
        let media_type = header(&response, CONTENT_TYPE);
        if media_type.starts_with("application/json") {
            return self.take_whole(response, answer, sink).await;
        }
        let mut decoder = Decoder::default();
        while let Some(bytes) = self.next(&mut response, answer.has_finish()).await? {
            let events = decoder.push(&bytes).map_err(|_| too_large())?;
            for event in events {
                if take(wire::read(&event)?, answer, sink)? {
                    return Ok(());
                }
            }
        }
        let rest = decoder.rest().map(|event| wire::read_rest(&event)).unwrap_or_default();
        if take(rest, answer, sink)? || answer.has_finish() {
            return Ok(());
        }
        if media_type.starts_with("text/html") {
            let message =
                "the model URL answers with a web page; it must be the address above /chat/completions";
            return Err(ModelError::new(ErrorCode::Malformed, message).permanent());
        }
        Err(failure::cut())
    }

    async fn send(&self, request: &Request) -> Result<Response, ModelError> {
        let mut builder = self.http.post(self.url.clone()).header(ACCEPT, "text/event-stream");
        if let Some(key) = &self.settings.api_key {
            builder = builder.bearer_auth(key.expose());
        }
        let body = wire::body(request, &self.settings);
        let sent = builder.json(&body).send().await;
        let response =
            sent.map_err(|error| failure::transport(&error, &origin(&self.settings.base_url), false))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        // The status says enough when the body does not arrive.
        let body = self.body(response, REFUSAL_LIMIT).await.unwrap_or_default();
        Err(failure::refused(status, &headers, &String::from_utf8_lossy(&body)))
    }

    /// The next bytes. After the reason to stop has come, silence or a broken connection is an end like any.
    async fn next(
        &self,
        response: &mut Response,
        finished: bool,
    ) -> Result<Option<bytes::Bytes>, ModelError> {
        if finished {
            return Ok(timeout(TRAILER_GRACE, response.chunk()).await.ok().and_then(Result::ok).flatten());
        }
        response
            .chunk()
            .await
            .map_err(|error| failure::transport(&error, &origin(&self.settings.base_url), true))
    }

    /// A provider that does not stream sends one JSON.
    async fn take_whole(
        &self,
        response: Response,
        answer: &mut Assembler,
        sink: &mut (impl FnMut(Delta) + Send),
    ) -> Result<(), ModelError> {
        let body = self.body(response, WHOLE_LIMIT).await?;
        if body.len() == WHOLE_LIMIT {
            return Err(too_large());
        }
        let event = Event { data: String::from_utf8_lossy(&body).into_owned(), ..Event::default() };
        let done = take(wire::read(&event)?, answer, sink)?;
        if done || answer.has_finish() { Ok(()) } else { Err(failure::cut()) }
    }

    /// The body up to a limit.
    async fn body(&self, mut response: Response, limit: usize) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(bytes) = self.next(&mut response, false).await? {
            body.extend_from_slice(&bytes);
            if body.len() >= limit {
                body.truncate(limit);
                break;
            }
        }
        Ok(body)
    }

    fn took_too_long(&self) -> ModelError {
        let seconds = self.settings.total_timeout.as_secs();
        let message =
            format!("the model provider at {} took longer than {seconds} s", origin(&self.settings.base_url));
        ModelError::new(ErrorCode::Timeout, message)
    }

    /// Providers like to quote the key they refuse.
    fn without_key(&self, message: String) -> String {
        match self.settings.api_key.as_ref().map(ApiKey::expose) {
            Some(key) => message.replace(key, "(key)"),
            None => message,
        }
    }
}

/// The address to post to. A query in the base, as some clouds want one, is kept.
fn endpoint(base: &str) -> Option<Url> {
    let mut url =
        Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())?;
    url.path_segments_mut().ok()?.pop_if_empty().extend(["chat", "completions"]);
    Some(url)
}

/// Takes what an event says; true when it was the last one.
fn take(
    signals: Vec<Signal>,
    answer: &mut Assembler,
    sink: &mut impl FnMut(Delta),
) -> Result<bool, ModelError> {
    for signal in signals {
        match signal {
            Signal::Chunk(chunk) => answer.push(chunk, sink)?,
            Signal::Done => return Ok(true),
        }
    }
    Ok(false)
}

fn header(response: &Response, name: reqwest::header::HeaderName) -> String {
    let value = response.headers().get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().to_ascii_lowercase()
}

fn too_large() -> ModelError {
    let message = "the model provider sent an event too large to read";
    ModelError::new(ErrorCode::TooLarge, message)
}
