//! Follows the facts in memory and stops model requests, tools and containers of what was cancelled.

use std::sync::Arc;

use dashmap::DashMap;
use oxagen_commands::Commands;
use oxagen_domain::tool_call::ToolCall;
use oxagen_domain::turn::Turn;
use oxagen_jetstream::Bus;
use oxagen_jetstream::follow::{self, Delivery};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const FILTERS: &[&str] = &["fact.*.*.turn.cancel_requested", "fact.*.*.tool_call.cancelled"];

/// What runs in this process and how to stop it.
#[derive(Clone, Default)]
pub(crate) struct Stops(Arc<DashMap<Uuid, CancellationToken>>);

/// Something that can be stopped; forgotten when dropped.
pub(crate) struct Stoppable {
    stops: Stops,
    id: Uuid,
    /// Cancelled when it is to stop.
    pub(crate) token: CancellationToken,
}

impl Stops {
    /// Registers a turn, or a call outside one. Register first and load then, so that no cancel falls between.
    pub(crate) fn register(&self, id: Uuid) -> Stoppable {
        let token = CancellationToken::new();
        self.0.insert(id, token.clone());
        Stoppable { stops: self.clone(), id, token }
    }

    /// Registers a call of a turn: it stops with the turn, and can be stopped alone.
    pub(crate) fn register_under(&self, id: Uuid, turn: &CancellationToken) -> Stoppable {
        let token = turn.child_token();
        self.0.insert(id, token.clone());
        Stoppable { stops: self.clone(), id, token }
    }

    /// Stops what is cancelled, until dropped.
    pub(crate) async fn follow(&self, bus: &Bus, commands: &Commands, after: u64) {
        let mut facts = follow::facts(bus, "runner-stops", after, FILTERS);
        loop {
            match facts.next_batch().await {
                Delivery::Facts(batch) => {
                    for fact in batch {
                        let id = fact.aggregate_id.parse().ok();
                        if let Some(token) =
                            id.and_then(|id: Uuid| self.0.get(&id).map(|token| token.clone()))
                        {
                            token.cancel();
                        }
                    }
                }
                Delivery::Jump { next, .. } => {
                    self.look(commands).await;
                    facts.seek(next.saturating_sub(1));
                }
            }
        }
    }

    /// Facts were missed: asks the journal about everything that runs here.
    async fn look(&self, commands: &Commands) {
        let running: Vec<_> = self.0.iter().map(|entry| (*entry.key(), entry.value().clone())).collect();
        for (id, token) in running {
            let id = id.to_string();
            let turn =
                commands.journal().load::<Turn>(&id).await.is_ok_and(|turn| turn.state.cancel.is_some());
            let call =
                commands.journal().load::<ToolCall>(&id).await.is_ok_and(|call| call.state.has_ended());
            if turn || call {
                token.cancel();
            }
        }
    }
}

impl Drop for Stoppable {
    fn drop(&mut self) {
        self.stops.0.remove(&self.id);
    }
}
