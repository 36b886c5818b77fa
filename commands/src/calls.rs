//! Requesting a call: validated, judged, and put into the ledger with its ruling, on the unit of whoever asks.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use oxagen_domain::capability::{Capability, Effect, Risk, Surface, catalog, validate};
use oxagen_domain::policy::{ApprovalTerms, Authority, Mode, PlanStanding, Policy, Verdict};
use oxagen_domain::tool_call::{CallError, CallSpec, Place, Ruling, ToolCall, ToolCallCommand};
use oxagen_domain::{
    ApprovalId, Body, CallId, Digest, ExecutionId, KeyLimits, Role, StepId, ToolVersionId, UserId,
};
use oxagen_journal::Loaded;
use serde_json::Value;

use crate::error::CommandError;
use crate::gate::Gate;
use crate::hold::Held;
use crate::unit::Unit;

/// How often a turn may ask in vain for the very same call.
const IN_VAIN: u32 = 3;

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
    pub(crate) limits: KeyLimits,
    pub(crate) mode: Mode,
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
    /// Why it ended at once, if it did.
    pub refused: Option<AtOnce>,
}

/// Why a call ended when it was asked for.
#[derive(Clone, Debug)]
pub struct AtOnce {
    /// A stable code.
    pub code: String,
    /// The rule that decided.
    pub rule: String,
    /// What was wrong and what to do.
    pub message: String,
}

/// Bodies that are to be stored before the commit that names them.
pub(crate) type Bodies = Vec<(Digest, Vec<u8>)>;

/// What was decided, and, where a person is asked, why and on which terms.
struct Ruled {
    ruling: Ruling,
    question: Option<(String, ApprovalTerms)>,
}

impl Ruled {
    fn of(verdict: Verdict, call: CallId) -> Self {
        match verdict {
            Verdict::Allow { rule } => Self { ruling: Ruling::Clear { rule }, question: None },
            Verdict::Ask { rule, reason, terms } => {
                let ruling = Ruling::Hold { rule, approval_id: ApprovalId::of_call(call) };
                Self { ruling, question: Some((reason, terms)) }
            }
            Verdict::Deny { rule, reason } => Self { ruling: Ruling::Deny { rule, reason }, question: None },
        }
    }
}

impl Unit<'_> {
    /// The workspace's policy, whose version the commit then asserts.
    pub(crate) async fn workspace_policy(&mut self) -> Result<Arc<Loaded<Policy>>, CommandError> {
        let workspace = self.scope().workspace.to_string();
        self.rest_on::<Policy>(&workspace).await
    }

    /// Puts a call into the ledger with its ruling, and the question to a person if it is held.
    pub(crate) async fn ask(
        &mut self,
        asked: AskedCall,
        asker: &Asker,
        policy: &Policy,
        bodies: &mut Bodies,
    ) -> Result<PlannedCall, CommandError> {
        let tool = catalog::find(&asked.name);
        let (value, broken) = match asked.input {
            Ok(value) => (value, None),
            Err((raw, reason)) => (serde_json::json!({ "unparsed": raw }), Some(reason)),
        };
        let input_digest = Digest::of_canonical(&value);
        let turn = asked.place.as_ref().map(|place| place.turn_id);
        let (standing, step) = self.plan_standing(turn, &asked.name, &input_digest).await?;
        let mut ruled = rule(&asked.name, tool, &value, broken, (asker, policy, asked.call_id, standing));
        let mut asked_before = 0;
        if matches!(ruled.ruling, Ruling::Hold { .. }) {
            asked_before = self.asked_before(turn, &asked.name, &input_digest).await?;
            if asked_before >= IN_VAIN {
                ruled = asked_enough(&asked.name);
            }
        }
        if matches!(ruled.ruling, Ruling::Hold { .. })
            && let Some(refusal) = self.one_too_many(&asked.name, policy).await
        {
            ruled = Ruled::of(refusal, asked.call_id);
        }
        let (input, stored) = Body::split(value.clone());
        bodies.extend(stored);
        let execution_id = match &asked.place {
            Some(place) => ExecutionId::of_turn(place.turn_id),
            None => ExecutionId::of_direct_call(asked.call_id),
        };
        let Ruled { ruling, question } = ruled;
        let may_run = matches!(ruling, Ruling::Clear { .. } | Ruling::Hold { .. });
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
            limits: asker.limits.clone(),
            plan: step.filter(|_| may_run),
        };
        let planned = plan(spec.clone(), &ruling);
        let held = match (&ruling, question) {
            (Ruling::Hold { rule, approval_id }, Some((reason, terms))) => {
                let (approval_id, rule) = (*approval_id, rule.clone());
                Some(Held { approval_id, rule, reason, terms, asked_before, at: asker.at })
            }
            (Ruling::Hold { .. } | Ruling::Clear { .. } | Ruling::Deny { .. } | Ruling::Invalid(_), _) => {
                None
            }
        };
        let id = spec.call_id.to_string();
        self.expect_new::<ToolCall>(&id);
        let request = ToolCallCommand::Request { spec: spec.clone(), ruling, at: asker.at };
        self.decide::<ToolCall>(&id, request).await?;
        self.take_plan_step(&spec).await?;
        // After the call that it is about: a screen shows them in this order.
        if let Some(held) = held {
            self.put_to_a_person(&spec, &value, held, policy).await?;
        }
        Ok(planned)
    }
}

fn rule(
    name: &str,
    tool: Option<&'static Capability>,
    input: &Value,
    broken: Option<String>,
    (asker, policy, call, plan): (&Asker, &Policy, CallId, PlanStanding),
) -> Ruled {
    let invalid = |code: &str, message: String, flaws| {
        let ruling = Ruling::Invalid(CallError { code: code.to_owned(), message, flaws });
        Ruled { ruling, question: None }
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
    let authority = Authority { role: asker.role, mode: asker.mode };
    let gate = Gate { authority, limits: &asker.limits, surface: asker.surface, plan, policy };
    Ruled::of(gate.judge(tool, input), call)
}

fn asked_enough(name: &str) -> Ruled {
    let reason = format!(
        "{name} was asked for {IN_VAIN} times with these very arguments, and never approved: nobody is asked again in \
         this turn. Do something else, or tell the person why it is needed"
    );
    Ruled { ruling: Ruling::Deny { rule: "asked_in_vain".to_owned(), reason }, question: None }
}

fn plan(spec: CallSpec, ruling: &Ruling) -> PlannedCall {
    let (cleared, approval, refused) = match ruling {
        Ruling::Clear { .. } => (true, None, None),
        Ruling::Hold { approval_id, .. } => (false, Some(*approval_id), None),
        Ruling::Deny { rule, reason } => (false, None, Some(at_once("denied_by_policy", rule, reason))),
        Ruling::Invalid(error) => (false, None, Some(at_once(&error.code, "input", &error.message))),
    };
    PlannedCall { spec, cleared, approval, refused }
}

fn at_once(code: &str, rule: &str, message: &str) -> AtOnce {
    AtOnce { code: code.to_owned(), rule: rule.to_owned(), message: message.to_owned() }
}
