//! What a screen is told of a fact: the event's name, and the few fields that a card needs at the top level.
//!
//! One fact is one event; what has no name of its own is sent as `fact`. The data is the fact itself with those
//! fields beside its own.

use oxagen_domain::plan::PlanEvent;
use oxagen_domain::tool_call::{CallRecord, CallSpec, Refused, ToolCallEvent};
use oxagen_domain::turn::TurnEvent;
use oxagen_domain::{ApprovalEvent, ApprovalQuestion, Body, ConversationEvent, Event, Fact, UserId};
use oxagen_jetstream::live::FrameKind;
use serde_json::{Map, Value, json};

/// The name of any fact that has none of its own.
const FACT: &str = "fact";

/// An event's name and the fields that it has beside the fact's own.
type Shown = (&'static str, Value);

/// The event's name and its data.
pub(crate) fn show(fact: &Fact) -> (&'static str, Value) {
    let (name, fields) = match fact.event() {
        Ok(Some(event)) => of_event(event),
        // A type or a form of another build: whoever knows it can read it.
        Ok(None) | Err(_) => plain(),
    };
    // A fact holds only strings, numbers and a `Value`: it always has a JSON form.
    let mut data = serde_json::to_value(fact).unwrap_or_default();
    if let (Value::Object(data), Value::Object(mut fields)) = (&mut data, fields) {
        // Only some events of a call or an approval name it themselves; all of them are facts of it.
        match fact.aggregate_type.as_str() {
            "tool_call" => drop(fields.insert("callId".to_owned(), json!(fact.aggregate_id))),
            "approval" => drop(fields.insert("approvalId".to_owned(), json!(fact.aggregate_id))),
            "plan" => drop(fields.insert("planId".to_owned(), json!(fact.aggregate_id))),
            _ => {}
        }
        for (key, value) in fields.into_iter().filter(|(_, value)| !value.is_null()) {
            data.entry(key).or_insert(value);
        }
    }
    (name, data)
}

/// The event's name of a live frame; its data is the frame.
pub(crate) fn frame_name(kind: &FrameKind) -> &'static str {
    match kind {
        FrameKind::TextDelta { .. } => "text-delta",
        FrameKind::ReasoningDelta { .. } => "reasoning-delta",
        FrameKind::ToolCallInputDelta { .. } => "tool-call-input-delta",
        FrameKind::ToolCallOutput { .. } => "tool-call-output",
    }
}

fn plain() -> Shown {
    (FACT, Value::Object(Map::new()))
}

fn of_event(event: Event) -> Shown {
    match event {
        Event::Conversation(event) => of_conversation(event),
        Event::Turn(event) => of_turn(event),
        Event::ToolCall(event) => of_call(event),
        Event::Approval(event) => of_approval(event),
        Event::Plan(event) => of_plan(event),
        Event::Workspace(_) | Event::ApiKey(_) | Event::Agent(_) | Event::Policy(_) => plain(),
    }
}

fn of_conversation(event: ConversationEvent) -> Shown {
    match event {
        ConversationEvent::MessageAdded { message, queued } => (
            "message-added",
            json!({
                "messageId": message.message_id, "parentMessageId": message.parent_message_id, "role": "user",
                "text": message.text, "turnId": message.turn_id,
                "assistantMessageId": message.assistant_message_id, "queued": queued,
            }),
        ),
        ConversationEvent::Started { .. }
        | ConversationEvent::TurnClosed { .. }
        | ConversationEvent::Renamed { .. }
        | ConversationEvent::Archived {} => plain(),
    }
}

fn of_turn(event: TurnEvent) -> Shown {
    match event {
        TurnEvent::Started { .. } => ("turn-started", json!({})),
        TurnEvent::StepStarted { step, attempt } if attempt > 1 => {
            ("step-reset", json!({"step": step, "attempt": attempt}))
        }
        TurnEvent::TakenOver { epoch, .. } => ("step-reset", json!({"epoch": epoch})),
        TurnEvent::StepCompleted { step, attempt, result } => (
            "step-completed",
            json!({
                "step": step, "attempt": attempt, "text": result.text, "reasoning": result.reasoning,
                "finish": result.finish, "usage": result.usage,
            }),
        ),
        TurnEvent::Paused { pause, waiting } => ("turn-paused", json!({"pause": pause, "waiting": waiting})),
        TurnEvent::Resumed { .. } => ("turn-resumed", json!({})),
        TurnEvent::Completed { message_id, usage } => {
            ("turn-completed", json!({"messageId": message_id, "usage": usage}))
        }
        TurnEvent::Failed { message_id, code, message, usage } => (
            "turn-failed",
            json!({"messageId": message_id, "error": {"code": code, "message": message}, "usage": usage}),
        ),
        TurnEvent::Cancelled { message_id, reason, usage, .. } => {
            ("turn-cancelled", json!({"messageId": message_id, "reason": reason, "usage": usage}))
        }
        TurnEvent::Requested { .. }
        | TurnEvent::Claimed { .. }
        | TurnEvent::StepStarted { .. }
        | TurnEvent::StepFailed { .. }
        | TurnEvent::Answered { .. }
        | TurnEvent::ModeSwitched { .. }
        | TurnEvent::CancelRequested { .. } => plain(),
    }
}

fn of_call(event: ToolCallEvent) -> Shown {
    match event {
        ToolCallEvent::Requested { spec, .. } => ("tool-call-start", start(&spec)),
        ToolCallEvent::Started { attempt, .. } if attempt > 1 => ("step-reset", json!({"attempt": attempt})),
        ToolCallEvent::Completed { output, record, .. } => {
            ("tool-call-end", end(&record, Some(&output), None))
        }
        ToolCallEvent::Failed { error, record } => ("tool-call-end", end(&record, None, Some(json!(error)))),
        ToolCallEvent::Cancelled { reason, record } => {
            ("tool-call-end", end(&record, None, Some(error(&record, "cancelled", reason))))
        }
        ToolCallEvent::Denied { refused, record } => {
            ("tool-call-end", end(&record, None, Some(error(&record, "denied", refusal(refused)))))
        }
        ToolCallEvent::InDoubt { reason, record } => {
            ("tool-call-end", end(&record, None, Some(error(&record, "in_doubt", reason))))
        }
        ToolCallEvent::Held { .. }
        | ToolCallEvent::Cleared { .. }
        | ToolCallEvent::Settled { .. }
        | ToolCallEvent::Started { .. } => plain(),
    }
}

fn start(spec: &CallSpec) -> Value {
    json!({
        "callId": spec.call_id, "capability": spec.capability, "input": spec.input.shown(),
        "inputRef": spec.input.reference(), "effect": spec.effect, "risk": spec.risk,
        "messageId": spec.place.as_ref().map(|place| place.message_id),
        "step": spec.place.as_ref().map(|place| place.step),
    })
}

fn end(record: &CallRecord, output: Option<&Body>, error: Option<Value>) -> Value {
    json!({
        "capability": record.capability, "status": record.status, "attempt": record.attempt,
        "output": output.map(Body::shown), "outputRef": output.and_then(Body::reference),
        "error": error, "latencyMs": record.latency_ms,
    })
}

fn error(record: &CallRecord, otherwise: &str, message: String) -> Value {
    json!({"code": record.error_code.as_deref().unwrap_or(otherwise), "message": message})
}

/// A refusal in words: policy's reason, a person's note word for word, or that nobody answered.
pub(crate) fn refusal(refused: Refused) -> String {
    match refused {
        Refused::Policy { reason } => reason,
        Refused::Person { note: Some(note), .. } => note,
        Refused::Person { note: None, .. } => "a person refused it".to_owned(),
        Refused::Expiry => "nobody answered in time".to_owned(),
    }
}

fn of_approval(event: ApprovalEvent) -> Shown {
    let resolved = |resolution: &str, call, by: Option<Value>, note: Option<String>| {
        let fields = json!({"callId": call, "resolution": resolution, "resolvedBy": by, "note": note});
        ("approval-resolved", fields)
    };
    match event {
        ApprovalEvent::Requested { question } => ("approval-required", question_fields(&question)),
        ApprovalEvent::Voted { .. } => plain(),
        ApprovalEvent::Approved { call_id, by, note, edited, .. } => {
            let (name, mut fields) = resolved("approved", json!(call_id), Some(json!(by)), note);
            fields["editedInput"] = edited.map_or(Value::Null, |edited| edited.input.shown());
            (name, fields)
        }
        ApprovalEvent::Denied { call_id, by, note, .. } => {
            resolved("denied", json!(call_id), Some(json!(by)), note)
        }
        ApprovalEvent::Expired { call_id } => resolved("expired", json!(call_id), None, None),
        ApprovalEvent::Superseded { call_id } => resolved("superseded", json!(call_id), None, None),
    }
}

fn question_fields(question: &ApprovalQuestion) -> Value {
    json!({
        "approvalId": question.approval_id, "callId": question.call_id, "capability": question.capability,
        "input": question.input.shown(), "inputRef": question.input.reference(), "risk": question.risk,
        "rule": question.rule, "reason": question.reason, "expiresAt": question.expires_at,
        "drift": question.rule == "plan.drift", "needed": question.terms.needed,
        "askedBefore": question.asked_before,
    })
}

fn of_plan(event: PlanEvent) -> Shown {
    let resolved = |resolution: &str, version: Option<u32>, by: Option<UserId>, note: Option<String>| {
        let fields =
            json!({"resolution": resolution, "planVersion": version, "resolvedBy": by, "note": note});
        ("plan-resolved", fields)
    };
    match event {
        PlanEvent::Proposed { spec, steps, expires_at, .. } => (
            "plan-proposed",
            json!({
                "callId": spec.call_id, "title": spec.title, "rationale": spec.rationale, "planVersion": 1,
                "steps": steps, "expiresAt": expires_at, "needed": spec.terms.needed,
            }),
        ),
        PlanEvent::Amended { version, steps, expires_at, by, note, .. } => (
            "plan-proposed",
            json!({
                "planVersion": version, "steps": steps, "expiresAt": expires_at, "amendedBy": by, "note": note,
            }),
        ),
        PlanEvent::Approved { version, by, note, .. } => resolved("approved", Some(version), Some(by), note),
        PlanEvent::Rejected { version, by, note, .. } => resolved("rejected", Some(version), Some(by), note),
        PlanEvent::Expired { version, .. } => resolved("expired", Some(version), None, None),
        PlanEvent::Superseded {} => resolved("superseded", None, None, None),
        PlanEvent::Voted { .. } | PlanEvent::StepStarted { .. } | PlanEvent::StepEnded { .. } => plain(),
    }
}

#[cfg(test)]
mod tests;
