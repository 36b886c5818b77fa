use chrono::DateTime;
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::ids::{TenantId, WorkspaceId};
use crate::metadata::Actor;

fn fact(kind: &str, (aggregate, turn): (u128, u128), payload: Value) -> Fact {
    Fact {
        seq: 1,
        event_id: Uuid::nil(),
        kind: kind.to_owned(),
        version: 1,
        aggregate_type: kind.split('.').next().unwrap().to_owned(),
        aggregate_id: Uuid::from_u128(aggregate).to_string(),
        aggregate_version: 1,
        tenant_id: TenantId::default(),
        workspace_id: WorkspaceId::default(),
        conversation_id: None,
        turn_id: Some(TurnId(Uuid::from_u128(turn))),
        actor: Actor::system("test"),
        causation_id: Uuid::nil(),
        correlation_id: Uuid::nil(),
        traceparent: None,
        occurred_at: DateTime::UNIX_EPOCH,
        payload,
    }
}

/// A person's message `n`, answered by message `n + 100` in turn `n + 1000`.
fn said(n: u128, parent: Option<u128>) -> Fact {
    let id = |n| Uuid::from_u128(n);
    let mut message = json!({
        "messageId": id(n), "text": format!("message {n}"),
        "turnId": id(n + 1000), "assistantMessageId": id(n + 100),
    });
    if let Some(parent) = parent {
        message["parentMessageId"] = json!(id(parent));
    }
    fact("conversation.message_added", (7, n + 1000), json!({"message": message, "queued": false}))
}

fn answered(n: u128, step: u32, calls: &[u128]) -> Fact {
    let calls: Vec<_> = calls
        .iter()
        .map(|call| json!({"callId": Uuid::from_u128(*call), "name": "tool", "providerCallId": format!("p{call}")}))
        .collect();
    let result = json!({
        "text": format!("answer {n}/{step}"), "calls": calls, "finish": "stop", "model": "m",
        "usage": {"inputTokens": 1, "outputTokens": 1},
    });
    fact("turn.step_completed", (n + 1000, n + 1000), json!({"step": step, "attempt": 1, "result": result}))
}

fn told(facts: &[Fact], upto: u128) -> Vec<String> {
    let mut transcript = Transcript::default();
    facts.iter().for_each(|fact| transcript.take(fact).unwrap());
    let entries = transcript.up_to(MessageId(Uuid::from_u128(upto)));
    let short = |entry| match entry {
        Entry::User { text } => text,
        Entry::Assistant { text, calls, .. } => format!("{text} +{}", calls.len()),
        Entry::Tool { provider_call_id, content } => format!("{provider_call_id}: {content}"),
    };
    entries.into_iter().map(short).collect()
}

#[test]
fn a_branch_sees_only_its_own_way() {
    let facts =
        [said(1, None), answered(1, 1, &[]), said(2, Some(101)), answered(2, 1, &[]), said(3, Some(101))];
    assert_eq!(told(&facts, 2), ["message 1", "answer 1/1 +0", "message 2", "answer 2/1 +0"]);
    assert_eq!(told(&facts, 3), ["message 1", "answer 1/1 +0", "message 3"]);
}

#[test]
fn each_call_has_one_result_whatever_happened() {
    let facts = [said(1, None), answered(1, 1, &[50]), answered(1, 2, &[])];
    let expected = ["message 1", "answer 1/1 +1", "p50: This call has no result yet.", "answer 1/2 +0"];
    assert_eq!(told(&facts, 1), expected);
}

#[test]
fn taking_in_the_same_twice_changes_nothing() {
    let facts = [said(1, None), answered(1, 1, &[50]), answered(1, 1, &[50])];
    assert_eq!(told(&facts, 1).len(), 3);
}
