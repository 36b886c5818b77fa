//! Which facts a store reads that keeps little of most of them: reading a fact's body costs more than writing its row.

/// Facts that end a call; they carry its record.
const ENDS: [&str; 5] = [
    "tool_call.completed",
    "tool_call.failed",
    "tool_call.cancelled",
    "tool_call.denied",
    "tool_call.in_doubt",
];

/// Whether a fact of this type is read for the analytic rows beside its own.
pub(crate) fn has_analytic_rows(kind: &str) -> bool {
    ENDS.contains(&kind) || kind == "turn.step_completed"
}

/// Whether a fact of this type is read for the graph.
pub(crate) fn has_edges(kind: &str) -> bool {
    ENDS.contains(&kind) || kind == "approval.approved"
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use oxagen_domain::Event;

    use super::*;

    /// A new type of fact must be put on one of these sides.
    #[test]
    fn every_type_is_read_or_known_to_need_no_reading() {
        let without = [
            "tool_call.requested",
            "tool_call.held",
            "tool_call.cleared",
            "tool_call.started",
            "tool_call.settled",
        ];
        let calls: BTreeSet<_> = Event::kinds().filter(|kind| kind.starts_with("tool_call.")).collect();
        assert_eq!(calls, ENDS.into_iter().chain(without).collect());
        let all: BTreeSet<_> = Event::kinds().collect();
        assert!(all.contains("turn.step_completed") && all.contains("approval.approved"), "{all:?}");
    }
}
