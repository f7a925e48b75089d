//! Text of a kernel machine and, for two columns, a plot of its boundary, margin and support vectors.

use super::machine::SvmModel;
use super::margin_side::MarginSide;
use crate::kernel::Kernel;
use ermine_core::chart::svg::{Anchor, COLORS, Svg};
use ermine_core::chart::text::number;
use ermine_core::linalg::Dense;
use ermine_core::matrix::Schema;

/// The machine as text.
pub fn text(machine: &SvmModel, schema: &Schema) -> String {
    let n = machine.support.len();
    let mut text = format!(
        "weighted sum of {} over {n} support vectors (of {} training rows)\n",
        kernel(machine),
        machine.form.n_train
    );
    let class = |c: u32| schema.classes.get(c as usize).map_or("", String::as_str);
    for (&c, count) in machine.used.iter().zip(&machine.n_support) {
        text.push_str(&format!("  {count} of class {}\n", class(c)));
    }
    match (&machine.used[..], &machine.training.margins[..]) {
        ([low, high], [margin]) => {
            text.push_str(&format!(
                "{} if positive, else {}\nmargin 1/|w| = {}\n",
                class(*high),
                class(*low),
                number(*margin)
            ));
        }
        ([], _) => machine.intercepts.iter().for_each(|b| text.push_str(&format!("intercept {}\n", number(*b)))),
        (used, _) => text.push_str(&format!(
            "{} pairs of {} classes; the class that wins the most pairs is predicted\n",
            machine.intercepts.len(),
            used.len()
        )),
    }
    if let Some(counts) = machine.cases() {
        text.push_str("training rows:\n");
        for (case, count) in MarginSide::ALL.iter().zip(counts) {
            text.push_str(&format!("  {count} {}\n", case.as_str()));
        }
    }
    text
}

fn kernel(machine: &SvmModel) -> String {
    match machine.form.kernel {
        None => "precomputed kernel values".into(),
        Some(Kernel::Linear) => "dot products".into(),
        Some(Kernel::Polynomial { degree, gamma, coef0 }) => {
            format!("polynomials ({} x'y + {})^{degree}", number(gamma), number(coef0))
        }
        Some(Kernel::Gaussian { gamma }) => format!("Gaussians exp(-{} |x - y|^2)", number(gamma)),
        Some(Kernel::Sigmoid { gamma, coef0 }) => format!("sigmoids tanh({} x'y + {})", number(gamma), number(coef0)),
        Some(Kernel::Laplacian { gamma }) => format!("Laplacians exp(-{} |x - y|_1)", number(gamma)),
    }
}

/// Size of the plot, and the box inside its axes.
const SIZE: (f64, f64) = (560.0, 496.0);
const BOX: (f64, f64, f64, f64) = (60.0, 44.0, 480.0, 380.0);
/// Number of grid cells per axis for the contour lines.
const CELLS: usize = 120;

/// A plot of two columns and two classes: rows, boundary, contour lines at -1 and +1, and rings around support vectors.
pub fn svg(machine: &SvmModel, schema: &Schema) -> Option<String> {
    let rows: Vec<&[f64]> = machine.training.picture.chunks_exact(3).collect();
    if rows.is_empty() || machine.used.len() != 2 {
        return None;
    }
    let range = |j: usize| {
        let (low, high) = rows.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), r| (l.min(r[j]), h.max(r[j])));
        let room = if high > low { 0.06 * (high - low) } else { 1.0 };
        (low - room, high + room)
    };
    let frame = (range(0), range(1));
    let mut svg = Svg::new(SIZE.0, SIZE.1);
    svg.text(BOX.0, 24.0, Anchor::Start, "title", "Boundary, margin and support vectors");
    draw_lines(machine, frame, &mut svg)?;
    draw_rows(machine, &rows, frame, &mut svg);
    draw_axes(machine, schema, frame, &mut svg);
    Some(svg.finish())
}

type PictureFrame = ((f64, f64), (f64, f64));

fn place(frame: PictureFrame, x: f64, y: f64) -> (f64, f64) {
    let ((left, right), (low, high)) = frame;
    (BOX.0 + BOX.2 * (x - left) / (right - left), BOX.1 + BOX.3 * (1.0 - (y - low) / (high - low)))
}

/// Contour lines of the decision function, cell by cell: a line crosses the edge between two corners on different sides.
fn draw_lines(machine: &SvmModel, frame: PictureFrame, svg: &mut Svg) -> Option<()> {
    let ((left, right), (low, high)) = frame;
    let at = |k: usize, from: f64, to: f64| from + (to - from) * k as f64 / CELLS as f64;
    let side = CELLS + 1;
    let points: Vec<f64> =
        (0..side * side).flat_map(|k| [at(k % side, left, right), at(k / side, low, high)]).collect();
    let grid = Dense::rows_f64(&points, side * side, 2, 2).ok()?;
    let values = machine.decisions_of(&grid.into()).ok()?;
    for (level, class) in [(-1.0, "guide"), (1.0, "guide"), (0.0, "curve")] {
        for cell in 0..CELLS * CELLS {
            let corner = cell / CELLS * side + cell % CELLS;
            let corners = [corner, corner + 1, corner + side + 1, corner + side];
            let crossing = |k: usize| {
                let (a, b) = (corners[k], corners[(k + 1) % 4]);
                let (f, g) = (values[a] - level, values[b] - level);
                ((f < 0.0) != (g < 0.0)).then(|| {
                    let t = f / (f - g);
                    let mix = |j: usize| points[2 * a + j] + t * (points[2 * b + j] - points[2 * a + j]);
                    place(frame, mix(0), mix(1))
                })
            };
            let crossings: Vec<(f64, f64)> = (0..4).filter_map(crossing).collect();
            crossings.chunks_exact(2).for_each(|ends| svg.line(ends, class));
        }
    }
    Some(())
}

fn draw_rows(machine: &SvmModel, rows: &[&[f64]], frame: PictureFrame, svg: &mut Svg) {
    for &i in &machine.support {
        if let Some(row) = rows.get(i as usize) {
            svg.ring(place(frame, row[0], row[1]), 6.0);
        }
    }
    for row in rows {
        svg.dot(place(frame, row[0], row[1]), 3.0, COLORS[row[2] as usize % COLORS.len()]);
    }
}

fn draw_axes(machine: &SvmModel, schema: &Schema, frame: PictureFrame, svg: &mut Svg) {
    let ((left, right), (low, high)) = frame;
    svg.rect((BOX.0, BOX.1), (BOX.2, BOX.3), "axis", None);
    let (bottom, end) = (BOX.1 + BOX.3, BOX.0 + BOX.2);
    svg.text(BOX.0, bottom + 16.0, Anchor::Start, "small", &number(left));
    svg.text(end, bottom + 16.0, Anchor::End, "small", &number(right));
    svg.text(BOX.0 - 6.0, bottom, Anchor::End, "small", &number(low));
    svg.text(BOX.0 - 6.0, BOX.1 + 10.0, Anchor::End, "small", &number(high));
    let name = |j: usize| schema.features.get(j).map_or("", |f| f.name.as_str());
    svg.text(BOX.0 + BOX.2 / 2.0, bottom + 16.0, Anchor::Middle, "small", name(0));
    svg.text(BOX.0, BOX.1 - 6.0, Anchor::Start, "small", name(1));
    let class = |k: usize| machine.used.get(k).and_then(|&c| schema.classes.get(c as usize)).map_or("", String::as_str);
    for k in 0..2 {
        let y = bottom + 40.0 + 18.0 * k as f64;
        svg.dot((BOX.0 + 6.0, y - 4.0), 4.0, COLORS[k % COLORS.len()]);
        svg.text(BOX.0 + 18.0, y, Anchor::Start, "small", class(k));
    }
    let words = ["line: decision boundary", "gray: margin (decision values -1 and +1)"];
    for (k, words) in words.iter().enumerate() {
        svg.text(BOX.0 + 190.0, bottom + 40.0 + 18.0 * k as f64, Anchor::Start, "small", words);
    }
    svg.ring((BOX.0 + 346.0, bottom + 36.0), 6.0);
    svg.text(BOX.0 + 358.0, bottom + 40.0, Anchor::Start, "small", "support vector");
}
