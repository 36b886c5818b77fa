//! Why the configuration was refused.

/// What is wrong with the configuration, where it says so, and what was expected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfigError {
    /// A name that no setting has.
    #[error("{place}: there is no setting `{name}`{near}; `oxagen config` lists them all")]
    Unknown {
        /// Where it stands.
        place: String,
        /// The name.
        name: String,
        /// `, did you mean …?` or nothing.
        near: String,
    },
    /// A value that does not fit.
    #[error("{place}: {name} is {found}, expected {expected}")]
    Value {
        /// Where it stands.
        place: String,
        /// The setting, by the name that it has there.
        name: String,
        /// The value, unless it is a secret.
        found: String,
        /// What it must look like.
        expected: String,
    },
    /// The file cannot be read, or is no TOML.
    #[error("{path}: {cause}")]
    File {
        /// The file.
        path: String,
        /// What is wrong.
        cause: String,
    },
    /// A setting that this command cannot do without.
    #[error("{env} is not set ({about}): set it in the environment, or `{key}` in oxagen.toml")]
    Missing {
        /// Its environment variable.
        env: &'static str,
        /// Its key.
        key: &'static str,
        /// What it is for.
        about: &'static str,
    },
    /// A flag that is not `KEY=VALUE`.
    #[error("--set {text}: expected KEY=VALUE, such as --set model.name=gpt-5")]
    Flag {
        /// What it said.
        text: String,
    },
}
