//! Requests that can't be answered: each gets a status of 400 to 499 and a body that names the fault.

use crate::start;
use ermine_server::Limits;
use ermine_server::testing::ErrorBody;
use std::io::{Read, Write};
use std::net::TcpStream;

#[test]
fn bad_input_gets_a_typed_error_with_its_place() {
    let server = start(|config, _| {
        config.limits = Limits { max_body: 100_000, max_rows: 500, max_explained_rows: 10, ..Limits::default() };
    });
    let path = "/models/class/predict";
    let deep = "[".repeat(90_000);
    let deep_tensor = format!("{{\"inputs\": [{{\"data\": {deep}");
    let many = format!("[{}]", vec!["{}"; 501].join(","));
    let many_levels = format!("{{\"rows\": [{{}}], \"quantiles\": [{}]}}", vec!["0.5"; 101].join(","));
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
        (
            "/v2/models/class/infer",
            r#"{"inputs": [{"name": "x", "shape": [1], "datatype": "FP64", "data": [1]}], "outputs": [{"name": "predict"}, {"name": "predict"}]}"#,
            400,
            "duplicate_output",
        ),
        (path, many_levels.as_str(), 400, "invalid_option"),
        ("/models/%ff/predict", "[{}]", 400, "invalid_request"),
        ("/v2/models/%ff/infer", "{}", 400, "invalid_request"),
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
    let message = |path: &str, body: &str| {
        let reply = server.post(path, body);
        serde_json::from_slice::<ErrorBody>(&reply.body).unwrap().error
    };
    for (query, expected) in [
        ("probabilities=yes", "option 'probabilities': expected true or false (got 'yes')"),
        ("probability=true", "no option named 'probability': did you mean 'probabilities'?"),
        ("unknown=ok", "option 'unknown': expected error or warn (got 'ok')"),
        ("quantiles=a", "option 'quantiles': expected numbers from 0 to 1 with commas (got 'a')"),
        ("version=1&version=1", "option 'version' is given twice"),
    ] {
        assert_eq!(message(&format!("{path}?{query}"), "[{}]"), expected);
    }
    assert!(message(path, "x,y\n1,2\n").contains("to send CSV, add the header `Content-Type: text/csv`"));
    let flattened = server.csv(path, "x,y1,23,4");
    assert!(flattened.text().contains("--data-binary"), "{}", flattened.text());
    let tensor = r#"{"inputs": [{"name": "colour", "shape": [1], "datatype": "BYTES", "data": ["red"]}]}"#;
    assert!(message("/v2/models/class/infer", tensor).contains("did you mean 'color'?"));
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
