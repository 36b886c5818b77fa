//! Calls outside a turn, through the same gate and ledger as an agent's.

mod end;
mod view;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use oxagen_commands::{Caller, RequestCall, Settle, SettleReceipt};
use oxagen_domain::capability::catalog;
use oxagen_domain::tool_call::{SettledAs, ToolCall};
use oxagen_domain::{CallId, Fact, Right, Scope};
use oxagen_journal::FactFilter;
use oxagen_projections::{Page, Paged, ToolCallRow};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::shapes;
use super::turns::Cancel;
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Asked, Body, Id, IdempotencyKey, MaybeBody};
use crate::state::App;
use crate::trace::prefer_wait;

/// Facts of one call at most: its attempts are few.
const FACTS: u32 = 1000;

pub(super) fn doors() -> Vec<Door> {
    let (read, act) = (Guard::Needs(Right::Read), Guard::Needs(Right::Act));
    vec![
        // What a caller may call is judged by the tool called, so the door itself only asks for a key.
        Door::new(Method::Post, "/v1/tool-calls", "tool_call.request", read, post(request))
            .about(
                "tool",
                "Calls a tool outside a turn. It is judged, kept and shown like an agent's own call.",
            )
            .header::<String>("Prefer", "`wait=N`: wait up to N seconds, at most 60, for the call's end.")
            .takes::<Call>()
            .gives::<shapes::ToolCall>(200, "The call has ended.")
            .gives::<shapes::CallReceipt>(202, "The call goes on, or waits for the approval that is named."),
        Door::new(Method::Get, "/v1/tool-calls", "tool_call.list", read, get(list))
            .about("tool", "Lists the workspace's calls, of turns and outside them, newest first.")
            .query::<Status>("status", "Only those that stand so, such as `in_doubt`.")
            .paged()
            .gives::<shapes::ToolCallPage>(200, "A page."),
        Door::new(
            Method::Post,
            "/v1/tool-calls/{id}/settle",
            "tool_call.settle",
            Guard::Needs(Right::Decide),
            post(settle),
        )
        .about(
            "tool",
            "Settles a call whose outcome is unknown: as done, as not done, or by letting it run again.",
        )
        .takes::<ToSettle>()
        .gives::<shapes::SettleReceipt>(200, "It is settled; a repeat gets the same answer."),
        Door::new(Method::Get, "/v1/tool-calls/{id}", "tool_call.read", read, get(one))
            .about("tool", "Reads a call, of a turn or outside one.")
            .gives::<shapes::ToolCall>(200, "The call as it stands."),
        Door::new(Method::Post, "/v1/tool-calls/{id}/cancel", "tool_call.cancel", act, post(cancel))
            .about("tool", "Cancels a call outside a turn. A call in a turn is cancelled with its turn.")
            .may_take::<Cancel>()
            .gives_nothing(202, "The call is told to end."),
    ]
}

/// A call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Call {
    /// A tool's name, as `GET /v1/tools` lists it.
    #[schemars(schema_with = "tool_names")]
    capability: String,
    /// Its arguments.
    #[serde(default)]
    input: Map<String, Value>,
}

/// How a call stands.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// It was asked for.
    Requested,
    /// A person is asked.
    Held,
    /// It may start.
    Cleared,
    /// It runs.
    Started,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// It may not run.
    Denied,
    /// Nobody knows whether it happened.
    InDoubt,
}

/// Which calls.
#[derive(Debug, Deserialize)]
struct Wanted {
    status: Option<Status>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// How a call is settled. Who settles it comes from the key, never from the body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ToSettle {
    /// As what.
    outcome: SettledAs,
    /// Its result as you found it, for `done`.
    #[serde(default)]
    output: Option<Value>,
    /// In your words: at most 4,000 characters.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    note: Option<String>,
}

async fn list(
    State(app): State<App>,
    Who(caller): Who,
    Asked(Wanted { status, limit, cursor }): Asked<Wanted>,
) -> Result<Json<Paged<ToolCallRow>>, Problem> {
    let page = Page { limit: limit.unwrap_or(Page::default().limit), cursor };
    let status = status.map(|status| view::word(&status));
    Ok(Json(app.views().await?.tool_calls(caller.scope, status.as_deref(), page).await?))
}

async fn settle(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<CallId>,
    Body(ToSettle { outcome, output, note }): Body<ToSettle>,
) -> Result<Json<SettleReceipt>, Problem> {
    if output.is_some() && outcome != SettledAs::Done {
        return Err(Problem::invalid("/output", "only what is done has a result"));
    }
    Ok(Json(app.commands().await?.settle_call(&caller, id, Settle { outcome, output, note }).await?))
}

fn tool_names(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": catalog::tools().map(|tool| tool.name).collect::<Vec<_>>()})
}

async fn request(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(idempotency_key): IdempotencyKey,
    headers: HeaderMap,
    Body(Call { capability, input }): Body<Call>,
) -> Result<Response, Problem> {
    let request = RequestCall { capability, input: Value::Object(input), idempotency_key };
    let (receipt, before) = {
        let commands = app.commands().await?;
        // All that becomes of a new call goes by after this place.
        let before = app.hub().is_ready().then(|| app.hub().head());
        (commands.request_call(&caller, request).await?, before)
    };
    let (wait, is_over) = (prefer_wait(&headers), end::is_over(receipt.status));
    let ended = match (receipt.approval_id, wait) {
        // Nothing is held open while a person thinks.
        (Some(_), _) => None,
        (None, None) if !is_over => None,
        (None, wait) => {
            // What has ended before is not to go by again.
            let since = before.filter(|_| !is_over);
            end::within(&app, caller.scope, receipt.call_id, since, wait.unwrap_or_default()).await
        }
    };
    let mut response = match ended {
        Some(row) => Json(row).into_response(),
        None => (StatusCode::ACCEPTED, Json(receipt)).into_response(),
    };
    if let Some(wait) = wait {
        let applied = format!("wait={}", wait.as_secs());
        if let Ok(applied) = HeaderValue::from_str(&applied) {
            response.headers_mut().insert(HeaderName::from_static("preference-applied"), applied);
        }
    }
    Ok(response)
}

async fn facts(app: &App, scope: Scope, call: CallId) -> Result<Vec<Fact>, Problem> {
    let aggregate = Some(("tool_call".to_owned(), call.to_string()));
    Ok(app.history().await?.page(scope, &FactFilter { aggregate, ..FactFilter::default() }, 0, FACTS).await?)
}

/// The view, or what the journal knows of a call that the view does not have yet.
async fn one(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<CallId>,
) -> Result<Json<ToolCallRow>, Problem> {
    if let Some(row) = app.views().await?.tool_call(caller.scope, id).await? {
        return Ok(Json(row));
    }
    Ok(Json(fresh(&app, &caller, id).await?))
}

async fn fresh(app: &App, caller: &Caller, id: CallId) -> Result<ToolCallRow, Problem> {
    if let Some(row) = view::of_facts(&facts(app, caller.scope, id).await?) {
        return Ok(row);
    }
    let loaded = app.history().await?.load::<ToolCall>(&id.to_string()).await?;
    let own = loaded.scope == Some(caller.scope);
    own.then(|| view::of_state(&loaded.state)).flatten().ok_or_else(|| Problem::not_found("call"))
}

async fn cancel(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<CallId>,
    MaybeBody(cancel): MaybeBody<Cancel>,
) -> Result<StatusCode, Problem> {
    app.commands().await?.cancel_call(&caller, id, cancel.reason()?).await?;
    Ok(StatusCode::ACCEPTED)
}
