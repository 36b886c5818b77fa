//! The walls: which crate may use which. `rooms.txt` is the list; a new edge is a decision, seen in review.

mod list;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use list::{List, Room};

const FILE: &str = "xtask/rooms.txt";
const OURS: &str = "oxagen-";

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// None for what the product itself needs; `dev` and `build` stand outside the walls.
    kind: Option<String>,
}

/// Compares the crates' edges with the list and names each that differs.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    let text = fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let list = List::parse(&text)?;
    let found = rooms(root, &list.walled)?;
    let differences = differences(&list, &found);
    if !differences.is_empty() {
        bail!("the crates' edges are not those of {FILE}:\n  {}", differences.join("\n  "));
    }
    println!("rooms: {} crates, every edge is on the list", found.len());
    Ok(())
}

fn rooms(root: &Path, walled: &BTreeSet<String>) -> anyhow::Result<BTreeMap<String, Room>> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(root)
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr).trim());
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    Ok(metadata.packages.into_iter().map(|package| (short(&package.name), room(package, walled))).collect())
}

fn room(package: Package, walled: &BTreeSet<String>) -> Room {
    let mut room = Room::default();
    for dependency in package.dependencies.into_iter().filter(|dependency| dependency.kind.is_none()) {
        if dependency.name.starts_with(OURS) {
            room.own.insert(short(&dependency.name));
        } else if walled.contains(&dependency.name) {
            room.outside.insert(dependency.name);
        }
    }
    room
}

fn short(name: &str) -> String {
    name.strip_prefix(OURS).unwrap_or(name).to_owned()
}

fn differences(list: &List, found: &BTreeMap<String, Room>) -> Vec<String> {
    let mut all = Vec::new();
    for (name, room) in found {
        let Some(listed) = list.rooms.get(name) else {
            all.push(format!("{name} has no line: decide what it may use and add one"));
            continue;
        };
        if listed.own.contains(list::ANYTHING) {
            continue;
        }
        let (has, may) = (room.edges(), listed.edges());
        all.extend(has.difference(&may).map(|edge| {
            format!("{name} may not use {edge}: use what its room offers, or change the list and say why in the commit")
        }));
        all.extend(
            may.difference(&has)
                .map(|edge| format!("{name} does not use {edge} any more: take it off the list")),
        );
    }
    all.extend(
        list.rooms
            .keys()
            .filter(|name| !found.contains_key(*name))
            .map(|name| format!("there is no crate {name}")),
    );
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "walled: sqlx axum\ndomain:\njournal: domain | sqlx\n";

    fn found(journal: &[&str], outside: &[&str]) -> BTreeMap<String, Room> {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let journal = Room { own: set(journal), outside: set(outside) };
        [("domain".to_owned(), Room::default()), ("journal".to_owned(), journal)].into()
    }

    #[test]
    fn the_listed_edges_are_fine() {
        let list = List::parse(LIST).unwrap();
        assert_eq!(differences(&list, &found(&["domain"], &["sqlx"])), Vec::<String>::new());
    }

    #[test]
    fn a_new_edge_a_lost_one_and_an_unknown_crate_are_named() {
        let list = List::parse(LIST).unwrap();
        let texts = differences(&list, &found(&[], &["sqlx", "axum"]));
        assert!(texts[0].starts_with("journal may not use axum"), "{texts:?}");
        assert!(texts[1].starts_with("journal does not use domain any more"), "{texts:?}");
        let only = List::parse("walled:\ndomain:\n").unwrap();
        assert!(differences(&only, &found(&[], &[]))[0].starts_with("journal has no line"));
    }

    #[test]
    fn a_crate_that_may_use_anything_is_not_asked() {
        let list = List::parse("walled: sqlx\ndomain:\njournal: *\n").unwrap();
        assert_eq!(differences(&list, &found(&["domain"], &["sqlx"])), Vec::<String>::new());
    }

    #[test]
    fn a_line_that_is_no_room_is_refused_with_its_number() {
        let error = List::parse("walled: sqlx\n\njournal domain\n").unwrap_err();
        assert!(format!("{error:#}").contains("line 3"), "{error:#}");
        let error = List::parse("walled: sqlx\njournal: domain | tokio\n").unwrap_err();
        assert!(format!("{error:#}").contains("tokio is not walled"), "{error:#}");
    }
}
