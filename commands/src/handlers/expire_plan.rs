//! The timer of a plan rang.

use chrono::Utc;
use oxagen_domain::plan::{Plan, PlanCommand};
use oxagen_domain::{PlanId, Scope};

use crate::{CommandError, Commands, Context};

impl Commands {
    /// Closes a plan whose deadline has passed without an answer that decides; an early or repeated ring changes nothing.
    ///
    /// # Errors
    /// [`Unavailable`](crate::Code::Unavailable).
    pub async fn expire_plan(&self, scope: Scope, plan_id: PlanId) -> Result<(), CommandError> {
        let (id, mut rounds) = (plan_id.to_string(), self.rounds());
        loop {
            let bare = Context::own(scope, "timer", plan_id.0);
            let mut look = self.unit(&bare, &rounds);
            let Some(spec) = look.owned::<Plan>(&id, "plan").await?.state.spec else { return Ok(()) };
            let context = bare.within(Some(spec.conversation_id), Some(spec.turn_id));
            let mut unit = self.unit(&context, &rounds);
            unit.decide::<Plan>(&id, PlanCommand::Expire { now: Utc::now() }).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}
