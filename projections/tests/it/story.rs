//! Things that happen, told through the aggregates themselves, so that the facts are as the runtime makes them.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use oxagen_domain::capability::{Surface, catalog};
use oxagen_domain::policy::{ApprovalTerms, Mode, Policy, PolicyCommand, PolicyDocument};
use oxagen_domain::tool_call::{CallSpec, Ending, Place, Ruling, ToolCall, ToolCallCommand};
use oxagen_domain::turn::{Budget, Outcome, StepCall, StepResult, Turn, TurnCommand, TurnSpec, Usage};
use oxagen_domain::{
    Actor, Agent, AgentCommand, AgentId, AgentVersionId, ApiKey, ApiKeyCommand, ApiKeyId, Approval,
    ApprovalCommand, ApprovalId, ApprovalQuestion, Body, CallId, Conversation, ConversationCommand,
    ConversationId, Decision, Digest, Entity, EventKind, ExecutionId, KeyLimits, KeyRecord, Message,
    MessageId, Metadata, OnBusy, PersonsAnswer, Role, RunnerId, Scope, StepId, TenantId, TurnId, UserId,
    Workspace, WorkspaceCommand, WorkspaceId,
};
use oxagen_journal::NewEvent;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

/// The one runner.
pub(crate) const RUNNER: RunnerId = RunnerId(Uuid::from_u128(77));

/// What happens in one workspace, not yet committed.
pub(crate) struct Story {
    pub(crate) scope: Scope,
    pub(crate) user: UserId,
    pub(crate) agent: AgentId,
    pub(crate) agent_version: AgentVersionId,
    versions: HashMap<String, u64>,
    events: Vec<NewEvent>,
    seconds: i64,
}

/// One turn with one call that a person approves.
#[derive(Clone, Copy)]
pub(crate) struct Talk {
    pub(crate) conversation: ConversationId,
    pub(crate) turn: TurnId,
    pub(crate) message: MessageId,
    pub(crate) answer: MessageId,
    pub(crate) call: CallId,
    pub(crate) approval: ApprovalId,
}

impl Story {
    /// A new workspace with its tools, policy, agent and key.
    pub(crate) fn new() -> Self {
        let scope = Scope { tenant: TenantId(Uuid::now_v7()), workspace: WorkspaceId(Uuid::now_v7()) };
        let (user, agent) = (UserId(Uuid::now_v7()), AgentId(Uuid::now_v7()));
        let agent_version = AgentVersionId(Uuid::now_v7());
        let mut story = Self {
            scope,
            user,
            agent,
            agent_version,
            versions: HashMap::new(),
            events: Vec::new(),
            seconds: 0,
        };
        let mut workspace = Workspace::default();
        let id = scope.workspace.0;
        story.tell(&mut workspace, id, None, WorkspaceCommand::Create { name: "home".to_owned() });
        story.tell(&mut workspace, id, None, WorkspaceCommand::PublishTools);
        let document =
            PolicyDocument { enabled: ["agent.code.execute".to_owned()].into(), ..Default::default() };
        story.tell(&mut Policy::default(), id, None, PolicyCommand::Set(document));
        let publish = AgentCommand::Publish {
            name: "helper".to_owned(),
            agent_version_id: agent_version,
            instructions: "Help.".to_owned(),
        };
        story.tell(&mut Agent::default(), agent.0, None, publish);
        let key_id = ApiKeyId(Uuid::now_v7());
        let hash = "0".repeat(64);
        let record = KeyRecord {
            key_id,
            name: "first".to_owned(),
            user_id: user,
            role: Role::Owner,
            limits: KeyLimits::default(),
            hash,
        };
        story.tell(&mut ApiKey::default(), key_id.0, None, ApiKeyCommand::Create { scope, record });
        story
    }

    /// A turn from the message to the answer, with a call that waits for its approval.
    pub(crate) fn turn(&mut self) -> Talk {
        let (mut turn, mut call, mut approval) = (Turn::default(), ToolCall::default(), Approval::default());
        let talk = self.ask(&mut turn);
        let place = Some(talk);
        self.hold(talk, &mut turn, &mut call, &mut approval);
        let (decision, by, note) = (Decision::Approve, self.user, Some("go on".to_owned()));
        let at = self.now();
        let answer = PersonsAnswer { decision, by, role: Role::Owner, at, note, edited: None };
        self.tell(&mut approval, talk.approval.0, place, ApprovalCommand::Answer(answer));
        let clear = ToolCallCommand::Clear { approval_id: talk.approval, edited: None };
        self.tell(&mut call, talk.call.0, place, clear);
        self.tell(&mut turn, talk.turn.0, place, TurnCommand::Answer { cause: Uuid::from_u128(5) });
        self.run(talk.call, place, &mut call);
        self.tell(&mut turn, talk.turn.0, place, TurnCommand::StartStep { epoch: 1, step: 2, attempt: 1 });
        let result = said("It is 42.", vec![]);
        self.tell(&mut turn, talk.turn.0, place, TurnCommand::CompleteStep { epoch: 1, result });
        let outcome = Outcome::Completed;
        self.tell(&mut turn, talk.turn.0, place, TurnCommand::Finish { epoch: 1, outcome });
        talk
    }

    /// A turn that waits for an approval.
    pub(crate) fn held_turn(&mut self) -> Talk {
        let (mut turn, mut call, mut approval) = (Turn::default(), ToolCall::default(), Approval::default());
        let talk = self.ask(&mut turn);
        self.hold(talk, &mut turn, &mut call, &mut approval);
        talk
    }

    /// A call outside a turn, to its end.
    pub(crate) fn direct_call(&mut self) -> CallId {
        let (id, mut call) = (CallId(Uuid::now_v7()), ToolCall::default());
        let (spec, at) = (self.spec(id, None), self.now());
        let ruling = Ruling::Clear { rule: "default".to_owned() };
        self.tell(&mut call, id.0, None, ToolCallCommand::Request { spec, ruling, at });
        self.run(id, None, &mut call);
        id
    }

    /// A call outside a turn whose runner died, and which a late result settles: the two ends of it.
    pub(crate) fn doubtful_call(&mut self) -> CallId {
        let (id, mut call) = (CallId(Uuid::now_v7()), ToolCall::default());
        let (spec, at) = (self.spec(id, None), self.now());
        let ruling = Ruling::Clear { rule: "default".to_owned() };
        self.tell(&mut call, id.0, None, ToolCallCommand::Request { spec, ruling, at });
        let start = |at| ToolCallCommand::Start { runner_id: RUNNER, may_rerun: false, at };
        let at = self.now();
        self.tell(&mut call, id.0, None, start(at));
        let other = RunnerId(Uuid::from_u128(78));
        let at = self.now();
        self.tell(&mut call, id.0, None, ToolCallCommand::Start { runner_id: other, may_rerun: false, at });
        self.finish(id, None, &mut call);
        id
    }

    fn ask(&mut self, turn: &mut Turn) -> Talk {
        let turn_id = TurnId(Uuid::now_v7());
        let call = CallId::of_step(turn_id, 1, 0);
        let talk = Talk {
            conversation: ConversationId(Uuid::now_v7()),
            turn: turn_id,
            message: MessageId(Uuid::now_v7()),
            answer: MessageId(Uuid::now_v7()),
            call,
            approval: ApprovalId::of_call(call),
        };
        let place = Some(talk);
        let message = Message {
            message_id: talk.message,
            parent_message_id: None,
            text: "What is six times seven?".to_owned(),
            turn_id,
            assistant_message_id: talk.answer,
        };
        let post = ConversationCommand::Post { message, on_busy: OnBusy::Reject };
        self.tell(&mut Conversation::default(), talk.conversation.0, place, post);
        let spec = TurnSpec {
            turn_id,
            conversation_id: talk.conversation,
            user_message_id: talk.message,
            assistant_message_id: talk.answer,
            agent_id: self.agent,
            agent_version_id: self.agent_version,
            model: None,
            budget: Budget::default(),
            requested_by: self.user,
            mode: Mode::Act,
            role: Role::Owner,
            limits: KeyLimits::default(),
            request_digest: Digest::of(b"request"),
        };
        let at = self.now();
        self.tell(turn, turn_id.0, place, TurnCommand::Request { spec, queued: false, at });
        self.tell(turn, turn_id.0, place, TurnCommand::Claim { runner_id: RUNNER });
        talk
    }

    fn hold(&mut self, talk: Talk, turn: &mut Turn, call: &mut ToolCall, approval: &mut Approval) {
        let place = Some(talk);
        self.tell(turn, talk.turn.0, place, TurnCommand::StartStep { epoch: 1, step: 1, attempt: 1 });
        let name = "agent_code_execute".to_owned();
        let result = said(
            "I compute it.",
            vec![StepCall { call_id: talk.call, name, provider_call_id: "c1".to_owned() }],
        );
        self.tell(turn, talk.turn.0, place, TurnCommand::CompleteStep { epoch: 1, result });
        let (spec, at) = (self.spec(talk.call, place), self.now());
        let question = ApprovalQuestion {
            approval_id: talk.approval,
            call_id: talk.call,
            execution_step_id: spec.execution_step_id,
            capability: spec.capability.clone(),
            input: spec.input.clone(),
            input_digest: spec.input_digest.clone(),
            risk: spec.risk,
            rule: "capability.asks_approval".to_owned(),
            requested_by: self.user,
            expires_at: at + chrono::Duration::hours(1),
            reason: None,
            terms: ApprovalTerms::default(),
            asked_before: 0,
        };
        let ruling = Ruling::Hold { rule: question.rule.clone(), approval_id: talk.approval };
        self.tell(call, talk.call.0, place, ToolCallCommand::Request { spec, ruling, at });
        self.tell(approval, talk.approval.0, place, ApprovalCommand::Request(question));
        self.tell(turn, talk.turn.0, place, TurnCommand::Pause { epoch: 1, waiting: vec![talk.call] });
    }

    fn run(&mut self, id: CallId, place: Option<Talk>, call: &mut ToolCall) {
        let at = self.now();
        self.tell(call, id.0, place, ToolCallCommand::Start { runner_id: RUNNER, may_rerun: true, at });
        self.finish(id, place, call);
    }

    fn finish(&mut self, id: CallId, place: Option<Talk>, call: &mut ToolCall) {
        let ending = Ending::Completed { output: Body::Inline(json!({"stdout": "42\n"})), excerpt: None };
        let at = self.now();
        self.tell(call, id.0, place, ToolCallCommand::Finish { attempt: 1, ending, at });
    }

    fn spec(&self, id: CallId, place: Option<Talk>) -> CallSpec {
        let tool = catalog::find("agent.code.execute").unwrap();
        let input = json!({"language": "python", "code": "print(6 * 7)"});
        let execution = match place {
            Some(talk) => ExecutionId::of_turn(talk.turn),
            None => ExecutionId::of_direct_call(id),
        };
        CallSpec {
            call_id: id,
            capability: tool.name.to_owned(),
            tool_version_id: tool.version_id(),
            surface: if place.is_some() { Surface::Agent } else { Surface::Api },
            effect: tool.effect,
            risk: tool.risk,
            input_digest: Digest::of_canonical(&input),
            input: Body::Inline(input),
            execution_id: execution,
            execution_step_id: StepId::of(execution, 1),
            place: place.map(|talk| Place {
                conversation_id: talk.conversation,
                turn_id: talk.turn,
                message_id: talk.answer,
                step: 1,
                provider_call_id: "c1".to_owned(),
            }),
            requested_by: self.user,
            role: Role::Owner,
            limits: KeyLimits::default(),
            plan: None,
        }
    }

    /// Decides, takes in what happened, and notes it.
    fn tell<A>(&mut self, aggregate: &mut A, id: Uuid, place: Option<Talk>, command: <A as Entity>::Order)
    where
        A: Entity,
        <A as Entity>::Happening: Serialize,
    {
        for event in Entity::decide(aggregate, command).unwrap() {
            let version = self.versions.entry(format!("{}/{id}", A::TYPE)).or_default();
            *version += 1;
            let version = *version;
            let event_of = NewEvent {
                aggregate_type: A::TYPE,
                aggregate_id: id.to_string(),
                version,
                kind: event.kind(),
                form: event.version(),
                payload: serde_json::to_value(&event).unwrap(),
                metadata: self.metadata(place),
            };
            self.events.push(event_of);
            aggregate.evolve(event);
        }
    }

    fn metadata(&mut self, place: Option<Talk>) -> Metadata {
        Metadata {
            scope: self.scope,
            conversation: place.map(|talk| talk.conversation),
            turn: place.map(|talk| talk.turn),
            actor: Actor::system("test"),
            causation: Uuid::from_u128(1),
            correlation: Uuid::from_u128(2),
            traceparent: None,
            occurred_at: self.now(),
        }
    }

    fn now(&mut self) -> DateTime<Utc> {
        self.seconds += 1;
        DateTime::from_timestamp(1_790_000_000 + self.seconds, 0).unwrap()
    }

    /// What has happened since the last time.
    pub(crate) fn take(&mut self) -> Vec<NewEvent> {
        std::mem::take(&mut self.events)
    }
}

fn said(text: &str, calls: Vec<StepCall>) -> StepResult {
    StepResult {
        text: text.to_owned(),
        reasoning: "thinking".to_owned(),
        calls,
        finish: "stop".to_owned(),
        model: "scripted".to_owned(),
        usage: Usage { input_tokens: 10, output_tokens: 5 },
    }
}
