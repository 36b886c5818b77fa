//! A door in front of a server: it can be shut, fall silent, or let everything through late.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::port::free_port;

/// What happens to what comes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Open,
    Late(Duration),
    Stalled,
    Mute,
    Shut,
}

/// A proxy on a port of this machine.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    url: String,
    door: watch::Sender<Door>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// In front of the server at `scheme://host:port`, or at `unix:///path`.
    pub async fn to(url: &str) -> Self {
        let place = url.split("://").nth(1).unwrap();
        let (unix, target) = (url.starts_with("unix:"), place.rsplit('@').next().unwrap());
        let target = if unix { target } else { target.split('/').next().unwrap() }.to_owned();
        // Kept: while the door is shut nobody else may come to listen there.
        let listener = TcpListener::bind(("127.0.0.1", free_port())).await.unwrap();
        let address = listener.local_addr().unwrap();
        let through =
            if unix { format!("tcp://{address}") } else { url.replacen(&target, &address.to_string(), 1) };
        let (door, state) = watch::channel(Door::Open);
        let task = tokio::spawn(serve(listener, (target, unix), state));
        Self { address, url: through, door, task }
    }

    /// The server's own address, with the door's host and port in it.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// `host:port` of the door.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Breaks every connection; nobody listens any more.
    pub fn shut(&self) {
        self.door.send_replace(Door::Shut);
    }

    /// Nothing comes through any more, and nobody is told: as when a cable is pulled.
    pub fn stall(&self) {
        self.door.send_replace(Door::Stalled);
    }

    /// What is sent to the server comes through; what it answers is lost.
    pub fn mute(&self) {
        self.door.send_replace(Door::Mute);
    }

    /// Everything comes through, so much later.
    pub fn delay(&self, by: Duration) {
        self.door.send_replace(Door::Late(by));
    }

    /// Lets everybody through again; what was held back comes now.
    pub fn open(&self) {
        self.door.send_replace(Door::Open);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        self.door.send_replace(Door::Shut);
    }
}

async fn serve(mut listener: TcpListener, (target, unix): (String, bool), mut door: watch::Receiver<Door>) {
    let (address, doors) = (listener.local_addr().unwrap(), door.clone());
    loop {
        let shut = loop {
            tokio::select! {
                accepted = listener.accept() => {
                    let Ok((client, _)) = accepted else { continue };
                    let (target, door) = (target.clone(), doors.clone());
                    tokio::spawn(async move {
                        if unix {
                            pass(client, UnixStream::connect(target), door).await;
                        } else {
                            pass(client, TcpStream::connect(target), door).await;
                        }
                    });
                }
                shut = door.wait_for(|door| *door == Door::Shut) => break shut.map(|_| ()),
            }
        };
        drop(listener);
        if shut.is_err() || door.wait_for(|door| *door != Door::Shut).await.is_err() {
            return;
        }
        listener = TcpListener::bind(address).await.unwrap();
    }
}

async fn pass<S: AsyncRead + AsyncWrite>(
    client: TcpStream,
    connect: impl Future<Output = io::Result<S>>,
    mut door: watch::Receiver<Door>,
) {
    if *door.borrow_and_update() == Door::Shut {
        return;
    }
    let Ok(server) = connect.await else { return };
    let _ = client.set_nodelay(true);
    let ((client_reads, client_writes), (server_reads, server_writes)) =
        (tokio::io::split(client), tokio::io::split(server));
    let (there, back) = (door.clone(), door.clone());
    // Whose peer was killed has nothing more to say, and the other side must hear of it: it may hold locks.
    let both = async {
        tokio::try_join!(
            carry(client_reads, server_writes, (there, false)),
            carry(server_reads, client_writes, (back, true))
        )
    };
    tokio::select! {
        _ = both => {}
        _ = door.wait_for(|door| *door == Door::Shut) => {}
    }
}

async fn carry<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    mut from: R,
    mut to: W,
    (mut door, is_answer): (watch::Receiver<Door>, bool),
) -> io::Result<()> {
    let mut bytes = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut bytes).await?;
        let state = *door.borrow_and_update();
        match state {
            Door::Mute if is_answer && count > 0 => continue,
            Door::Open | Door::Shut | Door::Mute => {}
            Door::Late(by) => tokio::time::sleep(by).await,
            Door::Stalled => {
                let _ = door.wait_for(|door| *door != Door::Stalled).await;
            }
        }
        if count == 0 {
            return to.shutdown().await;
        }
        to.write_all(&bytes[..count]).await?;
    }
}
