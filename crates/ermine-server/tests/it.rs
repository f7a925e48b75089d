//! The server over loopback, with a client of a few lines that speaks plain HTTP/1.1.
#![allow(clippy::unwrap_used)]

use ermine::prelude::*;
use ermine_core::rng::{Rng, below, stream};
use ermine_core::table::ColumnKind;
use ermine_server::testing::{ErrorBody, InferResponse, ModelDetails, ModelList, PredictResponse, V1Response};
use ermine_server::{Config, Limits, LogLevel, Server, Stopper, TlsFiles};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ermine-server-test-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// 300 rows: two numbers, colors, truth values; classes that depend on them.
fn table(seed: u64) -> Table {
    let mut rng: Rng = stream(seed, &[27]);
    let n = 300;
    let x: Vec<f64> = (0..n).map(|_| below(&mut rng, 1000) as f64 / 100.0).collect();
    let y: Vec<f64> = (0..n).map(|i| if i % 17 == 0 { f64::NAN } else { below(&mut rng, 50) as f64 }).collect();
    let colors: Vec<Option<&str>> = (0..n).map(|_| Some(["red", "green", "blue"][below(&mut rng, 3)])).collect();
    let truths: Vec<Option<bool>> = (0..n).map(|_| Some(below(&mut rng, 2) == 1)).collect();
    let class = |i: usize| Some(if x[i] + (colors[i] == Some("red")) as u8 as f64 * 4.0 > 6.0 { "yes" } else { "no" });
    let classes: Vec<Option<&str>> = (0..n).map(class).collect();
    let amount: Vec<f64> = (0..n).map(|i| x[i] * 2.0 + if y[i].is_nan() { 0.0 } else { y[i] }).collect();
    Table::new(vec![
        Column::numeric("x", x),
        Column::numeric("y", y),
        Column::nominal("color", &colors),
        Column::boolean("flag", &truths),
        Column::nominal("class", &classes),
        Column::numeric("amount", amount),
    ])
    .unwrap()
}

fn without(table: &Table, name: &str) -> Table {
    Table::new(table.columns().iter().filter(|column| column.name != name).cloned().collect()).unwrap()
}

fn classifier(seed: u64) -> Model {
    let data = without(&table(seed), "amount").dataset("class").unwrap();
    GradientBoosting { n_estimators: 20, ..Default::default() }.fit(&data).unwrap()
}

fn regressor() -> Model {
    let data = without(&table(1), "class").dataset("amount").unwrap();
    RandomForest { n_estimators: 10, quantiles: true, ..Default::default() }.fit(&data).unwrap()
}

fn neighbors() -> Model {
    let columns = table(1).columns().iter().filter(|c| ["x", "class"].contains(&c.name.as_str())).cloned().collect();
    NearestNeighbors::default().fit(&Table::new(columns).unwrap().dataset("class").unwrap()).unwrap()
}

/// A running server.
struct Running {
    address: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<ermine::Result<()>>>,
    scratch: Scratch,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

fn start(change: impl FnOnce(&mut Config, &Scratch)) -> Running {
    let scratch = Scratch::new();
    classifier(1).save(scratch.path("class.ermine")).unwrap();
    regressor().save(scratch.path("amount.ermine")).unwrap();
    neighbors().save(scratch.path("neighbors.ermine")).unwrap();
    let mut config = Config {
        models: vec![scratch.0.clone()],
        address: "127.0.0.1:0".parse().unwrap(),
        reload_interval: Some(Duration::from_millis(20)),
        log: LogLevel::Off,
        threads: Some(2),
        ..Config::default()
    };
    change(&mut config, &scratch);
    let server = Server::bind(config).unwrap();
    let (address, stopper) = (server.address(), server.stopper());
    let thread = Some(std::thread::spawn(move || server.run(std::future::pending())));
    Running { address, stopper, thread, scratch }
}

/// A response: status, head and body.
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn of(bytes: &[u8]) -> Reply {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a response with a head");
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head: head.to_lowercase(), body: bytes[end + 4..].to_vec() }
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    /// An error has a body of a known form.
    fn error(&self) -> (u16, String) {
        let body: ErrorBody = serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()));
        assert!(!body.error.is_empty());
        (self.status, body.kind)
    }
}

fn request(method: &str, path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
    );
    [head.as_bytes(), body].concat()
}

impl Running {
    fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        // A server that refuses a body may close before all of it is sent.
        let _ = stream.write_all(&request(method, path, headers, body));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Reply::of(&answer)
    }

    fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "", b"")
    }

    fn post(&self, path: &str, body: &str) -> Reply {
        self.send("POST", path, "content-type: application/json\r\n", body.as_bytes())
    }

    fn csv(&self, path: &str, body: &str) -> Reply {
        self.send("POST", path, "content-type: text/csv\r\n", body.as_bytes())
    }
}

/// Rows of the table as JSON objects, without the targets.
fn json_rows(table: &Table, n: usize) -> Vec<Value> {
    let cell = |column: &Column, row: usize| match (column.kind, column.number(row)) {
        (_, number) if number.is_nan() => Value::Null,
        (ColumnKind::Numeric, number) => json!(number),
        (ColumnKind::Boolean, number) => json!(number == 1.0),
        _ => json!(column.text(row)),
    };
    let inputs: Vec<&Column> =
        table.columns().iter().filter(|column| !["class", "amount"].contains(&column.name.as_str())).collect();
    (0..n)
        .map(|row| inputs.iter().map(|c| (c.name.clone(), cell(c, row))).collect::<serde_json::Map<_, _>>().into())
        .collect()
}

#[test]
fn rows_get_the_predictions_of_the_core() {
    let server = start(|_, _| {});
    let (model, table) = (classifier(1), table(1));
    let expected = model.predict(&table).unwrap();
    for n in [1, 3, 40, 300] {
        let body = json!({ "rows": json_rows(&table, n), "probabilities": true }).to_string();
        let reply = server.post("/models/class/predict", &body);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let answer: PredictResponse = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!((answer.predictions.len(), answer.warnings), (n, None));
        let probabilities = answer.probabilities.unwrap();
        for row in 0..n {
            assert_eq!(answer.predictions[row], expected.label(row).unwrap());
            assert_eq!(probabilities[row].values().copied().collect::<Vec<_>>(), expected.row(row));
        }
    }
    // The same rows as arrays, in KServe's protocol, and as a bare list.
    let arrays: Vec<Value> =
        json_rows(&table, 5).iter().map(|row| row.as_object().unwrap().values().cloned().collect()).collect();
    let v1: V1Response = serde_json::from_slice(
        &server.post("/v1/models/class:predict", &json!({ "instances": arrays }).to_string()).body,
    )
    .unwrap();
    let bare = server.post("/models/class/predict", &json!(arrays).to_string()).json();
    for row in 0..5 {
        assert_eq!(v1.predictions[row], expected.label(row).unwrap());
        assert_eq!(bare["predictions"][row], expected.label(row).unwrap());
    }
}

#[test]
fn options_return_what_the_core_computes() {
    let server = start(|_, _| {});
    let (model, table) = (regressor(), table(1));
    let body = json!({ "rows": json_rows(&table, 4), "quantiles": [0.1, 0.9], "contributions": true }).to_string();
    let reply = server.post("/models/amount/predict", &body);
    let answer: PredictResponse =
        serde_json::from_slice(&reply.body).unwrap_or_else(|e| panic!("{e} {}", reply.text()));
    let some = table.select(&[0, 1, 2, 3]);
    let features = model.schema().features_of(&some).unwrap();
    let quantiles = model.quantiles(&features, &[0.1, 0.9]).unwrap();
    let shap = model.shap_values(&some).unwrap();
    for row in 0..4 {
        let found: Vec<f64> = answer.quantiles.as_ref().unwrap()[row].values().copied().collect();
        assert_eq!(found, quantiles[2 * row..2 * row + 2]);
        let contributions = &answer.contributions.as_ref().unwrap()[row];
        let sum: f64 =
            contributions.values().map(|v| v.as_f64().unwrap()).sum::<f64>() + answer.base_values.as_ref().unwrap()[0];
        assert!((sum - answer.predictions[row].as_f64().unwrap()).abs() < 1e-9);
        assert_eq!(contributions["x"].as_f64().unwrap(), shap.get(row, 0)[0]);
    }
    let scores = server.post("/models/class/predict?raw_scores=true", &json!(json_rows(&table, 2)).to_string()).json();
    let margin = scores["raw_scores"][0][0].as_f64().unwrap();
    let probability = classifier(1).predict(&table).unwrap().row(0)[1];
    assert!((1.0 / (1.0 + (-margin).exp()) - probability).abs() < 1e-12, "{margin} {probability}");
    let explained = server.post("/v1/models/class:explain", &json!({ "instances": json_rows(&table, 2) }).to_string());
    let explained: V1Response = serde_json::from_slice(&explained.body).unwrap();
    assert_eq!(explained.explanations.unwrap().len(), 2);
    for (path, body) in [
        ("/models/class/predict?quantiles=0.5", "[{}]"),
        ("/models/amount/predict?probabilities=true", "[{}]"),
        ("/models/neighbors/predict?contributions=true", "[{\"x\": 1}]"),
    ] {
        assert_eq!(server.post(path, body).error(), (400, "unsupported".into()), "{path}");
    }
}

#[test]
fn bad_input_gets_a_typed_error_with_its_place() {
    let server = start(|config, _| {
        config.limits = Limits { max_body: 100_000, max_rows: 500, max_explained_rows: 10, ..Limits::default() };
    });
    let path = "/models/class/predict";
    let deep = "[".repeat(90_000);
    let deep_tensor = format!("{{\"inputs\": [{{\"data\": {deep}");
    let many = format!("[{}]", vec!["{}"; 501].join(","));
    let cases: Vec<(&str, &str, u16, &str)> = vec![
        (path, r#"[{"z": 1}]"#, 400, "unknown_column"),
        (path, r#"[{"x": "tall"}]"#, 400, "wrong_type"),
        (path, r#"[{"x": true}]"#, 400, "wrong_type"),
        (path, r#"[{"x": [1]}]"#, 400, "wrong_type"),
        (path, r#"[{"x": {"a": 1}}]"#, 400, "wrong_type"),
        (path, r#"[{"color": "pink"}]"#, 400, "unknown_category"),
        (path, r#"[{"color": 3}]"#, 400, "unknown_category"),
        (path, r#"[{"x": NaN}]"#, 400, "invalid_json"),
        (path, r#"[{"x": 1e999}]"#, 400, "invalid_json"),
        (path, r#"[{"x": 1, "x": 2}]"#, 400, "duplicate_column"),
        (path, r#"[{"y": 1, "x": 2, "y": 3}]"#, 400, "duplicate_column"),
        (path, "[[1, 2]]", 400, "wrong_width"),
        (path, "[[1, 2, null, null, 5]]", 400, "wrong_width"),
        (path, "[1]", 400, "invalid_json"),
        (path, "{\"rows\": 1}", 400, "invalid_json"),
        (path, "{}", 400, "missing_rows"),
        (path, "[]", 400, "missing_rows"),
        (path, "", 400, "invalid_json"),
        (path, "{\"rows\": [{}]", 400, "invalid_json"),
        (path, "[{}] tail", 400, "invalid_json"),
        (path, "{\"rows\": [{}], \"row\": 1}", 400, "unknown_field"),
        (path, "{\"rows\": [{}], \"quantiles\": [2]}", 400, "invalid_option"),
        (path, deep.as_str(), 400, "wrong_type"),
        ("/v2/models/class/infer", deep_tensor.as_str(), 400, "invalid_json"),
        (path, many.as_str(), 413, "too_many_rows"),
        ("/models/class/predict?contributions=true", "[{},{},{},{},{},{},{},{},{},{},{}]", 413, "too_many_rows"),
        ("/models/class/predict?probability=true", "[{}]", 400, "invalid_option"),
        ("/models/class/predict?quantiles=a", "[{}]", 400, "invalid_option"),
        ("/models/class/predict?version=7", "[{}]", 404, "unknown_version"),
        ("/models/clas/predict", "[{}]", 404, "unknown_model"),
        ("/models/class/predictt", "[{}]", 404, "unknown_path"),
        ("/v3/models/class/infer", "{}", 404, "unknown_path"),
        ("/v1/models/class:guess", "{}", 404, "unknown_path"),
        ("/v1/models/class", "{}", 404, "unknown_path"),
        ("/v2/models/class/infer", "{}", 400, "invalid_json"),
        ("/v2/models/class/infer", r#"{"inputs": []}"#, 400, "missing_rows"),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [1], "datatype": "FP99", "data": [1]}]}"#,
            400,
            "invalid_tensor",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [2], "datatype": "FP64", "data": [1]}]}"#,
            400,
            "invalid_tensor",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [-1], "datatype": "FP64", "data": [1]}]}"#,
            400,
            "invalid_tensor",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [1], "datatype": "FP64"}]}"#,
            400,
            "invalid_tensor",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [9223372036854775807, 4], "datatype": "FP64", "data": []}]}"#,
            400,
            "invalid_tensor",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "z", "shape": [1,2], "datatype": "FP64", "data": [1,2]}]}"#,
            400,
            "wrong_width",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [1], "datatype": "FP64", "data": [1]}, {"name": "z", "shape": [1], "datatype": "FP64", "data": [1]}]}"#,
            400,
            "unknown_column",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [1], "datatype": "BYTES", "data": ["a"]}, {"name": "y", "shape": [1], "datatype": "FP64", "data": [1]}]}"#,
            400,
            "wrong_type",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [1], "datatype": "INT64", "data": [1.5]}]}"#,
            400,
            "invalid_tensor",
        ),
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [1], "datatype": "FP64", "data": [1]}], "outputs": [{"name": "nothing"}]}"#,
            400,
            "unknown_output",
        ),
        ("/v2/models/class/versions/9/infer", "{}", 404, "unknown_version"),
    ];
    for (path, body, status, kind) in cases {
        let reply = server.post(path, body);
        let shown: String = body.chars().take(80).collect();
        assert_eq!(reply.error(), (status, kind.to_string()), "{path} {shown}: {}", reply.text());
    }
    let huge = format!("[{}]", " ".repeat(200_000));
    assert_eq!(server.post(path, &huge).error(), (413, "body_too_large".into()));
    let error: ErrorBody = serde_json::from_slice(&server.post(path, r#"[{"x": 1}, {"x": "tall"}]"#).body).unwrap();
    assert_eq!((error.row, error.column.as_deref()), (Some(1), Some("x")));
    assert_eq!(error.error, "row 1, column 'x': expected a number or null, found \"tall\"");
    let typo: ErrorBody = serde_json::from_slice(&server.post(path, r#"[{"colour": "red"}]"#).body).unwrap();
    assert!(typo.error.contains("did you mean 'color'?"), "{}", typo.error);
    assert_eq!(server.send("DELETE", path, "", b"").error(), (405, "method_not_allowed".into()));
    assert_eq!(
        server.send("POST", path, "content-type: image/png\r\n", b"x").error(),
        (415, "unsupported_media_type".into())
    );
    assert_eq!(
        server.send("POST", path, "content-encoding: br\r\n", b"x").error(),
        (415, "unsupported_encoding".into())
    );
    assert_eq!(server.send("POST", path, "content-encoding: gzip\r\n", b"x").error(), (400, "invalid_encoding".into()));
    let header = "inference-header-content-length: 99999\r\n";
    assert_eq!(server.send("POST", "/v2/models/class/infer", header, b"{}").error(), (400, "invalid_header".into()));
    let arrow = "content-type: application/vnd.apache.arrow.stream\r\n";
    let (status, kind) = server.send("POST", path, arrow, b"not arrow at all, but long enough").error();
    assert!(
        [(400, "invalid_table"), (415, "unsupported_media_type")].contains(&(status, kind.as_str())),
        "{status} {kind}"
    );
    // Not HTTP at all: the connection is closed, and the server goes on.
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(b"\x16\x03\x01 not http\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"), "{answer:?}");
    assert_eq!(server.get("/v2/health/live").status, 200);
}

#[test]
fn what_is_missing_or_unknown_is_reported() {
    let server = start(|_, _| {});
    let answer = server
        .post("/models/class/predict", r#"[{"x": 1, "color": "red"}, {"x": 2, "y": null, "color": "blue", "flag": 1}]"#)
        .json();
    let warnings: Vec<(&str, &str, u64)> = answer["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|w| (w["type"].as_str().unwrap(), w["column"].as_str().unwrap(), w["rows"].as_u64().unwrap()))
        .collect();
    assert_eq!(warnings, [("missing_column", "y", 1), ("missing_column", "flag", 1)]);
    let body = r#"[{"x": 1, "y": 2, "color": "pink", "flag": false, "id": 7}]"#;
    let allowed = server.post("/models/class/predict?unknown=warn", body).json();
    let missing = server.post("/models/class/predict", r#"[{"x": 1, "y": 2, "color": null, "flag": false}]"#).json();
    assert_eq!(allowed["predictions"], missing["predictions"]);
    let kinds: Vec<&str> =
        allowed["warnings"].as_array().unwrap().iter().map(|w| w["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["unknown_column", "unknown_category"]);
    assert!(missing.get("warnings").is_none());
    let empty = server.post("/models/class/predict", r#"[{"x": 1, "y": 2, "color": "", "flag": false}]"#).json();
    assert_eq!(empty, missing, "an empty text is missing");
    // The target may be there.
    assert_eq!(
        server
            .post("/models/class/predict", r#"[{"x": 1, "y": 2, "color": "red", "flag": false, "class": "no"}]"#)
            .status,
        200
    );
}

#[test]
fn csv_is_answered_with_the_csv_of_the_core() {
    let server = start(|_, _| {});
    let (model, table) = (classifier(1), without(&table(1), "amount"));
    let mut text = Vec::new();
    table.write_csv_to(&mut text).unwrap();
    let reply = server.csv("/models/class/predict?probabilities=true", std::str::from_utf8(&text).unwrap());
    let mut expected = Vec::new();
    Table::new(model.predict(&table).unwrap().columns(model.schema(), true))
        .unwrap()
        .write_csv_to(&mut expected)
        .unwrap();
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.text(), String::from_utf8(expected).unwrap());
    assert_eq!(reply.header("ermine-warnings"), None);
    let short = server.csv("/models/class/predict", "color;x\nred;1\nblue;2\n");
    assert_eq!(short.text().lines().count(), 3);
    assert!(short.header("ermine-warnings").unwrap().contains("missing_column"), "{}", short.head);
    for (path, body, kind) in [
        ("/models/class/predict", "x,y\n1,2\n3\n", "invalid_table"),
        ("/models/class/predict", "x\ntall\n", "invalid_table"),
        ("/models/class/predict", "x,z\n1,2\n", "unknown_column"),
        ("/models/class/predict", "x,color\n1,pink\n", "unknown_category"),
        ("/models/class/predict", "x,x\n1,2\n", "invalid_table"),
        ("/models/class/predict", "x\n", "missing_rows"),
        ("/models/class/predict", "", "invalid_table"),
        ("/models/class/predict", "x\n\"1\n", "invalid_table"),
    ] {
        let reply = server.csv(path, body);
        assert_eq!(reply.error(), (400, kind.to_string()), "{body:?}: {}", reply.text());
    }
}

#[test]
fn a_long_csv_is_predicted_in_blocks_and_a_fault_at_its_end_still_has_its_status() {
    let server = start(|_, _| {});
    let mut text = String::from("x,y,color,flag\n");
    let n = 200_000;
    for i in 0..n {
        text.push_str(&format!("{}.5,{},{},true\n", i % 10, i % 50, ["red", "green", "blue"][i % 3]));
    }
    let path = "/models/amount/predict";
    let reply = server.csv(path, &text);
    assert_eq!(reply.status, 200);
    let lines: Vec<&str> = reply.body.split(|&b| b == b'\n').map(|line| std::str::from_utf8(line).unwrap()).collect();
    assert_eq!((lines.len(), lines[0]), (n + 2, "predicted_amount"));
    let rows = format!(
        "[{{\"x\":{}.5,\"y\":{},\"color\":\"{}\",\"flag\":true}}]",
        123_456 % 10,
        123_456 % 50,
        ["red", "green", "blue"][123_456 % 3]
    );
    let one = server.post(path, &rows).json();
    assert_eq!(lines[123_457].parse::<f64>().unwrap(), one["predictions"][0].as_f64().unwrap());
    text.push_str("1,2,red\n");
    let reply = server.csv(path, &text);
    let error: ErrorBody = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!((reply.status, error.line), (400, Some(n as u64 + 2)), "{}", error.error);
}

#[test]
fn packed_bodies_are_unpacked_within_the_limit() {
    use flate2::{Compression, write::GzEncoder, write::ZlibEncoder};
    let server = start(|config, _| config.limits.max_body = 1 << 20);
    let body = br#"[{"x": 1, "y": 2, "color": "red", "flag": true}]"#;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(body).unwrap();
    let mut deflate = ZlibEncoder::new(Vec::new(), Compression::default());
    deflate.write_all(body).unwrap();
    let path = "/models/class/predict";
    assert_eq!(server.send("POST", path, "content-encoding: gzip\r\n", &gzip.finish().unwrap()).status, 200);
    assert_eq!(server.send("POST", path, "content-encoding: deflate\r\n", &deflate.finish().unwrap()).status, 200);
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    (0..1000).for_each(|_| bomb.write_all(&[b' '; 1 << 16]).unwrap());
    let reply = server.send("POST", path, "content-encoding: gzip\r\n", &bomb.finish().unwrap());
    assert_eq!(reply.error(), (413, "body_too_large".into()));
}

#[test]
fn tensors_are_answered_as_the_protocol_says() {
    let server = start(|_, _| {});
    let table = table(1);
    let expected = classifier(1).predict(&table).unwrap();
    assert_eq!(server.get("/v2/health/live").status, 200);
    assert_eq!(server.get("/v2/health/ready").status, 200);
    assert_eq!(server.get("/v2").json()["name"], "ermine");
    assert_eq!(server.get("/v2/models/class/ready").status, 200);
    assert_eq!(server.get("/v2/models/class/versions/1/ready").status, 200);
    let metadata = server.get("/v2/models/class").json();
    assert_eq!((&metadata["platform"], metadata["inputs"].as_array().unwrap().len()), (&json!("ermine"), 4));
    assert_eq!(metadata["inputs"][2]["datatype"], "BYTES");
    let columns = |n: usize| -> Vec<Value> {
        let rows = json_rows(&table, n);
        let column = |name: &str, datatype: &str| json!({ "name": name, "shape": [n], "datatype": datatype, "data": rows.iter().map(|r| r[name].clone()).collect::<Vec<_>>() });
        vec![column("x", "FP64"), column("y", "FP64"), column("color", "BYTES"), column("flag", "BOOL")]
    };
    for n in [1, 100] {
        let reply = server.post("/v2/models/class/infer", &json!({ "id": "seven", "inputs": columns(n) }).to_string());
        let answer: InferResponse =
            serde_json::from_slice(&reply.body).unwrap_or_else(|e| panic!("{e}: {}", reply.text()));
        assert_eq!(
            (answer.model_name.as_str(), answer.model_version.as_str(), answer.id.as_deref()),
            ("class", "1", Some("seven"))
        );
        assert_eq!(
            (&answer.outputs[0].name[..], &answer.outputs[0].datatype[..], &answer.outputs[0].shape[..]),
            ("predict", "BYTES", &[n, 1][..])
        );
        assert_eq!((&answer.outputs[1].name[..], &answer.outputs[1].shape[..]), ("predict_proba", &[n, 2][..]));
        assert_eq!(answer.outputs[0].data[n - 1], expected.label(n - 1).unwrap());
        assert_eq!(answer.outputs[1].data[2 * n - 1].as_f64().unwrap(), expected.row(n - 1)[1]);
    }
    // Binary tensors, both ways.
    let mut head = json!({ "inputs": [
        { "name": "x", "shape": [2, 1], "datatype": "FP32", "parameters": { "binary_data_size": 8 } },
        { "name": "color", "shape": [2, 1], "datatype": "BYTES", "parameters": { "binary_data_size": 15 } },
    ], "parameters": { "binary_data_output": true } })
    .to_string()
    .into_bytes();
    let header = format!("inference-header-content-length: {}\r\n", head.len());
    head.extend([1.5f32.to_le_bytes(), 9.5f32.to_le_bytes()].concat());
    head.extend([&3u32.to_le_bytes()[..], b"red", &4u32.to_le_bytes()[..], b"blue"].concat());
    let reply = server.send("POST", "/v2/models/class/infer", &header, &head);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let length: usize = reply.header("inference-header-content-length").unwrap().parse().unwrap();
    let answer: InferResponse = serde_json::from_slice(&reply.body[..length]).unwrap();
    let json = server
        .post(
            "/models/class/predict?probabilities=true",
            r#"[{"x": 1.5, "color": "red"}, {"x": 9.5, "color": "blue"}]"#,
        )
        .json();
    let size = answer.outputs[0].parameters["binary_data_size"].as_u64().unwrap() as usize;
    let numbers: Vec<f64> =
        reply.body[length + size..].chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(numbers.len(), 4);
    assert_eq!(numbers[1], json["probabilities"][0]["yes"].as_f64().unwrap());
    assert!(answer.parameters["warnings"].as_str().unwrap().contains("missing_column"));
    // One tensor for all columns of a model of numbers.
    let whole = r#"{"inputs": [{"name": "anything", "shape": [3, 1], "datatype": "FP64", "data": [[1], [5], [9]]}], "outputs": [{"name": "predict"}]}"#;
    let answer = server.post("/v2/models/neighbors/infer", whole).json();
    let rows = server.post("/models/neighbors/predict", r#"[{"x": 1}, {"x": 5}, {"x": 9}]"#).json();
    assert_eq!(answer["outputs"][0]["data"], rows["predictions"]);
}

#[test]
fn a_model_is_described_and_its_example_works() {
    let server = start(|_, _| {});
    let list: ModelList = serde_json::from_slice(&server.get("/models").body).unwrap();
    assert_eq!(list.models.iter().map(|m| &m.name[..]).collect::<Vec<_>>(), ["amount", "class", "neighbors"]);
    assert_eq!(server.get("/v1/models").json(), json!({ "models": ["amount", "class", "neighbors"] }));
    assert_eq!(server.get("/v1/models/class").json(), json!({ "name": "class", "ready": true }));
    assert_eq!(server.post("/v2/repository/index", "").json().as_array().unwrap().len(), 3);
    for model in list.models {
        let details: ModelDetails =
            serde_json::from_slice(&server.get(&format!("/models/{}", model.name)).body).unwrap();
        assert_eq!(details.versions, ["1"]);
        assert!(details.certificate.get("objective").is_some() && details.parameters.is_object());
        let reply = server.post(&format!("/models/{}/predict", model.name), &details.example_request.to_string());
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(reply.json().get("warnings").is_none(), "{}", reply.text());
        for option in details.options.iter().filter(|option| *option != "quantiles") {
            let path = format!("/models/{}/predict?{option}=true", model.name);
            assert_eq!(server.post(&path, &details.example_request.to_string()).status, 200, "{path}");
        }
    }
    let page = server.get("/");
    assert!(page.status == 200 && page.text().contains("<!doctype html>"));
    let api = server.get("/openapi.json").json();
    assert!(api["paths"].as_object().unwrap().len() >= 12 && api["openapi"].as_str().unwrap().starts_with("3."));
    for path in ["/models/{name}/predict", "/v2/models/{name}/infer", "/v1/models/{name}:predict"] {
        assert!(api["paths"][path]["post"]["responses"]["400"].is_object(), "{path}");
    }
}

/// Waits for something that the server does on its own.
fn eventually(mut is_so: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it never was");
}

#[test]
fn a_replaced_file_is_read_again_and_a_damaged_one_is_not_served() {
    let server = start(|_, _| {});
    let body = json!({ "rows": json_rows(&table(1), 50), "probabilities": true }).to_string();
    let answer = || server.post("/models/class/predict", &body).json()["probabilities"].clone();
    let path = server.scratch.path("class.ermine");
    let first = answer();
    classifier(2).save(&path).unwrap();
    eventually(|| answer() != first);
    let second = answer();
    std::fs::write(&path, b"damaged").unwrap();
    eventually(|| !server.get("/models").json()["failures"].as_array().unwrap().is_empty());
    assert_eq!(answer(), second, "the model before the damaged file is still served");
    assert!(server.get("/metrics").text().contains("ermine_model_load_failures_total{model=\"class\"} 1"));
    classifier(1).save(&path).unwrap();
    eventually(|| answer() == first);
    assert!(server.get("/models").json()["failures"].as_array().unwrap().is_empty());
    std::fs::remove_file(&path).unwrap();
    eventually(|| server.post("/models/class/predict", &body).status == 404);
}

#[test]
fn versions_come_from_a_directory_and_the_highest_is_the_default() {
    let server = start(|_, scratch| {
        std::fs::create_dir_all(scratch.path("many/10")).unwrap();
        classifier(1).save(scratch.path("many/9.ermine")).unwrap();
        classifier(2).save(scratch.path("many/10/model.ermine")).unwrap();
    });
    let body = json!({ "rows": json_rows(&table(1), 30), "probabilities": true }).to_string();
    let of = |path: &str| server.post(path, &body).json();
    assert_eq!(of("/models/many/predict")["version"], "10");
    assert_eq!(of("/models/many/predict?version=9")["probabilities"], of("/models/class/predict")["probabilities"]);
    assert_ne!(of("/models/many/predict")["probabilities"], of("/models/class/predict")["probabilities"]);
    assert_eq!(server.get("/v2/models/many").json()["versions"], json!(["9", "10"]));
    assert!(server.get("/metrics").text().contains("ermine_model_version{model=\"many\",version=\"10\"} 1"));
}

#[test]
fn requests_together_get_their_own_answers() {
    let server = Arc::new(start(|_, _| {}));
    let alone =
        |x: usize| server.post("/models/neighbors/predict?probabilities=true", &format!("[{{\"x\": {x}}}]")).json();
    let expected: Vec<Value> = (0..10).map(alone).collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (server, expected) = (&server, &expected);
            scope.spawn(move || {
                for i in 0..30 {
                    let x = (thread * 7 + i) % 10;
                    let body = format!("[{{\"x\": {x}}}]");
                    assert_eq!(server.post("/models/neighbors/predict?probabilities=true", &body).json(), expected[x]);
                }
            });
        }
    });
}

#[test]
fn a_token_is_required_where_one_is_set_and_health_is_open() {
    let server = start(|config, _| config.token = Some("secret".into()));
    assert_eq!(server.get("/models").error(), (401, "unauthorized".into()));
    assert_eq!(server.send("GET", "/models", "authorization: Bearer wrong!\r\n", b"").status, 401);
    assert_eq!(server.send("GET", "/models", "authorization: Bearer secret\r\n", b"").status, 200);
    assert_eq!(server.get("/v2/health/ready").status, 200);
    assert_eq!(server.get("/metrics").status, 401);
}

#[test]
fn cross_origin_requests_are_allowed_only_where_set() {
    let closed = start(|_, _| {});
    let origin = "origin: https://example.org\r\naccess-control-request-method: POST\r\n";
    assert_eq!(
        closed.send("OPTIONS", "/models/class/predict", origin, b"").header("access-control-allow-origin"),
        None
    );
    let open = start(|config, _| config.cors_origins = vec!["https://example.org".into()]);
    let allowed = open.send("OPTIONS", "/models/class/predict", origin, b"");
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://example.org"), "{}", allowed.head);
    let other = open.send("OPTIONS", "/models/class/predict", "origin: https://other.org\r\n", b"");
    assert_ne!(other.header("access-control-allow-origin"), Some("https://other.org"));
}

#[test]
fn request_ids_come_back_and_requests_are_counted() {
    let server = start(|_, _| {});
    let reply = server.send("POST", "/models/class/predict", "x-request-id: mine-7\r\n", b"[{\"x\": 1}, {\"x\": 2}]");
    assert_eq!(reply.header("x-request-id"), Some("mine-7"));
    assert!(server.get("/models").header("x-request-id").is_some_and(|id| !id.is_empty()));
    server.post("/models/class/predict", "[{\"z\": 1}]");
    let text = server.get("/metrics").text();
    for line in [
        "ermine_predictions_total{model=\"class\",protocol=\"rows\"} 1",
        "ermine_rows_total{model=\"class\"} 2",
        "ermine_errors_total{type=\"unknown_column\"} 1",
        "ermine_http_responses_total{status=\"400\"} 1",
        "ermine_prediction_seconds_count{model=\"class\",protocol=\"rows\"} 1",
        "ermine_model_version{model=\"class\",version=\"1\"} 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}

#[test]
fn too_many_requests_get_503_with_the_time_to_wait() {
    let server = start(|config, _| config.limits.max_in_flight = 2);
    // Two requests whose bodies don't arrive hold all places.
    let held: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream
                .write_all(b"POST /models/class/predict HTTP/1.1\r\nhost: test\r\ncontent-length: 100\r\n\r\n[")
                .unwrap();
            stream
        })
        .collect();
    eventually(|| server.get("/models").status == 503);
    let refused = server.post("/models/class/predict", "[{\"x\": 1}]");
    assert_eq!(refused.error(), (503, "overloaded".into()));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(server.get("/v2/health/live").status, 200);
    drop(held);
    eventually(|| server.get("/models").status == 200);
}

#[test]
fn a_body_that_does_not_arrive_times_out() {
    let server = start(|config, _| config.limits.request_timeout = Duration::from_millis(200));
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream
        .write_all(
            b"POST /models/class/predict HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 100\r\n\r\n[",
        )
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(Reply::of(&answer).error(), (408, "timeout".into()));
}

#[test]
fn requests_in_progress_finish_when_the_server_stops() {
    let mut server = start(|_, _| {});
    let body = b"[{\"x\": 1}]";
    let mut stream = TcpStream::connect(server.address).unwrap();
    let head = format!("POST /models/class/predict HTTP/1.1\r\nhost: test\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body[..3]).unwrap();
    // The request is in progress once it is counted; the one that asks is the second.
    eventually(|| server.get("/metrics").text().contains("ermine_in_flight 2"));
    server.stopper.stop();
    eventually(|| TcpStream::connect(server.address).is_err());
    stream.write_all(&body[3..]).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(Reply::of(&answer).status, 200);
    server.thread.take().unwrap().join().unwrap().unwrap();
}

#[test]
fn tls_is_spoken_where_a_certificate_is_given() {
    use rustls::pki_types::pem::PemObject;
    let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_string()]).unwrap();
    let (certificate, key) = (pair.cert.pem(), pair.signing_key.serialize_pem());
    let server = start(|config, scratch| {
        let files = TlsFiles { certificate: scratch.path("cert.pem"), key: scratch.path("key.pem") };
        std::fs::write(&files.certificate, &certificate).unwrap();
        std::fs::write(&files.key, &key).unwrap();
        config.tls = Some(files);
    });
    let mut roots = rustls::RootCertStore::empty();
    roots.add(rustls::pki_types::CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let mut client = rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    let mut socket = TcpStream::connect(server.address).unwrap();
    let mut stream = rustls::Stream::new(&mut client, &mut socket);
    stream.write_all(&request("GET", "/v2/health/live", "", b"")).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert_eq!(Reply::of(&answer).status, 200);
}

#[test]
fn settings_that_cannot_work_are_refused_at_the_start() {
    let scratch = Scratch::new();
    let bind = |path: &Path| {
        Server::bind(Config {
            models: vec![path.to_path_buf()],
            address: "127.0.0.1:0".parse().unwrap(),
            log: LogLevel::Off,
            ..Config::default()
        })
    };
    assert!(bind(&scratch.path("none.ermine")).is_err());
    std::fs::write(scratch.path("bad.ermine"), b"nonsense").unwrap();
    assert!(bind(&scratch.path("bad.ermine")).err().unwrap().to_string().contains("not a readable Ermine model"));
    let empty = Scratch::new();
    assert!(bind(&empty.0).is_ok(), "models may come later");
}

#[cfg(feature = "ipc")]
#[test]
fn arrow_is_answered_with_json_or_csv() {
    let server = start(|_, _| {});
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rows.arrow")).unwrap();
    let header = "content-type: application/vnd.apache.arrow.stream\r\n";
    let reply = server.send("POST", "/models/class/predict", header, &bytes);
    assert_eq!(reply.status, 200, "{}", reply.text());
    let rows = r#"[{"x": 1.5, "y": 2, "color": "red", "flag": true}, {"x": 9.5, "y": null, "color": "blue", "flag": false}, {"x": 0.5, "y": 7, "color": null, "flag": null}]"#;
    assert_eq!(reply.json()["predictions"], server.post("/models/class/predict", rows).json()["predictions"]);
    let csv = server.send("POST", "/models/class/predict", &format!("{header}accept: text/csv\r\n"), &bytes);
    assert_eq!(csv.text().lines().next(), Some("predicted_class"));
    // Damaged at any place: an error of the client, or rows that can still be read.
    for at in (0..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x5a;
        let status = server.send("POST", "/models/class/predict?unknown=warn", header, &damaged).status;
        assert!(status == 200 || (400..500).contains(&status), "byte {at}: {status}");
    }
}
