//! What a plan can be told, and what then happens.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Plan, PlanEvent, PlanSpec, PlanStatus, PlanStep, StepStatus, StepUse, flaws};
use crate::body::Digest;
use crate::capability::Flaw;
use crate::ids::{CallId, UserId};
use crate::policy::TermsRefusal;
use crate::role::Role;

/// A person's answer to a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanAnswer {
    /// Whether it was approved.
    pub approve: bool,
    /// Whose.
    pub by: UserId,
    /// When.
    pub at: DateTime<Utc>,
    /// In their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What a plan can be told.
#[derive(Clone, Debug)]
pub enum PlanCommand {
    /// Put it to a person.
    Propose {
        /// What it is.
        spec: PlanSpec,
        /// Its steps; they have been checked.
        steps: Vec<PlanStep>,
        /// When.
        at: DateTime<Utc>,
        /// When it closes by itself.
        expires_at: DateTime<Utc>,
    },
    /// A person answers.
    Answer {
        /// The version that the person saw; none for the one that counts.
        version: Option<u32>,
        /// What, who, when, in which words.
        answer: PlanAnswer,
        /// The person's role.
        role: Role,
    },
    /// A person changes the steps.
    Amend {
        /// The version that the person saw; none for the one that counts.
        version: Option<u32>,
        /// The steps from now on.
        steps: Vec<PlanStep>,
        /// When the new version closes by itself.
        expires_at: DateTime<Utc>,
        /// Who, when, in which words.
        answer: PlanAnswer,
        /// The person's role.
        role: Role,
    },
    /// The timer rang.
    Expire {
        /// When.
        now: DateTime<Utc>,
    },
    /// Its turn ends.
    Supersede,
    /// A call carries out the step that grants it.
    Start {
        /// The call.
        call_id: CallId,
        /// What it calls.
        capability: String,
        /// With what.
        input_digest: Digest,
    },
    /// That call has ended.
    End {
        /// The step.
        step_id: String,
        /// The call.
        call_id: CallId,
        /// How.
        status: StepStatus,
    },
}

/// Why a plan said no.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    /// It was never proposed.
    #[error("there is no such plan")]
    Unknown,
    /// It has another version by now.
    #[error("this plan is at version {current}, not {asked}: look at it and answer again")]
    OtherVersion {
        /// The one that was answered.
        asked: u32,
        /// The one that counts.
        current: u32,
    },
    /// It wants no answer.
    #[error("this plan is {} already: {}", .0.name(), .0.what_to_do())]
    Closed(PlanStatus),
    /// The steps do not fit.
    #[error("the steps do not fit")]
    Steps(Vec<Flaw>),
    /// A note has at most 4,000 characters.
    #[error("a note has at most 4000 characters")]
    Note,
    /// This person has answered something else.
    #[error("you have answered already: approved; an answer cannot be taken back")]
    Answered,
    /// Not this person.
    #[error(transparent)]
    Terms(#[from] TermsRefusal),
}

impl Plan {
    pub(super) fn decide(&self, command: PlanCommand) -> Result<Vec<PlanEvent>, PlanRefusal> {
        if let PlanCommand::Propose { spec, steps, at, expires_at } = command {
            let (known, expires_at) = (self.spec.is_some(), Some(expires_at));
            return Ok(if known {
                vec![]
            } else {
                vec![PlanEvent::Proposed { spec, steps, at, expires_at }]
            });
        }
        let spec = self.spec.as_ref().ok_or(PlanRefusal::Unknown)?;
        match command {
            PlanCommand::Propose { .. } => Ok(vec![]),
            PlanCommand::Answer { version, answer, role } => self.answer(spec, version, answer, role),
            PlanCommand::Amend { version, steps, expires_at, answer, role } => {
                self.amend(spec, version, (steps, expires_at), (answer, role))
            }
            PlanCommand::Expire { now } => {
                Ok(self.is_over(now).then(|| self.expired(spec)).into_iter().collect())
            }
            PlanCommand::Supersede => {
                Ok(if self.status == PlanStatus::Proposed { vec![PlanEvent::Superseded {}] } else { vec![] })
            }
            PlanCommand::Start { call_id, capability, input_digest } => {
                let step = self.grants(&capability, &input_digest);
                let started = |step: &str| PlanEvent::StepStarted {
                    version: self.version,
                    step_id: step.to_owned(),
                    call_id,
                };
                Ok(step.map(started).into_iter().collect())
            }
            PlanCommand::End { step_id, call_id, status } => {
                let open = self
                    .uses
                    .get(&step_id)
                    .is_some_and(|used| used.call_id == call_id && used.status != status);
                let version = self.version;
                Ok(if open {
                    vec![PlanEvent::StepEnded { version, step_id, call_id, status }]
                } else {
                    vec![]
                })
            }
        }
    }

    /// A repeat of the same person's answer gets its receipt, whatever has become of the plan since.
    fn answer(
        &self,
        spec: &PlanSpec,
        version: Option<u32>,
        answer: PlanAnswer,
        role: Role,
    ) -> Result<Vec<PlanEvent>, PlanRefusal> {
        has_room(&answer)?;
        self.is_at(version)?;
        let before = self.answer_of(answer.by);
        if before.is_some_and(|made| made.approve == answer.approve) {
            return Ok(vec![]);
        }
        if self.status != PlanStatus::Proposed {
            return Err(PlanRefusal::Closed(self.status));
        }
        if self.is_over(answer.at) {
            return Ok(vec![self.expired(spec)]);
        }
        if before.is_some() {
            return Err(PlanRefusal::Answered);
        }
        spec.terms.admit(spec.requested_by, (answer.by, role), answer.approve)?;
        let (version, call_id, PlanAnswer { approve, by, at, note }) = (self.version, spec.call_id, answer);
        let (given, needed) = (self.given() + 1, spec.terms.needed);
        Ok(vec![match approve {
            false => PlanEvent::Rejected { version, call_id, by, at, note },
            true if given < needed => PlanEvent::Voted { version, by, at, note, given, needed },
            true => PlanEvent::Approved { version, call_id, by, at, note },
        }])
    }

    fn amend(
        &self,
        spec: &PlanSpec,
        version: Option<u32>,
        (steps, expires_at): (Vec<PlanStep>, DateTime<Utc>),
        (answer, role): (PlanAnswer, Role),
    ) -> Result<Vec<PlanEvent>, PlanRefusal> {
        has_room(&answer)?;
        spec.terms.admit(spec.requested_by, (answer.by, role), false)?;
        self.is_at(version)?;
        match self.status {
            PlanStatus::Rejected | PlanStatus::Expired | PlanStatus::Superseded => {
                return Err(PlanRefusal::Closed(self.status));
            }
            PlanStatus::Proposed if self.is_over(answer.at) => return Ok(vec![self.expired(spec)]),
            PlanStatus::Proposed | PlanStatus::Approved => {}
        }
        let flaws = flaws(&steps);
        if !flaws.is_empty() {
            return Err(PlanRefusal::Steps(flaws));
        }
        // What has been begun cannot be unplanned; a step that was changed is a new one.
        let same = |step: &PlanStep| self.steps.contains(step);
        let kept: BTreeMap<String, StepUse> = steps
            .iter()
            .filter(|step| same(step))
            .filter_map(|step| Some((step.id.clone(), *self.uses.get(&step.id)?)))
            .collect();
        let PlanAnswer { by, at, note, .. } = answer;
        let (version, expires_at) = (self.version + 1, Some(expires_at));
        Ok(vec![PlanEvent::Amended { version, steps, kept, expires_at, by, at, note }])
    }

    /// Whether it still wants an answer and its time is up.
    fn is_over(&self, now: DateTime<Utc>) -> bool {
        self.status == PlanStatus::Proposed && self.expires_at.is_some_and(|at| now >= at)
    }

    fn expired(&self, spec: &PlanSpec) -> PlanEvent {
        PlanEvent::Expired { version: self.version, call_id: spec.call_id }
    }

    fn is_at(&self, version: Option<u32>) -> Result<(), PlanRefusal> {
        match version {
            Some(asked) if asked != self.version => {
                Err(PlanRefusal::OtherVersion { asked, current: self.version })
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn has_room(answer: &PlanAnswer) -> Result<(), PlanRefusal> {
    let long = answer.note.as_ref().is_some_and(|note| note.chars().count() > 4000);
    if long { Err(PlanRefusal::Note) } else { Ok(()) }
}
