//! How one provider is reached and what it needs.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// A provider's settings.
#[derive(Clone, Debug, PartialEq, Eq)]
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
