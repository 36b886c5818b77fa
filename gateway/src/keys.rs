//! Remembers for a few seconds whom a key stands for, so that not every request asks the journal.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use oxagen_commands::Caller;
use oxagen_domain::{ApiKeyId, Digest};

use crate::error::Problem;
use crate::state::App;

/// A key that was revoked works for no longer than this, also when the news of it does not come.
const REMEMBERED: Duration = Duration::from_secs(5);
/// Keys remembered at most.
const CAPACITY: usize = 10_000;

/// The keys that were proven lately, by the digest of their text.
#[derive(Default)]
pub(crate) struct KnownKeys(Mutex<HashMap<Digest, (Caller, Instant)>>);

impl KnownKeys {
    /// Whom this text stands for; none if it opens nothing.
    pub(crate) async fn caller(&self, app: &App, text: &str) -> Result<Option<Caller>, Problem> {
        let digest = Digest::of(text.as_bytes());
        if let Some(known) = self.remembered(&digest, Instant::now()) {
            return Ok(Some(known));
        }
        let commands = app.commands().await?;
        // Of a crowd that waited with the same key only the first few had to look.
        if let Some(known) = self.remembered(&digest, Instant::now()) {
            return Ok(Some(known));
        }
        let found = commands.authenticate(text).await?;
        if let Some(caller) = &found {
            self.remember(digest, caller.clone(), Instant::now());
        }
        Ok(found)
    }

    /// The key was revoked.
    pub(crate) fn forget(&self, key: ApiKeyId) {
        self.lock().retain(|_, (caller, _)| caller.key != Some(key));
    }

    fn remembered(&self, digest: &Digest, now: Instant) -> Option<Caller> {
        self.lock().get(digest).filter(|(_, until)| now < *until).map(|(caller, _)| caller.clone())
    }

    fn remember(&self, digest: Digest, caller: Caller, now: Instant) {
        let mut known = self.lock();
        if known.len() >= CAPACITY {
            known.retain(|_, (_, until)| now < *until);
        }
        if known.len() < CAPACITY {
            known.insert(digest, (caller, now + REMEMBERED));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Digest, (Caller, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use oxagen_domain::{KeyLimits, Role, Scope, UserId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_key_is_remembered_for_a_while_and_forgotten_when_it_is_revoked() {
        let (keys, now, key) = (KnownKeys::default(), Instant::now(), ApiKeyId(Uuid::from_u128(1)));
        let (scope, user, role) = (Scope::default(), UserId::default(), Role::Owner);
        let caller = Caller {
            scope,
            user,
            role,
            limits: KeyLimits::default(),
            key: Some(key),
            request: Uuid::nil(),
            traceparent: None,
        };
        let digest = Digest::of(b"oxk_x");
        keys.remember(digest.clone(), caller.clone(), now);
        assert_eq!(keys.remembered(&digest, now), Some(caller));
        assert_eq!(keys.remembered(&digest, now + REMEMBERED), None);
        keys.forget(key);
        assert_eq!(keys.remembered(&digest, now), None);
    }
}
