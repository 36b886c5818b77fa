//! A turn ends: with it what it left open, and its place in the conversation, in one commit.

use chrono::Utc;
use oxagen_domain::plan::{Plan, PlanCommand};
use oxagen_domain::tool_call::{ToolCall, ToolCallCommand};
use oxagen_domain::turn::{Outcome, Turn, TurnCommand};
use oxagen_domain::{Conversation, ConversationCommand};

use super::AdvanceTurn;
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
            let mut unit = self.unit(&to.context, &rounds);
            let turn = unit.load::<Turn>(&to.turn.to_string()).await?.state;
            let command = TurnCommand::Finish { epoch: to.epoch, outcome: outcome() };
            unit.decide::<Turn>(&to.turn.to_string(), command).await?;
            for call in turn.open_calls() {
                let id = call.to_string();
                let open = unit.load::<ToolCall>(&id).await?.state;
                // What a person lets run again runs to its own end.
                if open.settled.is_some() {
                    continue;
                }
                let reason = "its turn ended".to_owned();
                unit.decide::<ToolCall>(&id, ToolCallCommand::Cancel { reason, at: Utc::now() }).await?;
                unit.supersede(&open).await?;
                unit.follow_plan(*call).await?;
            }
            if let Some(plan) = turn.plan {
                unit.decide::<Plan>(&plan.to_string(), PlanCommand::Supersede).await?;
            }
            if let Some(spec) = turn.spec {
                let close = ConversationCommand::CloseTurn { turn_id: to.turn };
                unit.decide::<Conversation>(&spec.conversation_id.to_string(), close).await?;
            }
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}
