//! A program on its way into a container, and its output on the way out.

use std::pin::Pin;

use bollard::container::LogOutput;
use bollard::errors::Error as EngineError;
use bollard::exec::{StartExecOptions, StartExecResults};
use bollard::models::ExecConfig;
use futures::future::{BoxFuture, FusedFuture, FutureExt};
use futures::stream::{BoxStream, Stream, StreamExt};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;

use crate::docker::container::USER;
use crate::docker::engine::Engine;
use crate::transcript::Transcript;
use crate::{Channel, Chunk, RunRequest, SandboxError};

/// Unpacks the archive that is the first `$1` bytes of standard input, says so, and becomes the program, which finds
/// the rest of standard input. One exec instead of two: each costs as much as starting an interpreter. dd reads
/// exactly that much and no byte more; the way to it does not depend on the program's own PATH.
const LAUNCH: &str = r#"path=$PATH; PATH=/usr/local/bin:/usr/bin:/bin
dd bs="$1" count=1 iflag=fullblock status=none | tar -xmf - -C /work || exit 1
PATH=$path; shift; printf '\002ready\n'; exec "$@""#;
/// What the launcher says on standard output when the program is in place.
const READY: &[u8] = b"\x02ready\n";
/// Bytes read at once.
const READ_SIZE: usize = 64 << 10;

type Output = Pin<Box<dyn Stream<Item = Result<LogOutput, EngineError>> + Send>>;

/// How to start the program inside a container.
pub(crate) fn launch(request: &RunRequest, archive_len: usize) -> ExecConfig {
    let launcher = ["/bin/sh", "-c", LAUNCH, "launch"].map(str::to_owned).into_iter();
    let command = request.language.command().iter().map(|&word| word.to_owned());
    ExecConfig {
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        user: Some(USER.to_owned()),
        working_dir: Some("/work".to_owned()),
        env: Some(request.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        cmd: Some(launcher.chain([archive_len.to_string()]).chain(command).collect()),
        ..Default::default()
    }
}

/// A started exec. All its waits may be broken off and taken up again without losing output.
pub(crate) struct Program {
    output: Output,
    feed: futures::future::Fuse<BoxFuture<'static, ()>>,
    memory_kills: BoxStream<'static, ()>,
    viewer: mpsc::Sender<Chunk>,
    /// Standard output until the launcher has said that the program is in place.
    preamble: Option<Vec<u8>>,
    ended: bool,
    pub(crate) oom_killed: bool,
    pub(crate) transcript: Transcript,
}

impl Program {
    /// Starts the exec and begins to send it its standard input.
    pub(crate) async fn start(
        engine: &Engine,
        container: &str,
        exec: &str,
        input: Vec<u8>,
        viewer: mpsc::Sender<Chunk>,
    ) -> Result<Self, SandboxError> {
        let options = StartExecOptions { output_capacity: Some(READ_SIZE), ..Default::default() };
        let started = engine.docker.start_exec(exec, Some(options)).await;
        let (output, feed) = match started.map_err(engine.failed_to("start the program"))? {
            StartExecResults::Attached { output, input: stdin } => (output, send(stdin, input).boxed()),
            StartExecResults::Detached => (futures::stream::empty().boxed() as Output, async {}.boxed()),
        };
        Ok(Self {
            output,
            feed: feed.fuse(),
            memory_kills: engine.memory_kills(container),
            viewer,
            preamble: Some(Vec::new()),
            ended: false,
            oom_killed: false,
            transcript: Transcript::default(),
        })
    }

    /// Waits until the program is in place; false when its output ended before.
    pub(crate) async fn until_ready(&mut self) -> Result<bool, EngineError> {
        while self.preamble.is_some() && !self.ended {
            self.step().await?;
        }
        Ok(self.preamble.is_none())
    }

    /// Waits until the output ends.
    pub(crate) async fn until_end(&mut self) -> Result<(), EngineError> {
        while !self.ended {
            self.step().await?;
        }
        Ok(())
    }

    /// Whether the output has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Waits for word that the memory limit killed a process.
    pub(crate) async fn until_memory_kill(&mut self) {
        while !self.oom_killed && self.memory_kills.next().await.is_some() {
            self.oom_killed = true;
        }
    }

    /// Ends the transcript and hands the viewer what he has not got yet.
    pub(crate) async fn flush(&mut self) {
        self.transcript.finish();
        while let Some(chunk) = self.transcript.take_pending() {
            if self.viewer.send(chunk).await.is_err() {
                return;
            }
        }
    }

    /// Whatever comes first: output, room at the viewer's, room for input, word of a memory kill.
    async fn step(&mut self) -> Result<(), EngineError> {
        let watched = self.transcript.has_pending() && !self.viewer.is_closed();
        let read = tokio::select! {
            read = self.output.next() => read,
            permit = self.viewer.reserve(), if watched => {
                if let Ok(permit) = permit && let Some(chunk) = self.transcript.take_pending() {
                    permit.send(chunk);
                }
                return Ok(());
            }
            () = &mut self.feed, if !self.feed.is_terminated() => return Ok(()),
            Some(()) = self.memory_kills.next(), if !self.oom_killed => {
                self.oom_killed = true;
                return Ok(());
            }
        };
        match read.transpose() {
            Ok(Some(piece)) => self.take(piece),
            Ok(None) => self.ended = true,
            Err(error) => {
                self.ended = true;
                return Err(error);
            }
        }
        Ok(())
    }

    fn take(&mut self, piece: LogOutput) {
        match piece {
            LogOutput::StdOut { message } => self.take_stdout(&message),
            LogOutput::StdErr { message } | LogOutput::Console { message } => {
                self.transcript.push(Channel::Stderr, &message);
            }
            LogOutput::StdIn { .. } => {}
        }
    }

    fn take_stdout(&mut self, bytes: &[u8]) {
        let Some(preamble) = &mut self.preamble else {
            return self.transcript.push(Channel::Stdout, bytes);
        };
        preamble.extend_from_slice(bytes);
        if let Some(program) = preamble.strip_prefix(READY) {
            self.transcript.push(Channel::Stdout, program);
            self.preamble = None;
        }
    }
}

/// A program need not read its input: that it closed it is no error.
async fn send(mut stdin: Pin<Box<dyn AsyncWrite + Send>>, input: Vec<u8>) {
    if stdin.write_all(&input).await.is_ok() {
        stdin.shutdown().await.ok();
    }
}
