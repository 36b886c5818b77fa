//! The workspace's policy: read, set, and asked what it would say.

use oxagen_domain::capability::{Surface, catalog, validate};
use oxagen_domain::policy::{
    Authority, Explanation, Mode, PlanStanding, Policy, PolicyCommand, PolicyDocument, StandingApproval,
};
use oxagen_domain::{KeyLimits, Right, Role, StandingApprovalId};
use serde::Serialize;
use serde_json::{Value, json};

use crate::gate::Gate;
use crate::{Caller, Code, CommandError, Commands};

/// A policy and its version.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyInForce {
    /// Grows with every change, of standing approvals too.
    pub version: u64,
    /// What is permitted.
    pub policy: PolicyDocument,
}

/// A call that nobody makes, to learn what would happen.
#[derive(Clone, Debug)]
pub struct WhatIf {
    /// The capability's name.
    pub capability: String,
    /// The arguments.
    pub input: Value,
    /// Where it would come from.
    pub surface: Surface,
    /// By whose authority; the caller's own role unless told.
    pub role: Option<Role>,
    /// In which mode the turn would be.
    pub mode: Mode,
}

/// What would happen, and by which version of the policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explained {
    /// The policy's version.
    pub version: u64,
    /// What would happen, and why.
    #[serde(flatten)]
    pub explanation: Explanation,
}

impl Commands {
    /// The policy in force.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::Unavailable`].
    pub async fn policy(&self, caller: &Caller) -> Result<PolicyInForce, CommandError> {
        caller.must(Right::Read)?;
        let loaded = self.journal().load::<Policy>(&caller.scope.workspace.to_string()).await?;
        Ok(PolicyInForce { version: loaded.version, policy: loaded.state.document })
    }

    /// Brings a policy into force. From the moment this returns, nothing starts that it denies. With `expected`, only if
    /// the policy still stands at that version.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::InvalidInput`], [`Code::Conflict`] when another version stands,
    /// [`Code::Unavailable`].
    pub async fn set_policy(
        &self,
        caller: &Caller,
        policy: PolicyDocument,
        expected: Option<u64>,
    ) -> Result<PolicyInForce, CommandError> {
        caller.must(Right::Administer)?;
        let (context, mut rounds) = (caller.context(None, None), self.rounds());
        let id = caller.scope.workspace.to_string();
        loop {
            let mut unit = self.unit(&context, &rounds);
            let version = unit.owned::<Policy>(&id, "policy").await?.version;
            if let Some(expected) = expected.filter(|expected| *expected != version) {
                let text = format!(
                    "the policy stands at version {version}, not {expected}: read it and set it again"
                );
                let detail = Some(json!({ "version": version }));
                return Err(CommandError { detail, ..CommandError::new(Code::Conflict, text) });
            }
            unit.decide::<Policy>(&id, PolicyCommand::Set(policy.clone())).await?;
            let version = unit.load::<Policy>(&id).await?.version;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(PolicyInForce { version, policy });
            }
        }
    }

    /// What would happen to a call now, and why. Nothing happens.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::UnknownCapability`], [`Code::InvalidInput`], [`Code::Unavailable`].
    pub async fn explain_policy(&self, caller: &Caller, asked: WhatIf) -> Result<Explained, CommandError> {
        caller.must(Right::Read)?;
        let tool = catalog::find(&asked.capability).ok_or_else(|| {
            let text = format!(
                "there is no capability `{}`: GET /v1/tools lists what can be called",
                asked.capability
            );
            CommandError::new(Code::UnknownCapability, text)
        })?;
        validate(tool, &asked.input).map_err(CommandError::invalid)?;
        let loaded = self.journal().load::<Policy>(&caller.scope.workspace.to_string()).await?;
        let authority = Authority { role: asked.role.unwrap_or(caller.role), mode: asked.mode };
        // Somebody else's role comes with a key of theirs.
        let unlimited = KeyLimits::default();
        let limits = if asked.role.is_some() { &unlimited } else { &caller.limits };
        let (surface, plan) = (asked.surface, PlanStanding::NoPlan);
        let gate = Gate { authority, limits, surface, plan, policy: &loaded.state };
        let mut explanation = gate.explain(tool, &asked.input);
        if explanation.decision == "ask" {
            let unit = self.unit(&caller.context(None, None), &self.rounds());
            let refusal = unit.one_too_many(tool.name, &loaded.state).await;
            refusal.into_iter().for_each(|refusal| explanation.becomes(&refusal));
        }
        Ok(Explained { version: loaded.version, explanation })
    }

    /// The answers that stand, the newest first.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::Unavailable`].
    pub async fn standing_approvals(&self, caller: &Caller) -> Result<Vec<StandingApproval>, CommandError> {
        caller.must(Right::Read)?;
        let loaded = self.journal().load::<Policy>(&caller.scope.workspace.to_string()).await?;
        let mut standing: Vec<_> = loaded.state.standing.into_values().collect();
        standing.sort_by_key(|one| std::cmp::Reverse((one.made_at, one.standing_approval_id)));
        Ok(standing)
    }

    /// Takes an answer back: what it covered is asked about again.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::NotFound`], [`Code::Unavailable`].
    pub async fn forget_standing_approval(
        &self,
        caller: &Caller,
        standing_approval_id: StandingApprovalId,
    ) -> Result<(), CommandError> {
        let (context, mut rounds) = (caller.context(None, None), self.rounds());
        let id = caller.scope.workspace.to_string();
        loop {
            let mut unit = self.unit(&context, &rounds);
            unit.load::<Policy>(&id).await?;
            let command = PolicyCommand::Forget { standing_approval_id, by: caller.user };
            unit.decide::<Policy>(&id, command).await?;
            caller.must(Right::Decide)?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}
