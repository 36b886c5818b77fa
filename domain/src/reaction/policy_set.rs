//! A policy came into force: what its kill switch is to cancel ends.

use super::Reaction;
use crate::policy::PolicyEvent;

pub(super) fn react(event: &PolicyEvent) -> Vec<Reaction> {
    match event {
        PolicyEvent::Set { document } if document.kill_switch.cancel => {
            vec![Reaction::StopCalls { switch: document.kill_switch.clone() }]
        }
        PolicyEvent::Set { .. }
        | PolicyEvent::ApprovalRemembered { .. }
        | PolicyEvent::ApprovalForgotten { .. } => vec![],
    }
}
