use oxagen_domain::tool_call::{CallRecord, CallStatus, ToolCallEvent};
use oxagen_domain::turn::{StepFailure, TurnEvent, Usage};
use oxagen_domain::{
    Body, CallId, ExecutionId, MessageId, RunnerId, StepId, ToolVersionId, TurnId, WorkspaceEvent,
    capability::{Effect, Risk, Surface},
};
use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::given::{at, fact};

fn turn() -> TurnId {
    TurnId(Uuid::from_u128(7))
}

fn record(status: CallStatus, error_code: Option<&str>) -> CallRecord {
    CallRecord {
        conversation_id: None,
        turn_id: None,
        execution_id: ExecutionId(Uuid::from_u128(8)),
        capability: "agent.code.execute".to_owned(),
        tool_version_id: ToolVersionId(Uuid::from_u128(9)),
        surface: Surface::Api,
        effect: Effect::External,
        risk_level: Risk::High,
        status,
        attempt: 1,
        policy_rule: "default".to_owned(),
        requested_at: at(1),
        started_at: Some(at(2)),
        finished_at: at(3),
        latency_ms: 1000,
        input_bytes: 1,
        output_bytes: 2,
        error_code: error_code.map(str::to_owned),
    }
}

#[test]
fn a_turn_stands_where_its_last_fact_left_it() {
    let usage = Usage { input_tokens: 3, output_tokens: 4 };
    let facts = [
        fact(1, 7, Some(turn()), &TurnEvent::Started { at: at(1) }),
        fact(2, 7, Some(turn()), &TurnEvent::Claimed { runner_id: RunnerId(Uuid::from_u128(5)), epoch: 1 }),
        fact(3, 7, Some(turn()), &TurnEvent::Paused { pause: 1, waiting: vec![] }),
        fact(4, 7, Some(turn()), &TurnEvent::Resumed { cause: Uuid::nil() }),
        fact(5, 7, Some(turn()), &TurnEvent::Completed { message_id: MessageId(Uuid::from_u128(6)), usage }),
    ];
    let paused = Views::of(&facts[..3]).unwrap();
    assert_eq!(paused.executions.get(turn().0).status.as_deref(), Some("paused"));
    assert_eq!(paused.executions.get(turn().0).finished_at, None);
    let ended = Views::of(&facts).unwrap();
    let row = ended.executions.get(turn().0);
    assert_eq!(row.status.as_deref(), Some("completed"));
    assert_eq!((row.started_at, row.finished_at, row.updated_at), (Some(at(1)), Some(at(5)), Some(at(5))));
    assert_eq!((row.runner_id, row.output_tokens), (Some(Uuid::from_u128(5)), Some(4)));
}

#[test]
fn a_step_tried_again_forgets_how_the_first_try_ended() {
    let failure = StepFailure {
        code: "model_stream_cut".to_owned(),
        message: "cut".to_owned(),
        retryable: true,
        text: "half".to_owned(),
        reasoning: String::new(),
    };
    let facts = [
        fact(1, 7, Some(turn()), &TurnEvent::StepStarted { step: 1, attempt: 1 }),
        fact(2, 7, Some(turn()), &TurnEvent::StepFailed { step: 1, attempt: 1, failure }),
        fact(3, 7, Some(turn()), &TurnEvent::StepStarted { step: 1, attempt: 2 }),
    ];
    let id = StepId::of(ExecutionId::of_turn(turn()), 1).0;
    let failed = Views::of(&facts[..2]).unwrap();
    assert_eq!(failed.steps.get(id).error, Some(json!({"code": "model_stream_cut", "message": "cut"})));
    let again = Views::of(&facts).unwrap();
    let row = again.steps.get(id);
    assert_eq!((row.status.as_deref(), row.attempt), (Some("running"), Some(2)));
    assert_eq!((row.error.as_ref(), row.finished_at), (None, None));
}

#[test]
fn a_late_result_settles_a_call_in_doubt_in_the_same_row() {
    let doubt = record(CallStatus::InDoubt, Some("in_doubt"));
    let facts = [
        fact(1, 4, None, &ToolCallEvent::InDoubt { reason: "its runner died".to_owned(), record: doubt }),
        fact(
            2,
            4,
            None,
            &ToolCallEvent::Completed {
                output: Body::Inline(json!({"exitCode": 0})),
                excerpt: None,
                record: record(CallStatus::Completed, None),
            },
        ),
    ];
    let call = Uuid::from_u128(4);
    let doubtful = Views::of(&facts[..1]).unwrap();
    let error = json!({"code": "in_doubt", "message": "its runner died"});
    assert_eq!(doubtful.tool_calls.get(call).error, Some(error));
    let settled = Views::of(&facts).unwrap();
    let row = settled.tool_calls.get(call);
    assert_eq!((row.status.as_deref(), row.error.as_ref()), (Some("completed"), None));
    assert_eq!((row.finished_at, row.latency_ms), (Some(at(3)), Some(1000)));
    let execution = settled.executions.get(ExecutionId::of_direct_call(CallId(call)).0);
    assert_eq!((execution.status.as_deref(), execution.error.as_ref()), (Some("completed"), None));
}

#[test]
fn a_type_of_a_newer_build_changes_nothing_and_a_broken_one_is_refused() {
    let mut newer = fact(1, 7, None, &WorkspaceEvent::Created { name: "home".to_owned() });
    newer.kind = "workspace.painted".to_owned();
    assert_eq!(Views::of(&[newer]).unwrap(), Views::default());

    let mut broken = fact(2, 7, None, &WorkspaceEvent::Created { name: "home".to_owned() });
    broken.payload = json!({"name": 7});
    let Err(StoreError::Refused { cause, .. }) = Views::of(&[broken]) else {
        panic!("a broken fact was taken")
    };
    assert!(cause.contains("fact 2 of type workspace.created"), "{cause}");
}
