//! The Open Inference Protocol, and how the server describes itself.

use crate::{classifier, json_rows, start, table};
use ermine_server::testing::{InferResponse, ModelDetails, ModelList};
use serde_json::{Value, json};

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
    // Some clients send null for what they leave out.
    let nulls = r#"{"id": null, "parameters": null, "outputs": null, "inputs": [{"name": "x", "shape": [1], "datatype": "FP64", "data": [1.5], "parameters": null}]}"#;
    assert_eq!(server.post("/v2/models/class/infer", nulls).status, 200);
    let unknown = r#"{"parameters": {"unknown": "warn"}, "inputs": [{"name": "x", "shape": [2], "datatype": "FP64", "data": [1, 2]}, {"name": "z", "shape": [2], "datatype": "FP64", "data": [1, 2]}]}"#;
    let answer = server.post("/v2/models/class/infer", unknown).json();
    assert!(answer["parameters"]["warnings"].as_str().unwrap().contains("unknown_column"), "{answer}");
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
