//! Puts the chunks of one answer together. Pure: no clock, no network.

mod calls;
mod scan;
#[cfg(test)]
mod tests;

use crate::{
    Completion, Delta, ErrorCode, Finish, ModelError, OUTPUT_LIMIT, Partial, Usage, failure, wire::Chunk,
};

use calls::Calls;

/// An answer in the making.
#[derive(Default)]
pub(crate) struct Assembler {
    text: String,
    reasoning: String,
    calls: Calls,
    finish: Option<Finish>,
    usage: Usage,
    model: Option<String>,
    /// Bytes of text, reasoning and arguments so far.
    size: usize,
}

impl Assembler {
    /// Takes the next chunk and passes what is new in it to the sink.
    pub(crate) fn push(&mut self, chunk: Chunk, sink: &mut impl FnMut(Delta)) -> Result<(), ModelError> {
        self.usage = chunk.usage.unwrap_or(self.usage);
        self.model = chunk.model.or(self.model.take());
        self.grow(
            &chunk.text,
            &chunk.reasoning,
            chunk.pieces.iter().map(|piece| piece.arguments.len()).sum(),
        )?;
        if !chunk.reasoning.is_empty() {
            self.reasoning.push_str(&chunk.reasoning);
            sink(Delta::Reasoning(chunk.reasoning));
        }
        if !chunk.text.is_empty() {
            self.text.push_str(&chunk.text);
            sink(Delta::Text(chunk.text));
        }
        if let Some(id) = chunk.id {
            self.calls.answer_is(&id);
        }
        for piece in chunk.pieces {
            self.calls.push(piece, sink)?;
        }
        if let Some(error) = chunk.error {
            return Err(failure::reported(&error));
        }
        match chunk.finish.as_deref() {
            Some("error") => return Err(failure::reported(&"it gave no reason".into())),
            Some(word) => self.finish = Finish::parse(word).or(self.finish.take()),
            None => {}
        }
        Ok(())
    }

    /// Whether the provider has said why it stopped; only usage may follow.
    pub(crate) fn has_finish(&self) -> bool {
        self.finish.is_some()
    }

    /// What there is so far, for an answer that will not become whole.
    pub(crate) fn partial(&self) -> Partial {
        Partial { text: self.text.clone(), reasoning: self.reasoning.clone() }
    }

    /// The whole answer; fails when its calls cannot be told apart.
    pub(crate) fn finish(&mut self) -> Result<Completion, ModelError> {
        let finish = self.finish.take().unwrap_or(Finish::Missing);
        let calls = std::mem::take(&mut self.calls).finish(&finish)?;
        Ok(Completion {
            text: std::mem::take(&mut self.text),
            reasoning: std::mem::take(&mut self.reasoning),
            calls,
            finish,
            usage: self.usage,
            model: self.model.take(),
        })
    }

    fn grow(&mut self, text: &str, reasoning: &str, arguments: usize) -> Result<(), ModelError> {
        self.size += text.len() + reasoning.len() + arguments;
        if self.size <= OUTPUT_LIMIT {
            return Ok(());
        }
        let message = format!("the model's answer is larger than {OUTPUT_LIMIT} bytes and was stopped there");
        Err(ModelError::new(ErrorCode::TooLarge, message))
    }
}
