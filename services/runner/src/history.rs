//! What the model is told, kept while a runner is at a turn.

use oxagen_commands::{CommandError, Context};
use oxagen_domain::tool_call::ToolCall;
use oxagen_domain::transcript::{Entry, Transcript};
use oxagen_domain::turn::{Turn, TurnSpec};
use oxagen_domain::{CallId, TurnId};
use oxagen_model::{AssistantCall, Message};
use tracing::warn;

use crate::Shared;

/// Facts read at once.
const PAGE: u32 = 1000;

/// A conversation's transcript: the numbered facts once, then what this runner itself commits.
#[derive(Default)]
pub(crate) struct History {
    transcript: Transcript,
    read: Option<u64>,
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
        if history.read.is_none() {
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
        let mut transcript = Transcript::default();
        let mut after = 0;
        loop {
            let journal = self.options.commands.journal();
            let facts = journal.conversation(context.scope(), spec.conversation_id, after, PAGE).await?;
            for fact in &facts {
                if let Err(error) = transcript.take(fact) {
                    warn!(%error, "left out of what the model is told");
                }
                after = fact.seq;
            }
            if facts.len() < PAGE as usize {
                break;
            }
        }
        history.transcript.follow(transcript);
        history.read = Some(after);
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
