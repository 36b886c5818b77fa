//! How the roles of this process are doing.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Role;

/// What there is to see of a role.
#[derive(Clone)]
pub(crate) enum Watch {
    /// It waits for its servers.
    Starts,
    /// It is at work, and tells nothing more.
    Runs,
    /// The gateway.
    Gateway(oxagen_gateway::Handle),
    /// The relay.
    Relay(oxagen_relay::Handle),
    /// A projector.
    Projector(oxagen_projections::Handle),
}

/// How the roles are doing. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Board(Arc<Mutex<BTreeMap<Role, Watch>>>);

impl Board {
    /// All of them start.
    pub(crate) fn new(roles: &[Role]) -> Self {
        Self(Arc::new(Mutex::new(roles.iter().map(|role| (*role, Watch::Starts)).collect())))
    }

    /// A role has started, and can be watched so.
    pub(crate) fn set(&self, role: Role, watch: Watch) {
        self.lock().insert(role, watch);
    }

    /// Every role with what there is to see of it.
    pub(crate) fn roles(&self) -> Vec<(Role, Watch)> {
        self.lock().iter().map(|(role, watch)| (*role, watch.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Role, Watch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch {
    /// Why it cannot work, or works less than it should; none when all is well.
    pub(crate) fn trouble(&self) -> Option<String> {
        match self {
            Self::Starts => Some("starting".to_owned()),
            Self::Runs => None,
            Self::Gateway(handle) => (!handle.is_ready()).then(|| "waits for facts".to_owned()),
            Self::Relay(handle) => {
                let trouble: Vec<_> = handle.status().trouble.into_values().collect();
                (!trouble.is_empty()).then(|| trouble.join("; "))
            }
            Self::Projector(handle) => handle.degraded(),
        }
    }

    /// Whether the role is there at all. One in trouble is: it goes on by itself when the trouble is over.
    pub(crate) fn is_ready(&self) -> bool {
        match self {
            Self::Starts => false,
            Self::Runs | Self::Relay(_) | Self::Projector(_) => true,
            Self::Gateway(handle) => handle.is_ready(),
        }
    }
}
