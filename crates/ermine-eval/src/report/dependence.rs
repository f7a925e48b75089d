//! Partial dependence as a plot (bars for categories, curves for numbers) and as a table.

use super::MOST_CURVES;
use super::text::{CellRows, short};
use crate::explain::dependence::Dependence;
use ermine_core::chart::plot::{Mark, Plot, Series, bars};
use ermine_core::matrix::Task;

/// The outputs that are shown.
fn shown(d: &Dependence, task: Task, classes: &[String]) -> Vec<usize> {
    let n = d.means.first().map_or(0, Vec::len);
    let mut shown: Vec<usize> = match task {
        // For two classes the probability of the second is enough.
        Task::Classification if classes.len() == 2 => vec![1],
        _ => (0..classes.len().min(MOST_CURVES)).collect(),
    };
    // Regression has values, and a single margin for two classes is the first output.
    match shown[..] {
        [] => shown = (0..n).collect(),
        [1] if n == 1 => shown = vec![0],
        _ => {}
    }
    shown
}

/// The name of the outputs.
fn what(d: &Dependence, n_shown: usize, classes: &[String]) -> String {
    let n = d.means.first().map_or(0, Vec::len);
    match classes.len() {
        0 => "prediction".to_string(),
        2 if n == 2 && n_shown == 1 => format!("p({})", classes[1]),
        2 if n == 1 => format!("margin of {}", classes[1]),
        _ => "probability".into(),
    }
}

/// A line for each value of the column.
pub fn table(d: &Dependence, task: Task, classes: &[String]) -> CellRows {
    let shown = shown(d, task, classes);
    let what = what(d, shown.len(), classes);
    let name = |k: &usize| match classes.get(*k).filter(|_| shown.len() > 1) {
        Some(class) => format!("{what} of {class}"),
        None => what.clone(),
    };
    let value = |i: usize| match &d.categories {
        Some(names) => names.get(i).cloned().unwrap_or_default(),
        None => short(d.values[i]),
    };
    let heading = std::iter::once(d.feature.clone()).chain(shown.iter().map(name)).collect();
    let line = |(i, means): (usize, &Vec<f64>)| {
        let averages = shown.iter().map(|&k| means.get(k).map_or_else(String::new, |m| short(*m)));
        std::iter::once(value(i)).chain(averages).collect()
    };
    std::iter::once(heading).chain(d.means.iter().enumerate().map(line)).collect()
}

/// The picture, for a model of this task and these classes or labels.
pub fn picture(d: &Dependence, task: Task, classes: &[String]) -> String {
    let shown = shown(d, task, classes);
    if let Some(names) = &d.categories {
        // A bar for each category, and for each class where there are several.
        let rows = shown.iter().flat_map(|&k| names.iter().zip(&d.means).map(move |(name, m)| (k, name, m)));
        let title = |k: usize, name: &str| match classes.get(k).filter(|_| shown.len() > 1) {
            Some(class) => format!("{class}: {name}"),
            None => name.to_string(),
        };
        let rows: Vec<(String, f64, f64)> =
            rows.map(|(k, name, m)| (title(k, name), m.get(k).copied().unwrap_or(0.0), 0.0)).collect();
        return bars(&d.feature, &rows);
    }
    let what = what(d, shown.len(), classes);
    let series = shown.iter().map(|&k| Series {
        name: if shown.len() > 1 { classes.get(k).map_or("", String::as_str) } else { "" },
        points: d.values.iter().zip(&d.means).map(|(&v, m)| (v, m.get(k).copied().unwrap_or(f64::NAN))).collect(),
        mark: Mark::Line,
    });
    Plot { title: &d.feature, axes: (&d.feature, &what), ranges: None }.draw(&series.collect::<Vec<_>>())
}
