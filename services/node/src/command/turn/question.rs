//! Asks a person on the terminal, one question after the other: may a held call run, is a plan to be carried out.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc as blocking;

use oxagen_domain::{ApprovalId, Decision, PlanId};
use tokio::sync::mpsc;

use crate::output::{bold, note_piece};

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Whether a held call may run.
    Approval(ApprovalId),
    /// Whether this version of a plan is to be carried out.
    Plan(PlanId, u64),
}

impl Asked {
    fn is(self, id: &str) -> bool {
        match self {
            Self::Approval(approval) => approval.to_string() == id,
            Self::Plan(plan, _) => plan.to_string() == id,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Approval(_) => "Run it? y = yes, n = no, anything else = no, and why: ",
            Self::Plan(..) => "Carry it out? y = yes, n = no, anything else = no, and why: ",
        }
    }
}

/// What a person said.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) asked: Asked,
    pub(super) decision: Decision,
    pub(super) note: Option<String>,
}

/// The open questions of a turn, and the terminal they are asked on.
pub(super) struct Questions {
    open: VecDeque<Asked>,
    terminal: Option<Terminal>,
}

/// Reads one line whenever it is asked to, on a thread of its own: reading a terminal cannot be given up.
struct Terminal {
    read: blocking::Sender<()>,
    lines: mpsc::UnboundedReceiver<Option<String>>,
    reading: bool,
}

impl Questions {
    /// `can_ask`: whether there is a terminal. Without one questions are only counted.
    pub(super) fn new(can_ask: bool) -> Self {
        Self { open: VecDeque::new(), terminal: can_ask.then(Terminal::start) }
    }

    /// How many are open.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Asks, now or after the questions before; says whether there is anybody to ask.
    pub(super) fn ask(&mut self, asked: Asked) -> bool {
        self.open.push_back(asked);
        if self.open.len() == 1 {
            self.prompt();
        }
        self.terminal.is_some()
    }

    /// The question was answered elsewhere, or the answer was taken.
    pub(super) fn withdraw(&mut self, id: &str) {
        let was_first = self.open.front().is_some_and(|first| first.is(id));
        self.open.retain(|open| !open.is(id));
        if was_first {
            self.prompt();
        }
    }

    /// Waits for an answer; `None` when the person said nothing that is one. Safe to cancel.
    pub(super) async fn answered(&mut self) -> Option<Answered> {
        let Some(terminal) = self.terminal.as_mut().filter(|terminal| terminal.reading) else {
            return std::future::pending().await;
        };
        let line = terminal.lines.recv().await.flatten();
        terminal.reading = false;
        let Some(line) = line else {
            // The terminal is closed: whoever wants to can answer elsewhere.
            self.terminal = None;
            return None;
        };
        let asked = *self.open.front()?;
        let Some((decision, note)) = understand(&line) else {
            self.prompt();
            return None;
        };
        Some(Answered { asked, decision, note })
    }

    fn prompt(&mut self) {
        let (Some(terminal), Some(first)) = (&mut self.terminal, self.open.front()) else { return };
        note_piece(&bold(first.words()));
        if !terminal.reading {
            terminal.reading = terminal.read.send(()).is_ok();
        }
    }
}

impl Terminal {
    fn start() -> Self {
        let (read, wanted) = blocking::channel();
        let (sender, lines) = mpsc::unbounded_channel();
        std::thread::spawn(move || {
            while let Ok(()) = wanted.recv() {
                let mut line = String::new();
                let read = io::stdin().read_line(&mut line);
                let line = matches!(read, Ok(bytes) if bytes > 0).then_some(line);
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { read, lines, reading: false }
    }
}

/// What a line means; none for an empty one, so that a stray Enter decides nothing.
fn understand(line: &str) -> Option<(Decision, Option<String>)> {
    let said = line.trim();
    match said.to_lowercase().as_str() {
        "" => None,
        "y" | "yes" => Some((Decision::Approve, None)),
        "n" | "no" => Some((Decision::Deny, None)),
        _ => Some((Decision::Deny, Some(said.to_owned()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_no_and_a_stray_enter_is_nothing() {
        assert_eq!(understand("Y\n"), Some((Decision::Approve, None)));
        assert_eq!(understand("no\n"), Some((Decision::Deny, None)));
        assert_eq!(
            understand(" not before Friday\n"),
            Some((Decision::Deny, Some("not before Friday".to_owned())))
        );
        assert_eq!(understand("\n"), None);
    }

    #[test]
    fn without_a_terminal_questions_are_counted_until_they_are_answered_elsewhere() {
        let mut questions = Questions::new(false);
        let approval = ApprovalId::default();
        let plan: PlanId = "0198b0c2-0000-7000-8000-000000000001".parse().unwrap();
        assert!(!questions.ask(Asked::Approval(approval)) && !questions.ask(Asked::Plan(plan, 1)));
        assert_eq!(questions.open(), 2);
        questions.withdraw(&approval.to_string());
        assert_eq!(questions.open(), 1);
        questions.withdraw(&plan.to_string());
        assert_eq!(questions.open(), 0);
    }
}
