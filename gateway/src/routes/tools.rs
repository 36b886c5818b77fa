//! What agents can call.

use axum::Json;
use axum::extract::Path;
use axum::routing::get;
use oxagen_domain::Right;
use oxagen_domain::capability::{ToolDescription, ToolListOutput, catalog};
use schemars::{JsonSchema, Schema};
use serde::Serialize;

use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;

pub(super) fn doors() -> Vec<Door> {
    let read = Guard::Needs(Right::Read);
    vec![
        Door::new(Method::Get, "/v1/tools", "agent.tool.list", read, get(list))
            .about("tool", "")
            .gives::<ToolListOutput>(200, "The tools."),
        Door::new(Method::Get, "/v1/tools/{capability}", "tool.read", read, get(show))
            .about("tool", "Reads a tool with the schemas of its input and output.")
            .gives::<Tool>(200, "The tool."),
    ]
}

/// A tool with its schemas.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Tool {
    #[serde(flatten)]
    about: ToolDescription,
    /// The JSON schema of its input.
    input_schema: Schema,
    /// The JSON schema of its output.
    output_schema: Schema,
}

async fn list(Who(_): Who) -> Json<ToolListOutput> {
    Json(ToolListOutput::of_catalog())
}

async fn show(Who(_): Who, Path(capability): Path<String>) -> Result<Json<Tool>, Problem> {
    let tool = catalog::find(&capability).filter(|tool| tool.is_tool());
    let tool = tool.ok_or_else(|| Problem::not_found("tool"))?;
    let (input_schema, output_schema) = ((tool.input)(), (tool.output)());
    Ok(Json(Tool { about: ToolDescription::from(tool), input_schema, output_schema }))
}
