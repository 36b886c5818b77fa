//! What a process knows of aggregates from its own commits and loads.
//!
//! A decision may rest on it without loading again: whatever has changed since makes the commit meet a conflict, and
//! the next round loads. So it saves round trips and decides nothing.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxagen_domain::Entity;
use oxagen_journal::Loaded;

/// Aggregates kept at most; when there are more, all are forgotten, and loaded again when needed.
const MOST: usize = 10_000;

/// The kind of an aggregate and its identifier.
pub(crate) type Key = (&'static str, String);
/// A [`Loaded`] of the aggregate's own type.
pub(crate) type Anything = Arc<dyn Any + Send + Sync>;

/// Aggregates as they were last committed or loaded here. Cloning shares them.
#[derive(Clone, Default)]
pub struct Known(Arc<Mutex<HashMap<Key, Anything>>>);

impl Known {
    /// Keeps an aggregate that exists.
    pub fn learn<A: Entity + Clone + 'static>(&self, id: &str, loaded: &Loaded<A>) {
        if loaded.version > 0 {
            self.keep((A::TYPE, id.to_owned()), Arc::new(loaded.clone()));
        }
    }

    /// The aggregate as it was last seen.
    pub fn recall<A: Entity + Clone + 'static>(&self, id: &str) -> Option<Loaded<A>> {
        self.share(id).as_deref().cloned()
    }

    /// The same without a copy of it.
    pub(crate) fn share<A: Entity + Clone + 'static>(&self, id: &str) -> Option<Arc<Loaded<A>>> {
        Arc::clone(self.lock().get(&(A::TYPE, id.to_owned()))?).downcast().ok()
    }

    /// Forgets everything: what belongs together is loaded again together, in its right order.
    pub fn forget(&self) {
        self.lock().clear();
    }

    pub(crate) fn keep(&self, key: Key, loaded: Anything) {
        let mut known = self.lock();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, loaded);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Anything>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Known").field(&self.lock().len()).finish()
    }
}
