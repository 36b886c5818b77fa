//! Where settings come from: `oxagen.toml` < environment < flags.

use std::path::PathBuf;

use figment::providers::{Format, Serialized, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider};

use super::{Config, ConfigError, SETTINGS, Setting};

/// The file that is read when it is there and no other one is named.
const FILE: &str = "oxagen.toml";
/// Names with our prefix that are no settings: they name the file, or belong to scripts around the program.
const NO_SETTINGS: &[&str] =
    &["OXAGEN_CONFIG", "OXAGEN_TENANT_ID", "OXAGEN_WORKSPACE_ID", "OXAGEN_STACK_DIR", "OXAGEN_CACHE"];

/// What is read.
#[derive(Clone, Default)]
pub(crate) struct Sources {
    /// The file named by `--config`.
    pub(crate) file: Option<PathBuf>,
    /// The environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Flags: keys and values.
    pub(crate) flags: Vec<(String, String)>,
}

/// The settings in force, and where each comes from.
pub(crate) struct Configured {
    /// The settings.
    pub(crate) config: Config,
    pub(super) figment: Figment,
}

impl Sources {
    /// Reads and checks everything.
    ///
    /// # Errors
    /// [`ConfigError`] names the first thing that is wrong.
    pub(crate) fn load(&self) -> Result<Configured, ConfigError> {
        let mut figment = Figment::from(Serialized::defaults(Config::default()));
        if let Some(file) = self.file()? {
            known_keys(&file)?;
            figment = figment.merge(Toml::file_exact(file));
        }
        for (name, text) in &self.environment {
            let setting = Setting::by_env(name);
            if setting.is_none() && name.starts_with("OXAGEN_") && !NO_SETTINGS.contains(&name.as_str()) {
                let near = near(name, SETTINGS.iter().map(|setting| setting.env));
                return Err(ConfigError::Unknown {
                    place: "environment".to_owned(),
                    name: name.clone(),
                    near,
                });
            }
            // An empty variable is how scripts leave one out.
            if let Some(setting) = setting.filter(|_| !text.is_empty()) {
                figment = figment.merge(One { name: setting.env.to_owned(), setting, text });
            }
        }
        for (key, text) in &self.flags {
            let setting = Setting::by_key(key).ok_or_else(|| unknown_key("--set", key))?;
            figment = figment.merge(One { name: format!("--set {key}"), setting, text });
        }
        checked(figment)
    }

    fn file(&self) -> Result<Option<PathBuf>, ConfigError> {
        let variable =
            self.environment.iter().find(|(name, value)| name == "OXAGEN_CONFIG" && !value.is_empty());
        let named = self.file.clone().or_else(|| variable.map(|(_, path)| PathBuf::from(path)));
        let Some(path) = named else { return Ok(Some(PathBuf::from(FILE)).filter(|path| path.is_file())) };
        if path.is_file() {
            return Ok(Some(path));
        }
        Err(ConfigError::File { path: path.display().to_string(), cause: "there is no such file".to_owned() })
    }
}

/// One setting, from the environment or a flag.
struct One<'a> {
    name: String,
    setting: &'static Setting,
    text: &'a str,
}

impl Provider for One<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named(self.name.clone())
    }

    fn data(&self) -> Result<Map<Profile, Dict>, figment::Error> {
        let nested = figment::util::nest(self.setting.key, self.setting.kind.read(self.text));
        Ok(nested.into_dict().map(|dict| Profile::Default.collect(dict)).unwrap_or_default())
    }
}

fn checked(figment: Figment) -> Result<Configured, ConfigError> {
    for setting in SETTINGS {
        let Ok(value) = figment.find_value(setting.key) else { continue };
        let unset = matches!(value, Value::Empty(..));
        if !unset && !setting.kind.fits(&value) {
            let metadata = figment.get_metadata(value.tag());
            let file = metadata.and_then(|data| data.source.as_ref());
            let (place, name) = match (file, metadata) {
                (Some(file), _) => (file.to_string(), format!("`{}`", setting.key)),
                (None, Some(data)) if data.name == setting.env => {
                    ("environment".to_owned(), setting.env.to_owned())
                }
                (None, Some(data)) => (data.name.to_string(), "the value".to_owned()),
                (None, None) => ("configuration".to_owned(), setting.key.to_owned()),
            };
            let (found, expected) =
                (super::show::masked(setting, &value).to_string(), setting.kind.expected());
            return Err(ConfigError::Value { place, name, found, expected });
        }
    }
    let config = figment.extract().map_err(|error| ConfigError::File {
        path: "configuration".to_owned(),
        cause: error.to_string().replace('\n', " "),
    })?;
    Ok(Configured { config, figment })
}

/// Refuses a key in the file that no setting has.
fn known_keys(file: &std::path::Path) -> Result<(), ConfigError> {
    let path = file.display().to_string();
    let bad = |cause: String| ConfigError::File { path: path.clone(), cause };
    let text = std::fs::read_to_string(file).map_err(|error| bad(error.to_string()))?;
    let table: toml::Table =
        toml::from_str(&text).map_err(|error| bad(error.to_string().trim().to_owned()))?;
    for (name, value) in &table {
        let Some(inner) = value.as_table() else { return Err(unknown_key(&path, name)) };
        let keys = inner.keys().map(|key| format!("{name}.{key}"));
        let unknown = keys.into_iter().find(|key| Setting::by_key(key).is_none());
        if let Some(key) = unknown.or_else(|| (!has_table(name)).then(|| name.clone())) {
            return Err(unknown_key(&path, &key));
        }
    }
    Ok(())
}

fn has_table(name: &str) -> bool {
    SETTINGS.iter().any(|setting| setting.key.split_once('.').is_some_and(|(table, _)| table == name))
}

fn unknown_key(place: &str, key: &str) -> ConfigError {
    let near = near(key, SETTINGS.iter().map(|setting| setting.key));
    ConfigError::Unknown { place: place.to_owned(), name: key.to_owned(), near }
}

/// `, did you mean …?`, if some name is near enough.
fn near(name: &str, names: impl Iterator<Item = &'static str>) -> String {
    let best =
        names.map(|other| (strsim::jaro_winkler(name, other), other)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(score, _)| *score > 0.85)
        .map_or_else(String::new, |(_, other)| format!(", did you mean `{other}`?"))
}
