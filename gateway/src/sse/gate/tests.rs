use oxagen_domain::{Actor, ConversationId, TenantId, WorkspaceId};
use serde_json::{Value, json};
use uuid::Uuid;

use super::*;

fn turn() -> TurnId {
    TurnId(Uuid::from_u128(3))
}

fn fact(kind: &str, version: u64, payload: Value) -> Fact {
    let (aggregate_type, _) = kind.split_once('.').unwrap();
    Fact {
        seq: version,
        event_id: Uuid::nil(),
        kind: kind.to_owned(),
        version: 1,
        aggregate_type: aggregate_type.to_owned(),
        aggregate_id: Uuid::from_u128(if aggregate_type == "turn" { 3 } else { 8 }).to_string(),
        aggregate_version: version,
        tenant_id: TenantId::default(),
        workspace_id: WorkspaceId::default(),
        conversation_id: Some(ConversationId::default()),
        turn_id: Some(turn()),
        actor: Actor::system("test"),
        causation_id: Uuid::nil(),
        correlation_id: Uuid::nil(),
        traceparent: None,
        occurred_at: chrono::DateTime::UNIX_EPOCH,
        payload,
    }
}

fn step(version: u64, step: u32, attempt: u32) -> Fact {
    fact("turn.step_started", version, json!({"step": step, "attempt": attempt}))
}

fn answered(version: u64, step: u32) -> Fact {
    let usage = json!({"inputTokens": 0, "outputTokens": 0});
    let result = json!({"text": "", "finish": "stop", "model": "m", "usage": usage});
    fact("turn.step_completed", version, json!({"step": step, "attempt": 1, "result": result}))
}

fn frame(version: u64, step: u32, attempt: u32, offset: u64, text: &str) -> Arc<Frame> {
    let kind = FrameKind::TextDelta { text: text.to_owned() };
    Arc::new(Frame {
        conversation_id: ConversationId::default(),
        turn_id: turn(),
        turn_version: version,
        step,
        attempt,
        offset,
        kind,
    })
}

fn started(version: u64, attempt: u32) -> Fact {
    let payload = json!({"attempt": attempt, "runnerId": Uuid::nil(), "at": "2026-01-01T00:00:00Z"});
    fact("tool_call.started", version, payload)
}

fn output(version: u64, attempt: u32, offset: u64, text: &str) -> Arc<Frame> {
    let call_id = CallId(Uuid::from_u128(8));
    let kind = FrameKind::ToolCallOutput { call_id, channel: Channel::Stdout, text: text.to_owned() };
    Arc::new(Frame { kind, ..(*frame(version, 1, attempt, offset, "")).clone() })
}

fn text(frame: Option<Arc<Frame>>) -> Option<String> {
    frame.map(|frame| frame.text().to_owned())
}

#[test]
fn a_frame_waits_for_its_fact() {
    let mut gate = Gate::default();
    assert!(gate.frame(frame(2, 1, 1, 0, "He")).is_none());
    assert!(gate.fact(&fact("turn.started", 1, json!({"at": "2026-01-01T00:00:00Z"}))).is_empty());
    let shown: Vec<_> = gate.fact(&step(2, 1, 1)).into_iter().map(|frame| frame.text().to_owned()).collect();
    assert_eq!(shown, ["He"]);
    assert_eq!(text(gate.frame(frame(2, 1, 1, 2, "llo"))).as_deref(), Some("llo"));
}

#[test]
fn text_that_is_a_fact_or_of_an_older_attempt_is_dropped() {
    let mut gate = Gate::default();
    gate.fact(&step(2, 1, 1));
    gate.fact(&step(3, 1, 2));
    assert!(gate.frame(frame(2, 1, 1, 0, "old")).is_none());
    assert_eq!(text(gate.frame(frame(3, 1, 2, 0, "new"))).as_deref(), Some("new"));
    gate.fact(&answered(4, 1));
    assert!(gate.frame(frame(3, 1, 2, 3, "late")).is_none());
}

#[test]
fn each_byte_is_shown_once() {
    let mut gate = Gate::default();
    gate.fact(&step(2, 1, 1));
    assert_eq!(text(gate.frame(frame(2, 1, 1, 0, "Grüß"))).as_deref(), Some("Grüß"));
    assert!(gate.frame(frame(2, 1, 1, 2, "üß")).is_none());
    assert_eq!(text(gate.frame(frame(2, 1, 1, 4, "ß dich"))).as_deref(), Some(" dich"));
}

#[test]
fn a_tool_prints_until_its_call_has_ended() {
    let mut gate = Gate::default();
    gate.fact(&step(2, 1, 1));
    gate.fact(&answered(3, 1));
    gate.fact(&started(3, 1));
    assert_eq!(text(gate.frame(output(3, 1, 0, "tick"))).as_deref(), Some("tick"));
    let record = json!({
        "executionId": Uuid::nil(), "capability": "c", "toolVersionId": Uuid::nil(), "surface": "agent",
        "effect": "read", "riskLevel": "low", "status": "cancelled", "attempt": 1, "policyRule": "r",
        "requestedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:00Z", "latencyMs": 0,
        "inputBytes": 0, "outputBytes": 0,
    });
    gate.fact(&fact("tool_call.cancelled", 4, json!({"reason": "x", "record": record})));
    assert!(gate.frame(output(3, 1, 4, "tock")).is_none());
}

#[test]
fn what_a_dead_runner_printed_is_withdrawn() {
    let mut gate = Gate::default();
    gate.fact(&step(2, 1, 1));
    gate.fact(&answered(3, 1));
    gate.fact(&started(3, 1));
    assert!(gate.frame(output(3, 1, 0, "tick")).is_some());
    gate.fact(&fact("turn.taken_over", 4, json!({"runnerId": Uuid::nil(), "epoch": 2})));
    assert!(gate.frame(output(3, 1, 4, "tock")).is_none());
    // The second attempt may print before a viewer knows of its start.
    assert!(gate.frame(output(4, 2, 0, "tick")).is_none());
    let shown = gate.fact(&started(5, 2)).pop();
    assert_eq!(text(shown).as_deref(), Some("tick"));
    assert!(gate.frame(output(4, 1, 4, "tock")).is_none());
}

#[test]
fn an_ended_turn_is_quiet_and_shows_nothing_more() {
    let mut gate = Gate::default();
    gate.fact(&step(2, 1, 1));
    assert!(!gate.is_quiet());
    let usage = json!({"inputTokens": 0, "outputTokens": 0});
    gate.fact(&fact("turn.completed", 3, json!({"messageId": Uuid::nil(), "usage": usage})));
    assert!(gate.is_quiet());
    assert!(gate.frame(frame(2, 1, 1, 0, "late")).is_none());
    assert!(gate.held.is_empty());
}
