//! The ledger of a call as runners write it: attempts, fencing, doubt.

use oxagen_commands::{Answer, CallEnd, CallStart, Context, Known, StartedCall};
use oxagen_domain::reaction::Reaction;
use oxagen_domain::tool_call::{CallStatus, Standing, ToolCall};
use oxagen_domain::{CallId, Decision, RunnerId};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::base::{Base, python};

/// A call that was held and approved, and whose reaction was carried out twice.
async fn approved(base: &Base, network: &str) -> CallId {
    let receipt = base.commands.request_call(&base.owner, python(network)).await.unwrap();
    let (call, approval) = (receipt.call_id, receipt.approval_id.unwrap());
    let answer = Answer::plain(Decision::Approve, None);
    base.commands.resolve_approval(&base.owner, approval, answer).await.unwrap();
    for _ in 0..2 {
        base.commands
            .react(&context(base), &Reaction::ClearCall { call, approval, edited: None })
            .await
            .unwrap();
    }
    call
}

fn context(base: &Base) -> Context {
    Context::own(base.owner.scope, "test", Uuid::now_v7())
}

async fn start(base: &Base, call: CallId) -> Option<StartedCall> {
    let (runner, known) = (RunnerId(Uuid::now_v7()), Known::default());
    let start = CallStart { call, runner, turn: None, context: context(base), known };
    base.commands.start_call(&start).await.unwrap()
}

async fn finish(base: &Base, call: CallId, attempt: u32, output: Value) -> Result<(), bool> {
    let end = CallEnd { call, attempt, context: context(base), known: Known::default() };
    let finished = base.commands.finish_call(&end, Ok(output)).await;
    finished.map_err(|error| error.fenced)
}

async fn standing(base: &Base, call: CallId) -> Standing {
    base.commands.journal().load::<ToolCall>(&call.to_string()).await.unwrap().state.standing
}

#[tokio::test]
async fn without_network_a_dead_runners_call_runs_again_and_the_dead_attempt_is_fenced() {
    let base = Base::new().await;
    let call = approved(&base, "deny").await;
    let first = start(&base, call).await.unwrap();
    let second = start(&base, call).await.unwrap();
    assert_eq!((first.attempt, second.attempt), (1, 2));
    assert_eq!(finish(&base, call, 1, json!({})).await, Err(true));
    assert_eq!(finish(&base, call, 2, json!({})).await, Ok(()));
    assert_eq!(standing(&base, call).await, Standing::Ended(CallStatus::Completed));
}

#[tokio::test]
async fn with_network_it_is_in_doubt_until_the_late_result_settles_it() {
    let base = Base::new().await;
    let call = approved(&base, "allow").await;
    assert_eq!(start(&base, call).await.unwrap().attempt, 1);
    assert!(start(&base, call).await.is_none());
    assert_eq!(standing(&base, call).await, Standing::Ended(CallStatus::InDoubt));
    assert_eq!(finish(&base, call, 1, json!({"exitCode": 0})).await, Ok(()));
    assert_eq!(standing(&base, call).await, Standing::Ended(CallStatus::Completed));
}

#[tokio::test]
async fn f09_a_large_result_is_stored_and_the_model_is_told_its_ends() {
    let base = Base::new().await;
    let call = approved(&base, "deny").await;
    let started = start(&base, call).await.unwrap();
    let output = json!({"stdout": "🦉".repeat(300_000)});
    finish(&base, call, started.attempt, output.clone()).await.unwrap();
    let told = base.commands.journal().load::<ToolCall>(&call.to_string()).await.unwrap().state.told.unwrap();
    assert!(told.len() < 20_000 && told.contains("are left out here"));
    let digest = told.split("object ").nth(1).unwrap().split(' ').next().unwrap();
    let digest = oxagen_domain::Digest::parse(digest).unwrap();
    let stored = base.commands.journal().object(base.owner.scope.tenant, &digest).await.unwrap().unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&stored).unwrap(), output);
}
