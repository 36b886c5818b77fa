//! API keys.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{delete, get, post};
use http::{HeaderValue, StatusCode, header};
use oxagen_commands::NewKey;
use oxagen_domain::{ApiKeyId, KeyLimits, Right, Role, UserId};
use oxagen_projections::{KeyRow, Paged};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Paging, shapes};
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Asked, Body, Id, IdempotencyKey};
use crate::state::App;

pub(super) fn doors() -> Vec<Door> {
    let administer = Guard::Needs(Right::Administer);
    vec![
        Door::new(Method::Get, "/v1/keys", "key.list", administer, get(list))
            .about("key", "Lists the workspace's keys, newest first. Their texts are kept nowhere.")
            .paged()
            .gives::<shapes::KeyPage>(200, "A page."),
        Door::new(Method::Post, "/v1/keys", "key.create", administer, post(create))
            .about("key", "Makes a key and shows its text this once: a repeat with the same `Idempotency-Key` is 409 with the `keyId`.")
            .takes::<KeyToMake>()
            .gives::<shapes::IssuedKey>(201, "The key."),
        Door::new(Method::Delete, "/v1/keys/{id}", "key.revoke", administer, delete(revoke))
            .about("key", "Lets a key open nothing any more.")
            .gives_nothing(204, "It opens nothing."),
    ]
}

/// A key to make.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct KeyToMake {
    /// A name for people: 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// What it may do.
    role: Role,
    /// What of that it is limited to; nothing unless told.
    #[serde(default)]
    limits: KeyLimits,
    /// Whom it stands for; none for somebody new.
    #[serde(default)]
    user_id: Option<UserId>,
}

async fn list(
    State(app): State<App>,
    Who(caller): Who,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Paged<KeyRow>>, Problem> {
    Ok(Json(app.views().await?.keys(caller.scope, paging.page()).await?))
}

async fn create(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(idempotency_key): IdempotencyKey,
    Body(key): Body<KeyToMake>,
) -> Result<impl IntoResponse, Problem> {
    let KeyToMake { name, role, limits, user_id } = key;
    let key = NewKey { name, role, limits, user_id, idempotency_key };
    let issued = app.commands().await?.create_key(&caller, key).await?;
    let no_store = [(header::CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((StatusCode::CREATED, no_store, Json(issued)))
}

async fn revoke(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<ApiKeyId>,
) -> Result<StatusCode, Problem> {
    app.commands().await?.revoke_key(&caller, id).await?;
    app.keys().forget(id);
    Ok(StatusCode::NO_CONTENT)
}
