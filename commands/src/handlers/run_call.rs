//! A runner starts an attempt of a call and ends it. `started` is committed before the effect, the end after it.

use chrono::Utc;
use oxagen_domain::capability::catalog;
use oxagen_domain::policy::{Authority, Mode, Policy, Verdict};
use oxagen_domain::tool_call::{CallError, CallSpec, Ending, Standing, ToolCall, ToolCallCommand, excerpt};
use oxagen_domain::turn::Turn;
use oxagen_domain::{ApprovalId, Body, CallId, RunnerId};
use serde_json::Value;

use super::AdvanceTurn;
use crate::gate::Gate;
use crate::hold::Held;
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
            let turn = owned_turn(&mut unit, start).await?;
            let may_rerun = catalog::find(&spec.capability).is_some_and(|tool| (tool.may_rerun)(&input));
            let policy = unit.workspace_policy().await?;
            let mut verdict = judged(&mut unit, &policy.state, &call, turn.as_ref(), &input).await?;
            if let Verdict::Ask { .. } = &verdict
                && must_ask(&call)
                && let Some(refusal) = unit.one_too_many(&spec.capability, &policy.state).await
            {
                verdict = refusal;
            }
            let (command, held) = match verdict {
                // An attempt before it may have happened where it may not run twice: that is said, whatever policy says.
                Verdict::Deny { rule, reason } if may_rerun || call.standing == Standing::Cleared => {
                    (ToolCallCommand::Deny { rule, reason, at: Utc::now() }, None)
                }
                Verdict::Ask { rule, reason, terms } if must_ask(&call) => {
                    let (approval_id, at) = (ApprovalId::of_call(start.call), Utc::now());
                    let hold = ToolCallCommand::Hold { rule: rule.clone(), approval_id };
                    (hold, Some(Held { approval_id, rule, reason, terms, asked_before: 0, at }))
                }
                Verdict::Deny { .. } | Verdict::Ask { .. } | Verdict::Allow { .. } => {
                    (ToolCallCommand::Start { runner_id: start.runner, may_rerun, at: Utc::now() }, None)
                }
            };
            unit.decide::<ToolCall>(&id, command).await?;
            if let Some(held) = held {
                unit.put_to_a_person(&spec, &input, held, &policy.state).await?;
            }
            unit.follow_plan(start.call).await?;
            let after = unit.load::<ToolCall>(&id).await?.state;
            if unit.commit(&mut rounds).await?.is_some() {
                let attempt = after.attempt;
                let runs = matches!(after.standing, Standing::Started(_));
                return Ok(runs.then_some(StartedCall { spec, input, attempt }));
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
            unit.follow_plan(end.call).await?;
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
async fn owned_turn(unit: &mut Unit<'_>, start: &CallStart) -> Result<Option<Turn>, CommandError> {
    let Some(to) = &start.turn else { return Ok(None) };
    let id = to.turn.to_string();
    let turn = unit.load::<Turn>(&id).await?;
    if turn.state.epoch != to.epoch || turn.state.cancel.is_some() || turn.state.phase.is_ended() {
        let refusal = oxagen_domain::turn::TurnRefusal::Fenced { epoch: to.epoch, current: turn.state.epoch };
        return Err(refusal.into());
    }
    unit.guard::<Turn>(&id, turn.version);
    Ok(Some(turn.state))
}

/// Nobody has answered for it yet: neither an approval nor a settlement.
fn must_ask(call: &ToolCall) -> bool {
    call.standing == Standing::Cleared && call.approval.is_none() && call.settled.is_none()
}

/// Judges the call again, by the policy, the mode and the plan in force.
async fn judged(
    unit: &mut Unit<'_>,
    policy: &Policy,
    call: &ToolCall,
    turn: Option<&Turn>,
    input: &Value,
) -> Result<Verdict, CommandError> {
    let fine = Verdict::Allow { rule: call.rule.clone() };
    let Some(spec) = &call.spec else { return Ok(fine) };
    let Some(tool) = catalog::find(&spec.capability) else { return Ok(fine) };
    // A person approved what the tool was then.
    if call.approval.is_some() && tool.version_id() != spec.tool_version_id {
        let reason =
            format!("{} has changed since a person approved this call: ask for it again", spec.capability);
        return Ok(Verdict::Deny { rule: "tool_changed".to_owned(), reason });
    }
    let plan = unit.plan_standing_of(spec, turn).await?;
    let authority = Authority { role: spec.role, mode: turn.map_or(Mode::Act, |turn| turn.mode) };
    let gate = Gate { authority, limits: &spec.limits, surface: spec.surface, plan, policy };
    Ok(gate.judge(tool, input))
}
