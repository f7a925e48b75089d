//! Tables as bodies: CSV, Arrow, packed ones.

use crate::{classifier, start, table, without};
use ermine::prelude::*;
use ermine_server::testing::ErrorBody;
use std::io::Write;

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

#[cfg(feature = "ipc")]
#[test]
fn arrow_is_answered_with_json_or_csv() {
    let server = start(|_, _| {});
    let bytes = std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rows.arrow")).unwrap();
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
