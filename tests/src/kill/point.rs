//! Who dies, where, and in which tale.

use super::stack::Stack;
use super::tale::Tale;

/// What dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The process of this role, at this place of its code, after it has passed it so many times.
    Place(&'static str, &'static str, u32),
    /// The process of this role, at this place of its code, while a person settles a call that the runner's death has left
    /// in doubt.
    Settlement(&'static str, &'static str),
    /// The leading relay, while a second one waits.
    Leader,
    /// The leading relay's session with the journal: it lives on, and a second one waits.
    Leadership,
    /// Whoever it hits: processes of any role, one after the other, while conversations are under way.
    Anybody,
    /// The network between every process and this server.
    Door(&'static str, Trouble),
    /// This server of the stack, while conversations are under way.
    Server(&'static str),
    /// The engine's daemon, while code runs in its containers.
    Engine,
    /// The stream of facts with its folder.
    Stream,
    /// The stream's last thousand facts.
    Tail,
}

/// What happens to a server's network for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Connections break, and new ones are turned away.
    Cut,
    /// Nothing comes through, and nobody is told.
    Silent,
    /// Everything comes through late.
    Late,
}

/// Who dies where, and in which tale.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Its name.
    pub name: &'static str,
    /// What dies.
    pub victim: Victim,
    /// In which tale.
    pub tale: Tale,
    /// How many passes before its place are as good as those that it names.
    pub most: u32,
    /// Whether the tale's code may have run when it happened, and its runner cannot say so.
    pub cut: bool,
}

impl Point {
    /// Whether it may happen on these servers.
    pub fn may_happen(&self, stack: &Stack) -> bool {
        self.victim != Victim::Engine || stack.has_own_engine()
    }

    /// How the tale's calls end.
    pub(super) fn statuses(&self) -> &'static [&'static str] {
        let settled = matches!(self.victim, Victim::Settlement(..));
        self.tale.statuses(self.cut && !settled)
    }
}

const fn place(name: &'static str, role: &'static str, place: &'static str, after: u32) -> Point {
    Point { name, victim: Victim::Place(role, place, after), tale: Tale::Code, most: after, cut: false }
}

/// One that may come sooner or later than it does here.
const fn early_or_late(most: u32, point: Point) -> Point {
    Point { most, ..point }
}

const fn point(name: &'static str, victim: Victim) -> Point {
    Point { name, victim, tale: Tale::Code, most: 0, cut: false }
}

const fn in_network(name: &'static str, place: &'static str, after: u32, cut: bool) -> Point {
    Point { name, victim: Victim::Place("runner", place, after), tale: Tale::Network, most: after, cut }
}

const fn settled(name: &'static str, role: &'static str, place: &'static str) -> Point {
    Point { name, victim: Victim::Settlement(role, place), tale: Tale::Network, most: 0, cut: true }
}

const fn with_edit(point: Point) -> Point {
    Point { tale: Tale::Edited, ..point }
}

const fn with_plan(point: Point) -> Point {
    Point { tale: Tale::Planned, ..point }
}

/// Every point.
pub const POINTS: &[Point] = &[
    place("gateway: message committed, before the doorbell", "gateway", "journal.committed", 0),
    place("gateway: answer committed, before the doorbell", "gateway", "journal.committed", 1),
    early_or_late(25, place("gateway: while it streams", "gateway", "gateway.shown", 7)),
    place("runner: claim committed, before the doorbell", "runner", "journal.committed", 0),
    early_or_late(6, place("runner: step committed, before the doorbell", "runner", "journal.committed", 2)),
    place("runner: model answered, before the commit", "runner", "runner.answered", 1),
    place("runner: in-process tool done, before its commit", "runner", "runner.effect_done", 0),
    place("runner: before started", "runner", "runner.start", 0),
    place("runner: in the effect", "runner", "runner.in_effect", 0),
    place("runner: after the effect, before completed", "runner", "runner.effect_done", 1),
    in_network("runner: before started, with network", "runner.start", 0, false),
    in_network("runner: in the effect, with network", "runner.in_effect", 0, true),
    in_network("runner: after the effect, before completed, with network", "runner.effect_done", 1, true),
    with_edit(place("gateway: edit committed, before the doorbell", "gateway", "journal.committed", 1)),
    with_edit(place("reactor: between two commands, with an edit", "reactor", "reactor.between", 0)),
    with_edit(place("runner: after the edited effect, before completed", "runner", "runner.effect_done", 1)),
    with_plan(place("gateway: plan approved, before the doorbell", "gateway", "journal.committed", 1)),
    with_plan(place("reactor: between two commands, with a plan", "reactor", "reactor.between", 0)),
    with_plan(place("runner: plan made, before its commit", "runner", "runner.effect_done", 1)),
    with_plan(place("runner: after the planned effect, before completed", "runner", "runner.effect_done", 2)),
    with_plan(place("relay: before publish, with a plan", "relay", "relay.publish", 4)),
    with_plan(place(
        "projector-postgres: before its commit, with a plan",
        "projector-postgres",
        "projector.commit",
        2,
    )),
    settled("gateway: settlement committed, before the doorbell", "gateway", "journal.committed"),
    settled("relay: after numbering a settlement", "relay", "relay.numbered"),
    place("reactor: between two commands", "reactor", "reactor.between", 0),
    place("reactor: second command committed, before the doorbell", "reactor", "journal.committed", 1),
    place("relay: after numbering", "relay", "relay.numbered", 1),
    place("relay: before publish", "relay", "relay.publish", 1),
    place("relay: after publish", "relay", "relay.published", 1),
    point("relay: the leader, a second one waits", Victim::Leader),
    point("relay: the leader's session, a second one waits", Victim::Leadership),
    place("projector-postgres: before its commit", "projector-postgres", "projector.commit", 0),
    place("projector-postgres: after its commit", "projector-postgres", "projector.committed", 0),
    place("projector-clickhouse: before its rows", "projector-clickhouse", "projector.commit", 0),
    place(
        "projector-clickhouse: rows in, before the cursor",
        "projector-clickhouse",
        "projector.before_cursor",
        0,
    ),
    place("projector-clickhouse: after the cursor", "projector-clickhouse", "projector.committed", 0),
    place("projector-neo4j: before its commit", "projector-neo4j", "projector.commit", 0),
    place("projector-neo4j: committed, before the note", "projector-neo4j", "projector.before_cursor", 0),
    place("projector-neo4j: after its commit", "projector-neo4j", "projector.committed", 0),
    point("anybody, at any time", Victim::Anybody),
    with_edit(point("server: nats", Victim::Server("nats"))),
    with_plan(point("server: postgres", Victim::Server("postgres"))),
    point("server: clickhouse", Victim::Server("clickhouse")),
    point("server: neo4j", Victim::Server("neo4j")),
    point("server: docker", Victim::Engine),
    point("network: nats is cut off", Victim::Door("nats", Trouble::Cut)),
    point("network: nats falls silent", Victim::Door("nats", Trouble::Silent)),
    point("network: nats is late", Victim::Door("nats", Trouble::Late)),
    point("network: postgres is cut off", Victim::Door("postgres", Trouble::Cut)),
    point("network: postgres falls silent", Victim::Door("postgres", Trouble::Silent)),
    point("network: postgres is late", Victim::Door("postgres", Trouble::Late)),
    point("network: clickhouse is cut off", Victim::Door("clickhouse", Trouble::Cut)),
    point("network: clickhouse falls silent", Victim::Door("clickhouse", Trouble::Silent)),
    point("network: neo4j is cut off", Victim::Door("neo4j", Trouble::Cut)),
    point("network: neo4j falls silent", Victim::Door("neo4j", Trouble::Silent)),
    point("stream: folder removed", Victim::Stream),
    point("stream: last 1,000 messages gone", Victim::Tail),
];
