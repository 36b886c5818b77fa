//! One viewer: what it missed, then what happens, until there is nothing more to say.
//!
//! It watches and buffers first and reads the past after that, so that nothing falls between the two; what comes
//! twice is sent once. It holds no connection to a server while it waits.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use oxagen_domain::{ConversationId, Fact, Scope};
use oxagen_jetstream::live;
use oxagen_journal::{FactFilter, JournalError};
use serde_json::json;
use tracing::debug;

use super::gate::Gate;
use super::outlet::Outlet;
use super::talk::Talk;
use super::{Cursor, Source, Watch};
use crate::error::Problem;
use crate::hub::{Item, Passing, Subscription};
use crate::state::App;

/// Facts read from the journal at a time.
const PAGE: u32 = 200;
/// How far the clocks of this process, the runner and NATS may be apart.
const CLOCKS: TimeDelta = TimeDelta::seconds(10);

/// Why a stream ends.
#[derive(Debug)]
pub(super) enum End {
    /// There is nothing more to say.
    Done,
    /// The viewer has gone, or the gateway stops.
    Gone,
    /// The viewer did not keep up.
    Slow,
    /// The viewer's cursor is in no history of ours.
    Nowhere,
    /// The past cannot be read now.
    Failed(JournalError),
}

/// One viewer.
pub(super) struct Viewer {
    app: App,
    watch: Watch,
    outlet: Outlet,
    /// The last fact sent, or the place to go on after.
    sent: u64,
    talk: Option<Talk>,
    gate: Gate,
    /// When the step under way began.
    step_at: Option<DateTime<Utc>>,
}

impl Viewer {
    pub(super) fn new(app: App, watch: Watch, outlet: Outlet) -> Self {
        let talk = match &watch.source {
            Source::Conversation(_, conversation) => Some(Talk::new(*conversation, watch.version)),
            Source::Workspace(..) => None,
        };
        Self { app, watch, outlet, sent: 0, talk, gate: Gate::default(), step_at: None }
    }

    /// Watches to the end, and says why it ended.
    pub(super) async fn run(mut self) {
        let (gone, shutdown) = (self.outlet.gone(), self.app.shutdown().clone());
        let end = tokio::select! {
            ended = self.watch() => ended.map_or_else(|end| end, |()| End::Done),
            () = gone => End::Gone,
            () = shutdown.cancelled() => End::Gone,
        };
        let snapshot = self.watch.source.snapshot();
        let gap = |reason: &str| json!({"snapshot": snapshot, "reason": reason});
        let (name, data) = match end {
            End::Done | End::Gone => return,
            End::Slow => ("gap", gap("slow_reader")),
            End::Nowhere => ("gap", gap("unknown_cursor")),
            End::Failed(error) => ("error", Problem::from(error).into_logged_body()),
        };
        let told = Box::pin(self.outlet.named(name, &data)).await;
        if told.is_err() {
            debug!("a viewer went before it was told why its stream ends");
        }
    }

    /// Most viewers wait most of the time, and there are many of them. What a viewer does only once, or only when
    /// something happens, is therefore boxed: it takes memory while it is done and not while the viewer waits.
    async fn watch(&mut self) -> Result<(), End> {
        let mut subscription = Box::pin(self.begin()).await?;
        while !self.is_done() {
            tokio::select! {
                item = subscription.next() => match item {
                    Some(item) => Box::pin(self.item(item)).await?,
                    None => return Err(End::Slow),
                },
                () = self.outlet.silence() => Box::pin(self.outlet.beat()).await?,
            }
        }
        Ok(())
    }

    /// Shows what the viewer missed and the text so far; gives what comes next.
    async fn begin(&mut self) -> Result<Subscription, End> {
        self.outlet.beat().await?;
        let Cursor::After(after) = self.watch.cursor else { return Err(End::Nowhere) };
        let hub = self.app.hub().clone();
        self.outlet.beating(hub.ready()).await?;
        let mut subscription = hub.subscribe(self.watch.source.topic(), after);
        self.sent = after;
        if after > subscription.head {
            self.expect_in_history(after).await?;
        }
        if after > 0 {
            self.recall(after).await?;
        }
        self.replay(&mut subscription).await?;
        self.outlet.named("caught-up", &json!({"seq": self.sent})).await?;
        if !self.is_done() {
            self.text_so_far().await?;
        }
        Ok(subscription)
    }

    async fn item(&mut self, item: Item) -> Result<(), End> {
        match item {
            Item::Fact(passing) => self.fact(&passing).await,
            Item::Frame(frame) => self.frame(frame).await,
        }
    }

    /// A conversation without a turn that runs or waits has nothing more to say.
    fn is_done(&self) -> bool {
        let idle = self.talk.as_ref().is_some_and(Talk::is_idle);
        !self.watch.follow && idle && self.gate.is_quiet()
    }

    /// The hub may be a little behind the journal, so that one has the last word.
    async fn expect_in_history(&mut self, after: u64) -> Result<(), End> {
        let head = self.outlet.beating(self.app.journal().head()).await?.map_err(End::Failed)?;
        if after > head { Err(End::Nowhere) } else { Ok(()) }
    }

    /// Takes in, without showing it again, what tells whether a turn is open and which frames belong to it.
    async fn recall(&mut self, after: u64) -> Result<(), End> {
        let Source::Conversation(scope, conversation) = self.watch.source else { return Ok(()) };
        let aggregate = Some(("conversation".to_owned(), conversation.to_string()));
        let own = FactFilter { aggregate, until: Some(after), ..FactFilter::default() };
        self.take_in(scope, own).await?;
        if let Some(turn) = self.talk.as_ref().and_then(Talk::open) {
            let of_turn = FactFilter { turn: Some(turn), until: Some(after), ..FactFilter::default() };
            self.take_in(scope, of_turn).await?;
        }
        Ok(())
    }

    async fn take_in(&mut self, scope: Scope, filter: FactFilter) -> Result<(), End> {
        let source = Source::Workspace(scope, filter);
        let mut after = 0;
        loop {
            let page = self.page(&source, after).await?;
            page.iter().for_each(|fact| drop(self.note(fact)));
            match page.last() {
                Some(last) if page.len() == PAGE as usize => after = last.seq,
                Some(_) | None => return Ok(()),
            }
        }
    }

    /// Sends what was missed: from the ring if it goes back so far, else from the journal.
    async fn replay(&mut self, subscription: &mut Subscription) -> Result<(), End> {
        if let Some(recent) = subscription.recent.take() {
            for passing in recent {
                self.fact(&passing).await?;
            }
            return Ok(());
        }
        let (source, mut after) = (self.watch.source.clone(), self.sent);
        loop {
            let page = self.page(&source, after).await?;
            let (full, last) = (page.len() == PAGE as usize, page.last().map(|fact| fact.seq));
            for fact in page {
                self.fact(&Passing::new(fact)).await?;
            }
            match last {
                Some(last) if full => after = last,
                Some(_) | None => return Ok(()),
            }
        }
    }

    /// A page of the past. Few viewers read at a time, or a crowd of them would use up the journal's pool.
    async fn page(&mut self, source: &Source, after: u64) -> Result<Vec<Fact>, End> {
        let app = self.app.clone();
        let read = async {
            let _turn = app.readers().acquire().await;
            source.page(app.journal(), after, PAGE).await
        };
        self.outlet.beating(read).await?.map_err(End::Failed)
    }

    /// The text of the step under way as far as it came.
    async fn text_so_far(&mut self) -> Result<(), End> {
        let (Source::Conversation(scope, conversation), Some(began)) = (&self.watch.source, self.step_at)
        else {
            return Ok(());
        };
        let frames = recent(self.app.clone(), *scope, *conversation, began - CLOCKS);
        for frame in self.outlet.beating(frames).await? {
            self.frame(Arc::new(frame)).await?;
        }
        Ok(())
    }

    async fn fact(&mut self, passing: &Passing) -> Result<(), End> {
        if passing.fact.seq <= self.sent {
            return Ok(());
        }
        self.sent = passing.fact.seq;
        let waited = self.note(&passing.fact);
        if self.watch.source.wants(&passing.fact) {
            self.outlet.fact(passing).await?;
        }
        for frame in waited {
            self.outlet.frame(&frame).await?;
        }
        Ok(())
    }

    async fn frame(&mut self, frame: Arc<live::Frame>) -> Result<(), End> {
        match self.gate.frame(frame) {
            Some(frame) => self.outlet.frame(&frame).await,
            None => Ok(()),
        }
    }

    /// Takes in a fact; gives the frames that waited for it.
    fn note(&mut self, fact: &Fact) -> Vec<Arc<live::Frame>> {
        let Some(talk) = &mut self.talk else { return Vec::new() };
        talk.fact(fact);
        if fact.kind == "turn.step_started" {
            self.step_at = Some(fact.occurred_at);
        }
        self.gate.fact(fact)
    }
}

/// Frames may be lost, a stream may not: without them it goes on with the facts.
async fn recent(
    app: App,
    scope: Scope,
    conversation: ConversationId,
    since: DateTime<Utc>,
) -> Vec<live::Frame> {
    let _turn = app.readers().acquire().await;
    live::recent(app.bus(), scope, conversation, Some(since)).await.unwrap_or_else(|error| {
        debug!(%error, "a viewer begins without the text so far");
        Vec::new()
    })
}
