//! The end of a call that was just asked for, from what the hub has in memory.

use std::time::Duration;

use oxagen_domain::{CallId, Fact, Scope};
use oxagen_projections::ToolCallRow;
use tokio::time::timeout;
use tracing::warn;

use super::{facts, view};
use crate::error::Problem;
use crate::hub::{Item, Subscription, Topic};
use crate::state::App;

/// The call, if it has ended or ends in time. Nothing but a place in memory is held meanwhile, and the journal is read
/// only for a call that began before `since`, or when that is not known.
///
/// The call is committed by now: whoever asked for it gets their receipt, whatever fails here.
pub(super) async fn within(
    app: &App,
    scope: Scope,
    call: CallId,
    since: Option<u64>,
    wait: Duration,
) -> Option<ToolCallRow> {
    let mut news = app.hub().subscribe(Topic::Call(scope, call), since.unwrap_or(u64::MAX));
    let mut seen: Vec<Fact> = Vec::new();
    match (since, news.recent.take()) {
        (Some(_), Some(recent)) => seen.extend(recent.iter().map(|passing| passing.fact.clone())),
        (None, _) | (_, None) => {
            if let Some(row) = kept(app, scope, call).await {
                return Some(row);
            }
        }
    }
    let ended = seen.iter().any(is_end)
        || tokio::select! {
            ended = timeout(wait, go_by(&mut news, &mut seen)) => ended.unwrap_or(false),
            () = app.shutdown().cancelled() => false,
        };
    let whole = seen.first().is_some_and(|first| first.aggregate_version == 1);
    match (ended, whole) {
        (true, true) => view::of_facts(&seen),
        (true, false) => kept(app, scope, call).await,
        (false, _) => None,
    }
}

/// Takes in facts up to the end; `false` if they stop before it.
async fn go_by(news: &mut Subscription, seen: &mut Vec<Fact>) -> bool {
    while let Some(item) = news.next().await {
        if let Item::Fact(passing) = item {
            seen.push(passing.fact.clone());
            if is_end(&passing.fact) {
                return true;
            }
        }
    }
    false
}

/// The call as the journal has it, if it has ended there.
async fn kept(app: &App, scope: Scope, call: CallId) -> Option<ToolCallRow> {
    let facts: Result<Vec<Fact>, Problem> = facts(app, scope, call).await;
    match facts {
        Ok(facts) => facts.iter().any(is_end).then(|| view::of_facts(&facts)).flatten(),
        Err(problem) => {
            warn!(%call, problem = %problem.into_logged_body(), "a call goes on without its caller");
            None
        }
    }
}

/// Whether a call stands so when it is over.
pub(super) fn is_over(status: &str) -> bool {
    ["completed", "failed", "cancelled", "denied", "in_doubt"].contains(&status)
}

fn is_end(fact: &Fact) -> bool {
    fact.kind.strip_prefix("tool_call.").is_some_and(is_over)
}
