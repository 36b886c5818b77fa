//! A workspace: made once, with its name and the tools that it offers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::aggregate::{aggregate, event_kinds};
use crate::capability::{Capability, Effect, Risk, catalog};
use crate::ids::ToolVersionId;

/// A tool as the workspace's facts describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublishedTool {
    /// Its name in facts, rows and policy.
    pub capability: String,
    /// Its immutable version.
    pub tool_version_id: ToolVersionId,
    /// What it does.
    pub description: String,
    /// What it is about.
    pub category: String,
    /// What it changes.
    pub effect: Effect,
    /// How much it can break.
    pub risk_level: Risk,
    /// Whether a person is asked first.
    pub requires_approval: bool,
    /// Digest of name, effect, risk and schemas.
    pub schema_digest: String,
}

impl From<&Capability> for PublishedTool {
    fn from(tool: &Capability) -> Self {
        Self {
            capability: tool.name.to_owned(),
            tool_version_id: tool.version_id(),
            description: tool.summary.to_owned(),
            category: tool.category.to_owned(),
            effect: tool.effect,
            risk_level: tool.risk,
            requires_approval: tool.asks_approval,
            schema_digest: tool.digest().to_string(),
        }
    }
}

/// A workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Its name; none before it is made.
    pub name: Option<String>,
    /// The versions of the tools that it offers.
    pub tools: Vec<ToolVersionId>,
}

/// What has happened to a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum WorkspaceEvent {
    /// It was made.
    Created {
        /// Its name.
        name: String,
    },
    /// The tools that it offers, all of them, after the catalogue changed.
    ToolsPublished {
        /// The tools.
        tools: Vec<PublishedTool>,
    },
}

/// What a workspace can be told.
#[derive(Clone, Debug)]
pub enum WorkspaceCommand {
    /// Make it.
    Create {
        /// Its name.
        name: String,
    },
    /// Offer the tools of this build's catalogue.
    PublishTools,
}

/// Why a workspace said no.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkspaceRefusal {
    /// A name is needed.
    #[error("a workspace needs a name of 1 to 200 characters")]
    Name,
    /// It was made before.
    #[error("this workspace exists already")]
    Exists,
    /// It was never made.
    #[error("there is no such workspace")]
    Unknown,
}

aggregate!(Workspace as "workspace": WorkspaceCommand => WorkspaceEvent or WorkspaceRefusal);
event_kinds!(WorkspaceEvent { Created => "workspace.created", ToolsPublished => "workspace.tools_published" });

impl Workspace {
    fn evolve(&mut self, event: WorkspaceEvent) {
        match event {
            WorkspaceEvent::Created { name } => self.name = Some(name),
            WorkspaceEvent::ToolsPublished { tools } => {
                self.tools = tools.into_iter().map(|tool| tool.tool_version_id).collect();
            }
        }
    }

    fn decide(&self, command: WorkspaceCommand) -> Result<Vec<WorkspaceEvent>, WorkspaceRefusal> {
        match command {
            WorkspaceCommand::Create { .. } if self.name.is_some() => Err(WorkspaceRefusal::Exists),
            WorkspaceCommand::Create { name } if name.trim().is_empty() || name.chars().count() > 200 => {
                Err(WorkspaceRefusal::Name)
            }
            WorkspaceCommand::Create { name } => Ok(vec![WorkspaceEvent::Created { name }]),
            WorkspaceCommand::PublishTools if self.name.is_none() => Err(WorkspaceRefusal::Unknown),
            WorkspaceCommand::PublishTools => {
                let tools: Vec<_> = catalog::tools().map(PublishedTool::from).collect();
                let known = tools.iter().map(|tool| tool.tool_version_id).eq(self.tools.iter().copied());
                Ok(if known { vec![] } else { vec![WorkspaceEvent::ToolsPublished { tools }] })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_published_once_per_catalogue() {
        let mut workspace = Workspace::default();
        assert_eq!(workspace.decide(WorkspaceCommand::PublishTools), Err(WorkspaceRefusal::Unknown));
        workspace.evolve(WorkspaceEvent::Created { name: "home".to_owned() });
        let events = workspace.decide(WorkspaceCommand::PublishTools).unwrap();
        assert_eq!(events.len(), 1);
        events.into_iter().for_each(|event| workspace.evolve(event));
        assert_eq!(workspace.decide(WorkspaceCommand::PublishTools), Ok(vec![]));
    }
}
