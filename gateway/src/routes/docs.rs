//! The documentation that the gateway serves about itself: the OpenAPI document, a page of all operations, and a
//! page for each error code.

use axum::Json;
use axum::extract::Path;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use http::{HeaderName, HeaderValue, header};
use serde_json::Value;

use crate::door::{Door, Guard, Method};
use crate::error::{self, Problem};
use crate::openapi::{openapi_json, page};

/// The pages have no script, and nothing of others.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";

pub(super) fn doors() -> Vec<Door> {
    vec![
        Door::new(Method::Get, "/v1/openapi.json", "docs.openapi", Guard::Open, get(document))
            .about("runtime", "This document.")
            .gives_media(200, "application/json", "OpenAPI 3.1."),
        Door::new(Method::Get, "/docs", "docs.page", Guard::Open, get(operations))
            .about("runtime", "All operations on one page, for people.")
            .gives_media(200, "text/html", "The page."),
        Door::new(Method::Get, "/docs/errors/{code}", "docs.error", Guard::Open, get(code))
            .about("runtime", "What an error code means and what to do.")
            .gives_media(200, "text/markdown", "The page."),
    ]
}

async fn document() -> Json<Value> {
    Json(openapi_json())
}

async fn operations() -> impl IntoResponse {
    let policy = (HeaderName::from_static("content-security-policy"), HeaderValue::from_static(POLICY));
    ([policy], Html(page(&openapi_json())))
}

async fn code(Path(code): Path<String>) -> Result<impl IntoResponse, Problem> {
    let page = error::page(&code).ok_or_else(|| {
        Problem::new(
            error::NOT_FOUND,
            format!("there is no error code `{code}`: the field `code` of a refusal names it"),
        )
    })?;
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static("text/markdown; charset=utf-8"))], page))
}
