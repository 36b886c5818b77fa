//! `oxagen verify`: whether every store holds what the journal says it must, straight on the stores.

use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::Args;
use oxagen_domain::TenantId;
use oxagen_jetstream::{Bus, NatsOptions};
use oxagen_projections::verify::{Difference, Outage, Report, Tally, VerifyOptions, What};
use tokio::time::timeout;

use super::Desk;
use super::replay::time::since;
use crate::config::{Config, Log};
use crate::failure::Failure;
use crate::output::{Output, bold, note, short};
use crate::progress;
use crate::serve::{Parts, log, stores};

/// Longest wait for NATS.
const ANSWER: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "\
Examples:
  oxagen verify
  oxagen verify --since 2h --tenant 0198b0c2-…     rows whose last fact is of the last two hours
  oxagen verify --after 1200 --until 1300 --json | jq .differences

It runs beside everything else: a row that moves on meanwhile is left out, and a store that is merely behind does not
differ. A store whose address is not set is left out. What differs is mended by `oxagen rebuild`.

Exit codes: 0 all equal, 1 something differs, 3 a store could not be asked.";

/// `verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Verify {
    /// Of this tenant alone
    #[arg(long, value_name = "TENANT_ID")]
    tenant: Option<TenantId>,
    /// Rows whose last fact occurred then or later: a time, or 90s, 15m, 2h, 7d ago
    #[arg(long, value_name = "TIME", value_parser = since, conflicts_with = "after")]
    since: Option<DateTime<Utc>>,
    /// Rows whose last fact comes after this seq
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
    /// Rows whose last fact comes no later than this seq
    #[arg(long, value_name = "SEQ")]
    until: Option<u64>,
    /// Differences named at most; all are counted
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

/// Compares, and says what differs.
pub(super) async fn verify(desk: &Desk, verify: Verify) -> Result<(), Failure> {
    let config = &desk.configured.config;
    log::start(&Log { format: "human".to_owned(), filter: "warn,async_nats=off".to_owned() })?;
    let commands = Parts::journal_only(config).await?;
    let journal = commands.journal();
    let after = match verify.since {
        Some(time) => journal.seq_at(time).await?.saturating_sub(1),
        None => verify.after,
    };
    let mut verifier = stores::verifier(config, journal)?;
    let mut away = None;
    match bus(config).await {
        Ok(None) => {}
        Ok(Some(bus)) => verifier = verifier.with_stream(bus),
        Err(cause) => away = Some(Outage { store: "stream", cause }),
    }
    let Verify { tenant, until, limit, .. } = verify;
    let options = VerifyOptions { tenant, after, until, limit };
    let mut report =
        progress::during("comparing the stores with the journal", verifier.run(&options)).await?;
    report.unavailable.extend(away);
    print(desk.out, &report)?;
    judge(&report)
}

/// The connection to NATS, if it is configured; here it is not waited for.
async fn bus(config: &Config) -> Result<Option<Bus>, String> {
    let Some(urls) = config.nats.url.clone() else { return Ok(None) };
    let options = NatsOptions { urls, name: "oxagen-verify".to_owned(), prefix: config.nats.prefix.clone() };
    match timeout(ANSWER, oxagen_jetstream::connect(&options)).await {
        Ok(connected) => connected.map(Some).map_err(|error| error.to_string()),
        Err(_) => Err(format!("NATS did not answer within {} s", ANSWER.as_secs())),
    }
}

fn judge(report: &Report) -> Result<(), Failure> {
    if !report.is_equal() {
        return Err(Failure::Failed(format!("{} things are not as the journal says", report.differing)));
    }
    match report.unavailable.first() {
        Some(Outage { store, cause }) => {
            Err(Failure::Unreachable(format!("{store} could not be asked: {cause}")))
        }
        None => Ok(()),
    }
}

fn print(out: Output, report: &Report) -> Result<(), Failure> {
    if out.is_json() {
        return out.value(report);
    }
    for Tally { store, table, tenant_id, expected, found } in &report.tables {
        let verdict = if expected == found {
            "equal".to_owned()
        } else {
            bold(&format!("differs, {} expected", expected.rows))
        };
        let (rows, hash) = (found.rows, found.hash >> 64);
        out.line(format!("{store:<10}  {table:<26}  {tenant_id}  {rows:>9} rows  {hash:016x}  {verdict}"))?;
    }
    for difference in &report.differences {
        out.line(told(difference))?;
    }
    if report.differing > report.differences.len() as u64 {
        note(format!("and {} more; see --limit", report.differing - report.differences.len() as u64));
    }
    for Outage { store, cause } in &report.unavailable {
        note(format!("{store} could not be asked: {cause}"));
    }
    note(format!(
        "facts {} to {} of {}: {} differences",
        report.after + 1,
        report.until,
        report.head,
        report.differing
    ));
    Ok(())
}

fn told(Difference { store, table, id, what, .. }: &Difference) -> String {
    let what = match what {
        What::Missing => "missing".to_owned(),
        What::Extra => "must not be there".to_owned(),
        What::Unreadable { cause } => format!("cannot be read: {}", short(cause, 200)),
        What::Changed { columns } => {
            let column = |column: &oxagen_projections::verify::ColumnDifference| {
                let text = |value: &serde_json::Value| short(&value.to_string(), 80);
                format!("{} is {}, must be {}", column.column, text(&column.found), text(&column.expected))
            };
            columns.iter().map(column).collect::<Vec<_>>().join("; ")
        }
    };
    format!("{store} {table} {id}: {what}")
}
