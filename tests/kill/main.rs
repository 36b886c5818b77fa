//! Every point at which something can die, once each, on one installation with a process for each role.
//!
//! `make kill POINTS="relay nats"` runs those whose names contain one of the words.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::env;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;
use std::time::Instant;

use futures::FutureExt;
use oxagen_tests::kill::{Crew, POINTS, Point, run};

fn main() -> ExitCode {
    let words: Vec<_> = env::args().skip(1).collect();
    let chosen: Vec<_> = POINTS
        .iter()
        .filter(|point| words.is_empty() || words.iter().any(|word| point.name.contains(word)))
        .collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // On this thread, for the processes end with the thread that started them.
    if runtime.block_on(all(&chosen)) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn all(points: &[&Point]) -> bool {
    let begun = Instant::now();
    let mut crew = Crew::new().await;
    println!("\n{:<62} {:>8} {:>8}", "killed", "back s", "whole s");
    let mut failed = Vec::new();
    let mut left_out = 0;
    for point in points {
        if !point.may_happen(&crew.stack) {
            println!("{:<62}   left out: needs `dev/stack up --own-docker`, as root", point.name);
            left_out += 1;
            continue;
        }
        // The others run when it fails.
        match AssertUnwindSafe(run(&mut crew, point)).catch_unwind().await {
            Ok(report) => {
                let (back, whole) = (report.back.as_secs_f64(), report.whole.as_secs_f64());
                println!("{:<62} {back:>8.1} {whole:>8.1}", point.name);
            }
            Err(_) => {
                println!("{:<62}   FAILED", point.name);
                failed.push(point.name);
            }
        }
    }
    // The checker that users have, over everything that happened here.
    let verified = crew.installation.run(&["verify"], &[]).await;
    println!("{}{}", verified.stdout, verified.stderr);
    if verified.code != Some(0) {
        failed.push("oxagen verify");
    }
    let (ran, seconds) = (points.len() - left_out, begun.elapsed().as_secs_f64());
    println!("\n{ran} points, {left_out} left out, {} failed, {seconds:.0} s {failed:?}\n", failed.len());
    failed.is_empty()
}
