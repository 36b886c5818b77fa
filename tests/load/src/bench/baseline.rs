//! What the servers do by themselves.

use std::env;
use std::fs;
use std::future::IntoFuture;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use async_nats::jetstream;
use bollard::Docker;
use futures::StreamExt;
use tokio::process::Command;

use super::{Baselines, sandbox};
use crate::report::Figure;
use crate::site::Site;
use crate::stats::{Sample, rate};

const CLIENTS: u32 = 16;
const LONG: Duration = Duration::from_secs(4);
/// About a fact's size on the stream.
const MESSAGE: usize = 900;
/// Messages under way, as the relay has them.
const WINDOW: usize = 500;

/// Measures all of them.
pub(super) async fn measure(site: &Site) -> anyhow::Result<(Baselines, Vec<Figure>)> {
    println!("baselines …");
    let (commits, commit) = commits(site).await?;
    let (publishes, publish) = publishes(site).await?;
    let docker = Docker::connect_with_defaults()?.negotiate_version().await?;
    let exec = sandbox::bare(&docker, &site.installation.servers.sandbox_image).await?;
    let base = Baselines { commits, commit: commit.p50(), publishes, exec: exec.p50() };
    let figures = vec![
        Figure::new("baseline: pgbench, commits of one row, 16 clients", commits, "/s"),
        Figure::new("  p50", commit.p50(), "ms"),
        Figure::new("  p99", commit.p99(), "ms"),
        Figure::new("baseline: JetStream publishes, 500 under way", publishes, "/s"),
        Figure::new("  one alone, p50", publish.p50(), "ms"),
        Figure::new("  one alone, p99", publish.p99(), "ms"),
        Figure::new("baseline: bare docker exec → first output, p50", exec.p50(), "ms"),
    ];
    Ok((base, figures))
}

/// By `pgbench`, which lies beside the server.
async fn commits(site: &Site) -> anyhow::Result<(f64, Sample)> {
    const BINARIES: &str = "select setting from pg_config where name = 'BINDIR'";
    let folder: String = sqlx::query_scalar(BINARIES).fetch_one(&site.postgres).await?;
    let table = "create table public.load_baseline (id bigint generated always as identity primary key, body text not null)";
    sqlx::query(table).execute(&site.postgres).await?;
    let own = env::temp_dir().join(&site.installation.name);
    fs::create_dir_all(&own)?;
    let script = own.join("insert.sql");
    fs::write(
        &script,
        format!("insert into public.load_baseline (body) values ('{}');\n", "x".repeat(MESSAGE)),
    )?;
    let (clients, long) = (CLIENTS.to_string(), LONG.as_secs().to_string());
    let mut pgbench = Command::new(Path::new(&folder).join("pgbench"));
    pgbench.args(["-n", "-M", "prepared", "-l", "-c", &clients, "-j", "2", "-T", &long, "-f"]);
    pgbench.arg(&script).arg(&site.installation.admin_url).current_dir(&own).kill_on_drop(true);
    let done = pgbench.output().await.with_context(|| format!("cannot run {folder}/pgbench"))?;
    ensure!(done.status.success(), "pgbench: {}", String::from_utf8_lossy(&done.stderr));
    let mut took = Vec::new();
    for file in fs::read_dir(&own)?.flatten().filter(|file| file.path() != script) {
        // A line is: client, transaction, microseconds, …
        let column = |line: &str| line.split(' ').nth(2)?.parse().map(Duration::from_micros).ok();
        took.extend(fs::read_to_string(file.path())?.lines().filter_map(column));
    }
    fs::remove_dir_all(&own)?;
    sqlx::query("drop table public.load_baseline").execute(&site.postgres).await?;
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let rate = said.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    Ok((rate.with_context(|| format!("pgbench told no rate: {said}"))?, Sample::of(took)))
}

async fn publishes(site: &Site) -> anyhow::Result<(f64, Sample)> {
    let client = async_nats::connect(&site.installation.servers.nats_url).await?;
    let context = jetstream::new(client);
    let name = format!("{}_baseline", site.installation.name);
    let config = jetstream::stream::Config {
        name: name.clone(),
        subjects: vec![format!("{name}.>")],
        ..Default::default()
    };
    context.create_stream(config).await?;
    let (subject, body) = (format!("{name}.fact"), "x".repeat(MESSAGE));
    let (begun, mut count) = (Instant::now(), 0_u64);
    while begun.elapsed() < LONG {
        let mut under_way = futures::stream::FuturesUnordered::new();
        for _ in 0..WINDOW {
            under_way.push(context.publish(subject.clone(), body.clone().into()).await?.into_future());
        }
        while let Some(acknowledged) = under_way.next().await {
            acknowledged?;
            count += 1;
        }
    }
    let publishes = rate(count, begun.elapsed());
    let mut took = Vec::new();
    for _ in 0..500 {
        let sent = Instant::now();
        context.publish(subject.clone(), body.clone().into()).await?.await?;
        took.push(sent.elapsed());
    }
    context.delete_stream(&name).await?;
    Ok((publishes, Sample::of(took)))
}
