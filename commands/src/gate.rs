//! The facts that the decision point is given, gathered in one place for everybody who asks it.

use oxagen_domain::KeyLimits;
use oxagen_domain::capability::{Capability, Surface, with_defaults};
use oxagen_domain::policy::{
    Authority, Explanation, PlanStanding, Policy, Question, Verdict, explain, judge,
};
use serde_json::Value;

/// By whose authority, from where and under which policy a call is judged.
pub(crate) struct Gate<'a> {
    pub(crate) authority: Authority,
    pub(crate) limits: &'a KeyLimits,
    pub(crate) surface: Surface,
    pub(crate) plan: PlanStanding,
    pub(crate) policy: &'a Policy,
}

impl Gate<'_> {
    /// Judges a call; its input has passed the schema.
    pub(crate) fn judge(&self, tool: &Capability, input: &Value) -> Verdict {
        self.ask(tool, input, judge)
    }

    /// The same, with how the decision comes about.
    pub(crate) fn explain(&self, tool: &Capability, input: &Value) -> Explanation {
        self.ask(tool, input, explain)
    }

    fn ask<T>(&self, tool: &Capability, input: &Value, decide: fn(&Question<'_>) -> T) -> T {
        let completed = with_defaults(tool, input);
        decide(&Question {
            authority: self.authority,
            limits: self.limits,
            surface: self.surface,
            subject: tool.into(),
            input,
            completed: &completed,
            plan: self.plan.clone(),
            policy: self.policy,
        })
    }
}
