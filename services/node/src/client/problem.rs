//! A refusal (problem+json), as people read it.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Members that are said in another way.
const SAID: &[&str] = &["field"];

/// What the gateway said instead of doing it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Problem {
    /// The HTTP status.
    pub(crate) status: u16,
    /// One short sentence.
    pub(crate) title: String,
    /// What was wrong here and what to do.
    pub(crate) detail: String,
    /// The stable code.
    pub(crate) code: String,
    /// The page about it.
    #[serde(rename = "type")]
    pub(crate) page: String,
    /// What in the input does not fit.
    pub(crate) flaws: Vec<Flaw>,
    /// What else there is.
    #[serde(flatten)]
    pub(crate) more: Map<String, Value>,
}

/// One thing that does not fit.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Flaw {
    /// Where: a JSON pointer, or the name of a parameter.
    pub(crate) pointer: String,
    /// What was expected there.
    pub(crate) expected: String,
}

impl Problem {
    /// Reads a refusal's body; one that is no problem+json is quoted.
    pub(crate) fn read(status: u16, body: &[u8]) -> Self {
        let read = serde_json::from_slice::<Self>(body).ok().filter(|problem| !problem.title.is_empty());
        let mut problem = read.unwrap_or_else(|| Self {
            detail: crate::output::short(&String::from_utf8_lossy(body), 300),
            ..Self::default()
        });
        problem.status = status;
        problem
    }

    /// Whether this did not come from the gateway itself but from something before it.
    pub(crate) fn is_bare(&self) -> bool {
        self.code.is_empty()
    }

    /// The refusal for programs, its exit code beside it.
    pub(crate) fn json(&self) -> Value {
        let flaws: Vec<_> = self
            .flaws
            .iter()
            .map(|flaw| json!({"pointer": flaw.pointer, "expected": flaw.expected}))
            .collect();
        let mut body = self.more.clone();
        let said = json!({"status": self.status, "title": self.title, "detail": self.detail, "code": self.code,
                          "type": self.page, "flaws": flaws});
        if let Value::Object(said) = said {
            body.extend(said);
        }
        Value::Object(body)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let title = if self.title.is_empty() { "It was refused" } else { &self.title };
        let code = if self.code.is_empty() { String::new() } else { format!(", {}", self.code) };
        write!(f, "{title} ({}{code})", self.status)?;
        let told_by_flaw =
            self.flaws.len() == 1 && self.flaws.iter().any(|flaw| self.detail.contains(&flaw.expected));
        if !self.detail.is_empty() {
            write!(f, "\n  {}", self.detail)?;
        }
        for flaw in self.flaws.iter().filter(|_| !told_by_flaw) {
            write!(
                f,
                "\n  {}: {}",
                if flaw.pointer.is_empty() { "/" } else { &flaw.pointer },
                flaw.expected
            )?;
        }
        for (name, value) in self.more.iter().filter(|(name, _)| !SAID.contains(&name.as_str())) {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            write!(f, "\n  {name}: {text}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_shown_with_its_fields() {
        let body = br#"{"type":"/docs/errors/invalid_input","title":"The input does not fit","status":422,
            "detail":"two values do not fit","code":"invalid_input","field":"/text",
            "flaws":[{"pointer":"/text","expected":"a text"},{"pointer":"/budget/maxSteps","expected":"at most 100"}]}"#;
        let text = Problem::read(422, body).to_string();
        assert_eq!(
            text,
            "The input does not fit (422, invalid_input)\n  two values do not fit\n  /text: a text\n  \
             /budget/maxSteps: at most 100"
        );
    }

    #[test]
    fn what_is_no_problem_is_quoted() {
        let problem = Problem::read(502, b"<html>bad gateway</html>");
        assert!(problem.is_bare());
        assert_eq!(problem.to_string(), "It was refused (502)\n  <html>bad gateway</html>");
    }

    #[test]
    fn the_decision_that_came_first_is_told() {
        let body = br#"{"title":"The approval is closed","detail":"too late","code":"approval_closed","resolution":"denied"}"#;
        assert!(Problem::read(409, body).to_string().ends_with("\n  resolution: denied"));
    }
}
