//! The door to clients: the HTTP API, its streams, its documentation.
//!
//! Only this crate speaks HTTP. It changes things through `oxagen-commands` alone, reads views, facts and live
//! frames, and keeps nothing of its own. [`router`] and [`openapi`] are made from one route table.

mod caller;
mod door;
mod error;
mod extract;
mod gateway;
mod hub;
mod keys;
mod lane;
mod limit;
mod metrics;
mod openapi;
mod options;
mod origin;
mod router;
mod routes;
mod screen;
mod sse;
mod state;
mod trace;
mod ui;

pub use error::{KINDS, Kind};
pub use gateway::{Gateway, Handle};
pub use openapi::{openapi, openapi_json, route_list, unguarded_routes};
pub use options::{Limits, Options, Rate, Turns};
pub use router::router;
pub use state::{App, Parts};
