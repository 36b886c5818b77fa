//! Whom the key stands for.

use axum::Json;
use axum::routing::get;
use oxagen_domain::Right;
use serde_json::{Value, json};

use super::shapes;
use crate::caller::Who;
use crate::door::{Door, Guard, Method};

pub(super) fn doors() -> Vec<Door> {
    vec![
        Door::new(Method::Get, "/v1/me", "me.read", Guard::Needs(Right::Read), get(me))
            .about("key", "Says whom the key stands for, where, and what it may do.")
            .gives::<shapes::Me>(200, "The caller."),
    ]
}

async fn me(Who(caller): Who) -> Json<Value> {
    let has = |right: &Right| caller.role.may(*right) && caller.limits.may(*right);
    let rights: Vec<_> = Right::ALL.into_iter().filter(has).map(Right::name).collect();
    let mut me = json!({
        "tenantId": caller.scope.tenant, "workspaceId": caller.scope.workspace, "userId": caller.user,
        "role": caller.role, "rights": rights,
    });
    if !caller.limits.is_unlimited() {
        me["limits"] = json!(caller.limits);
    }
    if let Some(key) = caller.key {
        me["keyId"] = json!(key);
    }
    Json(me)
}
