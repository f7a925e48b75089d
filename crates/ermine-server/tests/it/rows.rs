//! JSON rows: predictions, options and warnings.

use crate::{classifier, json_rows, regressor, start, table};
use ermine_server::testing::{PredictResponse, V1Response};
use serde_json::{Value, json};
use std::sync::Arc;

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
