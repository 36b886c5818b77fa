//! A plan: `proposed → approved | rejected | expired | superseded`, in versions. Amending makes a new version that wants an
//! answer again, also after an approval. The stored deadline decides when an answer arrives; a timer also closes it. Answers
//! count per person: one rejection decides, approval decides when as many people as are needed have given it.
//!
//! An approved plan grants exactly the calls in it, each once: capability and arguments. Its steps follow those calls.

mod check;
mod decide;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aggregate::{aggregate, event_kinds};
use crate::body::Digest;
use crate::ids::{CallId, ConversationId, PlanId, TurnId, UserId};
use crate::policy::ApprovalTerms;
use crate::tool_call::CallStatus;

pub use check::flaws;
pub use decide::{PlanAnswer, PlanCommand, PlanRefusal};

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanStep {
    /// Its name in the plan: 1 to 64 characters.
    #[schemars(length(min = 1, max = 64))]
    pub id: String,
    /// What is done: at most 500 characters.
    #[schemars(length(min = 1, max = 500))]
    pub summary: String,
    /// What it is for: at most 1,000 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 1000))]
    pub intent: String,
    /// The capability that it will call, by its name in policy; with `input` its approval grants that one call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The exact arguments of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// Steps that must be done before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

/// What a plan is, fixed when it is proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanSpec {
    /// The plan.
    pub plan_id: PlanId,
    /// The call that made it.
    pub call_id: CallId,
    /// The turn that it is for.
    pub turn_id: TurnId,
    /// The conversation.
    pub conversation_id: ConversationId,
    /// Its title.
    pub title: String,
    /// Why so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rationale: Option<String>,
    /// For whom.
    pub requested_by: UserId,
    /// Who may answer.
    #[serde(default, skip_serializing_if = "ApprovalTerms::is_plain")]
    pub terms: ApprovalTerms,
}

/// What has become of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Nothing yet.
    Pending,
    /// Its call is under way.
    Running,
    /// Its call succeeded.
    Completed,
    /// Its call failed.
    Failed,
    /// Its call was cancelled.
    Cancelled,
    /// Its call was denied.
    Denied,
    /// Nobody knows whether its call happened.
    InDoubt,
}

impl StepStatus {
    /// That of a step whose call ended so.
    pub fn of_call(status: CallStatus) -> Self {
        match status {
            CallStatus::Completed => Self::Completed,
            CallStatus::Failed => Self::Failed,
            CallStatus::Cancelled => Self::Cancelled,
            CallStatus::Denied => Self::Denied,
            CallStatus::InDoubt => Self::InDoubt,
        }
    }
}

/// The call that carries out a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepUse {
    /// The call.
    pub call_id: CallId,
    /// What has become of the step.
    pub status: StepStatus,
}

/// Where a plan stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// It wants an answer.
    #[default]
    Proposed,
    /// A person approved it: its calls are granted.
    Approved,
    /// A person rejected it.
    Rejected,
    /// Nobody answered in time, or too few.
    Expired,
    /// The turn ended without it.
    Superseded,
}

impl PlanStatus {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
        }
    }

    /// What is left to do for somebody whose answer came too late.
    fn what_to_do(self) -> &'static str {
        match self {
            Self::Proposed => "answer it",
            Self::Approved => "amend it, if its turn should do something else",
            Self::Rejected | Self::Expired => {
                "the agent has been told, and makes another one if it is still wanted"
            }
            Self::Superseded => "its turn has ended; say again what is wanted",
        }
    }
}

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// What it is; none before it is proposed.
    pub spec: Option<PlanSpec>,
    /// The version that counts, from 1.
    pub version: u32,
    /// Its steps.
    pub steps: Vec<PlanStep>,
    /// Where it stands.
    pub status: PlanStatus,
    /// The calls that carry out steps, by step.
    pub uses: BTreeMap<String, StepUse>,
    /// The last answer: whose, and in which words.
    pub answer: Option<PlanAnswer>,
    /// Who has approved the version that counts while more people are needed.
    #[serde(default)]
    pub votes: Vec<PlanAnswer>,
    /// When the version that counts closes by itself; none for plans of before there were deadlines.
    #[serde(default)]
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was proposed.
    pub proposed_at: DateTime<Utc>,
}

/// What has happened to a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PlanEvent {
    /// An agent puts it to a person.
    Proposed {
        /// What it is.
        spec: PlanSpec,
        /// Its steps.
        steps: Vec<PlanStep>,
        /// When.
        at: DateTime<Utc>,
        /// When it closes by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<DateTime<Utc>>,
    },
    /// A person changed its steps; the new version wants an answer.
    Amended {
        /// The new version.
        version: u32,
        /// Its steps.
        steps: Vec<PlanStep>,
        /// Steps that are the same as before and under way or done.
        kept: BTreeMap<String, StepUse>,
        /// When the new version closes by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<DateTime<Utc>>,
        /// Who.
        by: UserId,
        /// When.
        at: DateTime<Utc>,
        /// In their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A person approved it, and more people are needed.
    Voted {
        /// Which version.
        version: u32,
        /// Who.
        by: UserId,
        /// When.
        at: DateTime<Utc>,
        /// In their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// How many people have approved by now.
        given: u32,
        /// How many are needed.
        needed: u32,
    },
    /// A person approved it.
    Approved {
        /// Which version.
        version: u32,
        /// The call that made it.
        call_id: CallId,
        /// Who.
        by: UserId,
        /// When.
        at: DateTime<Utc>,
        /// In their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// A person rejected it.
    Rejected {
        /// Which version.
        version: u32,
        /// The call that made it.
        call_id: CallId,
        /// Who.
        by: UserId,
        /// When.
        at: DateTime<Utc>,
        /// In their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Nobody answered in time, or too few.
    Expired {
        /// Which version.
        version: u32,
        /// The call that made it.
        call_id: CallId,
    },
    /// Its turn ended while it wanted an answer.
    Superseded {},
    /// A call carries out a step.
    StepStarted {
        /// The version.
        version: u32,
        /// The step.
        step_id: String,
        /// The call.
        call_id: CallId,
    },
    /// That call ended.
    StepEnded {
        /// The version.
        version: u32,
        /// The step.
        step_id: String,
        /// The call.
        call_id: CallId,
        /// How.
        status: StepStatus,
    },
}

aggregate!(Plan as "plan": PlanCommand => PlanEvent or PlanRefusal);
event_kinds!(PlanEvent {
    Proposed => "plan.proposed",
    Amended => "plan.amended",
    Voted => "plan.voted",
    Approved => "plan.approved",
    Rejected => "plan.rejected",
    Expired => "plan.expired",
    Superseded => "plan.superseded",
    StepStarted => "plan.step_started",
    StepEnded => "plan.step_ended",
});

impl Plan {
    fn evolve(&mut self, event: PlanEvent) {
        match event {
            PlanEvent::Proposed { spec, steps, at, expires_at } => {
                (self.spec, self.steps, self.version) = (Some(spec), steps, 1);
                (self.proposed_at, self.expires_at) = (at, expires_at);
            }
            PlanEvent::Amended { version, steps, kept, expires_at, .. } => {
                (self.version, self.steps, self.uses) = (version, steps, kept);
                self.status = PlanStatus::Proposed;
                (self.answer, self.expires_at) = (None, expires_at);
                self.votes.clear();
            }
            PlanEvent::Voted { by, at, note, .. } => {
                self.votes.push(PlanAnswer { approve: true, by, at, note });
            }
            PlanEvent::Expired { .. } => self.status = PlanStatus::Expired,
            PlanEvent::Approved { by, at, note, .. } => {
                self.status = PlanStatus::Approved;
                self.answer = Some(PlanAnswer { approve: true, by, at, note });
            }
            PlanEvent::Rejected { by, at, note, .. } => {
                self.status = PlanStatus::Rejected;
                self.answer = Some(PlanAnswer { approve: false, by, at, note });
            }
            PlanEvent::Superseded {} => self.status = PlanStatus::Superseded,
            PlanEvent::StepStarted { step_id, call_id, .. } => {
                self.uses.insert(step_id, StepUse { call_id, status: StepStatus::Running });
            }
            PlanEvent::StepEnded { step_id, call_id, status, .. } => {
                self.uses.insert(step_id, StepUse { call_id, status });
            }
        }
    }

    /// The step that grants this call, if the plan is approved and no call has used it up.
    pub fn grants(&self, capability: &str, input_digest: &Digest) -> Option<&str> {
        let granted = |step: &&PlanStep| {
            step.capability.as_deref() == Some(capability)
                && step.input.as_ref().is_some_and(|input| Digest::of_canonical(input) == *input_digest)
                && !self.uses.contains_key(&step.id)
        };
        let approved = self.status == PlanStatus::Approved;
        self.steps.iter().filter(|_| approved).find(granted).map(|step| step.id.as_str())
    }

    /// Whether it is approved and this call carries out that step of it.
    pub fn is_carried_out_by(&self, step: &str, call: CallId) -> bool {
        self.status == PlanStatus::Approved && self.uses.get(step).is_some_and(|used| used.call_id == call)
    }

    /// What this person answered to the version that counts.
    pub fn answer_of(&self, person: UserId) -> Option<&PlanAnswer> {
        self.votes.iter().chain(&self.answer).find(|answer| answer.by == person)
    }

    /// How many people have approved the version that counts.
    pub fn given(&self) -> u32 {
        self.votes.iter().chain(&self.answer).filter(|answer| answer.approve).count() as u32
    }

    /// What has become of a step.
    pub fn status_of(&self, step: &str) -> StepStatus {
        self.uses.get(step).map_or(StepStatus::Pending, |used| used.status)
    }
}

#[cfg(test)]
mod tests;
