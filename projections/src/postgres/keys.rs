//! `agent.api_keys`, without anything that opens a door. Fed by API keys; read by the gateway.

use chrono::{DateTime, Utc};
use oxagen_domain::ApiKeyEvent;
use serde_json::{Value, json};
use uuid::Uuid;

use super::source::Source;
use crate::table::{Rows, table};
use crate::word::word;

table! {
    /// An API key.
    ApiKey in "agent.api_keys" {
        name: String, user_id: Uuid, role: String, limits: Value, created_at: DateTime<Utc>, revoked_at: DateTime<Utc>,
    }
}

/// Takes in what happened to a key.
pub(super) fn take(rows: &mut Rows<ApiKey>, source: Source<'_>, event: &ApiKeyEvent) {
    let row = rows.at(source.fact, source.id);
    match event {
        ApiKeyEvent::Created { record, .. } => {
            row.name = Some(record.name.clone());
            row.user_id = Some(record.user_id.0);
            row.role = word(&record.role);
            row.limits = (!record.limits.is_unlimited()).then(|| json!(record.limits));
            row.created_at = source.at();
        }
        ApiKeyEvent::Revoked {} => row.revoked_at = source.at(),
    }
}
