//! The page that a full run writes.

use std::fs;

use anyhow::Context;
use serde_json::Value;

use crate::report::{self, Figure};
use crate::{machine, paths};

const HEAD: &str = "# Benchmarks

Written by `make bench`: every figure of one run, beside what the servers do by themselves in the same run.

";

const NOTES: &str = "
## What is what

- **Baselines.** `pgbench` with 16 clients, each committing one row of the size of a fact into one table of the same
  Postgres, prepared, without thinking time; publishing messages of that size to a stream of the same NATS by the same
  client alone, 500 under way; `docker exec` in a running container of the same image without anything of ours. A
  ratio compares a median with a median, or a rate with a rate.
- **Command → SSE frame.** From the request, which renames a conversation, until its event is read from the workspace's
  stream. All clients and screens share the machine with what they measure.
- **A turn without the model.** From the request to `turn-completed`, less what the model's answers took, measured in
  front of the provider; three calls of `agent.tool.list` in one step.
- **Agents' calls with rules.** Turns with twenty calls of `agent.tool.list`, judged by the whole policy, none of whose
  rules holds: half are about another tool, half about other arguments. The policies take turns, so that whatever
  disturbs the machine disturbs all of them.
- **Backlogs.** The pile is written through the journal's own append while nobody works: conversations of one turn with
  three calls, and as many calls outside a turn. Each role then starts alone, in a process of its own, and is measured
  from its first progress to its last.
- **Lag.** For each number that the journal had at a look, every 4 ms, the time until the store's cursor was there.
- **Growth.** The same latencies, one after the other, with a longer journal or in a longer conversation; the ratio is to
  the shortest one's median, and the goal is no more than a fifth above it.

`oxagen-load bench <part>` measures one part; `oxagen-load bench --help` lists them.
";

/// Writes docs/benchmarks.md.
pub(super) fn write(machine: &Value, figures: &[Figure]) -> anyhow::Result<()> {
    let path = paths::root().join("docs/benchmarks.md");
    let text = format!("{HEAD}{}.\n\n{}{NOTES}", machine::sentence(machine), report::table(figures));
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}
