//! A stopwatch in front of an HTTP server: how long its answers take, from the request's first byte to the answer's last.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::counter::listen;

/// The door.
pub(crate) struct Clock {
    /// `host:port` of the door.
    pub(crate) address: String,
    spent: Arc<Mutex<Duration>>,
    task: JoinHandle<()>,
}

impl Clock {
    /// In front of the server at `host:port`.
    pub(crate) async fn before(target: String) -> Self {
        let (listener, address) = listen().await;
        let spent = Arc::<Mutex<Duration>>::default();
        let shared = Arc::clone(&spent);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, target.clone(), Arc::clone(&shared)));
            }
        });
        Self { address, spent, task }
    }

    /// The time that answers took since this was asked last.
    pub(crate) fn take(&self) -> Duration {
        std::mem::take(&mut *self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// One connection. Every piece of an answer adds the time since the piece before it, or since the request began.
async fn pass(client: TcpStream, target: String, spent: Arc<Mutex<Duration>>) -> std::io::Result<()> {
    let server = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    let (mut asked, mut answer) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    let (mut since, mut answering) = (Instant::now(), true);
    loop {
        tokio::select! {
            length = from_client.read(&mut asked) => {
                let length = length?;
                if length == 0 {
                    return Ok(());
                }
                if std::mem::replace(&mut answering, false) {
                    since = Instant::now();
                }
                to_server.write_all(&asked[..length]).await?;
            }
            length = from_server.read(&mut answer) => {
                let length = length?;
                if length == 0 {
                    return Ok(());
                }
                *spent.lock().unwrap_or_else(PoisonError::into_inner) += since.elapsed();
                (since, answering) = (Instant::now(), true);
                to_client.write_all(&answer[..length]).await?;
            }
        }
    }
}
