//! How one provider is reached and what it needs.

use std::{fmt, time::Duration};

use reqwest::Url;
use serde::{Deserialize, Serialize};

/// A provider's settings.
#[derive(Clone, PartialEq, Eq)]
pub struct ModelSettings {
    /// The address above `/chat/completions`, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The bearer key; none for providers on one's own machine.
    pub api_key: Option<ApiKey>,
    /// How long a connection may take to open.
    pub connect_timeout: Duration,
    /// How long the provider may be silent, keep-alive comments counting as a sound.
    pub read_timeout: Duration,
    /// How long one whole answer may take.
    pub total_timeout: Duration,
    /// What happens to earlier reasoning when the conversation is sent again.
    pub reasoning_echo: ReasoningEcho,
    /// The field that carries the token limit.
    pub max_tokens_field: MaxTokensField,
}

impl ModelSettings {
    /// Settings for this address with the usual limits: 10 s to connect, 120 s of silence, 15 min in all.
    pub fn new(base_url: impl Into<String>, api_key: Option<ApiKey>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(120),
            total_timeout: Duration::from_secs(15 * 60),
            reasoning_echo: ReasoningEcho::default(),
            max_tokens_field: MaxTokensField::default(),
        }
    }
}

impl fmt::Debug for ModelSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ModelSettings")
            .field("origin", &origin(&self.base_url))
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .field("total_timeout", &self.total_timeout)
            .field("reasoning_echo", &self.reasoning_echo)
            .field("max_tokens_field", &self.max_tokens_field)
            .finish_non_exhaustive()
    }
}

/// An address without the parts in which people put secrets: user, password, path and query.
pub(crate) fn origin(address: &str) -> String {
    Url::parse(address)
        .map_or_else(|_| "an unreadable address".to_owned(), |url| url.origin().ascii_serialization())
}

/// A secret that never shows itself.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct ApiKey(String);

impl ApiKey {
    /// Takes the key as configured; `None` when it is blank.
    pub fn new(key: &str) -> Option<Self> {
        let key = key.trim();
        (!key.is_empty()).then(|| Self(key.to_owned()))
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(masked)")
    }
}

/// What a provider wants done with reasoning it gave earlier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningEcho {
    /// Leave it out; most providers ignore or refuse it.
    #[default]
    Drop,
    /// Send it as `reasoning_content`.
    ReasoningContent,
    /// Send it as `reasoning`.
    Reasoning,
}

/// The name under which a provider takes the token limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    /// `max_tokens`, understood nearly everywhere.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer models of OpenAI insist on.
    MaxCompletionTokens,
}
