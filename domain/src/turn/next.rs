//! What comes next in a turn: a pure question over the turn and the calls of its current step.

use chrono::{DateTime, Utc};

use super::{Phase, StepPhase, Turn};
use crate::ids::CallId;
use crate::tool_call::ToolCall;

/// Attempts of one step before the turn gives up.
pub const MAX_ATTEMPTS: u32 = 4;

/// What a runner does now.
#[derive(Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it has ended, or waits.
    Rest,
    /// Ask the model.
    CallModel {
        /// From 1.
        step: u32,
        /// From 1.
        attempt: u32,
    },
    /// Run these calls, all at once.
    RunCalls(Vec<CallId>),
    /// Let go of everything until one of these is answered.
    Pause(Vec<CallId>),
    /// It has answered.
    Complete,
    /// It cannot go on.
    Fail {
        /// Stable.
        code: String,
        /// What was wrong and what to do.
        message: String,
    },
    /// Cancel what is open, and end.
    Cancel,
}

impl Turn {
    /// What comes next. `calls` are those of the current step, as loaded.
    pub fn next(&self, calls: &[(CallId, ToolCall)], now: DateTime<Utc>) -> Next {
        match self.phase {
            Phase::Absent | Phase::Completed | Phase::Failed | Phase::Cancelled => return Next::Rest,
            Phase::Queued | Phase::Running | Phase::Paused if self.cancel.is_some() => return Next::Cancel,
            Phase::Queued | Phase::Paused => return Next::Rest,
            Phase::Running => {}
        }
        if let Some(failure) = self.over_budget(now) {
            return failure;
        }
        let Some(step) = &self.step else {
            return Next::CallModel { step: 1, attempt: 1 };
        };
        match &step.phase {
            StepPhase::Calling if step.attempt < MAX_ATTEMPTS => {
                Next::CallModel { step: step.number, attempt: step.attempt + 1 }
            }
            StepPhase::Calling => Next::Fail {
                code: "model_interrupted".to_owned(),
                message: format!("step {} was interrupted {MAX_ATTEMPTS} times", step.number),
            },
            StepPhase::Failed(failure) if failure.retryable && step.attempt < MAX_ATTEMPTS => {
                Next::CallModel { step: step.number, attempt: step.attempt + 1 }
            }
            StepPhase::Failed(failure) => {
                Next::Fail { code: failure.code.clone(), message: failure.message.clone() }
            }
            StepPhase::Answered(ids) if ids.is_empty() => Next::Complete,
            StepPhase::Answered(_) => self.after_calls(step.number, calls),
        }
    }

    fn after_calls(&self, step: u32, calls: &[(CallId, ToolCall)]) -> Next {
        let those = |wanted: fn(&ToolCall) -> bool| -> Vec<CallId> {
            calls.iter().filter(|(_, call)| wanted(call)).map(|(id, _)| *id).collect()
        };
        let runnable = those(|call| !call.is_settled() && !call.is_held());
        if !runnable.is_empty() {
            return Next::RunCalls(runnable);
        }
        let held = those(ToolCall::is_held);
        if !held.is_empty() {
            return Next::Pause(held);
        }
        let budget = self.spec.as_ref().map(|spec| spec.budget).unwrap_or_default();
        if step >= budget.max_steps {
            return over("budget_steps", "steps", u64::from(budget.max_steps));
        }
        if self.tool_calls > budget.max_tool_calls {
            return over("budget_tool_calls", "tool calls", u64::from(budget.max_tool_calls));
        }
        Next::CallModel { step: step + 1, attempt: 1 }
    }

    fn over_budget(&self, now: DateTime<Utc>) -> Option<Next> {
        let budget = self.spec.as_ref()?.budget;
        if let Some(limit) = budget.max_wall_seconds {
            let ran = (now - self.started_at?).num_seconds();
            if ran >= i64::try_from(limit).unwrap_or(i64::MAX) {
                return Some(over("budget_wall_seconds", "seconds", limit));
            }
        }
        let finished =
            matches!(self.step.as_ref().map(|s| &s.phase), Some(StepPhase::Answered(c)) if c.is_empty());
        match budget.max_tokens {
            Some(limit) if self.usage.total() >= limit && !finished => {
                Some(over("budget_tokens", "tokens", limit))
            }
            Some(_) | None => None,
        }
    }
}

fn over(code: &str, what: &str, limit: u64) -> Next {
    let message =
        format!("the turn used up its budget of {limit} {what}: start another with a larger budget");
    Next::Fail { code: code.to_owned(), message }
}
