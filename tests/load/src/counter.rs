//! Counts statements where they pass: a proxy in front of Postgres that reads the client's half of the protocol. What it
//! counts is what the server is asked, whoever asks and however; no extension and no setting of the server is needed.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Statements and how often each was executed.
pub(crate) type Counts = BTreeMap<String, u64>;

/// A question in place of a start: whether the server speaks TLS, or GSSAPI.
const QUESTIONS: [i32; 2] = [80_877_103, 80_877_104];
/// A round trip in which nothing is asked, such as a connection's test when it goes back to its pool.
pub(crate) const NOTHING: &str = "(a round trip without a statement)";
/// Characters of a statement that are shown.
const SHOWN: usize = 90;

/// A counting door in front of a Postgres.
pub(crate) struct Counter {
    /// The database's address through this door.
    pub(crate) url: String,
    counts: Arc<Mutex<Counts>>,
    task: JoinHandle<()>,
}

impl Counter {
    /// In front of the database at `postgres://user:password@host:port/database`.
    pub(crate) async fn before(url: &str) -> Self {
        let (login, place) = url.rsplit_once('@').unwrap_or(("postgres://", url));
        let (target, database) = place.split_once('/').unwrap_or((place, ""));
        let (target, counts) = (target.to_owned(), Arc::<Mutex<Counts>>::default());
        let (listener, address) = listen().await;
        let shared = Arc::clone(&counts);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(pass(client, target.clone(), Arc::clone(&shared)));
            }
        });
        Self { url: format!("{login}@{address}/{database}"), counts, task }
    }

    /// What was counted since the last time.
    pub(crate) fn take(&self) -> Counts {
        std::mem::take(&mut *self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A door on a free port of this machine.
pub(crate) async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await;
    let listener = listener.unwrap_or_else(|error| unreachable!("no free port on 127.0.0.1: {error}"));
    let address = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    (listener, address)
}

async fn pass(client: TcpStream, target: String, counts: Arc<Mutex<Counts>>) -> io::Result<()> {
    let server = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (client.into_split(), server.into_split());
    let answers = tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
    let (mut reader, mut buffer) = (Reader::default(), vec![0; 64 * 1024]);
    loop {
        let length = from_client.read(&mut buffer).await?;
        if length == 0 {
            break;
        }
        to_server.write_all(&buffer[..length]).await?;
        for statement in reader.read(&buffer[..length]) {
            *counts.lock().unwrap_or_else(PoisonError::into_inner).entry(statement).or_default() += 1;
        }
    }
    drop(to_server);
    answers.abort();
    Ok(())
}

/// Reads one connection's messages.
#[derive(Default)]
struct Reader {
    started: bool,
    buffer: Vec<u8>,
    prepared: HashMap<String, String>,
    bound: String,
    asks: bool,
}

impl Reader {
    /// The statements that these bytes execute.
    fn read(&mut self, bytes: &[u8]) -> Vec<String> {
        self.buffer.extend_from_slice(bytes);
        let (mut at, mut executed) = (0, Vec::new());
        while let Some((kind, end)) = self.next(at) {
            let start = at + if kind == 0 { 4 } else { 5 };
            let body = self.buffer[start..end].to_vec();
            executed.extend(self.take(kind, &body));
            at = end;
        }
        self.buffer.drain(..at);
        executed
    }

    /// The kind and the end of the message that begins here, if all of it is there.
    fn next(&self, at: usize) -> Option<(u8, usize)> {
        let rest = self.buffer.get(at..)?;
        let (kind, length) =
            if self.started { (*rest.first()?, rest.get(1..5)?) } else { (0, rest.get(..4)?) };
        let length = usize::try_from(i32::from_be_bytes(length.try_into().ok()?)).ok()?;
        let end = at + length + usize::from(self.started);
        (end <= self.buffer.len()).then_some((kind, end))
    }

    fn take(&mut self, kind: u8, body: &[u8]) -> Option<String> {
        let mut texts = body.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned());
        let mut text = || texts.next().unwrap_or_default();
        let asked = std::mem::replace(&mut self.asks, kind != b'S');
        match kind {
            0 => {
                let code = body.get(..4).and_then(|code| code.try_into().ok()).map(i32::from_be_bytes);
                self.started = !code.is_some_and(|code| QUESTIONS.contains(&code));
                None
            }
            b'Q' => {
                self.asks = false;
                Some(short(&text()))
            }
            b'P' => {
                let (name, sql) = (text(), text());
                self.prepared.insert(name, short(&sql));
                None
            }
            b'B' => {
                let (_portal, name) = (text(), text());
                self.bound = self.prepared.get(&name).cloned().unwrap_or_default();
                None
            }
            b'E' => Some(self.bound.clone()),
            b'S' => (!asked).then(|| NOTHING.to_owned()),
            _ => None,
        }
    }
}

fn short(sql: &str) -> String {
    let words = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = i32::try_from(body.len() + 4).unwrap().to_be_bytes();
        [&[kind][..], &length, body].concat()
    }

    #[test]
    fn executions_are_counted_by_statement_wherever_the_bytes_are_cut() {
        let start = [&9_i32.to_be_bytes()[..], &[0, 3, 0, 0, 0]].concat();
        let bytes = [
            start,
            message(b'P', b"one\0select  1\0\0\0"),
            message(b'B', b"\0one\0\0\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
            message(b'S', b""),
            message(b'Q', b"begin\0"),
            message(b'B', b"\0one\0\0\0"),
            message(b'E', b"\0\0\0\0\0"),
        ]
        .concat();
        for cut in 0..bytes.len() {
            let mut reader = Reader::default();
            let mut found = reader.read(&bytes[..cut]);
            found.extend(reader.read(&bytes[cut..]));
            assert_eq!(found, ["select 1", NOTHING, "begin", "select 1"], "cut at {cut}");
        }
    }
}
