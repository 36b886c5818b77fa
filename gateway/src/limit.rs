//! How much one key, and all keys of a tenant together, may ask for.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use oxagen_commands::Caller;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use crate::error::{Problem, RATE_LIMITED, TOO_MANY_AT_ONCE};
use crate::options::{Limits, Rate};

/// Keeps the limits. Who is let in holds a slot until the answer is ready, or the stream has ended.
pub(crate) struct Limiter {
    limits: Limits,
    keys: DefaultKeyedRateLimiter<Uuid>,
    tenants: DefaultKeyedRateLimiter<Uuid>,
    requests: DashMap<Uuid, Arc<Semaphore>>,
    tenant_requests: DashMap<Uuid, Arc<Semaphore>>,
    streams: DashMap<Uuid, Arc<Semaphore>>,
}

/// A request's place among those of its key and of its tenant.
#[derive(Debug)]
pub(crate) struct Slots {
    _key: OwnedSemaphorePermit,
    _tenant: OwnedSemaphorePermit,
}

impl Limiter {
    pub(crate) fn new(limits: Limits) -> Self {
        let (keys, tenants) = (limiter(limits.per_key), limiter(limits.per_tenant));
        let (requests, tenant_requests, streams) = (DashMap::new(), DashMap::new(), DashMap::new());
        Self { limits, keys, tenants, requests, tenant_requests, streams }
    }

    /// Counts a request and gives it its slots.
    pub(crate) fn request(&self, caller: &Caller) -> Result<Slots, Problem> {
        let (key, tenant) = (holder(caller), caller.scope.tenant.0);
        check(&self.keys, key, "this key", self.limits.per_key)?;
        check(&self.tenants, tenant, "this tenant's keys together", self.limits.per_tenant)?;
        let under_way = |slots, id, whose: &str, limit| {
            slot(slots, id, limit).ok_or_else(|| {
                let text = format!("{whose} {limit} requests under way already: wait for one to end");
                Problem::new(TOO_MANY_AT_ONCE, text).retry_after(1)
            })
        };
        Ok(Slots {
            _key: under_way(&self.requests, key, "this key has", self.limits.at_once)?,
            _tenant: under_way(
                &self.tenant_requests,
                tenant,
                "this tenant's keys together have",
                self.limits.tenant_at_once,
            )?,
        })
    }

    /// Gives a stream a slot.
    pub(crate) fn stream(&self, caller: &Caller) -> Result<OwnedSemaphorePermit, Problem> {
        slot(&self.streams, holder(caller), self.limits.streams).ok_or_else(|| {
            let text = format!("this key has {} streams open already: close one", self.limits.streams);
            Problem::new(TOO_MANY_AT_ONCE, text).retry_after(5)
        })
    }
}

/// Whose limit it is: the key's, or the user's where the credential is none.
fn holder(caller: &Caller) -> Uuid {
    caller.key.map_or(caller.user.0, |key| key.0)
}

fn limiter(rate: Rate) -> DefaultKeyedRateLimiter<Uuid> {
    let at_least_one = |count: u32| NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
    RateLimiter::keyed(Quota::per_second(at_least_one(rate.per_second)).allow_burst(at_least_one(rate.burst)))
}

fn check(limiter: &DefaultKeyedRateLimiter<Uuid>, id: Uuid, whose: &str, rate: Rate) -> Result<(), Problem> {
    limiter.check_key(&id).map_err(|early| {
        let wait = early.wait_time_from(DefaultClock::default().now());
        let text = format!(
            "{whose} may send {} requests a second ({} in a burst): wait before the next one",
            rate.per_second, rate.burst
        );
        Problem::new(RATE_LIMITED, text).retry_after(whole_seconds(wait))
    })
}

fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0).max(u64::from(wait.is_zero()))
}

fn slot(slots: &DashMap<Uuid, Arc<Semaphore>>, id: Uuid, limit: usize) -> Option<OwnedSemaphorePermit> {
    let semaphore = Arc::clone(&slots.entry(id).or_insert_with(|| Arc::new(Semaphore::new(limit))));
    semaphore.try_acquire_owned().ok()
}

#[cfg(test)]
mod tests {
    use oxagen_domain::{ApiKeyId, KeyLimits, Role, Scope, TenantId, UserId};

    use super::*;

    fn caller(key: u128) -> Caller {
        Caller {
            scope: Scope { tenant: TenantId(Uuid::from_u128(1)), ..Scope::default() },
            user: UserId::default(),
            role: Role::Member,
            limits: KeyLimits::default(),
            key: Some(ApiKeyId(Uuid::from_u128(key))),
            request: Uuid::nil(),
            traceparent: None,
        }
    }

    fn limits(per_key: Rate, per_tenant: Rate) -> Limits {
        Limits { per_key, per_tenant, at_once: 10, tenant_at_once: 10, streams: 1 }
    }

    #[test]
    fn one_key_over_its_rate_is_told_when_to_come_back_and_disturbs_no_other() {
        let rate = |burst| Rate { per_second: 1, burst };
        let limiter = Limiter::new(limits(rate(2), rate(100)));
        assert!(limiter.request(&caller(1)).is_ok() && limiter.request(&caller(1)).is_ok());
        // Not the third for certain: a second may pass anywhere, and with it comes another place.
        let early = (0..100).find_map(|_| limiter.request(&caller(1)).err()).unwrap();
        assert_eq!(early.code(), "rate_limited");
        assert!(limiter.request(&caller(2)).is_ok());
    }

    #[test]
    fn a_slot_comes_back_when_its_holder_is_done() {
        let rate = Rate { per_second: 100, burst: 100 };
        let limiter = Limiter::new(Limits { at_once: 1, ..limits(rate, rate) });
        let first = limiter.request(&caller(1)).unwrap();
        assert_eq!(limiter.request(&caller(1)).unwrap_err().code(), "too_many_at_once");
        drop(first);
        assert!(limiter.request(&caller(1)).is_ok());
    }

    #[test]
    fn the_keys_of_a_tenant_share_its_slots() {
        let rate = Rate { per_second: 100, burst: 100 };
        let limiter = Limiter::new(Limits { tenant_at_once: 1, ..limits(rate, rate) });
        let first = limiter.request(&caller(1)).unwrap();
        assert_eq!(limiter.request(&caller(2)).unwrap_err().code(), "too_many_at_once");
        drop(first);
        assert!(limiter.request(&caller(2)).is_ok());
    }

    #[test]
    fn waits_are_told_in_whole_seconds_and_never_zero() {
        assert_eq!(whole_seconds(Duration::ZERO), 1);
        assert_eq!(whole_seconds(Duration::from_millis(1001)), 2);
        assert_eq!(whole_seconds(Duration::from_secs(2)), 2);
    }
}
