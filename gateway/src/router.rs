//! The route table made into a router, with what every request passes through.

use std::any::Any;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use http::{Method, Uri};
use tower_http::catch_panic::CatchPanicLayer;

use crate::caller::{Asks, admit};
use crate::door::Guard;
use crate::error::{INTERNAL, METHOD_NOT_ALLOWED, Problem};
use crate::state::App;
use crate::{origin, routes, trace, ui};

/// Every route, guarded.
pub fn router(app: App) -> Router {
    let doors = routes::doors().into_iter().fold(Router::new(), |router, door| {
        let handler = match door.guard {
            Guard::Open => door.handler,
            Guard::Needs(right) => {
                let (operation, parameters) = (door.operation, door.parameters().collect());
                let asks = Asks { app: app.clone(), right, operation, parameters };
                door.handler.route_layer(from_fn_with_state(asks, admit))
            }
        };
        router.route(door.path, handler)
    });
    doors
        .method_not_allowed_fallback(wrong_method)
        .fallback(ui::serve)
        .layer(DefaultBodyLimit::max(app.options().body_limit))
        .layer(from_fn_with_state(app.clone(), origin::check))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(app.clone(), trace::around))
        .with_state(app)
}

async fn wrong_method(method: Method, uri: Uri) -> Problem {
    let text = format!("`{}` takes no {method}: the header Allow lists what it takes", uri.path());
    Problem::new(METHOD_NOT_ALLOWED, text)
}

fn panicked(cause: Box<dyn Any + Send>) -> Response {
    let text = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("it said nothing");
    Problem::new(INTERNAL, "the gateway failed while it answered; nothing says that it would fail again")
        .because(format!("a panic: {text}"))
        .into_response()
}
