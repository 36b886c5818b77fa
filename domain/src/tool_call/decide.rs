//! What a call can be told, and what then happens.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::record::End;
use super::settle::Settlement;
use super::{CallError, CallRecord, CallSpec, CallStatus, EditedInput, Standing, ToolCall, ToolCallEvent};
use crate::body::Body;
use crate::ids::{ApprovalId, RunnerId, UserId};

/// What was decided about a call when it was requested.
#[derive(Clone, Debug)]
pub enum Ruling {
    /// It may start.
    Clear {
        /// What decided.
        rule: String,
    },
    /// A person is asked first.
    Hold {
        /// What decided.
        rule: String,
        /// The approval.
        approval_id: ApprovalId,
    },
    /// It may not run.
    Deny {
        /// What decided.
        rule: String,
        /// What, why, and what to do.
        reason: String,
    },
    /// Its arguments do not fit, or there is no such tool.
    Invalid(CallError),
}

/// Who refused a call, and in which words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Refused {
    /// The workspace's policy.
    Policy {
        /// What, why, and what to do.
        reason: String,
    },
    /// A person.
    Person {
        /// Who.
        user_id: UserId,
        /// Word for word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Nobody answered in time.
    Expiry,
}

impl Refused {
    fn code(&self) -> &'static str {
        match self {
            Self::Policy { .. } => "denied_by_policy",
            Self::Person { .. } => "denied_by_person",
            Self::Expiry => "approval_expired",
        }
    }
}

/// How an attempt ended.
#[derive(Clone, Debug)]
pub enum Ending {
    /// With a result.
    Completed {
        /// The result.
        output: Body,
        /// What the model is shown of a large one.
        excerpt: Option<String>,
    },
    /// With an error.
    Failed(CallError),
}

/// What a call can be told.
#[derive(Clone, Debug)]
pub enum ToolCallCommand {
    /// Come into being with this ruling.
    Request {
        /// What it is.
        spec: CallSpec,
        /// What was decided.
        ruling: Ruling,
        /// When.
        at: DateTime<Utc>,
    },
    /// The approval was given.
    Clear {
        /// Which.
        approval_id: ApprovalId,
        /// What it runs with instead, if the person edited it.
        edited: Option<EditedInput>,
    },
    /// Policy has changed since the call was cleared, and a person is to be asked now.
    Hold {
        /// What decided.
        rule: String,
        /// The approval.
        approval_id: ApprovalId,
    },
    /// A person settles it, as its outcome is unknown.
    Settle {
        /// As what.
        settlement: Settlement,
        /// Who, from the credential.
        by: UserId,
        /// In their words: at most 4,000 characters.
        note: Option<String>,
        /// When.
        at: DateTime<Utc>,
    },
    /// The approval was refused.
    Refuse {
        /// Which.
        approval_id: ApprovalId,
        /// By whom.
        refused: Refused,
        /// When.
        at: DateTime<Utc>,
    },
    /// Policy has changed since the call was cleared, and denies it now.
    Deny {
        /// What decided.
        rule: String,
        /// What, why, and what to do.
        reason: String,
        /// When.
        at: DateTime<Utc>,
    },
    /// Start an attempt.
    Start {
        /// Who runs it.
        runner_id: RunnerId,
        /// Whether it may run again after an attempt whose end is unknown.
        may_rerun: bool,
        /// When.
        at: DateTime<Utc>,
    },
    /// An attempt has ended.
    Finish {
        /// Which.
        attempt: u32,
        /// How.
        ending: Ending,
        /// When.
        at: DateTime<Utc>,
    },
    /// End without a result.
    Cancel {
        /// Why.
        reason: String,
        /// When.
        at: DateTime<Utc>,
    },
}

/// Why a call said no.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolCallRefusal {
    /// It was never requested.
    #[error("there is no such call")]
    Unknown,
    /// Somebody else's attempt is current.
    #[error("attempt {attempt} of this call is not the current one, {current} is")]
    Fenced {
        /// The one that spoke.
        attempt: u32,
        /// The one that counts.
        current: u32,
    },
    /// It has ended.
    #[error("this call has ended: {}", .0.name())]
    Ended(CallStatus),
    /// It waits for another approval, or for none.
    #[error("this call does not wait for that approval")]
    OtherApproval,
    /// It may not start yet.
    #[error("this call may not start: it is not cleared")]
    NotCleared,
    /// Only what is in doubt can be settled.
    #[error("this call is not in doubt but {0}: there is nothing to settle")]
    NotInDoubt(&'static str),
    /// A note has at most 4,000 characters.
    #[error("a note has at most 4000 characters")]
    Note,
}

impl ToolCall {
    pub(super) fn decide(&self, command: ToolCallCommand) -> Result<Vec<ToolCallEvent>, ToolCallRefusal> {
        if let ToolCallCommand::Request { spec, ruling, at } = command {
            return Ok(if self.spec.is_some() { vec![] } else { request(spec, ruling, at) });
        }
        let spec = self.spec.as_ref().ok_or(ToolCallRefusal::Unknown)?;
        match command {
            ToolCallCommand::Request { .. } => Ok(vec![]),
            ToolCallCommand::Clear { approval_id, edited } => self.clear(approval_id, edited),
            ToolCallCommand::Hold { rule, approval_id } => match self.standing {
                Standing::Cleared => Ok(vec![ToolCallEvent::Held { approval_id, rule }]),
                Standing::Held(_) => Ok(vec![]),
                Standing::Absent | Standing::Started(_) => Err(ToolCallRefusal::NotCleared),
                Standing::Ended(status) => Err(ToolCallRefusal::Ended(status)),
            },
            ToolCallCommand::Settle { note: Some(note), .. } if note.chars().count() > 4000 => {
                Err(ToolCallRefusal::Note)
            }
            ToolCallCommand::Settle { settlement, by, note, at } => {
                self.settle(spec, settlement, (by, note, at))
            }
            ToolCallCommand::Refuse { approval_id, refused, at } => {
                self.refuse(spec, approval_id, refused, at)
            }
            ToolCallCommand::Deny { rule, reason, at } => self.deny(spec, rule, reason, at),
            ToolCallCommand::Start { runner_id, may_rerun, at } => self.start(spec, runner_id, may_rerun, at),
            ToolCallCommand::Finish { attempt, ending, at } => self.finish(spec, attempt, ending, at),
            ToolCallCommand::Cancel { reason, at } => Ok(match self.standing {
                Standing::Ended(_) => vec![],
                Standing::Absent | Standing::Held(_) | Standing::Cleared | Standing::Started(_) => {
                    let record = self.record(spec, CallStatus::Cancelled, at, Some("cancelled"));
                    vec![ToolCallEvent::Cancelled { reason, record }]
                }
            }),
        }
    }

    /// A repeat of the answer that this call waited for changes nothing.
    fn clear(
        &self,
        approval_id: ApprovalId,
        edited: Option<EditedInput>,
    ) -> Result<Vec<ToolCallEvent>, ToolCallRefusal> {
        match self.standing {
            Standing::Held(waiting) if waiting == approval_id => Ok(vec![ToolCallEvent::Cleared {
                rule: "approval".to_owned(),
                approval_id: Some(approval_id),
                edited,
            }]),
            Standing::Absent
            | Standing::Held(_)
            | Standing::Cleared
            | Standing::Started(_)
            | Standing::Ended(_) => self.answered_by(approval_id),
        }
    }

    fn refuse(
        &self,
        spec: &CallSpec,
        approval_id: ApprovalId,
        refused: Refused,
        at: DateTime<Utc>,
    ) -> Result<Vec<ToolCallEvent>, ToolCallRefusal> {
        if self.standing != Standing::Held(approval_id) {
            return self.answered_by(approval_id);
        }
        let record = self.record(spec, CallStatus::Denied, at, Some(refused.code()));
        Ok(vec![ToolCallEvent::Denied { refused, record }])
    }

    fn deny(
        &self,
        spec: &CallSpec,
        rule: String,
        reason: String,
        at: DateTime<Utc>,
    ) -> Result<Vec<ToolCallEvent>, ToolCallRefusal> {
        if let Standing::Ended(status) = self.standing {
            return Err(ToolCallRefusal::Ended(status));
        }
        let judged = Self { rule, ..self.clone() };
        let refused = Refused::Policy { reason };
        let record = judged.record(spec, CallStatus::Denied, at, Some(refused.code()));
        Ok(vec![ToolCallEvent::Denied { refused, record }])
    }

    fn answered_by(&self, approval_id: ApprovalId) -> Result<Vec<ToolCallEvent>, ToolCallRefusal> {
        if self.approval == Some(approval_id) { Ok(vec![]) } else { Err(ToolCallRefusal::OtherApproval) }
    }

    fn start(
        &self,
        spec: &CallSpec,
        runner_id: RunnerId,
        may_rerun: bool,
        at: DateTime<Utc>,
    ) -> Result<Vec<ToolCallEvent>, ToolCallRefusal> {
        match self.standing {
            Standing::Cleared => {
                Ok(vec![ToolCallEvent::Started { attempt: self.attempt + 1, runner_id, at }])
            }
            Standing::Started(_) if may_rerun => {
                Ok(vec![ToolCallEvent::Started { attempt: self.attempt + 1, runner_id, at }])
            }
            Standing::Started(_) => {
                let reason = "the runner that started it is gone and it may not run twice: \
                              whether it happened is unknown"
                    .to_owned();
                let record = self.record(spec, CallStatus::InDoubt, at, Some("in_doubt"));
                Ok(vec![ToolCallEvent::InDoubt { reason, record }])
            }
            Standing::Absent | Standing::Held(_) => Err(ToolCallRefusal::NotCleared),
            Standing::Ended(status) => Err(ToolCallRefusal::Ended(status)),
        }
    }

    fn finish(
        &self,
        spec: &CallSpec,
        attempt: u32,
        ending: Ending,
        at: DateTime<Utc>,
    ) -> Result<Vec<ToolCallEvent>, ToolCallRefusal> {
        match self.standing {
            _ if attempt != self.attempt => {
                return Err(ToolCallRefusal::Fenced { attempt, current: self.attempt });
            }
            Standing::Started(_) | Standing::Ended(CallStatus::InDoubt) => {}
            // It was to run again, and the truth about the first time came before that.
            Standing::Cleared if self.settled.is_some() => {}
            Standing::Absent | Standing::Held(_) | Standing::Cleared => {
                return Err(ToolCallRefusal::NotCleared);
            }
            Standing::Ended(status) => return Err(ToolCallRefusal::Ended(status)),
        }
        Ok(vec![match ending {
            Ending::Completed { output, excerpt } => {
                let end =
                    End { status: CallStatus::Completed, at, output_bytes: output.bytes(), error_code: None };
                let record = CallRecord::new(self, spec, end);
                ToolCallEvent::Completed { output, excerpt, record }
            }
            Ending::Failed(error) => {
                let record = self.record(spec, CallStatus::Failed, at, Some(&error.code));
                ToolCallEvent::Failed { error, record }
            }
        }])
    }

    pub(super) fn record(
        &self,
        spec: &CallSpec,
        status: CallStatus,
        at: DateTime<Utc>,
        code: Option<&str>,
    ) -> CallRecord {
        CallRecord::new(self, spec, End { status, at, output_bytes: 0, error_code: code })
    }
}

fn request(spec: CallSpec, ruling: Ruling, at: DateTime<Utc>) -> Vec<ToolCallEvent> {
    let asked = ToolCallEvent::Requested { spec: spec.clone(), at };
    let mut call = ToolCall::default();
    call.evolve(asked.clone());
    let ruled = match ruling {
        Ruling::Clear { rule } => ToolCallEvent::Cleared { rule, approval_id: None, edited: None },
        Ruling::Hold { rule, approval_id } => ToolCallEvent::Held { approval_id, rule },
        Ruling::Deny { rule, reason } => {
            call.rule = rule;
            let refused = Refused::Policy { reason };
            let record = call.record(&spec, CallStatus::Denied, at, Some(refused.code()));
            ToolCallEvent::Denied { refused, record }
        }
        Ruling::Invalid(error) => {
            call.rule = "input".to_owned();
            let record = call.record(&spec, CallStatus::Failed, at, Some(&error.code));
            ToolCallEvent::Failed { error, record }
        }
    };
    vec![asked, ruled]
}
