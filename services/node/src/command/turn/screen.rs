//! What a turn looks like on a terminal: the answer on stdout, everything around it on stderr.

mod answer;

use std::collections::HashSet;
use std::io::{self, IsTerminal};
use std::time::Duration;

use chrono::{DateTime, Local, Utc};
use serde_json::{Value, json};
use tokio::time::Instant;

use self::answer::Answer;
use crate::client::Seen;
use crate::failure::Failure;
use crate::output::{Output, bold, dim, note, note_piece, printable, short};

/// Silence that is not worth a word.
const QUIET: Duration = Duration::from_secs(2);
/// What stands before each line that a tool prints.
const MARGIN: &str = "  | ";

/// The screen.
pub(super) struct Screen {
    out: Output,
    answer: Answer,
    /// Whether stderr stands in the middle of a line.
    in_line: bool,
    status_shown: bool,
    printed: HashSet<String>,
}

impl Screen {
    pub(super) fn new(out: Output) -> Self {
        let answer = Answer::new(out, io::stdout().is_terminal());
        Self { out, answer, in_line: false, status_shown: false, printed: HashSet::new() }
    }

    pub(super) fn is_json(&self) -> bool {
        self.out.is_json()
    }

    /// Shows an event.
    pub(super) fn show(&mut self, seen: &Seen) -> Result<(), Failure> {
        if self.out.is_json() {
            return self.out.value(&json!({"event": seen.name, "id": seen.seq, "data": seen.data}));
        }
        match seen.name.as_str() {
            "text-delta" => {
                self.end_line();
                self.answer.delta(seen)?;
            }
            "reasoning-delta" => self.piece(&dim(&printable(seen.text("text")))),
            "step-completed" => {
                self.end_line();
                self.answer.complete(seen)?;
            }
            "step-reset" => {
                self.line(&dim("(this step begins again)"))?;
                self.answer.withdraw()?;
            }
            "tool-call-start" => self.line(&format!("{} {}", bold("->"), call(seen)))?,
            "tool-call-output" => self.output(seen)?,
            "tool-call-end" => self.ended(seen)?,
            "approval-required" => self.question(seen)?,
            "plan-proposed" => self.plan(seen)?,
            "approval-resolved" | "plan-resolved" => {
                let said = seen
                    .field("note")
                    .as_str()
                    .map_or_else(String::new, |said| format!(": {}", printable(said)));
                self.line(&dim(&format!("   {}{said}", seen.text("resolution"))))?;
            }
            "turn-completed" | "turn-failed" | "turn-cancelled" => {
                self.end_line();
                self.answer.end()?;
            }
            _ => {}
        }
        Ok(())
    }

    /// When it is time to say that something is waited for.
    pub(super) fn next_word(&self, quiet_since: Instant) -> Instant {
        let elapsed = quiet_since.elapsed();
        quiet_since + QUIET.max(Duration::from_secs(elapsed.as_secs() + 1))
    }

    /// Says what is waited for, where that does not disturb a line.
    pub(super) fn status(&mut self, waits_for: &str, quiet_since: Instant) {
        let disturbs = self.in_line || self.answer.in_line() || waits_for.starts_with("a question");
        if self.out.is_json() || disturbs || !io::stderr().is_terminal() {
            return;
        }
        note_piece(&format!(
            "\r\x1b[K{}",
            dim(&format!("{waits_for} … {} s", quiet_since.elapsed().as_secs()))
        ));
        self.status_shown = true;
    }

    /// Takes that word away again.
    pub(super) fn clear_status(&mut self) {
        if std::mem::take(&mut self.status_shown) {
            note_piece("\r\x1b[K");
        }
    }

    fn output(&mut self, seen: &Seen) -> Result<(), Failure> {
        self.answer.end()?;
        self.printed.insert(seen.text("callId").to_owned());
        for line in printable(seen.text("text")).split_inclusive('\n') {
            let margin = if self.in_line { "" } else { MARGIN };
            self.piece(&format!("{margin}{line}"));
        }
        Ok(())
    }

    fn ended(&mut self, seen: &Seen) -> Result<(), Failure> {
        let status = seen.text("status");
        let mut text = format!("{} {status}", bold("<-"));
        if let Some(latency) = seen.field("latencyMs").as_u64().filter(|latency| *latency > 0) {
            text += &format!(" in {latency} ms");
        }
        let (output, error) = (seen.field("output"), seen.field("error"));
        if let Some(code) = output["exitCode"].as_i64() {
            text += &format!(", exit code {code}");
        }
        if let Some(message) = error["message"].as_str() {
            text += &format!(": {}", short(message, 300));
        } else if !output.is_null() && !self.printed.contains(seen.text("callId")) {
            text += &format!(": {}", short(&output.to_string(), 200));
        }
        self.line(&text)
    }

    fn question(&mut self, seen: &Seen) -> Result<(), Failure> {
        let (capability, risk, until) =
            (seen.text("capability"), seen.text("risk"), clock(seen.text("expiresAt")));
        self.line(&bold(&format!("The agent asks to run {capability} (risk {risk}, open until {until})")))?;
        self.line(&format!("    {}", why(seen)))?;
        for line in input_lines(seen.field("input")) {
            self.line(&format!("    {line}"))?;
        }
        Ok(())
    }

    fn plan(&mut self, seen: &Seen) -> Result<(), Failure> {
        let (title, version) = (seen.text("title"), seen.field("planVersion"));
        let about = match seen.field("expiresAt").as_str() {
            Some(until) => format!("(version {version}, open until {})", clock(until)),
            None => format!("(version {version})"),
        };
        let head = if title.is_empty() {
            format!("The plan was changed {about}")
        } else {
            format!("The agent plans: {} {about}", printable(title))
        };
        self.line(&bold(&head))?;
        for line in super::plan::step_lines(seen.field("steps")) {
            self.line(&format!("    {}", printable(&line)))?;
        }
        Ok(())
    }

    fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.answer.end()?;
        self.end_line();
        note(text);
        Ok(())
    }

    fn piece(&mut self, text: &str) {
        note_piece(text);
        self.in_line = !text.ends_with('\n');
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.in_line) {
            note("");
        }
    }
}

/// A time as the clock on the wall shows it.
fn clock(time: &str) -> String {
    let parsed = time.parse::<DateTime<Utc>>();
    parsed.map_or_else(
        |_| printable(time),
        |time| time.with_timezone(&Local).format("%Y-%m-%d %H:%M:%S").to_string(),
    )
}

/// Why a person is asked, and what it takes.
fn why(seen: &Seen) -> String {
    let mut text =
        format!("why: {} (rule `{}`)", printable(seen.text("reason")), printable(seen.text("rule")));
    if let Some(needed) = seen.field("needed").as_u64().filter(|needed| *needed > 1) {
        text += &format!("; {needed} people must approve it");
    }
    if let Some(before) = seen.field("askedBefore").as_u64().filter(|before| *before > 0) {
        text += &format!("; it was asked for {before} times before and refused");
    }
    text
}

/// A call in one line.
fn call(seen: &Seen) -> String {
    format!("{} {}", seen.text("capability"), dim(&short(&seen.field("input").to_string(), 120)))
}

/// An input as people read it: small values first, each long text as it is.
fn input_lines(input: &Value) -> Vec<String> {
    let Some(fields) = input.as_object() else { return vec![short(&input.to_string(), 2_000)] };
    let is_text = |value: &Value| value.as_str().is_some_and(|text| text.contains('\n') || text.len() > 60);
    let (texts, small): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, value)| is_text(value));
    let mut lines: Vec<_> = small
        .into_iter()
        .map(|(name, value)| {
            format!("{name}: {}", value.as_str().map_or_else(|| value.to_string(), printable))
        })
        .collect();
    for (name, value) in texts {
        lines.push(format!("{name}:"));
        lines.extend(printable(value.as_str().unwrap_or_default()).lines().map(|line| format!("  {line}")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_shown_as_it_is_and_cannot_steer_the_terminal() {
        let lines = input_lines(
            &json!({"code": "print(1)\nprint('\u{1b}[2J')", "language": "python", "timeoutMs": 5}),
        );
        assert_eq!(
            lines,
            ["language: python", "timeoutMs: 5", "code:", "  print(1)", "  print('\u{FFFD}[2J')"]
        );
    }
}
