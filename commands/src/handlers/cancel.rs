//! A person cancels a turn or a call outside a turn.

use chrono::Utc;
use oxagen_domain::tool_call::{Standing, ToolCall, ToolCallCommand};
use oxagen_domain::turn::{Turn, TurnCommand};
use oxagen_domain::{CallId, Right, TurnId};

use crate::{Caller, Code, CommandError, Commands, Context};

impl Commands {
    /// Asks for a turn's end. Whoever runs it cancels what is open and ends it; a paused one is woken for that.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::TurnEnded`], [`Code::Forbidden`], [`Code::Unavailable`].
    pub async fn cancel_turn(
        &self,
        caller: &Caller,
        turn: TurnId,
        reason: String,
    ) -> Result<(), CommandError> {
        caller.must(Right::Act)?;
        let mut rounds = self.rounds();
        loop {
            let bare = caller.context(None, Some(turn));
            let mut look = self.unit(&bare, &rounds);
            let found = look.owned::<Turn>(&turn.to_string(), "turn").await?;
            let context = caller.context(found.state.spec.map(|spec| spec.conversation_id), Some(turn));
            let mut unit = self.unit(&context, &rounds);
            let command = TurnCommand::RequestCancel { by: caller.user, reason: reason.clone() };
            unit.decide::<Turn>(&turn.to_string(), command).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Cancels a call that runs, in a turn or outside one, because the workspace's kill switch says so. A call that has
    /// ended or does not run any more is left alone.
    ///
    /// # Errors
    /// [`Code::Unavailable`].
    pub async fn stop_call(&self, context: &Context, call: CallId) -> Result<(), CommandError> {
        let (id, mut rounds) = (call.to_string(), self.rounds());
        loop {
            let mut look = self.unit(context, &rounds);
            let found = look.owned::<ToolCall>(&id, "call").await?.state;
            let (Standing::Started(_), Some(spec)) = (found.standing, found.spec) else { return Ok(()) };
            let place = spec.place.as_ref();
            let within = context
                .clone()
                .within(place.map(|place| place.conversation_id), place.map(|place| place.turn_id));
            let mut unit = self.unit(&within, &rounds);
            let reason = "the workspace's kill switch stopped it".to_owned();
            unit.decide::<ToolCall>(&id, ToolCallCommand::Cancel { reason, at: Utc::now() }).await?;
            unit.follow_plan(call).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Cancels a call outside a turn; a call in a turn is cancelled with its turn.
    ///
    /// # Errors
    /// [`Code::NotFound`], [`Code::CallEnded`], [`Code::Conflict`] for a call in a turn, [`Code::Forbidden`],
    /// [`Code::Unavailable`].
    pub async fn cancel_call(
        &self,
        caller: &Caller,
        call: CallId,
        reason: String,
    ) -> Result<(), CommandError> {
        caller.must(Right::Act)?;
        let (context, mut rounds) = (caller.context(None, None), self.rounds());
        loop {
            let mut unit = self.unit(&context, &rounds);
            let found = unit.owned::<ToolCall>(&call.to_string(), "call").await?.state;
            let place = found.spec.as_ref().and_then(|spec| spec.place.as_ref());
            // What a person lets run again is none of its turn's business any more.
            if let Some(place) = place.filter(|_| found.settled.is_none()) {
                let text = format!("this call belongs to turn {}: cancel that turn", place.turn_id);
                return Err(CommandError::new(Code::Conflict, text));
            }
            if let Standing::Ended(status) = found.standing {
                return Err(oxagen_domain::tool_call::ToolCallRefusal::Ended(status).into());
            }
            let command = ToolCallCommand::Cancel { reason: reason.clone(), at: Utc::now() };
            unit.decide::<ToolCall>(&call.to_string(), command).await?;
            unit.supersede(&found).await?;
            unit.follow_plan(call).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}
