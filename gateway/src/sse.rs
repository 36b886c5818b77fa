//! Streams of facts to screens and programs: answers that go on until there is nothing more to say.

mod cursor;
pub(crate) mod encode;
mod gate;
mod outlet;
mod source;
mod talk;
mod viewer;

use std::convert::Infallible;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use http::{HeaderName, HeaderValue, header};
use oxagen_commands::Caller;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::error::Problem;
use crate::state::App;
pub(crate) use cursor::Cursor;
use outlet::Outlet;
pub(crate) use outlet::Style;
pub(crate) use source::Source;
use viewer::Viewer;

/// Events that were written and wait for the connection.
const WRITTEN: usize = 16;

/// What is watched, and how.
pub(crate) struct Watch {
    pub(crate) source: Source,
    pub(crate) style: Style,
    pub(crate) cursor: Cursor,
    /// Go on when there is nothing more to say for now.
    pub(crate) follow: bool,
    /// The conversation's version when the viewer came; until it is shown, there is more to say. 0 for a workspace.
    pub(crate) version: u64,
}

/// Opens a stream. It watches only: whoever goes away changes nothing.
pub(crate) fn open(app: &App, caller: &Caller, watch: Watch) -> Result<Response, Problem> {
    let slot = app.limiter().stream(caller)?;
    let (sender, written) = mpsc::channel(WRITTEN);
    let content_type = watch.style.content_type();
    let outlet = Outlet::new(sender, watch.style, app.options().heartbeat);
    let viewer = Viewer::new(app.clone(), watch, outlet);
    app.tasks().spawn(async move {
        viewer.run().await;
        drop(slot);
    });
    let body = Body::from_stream(ReceiverStream::new(written).map(Ok::<_, Infallible>));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform")),
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    Ok((headers, body).into_response())
}
