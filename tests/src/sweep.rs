//! Removes what earlier test runs have left on the servers.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use sqlx::{Connection, Executor, PgConnection};
use uuid::Uuid;

use crate::container::Containers;
use crate::servers::Servers;

/// What is younger may belong to a run that is still under way.
const OLD: Duration = Duration::from_secs(30 * 60);

/// The name of a new installation: it says when it was made.
pub(crate) fn fresh_name() -> String {
    format!("it_{}", Uuid::now_v7().simple())
}

fn is_old(name: &str) -> bool {
    let Some(made) =
        name.strip_prefix("it_").and_then(|id| id.get(..32)).and_then(|id| Uuid::parse_str(id).ok())
    else {
        return false;
    };
    let Some(timestamp) = made.get_timestamp() else { return false };
    let (seconds, _) = timestamp.to_unix();
    let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    age.is_ok_and(|age| age > OLD)
}

/// Drops old databases and streams. What somebody else drops at the same time is fine too.
pub(crate) async fn old_installations(servers: &Servers) {
    let mut admin = PgConnection::connect(&servers.database_admin_url).await.unwrap();
    let names: Vec<String> =
        sqlx::query_scalar("select datname::text from pg_database").fetch_all(&mut admin).await.unwrap();
    for name in names.iter().filter(|name| is_old(name)) {
        let _ = admin.execute(format!("drop database if exists {name} with (force)").as_str()).await;
        let client = clickhouse::Client::default()
            .with_url(&servers.clickhouse_url)
            .with_user(&servers.clickhouse_user)
            .with_password(&servers.clickhouse_password);
        let _ = client.query(&format!("drop database if exists {name}")).execute().await;
    }
    containers(servers, &mut admin).await;
    let nats = async_nats::connect(servers.nats_url.split(',').next().unwrap()).await.unwrap();
    let streams = async_nats::jetstream::new(nats);
    let mut names = streams.stream_names();
    while let Ok(Some(name)) = futures::TryStreamExt::try_next(&mut names).await {
        if is_old(&name) {
            let _ = streams.delete_stream(name).await;
        }
    }
}

/// The containers of installations on this cluster whose processes are gone: those that nobody is connected for. They
/// are looked for first, as one that is made in between belongs to somebody who is not.
async fn containers(servers: &Servers, admin: &mut PgConnection) {
    let cluster: i64 = sqlx::query_scalar("select system_identifier from pg_control_system()")
        .fetch_one(&mut *admin)
        .await
        .unwrap();
    let containers = Containers::at(&servers.docker_host);
    let found = containers.labelled().await;
    let connected = "select distinct datname::text from pg_stat_activity where datname is not null";
    let alive: BTreeSet<String> =
        sqlx::query_scalar(connected).fetch_all(admin).await.unwrap().into_iter().collect();
    let ours = format!("{cluster}/it_");
    let is_gone = |name: &str| {
        let database = name.split_once('/').map_or(name, |(_, database)| database);
        name.starts_with(&ours) && !alive.contains(database)
    };
    containers.remove_of(found, is_gone).await;
}
