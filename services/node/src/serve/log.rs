//! The log: for people on a terminal, JSON elsewhere, always on stderr.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

use crate::config::{ConfigError, Log};

/// Starts to log.
///
/// # Errors
/// [`ConfigError::Value`] for a filter that is none.
pub(crate) fn start(log: &Log) -> Result<(), ConfigError> {
    let filter = EnvFilter::builder().parse(&log.filter).map_err(|error| ConfigError::Value {
        place: "environment".to_owned(),
        name: "RUST_LOG".to_owned(),
        found: format!("{:?} ({error})", log.filter),
        expected: "a filter such as `info` or `warn,oxagen_relay=debug`".to_owned(),
    })?;
    let on_terminal = io::stderr().is_terminal();
    let as_json = log.format == "json" || (log.format == "auto" && !on_terminal);
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // A log that was started before stays.
    let _ = if as_json {
        builder.json().flatten_event(true).with_current_span(false).try_init()
    } else {
        builder.compact().with_ansi(on_terminal).try_init()
    };
    Ok(())
}
