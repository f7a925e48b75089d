//! What Prometheus reads from `/metrics`.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Labels of requests.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    model: String,
    protocol: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResponseLabels {
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ErrorLabels {
    r#type: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ModelLabels {
    model: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct VersionLabels {
    model: String,
    version: String,
}

/// The protocol that a request was sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `/models`.
    Rows,
    /// KServe's `/v1`.
    V1,
    /// The Open Inference Protocol, `/v2`.
    V2,
}

const PROTOCOLS: [(Protocol, &str); 3] = [(Protocol::Rows, "rows"), (Protocol::V1, "v1"), (Protocol::V2, "v2")];

/// All counters of a server.
pub struct Metrics {
    registry: Registry,
    responses: Family<ResponseLabels, Counter>,
    predictions: Family<RequestLabels, Counter>,
    latency: Family<RequestLabels, Histogram>,
    rows: Family<ModelLabels, Counter>,
    errors: Family<ErrorLabels, Counter>,
    versions: Family<VersionLabels, Gauge>,
    reloads: Family<ModelLabels, Counter>,
    failed_reloads: Family<ModelLabels, Counter>,
    /// Open connections.
    pub connections: Gauge,
    /// Requests in progress.
    pub in_flight: Gauge,
    /// Jobs that wait for a worker.
    pub queue: Gauge,
    ok: Counter,
}

/// The counters of one model, looked up once.
#[derive(Clone)]
pub struct ModelMetrics {
    protocols: [(Counter, Histogram); 3],
    rows: Counter,
}

impl ModelMetrics {
    /// Counts an answered request.
    pub fn answered(&self, protocol: Protocol, n_rows: usize, seconds: f64) {
        let (count, latency) = &self.protocols[protocol as usize];
        count.inc();
        latency.observe(seconds);
        self.rows.inc_by(n_rows as u64);
    }
}

fn latency_histogram() -> Histogram {
    // From 50 microseconds to 26 seconds.
    Histogram::new(exponential_buckets(5e-5, 2.0, 20))
}

impl Default for Metrics {
    fn default() -> Metrics {
        let latency = Family::<RequestLabels, Histogram>::new_with_constructor(latency_histogram as fn() -> Histogram);
        let responses = Family::<ResponseLabels, Counter>::default();
        let ok = responses.get_or_create_owned(&ResponseLabels { status: 200 });
        let mut metrics = Metrics {
            registry: Registry::with_prefix("ermine"),
            responses,
            predictions: Family::default(),
            latency,
            rows: Family::default(),
            errors: Family::default(),
            versions: Family::default(),
            reloads: Family::default(),
            failed_reloads: Family::default(),
            connections: Gauge::default(),
            in_flight: Gauge::default(),
            queue: Gauge::default(),
            ok,
        };
        metrics.register();
        metrics
    }
}

impl Metrics {
    fn register(&mut self) {
        let registry = &mut self.registry;
        registry.register("http_responses", "HTTP responses by status", self.responses.clone());
        registry.register("predictions", "Answered prediction requests", self.predictions.clone());
        registry.register("prediction_seconds", "Time to answer a prediction request", self.latency.clone());
        registry.register("rows", "Rows predicted", self.rows.clone());
        registry.register("errors", "Requests that were not answered, by the type of the error", self.errors.clone());
        registry.register("model_version", "Versions that are served (1)", self.versions.clone());
        registry.register("model_loads", "Model files read", self.reloads.clone());
        registry.register("model_load_failures", "Model files that could not be read", self.failed_reloads.clone());
        registry.register("connections", "Open connections", self.connections.clone());
        registry.register("in_flight", "Requests in progress", self.in_flight.clone());
        registry.register("queue", "Jobs that wait for a worker", self.queue.clone());
    }

    /// The counters of a model.
    pub fn of_model(&self, name: &str) -> ModelMetrics {
        let labels = |protocol| RequestLabels { model: name.to_string(), protocol };
        let protocols = PROTOCOLS.map(|(_, word)| {
            (self.predictions.get_or_create_owned(&labels(word)), self.latency.get_or_create_owned(&labels(word)))
        });
        ModelMetrics { protocols, rows: self.rows.get_or_create_owned(&ModelLabels { model: name.to_string() }) }
    }

    /// Counts a response.
    pub fn responded(&self, status: u16, error: Option<&str>) {
        if status == 200 {
            self.ok.inc();
        } else {
            self.responses.get_or_create(&ResponseLabels { status }).inc();
        }
        if let Some(kind) = error {
            self.errors.get_or_create(&ErrorLabels { r#type: kind.to_string() }).inc();
        }
    }

    /// A model file was read.
    pub fn loaded(&self, model: &str) {
        self.reloads.get_or_create(&ModelLabels { model: model.to_string() }).inc();
    }

    /// A model file could not be read.
    pub fn load_failed(&self, model: &str) {
        self.failed_reloads.get_or_create(&ModelLabels { model: model.to_string() }).inc();
    }

    /// These are the versions that are served now.
    pub fn serving<'a>(&self, versions: impl Iterator<Item = (&'a str, &'a str)>) {
        self.versions.clear();
        for (model, version) in versions {
            let labels = VersionLabels { model: model.to_string(), version: version.to_string() };
            self.versions.get_or_create(&labels).set(1);
        }
    }

    /// All counters in the text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string can't fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
