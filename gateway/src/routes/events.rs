//! History: pages of facts, facts as they happen, and a workspace's stream.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, header};
use oxagen_commands::Caller;
use oxagen_domain::{ConversationId, Event, Fact, Right, WorkspaceId};
use oxagen_journal::FactFilter;
use oxagen_projections::Paged;
use serde::Deserialize;

use super::{after, shapes};
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Asked, Id};
use crate::sse::{self, Cursor, Source, Style, Watch};
use crate::state::App;

/// Facts on a page at most.
pub(super) const LIMIT: u32 = 1000;

pub(super) fn doors() -> Vec<Door> {
    let read = Guard::Needs(Right::Read);
    vec![
        Door::new(Method::Get, "/v1/events", "agent.history.read", read, get(facts))
            .about("history", "")
            .query::<u64>("after", "Facts after this `seq`.")
            .query::<u64>("cursor", "`nextCursor` of the page before: another name for `after`.")
            .query::<String>("type", "Types with commas between; `tool_call.*` for all of an aggregate.")
            .query::<uuid::Uuid>("conversation", "Facts of this conversation alone.")
            .limited(LIMIT, "Facts on a page, 100 unless told otherwise.")
            .query::<bool>(
                "follow",
                "Go on with what happens: a fact a line (NDJSON), or server-sent events for who accepts them.",
            )
            .gives::<shapes::FactPage>(200, "A page, ascending; or facts without an end.")
            .or_media("application/x-ndjson")
            .or_media("text/event-stream"),
        Door::new(Method::Get, "/v1/workspaces/{id}/stream", "workspace.stream", read, get(stream))
            .about("history", "Follows all facts of the key's workspace. It goes on until the viewer leaves.")
            .query::<String>("after", "Go on after this `seq`; 0 or nothing for the beginning.")
            .header::<String>("Last-Event-ID", "The same as `after`, and stronger.")
            .gives_media(200, "text/event-stream", "Server-sent events; `id` is the fact's `seq`."),
    ]
}

/// Which facts.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Facts {
    after: Option<String>,
    cursor: Option<String>,
    #[serde(rename = "type")]
    types: Option<String>,
    conversation: Option<ConversationId>,
    limit: Option<u32>,
    #[serde(default)]
    follow: bool,
}

impl Facts {
    /// The types asked for. One that no fact can have is refused rather than never found.
    pub(super) fn kinds(&self) -> Result<Vec<String>, Problem> {
        let asked = self.types.as_deref().unwrap_or_default().split(',').map(str::trim);
        let kinds: Vec<_> = asked.filter(|kind| !kind.is_empty()).map(str::to_owned).collect();
        let known = |kind: &String| match kind.strip_suffix(".*") {
            Some(aggregate) => Event::kinds().any(|known| known.split('.').next() == Some(aggregate)),
            None => Event::kinds().any(|known| known == kind),
        };
        match kinds.iter().find(|kind| !known(kind)) {
            Some(unknown) => Err(Problem::invalid("type", format!("types of facts; `{unknown}` is none"))),
            None => Ok(kinds),
        }
    }

    fn after(&self) -> Result<u64, Problem> {
        after(self.after.as_deref().or(self.cursor.as_deref()))
    }

    fn limit(&self) -> Result<u32, Problem> {
        match self.limit {
            None => Ok(100),
            Some(limit) if (1..=LIMIT).contains(&limit) => Ok(limit),
            Some(limit) => Err(Problem::invalid("limit", format!("1 to {LIMIT}, not {limit}"))),
        }
    }
}

async fn facts(
    State(app): State<App>,
    Who(caller): Who,
    Asked(asked): Asked<Facts>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let filter =
        FactFilter { conversation: asked.conversation, kinds: asked.kinds()?, ..FactFilter::default() };
    if !asked.follow {
        return page(&app, &caller, &filter, &asked).await;
    }
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let style = if accept.contains("text/event-stream") { Style::Events } else { Style::Lines };
    let cursor = match style {
        Style::Events => Cursor::read(&headers, asked.after.as_deref()),
        Style::Lines => Cursor::After(asked.after()?),
    };
    let source = Source::Workspace(caller.scope, filter);
    sse::open(&app, &caller, Watch { source, style, cursor, follow: true, version: 0 })
}

/// A page of facts, ascending.
pub(super) async fn page(
    app: &App,
    caller: &Caller,
    filter: &FactFilter,
    asked: &Facts,
) -> Result<Response, Problem> {
    let limit = asked.limit()?;
    let mut items: Vec<Fact> =
        app.history().await?.page(caller.scope, filter, asked.after()?, limit + 1).await?;
    let more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let next_cursor = items.last().filter(|_| more).map(|fact| fact.seq.to_string());
    Ok(Json(Paged { items, next_cursor }).into_response())
}

#[derive(Debug, Default, Deserialize)]
struct Following {
    after: Option<String>,
}

async fn stream(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<WorkspaceId>,
    Asked(following): Asked<Following>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if id != caller.scope.workspace {
        return Err(Problem::not_found("workspace"));
    }
    let cursor = Cursor::read(&headers, following.after.as_deref());
    let source = Source::Workspace(caller.scope, FactFilter::default());
    sse::open(&app, &caller, Watch { source, style: Style::Events, cursor, follow: true, version: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_checked_and_limits_never_bent() {
        let asked = |types: &str| Facts { types: Some(types.to_owned()), ..Facts::default() }.kinds();
        assert_eq!(asked("turn.started, tool_call.*").unwrap(), ["turn.started", "tool_call.*"]);
        assert!(asked("turn.begun").is_err() && asked("ghost.*").is_err());
        assert!(asked("").unwrap().is_empty());
        let limit = |limit| Facts { limit: Some(limit), ..Facts::default() }.limit();
        assert!(limit(0).is_err() && limit(1001).is_err() && limit(1000).is_ok());
    }
}
