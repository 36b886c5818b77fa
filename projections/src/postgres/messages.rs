//! `chat.messages`: the graph of messages and their blocks. Fed by conversations, turns, tool calls and approvals;
//! read by the gateway, which adds how calls and approvals stand.
//!
//! A turn's facts do not name its message, so their blocks are appended by turn. Each block carries the `seq` of its
//! fact: a repeated one is told by that and left out, a late one finds its place.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use oxagen_domain::plan::PlanEvent;
use oxagen_domain::tool_call::ToolCallEvent;
use oxagen_domain::turn::{MAX_ATTEMPTS, TurnEvent};
use oxagen_domain::{ApprovalEvent, ConversationEvent};
use serde_json::{Value, json};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::source::Source;
use crate::table::{Key, Rows, Table, table};

table! {
    /// A message.
    Message in "chat.messages" by turn_id {
        conversation_id: Uuid, parent_message_id: Uuid, role: String, turn_id: Uuid, blocks: Value,
        created_at: DateTime<Utc>,
    }
}

const APPEND: &str = "
update chat.messages m set sequence = greatest(m.sequence, u.sequence), blocks = (
  select jsonb_agg(b.block order by (b.block ->> 'seq')::bigint, b.place) from (
    select block, place from jsonb_array_elements(m.blocks) with ordinality e (block, place)
    union all
    select block, place from jsonb_array_elements(u.blocks) with ordinality n (block, place)
    where not m.blocks @> jsonb_build_array(jsonb_build_object('seq', block -> 'seq'))) b)
from unnest($1, $2, $3, $4, $5) as u (tenant_id, workspace_id, turn_id, sequence, blocks)
where m.tenant_id = u.tenant_id and m.workspace_id = u.workspace_id and m.turn_id = u.turn_id
  and m.role = 'assistant'";

/// Messages that a batch adds, and blocks that it appends to answers, by turn.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Messages {
    pub(crate) added: Rows<Message>,
    appended: BTreeMap<Key, Vec<Value>>,
}

impl Messages {
    /// Takes in what happened to a conversation.
    pub(super) fn conversation(&mut self, source: Source<'_>, event: &ConversationEvent) {
        let ConversationEvent::MessageAdded { message, .. } = event else { return };
        let block = json!({ "type": "text", "text": message.text, "seq": source.fact.seq });
        let mut add = |id: Uuid, parent: Option<Uuid>, role: &str, blocks: Value| {
            let row = self.added.at(source.fact, id);
            row.conversation_id = Some(source.id);
            row.parent_message_id = parent;
            row.role = Some(role.to_owned());
            row.turn_id = Some(message.turn_id.0);
            row.blocks = Some(blocks);
            row.created_at = source.at();
        };
        let parent = message.parent_message_id.map(|parent| parent.0);
        add(message.message_id.0, parent, "user", json!([block]));
        add(message.assistant_message_id.0, Some(message.message_id.0), "assistant", json!([]));
    }

    /// Takes in what happened to a turn.
    pub(super) fn turn(&mut self, source: Source<'_>, event: &TurnEvent) {
        let mut said = |step: u32, reasoning: &str, text: &str, is_partial: bool| {
            let mut block = |kind: &str, text: &str| {
                let mut block = json!({ "type": kind, "step": step, "text": text });
                if is_partial {
                    block["partial"] = Value::Bool(true);
                }
                if !text.is_empty() {
                    self.append(source, block);
                }
            };
            block("reasoning", reasoning);
            block("text", text);
        };
        match event {
            TurnEvent::StepCompleted { step, result, .. } => {
                said(*step, &result.reasoning, &result.text, false)
            }
            // What a failed attempt has said is withdrawn when the step is tried again, and kept when it is not.
            TurnEvent::StepFailed { step, attempt, failure }
                if !failure.retryable || *attempt >= MAX_ATTEMPTS =>
            {
                said(*step, &failure.reasoning, &failure.text, true);
            }
            TurnEvent::Failed { code, message, .. } => {
                self.append(source, json!({ "type": "error", "code": code, "message": message }));
            }
            TurnEvent::Cancelled { reason, .. } => {
                self.append(source, json!({ "type": "error", "code": "cancelled", "message": reason }));
            }
            TurnEvent::StepFailed { .. }
            | TurnEvent::Requested { .. }
            | TurnEvent::Started { .. }
            | TurnEvent::Claimed { .. }
            | TurnEvent::TakenOver { .. }
            | TurnEvent::StepStarted { .. }
            | TurnEvent::Paused { .. }
            | TurnEvent::Answered { .. }
            | TurnEvent::Resumed { .. }
            | TurnEvent::CancelRequested { .. }
            | TurnEvent::ModeSwitched { .. }
            | TurnEvent::Completed { .. } => {}
        }
    }

    /// Takes in what happened to a call.
    pub(super) fn call(&mut self, source: Source<'_>, event: &ToolCallEvent) {
        let ToolCallEvent::Requested { spec, .. } = event else { return };
        let step = spec.place.as_ref().map(|place| place.step);
        let (call, capability) = (spec.call_id, &spec.capability);
        self.append(
            source,
            json!({ "type": "tool_call", "step": step, "callId": call, "capability": capability }),
        );
    }

    /// Takes in what happened to an approval.
    pub(super) fn approval(&mut self, source: Source<'_>, event: &ApprovalEvent) {
        let ApprovalEvent::Requested { question } = event else { return };
        let (approval, call, expires_at) = (question.approval_id, question.call_id, question.expires_at);
        self.append(
            source,
            json!({ "type": "approval", "approvalId": approval, "callId": call, "expiresAt": expires_at }),
        );
    }

    /// Takes in what happened to a plan.
    pub(super) fn plan(&mut self, source: Source<'_>, event: &PlanEvent) {
        let PlanEvent::Proposed { spec, .. } = event else { return };
        let (plan, call, title) = (spec.plan_id, spec.call_id, &spec.title);
        self.append(source, json!({ "type": "plan", "planId": plan, "callId": call, "title": title }));
    }

    /// What belongs to no turn is shown in no message.
    fn append(&mut self, source: Source<'_>, mut block: Value) {
        let Some(turn) = source.fact.turn_id else { return };
        block["seq"] = json!(source.fact.seq);
        let key = (source.fact.tenant_id.0, source.fact.workspace_id.0, turn.0);
        self.appended.entry(key).or_default().push(block);
    }

    /// Puts the blocks into those of their messages that are new, so that each is written once.
    pub(super) fn join(&mut self) {
        for ((tenant, workspace, _), row) in self.added.iter_mut() {
            let Some(turn) = row.turn_id.filter(|_| row.role.as_deref() == Some("assistant")) else {
                continue;
            };
            let Some(mut blocks) = self.appended.remove(&(*tenant, *workspace, turn)) else { continue };
            blocks.sort_by_key(seq_of);
            row.set_sequence(row.sequence().max(blocks.last().map_or(0, seq_of).unsigned_abs()));
            row.blocks = Some(Value::Array(blocks));
        }
    }

    /// The same for when every fact has been taken in: what finds no message has none.
    pub(super) fn settle(&mut self) {
        self.join();
        self.appended.clear();
    }

    /// Keeps what belongs to the turns that are wanted.
    pub(super) fn retain(&mut self, wanted: impl Fn(Uuid) -> bool) {
        self.added.retain(|_, row| row.turn_id.is_none_or(&wanted));
        self.appended.retain(|(_, _, turn), _| wanted(*turn));
    }

    /// Writes the new messages, then the new blocks.
    pub(super) async fn write(&self, connection: &mut PgConnection, shadow: &str) -> Result<(), sqlx::Error> {
        self.added.write(connection, shadow).await?;
        if self.appended.is_empty() {
            return Ok(());
        }
        let keys = |part: fn(&Key) -> Uuid| self.appended.keys().map(part).collect::<Vec<_>>();
        let last = |blocks: &Vec<Value>| blocks.last().map_or(0, seq_of);
        let sql = APPEND.replace("chat.messages", &format!("{shadow}chat.messages"));
        let append = sqlx::query(&sql)
            .bind(keys(|key| key.0))
            .bind(keys(|key| key.1))
            .bind(keys(|key| key.2))
            .bind(self.appended.values().map(last).collect::<Vec<_>>())
            .bind(self.appended.values().cloned().map(Value::Array).collect::<Vec<_>>());
        append.execute(connection).await.map(drop)
    }
}

fn seq_of(block: &Value) -> i64 {
    block["seq"].as_i64().unwrap_or_default()
}
