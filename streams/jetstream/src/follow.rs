//! Reads facts on from a cursor: for projectors, the gateway, and whoever keeps its own place.

use oxagen_domain::Fact;
use tracing::warn;

use crate::bus::Bus;
use crate::envelope;
use crate::tail::{Step, Tail};
use crate::topology::FACTS;

/// What comes after the cursor.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
    /// Facts, ascending, at least one and at most 500. Without a filter their `seq` has no gap.
    Facts(Vec<Fact>),
    /// The facts after `after` and before `next` are not to be had from the stream: too old, too large for a
    /// message, or damaged. Read them from the journal, then call [`Follow::seek`] with `next - 1` or whatever
    /// was the last one read.
    Jump {
        /// The cursor.
        after: u64,
        /// The first `seq` that the stream may have again.
        next: u64,
    },
}

/// A reader of facts with its own cursor. It survives restarts of the server, deleted consumers and a stream
/// that was made again; while the server is away it waits.
pub struct Follow {
    tail: Tail,
    behind: u64,
}

/// Follows the facts after `after`. `name` is shown by the server; several readers may share it. `filters` are
/// subjects after the prefix, such as `fact.*.*.turn.*`; with none, every fact comes, and one that is missing is
/// noticed.
pub fn facts(bus: &Bus, name: &str, after: u64, filters: &[&str]) -> Follow {
    let filters = filters.iter().map(|filter| format!("{}{filter}", bus.prefix())).collect();
    Follow { tail: Tail::new(bus, &FACTS, name, filters, after), behind: 0 }
}

impl Follow {
    /// Waits for what comes after the cursor and moves the cursor over it (but not over a [`Delivery::Jump`]).
    /// Safe to cancel.
    pub async fn next_batch(&mut self) -> Delivery {
        let after = self.tail.cursor();
        let messages = match self.tail.next().await {
            Step::Messages(messages) => messages,
            Step::Gone { next } => return Delivery::Jump { after, next },
        };
        let mut facts: Vec<Fact> = Vec::with_capacity(messages.len());
        for (place, message) in messages {
            match envelope::decode(place.seq, message.headers.as_ref(), &message.payload) {
                Ok(fact) => {
                    self.behind = place.behind;
                    facts.push(fact);
                }
                Err(cause) => {
                    warn!(seq = place.seq, %cause, "a message that is read from the journal instead");
                    let good = facts.last().map_or(after, |fact| fact.seq);
                    self.tail.seek(good);
                    if facts.is_empty() {
                        return Delivery::Jump { after, next: place.seq + 1 };
                    }
                    break;
                }
            }
        }
        Delivery::Facts(facts)
    }

    /// Goes on after another `seq`.
    pub fn seek(&mut self, after: u64) {
        self.tail.seek(after);
    }

    /// The `seq` of the last fact given out.
    pub fn cursor(&self) -> u64 {
        self.tail.cursor()
    }

    /// How many facts were waiting behind the last one given out: the lag.
    pub fn behind(&self) -> u64 {
        self.behind
    }
}
