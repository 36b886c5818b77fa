//! Older forms of events, made new when they are read. Every path that reads events goes through here.

use serde_json::Value;

/// How one version of an event's payload becomes the next.
pub struct Upcast {
    /// The event's type, such as `tool_call.completed`.
    pub kind: &'static str,
    /// The version it takes; it gives this plus one.
    pub from: u32,
    /// The change.
    pub change: fn(Value) -> Value,
}

/// Every change of form so far, in any order.
const UPCASTS: &[Upcast] = &[];

/// Brings a payload to the newest version that this build knows.
pub fn upcast(kind: &str, version: u32, payload: Value) -> (u32, Value) {
    with(UPCASTS, kind, version, payload)
}

/// Whether a payload of this type and version has a newer form.
pub fn is_old(kind: &str, version: u32) -> bool {
    UPCASTS.iter().any(|step| step.kind == kind && step.from == version)
}

fn with(upcasts: &[Upcast], kind: &str, mut version: u32, mut payload: Value) -> (u32, Value) {
    while let Some(step) = upcasts.iter().find(|step| step.kind == kind && step.from == version) {
        payload = (step.change)(payload);
        version += 1;
    }
    (version, payload)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CHAIN: &[Upcast] = &[
        Upcast { kind: "a.b", from: 2, change: |payload| json!({"two": payload["one"]}) },
        Upcast { kind: "a.b", from: 1, change: |payload| json!({"one": payload}) },
    ];

    #[test]
    fn steps_are_chained_whatever_their_order() {
        assert_eq!(with(CHAIN, "a.b", 1, json!(7)), (3, json!({"two": 7})));
        assert_eq!(with(CHAIN, "a.b", 3, json!(7)), (3, json!(7)));
        assert_eq!(with(CHAIN, "a.c", 1, json!(7)), (1, json!(7)));
    }
}
