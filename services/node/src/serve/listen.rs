//! A listener with room for a crowd.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket, lookup_host};

/// Connections that wait to be taken; the system may allow fewer. Screens that lost a gateway come to another one all
/// at once, and whoever finds no room tries again only seconds later, then minutes.
const ROOM: u32 = 4096;

/// Listens at the first of this place's addresses that is free.
///
/// # Errors
/// Why the last of them could not be had.
pub(super) async fn at(place: &str) -> io::Result<TcpListener> {
    let mut error = io::Error::new(io::ErrorKind::InvalidInput, "no such place");
    for address in lookup_host(place).await? {
        match listen(address) {
            Ok(listener) => return Ok(listener),
            Err(cause) => error = cause,
        }
    }
    Err(error)
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Where the process before has just listened.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(ROOM)
}
