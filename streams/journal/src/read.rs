//! Reading facts: by number, by conversation, by filter. Always in the order of `seq`, never of `position`.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use oxagen_domain::{ConversationId, Fact, Metadata, Scope, TenantId, TurnId};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{Postgres, QueryBuilder, Row};

use crate::error::JournalError;
use crate::journal::Journal;

const SELECT: &str = "
select s.seq, e.aggregate_type, e.aggregate_id, e.sequence, e.event_type, e.event_version, e.payload, e.metadata
from journal.sequence s join journal.events e on e.position = s.position
where s.seq > ";

/// Which facts of a workspace; what is not set does not restrict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FactFilter {
    /// Of this conversation.
    pub conversation: Option<ConversationId>,
    /// Of this turn.
    pub turn: Option<TurnId>,
    /// Of this aggregate: its type and its identifier.
    pub aggregate: Option<(String, String)>,
    /// Of one of these types, each exact (`tool_call.held`) or all of an aggregate (`tool_call.*`).
    pub kinds: Vec<String>,
    /// That occurred then or later.
    pub since: Option<DateTime<Utc>>,
    /// Up to this `seq`, itself included.
    pub until: Option<u64>,
}

impl Journal {
    /// Facts of everybody after `after`, at most `limit`.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`] or [`JournalError::Damaged`].
    pub async fn read(&self, after: u64, limit: u32) -> Result<Vec<Fact>, JournalError> {
        let mut query = QueryBuilder::new(SELECT);
        query.push_bind(after.cast_signed());
        self.facts(query, limit).await
    }

    /// A workspace's facts after `after` that pass the filter, at most `limit`.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`] or [`JournalError::Damaged`].
    pub async fn page(
        &self,
        scope: Scope,
        filter: &FactFilter,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Fact>, JournalError> {
        let mut query = QueryBuilder::new(SELECT);
        query.push_bind(after.cast_signed());
        query.push(" and s.tenant_id = ").push_bind(scope.tenant.0);
        query.push(" and s.workspace_id = ").push_bind(scope.workspace.0);
        restrict(&mut query, filter);
        self.facts(query, limit).await
    }

    /// A conversation's facts after `after`, at most `limit`.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`] or [`JournalError::Damaged`].
    pub async fn conversation(
        &self,
        scope: Scope,
        conversation: ConversationId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Fact>, JournalError> {
        let filter = FactFilter { conversation: Some(conversation), ..FactFilter::default() };
        self.page(scope, &filter, after, limit).await
    }

    /// What happened up to `until` to these aggregates, each a type and an identifier, and in these turns. For some
    /// thousands of them: all of it is held in memory.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`] or [`JournalError::Damaged`].
    pub async fn past_of(
        &self,
        aggregates: &BTreeSet<(String, String)>,
        turns: &BTreeSet<TurnId>,
        until: u64,
    ) -> Result<Vec<Fact>, JournalError> {
        const PAST: &str = "
            with wanted as (
              select e.position from unnest($1::text[], $2::text[]) as a (type, id)
              join journal.events e on e.aggregate_type = a.type and e.aggregate_id = a.id
              union
              select position from journal.events where turn_id = any ($3))
            select s.seq, e.aggregate_type, e.aggregate_id, e.sequence, e.event_type, e.event_version, e.payload,
              e.metadata
            from wanted w join journal.sequence s on s.position = w.position
            join journal.events e on e.position = w.position
            where s.seq <= $4 order by s.seq";
        let (types, ids): (Vec<_>, Vec<_>) = aggregates.iter().map(|(kind, id)| (&**kind, &**id)).unzip();
        let turns: Vec<_> = turns.iter().map(|turn| turn.0).collect();
        let past = sqlx::query(PAST).bind(types).bind(ids).bind(turns).bind(until.cast_signed());
        let rows = self.bounded(async { Ok::<_, JournalError>(past.fetch_all(self.pool()).await?) }).await?;
        rows.iter().map(fact_from_row).collect()
    }

    /// Everybody to whom something has happened.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn tenants(&self) -> Result<BTreeSet<TenantId>, JournalError> {
        // From one to the next by the index, past all the facts between them.
        const TENANTS: &str = "
            with recursive t (id) as (
              (select tenant_id from journal.sequence order by tenant_id limit 1)
              union all
              select (select s.tenant_id from journal.sequence s where s.tenant_id > t.id order by s.tenant_id limit 1)
              from t where t.id is not null)
            select id from t where id is not null";
        let tenants = sqlx::query_scalar(TENANTS);
        let ids =
            self.bounded(async { Ok::<_, JournalError>(tenants.fetch_all(self.pool()).await?) }).await?;
        Ok(ids.into_iter().map(TenantId).collect())
    }

    /// The highest number given so far; 0 for an empty history.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn head(&self) -> Result<u64, JournalError> {
        let head = sqlx::query_scalar("select coalesce(max(seq), 0) from journal.sequence");
        self.bounded(async { Ok(head.fetch_one(self.pool()).await.map(i64::unsigned_abs)?) }).await
    }

    /// Where a replay from this time begins: the first fact that occurred then or later, or the one after the
    /// head. The thousand facts next in time are looked at, as numbers follow commits and not clocks.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`].
    pub async fn seq_at(&self, time: DateTime<Utc>) -> Result<u64, JournalError> {
        const SEQ_AT: &str = "
            select coalesce(min(near.seq), (select coalesce(max(seq), 0) + 1 from journal.sequence))
            from (select s.seq from journal.events e join journal.sequence s on s.position = e.position
                  where e.occurred_at >= $1 order by e.occurred_at limit 1000) near";
        let first = sqlx::query_scalar(SEQ_AT).bind(time);
        self.bounded(async { Ok(first.fetch_one(self.pool()).await.map(i64::unsigned_abs)?) }).await
    }

    async fn facts(
        &self,
        mut query: QueryBuilder<'_, Postgres>,
        limit: u32,
    ) -> Result<Vec<Fact>, JournalError> {
        query.push(" order by s.seq limit ").push_bind(i64::from(limit));
        let rows = self
            .bounded(async { Ok::<_, JournalError>(query.build().fetch_all(self.pool()).await?) })
            .await?;
        rows.iter().map(fact_from_row).collect()
    }
}

fn restrict(query: &mut QueryBuilder<'_, Postgres>, filter: &FactFilter) {
    if let Some(conversation) = filter.conversation {
        query.push(" and s.conversation_id = ").push_bind(conversation.0);
    }
    if let Some(turn) = filter.turn {
        query.push(" and e.turn_id = ").push_bind(turn.0);
    }
    if let Some((kind, id)) = &filter.aggregate {
        query.push(" and e.aggregate_type = ").push_bind(kind.clone());
        query.push(" and e.aggregate_id = ").push_bind(id.clone());
    }
    if !filter.kinds.is_empty() {
        let (prefixes, exact): (Vec<_>, Vec<_>) =
            filter.kinds.iter().cloned().partition(|kind| kind.ends_with(".*"));
        let prefixes: Vec<_> = prefixes.iter().map(|kind| kind.trim_end_matches('*').to_owned()).collect();
        query.push(" and (e.event_type = any (").push_bind(exact);
        query.push(") or e.event_type ^@ any (").push_bind(prefixes).push("))");
    }
    if let Some(since) = filter.since {
        query.push(" and e.occurred_at >= ").push_bind(since);
    }
    if let Some(until) = filter.until {
        query.push(" and s.seq <= ").push_bind(until.cast_signed());
    }
}

/// A fact as the wire has it: the payload without the variant's tag, which the fact's type already says.
fn fact_from_row(row: &PgRow) -> Result<Fact, JournalError> {
    let seq = row.try_get::<i64, _>("seq")?.unsigned_abs();
    let damaged = |cause: String| JournalError::Damaged { seq, cause };
    let Json(metadata) = row
        .try_get::<Json<BTreeMap<String, String>>, _>("metadata")
        .map_err(|error| damaged(error.to_string()))?;
    let metadata = Metadata::from_map(&metadata).map_err(|error| damaged(error.to_string()))?;
    let Json(mut payload) = row.try_get::<Json<Value>, _>("payload")?;
    if let Some(fields) = payload.as_object_mut() {
        fields.remove("type");
    }
    let version: String = row.try_get("event_version")?;
    let aggregate_type: String = row.try_get("aggregate_type")?;
    let aggregate_id: String = row.try_get("aggregate_id")?;
    let aggregate_version = row.try_get::<i64, _>("sequence")?.unsigned_abs();
    Ok(Fact {
        seq,
        event_id: Fact::event_id(&aggregate_type, &aggregate_id, aggregate_version),
        kind: row.try_get("event_type")?,
        version: version.parse().map_err(|_| damaged(format!("its version `{version}` is not a number")))?,
        aggregate_type,
        aggregate_id,
        aggregate_version,
        tenant_id: metadata.scope.tenant,
        workspace_id: metadata.scope.workspace,
        conversation_id: metadata.conversation,
        turn_id: metadata.turn,
        actor: metadata.actor,
        causation_id: metadata.causation,
        correlation_id: metadata.correlation,
        traceparent: metadata.traceparent,
        occurred_at: metadata.occurred_at,
        payload,
    })
}
