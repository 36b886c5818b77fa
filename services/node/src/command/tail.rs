//! `oxagen tail`: follows what happens, one line a fact.

use std::io::{self, IsTerminal};

use clap::Args;
use oxagen_domain::{ConversationId, Fact};
use serde_json::Value;

use super::Desk;
use crate::client::Which;
use crate::failure::Failure;
use crate::output::{note, short};
use crate::progress;

/// `tail`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  oxagen tail\n  oxagen tail --type turn.started,'tool_call.*'\n  \
    oxagen tail --conversation 0198b0c2-… --after 0        from its beginning\n  oxagen tail --json | jq .payload")]
pub(crate) struct Tail {
    /// Facts of this conversation alone
    #[arg(long, value_name = "ID")]
    conversation: Option<ConversationId>,
    /// Facts of these types alone; `tool_call.*` means all of a kind
    #[arg(long = "type", value_name = "TYPE", value_delimiter = ',')]
    types: Vec<String>,
    /// Begin after this seq; 0 is the beginning [default: now]
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
}

/// Follows until stopped.
pub(super) async fn tail(desk: &Desk, tail: Tail) -> Result<(), Failure> {
    let (client, which) = (desk.client()?, Which { conversation: tail.conversation, types: tail.types });
    let after = match tail.after {
        Some(after) => after,
        None => progress::during("looking for the newest fact", client.place(&which, |_| true)).await?,
    };
    let mut follow = client.follow_facts(&which, after);
    loop {
        let seen = tokio::select! {
            seen = follow.next() => seen?,
            pressed = tokio::signal::ctrl_c() => return pressed.map_err(Into::into),
        };
        match seen.name.as_str() {
            "caught-up" if !desk.out.is_json() && io::stderr().is_terminal() => {
                note("following; Ctrl-C stops")
            }
            "caught-up" => {}
            "gap" if seen.text("reason") == "slow_reader" => follow.seek(follow.cursor().unwrap_or(after)),
            "gap" => return Err(Failure::NotFound(format!("there is no fact {after} in this history"))),
            "error" => return Err(Failure::Failed(format!("the stream broke: {}", seen.text("detail")))),
            _ => {
                let Ok(fact) = serde_json::from_value::<Fact>(seen.data) else { continue };
                if desk.out.is_json() { desk.out.value(&fact)? } else { desk.out.line(line(&fact))? }
            }
        }
    }
}

/// A fact in one line.
fn line(fact: &Fact) -> String {
    let time = fact.occurred_at.with_timezone(&chrono::Local).format("%H:%M:%S%.3f");
    let what: Vec<_> = fields(&fact.payload).collect();
    let text =
        format!("{:>7}  {time}  {:<24} {}  {}", fact.seq, fact.kind, fact.aggregate_id, what.join(" "));
    short_end(&text)
}

fn fields(payload: &Value) -> impl Iterator<Item = String> + '_ {
    let fields = payload.as_object().into_iter().flatten();
    fields.filter(|(_, value)| !value.is_null()).map(|(name, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{name}={}", short(&text, 80))
    })
}

fn short_end(text: &str) -> String {
    let limit = 240;
    if text.chars().count() <= limit {
        return text.trim_end().to_owned();
    }
    let head: String = text.chars().take(limit - 1).collect();
    format!("{head}…")
}
