//! The route table: every door of the gateway, noun by noun.

mod agents;
mod approvals;
mod calls;
mod conversations;
mod docs;
mod events;
mod health;
mod keys;
mod me;
mod objects;
mod plans;
mod policy;
mod shapes;
mod tools;
mod turns;
mod verify;

use oxagen_projections::Page;
use serde::Deserialize;

use crate::door::Door;
use crate::error::Problem;

/// Every door.
pub(crate) fn doors() -> Vec<Door> {
    [
        turns::doors(),
        conversations::doors(),
        tools::doors(),
        calls::doors(),
        approvals::doors(),
        policy::doors(),
        plans::doors(),
        events::doors(),
        verify::doors(),
        agents::doors(),
        objects::doors(),
        keys::doors(),
        me::doors(),
        health::doors(),
        docs::doors(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Which page of a list.
#[derive(Debug, Default, Deserialize)]
struct Paging {
    limit: Option<u32>,
    cursor: Option<String>,
}

impl Paging {
    fn page(self) -> Page {
        Page { limit: self.limit.unwrap_or(Page::default().limit), cursor: self.cursor }
    }
}

/// The number after which facts are asked for; what is none is refused by name.
fn after(text: Option<&str>) -> Result<u64, Problem> {
    text.filter(|text| !text.is_empty()).map_or(Ok(0), |text| {
        text.parse().map_err(|_| Problem::invalid("after", format!("the seq of a fact, or 0, not `{text}`")))
    })
}
