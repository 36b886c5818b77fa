//! Live frames of a step: text on its way to a screen, each piece with its offset.

use oxagen_domain::{CallId, ConversationId, Scope, TurnId};
use oxagen_jetstream::live::{Frame, FrameKind, LivePublisher};
use oxagen_model::Delta;
use oxagen_sandbox::Chunk;

/// Where the frames of a step, or of a call in it, belong.
#[derive(Clone)]
pub(crate) struct Frames {
    pub(crate) live: LivePublisher,
    pub(crate) scope: Scope,
    pub(crate) conversation: ConversationId,
    pub(crate) turn: TurnId,
    /// The version of the turn that they follow.
    pub(crate) version: u64,
    pub(crate) step: u32,
    /// The attempt of the step, or for a tool's output of the call.
    pub(crate) attempt: u32,
}

impl Frames {
    fn send(&self, offset: u64, kind: FrameKind) {
        let frame = Frame {
            conversation_id: self.conversation,
            turn_id: self.turn,
            turn_version: self.version,
            step: self.step,
            attempt: self.attempt,
            offset,
            kind,
        };
        self.live.send(self.scope, frame);
    }

    /// What a running tool printed.
    pub(crate) fn output(&self, call_id: CallId, chunk: Chunk) {
        let channel = match chunk.channel {
            oxagen_sandbox::Channel::Stdout => oxagen_jetstream::live::Channel::Stdout,
            oxagen_sandbox::Channel::Stderr => oxagen_jetstream::live::Channel::Stderr,
        };
        self.send(chunk.offset, FrameKind::ToolCallOutput { call_id, channel, text: chunk.text });
    }
}

/// The deltas of one model call, counted.
pub(crate) struct Deltas {
    frames: Frames,
    text: u64,
    reasoning: u64,
    arguments: Vec<u64>,
}

impl Deltas {
    pub(crate) fn new(frames: Frames) -> Self {
        Self { frames, text: 0, reasoning: 0, arguments: Vec::new() }
    }

    /// Sends a piece of the model's answer.
    pub(crate) fn send(&mut self, delta: Delta) {
        match delta {
            Delta::Text(text) => {
                let offset = count(&mut self.text, &text);
                self.frames.send(offset, FrameKind::TextDelta { text });
            }
            Delta::Reasoning(text) => {
                let offset = count(&mut self.reasoning, &text);
                self.frames.send(offset, FrameKind::ReasoningDelta { text });
            }
            Delta::CallStart { .. } => {}
            Delta::CallArguments { index, text } => {
                let call_id = CallId::of_step(self.frames.turn, self.frames.step, index);
                if self.arguments.len() <= index {
                    self.arguments.resize(index + 1, 0);
                }
                let offset = count(&mut self.arguments[index], &text);
                self.frames.send(offset, FrameKind::ToolCallInputDelta { call_id, text });
            }
        }
    }
}

/// The bytes before this piece.
fn count(so_far: &mut u64, text: &str) -> u64 {
    let before = *so_far;
    *so_far += text.len() as u64;
    before
}
