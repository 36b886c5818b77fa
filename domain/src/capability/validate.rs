//! Arguments against a capability's schema, before anything else looks at them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::catalog::CATALOG;
use super::{Capability, CodeExecuteInput, PlanCreateInput};

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

/// A schema ready for use.
struct Compiled {
    validator: Result<jsonschema::Validator, String>,
    defaults: Map<String, Value>,
}

/// Every capability's, made when the first one is needed.
static COMPILED: LazyLock<BTreeMap<&'static str, Compiled>> =
    LazyLock::new(|| CATALOG.iter().map(|capability| (capability.name, Compiled::new(capability))).collect());

impl Compiled {
    fn new(capability: &Capability) -> Self {
        let schema = (capability.input)().to_value();
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        let defaults = properties
            .filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone())))
            .collect();
        Self { validator: jsonschema::validator_for(&schema).map_err(|error| error.to_string()), defaults }
    }
}

/// Checks an input against the capability's schema and its limits in bytes.
///
/// # Errors
/// Every flaw, each with a JSON pointer.
pub fn validate(capability: &Capability, input: &Value) -> Result<(), Vec<Flaw>> {
    let broken =
        |error: &str| vec![Flaw::new("", format!("the schema of {} is broken: {error}", capability.name))];
    let compiled = COMPILED.get(capability.name).ok_or_else(|| broken("it is not in the catalogue"))?;
    let validator = compiled.validator.as_ref().map_err(|error| broken(error))?;
    let flaws: Vec<_> = validator
        .iter_errors(input)
        .map(|error| Flaw::new(&error.instance_path().to_string(), error.to_string()))
        .collect();
    if !flaws.is_empty() {
        return Err(flaws);
    }
    match capability.name {
        "agent.code.execute" => whole(input, CodeExecuteInput::flaws),
        "agent.plan.create" => whole(input, PlanCreateInput::flaws),
        _ => Ok(()),
    }
}

/// The input with the schema's defaults in place of what it leaves out: what the call will really be run with.
pub fn with_defaults(capability: &Capability, input: &Value) -> Value {
    let mut whole = input.clone();
    if let (Some(compiled), Value::Object(members)) = (COMPILED.get(capability.name), &mut whole) {
        for (name, default) in &compiled.defaults {
            members.entry(name.clone()).or_insert_with(|| default.clone());
        }
    }
    whole
}

/// What the schema of this input cannot say.
fn whole<T: DeserializeOwned>(input: &Value, flaws: fn(&T) -> Vec<Flaw>) -> Result<(), Vec<Flaw>> {
    let input: T =
        serde_json::from_value(input.clone()).map_err(|error| vec![Flaw::new("", error.to_string())])?;
    let flaws = flaws(&input);
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
    fn what_is_left_out_is_judged_by_its_default() {
        let tool = catalog::find("agent.code.execute").unwrap();
        let whole = with_defaults(tool, &json!({"language": "python", "code": "1", "memoryMb": 64}));
        assert_eq!((&whole["timeoutMs"], &whole["memoryMb"]), (&json!(30_000), &json!(64)));
        assert_eq!(whole["network"], "deny");
    }

    #[test]
    fn f08_null_absent_and_empty_are_values_of_their_own_and_a_wrong_kind_is_one_flaw() {
        let tool = catalog::find("agent.code.execute").unwrap();
        for stdin in [json!({}), json!({"stdin": null}), json!({"stdin": ""}), json!({"stdin": "null"})] {
            let mut input = json!({"language": "node", "code": "1"});
            input.as_object_mut().unwrap().extend(stdin.as_object().unwrap().clone());
            assert_eq!(validate(tool, &input), Ok(()), "{input}");
        }
        assert!(!flaws(&json!({"language": "node", "code": ""})).is_empty(), "what may not be empty is told");
        for wrong in [json!("null"), json!(""), json!("5000")] {
            let found = flaws(&json!({"language": "node", "code": "1", "timeoutMs": wrong}));
            assert_eq!((found.len(), found[0].pointer.as_str()), (1, "/timeoutMs"), "{found:?}");
        }
    }

    #[test]
    fn a_whole_input_passes() {
        let input = json!({"language": "python", "code": "print(1)", "timeoutMs": 1000});
        assert_eq!(validate(catalog::find("agent.code.execute").unwrap(), &input), Ok(()));
    }
}
