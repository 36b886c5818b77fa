//! What a model is told: the messages on the way from the conversation's beginning to one of its messages, rebuilt
//! from facts. Every call has exactly one result, whatever happened to it.

mod result;

use std::collections::BTreeMap;

use crate::body::Body;
use crate::conversation::{ConversationEvent, Message};
use crate::event::Event;
use crate::fact::{Fact, Undecodable};
use crate::ids::{CallId, MessageId, TurnId};
use crate::tool_call::{CallSpec, ToolCallEvent};
use crate::turn::{StepResult, TurnEvent};

pub use result::excerpt;

/// One message to a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A person's.
    User {
        /// Its text.
        text: String,
    },
    /// The model's own, from one step.
    Assistant {
        /// Its text.
        text: String,
        /// Its reasoning.
        reasoning: String,
        /// The calls that it asked for.
        calls: Vec<EntryCall>,
    },
    /// The result of a call.
    Tool {
        /// The provider's own identifier for the call.
        provider_call_id: String,
        /// What the model is told.
        content: String,
    },
}

/// A call as the model asked for it.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryCall {
    /// The provider's own identifier.
    pub provider_call_id: String,
    /// The tool's name on the wire.
    pub name: String,
    /// Its arguments; a stored body is to be fetched before they are sent.
    pub arguments: Body,
}

/// A conversation's facts, folded for rebuilding what the model was and is told.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    messages: BTreeMap<MessageId, Message>,
    answers: BTreeMap<MessageId, TurnId>,
    steps: BTreeMap<TurnId, Vec<StepResult>>,
    calls: BTreeMap<CallId, (CallSpec, Option<String>)>,
}

impl Transcript {
    /// Takes in one fact of the conversation; facts come in order of `seq`.
    ///
    /// # Errors
    /// [`Undecodable`] when the fact does not fit this build's form of its type.
    pub fn take(&mut self, fact: &Fact) -> Result<(), Undecodable> {
        match fact.event()? {
            Some(Event::Conversation(ConversationEvent::MessageAdded { message, .. })) => {
                self.answers.insert(message.assistant_message_id, message.turn_id);
                self.messages.insert(message.message_id, message);
            }
            Some(Event::Turn(TurnEvent::StepCompleted { result, .. })) => {
                if let Some(turn) = fact.turn_id {
                    self.steps.entry(turn).or_default().push(result);
                }
            }
            Some(Event::ToolCall(event)) => self.take_call(fact, event),
            Some(_) | None => {}
        }
        Ok(())
    }

    fn take_call(&mut self, fact: &Fact, event: ToolCallEvent) {
        if let ToolCallEvent::Requested { spec, .. } = event {
            self.calls.insert(spec.call_id, (spec, None));
            return;
        }
        let known = fact.aggregate_id.parse().ok().and_then(|id: CallId| self.calls.get_mut(&id));
        if let (Some((_, told)), Some(text)) = (known, result::told(&event)) {
            *told = Some(text);
        }
    }

    /// The messages from the beginning to this person's message and what the agent has done about it so far.
    pub fn up_to(&self, message: MessageId) -> Vec<Entry> {
        let mut path = Vec::new();
        let mut at = Some(message);
        while let Some(message) = at.and_then(|id| self.messages.get(&id)) {
            path.push(message);
            // An answer's parent is the person's message of the same turn.
            at = message.parent_message_id.and_then(|parent| match self.answers.get(&parent) {
                Some(turn) => self.messages.values().find(|m| m.turn_id == *turn).map(|m| m.message_id),
                None => Some(parent),
            });
        }
        path.into_iter().rev().flat_map(|message| self.of_turn(message)).collect()
    }

    fn of_turn(&self, message: &Message) -> Vec<Entry> {
        let mut entries = vec![Entry::User { text: message.text.clone() }];
        for step in self.steps.get(&message.turn_id).into_iter().flatten() {
            let calls = step.calls.iter().map(|call| EntryCall {
                provider_call_id: call.provider_call_id.clone(),
                name: call.name.clone(),
                arguments: self.arguments(call.call_id),
            });
            let (text, reasoning) = (step.text.clone(), step.reasoning.clone());
            entries.push(Entry::Assistant { text, reasoning, calls: calls.collect() });
            entries.extend(step.calls.iter().map(|call| Entry::Tool {
                provider_call_id: call.provider_call_id.clone(),
                content: self.result(call.call_id),
            }));
        }
        entries
    }

    fn arguments(&self, call: CallId) -> Body {
        let known = self.calls.get(&call).map(|(spec, _)| spec.input.clone());
        known.unwrap_or_else(|| Body::Inline(serde_json::json!({})))
    }

    fn result(&self, call: CallId) -> String {
        let told = self.calls.get(&call).and_then(|(_, told)| told.clone());
        told.unwrap_or_else(|| "This call has no result yet.".to_owned())
    }
}

#[cfg(test)]
mod tests;
