//! `oxagen plan`: what an agent means to do, shown and answered over HTTP.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use oxagen_domain::{Decision, PlanId};
use serde_json::{Value, json};

use super::{Desk, policy};
use crate::client::Client;
use crate::failure::Failure;

/// `plan`.
#[derive(Debug, Subcommand)]
pub(crate) enum Plan {
    /// Show a plan, its steps and how they stand
    Show {
        /// The plan
        #[arg(value_name = "PLAN_ID")]
        plan: PlanId,
    },
    /// Let the agent do what the plan says: its calls are granted
    Approve(Answer),
    /// Do not let it; the note reaches the model word for word
    Reject(Answer),
    /// Change the steps; the new version wants an answer again
    #[command(
        after_help = "Examples:\n  oxagen plan show 0198b0c2-… --json | jq .steps > steps.json; $EDITOR steps.json\n  \
        oxagen plan amend 0198b0c2-… steps.json; oxagen plan approve 0198b0c2-…"
    )]
    Amend {
        #[command(flatten)]
        answer: Answer,
        /// The steps from now on, a JSON list; `-` for standard input
        #[arg(value_name = "FILE")]
        steps: PathBuf,
    },
}

/// An answer.
#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The plan
    #[arg(value_name = "PLAN_ID")]
    plan: PlanId,
    /// The version that you saw; the one that counts unless told
    #[arg(long, value_name = "VERSION")]
    at: Option<u32>,
    /// Say why, in at most 4,000 characters
    #[arg(long)]
    note: Option<String>,
}

/// Shows or answers.
pub(super) async fn plan(desk: &Desk, plan: Plan) -> Result<(), Failure> {
    let client = desk.client()?;
    let (decision, answer, steps) = match plan {
        Plan::Show { plan } => {
            let plan: Value = client.get(&format!("/v1/plans/{plan}"), &[]).await?;
            if desk.out.is_json() {
                return desk.out.value(&plan);
            }
            return desk.out.line(words(&plan));
        }
        Plan::Approve(answer) => ("approve", answer, None),
        Plan::Reject(answer) => ("reject", answer, None),
        Plan::Amend { steps, answer } => ("amend", answer, Some(bare(policy::read(&steps)?))),
    };
    let mut body = json!({ "decision": decision });
    if let Some(version) = answer.at {
        body["version"] = json!(version);
    }
    if let Some(note) = answer.note {
        body["note"] = json!(note);
    }
    if let Some(steps) = steps {
        body["amendedSteps"] = steps;
    }
    let receipt: Value = client.post(&format!("/v1/plans/{}/resolve", answer.plan), &body).await?;
    if desk.out.is_json() {
        return desk.out.value(&receipt);
    }
    if receipt["status"] == "proposed" && receipt["given"].as_u64() > Some(0) {
        let (given, needed) = (&receipt["given"], &receipt["needed"]);
        return desk
            .out
            .line(format!("approved by {given} of the {needed} people that it needs: the plan waits"));
    }
    desk.out.line(format!(
        "version {} is {}",
        receipt["version"],
        receipt["status"].as_str().unwrap_or_default()
    ))
}

/// Sends an answer to the version that was seen, and gives its receipt.
pub(super) async fn resolve(
    client: &Client,
    (plan, version): (PlanId, u64),
    decision: Decision,
    note: Option<&str>,
) -> Result<Value, Failure> {
    let word = match decision {
        Decision::Approve => "approve",
        Decision::Deny => "reject",
    };
    let mut answer = json!({ "decision": word, "version": version });
    if let Some(note) = note {
        answer["note"] = note.into();
    }
    client.post(&format!("/v1/plans/{plan}/resolve"), &answer).await
}

/// Steps as they are asked for: without how they stand, so that what was shown can be edited and sent.
fn bare(mut steps: Value) -> Value {
    for step in steps.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        step.remove("status");
        step.remove("callId");
    }
    steps
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// The steps of a plan, each in one line, with its call in a second one.
pub(super) fn step_lines(steps: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for step in steps.as_array().into_iter().flatten() {
        let needs: Vec<_> =
            step["dependsOn"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let after = if needs.is_empty() { String::new() } else { format!("  after {}", needs.join(", ")) };
        let stands = step["status"].as_str().map_or_else(String::new, |status| format!("[{status}] "));
        lines.push(format!("{stands}{}: {}{after}", text(step, "id"), text(step, "summary")));
        if step["capability"].is_string() {
            let input = if step["input"].is_null() { String::new() } else { format!(" {}", step["input"]) };
            lines.push(format!("    {}{input}", text(step, "capability")));
        }
    }
    lines
}

fn words(plan: &Value) -> String {
    let (version, status) = (&plan["version"], text(plan, "status"));
    let mut lines = vec![format!("{} (version {version}, {status})", text(plan, "title"))];
    if plan["needed"].as_u64() > Some(1) {
        lines.push(format!("  approved by {} of the {} people that it needs", plan["given"], plan["needed"]));
    }
    if plan["rationale"].is_string() {
        lines.push(format!("  {}", text(plan, "rationale")));
    }
    lines.extend(step_lines(&plan["steps"]).into_iter().map(|line| format!("  {line}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_shown_with_its_calls_and_how_its_steps_stand() {
        let plan = json!({"title": "Two numbers", "version": 2, "status": "approved", "steps": [
            {"id": "a", "summary": "Compute.", "capability": "agent.code.execute", "input": {"code": "1"},
             "status": "completed", "callId": "x"},
            {"id": "b", "summary": "Say it.", "dependsOn": ["a"], "status": "pending"}]});
        assert_eq!(
            words(&plan),
            "Two numbers (version 2, approved)\n  [completed] a: Compute.\n      agent.code.execute {\"code\":\"1\"}\n  \
             [pending] b: Say it.  after a"
        );
        let steps = bare(plan["steps"].clone());
        assert!(steps[0].get("status").is_none() && steps[0].get("callId").is_none());
    }
}
