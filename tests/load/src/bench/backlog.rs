//! A pile of facts: how fast the relay numbers and publishes it, and each projector takes it in, alone.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use async_nats::jetstream;

use super::{Baselines, Part};
use crate::history::Author;
use crate::machine;
use crate::report::{Figure, Goal};
use crate::site::Site;

/// Facts in the pile.
const FACTS: u64 = 100_000;
const LOOK: Duration = Duration::from_millis(5);
/// Whoever is not through by then is measured by what it has done.
const LONGEST: Duration = Duration::from_secs(45);

/// A store, and what its projector should take in.
#[derive(Clone, Copy)]
pub(super) struct Store {
    pub(super) part: Part,
    name: &'static str,
    /// Facts a second.
    goal: f64,
}

pub(super) const STORES: [Store; 3] = [
    Store { part: Part::PostgresBacklog, name: "postgres", goal: 20_000.0 },
    Store { part: Part::ClickhouseBacklog, name: "clickhouse", goal: 100_000.0 },
    Store { part: Part::Neo4jBacklog, name: "neo4j", goal: 5_000.0 },
];

/// How fast a role was, and what that took.
struct Pace {
    /// Facts a second.
    facts: f64,
    /// Processor time of its process, in microseconds a fact.
    own: f64,
    /// Processor time of everything on the machine, in microseconds a fact.
    machine: f64,
}

/// An installation whose facts nobody has taken in yet.
pub(super) struct Pile {
    site: Site,
    /// The number of its last fact, once it is numbered.
    head: u64,
}

impl Pile {
    /// Writes it while nobody works.
    pub(super) async fn new() -> anyhow::Result<Self> {
        println!("\npiling up {FACTS} facts …");
        let site = Site::new().await?;
        let workspace = site.installation.workspace("http://127.0.0.1:9").await;
        let begun = Instant::now();
        Author::of(&site, &workspace).await?.fill(FACTS).await?;
        let head: i64 =
            sqlx::query_scalar("select count(*) from journal.events").fetch_one(&site.postgres).await?;
        for table in ["vacuum analyze journal.events", "checkpoint"] {
            sqlx::query(table).execute(&site.postgres).await?;
        }
        println!("{head} facts in {:.1} s", begun.elapsed().as_secs_f64());
        Ok(Self { site, head: head.unsigned_abs() })
    }

    /// The relay, alone.
    pub(super) async fn relay(&self, base: Baselines) -> anyhow::Result<Vec<Figure>> {
        let servers = &self.site.installation.servers;
        let context = jetstream::new(async_nats::connect(&servers.nats_url).await?);
        let stream = format!("{}_FACTS", self.site.installation.name);
        let published = async || match context.get_stream(&stream).await {
            Ok(mut stream) => Ok(stream.info().await?.state.last_sequence),
            // The relay makes it.
            Err(_) => Ok(0),
        };
        let pace = self.until_done("relay", published).await?;
        sqlx::query("vacuum analyze journal.sequence").execute(&self.site.postgres).await?;
        Ok(self.figures("relay", pace, base, 20_000.0))
    }

    /// One projector, alone.
    pub(super) async fn projector(&self, store: Store, base: Baselines) -> anyhow::Result<Vec<Figure>> {
        let role = format!("projector-{}", store.name);
        let from = self.site.cursor(store.name).await?;
        ensure!(from == 0, "{role} stands at {from} before its backlog");
        let pace = self.until_done(&role, async || self.site.cursor(store.name).await).await?;
        Ok(self.figures(&role, pace, base, store.goal))
    }

    fn figures(&self, role: &str, pace: Pace, base: Baselines, goal: f64) -> Vec<Figure> {
        vec![
            Figure::new(format!("{role}, backlog of {}", self.head), pace.facts, "facts/s")
                .beside("publishes", base.publishes)
                .goal(Goal::AtLeast(goal)),
            Figure::new("  processor time of its own, a fact", pace.own, "µs"),
            Figure::new("  processor time of the whole machine, a fact", pace.machine, "µs"),
        ]
    }

    /// Starts a role and looks how far it is until it is through, from its first progress to its last.
    async fn until_done(
        &self,
        role: &str,
        mut look: impl AsyncFnMut() -> anyhow::Result<u64>,
    ) -> anyhow::Result<Pace> {
        let roles = [role];
        let watched = async {
            let (begun, mut first) = (Instant::now(), None);
            loop {
                let now = look().await?;
                if now > 0 && now < self.head {
                    first.get_or_insert((now, Instant::now(), machine::busy()));
                }
                if now >= self.head || begun.elapsed() > LONGEST {
                    let (at, since, busy) =
                        first.with_context(|| format!("{role} was never seen at work"))?;
                    let (facts, busy) = ((now - at) as f64, machine::busy() - busy);
                    return anyhow::Ok((now, facts / since.elapsed().as_secs_f64(), busy / facts * 1e6));
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        let (watched, process) = tokio::join!(watched, self.site.installation.start(&roles));
        let (done, facts, machine) = watched?;
        Ok(Pace { facts, own: machine::spent(process.pid()) / done as f64 * 1e6, machine })
    }
}
