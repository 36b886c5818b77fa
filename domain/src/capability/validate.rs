//! Arguments against a capability's schema, before anything else looks at them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Capability, CodeExecuteInput};

/// One thing wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flaw {
    /// JSON pointer to the value; empty for the input as a whole.
    pub pointer: String,
    /// What was expected.
    pub expected: String,
}

impl Flaw {
    /// A flaw at this pointer.
    pub fn new(pointer: &str, expected: String) -> Self {
        Self { pointer: pointer.to_owned(), expected }
    }
}

/// Checks an input against the capability's schema and its limits in bytes.
///
/// # Errors
/// Every flaw, each with a JSON pointer.
pub fn validate(capability: &Capability, input: &Value) -> Result<(), Vec<Flaw>> {
    let schema = (capability.input)().to_value();
    let validator = jsonschema::validator_for(&schema).map_err(|error| {
        vec![Flaw::new("", format!("the schema of {} is broken: {error}", capability.name))]
    })?;
    let flaws: Vec<_> = validator
        .iter_errors(input)
        .map(|error| Flaw::new(&error.instance_path().to_string(), error.to_string()))
        .collect();
    if !flaws.is_empty() {
        return Err(flaws);
    }
    match capability.name {
        "agent.code.execute" => code_execute_flaws(input),
        _ => Ok(()),
    }
}

fn code_execute_flaws(input: &Value) -> Result<(), Vec<Flaw>> {
    let input: CodeExecuteInput =
        serde_json::from_value(input.clone()).map_err(|error| vec![Flaw::new("", error.to_string())])?;
    let flaws = input.flaws();
    if flaws.is_empty() { Ok(()) } else { Err(flaws) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::catalog;
    use super::*;

    fn flaws(input: &Value) -> Vec<Flaw> {
        validate(catalog::find("agent.code.execute").unwrap(), input).unwrap_err()
    }

    #[test]
    fn a_wrong_value_is_named_by_its_pointer() {
        let found = flaws(&json!({"language": "cobol", "code": "x", "timeoutMs": 5}));
        let pointers: Vec<_> = found.iter().map(|flaw| flaw.pointer.as_str()).collect();
        assert!(pointers.contains(&"/language") && pointers.contains(&"/timeoutMs"), "{found:?}");
    }

    #[test]
    fn an_unknown_field_is_refused() {
        assert!(!flaws(&json!({"language": "node", "code": "x", "sudo": true})).is_empty());
    }

    #[test]
    fn a_whole_input_passes() {
        let input = json!({"language": "python", "code": "print(1)", "timeoutMs": 1000});
        assert_eq!(validate(catalog::find("agent.code.execute").unwrap(), &input), Ok(()));
    }
}
