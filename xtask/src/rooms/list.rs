//! `rooms.txt`: one line says which outside crates are behind walls, every other one what a crate may use.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, bail, ensure};

/// Stands in a line for every crate there is.
pub(crate) const ANYTHING: &str = "*";

/// What a crate uses, or may use.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Room {
    /// Crates of this workspace.
    pub(crate) own: BTreeSet<String>,
    /// Walled crates from outside.
    pub(crate) outside: BTreeSet<String>,
}

impl Room {
    /// All of them by name.
    pub(crate) fn edges(&self) -> BTreeSet<&str> {
        self.own.iter().chain(&self.outside).map(String::as_str).collect()
    }
}

/// The whole file.
#[derive(Debug, Default)]
pub(crate) struct List {
    /// Outside crates that only the rooms which name them may use; others are free for all.
    pub(crate) walled: BTreeSet<String>,
    /// The rooms by crate.
    pub(crate) rooms: BTreeMap<String, Room>,
}

impl List {
    /// Reads the file; a mistake is named with its line.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let mut list = Self::default();
        for (number, line) in text.lines().enumerate().map(|(index, line)| (index + 1, line)) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            list.add(line).with_context(|| format!("rooms.txt, line {number}: `{line}`"))?;
        }
        Ok(list)
    }

    fn add(&mut self, line: &str) -> anyhow::Result<()> {
        let Some((name, rest)) = line.split_once(':') else {
            bail!("a line is `crate: own crates | walled crates`")
        };
        let (own, outside) = rest.split_once('|').unwrap_or((rest, ""));
        if name == "walled" {
            self.walled.extend(names(own));
            return Ok(());
        }
        let room = Room { own: names(own).collect(), outside: names(outside).collect() };
        for name in &room.outside {
            ensure!(self.walled.contains(name), "{name} is not walled: name it in the `walled` line above");
        }
        ensure!(self.rooms.insert(name.to_owned(), room).is_none(), "{name} has a line already");
        Ok(())
    }
}

fn names(text: &str) -> impl Iterator<Item = String> {
    text.split_whitespace().map(str::to_owned)
}
