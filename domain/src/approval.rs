//! An approval: `requested → approved | denied | expired | superseded`. Nothing is held open while it waits.
//!
//! The stored deadline decides when an answer arrives; a timer also closes it. Answers count per person: any denial
//! decides, approval decides when as many people as are needed have given it.

mod decide;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::body::{Body, Digest};
use crate::capability::Risk;
use crate::ids::{ApprovalId, CallId, StepId, UserId};
use crate::policy::{ApprovalTerms, TermsRefusal};
use crate::role::Role;
use crate::tool_call::EditedInput;

/// What a person is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalQuestion {
    /// The approval.
    pub approval_id: ApprovalId,
    /// The held call.
    pub call_id: CallId,
    /// The step of the execution that the call belongs to.
    pub execution_step_id: StepId,
    /// What would be called.
    pub capability: String,
    /// With what.
    pub input: Body,
    /// Digest of the input's canonical form: what an approval covers.
    pub input_digest: Digest,
    /// How much it can break.
    pub risk: Risk,
    /// The rule that asks.
    pub rule: String,
    /// Who caused the call.
    pub requested_by: UserId,
    /// When it closes by itself.
    pub expires_at: DateTime<Utc>,
    /// Why a person is asked, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it takes to approve.
    #[serde(default, skip_serializing_if = "ApprovalTerms::is_plain")]
    pub terms: ApprovalTerms,
    /// How often the turn has asked for the very same call before, in vain.
    #[serde(default, skip_serializing_if = "is_none")]
    pub asked_before: u32,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Let it run.
    Approve,
    /// Do not let it run.
    Deny,
}

/// How it was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Resolution {
    /// By a person.
    Answered {
        /// The answer.
        decision: Decision,
        /// Whose.
        by: UserId,
        /// When.
        at: DateTime<Utc>,
        /// In their words.
        note: Option<String>,
    },
    /// By the clock.
    Expired,
    /// By the turn moving on.
    Superseded,
}

/// What one person answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GivenAnswer {
    /// The answer.
    pub decision: Decision,
    /// Whose.
    pub by: UserId,
    /// When.
    pub at: DateTime<Utc>,
    /// In their words.
    pub note: Option<String>,
    /// The digest of the arguments that they put in place of those asked for.
    pub edited: Option<Digest>,
}

/// An approval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// What is asked; none before it is.
    pub question: Option<ApprovalQuestion>,
    /// How it was closed; none while it is open.
    pub resolution: Option<Resolution>,
    /// What each person answered.
    #[serde(default)]
    pub answers: Vec<GivenAnswer>,
}

/// What has happened to an approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ApprovalEvent {
    /// A person is asked.
    Requested {
        /// What.
        question: ApprovalQuestion,
    },
    /// A person let it run, and more people are needed.
    Voted {
        /// The held call.
        call_id: CallId,
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
    /// A person let it run.
    Approved {
        /// The held call.
        call_id: CallId,
        /// Who.
        by: UserId,
        /// When.
        at: DateTime<Utc>,
        /// In their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// What it runs with instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<EditedInput>,
    },
    /// A person did not let it run.
    Denied {
        /// The held call.
        call_id: CallId,
        /// Who.
        by: UserId,
        /// When.
        at: DateTime<Utc>,
        /// In their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Nobody answered in time.
    Expired {
        /// The held call.
        call_id: CallId,
    },
    /// The turn moved on without it.
    Superseded {
        /// The held call.
        call_id: CallId,
    },
}

/// A person's answer.
#[derive(Clone, Debug)]
pub struct PersonsAnswer {
    /// What.
    pub decision: Decision,
    /// Who, from the credential.
    pub by: UserId,
    /// That person's role.
    pub role: Role,
    /// When the answer arrived.
    pub at: DateTime<Utc>,
    /// In their words: at most 4,000 characters.
    pub note: Option<String>,
    /// What the call is to run with instead; it has been validated and judged.
    pub edited: Option<EditedInput>,
}

/// What an approval can be told.
#[derive(Clone, Debug)]
pub enum ApprovalCommand {
    /// Ask a person.
    Request(ApprovalQuestion),
    /// A person answers.
    Answer(PersonsAnswer),
    /// The timer rang.
    Expire {
        /// When.
        now: DateTime<Utc>,
    },
    /// The turn moves on without it.
    Supersede,
}

/// Why an approval said no.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalRefusal {
    /// It was never requested.
    #[error("there is no such approval")]
    Unknown,
    /// It is closed, and this answer is not a repeat of the one that closed it.
    #[error("this approval is closed already: {}", closed(.0))]
    Closed(Resolution),
    /// A note has at most 4,000 characters.
    #[error("a note has at most 4000 characters")]
    Note,
    /// This person has answered something else.
    #[error("you have answered already: {}; an answer cannot be taken back", .0.past())]
    Answered(Decision),
    /// Not this person.
    #[error(transparent)]
    Terms(#[from] TermsRefusal),
    /// What several people approve stays as it was asked.
    #[error("this approval needs {0} people, who approve what was asked: deny it, and let it be asked again")]
    EditedByMany(u32),
    /// A denial edits nothing.
    #[error("only an approval can have another input")]
    EditedDenial,
}

impl Decision {
    /// What was done by it.
    pub fn past(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Deny => "denied",
        }
    }
}

fn closed(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Answered { decision: Decision::Approve, by, at, .. } => {
            format!("approved by {by} at {at}")
        }
        Resolution::Answered { decision: Decision::Deny, by, at, .. } => format!("denied by {by} at {at}"),
        Resolution::Expired => "it expired".to_owned(),
        Resolution::Superseded => "the turn moved on without it".to_owned(),
    }
}

aggregate!(Approval as "approval": ApprovalCommand => ApprovalEvent or ApprovalRefusal);
event_kinds!(ApprovalEvent {
    Requested => "approval.requested",
    Voted => "approval.voted",
    Approved => "approval.approved",
    Denied => "approval.denied",
    Expired => "approval.expired",
    Superseded => "approval.superseded",
});

impl Approval {
    fn evolve(&mut self, event: ApprovalEvent) {
        match event {
            ApprovalEvent::Requested { question } => self.question = Some(question),
            ApprovalEvent::Voted { by, at, note, .. } => {
                self.answers.push(GivenAnswer { decision: Decision::Approve, by, at, note, edited: None });
            }
            ApprovalEvent::Approved { by, at, note, edited, .. } => {
                let edited = edited.map(|edited| edited.input_digest);
                self.close(GivenAnswer { decision: Decision::Approve, by, at, note, edited });
            }
            ApprovalEvent::Denied { by, at, note, .. } => {
                self.close(GivenAnswer { decision: Decision::Deny, by, at, note, edited: None });
            }
            ApprovalEvent::Expired { .. } => self.resolution = Some(Resolution::Expired),
            ApprovalEvent::Superseded { .. } => self.resolution = Some(Resolution::Superseded),
        }
    }

    fn close(&mut self, answer: GivenAnswer) {
        let GivenAnswer { decision, by, at, note, .. } = answer.clone();
        self.resolution = Some(Resolution::Answered { decision, by, at, note });
        self.answers.push(answer);
    }

    /// What this person answered.
    pub fn answer_of(&self, person: UserId) -> Option<&GivenAnswer> {
        self.answers.iter().find(|answer| answer.by == person)
    }

    /// How many people have approved by now.
    pub fn given(&self) -> u32 {
        self.answers.iter().filter(|answer| answer.decision == Decision::Approve).count() as u32
    }
}

#[cfg(test)]
mod tests;
