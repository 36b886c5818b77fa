//! What a model is told: the messages on the way from the conversation's beginning to one of its messages, rebuilt
//! from facts. Every call has exactly one result, whatever happened to it.

use std::collections::BTreeMap;

use crate::aggregate::Entity;
use crate::body::Body;
use crate::conversation::{ConversationEvent, Message};
use crate::event::Event;
use crate::fact::{Fact, Undecodable};
use crate::ids::{CallId, MessageId, TurnId};
use crate::tool_call::ToolCall;
use crate::turn::{StepResult, Turn, TurnEvent};

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

/// A conversation, folded for rebuilding what the model was and is told.
///
/// Facts give what has been numbered. A runner that goes on from its own commits adds the turn and the calls as it
/// loaded them, for those commits may not have their numbers yet; taking in the same thing twice changes nothing.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    messages: BTreeMap<MessageId, Message>,
    answers: BTreeMap<MessageId, MessageId>,
    steps: BTreeMap<(TurnId, u32), StepResult>,
    calls: BTreeMap<CallId, ToolCall>,
}

impl Transcript {
    /// Takes in one fact of the conversation; facts come in order of `seq`.
    ///
    /// # Errors
    /// [`Undecodable`] when the fact does not fit this build's form of its type.
    pub fn take(&mut self, fact: &Fact) -> Result<(), Undecodable> {
        match fact.event()? {
            Some(Event::Conversation(ConversationEvent::MessageAdded { message, .. })) => {
                self.answers.insert(message.assistant_message_id, message.message_id);
                self.messages.insert(message.message_id, message);
            }
            Some(Event::Turn(TurnEvent::StepCompleted { step, result, .. })) => {
                if let Some(turn) = fact.turn_id {
                    self.steps.insert((turn, step), result);
                }
            }
            Some(Event::ToolCall(event)) => {
                if let Ok(call) = fact.aggregate_id.parse() {
                    Entity::evolve(self.calls.entry(call).or_default(), event);
                }
            }
            Some(
                Event::Workspace(_)
                | Event::ApiKey(_)
                | Event::Agent(_)
                | Event::Policy(_)
                | Event::Conversation(_)
                | Event::Turn(_)
                | Event::Approval(_)
                | Event::Plan(_),
            )
            | None => {}
        }
        Ok(())
    }

    /// Takes in a turn as it was loaded.
    pub fn take_turn(&mut self, id: TurnId, turn: &Turn) {
        self.steps.extend(turn.results.iter().map(|(step, result)| ((id, *step), result.clone())));
    }

    /// Takes in a call as it was loaded.
    pub fn take_call(&mut self, id: CallId, call: &ToolCall) {
        self.calls.insert(id, call.clone());
    }

    /// The calls of which the model will have to be told something else than it was: in doubt, or running again.
    pub fn open_questions(&self) -> Vec<CallId> {
        self.calls.iter().filter(|(_, call)| call.is_open_question()).map(|(id, _)| *id).collect()
    }

    /// Adds what an older transcript knows and this one does not.
    pub fn follow(&mut self, older: Self) {
        let newer = std::mem::replace(self, older);
        self.messages.extend(newer.messages);
        self.answers.extend(newer.answers);
        self.steps.extend(newer.steps);
        self.calls.extend(newer.calls);
    }

    /// The messages from the beginning to this person's message and what the agent has done about it so far.
    pub fn up_to(&self, message: MessageId) -> Vec<Entry> {
        let mut path = Vec::new();
        let mut at = Some(message);
        while let Some(message) = at.and_then(|id| self.messages.get(&id)) {
            path.push(message);
            // What follows an answer follows the message that was answered.
            at = message.parent_message_id.map(|parent| *self.answers.get(&parent).unwrap_or(&parent));
        }
        path.into_iter().rev().flat_map(|message| self.of_turn(message)).collect()
    }

    fn of_turn(&self, message: &Message) -> Vec<Entry> {
        let mut entries = vec![Entry::User { text: message.text.clone() }];
        let turn = message.turn_id;
        for step in self.steps.range((turn, 0)..=(turn, u32::MAX)).map(|(_, step)| step) {
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
        let spec = self.calls.get(&call).and_then(|call| call.spec.as_ref());
        spec.map_or_else(|| Body::Inline(serde_json::json!({})), |spec| spec.input.clone())
    }

    fn result(&self, call: CallId) -> String {
        let told = self.calls.get(&call).and_then(|call| call.told.clone());
        told.unwrap_or_else(|| "This call has no result yet.".to_owned())
    }
}

#[cfg(test)]
mod tests;
