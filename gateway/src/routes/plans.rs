//! Plans: list them, read one, answer one.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use oxagen_commands::{PlanDecision, PlanReceipt, ResolvePlan};
use oxagen_domain::plan::{Plan, PlanStep};
use oxagen_domain::{PlanId, Right};
use oxagen_projections::{Page, Paged, PlanRow};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::shapes;
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Asked, Body, Id};
use crate::state::App;

pub(super) fn doors() -> Vec<Door> {
    vec![
        Door::new(Method::Get, "/v1/plans", "plan.list", Guard::Needs(Right::Read), get(list))
            .about("plan", "Lists the plans of the workspace, newest first.")
            .query::<Wanted>("status", "`proposed` for those that want an answer; nothing for all.")
            .paged()
            .gives::<shapes::PlanPage>(200, "A page."),
        Door::new(Method::Get, "/v1/plans/{id}", "agent.plan.read", Guard::Needs(Right::Read), get(read))
            .about("plan", "")
            .gives::<shapes::Plan>(200, "The plan as it stands."),
        Door::new(
            Method::Post,
            "/v1/plans/{id}/resolve",
            "agent.plan.resolve",
            Guard::Needs(Right::Decide),
            post(resolve),
        )
        .about("plan", "")
        .takes::<PlanToResolve>()
        .gives::<shapes::PlanReceipt>(200, "The answer counts; a repeat of it gets the same receipt."),
    ]
}

/// Which plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    /// Those that want an answer.
    Proposed,
}

#[derive(Debug, Default, Deserialize)]
struct Listed {
    status: Option<Wanted>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// What a person says to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PlanAnswer {
    /// Do it: its calls are granted.
    Approve,
    /// Do not.
    Reject,
    /// Do this instead: a new version, which wants an answer again.
    Amend,
}

/// An answer. Who answers comes from the key, never from the body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PlanToResolve {
    /// What.
    decision: PlanAnswer,
    /// The version that you saw: the answer counts only if no other does by now. Without it, the one that counts.
    #[serde(default)]
    version: Option<u32>,
    /// In your words, for the model to read: at most 4,000 characters.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    note: Option<String>,
    /// The steps from now on, for `amend`: 1 to 50.
    #[serde(default)]
    #[schemars(length(min = 1, max = 50))]
    amended_steps: Option<Vec<PlanStep>>,
}

async fn list(
    State(app): State<App>,
    Who(caller): Who,
    Asked(Listed { status, limit, cursor }): Asked<Listed>,
) -> Result<Json<Paged<PlanRow>>, Problem> {
    let page = Page { limit: limit.unwrap_or(Page::default().limit), cursor };
    Ok(Json(app.views().await?.plans(caller.scope, status == Some(Wanted::Proposed), page).await?))
}

/// From the plan itself and not from its view, so that it is there as soon as it was proposed.
async fn read(State(app): State<App>, Who(caller): Who, Id(id): Id<PlanId>) -> Result<Json<Value>, Problem> {
    let loaded = app.history().await?.load::<Plan>(&id.to_string()).await?;
    let own = loaded.scope == Some(caller.scope);
    own.then(|| show(&loaded.state)).flatten().map(Json).ok_or_else(|| Problem::not_found("plan"))
}

fn show(plan: &Plan) -> Option<Value> {
    let spec = plan.spec.as_ref()?;
    let steps: Vec<Value> = plan.steps.iter().map(|step| show_step(plan, step)).collect();
    let mut shown = json!({
        "planId": spec.plan_id, "conversationId": spec.conversation_id, "turnId": spec.turn_id,
        "callId": spec.call_id, "title": spec.title, "version": plan.version, "status": plan.status, "steps": steps,
        "requestedBy": spec.requested_by, "proposedAt": plan.proposed_at, "needed": spec.terms.needed,
        "given": plan.given(),
    });
    if let Some(expires_at) = plan.expires_at {
        shown["expiresAt"] = json!(expires_at);
    }
    if let Some(rationale) = &spec.rationale {
        shown["rationale"] = json!(rationale);
    }
    if let Some(answer) = &plan.answer {
        shown["resolvedBy"] = json!(answer.by);
        shown["resolvedAt"] = json!(answer.at);
        if let Some(note) = &answer.note {
            shown["note"] = json!(note);
        }
    }
    Some(shown)
}

fn show_step(plan: &Plan, step: &PlanStep) -> Value {
    let mut shown = match serde_json::to_value(step) {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => Map::new(),
    };
    shown.insert("status".to_owned(), json!(plan.status_of(&step.id)));
    if let Some(used) = plan.uses.get(&step.id) {
        shown.insert("callId".to_owned(), json!(used.call_id));
    }
    Value::Object(shown)
}

async fn resolve(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<PlanId>,
    Body(PlanToResolve { decision, version, note, amended_steps }): Body<PlanToResolve>,
) -> Result<Json<PlanReceipt>, Problem> {
    let decision = match (decision, amended_steps) {
        (PlanAnswer::Approve, None) => PlanDecision::Approve,
        (PlanAnswer::Reject, None) => PlanDecision::Reject,
        (PlanAnswer::Amend, Some(steps)) => PlanDecision::Amend(steps),
        (PlanAnswer::Amend, None) => {
            return Err(Problem::invalid("/amendedSteps", "amend needs the steps from now on"));
        }
        (PlanAnswer::Approve | PlanAnswer::Reject, Some(_)) => {
            return Err(Problem::invalid("/amendedSteps", "only `amend` takes steps"));
        }
    };
    Ok(Json(app.commands().await?.resolve_plan(&caller, id, ResolvePlan { decision, version, note }).await?))
}
