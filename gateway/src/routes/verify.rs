//! Whether the stores hold what the journal says they must, for the caller's tenant.

use axum::Json;
use axum::extract::State;
use axum::routing::get;
use chrono::{DateTime, Utc};
use oxagen_domain::Right;
use oxagen_projections::verify::{Outage, Report, VerifyOptions};
use serde::Deserialize;
use serde_json::{Value, json};
use tracing::warn;

use super::{after, shapes};
use crate::caller::Who;
use crate::door::{Door, Guard, Method};
use crate::error::{Problem, TOO_MANY_AT_ONCE};
use crate::extract::Asked;
use crate::state::App;

/// Differences that are named at most.
const LIMIT: u32 = 1000;
/// Seconds after which one who found another comparison under way may come again.
const RETRY_AFTER: u64 = 10;

pub(super) fn doors() -> Vec<Door> {
    let administer = Guard::Needs(Right::Administer);
    vec![
        Door::new(Method::Get, "/v1/verify", "agent.history.verify", administer, get(verify))
            .about(
                "history",
                "Compares the tenant's rows in every store with what the journal says they must be.",
            )
            .query::<u64>("after", "Facts, and rows whose last fact comes, after this `seq`.")
            .query::<u64>("until", "Up to this `seq`, itself included.")
            .query::<DateTime<Utc>>("since", "Facts and rows since this time, in place of `after`.")
            .limited(LIMIT, "Differences that are named, 100 unless told otherwise; all are counted.")
            .gives::<shapes::Comparison>(200, "What was found."),
    ]
}

/// Which facts and rows.
#[derive(Debug, Default, Deserialize)]
struct Window {
    after: Option<String>,
    until: Option<u64>,
    since: Option<DateTime<Utc>>,
    limit: Option<u32>,
}

async fn verify(
    State(app): State<App>,
    Who(caller): Who,
    Asked(window): Asked<Window>,
) -> Result<Json<Value>, Problem> {
    let limit = window.limit.unwrap_or(100);
    if !(1..=LIMIT).contains(&limit) {
        return Err(Problem::invalid("limit", format!("1 to {LIMIT}, not {limit}")));
    }
    let after = match (window.since, after(window.after.as_deref())?) {
        (None, after) => after,
        (Some(_), 1..) => return Err(Problem::invalid("since", "either this or `after`")),
        (Some(since), 0) => app.history().await?.seq_at(since).await?.saturating_sub(1),
    };
    let _alone = app.comparing().try_acquire().map_err(|_| {
        let text = "the stores are being compared already: one comparison runs at a time";
        Problem::new(TOO_MANY_AT_ONCE, text).retry_after(RETRY_AFTER)
    })?;
    let tenant = Some(caller.scope.tenant);
    let options = VerifyOptions { tenant, after, until: window.until, limit: limit as usize };
    Ok(Json(told(&app.verifier().run(&options).await?)))
}

/// The report; why a store could not be asked is for the operator's log.
fn told(report: &Report) -> Value {
    for Outage { store, cause } in &report.unavailable {
        warn!(store, cause, "a store could not be compared");
    }
    json!({
        "equal": report.is_equal(), "complete": report.is_complete(), "head": report.head, "after": report.after,
        "until": report.until, "tables": report.tables, "differences": report.differences,
        "differing": report.differing,
        "unavailable": report.unavailable.iter().map(|outage| outage.store).collect::<Vec<_>>(),
    })
}
