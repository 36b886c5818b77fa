//! Whom a key's text stands for.

use oxagen_domain::ApiKey;
use uuid::Uuid;

use crate::{Caller, CommandError, Commands, secret};

impl Commands {
    /// The caller that this secret proves; none for a text that is no key, or a key that was revoked.
    ///
    /// The key is read from the journal and not from a view, so that it works the moment it was made.
    ///
    /// # Errors
    /// [`Unavailable`](crate::Code::Unavailable).
    pub async fn authenticate(&self, text: &str) -> Result<Option<Caller>, CommandError> {
        let Some(id) = secret::id(text) else { return Ok(None) };
        let key = self.journal().load::<ApiKey>(&id.to_string()).await?.state;
        Ok(key.record.filter(|(_, record)| !key.revoked && secret::matches(&record.hash, text)).map(
            |(scope, record)| Caller {
                scope,
                user: record.user_id,
                role: record.role,
                limits: record.limits,
                key: Some(record.key_id),
                request: Uuid::now_v7(),
                traceparent: None,
            },
        ))
    }
}
