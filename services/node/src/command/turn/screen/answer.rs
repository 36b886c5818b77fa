//! The agent's answer: pieces as they come, put right by the whole text when its step ends.

use crate::client::Seen;
use crate::failure::Failure;
use crate::output::{Output, printable};

/// The answer, step by step. Into a file or a pipe only whole steps are written, for what was written there cannot be
/// withdrawn.
pub(super) struct Answer {
    out: Output,
    live: bool,
    /// Step and attempt whose text is being shown.
    step: Option<(u64, u64)>,
    shown: String,
    in_line: bool,
}

impl Answer {
    /// `live`: whether a person watches.
    pub(super) fn new(out: Output, live: bool) -> Self {
        Self { out, live, step: None, shown: String::new(), in_line: false }
    }

    /// Whether the answer stands in the middle of a line.
    pub(super) fn in_line(&self) -> bool {
        self.in_line
    }

    /// A piece of text.
    pub(super) fn delta(&mut self, seen: &Seen) -> Result<(), Failure> {
        let number = |name: &str| seen.field(name).as_u64().unwrap_or_default();
        if !self.live {
            return Ok(());
        }
        let step = (number("step"), number("attempt"));
        if self.step != Some(step) {
            self.end()?;
            (self.step, self.shown) = (Some(step), String::new());
        }
        let piece = new_part(&self.shown, seen.text("text"), seen.field("offset").as_u64()).to_owned();
        self.shown += &piece;
        self.print(&piece)
    }

    /// The step's whole text replaces its pieces.
    pub(super) fn complete(&mut self, seen: &Seen) -> Result<(), Failure> {
        let (text, shown) = (seen.text("text"), std::mem::take(&mut self.shown));
        self.step = None;
        match text.strip_prefix(shown.as_str()) {
            Some(rest) => self.print(rest)?,
            None => {
                self.end()?;
                self.print(text)?;
            }
        }
        self.end()
    }

    /// What was shown of the step does not count.
    pub(super) fn withdraw(&mut self) -> Result<(), Failure> {
        self.end()?;
        self.step = None;
        self.shown.clear();
        Ok(())
    }

    /// Ends a line that was begun.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.in_line) {
            self.out.line("")?;
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.in_line = !text.ends_with('\n');
        if self.live { self.out.piece(&printable(text)) } else { self.out.piece(text) }
    }
}

/// The part of a piece that was not shown yet; nothing of one that does not follow what was shown.
fn new_part<'t>(shown: &str, text: &'t str, offset: Option<u64>) -> &'t str {
    let Some(offset) = offset.and_then(|offset| usize::try_from(offset).ok()) else { return text };
    shown.len().checked_sub(offset).and_then(|known| text.get(known.min(text.len())..)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_come_twice_are_shown_once_and_a_lost_one_is_left_to_the_whole_text() {
        assert_eq!(new_part("", "Hel", Some(0)), "Hel");
        assert_eq!(new_part("Hel", "lo", Some(3)), "lo");
        assert_eq!(new_part("Hello", "lo", Some(3)), "");
        assert_eq!(new_part("Hell", "lo!", Some(3)), "o!");
        assert_eq!(new_part("Hel", "!", Some(9)), "");
    }
}
