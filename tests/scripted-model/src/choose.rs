//! Which reply a request gets.

use serde_json::Value;

use crate::{Match, Reply, Scenario, Script, conversation::Conversation, template};

/// The reply and where it comes from.
pub(crate) struct Chosen {
    pub(crate) reply: Reply,
    /// The scenario's name, or its place in the script.
    pub(crate) scenario: String,
    pub(crate) step: usize,
}

/// Finds the reply, or says in words why there is none.
pub(crate) fn choose(script: &Script, body: &Value) -> Result<Chosen, String> {
    let conversation = Conversation::of(body);
    let step = conversation.turn_step();
    let found =
        script.0.iter().enumerate().find(|(_, scenario)| matches(&scenario.r#match, conversation, body));
    let Some((at, scenario)) = found else {
        return Err(format!(
            "no scenario of the script matches, at step {step} of {:?}",
            conversation.last_user()
        ));
    };
    let label = scenario.name.clone().unwrap_or_else(|| at.to_string());
    match reply_at(scenario, step) {
        Some(reply) => Ok(Chosen { reply: reply.clone(), scenario: label, step }),
        None => Err(format!("scenario {label} has no reply for step {step}")),
    }
}

fn reply_at(scenario: &Scenario, step: usize) -> Option<&Reply> {
    scenario.replies.get(step).or(scenario.reply.as_ref())
}

fn matches(wanted: &Match, conversation: Conversation<'_>, body: &Value) -> bool {
    let Match {
        user_contains,
        conversation_contains,
        last_role,
        turn_step,
        tool_result_contains,
        tool_result_has,
        model,
    } = wanted;
    let result = conversation.last_tool_result();
    let result = result.as_deref();
    user_contains.as_ref().is_none_or(|wanted| wanted.is_in(&conversation.last_user()))
        && conversation_contains.as_ref().is_none_or(|wanted| conversation.any(|text| wanted.is_in(text)))
        && last_role.as_deref().is_none_or(|wanted| conversation.last_role() == Some(wanted))
        && turn_step.is_none_or(|wanted| conversation.turn_step() == wanted)
        && tool_result_contains.as_ref().is_none_or(|wanted| result.is_some_and(|text| wanted.is_in(text)))
        && tool_result_has.as_ref().is_none_or(|field| result.is_some_and(|text| template::has(text, field)))
        && model.as_deref().is_none_or(|wanted| body["model"] == wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn script(value: Value) -> Script {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn the_step_is_counted_from_the_last_user_message() {
        let script = script(json!([
            {"match": {"userContains": "blue"}, "replies": [{"text": "b0"}, {"text": "b1"}]},
            {"name": "rest", "reply": {"text": "any"}},
        ]));
        let mut messages = vec![
            json!({"role": "user", "content": "red"}),
            json!({"role": "assistant", "content": "x"}),
            json!({"role": "user", "content": [{"type": "text", "text": "now blue"}]}),
        ];
        let text = |messages: &[Value]| {
            choose(&script, &json!({"messages": messages})).map(|chosen| chosen.reply.text)
        };
        assert_eq!(text(&messages), Ok("b0".to_owned()));
        messages.push(json!({"role": "assistant", "content": null}));
        assert_eq!(text(&messages), Ok("b1".to_owned()));
        messages.push(json!({"role": "assistant", "content": null}));
        assert_eq!(text(&messages), Err("scenario 0 has no reply for step 2".to_owned()));
        assert_eq!(text(&messages[..1]), Ok("any".to_owned()));
    }

    #[test]
    fn a_mistake_in_a_script_is_named() {
        let error = serde_json::from_str::<Script>(r#"[{"replies": [{"txt": "a"}]}]"#).unwrap_err();
        assert!(error.to_string().contains("unknown field `txt`"), "{error}");
    }
}
