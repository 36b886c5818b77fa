//! Pools whose waits are all bounded, so that a server that stalls without closing costs no permit for ever.

use std::str::FromStr;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};
use tokio::time::timeout;

/// Longest wait for a free connection.
const ACQUIRE: Duration = Duration::from_secs(5);
/// Longest wait for a sign of life.
const LIFE: Duration = Duration::from_secs(2);
/// A connection idle for longer is asked for a sign of life before use; asking each time costs a round trip.
const IDLE: Duration = Duration::from_secs(1);
/// Limits that the server keeps, so that a stuck or vanished client lets go of its locks. Rows and their cursor are made
/// again from the journal, so a commit does not wait for the disk: a server that crashes forgets both together.
const SESSION: &[(&str, &str)] = &[
    ("synchronous_commit", "off"),
    ("lock_timeout", "10s"),
    ("idle_in_transaction_session_timeout", "15s"),
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
];

/// Where to connect, and as what. `statement_timeout` in Postgres's own words.
pub(crate) fn address(
    url: &str,
    name: &str,
    statement_timeout: &str,
) -> Result<PgConnectOptions, sqlx::Error> {
    let address = PgConnectOptions::from_str(url)?
        .application_name(&format!("oxagen-{name}"))
        .options(SESSION.iter().copied())
        .options([("statement_timeout", statement_timeout)]);
    Ok(address.disable_statement_logging())
}

/// How many connections, and how they are looked after.
pub(crate) fn options(max_connections: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(max_connections)
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move { Ok(meta.idle_for < IDLE || answers(connection).await) })
        })
        // The pool's own test on return has no limit and would keep the permit on a stalled server.
        .after_release(|connection, _| {
            Box::pin(async move {
                if answers(connection).await { Ok(true) } else { Err(sqlx::Error::WorkerCrashed) }
            })
        })
}

async fn answers(connection: &mut PgConnection) -> bool {
    matches!(timeout(LIFE, connection.ping()).await, Ok(Ok(())))
}
