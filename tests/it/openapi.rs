//! The OpenAPI document tells the truth: what is answered fits the schema that it gives for that answer.

use jsonschema::Validator;
use oxagen_tests::{Answer, Http, word, world};
use serde_json::{Value, json};

use crate::road;

struct Document(Value);

impl Document {
    /// The schema of an operation's answer with this status.
    fn answer(&self, method: &str, path: &str, status: u16) -> Validator {
        let operation = &self.0["paths"][path][method];
        let answer = &operation["responses"][status.to_string()];
        let answer = if answer.is_null() { &operation["responses"]["default"] } else { answer };
        let media = answer["content"].as_object().and_then(|media| media.values().next());
        let mut schema =
            media.unwrap_or_else(|| panic!("{method} {path} {status}: {operation}"))["schema"].clone();
        // References point into the document.
        schema["components"] = self.0["components"].clone();
        jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{method} {path} {status}: {error}"))
    }

    #[track_caller]
    fn fits(&self, method: &str, path: &str, answer: &Answer) {
        let validator = self.answer(method, path, answer.status);
        let flaws: Vec<_> = validator
            .iter_errors(&answer.json)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(flaws.is_empty(), "{method} {path} {}: {flaws:?}\n{}", answer.status, answer.text);
    }
}

#[tokio::test]
async fn what_is_answered_fits_the_document() {
    let world = world();
    let (workspace, word) = (world.workspace().await, word("document"));
    world.script(road::computes(&word));
    let document = Document(Http::open(world.url()).get("/v1/openapi.json").await.expect(200));
    let http = &workspace.http;
    let start = http.post("/v1/turns", &json!({"text": word})).await;
    document.fits("post", "/v1/turns", &start);
    let early = http.get(&format!("/v1/turns/{}", start.json["turnId"].as_str().unwrap())).await;
    document.fits("get", "/v1/turns/{id}", &early);

    let walked = road::walk(&workspace, &word).await;
    workspace.settled(&walked.turn, "completed").await;
    let turn = &walked.turn;
    for (path, place) in [
        (format!("/v1/turns/{}", turn.id), "/v1/turns/{id}"),
        ("/v1/conversations".to_owned(), "/v1/conversations"),
        (format!("/v1/conversations/{}", turn.conversation), "/v1/conversations/{id}"),
        (format!("/v1/conversations/{}/events", turn.conversation), "/v1/conversations/{id}/events"),
        ("/v1/events?limit=500".to_owned(), "/v1/events"),
        ("/v1/tools".to_owned(), "/v1/tools"),
        ("/v1/tools/agent.code.execute".to_owned(), "/v1/tools/{capability}"),
        ("/v1/tools/no.such.tool".to_owned(), "/v1/tools/{capability}"),
        (format!("/v1/tool-calls/{}", walked.call), "/v1/tool-calls/{id}"),
        ("/v1/approvals".to_owned(), "/v1/approvals"),
        ("/v1/tool-calls".to_owned(), "/v1/tool-calls"),
        ("/v1/policy".to_owned(), "/v1/policy"),
        ("/v1/standing-approvals".to_owned(), "/v1/standing-approvals"),
        ("/v1/plans".to_owned(), "/v1/plans"),
        ("/v1/agents".to_owned(), "/v1/agents"),
        ("/v1/keys".to_owned(), "/v1/keys"),
        ("/v1/me".to_owned(), "/v1/me"),
        ("/v1/turns/nonsense".to_owned(), "/v1/turns/{id}"),
        ("/v1/conversations?limit=0".to_owned(), "/v1/conversations"),
    ] {
        document.fits("get", place, &http.get(&path).await);
    }
    for (path, body) in [
        ("/v1/keys", json!({"name": "another", "role": "viewer"})),
        ("/v1/agents", json!({"name": "another", "instructions": "Be brief."})),
        ("/v1/tool-calls", json!({"capability": "agent.tool.list", "input": {}})),
        (
            "/v1/tool-calls",
            json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "1"}}),
        ),
        ("/v1/tool-calls", json!({"capability": "agent.code.execute", "input": {}})),
        ("/v1/turns", json!({"text": ""})),
        (
            "/v1/policy/explain",
            json!({"capability": "agent.code.execute", "input": {"language": "python", "code": "1"}}),
        ),
    ] {
        document.fits("post", path, &http.post(path, &body).await);
    }
}
