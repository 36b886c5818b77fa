//! A person renames or archives a conversation.

use oxagen_domain::{Conversation, ConversationCommand, ConversationId, Right};

use crate::{Caller, CommandError, Commands};

impl Commands {
    /// Gives a conversation another title of 1 to 200 characters.
    ///
    /// # Errors
    /// `NotFound`, `InvalidInput`, `Forbidden`, `Unavailable`.
    pub async fn rename_conversation(
        &self,
        caller: &Caller,
        conversation: ConversationId,
        title: String,
    ) -> Result<(), CommandError> {
        self.edit(caller, conversation, || ConversationCommand::Rename { title: title.clone() }).await
    }

    /// Lets a conversation take no more messages. It stays readable.
    ///
    /// # Errors
    /// `NotFound`, `Forbidden`, `Unavailable`.
    pub async fn archive_conversation(
        &self,
        caller: &Caller,
        conversation: ConversationId,
    ) -> Result<(), CommandError> {
        self.edit(caller, conversation, || ConversationCommand::Archive).await
    }

    async fn edit(
        &self,
        caller: &Caller,
        conversation: ConversationId,
        command: impl Fn() -> ConversationCommand,
    ) -> Result<(), CommandError> {
        caller.must(Right::Act)?;
        let (context, mut rounds) = (caller.context(Some(conversation), None), self.rounds());
        loop {
            let mut unit = self.unit(&context, &rounds);
            unit.owned::<Conversation>(&conversation.to_string(), "conversation").await?;
            unit.decide::<Conversation>(&conversation.to_string(), command()).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}
