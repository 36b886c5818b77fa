//! What a plan's schema cannot say: names that are unique, dependencies that exist and do not run in a circle, calls that
//! could be made.

use std::collections::{BTreeMap, BTreeSet};

use super::PlanStep;
use crate::capability::{Flaw, catalog, validate};

/// Everything that is wrong with the steps, each with its JSON pointer under `/steps`.
pub fn flaws(steps: &[PlanStep]) -> Vec<Flaw> {
    let mut flaws = Vec::new();
    if !(1..=50).contains(&steps.len()) {
        flaws.push(Flaw::new("/steps", format!("a plan has 1 to 50 steps, not {}", steps.len())));
    }
    let names: BTreeSet<_> = steps.iter().map(|step| step.id.as_str()).collect();
    let mut seen = BTreeSet::new();
    for (nth, step) in steps.iter().enumerate() {
        let mut flaw =
            |place: &str, text: String| flaws.push(Flaw::new(&format!("/steps/{nth}/{place}"), text));
        if !(1..=64).contains(&step.id.chars().count()) {
            flaw("id", "an id has 1 to 64 characters".to_owned());
        }
        if !seen.insert(step.id.as_str()) {
            flaw("id", format!("another step is called `{}`", step.id));
        }
        for unknown in step.depends_on.iter().filter(|name| !names.contains(name.as_str())) {
            flaw("dependsOn", format!("there is no step `{unknown}`"));
        }
        if step.input.is_some() && step.capability.is_none() {
            flaw("input", "needs a capability beside it".to_owned());
        }
        if let Some(capability) = &step.capability {
            call(capability, step, &mut flaw);
        }
    }
    if flaws.is_empty()
        && let Some(circle) = circle(steps)
    {
        flaws.push(Flaw::new("/steps", format!("these steps wait for each other: {}", circle.join(", "))));
    }
    flaws
}

/// A call that could never be made is not worth a person's answer.
fn call(capability: &str, step: &PlanStep, flaw: &mut impl FnMut(&str, String)) {
    if capability.starts_with("mcp.") {
        return;
    }
    let Some(tool) = catalog::find(capability).filter(|tool| tool.is_tool()) else {
        flaw("capability", format!("there is no tool `{capability}`: agent.tool.list lists them"));
        return;
    };
    let Some(input) = &step.input else { return };
    for wrong in validate(tool, input).err().unwrap_or_default() {
        flaw(&format!("input{}", wrong.pointer), wrong.expected);
    }
}

/// The steps that are left when all that can be done have been.
fn circle(steps: &[PlanStep]) -> Option<Vec<String>> {
    let mut left: BTreeMap<&str, &[String]> =
        steps.iter().map(|step| (step.id.as_str(), step.depends_on.as_slice())).collect();
    loop {
        let ready: Vec<_> = left
            .iter()
            .filter(|(_, needs)| needs.iter().all(|name| !left.contains_key(name.as_str())))
            .map(|(name, _)| *name)
            .collect();
        if ready.is_empty() {
            let names: Vec<_> = left.keys().map(|name| (*name).to_owned()).collect();
            return (!names.is_empty()).then_some(names);
        }
        for name in ready {
            left.remove(name);
        }
    }
}
