//! What a message is about, and whose it is: this runner's, nobody's, or another living runner's.

use std::sync::Arc;

use oxagen_commands::{AdvanceTurn, CallStart, Claim, CommandError, Context, Known};
use oxagen_domain::tool_call::{Standing, ToolCall};
use oxagen_domain::turn::{Next, Turn};
use oxagen_domain::{Actor, ActorKind, CallId, Fact, RunnerId, TurnId};
use tracing::{Instrument, info, info_span};

use crate::Shared;
use crate::calls::{Running, Where};

/// Where a message's work came to rest.
pub(crate) enum Rest {
    /// There is nothing more to do about it.
    Done,
    /// Another living runner is at it.
    Elsewhere,
}

impl Shared {
    /// Attends to a fact until its turn or call rests.
    pub(crate) async fn attend(self: &Arc<Self>, fact: &Fact) -> Result<Rest, CommandError> {
        match (fact.kind.as_str(), fact.turn_id) {
            ("turn.started" | "turn.resumed" | "turn.answered" | "turn.cancel_requested", Some(turn)) => {
                self.attend_turn(Context::after(fact, "runner"), turn).await
            }
            ("tool_call.cleared", None) => match fact.aggregate_id.parse() {
                Ok(call) => self.attend_call(Context::after(fact, "runner"), call).await,
                Err(_) => Ok(Rest::Done),
            },
            // A person lets it run again: its turn has told the model already, and goes on without it.
            ("tool_call.settled", Some(_)) => match fact.aggregate_id.parse() {
                Ok(call) => self.attend_call(Context::after(fact, "runner"), call).await,
                Err(_) => Ok(Rest::Done),
            },
            _ => Ok(Rest::Done),
        }
    }

    /// Advances a turn until it rests.
    pub(crate) async fn attend_turn(
        self: &Arc<Self>,
        context: Context,
        turn: TurnId,
    ) -> Result<Rest, CommandError> {
        let _one = self.locks.lock(turn.0).await;
        let stop = self.stops.register(turn.0);
        let journal = self.options.commands.journal();
        let loaded = journal.load::<Turn>(&turn.to_string()).await?;
        let Some(spec) = loaded.state.spec.clone() else { return Ok(Rest::Done) };
        if loaded.state.next(&[], chrono::Utc::now()) == Next::Rest {
            return Ok(Rest::Done);
        }
        if self.belongs_to_another(loaded.state.owner).await? {
            return Ok(Rest::Elsewhere);
        }
        let actor = Actor { kind: ActorKind::Agent, id: spec.agent_id.to_string() };
        let context = context.within(Some(spec.conversation_id), Some(turn)).by(actor);
        let known = Known::default();
        known.learn(&turn.to_string(), &loaded);
        let Claim { epoch, begun } =
            self.options.commands.claim_turn(&context, turn, self.options.id, &known).await?;
        if loaded.state.owner.is_some_and(|owner| owner != self.options.id) {
            info!(%turn, epoch, "took over a turn whose runner is gone");
        }
        let to = AdvanceTurn { context, turn, runner: self.options.id, epoch, known };
        let scope = to.context.scope();
        let span = info_span!(
            "invoke_agent",
            tenant = %scope.tenant,
            workspace = %scope.workspace,
            conversation = %spec.conversation_id,
            %turn,
            trace = to.context.traceparent(),
        );
        self.advance(&to, &spec, begun, &stop.token).instrument(span).await?;
        Ok(Rest::Done)
    }

    /// Runs a call outside a turn.
    pub(crate) async fn attend_call(
        self: &Arc<Self>,
        context: Context,
        call: CallId,
    ) -> Result<Rest, CommandError> {
        let _one = self.locks.lock(call.0).await;
        let stop = self.stops.register(call.0);
        let loaded = self.options.commands.journal().load::<ToolCall>(&call.to_string()).await?;
        let owner = match loaded.state.standing {
            Standing::Absent | Standing::Held(_) | Standing::Ended(_) => return Ok(Rest::Done),
            Standing::Cleared => None,
            Standing::Started(runner) => Some(runner),
        };
        if self.belongs_to_another(owner).await? {
            return Ok(Rest::Elsewhere);
        }
        let known = Known::default();
        known.learn(&call.to_string(), &loaded);
        let (context, runner) = (context, self.options.id);
        let start = CallStart { call, runner, turn: None, context: context.clone(), known: known.clone() };
        if let Some(started) = self.options.commands.start_call(&start).await? {
            let place = Where { context, known, frames: None };
            self.run_call(Running { started, place, stop: stop.token.clone() }).await?;
        }
        Ok(Rest::Done)
    }

    /// Only a free lock tells that a runner is gone; silence does not.
    async fn belongs_to_another(&self, owner: Option<RunnerId>) -> Result<bool, CommandError> {
        match owner {
            Some(other) if other != self.options.id => {
                Ok(self.options.commands.journal().is_alive(other).await?)
            }
            Some(_) | None => Ok(false),
        }
    }
}
