//! What `/metrics` shows, in Prometheus's text format.

use std::fmt;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// The format's content type.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Upper edges of the classes of latency, in seconds.
const BUCKETS: [f64; 10] = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// A request by its route, never by its path, so that identifiers make no series of their own.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Projection {
    projection: &'static str,
}

/// The gateway's metrics.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    latency: Family<Route, Histogram>,
    streams: Gauge,
    seq: Gauge<u64, AtomicU64>,
    lag: Family<Projection, Gauge<u64, AtomicU64>>,
}

/// What is looked up when somebody asks.
pub(crate) struct Readings {
    /// Open streams.
    pub(crate) streams: usize,
    /// The newest fact that this gateway has seen.
    pub(crate) seq: u64,
    /// Facts that each projection has still to take in.
    pub(crate) lags: Vec<(&'static str, u64)>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("oxagen");
        let requests = Family::default();
        let latency = Family::new_with_constructor(new_histogram as fn() -> Histogram);
        let (streams, seq, lag) = (Gauge::default(), Gauge::default(), Family::default());
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("http_request_seconds", "Time to the beginning of the answer", latency.clone());
        registry.register("streams_open", "Open streams", streams.clone());
        registry.register("gateway_seq", "The newest fact that this gateway has seen", seq.clone());
        registry.register("projection_lag", "Facts that a projection has still to take in", lag.clone());
        Self { registry, requests, latency, streams, seq, lag }
    }

    /// Counts an answered request.
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let (method, route) = (method.to_owned(), route.to_owned());
        self.latency.get_or_create(&Route { route: route.clone() }).observe(took.as_secs_f64());
        self.requests.get_or_create(&Request { method, route, status }).inc();
    }

    /// Everything as text.
    pub(crate) fn text(&self, readings: &Readings) -> Result<String, fmt::Error> {
        self.streams.set(i64::try_from(readings.streams).unwrap_or(i64::MAX));
        self.seq.set(readings.seq);
        for (projection, lag) in &readings.lags {
            self.lag.get_or_create(&Projection { projection }).set(*lag);
        }
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

fn new_histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route() {
        let metrics = Metrics::new();
        metrics.answered("GET", "/v1/turns/{id}", 200, Duration::from_millis(3));
        let readings = Readings { streams: 2, seq: 9, lags: vec![("neo4j", 4)] };
        let text = metrics.text(&readings).unwrap();
        assert!(
            text.contains(
                r#"oxagen_http_requests_total{method="GET",route="/v1/turns/{id}",status="200"} 1"#
            )
        );
        assert!(text.contains("oxagen_streams_open 2") && text.contains("oxagen_gateway_seq 9"));
        assert!(text.contains(r#"oxagen_projection_lag{projection="neo4j"} 4"#));
    }
}
