use chrono::DateTime;
use oxagen_domain::{Actor, ConversationId, TenantId, TurnId, WorkspaceId};
use uuid::Uuid;

use super::*;

fn fact(kind: &str, payload: Value) -> Fact {
    let (aggregate_type, _) = kind.split_once('.').unwrap();
    Fact {
        seq: 7,
        event_id: Uuid::from_u128(1),
        kind: kind.to_owned(),
        version: 1,
        aggregate_type: aggregate_type.to_owned(),
        aggregate_id: Uuid::from_u128(9).to_string(),
        aggregate_version: 3,
        tenant_id: TenantId::default(),
        workspace_id: WorkspaceId::default(),
        conversation_id: Some(ConversationId(Uuid::from_u128(2))),
        turn_id: Some(TurnId(Uuid::from_u128(3))),
        actor: Actor::system("test"),
        causation_id: Uuid::nil(),
        correlation_id: Uuid::nil(),
        traceparent: None,
        occurred_at: DateTime::UNIX_EPOCH,
        payload,
    }
}

fn id(n: u128) -> String {
    Uuid::from_u128(n).to_string()
}

fn name(kind: &str, payload: Value) -> &'static str {
    show(&fact(kind, payload)).0
}

fn record(status: &str, error_code: Option<&str>) -> Value {
    let mut record = json!({
        "executionId": id(5), "capability": "agent.code.execute", "toolVersionId": id(6), "surface": "agent",
        "effect": "external", "riskLevel": "high", "status": status, "attempt": 1, "policyRule": "asks_approval",
        "requestedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:01Z", "latencyMs": 12,
        "inputBytes": 1, "outputBytes": 2,
    });
    if let Some(code) = error_code {
        record["errorCode"] = json!(code);
    }
    record
}

#[test]
fn turns_are_named_as_screens_know_them() {
    let usage = json!({"inputTokens": 1, "outputTokens": 2});
    assert_eq!(name("turn.started", json!({"at": "2026-01-01T00:00:00Z"})), "turn-started");
    assert_eq!(name("turn.paused", json!({"pause": 1, "waiting": []})), "turn-paused");
    assert_eq!(name("turn.resumed", json!({"cause": id(1)})), "turn-resumed");
    let (name, data) = show(&fact("turn.completed", json!({"messageId": id(4), "usage": usage})));
    assert_eq!(
        (name, &data["messageId"], &data["usage"]["outputTokens"]),
        ("turn-completed", &json!(id(4)), &json!(2))
    );
    assert_eq!((&data["seq"], &data["type"]), (&json!(7), &json!("turn.completed")));
    let failed = json!({"messageId": id(4), "code": "budget_steps", "message": "over", "usage": usage});
    assert_eq!(show(&fact("turn.failed", failed)).1["error"]["code"], "budget_steps");
}

#[test]
fn only_a_second_attempt_resets() {
    assert_eq!(name("turn.step_started", json!({"step": 1, "attempt": 1})), "fact");
    assert_eq!(name("turn.step_started", json!({"step": 1, "attempt": 2})), "step-reset");
    assert_eq!(name("turn.taken_over", json!({"runnerId": id(1), "epoch": 2})), "step-reset");
    let started = |attempt: u32| json!({"attempt": attempt, "runnerId": id(1), "at": "2026-01-01T00:00:00Z"});
    assert_eq!(name("tool_call.started", started(1)), "fact");
    assert_eq!(name("tool_call.started", started(2)), "step-reset");
}

#[test]
fn an_approval_shows_what_is_asked() {
    let question = json!({"question": {
        "approvalId": id(9), "callId": id(8), "executionStepId": id(7), "capability": "agent.code.execute",
        "input": {"inline": {"code": "1"}}, "inputDigest": "ab", "risk": "high", "rule": "asks_approval",
        "requestedBy": id(6), "expiresAt": "2026-01-01T00:00:00Z",
    }});
    let (name, data) = show(&fact("approval.requested", question));
    assert_eq!(name, "approval-required");
    for field in ["approvalId", "callId", "capability", "input", "risk", "expiresAt"] {
        assert!(data.get(field).is_some(), "{field} in {data}");
    }
    assert_eq!(data["input"], json!({"code": "1"}));
    let denied =
        json!({"callId": id(8), "by": id(6), "at": "2026-01-01T00:00:00Z", "note": "wait for Friday"});
    let (name, data) = show(&fact("approval.denied", denied));
    assert_eq!((name, &data["note"]), ("approval-resolved", &json!("wait for Friday")));
    assert_eq!((&data["approvalId"], &data["resolution"]), (&json!(id(9)), &json!("denied")));
}

#[test]
fn a_call_ends_with_output_or_error() {
    let completed = json!({"output": {"inline": {"stdout": "hi"}}, "record": record("completed", None)});
    let (name, data) = show(&fact("tool_call.completed", completed));
    assert_eq!(
        (name, &data["callId"], &data["status"]),
        ("tool-call-end", &json!(id(9)), &json!("completed"))
    );
    assert_eq!((&data["output"]["stdout"], &data["latencyMs"]), (&json!("hi"), &json!(12)));
    assert!(data.get("error").is_none());
    let refused = json!({"by": "person", "userId": id(6), "note": "wait for Friday"});
    let denied = json!({"refused": refused, "record": record("denied", Some("denied_by_person"))});
    let (_, data) = show(&fact("tool_call.denied", denied));
    assert_eq!(data["error"], json!({"code": "denied_by_person", "message": "wait for Friday"}));
}

#[test]
fn what_this_build_does_not_know_is_sent_as_it_is() {
    let (name, data) = show(&fact("plan.created", json!({"title": "x"})));
    assert_eq!((name, &data["payload"]["title"]), ("fact", &json!("x")));
    assert_eq!(name_of_broken(), "fact");
}

fn name_of_broken() -> &'static str {
    name("turn.completed", json!({"messageId": 5}))
}

#[test]
fn a_plan_is_shown_as_it_is_proposed_and_how_it_was_answered() {
    let step = json!({"id": "a", "summary": "Do it."});
    let spec = json!({
        "planId": id(9), "callId": id(4), "turnId": id(3), "conversationId": id(2), "title": "One thing",
        "requestedBy": id(5),
    });
    let proposed = json!({"spec": spec, "steps": [step], "at": "2026-01-01T00:00:00Z"});
    let (name, data) = show(&fact("plan.proposed", proposed));
    assert_eq!((name, &data["planId"], &data["planVersion"]), ("plan-proposed", &json!(id(9)), &json!(1)));
    assert_eq!((&data["title"], &data["steps"][0]["id"]), (&json!("One thing"), &json!("a")));
    let amended =
        json!({"version": 2, "steps": [step], "kept": {}, "by": id(5), "at": "2026-01-01T00:00:00Z"});
    assert_eq!(show(&fact("plan.amended", amended)).1["planVersion"], 2);
    let answer =
        json!({"version": 2, "callId": id(4), "by": id(5), "at": "2026-01-01T00:00:00Z", "note": "no"});
    let (name, data) = show(&fact("plan.rejected", answer));
    assert_eq!(
        (name, &data["resolution"], &data["note"]),
        ("plan-resolved", &json!("rejected"), &json!("no"))
    );
    assert_eq!(name_of_step(), FACT);
}

fn name_of_step() -> &'static str {
    name("plan.step_started", json!({"version": 1, "stepId": "a", "callId": id(4)}))
}
