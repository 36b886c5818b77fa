//! Output of every kind: floods, long lines, broken text, and the last words of short programs.

use std::time::Duration;

use futures::StreamExt;
use oxagen_sandbox::{OUTPUT_CAP, SandboxDriver};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::bench::{bench, bench_with, python, shell};

const CUT: &str = "\n[output cut here: the rest is over 1 MiB]\n";

/// The most memory this process has had, in MiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn f25_one_line_of_500_mb_leaves_memory_flat_and_the_exit_code() {
    let bench = bench().await;
    let before = peak_memory();
    let line = "import sys\n\
                for _ in range(500): sys.stdout.buffer.write(b'x' * 1000000)\n\
                sys.stdout.flush(); print('last', file=sys.stderr); sys.exit(9)";
    let outcome = bench.run(python(line)).await;
    // The other tests of this process, beside it, are in the figure too.
    let grown = peak_memory() - before;
    assert!(grown < 250, "the runner grew by {grown} MiB");
    assert_eq!((outcome.exit_code, outcome.stderr.as_str(), outcome.truncated), (Some(9), "last\n", true));
    assert_eq!(outcome.stdout.len(), OUTPUT_CAP + CUT.len());
    assert!(outcome.stdout.ends_with(CUT));
    assert_eq!(outcome.reason.as_deref(), Some("stdout was cut at 1 MiB"));
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f25_floods_on_either_stream_are_cut_and_the_call_succeeds() {
    let bench = bench().await;
    let mut for_ever = shell("while :; do echo tick; done");
    for_ever.timeout = Duration::from_secs(2);
    let outcome = bench.run(for_ever).await;
    // On a crowded machine a shell may need its whole two seconds to begin.
    let ticks = outcome.stdout.is_empty() || outcome.stdout.starts_with("tick\ntick\n");
    assert!(outcome.timed_out && ticks, "{:?}", outcome.reason);

    let both = bench.run(shell("yes out | head -c 3000000; yes err | head -c 3000000 >&2; exit 4")).await;
    assert_eq!((both.exit_code, both.truncated), (Some(4), true));
    assert!(both.stdout.ends_with(CUT) && both.stderr.ends_with(CUT));

    let exact = bench.run(shell(&format!("yes | head -c {OUTPUT_CAP}"))).await;
    assert_eq!((exact.stdout.len(), exact.truncated), (OUTPUT_CAP, false));
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f25_a_viewer_who_never_reads_or_is_gone_costs_nothing() {
    let bench = bench().await;
    let (viewer, chunks) = mpsc::channel(1);
    let flood = || shell("yes | head -c 900000; echo end");
    let outcome = bench.driver.run(flood(), viewer, CancellationToken::new()).await.unwrap();
    drop(chunks);
    assert!(outcome.stdout.ends_with("end\n") && outcome.exit_code == Some(0));
    let outcome = bench.driver.run(flood(), mpsc::channel(1).0, CancellationToken::new()).await.unwrap();
    assert!(outcome.stdout.ends_with("end\n") && outcome.exit_code == Some(0));
    bench.close().await;
}

#[tokio::test]
async fn f25_broken_text_is_replaced_and_split_characters_stay_whole() {
    let bench = bench().await;
    let bytes =
        bench.run(python("import sys; sys.stdout.buffer.write(b'a\\xFF\\xFE\\x00\\x80b\\x1b[31mred')")).await;
    assert_eq!(bytes.stdout, "a\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}b\u{1b}[31mred");
    let split = "import sys, time\n\
                 for byte in 'é漢🦀'.encode():\n\
                 \x20   sys.stdout.buffer.write(bytes([byte])); sys.stdout.flush(); time.sleep(0.05)";
    assert_eq!(bench.run(python(split)).await.stdout, "é漢🦀");
    bench.close().await;
}

#[tokio::test]
async fn f25_output_comes_while_the_program_runs() {
    let bench = bench().await;
    let (viewer, mut chunks) = mpsc::channel(1);
    let mut asks = python("print('name?'); print('hello', input())");
    asks.stdin = Some("you\n".to_owned());
    asks.code.push_str("\nimport time\nwhile True: time.sleep(1)");
    let cancel = CancellationToken::new();
    let run = bench.driver.run(asks, viewer, cancel.clone());
    let (outcome, seen) = tokio::join!(run, async {
        let mut seen = String::new();
        while !seen.ends_with("you\n") {
            seen.push_str(&chunks.recv().await.expect("the program goes on").text);
        }
        cancel.cancel();
        seen
    });
    assert_eq!((seen, outcome.unwrap().cancelled), ("name?\nhello you\n".to_owned(), true));
    bench.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f26_short_output_is_never_lost() {
    let bench = bench_with(|config| config.pool_size = 2).await;
    let runs = (0..60).map(|n| {
        let mut request = shell(&format!("echo out {n}; echo err {n} >&2; exit {}", n % 3));
        request.memory_mib = if n % 2 == 0 { 512 } else { 64 };
        let bench = &bench;
        async move {
            let outcome = bench.run(request).await;
            assert_eq!((outcome.stdout, outcome.stderr), (format!("out {n}\n"), format!("err {n}\n")));
            assert_eq!(outcome.exit_code, Some(n % 3));
        }
    });
    futures::stream::iter(runs).buffer_unordered(4).collect::<Vec<()>>().await;
    bench.close().await;
}
