//! What a request says, taken apart with refusals that name the place: bodies, paths, queries and headers.

use std::future::ready;
use std::time::Duration;

use axum::RequestExt;
use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use bytes::BytesMut;
use futures::StreamExt;
use http::request::Parts;
use http::{HeaderMap, Uri, header};
use http_body_util::LengthLimitError;
use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;
use tokio::time::timeout;

use crate::error::{INVALID_JSON, NOT_FOUND, Problem, TOO_LARGE, UNSUPPORTED_MEDIA_TYPE};

/// Characters of an `Idempotency-Key` at most.
const KEY_LIMIT: usize = 255;
/// The longest time for which what is over a body's limit is read.
const LINGER: Duration = Duration::from_secs(5);

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        must_be_json(request.headers())?;
        let bytes = read(request).await?;
        parse(&bytes).map(Self)
    }
}

/// A JSON body that may be missing.
pub(crate) struct MaybeBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Default> FromRequest<S> for MaybeBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let typed = must_be_json(request.headers());
        let bytes = read(request).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        typed?;
        parse(&bytes).map(Self)
    }
}

/// A body as it came.
pub(crate) struct Raw(pub(crate) Bytes);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        read(request).await.map(Self)
    }
}

fn must_be_json(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json")) {
        return Ok(());
    }
    let text = format!("the body must come with `Content-Type: application/json`, not `{given}`");
    Err(Problem::new(UNSUPPORTED_MEDIA_TYPE, text))
}

/// Reads a body to its end or its limit. What is over the limit is thrown away as it comes, for a while: a client that
/// still writes would lose the connection and never see the refusal.
async fn read(request: Request) -> Result<Bytes, Problem> {
    let mut pieces = request.into_limited_body().into_data_stream();
    let mut whole = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        match piece {
            Ok(piece) => whole.extend_from_slice(&piece),
            Err(error) if is_over(&error) => {
                let rest = pieces.take_while(|piece| ready(piece.as_ref().is_err_and(is_over)));
                let _ = timeout(LINGER, rest.for_each(|_| ready(()))).await;
                let text = "the body is larger than the 10 MiB that a request may have";
                return Err(Problem::new(TOO_LARGE, text));
            }
            Err(error) => {
                let text = format!("the body could not be read to its end: {error}");
                return Err(Problem::new(INVALID_JSON, text));
            }
        }
    }
    Ok(whole.freeze())
}

fn is_over(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<LengthLimitError>())
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let pointer = pointer(error.path());
        let inner = error.into_inner();
        if inner.is_data() {
            return Problem::invalid(&pointer, without_place(&inner.to_string()));
        }
        Problem::new(INVALID_JSON, format!("the body is not JSON: {inner}"))
    })?;
    json.end().map_err(|error| Problem::new(INVALID_JSON, format!("the body is not JSON: {error}")))?;
    Ok(value)
}

/// A JSON pointer (RFC 6901).
fn pointer(path: &serde_path_to_error::Path) -> String {
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            Segment::Enum { variant } => format!("/{variant}"),
            Segment::Unknown => String::new(),
        })
        .collect()
}

/// The pointer says where; line and column would only repeat it.
fn without_place(text: &str) -> &str {
    text.rfind(" at line ").map_or(text, |at| &text[..at])
}

/// Parameters after the `?`; a wrong value is named.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        Query::from_request_parts(parts, state).await.map(|Query(asked)| Self(asked)).map_err(|rejection| {
            let text = rejection.body_text();
            let text = text.trim_start_matches("Failed to deserialize query string: ");
            let (field, expected) = text.split_once(": ").unwrap_or(("", text));
            Problem::invalid(field, expected)
        })
    }
}

/// Refuses a parameter after the `?` that this route does not have: left out in silence it would be missed.
pub(crate) fn only_known(uri: &Uri, known: &[&str]) -> Result<(), Problem> {
    let Ok(Query(asked)) = Query::<Vec<(String, String)>>::try_from_uri(uri) else { return Ok(()) };
    let Some((name, _)) = asked.iter().find(|(name, _)| !known.contains(&name.as_str())) else {
        return Ok(());
    };
    let expected = match known {
        [] => "this route has no parameters".to_owned(),
        known => format!("no parameter of this route, which has `{}`", known.join("`, `")),
    };
    Err(Problem::invalid(name, expected))
}

/// The identifier in the path. What is no identifier names nothing.
pub(crate) struct Id<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id)).map_err(|_| {
            Problem::new(NOT_FOUND, "the identifier in the path is not a UUID, so there is nothing with it")
        })
    }
}

/// The `Idempotency-Key`, if the client sent one.
#[derive(Clone, Default)]
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl IdempotencyKey {
    /// Reads the header. Every POST may carry it, so the door's guard reads it for all of them.
    pub(crate) fn read(headers: &HeaderMap) -> Result<Self, Problem> {
        let Some(value) = headers.get("idempotency-key") else {
            return Ok(Self(None));
        };
        let text = value.to_str().unwrap_or_default();
        if text.is_empty() || text.len() > KEY_LIMIT {
            let expected = format!("1 to {KEY_LIMIT} printable ASCII characters");
            return Err(Problem::invalid("Idempotency-Key", expected));
        }
        Ok(Self(Some(text.to_owned())))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(parts.extensions.get().cloned().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    struct Order {
        #[allow(dead_code)]
        many: Vec<u32>,
    }

    #[test]
    fn broken_json_is_told_by_line_and_column_and_a_wrong_value_by_its_pointer() {
        let broken = parse::<Order>(b"{\n  \"many\": [1,}").unwrap_err();
        assert_eq!(broken.code(), "invalid_json");
        assert!(broken.body()["detail"].as_str().unwrap().contains("line 2 column"), "{}", broken.body());
        let wrong = parse::<Order>(br#"{"many": [1, "x"]}"#).unwrap_err().body();
        assert_eq!((&wrong["code"], &wrong["field"]), (&"invalid_input".into(), &"/many/1".into()));
        assert_eq!(parse::<Order>(br#"{"many": []} trailing"#).unwrap_err().code(), "invalid_json");
    }

    #[test]
    fn a_parameter_that_a_route_does_not_have_is_named_with_those_that_it_has() {
        let asked = |query: &'static str, known: &[&str]| only_known(&Uri::from_static(query), known);
        assert!(asked("/v1/x", &[]).is_ok() && asked("/v1/x?limit=1&limit=%zz", &["limit"]).is_ok());
        let unknown = asked("/v1/x?limit=1&li%6Dits=2", &["limit", "cursor"]).unwrap_err().body();
        assert_eq!((&unknown["code"], &unknown["field"]), (&"invalid_input".into(), &"limits".into()));
        assert!(unknown["detail"].as_str().unwrap().contains("`limit`, `cursor`"), "{unknown}");
        assert_eq!(asked("/v1/x?a", &[]).unwrap_err().body()["field"], "a");
    }

    #[test]
    fn a_missing_or_unknown_field_is_named() {
        assert!(parse::<Order>(b"{}").unwrap_err().body()["detail"].as_str().unwrap().contains("many"));
        let unknown = parse::<Order>(br#"{"many": [], "few": 1}"#).unwrap_err().body();
        assert_eq!(unknown["field"], "/few");
    }
}
