//! What the capabilities on the agent surface do when they are called.

mod code_execute;
mod plan_create;

use std::sync::LazyLock;

use oxagen_commands::StartedCall;
use oxagen_domain::capability::ToolListOutput;
use oxagen_domain::tool_call::CallError;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::Shared;
use crate::calls::error;
use crate::live::Frames;

/// The same for everybody and with a digest of each schema, so it is made once.
static LIST: LazyLock<ToolListOutput> = LazyLock::new(ToolListOutput::of_catalog);

impl Shared {
    /// The effect itself.
    pub(crate) async fn use_tool(
        &self,
        call: &StartedCall,
        frames: Option<&Frames>,
        stop: &CancellationToken,
    ) -> Result<Value, CallError> {
        match call.spec.capability.as_str() {
            "agent.tool.list" => json(&*LIST),
            "agent.plan.create" => self.approved_plan(call).await,
            "agent.code.execute" => self.execute_code(call, frames, stop).await,
            other => Err(error("not_runnable", format!("this build cannot run {other}"))),
        }
    }
}

fn json<T: serde::Serialize>(output: &T) -> Result<Value, CallError> {
    serde_json::to_value(output)
        .map_err(|cause| error("internal", format!("the result cannot be written: {cause}")))
}
