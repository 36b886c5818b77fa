//! Reactions: fact in, commands out. Pure, and safe to repeat: each command names what it answers.

mod approval_closed;
mod plan_resolved;
mod policy_set;
mod turn_closed;

use uuid::Uuid;

use crate::event::Event;
use crate::fact::Fact;
use crate::ids::{ApprovalId, CallId, TurnId};
use crate::policy::KillSwitch;
use crate::tool_call::{EditedInput, Refused};

/// A command that follows from a fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// The call's approval was given.
    ClearCall {
        /// The call.
        call: CallId,
        /// The approval.
        approval: ApprovalId,
        /// What it runs with instead.
        edited: Option<EditedInput>,
    },
    /// The call's approval was refused.
    RefuseCall {
        /// The call.
        call: CallId,
        /// The approval.
        approval: ApprovalId,
        /// By whom.
        refused: Refused,
    },
    /// Something that the turn waits for was answered.
    AnswerTurn {
        /// The turn.
        turn: TurnId,
        /// The answer's fact.
        cause: Uuid,
    },
    /// What runs in the workspace and is stopped by this is cancelled.
    StopCalls {
        /// What is stopped.
        switch: KillSwitch,
    },
    /// The turn before it has ended.
    BeginTurn {
        /// The turn.
        turn: TurnId,
    },
}

/// What follows from a fact, in the order in which it is to be done.
pub fn react(fact: &Fact, event: &Event) -> Vec<Reaction> {
    match event {
        Event::Approval(event) => approval_closed::react(fact, event),
        Event::Conversation(event) => turn_closed::react(event),
        Event::Policy(event) => policy_set::react(event),
        Event::Plan(event) => plan_resolved::react(fact, event),
        Event::Workspace(_) | Event::ApiKey(_) | Event::Agent(_) | Event::Turn(_) | Event::ToolCall(_) => {
            vec![]
        }
    }
}
