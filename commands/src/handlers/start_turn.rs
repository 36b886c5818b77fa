//! A person sends a message: it joins the conversation and gets a turn, in one commit.

use chrono::Utc;
use oxagen_domain::capability::Flaw;
use oxagen_domain::policy::Mode;
use oxagen_domain::turn::{Budget, Turn, TurnCommand, TurnSpec};
use oxagen_domain::{
    Agent, AgentId, AgentVersionId, Conversation, ConversationCommand, ConversationEvent, ConversationId,
    Digest, Message, MessageId, OnBusy, Right, TurnId,
};
use oxagen_journal::Loaded;
use serde::Serialize;
use uuid::Uuid;

use super::create_workspace::default_agent;
use crate::unit::Unit;
use crate::{Caller, Code, CommandError, Commands};

/// Bytes of a message at most.
const TEXT_LIMIT: usize = 256 * 1024;

/// What a person sends.
#[derive(Clone, Debug, Default)]
pub struct StartTurn {
    /// The conversation; none starts a new one.
    pub conversation_id: Option<ConversationId>,
    /// The message that it follows; none for the newest one, nil for another beginning.
    pub parent_message_id: Option<MessageId>,
    /// The message: 1 byte to 256 KiB.
    pub text: String,
    /// The agent; none for the workspace's own.
    pub agent_id: Option<AgentId>,
    /// The model; none for the runtime's default.
    pub model: Option<String>,
    /// Limits.
    pub budget: Budget,
    /// Whether the agent acts or plans first.
    pub mode: Mode,
    /// What to do if a turn runs.
    pub on_busy: OnBusy,
    /// The same key gives the same turn.
    pub idempotency_key: Option<String>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnReceipt {
    /// The turn.
    pub turn_id: TurnId,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The person's message.
    pub message_id: MessageId,
}

impl Commands {
    /// Starts a turn. The same `Idempotency-Key` gives the first receipt again.
    ///
    /// # Errors
    /// [`Code::InvalidInput`], [`Code::NotFound`], [`Code::ConversationBusy`], [`Code::ConversationArchived`],
    /// [`Code::IdempotencyKeyReused`], [`Code::Forbidden`], [`Code::Unavailable`].
    pub async fn start_turn(&self, caller: &Caller, request: StartTurn) -> Result<TurnReceipt, CommandError> {
        caller.must(Right::Act)?;
        check(&request)?;
        let key = request.idempotency_key.as_deref();
        let turn_id = TurnId(key.map_or_else(Uuid::now_v7, |key| {
            oxagen_domain::derive(caller.scope.workspace.0, &format!("turns/{key}"))
        }));
        let conversation_id =
            request.conversation_id.unwrap_or_else(|| ConversationId::derived(turn_id.0, "conversation"));
        let receipt =
            TurnReceipt { turn_id, conversation_id, message_id: MessageId::derived(turn_id.0, "user") };
        let request_digest = digest(&request);
        let context = caller.context(Some(conversation_id), Some(turn_id));
        let mut rounds = self.rounds();
        loop {
            let mut unit = self.unit(&context, &rounds);
            // A repeat in a conversation that exists would be told that it is busy, so it is looked up first.
            if key.is_none() || request.conversation_id.is_none() {
                unit.expect_new::<Turn>(&turn_id.to_string());
            }
            if let Some(first) = unit.load::<Turn>(&turn_id.to_string()).await?.state.spec {
                return repeated(&first, &request_digest, receipt);
            }
            let spec = self.spec(&mut unit, caller, &request, &receipt).await?;
            let spec = TurnSpec { request_digest: request_digest.clone(), ..spec };
            stage(&mut unit, caller, &request, spec).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(receipt);
            }
        }
    }

    async fn spec(
        &self,
        unit: &mut Unit<'_>,
        caller: &Caller,
        request: &StartTurn,
        receipt: &TurnReceipt,
    ) -> Result<TurnSpec, CommandError> {
        let agent_id = request.agent_id.unwrap_or_else(|| default_agent(caller.scope.workspace));
        let agent = unit.rest_on::<Agent>(&agent_id.to_string()).await?;
        let agent = unit.own(Loaded::clone(&agent), "agent")?.state;
        let newest =
            agent.versions.last().map_or_else(AgentVersionId::default, |version| version.agent_version_id);
        Ok(TurnSpec {
            turn_id: receipt.turn_id,
            conversation_id: receipt.conversation_id,
            user_message_id: receipt.message_id,
            assistant_message_id: MessageId::derived(receipt.turn_id.0, "assistant"),
            agent_id,
            agent_version_id: newest,
            model: request.model.clone(),
            budget: request.budget,
            mode: request.mode,
            requested_by: caller.user,
            role: caller.role,
            limits: caller.limits.clone(),
            request_digest: Digest::of(&[]),
        })
    }
}

/// Message and turn are one commit: a message that no turn answers would astonish its sender.
async fn stage(
    unit: &mut Unit<'_>,
    caller: &Caller,
    request: &StartTurn,
    spec: TurnSpec,
) -> Result<(), CommandError> {
    let conversation = spec.conversation_id.to_string();
    if request.conversation_id.is_some() {
        unit.owned::<Conversation>(&conversation, "conversation").await?;
    } else {
        unit.expect_new::<Conversation>(&conversation);
    }
    let open = unit.load::<Conversation>(&conversation).await?.state.open;
    let message = Message {
        message_id: spec.user_message_id,
        parent_message_id: request.parent_message_id,
        text: request.text.clone(),
        turn_id: spec.turn_id,
        assistant_message_id: spec.assistant_message_id,
    };
    let command = ConversationCommand::Post { message, on_busy: request.on_busy };
    let posted = unit.decide::<Conversation>(&conversation, command).await?;
    let queued =
        posted.iter().any(|event| matches!(event, ConversationEvent::MessageAdded { queued: true, .. }));
    let (turn, at) = (spec.turn_id, Utc::now());
    unit.decide::<Turn>(&turn.to_string(), TurnCommand::Request { spec, queued, at }).await?;
    if let (OnBusy::Interrupt, Some(running)) = (request.on_busy, open) {
        unit.on_turn(Some(running));
        let reason = "another message interrupted it".to_owned();
        unit.decide::<Turn>(&running.to_string(), TurnCommand::RequestCancel { by: caller.user, reason })
            .await?;
    }
    Ok(())
}

fn check(request: &StartTurn) -> Result<(), CommandError> {
    let mut flaws = Vec::new();
    if request.text.trim().is_empty() {
        flaws.push(Flaw::new("/text", "a message needs some text".to_owned()));
    }
    if request.text.len() > TEXT_LIMIT {
        let text = format!("at most {TEXT_LIMIT} bytes are allowed, there are {}", request.text.len());
        flaws.push(Flaw::new("/text", text));
    }
    if !(1..=500).contains(&request.budget.max_steps) {
        flaws.push(Flaw::new("/budget/maxSteps", "must be between 1 and 500".to_owned()));
    }
    if request.budget.max_tool_calls > 1000 {
        flaws.push(Flaw::new("/budget/maxToolCalls", "must be at most 1000".to_owned()));
    }
    if request.parent_message_id.is_some() && request.conversation_id.is_none() {
        flaws.push(Flaw::new("/parentMessageId", "needs a conversationId beside it".to_owned()));
    }
    if request.idempotency_key.as_ref().is_some_and(|key| key.is_empty() || key.len() > 255) {
        flaws.push(Flaw::new("", "an Idempotency-Key has 1 to 255 characters".to_owned()));
    }
    if flaws.is_empty() { Ok(()) } else { Err(CommandError::invalid(flaws)) }
}

fn digest(request: &StartTurn) -> Digest {
    let mut all = serde_json::json!([
        request.conversation_id,
        request.parent_message_id,
        request.text,
        request.agent_id,
        request.model,
        request.budget,
        request.on_busy,
    ]);
    if let (serde_json::Value::Array(all), false) = (&mut all, request.mode.is_act()) {
        all.push(serde_json::json!(request.mode));
    }
    Digest::of_canonical(&all)
}

fn repeated(first: &TurnSpec, digest: &Digest, receipt: TurnReceipt) -> Result<TurnReceipt, CommandError> {
    if first.request_digest == *digest {
        return Ok(receipt);
    }
    let text = "this Idempotency-Key was used for another request: use a new key for a new request";
    Err(CommandError::new(Code::IdempotencyKeyReused, text))
}
