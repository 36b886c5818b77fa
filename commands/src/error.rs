//! Why a command was not carried out: a small closed set of codes, a text for people, the cause apart.

use oxagen_domain::capability::Flaw;
use oxagen_domain::plan::PlanRefusal;
use oxagen_domain::policy::PolicyRefusal;
use oxagen_domain::tool_call::ToolCallRefusal;
use oxagen_domain::turn::TurnRefusal;
use oxagen_domain::{
    AgentRefusal, ApiKeyRefusal, ApprovalRefusal, ConversationRefusal, Resolution, WorkspaceRefusal,
};
use oxagen_journal::{AppendError, JournalError};
use serde_json::{Value, json};

/// What kind of refusal it is. The names are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The input does not fit.
    InvalidInput,
    /// There is no such thing in this workspace.
    NotFound,
    /// The caller may not do this: by its role, its key's limits, or the terms of what is asked.
    Forbidden,
    /// Somebody else changed the same thing again and again.
    Conflict,
    /// A turn runs in this conversation.
    ConversationBusy,
    /// The conversation takes no more messages.
    ConversationArchived,
    /// The turn has ended.
    TurnEnded,
    /// The call has ended.
    CallEnded,
    /// The approval is closed.
    ApprovalClosed,
    /// The plan wants no answer any more.
    PlanClosed,
    /// The same `Idempotency-Key` came with another request.
    IdempotencyKeyReused,
    /// There is no such capability on this surface.
    UnknownCapability,
    /// Policy denies it.
    DeniedByPolicy,
    /// Too large.
    TooLarge,
    /// A server that is needed does not answer.
    Unavailable,
    /// A defect of the runtime.
    Internal,
}

impl Code {
    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::InvalidInput => "invalid_input",
            Self::NotFound => "not_found",
            Self::Forbidden => "forbidden",
            Self::Conflict => "conflict",
            Self::ConversationBusy => "conversation_busy",
            Self::ConversationArchived => "conversation_archived",
            Self::TurnEnded => "turn_ended",
            Self::CallEnded => "call_ended",
            Self::ApprovalClosed => "approval_closed",
            Self::PlanClosed => "plan_closed",
            Self::IdempotencyKeyReused => "idempotency_key_reused",
            Self::UnknownCapability => "unknown_capability",
            Self::DeniedByPolicy => "denied_by_policy",
            Self::TooLarge => "too_large",
            Self::Unavailable => "unavailable",
            Self::Internal => "internal",
        }
    }
}

/// Why a command was not carried out.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct CommandError {
    /// What kind of refusal.
    pub code: Code,
    /// What was wrong and what to do.
    pub message: String,
    /// What in the input does not fit.
    pub flaws: Vec<Flaw>,
    /// What else the caller should know, such as the decision that was made.
    pub detail: Option<Value>,
    /// The inner cause, for the log.
    #[source]
    pub cause: Option<Box<dyn std::error::Error + Send + Sync>>,
    /// Whether a runner's epoch or attempt is over, so that it must let go.
    pub fenced: bool,
}

impl CommandError {
    /// A refusal with this code and text.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), flaws: vec![], detail: None, cause: None, fenced: false }
    }

    /// There is no such thing in the caller's workspace.
    pub(crate) fn unknown(what: &str) -> Self {
        Self::new(
            Code::NotFound,
            format!(
                "there is no such {what} in this workspace: check its id, and the workspace that the key opens (GET /v1/me)"
            ),
        )
    }

    /// An input with flaws.
    pub(crate) fn invalid(flaws: Vec<Flaw>) -> Self {
        let text =
            flaws.iter().map(|flaw| format!("{}: {}", flaw.pointer, flaw.expected)).collect::<Vec<_>>();
        Self { flaws, ..Self::new(Code::InvalidInput, text.join("; ")) }
    }

    fn fencing(message: String) -> Self {
        Self { fenced: true, ..Self::new(Code::Conflict, message) }
    }

    fn caused(code: Code, message: &str, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { cause: Some(Box::new(cause)), ..Self::new(code, message) }
    }
}

impl From<JournalError> for CommandError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Unavailable { .. } => Self::caused(
                Code::Unavailable,
                "the journal does not answer now: try again in a moment",
                error,
            ),
            error => Self::caused(Code::Internal, "the journal refused what this build asked of it", error),
        }
    }
}

impl From<AppendError> for CommandError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::Conflict | AppendError::GuardFailed { .. } => {
                Self::caused(Code::Conflict, "others keep changing the same thing: try again", error)
            }
            AppendError::Unavailable { .. } => Self::caused(
                Code::Unavailable,
                "the journal does not answer now: try again in a moment",
                error,
            ),
            AppendError::Journal(error) => error.into(),
        }
    }
}

impl From<TurnRefusal> for CommandError {
    fn from(refusal: TurnRefusal) -> Self {
        match refusal {
            TurnRefusal::Unknown => Self::unknown("turn"),
            TurnRefusal::Ended => Self::new(Code::TurnEnded, "this turn has ended already"),
            TurnRefusal::Fenced { .. } => Self::fencing(refusal.to_string()),
            TurnRefusal::OutOfOrder => Self::new(Code::Conflict, refusal.to_string()),
        }
    }
}

impl From<ToolCallRefusal> for CommandError {
    fn from(refusal: ToolCallRefusal) -> Self {
        let text = refusal.to_string();
        match refusal {
            ToolCallRefusal::Unknown => Self::unknown("call"),
            ToolCallRefusal::Fenced { .. } => Self::fencing(text),
            ToolCallRefusal::Ended(_) => Self::new(Code::CallEnded, text),
            ToolCallRefusal::NotInDoubt(_) => Self::new(Code::CallEnded, text),
            ToolCallRefusal::Note => Self::invalid(vec![Flaw::new("/note", text)]),
            ToolCallRefusal::OtherApproval | ToolCallRefusal::NotCleared => Self::new(Code::Conflict, text),
        }
    }
}

impl From<ApprovalRefusal> for CommandError {
    fn from(refusal: ApprovalRefusal) -> Self {
        let text = refusal.to_string();
        match refusal {
            ApprovalRefusal::Unknown => Self::unknown("approval"),
            ApprovalRefusal::Note => Self::invalid(vec![Flaw::new("/note", text)]),
            ApprovalRefusal::EditedByMany(_) | ApprovalRefusal::EditedDenial => {
                Self::invalid(vec![Flaw::new("/editedInput", text)])
            }
            ApprovalRefusal::Terms(_) => Self::new(Code::Forbidden, text),
            ApprovalRefusal::Answered(_) => Self::new(Code::ApprovalClosed, text),
            ApprovalRefusal::Closed(resolution) => {
                Self { detail: Some(closed(&resolution)), ..Self::new(Code::ApprovalClosed, text) }
            }
        }
    }
}

/// The decision that closed an approval, for whoever comes too late.
fn closed(resolution: &Resolution) -> Value {
    match resolution {
        Resolution::Answered { decision, by, at, note } => {
            json!({"resolution": if *decision == oxagen_domain::Decision::Approve { "approved" } else { "denied" },
                   "resolvedBy": by, "resolvedAt": at, "note": note})
        }
        Resolution::Expired => json!({"resolution": "expired"}),
        Resolution::Superseded => json!({"resolution": "superseded"}),
    }
}

impl From<ConversationRefusal> for CommandError {
    fn from(refusal: ConversationRefusal) -> Self {
        let text = refusal.to_string();
        match refusal {
            ConversationRefusal::Unknown => Self::unknown("conversation"),
            ConversationRefusal::UnknownParent(_) => Self::invalid(vec![Flaw::new("/parentMessageId", text)]),
            ConversationRefusal::Busy(turn) => {
                Self { detail: Some(json!({"turnId": turn})), ..Self::new(Code::ConversationBusy, text) }
            }
            ConversationRefusal::Archived => Self::new(Code::ConversationArchived, text),
            ConversationRefusal::Title => Self::invalid(vec![Flaw::new("/title", text)]),
        }
    }
}

impl From<ApiKeyRefusal> for CommandError {
    fn from(refusal: ApiKeyRefusal) -> Self {
        match refusal {
            ApiKeyRefusal::Exists => Self::new(Code::Conflict, refusal.to_string()),
            ApiKeyRefusal::Unknown => Self::unknown("key"),
        }
    }
}

impl From<AgentRefusal> for CommandError {
    fn from(refusal: AgentRefusal) -> Self {
        Self::invalid(vec![Flaw::new("/instructions", refusal.to_string())])
    }
}

impl From<WorkspaceRefusal> for CommandError {
    fn from(refusal: WorkspaceRefusal) -> Self {
        match refusal {
            WorkspaceRefusal::Name => Self::invalid(vec![Flaw::new("/name", refusal.to_string())]),
            WorkspaceRefusal::Exists => Self::new(Code::Conflict, refusal.to_string()),
            WorkspaceRefusal::Unknown => Self::unknown("workspace"),
        }
    }
}

impl From<PolicyRefusal> for CommandError {
    fn from(refusal: PolicyRefusal) -> Self {
        let text = refusal.to_string();
        let flaw = |pointer: &str, text: String| Self::invalid(vec![Flaw::new(pointer, text)]);
        match refusal {
            PolicyRefusal::UnknownTier(_) => flaw("/policy/tier", text),
            PolicyRefusal::Expiry(_) => flaw("/policy/approvalExpirySeconds", text),
            PolicyRefusal::UnknownCapability(_) => flaw("/policy/enabled", text),
            PolicyRefusal::Flaw { pointer, text } => flaw(&format!("/policy{pointer}"), text),
            PolicyRefusal::TooManyStanding => Self::new(Code::Conflict, text),
            PolicyRefusal::UnknownStanding => Self::unknown("standing approval"),
        }
    }
}

impl From<PlanRefusal> for CommandError {
    fn from(refusal: PlanRefusal) -> Self {
        let text = refusal.to_string();
        match refusal {
            PlanRefusal::Unknown => Self::unknown("plan"),
            PlanRefusal::OtherVersion { current, .. } => {
                Self { detail: Some(json!({ "version": current })), ..Self::new(Code::Conflict, text) }
            }
            PlanRefusal::Closed(status) => {
                Self { detail: Some(json!({ "planStatus": status })), ..Self::new(Code::PlanClosed, text) }
            }
            PlanRefusal::Steps(flaws) => {
                let under = |flaw: Flaw| {
                    let place = flaw.pointer.strip_prefix("/steps").unwrap_or(&flaw.pointer);
                    Flaw::new(&format!("/amendedSteps{place}"), flaw.expected)
                };
                Self::invalid(flaws.into_iter().map(under).collect())
            }
            PlanRefusal::Note => Self::invalid(vec![Flaw::new("/note", text)]),
            PlanRefusal::Terms(_) => Self::new(Code::Forbidden, text),
            PlanRefusal::Answered => Self::new(Code::PlanClosed, text),
        }
    }
}
