//! An aggregate's state, folded from its events: all of them, or those after a snapshot.

mod snapshot;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use oxagen_domain::{Entity, Metadata, Scope, upcast};
use serde_json::Value;
use sqlx::Row;
use sqlx::postgres::PgRow;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::error::JournalError;
use crate::journal::{ANSWER, Journal};

/// Aggregates loaded in one round trip at most.
const MOST: usize = 256;

const LOAD: &str = "select * from journal.load($1, $2, $3)";

/// An aggregate as its events made it.
#[derive(Clone, Debug)]
pub struct Loaded<A> {
    /// Its state; the default one if it does not exist.
    pub state: A,
    /// Number of its events; 0 means that it does not exist.
    pub version: u64,
    /// Whose it is, by its first event; none if it does not exist.
    pub scope: Option<Scope>,
}

/// A row of what is stored of an aggregate.
struct Stored {
    version: u64,
    /// The event's type; none for a snapshot.
    kind: Option<String>,
    form: String,
    payload: String,
    metadata: String,
}

/// Rows of one aggregate, for all who asked for it at the same moment.
type Rows = Result<Arc<Vec<Stored>>, JournalError>;

/// An aggregate that somebody waits for.
pub(crate) struct Wanted {
    kind: &'static str,
    id: String,
    /// The form of snapshots that will do.
    form: &'static str,
    answer: oneshot::Sender<Rows>,
}

impl Journal {
    /// Loads an aggregate, its events upcast to this build's forms. It is at least as new as the moment of the call.
    /// Whoever asks while others are being answered shares the next round trip.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`], or [`JournalError::Unreadable`] for an event of a newer build.
    pub async fn load<A: Entity>(&self, id: &str) -> Result<Loaded<A>, JournalError> {
        let rows = self.stored(A::TYPE, id, snapshot::FORM).await?;
        let (snapshot, events) = match rows.split_first() {
            Some((first, events)) if first.kind.is_none() => (Some(first), events),
            Some(_) | None => (None, rows.as_slice()),
        };
        let Some(snapshot) = snapshot else { return self.fold(id, Loaded::nothing(), events) };
        match serde_json::from_str(&snapshot.payload) {
            Ok(state) => {
                let loaded = Loaded { state, version: snapshot.version, scope: scope(snapshot) };
                self.fold(id, loaded, events)
            }
            Err(error) => {
                tracing::warn!(aggregate = A::TYPE, id, %error, "a snapshot cannot be read; folding every event");
                let rows = self.stored(A::TYPE, id, snapshot::NONE).await?;
                self.fold(id, Loaded::nothing(), &rows)
            }
        }
    }

    fn fold<A: Entity>(
        &self,
        id: &str,
        mut loaded: Loaded<A>,
        events: &[Stored],
    ) -> Result<Loaded<A>, JournalError> {
        if loaded.version == 0 {
            loaded.scope = events.first().and_then(scope);
        }
        for event in events {
            let happened = happened(event).map_err(|error| JournalError::Unreadable {
                aggregate_type: A::TYPE,
                aggregate_id: id.to_owned(),
                cause: error.to_string(),
            })?;
            loaded.state.evolve(happened);
            loaded.version = event.version;
        }
        if events.len() as u64 >= snapshot::EVERY {
            self.keep_snapshot(id, &loaded);
        }
        Ok(loaded)
    }

    async fn stored(&self, kind: &'static str, id: &str, form: &'static str) -> Rows {
        let (answer, told) = oneshot::channel();
        let journal = self.clone();
        self.loads().hand_in(Wanted { kind, id: id.to_owned(), form, answer }, pick, move |batch| {
            let journal = journal.clone();
            async move { journal.answer(batch).await }
        });
        match timeout(ANSWER, told).await {
            Ok(Ok(rows)) => rows,
            Ok(Err(_)) => Err(JournalError::Unavailable { source: sqlx::Error::WorkerCrashed }),
            Err(_) => Err(JournalError::silent(ANSWER)),
        }
    }

    /// Loads what is wanted, each aggregate once, and tells everybody.
    async fn answer(&self, batch: Vec<Wanted>) {
        let (mut places, mut kinds, mut ids) = (HashMap::new(), Vec::new(), Vec::new());
        for wanted in &batch {
            places.entry((wanted.kind, wanted.id.as_str())).or_insert_with(|| {
                kinds.push(wanted.kind);
                ids.push(wanted.id.as_str());
                kinds.len() - 1
            });
        }
        let form = batch.first().map_or(snapshot::NONE, |wanted| wanted.form);
        let load = sqlx::query(LOAD).bind(&kinds).bind(&ids).bind(form);
        let rows = async { Ok::<_, JournalError>(load.fetch_all(self.pool()).await?) };
        let rows = self.bounded(rows).await.and_then(|rows| apart(&rows, ids.len()));
        let places: Vec<_> =
            batch.iter().map(|wanted| places.get(&(wanted.kind, &*wanted.id)).copied()).collect();
        for (wanted, place) in batch.into_iter().zip(places) {
            let told = match (&rows, place) {
                (Ok(rows), Some(place)) => Ok(rows.get(place).cloned().unwrap_or_default()),
                (Ok(_), None) => Ok(Arc::default()),
                (Err(error), _) => Err(error.again()),
            };
            // Who is gone does not want to know.
            let _ = wanted.answer.send(told);
        }
    }
}

impl<A: Entity> Loaded<A> {
    fn nothing() -> Self {
        Self { state: A::default(), version: 0, scope: None }
    }
}

/// Takes what is wanted in the same form of snapshots; those who are gone are forgotten.
fn pick(waiting: &mut VecDeque<Wanted>) -> Vec<Wanted> {
    waiting.retain(|wanted| !wanted.answer.is_closed());
    let Some(form) = waiting.front().map(|wanted| wanted.form) else { return vec![] };
    let alike = waiting.iter().take(MOST).take_while(|wanted| wanted.form == form).count();
    waiting.drain(..alike).collect()
}

/// The rows of each aggregate, in the order in which they were asked for.
fn apart(rows: &[PgRow], count: usize) -> Result<Vec<Arc<Vec<Stored>>>, JournalError> {
    let mut apart: Vec<Vec<Stored>> = (0..count).map(|_| Vec::new()).collect();
    for row in rows {
        let nth: i64 = row.try_get("nth")?;
        let Some(place) = usize::try_from(nth - 1).ok().and_then(|nth| apart.get_mut(nth)) else { continue };
        place.push(Stored {
            version: row.try_get::<i64, _>("sequence")?.unsigned_abs(),
            kind: row.try_get("event_type")?,
            form: row.try_get("event_version")?,
            payload: row.try_get("payload")?,
            metadata: row.try_get("metadata")?,
        });
    }
    Ok(apart.into_iter().map(Arc::new).collect())
}

/// The event as this build knows it.
fn happened<E: serde::de::DeserializeOwned>(event: &Stored) -> Result<E, serde_json::Error> {
    let kind = event.kind.as_deref().unwrap_or_default();
    match event.form.parse() {
        Ok(form) if upcast::is_old(kind, form) => {
            serde_json::from_value(upcast(kind, form, serde_json::from_str(&event.payload)?))
        }
        Ok(_) | Err(_) => serde_json::from_str(&event.payload),
    }
}

/// An upcast sees the payload as facts carry it: without the variant's tag, which is put back after.
fn upcast(kind: &str, form: u32, mut payload: Value) -> Value {
    let tag = payload.as_object_mut().and_then(|payload| payload.remove("type"));
    let (_, mut payload) = upcast::upcast(kind, form, payload);
    if let (Some(payload), Some(tag)) = (payload.as_object_mut(), tag) {
        payload.insert("type".to_owned(), tag);
    }
    payload
}

fn scope(first: &Stored) -> Option<Scope> {
    let metadata: BTreeMap<String, String> = serde_json::from_str(&first.metadata).ok()?;
    Metadata::from_map(&metadata).ok().map(|metadata| metadata.scope)
}
