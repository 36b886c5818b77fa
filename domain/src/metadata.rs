//! What every event carries beside its payload: whose it is, who caused it, and when.

use std::collections::BTreeMap;

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::ids::{ConversationId, TenantId, TurnId, WorkspaceId};

/// A tenant's workspace: the walls inside which everything happens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    /// The tenant.
    pub tenant: TenantId,
    /// The workspace, inside the tenant.
    pub workspace: WorkspaceId,
}

/// What kind of party acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    /// A person or service with a credential.
    User,
    /// An agent.
    Agent,
    /// The runtime itself.
    System,
}

/// Who acted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    /// What kind of party.
    pub kind: ActorKind,
    /// Its identifier: a user id, an agent id, or the name of a part of the runtime.
    pub id: String,
}

impl Actor {
    /// The part of the runtime with this name.
    pub fn system(name: &str) -> Self {
        Self { kind: ActorKind::System, id: name.to_owned() }
    }
}

/// What every event carries beside its payload. The journal keeps it as a map of strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Tenant and workspace.
    pub scope: Scope,
    /// The conversation it belongs to, if any.
    pub conversation: Option<ConversationId>,
    /// The turn it belongs to, if any.
    pub turn: Option<TurnId>,
    /// Who acted.
    pub actor: Actor,
    /// The fact or request that led to this one.
    pub causation: Uuid,
    /// The first cause, shared by all that follows from it.
    pub correlation: Uuid,
    /// W3C trace context.
    pub traceparent: Option<String>,
    /// When it happened, by the clock of whoever dispatched the command.
    pub occurred_at: DateTime<Utc>,
}

/// A stored metadata map that lacks a key or holds a wrong value.
#[derive(Debug, thiserror::Error)]
#[error("metadata key `{key}` is missing or wrong")]
pub struct BadMetadata {
    /// The key.
    pub key: &'static str,
}

impl Metadata {
    /// The map that the journal stores; every value is a string.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        let mut map: BTreeMap<String, String> = [
            ("tenantId", self.scope.tenant.to_string()),
            ("workspaceId", self.scope.workspace.to_string()),
            ("actorKind", kind_name(self.actor.kind).to_owned()),
            ("actorId", self.actor.id.clone()),
            ("causationId", self.causation.to_string()),
            ("correlationId", self.correlation.to_string()),
            ("occurredAt", self.occurred_at.to_rfc3339_opts(SecondsFormat::Micros, true)),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
        let optional = [
            ("conversationId", self.conversation.map(|id| id.to_string())),
            ("turnId", self.turn.map(|id| id.to_string())),
            ("traceparent", self.traceparent.clone()),
        ];
        map.extend(optional.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        map
    }

    /// Reads the map back.
    ///
    /// # Errors
    /// [`BadMetadata`] names the first key that is missing or wrong.
    pub fn from_map(map: &BTreeMap<String, String>) -> Result<Self, BadMetadata> {
        let kind = match required(map, "actorKind")? {
            "user" => ActorKind::User,
            "agent" => ActorKind::Agent,
            "system" => ActorKind::System,
            _ => return Err(BadMetadata { key: "actorKind" }),
        };
        let occurred_at = DateTime::parse_from_rfc3339(required(map, "occurredAt")?)
            .map_err(|_| BadMetadata { key: "occurredAt" })?
            .with_timezone(&Utc);
        Ok(Self {
            scope: Scope {
                tenant: TenantId(uuid(map, "tenantId")?),
                workspace: WorkspaceId(uuid(map, "workspaceId")?),
            },
            conversation: optional_uuid(map, "conversationId")?.map(ConversationId),
            turn: optional_uuid(map, "turnId")?.map(TurnId),
            actor: Actor { kind, id: required(map, "actorId")?.to_owned() },
            causation: uuid(map, "causationId")?,
            correlation: uuid(map, "correlationId")?,
            traceparent: map.get("traceparent").cloned(),
            occurred_at,
        })
    }
}

fn kind_name(kind: ActorKind) -> &'static str {
    match kind {
        ActorKind::User => "user",
        ActorKind::Agent => "agent",
        ActorKind::System => "system",
    }
}

fn required<'a>(map: &'a BTreeMap<String, String>, key: &'static str) -> Result<&'a str, BadMetadata> {
    map.get(key).map(String::as_str).ok_or(BadMetadata { key })
}

fn uuid(map: &BTreeMap<String, String>, key: &'static str) -> Result<Uuid, BadMetadata> {
    required(map, key)?.parse().map_err(|_| BadMetadata { key })
}

fn optional_uuid(map: &BTreeMap<String, String>, key: &'static str) -> Result<Option<Uuid>, BadMetadata> {
    map.get(key).map(|text| text.parse().map_err(|_| BadMetadata { key })).transpose()
}
