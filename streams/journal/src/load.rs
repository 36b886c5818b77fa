//! An aggregate's state, folded from its events by cqrs-es over postgres-es.

use cqrs_es::persist::{EventUpcaster, PersistedEventStore, SerializedEvent};
use cqrs_es::{AggregateError, EventEnvelope, EventStore};
use oxagen_domain::{Entity, Metadata, Scope, upcast};
use postgres_es::PostgresEventRepository;

use crate::error::JournalError;
use crate::journal::Journal;

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

impl Journal {
    /// Loads an aggregate from its events, upcast to this build's forms.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`], or [`JournalError::Unreadable`] for an event of a newer build.
    pub async fn load<A: Entity>(&self, id: &str) -> Result<Loaded<A>, JournalError> {
        let events =
            PostgresEventRepository::new(self.pool().clone()).with_tables("journal.events", "journal.none");
        let store =
            PersistedEventStore::<_, A>::new_event_store(events).with_upcasters(vec![Box::new(Upcasts)]);
        let events = self
            .bounded(async { store.load_events(id).await.map_err(|error| refused::<A>(id, error)) })
            .await?;
        let mut loaded = Loaded { state: A::default(), version: 0, scope: scope(events.first()) };
        for event in events {
            loaded.version = event.sequence as u64;
            loaded.state.evolve(event.payload);
        }
        Ok(loaded)
    }
}

fn scope<A: Entity>(first: Option<&EventEnvelope<A>>) -> Option<Scope> {
    let metadata = first?.metadata.clone().into_iter().collect();
    Metadata::from_map(&metadata).ok().map(|metadata| metadata.scope)
}

/// The domain's upcasts, in the form that cqrs-es asks for.
struct Upcasts;

impl EventUpcaster for Upcasts {
    fn can_upcast(&self, kind: &str, version: &str) -> bool {
        version.parse().is_ok_and(|version| upcast::is_old(kind, version))
    }

    /// An upcast sees the payload as facts carry it: without the variant's tag, which is put back after.
    fn upcast(&self, mut event: SerializedEvent) -> SerializedEvent {
        let Ok(version) = event.event_version.parse() else { return event };
        let tag = event.payload.as_object_mut().and_then(|payload| payload.remove("type"));
        let (version, mut payload) = upcast::upcast(&event.event_type, version, event.payload);
        if let (Some(payload), Some(tag)) = (payload.as_object_mut(), tag) {
            payload.insert("type".to_owned(), tag);
        }
        SerializedEvent { payload, event_version: version.to_string(), ..event }
    }
}

fn refused<A: Entity>(id: &str, error: AggregateError<A::Error>) -> JournalError {
    let cause = match error {
        AggregateError::DatabaseConnectionError(error)
        | AggregateError::UnexpectedError(error)
        | AggregateError::DeserializationError(error) => match error.downcast::<sqlx::Error>() {
            Ok(error) => return (*error).into(),
            Err(error) => error.to_string(),
        },
        error @ (AggregateError::UserError(_) | AggregateError::AggregateConflict) => error.to_string(),
    };
    JournalError::Unreadable { aggregate_type: A::TYPE, aggregate_id: id.to_owned(), cause }
}
