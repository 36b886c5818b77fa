//! Ports of this machine that are ours for as long as the tests run.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use tokio::net::TcpSocket;

/// A bound socket that does not listen: whoever names its port may listen there, and nobody is given it by chance,
/// neither to listen on nor to call from.
static KEPT: Mutex<Vec<TcpSocket>> = Mutex::new(Vec::new());

/// A port on which nobody listens, for one process after the other.
pub fn free_port() -> u16 {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let port = socket.local_addr().unwrap().port();
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
    port
}
