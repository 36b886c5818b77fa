//! The life of one run: take a container, put the program in, watch it end, tell what happened.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bollard::errors::Error as EngineError;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::docker::container::{Origin, Profile};
use crate::docker::engine::Engine;
use crate::docker::pool::{Pool, Warm};
use crate::docker::program::{Program, launch};
use crate::{Channel, Chunk, EffectiveLimits, RunOutcome, RunRequest, SandboxError};

/// How long the program may take to be put in place, which is the sandbox's time and not the program's.
const SETUP_LIMIT: Duration = Duration::from_secs(60);
/// How long the engine may take to hand over the last output and news of a program that has ended.
const AFTERMATH: Duration = Duration::from_secs(5);
/// How long the engine may take to count the processes of a program that ended badly: a full container is slow to
/// look into.
const COUNT: Duration = Duration::from_secs(5);
/// How long word of a memory kill may come after the end of the process it killed.
const OOM_NEWS: Duration = Duration::from_millis(500);
/// The exit code of a process that was killed.
const KILLED: i64 = 137;

/// Runs programs on an engine.
pub(crate) struct Runs {
    engine: Arc<Engine>,
    pool: Pool,
}

/// A container with an exec that has not been started.
struct Prepared {
    container: String,
    exec: String,
    /// Given back when the program is in place.
    pool_place: Option<OwnedSemaphorePermit>,
}

/// How a program ended, as far as its output does not tell.
struct End {
    ending: Ending,
    duration: Duration,
    /// Whether it had as many processes as it may have.
    crowded: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Exited(i64),
    TimedOut,
    Cancelled,
}

impl Runs {
    pub(crate) fn new(engine: Arc<Engine>, pool: Pool) -> Self {
        Self { engine, pool }
    }

    /// How many containers stand ready.
    pub(crate) async fn warm(&self) -> usize {
        self.pool.len().await
    }

    /// Runs one program to its end. The container is gone when this returns.
    pub(crate) async fn run(
        self: Arc<Self>,
        request: RunRequest,
        viewer: mpsc::Sender<Chunk>,
        cancel: CancellationToken,
    ) -> Result<RunOutcome, SandboxError> {
        let archive =
            crate::archive::pack(&request).map_err(|error| self.setup_failed(&error.to_string()))?;
        let mut prepared = self.prepare(&request, archive.len()).await?;
        let watched = self.watch(&mut prepared, &request, archive, (viewer, cancel)).await;
        let removed = self.engine.remove(&prepared.container);
        let (mut program, end) = match watched {
            Ok(watched) => watched,
            Err(error) => {
                removed.await;
                return Err(error);
            }
        };
        if let (Err(_), ()) = tokio::join!(timeout(AFTERMATH, program.flush()), removed) {
            tracing::warn!("the reader of a program's output does not keep up, the rest is dropped");
        }
        Ok(self.outcome(&request, program, end))
    }

    /// A container for the request: a warm one if there is one and it still lives, else one made now.
    async fn prepare(&self, request: &RunRequest, archive_len: usize) -> Result<Prepared, SandboxError> {
        let name = format!("oxagen-{}", request.call_id);
        let profile = Profile::of(request);
        if profile == Profile::DEFAULT {
            while let Some(Warm { id: container, place }) = self.pool.take().await {
                let (renamed, exec) = tokio::join!(
                    self.engine.rename(&container, &name),
                    self.create_exec(&container, request, archive_len)
                );
                match renamed.and(exec) {
                    Ok(exec) => return Ok(Prepared { container, exec, pool_place: Some(place) }),
                    Err(error) => {
                        tracing::warn!(container, %error, "a warm container cannot be used");
                        self.engine.remove(&container).await;
                    }
                }
            }
        }
        let container = self.engine.create(&name, profile, Origin::Cold).await?;
        match self.create_exec(&container, request, archive_len).await {
            Ok(exec) => Ok(Prepared { container, exec, pool_place: None }),
            Err(error) => {
                self.engine.remove(&container).await;
                Err(error)
            }
        }
    }

    async fn create_exec(
        &self,
        container: &str,
        request: &RunRequest,
        archive_len: usize,
    ) -> Result<String, SandboxError> {
        let created = self.engine.docker.create_exec(container, launch(request, archive_len)).await;
        Ok(created.map_err(self.engine.failed_to("prepare the program"))?.id)
    }

    /// Starts the program and stays with it to its end.
    async fn watch(
        &self,
        prepared: &mut Prepared,
        request: &RunRequest,
        mut input: Vec<u8>,
        (viewer, cancel): (mpsc::Sender<Chunk>, CancellationToken),
    ) -> Result<(Program, End), SandboxError> {
        input.extend_from_slice(request.stdin.as_deref().unwrap_or_default().as_bytes());
        let Prepared { container, exec, pool_place } = prepared;
        let mut program = Program::start(&self.engine, container, exec, input, viewer).await?;
        let in_place = tokio::select! {
            biased;
            () = cancel.cancelled() => true,
            () = sleep(SETUP_LIMIT) => return Err(self.setup_failed("it took over a minute")),
            ready = program.until_ready() => ready.map_err(lost)?,
        };
        if !in_place {
            // An exit code tells that the launcher gave up; without one the engine went away, and who knows when.
            self.exit_code(exec).await.map_err(lost)?;
            return Err(self.setup_failed(program.transcript.stderr().trim()));
        }
        drop(pool_place.take());
        let begun = Instant::now();
        let ending = tokio::select! {
            biased;
            () = cancel.cancelled() => Ending::Cancelled,
            () = sleep(request.timeout) => Ending::TimedOut,
            exit = self.until_exit(&mut program, exec) => Ending::Exited(exit?),
        };
        let ending = match ending {
            // Its end may have been missed because something it left behind holds its output open.
            Ending::TimedOut => {
                self.exit_code(exec).await.map_or(ending, |code| code.map_or(ending, Ending::Exited))
            }
            Ending::Exited(_) | Ending::Cancelled => ending,
        };
        let duration = begun.elapsed();
        let crowded = self.is_crowded(container, ending).await;
        self.settle(&mut program, container, ending).await;
        Ok((program, End { ending, duration, crowded }))
    }

    /// Waits for the program's end and returns its exit code.
    async fn until_exit(&self, program: &mut Program, exec: &str) -> Result<i64, SandboxError> {
        program.until_end().await.map_err(lost)?;
        // The output ends a little before the engine knows the exit code, or much before it if the program closed
        // its output and went on. The engine has no event for it that would not come later still.
        let mut pause = Duration::from_millis(2);
        loop {
            if let Some(code) = self.exit_code(exec).await.map_err(lost)? {
                return Ok(code);
            }
            sleep(pause).await;
            pause = Duration::from_millis(100).min(pause * 2);
        }
    }

    async fn exit_code(&self, exec: &str) -> Result<Option<i64>, EngineError> {
        let state = self.engine.docker.inspect_exec(exec).await?;
        Ok(if state.running == Some(false) { state.exit_code } else { None })
    }

    /// Whether the program, at its unhappy end, had as many processes as it may have.
    async fn is_crowded(&self, container: &str, ending: Ending) -> bool {
        let limit = u64::try_from(self.engine.config.pids).unwrap_or(u64::MAX);
        match ending {
            Ending::Exited(0) | Ending::Cancelled => false,
            // The few that the engine and the program's own end take from the count do not matter.
            Ending::Exited(_) | Ending::TimedOut => {
                let processes = timeout(COUNT, self.engine.processes(container)).await;
                processes.ok().flatten().is_some_and(|now| now + 4 >= limit)
            }
        }
    }

    /// Stops whatever still runs, and takes in the last output and news.
    async fn settle(&self, program: &mut Program, container: &str, ending: Ending) {
        if !program.has_ended() {
            self.engine.kill(container).await;
            if !matches!(timeout(AFTERMATH, program.until_end()).await, Ok(Ok(()))) {
                tracing::warn!(container, "the last output of a killed program may be missing");
            }
        }
        if ending == Ending::Exited(KILLED) {
            timeout(OOM_NEWS, program.until_memory_kill()).await.ok();
        }
    }

    fn outcome(&self, request: &RunRequest, program: Program, end: End) -> RunOutcome {
        let End { ending, duration, crowded } = end;
        let limits = EffectiveLimits {
            timeout_ms: millis(request.timeout),
            memory_mb: request.memory_mib,
            cpus: self.engine.config.cpus,
            pids: self.engine.config.pids,
            network: request.network,
        };
        let cut = program.transcript.cut();
        let mut reasons = Vec::new();
        match ending {
            Ending::TimedOut => {
                reasons.push(format!("stopped at its time limit of {} ms", limits.timeout_ms))
            }
            Ending::Cancelled => reasons.push("stopped because the call was cancelled".to_owned()),
            Ending::Exited(_) => {}
        }
        if program.oom_killed {
            reasons
                .push(format!("a process was killed for going over the {} MiB of memory", limits.memory_mb));
        }
        if crowded {
            reasons.push(format!("it had all of the {} processes it may have", limits.pids));
        }
        reasons.extend(cut.iter().map(|channel| match channel {
            Channel::Stdout => "stdout was cut at 1 MiB".to_owned(),
            Channel::Stderr => "stderr was cut at 1 MiB".to_owned(),
        }));
        let oom_killed = program.oom_killed;
        let (stdout, stderr) = program.transcript.into_texts();
        RunOutcome {
            exit_code: if let Ending::Exited(code) = ending { Some(code) } else { None },
            stdout,
            stderr,
            truncated: !cut.is_empty(),
            timed_out: ending == Ending::TimedOut,
            oom_killed,
            cancelled: ending == Ending::Cancelled,
            duration_ms: millis(duration),
            reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
            limits,
        }
    }

    fn setup_failed(&self, detail: &str) -> SandboxError {
        let detail = if detail.is_empty() { "it ended without a word" } else { detail };
        SandboxError::Setup { image: self.engine.config.image.clone(), detail: detail.to_owned() }
    }
}

fn lost(cause: EngineError) -> SandboxError {
    SandboxError::Lost { cause }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
