//! Agents and their versions.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use http::StatusCode;
use oxagen_commands::NewAgent;
use oxagen_domain::{AgentId, Right};
use oxagen_projections::{AgentRow, Paged};
use schemars::JsonSchema;
use serde::Deserialize;

use super::shapes;
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Body, IdempotencyKey};
use crate::state::App;

pub(super) fn doors() -> Vec<Door> {
    vec![
        Door::new(Method::Get, "/v1/agents", "agent.list", Guard::Needs(Right::Read), get(list))
            .about("agent", "Lists the workspace's agents with their newest versions, newest first.")
            .gives::<shapes::AgentPage>(200, "The agents."),
        Door::new(
            Method::Post,
            "/v1/agents",
            "agent.publish",
            Guard::Needs(Right::Administer),
            post(publish),
        )
        .about("agent", "Publishes a version of an agent, new or known. Turns that start from now on use it.")
        .takes::<AgentToPublish>()
        .gives::<shapes::AgentReceipt>(201, "The version."),
    ]
}

/// A version to publish.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AgentToPublish {
    /// The agent; none makes one.
    #[serde(default)]
    agent_id: Option<AgentId>,
    /// A new agent's name: 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    name: String,
    /// What the model is told first: at most 64 KiB.
    instructions: String,
}

async fn list(State(app): State<App>, Who(caller): Who) -> Result<Json<Paged<AgentRow>>, Problem> {
    Ok(Json(Paged { items: app.views().await?.agents(caller.scope).await?, next_cursor: None }))
}

async fn publish(
    State(app): State<App>,
    Who(caller): Who,
    IdempotencyKey(idempotency_key): IdempotencyKey,
    Body(agent): Body<AgentToPublish>,
) -> Result<impl IntoResponse, Problem> {
    let AgentToPublish { agent_id, name, instructions } = agent;
    let agent = NewAgent { agent_id, name, instructions, idempotency_key };
    let receipt = app.commands().await?.publish_agent(&caller, agent).await?;
    Ok((StatusCode::CREATED, Json(receipt)))
}
