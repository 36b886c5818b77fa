//! API keys: made and shown once, revoked.

use oxagen_domain::capability::Flaw;
use oxagen_domain::{ApiKey, ApiKeyCommand, ApiKeyId, KeyLimits, KeyRecord, Right, Role, UserId};
use serde::Serialize;
use uuid::Uuid;

use crate::{Caller, Code, CommandError, Commands, secret};

/// A key to make.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// A name for people: 1 to 200 characters.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// What of that it is limited to.
    pub limits: KeyLimits,
    /// Whom it stands for; none for somebody new.
    pub user_id: Option<UserId>,
    /// The same one never makes a second key.
    pub idempotency_key: Option<String>,
}

/// A key that was made. The secret is shown this once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IssuedKey {
    /// The key.
    pub key_id: ApiKeyId,
    /// Its text.
    pub secret: String,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// What of that it is limited to.
    #[serde(skip_serializing_if = "KeyLimits::is_unlimited")]
    pub limits: KeyLimits,
    /// Whom it stands for.
    pub user_id: UserId,
}

impl IssuedKey {
    /// Makes the text of a key and what is kept of it.
    pub(crate) fn make(key: NewKey, key_id: ApiKeyId) -> (Self, KeyRecord) {
        let user_id = key.user_id.unwrap_or_else(|| UserId(Uuid::now_v7()));
        let secret = secret::make(key_id);
        let record = KeyRecord {
            key_id,
            name: key.name.clone(),
            user_id,
            role: key.role,
            limits: key.limits.clone(),
            hash: secret::hash(&secret),
        };
        let NewKey { name, role, limits, .. } = key;
        (Self { key_id, secret, name, role, limits, user_id }, record)
    }
}

impl Commands {
    /// Makes a key in the caller's workspace. Only an owner makes owners. A repeat with the same `Idempotency-Key` is
    /// told which key it has made: its text is kept nowhere, so it cannot be shown again.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::InvalidInput`], [`Code::Conflict`] for a repeat,
    /// [`Code::IdempotencyKeyReused`], [`Code::Unavailable`].
    pub async fn create_key(&self, caller: &Caller, key: NewKey) -> Result<IssuedKey, CommandError> {
        caller.must(Right::Administer)?;
        if key.role == Role::Owner && caller.role != Role::Owner {
            return Err(CommandError::new(Code::Forbidden, "only an owner makes keys with the role `owner`"));
        }
        if !caller.limits.is_unlimited() {
            let text = "a key with limits makes no keys: use one without, or ask an owner or admin";
            return Err(CommandError::new(Code::Forbidden, text));
        }
        if let Some((place, text)) = key.limits.flaw() {
            return Err(CommandError::invalid(vec![Flaw::new(&format!("/limits{place}"), text.to_owned())]));
        }
        if key.name.trim().is_empty() || key.name.chars().count() > 200 {
            return Err(CommandError::invalid(vec![Flaw::new(
                "/name",
                "a name has 1 to 200 characters".to_owned(),
            )]));
        }
        let repeatable = key.idempotency_key.as_deref();
        let key_id = ApiKeyId(repeatable.map_or_else(Uuid::now_v7, |repeatable| {
            oxagen_domain::derive(caller.scope.workspace.0, &format!("keys/{repeatable}"))
        }));
        let asked = key.clone();
        let (issued, record) = IssuedKey::make(key, key_id);
        let (context, mut rounds) = (caller.context(None, None), self.rounds());
        loop {
            let mut unit = self.unit(&context, &rounds);
            let id = issued.key_id.to_string();
            unit.expect_new::<ApiKey>(&id);
            if let Some((_, first)) = unit.load::<ApiKey>(&id).await?.state.record {
                return Err(repeated(&first, &asked));
            }
            let command = ApiKeyCommand::Create { scope: caller.scope, record: record.clone() };
            unit.decide::<ApiKey>(&id, command).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(issued);
            }
        }
    }

    /// Lets a key of the caller's workspace open nothing any more.
    ///
    /// # Errors
    /// [`Code::Forbidden`], [`Code::NotFound`], [`Code::Unavailable`].
    pub async fn revoke_key(&self, caller: &Caller, key: ApiKeyId) -> Result<(), CommandError> {
        caller.must(Right::Administer)?;
        let (context, mut rounds) = (caller.context(None, None), self.rounds());
        loop {
            let mut unit = self.unit(&context, &rounds);
            unit.decide::<ApiKey>(&key.to_string(), ApiKeyCommand::Revoke { scope: caller.scope }).await?;
            if unit.commit(&mut rounds).await?.is_some() {
                return Ok(());
            }
        }
    }
}

fn repeated(first: &KeyRecord, asked: &NewKey) -> CommandError {
    let same = first.name == asked.name
        && first.role == asked.role
        && first.limits == asked.limits
        && asked.user_id.is_none_or(|user| user == first.user_id);
    if !same {
        let text = "this Idempotency-Key was used for another key: use a new one for a new key";
        return CommandError::new(Code::IdempotencyKeyReused, text);
    }
    let text = format!(
        "this Idempotency-Key has made the key {} already, whose text was shown then and is kept nowhere: revoke it, \
         and make another with a new Idempotency-Key",
        first.key_id
    );
    CommandError {
        detail: Some(serde_json::json!({ "keyId": first.key_id })),
        ..CommandError::new(Code::Conflict, text)
    }
}
