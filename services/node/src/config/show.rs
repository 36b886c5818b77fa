//! What is in force, with secrets masked.

use figment::value::Value;
use serde::Serialize;

use super::setting::Kind;
use super::{ConfigError, Configured, SETTINGS, Setting, mask};

/// A setting as it is in force.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    /// Its key in the file.
    pub(crate) key: &'static str,
    /// Its environment variable.
    pub(crate) env: &'static str,
    /// Its value, masked if it is a secret; null when it is not set.
    pub(crate) value: serde_json::Value,
    /// Where the value comes from.
    pub(crate) source: String,
    /// What the setting is for.
    pub(crate) about: &'static str,
}

impl Configured {
    /// Every setting, as it is in force.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        SETTINGS.iter().map(|setting| self.shown_one(setting)).collect()
    }

    fn shown_one(&self, setting: &'static Setting) -> Shown {
        let value = self.figment.find_value(setting.key).ok();
        let metadata = value.as_ref().and_then(|value| self.figment.get_metadata(value.tag()));
        let source = metadata.map_or_else(String::new, |data| match &data.source {
            Some(file) if file.file_path().is_some() => file.to_string(),
            Some(_) | None if data.name.starts_with("--") => "flag".to_owned(),
            Some(_) | None if data.name == setting.env => "environment".to_owned(),
            Some(_) | None => "default".to_owned(),
        });
        let value = value.map_or(serde_json::Value::Null, |value| masked(setting, &value));
        Shown { key: setting.key, env: setting.env, value, source, about: setting.about }
    }
}

/// A value as people may see it.
pub(super) fn masked(setting: &Setting, value: &Value) -> serde_json::Value {
    match (setting.kind, value.as_str()) {
        (Kind::Secret, Some(text)) => mask::secret(text).into(),
        (Kind::Secret, None) if !matches!(value, Value::Empty(..)) => mask::secret("set").into(),
        (Kind::Address { .. }, Some(text)) => mask::address(text).into(),
        _ => serde_json::to_value(value).unwrap_or_default(),
    }
}

/// The value of a setting that a command cannot do without.
///
/// # Errors
/// [`ConfigError::Missing`] says how to set it.
pub(crate) fn need<'a>(value: Option<&'a String>, key: &'static str) -> Result<&'a str, ConfigError> {
    if let Some(value) = value {
        return Ok(value);
    }
    let (env, about) = Setting::by_key(key).map_or((key, ""), |setting| (setting.env, setting.about));
    Err(ConfigError::Missing { env, key, about })
}
