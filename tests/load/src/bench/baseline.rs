//! What the servers do by themselves.

use std::future::IntoFuture;
use std::time::{Duration, Instant};

use async_nats::jetstream;
use bollard::Docker;
use futures::StreamExt;
use sqlx::postgres::PgPoolOptions;

use super::{Baselines, said, sandbox};
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
    said("baselines");
    let (commits, commit) = commits(site).await?;
    let (publishes, publish) = publishes(site).await?;
    let docker = Docker::connect_with_defaults()?.negotiate_version().await?;
    let exec = sandbox::bare(&docker, &site.installation.servers.sandbox_image).await?;
    let base = Baselines { commits, commit: commit.p50(), publishes, exec: exec.p50() };
    let figures = vec![
        Figure::new("baseline: Postgres commits of one row, 16 clients", commits, "/s"),
        Figure::new("  p50", commit.p50(), "ms"),
        Figure::new("  p99", commit.p99(), "ms"),
        Figure::new("baseline: JetStream publishes, 500 under way", publishes, "/s"),
        Figure::new("  one alone, p50", publish.p50(), "ms"),
        Figure::new("  one alone, p99", publish.p99(), "ms"),
        Figure::new("baseline: bare docker exec → first output, p50", exec.p50(), "ms"),
    ];
    Ok((base, figures))
}

async fn commits(site: &Site) -> anyhow::Result<(f64, Sample)> {
    let pool = PgPoolOptions::new()
        .max_connections(CLIENTS)
        .test_before_acquire(false)
        .connect(&site.installation.admin_url)
        .await?;
    let table = "create table if not exists public.load_baseline (id bigint generated always as identity primary key, body text not null)";
    sqlx::query(table).execute(&pool).await?;
    let (begun, body) = (Instant::now(), "x".repeat(MESSAGE));
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (pool, body) = (pool.clone(), body.clone());
            tokio::spawn(async move {
                let (mut connection, mut took) = (pool.acquire().await?, Vec::new());
                while begun.elapsed() < LONG {
                    let sent = Instant::now();
                    let insert =
                        sqlx::query("insert into public.load_baseline (body) values ($1)").bind(&body);
                    insert.execute(&mut *connection).await?;
                    took.push(sent.elapsed());
                }
                anyhow::Ok(took)
            })
        })
        .collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await??);
    }
    let elapsed = begun.elapsed();
    sqlx::query("drop table public.load_baseline").execute(&pool).await?;
    Ok((rate(all.len() as u64, elapsed), Sample::of(all)))
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
