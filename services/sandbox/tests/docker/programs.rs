//! What a well-behaved program gets.

use oxagen_sandbox::{Language, RunOutcome, SandboxDriver, SandboxError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::bench::{bench, bench_with, file, program, python, shell};

fn assert_success(outcome: &RunOutcome, stdout: &str) {
    assert_eq!((outcome.exit_code, outcome.stdout.as_str(), outcome.stderr.as_str()), (Some(0), stdout, ""));
    assert!(!outcome.truncated && !outcome.timed_out && !outcome.oom_killed && !outcome.cancelled);
    assert_eq!(outcome.reason, None);
}

#[tokio::test]
async fn the_three_languages_run() {
    let bench = bench().await;
    let node = bench.run(program(Language::Node, "console.log([1, 2, 3].map(n => n * 2).join())")).await;
    assert_success(&node, "2,4,6\n");
    let python = bench.run(python("print(sum(range(101)))")).await;
    assert_success(&python, "5050\n");
    let shell = bench.run(shell("echo $((6 * 7))")).await;
    assert_success(&shell, "42\n");
    bench.close().await;
}

#[tokio::test]
async fn files_stdin_and_variables_arrive() {
    let bench = bench().await;
    let mut request = python(
        "import os, sys, data.helper\n\
         print(sys.stdin.read(), os.environ['GREETING'], data.helper.NAME, len(open('data/blob', 'rb').read()))\n\
         print(sorted(os.listdir('.')), os.getcwd())\n\
         sys.exit(3)",
    );
    request.files = vec![
        file("data/helper.py", "NAME = 'hélper'"),
        file("data/blob", vec![0; 3 << 20]),
        file(&format!("deep/{}/x", "long name ".repeat(20).trim()), "x"),
    ];
    request.stdin = Some("typed ☃".to_owned());
    request.env.insert("GREETING".to_owned(), "hello = \"you\"\nthere".to_owned());
    let outcome = bench.run(request).await;
    let expected = "typed ☃ hello = \"you\"\nthere hélper 3145728\n['data', 'deep', 'main.py'] /work\n";
    assert_eq!((outcome.stderr.as_str(), outcome.stdout.as_str()), ("", expected));
    assert_eq!(outcome.exit_code, Some(3));
    bench.close().await;
}

#[tokio::test]
async fn input_that_nobody_reads_does_not_matter() {
    let bench = bench().await;
    let mut request = shell("echo done");
    request.stdin = Some("x".repeat(4 << 20));
    assert_success(&bench.run(request).await, "done\n");
    let mut request = shell("wc -c");
    request.stdin = Some("x".repeat(4 << 20));
    assert_success(&bench.run(request).await, "4194304\n");
    assert_success(&bench.run(shell("cat; echo end")).await, "end\n");
    bench.close().await;
}

#[tokio::test]
async fn a_path_variable_of_its_own_is_the_programs_alone() {
    let bench = bench().await;
    let mut request = shell("echo unreachable");
    request.env.insert("PATH".to_owned(), "/nowhere".to_owned());
    let outcome = bench.run(request).await;
    assert_eq!(outcome.exit_code, Some(127), "sh is not found there: {}", outcome.stderr);
    bench.close().await;
}

#[tokio::test]
async fn a_bad_path_is_refused_before_anything_starts() {
    let bench = bench().await;
    let mut request = shell("true");
    request.files = vec![file("../etc/passwd", "root")];
    let refused = bench.driver.run(request, mpsc::channel(1).0, CancellationToken::new()).await.unwrap_err();
    assert!(matches!(refused, SandboxError::Refused(_)) && !refused.may_have_run(), "{refused}");
    bench.close().await;
}

#[tokio::test]
async fn warm_containers_are_fresh_each_time() {
    let bench = bench_with(|config| config.pool_size = 2).await;
    for _ in 0..6 {
        let mut request = shell("ls -A /work /tmp; touch /work/used /tmp/used");
        request.memory_mib = 512;
        assert_success(&bench.run(request).await, "/tmp:\n\n/work:\nmain.sh\n");
    }
    bench.close().await;
}

#[tokio::test]
async fn an_engine_or_image_that_is_not_there_is_named() {
    let mut config = super::bench::config();
    config.image = "oxagen-no-such-image:1".to_owned();
    let missing = oxagen_sandbox::DockerSandbox::connect(config.clone()).await.err().unwrap();
    assert!(matches!(missing, SandboxError::ImageMissing { .. }), "{missing}");
    assert!(missing.to_string().contains("oxagen-no-such-image:1"), "{missing}");

    for host in ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:1"] {
        config.docker_host = Some(host.to_owned());
        let away = oxagen_sandbox::DockerSandbox::connect(config.clone()).await.err().unwrap();
        assert!(matches!(away, SandboxError::Unreachable { .. }), "{away}");
        assert!(away.to_string().contains(host) && away.to_string().contains("DOCKER_HOST"), "{away}");
    }
}
