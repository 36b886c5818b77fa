//! Arguments against a capability's schema, before anything else looks at them.

use std::collections::HashMap;
use std::sync::LazyLock;

use jsonschema::Validator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Capability, CodeExecuteInput, catalog};

/// The validators of the catalogue's inputs, made once: that costs far more than to use them.
static VALIDATORS: LazyLock<HashMap<&'static str, Result<Validator, String>>> =
    LazyLock::new(|| catalog::CATALOG.iter().map(|entry| (entry.name, validator(entry))).collect());

fn validator(capability: &Capability) -> Result<Validator, String> {
    jsonschema::validator_for(&(capability.input)().to_value()).map_err(|error| error.to_string())
}

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
    let broken =
        |cause: &str| vec![Flaw::new("", format!("the schema of {} is broken: {cause}", capability.name))];
    let validator = match VALIDATORS.get(capability.name) {
        Some(Ok(validator)) => validator,
        Some(Err(cause)) => return Err(broken(cause)),
        None => return Err(broken("it is not in the catalogue")),
    };
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
