//! The list of settings: key, environment variable, what a value must look like, what it is for.

use figment::value::Value;

/// What a value must look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Any text.
    Text,
    /// A text that is never shown.
    Secret,
    /// An address with one of these schemes; its password is never shown. Several with commas if `many`.
    Address { schemes: &'static [&'static str], many: bool },
    /// `host:port`.
    Listen,
    /// Texts; with commas in the environment.
    List,
    /// A whole number.
    Number { least: u64, most: u64 },
    /// A number above zero.
    Share { most: f64 },
    /// Yes or no.
    Switch,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// Its key in `oxagen.toml`, with its table before the dot.
    pub(crate) key: &'static str,
    /// Its environment variable.
    pub(crate) env: &'static str,
    /// What its value must look like.
    pub(crate) kind: Kind,
    /// What it is for.
    pub(crate) about: &'static str,
}

const fn setting(key: &'static str, env: &'static str, kind: Kind, about: &'static str) -> Setting {
    Setting { key, env, kind, about }
}

const HTTP: Kind = Kind::Address { schemes: &["http", "https"], many: false };
const POSTGRES: Kind = Kind::Address { schemes: &["postgres", "postgresql"], many: false };
const NATS: Kind = Kind::Address { schemes: &["nats", "tls", "ws", "wss"], many: true };
const BOLT: Kind =
    Kind::Address { schemes: &["bolt", "neo4j", "bolt+s", "neo4j+s", "bolt+ssc", "neo4j+ssc"], many: false };
const DOCKER: Kind = Kind::Address { schemes: &["unix", "tcp", "http"], many: false };

const fn number(least: u64, most: u64) -> Kind {
    Kind::Number { least, most }
}

/// Every setting there is.
#[rustfmt::skip]
pub(crate) static SETTINGS: &[Setting] = &[
    setting("client.url", "OXAGEN_URL", HTTP, "the gateway that commands such as `oxagen turn` speak to"),
    setting("client.api_key", "OXAGEN_API_KEY", Kind::Secret, "the key they show there"),
    setting("gateway.listen", "OXAGEN_LISTEN", Kind::Listen, "where the gateway listens"),
    setting("gateway.allowed_hosts", "OXAGEN_ALLOWED_HOSTS", Kind::List, "host names that the gateway answers to"),
    setting("gateway.allowed_origins", "OXAGEN_ALLOWED_ORIGINS", Kind::List, "origins whose pages may call (CORS)"),
    setting("gateway.body_limit", "OXAGEN_BODY_LIMIT", number(1_024, 1 << 30), "bytes of a request's body at most"),
    setting("gateway.timeout", "OXAGEN_REQUEST_TIMEOUT", number(1, 600), "seconds until a request is answered 503"),
    setting("gateway.key_rate", "OXAGEN_KEY_RATE", number(1, 1_000_000), "requests a second of one key"),
    setting("gateway.tenant_rate", "OXAGEN_TENANT_RATE", number(1, 1_000_000), "requests a second of all keys of a tenant"),
    setting("gateway.key_requests", "OXAGEN_KEY_REQUESTS", number(1, 100_000), "requests of one key under way at a time"),
    setting("gateway.tenant_requests", "OXAGEN_TENANT_REQUESTS", number(1, 100_000), "requests of all keys of a tenant under way at a time"),
    setting("gateway.queue", "OXAGEN_QUEUE", number(0, 100_000), "requests that wait for the database; beyond it 429"),
    setting("gateway.key_streams", "OXAGEN_KEY_STREAMS", number(1, 100_000), "open streams of one key"),
    setting("log.format", "OXAGEN_LOG_FORMAT", Kind::Choice(&["auto", "human", "json"]), "auto: human on a terminal, else json"),
    setting("log.filter", "RUST_LOG", Kind::Text, "what is logged, such as `info,oxagen_relay=debug`"),
    setting("postgres.url", "DATABASE_URL", POSTGRES, "read models, and the journal unless it has its own address"),
    setting("postgres.journal_url", "OXAGEN_JOURNAL_URL", POSTGRES, "the journal, when it is elsewhere"),
    setting("postgres.admin_url", "DATABASE_ADMIN_URL", POSTGRES, "a superuser, for migrations alone"),
    setting("postgres.journal_connections", "OXAGEN_JOURNAL_CONNECTIONS", number(2, 1_000), "size of the journal's pool"),
    setting("postgres.query_connections", "OXAGEN_QUERY_CONNECTIONS", number(1, 1_000), "size of the read models' pool"),
    setting("nats.url", "NATS_URL", NATS, "NATS; commas between the nodes of a cluster"),
    setting("nats.prefix", "OXAGEN_NATS_PREFIX", Kind::Text, "names this installation where it shares NATS, Neo4j or Docker with others"),
    setting("nats.replicas", "OXAGEN_NATS_REPLICAS", number(1, 5), "copies of each stream"),
    setting("nats.live_in_memory", "OXAGEN_NATS_LIVE_IN_MEMORY", Kind::Switch, "whether live frames skip the disk"),
    setting("clickhouse.url", "CLICKHOUSE_URL", HTTP, "ClickHouse's HTTP interface"),
    setting("clickhouse.user", "CLICKHOUSE_USER", Kind::Text, "its user"),
    setting("clickhouse.password", "CLICKHOUSE_PASSWORD", Kind::Secret, "that user's password"),
    setting("clickhouse.database", "CLICKHOUSE_DATABASE", Kind::Text, "its database"),
    setting("neo4j.url", "NEO4J_URL", BOLT, "Neo4j's Bolt interface"),
    setting("neo4j.user", "NEO4J_USER", Kind::Text, "its user"),
    setting("neo4j.password", "NEO4J_PASSWORD", Kind::Secret, "that user's password"),
    setting("model.url", "OXAGEN_MODEL_URL", HTTP, "the model provider: the address above /chat/completions"),
    setting("model.api_key", "OXAGEN_MODEL_API_KEY", Kind::Secret, "the provider's key, if it wants one"),
    setting("model.name", "OXAGEN_MODEL", Kind::Text, "the model of turns that name none"),
    setting("model.connect_timeout", "OXAGEN_MODEL_CONNECT_TIMEOUT", number(1, 300), "seconds to connect to the provider"),
    setting("model.read_timeout", "OXAGEN_MODEL_READ_TIMEOUT", number(1, 3_600), "seconds that the provider may be silent"),
    setting("model.total_timeout", "OXAGEN_MODEL_TOTAL_TIMEOUT", number(1, 86_400), "seconds that one answer may take"),
    setting("model.reasoning_echo", "OXAGEN_MODEL_REASONING_ECHO", Kind::Choice(&["drop", "reasoning_content", "reasoning"]), "how earlier reasoning is sent again"),
    setting("model.max_tokens_field", "OXAGEN_MODEL_MAX_TOKENS_FIELD", Kind::Choice(&["max_tokens", "max_completion_tokens"]), "the field that carries the token limit"),
    setting("sandbox.docker_host", "DOCKER_HOST", DOCKER, "the Docker engine"),
    setting("sandbox.image", "OXAGEN_SANDBOX_IMAGE", Kind::Text, "the image that code runs in"),
    setting("sandbox.pool", "OXAGEN_SANDBOX_POOL", number(0, 100), "unused containers that stand ready"),
    setting("sandbox.cpus", "OXAGEN_SANDBOX_CPUS", Kind::Share { most: 64.0 }, "CPUs of one run"),
    setting("sandbox.pids", "OXAGEN_SANDBOX_PIDS", number(16, 32_768), "processes and threads of one run"),
    setting("sandbox.network", "OXAGEN_SANDBOX_NETWORK", Kind::Text, "the engine's network for runs that may have one"),
    setting("runner.turns", "OXAGEN_RUNNER_TURNS", number(1, 10_000), "turns and calls that one runner advances at a time"),
    setting("process.admin_listen", "OXAGEN_ADMIN_LISTEN", Kind::Listen, "health and metrics of a process without gateway"),
    setting("process.drain", "OXAGEN_DRAIN", number(1, 600), "seconds that a stop may take"),
];

impl Setting {
    /// The setting with this key.
    pub(crate) fn by_key(key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.key == key)
    }

    /// The setting with this environment variable.
    pub(crate) fn by_env(env: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.env == env)
    }
}

impl Kind {
    /// Reads a text from the environment or a flag. What does not fit stays text, and is refused by [`Self::fits`].
    pub(crate) fn read(self, text: &str) -> Value {
        match self {
            Self::Number { .. } => text.parse::<u64>().map_or_else(|_| text.into(), Into::into),
            Self::Share { .. } => text.parse::<f64>().map_or_else(|_| text.into(), Into::into),
            Self::Switch => Value::from(text).to_bool_lossy().map_or_else(|| text.into(), Into::into),
            Self::List => {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                items.map(Value::from).collect::<Vec<_>>().into()
            }
            Self::Text | Self::Secret | Self::Address { .. } | Self::Listen | Self::Choice(_) => text.into(),
        }
    }

    /// Whether the value looks as it must.
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text | Self::Secret => value.as_str().is_some(),
            Self::Address { schemes, many } => value.as_str().is_some_and(|text| {
                let mut parts = text.split(',').map(str::trim);
                (many || !text.contains(',')) && parts.all(|part| is_address(part, schemes))
            }),
            Self::Listen => value.as_str().is_some_and(is_listen),
            Self::List => {
                value.as_array().is_some_and(|items| items.iter().all(|item| item.as_str().is_some()))
            }
            Self::Number { least, most } => {
                whole(value).is_some_and(|number| (u128::from(least)..=u128::from(most)).contains(&number))
            }
            Self::Share { most } => {
                let share = value.to_f64().or_else(|| whole(value).map(|whole| whole as f64));
                share.is_some_and(|share| share > 0.0 && share <= most)
            }
            Self::Switch => value.to_bool().is_some(),
            Self::Choice(words) => value.as_str().is_some_and(|word| words.contains(&word)),
        }
    }

    /// What a value must look like, in words.
    pub(crate) fn expected(self) -> String {
        match self {
            Self::Text | Self::Secret => "a text".to_owned(),
            Self::Address { schemes, many } => {
                let starts: Vec<_> = schemes.iter().map(|scheme| format!("{scheme}://…")).collect();
                let several = if many { ", several with commas" } else { "" };
                format!("an address ({}){several}", starts.join(" or "))
            }
            Self::Listen => "host:port, such as 127.0.0.1:15390".to_owned(),
            Self::List => "texts: [\"a\", \"b\"] in the file, `a,b` in the environment".to_owned(),
            Self::Number { least, most } => format!("a whole number from {least} to {most}"),
            Self::Share { most } => format!("a number above 0, at most {most}"),
            Self::Switch => "true or false".to_owned(),
            Self::Choice(words) => words.join(" or "),
        }
    }
}

fn whole(value: &Value) -> Option<u128> {
    value.to_u128().or_else(|| value.to_i128().and_then(|number| u128::try_from(number).ok()))
}

fn is_address(text: &str, schemes: &[&str]) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| schemes.contains(&scheme) && !rest.is_empty())
}

fn is_listen(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}
