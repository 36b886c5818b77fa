//! Why a store could not be brought up to date, and what to do about it.

/// What stopped a migration or a check.
#[derive(Debug, thiserror::Error)]
pub enum MigrationError {
    /// The store cannot be reached, or did not answer in time.
    #[error(
        "{store} cannot be reached: {cause}; check that it runs and that its address and password are right"
    )]
    Unavailable {
        /// Which store.
        store: &'static str,
        /// What the driver said.
        cause: String,
    },
    /// The database is behind this program.
    #[error("the database is at version {found}, this program wants {wanted}: run `oxagen migrate`")]
    Behind {
        /// Version found.
        found: i64,
        /// Version wanted.
        wanted: i64,
    },
    /// A newer program has been here.
    #[error(
        "{store} is at version {found}, this program knows only {wanted}: a newer oxagen migrated it; run that one, or a newer one"
    )]
    Newer {
        /// Which store.
        store: &'static str,
        /// Version found.
        found: i64,
        /// Newest version that this program knows.
        wanted: i64,
    },
    /// An applied migration's text is not the one that this program has.
    #[error(
        "migration {version} of {store} was applied with another text than this program has: applied migrations must not be edited; restore the file and put the change into a new migration"
    )]
    Changed {
        /// Which store.
        store: &'static str,
        /// The migration.
        version: i64,
    },
    /// The statements of a migration were refused.
    #[error("migration {version} of {store} failed and nothing newer was applied: {cause}")]
    Failed {
        /// Which store.
        store: &'static str,
        /// The migration.
        version: i64,
        /// What the server said.
        cause: String,
    },
    /// The role whose rights readers borrow cannot be made by this user.
    #[error(
        "the role oxagen_reader is missing or not granted, and {user} may not change that: set DATABASE_ADMIN_URL to a superuser's address, or run `create role oxagen_reader nologin; grant oxagen_reader to {user}` as one"
    )]
    Reader {
        /// The user that connected.
        user: String,
    },
    /// The journal comes from another Postgres cluster.
    #[error(
        "this journal was written on another Postgres cluster (system identifier {was}, here {is}): stop every oxagen process and run `oxagen migrate --adopt` once"
    )]
    OtherCluster {
        /// System identifier kept in the journal.
        was: i64,
        /// System identifier of this server.
        is: i64,
    },
    /// A file of this program's own set is not named or numbered as it must be.
    #[error("migration file {name} of {store} is wrong: {cause}")]
    File {
        /// Which store.
        store: &'static str,
        /// The file.
        name: String,
        /// What is wrong.
        cause: String,
    },
}

impl MigrationError {
    /// What a store said while a migration was applied is that migration's failure.
    pub(crate) fn during(self, version: i64) -> Self {
        if let Self::Unavailable { store, cause } = self {
            return Self::Failed { store, version, cause };
        }
        self
    }
}
