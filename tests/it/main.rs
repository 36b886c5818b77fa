//! End to end, on real servers: one file per behaviour. The ids in the names are those of the field cases.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod admission;
mod api_bad_input;
mod approval;
mod arguments;
mod cancel;
mod cluster;
mod conversation;
mod conversations;
mod dead_letter;
mod decide;
mod direct_call;
mod history;
mod idempotency;
mod key_limits;
mod kill_approvals;
mod kill_engine;
mod kill_fence;
mod kill_screens;
mod kill_stores;
mod kill_streams;
mod matrix;
mod model_faults;
mod model_text;
mod nats_down;
mod openapi;
mod plan;
mod policy;
mod program;
mod program_start;
mod repeats;
mod restart;
mod results;
mod road;
mod roles;
mod runner_killed;
mod scene;
mod settle;
mod sse;
mod stream_lost;
mod tenants;
mod verify_http;
mod viewers;
mod viewers_crowd;
mod words;
