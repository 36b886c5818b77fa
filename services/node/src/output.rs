//! What a command prints: answers on stdout, everything else on stderr. A reader that goes away ends it quietly.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Where and in which form answers are printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    /// `json`: one JSON value a line, for programs.
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether a program reads it.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// A line.
    pub(crate) fn line(self, text: impl AsRef<str>) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_ref().as_bytes())?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    /// A piece of text, as it is.
    pub(crate) fn piece(self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        Ok(out.flush()?)
    }

    /// A value as one line of JSON.
    pub(crate) fn value<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        self.line(serde_json::to_string(value).map_err(io::Error::other)?)
    }
}

/// A line for people, on stderr. Nobody to read it is no failure.
pub(crate) fn note(text: impl AsRef<str>) {
    let _ = writeln!(io::stderr().lock(), "{}", text.as_ref());
}

/// A piece of text for people, on stderr.
pub(crate) fn note_piece(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Whether a person can be asked: both ways are a terminal.
pub(crate) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Grey, where the terminal has colours.
pub(crate) fn dim(text: &str) -> String {
    if has_colours() { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
}

/// Bold, where the terminal has it.
pub(crate) fn bold(text: &str) -> String {
    if has_colours() { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
}

fn has_colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Text from elsewhere without what could steer a terminal; line breaks and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{FFFD}' } else { c }).collect()
}

/// A text on one line of at most `limit` characters.
pub(crate) fn short(text: &str, limit: usize) -> String {
    let line = printable(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let head: String = line.chars().take(limit.saturating_sub(1)).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(printable("a\x1b[31mb\n\tc\r"), "a\u{FFFD}[31mb\n\tc\u{FFFD}");
    }

    #[test]
    fn long_texts_become_one_short_line() {
        assert_eq!(short("a\n  b", 10), "a b");
        assert_eq!(short("abcdef", 4), "abc…");
    }
}
