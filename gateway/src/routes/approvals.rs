//! The approval inbox: list, answer one, answer many.

use axum::Json;
use axum::extract::State;
use axum::routing::{get, post};
use oxagen_commands::{Answer, ApprovalReceipt, Remember};
use oxagen_domain::policy::Condition;
use oxagen_domain::{ApprovalId, Decision, Right};
use oxagen_projections::{ApprovalRow, Page, Paged};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::shapes;
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Asked, Body, Id};
use crate::state::App;

/// Answers in one request at most.
const MANY: usize = 100;

pub(super) fn doors() -> Vec<Door> {
    let decide = Guard::Needs(Right::Decide);
    vec![
        Door::new(Method::Get, "/v1/approvals", "agent.approval.list", Guard::Needs(Right::Read), get(list))
            .about("approval", "")
            .query::<Status>("status", "`open` for those that wait for an answer; nothing for all.")
            .paged()
            .gives::<shapes::ApprovalPage>(200, "A page, soonest expiry first."),
        Door::new(
            Method::Post,
            "/v1/approvals/{id}/resolve",
            "agent.approval.resolve",
            decide,
            post(resolve),
        )
        .about("approval", "")
        .takes::<Resolve>()
        .gives::<shapes::ApprovalReceipt>(200, "The answer counts; a repeat of it gets the same receipt."),
        Door::new(Method::Post, "/v1/approvals/resolve", "approval.resolve_many", decide, post(resolve_many))
            .about("approval", "Answers several approvals, each on its own: one refusal stops no other.")
            .takes::<ResolveMany>()
            .gives::<shapes::ApprovalReceipts>(200, "What came of each."),
    ]
}

/// Which approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Status {
    /// Those that wait for an answer.
    Open,
}

#[derive(Debug, Default, Deserialize)]
struct Inbox {
    status: Option<Status>,
    limit: Option<u32>,
    cursor: Option<String>,
}

/// An answer. Who answers comes from the key, never from the body.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resolve {
    /// What.
    decision: Decision,
    /// In your words, for the model to read: at most 4,000 characters.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    note: Option<String>,
    /// What the call is to run with instead. It is validated and judged as if it had been asked for.
    #[serde(default)]
    edited_input: Option<Map<String, Value>>,
    /// Let the answer stand for later calls, too: `true` for the very same arguments, or a pattern.
    #[serde(default)]
    remember: Option<ToRemember>,
}

/// Several answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResolveMany {
    /// 1 to 100 answers.
    #[schemars(length(min = 1, max = 100))]
    answers: Vec<ResolveOne>,
}

/// One of several answers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResolveOne {
    /// The approval.
    approval_id: ApprovalId,
    /// What.
    decision: Decision,
    /// In your words: at most 4,000 characters.
    #[serde(default)]
    #[schemars(length(max = 4000))]
    note: Option<String>,
    /// What the call is to run with instead.
    #[serde(default)]
    edited_input: Option<Map<String, Value>>,
    /// Let the answer stand for later calls, too.
    #[serde(default)]
    remember: Option<ToRemember>,
}

/// Which later calls an answer stands for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum ToRemember {
    /// The very same arguments (`true`).
    Exact(bool),
    /// A pattern.
    Pattern(PatternToRemember),
}

/// A pattern, which must cover the call that is approved.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct PatternToRemember {
    /// Which capabilities, such as `agent.code.*`; the call's own unless told.
    #[serde(default)]
    capability: Option<String>,
    /// What must hold of the arguments; none means any arguments.
    #[serde(default)]
    when: Vec<Condition>,
}

impl From<ToRemember> for Option<Remember> {
    fn from(wanted: ToRemember) -> Self {
        match wanted {
            ToRemember::Exact(wanted) => wanted.then_some(Remember::Exact),
            ToRemember::Pattern(PatternToRemember { capability, when }) => {
                Some(Remember::Pattern { capability, when })
            }
        }
    }
}

impl From<Resolve> for Answer {
    fn from(Resolve { decision, note, edited_input, remember }: Resolve) -> Self {
        let edited_input = edited_input.map(Value::Object);
        Self { decision, note, edited_input, remember: remember.and_then(Into::into) }
    }
}

async fn list(
    State(app): State<App>,
    Who(caller): Who,
    Asked(inbox): Asked<Inbox>,
) -> Result<Json<Paged<ApprovalRow>>, Problem> {
    let page = Page { limit: inbox.limit.unwrap_or(Page::default().limit), cursor: inbox.cursor };
    Ok(Json(app.views().await?.approvals(caller.scope, inbox.status == Some(Status::Open), page).await?))
}

async fn resolve(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<ApprovalId>,
    Body(answer): Body<Resolve>,
) -> Result<Json<ApprovalReceipt>, Problem> {
    Ok(Json(app.commands().await?.resolve_approval(&caller, id, answer.into()).await?))
}

async fn resolve_many(
    State(app): State<App>,
    Who(caller): Who,
    Body(ResolveMany { answers }): Body<ResolveMany>,
) -> Result<Json<Value>, Problem> {
    if answers.is_empty() || answers.len() > MANY {
        return Err(Problem::invalid("/answers", format!("1 to {MANY} answers, not {}", answers.len())));
    }
    let mut items = Vec::with_capacity(answers.len());
    for ResolveOne { approval_id, decision, note, edited_input, remember } in answers {
        let answer = Resolve { decision, note, edited_input, remember };
        // Those before it count, so not even a turn that does not come is a refusal of all of them.
        let answered = async {
            Ok::<_, Problem>(
                app.commands().await?.resolve_approval(&caller, approval_id, answer.into()).await?,
            )
        };
        items.push(match answered.await {
            Ok(receipt) => json!({"approvalId": approval_id, "receipt": receipt}),
            Err(problem) => json!({"approvalId": approval_id, "problem": problem.into_logged_body()}),
        });
    }
    Ok(Json(json!({ "items": items })))
}
