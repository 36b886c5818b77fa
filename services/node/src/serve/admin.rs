//! Health and metrics of a process, for one without a gateway too.

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tracing::{error, info};

use super::board::{Board, Watch};
use crate::failure::Failure;

/// The content type of metrics.
const METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfRole {
    role: &'static str,
}

/// Answers in the background as long as the process lives.
///
/// # Errors
/// When the address cannot be listened on.
pub(super) async fn start(listen: &str, board: Board) -> Result<(), Failure> {
    let listener = TcpListener::bind(listen).await.map_err(|error| {
        Failure::Failed(format!(
            "cannot listen on {listen}: {error}; set OXAGEN_ADMIN_LISTEN to a free address"
        ))
    })?;
    info!(listen, "health and metrics");
    let router = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(board);
    tokio::spawn(async move {
        if let Err(cause) = axum::serve(listener, router).await {
            error!(%cause, "health and metrics are no longer served");
        }
    });
    Ok(())
}

/// A line for each role.
async fn ready(State(board): State<Board>) -> impl IntoResponse {
    let roles = board.roles();
    let line = |(role, watch): &(super::Role, Watch)| {
        let state = if watch.is_ready() { "ready" } else { "not ready" };
        let trouble = watch.trouble().map_or_else(String::new, |trouble| format!(" ({trouble})"));
        format!("{}: {state}{trouble}\n", role.name())
    };
    let all = roles.iter().all(|(_, watch)| watch.is_ready());
    let status = if all { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, roles.iter().map(line).collect::<String>())
}

async fn metrics(State(board): State<Board>) -> Result<impl IntoResponse, StatusCode> {
    let text = text(&board).map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)?;
    Ok(([(header::CONTENT_TYPE, METRICS)], text))
}

fn text(board: &Board) -> Result<String, std::fmt::Error> {
    let mut registry = Registry::with_prefix("oxagen");
    let mut gauge = |name: &str, help: &str| {
        let family = Family::<OfRole, Gauge>::default();
        registry.register(name, help, family.clone());
        move |role: &'static str, value: u64| {
            family.get_or_create(&OfRole { role }).set(i64::try_from(value).unwrap_or(i64::MAX));
        }
    };
    let ready = gauge("role_ready", "Whether the role is at work");
    let degraded = gauge("role_degraded", "Whether the role works less than it should");
    let active = gauge("role_active", "Whether this one works; the others of its kind stand by");
    let seq = gauge("role_seq", "How far the role is");
    let lag = gauge("role_lag", "Facts that wait for the role");
    let letters = gauge("role_dead_letters", "Facts that the role gave up on");
    for (role, watch) in board.roles() {
        let name = role.name();
        ready(name, watch.is_ready().into());
        degraded(name, watch.trouble().is_some().into());
        match watch {
            Watch::Starts | Watch::Runs => {}
            Watch::Gateway(handle) => seq(name, handle.seq()),
            Watch::Relay(handle) => {
                let status = handle.status();
                active(name, status.leading.into());
                seq(name, status.published);
                lag(name, status.lag());
            }
            Watch::Projector(handle) => {
                let status = handle.status();
                active(name, status.active.into());
                seq(name, status.cursor);
                lag(name, status.lag);
                letters(name, status.dead_letters);
            }
        }
    }
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::Role;
    use super::*;

    #[test]
    fn a_role_that_starts_is_not_ready() {
        let board = Board::new(&[Role::Reactor, Role::Relay]);
        board.set(Role::Reactor, Watch::Runs);
        let text = text(&board).unwrap();
        assert!(text.contains("oxagen_role_ready{role=\"reactor\"} 1"), "{text}");
        assert!(text.contains("oxagen_role_ready{role=\"relay\"} 0"), "{text}");
    }
}
