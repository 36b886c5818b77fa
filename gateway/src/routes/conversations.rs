//! Conversations: list, read, rename, archive, their stream and their facts.

mod fresh;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, patch, post};
use http::{HeaderMap, StatusCode};
use oxagen_commands::Caller;
use oxagen_domain::{Conversation, ConversationId, Right};
use oxagen_journal::{FactFilter, Loaded};
use oxagen_projections::{ConversationRow, ConversationView, Paged};
use schemars::JsonSchema;
use serde::Deserialize;

use super::events::{self, Facts};
use super::{Paging, shapes};
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::Problem;
use crate::extract::{Asked, Body, Id};
use crate::sse::{self, Cursor, Source, Style, Watch};
use crate::state::App;

/// Facts that are read of a conversation which the view does not have yet: it is young.
const FACTS: u32 = 1000;
const ONE: &str = "/v1/conversations/{id}";

pub(super) fn doors() -> Vec<Door> {
    let (read, act) = (Guard::Needs(Right::Read), Guard::Needs(Right::Act));
    vec![
        Door::new(Method::Get, "/v1/conversations", "agent.conversation.list", read, get(list))
            .about("conversation", "")
            .paged()
            .gives::<shapes::ConversationPage>(200, "A page, newest first."),
        Door::new(Method::Get, ONE, "agent.conversation.read", read, get(one))
            .about("conversation", "")
            .paged()
            .gives::<shapes::ConversationWhole>(
                200,
                "The conversation with a page of its messages: the newest ones, oldest of them first, or those \
                 before the cursor.",
            ),
        Door::new(Method::Patch, ONE, "conversation.rename", act, patch(rename))
            .about("conversation", "Gives a conversation another title.")
            .takes::<Rename>()
            .gives_nothing(204, "It has that title."),
        Door::new(
            Method::Post,
            "/v1/conversations/{id}/archive",
            "agent.conversation.archive",
            act,
            post(archive),
        )
        .about("conversation", "")
        .gives_nothing(204, "It takes no more messages."),
        Door::new(Method::Get, "/v1/conversations/{id}/stream", "conversation.stream", read, get(stream))
            .about(
                "conversation",
                "Follows a conversation: its facts and, between them, text as it is written.",
            )
            .query::<String>("after", "Go on after this `seq`; 0 or nothing for the beginning.")
            .query::<bool>("follow", "Stay when no turn runs or waits any more.")
            .header::<String>("Last-Event-ID", "The same as `after`, and stronger.")
            .gives_media(200, "text/event-stream", "Server-sent events; `id` is the fact's `seq`."),
        Door::new(Method::Get, "/v1/conversations/{id}/events", "conversation.events", read, get(facts))
            .about("conversation", "Pages through a conversation's facts, ascending.")
            .query::<u64>("after", "Facts after this `seq`.")
            .query::<u64>("cursor", "`nextCursor` of the page before: another name for `after`.")
            .query::<String>("type", "Types with commas between; `tool_call.*` for all of an aggregate.")
            .limited(events::LIMIT, "Facts on a page, 100 unless told otherwise.")
            .gives::<shapes::FactPage>(200, "A page."),
    ]
}

/// Another title.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rename {
    /// 1 to 200 characters.
    #[schemars(length(min = 1, max = 200))]
    title: String,
}

#[derive(Debug, Default, Deserialize)]
struct Following {
    after: Option<String>,
    #[serde(default)]
    follow: bool,
}

async fn list(
    State(app): State<App>,
    Who(caller): Who,
    Asked(paging): Asked<Paging>,
) -> Result<Json<Paged<ConversationRow>>, Problem> {
    Ok(Json(app.views().await?.conversations(caller.scope, paging.page()).await?))
}

/// The view, or what the journal knows of a conversation that the view does not have yet.
async fn one(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<ConversationId>,
    Asked(paging): Asked<Paging>,
) -> Result<Json<ConversationView>, Problem> {
    let page = paging.page();
    if let Some(view) = app.views().await?.conversation(caller.scope, id, page.clone()).await? {
        return Ok(Json(view));
    }
    let state = own(&app, &caller, id).await?;
    let aggregate = Some(("conversation".to_owned(), id.to_string()));
    let filter = FactFilter { aggregate, ..FactFilter::default() };
    let facts = app.history().await?.page(caller.scope, &filter, 0, FACTS).await?;
    Ok(Json(fresh::view(id, state, &facts, &page)?))
}

async fn rename(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<ConversationId>,
    Body(rename): Body<Rename>,
) -> Result<StatusCode, Problem> {
    app.commands().await?.rename_conversation(&caller, id, rename.title).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn archive(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<ConversationId>,
) -> Result<StatusCode, Problem> {
    app.commands().await?.archive_conversation(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn stream(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<ConversationId>,
    Asked(following): Asked<Following>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let version = load(&app, &caller, id).await?.version;
    let cursor = Cursor::read(&headers, following.after.as_deref());
    let source = Source::Conversation(caller.scope, id);
    let watch = Watch { source, style: Style::Events, cursor, follow: following.follow, version };
    sse::open(&app, &caller, watch)
}

async fn facts(
    State(app): State<App>,
    Who(caller): Who,
    Id(id): Id<ConversationId>,
    Asked(asked): Asked<Facts>,
) -> Result<Response, Problem> {
    own(&app, &caller, id).await?;
    let filter = FactFilter { conversation: Some(id), kinds: asked.kinds()?, ..FactFilter::default() };
    events::page(&app, &caller, &filter, &asked).await
}

/// The conversation as the journal has it, if it is the caller's workspace's.
async fn own(app: &App, caller: &Caller, id: ConversationId) -> Result<Conversation, Problem> {
    load(app, caller, id).await.map(|loaded| loaded.state)
}

async fn load(app: &App, caller: &Caller, id: ConversationId) -> Result<Loaded<Conversation>, Problem> {
    let loaded = app.history().await?.load::<Conversation>(&id.to_string()).await?;
    if loaded.scope == Some(caller.scope) { Ok(loaded) } else { Err(Problem::not_found("conversation")) }
}
