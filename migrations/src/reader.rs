//! The role `oxagen_reader`: a query takes it on, so that row level security shows it one workspace only.
//!
//! Roles belong to the cluster and not to a database, so several databases may get here at the same time.

use sqlx::Executor;
use sqlx::postgres::PgConnection;

use crate::error::MigrationError;
use crate::postgres::{asked, connect};

/// Whether the connected user can take the role on.
const READY: &str = "
select exists (select from pg_roles where rolname = 'oxagen_reader')
   and coalesce((select pg_has_role(current_user, oid, 'SET') from pg_roles where rolname = 'oxagen_reader'), false)";

/// Makes the role, grants it to `%s`, and does not mind who was faster.
const MAKE: &str = "
do $do$
begin
  begin
    create role oxagen_reader nologin;
  exception when duplicate_object or unique_violation then null;
  end;
  begin
    grant oxagen_reader to %s;
  exception when unique_violation then null;
  end;
end $do$";

/// Makes sure that the role exists and that the connected user may take it on.
pub(crate) async fn ensure(
    connection: &mut PgConnection,
    admin_url: Option<&str>,
) -> Result<(), MigrationError> {
    let user: String =
        asked(sqlx::query_scalar("select quote_ident(current_user)").fetch_one(&mut *connection)).await?;
    if ready(connection).await? {
        return Ok(());
    }
    let make = MAKE.replace("%s", &user);
    if connection.execute(make.as_str()).await.is_err()
        && let Some(admin_url) = admin_url
    {
        let mut admin = connect(admin_url).await?;
        asked(admin.execute(make.as_str())).await?;
    }
    if ready(connection).await? { Ok(()) } else { Err(MigrationError::Reader { user }) }
}

async fn ready(connection: &mut PgConnection) -> Result<bool, MigrationError> {
    asked(sqlx::query_scalar(READY).fetch_one(connection)).await
}
