//! What if: one row that the user changes, with its prediction, the contribution of each column, and the nearest training rows.

use crate::error::StudioError;
use ermine_core::error::Result;
use ermine_core::matrix::{Dataset, FeatureSpec, Features, Target, Task};
use ermine_core::model::{Model, Prediction};
use ermine_core::rng;
use ermine_core::table::{Column, ColumnKind, Levels, MISSING, Notation, Table};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Samples of the Shapley values of models that are no trees.
const N_SAMPLES: usize = 60;
/// Number of nearest training rows.
const N_NEAREST: usize = 5;
/// More rows are not searched for the nearest: they are taken at equal distances.
const MOST_SEARCHED: usize = 100_000;
/// Categories of a menu.
const MOST_LEVELS: usize = 500;

/// The form: for each column its range or categories, and a typical value.
pub fn form(model: &Model, data: &Dataset) -> Result<Value> {
    let features = model.schema().features_of_data(data)?;
    let field = |(j, spec): (usize, &FeatureSpec)| {
        let mut numbers: Vec<f64> = features.numbers(j).into_iter().filter(|x| x.is_finite()).collect();
        let n_missing = features.n_rows() - numbers.len();
        numbers.sort_by(f64::total_cmp);
        let at = |share: f64| numbers.get((share * numbers.len().saturating_sub(1) as f64).round() as usize).copied();
        let is_number = spec.kind == ColumnKind::Numeric;
        let is_whole = is_number && numbers.iter().all(|x| x.fract() == 0.0);
        let start: Value = match is_number {
            true => json!(at(0.5)),
            false => json!(most_frequent(&numbers).and_then(|code| spec.levels.get(code)).cloned()),
        };
        json!({
            "name": spec.name,
            "kind": spec.kind,
            "is_date": !matches!(spec.notation, Notation::Plain | Notation::DecimalComma),
            "levels": spec.levels.iter().take(MOST_LEVELS).collect::<Vec<_>>(),
            "is_open": spec.open,
            "range": is_number.then(|| (at(0.0), at(1.0))),
            "is_whole": is_whole,
            "has_missing": n_missing > 0,
            "start": start,
        })
    };
    let fields = model.schema().features.iter().enumerate().filter(|(_, spec)| !is_derived(spec));
    Ok(
        json!({ "fields": fields.map(field).collect::<Vec<_>>(), "n_rows": data.n_rows(), "target": model.schema().target }),
    )
}

/// A training row as the values of the form.
pub fn row_values(model: &Model, data: &Dataset, row: usize) -> std::result::Result<Value, StudioError> {
    if row >= data.n_rows() {
        return Err(StudioError::not_found(format!("there is no row {}; the data has {}", row + 1, data.n_rows())));
    }
    let features = model.schema().features_of_data(&data.select(&[row as u32])?)?;
    let mut values = Map::new();
    for (j, spec) in model.schema().features.iter().enumerate().filter(|(_, spec)| !is_derived(spec)) {
        values.insert(spec.name.clone(), cell(&features, 0, j));
    }
    Ok(json!({ "values": values, "truth": truth(data, row) }))
}

fn is_derived(spec: &FeatureSpec) -> bool {
    matches!(spec.notation, Notation::DatePart { .. })
}

fn most_frequent(codes: &[f64]) -> Option<usize> {
    let mut counts = std::collections::BTreeMap::new();
    codes.iter().for_each(|&code| *counts.entry(code as usize).or_insert(0usize) += 1);
    counts.into_iter().max_by_key(|&(code, n)| (n, std::cmp::Reverse(code))).map(|(code, _)| code)
}

fn cell(features: &Features, row: usize, j: usize) -> Value {
    let column = &features.columns()[j];
    let x = features.number(row, j);
    match column.levels() {
        _ if x.is_nan() => Value::Null,
        Some(_) => json!(column.text(features.table_row(row))),
        None => json!(x),
    }
}

/// What is true of a row.
fn truth(data: &Dataset, row: usize) -> String {
    match data.target() {
        Target::Classes { codes, labels } => labels[codes[row] as usize].clone(),
        Target::Values { values, n_outputs } => {
            let own: Vec<String> = values[row * n_outputs..][..*n_outputs].iter().map(|x| short(*x)).collect();
            own.join(", ")
        }
    }
}

fn short(x: f64) -> String {
    ermine_core::chart::text::number(x)
}

/// The prediction for the values of the form, the contributions of the columns, and the nearest training rows.
pub fn answer(model: &Model, data: &Dataset, values: &Map<String, Value>) -> std::result::Result<Value, StudioError> {
    let table = one_row(model, values)?;
    let features = model.schema().features_of(&table)?;
    let prediction = model.predict(&table)?;
    let contributions = match model.tree_ensemble() {
        Ok(_) => tree_contributions(model, &features)?,
        Err(_) => sampled_contributions(model, &features, data)?,
    };
    Ok(json!({
        "prediction": predicted(model, &prediction),
        "contributions": contributions,
        "nearest": nearest(model, &features, data)?,
    }))
}

/// The values of the form as a table of one row. Columns that are left out are missing.
fn one_row(model: &Model, values: &Map<String, Value>) -> std::result::Result<Table, StudioError> {
    let specs = model.schema().features.iter().filter(|spec| !is_derived(spec));
    let names: Vec<&str> = specs.clone().map(|spec| spec.name.as_str()).collect();
    if let Some(unknown) = values.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(StudioError::bad_request(format!(
            "the model has no column '{unknown}'; it has {}",
            names.join(", ")
        )));
    }
    let column = |spec: &FeatureSpec| {
        let value = values.get(&spec.name).unwrap_or(&Value::Null);
        let wrong = |expected: &str| {
            StudioError::bad_request(format!("column '{}': expected {expected} or null (got {value})", spec.name))
        };
        let mut column = match (spec.kind, value) {
            (ColumnKind::Numeric, Value::Null) => Column::numeric(&*spec.name, vec![f64::NAN]),
            (ColumnKind::Numeric, value) => {
                Column::numeric(&*spec.name, vec![value.as_f64().ok_or_else(|| wrong("a number"))?])
            }
            (_, Value::Null) => {
                Column::coded(&*spec.name, spec.kind, vec![MISSING], Arc::new(Levels::new(spec.levels.iter().cloned())))
            }
            (_, Value::String(text)) => {
                let known = Levels::new(spec.levels.iter().cloned());
                match known.code(text) {
                    Some(code) => Column::coded(&*spec.name, spec.kind, vec![code], Arc::new(known)),
                    None => Column::nominal(&*spec.name, &[Some(text)]),
                }
            }
            _ => return Err(wrong("text")),
        };
        column.notation = spec.notation.clone();
        Ok(column)
    };
    let columns = specs.map(column).collect::<std::result::Result<Vec<_>, _>>()?;
    Ok(Table::new(columns)?)
}

/// The names of what is predicted.
fn output_names(model: &Model, n: usize) -> Vec<String> {
    let schema = model.schema();
    match n {
        1 if schema.task == Task::Classification && schema.classes.len() == 2 => vec![schema.classes[1].clone()],
        n if n == schema.classes.len() => schema.classes.clone(),
        n if n == schema.target.len() => schema.target.clone(),
        n => (1..=n).map(|k| format!("output {k}")).collect(),
    }
}

fn predicted(model: &Model, prediction: &Prediction) -> Value {
    json!({
        "task": model.schema().task,
        "label": prediction.label(0),
        "is_probability": prediction.probabilities(0).is_some(),
        "names": output_names(model, prediction.width()),
        "values": prediction.row(0),
    })
}

/// Exact SHAP values of a tree ensemble.
fn tree_contributions(model: &Model, features: &Features) -> Result<Value> {
    let found = model.shap_of(features)?;
    let column = |j: usize| json!({ "feature": model.schema().features[j].name, "values": found.get(0, j) });
    Ok(json!({
        "method": "exact",
        "names": output_names(model, found.n_outputs),
        "expected": found.expected,
        "columns": (0..found.n_columns).map(column).collect::<Vec<_>>(),
    }))
}

/// Shapley values by sampling: columns of a random training row are replaced one by one, in a random order, by those of the row; what each replacement changes is its contribution. The mean over
/// samples is an unbiased estimate, and the contributions of a sample sum to the difference of the two predictions.
fn sampled_contributions(model: &Model, features: &Features, data: &Dataset) -> Result<Value> {
    let d = features.n_columns();
    let mut random = rng::stream(0, &[28]);
    let background: Vec<u32> = (0..N_SAMPLES).map(|_| rng::below(&mut random, data.n_rows()) as u32).collect();
    let background = model.schema().features_of_data(&data.select(&background)?)?;
    // For each sample d + 1 rows: the training row, then with one more column replaced each.
    let orders: Vec<Vec<usize>> = (0..N_SAMPLES)
        .map(|_| {
            let mut order: Vec<usize> = (0..d).collect();
            rng::shuffle(&mut random, &mut order);
            order
        })
        .collect();
    let columns = (0..d).map(|j| {
        let own = features.number(0, j);
        let others = background.numbers(j);
        let numbers = (0..N_SAMPLES).flat_map(|sample| {
            let place = orders[sample].iter().position(|&k| k == j).unwrap_or(0);
            let other = others[sample];
            (0..=d).map(move |step| if step > place { own } else { other })
        });
        // Both in the form of the schema, so codes mean the same.
        background.columns()[j].with_numbers(numbers.collect())
    });
    let prediction = model.predict_columns(columns.collect(), None)?;
    let width = prediction.width();
    let mut sums = vec![vec![0.0; width]; d];
    let mut expected = vec![0.0; width];
    for (sample, order) in orders.iter().enumerate() {
        let first = sample * (d + 1);
        (0..width).for_each(|k| expected[k] += prediction.row(first)[k] / N_SAMPLES as f64);
        for (step, &j) in order.iter().enumerate() {
            let (before, after) = (prediction.row(first + step), prediction.row(first + step + 1));
            (0..width).for_each(|k| sums[j][k] += (after[k] - before[k]) / N_SAMPLES as f64);
        }
    }
    let column = |j: usize| json!({ "feature": model.schema().features[j].name, "values": sums[j] });
    Ok(json!({
        "method": "sampled",
        "names": output_names(model, width),
        "expected": expected,
        "columns": (0..d).map(column).collect::<Vec<_>>(),
    }))
}

/// The training rows with the smallest Gower distance: numbers by their difference relative to the range, categories by whether they differ, a missing value as different from any other.
fn nearest(model: &Model, features: &Features, data: &Dataset) -> Result<Value> {
    let n = data.n_rows();
    let rows: Vec<u32> = (0..n).step_by(n.div_ceil(MOST_SEARCHED).max(1)).map(|row| row as u32).collect();
    let all = model.schema().features_of_data(&data.select(&rows)?)?;
    let kept: Vec<usize> = (0..all.n_columns()).filter(|&j| !is_derived(&model.schema().features[j])).collect();
    let mut distances = vec![0.0; rows.len()];
    for &j in &kept {
        let (own, numbers) = (features.number(0, j), all.numbers(j));
        let present = || numbers.iter().copied().filter(|x| x.is_finite());
        let range = present().fold(f64::NEG_INFINITY, f64::max) - present().fold(f64::INFINITY, f64::min);
        let is_category = all.columns()[j].levels().is_some();
        for (distance, x) in distances.iter_mut().zip(numbers) {
            *distance += match (own.is_nan(), x.is_nan()) {
                (true, true) => 0.0,
                (false, false) if is_category => f64::from(own != x),
                (false, false) if range > 0.0 => ((own - x).abs() / range).min(1.0),
                (false, false) => f64::from(own != x),
                _ => 1.0,
            };
        }
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]));
    order.truncate(N_NEAREST);
    let one = |&i: &usize| {
        let values: Map<String, Value> =
            kept.iter().map(|&j| (all.columns()[j].name.clone(), cell(&all, i, j))).collect();
        let row = rows[i] as usize;
        let distance = distances[i] / kept.len().max(1) as f64;
        json!({ "row": data.features().table_row(row) + 1, "distance": distance, "truth": truth(data, row), "values": values })
    };
    Ok(json!(order.iter().map(one).collect::<Vec<_>>()))
}
