//! `oxagen config`: the settings in force.

use serde_json::Value;

use super::Desk;
use crate::failure::Failure;

/// Prints every setting, secrets masked.
pub(super) fn print(desk: &Desk) -> Result<(), Failure> {
    let shown = desk.configured.shown();
    if desk.out.is_json() {
        return desk.out.value(&shown);
    }
    let width = shown.iter().map(|setting| setting.key.len()).max().unwrap_or_default();
    for setting in &shown {
        let value = match &setting.value {
            Value::Null => "(not set)".to_owned(),
            Value::String(text) if text.is_empty() => "(empty)".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let source =
            if setting.source == "default" { String::new() } else { format!("  <- {}", setting.source) };
        desk.out.line(format!("{:<width$}  {value}{source}", setting.key))?;
        desk.out.line(format!("{:<width$}    {}: {}", "", setting.env, setting.about))?;
    }
    Ok(())
}
