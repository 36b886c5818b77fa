//! The policy while calls start: what a new version denies does not start from the moment it was answered.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use oxagen_commands::{Answer, CallStart, Caller, Code, Commands, Context, Known};
use oxagen_domain::policy::{KillSwitch, PolicyDocument, Rule, RuleEffect};
use oxagen_domain::reaction::Reaction;
use oxagen_domain::tool_call::{CallStatus, Standing, ToolCall};
use oxagen_domain::{ApprovalId, CallId, Decision, RunnerId};
use sqlx::Connection;
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use crate::base::{Base, python};

/// How many calls have started, by the journal itself.
async fn started(base: &Base) -> i64 {
    let mut connection = PgConnection::connect(&base.url).await.unwrap();
    let sql = "select count(*) from journal.events where event_type = 'tool_call.started'";
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
}

async fn ask_and_start(commands: &Commands, owner: &Caller) -> Result<CallId, Code> {
    let call = commands.request_call(owner, python("deny")).await.map_err(|error| error.code)?.call_id;
    let context = Context::own(owner.scope, "test", Uuid::now_v7());
    let start =
        CallStart { call, runner: RunnerId(Uuid::now_v7()), turn: None, context, known: Known::default() };
    match commands.start_call(&start).await.map_err(|error| error.code)? {
        Some(_) => Ok(call),
        None => Err(Code::DeniedByPolicy),
    }
}

/// Bar: a kill switch set while a hundred calls a second start: none starts after its answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_call_starts_after_a_kill_switch_has_answered() {
    let base = Base::new().await;
    let go = Rule {
        name: "go".to_owned(),
        effect: RuleEffect::Allow,
        capability: "*".to_owned(),
        when: vec![],
        reason: None,
        approval: None,
    };
    let policy = base.commands.policy(&base.owner).await.unwrap().policy;
    let open = PolicyDocument { rules: vec![go], ..policy };
    base.commands.set_policy(&base.owner, open.clone(), None).await.unwrap();

    let stop = Arc::new(AtomicBool::new(false));
    let (begun, denied) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let starters = (0..12).map(|nth| {
        let commands = if nth % 2 == 0 { base.commands.clone() } else { base.second.clone() };
        let (owner, stop) = (base.owner.clone(), Arc::clone(&stop));
        let (begun, denied) = (Arc::clone(&begun), Arc::clone(&denied));
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                match ask_and_start(&commands, &owner).await {
                    Ok(_) => begun.fetch_add(1, Ordering::Relaxed),
                    Err(Code::DeniedByPolicy) => denied.fetch_add(1, Ordering::Relaxed),
                    Err(code) => panic!("{code:?}"),
                };
            }
        })
    });
    let starters: Vec<_> = starters.collect();
    let reach = async |count: &AtomicUsize, least: usize| {
        while count.load(Ordering::Relaxed) < least {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    reach(&begun, 100).await;
    let kill_switch =
        KillSwitch { capabilities: BTreeSet::from(["agent.code.*".to_owned()]), ..KillSwitch::default() };
    base.commands.set_policy(&base.owner, PolicyDocument { kill_switch, ..open }, None).await.unwrap();
    let when_it_answered = started(&base).await;
    reach(&denied, 200).await;
    stop.store(true, Ordering::Relaxed);
    join_all(starters).await.into_iter().for_each(|done| done.unwrap());
    assert!(when_it_answered >= 100);
    assert_eq!(started(&base).await, when_it_answered, "none started after the answer");
}

/// What was cleared under one policy and starts under another is judged by that one.
#[tokio::test]
async fn a_call_that_starts_under_another_policy_is_judged_again() {
    let base = Base::new().await;
    let rule = |effect| Rule {
        name: "now".to_owned(),
        effect,
        capability: "*".to_owned(),
        when: vec![],
        reason: None,
        approval: None,
    };
    let policy = base.commands.policy(&base.owner).await.unwrap().policy;
    let set = async |effect| {
        let document = PolicyDocument { rules: vec![rule(effect)], ..policy.clone() };
        base.commands.set_policy(&base.owner, document, None).await.unwrap();
    };
    set(RuleEffect::Allow).await;
    let (held, denied) = (
        base.commands.request_call(&base.owner, python("deny")).await.unwrap(),
        base.commands.request_call(&base.owner, python("deny")).await.unwrap(),
    );
    assert_eq!((held.status, held.approval_id), ("cleared", None));
    let start = async |call| {
        let context = Context::own(base.owner.scope, "test", Uuid::now_v7());
        let start = CallStart {
            call,
            runner: RunnerId(Uuid::now_v7()),
            turn: None,
            context,
            known: Known::default(),
        };
        base.commands.start_call(&start).await.unwrap()
    };
    let standing = async |call: CallId| {
        base.commands.journal().load::<ToolCall>(&call.to_string()).await.unwrap().state.standing
    };
    set(RuleEffect::Ask).await;
    assert!(start(held.call_id).await.is_none());
    let approval = ApprovalId::of_call(held.call_id);
    assert_eq!(standing(held.call_id).await, Standing::Held(approval));
    let answer = Answer::plain(Decision::Approve, None);
    let receipt = base.commands.resolve_approval(&base.owner, approval, answer).await.unwrap();
    assert_eq!(receipt.status, "approved");
    let clear = Reaction::ClearCall { call: held.call_id, approval, edited: None };
    let context = Context::own(base.owner.scope, "test", Uuid::now_v7());
    base.commands.react(&context, &clear).await.unwrap();
    assert!(start(held.call_id).await.is_some(), "a person has answered");

    set(RuleEffect::Deny).await;
    assert!(start(denied.call_id).await.is_none());
    assert_eq!(standing(denied.call_id).await, Standing::Ended(CallStatus::Denied));
}
