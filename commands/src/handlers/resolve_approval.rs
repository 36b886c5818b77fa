//! A person answers an approval. What follows for its call and turn is a reaction to the answer.

use chrono::{DateTime, Utc};
use oxagen_domain::capability::{Flaw, catalog, validate};
use oxagen_domain::policy::{
    Authority, Covers, PlanStanding, Policy, PolicyCommand, StandingApproval, Verdict,
};
use oxagen_domain::tool_call::{CallSpec, EditedInput, ToolCall};
use oxagen_domain::turn::Turn;
use oxagen_domain::{
    Approval, ApprovalCommand, ApprovalEvent, ApprovalId, ApprovalQuestion, ApprovalRefusal, Body, CallId,
    Decision, Digest, PersonsAnswer, Resolution, Right, StandingApprovalId, UserId,
};
use serde::Serialize;
use serde_json::Value;

use crate::gate::Gate;
use crate::unit::Unit;
use crate::{Caller, CommandError, Commands};

/// Which later calls an answer stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remember {
    /// The very same arguments.
    Exact,
    /// A pattern, which must cover the call itself.
    Pattern {
        /// Which capabilities; the call's own unless told.
        capability: Option<String>,
        /// What must hold of the arguments.
        when: Vec<oxagen_domain::policy::Condition>,
    },
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What.
    pub decision: Decision,
    /// In their words: at most 4,000 characters.
    pub note: Option<String>,
    /// What the call is to run with instead.
    pub edited_input: Option<Value>,
    /// For which later calls it stands, too.
    pub remember: Option<Remember>,
}

impl Answer {
    /// A bare answer.
    pub fn plain(decision: Decision, note: Option<String>) -> Self {
        Self { decision, note, edited_input: None, remember: None }
    }
}

/// What came of it: the same for a repeat of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalReceipt {
    /// The approval.
    pub approval_id: ApprovalId,
    /// The call that it was about.
    pub call_id: CallId,
    /// The decision of this person.
    pub decision: Decision,
    /// Who made it.
    pub resolved_by: UserId,
    /// When.
    pub resolved_at: DateTime<Utc>,
    /// In their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How the approval stands: `open` while more people are needed, `approved` or `denied`.
    pub status: &'static str,
    /// How many people have approved.
    pub given: u32,
    /// How many are needed.
    pub needed: u32,
    /// The standing approval that the answer made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standing_approval_id: Option<StandingApprovalId>,
}

impl Commands {
    /// Answers an approval. The first answer that decides counts; a repeat of one's own answer gives its receipt again.
    ///
    /// # Errors
    /// `NotFound`, `ApprovalClosed` with the decision that was made, `Forbidden`, `InvalidInput` (also for an edited
    /// input that policy denies), `Unavailable`.
    pub async fn resolve_approval(
        &self,
        caller: &Caller,
        approval_id: ApprovalId,
        answer: Answer,
    ) -> Result<ApprovalReceipt, CommandError> {
        let (id, mut rounds) = (approval_id.to_string(), self.rounds());
        loop {
            let bare = caller.context(None, None);
            let mut look = self.unit(&bare, &rounds);
            let found = look.owned::<Approval>(&id, "approval").await?.state;
            caller.must(Right::Decide)?;
            let question = found.question.ok_or(ApprovalRefusal::Unknown)?;
            let call = look.load::<ToolCall>(&question.call_id.to_string()).await?.state;
            // The answer belongs to the conversation and turn of the call that it is about.
            let place = call.spec.as_ref().and_then(|spec| spec.place.as_ref());
            let context =
                caller.context(place.map(|place| place.conversation_id), place.map(|place| place.turn_id));
            let mut unit = self.unit(&context, &rounds);
            let edited = match (&answer.edited_input, &call.spec) {
                (Some(input), Some(spec)) => Some(self.edited(&mut unit, spec, input).await?),
                (Some(_) | None, _) => None,
            };
            let said = PersonsAnswer {
                decision: answer.decision,
                by: caller.user,
                role: caller.role,
                at: Utc::now(),
                note: answer.note.clone(),
                edited,
            };
            let happened = unit.decide::<Approval>(&id, ApprovalCommand::Answer(said)).await?;
            let decided = happened.iter().any(|event| matches!(event, ApprovalEvent::Approved { .. }));
            if let Some(remember) = &answer.remember {
                let input = self.approved_input(caller, &question, &answer).await?;
                let standing = standing(caller, &question, (remember, &answer, &input), &call)?;
                if decided {
                    let policy = caller.scope.workspace.to_string();
                    unit.decide::<Policy>(&policy, PolicyCommand::Remember(standing)).await?;
                }
            }
            let approval = unit.load::<Approval>(&id).await?.state;
            if unit.commit(&mut rounds).await?.is_some() {
                return receipt(caller.user, &question, &approval, answer.remember.is_some());
            }
        }
    }

    /// Checks an edited input as if the call had been asked for with it: `ask` is what is being answered, `deny` refuses.
    async fn edited(
        &self,
        unit: &mut Unit<'_>,
        spec: &CallSpec,
        input: &Value,
    ) -> Result<EditedInput, CommandError> {
        let refuse = |flaws: Vec<Flaw>| {
            let under = |flaw: Flaw| Flaw::new(&format!("/editedInput{}", flaw.pointer), flaw.expected);
            CommandError::invalid(flaws.into_iter().map(under).collect())
        };
        let Some(tool) = catalog::find(&spec.capability) else {
            return Err(refuse(vec![Flaw::new(
                "",
                format!("there is no tool `{}` any more", spec.capability),
            )]));
        };
        validate(tool, input).map_err(refuse)?;
        let mode = match &spec.place {
            Some(place) => unit.load::<Turn>(&place.turn_id.to_string()).await?.state.mode,
            None => oxagen_domain::policy::Mode::Act,
        };
        let policy = unit.workspace_policy().await?;
        let authority = Authority { role: spec.role, mode };
        let (limits, plan) = (&spec.limits, PlanStanding::NoPlan);
        let gate = Gate { authority, limits, surface: spec.surface, plan, policy: &policy.state };
        if let Verdict::Deny { rule, reason } = gate.judge(tool, input) {
            return Err(refuse(vec![Flaw::new(
                "",
                format!("policy denies it by the rule `{rule}`: {reason}"),
            )]));
        }
        let input_digest = Digest::of_canonical(input);
        let (input, stored) = Body::split(input.clone());
        if let Some((digest, bytes)) = stored {
            self.journal().put_object(unit.scope().tenant, &digest, &bytes).await?;
        }
        Ok(EditedInput { input, input_digest })
    }

    async fn approved_input(
        &self,
        caller: &Caller,
        question: &ApprovalQuestion,
        answer: &Answer,
    ) -> Result<Value, CommandError> {
        match &answer.edited_input {
            Some(input) => Ok(input.clone()),
            None => self.whole(caller.scope.tenant, &question.input).await,
        }
    }
}

fn standing(
    caller: &Caller,
    question: &ApprovalQuestion,
    (remember, answer, input): (&Remember, &Answer, &Value),
    call: &ToolCall,
) -> Result<StandingApproval, CommandError> {
    let refuse = |text: &str| CommandError::invalid(vec![Flaw::new("/remember", text.to_owned())]);
    if answer.decision == Decision::Deny {
        return Err(refuse("only an approval can stand for later calls: a rule of the policy can deny them"));
    }
    let covers = match remember {
        Remember::Exact => Covers::Exact {
            capability: question.capability.clone(),
            input_digest: Digest::of_canonical(input),
        },
        Remember::Pattern { capability, when } => Covers::Pattern {
            capability: capability.clone().unwrap_or_else(|| question.capability.clone()),
            when: when.clone(),
        },
    };
    let version = call.spec.as_ref().map(|spec| spec.tool_version_id).unwrap_or_default();
    let standing = StandingApproval {
        standing_approval_id: StandingApprovalId::of_approval(question.approval_id),
        covers,
        tool_version_id: version,
        approval_id: question.approval_id,
        made_by: caller.user,
        made_at: Utc::now(),
    };
    let whole = catalog::find(&question.capability)
        .map_or_else(|| input.clone(), |tool| oxagen_domain::capability::with_defaults(tool, input));
    let judged = if standing.is_exact() { input } else { &whole };
    if standing.covers(&question.capability, version, judged) {
        Ok(standing)
    } else {
        Err(refuse("the pattern does not cover the call that is being approved"))
    }
}

fn receipt(
    person: UserId,
    question: &ApprovalQuestion,
    approval: &Approval,
    remembered: bool,
) -> Result<ApprovalReceipt, CommandError> {
    let Some(own) = approval.answer_of(person) else {
        // The answer came after the deadline and has closed it.
        let closed = approval.resolution.clone().unwrap_or(Resolution::Expired);
        return Err(ApprovalRefusal::Closed(closed).into());
    };
    let status = match &approval.resolution {
        None => "open",
        Some(Resolution::Answered { decision, .. }) => decision.past(),
        Some(Resolution::Expired) => "expired",
        Some(Resolution::Superseded) => "superseded",
    };
    let stands = remembered && status == "approved";
    Ok(ApprovalReceipt {
        approval_id: question.approval_id,
        call_id: question.call_id,
        decision: own.decision,
        resolved_by: own.by,
        resolved_at: own.at,
        note: own.note.clone(),
        status,
        given: approval.given(),
        needed: question.terms.needed,
        standing_approval_id: stands.then(|| StandingApprovalId::of_approval(question.approval_id)),
    })
}
