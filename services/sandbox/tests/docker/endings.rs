//! How programs end that do not end by themselves, and those that fight back.

use std::time::Duration;

use futures::StreamExt;
use oxagen_sandbox::{Channel, RunOutcome, RunRequest, SandboxDriver};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::bench::{Bench, bench, python, shell};

fn with_timeout(mut request: RunRequest, timeout: Duration) -> RunRequest {
    request.timeout = timeout;
    request
}

fn assert_timed_out(outcome: &RunOutcome) {
    assert!(outcome.timed_out && !outcome.cancelled && outcome.exit_code.is_none(), "{outcome:?}");
    assert!(outcome.duration_ms >= outcome.limits.timeout_ms);
    let reason = outcome.reason.as_deref().unwrap_or_default();
    assert!(reason.contains("time limit of 1000 ms"), "{reason}");
}

/// Runs a program and cancels it as soon as it has written something.
async fn run_and_cancel(bench: &Bench, request: RunRequest) -> RunOutcome {
    let cancel = CancellationToken::new();
    let (viewer, mut chunks) = mpsc::channel(1);
    let run = bench.driver.run(request, viewer, cancel.clone());
    let (outcome, ()) = tokio::join!(run, async {
        chunks.recv().await.expect("the program writes something");
        cancel.cancel();
        while chunks.recv().await.is_some() {}
    });
    outcome.unwrap()
}

const LOOP: &str = "echo begun; while :; do :; done";
const DEAF: &str = "import os, signal, time\n\
                    for s in range(1, 32):\n\
                    \x20   if s not in (9, 19): signal.signal(s, signal.SIG_IGN)\n\
                    os.write(1, b'begun\\n')\n\
                    while True: time.sleep(1)";
const DEAF_CHILD: &str = "echo begun; trap '' TERM HUP INT; (trap '' TERM HUP INT; while :; do :; done) & \
                          setsid sh -c 'while :; do sleep 1; done' & while :; do wait; done";

#[tokio::test(flavor = "multi_thread")]
async fn f24_endless_programs_end_at_their_limit_fifty_times() {
    let bench = bench().await;
    let runs = (0..50).map(|n| {
        let bench = &bench;
        async move {
            let request = match n % 3 {
                0 => shell(LOOP),
                1 => python(DEAF),
                _ => shell(DEAF_CHILD),
            };
            let outcome = if n % 5 == 4 {
                let outcome = run_and_cancel(bench, request).await;
                assert!(
                    outcome.cancelled && !outcome.timed_out && outcome.exit_code.is_none(),
                    "{outcome:?}"
                );
                outcome
            } else {
                let outcome = bench.run(with_timeout(request, Duration::from_secs(1))).await;
                assert_timed_out(&outcome);
                outcome
            };
            // On a crowded machine an interpreter may need its whole second to begin.
            assert!(
                outcome.stdout == "begun\n" || (outcome.timed_out && outcome.stdout.is_empty()),
                "{outcome:?}"
            );
        }
    });
    futures::stream::iter(runs).buffer_unordered(4).collect::<Vec<()>>().await;
    assert_eq!(bench.containers().await, [], "nothing runs on inside");
    bench.close().await;
}

#[tokio::test]
async fn f24_an_end_that_a_left_child_hides_is_still_an_exit() {
    let bench = bench().await;
    // What it left holds its output open, so that its end is only found at its limit: long enough for a shell to begin.
    let outcome =
        bench.run(with_timeout(shell("sleep 1000 & echo hi; exit 5"), Duration::from_secs(5))).await;
    assert_eq!((outcome.exit_code, outcome.stdout.as_str(), outcome.timed_out), (Some(5), "hi\n", false));
    bench.close().await;
}

#[tokio::test]
async fn f24_a_program_that_closed_its_output_is_waited_for() {
    let bench = bench().await;
    let outcome = bench.run(shell("echo hi; exec >&- 2>&-; sleep 1; exit 6")).await;
    assert_eq!((outcome.exit_code, outcome.stdout.as_str()), (Some(6), "hi\n"));
    assert_timed_out(
        &bench.run(with_timeout(shell("exec >&- 2>&-; sleep 1000"), Duration::from_secs(1))).await,
    );
    bench.close().await;
}

#[tokio::test]
async fn f24_a_call_cancelled_before_it_begins_runs_nothing() {
    let bench = bench().await;
    let cancel = CancellationToken::new();
    cancel.cancel();
    let outcome = bench.driver.run(shell("echo hi"), mpsc::channel(1).0, cancel).await.unwrap();
    assert!(outcome.cancelled && outcome.exit_code.is_none() && outcome.stdout.is_empty(), "{outcome:?}");
    bench.close().await;
}

#[tokio::test]
async fn f24_a_caller_who_goes_away_ends_the_program() {
    let bench = bench().await;
    let (viewer, mut chunks) = mpsc::channel(1);
    let run = bench.driver.run(shell(LOOP), viewer, CancellationToken::new());
    tokio::select! {
        _ = run => panic!("an endless loop ended"),
        chunk = chunks.recv() => assert_eq!(chunk.unwrap().channel, Channel::Stdout),
    }
    bench.close().await;
}

#[tokio::test]
async fn memory_over_the_limit_is_told() {
    let bench = bench().await;
    let outcome = bench.run(python("print('begun')\nx = bytearray(500 << 20)\nprint('not reached')")).await;
    assert!(outcome.oom_killed && !outcome.timed_out, "{outcome:?}");
    assert_eq!((outcome.exit_code, outcome.stdout.as_str()), (Some(137), "begun\n"));
    assert!(outcome.reason.unwrap().contains("128 MiB of memory"));

    let child = bench.run(shell("python3 -c 'bytearray(500 << 20)'; echo went on")).await;
    assert!(child.oom_killed, "{child:?}");
    assert_eq!((child.exit_code, child.stdout.as_str()), (Some(0), "went on\n"));

    let killed_itself = bench.run(shell("kill -9 $$")).await;
    assert!(!killed_itself.oom_killed && killed_itself.reason.is_none(), "{killed_itself:?}");
    assert_eq!(killed_itself.exit_code, Some(137));
    bench.close().await;
}

#[tokio::test]
async fn fork_bombs_end_with_the_reason() {
    let bench = bench().await;
    let patient = "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(1000)";
    let outcome = bench.run(python(patient)).await;
    assert_eq!(outcome.exit_code, Some(1), "{outcome:?}");
    assert!(outcome.stderr.contains("Resource temporarily unavailable"), "{}", outcome.stderr);
    assert!(outcome.reason.unwrap().contains("all of the 128 processes"));

    let bomb =
        with_timeout(shell("bomb() { bomb | bomb & }; bomb; while :; do wait; done"), Duration::from_secs(1));
    let outcome = bench.run(bomb).await;
    assert!(outcome.timed_out || outcome.exit_code.is_some_and(|code| code != 0), "{outcome:?}");
    assert_eq!(bench.containers().await, []);
    bench.close().await;
}

#[tokio::test]
async fn orphans_do_not_use_up_the_processes() {
    let bench = bench().await;
    let outcome = bench.run(shell("for i in $(seq 400); do (true &); done; echo alive")).await;
    assert_eq!((outcome.exit_code, outcome.stdout.as_str()), (Some(0), "alive\n"), "{}", outcome.stderr);
    bench.close().await;
}
