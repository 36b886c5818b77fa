//! How many questions wait for people: known by whoever keeps the inbox, which is no part of the write side.

use std::pin::Pin;

use oxagen_domain::Scope;

/// A count that may come later.
pub type Counted<'a> = Pin<Box<dyn Future<Output = Option<u32>> + Send + 'a>>;

/// The inbox of every workspace.
pub trait Inbox: Send + Sync {
    /// The approvals that are open in a workspace, as far as is known; `None` when nobody can say now. It may lag behind:
    /// a cap on them can be passed by as many as are under way.
    fn open_approvals(&self, scope: Scope) -> Counted<'_>;
}
