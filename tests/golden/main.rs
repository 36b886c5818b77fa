//! What outsiders see, compared with checked-in files, so that a change of it is seen in review.
//! After a wanted change: `cargo xtask golden --write`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod file;
mod gate;
mod page;
mod table;

use oxagen_domain::capability::catalog::CATALOG;
use serde_json::Value;

fn openapi() -> Value {
    let mut document = serde_json::to_value(oxagen_gateway::openapi()).unwrap();
    // Whether a map keeps its order is another crate's choice.
    document.sort_all_objects();
    document
}

#[test]
fn openapi_document() {
    file::same("tests/golden/openapi.json", &(serde_json::to_string_pretty(&openapi()).unwrap() + "\n"));
}

#[test]
fn streams_and_consumers() {
    file::same("tests/golden/streams.txt", &oxagen_jetstream::topology::golden());
}

#[test]
fn unguarded_routes() {
    file::same("tests/golden/unguarded-routes.txt", &(oxagen_gateway::unguarded_routes().join("\n") + "\n"));
}

#[test]
fn capabilities_by_surface() {
    file::same("tests/golden/capabilities.txt", &table::text());
}

#[test]
fn pages_of_the_capabilities() {
    let openapi = openapi();
    let pages: Vec<_> = CATALOG.iter().map(|capability| page::of(capability, &openapi)).collect();
    file::same_folder("docs/capabilities", &[pages, vec![page::index()]].concat());
}
