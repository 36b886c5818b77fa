//! An approval: `requested → approved | denied | expired | superseded`. Nothing is held open while it waits.
//!
//! The stored deadline decides when an answer arrives; a timer also closes it.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::body::{Body, Digest};
use crate::capability::Risk;
use crate::ids::{ApprovalId, CallId, StepId, UserId};

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

/// An approval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// What is asked; none before it is.
    pub question: Option<ApprovalQuestion>,
    /// How it was closed; none while it is open.
    pub resolution: Option<Resolution>,
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

/// What an approval can be told.
#[derive(Clone, Debug)]
pub enum ApprovalCommand {
    /// Ask a person.
    Request(ApprovalQuestion),
    /// A person answers.
    Answer {
        /// What.
        decision: Decision,
        /// Who, from the credential.
        by: UserId,
        /// When the answer arrived.
        at: DateTime<Utc>,
        /// In their words: at most 4,000 characters.
        note: Option<String>,
    },
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
    Approved => "approval.approved",
    Denied => "approval.denied",
    Expired => "approval.expired",
    Superseded => "approval.superseded",
});

impl Approval {
    fn evolve(&mut self, event: ApprovalEvent) {
        let answered = |decision, by, at, note| Some(Resolution::Answered { decision, by, at, note });
        match event {
            ApprovalEvent::Requested { question } => self.question = Some(question),
            ApprovalEvent::Approved { by, at, note, .. } => {
                self.resolution = answered(Decision::Approve, by, at, note);
            }
            ApprovalEvent::Denied { by, at, note, .. } => {
                self.resolution = answered(Decision::Deny, by, at, note);
            }
            ApprovalEvent::Expired { .. } => self.resolution = Some(Resolution::Expired),
            ApprovalEvent::Superseded { .. } => self.resolution = Some(Resolution::Superseded),
        }
    }

    fn decide(&self, command: ApprovalCommand) -> Result<Vec<ApprovalEvent>, ApprovalRefusal> {
        if let ApprovalCommand::Request(question) = command {
            return Ok(if self.question.is_some() {
                vec![]
            } else {
                vec![ApprovalEvent::Requested { question }]
            });
        }
        let question = self.question.as_ref().ok_or(ApprovalRefusal::Unknown)?;
        let (call_id, expires_at) = (question.call_id, question.expires_at);
        match (command, &self.resolution) {
            (ApprovalCommand::Answer { note: Some(note), .. }, _) if note.chars().count() > 4000 => {
                Err(ApprovalRefusal::Note)
            }
            (ApprovalCommand::Answer { decision, by, at, note }, None) => Ok(vec![if at >= expires_at {
                ApprovalEvent::Expired { call_id }
            } else if decision == Decision::Approve {
                ApprovalEvent::Approved { call_id, by, at, note }
            } else {
                ApprovalEvent::Denied { call_id, by, at, note }
            }]),
            (
                ApprovalCommand::Answer { decision, by, .. },
                Some(Resolution::Answered { decision: made, by: who, .. }),
            ) if decision == *made && by == *who => Ok(vec![]),
            (ApprovalCommand::Answer { .. }, Some(resolution)) => {
                Err(ApprovalRefusal::Closed(resolution.clone()))
            }
            (ApprovalCommand::Expire { now }, None) if now >= expires_at => {
                Ok(vec![ApprovalEvent::Expired { call_id }])
            }
            (ApprovalCommand::Supersede, None) => Ok(vec![ApprovalEvent::Superseded { call_id }]),
            (
                ApprovalCommand::Expire { .. } | ApprovalCommand::Supersede | ApprovalCommand::Request(_),
                _,
            ) => Ok(vec![]),
        }
    }
}

#[cfg(test)]
mod tests;
