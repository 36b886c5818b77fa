//! `oxagen deadletters`: facts that a reader gave up on, straight on the journal.

mod retry;

use clap::Subcommand;
use oxagen_journal::{DeadLetter, Journal, JournalError};
use serde_json::json;

use super::Desk;
use crate::failure::Failure;
use crate::output::{note, short};
use crate::serve::Parts;

/// Letters listed at most.
const LIMIT: u32 = 1_000;

const EXAMPLES: &str = "\
Examples:
  oxagen deadletters list
  oxagen deadletters show projector-postgres 4711
  oxagen deadletters retry projector-postgres 4711   after its cause was mended
  oxagen deadletters drop reactor 4711               it will never be taken in";

/// `deadletters`.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum DeadLetters {
    /// List them, oldest fact first
    List {
        /// Of this reader alone, such as `projector-postgres`
        #[arg(long)]
        reader: Option<String>,
    },
    /// Show one, with its fact
    Show(Letter),
    /// Give the fact to its reader once more
    Retry(Letter),
    /// Forget it for good
    Drop(Letter),
}

/// One dead letter.
#[derive(Debug, clap::Args)]
pub(crate) struct Letter {
    /// The reader, as `list` shows it
    reader: String,
    /// The fact's seq
    seq: u64,
}

/// Lists, shows, retries or drops.
pub(super) async fn deadletters(desk: &Desk, letters: DeadLetters) -> Result<(), Failure> {
    let config = &desk.configured.config;
    let commands = Parts::journal_only(config).await?;
    let journal = commands.journal();
    match letters {
        DeadLetters::List { reader } => {
            list(desk, &journal.dead_letters().list(reader.as_deref(), LIMIT).await?)
        }
        DeadLetters::Show(which) => show(desk, journal, &which).await,
        DeadLetters::Retry(which) => {
            let letter = find(journal, &which).await?;
            retry::retry(config, &commands, &letter).await?;
            journal.dead_letters().discard(&which.reader, which.seq).await?;
            done(desk, &which, "taken in")
        }
        DeadLetters::Drop(which) => {
            if !journal.dead_letters().discard(&which.reader, which.seq).await? {
                return Err(unknown(&which));
            }
            done(desk, &which, "dropped")
        }
    }
}

fn list(desk: &Desk, letters: &[DeadLetter]) -> Result<(), Failure> {
    for letter in letters {
        if desk.out.is_json() {
            desk.out.value(letter)?;
            continue;
        }
        let (time, error) = (letter.last_at.format("%Y-%m-%d %H:%M:%SZ"), short(&letter.error, 120));
        desk.out.line(format!(
            "{:>8}  {:<22} {time}  {}x  {error}",
            letter.seq, letter.reader, letter.attempts
        ))?;
    }
    if letters.is_empty() && !desk.out.is_json() {
        note("there are none");
    }
    Ok(())
}

async fn show(desk: &Desk, journal: &Journal, which: &Letter) -> Result<(), Failure> {
    let letter = find(journal, which).await?;
    let fact = retry::fact(journal, which.seq).await?;
    let shown = json!({ "letter": letter, "fact": fact });
    if desk.out.is_json() {
        return desk.out.value(&shown);
    }
    desk.out.line(format!("{shown:#}"))
}

async fn find(journal: &Journal, which: &Letter) -> Result<DeadLetter, Failure> {
    journal.dead_letters().show(&which.reader, which.seq).await?.ok_or_else(|| unknown(which))
}

fn unknown(which: &Letter) -> Failure {
    let text = format!("{} has no dead letter {}: see `oxagen deadletters list`", which.reader, which.seq);
    Failure::NotFound(text)
}

fn done(desk: &Desk, which: &Letter, what: &str) -> Result<(), Failure> {
    if desk.out.is_json() {
        return desk.out.value(&json!({ "reader": which.reader, "seq": which.seq, "done": what }));
    }
    desk.out.line(format!("{} {}: {what}", which.reader, which.seq))
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        if error.is_transient() {
            Self::Unreachable(error.to_string())
        } else {
            Self::Failed(error.to_string())
        }
    }
}
