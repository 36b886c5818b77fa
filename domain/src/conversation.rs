//! A conversation: messages in a graph, and the turns that answer them, one at a time.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::ids::{MessageId, TurnId};

/// What to do with a message that arrives while a turn runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnBusy {
    /// Refuse it.
    #[default]
    Reject,
    /// Let it wait its turn.
    Enqueue,
    /// Cancel the running turn and go next.
    Interrupt,
}

/// A message that a person sends, and the turn that will answer it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The person's message.
    pub message_id: MessageId,
    /// The message that it follows; none for the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_message_id: Option<MessageId>,
    /// Its text.
    pub text: String,
    /// The turn that answers it.
    pub turn_id: TurnId,
    /// The message that will hold the answer.
    pub assistant_message_id: MessageId,
}

/// A conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conversation {
    /// Whether it was started.
    pub exists: bool,
    /// Its title.
    pub title: String,
    /// Whether it takes no more messages.
    pub archived: bool,
    /// Every message and the one that it follows.
    pub parents: BTreeMap<MessageId, Option<MessageId>>,
    /// The newest message: what the next one follows unless told otherwise.
    pub head: Option<MessageId>,
    /// The turn that runs now.
    pub open: Option<TurnId>,
    /// Turns that wait.
    pub queue: VecDeque<TurnId>,
}

/// What has happened to a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ConversationEvent {
    /// It was started.
    Started {
        /// Its first title: the beginning of the first message.
        title: String,
    },
    /// A person's message was added, and a turn given to it.
    MessageAdded {
        /// The message and its turn.
        message: Message,
        /// Whether the turn waits for another to end.
        queued: bool,
    },
    /// A turn ended; the next one, if any waits, may begin.
    TurnClosed {
        /// The turn that ended.
        turn_id: TurnId,
        /// The turn that begins.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_turn_id: Option<TurnId>,
    },
    /// It has another title.
    Renamed {
        /// The title.
        title: String,
    },
    /// It takes no more messages.
    Archived {},
}

/// What a conversation can be told.
#[derive(Clone, Debug)]
pub enum ConversationCommand {
    /// Add a person's message, starting the conversation if it is new.
    Post {
        /// The message; a missing parent means the newest message, a nil one that it begins the conversation anew.
        message: Message,
        /// What to do if a turn runs.
        on_busy: OnBusy,
    },
    /// The turn has ended.
    CloseTurn {
        /// Which.
        turn_id: TurnId,
    },
    /// Give it another title.
    Rename {
        /// 1 to 200 characters.
        title: String,
    },
    /// Take no more messages.
    Archive,
}

/// Why a conversation said no.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConversationRefusal {
    /// It was never started.
    #[error("there is no such conversation")]
    Unknown,
    /// The parent is in no message of it.
    #[error("message {0} is not in this conversation")]
    UnknownParent(MessageId),
    /// A turn runs.
    #[error("turn {0} is still running: wait for it, cancel it, or send onBusy `enqueue` or `interrupt`")]
    Busy(TurnId),
    /// It takes no more messages.
    #[error("this conversation is archived and takes no more messages")]
    Archived,
    /// A title has 1 to 200 characters.
    #[error("a title has 1 to 200 characters")]
    Title,
}

aggregate!(Conversation as "conversation": ConversationCommand => ConversationEvent or ConversationRefusal);
event_kinds!(ConversationEvent {
    Started => "conversation.started",
    MessageAdded => "conversation.message_added",
    TurnClosed => "conversation.turn_closed",
    Renamed => "conversation.renamed",
    Archived => "conversation.archived",
});

impl Conversation {
    fn evolve(&mut self, event: ConversationEvent) {
        match event {
            ConversationEvent::Started { title } => {
                self.exists = true;
                self.title = title;
            }
            ConversationEvent::MessageAdded { message, queued } => {
                self.parents.insert(message.message_id, message.parent_message_id);
                self.parents.insert(message.assistant_message_id, Some(message.message_id));
                self.head = Some(message.assistant_message_id);
                if queued {
                    self.queue.push_back(message.turn_id);
                } else {
                    self.open = Some(message.turn_id);
                }
            }
            ConversationEvent::TurnClosed { turn_id, next_turn_id } => {
                self.queue.retain(|waiting| *waiting != turn_id && Some(*waiting) != next_turn_id);
                if self.open == Some(turn_id) {
                    self.open = next_turn_id;
                }
            }
            ConversationEvent::Renamed { title } => self.title = title,
            ConversationEvent::Archived {} => self.archived = true,
        }
    }

    fn decide(&self, command: ConversationCommand) -> Result<Vec<ConversationEvent>, ConversationRefusal> {
        match command {
            ConversationCommand::Post { message, on_busy } => self.post(message, on_busy),
            _ if !self.exists => Err(ConversationRefusal::Unknown),
            ConversationCommand::CloseTurn { turn_id } => Ok(self.close(turn_id)),
            ConversationCommand::Rename { title }
                if title.trim().is_empty() || title.chars().count() > 200 =>
            {
                Err(ConversationRefusal::Title)
            }
            ConversationCommand::Rename { title } if title == self.title => Ok(vec![]),
            ConversationCommand::Rename { title } => Ok(vec![ConversationEvent::Renamed { title }]),
            ConversationCommand::Archive if self.archived => Ok(vec![]),
            ConversationCommand::Archive => Ok(vec![ConversationEvent::Archived {}]),
        }
    }

    fn post(
        &self,
        mut message: Message,
        on_busy: OnBusy,
    ) -> Result<Vec<ConversationEvent>, ConversationRefusal> {
        if self.archived {
            return Err(ConversationRefusal::Archived);
        }
        match message.parent_message_id {
            Some(parent) if parent.0.is_nil() => message.parent_message_id = None,
            Some(parent) if !self.parents.contains_key(&parent) => {
                return Err(ConversationRefusal::UnknownParent(parent));
            }
            Some(_) => {}
            None => message.parent_message_id = self.head,
        }
        let queued = match (self.open, on_busy) {
            (Some(open), OnBusy::Reject) => return Err(ConversationRefusal::Busy(open)),
            (Some(_), OnBusy::Enqueue | OnBusy::Interrupt) => true,
            (None, _) => false,
        };
        let title = title_of(&message.text);
        let added = ConversationEvent::MessageAdded { message, queued };
        Ok(if self.exists { vec![added] } else { vec![ConversationEvent::Started { title }, added] })
    }

    fn close(&self, turn_id: TurnId) -> Vec<ConversationEvent> {
        if self.open == Some(turn_id) {
            let next_turn_id = self.queue.iter().find(|waiting| **waiting != turn_id).copied();
            vec![ConversationEvent::TurnClosed { turn_id, next_turn_id }]
        } else if self.queue.contains(&turn_id) {
            vec![ConversationEvent::TurnClosed { turn_id, next_turn_id: None }]
        } else {
            vec![]
        }
    }
}

/// The first line of a message, at most 80 characters.
fn title_of(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("New conversation").trim();
    let short: String = line.chars().take(80).collect();
    if short.len() < line.len() { format!("{}…", short.trim_end()) } else { short }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn message(n: u128, parent: Option<u128>) -> Message {
        Message {
            message_id: MessageId(Uuid::from_u128(n)),
            parent_message_id: parent.map(|p| MessageId(Uuid::from_u128(p))),
            text: format!("message {n}"),
            turn_id: TurnId(Uuid::from_u128(n + 1000)),
            assistant_message_id: MessageId(Uuid::from_u128(n + 500)),
        }
    }

    fn given(commands: Vec<ConversationCommand>) -> Conversation {
        let mut conversation = Conversation::default();
        for command in commands {
            conversation.decide(command).unwrap().into_iter().for_each(|event| conversation.evolve(event));
        }
        conversation
    }

    fn post(n: u128, parent: Option<u128>, on_busy: OnBusy) -> ConversationCommand {
        ConversationCommand::Post { message: message(n, parent), on_busy }
    }

    #[test]
    fn the_first_message_starts_it_and_the_next_follows_the_answer() {
        let mut talk = given(vec![post(1, None, OnBusy::Reject)]);
        assert_eq!(talk.title, "message 1");
        talk.decide(ConversationCommand::CloseTurn { turn_id: message(1, None).turn_id })
            .unwrap()
            .into_iter()
            .for_each(|event| talk.evolve(event));
        let events = talk.decide(post(2, None, OnBusy::Reject)).unwrap();
        let expected = message(2, Some(501));
        assert_eq!(events, [ConversationEvent::MessageAdded { message: expected, queued: false }]);
    }

    #[test]
    fn a_busy_conversation_refuses_or_queues_and_the_queue_moves_on() {
        let talk = given(vec![post(1, None, OnBusy::Reject), post(2, None, OnBusy::Enqueue)]);
        assert_eq!(
            talk.decide(post(3, None, OnBusy::Reject)),
            Err(ConversationRefusal::Busy(message(1, None).turn_id))
        );
        let closed =
            talk.decide(ConversationCommand::CloseTurn { turn_id: message(1, None).turn_id }).unwrap();
        let next_turn_id = Some(message(2, None).turn_id);
        assert_eq!(
            closed,
            [ConversationEvent::TurnClosed { turn_id: message(1, None).turn_id, next_turn_id }]
        );
    }

    #[test]
    fn a_nil_parent_is_another_beginning() {
        let talk = given(vec![post(1, None, OnBusy::Reject)]);
        let events = talk.decide(post(2, Some(0), OnBusy::Enqueue)).unwrap();
        assert_eq!(events, [ConversationEvent::MessageAdded { message: message(2, None), queued: true }]);
    }

    #[test]
    fn a_parent_must_be_in_the_conversation() {
        let talk = given(vec![post(1, None, OnBusy::Reject)]);
        let unknown = MessageId(Uuid::from_u128(77));
        assert_eq!(
            talk.decide(post(2, Some(77), OnBusy::Enqueue)),
            Err(ConversationRefusal::UnknownParent(unknown))
        );
    }
}
