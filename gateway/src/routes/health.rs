//! Whether the gateway lives, whether it can work, and what it has counted.

use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use axum::extract::State;
use axum::response::IntoResponse;
use axum::routing::get;
use http::{HeaderValue, StatusCode, header};
use tokio::time::timeout;
use tracing::warn;

use crate::door::{Door, Guard, Method};
use crate::error::{INTERNAL, Problem};
use crate::metrics::{self, Readings};
use crate::state::App;

/// The longest wait for one dependency.
const PATIENCE: Duration = Duration::from_secs(2);
/// The projections whose lag is shown.
const PROJECTIONS: [&str; 3] = ["postgres", "clickhouse", "neo4j"];

pub(super) fn doors() -> Vec<Door> {
    vec![
        Door::new(Method::Get, "/healthz", "health.live", Guard::Open, get(alive))
            .about("runtime", "Says that the process lives.")
            .gives_media(200, "text/plain", "It lives."),
        Door::new(Method::Get, "/readyz", "health.ready", Guard::Open, get(ready))
            .about(
                "runtime",
                "Says whether the gateway can work, and if not, what it waits for: a line each.",
            )
            .gives_media(200, "text/plain", "It can.")
            .gives_media(503, "text/plain", "It cannot yet."),
        Door::new(Method::Get, "/metrics", "health.metrics", Guard::Open, get(metrics))
            .about("runtime", "What was counted, in Prometheus's text format.")
            .gives_media(200, "application/openmetrics-text", "The metrics."),
    ]
}

async fn alive() -> &'static str {
    "ok\n"
}

async fn ready(State(app): State<App>) -> impl IntoResponse {
    let (journal, views, bus) = tokio::join!(
        answers("journal", app.journal().ping()),
        answers("read models", app.queries().cursor(PROJECTIONS[0])),
        answers("nats", app.bus().ping()),
    );
    let facts = app.hub().is_ready();
    let serving = !app.shutdown().is_cancelled();
    let checks =
        [("journal", journal), ("read models", views), ("nats", bus), ("facts", facts), ("serving", serving)];
    let text: String = checks
        .iter()
        .map(|(name, is_ready)| format!("{name}: {}\n", if *is_ready { "ready" } else { "not ready" }))
        .collect();
    let all = checks.iter().all(|(_, is_ready)| *is_ready);
    (if all { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, text)
}

/// Anybody may ask, so the reason goes to the log and not into the answer.
async fn answers<T, E: Display>(name: &str, check: impl Future<Output = Result<T, E>>) -> bool {
    match timeout(PATIENCE, check).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) => {
            warn!(dependency = name, %error, "not ready");
            false
        }
        Err(_) => {
            warn!(dependency = name, "not ready: no answer");
            false
        }
    }
}

async fn metrics(State(app): State<App>) -> Result<impl IntoResponse, Problem> {
    let readings = Readings { streams: app.tasks().len(), seq: app.hub().head(), lags: lags(&app).await };
    let text = app
        .metrics()
        .text(&readings)
        .map_err(|error| Problem::new(INTERNAL, "the metrics could not be written").because(error))?;
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE))], text))
}

/// Lags that cannot be read now are left out: the rest is worth having.
async fn lags(app: &App) -> Vec<(&'static str, u64)> {
    let read = async {
        let head = app.journal().head().await.ok()?;
        let mut lags = Vec::new();
        for projection in PROJECTIONS {
            let cursor = app.queries().cursor(projection).await.ok()?;
            lags.push((projection, head.saturating_sub(cursor)));
        }
        Some(lags)
    };
    timeout(PATIENCE, read).await.ok().flatten().unwrap_or_default()
}
