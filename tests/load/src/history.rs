//! History made up in bulk, through the aggregates themselves and the journal's own append, so that its facts are as
//! the runtime makes them. No tool runs and no model is asked.

use std::collections::HashMap;

use anyhow::Context;
use chrono::{DateTime, Utc};
use futures::{StreamExt, TryStreamExt, stream};
use oxagen_domain::capability::{Surface, catalog};
use oxagen_domain::policy::Mode;
use oxagen_domain::tool_call::{CallSpec, Ending, Place, Ruling, ToolCall, ToolCallCommand};
use oxagen_domain::turn::{Budget, Outcome, StepCall, StepResult, Turn, TurnCommand, TurnSpec, Usage};
use oxagen_domain::{
    Actor, AgentId, AgentVersionId, Body, CallId, Conversation, ConversationCommand, ConversationId, Digest,
    Entity, EventKind, ExecutionId, KeyLimits, Message, MessageId, Metadata, OnBusy, Role, RunnerId, Scope,
    StepId, TenantId, TurnId, UserId, WorkspaceId,
};
use oxagen_journal::{Journal, JournalOptions, NewEvent};
use oxagen_tests::Workspace;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::site::Site;

/// Calls in a turn.
const CALLS: usize = 3;
/// Turns in one commit.
const TURNS: usize = 20;
/// Commits under way.
const WRITERS: usize = 4;
const WAIT: std::time::Duration = std::time::Duration::from_secs(10);

/// Writes history for one workspace.
pub(crate) struct Author {
    journal: Journal,
    scope: Scope,
    user: UserId,
    agent: AgentId,
    agent_version: AgentVersionId,
    runner: RunnerId,
}

impl Author {
    /// Of this workspace: its own agent answers, and the owner of its first key asks.
    pub(crate) async fn of(site: &Site, workspace: &Workspace) -> anyhow::Result<Self> {
        const ASK: &str = "
            select (select payload #>> '{record,userId}' from journal.events
                    where event_type = 'api_key.created' and workspace_id = $1::uuid limit 1),
              aggregate_id, payload #>> '{version,agentVersionId}'
            from journal.events where event_type = 'agent.version_published' and workspace_id = $1::uuid limit 1";
        let (user, agent, version): (String, String, String) =
            sqlx::query_as(ASK).bind(&workspace.id).fetch_one(&site.postgres).await?;
        let options = JournalOptions {
            url: site.installation.settings["DATABASE_URL"].clone(),
            max_connections: WRITERS as u32,
            acquire_timeout: WAIT,
        };
        Ok(Self {
            journal: Journal::connect(&options).await?,
            scope: Scope {
                tenant: TenantId(workspace.tenant.parse()?),
                workspace: WorkspaceId(workspace.id.parse()?),
            },
            user: UserId(user.parse()?),
            agent: AgentId(agent.parse()?),
            agent_version: AgentVersionId(version.parse()?),
            runner: RunnerId(Uuid::now_v7()),
        })
    }

    /// Commits at least so many facts: conversations of one turn with three calls, and as many calls outside a turn
    /// as there are turns. Gives their number.
    pub(crate) async fn fill(&self, facts: u64) -> anyhow::Result<u64> {
        let mut first = Chapter::new(self);
        first.exchange()?;
        let commits = facts.div_ceil(first.events.len() as u64).div_ceil(TURNS as u64);
        let commit = async |_| {
            let mut chapter = Chapter::new(self);
            (0..TURNS).try_for_each(|_| chapter.exchange())?;
            let count = chapter.events.len() as u64;
            self.journal.append(chapter.events, &[]).await?;
            anyhow::Ok(count)
        };
        let counts = stream::iter(0..commits).map(commit).buffer_unordered(WRITERS);
        counts.try_fold(0, async |sum, count| Ok(sum + count)).await
    }

    /// Commits a conversation of so many turns, each with three calls, and gives its identifier.
    pub(crate) async fn conversation(&self, turns: usize) -> anyhow::Result<String> {
        let (mut conversation, id) = (Conversation::default(), ConversationId(Uuid::now_v7()));
        let mut chapter = Chapter::new(self);
        for nth in 1..=turns {
            chapter.turn(&mut conversation, id)?;
            if nth.is_multiple_of(TURNS) || nth == turns {
                self.journal.append(std::mem::take(&mut chapter.events), &[]).await?;
            }
        }
        Ok(id.to_string())
    }
}

/// What one commit holds.
struct Chapter<'a> {
    author: &'a Author,
    versions: HashMap<Uuid, u64>,
    events: Vec<NewEvent>,
}

/// Where something happens.
type Where = Option<(ConversationId, TurnId)>;

impl<'a> Chapter<'a> {
    fn new(author: &'a Author) -> Self {
        Self { author, versions: HashMap::new(), events: Vec::new() }
    }

    /// A conversation of one turn, and a call outside any.
    fn exchange(&mut self) -> anyhow::Result<()> {
        self.turn(&mut Conversation::default(), ConversationId(Uuid::now_v7()))?;
        let id = CallId(Uuid::now_v7());
        self.call(self.spec(id, ExecutionId::of_direct_call(id), None)?, None)
    }

    /// A turn from its message to its answer.
    fn turn(
        &mut self,
        conversation: &mut Conversation,
        conversation_id: ConversationId,
    ) -> anyhow::Result<()> {
        let turn_id = TurnId(Uuid::now_v7());
        let (asked, answer) = (MessageId(Uuid::now_v7()), MessageId(Uuid::now_v7()));
        let place = Some((conversation_id, turn_id));
        let mut turn = Turn::default();
        let message = Message {
            message_id: asked,
            parent_message_id: None,
            text: "Which tools are there, and what does each of them do?".to_owned(),
            turn_id,
            assistant_message_id: answer,
        };
        let post = ConversationCommand::Post { message, on_busy: OnBusy::Reject };
        self.tell(conversation, conversation_id.0, place, post)?;
        let spec = TurnSpec {
            turn_id,
            conversation_id,
            user_message_id: asked,
            assistant_message_id: answer,
            agent_id: self.author.agent,
            agent_version_id: self.author.agent_version,
            model: None,
            budget: Budget::default(),
            mode: Mode::Act,
            requested_by: self.author.user,
            role: Role::Owner,
            limits: KeyLimits::default(),
            request_digest: Digest::of(b"made up"),
        };
        self.tell(&mut turn, turn_id.0, place, TurnCommand::Request { spec, queued: false, at: now() })?;
        self.tell(&mut turn, turn_id.0, place, TurnCommand::Claim { runner_id: self.author.runner })?;
        self.tell(&mut turn, turn_id.0, place, TurnCommand::StartStep { epoch: 1, step: 1, attempt: 1 })?;
        let calls: Vec<_> = (0..CALLS).map(|nth| CallId::of_step(turn_id, 1, nth)).collect();
        let step_call = |call: &CallId| StepCall {
            call_id: *call,
            name: "agent_tool_list".to_owned(),
            provider_call_id: call.to_string(),
        };
        let result = said("I look.", calls.iter().map(step_call).collect());
        self.tell(&mut turn, turn_id.0, place, TurnCommand::CompleteStep { epoch: 1, result })?;
        for call in calls {
            let in_turn = Place {
                conversation_id,
                turn_id,
                message_id: answer,
                step: 1,
                provider_call_id: call.to_string(),
            };
            self.call(self.spec(call, ExecutionId::of_turn(turn_id), Some(in_turn))?, place)?;
        }
        self.tell(&mut turn, turn_id.0, place, TurnCommand::StartStep { epoch: 1, step: 2, attempt: 1 })?;
        let result = said("There is one that lists tools and one that runs code.", Vec::new());
        self.tell(&mut turn, turn_id.0, place, TurnCommand::CompleteStep { epoch: 1, result })?;
        let outcome = Outcome::Completed;
        self.tell(&mut turn, turn_id.0, place, TurnCommand::Finish { epoch: 1, outcome })?;
        self.tell(conversation, conversation_id.0, place, ConversationCommand::CloseTurn { turn_id })
    }

    /// A call from its request to its result.
    fn call(&mut self, spec: CallSpec, place: Where) -> anyhow::Result<()> {
        let (id, mut call) = (spec.call_id.0, ToolCall::default());
        let ruling = Ruling::Clear { rule: "default".to_owned() };
        self.tell(&mut call, id, place, ToolCallCommand::Request { spec, ruling, at: now() })?;
        let start = ToolCallCommand::Start { runner_id: self.author.runner, may_rerun: true, at: now() };
        self.tell(&mut call, id, place, start)?;
        let output = json!({"tools": [{"name": "agent.tool.list", "effect": "read", "risk": "low"}]});
        let ending = Ending::Completed { output: Body::Inline(output), excerpt: None };
        self.tell(&mut call, id, place, ToolCallCommand::Finish { attempt: 1, ending, at: now() })
    }

    fn spec(
        &self,
        call_id: CallId,
        execution: ExecutionId,
        place: Option<Place>,
    ) -> anyhow::Result<CallSpec> {
        let tool = catalog::find("agent.tool.list").context("the catalogue has no agent.tool.list")?;
        let input = json!({});
        Ok(CallSpec {
            call_id,
            capability: tool.name.to_owned(),
            tool_version_id: tool.version_id(),
            surface: if place.is_some() { Surface::Agent } else { Surface::Api },
            effect: tool.effect,
            risk: tool.risk,
            input_digest: Digest::of_canonical(&input),
            input: Body::Inline(input),
            execution_id: execution,
            execution_step_id: StepId::of(execution, 1),
            place,
            requested_by: self.author.user,
            role: Role::Owner,
            limits: KeyLimits::default(),
            plan: None,
        })
    }

    /// Decides, takes in what happened, and notes it.
    fn tell<A>(
        &mut self,
        aggregate: &mut A,
        id: Uuid,
        place: Where,
        command: <A as Entity>::Order,
    ) -> anyhow::Result<()>
    where
        A: Entity,
        <A as Entity>::Happening: Serialize,
    {
        for event in Entity::decide(aggregate, command)? {
            let version = self.versions.entry(id).or_default();
            *version += 1;
            self.events.push(NewEvent {
                aggregate_type: A::TYPE,
                aggregate_id: id.to_string(),
                version: *version,
                kind: event.kind(),
                form: event.version(),
                payload: serde_json::to_value(&event)?,
                metadata: Metadata {
                    scope: self.author.scope,
                    conversation: place.map(|(conversation, _)| conversation),
                    turn: place.map(|(_, turn)| turn),
                    actor: Actor::system("load"),
                    causation: id,
                    correlation: id,
                    traceparent: None,
                    occurred_at: now(),
                },
            });
            Entity::evolve(aggregate, event);
        }
        Ok(())
    }
}

fn said(text: &str, calls: Vec<StepCall>) -> StepResult {
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    StepResult {
        text: text.to_owned(),
        reasoning: String::new(),
        calls,
        finish: finish.to_owned(),
        model: "scripted".to_owned(),
        usage: Usage { input_tokens: 120, output_tokens: 30 },
    }
}

fn now() -> DateTime<Utc> {
    Utc::now()
}
