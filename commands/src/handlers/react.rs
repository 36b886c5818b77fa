//! The reactor carries out what follows from a fact. Repeating it changes nothing.

use chrono::Utc;
use oxagen_domain::reaction::Reaction;
use oxagen_domain::tool_call::{ToolCall, ToolCallCommand};
use oxagen_domain::turn::{Turn, TurnCommand};

use crate::{CommandError, Commands, Context};

impl Commands {
    /// Carries out one reaction.
    ///
    /// # Errors
    /// `Conflict` when it no longer fits what has become of its target, `Unavailable`.
    pub async fn react(&self, context: &Context, reaction: &Reaction) -> Result<(), CommandError> {
        let mut rounds = self.rounds();
        loop {
            let mut unit = self.unit(context, &rounds);
            match reaction {
                Reaction::ClearCall { call, approval, edited } => {
                    let command = ToolCallCommand::Clear { approval_id: *approval, edited: edited.clone() };
                    unit.decide::<ToolCall>(&call.to_string(), command).await?;
                }
                Reaction::RefuseCall { call, approval, refused } => {
                    let (approval_id, refused, at) = (*approval, refused.clone(), Utc::now());
                    let command = ToolCallCommand::Refuse { approval_id, refused, at };
                    unit.decide::<ToolCall>(&call.to_string(), command).await?;
                    unit.follow_plan(*call).await?;
                }
                Reaction::AnswerTurn { turn, cause } => {
                    unit.on_turn(Some(*turn));
                    unit.decide::<Turn>(&turn.to_string(), TurnCommand::Answer { cause: *cause }).await?;
                }
                // Which calls run is a question to the read models: the reactor asks, and stops each.
                Reaction::StopCalls { .. } => {}
                Reaction::BeginTurn { turn } => {
                    unit.on_turn(Some(*turn));
                    unit.decide::<Turn>(&turn.to_string(), TurnCommand::Begin { at: Utc::now() }).await?;
                }
            }
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}
