//! The benchmark: every figure in one run, beside what the servers do by themselves on the same machine.

mod backlog;
mod baseline;
mod calls;
mod commands;
mod growth;
mod page;
mod rules;
mod sandbox;
mod turns;
mod viewers;

use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde_json::json;
use tokio::time::timeout;

use crate::report::{self, Figure};
use crate::site::Site;
use crate::{machine, paths};

/// A part that can be measured alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// Programs: from the request to the first output
    Sandbox,
    /// Turns with three calls, and approvals
    Turns,
    /// Commands at a steady rate: until a screen shows them, and until the stores have them
    Commands,
    /// Tool calls over HTTP until the three stores have them
    Calls,
    /// Agents' calls under policies with no, few and many rules
    Rules,
    /// Memory of idle viewers
    Viewers,
    /// The relay behind a pile of events
    RelayBacklog,
    /// The projector of Postgres behind a pile of facts
    PostgresBacklog,
    /// The projector of ClickHouse behind a pile of facts
    ClickhouseBacklog,
    /// The projector of Neo4j behind a pile of facts
    Neo4jBacklog,
    /// Latencies at a short and a long history, in a short and a long conversation
    Growth,
}

impl Part {
    /// The longest time that it may take.
    fn bound(self) -> Duration {
        Duration::from_secs(match self {
            Self::Growth => 240,
            Self::Commands
            | Self::RelayBacklog
            | Self::PostgresBacklog
            | Self::ClickhouseBacklog
            | Self::Neo4jBacklog
            | Self::Rules => 90,
            Self::Sandbox | Self::Turns | Self::Calls | Self::Viewers => 60,
        })
    }
}

/// What the servers do by themselves.
#[derive(Clone, Copy, Debug, Default)]
struct Baselines {
    /// Single-row commits a second with 16 clients.
    commits: f64,
    /// The median of one of them, in milliseconds.
    commit: f64,
    /// Messages a second, published one behind the other.
    publishes: f64,
    /// The median of a bare `docker exec` until its first output, in milliseconds.
    exec: f64,
}

/// A run: what was measured so far.
struct Run<'p> {
    /// What is to be measured; everything if it is empty.
    parts: &'p [Part],
    base: Baselines,
    figures: Vec<Figure>,
}

/// Runs these parts, or all; always successful, as a missed goal is a result too.
pub(crate) async fn run(parts: &[Part], facts: Option<u64>) -> anyhow::Result<bool> {
    let (machine, begun) = (machine::describe(), Instant::now());
    println!("{}\n", machine::sentence(&machine));
    let site = Site::new().await?;
    let (base, figures) = baseline::measure(&site).await?;
    print!("{}", report::table(&figures));
    let mut run = Run { parts, base, figures };
    run.take(Part::Sandbox, sandbox::measure(&site, base)).await;
    if [Part::Turns, Part::Commands, Part::Calls, Part::Rules, Part::Viewers]
        .into_iter()
        .any(|part| run.wants(part))
    {
        let running = site.start().await;
        run.take(Part::Turns, turns::measure(&site, &running, base)).await;
        run.take(Part::Commands, commands::measure(&site, &running, base)).await;
        run.take(Part::Calls, calls::measure(&site, &running, base)).await;
        run.take(Part::Rules, rules::measure(&site, &running)).await;
        run.take(Part::Viewers, viewers::measure(&site, &running)).await;
    }
    drop(site);
    backlog(&mut run).await;
    if run.wants(Part::Growth) {
        let bound = facts.map_or(Duration::ZERO, |facts| Duration::from_millis(facts / 2));
        let site = Site::new().await?;
        run.take_within(Part::Growth, Part::Growth.bound() + bound, growth::measure(&site, facts)).await;
    }
    let (figures, table) = (&run.figures, report::table(&run.figures));
    println!("\n{table}\nmeasured in {:.0} s", begun.elapsed().as_secs_f64());
    paths::keep("bench.json", &json!({"machine": machine, "figures": report::json(figures)}))?;
    if parts.is_empty() {
        page::write(&machine, figures)?;
    }
    Ok(true)
}

/// The parts with a pile of facts, on an installation of their own.
async fn backlog(run: &mut Run<'_>) {
    let stores = backlog::STORES.map(|store| (store, run.wants(store.part)));
    if !run.wants(Part::RelayBacklog) && stores.iter().all(|(_, wanted)| !wanted) {
        return;
    }
    let piled = timeout(Part::RelayBacklog.bound(), backlog::Pile::new()).await;
    let pile = match piled.map_err(anyhow::Error::from).and_then(|piled| piled) {
        Ok(pile) => pile,
        Err(error) => return run.took(Part::RelayBacklog, Err(error)),
    };
    // The projectors need the numbers that the relay gives.
    let relay = timeout(Part::RelayBacklog.bound(), pile.relay(run.base)).await;
    run.took(Part::RelayBacklog, relay.map_err(anyhow::Error::from).and_then(|figures| figures));
    for (store, _) in stores {
        run.take(store.part, pile.projector(store, run.base)).await;
    }
}

impl Run<'_> {
    fn wants(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }

    /// Measures a part, if it is wanted, within its bound.
    async fn take(&mut self, part: Part, measure: impl Future<Output = anyhow::Result<Vec<Figure>>>) {
        self.take_within(part, part.bound(), measure).await;
    }

    async fn take_within(
        &mut self,
        part: Part,
        bound: Duration,
        measure: impl Future<Output = anyhow::Result<Vec<Figure>>>,
    ) {
        if !self.wants(part) {
            return;
        }
        println!("\n{} …", name(part));
        let measured = timeout(bound, measure).await;
        let late = |_| anyhow::anyhow!("not done within {bound:?}");
        self.took(part, measured.map_err(late).and_then(|figures| figures));
    }

    /// A part that could not be measured is told, and the others go on.
    fn took(&mut self, part: Part, measured: anyhow::Result<Vec<Figure>>) {
        match measured {
            Ok(measured) => {
                print!("{}", report::table(&measured));
                self.figures.extend(measured);
            }
            Err(error) => {
                println!("{}: {error:#}", name(part));
                self.figures.push(Figure::new(
                    format!("{}: not measured ({error:#})", name(part)),
                    f64::NAN,
                    "",
                ));
            }
        }
    }
}

/// A part's name as it is given on the command line.
fn name(part: Part) -> String {
    part.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
