//! Pages of facts, and how to find a place among them.

use oxagen_domain::{ConversationId, Fact};
use serde::Deserialize;

use super::Client;
use crate::failure::Failure;

/// Facts on a page.
const PAGE: u32 = 500;
/// Where facts are read and followed.
const PATH: &str = "/v1/events";

/// Which facts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Which {
    /// Of this conversation.
    pub(crate) conversation: Option<ConversationId>,
    /// Of these types.
    pub(crate) types: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    items: Vec<Fact>,
    next_cursor: Option<String>,
}

impl Which {
    fn query(&self) -> Vec<(&'static str, String)> {
        let mut query = Vec::new();
        query.extend(self.conversation.map(|id| ("conversation", id.to_string())));
        query.extend((!self.types.is_empty()).then(|| ("type", self.types.join(","))));
        query
    }
}

impl Client {
    /// A page of facts after `after`, and whether there are more.
    pub(crate) async fn facts(&self, which: &Which, after: u64) -> Result<(Vec<Fact>, bool), Failure> {
        let page = self.page(which, after, PAGE).await?;
        Ok((page.items, page.next_cursor.is_some()))
    }

    /// The facts after `after`, and then what happens.
    pub(crate) fn follow_facts(&self, which: &Which, after: u64) -> super::Follow {
        let mut query = which.query();
        query.push(("follow", "true".to_owned()));
        self.follow(PATH.to_owned(), query, Some(after))
    }

    /// The `seq` after which no fact is `before` any more; with a `before` that all are, the newest one's. Facts that
    /// are `before` must come before those that are not.
    pub(crate) async fn place(&self, which: &Which, before: impl Fn(&Fact) -> bool) -> Result<u64, Failure> {
        let (mut low, mut high) = (0, None);
        let mut step = 1;
        loop {
            let middle = high.map_or(low + step, |high: u64| low + (high - low) / 2);
            if middle == low {
                return Ok(low);
            }
            // The first fact after `middle - 1` says on which side it lies.
            match self.page(which, middle - 1, 1).await?.items.first() {
                Some(fact) if before(fact) => low = fact.seq,
                Some(_) | None => high = Some(middle),
            }
            step *= 2;
        }
    }

    async fn page(&self, which: &Which, after: u64, limit: u32) -> Result<Page, Failure> {
        let mut query = which.query();
        query.extend([("after", after.to_string()), ("limit", limit.to_string())]);
        self.get(PATH, &query).await
    }
}
