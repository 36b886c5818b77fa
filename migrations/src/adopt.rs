//! After a logical copy to another cluster the events' transaction ids mean nothing any more, and a relay that
//! trusted them would leave events without a number. That is noticed here, and repaired when asked for.

use sqlx::postgres::PgConnection;
use sqlx::{Connection, Executor};

use crate::error::MigrationError;
use crate::postgres::asked;

const IDENTIFIERS: &str = "
select s.system_identifier, c.system_identifier
from journal.sequencer_state s, pg_control_system() c where s.id = 1";

/// All events count as written now, and the next look of the relay goes over all of them once.
const ADOPT: &str = "
lock table journal.events in share row exclusive mode;
update journal.events set xid = pg_current_xact_id();
update journal.sequencer_state set snapshot = '1:1:', system_identifier = (select system_identifier from pg_control_system());";

/// Makes sure that the journal belongs to this cluster.
pub(crate) async fn ensure(connection: &mut PgConnection, adopt: bool) -> Result<(), MigrationError> {
    let identifiers: Option<(i64, i64)> =
        asked(sqlx::query_as(IDENTIFIERS).fetch_optional(&mut *connection)).await?;
    let Some((was, is)) = identifiers.filter(|(was, is)| was != is) else { return Ok(()) };
    if !adopt {
        return Err(MigrationError::OtherCluster { was, is });
    }
    let mut transaction = asked(connection.begin()).await?;
    asked(transaction.execute(ADOPT)).await?;
    asked(transaction.commit()).await
}
