//! The facts of late, in memory: what a viewer who was away for a moment has missed.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::{Passing, Topic};

/// Facts kept at most.
const FACTS: usize = 8192;
/// Their payloads together, roughly, in bytes.
const BYTES: usize = 32 * 1024 * 1024;

/// The facts after `floor` up to `head`, without a gap.
#[derive(Default)]
pub(super) struct Ring {
    floor: u64,
    head: u64,
    facts: VecDeque<(Arc<Passing>, usize)>,
    bytes: usize,
}

impl Ring {
    /// Begins after this fact.
    pub(super) fn begin(&mut self, head: u64) {
        *self = Self { floor: head, head, ..Self::default() };
    }

    /// The newest fact that went by.
    pub(super) fn head(&self) -> u64 {
        self.head
    }

    /// Keeps a fact, and lets go of the oldest ones when there are too many.
    pub(super) fn push(&mut self, passing: Arc<Passing>) {
        self.head = passing.fact.seq;
        let bytes = weight(&passing.fact.payload);
        self.bytes += bytes;
        self.facts.push_back((passing, bytes));
        while self.facts.len() > FACTS || self.bytes > BYTES {
            let Some((oldest, bytes)) = self.facts.pop_front() else { break };
            self.floor = oldest.fact.seq;
            self.bytes -= bytes;
        }
    }

    /// The topic's facts after this one; none if the ring does not go back so far.
    pub(super) fn after(&self, after: u64, topic: Topic) -> Option<Vec<Arc<Passing>>> {
        let wanted = |passing: &Passing| Topic::of_fact(&passing.fact).any(|other| other == topic);
        (after >= self.floor).then(|| {
            let newer = self.facts.iter().rev().map(|(passing, _)| passing);
            let mut facts: Vec<_> =
                newer.take_while(|it| it.fact.seq > after).filter(|it| wanted(it)).cloned().collect();
            facts.reverse();
            facts
        })
    }
}

/// About what a value takes in memory.
fn weight(value: &Value) -> usize {
    const EACH: usize = 32;
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => EACH,
        Value::String(text) => EACH + text.len(),
        Value::Array(items) => EACH + items.iter().map(weight).sum::<usize>(),
        Value::Object(fields) => {
            EACH + fields.iter().map(|(key, value)| key.len() + EACH + weight(value)).sum::<usize>()
        }
    }
}
