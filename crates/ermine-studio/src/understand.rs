//! The facts that the page of a model shows: evaluation, threshold data, SHAP values, certificate, structure.

use ermine_core::error::Result;
use ermine_core::learner::{Context, Learner, fit};
use ermine_core::matrix::{Dataset, Target};
use ermine_core::model::certificate::CertificateLine;
use ermine_core::model::{Certificate, Model, Proof, Status};
use ermine_core::param::Value as ParamValue;
use ermine_core::table::Column;
use ermine_eval::evaluate::search::with_setting;
use ermine_eval::evaluate::{in_classes_of, predict_classes_of};
use ermine_eval::report::Report;
use serde_json::{Value, json};

/// Rows whose probabilities the page gets, for the threshold.
const MOST_SCORED: usize = 4000;
/// Classes whose probabilities the page gets.
const MOST_CLASSES: usize = 12;
/// Rows of the SHAP plot.
const MOST_EXPLAINED: usize = 300;
/// Columns of the SHAP plot.
const MOST_SHAP_COLUMNS: usize = 12;
/// Characters of the model's text.
const MOST_TEXT: usize = 20_000;
/// Arrays of the model that are longer are left out.
const MOST_VALUES: usize = 5000;

/// The facts about a model: `evaluated` was trained without the rows of `test`, `model` on all of `data`.
pub fn understanding(
    evaluated: &Model,
    test: &Dataset,
    model: &Model,
    data: &Dataset,
    report: &Report,
) -> Result<Value> {
    let schema = model.schema();
    let text = model.text();
    let cut = text.char_indices().nth(MOST_TEXT).map_or(text.len(), |(at, _)| at);
    Ok(json!({
        "task": schema.task,
        "target": schema.target,
        "classes": schema.classes,
        "n_rows": data.n_rows(),
        "n_test": test.n_rows(),
        "n_features": schema.features.len(),
        "report": report,
        "scored": scored(evaluated, test)?,
        "shap": shap(model, data)?,
        "certificate": certificate(model.certificate()),
        "attributes": attributes(model),
        "n_members": model.n_members(),
        "text": &text[..cut],
        "text_is_cut": cut < text.len(),
    }))
}

/// Rows at equal distances, at most so many.
fn some_rows(n: usize, most: usize) -> Vec<u32> {
    (0..n).step_by(n.div_ceil(most).max(1)).map(|row| row as u32).collect()
}

/// The class and the probabilities of some test rows, for the movable threshold.
fn scored(model: &Model, test: &Dataset) -> Result<Value> {
    let some = test.select(&some_rows(test.n_rows(), MOST_SCORED))?;
    let some = in_classes_of(model, &some)?;
    let Target::Classes { codes, labels } = some.target() else { return Ok(Value::Null) };
    let prediction = predict_classes_of(model, &some)?;
    if prediction.n_rows() == 0 || prediction.probabilities(0).is_none() || labels.len() > MOST_CLASSES {
        return Ok(Value::Null);
    }
    let rounded = |p: f64| (p * 1e5).round() / 1e5;
    let of_class = |k: usize| -> Vec<f64> {
        (0..prediction.n_rows()).map(|row| prediction.probabilities(row).map_or(0.0, |p| rounded(p[k]))).collect()
    };
    let probabilities: Vec<Vec<f64>> = (0..labels.len()).map(of_class).collect();
    Ok(json!({ "classes": &**labels, "truth": codes, "probabilities": probabilities, "n_rows": test.n_rows() }))
}

/// SHAP values of some rows, for tree ensembles.
fn shap(model: &Model, data: &Dataset) -> Result<Value> {
    if model.tree_ensemble().is_err() {
        return Ok(Value::Null);
    }
    let some = data.select(&some_rows(data.n_rows(), MOST_EXPLAINED))?;
    let features = model.schema().features_of_data(&some)?;
    let values = model.shap_of(&features)?;
    let importances = values.importances();
    let mut order: Vec<usize> = (0..values.n_columns).collect();
    order.sort_by(|&a, &b| importances[b].total_cmp(&importances[a]));
    order.retain(|&j| importances[j] > 0.0);
    order.truncate(MOST_SHAP_COLUMNS);
    let schema = model.schema();
    let outputs: Vec<String> = match values.n_outputs {
        1 if schema.classes.len() == 2 => vec![schema.classes[1].clone()],
        n if n == schema.classes.len() => schema.classes.clone(),
        n if n == schema.target.len() => schema.target.clone(),
        n => (1..=n).map(|k| format!("output {k}")).collect(),
    };
    let column = |&j: &usize| {
        let numbers = features.numbers(j);
        let column: &Column = &features.columns()[j];
        let texts: Option<Vec<String>> =
            column.levels().map(|_| (0..some.n_rows()).map(|row| column.text(features.table_row(row))).collect());
        let by_output: Vec<Vec<f64>> = (0..values.n_outputs)
            .map(|k| (0..values.n_rows).map(|row| short(values.get(row, j)[k])).collect())
            .collect();
        json!({
            "feature": column.name,
            "importance": importances[j],
            "values": numbers.iter().map(|&x| (!x.is_nan()).then_some(x)).collect::<Vec<_>>(),
            "texts": texts,
            "shap": by_output,
        })
    };
    Ok(json!({
        "outputs": outputs,
        "expected": values.expected,
        "n_rows": values.n_rows,
        "columns": order.iter().map(column).collect::<Vec<_>>(),
    }))
}

/// Learners whose coefficients are shown for other penalties, and the parameter of the penalty.
const PENALIZED: [(&str, &str); 3] = [("lasso", "alpha"), ("elastic-net", "alpha"), ("ridge", "alpha")];
/// Penalties of the path: so many, four for each power of ten, with that of the model in the middle.
const N_PENALTIES: i32 = 17;
/// More rows are not fitted again for the path.
const MOST_PATH_ROWS: usize = 50_000;

/// The coefficients of a penalized linear model for smaller and larger penalties, the largest coefficients first.
pub fn regularization_path(learner: &dyn Learner, data: &Dataset, context: &Context<'_>) -> Result<Value> {
    let name = learner.info().name;
    let Some((_, parameter)) = PENALIZED.iter().find(|(known, _)| *known == name) else { return Ok(Value::Null) };
    let chosen = learner.get(parameter).and_then(|value| value.number()).filter(|alpha| *alpha > 0.0);
    let Some(chosen) = chosen.filter(|_| data.n_rows() <= MOST_PATH_ROWS) else { return Ok(Value::Null) };
    let alphas: Vec<f64> =
        (0..N_PENALTIES).map(|k| chosen * 10f64.powf(f64::from(k - N_PENALTIES / 2) / 4.0)).collect();
    let coefficients = |alpha: &f64| -> Result<Vec<f64>> {
        let setting = [(parameter.to_string(), ParamValue::Float(*alpha))].into();
        let model = fit(&*with_setting(learner, &setting, context)?, data, context)?;
        let found = model.attributes().into_iter().find(|attribute| attribute.name == "coef");
        Ok(found.map_or_else(Vec::new, |attribute| attribute.values))
    };
    let fits: Vec<Vec<f64>> = alphas.iter().map(coefficients).collect::<Result<_>>()?;
    let n = fits[0].len();
    let features = data.features().columns();
    let title =
        |j: usize| if n == features.len() { features[j].name.clone() } else { format!("coefficient {}", j + 1) };
    let size = |j: usize| fits.iter().map(|fit| fit[j].abs()).fold(0.0, f64::max);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    let column = |&j: &usize| json!({ "name": title(j), "values": fits.iter().map(|fit| fit[j]).collect::<Vec<_>>() });
    let columns: Vec<Value> = order.iter().take(MOST_SHAP_COLUMNS).map(column).collect();
    Ok(json!({ "parameter": parameter, "chosen": chosen, "alphas": alphas, "columns": columns }))
}

/// Four digits are enough for a plot.
fn short(x: f64) -> f64 {
    format!("{x:.4e}").parse().unwrap_or(x)
}

/// The arrays and numbers of a model.
fn attributes(model: &Model) -> Vec<Value> {
    let all = model.attributes().into_iter().filter(|a| a.values.len() <= MOST_VALUES);
    all.map(|a| json!({ "name": a.name, "shape": a.shape, "values": a.values, "doc": a.doc })).collect()
}

/// The certificate: its lines as everywhere in Ermine, and each in plain words.
pub fn certificate(certificate: &Certificate) -> Value {
    let lines: Vec<Value> = certificate
        .lines()
        .into_iter()
        .map(|(kind, text)| {
            let kind = match kind {
                CertificateLine::Objective => "objective",
                CertificateLine::NotConverged => "not_converged",
                CertificateLine::Proof => "proof",
                CertificateLine::Note => "note",
            };
            json!({ "kind": kind, "text": text })
        })
        .collect();
    json!({ "lines": lines, "plain": plain(certificate), "converged": certificate.status == Status::Done })
}

/// What a certificate means, a sentence for each statement.
fn plain(certificate: &Certificate) -> Vec<String> {
    let value = certificate.value.map_or_else(String::new, |value| format!(", and reached {}", number(value)));
    let mut sentences = vec![format!("Training minimized {}{value}.", certificate.objective)];
    sentences.push(match &certificate.status {
        Status::Done => "It ran to its end: no limit of time or iterations cut it short.".into(),
        Status::Limit(which) => {
            format!("It stopped at {which} before it converged. A higher limit may give a better model.")
        }
    });
    sentences.extend(certificate.proofs.iter().map(|proof| match proof {
        Proof::Optimal { over } => format!("It is proven that no other member of {over} has a lower objective."),
        Proof::LowerBound(bound) => {
            let gap = certificate.gap().map_or_else(String::new, |gap| {
                format!(": this model is at most {} above the best possible value", number(gap.max(0.0)))
            });
            format!("It is proven that no parameters reach less than {}{gap}.", number(*bound))
        }
        Proof::Stationary(residual) => format!(
            "The conditions that hold at an optimum were checked: none is violated by more than {}.",
            number(*residual)
        ),
        Proof::Bound { what, bound, observed } => format!(
            "Theory bounds {what} by {}; the value on the training data is {}.",
            number(*bound),
            number(*observed)
        ),
        Proof::Nothing { because } => format!("Nothing is proven about how close it is to the optimum ({because})."),
    }));
    sentences
}

fn number(x: f64) -> String {
    ermine_core::chart::text::number(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_of_a_certificate_has_a_sentence() {
        let mut known = Certificate::optimal("0-1 risk", 0.25, "all stumps");
        assert_eq!(plain(&known).len(), 3);
        assert!(plain(&known)[2].contains("no other member of all stumps"));
        known.status = Status::Limit("100 iterations".into());
        known.proofs = vec![Proof::LowerBound(0.2), Proof::Nothing { because: "heuristic".into() }];
        let sentences = plain(&known);
        assert!(sentences[1].contains("stopped at 100 iterations"), "{sentences:?}");
        assert!(sentences[2].contains("at most 0.05 above"), "{sentences:?}");
        assert_eq!(sentences.len(), 4);
    }
}
