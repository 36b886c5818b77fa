//! The walls: what the engine was told, and what a program finds when it tries.

use std::collections::HashMap;

use bollard::models::NetworkCreateRequest;
use oxagen_sandbox::{Network, POOL_LABEL, RUNNER_LABEL, SandboxDriver};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::bench::{bench, bench_with, docker, python, shell};

#[tokio::test]
async fn the_engine_is_told_every_limit() {
    for (memory_mib, pool) in [(512, "warm"), (256, "cold")] {
        let bench = bench_with(|config| config.pool_size = 1).await;
        let mut request = shell("echo begun; sleep 1000");
        request.memory_mib = memory_mib;
        let name = format!("oxagen-{}", request.call_id);
        let cancel = CancellationToken::new();
        let (viewer, mut chunks) = mpsc::channel(1);
        bench.until_warm().await;
        let run = bench.driver.run(request, viewer, cancel.clone());
        let (outcome, container) = tokio::join!(run, async {
            chunks.recv().await.expect("the program begins");
            let container = bench.docker.inspect_container(&name, None).await;
            cancel.cancel();
            container.expect("the container has the call's name")
        });
        assert!(outcome.unwrap().cancelled);

        let config = container.config.unwrap();
        let labels = config.labels.unwrap();
        assert_eq!((&labels[RUNNER_LABEL], labels[POOL_LABEL].as_str()), (&bench.runner, pool));
        assert_eq!(config.user.as_deref(), Some("65534:65534"));
        let host = container.host_config.unwrap();
        assert_eq!(host.network_mode.as_deref(), Some("none"));
        assert_eq!(host.readonly_rootfs, Some(true));
        let memory = Some(i64::try_from(memory_mib).unwrap() << 20);
        assert_eq!((host.memory, host.memory_swap), (memory, memory));
        assert_eq!((host.nano_cpus, host.pids_limit), (Some(500_000_000), Some(128)));
        assert_eq!(host.cap_drop, Some(vec!["ALL".to_owned()]));
        assert_eq!(host.security_opt, Some(vec!["no-new-privileges".to_owned()]));
        assert_eq!((host.privileged, host.binds.unwrap_or_default()), (Some(false), Vec::<String>::new()));
        let mounts: HashMap<_, _> = host.tmpfs.unwrap();
        assert_eq!(mounts.len(), 2);
        assert!(
            mounts["/work"].contains(&format!("size={}m", memory_mib / 2))
                && mounts["/work"].contains("exec")
        );
        assert!(mounts["/tmp"].contains("noexec"));
        bench.close().await;
    }
}

#[tokio::test]
async fn a_program_has_no_rights_no_network_and_nowhere_to_write() {
    let bench = bench().await;
    let facts = bench
        .run(shell(
            "id -u; id -g; grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\\t'; \
             cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '; hostname",
        ))
        .await;
    let expected = "65534\n65534\nCapEff:0000000000000000\nCapBnd:0000000000000000\nNoNewPrivs:1\nSeccomp:2\nlo\nsandbox\n";
    assert_eq!(facts.stdout, expected, "{}", facts.stderr);

    let writes = bench
        .run(shell("for p in / /etc /usr/bin /proc/sys/kernel /sys; do touch $p/x && echo wrote $p; done"))
        .await;
    assert_eq!(writes.stdout, "", "everything but /work, /tmp and /dev/shm is read-only");
    let full =
        bench.run(shell("head -c 1000000000 /dev/zero > /tmp/x; echo tried; ls -l /work | wc -l")).await;
    assert!(full.stderr.contains("No space left") && full.stdout.contains("tried"), "{full:?}");
    let executable = bench.run(shell("printf '#!/bin/sh\\necho mine\\n' > x; chmod +x x; ./x")).await;
    assert_eq!(executable.stdout, "mine\n");

    let network = bench.run(python("import socket\nsocket.create_connection(('1.1.1.1', 53), 5)")).await;
    assert!(network.stderr.contains("Network is unreachable"), "{}", network.stderr);
    bench.close().await;
}

#[tokio::test]
async fn a_network_is_there_when_it_is_allowed() {
    let name = format!("oxagen-test-{}", Uuid::now_v7());
    let docker = docker().await;
    let network = NetworkCreateRequest { name: name.clone(), internal: Some(true), ..Default::default() };
    docker.create_network(network).await.unwrap();
    let bench = bench_with(|config| (config.pool_size, config.network) = (0, name.clone())).await;
    let mut request = shell("tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort");
    request.network = Network::Allow;
    let outcome = bench.run(request).await;
    docker.remove_network(&name).await.unwrap();
    assert_eq!(outcome.stdout, "eth0\nlo\n", "{}", outcome.stderr);
    assert_eq!(outcome.limits.network, Network::Allow);
    bench.close().await;
}

#[tokio::test]
async fn nothing_of_the_hosts_environment_enters() {
    let canary = env!("CARGO_MANIFEST_DIR");
    assert!(
        std::env::vars().any(|(_, value)| value == canary),
        "the canary is in this process's environment"
    );
    let bench = bench().await;
    let mut request = shell("env | cut -d= -f1 | sort; cat /proc/*/environ | tr '\\0' '\\n'");
    request.env.insert("MINE".to_owned(), "yes".to_owned());
    let outcome = bench.run(request).await;
    assert!(!outcome.stdout.contains(canary) && !outcome.stdout.contains("CARGO"), "{}", outcome.stdout);
    let names: Vec<&str> = outcome.stdout.lines().take_while(|line| !line.contains('=')).collect();
    let allowed = ["HOME", "HOSTNAME", "LANG", "MINE", "PATH", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(names.contains(&"MINE") && names.iter().all(|name| allowed.contains(name)), "{names:?}");
    bench.close().await;
}

#[tokio::test]
async fn writing_to_the_first_process_goes_nowhere() {
    let bench = bench().await;
    let outcome = bench.run(shell("kill -9 1; kill -9 -1; echo survived > /proc/1/fd/1; echo end")).await;
    // The second kill may reach the program itself; the container's first process must live through both.
    assert!(matches!(outcome.exit_code, Some(0 | 137)), "{outcome:?}");
    bench.close().await;
}
