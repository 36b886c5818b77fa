//! The roles, and how each of them starts.

use std::time::Duration;

use clap::ValueEnum;
use oxagen_gateway::{Gateway, Limits, Options, Rate, Turns};
use oxagen_jetstream::topology;
use oxagen_projections::{Projector, ProjectorOptions, Store};
use oxagen_reactor::{Reactor, ReactorOptions};
use oxagen_relay::{Relay, RelayOptions};
use tokio_util::sync::CancellationToken;

use super::board::{Board, Watch};
use super::waiting::Server;
use super::{Parts, listen, runner, stores};
use crate::config::{self, Config, need};
use crate::failure::Failure;

/// How long a batch for a store of few large batches waits for more.
const LINGER: Duration = Duration::from_millis(50);
/// The same for Postgres, which people read soon after they wrote: a transaction for a few facts costs as much as one for many.
const SHORT_LINGER: Duration = Duration::from_millis(5);

/// A part of the runtime that a process may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub(crate) enum Role {
    /// Speaks to clients over HTTP
    Gateway,
    /// Numbers events and publishes them as facts; one leads, others stand by
    Relay,
    /// Turns facts into the commands that follow, and keeps the timers
    Reactor,
    /// Advances turns: asks the model, runs tools
    Runner,
    /// Keeps the read models in Postgres
    ProjectorPostgres,
    /// Keeps the analytic rows in ClickHouse
    ProjectorClickhouse,
    /// Keeps the graph in Neo4j
    ProjectorNeo4j,
}

impl Role {
    /// Its name on the command line, in the log and in metrics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Relay => "relay",
            Self::Reactor => "reactor",
            Self::Runner => "runner",
            Self::ProjectorPostgres => "projector-postgres",
            Self::ProjectorClickhouse => "projector-clickhouse",
            Self::ProjectorNeo4j => "projector-neo4j",
        }
    }

    /// Whether it makes facts. Those stop first, so that the others carry on what they still committed.
    pub(crate) fn makes_facts(self) -> bool {
        match self {
            Self::Gateway | Self::Reactor | Self::Runner => true,
            Self::Relay | Self::ProjectorPostgres | Self::ProjectorClickhouse | Self::ProjectorNeo4j => false,
        }
    }

    /// Refuses before anything starts when a setting is missing that this role cannot do without.
    ///
    /// # Errors
    /// [`Failure::Config`].
    pub(crate) fn check(self, config: &Config) -> Result<(), Failure> {
        super::journal_url(config)?;
        need(config.postgres.url.as_ref(), "postgres.url")?;
        need(config.nats.url.as_ref(), "nats.url")?;
        match self {
            Self::Gateway | Self::Relay | Self::Reactor => {}
            Self::Runner => runner::check(config)?,
            Self::ProjectorPostgres => drop(stores::postgres(config)?),
            Self::ProjectorClickhouse => drop(need(config.clickhouse.url.as_ref(), "clickhouse.url")?),
            Self::ProjectorNeo4j => drop(need(config.neo4j.url.as_ref(), "neo4j.url")?),
        }
        Ok(())
    }

    /// Runs until told to stop.
    ///
    /// # Errors
    /// What no waiting mends.
    pub(crate) async fn run(
        self,
        parts: Parts,
        board: Board,
        stop: CancellationToken,
    ) -> Result<(), Failure> {
        let config = &parts.config;
        match self {
            Self::Gateway => gateway(&parts, &board, stop).await,
            Self::Relay => {
                let relay = Relay::new(RelayOptions {
                    journal: parts.commands.journal().clone(),
                    bus: parts.bus.clone(),
                    streams: streams(&config.nats),
                });
                board.set(self, Watch::Relay(relay.handle()));
                relay.run(stop).await;
                Ok(())
            }
            Self::Reactor => {
                let Parts { commands, bus, queries, .. } = parts;
                board.set(self, Watch::Runs);
                Reactor::new(ReactorOptions { commands, bus, queries }).run(stop).await;
                Ok(())
            }
            Self::Runner => runner::run(&parts, &board, stop).await,
            Self::ProjectorPostgres => {
                self.project(stores::postgres(config)?, SHORT_LINGER, (parts, board, stop)).await
            }
            Self::ProjectorClickhouse => {
                let url = need(config.clickhouse.url.as_ref(), "clickhouse.url")?;
                let server = Server::new("ClickHouse", url, "CLICKHOUSE_URL");
                let accepts = server.until_it_accepts(url, 8123);
                let Some(accepts) = stop.run_until_cancelled(accepts).await else { return Ok(()) };
                accepts?;
                self.project(stores::clickhouse(config)?, LINGER, (parts, board, stop)).await
            }
            Self::ProjectorNeo4j => {
                let url = need(config.neo4j.url.as_ref(), "neo4j.url")?;
                let accepts = Server::new("Neo4j", url, "NEO4J_URL");
                let accepts = accepts.until_it_accepts(url, 7687);
                let Some(accepts) = stop.run_until_cancelled(accepts).await else { return Ok(()) };
                accepts?;
                self.project(stores::neo4j(config)?, LINGER, (parts, board, stop)).await
            }
        }
    }

    async fn project<S: Store>(
        self,
        store: S,
        linger: Duration,
        (parts, board, stop): (Parts, Board, CancellationToken),
    ) -> Result<(), Failure> {
        let journal = parts.commands.journal().clone();
        let projector = Projector::new(store, journal, parts.bus.clone(), ProjectorOptions { linger });
        board.set(self, Watch::Projector(projector.handle()));
        projector.run(stop).await;
        Ok(())
    }
}

/// What the installation chooses about its streams.
pub(crate) fn streams(nats: &config::Nats) -> topology::Settings {
    topology::Settings { replicas: nats.replicas as usize, live_in_memory: nats.live_in_memory }
}

async fn gateway(parts: &Parts, board: &Board, stop: CancellationToken) -> Result<(), Failure> {
    let listen = &parts.config.gateway.listen;
    let listener = listen::at(listen).await.map_err(|error| {
        Failure::Failed(format!(
            "the gateway cannot listen on {listen}: {error}; set OXAGEN_LISTEN to a free address"
        ))
    })?;
    let verifier = stores::verifier(&parts.config, parts.commands.journal())?.with_stream(parts.bus.clone());
    let Parts { commands, bus, queries, .. } = parts.clone();
    let gateway = oxagen_gateway::Parts { commands, queries, bus, verifier };
    let gateway = Gateway::new(options(&parts.config), gateway);
    board.set(Role::Gateway, Watch::Gateway(gateway.handle()));
    let ended = gateway.run(listener, stop).await;
    ended.map_err(|error| Failure::Failed(format!("the gateway's listener failed: {error}")))
}

fn options(config: &Config) -> Options {
    let gateway = &config.gateway;
    let rate = |per_second: u32| Rate { per_second, burst: per_second.saturating_mul(2) };
    Options {
        allowed_hosts: gateway.allowed_hosts.clone(),
        allowed_origins: gateway.allowed_origins.clone(),
        body_limit: usize::try_from(gateway.body_limit).unwrap_or(usize::MAX),
        limits: Limits {
            per_key: rate(gateway.key_rate),
            per_tenant: rate(gateway.tenant_rate),
            at_once: gateway.key_requests as usize,
            tenant_at_once: gateway.tenant_requests as usize,
            streams: gateway.key_streams as usize,
        },
        turns: Turns {
            // The rest is for this gateway's streams and probes, and for other roles of this process.
            journal: (config.postgres.journal_connections as usize * 3 / 4).max(1),
            views: (config.postgres.query_connections as usize * 3 / 4).max(1),
            queue: gateway.queue as usize,
        },
        timeout: Duration::from_secs(gateway.timeout),
        // It waits twice: for requests, then for streams.
        drain: Duration::from_secs(config.process.drain).mul_f64(0.35),
        ..Options::default()
    }
}
