//! Models from files: versions, and files that change.

use crate::{Scratch, classifier, eventually, json_rows, start, table};
use ermine_server::{Config, LogLevel, Server};
use serde_json::json;
use std::path::Path;

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
    classifier(1).save(empty.path("m.ermine")).unwrap();
    std::fs::create_dir(empty.path("m")).unwrap();
    assert!(bind(&empty.0).is_ok());
    std::fs::copy(empty.path("m.ermine"), empty.path("m/1.ermine")).unwrap();
    let error = bind(&empty.0).err().unwrap().to_string();
    assert!(error.contains("model 'm' has another file for version 1"), "{error}");
}
