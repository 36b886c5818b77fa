//! Who may pass each door and call each tool: made from the route table and the catalogue, so that nothing new can be
//! forgotten. Each is tried without a key, as a viewer, from another workspace of the tenant, from another tenant, and by
//! those who may; afterwards no store knows anything of ours under another tenant or workspace.
//!
//! F40.

use std::collections::BTreeMap;

use async_nats::jetstream;
use async_nats::jetstream::consumer::{AckPolicy, pull};
use futures::TryStreamExt;
use oxagen_domain::capability::{Surface, catalog};
use oxagen_domain::{Right, Role};
use oxagen_tests::{Answer, Http, Rows, Workspace, until, word, world};
use reqwest::Method;
use serde_json::{Value, json};

use crate::road;

/// A door, as the route table lists it.
struct Door {
    method: Method,
    path: String,
    operation: String,
    right: String,
}

fn doors() -> Vec<Door> {
    let parse = |line: String| {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        let [method, path, operation, right] = words.try_into().unwrap();
        Door { method: method.parse().unwrap(), path, operation, right }
    };
    oxagen_gateway::route_list().into_iter().map(parse).collect()
}

/// A body with which the door could do something, for those that want one. A new door must say what it takes.
fn body(operation: &str) -> Option<Value> {
    let run = json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "1"}});
    Some(match operation {
        "agent.turn.start" => json!({"text": "hello"}),
        "agent.turn.cancel" | "tool_call.cancel" => json!({"reason": "no"}),
        "conversation.rename" => json!({"title": "mine"}),
        "agent.conversation.archive" => json!({}),
        "tool_call.request" | "policy.explain" => run,
        "tool_call.settle" => json!({"outcome": "not_done"}),
        "agent.approval.resolve" => {
            json!({"decision": "approve", "editedInput": {"language": "python", "code": "2"}})
        }
        "approval.resolve_many" => {
            json!({"answers": [{"approvalId": uuid::Uuid::nil(), "decision": "deny"}]})
        }
        "agent.policy.set" => json!({"policy": {}, "version": 0}),
        "agent.plan.resolve" => json!({"decision": "reject"}),
        "agent.publish" => json!({"name": "x", "instructions": "x"}),
        "key.create" => json!({"name": "x", "role": "viewer"}),
        "object.keep" => json!("kept"),
        _ => return None,
    })
}

/// Arguments with which a tool could do something. A new tool must say what it takes.
fn arguments(tool: &str) -> Value {
    match tool {
        "agent.tool.list" => json!({}),
        "agent.code.execute" => json!({"language": "python", "code": "1"}),
        "agent.plan.create" => json!({"title": "x", "steps": [{"id": "a", "summary": "a"}]}),
        _ => panic!("tell the matrix what {tool} takes"),
    }
}

/// Ours, by the operation whose path names one.
struct Ours {
    workspace: Workspace,
    ids: BTreeMap<&'static str, String>,
}

/// A conversation with a plan that waits, a call that is held, a key, an answer that stands, an object.
async fn ours() -> Ours {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("matrix"));
    world.script(road::computes(&word));
    let (turn, _, asked) = road::ask(&workspace, &word).await;
    let run = json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "pass"}});
    let held = workspace.http.post("/v1/tool-calls", &run).await.expect(202);
    let answer = json!({"decision": "approve", "remember": true});
    let receipt = workspace.resolve(held["approvalId"].as_str().unwrap(), &answer).await.expect(200);
    let planning = self::word_with_plan().await;
    let plan_turn = workspace.start(&json!({"text": planning, "mode": "plan"})).await;
    let mut events = workspace.events(&plan_turn.conversation).await;
    let plan = events.until("plan-proposed").await.data;
    let me = workspace.http.get("/v1/me").await.expect(200);
    let put = workspace
        .http
        .request(Method::POST, "/v1/objects")
        .header("content-type", "application/octet-stream");
    let kept = workspace.http.send(put.body("ours alone")).await;
    assert!((200..300).contains(&kept.status), "{}", kept.text);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let ids = BTreeMap::from([
        ("turns", turn.id.clone()),
        ("conversations", turn.conversation.clone()),
        ("tool-calls", text(&asked["callId"])),
        ("approvals", text(&asked["approvalId"])),
        ("plans", text(&plan["planId"])),
        ("keys", text(&me["keyId"])),
        ("standing-approvals", text(&receipt["standingApprovalId"])),
        ("workspaces", workspace.id.clone()),
        ("objects", text(&kept.json["digest"])),
        ("tools", "agent.tool.list".to_owned()),
        ("errors", "not_found".to_owned()),
    ]);
    until("the views of all of that", async || {
        let inbox = workspace.http.get("/v1/approvals?status=open").await.expect(200);
        (inbox["items"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
    Ours { workspace, ids }
}

async fn word_with_plan() -> String {
    let word = word("matrix-plan");
    let steps = json!({"title": "x", "steps": [{"id": "a", "summary": "a"}]});
    let make = oxagen_tests::reply("A plan.", vec![oxagen_tests::call("agent_plan_create", steps)]);
    world().script(oxagen_tests::scenario(&word, vec![make, oxagen_tests::reply("Done.", vec![])]));
    word
}

impl Ours {
    fn path(&self, door: &Door) -> String {
        let mut parts: Vec<String> = Vec::new();
        for part in door.path.split('/') {
            let noun = parts.last().cloned().unwrap_or_default();
            parts.push(if part.starts_with('{') {
                let known = self.ids.get(noun.as_str());
                known.unwrap_or_else(|| panic!("tell the matrix an id for {}", door.path)).clone()
            } else {
                part.to_owned()
            });
        }
        parts.join("/")
    }
}

async fn knock(http: &Http, door: &Door, path: &str) -> Answer {
    let mut request = http.request(door.method.clone(), path);
    // A stream that opens is cut by the answer's status alone.
    if let Some(body) = body(&door.operation) {
        request = request.json(&body);
    } else if matches!(door.method, Method::POST | Method::PUT | Method::PATCH) && door.path != "/v1/objects"
    {
        panic!("tell the matrix what {} takes", door.operation);
    }
    http.send(request).await
}

#[tokio::test]
async fn f40_every_door_opens_only_to_those_who_may() {
    let world = world();
    let ours = ours().await;
    let beside = world.installation.beside(&ours.workspace).await;
    let strangers = [
        ("another workspace", beside.as_role(Role::Member).await),
        ("another tenant", world.workspace().await),
    ];
    let viewer = ours.workspace.as_role(Role::Viewer).await;
    let secret =
        [ours.ids["conversations"].as_str(), ours.ids["tool-calls"].as_str(), ours.ids["plans"].as_str()];
    let mut tried = 0;
    for door in doors().iter().filter(|door| door.right != "open") {
        let (path, name) = (ours.path(door), format!("{} {}", door.method, door.path));
        let bare = knock(&Http::open(world.url()), door, &path).await;
        assert_eq!(bare.status, 401, "{name} without a key: {}", bare.text);
        if door.right != "read" {
            let refused = knock(&viewer.http, door, &path).await;
            // Many answers come one by one, each with its own refusal.
            let each = door.operation == "approval.resolve_many" && refused.status == 200;
            assert!(refused.status == 403 || each, "{name} as a viewer: {} {}", refused.status, refused.text);
        }
        for (who, stranger) in &strangers {
            let by_id = door.path.contains('{');
            if by_id {
                let answer = knock(&stranger.http, door, &path).await;
                let lacks = door.right == "administer" && answer.status == 403;
                // A body is kept once for a tenant, and opens to whoever knows its digest there. Tools are everybody's.
                let shared = (door.operation == "object.read" && *who == "another workspace")
                    || door.path.starts_with("/v1/tools/");
                assert!(
                    answer.status == 404 || lacks || shared,
                    "{name} from {who}: {} {}",
                    answer.status,
                    answer.text
                );
            } else if door.method == Method::GET {
                let answer = knock(&stranger.http, door, &path).await;
                assert!(secret.iter().all(|id| !answer.text.contains(id)), "{name} from {who} shows ours");
            }
        }
        tried += 1;
    }
    assert!(tried >= 30, "only {tried} doors");

    // After all of that nothing of ours has changed, and the right one gets in.
    let kinds = ours.workspace.kinds(&ours.ids["conversations"]).await;
    let touched = ["approval.denied", "approval.approved", "turn.cancel_requested", "conversation.archived"];
    assert!(!kinds.iter().any(|kind| touched.contains(&kind.as_str())), "{kinds:?}");
    for door in doors().iter().filter(|door| door.method == Method::GET && !door.path.ends_with("/stream")) {
        // One comparison of the stores runs at a time, and another test may have one, too.
        let answer = until(&format!("an answer of {}", door.path), async || {
            let answer = knock(&ours.workspace.http, door, &ours.path(door)).await;
            (answer.status != 429).then_some(answer)
        })
        .await;
        assert!((200..400).contains(&answer.status), "GET {}: {} {}", door.path, answer.status, answer.text);
    }
    let plan = format!("/v1/plans/{}", ours.ids["plans"]);
    assert_eq!(ours.workspace.http.get(&plan).await.expect(200)["status"], "proposed");
    nowhere_else(&ours, &strangers.map(|(_, stranger)| stranger)).await;

    // What changes something, too; last of all what takes the key away that opens the doors.
    let mut changing: Vec<_> = doors().into_iter().filter(|door| door.method != Method::GET).collect();
    changing.sort_by_key(|door| door.operation == "key.revoke");
    for door in &changing {
        let answer = knock(&ours.workspace.http, door, &ours.path(door)).await;
        let lets_in = answer.status < 500 && !matches!(answer.status, 401 | 403 | 404);
        assert!(lets_in, "{} {}: {} {}", door.method, door.path, answer.status, answer.text);
    }
    ours.workspace.http.get("/v1/me").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn f40_every_tool_is_called_only_by_those_who_may_and_where_it_may() {
    let world = world();
    let (ours, theirs) = (world.workspace().await, world.workspace().await);
    let viewer = ours.as_role(Role::Viewer).await;
    let (mut tried, mut called) = (0, 0);
    for capability in catalog::CATALOG {
        let (name, callable) = (capability.name, capability.is_tool() && capability.is_on(Surface::Api));
        let input = if capability.is_tool() { arguments(name) } else { json!({}) };
        let call = json!({"capability": name, "input": input});
        Http::open(world.url()).post("/v1/tool-calls", &call).await.problem(401, "unauthorized");
        let answer = ours.http.post("/v1/tool-calls", &call).await;
        let as_viewer = viewer.http.post("/v1/tool-calls", &call).await;
        if callable {
            assert!(matches!(answer.status, 200 | 202), "{name}: {}", answer.text);
            called += 1;
            let may_read = capability.right == Right::Read;
            assert_eq!(as_viewer.status == 403, !may_read, "{name} as a viewer: {}", as_viewer.text);
            let path = format!("/v1/tool-calls/{}", answer.json["callId"].as_str().unwrap());
            theirs.http.get(&path).await.problem(404, "not_found");
            let cancel = theirs.http.post(&format!("{path}/cancel"), &json!({"reason": "no"})).await;
            cancel.problem(404, "not_found");
        } else {
            assert!(matches!(answer.status, 403 | 404 | 422), "{name} is no call: {}", answer.text);
            assert!(matches!(as_viewer.status, 403 | 404 | 422), "{name} as a viewer: {}", as_viewer.text);
        }
        tried += 1;
    }
    assert!(tried >= 16 && called >= 2, "{tried} capabilities, {called} called");
    let seen = theirs.http.get("/v1/tool-calls").await.expect(200);
    assert_eq!(seen["items"], json!([]), "their ledger has nothing of ours");
}

/// No row, message, frame or edge with anything of ours lies under another tenant or workspace.
async fn nowhere_else(ours: &Ours, strangers: &[Workspace]) {
    let own = ["turns", "conversations", "tool-calls", "approvals", "plans"];
    let ids: Vec<_> = own.iter().map(|noun| ours.ids[noun].as_str()).collect();
    let (installation, workspace) = (&world().installation, &ours.workspace);
    let rows = Rows::of(installation).await;

    let tables = "select format('%I.%I', table_schema, table_name) as name, count(*) as columns
                  from information_schema.columns join information_schema.tables using (table_schema, table_name)
                  where table_type = 'BASE TABLE' and column_name in ('tenant_id', 'workspace_id') group by 1";
    let tables = rows.postgres(tables).await;
    assert!(tables.len() >= 10, "{tables:?}");
    for table in &tables {
        let (name, both) = (table["name"].as_str().unwrap(), table["columns"] == 2);
        let elsewhere = format!("t.tenant_id::text <> '{}'", workspace.tenant);
        let elsewhere = if both {
            format!("({elsewhere} or t.workspace_id::text <> '{}')", workspace.id)
        } else {
            elsewhere
        };
        let sql = format!(
            "select 1 as row from {name} t where {elsewhere} and to_jsonb(t)::text ~ '{}'",
            ids.join("|")
        );
        assert_eq!(rows.postgres(&sql).await, Vec::<Value>::new(), "{name}");
    }

    let tables = "select c.table as place from system.columns c join system.tables t
                  on t.database = c.database and t.name = c.table
                  where c.database = currentDatabase() and c.name = 'tenant_id' and t.engine not like '%View'";
    let tables = rows.clickhouse(tables).await;
    assert!(tables.len() >= 3, "{tables:?}");
    for table in &tables {
        let name = table["place"].as_str().unwrap();
        let sql = format!(
            "select 1 as row from {name} where (toString(tenant_id) != '{}' or toString(workspace_id) != '{}')
             and multiSearchAny(formatRow('JSONEachRow', *), {ids:?})",
            workspace.tenant, workspace.id
        )
        .replace('"', "'");
        assert_eq!(rows.clickhouse(&sql).await, Vec::<Value>::new(), "{name}");
    }

    let list = format!("{ids:?}");
    for elsewhere in [
        format!("MATCH (n) WHERE n.tenant <> $tenant AND any(k IN keys(n) WHERE toStringOrNull(n[k]) IN {list}) RETURN 1 AS row"),
        format!("MATCH (a)-[r]->(b) WHERE (a.tenant <> $tenant OR b.tenant <> $tenant)
                 AND any(k IN keys(r) WHERE toStringOrNull(r[k]) IN {list}) RETURN 1 AS row"),
        "MATCH (a {tenant: $tenant})-->(b) WHERE a.tenant <> b.tenant OR a.workspace <> b.workspace RETURN 1 AS row".to_owned(),
    ] {
        assert!(rows.neo4j(&elsewhere, &workspace.tenant).await.is_empty(), "{elsewhere}");
    }

    // Subjects name tenant and workspace: what is under those of others says nothing of ours.
    let url = installation.servers.nats_url.split(',').next().unwrap();
    let context = jetstream::new(async_nats::connect(url).await.unwrap());
    for (stream, kind) in [("FACTS", "fact"), ("LIVE", "live")] {
        let stream = context.get_stream(format!("{}_{stream}", installation.name)).await.unwrap();
        for stranger in strangers {
            let filter_subject =
                format!("{}_{kind}.{}.{}.>", installation.name, stranger.tenant, stranger.id);
            let config =
                pull::Config { filter_subject, ack_policy: AckPolicy::None, ..pull::Config::default() };
            // All of them, or none: what breaks off is read again from its beginning.
            let messages = until(&format!("all that is under {kind} of a stranger"), async || {
                let consumer = stream.create_consumer(config.clone()).await.ok()?;
                let waiting = usize::try_from(consumer.cached_info().num_pending).ok()?;
                let messages = consumer.fetch().max_messages(waiting.max(1)).messages().await.ok()?;
                let messages: Vec<_> = messages.try_collect().await.ok()?;
                (messages.len() >= waiting).then_some(messages)
            })
            .await;
            for message in messages {
                let text = format!("{} {}", message.subject, String::from_utf8_lossy(&message.payload));
                assert!(!ids.iter().any(|id| text.contains(id)), "{kind} of ours under another: {text}");
            }
        }
    }
}
