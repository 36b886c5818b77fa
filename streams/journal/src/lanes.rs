//! What many ask for at the same moment goes to the server together: whoever comes while every lane is busy waits for
//! the next one, and shares its round trip with all who wait beside. Nobody waits while a lane is free.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Requests that wait, and how many batches are under way. Cloning shares them.
pub(crate) struct Lanes<T> {
    width: usize,
    waiting: Arc<Mutex<Waiting<T>>>,
}

struct Waiting<T> {
    items: VecDeque<T>,
    busy: usize,
}

impl<T> Clone for Lanes<T> {
    fn clone(&self) -> Self {
        Self { width: self.width, waiting: Arc::clone(&self.waiting) }
    }
}

impl<T: Send + 'static> Lanes<T> {
    /// At most `width` batches at a time.
    pub(crate) fn new(width: usize) -> Self {
        Self { width, waiting: Arc::new(Mutex::new(Waiting { items: VecDeque::new(), busy: 0 })) }
    }

    /// Hands in a request. `pick` takes out of what waits what can go together; `work` is a round trip.
    /// Must be called inside a runtime.
    pub(crate) fn hand_in<W>(
        &self,
        item: T,
        pick: fn(&mut VecDeque<T>) -> Vec<T>,
        work: impl Fn(Vec<T>) -> W + Send + 'static,
    ) where
        W: Future<Output = ()> + Send,
    {
        let mut waiting = self.lock();
        waiting.items.push_back(item);
        if waiting.busy == self.width {
            return;
        }
        waiting.busy += 1;
        drop(waiting);
        let mut lane = Lane { lanes: self.clone(), free: false };
        tokio::spawn(async move {
            while let Some(batch) = lane.next(pick) {
                work(batch).await;
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lane in use. It is free again when dropped, however its task ends.
struct Lane<T: Send + 'static> {
    lanes: Lanes<T>,
    free: bool,
}

impl<T: Send + 'static> Lane<T> {
    /// The next batch. Without one the lane is free from that moment on, so that nothing is left behind it.
    fn next(&mut self, pick: fn(&mut VecDeque<T>) -> Vec<T>) -> Option<Vec<T>> {
        let mut waiting = self.lanes.lock();
        if waiting.items.is_empty() {
            waiting.busy -= 1;
            self.free = true;
            return None;
        }
        Some(pick(&mut waiting.items))
    }
}

impl<T: Send + 'static> Drop for Lane<T> {
    fn drop(&mut self) {
        if !self.free {
            self.lanes.lock().busy -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::{Mutex, mpsc};

    use super::*;

    #[tokio::test]
    async fn who_waits_goes_together_and_nobody_waits_for_a_free_lane() {
        let lanes = Lanes::new(1);
        let gate = Arc::new(Mutex::new(()));
        let (sender, mut batches) = mpsc::unbounded_channel();
        let hand_in = |item: u32| {
            let (gate, sender) = (Arc::clone(&gate), sender.clone());
            lanes.hand_in(
                item,
                |waiting| waiting.drain(..).collect(),
                move |batch| {
                    let (gate, sender) = (Arc::clone(&gate), sender.clone());
                    async move {
                        sender.send(batch).unwrap();
                        drop(gate.lock().await);
                    }
                },
            );
        };
        let closed = gate.lock().await;
        hand_in(1);
        assert_eq!(batches.recv().await.unwrap(), [1]);
        hand_in(2);
        hand_in(3);
        drop(closed);
        assert_eq!(batches.recv().await.unwrap(), [2, 3]);
        hand_in(4);
        assert_eq!(batches.recv().await.unwrap(), [4]);
    }
}
