//! `oxagen settle`: calls whose outcome nobody knew, listed and settled over HTTP.

use clap::Args;
use oxagen_domain::CallId;
use serde_json::{Value, json};

use super::Desk;
use crate::failure::Failure;
use crate::output::note;

/// `settle`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  oxagen settle                                  list what is in doubt\n  \
    oxagen settle 0198b0c2-… --done --output '{\"paid\": true}'\n  oxagen settle 0198b0c2-… --not-done --note \"the bank says no\"\n  \
    oxagen settle 0198b0c2-… --run-again\n\nThe model is told the truth the next time that it is asked anything."
)]
pub(crate) struct Settle {
    /// The call; without it, what is in doubt is listed
    #[arg(value_name = "CALL_ID", requires = "outcome")]
    call: Option<CallId>,
    #[command(flatten)]
    outcome: Outcome,
    /// Its result as you found it, JSON, for --done
    #[arg(long, value_name = "JSON", requires = "done", value_parser = value)]
    output: Option<Value>,
    /// Say why, in at most 4,000 characters
    #[arg(long)]
    note: Option<String>,
}

/// As what it is settled.
#[derive(Debug, Args)]
#[group(id = "outcome", multiple = false)]
struct Outcome {
    /// It happened
    #[arg(long)]
    done: bool,
    /// It did not happen
    #[arg(long)]
    not_done: bool,
    /// Let it run once more
    #[arg(long)]
    run_again: bool,
}

fn value(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("this is no JSON: {error}"))
}

/// Lists or settles.
pub(super) async fn settle(desk: &Desk, settle: Settle) -> Result<(), Failure> {
    let client = desk.client()?;
    let Some(call) = settle.call else {
        let query = [("status", "in_doubt".to_owned()), ("limit", "200".to_owned())];
        let page: Value = client.get("/v1/tool-calls", &query).await?;
        let items = page["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        if items.is_empty() && !desk.out.is_json() {
            note("Nothing is in doubt.");
        }
        for item in items {
            if desk.out.is_json() {
                desk.out.value(item)?;
                continue;
            }
            let text = |name: &str| item[name].as_str().unwrap_or_default();
            desk.out.line(format!(
                "{}  {}  {}  {}",
                text("callId"),
                text("startedAt"),
                text("capability"),
                item["input"]
            ))?;
        }
        return Ok(());
    };
    let outcome = match settle.outcome {
        Outcome { done: true, .. } => "done",
        Outcome { not_done: true, .. } => "not_done",
        Outcome { .. } => "run_again",
    };
    let mut body = json!({ "outcome": outcome });
    if let Some(output) = settle.output {
        body["output"] = output;
    }
    if let Some(note) = settle.note {
        body["note"] = json!(note);
    }
    let receipt: Value = client.post(&format!("/v1/tool-calls/{call}/settle"), &body).await?;
    if desk.out.is_json() {
        return desk.out.value(&receipt);
    }
    desk.out
        .line(format!("settled as {outcome}: the call is {}", receipt["status"].as_str().unwrap_or_default()))
}
