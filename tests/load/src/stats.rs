//! Percentiles of durations.

use std::time::Duration;

/// Durations, sorted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample(Vec<Duration>);

impl Sample {
    /// Of these.
    pub(crate) fn of(mut durations: Vec<Duration>) -> Self {
        durations.sort();
        Self(durations)
    }

    /// The duration that this share does not exceed, in milliseconds; NaN without any.
    pub(crate) fn share(&self, share: f64) -> f64 {
        let nth = ((self.0.len() as f64 * share).ceil() as usize).saturating_sub(1);
        self.0.get(nth).map_or(f64::NAN, |duration| duration.as_secs_f64() * 1000.0)
    }

    /// The median in milliseconds.
    pub(crate) fn p50(&self) -> f64 {
        self.share(0.5)
    }

    /// What one in a hundred exceeds, in milliseconds.
    pub(crate) fn p99(&self) -> f64 {
        self.share(0.99)
    }
}

/// Things a second.
pub(crate) fn rate(count: u64, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_sorted_durations() {
        let sample = Sample::of((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!((sample.p50(), sample.p99(), sample.share(1.0)), (50.0, 99.0, 100.0));
        assert!(Sample::default().p50().is_nan());
        assert_eq!(Sample::of(vec![Duration::from_millis(7)]).p99(), 7.0);
    }
}
