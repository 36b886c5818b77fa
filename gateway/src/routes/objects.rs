//! Large bodies, kept by digest: outputs that facts only point at, and attachments.

use axum::Json;
use axum::extract::{Path, State};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use http::{HeaderValue, StatusCode, header};
use oxagen_domain::{Digest, Right};
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::shapes;
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::Raw;
use crate::state::App;

pub(super) fn doors() -> Vec<Door> {
    let read = Guard::Needs(Right::Read);
    vec![
        Door::new(Method::Get, "/v1/objects/{digest}", "object.read", read, get(fetch))
            .about("object", "Gives a kept body whole.")
            .gives_media(200, "application/octet-stream", "The bytes, as JSON if they are JSON.")
            .or_media("application/json"),
        Door::new(Method::Post, "/v1/objects", "object.keep", Guard::Needs(Right::Act), post(keep))
            .about("object", "Keeps a body of at most 10 MiB under the SHA-256 of its bytes.")
            .takes_bytes()
            .gives::<shapes::ObjectReceipt>(201, "It is kept."),
    ]
}

async fn fetch(
    State(app): State<App>,
    Who(caller): Who,
    Path(digest): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    let digest = Digest::parse(&digest).ok_or_else(|| Problem::not_found("object"))?;
    let object = app.history().await?.object(caller.scope.tenant, &digest).await?;
    let bytes = object.ok_or_else(|| Problem::not_found("object"))?;
    let is_json = serde_json::from_slice::<IgnoredAny>(&bytes).is_ok();
    let content_type = if is_json { "application/json" } else { "application/octet-stream" };
    // A digest names the same bytes for ever. They are somebody's output: a browser saves them and runs nothing.
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=31536000, immutable")),
    ];
    Ok((headers, bytes))
}

async fn keep(
    State(app): State<App>,
    Who(caller): Who,
    Raw(bytes): Raw,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let digest = Digest::of(&bytes);
    app.history().await?.put_object(caller.scope.tenant, &digest, &bytes).await?;
    Ok((StatusCode::CREATED, Json(json!({"digest": digest, "bytes": bytes.len()}))))
}
