//! `oxagen approve` and `oxagen deny`: the answer of a person to a held call.

use clap::Args;
use oxagen_domain::{ApprovalId, Decision};
use serde_json::{Map, Value, json};

use super::Desk;
use crate::client::Client;
use crate::failure::Failure;

/// `approve` and `deny`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  oxagen approve 0198b0c2-…\n  oxagen deny 0198b0c2-… --note \"not before Friday\"\n\n\
    The note of a denial reaches the model word for word."
)]
pub(crate) struct Decide {
    /// The approval, as `oxagen turn` and GET /v1/approvals show it
    #[arg(value_name = "APPROVAL_ID")]
    approval: ApprovalId,
    /// Run it with these arguments instead, a JSON object (for `approve`)
    #[arg(long, value_name = "JSON", value_parser = super::policy::object)]
    input: Option<Map<String, Value>>,
    /// Approve the very same call from now on, too (for `approve`)
    #[arg(long)]
    remember: bool,
    /// Say why, in at most 4,000 characters
    #[arg(long)]
    note: Option<String>,
}

/// Answers.
pub(super) async fn decide(desk: &Desk, decision: Decision, decide: Decide) -> Result<(), Failure> {
    let mut answer = json!({ "decision": decision });
    if let Some(note) = decide.note {
        answer["note"] = json!(note);
    }
    if let Some(input) = decide.input {
        answer["editedInput"] = Value::Object(input);
    }
    if decide.remember {
        answer["remember"] = json!(true);
    }
    let path = format!("/v1/approvals/{}/resolve", decide.approval);
    let receipt: Value = desk.client()?.post(&path, &answer).await?;
    if desk.out.is_json() {
        return desk.out.value(&receipt);
    }
    let did = match decision {
        Decision::Approve => "approved",
        Decision::Deny => "denied",
    };
    let call = receipt["callId"].as_str().unwrap_or_default();
    if receipt["status"] == "open" {
        let (given, needed) = (&receipt["given"], &receipt["needed"]);
        return desk
            .out
            .line(format!("{did} by {given} of the {needed} people that it needs: call {call} waits"));
    }
    desk.out.line(format!("{did}: call {call}"))
}

/// Sends an answer and gives its receipt.
pub(super) async fn resolve(
    client: &Client,
    approval: ApprovalId,
    decision: Decision,
    note: Option<&str>,
) -> Result<Value, Failure> {
    let mut answer = json!({ "decision": decision });
    if let Some(note) = note {
        answer["note"] = note.into();
    }
    client.post(&format!("/v1/approvals/{approval}/resolve"), &answer).await
}
