//! A picture of a model over two columns of numbers: a map of what is predicted where.

use super::fitted::NeighborModel;
use ermine_core::chart::svg::{Anchor, COLORS, Svg};
use ermine_core::chart::text::number;
use ermine_core::matrix::Schema;
use ermine_core::model::{Fitted, Output};
use ermine_core::table::{Column, Table};

/// The picture's size, and the box inside its axes.
const SIZE: (f64, f64) = (560.0, 496.0);
const BOX: (f64, f64, f64, f64) = (60.0, 44.0, 480.0, 380.0);
/// Cells along each side.
const CELLS: usize = 60;
/// Strengths of a color.
const STRENGTHS: f64 = 8.0;

/// What a cell shows: a color, and how strong it is.
type Shade = (usize, u8);

/// The map of a model of two columns of numbers; `None` for others.
pub(super) fn svg(model: &NeighborModel, schema: &Schema) -> Option<String> {
    let [first, second] = &schema.features[..] else { return None };
    let range = |range: Option<(f64, f64)>| {
        let (low, high) = range.filter(|(low, high)| low.is_finite() && high.is_finite())?;
        let room = if high > low { 0.06 * (high - low) } else { 1.0 };
        Some((low - room, high + room))
    };
    let frame = (range(first.range)?, range(second.range)?);
    let center = |k: usize, (low, high): (f64, f64)| low + (high - low) * (k as f64 + 0.5) / CELLS as f64;
    let cells = || (0..CELLS * CELLS).map(|cell| (cell % CELLS, cell / CELLS));
    let columns = vec![
        Column::numeric(&first.name, cells().map(|(x, _)| center(x, frame.0)).collect::<Vec<f64>>()),
        Column::numeric(&second.name, cells().map(|(_, y)| center(y, frame.1)).collect::<Vec<f64>>()),
    ];
    let features = schema.features_of(&Table::new(columns).ok()?).ok()?;
    let predicted = model.predict(&features).ok()?;
    let width = predicted.len() / (CELLS * CELLS);
    if width == 0 || predicted.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut svg = Svg::new(SIZE.0, SIZE.1);
    svg.text(BOX.0, 24.0, Anchor::Start, "title", &title(model));
    let is_class = model.output() == Output::Probabilities;
    let lows_highs = predicted
        .chunks_exact(width)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), row| (low.min(row[0]), high.max(row[0])));
    let shades: Vec<Shade> = predicted
        .chunks_exact(width)
        .map(|row| if is_class { class_shade(row) } else { value_shade(row[0], lows_highs) })
        .collect();
    draw_cells(&shades, &mut svg);
    draw_axes(schema, frame, &mut svg);
    if is_class {
        draw_classes(schema, &mut svg);
    } else {
        let words = format!("pale: {}, dark: {}", number(lows_highs.0), number(lows_highs.1));
        svg.text(BOX.0, BOX.1 + BOX.3 + 40.0, Anchor::Start, "small", &words);
    }
    Some(svg.finish())
}

fn title(model: &NeighborModel) -> String {
    match model.radius() {
        Some(radius) => format!("Prediction by all rows within {}", number(radius)),
        None => format!("Prediction by the {} nearest rows", model.k()),
    }
}

/// The most probable class, the stronger the more probable.
fn class_shade(probabilities: &[f64]) -> Shade {
    let best =
        (0..probabilities.len()).fold(0, |best, k| if probabilities[k] > probabilities[best] { k } else { best });
    (best % COLORS.len(), (probabilities[best].clamp(0.0, 1.0) * STRENGTHS).round() as u8)
}

/// A number between the least and the largest.
fn value_shade(value: f64, (low, high): (f64, f64)) -> Shade {
    let share = if high > low { (value - low) / (high - low) } else { 0.5 };
    (0, (share.clamp(0.0, 1.0) * STRENGTHS).round() as u8)
}

/// Cells side by side that show the same are one box.
fn draw_cells(shades: &[Shade], svg: &mut Svg) {
    let (width, height) = (BOX.2 / CELLS as f64, BOX.3 / CELLS as f64);
    for (row, shades) in shades.chunks_exact(CELLS).enumerate() {
        let top = BOX.1 + BOX.3 - height * (row as f64 + 1.0);
        let mut start = 0;
        for run in shades.chunk_by(|a, b| a == b) {
            let (color, strength) = run[0];
            let place = (BOX.0 + width * start as f64, top);
            svg.shade(place, (width * run.len() as f64, height), COLORS[color], f64::from(strength) / STRENGTHS);
            start += run.len();
        }
    }
}

fn draw_axes(schema: &Schema, ((left, right), (low, high)): ((f64, f64), (f64, f64)), svg: &mut Svg) {
    svg.rect((BOX.0, BOX.1), (BOX.2, BOX.3), "axis", None);
    let (bottom, end) = (BOX.1 + BOX.3, BOX.0 + BOX.2);
    svg.text(BOX.0, bottom + 16.0, Anchor::Start, "small", &number(left));
    svg.text(end, bottom + 16.0, Anchor::End, "small", &number(right));
    svg.text(BOX.0 - 6.0, bottom, Anchor::End, "small", &number(low));
    svg.text(BOX.0 - 6.0, BOX.1 + 10.0, Anchor::End, "small", &number(high));
    svg.text(BOX.0 + BOX.2 / 2.0, bottom + 16.0, Anchor::Middle, "small", &schema.features[0].name);
    svg.text(BOX.0, BOX.1 - 6.0, Anchor::Start, "small", &schema.features[1].name);
}

/// The colors of the first classes.
fn draw_classes(schema: &Schema, svg: &mut Svg) {
    for (k, class) in schema.classes.iter().enumerate().take(COLORS.len()) {
        let (x, y) = (BOX.0 + 6.0 + 120.0 * (k % 4) as f64, BOX.1 + BOX.3 + 40.0 + 18.0 * (k / 4) as f64);
        svg.dot((x, y - 4.0), 4.0, COLORS[k]);
        svg.text(x + 12.0, y, Anchor::Start, "small", class);
    }
}
