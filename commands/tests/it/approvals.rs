//! Answers to approvals: one decision, whoever comes when.

use futures::future::join_all;
use oxagen_commands::{Answer, CallStart, Code, Context, Known};
use oxagen_domain::reaction::Reaction;
use oxagen_domain::tool_call::{CallStatus, Standing, ToolCall};
use oxagen_domain::{ApprovalId, Decision, RunnerId};
use sqlx::Connection;
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use crate::base::{Base, python, workspace};

fn answer(decision: Decision) -> Answer {
    Answer::plain(decision, Some("because".to_owned()))
}

async fn held(base: &Base) -> ApprovalId {
    let receipt = base.commands.request_call(&base.owner, python("deny")).await.unwrap();
    assert_eq!(receipt.status, "held");
    receipt.approval_id.unwrap()
}

#[tokio::test]
async fn f11_twenty_approvals_at_once_are_one_decision_with_one_receipt() {
    let base = Base::new().await;
    let id = held(&base).await;
    let answers = (0..20).map(|_| base.commands.resolve_approval(&base.owner, id, answer(Decision::Approve)));
    let receipts: Vec<_> = join_all(answers).await.into_iter().map(Result::unwrap).collect();
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]));
}

#[tokio::test]
async fn f11_approve_and_deny_at_once_leave_one_decision_and_a_conflict_that_names_it() {
    let base = Base::new().await;
    let id = held(&base).await;
    let (yes, no) = futures::join!(
        base.commands.resolve_approval(&base.owner, id, answer(Decision::Approve)),
        base.second.resolve_approval(&base.owner, id, answer(Decision::Deny)),
    );
    let refused = match (yes, no) {
        (Ok(_), Err(refused)) | (Err(refused), Ok(_)) => refused,
        both => panic!("exactly one must count: {both:?}"),
    };
    assert_eq!(refused.code, Code::ApprovalClosed);
    assert!(refused.detail.unwrap()["resolvedAt"].is_string());
}

#[tokio::test]
async fn an_approval_of_another_workspace_does_not_exist() {
    let base = Base::new().await;
    let id = held(&base).await;
    let stranger = workspace(&base.commands).await;
    let refused = base.commands.resolve_approval(&stranger, id, answer(Decision::Approve)).await.unwrap_err();
    assert_eq!(refused.code, Code::NotFound);
}

/// The tool was another one when the person saw it: as if its program had been replaced since.
#[tokio::test]
async fn f13_a_tool_that_has_changed_since_its_approval_is_refused() {
    let base = Base::new().await;
    let receipt = base.commands.request_call(&base.owner, python("deny")).await.unwrap();
    let (call, approval) = (receipt.call_id, receipt.approval_id.unwrap());
    base.commands.resolve_approval(&base.owner, approval, answer(Decision::Approve)).await.unwrap();
    let context = Context::own(base.owner.scope, "test", Uuid::now_v7());
    base.commands.react(&context, &Reaction::ClearCall { call, approval, edited: None }).await.unwrap();
    let other = format!(
        "update journal.events set payload = jsonb_set(payload::jsonb, '{{spec,toolVersionId}}', '\"{}\"')
         where aggregate_id = '{call}' and event_type = 'tool_call.requested'",
        Uuid::now_v7()
    );
    let mut journal = PgConnection::connect(&base.url).await.unwrap();
    assert_eq!(sqlx::query(&other).execute(&mut journal).await.unwrap().rows_affected(), 1);

    let runner = RunnerId(Uuid::now_v7());
    let start = CallStart { call, runner, turn: None, context, known: Known::default() };
    assert!(base.commands.start_call(&start).await.unwrap().is_none());
    let ended = base.commands.journal().load::<ToolCall>(&call.to_string()).await.unwrap().state;
    assert_eq!(ended.standing, Standing::Ended(CallStatus::Denied));
    let sql = "select payload -> 'record' ->> 'policyRule' from journal.events where event_type = 'tool_call.denied'";
    let rule: String = sqlx::query_scalar(sql).fetch_one(&mut journal).await.unwrap();
    assert_eq!(rule, "tool_changed");
}
