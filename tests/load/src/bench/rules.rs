//! What the policy's rules cost: agents' calls a second with none, with few and with many, in turns on one machine.

use std::time::{Duration, Instant};

use anyhow::ensure;
use oxagen_domain::policy::{Condition, PolicyDocument, Rule, RuleEffect, Test};
use oxagen_tests::{EventStream, Workspace, call, reply, scenario};
use serde_json::json;

use crate::report::{Figure, Goal};
use crate::site::{Running, Site};
use crate::stats::rate;

/// Policies with so many rules.
const RULES: [usize; 3] = [0, 10, 500];
/// Calls of a turn, all in one step.
const CALLS: usize = 20;
/// Turns under way.
const AT_ONCE: usize = 4;
/// How often each policy has its go, and for how long: what disturbs the machine disturbs all of them.
const ROUNDS: u32 = 5;
const LONG: Duration = Duration::from_secs(2);

/// Turns whose calls are judged by the whole policy, none of whose rules holds.
pub(super) async fn measure(site: &Site, running: &Running) -> anyhow::Result<Vec<Figure>> {
    let calls = (0..CALLS).map(|_| call("agent_tool_list", json!({}))).collect();
    let replies = vec![reply("Looking.", calls), reply("Done.", vec![])];
    site.installation.model.add_scenarios(vec![scenario("many-calls", replies)]);
    let mut lanes = Vec::new();
    for rules in RULES {
        lanes.push(Lane::new(site, running, rules).await);
    }
    for round in 0..=ROUNDS {
        for lane in &mut lanes {
            // The first go warms up.
            lane.go(round > 0).await?;
        }
    }
    let none = lanes[0].rate();
    let mut figures = vec![Figure::new("agents' calls, no rules", none, "/s")];
    for lane in &lanes[1..] {
        let figure = Figure::new(format!("agents' calls, {} rules", lane.rules), lane.rate(), "/s");
        figures.push(figure.beside("no rules", none).goal(Goal::AtLeast(none * 0.9)));
    }
    Ok(figures)
}

/// A workspace with so many rules.
struct Lane {
    rules: usize,
    workspace: Workspace,
    events: EventStream,
    calls: u64,
    took: Duration,
}

impl Lane {
    async fn new(site: &Site, running: &Running, rules: usize) -> Self {
        let policy = PolicyDocument { rules: (0..rules).map(rule).collect(), ..PolicyDocument::default() };
        let workspace = site.installation.workspace_with(&running.url, policy).await;
        let path = format!("/v1/workspaces/{}/stream?after=0", workspace.id);
        let events = workspace.stream(&path, None).await;
        Self { rules, workspace, events, calls: 0, took: Duration::ZERO }
    }

    /// Turns for a while, and to the end of those that were begun.
    async fn go(&mut self, counts: bool) -> anyhow::Result<()> {
        let (begun, mut open, mut ended) = (Instant::now(), 0, 0);
        while open < AT_ONCE {
            self.workspace.say("many-calls").await;
            open += 1;
        }
        while open > 0 {
            let end = self.events.turn_end().await;
            ensure!(end.name == "turn-completed", "a turn ended otherwise: {}", end.data);
            (open, ended) = (open - 1, ended + 1);
            if begun.elapsed() < LONG {
                self.workspace.say("many-calls").await;
                open += 1;
            }
        }
        self.events.seen.clear();
        if counts {
            self.calls += ended * CALLS as u64;
            self.took += begun.elapsed();
        }
        Ok(())
    }

    fn rate(&self) -> f64 {
        rate(self.calls, self.took)
    }
}

/// One that is looked at and does not hold: half of them are about another tool, the others about other arguments.
fn rule(nth: usize) -> Rule {
    let effects = [RuleEffect::Deny, RuleEffect::AlwaysAsk, RuleEffect::Ask, RuleEffect::Allow];
    let pattern = if nth.is_multiple_of(2) { "agent.tool.*" } else { "mcp.files.*" };
    Rule {
        name: format!("rule-{nth}"),
        effect: effects[nth / 2 % effects.len()],
        capability: pattern.to_owned(),
        when: vec![Condition {
            pointer: "/includeExternal".to_owned(),
            test: Test::Equals,
            value: json!(format!("never-{nth}")),
        }],
        reason: None,
        approval: None,
    }
}
