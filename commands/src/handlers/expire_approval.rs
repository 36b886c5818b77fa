//! The timer of an approval rang.

use chrono::Utc;
use oxagen_domain::tool_call::ToolCall;
use oxagen_domain::{Approval, ApprovalCommand, ApprovalId, Scope};

use crate::{CommandError, Commands, Context};

impl Commands {
    /// Closes an approval whose deadline has passed; an early or repeated ring changes nothing.
    ///
    /// # Errors
    /// [`Unavailable`](crate::Code::Unavailable).
    pub async fn expire_approval(&self, scope: Scope, approval_id: ApprovalId) -> Result<(), CommandError> {
        let (id, mut rounds) = (approval_id.to_string(), self.rounds());
        loop {
            let bare = Context::own(scope, "timer", approval_id.0);
            let mut look = self.unit(&bare, &rounds);
            let Some(question) = look.owned::<Approval>(&id, "approval").await?.state.question else {
                return Ok(());
            };
            let call = look.load::<ToolCall>(&question.call_id.to_string()).await?.state;
            let place = call.spec.and_then(|spec| spec.place);
            let context = bare.within(
                place.as_ref().map(|place| place.conversation_id),
                place.as_ref().map(|place| place.turn_id),
            );
            let mut unit = self.unit(&context, &rounds);
            unit.decide::<Approval>(&id, ApprovalCommand::Expire { now: Utc::now() }).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}
