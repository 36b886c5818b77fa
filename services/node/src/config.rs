//! Configuration: one typed structure, from `oxagen.toml` < environment < flags.
//!
//! [`setting::SETTINGS`] lists every key with its environment variable and what its value must look like; a key that is
//! not in the list, or a value that does not fit, is refused by name before anything starts.

mod error;
pub(crate) mod mask;
mod setting;
mod show;
mod source;

use serde::{Deserialize, Serialize};

pub(crate) use error::ConfigError;
use setting::{SETTINGS, Setting};
pub(crate) use show::need;
pub(crate) use source::{Configured, Sources};

/// All settings. It has no `Debug`, so that no secret gets into a log by accident.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Config {
    pub(crate) client: Client,
    pub(crate) gateway: Gateway,
    pub(crate) log: Log,
    pub(crate) postgres: Postgres,
    pub(crate) nats: Nats,
    pub(crate) clickhouse: ClickHouse,
    pub(crate) neo4j: Neo4j,
    pub(crate) model: Model,
    pub(crate) sandbox: Sandbox,
    pub(crate) runner: Runner,
    pub(crate) process: Process,
}

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $kind:ty = $usual:expr,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Serialize, Deserialize)]
        pub(crate) struct $name {
            $(pub(crate) $field: $kind,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $usual,)+ }
            }
        }
    )+};
}

settings! {
    /// Where the commands that speak HTTP find the product.
    Client {
        url: String = "http://127.0.0.1:15390".to_owned(),
        api_key: Option<String> = None,
    }
    /// What the gateway permits; times are seconds, sizes bytes.
    Gateway {
        listen: String = "127.0.0.1:15390".to_owned(),
        allowed_hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec(),
        allowed_origins: Vec<String> = Vec::new(),
        body_limit: u64 = 10 * 1024 * 1024,
        timeout: u64 = 30,
        key_rate: u32 = 1_000,
        tenant_rate: u32 = 4_000,
        key_requests: u32 = 512,
        tenant_requests: u32 = 1_000,
        queue: u32 = 2_000,
        key_streams: u32 = 1_000,
    }
    /// What the log looks like, and how much of it there is.
    Log {
        format: String = "auto".to_owned(),
        filter: String = "info,async_nats=warn".to_owned(),
    }
    /// The journal and the read models.
    Postgres {
        url: Option<String> = None,
        journal_url: Option<String> = None,
        admin_url: Option<String> = None,
        journal_connections: u32 = 12,
        query_connections: u32 = 8,
    }
    /// JetStream.
    Nats {
        url: Option<String> = None,
        prefix: String = String::new(),
        replicas: u32 = 1,
        live_in_memory: bool = false,
    }
    /// The analytic rows.
    ClickHouse {
        url: Option<String> = None,
        user: String = "default".to_owned(),
        password: String = String::new(),
        database: String = "oxagen".to_owned(),
    }
    /// The graph.
    Neo4j {
        url: Option<String> = None,
        user: String = "neo4j".to_owned(),
        password: String = String::new(),
    }
    /// The model provider; times are seconds.
    Model {
        url: Option<String> = None,
        api_key: Option<String> = None,
        name: Option<String> = None,
        connect_timeout: u64 = 10,
        read_timeout: u64 = 120,
        total_timeout: u64 = 900,
        reasoning_echo: String = "drop".to_owned(),
        max_tokens_field: String = "max_tokens".to_owned(),
    }
    /// Where code of agents runs.
    Sandbox {
        docker_host: Option<String> = None,
        image: Option<String> = None,
        pool: u32 = 2,
        cpus: f64 = 0.5,
        pids: u32 = 128,
        network: String = "bridge".to_owned(),
    }
    /// How much one runner does at a time.
    Runner {
        turns: u32 = 64,
    }
    /// The process itself; times are seconds.
    Process {
        admin_listen: Option<String> = None,
        drain: u64 = 20,
    }
}

#[cfg(test)]
mod tests;
