//! Numbering: every committed event gets its `seq`, 1, 2, 3 … without a gap.
//!
//! Whatever has become visible since the last look is numbered, in the order of `position`. Whoever wrote an
//! aggregate's next version, or an effect, had seen the version before it, or the cause, committed: its
//! position is larger, and every snapshot that shows it shows the other as well. So within one look the order
//! by position is right, and between looks the earlier look is. An event was invisible in a snapshot exactly
//! when its transaction is at or above the snapshot's `xmax` or in its list of transactions then running.

use std::time::{Duration, Instant};

use sqlx::Row;
use sqlx::postgres::PgConnection;
use tokio::time::timeout;

use crate::error::JournalError;
use crate::journal::Journal;
use crate::lock;

/// Events numbered in one look.
const LOOK: i64 = 1_000;
/// Events numbered in one step through a backlog.
const STEP: i64 = 5_000;
/// How often the snapshot is written down; an older one only costs time at the next start.
const SAVE: Duration = Duration::from_secs(1);
/// Longest wait for one look; the first one after a start may pass over a long history.
const PATIENCE: Duration = Duration::from_secs(300);

/// The plans must follow the indexes whatever the statistics say; a slow look is still a right one.
const SETTINGS: &[(&str, &str)] = &[
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("statement_timeout", "0"),
    // A leader that stands still, or cannot be heard, leads no longer.
    ("idle_session_timeout", "10s"),
];

/// $1 snapshot of the last full look, $2 last seq, $3 limit, $4 whether to write the new snapshot down.
const NUMBER: &str = "
with new as materialized (
  select u.* from (
    select position, tenant_id, workspace_id, conversation_id from journal.events
    where xid >= pg_snapshot_xmax($1::text::pg_snapshot)
    union all
    select position, tenant_id, workspace_id, conversation_id from journal.events
    where xid = any (array(select pg_snapshot_xip($1::text::pg_snapshot)))
  ) u
  where (select j.seq from journal.sequence j where j.position = u.position) is null
  order by u.position limit $3::int8),
numbered as (
  insert into journal.sequence (seq, position, tenant_id, workspace_id, conversation_id)
  select $2::int8 + row_number() over (order by position), position, tenant_id, workspace_id, conversation_id from new
  returning position),
kept as (
  update journal.sequencer_state set snapshot = pg_current_snapshot()
  where id = 1 and $4::bool and (select count(*) from new) between 1 and $3::int8 - 1)
select count(*) as count, coalesce(max(position), 0) as position, pg_current_snapshot()::text as snapshot from numbered";

/// One step through what is visible in a fixed snapshot. $1 that snapshot, $2 last seq, $3 limit, $4 last position.
const WALK: &str = "
with new as materialized (
  select e.position, e.tenant_id, e.workspace_id, e.conversation_id from journal.events e
  where e.position > $4::int8 and pg_visible_in_snapshot(e.xid, $1::text::pg_snapshot)
    and (select j.seq from journal.sequence j where j.position = e.position) is null
  order by e.position limit $3::int8),
numbered as (
  insert into journal.sequence (seq, position, tenant_id, workspace_id, conversation_id)
  select $2::int8 + row_number() over (order by position), position, tenant_id, workspace_id, conversation_id from new
  returning position)
select count(*) as count, coalesce(max(position), 0) as position from numbered";

/// The numbers given by one look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// The first number given; one above `last` if there was nothing to number.
    pub first: u64,
    /// The highest number given so far.
    pub last: u64,
    /// How many were given.
    pub count: u64,
}

/// A backlog being walked: all that is visible in `snapshot` and lies behind `position`.
struct Backlog {
    snapshot: String,
    position: i64,
}

/// The one that numbers. It leads as long as its session lives; there is never a second one.
pub struct Sequencer {
    session: PgConnection,
    /// Everything visible in it has its number.
    snapshot: String,
    last: i64,
    backlog: Option<Backlog>,
    saved: Instant,
}

impl Sequencer {
    /// Becomes the leader; `None` when somebody else is.
    ///
    /// # Errors
    /// [`JournalError::Unavailable`], or [`JournalError::OtherCluster`] after a copy from another server.
    pub async fn lead(journal: &Journal) -> Result<Option<Self>, JournalError> {
        let mut session = journal.session(SETTINGS).await?;
        journal.bounded(Self::take(&mut session)).await.map(|state| {
            let (snapshot, last) = state?;
            Some(Self { session, snapshot, last, backlog: None, saved: Instant::now() })
        })
    }

    /// The lock comes first: what is read before it may be older than what the last leader did.
    async fn take(session: &mut PgConnection) -> Result<Option<(String, i64)>, JournalError> {
        const STATE: &str = "
            select s.snapshot::text, s.system_identifier as was, c.system_identifier as is_now,
                   (select coalesce(max(seq), 0) from journal.sequence) as last
            from journal.sequencer_state s, pg_control_system() c where s.id = 1";
        let leads: bool = sqlx::query_scalar("select pg_try_advisory_lock($1)")
            .bind(lock::key("sequencer", &[]))
            .fetch_one(&mut *session)
            .await?;
        if !leads {
            return Ok(None);
        }
        let state = sqlx::query(STATE).fetch_one(session).await?;
        let (was, is) = (state.try_get("was")?, state.try_get("is_now")?);
        if was != is {
            return Err(JournalError::OtherCluster { was, is });
        }
        Ok(Some((state.try_get("snapshot")?, state.try_get("last")?)))
    }

    /// Numbers what has become visible since the last call, at most a few thousand events. Call it again at
    /// once as long as it [is behind](Self::is_behind).
    ///
    /// # Errors
    /// After any error the leadership is void: drop this and lead again.
    pub async fn number(&mut self) -> Result<Numbered, JournalError> {
        let before = self.last;
        let numbered = async {
            match self.backlog.take() {
                Some(backlog) => self.walk(backlog).await,
                None => self.look().await,
            }
        };
        timeout(PATIENCE, numbered).await.unwrap_or_else(|_| Err(JournalError::silent(PATIENCE)))?;
        Ok(Numbered {
            first: before.unsigned_abs() + 1,
            last: self.last.unsigned_abs(),
            count: (self.last - before).unsigned_abs(),
        })
    }

    /// Whether the last call has left events that were visible to it.
    pub fn is_behind(&self) -> bool {
        self.backlog.is_some()
    }

    /// The highest number given so far.
    pub fn last(&self) -> u64 {
        self.last.unsigned_abs()
    }

    async fn look(&mut self) -> Result<(), JournalError> {
        let save = self.saved.elapsed() >= SAVE;
        let row = sqlx::query(NUMBER)
            .bind(&self.snapshot)
            .bind(self.last)
            .bind(LOOK)
            .bind(save)
            .fetch_one(&mut self.session)
            .await?;
        let (count, snapshot): (i64, String) = (row.try_get("count")?, row.try_get("snapshot")?);
        self.last += count;
        if count == LOOK {
            self.backlog = Some(Backlog { snapshot, position: row.try_get("position")? });
            return Ok(());
        }
        self.snapshot = snapshot;
        if save && count > 0 {
            self.saved = Instant::now();
        }
        Ok(())
    }

    async fn walk(&mut self, mut backlog: Backlog) -> Result<(), JournalError> {
        let row = sqlx::query(WALK)
            .bind(&backlog.snapshot)
            .bind(self.last)
            .bind(STEP)
            .bind(backlog.position)
            .fetch_one(&mut self.session)
            .await?;
        let count: i64 = row.try_get("count")?;
        self.last += count;
        if count == STEP {
            backlog.position = row.try_get("position")?;
            self.backlog = Some(backlog);
            return Ok(());
        }
        self.snapshot = backlog.snapshot;
        self.save().await
    }

    async fn save(&mut self) -> Result<(), JournalError> {
        const SAVE: &str = "update journal.sequencer_state set snapshot = $1::text::pg_snapshot where id = 1";
        sqlx::query(SAVE).bind(&self.snapshot).execute(&mut self.session).await?;
        self.saved = Instant::now();
        Ok(())
    }
}
