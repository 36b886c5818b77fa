//! What the model is told, kept while a runner is at a turn.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use oxagen_commands::{CommandError, Context};
use oxagen_domain::tool_call::ToolCall;
use oxagen_domain::transcript::{Entry, Transcript};
use oxagen_domain::turn::{Turn, TurnSpec};
use oxagen_domain::{CallId, ConversationId, TurnId};
use oxagen_model::{AssistantCall, Message};
use tracing::warn;

use crate::Shared;

/// Facts read at once.
const PAGE: u32 = 1000;

/// Facts behind the transcripts that are kept at most; when there are more, all are forgotten and read again when needed.
const KEPT: usize = 20_000;

/// Numbered facts of a conversation, folded.
#[derive(Clone, Default)]
struct Past {
    transcript: Transcript,
    /// The last of them.
    seq: u64,
    facts: usize,
}

/// Conversations that this process has told a model of: their next turns read only what has happened since.
#[derive(Default)]
pub(crate) struct Pasts(Mutex<HashMap<ConversationId, Past>>);

impl Pasts {
    fn of(&self, conversation: ConversationId) -> Past {
        self.lock().get(&conversation).cloned().unwrap_or_default()
    }

    fn keep(&self, conversation: ConversationId, past: Past) {
        let mut pasts = self.lock();
        pasts.insert(conversation, past);
        if pasts.values().map(|past| past.facts).sum::<usize>() > KEPT {
            pasts.clear();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ConversationId, Past>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A conversation's transcript: the numbered facts once, then what this runner itself commits.
#[derive(Default)]
pub(crate) struct History {
    transcript: Transcript,
    read: bool,
}

impl History {
    /// Takes in the turn and its calls as they were loaded.
    pub(crate) fn take(&mut self, id: TurnId, turn: &Turn, calls: &[(CallId, ToolCall)]) {
        self.transcript.take_turn(id, turn);
        for (id, call) in calls {
            self.transcript.take_call(*id, call);
        }
    }
}

impl Shared {
    /// The messages for the model.
    pub(crate) async fn messages(
        &self,
        context: &Context,
        spec: &TurnSpec,
        history: &mut History,
    ) -> Result<Vec<Message>, CommandError> {
        if !history.read {
            self.read(context, spec, history).await?;
        }
        // What was in doubt may have been settled since: the model is told how it stands now.
        for call in history.transcript.open_questions() {
            let loaded = self.options.commands.journal().load::<ToolCall>(&call.to_string()).await?;
            history.transcript.take_call(call, &loaded.state);
        }
        let mut messages = Vec::new();
        for entry in history.transcript.up_to(spec.user_message_id) {
            messages.push(self.message(context, entry).await?);
        }
        Ok(messages)
    }

    async fn read(
        &self,
        context: &Context,
        spec: &TurnSpec,
        history: &mut History,
    ) -> Result<(), CommandError> {
        // What this runner loaded is newer than what has been numbered, so the facts go first.
        let mut past = self.pasts.of(spec.conversation_id);
        loop {
            let journal = self.options.commands.journal();
            let facts = journal.conversation(context.scope(), spec.conversation_id, past.seq, PAGE).await?;
            for fact in &facts {
                if let Err(error) = past.transcript.take(fact) {
                    warn!(%error, "left out of what the model is told");
                }
                past.seq = fact.seq;
            }
            past.facts += facts.len();
            if facts.len() < PAGE as usize {
                break;
            }
        }
        history.transcript.follow(past.transcript.clone());
        history.read = true;
        self.pasts.keep(spec.conversation_id, past);
        Ok(())
    }

    async fn message(&self, context: &Context, entry: Entry) -> Result<Message, CommandError> {
        Ok(match entry {
            Entry::User { text } => Message::User { text },
            Entry::Tool { provider_call_id, content } => Message::Tool { call_id: provider_call_id, content },
            Entry::Assistant { text, reasoning, calls } => {
                let mut asked = Vec::new();
                for call in calls {
                    let arguments =
                        self.options.commands.whole(context.scope().tenant, &call.arguments).await?;
                    let arguments = arguments.to_string();
                    asked.push(AssistantCall { id: call.provider_call_id, name: call.name, arguments });
                }
                let some = |text: String| (!text.is_empty()).then_some(text);
                Message::Assistant { text: some(text), reasoning: some(reasoning), calls: asked }
            }
        })
    }
}
