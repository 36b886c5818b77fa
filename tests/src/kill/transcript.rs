//! What a screen was sent, without what differs from run to run.

use std::collections::BTreeMap;

use serde_json::Value;
use uuid::Uuid;

use crate::events::SseEvent;

/// Places, counts and times that differ between runs which are otherwise the same.
const PASSING: &[&str] =
    &["seq", "aggregateVersion", "latencyMs", "durationMs", "outputBytes", "attempt", "epoch", "pause"];

/// The facts in the order in which they were shown, one line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Transcript(Vec<String>);

impl Transcript {
    /// Of these events; what a screen throws away after a `step-reset` is checked, not compared.
    pub(super) fn of(events: &[SseEvent]) -> Self {
        frames_fit(events);
        let facts = events.iter().filter(|event| event.id.is_some() && event.name != "step-reset");
        Self(facts.map(|event| format!("{} {}", event.name, scrubbed("", &event.data))).collect())
    }

    /// Fails naming the first line that differs.
    pub(super) fn is_like(&self, undisturbed: &Self, about: &str) {
        let longest = self.0.len().max(undisturbed.0.len());
        for nth in 0..longest {
            let (is, was) = (self.0.get(nth), undisturbed.0.get(nth));
            assert_eq!(
                is,
                was,
                "{about}: fact {nth} of the transcript; left this run, right the undisturbed one. Before it: {:?}",
                self.0[..nth]
                    .iter()
                    .rev()
                    .take(4)
                    .map(|line| &line[..line.len().min(60)])
                    .collect::<Vec<_>>()
            );
        }
    }
}

fn scrubbed(name: &str, value: &Value) -> Value {
    match value {
        Value::Number(_) if PASSING.contains(&name) => Value::from("n"),
        Value::String(text) if Uuid::parse_str(text).is_ok() => Value::from("id"),
        Value::String(_) if name == "traceparent" => Value::from("trace"),
        // The scripted provider makes it from all that it was asked, identifiers included.
        Value::String(_) if name == "providerCallId" => Value::from("provider's"),
        // Times are the only strings of ours with this shape.
        Value::String(text)
            if text.len() >= 20 && text.as_bytes()[4] == b'-' && text.as_bytes()[10] == b'T' =>
        {
            Value::from("time")
        }
        Value::Array(items) => items.iter().map(|item| scrubbed(name, item)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), scrubbed(name, value))).collect()
        }
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => value.clone(),
    }
}

/// Every piece of the attempt that counted is where it is in the whole text, and comes after the step's beginning
/// and before its end. Pieces may be missing: they are lost with the process that carried them.
fn frames_fit(events: &[SseEvent]) {
    let mut whole: BTreeMap<(String, u64, u64), String> = BTreeMap::new();
    for event in events.iter().filter(|event| event.name == "step-completed") {
        let data = &event.data;
        let at = |name: &str| data[name].as_u64().unwrap();
        let turn = data["turnId"].as_str().unwrap().to_owned();
        whole.insert((turn, at("step"), at("attempt")), data["text"].as_str().unwrap_or_default().to_owned());
    }
    let mut ended = Vec::new();
    for event in events {
        let data = &event.data;
        let step = || {
            let at = |name: &str| data[name].as_u64().unwrap();
            (data["turnId"].as_str().unwrap().to_owned(), at("step"), at("attempt"))
        };
        match event.name.as_str() {
            "step-completed" => ended.push(step()),
            "text-delta" => {
                assert!(!ended.contains(&step()), "a frame after its step's end: {data}");
                let Some(whole) = whole.get(&step()) else { continue };
                let from = usize::try_from(data["offset"].as_u64().unwrap()).unwrap();
                let text = data["text"].as_str().unwrap();
                assert_eq!(
                    whole.get(from..from + text.len()),
                    Some(text),
                    "a frame that is not in {whole:?}"
                );
            }
            _ => {}
        }
    }
}
