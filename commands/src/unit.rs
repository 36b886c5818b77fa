//! One commit: aggregates loaded once, commands decided, all events appended together or none of them.
//!
//! A handler loops: it makes a unit, decides, and tries to commit. When somebody else was faster [`Unit::commit`] gives
//! `None` and the handler goes round again with a new unit, which loads what has become of things.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use oxagen_domain::{Entity, EventKind, Scope, TurnId};
use oxagen_journal::{AppendError, Appended, Guard, Journal, Loaded, NewEvent};

use crate::Commands;
use crate::context::Context;
use crate::error::CommandError;
use crate::inbox::Inbox;
use crate::known::{Anything, Key, Known};

/// Rounds before a handler gives up on a thing that others keep changing.
const ROUNDS: u32 = 200;

/// How often a handler has gone round.
pub(crate) struct Rounds(u32);

/// One commit in the making.
pub(crate) struct Unit<'a> {
    journal: &'a Journal,
    context: Context,
    fresh: bool,
    loaded: HashMap<Key, Anything>,
    /// Of the loaded ones, those that were taken from what was known.
    assumed: HashSet<Key>,
    events: Vec<NewEvent>,
    guards: Vec<Guard>,
    known: Option<Known>,
    shared: &'a Known,
    inbox: Option<&'a dyn Inbox>,
    /// Questions that this commit puts to people.
    pub(crate) asked: u32,
}

impl Commands {
    pub(crate) fn rounds(&self) -> Rounds {
        Rounds(0)
    }

    pub(crate) fn unit<'a>(&'a self, context: &Context, rounds: &Rounds) -> Unit<'a> {
        Unit {
            journal: &self.journal,
            context: context.clone(),
            fresh: rounds.0 == 0,
            loaded: HashMap::new(),
            assumed: HashSet::new(),
            events: vec![],
            guards: vec![],
            known: None,
            shared: &self.shared,
            inbox: self.inbox.as_deref(),
            asked: 0,
        }
    }
}

impl Unit<'_> {
    /// Begins from what is known instead of loading it, and adds to it what it commits.
    #[must_use]
    pub(crate) fn knowing(mut self, known: &Known) -> Self {
        self.known = Some(known.clone());
        self
    }

    /// What is decided from here on belongs to this turn.
    pub(crate) fn on_turn(&mut self, turn: Option<TurnId>) {
        self.context.0.turn = turn;
    }

    /// Tenant and workspace.
    pub(crate) fn scope(&self) -> Scope {
        self.context.scope()
    }

    /// Takes it that this aggregate does not exist yet, which saves loading it. If it does, the commit meets a
    /// conflict, and the next round loads it.
    pub(crate) fn expect_new<A: Entity + Clone + 'static>(&mut self, id: &str) {
        if self.fresh {
            let nothing = Loaded { state: A::default(), version: 0, scope: None };
            self.loaded.insert((A::TYPE, id.to_owned()), Arc::new(nothing));
        }
    }

    /// The aggregate as it stands, with what this unit has decided already.
    pub(crate) async fn load<A: Entity + Clone + 'static>(
        &mut self,
        id: &str,
    ) -> Result<Loaded<A>, CommandError> {
        if let Some(known) =
            self.loaded.get(&(A::TYPE, id.to_owned())).and_then(|any| any.downcast_ref::<Loaded<A>>())
        {
            return Ok(known.clone());
        }
        let known = self.known.as_ref().filter(|_| self.fresh);
        if let Some(loaded) = known.and_then(|known| known.share::<A>(id)) {
            self.assumed.insert((A::TYPE, id.to_owned()));
            let state = Loaded::clone(&loaded);
            self.loaded.insert((A::TYPE, id.to_owned()), loaded);
            return Ok(state);
        }
        self.load_anew(id).await
    }

    async fn load_anew<A: Entity + Clone + 'static>(&mut self, id: &str) -> Result<Loaded<A>, CommandError> {
        if self.assumed.remove(&(A::TYPE, id.to_owned())) {
            self.forget();
        }
        let loaded = self.journal.load::<A>(id).await?;
        self.loaded.insert((A::TYPE, id.to_owned()), Arc::new(loaded.clone()));
        Ok(loaded)
    }

    /// An aggregate that this commit rests on and that seldom changes: taken from what the process knows, and guarded.
    pub(crate) async fn rest_on<A: Entity + Clone + 'static>(
        &mut self,
        id: &str,
    ) -> Result<Arc<Loaded<A>>, CommandError> {
        let loaded = match self.shared.share::<A>(id).filter(|_| self.fresh) {
            Some(loaded) => loaded,
            None => {
                let loaded = self.journal.load::<A>(id).await?;
                self.shared.learn(id, &loaded);
                Arc::new(loaded)
            }
        };
        self.guard::<A>(id, loaded.version);
        Ok(loaded)
    }

    /// The aggregate, if it is in the caller's workspace.
    pub(crate) async fn owned<A: Entity + Clone + 'static>(
        &mut self,
        id: &str,
        what: &str,
    ) -> Result<Loaded<A>, CommandError> {
        let loaded = self.load::<A>(id).await?;
        self.own(loaded, what)
    }

    /// The same thing, if it is in the caller's workspace.
    pub(crate) fn own<A>(&self, loaded: Loaded<A>, what: &str) -> Result<Loaded<A>, CommandError> {
        if loaded.scope == Some(self.context.scope()) { Ok(loaded) } else { Err(CommandError::unknown(what)) }
    }

    /// The approvals that are open in the workspace, those of this commit included; none when nobody can say now.
    pub(crate) async fn open_approvals(&self) -> Option<u32> {
        let open = self.inbox?.open_approvals(self.scope()).await?;
        Some(open + self.asked)
    }

    /// Decides a command and keeps what then happens for the commit.
    pub(crate) async fn decide<A>(
        &mut self,
        id: &str,
        command: A::Order,
    ) -> Result<Vec<A::Happening>, CommandError>
    where
        A: Entity + Clone + 'static,
        A::Order: Clone,
        CommandError: From<A::Refusal>,
    {
        let mut loaded = self.load::<A>(id).await?;
        let again = self.assumed.contains(&(A::TYPE, id.to_owned())).then(|| command.clone());
        let mut decided = A::decide(&loaded.state, command);
        // Without an event nothing is committed and no conflict met, so that must not rest on what may have changed.
        if let (Ok([]) | Err(_), Some(command)) = (decided.as_deref(), again) {
            loaded = self.load_anew::<A>(id).await?;
            decided = A::decide(&loaded.state, command);
        }
        let events = decided?;
        self.assumed.remove(&(A::TYPE, id.to_owned()));
        for event in &events {
            loaded.version += 1;
            loaded.scope = loaded.scope.or(Some(self.context.scope()));
            self.events.push(NewEvent {
                aggregate_type: A::TYPE,
                aggregate_id: id.to_owned(),
                version: loaded.version,
                kind: event.kind(),
                form: event.version(),
                payload: serde_json::to_value(event).map_err(|error| {
                    CommandError::new(
                        crate::Code::Internal,
                        format!("an event could not be written: {error}"),
                    )
                })?,
                metadata: self.context.0.clone(),
            });
            loaded.state.evolve(event.clone());
        }
        self.loaded.insert((A::TYPE, id.to_owned()), Arc::new(loaded));
        Ok(events)
    }

    /// The commit holds only if this aggregate still stands at this version.
    pub(crate) fn guard<A: Entity>(&mut self, id: &str, version: u64) {
        self.guards.push(Guard { aggregate_type: A::TYPE, aggregate_id: id.to_owned(), version });
    }

    /// Commits. `None`: somebody else was faster, go round again.
    pub(crate) async fn commit(self, rounds: &mut Rounds) -> Result<Option<Vec<Appended>>, CommandError> {
        if self.events.is_empty() {
            return Ok(Some(vec![]));
        }
        let written: HashSet<Key> =
            self.events.iter().map(|event| (event.aggregate_type, event.aggregate_id.clone())).collect();
        match self.journal.append(self.events, &self.guards).await {
            Ok(appended) => {
                if let Some(known) = &self.known {
                    let written = self.loaded.into_iter().filter(|(key, _)| written.contains(key));
                    written.for_each(|(key, loaded)| known.keep(key, loaded));
                }
                Ok(Some(appended))
            }
            Err(error) => {
                if let Some(known) = &self.known {
                    known.forget();
                }
                match error {
                    AppendError::Conflict | AppendError::GuardFailed { .. } if rounds.0 < ROUNDS => {
                        rounds.0 += 1;
                        tokio::time::sleep(pause(rounds.0)).await;
                        Ok(None)
                    }
                    error => Err(error.into()),
                }
            }
        }
    }

    fn forget(&self) {
        if let Some(known) = &self.known {
            known.forget();
        }
    }
}

/// A little, at random, and more when it goes on: so that a crowd does not meet again.
fn pause(round: u32) -> Duration {
    if round == 1 {
        Duration::ZERO
    } else {
        Duration::from_micros(rand::random_range(0..2000 * u64::from(round.min(20))))
    }
}
