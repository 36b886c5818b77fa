//! A door in front of a server, which can be shut: connections break and new ones are refused.

use std::net::SocketAddr;

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A proxy on a port of this machine.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    open: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// In front of the server at `scheme://host:port`.
    pub async fn to(url: &str) -> Self {
        let target = url.split("://").nth(1).unwrap().trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (open, state) = watch::channel(true);
        let task = tokio::spawn(serve(listener, target, state));
        Self { address, open, task }
    }

    /// `host:port` of the door.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Breaks every connection; nobody listens any more.
    pub fn shut(&self) {
        self.open.send_replace(false);
    }

    /// Lets everybody through again.
    pub fn open(&self) {
        self.open.send_replace(true);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
        self.open.send_replace(false);
    }
}

async fn serve(mut listener: TcpListener, target: String, mut open: watch::Receiver<bool>) {
    let (address, doors) = (listener.local_addr().unwrap(), open.clone());
    loop {
        let shut = loop {
            tokio::select! {
                accepted = listener.accept() => {
                    if let Ok((client, _)) = accepted {
                        tokio::spawn(pass(client, target.clone(), doors.clone()));
                    }
                }
                shut = open.wait_for(|open| !open) => break shut.map(|_| ()),
            }
        };
        drop(listener);
        if shut.is_err() || open.wait_for(|open| *open).await.is_err() {
            return;
        }
        listener = TcpListener::bind(address).await.unwrap();
    }
}

async fn pass(mut client: TcpStream, target: String, mut open: watch::Receiver<bool>) {
    if !*open.borrow_and_update() {
        return;
    }
    let Ok(mut server) = TcpStream::connect(target).await else { return };
    let shut = open.wait_for(|open| !open);
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => {}
        _ = shut => {}
    }
}
