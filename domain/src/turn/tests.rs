use uuid::Uuid;

use super::*;
use crate::body::Digest;
use crate::ids::{AgentId, AgentVersionId, ConversationId, TurnId};
use crate::key_limits::KeyLimits;
use crate::role::Role;
use crate::tool_call::{CallStatus, Standing, ToolCall};

fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
}

fn runner(n: u128) -> RunnerId {
    RunnerId(Uuid::from_u128(n))
}

fn spec(budget: Budget) -> TurnSpec {
    TurnSpec {
        turn_id: TurnId(Uuid::from_u128(1)),
        conversation_id: ConversationId::default(),
        user_message_id: MessageId::default(),
        assistant_message_id: MessageId::default(),
        agent_id: AgentId::default(),
        agent_version_id: AgentVersionId::default(),
        model: None,
        budget,
        mode: Mode::Act,
        requested_by: UserId::default(),
        role: Role::Member,
        limits: KeyLimits::default(),
        request_digest: Digest::of(b"request"),
    }
}

fn when(mut turn: Turn, command: TurnCommand) -> Turn {
    turn.decide(command).unwrap().into_iter().for_each(|event| turn.evolve(event));
    turn
}

fn claimed(budget: Budget) -> Turn {
    let turn = when(Turn::default(), TurnCommand::Request { spec: spec(budget), queued: false, at: at(0) });
    when(turn, TurnCommand::Claim { runner_id: runner(1) })
}

fn answered(budget: Budget, calls: usize) -> (Turn, Vec<CallId>) {
    let ids: Vec<_> = (0..calls).map(|index| CallId::of_step(TurnId::default(), 1, index)).collect();
    let calls =
        ids.iter().map(|id| StepCall { call_id: *id, name: String::new(), provider_call_id: String::new() });
    let result = StepResult {
        text: "hm".to_owned(),
        reasoning: String::new(),
        calls: calls.collect(),
        finish: "stop".to_owned(),
        model: "m".to_owned(),
        usage: Usage { input_tokens: 5, output_tokens: 5 },
    };
    let turn = when(claimed(budget), TurnCommand::StartStep { epoch: 1, step: 1, attempt: 1 });
    (when(turn, TurnCommand::CompleteStep { epoch: 1, result }), ids)
}

fn call(id: CallId, standing: Standing) -> (CallId, ToolCall) {
    (id, ToolCall { standing, ..ToolCall::default() })
}

#[test]
fn an_answer_without_calls_completes_the_turn() {
    assert_eq!(answered(Budget::default(), 0).0.next(&[], at(1)), Next::Complete);
}

#[test]
fn calls_run_then_pause_then_the_model_goes_on() {
    let (turn, ids) = answered(Budget::default(), 2);
    let held = call(ids[0], Standing::Held(Default::default()));
    let done = |id| call(id, Standing::Ended(CallStatus::Completed));
    let next = turn.next(&[held.clone(), call(ids[1], Standing::Cleared)], at(1));
    assert_eq!(next, Next::RunCalls(vec![ids[1]]));
    assert_eq!(turn.next(&[held, done(ids[1])], at(1)), Next::Pause(vec![ids[0]]));
    assert_eq!(turn.next(&[done(ids[0]), done(ids[1])], at(1)), Next::CallModel { step: 2, attempt: 1 });
}

#[test]
fn an_unknown_outcome_is_a_result_too() {
    let (turn, ids) = answered(Budget::default(), 1);
    let doubt = call(ids[0], Standing::Ended(CallStatus::InDoubt));
    assert_eq!(turn.next(&[doubt], at(1)), Next::CallModel { step: 2, attempt: 1 });
}

#[test]
fn an_interrupted_model_call_is_made_again_a_bounded_number_of_times() {
    let mut turn = claimed(Budget::default());
    for attempt in 1..=MAX_ATTEMPTS {
        assert_eq!(turn.next(&[], at(1)), Next::CallModel { step: 1, attempt });
        turn = when(turn, TurnCommand::StartStep { epoch: 1, step: 1, attempt });
    }
    assert!(matches!(turn.next(&[], at(1)), Next::Fail { .. }));
}

#[test]
fn a_new_owner_fences_the_old_one() {
    let turn = when(claimed(Budget::default()), TurnCommand::Claim { runner_id: runner(2) });
    assert_eq!(turn.epoch, 2);
    let late = TurnCommand::StartStep { epoch: 1, step: 1, attempt: 1 };
    assert_eq!(turn.decide(late), Err(TurnRefusal::Fenced { epoch: 1, current: 2 }));
}

#[test]
fn an_answer_wakes_a_paused_turn_once_and_is_kept_by_a_running_one() {
    let (turn, ids) = answered(Budget::default(), 1);
    let cause = Uuid::from_u128(5);
    assert_eq!(turn.decide(TurnCommand::Answer { cause }), Ok(vec![TurnEvent::Answered { cause }]));
    let paused = when(turn, TurnCommand::Pause { epoch: 1, waiting: ids });
    assert_eq!(paused.next(&[], at(1)), Next::Rest);
    let resumed = when(paused, TurnCommand::Answer { cause });
    assert_eq!((resumed.phase, resumed.decide(TurnCommand::Answer { cause })), (Phase::Running, Ok(vec![])));
}

#[test]
fn cancel_comes_before_everything_also_while_paused() {
    let (turn, ids) = answered(Budget::default(), 1);
    let paused = when(turn, TurnCommand::Pause { epoch: 1, waiting: ids });
    let cancel = TurnCommand::RequestCancel { by: UserId::default(), reason: "enough".to_owned() };
    let turn = when(paused, cancel);
    assert_eq!(turn.next(&[], at(1)), Next::Cancel);
    let turn = when(turn, TurnCommand::Finish { epoch: 1, outcome: Outcome::Cancelled });
    assert_eq!((turn.phase, turn.next(&[], at(1))), (Phase::Cancelled, Next::Rest));
}

#[test]
fn budgets_end_a_turn_and_say_which() {
    let code = |budget| match answered(budget, 1).0.next(&[], at(100)) {
        Next::Fail { code, .. } => code,
        next @ (Next::Rest
        | Next::CallModel { .. }
        | Next::RunCalls(_)
        | Next::Pause(_)
        | Next::Complete
        | Next::Cancel) => format!("{next:?}"),
    };
    assert_eq!(code(Budget { max_tokens: Some(10), ..Budget::default() }), "budget_tokens");
    assert_eq!(code(Budget { max_wall_seconds: Some(100), ..Budget::default() }), "budget_wall_seconds");
    assert_eq!(code(Budget { max_steps: 1, ..Budget::default() }), "budget_steps");
    assert_eq!(code(Budget { max_tool_calls: 0, ..Budget::default() }), "budget_tool_calls");
}

#[test]
fn an_approved_plan_lets_a_planning_turn_act_and_an_amended_one_stops_that() {
    let planning = TurnSpec { mode: Mode::Plan, ..spec(Budget::default()) };
    let turn = when(Turn::default(), TurnCommand::Request { spec: planning, queued: false, at: at(0) });
    assert_eq!((turn.mode, turn.plan), (Mode::Plan, None));
    let plan_id = PlanId(Uuid::from_u128(3));
    let switch = |mode| TurnCommand::SwitchMode { mode, plan_id, by: UserId::default() };
    let acting = when(turn, switch(Mode::Act));
    assert_eq!((acting.mode, acting.plan), (Mode::Act, Some(plan_id)));
    assert_eq!(acting.decide(switch(Mode::Act)), Ok(vec![]));
    assert_eq!(when(acting, switch(Mode::Plan)).mode, Mode::Plan);
}
