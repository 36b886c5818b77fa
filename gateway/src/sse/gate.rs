//! Which live frames a viewer is shown, and when: after the fact that they follow, before their text is a fact
//! itself, each byte once.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use oxagen_domain::tool_call::ToolCallEvent;
use oxagen_domain::turn::TurnEvent;
use oxagen_domain::{CallId, Event, Fact, TurnId};
use oxagen_jetstream::live::{Channel, Frame, FrameKind};

/// Frames that wait for their fact at most; the oldest are dropped.
const HELD: usize = 512;

/// What a viewer has seen of the conversation's turns.
#[derive(Default)]
pub(super) struct Gate {
    open: HashMap<TurnId, Seen>,
    ended: HashSet<TurnId>,
    /// The attempt of each call that was seen to start.
    attempts: HashMap<CallId, u32>,
    ended_calls: HashSet<CallId>,
    held: VecDeque<Arc<Frame>>,
}

/// What a viewer has seen of a turn that has not ended.
#[derive(Default)]
struct Seen {
    version: u64,
    /// Frames that follow an older version belong to an attempt that was withdrawn.
    since: u64,
    step: u32,
    attempt: u32,
    /// Whether the model is being asked.
    is_calling: bool,
    shown: HashMap<Text, u64>,
}

/// One text that grows.
#[derive(PartialEq, Eq, Hash)]
enum Text {
    Answer,
    Reasoning,
    Input(CallId),
    Output(CallId, Channel),
}

/// What to do with a frame.
enum Verdict {
    Show,
    Wait,
    Drop,
}

impl Gate {
    /// Takes in a fact; gives the frames that waited for it.
    pub(super) fn fact(&mut self, fact: &Fact) -> Vec<Arc<Frame>> {
        match fact.event() {
            Ok(Some(Event::Turn(event))) => {
                if let Some(turn) = fact.turn_id {
                    self.turn(turn, fact.aggregate_version, event);
                }
            }
            Ok(Some(Event::ToolCall(event))) => self.call(fact, &event),
            Ok(_) | Err(_) => return Vec::new(),
        }
        let waiting = std::mem::take(&mut self.held);
        waiting.into_iter().filter_map(|frame| self.frame(frame)).collect()
    }

    /// Takes in a frame; gives it back if it is to be shown now, without what was shown of it already.
    pub(super) fn frame(&mut self, frame: Arc<Frame>) -> Option<Arc<Frame>> {
        match self.judge(&frame) {
            Verdict::Show => self.rest(frame),
            Verdict::Wait => {
                if self.held.len() >= HELD {
                    self.held.pop_front();
                }
                self.held.push_back(frame);
                None
            }
            Verdict::Drop => None,
        }
    }

    /// Whether no turn that was seen to begin is still open.
    pub(super) fn is_quiet(&self) -> bool {
        self.open.is_empty()
    }

    fn turn(&mut self, turn: TurnId, version: u64, event: TurnEvent) {
        let seen = self.open.entry(turn).or_default();
        seen.version = version;
        match event {
            TurnEvent::StepStarted { step, attempt } => {
                (seen.step, seen.attempt, seen.is_calling) = (step, attempt, true);
                seen.shown.clear();
                if attempt > 1 {
                    seen.since = version;
                }
            }
            TurnEvent::TakenOver { .. } => {
                (seen.since, seen.is_calling) = (version, false);
                seen.shown.clear();
            }
            TurnEvent::StepCompleted { .. } | TurnEvent::StepFailed { .. } => seen.is_calling = false,
            TurnEvent::Completed { .. } | TurnEvent::Failed { .. } | TurnEvent::Cancelled { .. } => {
                self.open.remove(&turn);
                self.ended.insert(turn);
            }
            TurnEvent::Requested { .. }
            | TurnEvent::Started { .. }
            | TurnEvent::Claimed { .. }
            | TurnEvent::Paused { .. }
            | TurnEvent::Answered { .. }
            | TurnEvent::Resumed { .. }
            | TurnEvent::ModeSwitched { .. }
            | TurnEvent::CancelRequested { .. } => {}
        }
    }

    fn call(&mut self, fact: &Fact, event: &ToolCallEvent) {
        match event {
            ToolCallEvent::Completed { .. }
            | ToolCallEvent::Failed { .. }
            | ToolCallEvent::Cancelled { .. }
            | ToolCallEvent::Denied { .. }
            | ToolCallEvent::InDoubt { .. } => {
                self.ended_calls.extend(fact.aggregate_id.parse::<CallId>().ok());
            }
            // A later attempt withdraws what the one before has shown, and counts its bytes from 0.
            ToolCallEvent::Started { attempt, .. } => {
                let call = fact.aggregate_id.parse::<CallId>().ok();
                self.attempts.extend(call.map(|call| (call, *attempt)));
                if let Some(seen) = fact.turn_id.and_then(|turn| self.open.get_mut(&turn)) {
                    seen.shown.retain(|text, _| !matches!(text, Text::Output(id, _) if Some(*id) == call));
                }
            }
            ToolCallEvent::Requested { .. }
            | ToolCallEvent::Held { .. }
            | ToolCallEvent::Settled { .. }
            | ToolCallEvent::Cleared { .. } => {}
        }
    }

    fn judge(&self, frame: &Frame) -> Verdict {
        if self.ended.contains(&frame.turn_id) {
            return Verdict::Drop;
        }
        let Some(seen) = self.open.get(&frame.turn_id) else { return Verdict::Wait };
        if frame.turn_version > seen.version {
            return Verdict::Wait;
        }
        if frame.turn_version < seen.since {
            return Verdict::Drop;
        }
        let is_over = match &frame.kind {
            FrameKind::TextDelta { .. }
            | FrameKind::ReasoningDelta { .. }
            | FrameKind::ToolCallInputDelta { .. } => {
                !seen.is_calling || (frame.step, frame.attempt) != (seen.step, seen.attempt)
            }
            FrameKind::ToolCallOutput { call_id, .. } if self.ended_calls.contains(call_id) => true,
            // An attempt's output follows its start, which withdraws what the one before has printed.
            FrameKind::ToolCallOutput { call_id, .. } => {
                let started = self.attempts.get(call_id).copied().unwrap_or_default();
                if frame.attempt > started {
                    return Verdict::Wait;
                }
                frame.attempt < started
            }
        };
        if is_over { Verdict::Drop } else { Verdict::Show }
    }

    /// The part of a frame that was not shown yet: a newcomer gets the text so far, which may overlap what comes.
    fn rest(&mut self, mut frame: Arc<Frame>) -> Option<Arc<Frame>> {
        let seen = self.open.get_mut(&frame.turn_id)?;
        let shown = seen.shown.entry(Text::of(&frame.kind)).or_default();
        let end = frame.offset + frame.text().len() as u64;
        if end <= *shown {
            return None;
        }
        if frame.offset < *shown {
            let known = usize::try_from(*shown - frame.offset).unwrap_or(usize::MAX);
            let rest = Arc::make_mut(&mut frame);
            rest.offset = *shown;
            skip(&mut rest.kind, known);
        }
        *shown = end;
        Some(frame)
    }
}

impl Text {
    fn of(kind: &FrameKind) -> Self {
        match kind {
            FrameKind::TextDelta { .. } => Self::Answer,
            FrameKind::ReasoningDelta { .. } => Self::Reasoning,
            FrameKind::ToolCallInputDelta { call_id, .. } => Self::Input(*call_id),
            FrameKind::ToolCallOutput { call_id, channel, .. } => Self::Output(*call_id, *channel),
        }
    }
}

fn skip(kind: &mut FrameKind, bytes: usize) {
    match kind {
        FrameKind::TextDelta { text }
        | FrameKind::ReasoningDelta { text }
        | FrameKind::ToolCallInputDelta { text, .. }
        | FrameKind::ToolCallOutput { text, .. } => drop(text.drain(..text.ceil_char_boundary(bytes))),
    }
}

#[cfg(test)]
mod tests;
