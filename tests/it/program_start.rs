//! A server that is not there when a role starts, and a database of another version.

use oxagen_tests::{Installation, Proxy, ROLES, Rows, until};

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_down_at_start_is_named_and_waited_for() {
    let mut installation = Installation::new().await;
    let doors = [
        ("NATS_URL", Proxy::to(&installation.servers.nats_url).await),
        ("CLICKHOUSE_URL", Proxy::to(&installation.servers.clickhouse_url).await),
        ("NEO4J_URL", Proxy::to(&installation.servers.neo4j_url).await),
    ];
    for (name, door) in &doors {
        door.shut();
        installation.settings.insert((*name).to_owned(), door.url());
    }
    let mut process = installation.spawn(ROLES, &[]);
    for (name, door) in &doors {
        // One after the other, in whichever order it looks for them.
        until(&format!("the address of {name} in the log, or its turn"), async || {
            assert!(process.is_running(), "it must wait, not give up: {}", process.log());
            process.log().contains(&door.address()).then_some(())
        })
        .await;
        door.open();
    }
    process.ready().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_another_version_is_refused_in_one_line_that_says_what_to_do() {
    let installation = Installation::new().await;
    let rows = Rows::of(&installation).await;
    rows.execute("insert into _sqlx_migrations values (999, 'later', now(), true, '', 0)").await;
    let mut process = installation.spawn(&["gateway"], &[]);
    let status = process.ended().await;
    assert!(!status.success());
    let log = process.log();
    let said = log.lines().last().unwrap_or_default();
    assert!(said.contains("999"), "{log}");
    assert!(!log.contains("panicked"), "{log}");
}
