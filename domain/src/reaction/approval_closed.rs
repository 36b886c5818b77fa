//! An approval was closed: its call learns the answer first, then its turn goes on.

use super::Reaction;
use crate::approval::ApprovalEvent;
use crate::fact::Fact;
use crate::ids::ApprovalId;
use crate::tool_call::Refused;

pub(super) fn react(fact: &Fact, event: &ApprovalEvent) -> Vec<Reaction> {
    let mut given = None;
    let (call, refused) = match event {
        // A turn that moves on settles its calls itself.
        ApprovalEvent::Requested { .. } | ApprovalEvent::Superseded { .. } | ApprovalEvent::Voted { .. } => {
            return vec![];
        }
        ApprovalEvent::Approved { call_id, edited, .. } => {
            given = edited.clone();
            (*call_id, None)
        }
        ApprovalEvent::Denied { call_id, by, note, .. } => {
            (*call_id, Some(Refused::Person { user_id: *by, note: note.clone() }))
        }
        ApprovalEvent::Expired { call_id } => (*call_id, Some(Refused::Expiry)),
    };
    let approval = ApprovalId::of_call(call);
    let answer = match refused {
        None => Reaction::ClearCall { call, approval, edited: given },
        Some(refused) => Reaction::RefuseCall { call, approval, refused },
    };
    let wake = fact.turn_id.map(|turn| Reaction::AnswerTurn { turn, cause: fact.event_id });
    [answer].into_iter().chain(wake).collect()
}
