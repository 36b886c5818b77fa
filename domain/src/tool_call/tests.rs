use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::capability::catalog;

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn spec() -> CallSpec {
    let (input, tool) =
        (json!({"language": "python", "code": "1"}), catalog::find("agent.code.execute").unwrap());
    CallSpec {
        call_id: CallId(Uuid::from_u128(1)),
        capability: tool.name.to_owned(),
        tool_version_id: tool.version_id(),
        surface: Surface::Agent,
        effect: tool.effect,
        risk: tool.risk,
        input_digest: Digest::of_canonical(&input),
        input: Body::Inline(input),
        execution_id: ExecutionId(Uuid::from_u128(2)),
        execution_step_id: StepId(Uuid::from_u128(3)),
        place: None,
        requested_by: UserId(Uuid::from_u128(4)),
        role: Role::Member,
        limits: KeyLimits::default(),
        plan: None,
    }
}

fn runner(n: u128) -> RunnerId {
    RunnerId(Uuid::from_u128(n))
}

fn approval() -> ApprovalId {
    ApprovalId(Uuid::from_u128(9))
}

fn when(mut call: ToolCall, command: ToolCallCommand) -> ToolCall {
    call.decide(command).unwrap().into_iter().for_each(|event| call.evolve(event));
    call
}

fn cleared() -> ToolCall {
    let ruling = Ruling::Clear { rule: "default".to_owned() };
    when(ToolCall::default(), ToolCallCommand::Request { spec: spec(), ruling, at: at(0) })
}

fn held() -> ToolCall {
    let ruling = Ruling::Hold { rule: "capability.asks_approval".to_owned(), approval_id: approval() };
    when(ToolCall::default(), ToolCallCommand::Request { spec: spec(), ruling, at: at(0) })
}

fn start(who: u128, may_rerun: bool) -> ToolCallCommand {
    ToolCallCommand::Start { runner_id: runner(who), may_rerun, at: at(1) }
}

fn finish(attempt: u32) -> ToolCallCommand {
    let ending = Ending::Completed { output: Body::Inline(json!({"exitCode": 0})), excerpt: None };
    ToolCallCommand::Finish { attempt, ending, at: at(3) }
}

#[test]
fn the_end_carries_the_analytic_row() {
    let call = when(cleared(), start(1, true));
    let events = call.decide(finish(1)).unwrap();
    let [ToolCallEvent::Completed { record, .. }] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!((record.attempt, record.latency_ms, record.status), (1, 2000, CallStatus::Completed));
    assert_eq!(record.policy_rule, "default");
}

#[test]
fn a_held_call_starts_only_after_its_own_approval() {
    assert_eq!(held().decide(start(1, true)), Err(ToolCallRefusal::NotCleared));
    let other = ApprovalId(Uuid::from_u128(10));
    assert_eq!(
        held().decide(ToolCallCommand::Clear { approval_id: other, edited: None }),
        Err(ToolCallRefusal::OtherApproval)
    );
    let call = when(held(), ToolCallCommand::Clear { approval_id: approval(), edited: None });
    assert_eq!(call.decide(ToolCallCommand::Clear { approval_id: approval(), edited: None }), Ok(vec![]));
    assert_eq!(when(call, start(1, true)).attempt, 1);
}

#[test]
fn after_a_dead_runner_a_repeatable_call_runs_again_and_the_old_attempt_is_fenced() {
    let call = when(when(cleared(), start(1, true)), start(2, true));
    assert_eq!(call.attempt, 2);
    assert_eq!(call.decide(finish(1)), Err(ToolCallRefusal::Fenced { attempt: 1, current: 2 }));
    assert!(when(call, finish(2)).is_settled());
}

#[test]
fn after_a_dead_runner_any_other_call_is_in_doubt_until_its_late_result() {
    let call = when(when(cleared(), start(1, false)), start(2, false));
    assert_eq!(call.standing, Standing::Ended(CallStatus::InDoubt));
    let settled = when(call, finish(1));
    assert_eq!(settled.standing, Standing::Ended(CallStatus::Completed));
    assert_eq!(settled.decide(finish(1)), Err(ToolCallRefusal::Ended(CallStatus::Completed)));
}

#[test]
fn a_late_result_does_not_reopen_a_cancelled_call() {
    let call = when(cleared(), start(1, true));
    let call = when(call, ToolCallCommand::Cancel { reason: "the turn was cancelled".to_owned(), at: at(2) });
    assert_eq!(call.decide(finish(1)), Err(ToolCallRefusal::Ended(CallStatus::Cancelled)));
    assert_eq!(call.decide(ToolCallCommand::Cancel { reason: String::new(), at: at(2) }), Ok(vec![]));
}

#[test]
fn a_refusal_keeps_the_persons_words() {
    let refused =
        Refused::Person { user_id: UserId(Uuid::from_u128(5)), note: Some("wait for Friday".to_owned()) };
    let command = ToolCallCommand::Refuse { approval_id: approval(), refused: refused.clone(), at: at(2) };
    let events = held().decide(command).unwrap();
    assert!(matches!(&events[0], ToolCallEvent::Denied { refused: said, .. } if *said == refused));
}

fn doubtful() -> ToolCall {
    when(when(cleared(), start(1, false)), start(2, false))
}

fn settle(settlement: Settlement) -> ToolCallCommand {
    ToolCallCommand::Settle { settlement, by: UserId(Uuid::from_u128(6)), note: None, at: at(9) }
}

fn found() -> Settlement {
    Settlement::Done { output: Body::Inline(json!({"paid": true})), excerpt: None }
}

#[test]
fn a_person_settles_what_is_in_doubt_and_the_model_is_told_the_truth() {
    let done = when(doubtful(), settle(found()));
    assert_eq!(done.standing, Standing::Ended(CallStatus::Completed));
    let told = done.told.clone().unwrap();
    assert!(told.contains("a person looked") && told.contains("paid"), "{told}");
    assert_eq!(done.decide(settle(found())), Ok(vec![]), "a repeat");
    assert_eq!(done.decide(settle(Settlement::NotDone)), Err(ToolCallRefusal::NotInDoubt("completed")));
    assert_eq!(done.decide(finish(1)), Err(ToolCallRefusal::Ended(CallStatus::Completed)));

    let not = when(doubtful(), settle(Settlement::NotDone));
    assert!(not.told.unwrap().contains("did not happen"));
    assert_eq!(cleared().decide(settle(found())), Err(ToolCallRefusal::NotInDoubt("it is to run")));
}

#[test]
fn what_a_person_lets_run_again_runs_as_a_new_attempt_and_fences_the_old_one() {
    let again = when(doubtful(), settle(Settlement::RunAgain));
    assert!(again.is_settled() && !again.has_ended() && again.is_open_question());
    let running = when(again.clone(), start(3, false));
    assert_eq!(running.attempt, 2);
    assert_eq!(running.decide(finish(1)), Err(ToolCallRefusal::Fenced { attempt: 1, current: 2 }));
    assert_eq!(when(running, finish(2)).standing, Standing::Ended(CallStatus::Completed));
    // The truth about the first time may come before it starts again.
    assert_eq!(when(again, finish(1)).standing, Standing::Ended(CallStatus::Completed));
}

#[test]
fn an_edited_call_runs_with_what_the_person_put_there() {
    let input = json!({"language": "python", "code": "2"});
    let edited =
        EditedInput { input_digest: Digest::of_canonical(&input), input: Body::Inline(input.clone()) };
    let command = ToolCallCommand::Clear { approval_id: approval(), edited: Some(edited.clone()) };
    let call = when(held(), command);
    let spec = call.spec.clone().unwrap();
    assert_eq!((spec.input, spec.input_digest), (edited.input, edited.input_digest));
    assert_eq!(call.original, Some(Body::Inline(json!({"language": "python", "code": "1"}))));
}
