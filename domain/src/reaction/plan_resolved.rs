//! A plan was answered: the call that made it learns the answer first, then its turn goes on.

use super::Reaction;
use crate::fact::Fact;
use crate::ids::ApprovalId;
use crate::plan::PlanEvent;
use crate::tool_call::Refused;

pub(super) fn react(fact: &Fact, event: &PlanEvent) -> Vec<Reaction> {
    let answer = match event {
        PlanEvent::Approved { call_id, .. } => {
            let (call, approval) = (*call_id, ApprovalId::of_call(*call_id));
            Reaction::ClearCall { call, approval, edited: None }
        }
        PlanEvent::Rejected { call_id, by, note, .. } => Reaction::RefuseCall {
            call: *call_id,
            approval: ApprovalId::of_call(*call_id),
            refused: Refused::Person { user_id: *by, note: note.clone() },
        },
        PlanEvent::Expired { call_id, .. } => Reaction::RefuseCall {
            call: *call_id,
            approval: ApprovalId::of_call(*call_id),
            refused: Refused::Expiry,
        },
        PlanEvent::Proposed { .. }
        | PlanEvent::Amended { .. }
        | PlanEvent::Voted { .. }
        | PlanEvent::Superseded {}
        | PlanEvent::StepStarted { .. }
        | PlanEvent::StepEnded { .. } => return vec![],
    };
    let wake = fact.turn_id.map(|turn| Reaction::AnswerTurn { turn, cause: fact.event_id });
    [answer].into_iter().chain(wake).collect()
}
