//! Conversations, in a list and whole. Fed by `chat.conversations` and `chat.messages`; read by the gateway.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use oxagen_domain::turn::Usage;
use oxagen_domain::{ConversationId, MessageId, Scope, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Queries, all, bounded, one, rows};
use crate::error::QueryError;
use crate::page::{Page, Paged};

/// A conversation in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct ConversationRow {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// Its title.
    pub title: String,
    /// Whether it takes no more messages.
    pub archived: bool,
    /// When it was started.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// A conversation with its messages.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConversationView {
    /// What a list shows of it.
    #[serde(flatten)]
    pub row: ConversationRow,
    /// A page of its messages: the newest ones, or those before a cursor. Oldest first; each names the one that it
    /// follows.
    pub messages: Vec<MessageView>,
    /// Where the page of the messages before these begins; none where there are none before them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Tokens of all its turns.
    pub usage: Usage,
    /// Every fact up to this `seq` is in this answer: follow the stream from here.
    pub last_seq: u64,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase"))]
pub struct MessageView {
    /// The message.
    pub message_id: MessageId,
    /// The message that it follows; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_message_id: Option<MessageId>,
    /// `user` or `assistant`.
    pub role: String,
    /// The turn that it asks for or answers.
    pub turn_id: TurnId,
    /// Its content in the order of facts; calls and approvals with how they stand now.
    pub blocks: Vec<Map<String, Value>>,
    /// When it was added.
    pub created_at: DateTime<Utc>,
}

const ROW: &str =
    "id as conversation_id, coalesce(title, '') as title, coalesce(is_archived, false) as archived,
  created_at, updated_at";
/// A page, newest first. Both messages of a turn are of one moment, the person's before the answer.
const MESSAGES: &str = "
select to_jsonb(r) from (
  select id as message_id, parent_message_id, role, turn_id, blocks, created_at
  from chat.messages where conversation_id = $1 and ($2::timestamptz is null
    or (created_at, role = 'assistant', id) < ($2, (select role = 'assistant' from chat.messages where id = $3), $3))
  order by created_at desc, role = 'assistant' desc, id desc limit $4) r";
/// What blocks only point at: calls and approvals of some turns as they stand, each as the fields that a block is to
/// have.
const STANDINGS: &str = "
select jsonb_build_object('id', id, 'fields', jsonb_strip_nulls(jsonb_build_object('status', status, 'input', input,
  'output', output, 'outputRef', output_ref, 'error', error, 'latencyMs', latency_ms)))
from execution.tool_calls where conversation_id = $1 and turn_id = any ($2)
union all
select jsonb_build_object('id', id, 'fields', jsonb_strip_nulls(jsonb_build_object(
  'status', coalesce(resolution, 'open'), 'resolution', resolution,
  'resolvedBy', resolved_by_user_id, 'resolvedAt', resolved_at, 'note', note)))
from agent.approval_requests where conversation_id = $1 and turn_id = any ($2)
union all
select jsonb_build_object('id', id, 'fields', jsonb_strip_nulls(jsonb_build_object(
  'status', status, 'version', version, 'resolvedBy', resolved_by_user_id, 'resolvedAt', resolved_at, 'note', note)))
from agent.plans where conversation_id = $1 and turn_id = any ($2)";
const USAGE: &str = "
select jsonb_build_object('inputTokens', coalesce(sum(input_tokens), 0)::bigint,
  'outputTokens', coalesce(sum(output_tokens), 0)::bigint)
from execution.executions where conversation_id = $1";

#[derive(Deserialize)]
struct Standing {
    id: Uuid,
    fields: Map<String, Value>,
}

impl Queries {
    /// The workspace's conversations, newest first.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn conversations(
        &self,
        scope: Scope,
        page: Page,
    ) -> Result<Paged<ConversationRow>, QueryError> {
        let sql = format!(
            "select to_jsonb(r) from (select {ROW} from chat.conversations
             where created_at is not null and ($1::timestamptz is null or (created_at, id) < ($1, $2))
             order by created_at desc, id desc limit $3) r"
        );
        let (time, id) = page.after()?;
        let query = rows::<ConversationRow>(&sql).bind(time).bind(id).bind(page.rows()?);
        let items = bounded(async { all(&mut self.inside(scope).await?, query).await }).await?;
        Ok(page.of(items, |row| (row.created_at, row.conversation_id.0)))
    }

    /// A conversation with a page of its messages, the newest ones first; `None` if the workspace has none with this
    /// id, or not yet.
    ///
    /// # Errors
    /// [`QueryError`].
    pub async fn conversation(
        &self,
        scope: Scope,
        id: ConversationId,
        page: Page,
    ) -> Result<Option<ConversationView>, QueryError> {
        let ((time, after), limit) = (page.after()?, page.rows()?);
        bounded(async {
            let sql = format!(
                "select to_jsonb(r) from
                 (select {ROW} from chat.conversations where id = $1 and created_at is not null) r"
            );
            let mut transaction = self.inside(scope).await?;
            let Some(row) = one(&mut transaction, rows::<ConversationRow>(&sql).bind(id.0)).await? else {
                return Ok(None);
            };
            let query = rows::<MessageView>(MESSAGES).bind(id.0).bind(time).bind(after).bind(limit);
            let newest_first = all(&mut transaction, query).await?;
            let Paged { items: mut messages, next_cursor } =
                page.of(newest_first, |message| (message.created_at, message.message_id.0));
            messages.reverse();
            let turns: Vec<_> = messages.iter().map(|message| message.turn_id.0).collect();
            let standings = rows::<Standing>(STANDINGS).bind(id.0).bind(turns);
            let standings = all(&mut transaction, standings).await?;
            let usage = one(&mut transaction, rows::<Usage>(USAGE).bind(id.0)).await?.unwrap_or_default();
            let last_seq = super::runtime::cursor(&mut transaction, crate::postgres::NAME).await?;
            let standings = standings.into_iter().map(|standing| (standing.id, standing.fields)).collect();
            messages
                .iter_mut()
                .flat_map(|message| &mut message.blocks)
                .for_each(|block| complete(block, &standings));
            Ok(Some(ConversationView { row, messages, next_cursor, usage, last_seq }))
        })
        .await
    }
}

/// Adds to a block how the call or approval that it points at stands.
fn complete(block: &mut Map<String, Value>, standings: &HashMap<Uuid, Map<String, Value>>) {
    let key = match block.get("type").and_then(Value::as_str) {
        Some("tool_call") => "callId",
        Some("approval") => "approvalId",
        Some("plan") => "planId",
        Some(_) | None => return,
    };
    let id = block.get(key).and_then(Value::as_str).and_then(|id| id.parse().ok());
    if let Some(fields) = id.and_then(|id: Uuid| standings.get(&id)) {
        block.extend(fields.clone());
    }
}
