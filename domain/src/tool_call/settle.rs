//! A person settles a call whose outcome nobody knew.

use chrono::{DateTime, Utc};

use super::decide::ToolCallRefusal;
use super::record::End;
use super::{CallError, CallRecord, CallSpec, CallStatus, SettledAs, Standing, ToolCall, ToolCallEvent};
use crate::body::Body;
use crate::ids::UserId;

/// How a person settles a call.
#[derive(Clone, Debug)]
pub enum Settlement {
    /// It happened.
    Done {
        /// Its result, as the person found it.
        output: Body,
        /// What the model is shown of a large one.
        excerpt: Option<String>,
    },
    /// It did not happen.
    NotDone,
    /// It runs once more.
    RunAgain,
}

impl Settlement {
    fn outcome(&self) -> SettledAs {
        match self {
            Self::Done { .. } => SettledAs::Done,
            Self::NotDone => SettledAs::NotDone,
            Self::RunAgain => SettledAs::RunAgain,
        }
    }
}

impl ToolCall {
    /// A repeat by the same person changes nothing.
    pub(super) fn settle(
        &self,
        spec: &CallSpec,
        settlement: Settlement,
        (by, note, at): (UserId, Option<String>, DateTime<Utc>),
    ) -> Result<Vec<ToolCallEvent>, ToolCallRefusal> {
        let outcome = settlement.outcome();
        match self.standing {
            Standing::Ended(CallStatus::InDoubt) => {}
            _ if self.settled == Some((outcome, by)) => return Ok(vec![]),
            Standing::Ended(status) => return Err(ToolCallRefusal::NotInDoubt(status.name())),
            Standing::Absent | Standing::Held(_) => {
                return Err(ToolCallRefusal::NotInDoubt("it never started"));
            }
            Standing::Cleared | Standing::Started(_) => {
                return Err(ToolCallRefusal::NotInDoubt("it is to run"));
            }
        }
        let settled = ToolCallEvent::Settled { outcome, by, note: note.clone(), at };
        let follows = match settlement {
            Settlement::RunAgain => {
                ToolCallEvent::Cleared { rule: self.rule.clone(), approval_id: None, edited: None }
            }
            Settlement::Done { output, excerpt } => {
                let end =
                    End { status: CallStatus::Completed, at, output_bytes: output.bytes(), error_code: None };
                let record = CallRecord::new(self, spec, end);
                ToolCallEvent::Completed { output, excerpt, record }
            }
            Settlement::NotDone => {
                let said = note.map_or_else(String::new, |note| format!(" and says: {note}"));
                let message = format!("a person looked: it did not happen{said}");
                let error = CallError { code: "settled_not_done".to_owned(), message, flaws: vec![] };
                let record = self.record(spec, CallStatus::Failed, at, Some(&error.code));
                ToolCallEvent::Failed { error, record }
            }
        };
        Ok(vec![settled, follows])
    }
}
