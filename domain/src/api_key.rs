//! An API key: made, shown once, kept as a hash, revoked.

use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::ids::{ApiKeyId, UserId};
use crate::key_limits::KeyLimits;
use crate::metadata::Scope;
use crate::role::Role;

/// What is kept of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyRecord {
    /// Its identifier, which the key's text begins with.
    pub key_id: ApiKeyId,
    /// A name for people.
    pub name: String,
    /// Whom it stands for.
    pub user_id: UserId,
    /// What it may do.
    pub role: Role,
    /// What of that it is limited to.
    #[serde(default, skip_serializing_if = "KeyLimits::is_unlimited")]
    pub limits: KeyLimits,
    /// SHA-256 of the key's text, in hexadecimal.
    pub hash: String,
}

/// An API key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// What is kept of it, with the workspace that it opens; none before it is made.
    pub record: Option<(Scope, KeyRecord)>,
    /// Whether it was revoked.
    pub revoked: bool,
}

/// What has happened to a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ApiKeyEvent {
    /// It was made.
    Created {
        /// The workspace that it opens.
        scope: Scope,
        /// What is kept of it.
        record: KeyRecord,
    },
    /// It opens nothing any more.
    Revoked {},
}

/// What a key can be told.
#[derive(Clone, Debug)]
pub enum ApiKeyCommand {
    /// Make it.
    Create {
        /// The workspace that it opens.
        scope: Scope,
        /// What is kept of it.
        record: KeyRecord,
    },
    /// Open nothing any more.
    Revoke {
        /// The workspace of whoever revokes it.
        scope: Scope,
    },
}

/// Why a key said no.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyRefusal {
    /// It was made before.
    #[error("this key exists already")]
    Exists,
    /// Not in this workspace.
    #[error("there is no such key in this workspace")]
    Unknown,
}

aggregate!(ApiKey as "api_key": ApiKeyCommand => ApiKeyEvent or ApiKeyRefusal);
event_kinds!(ApiKeyEvent { Created => "api_key.created", Revoked => "api_key.revoked" });

impl ApiKey {
    fn evolve(&mut self, event: ApiKeyEvent) {
        match event {
            ApiKeyEvent::Created { scope, record } => self.record = Some((scope, record)),
            ApiKeyEvent::Revoked {} => self.revoked = true,
        }
    }

    fn decide(&self, command: ApiKeyCommand) -> Result<Vec<ApiKeyEvent>, ApiKeyRefusal> {
        match (command, &self.record) {
            (ApiKeyCommand::Create { .. }, Some(_)) => Err(ApiKeyRefusal::Exists),
            (ApiKeyCommand::Create { scope, record }, None) => {
                Ok(vec![ApiKeyEvent::Created { scope, record }])
            }
            (ApiKeyCommand::Revoke { scope }, Some((own, _))) if scope == *own => {
                Ok(if self.revoked { vec![] } else { vec![ApiKeyEvent::Revoked {}] })
            }
            (ApiKeyCommand::Revoke { .. }, _) => Err(ApiKeyRefusal::Unknown),
        }
    }
}
