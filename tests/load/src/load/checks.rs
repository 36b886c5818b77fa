//! What must hold afterwards.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::drive::Driven;
use crate::site::{Running, Site};

/// A statement that held or did not.
pub(super) struct Check {
    pub(super) name: String,
    /// What is amiss.
    pub(super) flaw: Option<String>,
}

/// Calls with their tenants and how often each was found as completed.
type Found = BTreeMap<(String, String), u64>;

/// No call failed.
pub(super) fn no_errors(driven: &Driven) -> Check {
    let first = driven.errors.first();
    let flaw = first.map(|error| format!("{} errors, the first: {error}", driven.errors.len()));
    Check { name: format!("none of {} calls failed", driven.calls.len() + driven.errors.len()), flaw }
}

/// Each call is in the journal, in each store once, completed, under its own tenant, and nothing else is there.
pub(super) async fn stores(site: &Site, calls: &[(String, String)]) -> anyhow::Result<Vec<Check>> {
    const JOURNAL: &str = "select tenant_id as tenant, aggregate_id as call, 'completed' as status
                           from journal.events where event_type = 'tool_call.completed'";
    const POSTGRES: &str = "select tenant_id as tenant, id as call, status from execution.tool_calls";
    const CLICKHOUSE: &str =
        "select toString(tenant_id) as tenant, toString(call_id) as call, status from tool_invocations final";
    const NEO4J: &str = "MATCH (e:Execution {tenant: $tenant})-[i:INVOKED]->(v:ToolVersion {tenant: $tenant})
                         RETURN e.tenant AS tenant, i.callId AS call, i.status AS status";
    let tenants: BTreeSet<&String> = calls.iter().map(|(tenant, _)| tenant).collect();
    let mut edges = Vec::new();
    for tenant in tenants {
        edges.extend(site.rows.neo4j(NEO4J, tenant).await.into_iter().map(Value::Object));
    }
    let stores = [
        ("journal: tool_call.completed", site.rows.postgres(JOURNAL).await),
        ("Postgres: execution.tool_calls", site.rows.postgres(POSTGRES).await),
        ("ClickHouse: tool_invocations", site.rows.clickhouse(CLICKHOUSE).await),
        ("Neo4j: INVOKED", edges),
    ];
    let letters = site.rows.postgres("select reader, seq, error from journal.dead_letters").await;
    let mut checks: Vec<_> = stores
        .into_iter()
        .map(|(name, rows)| {
            let name = format!("{name} has each of {} calls once, under its own tenant", calls.len());
            Check { name, flaw: compare(calls, &found(&rows)) }
        })
        .collect();
    let flaw = letters.first().map(|letter| format!("{} of them, such as {letter}", letters.len()));
    checks.push(Check { name: "no fact was set aside".to_owned(), flaw });
    Ok(checks)
}

/// No role complained.
pub(super) fn quiet(running: &Running) -> Check {
    let line = running.processes.iter().find_map(|(process, running)| {
        let log = running.log();
        let line = log.lines().find(|line| line.contains("ERROR") || line.contains("panicked"))?;
        Some(format!("{process}: {line}"))
    });
    Check { name: "no role has logged an error".to_owned(), flaw: line }
}

fn found(rows: &[Value]) -> Found {
    let mut found = Found::new();
    for row in rows {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let status = text("status");
        let call = if status == "completed" { text("call") } else { format!("{} ({status})", text("call")) };
        *found.entry((text("tenant"), call)).or_default() += 1;
    }
    found
}

fn compare(calls: &[(String, String)], found: &Found) -> Option<String> {
    let expected: BTreeSet<_> = calls.iter().collect();
    let missing = expected.iter().filter(|call| !found.contains_key(*call)).count();
    let foreign: Vec<_> = found.keys().filter(|call| !expected.contains(call)).collect();
    let twice = found.values().filter(|count| **count > 1).count();
    let repeated = calls.len() - expected.len();
    if missing + foreign.len() + twice + repeated == 0 {
        return None;
    }
    let example = foreign.first().map(|call| format!(", such as {call:?}")).unwrap_or_default();
    Some(format!(
        "{missing} missing, {} that nobody made{example}, {twice} more than once, {repeated} ids given twice",
        foreign.len()
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_differs_is_told() {
        let calls = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "2".to_owned())];
        let row = |tenant: &str, call: &str, status: &str| json!({"tenant": tenant, "call": call, "status": status});
        let good = [row("a", "1", "completed"), row("b", "2", "completed")];
        assert_eq!(compare(&calls, &found(&good)), None);
        let swapped = compare(&calls, &found(&[row("b", "1", "completed"), good[1].clone()])).unwrap();
        assert!(swapped.starts_with("1 missing, 1 that nobody made"), "{swapped}");
        let twice = compare(&calls, &found(&[good[0].clone(), good[0].clone(), good[1].clone()])).unwrap();
        assert!(twice.contains("1 more than once"), "{twice}");
        let open = compare(&calls, &found(&[row("a", "1", "started"), good[1].clone()])).unwrap();
        assert!(open.contains("1 (started)"), "{open}");
    }
}
