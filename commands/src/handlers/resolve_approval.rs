//! A person answers an approval. What follows for its call and turn is a reaction to the answer.

use chrono::{DateTime, Utc};
use oxagen_domain::tool_call::ToolCall;
use oxagen_domain::{
    Approval, ApprovalCommand, ApprovalId, ApprovalRefusal, CallId, Decision, Resolution, Right, UserId,
};
use serde::Serialize;

use crate::{Caller, CommandError, Commands};

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What.
    pub decision: Decision,
    /// In their words: at most 4,000 characters.
    pub note: Option<String>,
}

/// What came of it: the same for a repeat of the answer that counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalReceipt {
    /// The approval.
    pub approval_id: ApprovalId,
    /// The call that it was about.
    pub call_id: CallId,
    /// The decision.
    pub decision: Decision,
    /// Who made it.
    pub resolved_by: UserId,
    /// When.
    pub resolved_at: DateTime<Utc>,
    /// In their words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Commands {
    /// Answers an approval. The stored deadline decides whether the answer came in time.
    ///
    /// # Errors
    /// [`NotFound`](crate::Code::NotFound), [`ApprovalClosed`](crate::Code::ApprovalClosed) with the decision in
    /// `detail`, [`Forbidden`](crate::Code::Forbidden), [`Unavailable`](crate::Code::Unavailable).
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
            let call_id = found.question.map(|question| question.call_id).unwrap_or_default();
            // The answer belongs to the conversation and turn of the call that it is about.
            let place =
                look.load::<ToolCall>(&call_id.to_string()).await?.state.spec.and_then(|spec| spec.place);
            let context = caller.context(
                place.as_ref().map(|place| place.conversation_id),
                place.as_ref().map(|place| place.turn_id),
            );
            let mut unit = self.unit(&context, &rounds);
            let command = ApprovalCommand::Answer {
                decision: answer.decision,
                by: caller.user,
                at: Utc::now(),
                note: answer.note.clone(),
            };
            unit.decide::<Approval>(&id, command).await?;
            let resolution = unit.load::<Approval>(&id).await?.state.resolution;
            if unit.commit(&mut rounds).await?.is_some() {
                return receipt(approval_id, call_id, resolution);
            }
        }
    }
}

fn receipt(
    approval_id: ApprovalId,
    call_id: CallId,
    resolution: Option<Resolution>,
) -> Result<ApprovalReceipt, CommandError> {
    match resolution {
        Some(Resolution::Answered { decision, by, at, note }) => {
            Ok(ApprovalReceipt { approval_id, call_id, decision, resolved_by: by, resolved_at: at, note })
        }
        Some(closed) => Err(ApprovalRefusal::Closed(closed).into()),
        None => Err(ApprovalRefusal::Unknown.into()),
    }
}
