//! The workspace's policy: read, set, asked what it would say; and the answers that stand.

use axum::Json;
use axum::extract::State;
use axum::routing::{delete, get, post, put};
use http::StatusCode;
use oxagen_commands::{Explained, PolicyInForce, WhatIf};
use oxagen_domain::capability::Surface;
use oxagen_domain::policy::{Mode, PolicyDocument, StandingApproval};
use oxagen_domain::{Right, Role, StandingApprovalId};
use oxagen_projections::Paged;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::shapes;
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Body, Id};
use crate::state::App;

const POLICY: &str = "/v1/policy";

pub(super) fn doors() -> Vec<Door> {
    let (read, administer) = (Guard::Needs(Right::Read), Guard::Needs(Right::Administer));
    vec![
        Door::new(Method::Get, POLICY, "agent.policy.read", read, get(show))
            .about("policy", "")
            .gives::<shapes::Policy>(200, "The policy in force."),
        Door::new(Method::Put, POLICY, "agent.policy.set", administer, put(set))
            .about("policy", "")
            .takes::<PolicyToSet>()
            .gives::<shapes::Policy>(200, "It is in force: from now on nothing starts that it denies."),
        Door::new(Method::Post, "/v1/policy/explain", "policy.explain", read, post(explain))
            .about("policy", "Says what would happen to a call and which rule decides. Nothing is called.")
            .takes::<CallToExplain>()
            .gives::<shapes::Explanation>(200, "What would happen, and why."),
        Door::new(Method::Get, "/v1/standing-approvals", "standing_approval.list", read, get(list))
            .about("approval", "Lists the answers that stand for later calls, newest first.")
            .gives::<shapes::StandingApprovalPage>(200, "All of them."),
        Door::new(
            Method::Delete,
            "/v1/standing-approvals/{id}",
            "standing_approval.revoke",
            Guard::Needs(Right::Decide),
            delete(forget),
        )
        .about("approval", "Takes an answer back: what it covered is asked about again.")
        .gives_nothing(204, "It does not stand any more."),
    ]
}

/// A policy to bring into force.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PolicyToSet {
    /// What is permitted from now on: the whole of it. What is left out has its default.
    policy: PolicyDocument,
    /// Set it only if the policy still stands at this version.
    #[serde(default)]
    version: Option<u64>,
}

/// A call to ask about.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CallToExplain {
    /// A capability's name.
    capability: String,
    /// Its arguments.
    #[serde(default)]
    input: Map<String, Value>,
    /// Where it would come from: an agent, unless told.
    #[serde(default)]
    surface: Option<Surface>,
    /// By whose authority: your own role, unless told.
    #[serde(default)]
    role: Option<Role>,
    /// In which mode the turn would be: `act`, unless told.
    #[serde(default)]
    mode: Mode,
}

async fn show(State(app): State<App>, Who(caller): Who) -> Result<Json<PolicyInForce>, Problem> {
    Ok(Json(app.commands().await?.policy(&caller).await?))
}

async fn set(
    State(app): State<App>,
    Who(caller): Who,
    Body(PolicyToSet { policy, version }): Body<PolicyToSet>,
) -> Result<Json<PolicyInForce>, Problem> {
    Ok(Json(app.commands().await?.set_policy(&caller, policy, version).await?))
}

async fn explain(
    State(app): State<App>,
    Who(caller): Who,
    Body(call): Body<CallToExplain>,
) -> Result<Json<Explained>, Problem> {
    let CallToExplain { capability, input, surface, role, mode } = call;
    let surface = surface.unwrap_or(Surface::Agent);
    let asked = WhatIf { capability, input: Value::Object(input), surface, role, mode };
    Ok(Json(app.commands().await?.explain_policy(&caller, asked).await?))
}

async fn list(State(app): State<App>, Who(caller): Who) -> Result<Json<Paged<StandingApproval>>, Problem> {
    Ok(Json(Paged { items: app.commands().await?.standing_approvals(&caller).await?, next_cursor: None }))
}

async fn forget(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<StandingApprovalId>,
) -> Result<StatusCode, Problem> {
    app.commands().await?.forget_standing_approval(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
