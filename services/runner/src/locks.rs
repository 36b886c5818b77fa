//! One task at a time per turn or call in this process: a second message about the same one waits for the first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::OwnedMutexGuard;
use uuid::Uuid;

/// Locks by identifier, kept only while somebody holds or wants them.
#[derive(Default)]
pub(crate) struct Locks(Mutex<HashMap<Uuid, Weak<tokio::sync::Mutex<()>>>>);

impl Locks {
    /// Waits until nobody else in this process works on `id`.
    pub(crate) async fn lock(&self, id: Uuid) -> OwnedMutexGuard<()> {
        let lock = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|_, lock| lock.strong_count() > 0);
            let lock = known.get(&id).and_then(Weak::upgrade).unwrap_or_default();
            known.insert(id, Arc::downgrade(&lock));
            lock
        };
        lock.lock_owned().await
    }
}
