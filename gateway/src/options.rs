//! What an installation may choose about its gateway.

use std::time::Duration;

/// How many requests a second, and how many at once after a quiet time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Requests a second; at least 1.
    pub per_second: u32,
    /// Requests in a burst; at least 1.
    pub burst: u32,
}

/// Limits for those who hold a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests of one key.
    pub per_key: Rate,
    /// Requests of all keys of a tenant.
    pub per_tenant: Rate,
    /// Requests of one key that are being answered at a time.
    pub at_once: usize,
    /// Requests of all keys of a tenant that are being answered at a time. Less than the queue holds, so that one
    /// tenant cannot fill it.
    pub tenant_at_once: usize,
    /// Open streams of one key.
    pub streams: usize,
}

/// How many requests use a database at a time. The others wait their turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// Commands and readers of history: somewhat less than the journal's pool has, for other roles use it too.
    pub journal: usize,
    /// Readers of the read models: somewhat less than their pool has, for probes use it too.
    pub views: usize,
    /// Requests that wait for a turn with either; beyond that 429. None waits for longer than three quarters of the timeout.
    pub queue: usize,
}

/// What an installation may choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Host names, without a port, that this gateway answers to. Others get 403, so that a page of somebody
    /// else's cannot reach it by a name of their own.
    pub allowed_hosts: Vec<String>,
    /// Origins, such as `https://app.example.com`, whose pages may call. A page served by the gateway itself
    /// always may.
    pub allowed_origins: Vec<String>,
    /// Bytes of a request's body at most.
    pub body_limit: usize,
    /// Limits for those who hold a key.
    pub limits: Limits,
    /// How many requests use a database at a time.
    pub turns: Turns,
    /// The longest wait for an answer; then 503.
    pub timeout: Duration,
    /// Silence after which a stream shows that it is alive.
    pub heartbeat: Duration,
    /// The longest wait at shutdown for requests that are being answered.
    pub drain: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            allowed_hosts: ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec(),
            allowed_origins: Vec::new(),
            body_limit: 10 * 1024 * 1024,
            limits: Limits {
                per_key: Rate { per_second: 1_000, burst: 2_000 },
                per_tenant: Rate { per_second: 4_000, burst: 8_000 },
                at_once: 512,
                tenant_at_once: 1_000,
                streams: 1_000,
            },
            turns: Turns { journal: 9, views: 6, queue: 2_000 },
            timeout: Duration::from_secs(30),
            heartbeat: Duration::from_secs(15),
            drain: Duration::from_secs(10),
        }
    }
}
