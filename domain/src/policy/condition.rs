//! Comparisons of a call's arguments, each at one JSON pointer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::pattern::fits;

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Test {
    /// It is that value.
    Equals,
    /// It is there and another value.
    NotEquals,
    /// It is one of those values.
    In,
    /// It is a text that fits that pattern (`*`, `?`).
    Matches,
    /// It is a text that does not fit that pattern.
    NotMatches,
    /// It is a larger number.
    Above,
    /// It is a smaller number.
    Below,
    /// It is there (`true`) or is not (`false`).
    Exists,
}

/// A comparison. A pointer that leads nowhere fails every test but `exists: false`; defaults of the tool's schema
/// are filled in before the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Condition {
    /// JSON pointer into the arguments, such as `/language`; empty for all of them.
    pub pointer: String,
    /// How it is compared.
    pub test: Test,
    /// With what: a list for `in`, a text for `matches`, a number for `above`, true or false for `exists`.
    pub value: Value,
}

impl Condition {
    /// Whether it holds for these arguments.
    pub fn holds(&self, input: &Value) -> bool {
        let found = input.pointer(&self.pointer);
        let text = || found.and_then(Value::as_str).zip(self.value.as_str());
        let number = || found.and_then(Value::as_f64).zip(self.value.as_f64());
        match self.test {
            Test::Equals => found == Some(&self.value),
            Test::NotEquals => found.is_some_and(|found| *found != self.value),
            Test::In => self.value.as_array().is_some_and(|values| found.is_some_and(|v| values.contains(v))),
            Test::Matches => text().is_some_and(|(found, pattern)| fits(pattern, found)),
            Test::NotMatches => text().is_some_and(|(found, pattern)| !fits(pattern, found)),
            Test::Above => number().is_some_and(|(found, limit)| found > limit),
            Test::Below => number().is_some_and(|(found, limit)| found < limit),
            Test::Exists => Some(found.is_some()) == self.value.as_bool(),
        }
    }

    /// What is wrong with it, if anything.
    pub(super) fn flaw(&self) -> Option<&'static str> {
        if !self.pointer.is_empty() && !self.pointer.starts_with('/') {
            return Some("a JSON pointer is empty or begins with `/`");
        }
        match self.test {
            Test::Equals | Test::NotEquals => None,
            Test::In => (!self.value.is_array()).then_some("`in` needs a list of values"),
            Test::Matches | Test::NotMatches => (!self.value.is_string()).then_some("a pattern is a text"),
            Test::Above | Test::Below => (!self.value.is_number()).then_some("a limit is a number"),
            Test::Exists => (!self.value.is_boolean()).then_some("`exists` is true or false"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn holds(pointer: &str, test: Test, value: Value) -> bool {
        let input = json!({"language": "python", "timeoutMs": 5000, "env": {"A/B": "x"}});
        Condition { pointer: pointer.to_owned(), test, value }.holds(&input)
    }

    #[test]
    fn each_test_compares_what_is_there() {
        assert!(holds("/language", Test::Equals, json!("python")));
        assert!(holds("/language", Test::In, json!(["node", "python"])));
        assert!(holds("/language", Test::Matches, json!("py*")));
        assert!(holds("/language", Test::NotMatches, json!("sh*")));
        assert!(
            holds("/timeoutMs", Test::Above, json!(4999.5)) && !holds("/timeoutMs", Test::Below, json!(5000))
        );
        assert!(
            holds("/env/A~1B", Test::Exists, json!(true)) && holds("/nothing", Test::Exists, json!(false))
        );
    }

    #[test]
    fn what_is_not_there_fails_every_test_but_that() {
        for test in [Test::Equals, Test::NotEquals, Test::Matches, Test::NotMatches, Test::Above, Test::Below]
        {
            assert!(!holds("/nothing", test, json!("x")) && !holds("/nothing", test, json!(1)), "{test:?}");
        }
    }
}
