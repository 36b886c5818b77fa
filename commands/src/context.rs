//! On whose behalf, and because of what, a part of the runtime acts.

use chrono::Utc;
use oxagen_domain::{Actor, Fact, Metadata, Scope};

/// What the events of a command carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context(pub(crate) Metadata);

impl Context {
    /// What follows from a fact; `part` names the part of the runtime that acts.
    pub fn after(fact: &Fact, part: &str) -> Self {
        Self(fact.effect(Actor::system(part), Utc::now()))
    }

    /// What a part of the runtime does on its own account, such as closing what has expired.
    pub fn own(scope: Scope, part: &str, cause: uuid::Uuid) -> Self {
        Self(Metadata {
            scope,
            conversation: None,
            turn: None,
            actor: Actor::system(part),
            causation: cause,
            correlation: cause,
            traceparent: None,
            occurred_at: Utc::now(),
        })
    }

    /// The same with a conversation and a turn.
    #[must_use]
    pub fn within(
        mut self,
        conversation: Option<oxagen_domain::ConversationId>,
        turn: Option<oxagen_domain::TurnId>,
    ) -> Self {
        self.0.conversation = conversation;
        self.0.turn = turn;
        self
    }

    /// The same by another actor.
    #[must_use]
    pub fn by(mut self, actor: Actor) -> Self {
        self.0.actor = actor;
        self
    }

    /// Tenant and workspace.
    pub fn scope(&self) -> Scope {
        self.0.scope
    }

    /// W3C trace context.
    pub fn traceparent(&self) -> Option<&str> {
        self.0.traceparent.as_deref()
    }
}
