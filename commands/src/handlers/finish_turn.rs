//! A turn ends: with it what it left open, and its place in the conversation, in one commit.

use chrono::Utc;
use oxagen_domain::plan::{Plan, PlanCommand};
use oxagen_domain::tool_call::{ToolCall, ToolCallCommand};
use oxagen_domain::turn::{Outcome, Turn, TurnCommand, TurnSpec};
use oxagen_domain::{Conversation, ConversationCommand};

use super::AdvanceTurn;
use crate::unit::Unit;
use crate::{CommandError, Commands};

impl Commands {
    /// Ends a turn. Calls that are still open are cancelled, approvals that are still open superseded.
    ///
    /// # Errors
    /// `Conflict` with `fenced` set when the epoch is over, `TurnEnded`, `Unavailable`.
    pub async fn finish_turn(
        &self,
        to: &AdvanceTurn,
        outcome: impl Fn() -> Outcome,
    ) -> Result<(), CommandError> {
        let mut rounds = self.rounds();
        loop {
            let mut unit = self.unit(&to.context, &rounds).knowing(&to.known);
            unit.end_turn(to, outcome()).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }

    /// Learns what the end of a turn will be decided on, so that the end need not wait for it. That it is not learnt
    /// does no harm.
    pub async fn foresee_end(&self, to: &AdvanceTurn, spec: &TurnSpec) {
        let id = spec.conversation_id.to_string();
        if to.known.recall::<Conversation>(&id).is_none()
            && let Ok(loaded) = self.journal().load::<Conversation>(&id).await
        {
            to.known.learn(&id, &loaded);
        }
    }
}

impl Unit<'_> {
    /// Ends a turn, with everything that it left open.
    pub(super) async fn end_turn(&mut self, to: &AdvanceTurn, outcome: Outcome) -> Result<(), CommandError> {
        let turn = self.load::<Turn>(&to.turn.to_string()).await?.state;
        let command = TurnCommand::Finish { epoch: to.epoch, outcome };
        self.decide::<Turn>(&to.turn.to_string(), command).await?;
        for call in turn.open_calls() {
            let id = call.to_string();
            let open = self.load::<ToolCall>(&id).await?.state;
            // What a person lets run again runs to its own end.
            if open.settled.is_some() {
                continue;
            }
            let reason = "its turn ended".to_owned();
            self.decide::<ToolCall>(&id, ToolCallCommand::Cancel { reason, at: Utc::now() }).await?;
            self.supersede(&open).await?;
            self.follow_plan(*call).await?;
        }
        if let Some(plan) = turn.plan {
            self.decide::<Plan>(&plan.to_string(), PlanCommand::Supersede).await?;
        }
        if let Some(spec) = turn.spec {
            let close = ConversationCommand::CloseTurn { turn_id: to.turn };
            self.decide::<Conversation>(&spec.conversation_id.to_string(), close).await?;
        }
        Ok(())
    }
}
