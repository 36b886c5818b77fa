//! A runner starts an attempt of a call and ends it. `started` is committed before the effect, the end after it.

use chrono::Utc;
use oxagen_domain::capability::catalog;
use oxagen_domain::policy::{Question, Verdict, judge};
use oxagen_domain::tool_call::{CallError, CallSpec, Ending, Standing, ToolCall, ToolCallCommand, excerpt};
use oxagen_domain::turn::Turn;
use oxagen_domain::{Body, CallId, RunnerId};
use serde_json::Value;

use super::AdvanceTurn;
use crate::unit::Unit;
use crate::{Code, CommandError, Commands, Context, Known};

/// The call that a runner wants to start.
#[derive(Clone, Debug)]
pub struct CallStart {
    /// The call.
    pub call: CallId,
    /// Who runs it.
    pub runner: RunnerId,
    /// The turn that it belongs to, in which the runner must still be the owner.
    pub turn: Option<AdvanceTurn>,
    /// On whose behalf.
    pub context: Context,
    /// What is known of the call, and of its turn.
    pub known: Known,
}

/// An attempt that has ended.
#[derive(Clone, Debug)]
pub struct CallEnd {
    /// The call.
    pub call: CallId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// On whose behalf.
    pub context: Context,
    /// What is known of the call.
    pub known: Known,
}

/// An attempt that may run now.
#[derive(Clone, Debug)]
pub struct StartedCall {
    /// What it is.
    pub spec: CallSpec,
    /// The arguments, fetched whole.
    pub input: Value,
    /// The attempt, from 1.
    pub attempt: u32,
}

impl Commands {
    /// Starts the next attempt of a call; `None` when it ended instead: denied by a policy that has changed, or in
    /// doubt because an attempt before may have happened and it may not run twice.
    ///
    /// # Errors
    /// `Conflict` with `fenced` set when the runner no longer owns the turn, `CallEnded`, `Unavailable`.
    pub async fn start_call(&self, start: &CallStart) -> Result<Option<StartedCall>, CommandError> {
        let (id, mut rounds) = (start.call.to_string(), self.rounds());
        loop {
            let mut unit = self.unit(&start.context, &rounds).knowing(&start.known);
            let call = unit.owned::<ToolCall>(&id, "call").await?.state;
            let Some(spec) = call.spec.clone() else { return Err(CommandError::unknown("call")) };
            let input = self.whole(start.context.scope().tenant, &spec.input).await?;
            assert_owner(&mut unit, start).await?;
            let command = match denied(&mut unit, &spec, &input).await? {
                Some((rule, reason)) if call.standing == Standing::Cleared => {
                    ToolCallCommand::Deny { rule, reason, at: Utc::now() }
                }
                Some(_) | None => {
                    let may_rerun =
                        catalog::find(&spec.capability).is_some_and(|tool| (tool.may_rerun)(&input));
                    ToolCallCommand::Start { runner_id: start.runner, may_rerun, at: Utc::now() }
                }
            };
            unit.decide::<ToolCall>(&id, command).await?;
            let after = unit.load::<ToolCall>(&id).await?.state;
            if unit.commit(&mut rounds).await?.is_some() {
                let attempt = after.attempt;
                return Ok((!after.is_settled()).then_some(StartedCall { spec, input, attempt }));
            }
        }
    }

    /// Records how an attempt ended. A large result is stored before the fact that names it.
    ///
    /// # Errors
    /// `Conflict` with `fenced` set when another attempt is current, `CallEnded` when it was cancelled meanwhile,
    /// `Unavailable`.
    pub async fn finish_call(
        &self,
        end: &CallEnd,
        result: Result<Value, CallError>,
    ) -> Result<(), CommandError> {
        let (id, mut rounds) = (end.call.to_string(), self.rounds());
        let ending = match result {
            Ok(value) => self.ending(&end.context, value).await?,
            Err(error) => Ending::Failed(error),
        };
        loop {
            let mut unit = self.unit(&end.context, &rounds).knowing(&end.known);
            let ending = ending.clone();
            let command = ToolCallCommand::Finish { attempt: end.attempt, ending, at: Utc::now() };
            unit.decide::<ToolCall>(&id, command).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }

    async fn ending(&self, context: &Context, value: Value) -> Result<Ending, CommandError> {
        let (output, stored) = Body::split(value);
        let Some((digest, bytes)) = stored else { return Ok(Ending::Completed { output, excerpt: None }) };
        self.journal().put_object(context.scope().tenant, &digest, &bytes).await?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(Ending::Completed { output, excerpt: Some(excerpt(&text, digest.as_str())) })
    }

    /// A body's whole value, fetched if it is stored.
    ///
    /// # Errors
    /// `Internal` when a stored body is missing or damaged, `Unavailable`.
    pub async fn whole(&self, tenant: oxagen_domain::TenantId, body: &Body) -> Result<Value, CommandError> {
        let digest = match body {
            Body::Inline(value) => return Ok(value.clone()),
            Body::Stored { digest, .. } => digest,
        };
        let lost = |what: &str| CommandError::new(Code::Internal, format!("object {digest} is {what}"));
        let bytes = self.journal().object(tenant, digest).await?.ok_or_else(|| lost("missing"))?;
        serde_json::from_slice(&bytes).map_err(|_| lost("no JSON"))
    }
}

/// In a turn the commit asserts that the runner still owns it and that nobody wants it to end.
async fn assert_owner(unit: &mut Unit<'_>, start: &CallStart) -> Result<(), CommandError> {
    let Some(to) = &start.turn else { return Ok(()) };
    let id = to.turn.to_string();
    let turn = unit.load::<Turn>(&id).await?;
    if turn.state.epoch != to.epoch || turn.state.cancel.is_some() || turn.state.phase.is_ended() {
        let refusal = oxagen_domain::turn::TurnRefusal::Fenced { epoch: to.epoch, current: turn.state.epoch };
        return Err(refusal.into());
    }
    unit.guard::<Turn>(&id, turn.version);
    Ok(())
}

/// Judges the call by the policy in force; what was approved needs no second question, but a denial stands.
async fn denied(
    unit: &mut Unit<'_>,
    spec: &CallSpec,
    input: &Value,
) -> Result<Option<(String, String)>, CommandError> {
    let Some(tool) = catalog::find(&spec.capability) else { return Ok(None) };
    let policy = unit.workspace_policy().await?;
    let question =
        Question { role: spec.role, surface: spec.surface, capability: tool, input, policy: &policy };
    Ok(match judge(&question) {
        Verdict::Allow { .. } | Verdict::Ask { .. } => None,
        Verdict::Deny { rule, reason } => Some((rule.to_owned(), reason)),
    })
}
