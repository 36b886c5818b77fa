//! What a process knows may be old: nothing is committed on it, and what was answered meanwhile is not overlooked.

use chrono::Utc;
use oxagen_commands::{AdvanceTurn, Answer, AskedCall, Code, Context, Known, RequestCall, StepAnswer};
use oxagen_domain::policy::{Policy, PolicyCommand, PolicyDocument};
use oxagen_domain::reaction::Reaction;
use oxagen_domain::tool_call::{Place, ToolCall};
use oxagen_domain::turn::{Next, StepResult, Turn, Usage};
use oxagen_domain::{CallId, Decision, Entity, EventKind, RunnerId, TurnId};
use oxagen_journal::NewEvent;
use serde_json::json;
use uuid::Uuid;

use crate::base::{Base, message, python};

/// Brings a policy into force through the second instance, behind the first one's back.
async fn set_policy(base: &Base, document: PolicyDocument) {
    let (journal, id) = (base.second.journal(), base.owner.scope.workspace.to_string());
    let policy = journal.load::<Policy>(&id).await.unwrap();
    let events = policy.state.decide(PolicyCommand::Set(document)).unwrap();
    let event = NewEvent {
        aggregate_type: "policy",
        aggregate_id: id,
        version: policy.version + 1,
        kind: events[0].kind(),
        form: events[0].version(),
        payload: serde_json::to_value(&events[0]).unwrap(),
        metadata: oxagen_domain::Metadata {
            scope: base.owner.scope,
            conversation: None,
            turn: None,
            actor: oxagen_domain::Actor::system("test"),
            causation: Uuid::now_v7(),
            correlation: Uuid::now_v7(),
            traceparent: None,
            occurred_at: Utc::now(),
        },
    };
    journal.append(vec![event], &[]).await.unwrap();
}

#[tokio::test]
async fn a_policy_that_changed_elsewhere_is_judged_by_at_once() {
    let base = Base::new().await;
    let code = || async { base.commands.request_call(&base.owner, python("deny")).await };
    assert_eq!(code().await.unwrap().status, "held");
    set_policy(&base, PolicyDocument::default()).await;
    assert_eq!(code().await.unwrap_err().code, Code::DeniedByPolicy);
    let list =
        RequestCall { capability: "agent.tool.list".to_owned(), input: json!({}), idempotency_key: None };
    assert_eq!(base.commands.request_call(&base.owner, list).await.unwrap().status, "cleared");
}

/// A turn of the first instance whose only call is held, and the call.
async fn held(base: &Base) -> (AdvanceTurn, CallId) {
    let receipt = base.commands.start_turn(&base.owner, message("hello")).await.unwrap();
    let (turn, runner, known) = (receipt.turn_id, RunnerId(Uuid::now_v7()), Known::default());
    let context =
        Context::own(base.owner.scope, "test", turn.0).within(Some(receipt.conversation_id), Some(turn));
    let claim = base.commands.claim_turn(&context, turn, runner, &known).await.unwrap();
    assert!(claim.begun.is_some(), "the first step begins with the claim");
    let to = AdvanceTurn { context, turn, runner, epoch: claim.epoch, known };
    let call = CallId::of_step(turn, 1, 0);
    let asked = AskedCall {
        call_id: call,
        name: "agent.code.execute".to_owned(),
        input: Ok(python("deny").input),
        place: Some(Place {
            conversation_id: receipt.conversation_id,
            turn_id: turn,
            message_id: receipt.message_id,
            step: 1,
            provider_call_id: "one".to_owned(),
        }),
    };
    let answer = StepAnswer { result: result(), calls: vec![(asked, "one".to_owned())] };
    let planned = base.commands.complete_step(&to, answer).await.unwrap();
    assert!(planned[0].approval.is_some());
    (to, call)
}

fn result() -> StepResult {
    StepResult {
        text: "done".to_owned(),
        reasoning: String::new(),
        calls: vec![],
        finish: "stop".to_owned(),
        model: "test".to_owned(),
        usage: Usage::default(),
    }
}

fn turn(to: &AdvanceTurn) -> oxagen_journal::Loaded<Turn> {
    to.known.recall::<Turn>(&to.turn.to_string()).unwrap()
}

#[tokio::test]
async fn an_answer_given_elsewhere_is_not_overlooked_by_who_is_about_to_pause() {
    let base = Base::new().await;
    let (to, call) = held(&base).await;
    let version = turn(&to).version;
    assert!(to.known.recall::<ToolCall>(&call.to_string()).unwrap().state.is_held());

    let approval = oxagen_domain::ApprovalId::of_call(call);
    let answer = Answer::plain(Decision::Approve, None);
    base.second.resolve_approval(&base.owner, approval, answer).await.unwrap();
    for reaction in [
        Reaction::ClearCall { call, approval, edited: None },
        Reaction::AnswerTurn { turn: to.turn, cause: Uuid::now_v7() },
    ] {
        base.second.react(&to.context, &reaction).await.unwrap();
    }
    assert!(!base.commands.pause_turn(&to, version, vec![call]).await.unwrap(), "it paused on what it knew");
    // With the turn the call is forgotten: it would still be known as held.
    assert!(to.known.recall::<ToolCall>(&call.to_string()).is_none());
    assert!(to.known.recall::<Turn>(&to.turn.to_string()).is_none());
}

#[tokio::test]
async fn an_answer_without_calls_ends_the_turn_and_a_cancel_elsewhere_is_seen() {
    let base = Base::new().await;
    let start = |text: &'static str| {
        let base = &base;
        async move {
            let receipt = base.commands.start_turn(&base.owner, message(text)).await.unwrap();
            let (turn, runner, known) = (receipt.turn_id, RunnerId(Uuid::now_v7()), Known::default());
            let context = Context::own(base.owner.scope, "test", turn.0);
            let claim = base.commands.claim_turn(&context, turn, runner, &known).await.unwrap();
            AdvanceTurn { context, turn, runner, epoch: claim.epoch, known }
        }
    };
    let stored = |turn: TurnId| {
        let base = &base;
        async move { base.second.journal().load::<Turn>(&turn.to_string()).await.unwrap().state }
    };
    let to = start("one").await;
    base.commands.complete_step(&to, StepAnswer { result: result(), calls: vec![] }).await.unwrap();
    assert!(stored(to.turn).await.phase.is_ended());
    assert_eq!(turn(&to).state, stored(to.turn).await);

    let to = start("two").await;
    base.second.cancel_turn(&base.owner, to.turn, "enough".to_owned()).await.unwrap();
    base.commands.complete_step(&to, StepAnswer { result: result(), calls: vec![] }).await.unwrap();
    assert_eq!(turn(&to).state.next(&[], Utc::now()), Next::Cancel);
}
