//! Text and HTML of a linear model: a table of coefficients, with standard errors and tests if there are any, and the loss curve.

use super::fitted::{LinearLink, LinearModel};
use super::inference::Inference;
use ermine_core::chart::html::Page;
use ermine_core::chart::plot::{CurveBelow, NamedNumbers, bar_panels};
use ermine_core::chart::text::{curve, number};
use ermine_core::matrix::{Features, Schema};

/// Maximum number of coefficients that are listed.
const MOST: usize = 100;

/// The model as text.
pub fn text(model: &LinearModel, schema: &Schema) -> String {
    let mut text = String::new();
    for k in 0..model.intercepts.len() {
        let Contribution { head, rows, notes } = part(model, k);
        text.push_str(&format!("{}\n{}", title(model, schema, k), table(&head, &rows)));
        notes.iter().for_each(|note| text.push_str(&format!("  {note}\n")));
    }
    let points: Vec<(f64, f64)> = model.course.curve.iter().enumerate().map(|(i, &v)| (i as f64 + 1.0, v)).collect();
    if points.len() > 1 {
        text.push_str(&format!("\n{}", curve(&points, "pass", measure(model), 60, 12)));
    }
    let choices: Vec<(f64, f64)> = model.course.choices.iter().map(|&(a, e)| (a.log10(), e)).collect();
    if choices.len() > 1 {
        text.push_str(&format!("\n{}", curve(&choices, "log10 alpha", "cross-validation error", 60, 12)));
    }
    text
}

/// The model as an HTML page: the same tables, and the curve if there is one.
pub fn html(model: &LinearModel, schema: &Schema) -> String {
    let mut page = Page::new(&format!("Linear model of {}", schema.target.join(", ")));
    for k in 0..model.intercepts.len() {
        let Contribution { head, rows, notes } = part(model, k);
        page.heading(&title(model, schema, k));
        let head = vec![head.iter().map(|h| h.to_string()).collect()];
        page.table(&[head, rows].concat());
        notes.iter().for_each(|note| page.note(note));
    }
    svg(model, schema).iter().for_each(|svg| page.svg(svg));
    page.finish()
}

/// The table of one score.
struct Contribution {
    head: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
}

fn part(model: &LinearModel, k: usize) -> Contribution {
    match model.inference.get(k) {
        Some(inference) => statistics(model, k, inference),
        None => coefficients(model, k),
    }
}

/// The quantity of the loss curve.
fn measure(model: &LinearModel) -> &'static str {
    if model.course.n_mistakes.is_some() { "mistakes" } else { "loss" }
}

/// The title of margin `k`.
fn title(model: &LinearModel, schema: &Schema, k: usize) -> String {
    let class = |c: u32| schema.classes.get(c as usize).map_or("", String::as_str);
    match (&model.used[..], model.intercepts.len()) {
        ([], _) => format!("{} =", schema.target.get(k).map_or("target", String::as_str)),
        ([low, high], 1) if model.link == LinearLink::Logistic => {
            format!("log odds of {} against {} =", class(*high), class(*low))
        }
        ([low, high], 1) => format!("{} if positive, else {}:", class(*high), class(*low)),
        (used, _) => format!("score of {} =", class(used[k])),
    }
}

/// A table with aligned columns.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let width = |c: usize| {
        let cells = rows.iter().map(|row| row[c].chars().count());
        cells.chain([head[c].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let line = |cells: &[String]| {
        let mut line = format!("  {:<w$}", cells[0], w = widths[0]);
        cells[1..].iter().zip(&widths[1..]).for_each(|(cell, w)| line.push_str(&format!("  {cell:>w$}")));
        format!("{}\n", line.trim_end())
    };
    let head: Vec<String> = head.iter().map(|h| h.to_string()).collect();
    std::iter::once(line(&head)).chain(rows.iter().map(|row| line(row))).collect()
}

/// The nonzero coefficients.
fn coefficients(model: &LinearModel, k: usize) -> Contribution {
    let beta = model.coefficients.row(k);
    let mut rows = vec![vec!["(intercept)".to_string(), number(model.intercepts[k])]];
    let used = || (0..beta.len()).filter(|&j| beta[j] != 0.0);
    rows.extend(used().take(MOST).map(|j| vec![model.names[j].clone(), number(beta[j])]));
    let (n_used, mut notes) = (used().count(), Vec::new());
    if n_used > MOST {
        notes.push(format!("... and {} more", n_used - MOST));
    }
    if n_used < beta.len() {
        notes.push(format!("{} of {} coefficients are zero", beta.len() - n_used, beta.len()));
    }
    Contribution { head: vec!["", "coefficient"], rows, notes }
}

/// Estimates with standard errors and tests, and the goodness of fit.
fn statistics(model: &LinearModel, k: usize, inference: &Inference) -> Contribution {
    let row = |name: &str, estimate: f64, error: f64| {
        let mut cells = vec![name.to_string(), number(estimate)];
        if error.is_nan() {
            cells.extend(["-".to_string(), "-".to_string(), "-".to_string(), String::new()]);
        } else {
            let (t, p) = inference.test(estimate, error);
            cells.extend([number(error), format!("{t:.3}"), p_value(p), stars(p).to_string()]);
        }
        cells
    };
    let (p, beta) = (model.names.len(), model.coefficients.row(k));
    let mut rows = Vec::new();
    if !inference.errors[p].is_nan() {
        rows.push(row("(intercept)", model.intercepts[k], inference.errors[p]));
    }
    rows.extend((0..p.min(MOST)).map(|j| row(&model.names[j], beta[j], inference.errors[j])));
    let (f, f_p) = inference.f_test();
    let (sigma, freedom, rank) = (number(inference.sigma), inference.freedom, inference.rank);
    let mut notes = vec![
        "*** p < 0.001, ** p < 0.01, * p < 0.05".to_string(),
        format!("residual standard error {sigma} on {freedom} degrees of freedom"),
        format!("R squared {:.4}, adjusted {:.4}", inference.r_squared, inference.adjusted()),
        format!("F = {} on {rank} and {freedom} degrees of freedom, p = {}", number(f), p_value(f_p)),
    ];
    if p > MOST {
        notes.insert(0, format!("... and {} more", p - MOST));
    }
    Contribution { head: vec!["", "estimate", "std. error", "t", "p", ""], rows, notes }
}

fn p_value(p: f64) -> String {
    if p < 2e-16 {
        "<2e-16".into()
    } else if p < 1e-4 {
        format!("{p:.2e}")
    } else {
        format!("{p:.4}")
    }
}

fn stars(p: f64) -> &'static str {
    match p {
        p if p < 0.001 => "***",
        p if p < 0.01 => "**",
        p if p < 0.05 => "*",
        _ => "",
    }
}

/// The coefficients of each margin, and the loss curve or the errors of the penalty strengths that were tried.
pub fn svg(model: &LinearModel, schema: &Schema) -> Option<String> {
    let coefficients = |k: usize| model.names.iter().cloned().zip(model.coefficients.row(k).iter().copied()).collect();
    let heading = |k: usize| title(model, schema, k).trim_end_matches([' ', '=', ':']).to_string();
    let panels: Vec<NamedNumbers> = (0..model.intercepts.len()).map(|k| (heading(k), coefficients(k))).collect();
    let course = &model.course;
    let curve = if course.curve.len() > 1 {
        let points = course.curve.iter().enumerate().map(|(i, &loss)| (i as f64 + 1.0, loss)).collect();
        CurveBelow { names: ("pass", measure(model)), points, marked: f64::NAN }
    } else {
        let points = course.choices.iter().map(|&(alpha, error)| (alpha.log10(), error)).collect();
        CurveBelow { names: ("log10 alpha", "error"), points, marked: course.alpha.map_or(f64::NAN, f64::log10) }
    };
    (!model.names.is_empty()).then(|| bar_panels(&panels, &curve))
}

/// The terms of a row's margin, the largest first.
pub fn explain_row(model: &LinearModel, schema: &Schema, features: &Features, row: usize) -> Option<String> {
    let one = features.select(&[row as u32]).ok()?;
    let numbers = model.map.numbers(&one).ok()?;
    let design = numbers.design().ok()?;
    let mut text = String::new();
    for k in 0..model.intercepts.len() {
        let beta = model.coefficients.row(k);
        let mut unit = vec![0.0; beta.len()];
        let mut terms: Vec<(usize, f64)> = (0..beta.len())
            .map(|j| {
                unit[j] = beta[j];
                let term = design.times(&unit, 0.0).first().copied().unwrap_or(0.0);
                unit[j] = 0.0;
                (j, term)
            })
            .collect();
        let sum = model.intercepts[k] + terms.iter().map(|t| t.1).sum::<f64>();
        terms.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
        let mut rows = vec![vec!["(intercept)".to_string(), number(model.intercepts[k])]];
        rows.extend(
            terms.iter().filter(|t| t.1 != 0.0).take(20).map(|&(j, t)| vec![model.names[j].clone(), number(t)]),
        );
        rows.push(vec!["total".to_string(), number(sum)]);
        text.push_str(&format!("{}\n{}", title(model, schema, k), table(&["", "contribution"], &rows)));
    }
    Some(text)
}
