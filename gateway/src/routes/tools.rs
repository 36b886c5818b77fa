//! What agents can call.

use axum::Json;
use axum::routing::get;
use oxagen_domain::Right;
use oxagen_domain::capability::ToolListOutput;

use crate::caller::Who;
use crate::door::{Door, Guard, Method};

pub(super) fn doors() -> Vec<Door> {
    vec![
        Door::new(Method::Get, "/v1/tools", "agent.tool.list", Guard::Needs(Right::Read), get(list))
            .about("tool", "")
            .gives::<ToolListOutput>(200, "The tools."),
    ]
}

async fn list(Who(_): Who) -> Json<ToolListOutput> {
    Json(ToolListOutput::of_catalog())
}
