//! What a comparison found.

use oxagen_domain::TenantId;
use serde::Serialize;
use serde_json::Value;

/// What a comparison found.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The journal's last `seq` when it began.
    pub head: u64,
    /// Rows whose last fact comes after this `seq` …
    pub after: u64,
    /// … and no later than this one were compared.
    pub until: u64,
    /// Rows and their hashes, by store, table and tenant.
    pub tables: Vec<Tally>,
    /// What differs, as much as was to be named.
    pub differences: Vec<Difference>,
    /// How much differs in all.
    pub differing: u64,
    /// Stores that could not be asked.
    pub unavailable: Vec<Outage>,
}

impl Report {
    /// Whether every store that was asked holds what it must.
    pub fn is_equal(&self) -> bool {
        self.differing == 0
    }

    /// Whether every store could be asked.
    pub fn is_complete(&self) -> bool {
        self.unavailable.is_empty()
    }
}

/// Rows of one tenant in one table.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// `journal`, `stream`, `postgres`, `clickhouse` or `neo4j`.
    pub store: &'static str,
    /// The table, or the kind of edge.
    pub table: &'static str,
    /// Whose rows.
    pub tenant_id: TenantId,
    /// What the journal says there must be.
    pub expected: Count,
    /// What there is.
    pub found: Count,
}

/// A number of rows and a hash over all of their contents, whatever their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many.
    pub rows: u64,
    /// The hash.
    #[serde(serialize_with = "hex")]
    pub hash: u128,
}

fn hex<S: serde::Serializer>(hash: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{hash:032x}"))
}

/// A thing that is not as it must be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Where.
    pub store: &'static str,
    /// The table, or the kind of edge.
    pub table: &'static str,
    /// Whose; unknown for a place in history that holds nothing.
    pub tenant_id: Option<TenantId>,
    /// Which row: its identifier, or the `seq` of a fact.
    pub id: String,
    /// What is wrong with it.
    pub what: What,
}

/// What is wrong with a thing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum What {
    /// It must be there and is not.
    Missing,
    /// It is there and must not be.
    Extra,
    /// It is there and says something else.
    Changed {
        /// Where it differs.
        columns: Vec<ColumnDifference>,
    },
    /// It cannot be read.
    Unreadable {
        /// Why.
        cause: String,
    },
}

/// A column that is not as it must be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ColumnDifference {
    /// Its name.
    pub column: &'static str,
    /// What the journal says.
    pub expected: Value,
    /// What is there.
    pub found: Value,
}

/// A store that could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outage {
    /// Which.
    pub store: &'static str,
    /// Why.
    pub cause: String,
}
