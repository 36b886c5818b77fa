//! A person settles a call whose outcome nobody knew.

use chrono::{DateTime, Utc};
use oxagen_domain::tool_call::{SettledAs, Settlement, Standing, ToolCall, ToolCallCommand, excerpt};
use oxagen_domain::{Body, CallId, Right, UserId};
use serde::Serialize;
use serde_json::Value;

use crate::{Caller, CommandError, Commands};

/// How a person settles a call.
#[derive(Clone, Debug)]
pub struct Settle {
    /// As what.
    pub outcome: SettledAs,
    /// Its result as the person found it, for what is done.
    pub output: Option<Value>,
    /// In their words: at most 4,000 characters.
    pub note: Option<String>,
}

/// What came of it: the same for a repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SettleReceipt {
    /// The call.
    pub call_id: CallId,
    /// As what it was settled.
    pub outcome: SettledAs,
    /// Who did.
    pub settled_by: UserId,
    /// When the answer came.
    pub settled_at: DateTime<Utc>,
    /// How the call stands now.
    pub status: &'static str,
}

impl Commands {
    /// Settles a call that is in doubt: as done with a result, as not done, or by letting it run again. The model is told
    /// the truth the next time that it is asked anything in the conversation.
    ///
    /// # Errors
    /// [`Code::NotFound`](crate::Code::NotFound), [`Code::CallEnded`](crate::Code::CallEnded) when it is not in doubt,
    /// `InvalidInput`, `Forbidden`, `Unavailable`.
    pub async fn settle_call(
        &self,
        caller: &Caller,
        call_id: CallId,
        settle: Settle,
    ) -> Result<SettleReceipt, CommandError> {
        let (id, mut rounds) = (call_id.to_string(), self.rounds());
        loop {
            let bare = caller.context(None, None);
            let mut look = self.unit(&bare, &rounds);
            let found = look.owned::<ToolCall>(&id, "call").await?.state;
            caller.must(Right::Decide)?;
            let place = found.spec.and_then(|spec| spec.place);
            let context = caller.context(
                place.as_ref().map(|place| place.conversation_id),
                place.as_ref().map(|place| place.turn_id),
            );
            let mut unit = self.unit(&context, &rounds);
            let (settlement, at) = (self.settlement(caller, &settle).await?, Utc::now());
            let command =
                ToolCallCommand::Settle { settlement, by: caller.user, note: settle.note.clone(), at };
            unit.decide::<ToolCall>(&id, command).await?;
            unit.follow_plan(call_id).await?;
            let status = match unit.load::<ToolCall>(&id).await?.state.standing {
                Standing::Ended(status) => status.name(),
                Standing::Started(_) => "started",
                Standing::Absent | Standing::Held(_) | Standing::Cleared => "cleared",
            };
            if unit.commit(&mut rounds).await?.is_some() {
                let (outcome, settled_by) = (settle.outcome, caller.user);
                return Ok(SettleReceipt { call_id, outcome, settled_by, settled_at: at, status });
            }
        }
    }

    async fn settlement(&self, caller: &Caller, settle: &Settle) -> Result<Settlement, CommandError> {
        let output = match settle.outcome {
            SettledAs::Done => settle.output.clone().unwrap_or_default(),
            SettledAs::NotDone => return Ok(Settlement::NotDone),
            SettledAs::RunAgain => return Ok(Settlement::RunAgain),
        };
        let text = output.to_string();
        let (output, stored) = Body::split(output);
        let Some((digest, bytes)) = stored else { return Ok(Settlement::Done { output, excerpt: None }) };
        self.journal().put_object(caller.scope.tenant, &digest, &bytes).await?;
        Ok(Settlement::Done { output, excerpt: Some(excerpt(&text, digest.as_str())) })
    }
}
