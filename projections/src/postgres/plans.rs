//! `agent.plans` and `agent.plan_steps`: what agents put to people, and how its steps stand. Fed by plans; read by the
//! gateway and by people. Each version of a plan has rows of its own for its steps.

use chrono::{DateTime, Utc};
use oxagen_domain::plan::{PlanEvent, PlanStep, StepStatus};
use oxagen_domain::{CallId, UserId, derive};
use serde_json::{Value, json};
use uuid::Uuid;

use super::source::Source;
use crate::table::{Rows, table};
use crate::word::word;

table! {
    /// A plan.
    Plan in "agent.plans" {
        conversation_id: Uuid, turn_id: Uuid, call_id: Uuid, title: String, rationale: String, version: i32,
        status: String, requested_by: Uuid, proposed_at: DateTime<Utc>, expires_at: DateTime<Utc>, needed: i32,
        given: i32, resolved_at: DateTime<Utc> => status,
        resolved_by_user_id: Uuid => status, note: String => status,
    }
}

table! {
    /// A step of one version of a plan.
    Step in "agent.plan_steps" by plan_id {
        plan_id: Uuid, version: i32, position: i32, step_id: String, summary: String, intent: String,
        capability: String, input: Value, depends_on: Value, status: String, call_id: Uuid,
    }
}

/// What a batch changes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Plans {
    pub(crate) plans: Rows<Plan>,
    pub(crate) steps: Rows<Step>,
}

impl Plans {
    /// Takes in what happened to a plan.
    pub(super) fn take(&mut self, source: Source<'_>, event: &PlanEvent) {
        match event {
            PlanEvent::Proposed { spec, steps, at, expires_at } => {
                let row = self.plans.at(source.fact, source.id);
                row.conversation_id = Some(spec.conversation_id.0);
                row.turn_id = Some(spec.turn_id.0);
                row.call_id = Some(spec.call_id.0);
                row.title = Some(spec.title.clone());
                row.rationale.clone_from(&spec.rationale);
                row.version = Some(1);
                row.requested_by = Some(spec.requested_by.0);
                row.proposed_at = Some(*at);
                row.expires_at = *expires_at;
                row.needed = Some(spec.terms.needed.cast_signed());
                row.given = Some(0);
                row.stands("proposed");
                self.add(source, 1, steps);
            }
            PlanEvent::Amended { version, steps, kept, expires_at, .. } => {
                let row = self.plans.at(source.fact, source.id);
                row.version = Some(version.cast_signed());
                row.expires_at = *expires_at;
                row.given = Some(0);
                row.stands("proposed");
                self.add(source, *version, steps);
                for (step, used) in kept {
                    self.step(source, (*version, step), used.call_id, used.status);
                }
            }
            PlanEvent::Approved { by, at, note, .. } => self.resolved(source, "approved", (*by, *at), note),
            PlanEvent::Rejected { by, at, note, .. } => self.resolved(source, "rejected", (*by, *at), note),
            PlanEvent::Voted { given, .. } => {
                self.plans.at(source.fact, source.id).given = Some(given.cast_signed());
            }
            PlanEvent::Expired { .. } => self.closed(source, "expired"),
            PlanEvent::Superseded {} => self.closed(source, "superseded"),
            PlanEvent::StepStarted { version, step_id, call_id } => {
                self.step(source, (*version, step_id), *call_id, StepStatus::Running);
            }
            PlanEvent::StepEnded { version, step_id, call_id, status } => {
                self.step(source, (*version, step_id), *call_id, *status);
            }
        }
    }

    fn add(&mut self, source: Source<'_>, version: u32, steps: &[PlanStep]) {
        for (nth, step) in steps.iter().enumerate() {
            let row = self.steps.at(source.fact, row_of(source.id, version, &step.id));
            row.plan_id = Some(source.id);
            row.version = Some(version.cast_signed());
            row.position = i32::try_from(nth).ok();
            row.step_id = Some(step.id.clone());
            row.summary = Some(step.summary.clone());
            row.intent = Some(step.intent.clone());
            row.capability.clone_from(&step.capability);
            row.input.clone_from(&step.input);
            row.depends_on = Some(json!(step.depends_on));
            row.status = word(&StepStatus::Pending);
        }
    }

    fn step(&mut self, source: Source<'_>, (version, step): (u32, &str), call: CallId, status: StepStatus) {
        let row = self.steps.at(source.fact, row_of(source.id, version, step));
        row.plan_id = Some(source.id);
        row.call_id = Some(call.0);
        row.status = word(&status);
    }

    /// By nobody.
    fn closed(&mut self, source: Source<'_>, status: &str) {
        let row = self.plans.at(source.fact, source.id);
        row.stands(status);
        row.resolved_at = source.at();
    }

    fn resolved(
        &mut self,
        source: Source<'_>,
        status: &str,
        (by, at): (UserId, DateTime<Utc>),
        note: &Option<String>,
    ) {
        let row = self.plans.at(source.fact, source.id);
        row.stands(status);
        row.resolved_at = Some(at);
        row.resolved_by_user_id = Some(by.0);
        row.note.clone_from(note);
    }
}

impl Plan {
    fn stands(&mut self, status: &str) {
        self.status = Some(status.to_owned());
        (self.resolved_at, self.resolved_by_user_id, self.note) = (None, None, None);
    }
}

fn row_of(plan: Uuid, version: u32, step: &str) -> Uuid {
    derive(plan, &format!("step/{version}/{step}"))
}
