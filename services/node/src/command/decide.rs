//! `oxagen approve` and `oxagen deny`: the answer of a person to a held call.

use clap::Args;
use oxagen_domain::{ApprovalId, Decision};
use serde_json::{Value, json};

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
    /// Say why, in at most 4,000 characters
    #[arg(long)]
    note: Option<String>,
}

/// Answers.
pub(super) async fn decide(desk: &Desk, decision: Decision, decide: Decide) -> Result<(), Failure> {
    let receipt = resolve(&desk.client()?, decide.approval, decision, decide.note.as_deref()).await?;
    if desk.out.is_json() {
        return desk.out.value(&receipt);
    }
    let did = match decision {
        Decision::Approve => "approved",
        Decision::Deny => "denied",
    };
    let call = receipt["callId"].as_str().unwrap_or_default();
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
