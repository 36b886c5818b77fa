//! Writes an answer to the connection as the script wants it: slowly, in bits, or not to the end.

use std::{io, pin::pin, time::Duration};

use anyhow::Context;
use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde_json::Value;
use tokio::{sync::mpsc, time::sleep};

use crate::{CutHow, Reply, Slice};

/// What the connection is fed from.
pub(crate) type Sender = mpsc::Sender<Result<Bytes, io::Error>>;

/// One write and the pause before it.
#[derive(Debug, PartialEq)]
struct Write {
    pause: Duration,
    /// Whether it waits until its scenario is let go.
    held: bool,
    bytes: Bytes,
}

/// Everything that will be written, and how it ends.
#[derive(Debug)]
pub(crate) struct Plan {
    writes: Vec<Write>,
    end: CutHow,
}

impl Plan {
    /// The writes of a streamed answer with these chunks.
    pub(crate) fn new(reply: &Reply, chunks: &[Value]) -> anyhow::Result<Self> {
        let end = reply.cut.as_ref().map_or(CutHow::Close, |cut| cut.how);
        let writes = match &reply.raw {
            Some(slices) => slices.iter().map(raw).collect::<anyhow::Result<_>>()?,
            None => events(reply, chunks),
        };
        Ok(Self { writes: split(writes, reply.bytes_per_write), end })
    }

    /// Writes it all, and what is held once `let_go` has ended; false when the other side hung up before the end.
    pub(crate) async fn run(self, sender: Sender, let_go: impl Future<Output = ()>) -> bool {
        // At most one write is held.
        let mut let_go = pin!(let_go);
        for Write { pause, held, bytes } in self.writes {
            if held {
                tokio::select! {
                    () = &mut let_go => {}
                    () = sender.closed() => return false,
                }
            }
            if !pause.is_zero() {
                tokio::select! {
                    () = sleep(pause) => {}
                    () = sender.closed() => return false,
                }
            }
            if sender.send(Ok(bytes)).await.is_err() {
                return false;
            }
        }
        match self.end {
            CutHow::Close => true,
            CutHow::Reset => sender.send(Err(io::Error::other("cut by the script"))).await.is_ok(),
        }
    }
}

fn events(reply: &Reply, chunks: &[Value]) -> Vec<Write> {
    let count = reply.cut.as_ref().map_or(chunks.len(), |cut| cut.after.min(chunks.len()));
    let mut data: Vec<String> = chunks[..count].iter().map(Value::to_string).collect();
    match &reply.cut {
        Some(cut) => data.extend(cut.data.as_ref().map(Value::to_string)),
        None => data.push("[DONE]".to_owned()),
    }
    let pause = |at: usize| {
        let stall = if at == reply.stall_after { reply.stall_ms } else { 0 };
        Duration::from_millis(reply.delay_ms + stall)
    };
    let write = |(at, data)| Write {
        pause: pause(at),
        held: reply.hold_after == Some(at),
        bytes: Bytes::from(format!("data: {data}\n\n")),
    };
    data.into_iter().enumerate().map(write).collect()
}

fn raw(slice: &Slice) -> anyhow::Result<Write> {
    let mut bytes = slice.text.clone().unwrap_or_default().into_bytes();
    if let Some(encoded) = &slice.bytes {
        bytes.extend(BASE64_STANDARD.decode(encoded).context("a raw slice's `bytes` are not base64")?);
    }
    Ok(Write { pause: Duration::from_millis(slice.delay_ms), held: false, bytes: bytes.into() })
}

fn split(writes: Vec<Write>, size: usize) -> Vec<Write> {
    if size == 0 {
        return writes;
    }
    let pieces = writes.into_iter().flat_map(|Write { pause, held, bytes }| {
        let count = bytes.len().div_ceil(size);
        (0..count).map(move |at| Write {
            pause: if at == 0 { pause } else { Duration::ZERO },
            held: held && at == 0,
            bytes: bytes.slice(at * size..bytes.len().min((at + 1) * size)),
        })
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Cut;

    fn texts(reply: &Reply) -> Vec<String> {
        let plan = Plan::new(reply, &[json!(1), json!(2), json!(3)]).unwrap();
        plan.writes.iter().map(|write| String::from_utf8_lossy(&write.bytes).into_owned()).collect()
    }

    #[test]
    fn a_cut_ends_without_done() {
        let cut = Cut { after: 1, data: Some(json!("no")), how: CutHow::Close };
        assert_eq!(texts(&Reply { cut: Some(cut), ..Reply::default() }), ["data: 1\n\n", "data: \"no\"\n\n"]);
        assert_eq!(texts(&Reply::default()).last().map(String::as_str), Some("data: [DONE]\n\n"));
    }

    #[tokio::test]
    async fn what_is_held_is_written_when_it_is_let_go() {
        let plan =
            Plan::new(&Reply { hold_after: Some(1), ..Reply::default() }, &[json!(1), json!(2)]).unwrap();
        let ((sender, mut writes), (go, gone)) = (mpsc::channel(8), tokio::sync::oneshot::channel::<()>());
        let running = tokio::spawn(plan.run(sender, async move { _ = gone.await }));
        assert_eq!(writes.recv().await.unwrap().unwrap(), "data: 1\n\n");
        tokio::task::yield_now().await;
        assert!(writes.try_recv().is_err());
        go.send(()).unwrap();
        assert_eq!(writes.recv().await.unwrap().unwrap(), "data: 2\n\n");
        assert!(running.await.unwrap());
    }

    #[test]
    fn raw_bytes_are_sent_as_they_are() {
        let slice = Slice { bytes: Some("/wBh".to_owned()), ..Slice::default() };
        let reply = Reply { raw: Some(vec![slice]), bytes_per_write: 2, ..Reply::default() };
        let plan = Plan::new(&reply, &[]).unwrap();
        assert_eq!(
            plan.writes.iter().map(|write| write.bytes.to_vec()).collect::<Vec<_>>(),
            [vec![255, 0], vec![97]]
        );
    }
}
