//! Requesting a call: validated, judged, and put into the ledger with its ruling, on the unit of whoever asks.

use chrono::{DateTime, TimeDelta, Utc};
use oxagen_domain::capability::{Capability, Effect, Risk, Surface, catalog, validate};
use oxagen_domain::policy::{Policy, PolicyDocument, Question, Verdict, judge};
use oxagen_domain::tool_call::{CallError, CallSpec, Place, Ruling, ToolCall, ToolCallCommand};
use oxagen_domain::{
    Approval, ApprovalCommand, ApprovalId, ApprovalQuestion, Body, CallId, Digest, ExecutionId, Role, StepId,
    ToolVersionId, UserId,
};
use serde_json::Value;

use crate::error::CommandError;
use crate::unit::Unit;

/// A call that somebody asks for.
#[derive(Clone, Debug)]
pub struct AskedCall {
    /// The call.
    pub call_id: CallId,
    /// The capability's name, or, for a model's call of a tool that does not exist, the name it gave.
    pub name: String,
    /// The arguments, or the model's text that is no JSON object and why.
    pub input: Result<Value, (String, String)>,
    /// Its place in a turn.
    pub place: Option<Place>,
}

/// By whose authority, and from where, calls are asked for.
pub(crate) struct Asker {
    pub(crate) user: UserId,
    pub(crate) role: Role,
    pub(crate) surface: Surface,
    pub(crate) at: DateTime<Utc>,
}

/// A call as it stands after it was asked for.
#[derive(Clone, Debug)]
pub struct PlannedCall {
    /// The call.
    pub spec: CallSpec,
    /// Whether it may start at once.
    pub cleared: bool,
    /// Its approval, if it is held.
    pub approval: Option<ApprovalId>,
    /// Why it ended at once, if it did: a stable code and a text.
    pub refused: Option<(String, String)>,
}

/// Bodies that are to be stored before the commit that names them.
pub(crate) type Bodies = Vec<(Digest, Vec<u8>)>;

impl Unit<'_> {
    /// The workspace's policy and its version, which the commit then asserts.
    pub(crate) async fn workspace_policy(&mut self) -> Result<PolicyDocument, CommandError> {
        let workspace = self.scope().workspace.to_string();
        Ok(self.rest_on::<Policy>(&workspace).await?.state.document)
    }

    /// Puts a call into the ledger with its ruling, and its approval if it is held.
    pub(crate) async fn ask(
        &mut self,
        asked: AskedCall,
        asker: &Asker,
        policy: &PolicyDocument,
        bodies: &mut Bodies,
    ) -> Result<PlannedCall, CommandError> {
        let tool = catalog::find(&asked.name);
        let (value, broken) = match asked.input {
            Ok(value) => (value, None),
            Err((raw, reason)) => (serde_json::json!({ "unparsed": raw }), Some(reason)),
        };
        let ruling = rule(&asked.name, tool, &value, broken, (asker, policy, asked.call_id));
        let input_digest = Digest::of_canonical(&value);
        let (input, stored) = Body::split(value);
        bodies.extend(stored);
        let execution_id = match &asked.place {
            Some(place) => ExecutionId::of_turn(place.turn_id),
            None => ExecutionId::of_direct_call(asked.call_id),
        };
        let spec = CallSpec {
            call_id: asked.call_id,
            capability: asked.name,
            tool_version_id: tool.map_or_else(ToolVersionId::default, Capability::version_id),
            surface: asker.surface,
            effect: tool.map_or(Effect::External, |tool| tool.effect),
            risk: tool.map_or(Risk::High, |tool| tool.risk),
            input,
            input_digest,
            execution_id,
            execution_step_id: StepId::of(execution_id, asked.place.as_ref().map_or(1, |place| place.step)),
            place: asked.place,
            requested_by: asker.user,
            role: asker.role,
        };
        let planned = plan(spec.clone(), &ruling);
        let question = match &ruling {
            Ruling::Hold { rule, approval_id } => {
                Some(question(&spec, *approval_id, rule, expiry(policy, asker.at)))
            }
            Ruling::Clear { .. } | Ruling::Deny { .. } | Ruling::Invalid(_) => None,
        };
        let id = spec.call_id.to_string();
        self.expect_new::<ToolCall>(&id);
        self.decide::<ToolCall>(&id, ToolCallCommand::Request { spec, ruling, at: asker.at }).await?;
        // After the call that it is about: a screen shows them in this order.
        if let Some(question) = question {
            let id = question.approval_id.to_string();
            self.expect_new::<Approval>(&id);
            self.decide::<Approval>(&id, ApprovalCommand::Request(question)).await?;
        }
        Ok(planned)
    }
}

fn expiry(policy: &PolicyDocument, at: DateTime<Utc>) -> DateTime<Utc> {
    at + TimeDelta::seconds(i64::try_from(policy.approval_expiry_seconds).unwrap_or(3600))
}

fn rule(
    name: &str,
    tool: Option<&'static Capability>,
    input: &Value,
    broken: Option<String>,
    (asker, policy, call): (&Asker, &PolicyDocument, CallId),
) -> Ruling {
    let invalid = |code: &str, message: String, flaws| {
        Ruling::Invalid(CallError { code: code.to_owned(), message, flaws })
    };
    let Some(tool) = tool else {
        return invalid(
            "unknown_tool",
            format!("there is no tool called `{name}`: use one of the listed tools"),
            vec![],
        );
    };
    if let Some(reason) = broken {
        return invalid("invalid_input", format!("the arguments are no JSON object: {reason}"), vec![]);
    }
    if let Err(flaws) = validate(tool, input) {
        return invalid("invalid_input", "the arguments do not fit the tool's schema".to_owned(), flaws);
    }
    let question = Question { role: asker.role, surface: asker.surface, capability: tool, input, policy };
    match judge(&question) {
        Verdict::Allow { rule } => Ruling::Clear { rule: rule.to_owned() },
        Verdict::Ask { rule } => {
            Ruling::Hold { rule: rule.to_owned(), approval_id: ApprovalId::of_call(call) }
        }
        Verdict::Deny { rule, reason } => Ruling::Deny { rule: rule.to_owned(), reason },
    }
}

fn plan(spec: CallSpec, ruling: &Ruling) -> PlannedCall {
    let (cleared, approval, refused) = match ruling {
        Ruling::Clear { .. } => (true, None, None),
        Ruling::Hold { approval_id, .. } => (false, Some(*approval_id), None),
        Ruling::Deny { reason, .. } => (false, None, Some(("denied_by_policy".to_owned(), reason.clone()))),
        Ruling::Invalid(error) => (false, None, Some((error.code.clone(), error.message.clone()))),
    };
    PlannedCall { spec, cleared, approval, refused }
}

fn question(
    spec: &CallSpec,
    approval_id: ApprovalId,
    rule: &str,
    expires_at: DateTime<Utc>,
) -> ApprovalQuestion {
    ApprovalQuestion {
        approval_id,
        call_id: spec.call_id,
        execution_step_id: spec.execution_step_id,
        capability: spec.capability.clone(),
        input: spec.input.clone(),
        input_digest: spec.input_digest.clone(),
        risk: spec.risk,
        rule: rule.to_owned(),
        requested_by: spec.requested_by,
        expires_at,
    }
}
