//! The kill switch: what may not start, at once, whatever else the policy says.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pattern::fits;

/// What may not start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct KillSwitch {
    /// Nothing in the workspace.
    pub workspace: bool,
    /// No capability that fits one of these patterns.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub capabilities: BTreeSet<String>,
    /// No tool of these MCP servers, by their names.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub mcp_servers: BTreeSet<String>,
    /// Whether calls that run already are cancelled, too.
    pub cancel: bool,
}

impl KillSwitch {
    /// Whether it was never touched.
    pub fn is_unset(&self) -> bool {
        *self == Self::default()
    }

    /// What stops this capability, if anything: the rule, and what it is about.
    pub fn stops(&self, capability: &str) -> Option<(&'static str, String)> {
        if self.workspace {
            return Some(("kill_switch.workspace", "this workspace".to_owned()));
        }
        if let Some(pattern) = self.capabilities.iter().find(|pattern| fits(pattern, capability)) {
            return Some(("kill_switch.capability", format!("`{pattern}`")));
        }
        let server = capability.strip_prefix("mcp.").and_then(|rest| rest.split('.').next())?;
        let is_stopped = self.mcp_servers.contains(server);
        is_stopped.then(|| ("kill_switch.mcp_server", format!("the MCP server `{server}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stops_a_workspace_a_capability_or_a_server() {
        let off = KillSwitch::default();
        assert!(off.is_unset() && off.stops("agent.tool.list").is_none());
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let one = KillSwitch { capabilities: set(&["agent.code.*"]), ..KillSwitch::default() };
        assert_eq!(one.stops("agent.code.execute").unwrap().0, "kill_switch.capability");
        assert!(one.stops("agent.tool.list").is_none());
        let server = KillSwitch { mcp_servers: set(&["files"]), ..KillSwitch::default() };
        assert_eq!(server.stops("mcp.files.read").unwrap().0, "kill_switch.mcp_server");
        assert!(server.stops("mcp.filesystem.read").is_none() && server.stops("files").is_none());
    }
}
