//! Kills at random points, over and over, and keeps count.
//!
//! `oxagen-soak MINUTES [WORD…]` draws from the points whose names contain one of the words. Counts of all runs so far
//! are kept in `.stack/soak.json` and go on from there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod counts;

use std::env;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use futures::FutureExt;
use oxagen_tests::kill::{Crew, POINTS, Point, Victim, run};

use crate::counts::Counts;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let Some(minutes) = arguments.next().and_then(|minutes| minutes.parse::<u64>().ok()) else {
        eprintln!("usage: oxagen-soak MINUTES [WORD…]; `make soak MINUTES=60` starts what it needs");
        return ExitCode::FAILURE;
    };
    let words: Vec<_> = arguments.collect();
    let chosen: Vec<_> = POINTS
        .iter()
        .filter(|point| words.is_empty() || words.iter().any(|word| point.name.contains(word)))
        .collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // On this thread, for the processes end with the thread that started them.
    let failures = runtime.block_on(soak(Duration::from_secs(minutes * 60), &chosen));
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn soak(time: Duration, points: &[&Point]) -> u64 {
    let (until, mut counts, mut failures) = (Instant::now() + time, Counts::load(), 0);
    let mut crew = Crew::new().await;
    let points: Vec<_> = points.iter().filter(|point| point.may_happen(&crew.stack)).collect();
    assert!(!points.is_empty(), "no such point, or none that may happen on these servers");
    while Instant::now() < until {
        let point = drawn(points[rand::random_range(0..points.len())]);
        let ran = AssertUnwindSafe(run(&mut crew, &point)).catch_unwind().await;
        match ran {
            Ok(report) => counts.passed(point.name, report.back),
            Err(cause) => {
                failures += 1;
                counts.failed(point.name, &told(&*cause));
                crew.stack.mend().await;
                // What failed may be in the way of the next; it begins with an installation of its own.
                crew = Crew::new().await;
            }
        }
        counts.save();
    }
    println!("{counts}");
    failures
}

/// The same point, sooner or later in the conversation.
fn drawn(point: &Point) -> Point {
    let victim = match point.victim {
        Victim::Place(role, place, _) => Victim::Place(role, place, rand::random_range(0..=point.most)),
        other @ (Victim::Settlement(..)
        | Victim::Leader
        | Victim::Leadership
        | Victim::Anybody
        | Victim::Door(..)
        | Victim::Server(_)
        | Victim::Engine
        | Victim::Stream
        | Victim::Tail) => other,
    };
    // Where a call is cut off depends on the pass.
    if point.tale == oxagen_tests::kill::Tale::Network { *point } else { Point { victim, ..*point } }
}

fn told(cause: &(dyn std::any::Any + Send)) -> String {
    let text = cause.downcast_ref::<String>().cloned();
    text.or_else(|| cause.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}
