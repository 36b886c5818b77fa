//! The stream of facts: what it still holds must be the journal's facts, each at the place that is its `seq`.

use std::time::Duration;

use oxagen_domain::Fact;
use oxagen_jetstream::Bus;
use oxagen_jetstream::follow::{self, Delivery};
use oxagen_jetstream::publish::Publisher;
use oxagen_journal::{Journal, JournalError};
use tokio::time::timeout;

use super::compare::{Findings, Place};
use super::report::{ColumnDifference, What};

const STORE: &str = "stream";
const FACTS: Place = Place { store: STORE, table: "FACTS" };
/// A server that says nothing for so long is away.
const SILENCE: Duration = Duration::from_secs(15);
/// A fact with a body of fewer bytes fits into a message on any server.
const FITS: usize = 512 * 1024;

/// Compares them.
pub(super) async fn compare(
    bus: &Bus,
    journal: &Journal,
    findings: &mut Findings,
) -> Result<(), JournalError> {
    let Some(last) = findings.noted(STORE, Publisher::new(bus).last_sequence().await) else { return Ok(()) };
    let head = journal.head().await?;
    if last > head {
        let column = ColumnDifference { column: "last", expected: head.into(), found: last.into() };
        findings.differs(FACTS, None, last.to_string(), What::Changed { columns: vec![column] });
    }
    let (mut cursor, until) = findings.window();
    let end = last.min(head).min(until);
    let mut follow = follow::facts(bus, "verify", cursor, &[]);
    let mut begun = false;
    while cursor < end {
        match timeout(SILENCE, follow.next_batch()).await {
            Err(elapsed) => {
                findings.noted::<(), _>(STORE, Err(elapsed));
                return Ok(());
            }
            Ok(Delivery::Jump { after, next }) => {
                // Before its first message a stream may lack as many as its age and size say.
                if begun {
                    for fact in read(journal, after, next.min(end + 1)).await? {
                        lacks(&fact, findings);
                    }
                }
                begun = true;
                cursor = next - 1;
                follow.seek(cursor);
            }
            Ok(Delivery::Facts(carried)) => {
                begun = true;
                let until = carried.last().map_or(cursor, |fact| fact.seq).min(end);
                let kept = read(journal, cursor, until + 1).await?;
                let mut kept = kept.iter().peekable();
                for fact in carried.iter().filter(|fact| fact.seq <= end) {
                    while kept.next_if(|kept| kept.seq < fact.seq).is_some() {}
                    same(kept.next_if(|kept| kept.seq == fact.seq), fact, findings);
                }
                cursor = until;
            }
        }
    }
    Ok(())
}

/// The journal's facts after `after` and before `next`.
async fn read(journal: &Journal, after: u64, next: u64) -> Result<Vec<Fact>, JournalError> {
    let count = u32::try_from(next.saturating_sub(after + 1)).unwrap_or(u32::MAX);
    match journal.read(after, count).await {
        Ok(mut facts) => {
            facts.retain(|fact| fact.seq < next);
            Ok(facts)
        }
        // It is told about elsewhere.
        Err(JournalError::Damaged { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn lacks(fact: &Fact, findings: &mut Findings) {
    let fits = serde_json::to_vec(fact).is_ok_and(|body| body.len() < FITS);
    if fits && findings.asks(fact.seq) && findings.asks_tenant(fact.tenant_id) {
        findings.count(FACTS, fact.tenant_id, Some(fact.event_id.as_u128()), None);
        findings.differs(FACTS, Some(fact.tenant_id), fact.seq.to_string(), What::Missing);
    }
}

fn same(kept: Option<&Fact>, carried: &Fact, findings: &mut Findings) {
    if !findings.asks(carried.seq) || !findings.asks_tenant(carried.tenant_id) {
        return;
    }
    let hash = |fact: &Fact| fact.event_id.as_u128();
    findings.count(FACTS, carried.tenant_id, kept.map(hash), Some(hash(carried)));
    let what = match kept {
        None => What::Extra,
        Some(kept) if kept == carried => return,
        Some(kept) => What::Changed { columns: columns(kept, carried) },
    };
    findings.differs(FACTS, Some(carried.tenant_id), carried.seq.to_string(), what);
}

fn columns(kept: &Fact, carried: &Fact) -> Vec<ColumnDifference> {
    let column = |column, expected: String, found: String| {
        (expected != found).then(|| ColumnDifference {
            column,
            expected: expected.into(),
            found: found.into(),
        })
    };
    let all = [
        column("eventId", kept.event_id.to_string(), carried.event_id.to_string()),
        column("type", kept.kind.clone(), carried.kind.clone()),
        column("payload", kept.payload.to_string(), carried.payload.to_string()),
    ];
    let named: Vec<_> = all.into_iter().flatten().collect();
    if !named.is_empty() {
        return named;
    }
    let json = |fact| serde_json::to_value(fact).unwrap_or_default();
    vec![ColumnDifference { column: "fact", expected: json(kept), found: json(carried) }]
}
