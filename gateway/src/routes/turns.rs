//! Turns: start, read, cancel.

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, response::IntoResponse};
use http::StatusCode;
use oxagen_commands::StartTurn;
use oxagen_domain::policy::Mode;
use oxagen_domain::turn::{Budget, Turn};
use oxagen_domain::{AgentId, ConversationId, MessageId, OnBusy, Right, TurnId};
use oxagen_projections::TurnView;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::shapes;
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Body, Id, IdempotencyKey, MaybeBody};
use crate::state::App;

pub(super) fn doors() -> Vec<Door> {
    let act = Guard::Needs(Right::Act);
    vec![
        Door::new(Method::Post, "/v1/turns", "agent.turn.start", act, post(start))
            .about("turn", "")
            .takes::<NewTurn>()
            .gives::<shapes::TurnReceipt>(202, "The turn is on its way: follow the conversation's stream."),
        Door::new(Method::Get, "/v1/turns/{id}", "agent.turn.read", Guard::Needs(Right::Read), get(read))
            .about("turn", "")
            .gives::<shapes::Turn>(200, "The turn as it stands."),
        Door::new(Method::Post, "/v1/turns/{id}/cancel", "agent.turn.cancel", act, post(cancel))
            .about("turn", "")
            .may_take::<Cancel>()
            .gives_nothing(202, "The turn is told to end: its end is a fact of its own."),
    ]
}

/// A message for an agent.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewTurn {
    /// The conversation; none starts a new one.
    #[serde(default)]
    conversation_id: Option<ConversationId>,
    /// The message that it follows; none for the newest one. Another one makes a branch, and the nil UUID another beginning.
    #[serde(default)]
    parent_message_id: Option<MessageId>,
    /// The message: at most 256 KiB.
    #[schemars(length(min = 1, max = 262_144))]
    text: String,
    /// The agent; none for the workspace's own.
    #[serde(default)]
    agent_id: Option<AgentId>,
    /// The model; none for the runtime's default.
    #[serde(default)]
    model: Option<String>,
    /// `plan`: the agent reads and makes a plan, and acts once a person has approved it.
    #[serde(default)]
    mode: Mode,
    /// Limits that the turn stops at.
    #[serde(default)]
    budget: Budget,
    /// What to do if a turn runs in the conversation.
    #[serde(default)]
    on_busy: OnBusy,
}

/// Why something is cancelled.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Cancel {
    /// For the record: at most 1,000 characters.
    #[serde(default)]
    reason: Option<String>,
}

impl Cancel {
    /// The reason, in words at any rate.
    pub(super) fn reason(self) -> Result<String, Problem> {
        match self.reason {
            Some(reason) if reason.chars().count() > 1000 => {
                Err(Problem::invalid("/reason", "at most 1000 characters"))
            }
            Some(reason) => Ok(reason),
            None => Ok("cancelled by a person".to_owned()),
        }
    }
}

async fn start(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(idempotency_key): IdempotencyKey,
    Body(turn): Body<NewTurn>,
) -> Result<impl IntoResponse, Problem> {
    let NewTurn { conversation_id, parent_message_id, text, agent_id, model, mode, budget, on_busy } = turn;
    let request = StartTurn {
        conversation_id,
        parent_message_id,
        text,
        agent_id,
        model,
        mode,
        budget,
        on_busy,
        idempotency_key,
    };
    let receipt = app.commands().await?.start_turn(&caller, request).await?;
    Ok((StatusCode::ACCEPTED, Json(receipt)))
}

/// The view, or what the journal knows of a turn that the view does not have yet.
async fn read(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<TurnId>,
) -> Result<Json<TurnView>, Problem> {
    if let Some(view) = app.views().await?.turn(caller.scope, id).await? {
        return Ok(Json(view));
    }
    let loaded = app.history().await?.load::<Turn>(&id.to_string()).await?;
    let own = loaded.scope == Some(caller.scope);
    let view = own.then(|| fresh(loaded.state)).flatten();
    view.map(Json).ok_or_else(|| Problem::not_found("turn"))
}

/// A turn that was requested a moment ago.
fn fresh(turn: Turn) -> Option<TurnView> {
    let Turn { spec, phase, started_at, usage, .. } = turn;
    let spec = spec?;
    let status =
        serde_json::to_value(phase).ok().as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(TurnView {
        turn_id: spec.turn_id,
        conversation_id: spec.conversation_id,
        user_message_id: spec.user_message_id,
        message_id: spec.assistant_message_id,
        status,
        agent_id: spec.agent_id,
        agent_version_id: spec.agent_version_id,
        model: spec.model,
        usage,
        error: None,
        requested_at: started_at.unwrap_or_else(chrono::Utc::now),
        started_at,
        finished_at: None,
        sequence: 0,
        steps: Vec::new(),
        tool_calls: Vec::new(),
    })
}

async fn cancel(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<TurnId>,
    MaybeBody(cancel): MaybeBody<Cancel>,
) -> Result<StatusCode, Problem> {
    app.commands().await?.cancel_turn(&caller, id, cancel.reason()?).await?;
    Ok(StatusCode::ACCEPTED)
}
