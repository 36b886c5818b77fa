//! A tool call and its ledger:
//! `requested → (held →) cleared → started(attempt) → completed | failed | cancelled | in_doubt`, or `denied`.
//! A call in doubt is settled by a person, or by the late result of the attempt that was really running.
//!
//! `started` is committed before the effect and the end after it. Whoever finds a call `started` by a runner that is
//! gone starts it again as a higher attempt when it may run twice, and else marks it `in_doubt`. Only the attempt that
//! is current can end a call; a late result of the attempt that was in doubt settles it. Every call ends exactly once.

mod decide;
mod record;
mod settle;
mod told;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::body::{Body, Digest};
use crate::capability::{Effect, Flaw, Risk, Surface};
use crate::ids::{
    ApprovalId, CallId, ConversationId, ExecutionId, MessageId, PlanId, RunnerId, StepId, ToolVersionId,
    TurnId, UserId,
};
use crate::key_limits::KeyLimits;
use crate::role::Role;

pub use decide::{Ending, Refused, Ruling, ToolCallCommand, ToolCallRefusal};
pub use record::{CallRecord, CallStatus};
pub use settle::Settlement;
pub use told::excerpt;

/// What a call is, fixed when it is requested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallSpec {
    /// The call.
    pub call_id: CallId,
    /// What is called; for a name that no tool has, the name as the model gave it.
    pub capability: String,
    /// The tool's version; nil for a name that no tool has.
    pub tool_version_id: ToolVersionId,
    /// Where it comes from.
    pub surface: Surface,
    /// What it changes.
    pub effect: Effect,
    /// How much it can break.
    pub risk: Risk,
    /// With what.
    pub input: Body,
    /// Digest of the input's canonical form; checked again before the effect.
    pub input_digest: Digest,
    /// The execution that it belongs to.
    pub execution_id: ExecutionId,
    /// The step of that execution.
    pub execution_step_id: StepId,
    /// Its place in a turn; none for a call outside one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// By whose authority.
    pub requested_by: UserId,
    /// That person's role.
    pub role: Role,
    /// The limits of the key with which it was asked for.
    #[serde(default, skip_serializing_if = "KeyLimits::is_unlimited")]
    pub limits: KeyLimits,
    /// The step of an approved plan that it carries out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlannedStep>,
}

/// The step of a plan that a call carries out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    /// The plan.
    pub plan_id: PlanId,
    /// The step.
    pub step_id: String,
}

/// Arguments that a person put in place of those that were asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EditedInput {
    /// The arguments.
    pub input: Body,
    /// The digest of their canonical form.
    pub input_digest: Digest,
}

/// How a person settled a call whose outcome was unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettledAs {
    /// It happened.
    Done,
    /// It did not happen.
    NotDone,
    /// It runs once more, whatever happened before.
    RunAgain,
}

/// A call's place in a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The turn.
    pub turn_id: TurnId,
    /// The message that shows the call.
    pub message_id: MessageId,
    /// The step, from 1.
    pub step: u32,
    /// The provider's own identifier for the call.
    pub provider_call_id: String,
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallError {
    /// Stable, such as `invalid_input` or `sandbox_unavailable`.
    pub code: String,
    /// What was wrong and what to do.
    pub message: String,
    /// What the input's schema did not allow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flaws: Vec<Flaw>,
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// It was never requested.
    #[default]
    Absent,
    /// A person is asked.
    Held(ApprovalId),
    /// It may start.
    Cleared,
    /// An attempt runs, or ran when its runner died.
    Started(RunnerId),
    /// It has ended, or its outcome is unknown.
    Ended(CallStatus),
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What it is; none before it is requested.
    pub spec: Option<CallSpec>,
    /// Where it stands.
    pub standing: Standing,
    /// When it was requested.
    pub requested_at: DateTime<Utc>,
    /// When the current attempt started.
    pub started_at: Option<DateTime<Utc>>,
    /// The current attempt; 0 before the first.
    pub attempt: u32,
    /// The policy rule that decided last.
    pub rule: String,
    /// The approval that it asked for, if any.
    pub approval: Option<ApprovalId>,
    /// What the model is told of its end.
    pub told: Option<String>,
    /// The arguments as they were asked for, if a person put others in their place.
    #[serde(default)]
    pub original: Option<Body>,
    /// How a person settled it last, and who.
    #[serde(default)]
    pub settled: Option<(SettledAs, UserId)>,
}

/// What has happened to a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ToolCallEvent {
    /// Somebody asked for it.
    Requested {
        /// What.
        spec: CallSpec,
        /// When.
        at: DateTime<Utc>,
    },
    /// A person is asked first.
    Held {
        /// The approval.
        approval_id: ApprovalId,
        /// The rule that asks.
        rule: String,
    },
    /// It may start.
    Cleared {
        /// The rule that decided.
        rule: String,
        /// The approval that clears it, if it was held.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval_id: Option<ApprovalId>,
        /// What it runs with instead, if a person edited it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edited: Option<EditedInput>,
    },
    /// A person settled it, as its outcome was unknown. What follows from that comes in the same commit.
    Settled {
        /// As what.
        outcome: SettledAs,
        /// Who.
        by: UserId,
        /// In their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// When.
        at: DateTime<Utc>,
    },
    /// An attempt starts; committed before the effect.
    Started {
        /// From 1.
        attempt: u32,
        /// Who runs it.
        runner_id: RunnerId,
        /// When.
        at: DateTime<Utc>,
    },
    /// It succeeded.
    Completed {
        /// Its result.
        output: Body,
        /// What the model is shown of a large result: head, tail and a note.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        excerpt: Option<String>,
        /// The analytic row.
        record: CallRecord,
    },
    /// It failed.
    Failed {
        /// Why.
        error: CallError,
        /// The analytic row.
        record: CallRecord,
    },
    /// It was cancelled.
    Cancelled {
        /// Why.
        reason: String,
        /// The analytic row.
        record: CallRecord,
    },
    /// It may not run.
    Denied {
        /// Who said so, and in which words.
        refused: Refused,
        /// The analytic row.
        record: CallRecord,
    },
    /// Nobody knows whether it happened.
    InDoubt {
        /// Why.
        reason: String,
        /// The analytic row.
        record: CallRecord,
    },
}

aggregate!(ToolCall as "tool_call": ToolCallCommand => ToolCallEvent or ToolCallRefusal);
event_kinds!(ToolCallEvent {
    Requested => "tool_call.requested",
    Held => "tool_call.held",
    Cleared => "tool_call.cleared",
    Settled => "tool_call.settled",
    Started => "tool_call.started",
    Completed => "tool_call.completed",
    Failed => "tool_call.failed",
    Cancelled => "tool_call.cancelled",
    Denied => "tool_call.denied",
    InDoubt => "tool_call.in_doubt",
});

impl ToolCall {
    fn evolve(&mut self, event: ToolCallEvent) {
        self.told = told::told(&event, self.settled).or(self.told.take());
        match event {
            ToolCallEvent::Requested { spec, at } => {
                self.spec = Some(spec);
                self.requested_at = at;
            }
            ToolCallEvent::Held { approval_id, rule } => {
                self.standing = Standing::Held(approval_id);
                self.approval = Some(approval_id);
                self.rule = rule;
            }
            ToolCallEvent::Cleared { rule, edited, .. } => {
                self.standing = Standing::Cleared;
                self.rule = rule;
                if let (Some(edited), Some(spec)) = (edited, &mut self.spec) {
                    self.original = Some(std::mem::replace(&mut spec.input, edited.input));
                    spec.input_digest = edited.input_digest;
                }
            }
            ToolCallEvent::Settled { outcome, by, .. } => self.settled = Some((outcome, by)),
            ToolCallEvent::Started { attempt, runner_id, at } => {
                self.standing = Standing::Started(runner_id);
                self.attempt = attempt;
                self.started_at = Some(at);
            }
            ToolCallEvent::Completed { record, .. }
            | ToolCallEvent::Failed { record, .. }
            | ToolCallEvent::Cancelled { record, .. }
            | ToolCallEvent::Denied { record, .. }
            | ToolCallEvent::InDoubt { record, .. } => self.standing = Standing::Ended(record.status),
        }
    }

    /// Whether it has ended, with an unknown outcome perhaps.
    pub fn has_ended(&self) -> bool {
        matches!(self.standing, Standing::Ended(_))
    }

    /// Whether its turn has no business with it any more: the model can be told of its end, or was told that its outcome
    /// is unknown and a person lets it run again.
    pub fn is_settled(&self) -> bool {
        self.has_ended() || self.settled.is_some()
    }

    /// Whether the model will have to be told something else of it than it was.
    pub fn is_open_question(&self) -> bool {
        self.standing == Standing::Ended(CallStatus::InDoubt) || self.is_settled() && !self.has_ended()
    }

    /// Whether it waits for a person.
    pub fn is_held(&self) -> bool {
        matches!(self.standing, Standing::Held(_))
    }
}

#[cfg(test)]
mod tests;
