//! A held call, its approval and the turn's cancel, in any order and with any repeats: one decision, one end.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use chrono::{DateTime, Utc};
use oxagen_domain::capability::{Surface, catalog};
use oxagen_domain::policy::ApprovalTerms;
use oxagen_domain::reaction::{self, Reaction};
use oxagen_domain::tool_call::{
    CallSpec, CallStatus, EditedInput, Ending, Ruling, Standing, ToolCall, ToolCallCommand, ToolCallEvent,
};
use oxagen_domain::{
    Actor, Approval, ApprovalCommand, ApprovalEvent, ApprovalId, ApprovalQuestion, Body, CallId, Decision,
    Digest, Entity, Event, ExecutionId, Fact, KeyLimits, PersonsAnswer, Role, RunnerId, StepId, TenantId,
    UserId, WorkspaceId,
};
use proptest::prelude::*;
use serde_json::json;
use uuid::Uuid;

#[derive(Clone, Copy, Debug)]
enum Act {
    Answer { approve: bool, by: u8, second: i64, edited: bool },
    Timer { second: i64 },
    Cancel,
    React { nth: usize },
    Start { runner: u8, may_rerun: bool },
    Finish { attempt: u32 },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (any::<bool>(), 1..4_u8, 0..80_i64, any::<bool>())
            .prop_map(|(approve, by, second, edited)| Act::Answer { approve, by, second, edited }),
        (0..80_i64).prop_map(|second| Act::Timer { second }),
        Just(Act::Cancel),
        (0..3_usize).prop_map(|nth| Act::React { nth }),
        (1..3_u8, any::<bool>()).prop_map(|(runner, may_rerun)| Act::Start { runner, may_rerun }),
        (0..4_u32).prop_map(|attempt| Act::Finish { attempt }),
    ]
}

fn at(second: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_800_000_000 + second, 0).unwrap()
}

struct Story {
    approval: Approval,
    call: ToolCall,
    approval_events: Vec<ApprovalEvent>,
    call_events: Vec<ToolCallEvent>,
}

impl Story {
    fn begin(needed: u32) -> Self {
        let input = json!({"language": "python", "code": "1"});
        let tool = catalog::find("agent.code.execute").unwrap();
        let call_id = CallId(Uuid::from_u128(1));
        let approval_id = ApprovalId::of_call(call_id);
        let spec = CallSpec {
            call_id,
            capability: tool.name.to_owned(),
            tool_version_id: tool.version_id(),
            surface: Surface::Agent,
            effect: tool.effect,
            risk: tool.risk,
            input: Body::Inline(input.clone()),
            input_digest: Digest::of_canonical(&input),
            execution_id: ExecutionId::default(),
            execution_step_id: StepId::default(),
            place: None,
            requested_by: UserId::default(),
            role: Role::Member,
            limits: KeyLimits::default(),
            plan: None,
        };
        let question = ApprovalQuestion {
            approval_id,
            call_id,
            execution_step_id: StepId::default(),
            capability: spec.capability.clone(),
            input: spec.input.clone(),
            input_digest: spec.input_digest.clone(),
            risk: spec.risk,
            rule: "capability.asks_approval".to_owned(),
            requested_by: UserId::default(),
            expires_at: at(60),
            reason: None,
            terms: ApprovalTerms { needed, ..ApprovalTerms::default() },
            asked_before: 0,
        };
        let ruling = Ruling::Hold { rule: question.rule.clone(), approval_id };
        let mut story = Self {
            approval: Approval::default(),
            call: ToolCall::default(),
            approval_events: vec![],
            call_events: vec![],
        };
        story.tell_approval(ApprovalCommand::Request(question));
        story.tell_call(ToolCallCommand::Request { spec, ruling, at: at(0) });
        story
    }

    fn tell_approval(&mut self, command: ApprovalCommand) {
        for event in self.approval.decide(command).unwrap_or_default() {
            self.approval.evolve(event.clone());
            self.approval_events.push(event);
        }
    }

    fn tell_call(&mut self, command: ToolCallCommand) {
        for event in self.call.decide(command).unwrap_or_default() {
            self.call.evolve(event.clone());
            self.call_events.push(event);
        }
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Answer { approve, by, second, edited } => {
                let input = json!({"language": "python", "code": "edited"});
                let input_digest = Digest::of_canonical(&input);
                let edited = edited.then_some(EditedInput { input: Body::Inline(input), input_digest });
                self.tell_approval(ApprovalCommand::Answer(PersonsAnswer {
                    decision: if approve { Decision::Approve } else { Decision::Deny },
                    by: UserId(Uuid::from_u128(by.into())),
                    role: Role::Member,
                    at: at(second),
                    note: None,
                    edited,
                }));
            }
            Act::Timer { second } => self.tell_approval(ApprovalCommand::Expire { now: at(second) }),
            // One commit, as a cancelled turn makes it.
            Act::Cancel => {
                self.tell_call(ToolCallCommand::Cancel {
                    reason: "the turn was cancelled".to_owned(),
                    at: at(5),
                });
                self.tell_approval(ApprovalCommand::Supersede);
            }
            Act::React { nth } => self.react(nth),
            Act::Start { runner, may_rerun } => self.tell_call(ToolCallCommand::Start {
                runner_id: RunnerId(Uuid::from_u128(runner.into())),
                may_rerun,
                at: at(10),
            }),
            Act::Finish { attempt } => self.tell_call(ToolCallCommand::Finish {
                attempt,
                ending: Ending::Completed { output: Body::Inline(json!({})), excerpt: None },
                at: at(20),
            }),
        }
    }

    /// The reactor is given the approval's nth fact, perhaps again.
    fn react(&mut self, nth: usize) {
        let Some(event) = self.approval_events.get(nth).cloned() else { return };
        for reaction in reaction::react(&fact(), &Event::Approval(event)) {
            match reaction {
                Reaction::ClearCall { approval, edited, .. } => {
                    self.tell_call(ToolCallCommand::Clear { approval_id: approval, edited });
                }
                Reaction::RefuseCall { approval, refused, .. } => {
                    self.tell_call(ToolCallCommand::Refuse { approval_id: approval, refused, at: at(7) });
                }
                Reaction::AnswerTurn { .. } | Reaction::BeginTurn { .. } | Reaction::StopCalls { .. } => {}
            }
        }
    }

    /// What happens by itself in the end: every fact reaches the reactor, a cleared call runs to its end.
    fn settle(&mut self) {
        self.act(Act::Timer { second: 60 });
        (0..self.approval_events.len()).for_each(|nth| self.react(nth));
        self.act(Act::Start { runner: 1, may_rerun: true });
        self.act(Act::Finish { attempt: self.call.attempt });
    }
}

fn fact() -> Fact {
    Fact {
        seq: 1,
        event_id: Uuid::from_u128(1),
        kind: "approval.approved".to_owned(),
        version: 1,
        aggregate_type: "approval".to_owned(),
        aggregate_id: String::new(),
        aggregate_version: 1,
        tenant_id: TenantId::default(),
        workspace_id: WorkspaceId::default(),
        conversation_id: None,
        turn_id: None,
        actor: Actor::system("test"),
        causation_id: Uuid::nil(),
        correlation_id: Uuid::nil(),
        traceparent: None,
        occurred_at: at(0),
        payload: json!({}),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn f11_one_decision_and_one_end_whatever_the_order(acts in prop::collection::vec(act(), 0..24), needed in 1..4_u32) {
        let mut story = Story::begin(needed);
        acts.iter().for_each(|act| story.act(*act));
        story.settle();

        let closings = story
            .approval_events
            .iter()
            .filter(|event| !matches!(event, ApprovalEvent::Requested { .. } | ApprovalEvent::Voted { .. }))
            .count();
        prop_assert_eq!(closings, 1, "an approval is closed once: {:?}", story.approval_events);

        let position = |wanted: fn(&ToolCallEvent) -> bool| story.call_events.iter().position(wanted);
        if let Some(started) = position(|event| matches!(event, ToolCallEvent::Started { .. })) {
            let cleared = position(|event| matches!(event, ToolCallEvent::Cleared { .. }));
            prop_assert!(cleared.is_some_and(|cleared| cleared < started), "it starts only when cleared");
            let approved = story.approval_events.iter().find_map(|event| match event {
                ApprovalEvent::Approved { edited, .. } => Some(edited.clone()),
                ApprovalEvent::Requested { .. }
                | ApprovalEvent::Voted { .. }
                | ApprovalEvent::Denied { .. }
                | ApprovalEvent::Expired { .. }
                | ApprovalEvent::Superseded { .. } => None,
            });
            prop_assert!(approved.is_some(), "it starts only when enough people approved");
            if let Some(Some(edited)) = approved {
                let spec = story.call.spec.as_ref().unwrap();
                prop_assert_eq!(&spec.input_digest, &edited.input_digest, "it runs with what was approved");
            }
            let voters: std::collections::BTreeSet<_> = story.approval.answers.iter().map(|a| a.by).collect();
            prop_assert_eq!(voters.len() as u32, needed, "each of them is another person");
            let starts = story.call_events.iter().filter(|e| matches!(e, ToolCallEvent::Started { attempt: 1, .. }));
            prop_assert_eq!(starts.count(), 1, "at most one effect");
        }

        prop_assert!(matches!(story.call.standing, Standing::Ended(_)), "it ends: {:?}", story.call.standing);
        let ends: Vec<CallStatus> = story.call_events.iter().filter_map(end).collect();
        let settled = ends.iter().filter(|status| **status != CallStatus::InDoubt).count();
        prop_assert!(settled <= 1 && ends.len() - settled <= 1, "one end, or one doubt and its settlement: {ends:?}");
        prop_assert!(ends.len() < 2 || ends[0] == CallStatus::InDoubt, "nothing follows an end: {ends:?}");
    }
}

fn end(event: &ToolCallEvent) -> Option<CallStatus> {
    match event {
        ToolCallEvent::Completed { record, .. }
        | ToolCallEvent::Failed { record, .. }
        | ToolCallEvent::Cancelled { record, .. }
        | ToolCallEvent::Denied { record, .. }
        | ToolCallEvent::InDoubt { record, .. } => Some(record.status),
        ToolCallEvent::Requested { .. }
        | ToolCallEvent::Held { .. }
        | ToolCallEvent::Cleared { .. }
        | ToolCallEvent::Settled { .. }
        | ToolCallEvent::Started { .. } => None,
    }
}
