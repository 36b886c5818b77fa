//! Snapshots: a long history is not folded from its first event each time. They are written behind the back of whoever
//! had to fold much, and trusted only by the very code that wrote them; without them everything is slower and the same.

use oxagen_domain::Entity;
use tracing::debug;

use super::Loaded;
use crate::journal::Journal;

/// Events folded in one load that make a snapshot worth its writing.
pub(super) const EVERY: u64 = 100;
/// What a state means is said by the code that made it: a digest over the domain's sources.
pub(super) const FORM: &str = env!("OXAGEN_DOMAIN_FORM");
/// A form that no snapshot has.
pub(super) const NONE: &str = "";

/// The first event's metadata say whose it is. A newer snapshot of this form stays.
const KEEP: &str = "
insert into journal.snapshots (aggregate_type, aggregate_id, version, form, state, metadata)
select $1, $2, $3, $4, $5::json, e.metadata from journal.events e
where e.aggregate_type = $1 and e.aggregate_id = $2 and e.sequence = 1
on conflict (aggregate_type, aggregate_id) do update
set version = excluded.version, form = excluded.form, state = excluded.state
where snapshots.form <> excluded.form or snapshots.version < excluded.version";

impl Journal {
    /// Writes a snapshot in the background. That it is not written does no harm.
    pub(super) fn keep_snapshot<A: Entity>(&self, id: &str, loaded: &Loaded<A>) {
        let state = match serde_json::to_string(&loaded.state) {
            Ok(state) => state,
            Err(error) => {
                debug!(aggregate = A::TYPE, id, %error, "its state cannot be written down");
                return;
            }
        };
        let (journal, id, version) = (self.clone(), id.to_owned(), loaded.version.cast_signed());
        tokio::spawn(async move {
            let keep = sqlx::query(KEEP).bind(A::TYPE).bind(&id).bind(version).bind(FORM).bind(state);
            if let Err(error) = journal.bounded(async { Ok(keep.execute(journal.pool()).await?) }).await {
                let error: crate::JournalError = error;
                debug!(aggregate = A::TYPE, id, %error, "its snapshot was not written");
            }
        });
    }
}
