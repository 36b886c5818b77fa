//! One piece of text on its way to a screen.

use oxagen_domain::{CallId, ConversationId, TurnId};
use serde::{Deserialize, Serialize};

/// A piece of text of a step that is under way. It is shown after the fact that made `turnVersion`, and dropped
/// when the step ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// The conversation.
    pub conversation_id: ConversationId,
    /// The turn.
    pub turn_id: TurnId,
    /// The version of the turn that it follows.
    pub turn_version: u64,
    /// The step, from 1.
    pub step: u32,
    /// The attempt at the step, from 1. A later attempt withdraws the frames of the ones before.
    pub attempt: u32,
    /// Bytes of text (UTF-8) that the same sort of text of this attempt had before this piece.
    pub offset: u64,
    /// What sort of text, and the text.
    #[serde(flatten)]
    pub kind: FrameKind,
}

/// What sort of text a frame carries. `type` is the name of the event that a screen gets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum FrameKind {
    /// The answer.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// The model's reasoning.
    ReasoningDelta {
        /// The piece.
        text: String,
    },
    /// A tool call's arguments, as JSON text.
    ToolCallInputDelta {
        /// The call.
        call_id: CallId,
        /// The piece.
        text: String,
    },
    /// What a running tool prints.
    ToolCallOutput {
        /// The call.
        call_id: CallId,
        /// Where it printed.
        channel: Channel,
        /// The piece.
        text: String,
    },
}

/// Where a running tool printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Frame {
    /// The piece of text.
    pub fn text(&self) -> &str {
        match &self.kind {
            FrameKind::TextDelta { text }
            | FrameKind::ReasoningDelta { text }
            | FrameKind::ToolCallInputDelta { text, .. }
            | FrameKind::ToolCallOutput { text, .. } => text,
        }
    }

    /// Takes in `next` if it is the very next piece of the same text; otherwise gives it back.
    pub fn absorb(&mut self, next: Self) -> Option<Self> {
        let end = self.offset + self.text().len() as u64;
        let same = self.turn_id == next.turn_id
            && self.turn_version == next.turn_version
            && self.step == next.step
            && self.attempt == next.attempt
            && self.kind.is_same_text(&next.kind);
        if !same || next.offset != end {
            return Some(next);
        }
        self.text_mut().push_str(next.text());
        None
    }

    /// The same text in frames of at most `limit` bytes each, cut at characters' edges. `limit` is at least 4.
    pub fn split(mut self, limit: usize) -> Vec<Self> {
        let mut frames = Vec::with_capacity(1);
        while self.text().len() > limit {
            let mut head = self.clone();
            let cut = self.text().floor_char_boundary(limit.max(4));
            head.text_mut().truncate(cut);
            self.text_mut().drain(..cut);
            self.offset += cut as u64;
            frames.push(head);
        }
        frames.push(self);
        frames
    }

    fn text_mut(&mut self) -> &mut String {
        match &mut self.kind {
            FrameKind::TextDelta { text }
            | FrameKind::ReasoningDelta { text }
            | FrameKind::ToolCallInputDelta { text, .. }
            | FrameKind::ToolCallOutput { text, .. } => text,
        }
    }
}

impl FrameKind {
    fn is_same_text(&self, other: &Self) -> bool {
        match self {
            Self::TextDelta { .. } => matches!(other, Self::TextDelta { .. }),
            Self::ReasoningDelta { .. } => matches!(other, Self::ReasoningDelta { .. }),
            Self::ToolCallInputDelta { call_id, .. } => {
                matches!(other, Self::ToolCallInputDelta { call_id: id, .. } if id == call_id)
            }
            Self::ToolCallOutput { call_id, channel, .. } => matches!(
                other,
                Self::ToolCallOutput { call_id: id, channel: at, .. } if id == call_id && at == channel
            ),
        }
    }
}

#[cfg(test)]
mod tests;
