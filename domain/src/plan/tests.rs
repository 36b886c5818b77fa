use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::role::Role;

fn step(id: &str, code: &str, depends_on: &[&str]) -> PlanStep {
    PlanStep {
        id: id.to_owned(),
        summary: "compute".to_owned(),
        intent: String::new(),
        capability: Some("agent.code.execute".to_owned()),
        input: Some(json!({"language": "python", "code": code})),
        depends_on: depends_on.iter().map(|name| (*name).to_owned()).collect(),
    }
}

fn proposed() -> Plan {
    let spec = PlanSpec {
        plan_id: PlanId::default(),
        call_id: call(1),
        turn_id: TurnId::default(),
        conversation_id: ConversationId::default(),
        title: "Two numbers".to_owned(),
        rationale: None,
        requested_by: UserId::default(),
        terms: ApprovalTerms::default(),
    };
    let steps = vec![step("a", "1", &[]), step("b", "2", &["a"])];
    when(Plan::default(), PlanCommand::Propose { spec, steps, at: DateTime::UNIX_EPOCH })
}

fn call(n: u128) -> CallId {
    CallId(Uuid::from_u128(n))
}

fn said(approve: bool) -> PlanAnswer {
    PlanAnswer { approve, by: UserId(Uuid::from_u128(5)), at: DateTime::UNIX_EPOCH, note: None }
}

fn answer(approve: bool, version: u32) -> PlanCommand {
    PlanCommand::Answer { version: Some(version), answer: said(approve), role: Role::Member }
}

fn start(n: u128, code: &str) -> PlanCommand {
    let input_digest = Digest::of_canonical(&json!({"code": code, "language": "python"}));
    PlanCommand::Start { call_id: call(n), capability: "agent.code.execute".to_owned(), input_digest }
}

fn when(mut plan: Plan, command: PlanCommand) -> Plan {
    plan.decide(command).unwrap().into_iter().for_each(|event| plan.evolve(event));
    plan
}

#[test]
fn a_plan_grants_exactly_its_calls_each_once_and_only_when_approved() {
    assert_eq!(proposed().decide(start(7, "1")), Ok(vec![]), "not before it is approved");
    let approved = when(proposed(), answer(true, 1));
    let running = when(approved, start(7, "1"));
    assert_eq!((running.status_of("a"), running.status_of("b")), (StepStatus::Running, StepStatus::Pending));
    assert_eq!(running.decide(start(8, "1")), Ok(vec![]), "the step is used up");
    assert_eq!(running.decide(start(8, "3")), Ok(vec![]), "not in the plan");
    let ended = PlanCommand::End { step_id: "a".to_owned(), call_id: call(7), status: StepStatus::Failed };
    assert_eq!(when(running, ended).status_of("a"), StepStatus::Failed);
}

#[test]
fn an_amended_plan_wants_an_answer_again_and_grants_nothing_meanwhile() {
    let running = when(when(proposed(), answer(true, 1)), start(7, "1"));
    let steps = vec![step("a", "1", &[]), step("b", "changed", &["a"])];
    let amend = PlanCommand::Amend { version: Some(1), steps, answer: said(false), role: Role::Member };
    let amended = when(running, amend);
    assert_eq!((amended.version, amended.status), (2, PlanStatus::Proposed));
    assert_eq!(amended.decide(start(8, "changed")), Ok(vec![]));
    assert!(!amended.is_carried_out_by("a", call(7)), "nor what was granted before");
    assert_eq!(amended.decide(answer(true, 1)), Err(PlanRefusal::OtherVersion { asked: 1, current: 2 }));
    let again = when(amended, answer(true, 2));
    assert!(again.is_carried_out_by("a", call(7)), "an unchanged step keeps its call");
    assert_eq!(when(again, start(8, "changed")).status_of("b"), StepStatus::Running);
}

#[test]
fn one_answer_decides_and_a_repeat_is_a_receipt() {
    let rejected = when(proposed(), answer(false, 1));
    assert_eq!(rejected.decide(answer(false, 1)), Ok(vec![]));
    assert_eq!(rejected.decide(answer(true, 1)), Err(PlanRefusal::Closed(PlanStatus::Rejected)));
    let gone = when(proposed(), PlanCommand::Supersede);
    assert_eq!(gone.decide(answer(true, 1)), Err(PlanRefusal::Closed(PlanStatus::Superseded)));
}

#[test]
fn steps_that_could_never_be_done_are_flaws() {
    let pointers = |steps: &[PlanStep]| flaws(steps).into_iter().map(|flaw| flaw.pointer).collect::<Vec<_>>();
    assert_eq!(pointers(&[step("a", "1", &["z"])]), ["/steps/0/dependsOn"]);
    assert_eq!(pointers(&[step("a", "1", &[]), step("a", "2", &[])]), ["/steps/1/id"]);
    let circle = [step("a", "1", &["b"]), step("b", "2", &["a"]), step("c", "3", &[])];
    assert!(flaws(&circle)[0].expected.contains("a, b"));
    let unknown = PlanStep { capability: Some("agent.nothing".to_owned()), ..step("a", "1", &[]) };
    assert_eq!(pointers(&[unknown]), ["/steps/0/capability"]);
    let wrong = PlanStep { input: Some(json!({"language": "cobol", "code": "1"})), ..step("a", "1", &[]) };
    assert_eq!(pointers(&[wrong]), ["/steps/0/input/language"]);
    assert_eq!(pointers(&[]), ["/steps"]);
}
