//! The table capability × surface.

use oxagen_domain::Right;
use oxagen_domain::capability::{Capability, Effect, Risk, Surface, catalog::CATALOG};

/// One line for each capability, in the catalogue's order.
pub(crate) fn text() -> String {
    let mut rows =
        vec![["capability", "api", "agent", "effect", "risk", "asks", "right", "route"].map(str::to_owned)];
    rows.extend(CATALOG.iter().map(row));
    rows.iter().map(|row| line(row, &rows)).collect()
}

fn row(capability: &Capability) -> [String; 8] {
    let mark = |yes: bool| if yes { "x" } else { "-" }.to_owned();
    [
        capability.name.to_owned(),
        mark(capability.is_on(Surface::Api)),
        mark(capability.is_on(Surface::Agent)),
        effect(capability.effect).to_owned(),
        risk(capability.risk).to_owned(),
        mark(capability.asks_approval),
        right(capability.right).to_owned(),
        door(capability),
    ]
}

fn line(row: &[String; 8], rows: &[[String; 8]]) -> String {
    let cells = row.iter().enumerate().map(|(column, cell)| {
        let width = rows.iter().map(|row| row[column].len()).max().unwrap_or_default();
        format!("{cell:width$}")
    });
    cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
}

/// Where it is called over HTTP.
pub(crate) fn door(capability: &Capability) -> String {
    match capability.route {
        Some(route) => format!("{} {}", route.method, route.path),
        None if capability.is_on(Surface::Api) => "POST /v1/tool-calls".to_owned(),
        None => "-".to_owned(),
    }
}

pub(crate) fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::Read => "read",
        Effect::Write => "write",
        Effect::External => "external",
    }
}

pub(crate) fn risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}

pub(crate) fn right(right: Right) -> &'static str {
    match right {
        Right::Read => "read",
        Right::Act => "act",
        Right::Decide => "decide",
        Right::Administer => "administer",
    }
}
