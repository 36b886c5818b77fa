//! Brings every workspace's tools up to this build's catalogue, once at start.

use std::sync::Arc;
use std::time::Duration;

use tracing::{info, warn};

use crate::ReactorOptions;

/// Publishes what has changed; tries again while a store is away.
pub(crate) async fn publish(options: Arc<ReactorOptions>) {
    let workspaces = loop {
        match options.queries.workspaces().await {
            Ok(workspaces) => break workspaces,
            Err(error) => {
                warn!(%error, "could not list the workspaces, trying again");
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
        }
    };
    for workspace in &workspaces {
        if let Err(error) = options.commands.publish_tools(workspace.scope).await {
            warn!(workspace = %workspace.name, %error, "could not publish the tools of a workspace");
        }
    }
    info!(workspaces = workspaces.len(), "tools are up to date");
}
