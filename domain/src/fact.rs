//! A committed event, in the one form that the history API, replay, SSE and NATS share.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::event::Event;
use crate::ids::{ConversationId, TenantId, TurnId, WorkspaceId, derive};
use crate::metadata::{Actor, Metadata, Scope};
use crate::upcast;

/// A committed event. Its `seq` is its place in history: 1, 2, 3 … without a gap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// Place in history; every cursor is one of these.
    pub seq: u64,
    /// Derived from type, aggregate id and version; also the `Nats-Msg-Id`.
    pub event_id: Uuid,
    /// `<aggregate>.<event>`, such as `tool_call.completed`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Version of the payload's form.
    pub version: u32,
    /// The kind of aggregate.
    pub aggregate_type: String,
    /// The aggregate's identifier.
    pub aggregate_id: String,
    /// The aggregate's version after this fact, from 1.
    pub aggregate_version: u64,
    /// The tenant.
    pub tenant_id: TenantId,
    /// The workspace.
    pub workspace_id: WorkspaceId,
    /// The conversation, if it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<ConversationId>,
    /// The turn, if it belongs to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    /// Who acted.
    pub actor: Actor,
    /// The fact or request that led to this one.
    pub causation_id: Uuid,
    /// The first cause.
    pub correlation_id: Uuid,
    /// W3C trace context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<String>,
    /// When it happened (UTC).
    pub occurred_at: DateTime<Utc>,
    /// What happened.
    pub payload: Value,
}

/// A stored event of a known type whose payload does not fit that type.
#[derive(Debug, thiserror::Error)]
#[error("fact {seq} of type {kind} version {version} does not fit this build's form of it: {cause}")]
pub struct Undecodable {
    /// The fact's place in history.
    pub seq: u64,
    /// Its type.
    pub kind: String,
    /// Its version.
    pub version: u32,
    /// What did not fit.
    pub cause: serde_json::Error,
}

impl Fact {
    /// The `eventId` of an aggregate's event: the same event always has the same one.
    pub fn event_id(aggregate_type: &str, aggregate_id: &str, version: u64) -> Uuid {
        derive(Uuid::nil(), &format!("{aggregate_type}/{aggregate_id}/{version}"))
    }

    /// Tenant and workspace.
    pub fn scope(&self) -> Scope {
        Scope { tenant: self.tenant_id, workspace: self.workspace_id }
    }

    /// What the next event caused by this fact carries; `actor` and `now` are the reacting side's.
    pub fn effect(&self, actor: Actor, now: DateTime<Utc>) -> Metadata {
        Metadata {
            scope: self.scope(),
            conversation: self.conversation_id,
            turn: self.turn_id,
            actor,
            causation: self.event_id,
            correlation: self.correlation_id,
            traceparent: self.traceparent.clone(),
            occurred_at: now,
        }
    }

    /// The event, upcast to this build's form; `None` for a type that this build does not know.
    ///
    /// # Errors
    /// [`Undecodable`] when the type is known and the payload does not fit it.
    pub fn event(&self) -> Result<Option<Event>, Undecodable> {
        let (version, payload) = upcast::upcast(&self.kind, self.version, self.payload.clone());
        Event::decode(&self.kind, payload).map_err(|cause| Undecodable {
            seq: self.seq,
            kind: self.kind.clone(),
            version,
            cause,
        })
    }
}
