//! A call from its facts, for those who come before the view has it.

use oxagen_domain::tool_call::{CallRecord, Standing, ToolCall, ToolCallEvent};
use oxagen_domain::{Body, Entity, Event, Fact};
use oxagen_projections::ToolCallRow;
use serde::Serialize;
use serde_json::{Value, json};

use crate::screen::refusal;

/// The call that these facts tell of; none if they do not begin with its request.
pub(super) fn of_facts(facts: &[Fact]) -> Option<ToolCallRow> {
    let events: Vec<_> = facts.iter().filter_map(call_event).collect();
    let mut state = ToolCall::default();
    events.iter().cloned().for_each(|event| Entity::evolve(&mut state, event));
    let mut row = of_state(&state)?;
    row.sequence = facts.last().map_or(0, |fact| fact.seq);
    if let Some(end) = events.into_iter().last() {
        add_end(&mut row, end);
    }
    Some(row)
}

fn call_event(fact: &Fact) -> Option<ToolCallEvent> {
    match fact.event() {
        Ok(Some(Event::ToolCall(event))) => Some(event),
        Ok(_) | Err(_) => None,
    }
}

/// The call as its aggregate stands, which keeps neither result nor error.
pub(super) fn of_state(state: &ToolCall) -> Option<ToolCallRow> {
    let spec = state.spec.as_ref()?;
    let place = spec.place.as_ref();
    Some(ToolCallRow {
        call_id: spec.call_id,
        conversation_id: place.map(|place| place.conversation_id),
        message_id: place.map(|place| place.message_id),
        turn_id: place.map(|place| place.turn_id),
        execution_id: spec.execution_id,
        execution_step_id: spec.execution_step_id,
        capability: spec.capability.clone(),
        tool_version_id: spec.tool_version_id,
        origin: word(&spec.surface),
        effect: word(&spec.effect),
        risk_level: word(&spec.risk),
        status: status(state.standing).to_owned(),
        attempt: state.attempt,
        input: spec.input.shown(),
        input_ref: spec.input.reference().map(ToString::to_string),
        input_digest: spec.input_digest.to_string(),
        output: None,
        output_ref: None,
        error: None,
        policy_rule: (!state.rule.is_empty()).then(|| state.rule.clone()),
        required_approval: state.approval.is_some(),
        approval_id: state.approval,
        requested_by: spec.requested_by,
        requested_at: state.requested_at,
        started_at: state.started_at,
        finished_at: None,
        latency_ms: None,
        original_input: state.original.as_ref().map(Body::shown),
        plan_id: spec.plan.as_ref().map(|step| step.plan_id),
        plan_step: spec.plan.as_ref().map(|step| step.step_id.clone()),
        settled_as: state.settled.map(|(outcome, _)| word(&outcome)),
        settled_by: state.settled.map(|(_, by)| by),
        sequence: 0,
    })
}

fn add_end(row: &mut ToolCallRow, end: ToolCallEvent) {
    let told = |record: &CallRecord, message: String| {
        let code = record.error_code.as_deref().unwrap_or(record.status.name());
        Some(json!({"code": code, "message": message}))
    };
    let (record, output, error) = match end {
        ToolCallEvent::Completed { output, record, .. } => (record, Some(output), None),
        ToolCallEvent::Failed { error, record } => (record, None, Some(json!(error))),
        ToolCallEvent::Cancelled { reason, record } | ToolCallEvent::InDoubt { reason, record } => {
            let error = told(&record, reason);
            (record, None, error)
        }
        ToolCallEvent::Denied { refused, record } => {
            let error = told(&record, refusal(refused));
            (record, None, error)
        }
        ToolCallEvent::Requested { .. }
        | ToolCallEvent::Held { .. }
        | ToolCallEvent::Cleared { .. }
        | ToolCallEvent::Settled { .. }
        | ToolCallEvent::Started { .. } => return,
    };
    row.output = output.as_ref().map(Body::shown);
    row.output_ref = output.as_ref().and_then(Body::reference).map(ToString::to_string);
    row.error = error;
    row.finished_at = Some(record.finished_at);
    row.latency_ms = Some(record.latency_ms);
}

fn status(standing: Standing) -> &'static str {
    match standing {
        Standing::Absent => "requested",
        Standing::Held(_) => "held",
        Standing::Cleared => "cleared",
        Standing::Started(_) => "started",
        Standing::Ended(status) => status.name(),
    }
}

/// The word that an enum of words is on the wire.
pub(super) fn word(value: &impl Serialize) -> String {
    serde_json::to_value(value).ok().as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}
