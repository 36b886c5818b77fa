//! `oxagen key`: API keys of the workspace, over HTTP.

use clap::{Subcommand, ValueEnum};
use oxagen_domain::capability::Surface;
use oxagen_domain::{ApiKeyId, KeyLimits, Right, Role, UserId};
use serde_json::{Value, json};

use super::Desk;
use crate::failure::Failure;
use crate::output::note;

/// `key`.
#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Make a key; its secret is shown this once
    #[command(
        after_help = "Examples:\n  oxagen key create ci --role service\n  oxagen key create grace --role member --json\n  \
        oxagen key create runs-code --role service --capability 'agent.code.*' --capability 'tool_call.*' --surface api"
    )]
    Create {
        /// A name for people
        name: String,
        /// What it may do
        #[arg(long, value_enum, default_value = "member")]
        role: RoleName,
        /// Limit it to this right of its role; may be given several times
        #[arg(long = "right", value_enum, value_name = "RIGHT")]
        rights: Vec<RightName>,
        /// Limit it to what fits this pattern, such as `agent.code.*`; may be given several times
        #[arg(long = "capability", value_name = "PATTERN")]
        capabilities: Vec<String>,
        /// Limit its calls to those that come from there; may be given several times
        #[arg(long = "surface", value_enum, value_name = "SURFACE")]
        surfaces: Vec<SurfaceName>,
        /// The user that it stands for; somebody new unless told
        #[arg(long, value_name = "USER_ID")]
        user: Option<UserId>,
    },
    /// List the keys of the workspace
    List,
    /// Let a key open nothing any more
    Revoke {
        /// The key, as `oxagen key list` shows it
        #[arg(value_name = "KEY_ID")]
        key: ApiKeyId,
    },
}

/// A role, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleName {
    /// Everything, owners' keys included
    Owner,
    /// Everything but making owners
    Admin,
    /// Converses, calls tools, answers approvals
    Member,
    /// Reads
    Viewer,
    /// A program: converses and calls tools, answers nothing
    Service,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Owner => Self::Owner,
            RoleName::Admin => Self::Admin,
            RoleName::Member => Self::Member,
            RoleName::Viewer => Self::Viewer,
            RoleName::Service => Self::Service,
        }
    }
}

/// A right, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RightName {
    /// Read what is in the workspace
    Read,
    /// Start turns and calls
    Act,
    /// Answer questions that were put to a person
    Decide,
    /// Make keys, set the policy
    Administer,
}

/// A surface, as it is typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SurfaceName {
    /// What it calls itself
    Api,
    /// What agents call in its turns
    Agent,
}

fn limits(rights: &[RightName], capabilities: Vec<String>, surfaces: &[SurfaceName]) -> KeyLimits {
    let right = |name: &RightName| match name {
        RightName::Read => Right::Read,
        RightName::Act => Right::Act,
        RightName::Decide => Right::Decide,
        RightName::Administer => Right::Administer,
    };
    let surface = |name: &SurfaceName| match name {
        SurfaceName::Api => Surface::Api,
        SurfaceName::Agent => Surface::Agent,
    };
    KeyLimits {
        rights: (!rights.is_empty()).then(|| rights.iter().map(right).collect()),
        capabilities: (!capabilities.is_empty()).then(|| capabilities.into_iter().collect()),
        surfaces: (!surfaces.is_empty()).then(|| surfaces.iter().map(surface).collect()),
    }
}

/// Makes, lists or revokes.
pub(super) async fn key(desk: &Desk, key: Key) -> Result<(), Failure> {
    let client = desk.client()?;
    match key {
        Key::Create { name, role, rights, capabilities, surfaces, user } => {
            let mut body = json!({ "name": name, "role": Role::from(role) });
            let limits = limits(&rights, capabilities, &surfaces);
            if !limits.is_unlimited() {
                body["limits"] = json!(limits);
            }
            if let Some(user) = user {
                body["userId"] = json!(user);
            }
            let made: Value = client.post("/v1/keys", &body).await?;
            if desk.out.is_json() {
                return desk.out.value(&made);
            }
            note("The secret is shown this once:");
            desk.out.line(made["secret"].as_str().unwrap_or_default())?;
            note(format!("key {}; revoke it with `oxagen key revoke {0}`", text(&made, "keyId")));
            Ok(())
        }
        Key::List => {
            for page in pages(&client, "/v1/keys").await? {
                if desk.out.is_json() {
                    desk.out.value(&page)?;
                    continue;
                }
                let state =
                    if page["revokedAt"].is_string() || page["revoked"] == true { "revoked" } else { "" };
                let (id, role, name) = (text(&page, "keyId"), text(&page, "role"), text(&page, "name"));
                let limits =
                    if page["limits"].is_object() { page["limits"].to_string() } else { String::new() };
                desk.out.line(format!("{id}  {role:<8} {name}  {limits} {state}").trim_end())?;
            }
            Ok(())
        }
        Key::Revoke { key } => {
            client.delete(&format!("/v1/keys/{key}")).await?;
            if desk.out.is_json() {
                return desk.out.value(&json!({ "keyId": key, "revoked": true }));
            }
            desk.out.line(format!("revoked {key}"))
        }
    }
}

async fn pages(client: &crate::client::Client, path: &str) -> Result<Vec<Value>, Failure> {
    let (mut items, mut query) = (Vec::new(), vec![("limit", "200".to_owned())]);
    loop {
        let mut page: Value = client.get(path, &query).await?;
        if let Value::Array(more) = page["items"].take() {
            items.extend(more);
        }
        let Some(cursor) = page["nextCursor"].as_str() else { return Ok(items) };
        query = vec![("limit", "200".to_owned()), ("cursor", cursor.to_owned())];
    }
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}
