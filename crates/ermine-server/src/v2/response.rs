//! Inference responses: predictions as tensors, in JSON or binary.

use super::JSON_LENGTH;
use super::request::InferReply;
use super::tensor::{DataType, encode_binary};
use crate::answer::{Answer, numbers, push_text};
use crate::error::ApiError;
use crate::model::ServedModel;
use crate::predict::json_response;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use ermine_core::matrix::Task;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// The answer to an inference request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InferResponse {
    /// The model.
    pub model_name: String,
    /// Its version.
    pub model_version: String,
    /// That of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `warnings`: what differs from the training data, as JSON.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
    /// The outputs.
    pub outputs: Vec<OutputTensor>,
}

/// An output.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputTensor {
    /// The name.
    pub name: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// The type of the values.
    pub datatype: String,
    /// `binary_data_size`: bytes of the tensor after the JSON.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub parameters: Map<String, Value>,
    /// The values, row after row.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    pub data: Vec<Value>,
}

/// The outputs of a response to a request that names none.
pub fn default_outputs(model: &ServedModel) -> Vec<&'static str> {
    if model.has_probabilities() { vec!["predict", "predict_proba"] } else { vec!["predict"] }
}

/// The type of predictions.
pub fn label_type(model: &ServedModel) -> DataType {
    match model.schema().task {
        Task::Regression | Task::Ranking => DataType::Fp64,
        Task::Multilabel => DataType::Bool,
        Task::Classification if model.labels.iter().all(|label| label.value.parse::<i64>().is_ok()) => DataType::Int64,
        Task::Classification => DataType::Bytes,
    }
}

/// An output before it is written.
struct NamedOutput<'a> {
    name: &'a str,
    shape: Vec<usize>,
    datatype: DataType,
    values: OutputValues<'a>,
}

enum OutputValues<'a> {
    Numbers(&'a [f64]),
    Integers(Vec<i64>),
    Truths(Vec<bool>),
    Texts(Vec<&'a str>),
}

fn output<'a>(model: &'a ServedModel, answer: &'a Answer, name: &'a str, n_levels: usize) -> Option<NamedOutput<'a>> {
    let n = answer.prediction.n_rows();
    let table = |values: &'a [f64], width: usize| {
        Some(NamedOutput {
            name,
            shape: vec![n, width],
            datatype: DataType::Fp64,
            values: OutputValues::Numbers(values),
        })
    };
    match name {
        "predict" => {
            let datatype = label_type(model);
            let (width, values) = predicted(model, answer, datatype);
            Some(NamedOutput { name, shape: vec![n, width], datatype, values })
        }
        "predict_proba" => table(answer.prediction.values(), answer.prediction.width()),
        "raw_scores" => answer.raw_scores.as_ref().and_then(|(scores, width)| table(scores, *width)),
        "quantiles" => answer.quantiles.as_ref().and_then(|quantiles| table(quantiles, n_levels)),
        "contributions" => answer.contributions.as_ref().map(|shap| NamedOutput {
            name,
            shape: vec![n, shap.n_columns, shap.n_outputs],
            datatype: DataType::Fp64,
            values: OutputValues::Numbers(&shap.values),
        }),
        _ => None,
    }
}

/// How many values there are for each row, and the values.
fn predicted<'a>(model: &'a ServedModel, answer: &'a Answer, datatype: DataType) -> (usize, OutputValues<'a>) {
    let prediction = &answer.prediction;
    let n = prediction.n_rows();
    match datatype {
        DataType::Bool => {
            let labels = model.labels.len();
            let truths = (0..n).flat_map(|row| (0..labels).map(move |label| prediction.has(row, label))).collect();
            (labels, OutputValues::Truths(truths))
        }
        DataType::Int64 => {
            let classes: Vec<i64> = model.labels.iter().map(|label| label.value.parse().unwrap_or(0)).collect();
            (1, OutputValues::Integers((0..n).map(|row| classes[prediction.class(row)]).collect()))
        }
        DataType::Bytes => {
            let classes = &model.schema().classes;
            (1, OutputValues::Texts((0..n).map(|row| classes[prediction.class(row)].as_str()).collect()))
        }
        _ => (prediction.width(), OutputValues::Numbers(prediction.values())),
    }
}

/// The response: JSON, and after it the data of binary outputs.
pub fn write(model: &ServedModel, reply: &InferReply, answer: &Answer) -> Result<Response, ApiError> {
    let (mut json, mut binary) = (Vec::with_capacity(256), Vec::new());
    push(&mut json, "{\"model_name\":");
    push_text(&mut json, &model.name);
    push(&mut json, ",\"model_version\":");
    push_text(&mut json, &model.version);
    if let Some(id) = &reply.id {
        push(&mut json, ",\"id\":");
        push_text(&mut json, id);
    }
    if !reply.warnings.is_empty() {
        push(&mut json, ",\"parameters\":{\"warnings\":");
        push_text(&mut json, &serde_json::to_string(&reply.warnings).unwrap_or_default());
        push(&mut json, "}");
    }
    push(&mut json, ",\"outputs\":[");
    for (at, (name, is_binary)) in reply.outputs.iter().enumerate() {
        let Some(output) = output(model, answer, name, reply.quantiles.len()) else { return Err(model.lacks(name)) };
        if at > 0 {
            json.push(b',');
        }
        output.write(&mut json, is_binary.then_some(&mut binary));
    }
    push(&mut json, "]}");
    if binary.is_empty() {
        return Ok(json_response(json));
    }
    let length = HeaderValue::from(json.len());
    json.extend_from_slice(&binary);
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")), (JSON_LENGTH, length)];
    Ok((headers, json).into_response())
}

fn push(json: &mut Vec<u8>, text: &str) {
    json.extend_from_slice(text.as_bytes());
}

impl NamedOutput<'_> {
    /// Writes the output as JSON; its values go to `binary` where that is given.
    fn write(&self, json: &mut Vec<u8>, binary: Option<&mut Vec<u8>>) {
        push(json, "{\"name\":");
        push_text(json, self.name);
        push(json, &format!(",\"shape\":{:?},\"datatype\":\"{}\"", self.shape, self.datatype.name()));
        match binary {
            Some(binary) => {
                let before = binary.len();
                self.values.write_binary(binary);
                push(json, &format!(",\"parameters\":{{\"binary_data_size\":{}}}", binary.len() - before));
            }
            None => {
                push(json, ",\"data\":");
                self.values.write_json(json);
            }
        }
        json.push(b'}');
    }
}

impl OutputValues<'_> {
    fn write_binary(&self, binary: &mut Vec<u8>) {
        match self {
            OutputValues::Numbers(values) => values.iter().for_each(|x| binary.extend(x.to_le_bytes())),
            OutputValues::Integers(values) => values.iter().for_each(|x| binary.extend(x.to_le_bytes())),
            OutputValues::Truths(values) => binary.extend(values.iter().map(|x| u8::from(*x))),
            OutputValues::Texts(values) => values.iter().for_each(|text| encode_binary(text, binary)),
        }
    }

    fn write_json(&self, json: &mut Vec<u8>) {
        match self {
            OutputValues::Numbers(values) => numbers(json, values),
            OutputValues::Integers(values) => push(json, &json!(values).to_string()),
            OutputValues::Truths(values) => push(json, &json!(values).to_string()),
            OutputValues::Texts(values) => push(json, &json!(values).to_string()),
        }
    }
}
