//! What an approval can be told, and what then happens.

use super::{
    Approval, ApprovalCommand, ApprovalEvent, ApprovalQuestion, ApprovalRefusal, Decision, PersonsAnswer,
};

impl Approval {
    pub(super) fn decide(&self, command: ApprovalCommand) -> Result<Vec<ApprovalEvent>, ApprovalRefusal> {
        if let ApprovalCommand::Request(question) = command {
            let asked = self.question.is_some();
            return Ok(if asked { vec![] } else { vec![ApprovalEvent::Requested { question }] });
        }
        let question = self.question.as_ref().ok_or(ApprovalRefusal::Unknown)?;
        let (call_id, expires_at) = (question.call_id, question.expires_at);
        match command {
            ApprovalCommand::Answer(answer) => self.answer(question, answer),
            ApprovalCommand::Expire { now } if self.resolution.is_none() && now >= expires_at => {
                Ok(vec![ApprovalEvent::Expired { call_id }])
            }
            ApprovalCommand::Supersede if self.resolution.is_none() => {
                Ok(vec![ApprovalEvent::Superseded { call_id }])
            }
            ApprovalCommand::Expire { .. } | ApprovalCommand::Supersede | ApprovalCommand::Request(_) => {
                Ok(vec![])
            }
        }
    }

    /// A repeat of one's own answer gets its receipt, whatever has become of the question since.
    fn answer(
        &self,
        question: &ApprovalQuestion,
        answer: PersonsAnswer,
    ) -> Result<Vec<ApprovalEvent>, ApprovalRefusal> {
        if answer.note.as_ref().is_some_and(|note| note.chars().count() > 4000) {
            return Err(ApprovalRefusal::Note);
        }
        let edited = answer.edited.as_ref().map(|edited| &edited.input_digest);
        let before = self.answer_of(answer.by);
        if before.is_some_and(|b| b.decision == answer.decision && b.edited.as_ref() == edited) {
            return Ok(vec![]);
        }
        if let Some(resolution) = &self.resolution {
            return Err(ApprovalRefusal::Closed(resolution.clone()));
        }
        let call_id = question.call_id;
        if answer.at >= question.expires_at {
            return Ok(vec![ApprovalEvent::Expired { call_id }]);
        }
        if let Some(before) = before {
            return Err(ApprovalRefusal::Answered(before.decision));
        }
        may_answer(question, &answer)?;
        let PersonsAnswer { decision, by, at, note, edited, .. } = answer;
        let (given, needed) = (self.given() + 1, question.terms.needed);
        Ok(vec![match decision {
            Decision::Deny => ApprovalEvent::Denied { call_id, by, at, note },
            Decision::Approve if given < needed => {
                ApprovalEvent::Voted { call_id, by, at, note, given, needed }
            }
            Decision::Approve => ApprovalEvent::Approved { call_id, by, at, note, edited },
        }])
    }
}

fn may_answer(question: &ApprovalQuestion, answer: &PersonsAnswer) -> Result<(), ApprovalRefusal> {
    let terms = &question.terms;
    if answer.edited.is_some() && answer.decision == Decision::Deny {
        return Err(ApprovalRefusal::EditedDenial);
    }
    let approves = answer.decision == Decision::Approve;
    terms.admit(question.requested_by, (answer.by, answer.role), approves)?;
    if answer.edited.is_some() && terms.needed > 1 {
        return Err(ApprovalRefusal::EditedByMany(terms.needed));
    }
    Ok(())
}
