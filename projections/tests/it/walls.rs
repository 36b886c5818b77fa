//! Row level security: who has not said who it is sees nothing, and whoever has sees one workspace.

use oxagen_domain::{ConversationId, Scope};
use oxagen_projections::Page;
use sqlx::Executor;
use sqlx::postgres::PgConnection;

use crate::story::Story;
use crate::world::{World, take};

async fn count(connection: &mut PgConnection, table: &str) -> i64 {
    sqlx::query_scalar(&format!("select count(*) from {table}")).fetch_one(connection).await.unwrap()
}

async fn tables(connection: &mut PgConnection) -> Vec<String> {
    const TABLES: &str = "
        select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname in ('execution', 'chat', 'agent') and c.relkind in ('r', 'v') order by 1";
    sqlx::query_scalar(TABLES).fetch_all(connection).await.unwrap()
}

#[tokio::test]
async fn every_table_is_walled_for_its_owner_too() {
    let world = World::new().await;
    let open: Vec<String> = sqlx::query_scalar(
        "select c.oid::regclass::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where n.nspname in ('execution', 'chat', 'agent') and c.relkind = 'r'
           and not (c.relrowsecurity and c.relforcerowsecurity)",
    )
    .fetch_all(&mut world.connection().await)
    .await
    .unwrap();
    assert_eq!(open, [""; 0]);
    world.end().await;
}

#[tokio::test]
async fn a_reader_sees_its_own_workspace_and_nothing_before_it_says_which() {
    let world = World::new().await;
    let (mut here, mut there) = (Story::new(), Story::new());
    here.turn();
    there.turn();
    world.commit(&mut here).await;
    take(&world.postgres(), &world.commit(&mut there).await).await;

    for role in ["oxagen_reader", "none"] {
        let mut connection = world.connection().await;
        connection.execute(format!("set role {role}").as_str()).await.unwrap();
        for table in tables(&mut connection).await {
            assert_eq!(count(&mut connection, &table).await, 0, "{table} unset as {role}");
        }
        name(&mut connection, here.scope).await;
        assert_eq!(count(&mut connection, "chat.messages").await, 2);
        let stranger = Scope { tenant: here.scope.tenant, workspace: there.scope.workspace };
        name(&mut connection, stranger).await;
        for table in tables(&mut connection).await {
            assert_eq!(count(&mut connection, &table).await, 0, "{table} of a stranger as {role}");
        }
    }
    let mut reader = world.connection().await;
    reader.execute("set role oxagen_reader; set oxagen.runtime = 'on'").await.unwrap();
    assert_eq!(count(&mut reader, "chat.messages").await, 0);
    world.end().await;
}

#[tokio::test]
async fn queries_find_nothing_of_another_workspace() {
    let world = World::new().await;
    let (mut here, there) = (Story::new(), Story::new());
    let talk = here.held_turn();
    take(&world.postgres(), &world.commit(&mut here).await).await;
    let queries = world.queries().await;
    let page = Page::default;
    assert_eq!(queries.conversation(there.scope, talk.conversation, Page::default()).await.unwrap(), None);
    assert_eq!(queries.turn(there.scope, talk.turn).await.unwrap(), None);
    assert_eq!(queries.tool_call(there.scope, talk.call).await.unwrap(), None);
    assert_eq!(queries.conversations(there.scope, page()).await.unwrap().items, []);
    assert_eq!(queries.approvals(there.scope, true, page()).await.unwrap().items, []);
    assert_eq!(queries.agents(there.scope).await.unwrap(), []);
    assert_eq!(queries.keys(there.scope, page()).await.unwrap().items, []);
    assert_eq!(
        queries.conversation(here.scope, ConversationId(talk.turn.0), Page::default()).await.unwrap(),
        None
    );
    world.end().await;
}

async fn name(connection: &mut PgConnection, scope: Scope) {
    let set = format!("set oxagen.tenant = '{}'; set oxagen.workspace = '{}'", scope.tenant, scope.workspace);
    connection.execute(set.as_str()).await.unwrap();
}
