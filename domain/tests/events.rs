//! Every form of an event that was ever stored can be read. `events/<type>/<version>.json` holds one payload of each,
//! as facts carry it. A file never changes once it is released: a new form is a new version, with an upcast to it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::DateTime;
use oxagen_domain::{Actor, Event, Fact, TenantId, WorkspaceId, upcast};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

struct Sample {
    kind: String,
    version: u32,
    payload: Value,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/events")
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for kind in fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()) {
        for file in fs::read_dir(&kind).unwrap().map(|entry| entry.unwrap().path()) {
            samples.push(Sample {
                kind: kind.file_name().unwrap().to_str().unwrap().to_owned(),
                version: file.file_stem().unwrap().to_str().unwrap().parse().unwrap(),
                payload: serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap(),
            });
        }
    }
    samples
}

fn fact(sample: &Sample) -> Fact {
    let (aggregate, _) = sample.kind.split_once('.').unwrap();
    Fact {
        seq: 1,
        event_id: Uuid::from_u128(1),
        kind: sample.kind.clone(),
        version: sample.version,
        aggregate_type: aggregate.to_owned(),
        aggregate_id: Uuid::from_u128(2).to_string(),
        aggregate_version: 1,
        tenant_id: TenantId(Uuid::from_u128(3)),
        workspace_id: WorkspaceId(Uuid::from_u128(4)),
        conversation_id: None,
        turn_id: None,
        actor: Actor::system("test"),
        causation_id: Uuid::from_u128(5),
        correlation_id: Uuid::from_u128(5),
        traceparent: None,
        occurred_at: DateTime::UNIX_EPOCH,
        payload: sample.payload.clone(),
    }
}

/// The payload as it would be stored today.
fn payload(event: &Event) -> Value {
    fn untagged(event: &impl Serialize) -> Value {
        let mut payload = serde_json::to_value(event).unwrap();
        payload.as_object_mut().unwrap().remove("type");
        payload
    }
    match event {
        Event::Workspace(event) => untagged(event),
        Event::ApiKey(event) => untagged(event),
        Event::Agent(event) => untagged(event),
        Event::Policy(event) => untagged(event),
        Event::Conversation(event) => untagged(event),
        Event::Turn(event) => untagged(event),
        Event::ToolCall(event) => untagged(event),
        Event::Approval(event) => untagged(event),
        Event::Plan(event) => untagged(event),
    }
}

#[test]
fn f34_every_type_has_a_sample_of_each_version_and_no_sample_is_left_over() {
    let known: BTreeSet<_> = Event::kinds().map(str::to_owned).collect();
    let sampled: BTreeSet<_> = samples().into_iter().map(|sample| sample.kind).collect();
    let missing: Vec<_> = known.difference(&sampled).collect();
    assert!(missing.is_empty(), "no file in domain/tests/events for {missing:?}");
    let unknown: Vec<_> = sampled.difference(&known).collect();
    assert!(unknown.is_empty(), "this build cannot read {unknown:?}, which may be stored somewhere");
    for kind in known {
        let newest = (1..).find(|version| !upcast::is_old(&kind, *version)).unwrap();
        let versions: BTreeSet<_> =
            samples().iter().filter(|sample| sample.kind == kind).map(|sample| sample.version).collect();
        assert_eq!(versions, (1..=newest).collect(), "versions of {kind} with a sample");
    }
}

#[test]
fn f34_every_sample_is_read_and_a_new_one_is_written_as_it_was() {
    for sample in samples() {
        let (kind, version) = (&sample.kind, sample.version);
        let event = fact(&sample).event().unwrap_or_else(|error| panic!("{error}"));
        let event = event.unwrap_or_else(|| panic!("{kind} is unknown"));
        let (_, upcast) = upcast::upcast(kind, version, sample.payload);
        assert_eq!(payload(&event), upcast, "{kind} version {version} loses or changes something");
    }
}

#[test]
fn f34_fields_of_a_newer_build_are_no_obstacle_and_its_types_are_left_alone() {
    for mut sample in samples() {
        sample.payload["fieldOfANewerBuild"] = Value::Bool(true);
        assert!(fact(&sample).event().unwrap().is_some(), "{}", sample.kind);
        sample.kind = "tool_call.invented_later".to_owned();
        assert_eq!(fact(&sample).event().unwrap(), None);
    }
}
