//! `oxagen policy`: what the workspace permits, over HTTP.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use oxagen_domain::StandingApprovalId;
use serde_json::{Map, Value, json};

use super::Desk;
use crate::failure::Failure;
use crate::output::note;

/// `policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Print the policy in force, as JSON
    #[command(after_help = "Examples:\n  oxagen policy get > policy.json")]
    Get,
    /// Bring a policy into force; what it denies does not start from then on
    #[command(
        after_help = "Examples:\n  oxagen policy get > policy.json; $EDITOR policy.json; oxagen policy set policy.json\n  \
        oxagen policy set - < policy.json\n\nThe file is what `policy get` prints. It is set only if nobody changed the policy \
        meanwhile;\nwithout its `version` it is set in any case."
    )]
    Set {
        /// The file; `-` for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Say what would happen to a call, and why
    #[command(
        after_help = "Examples:\n  oxagen policy explain agent.code.execute --input '{\"language\": \"python\", \"code\": \"1\"}'\n  \
        oxagen policy explain agent.code.execute --input '{…}' --mode plan --role member"
    )]
    Explain(Explain),
    /// List the answers that stand for later calls
    Standing,
    /// Take an answer back that stands
    Forget {
        /// Which, as `oxagen policy standing` shows it
        #[arg(value_name = "STANDING_APPROVAL_ID")]
        standing: StandingApprovalId,
    },
}

/// `policy explain`.
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A capability, such as agent.code.execute
    capability: String,
    /// Its arguments, a JSON object
    #[arg(long, default_value = "{}", value_parser = object)]
    input: Map<String, Value>,
    /// In which mode the turn would be
    #[arg(long, value_enum, default_value = "act")]
    mode: ModeName,
    /// By whose authority; the key's own role unless told
    #[arg(long, value_enum)]
    role: Option<super::key::RoleName>,
}

/// A mode, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ModeName {
    /// The agent acts
    Act,
    /// It reads and plans
    Plan,
}

impl ModeName {
    /// Its name on the wire.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Act => "act",
            Self::Plan => "plan",
        }
    }
}

/// Reads an argument that is a JSON object.
pub(crate) fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("this is no JSON object: {error}"))
}

/// Reads, sets, explains.
pub(super) async fn policy(desk: &Desk, policy: Policy) -> Result<(), Failure> {
    let client = desk.client()?;
    match policy {
        Policy::Get => {
            let policy: Value = client.get("/v1/policy", &[]).await?;
            show(desk, &policy)
        }
        Policy::Set { file } => {
            let set: Value = client.put("/v1/policy", &read(&file)?).await?;
            if desk.out.is_json() {
                return desk.out.value(&set);
            }
            desk.out.line(format!("version {} is in force", set["version"]))
        }
        Policy::Explain(explain) => {
            let mut body = json!({"capability": explain.capability, "input": explain.input,
                                  "mode": explain.mode.name()});
            if let Some(role) = explain.role {
                body["role"] = json!(oxagen_domain::Role::from(role));
            }
            let told: Value = client.post("/v1/policy/explain", &body).await?;
            if desk.out.is_json() {
                return desk.out.value(&told);
            }
            desk.out.line(words(&told))
        }
        Policy::Standing => {
            let page: Value = client.get("/v1/standing-approvals", &[]).await?;
            for one in page["items"].as_array().into_iter().flatten() {
                if desk.out.is_json() {
                    desk.out.value(one)?;
                    continue;
                }
                let id = one["standingApprovalId"].as_str().unwrap_or_default();
                desk.out.line(format!("{id}  {}", one["covers"]))?;
            }
            Ok(())
        }
        Policy::Forget { standing } => {
            client.delete(&format!("/v1/standing-approvals/{standing}")).await?;
            if desk.out.is_json() {
                return desk.out.value(&json!({ "standingApprovalId": standing, "revoked": true }));
            }
            desk.out.line(format!("{standing} does not stand any more"))
        }
    }
}

fn show(desk: &Desk, policy: &Value) -> Result<(), Failure> {
    if desk.out.is_json() {
        return desk.out.value(policy);
    }
    note(format!("version {}", policy["version"]));
    desk.out.line(format!("{policy:#}"))
}

/// Reads JSON from a file, or from standard input for `-`.
pub(super) fn read(file: &PathBuf) -> Result<Value, Failure> {
    let text = if file.as_os_str() == "-" {
        std::io::read_to_string(std::io::stdin())?
    } else {
        std::fs::read_to_string(file)
            .map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", file.display())))?
    };
    serde_json::from_str(&text)
        .map_err(|error| Failure::Usage(format!("{} is no JSON: {error}", file.display())))
}

fn words(told: &Value) -> String {
    let text = |name: &str| told[name].as_str().unwrap_or_default();
    let mut lines =
        vec![format!("{}: rule `{}` of policy version {}", text("decision"), text("rule"), told["version"])];
    if told["reason"].is_string() {
        lines.push(format!("  {}", text("reason")));
    }
    if let Some(needed) = told["approval"]["needed"].as_u64().filter(|needed| *needed > 1) {
        lines.push(format!("  {needed} people must approve it"));
    }
    let passed: Vec<_> = told["passed"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !passed.is_empty() {
        lines.push(format!("  passed before: {}", passed.join(", ")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_names_the_decision_the_rule_and_what_to_do() {
        let told = json!({"version": 3, "decision": "deny", "rule": "allowlist", "reason": "enable it",
                          "passed": ["role", "surface"]});
        let text = words(&told);
        assert_eq!(
            text,
            "deny: rule `allowlist` of policy version 3\n  enable it\n  passed before: role, surface"
        );
    }
}
