//! Complete plots: curves with axes, bars, dots with error bars, scatter plots, confusion matrices.

use super::svg::{Anchor, COLORS, Svg};
use super::text::{number, ranges};

/// A named curve or set of points.
pub struct Series<'a> {
    /// Name in the legend; empty for no entry.
    pub name: &'a str,
    /// Points (x, y).
    pub points: Vec<(f64, f64)>,
    /// How the series is drawn.
    pub mark: Mark,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A line.
    Line,
    /// Dots.
    Dots,
    /// A dashed reference line.
    Guide,
}

/// A plot of several series.
pub struct Plot<'a> {
    /// Title.
    pub title: &'a str,
    /// Labels of the x and y axis.
    pub axes: (&'a str, &'a str),
    /// Ranges of the x and y axis; computed from the points if `None`.
    pub ranges: Option<((f64, f64), (f64, f64))>,
}

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 310.0;
/// The plot area inside the axes: x, y, width, height.
const BOX: (f64, f64, f64, f64) = (56.0, 50.0, 270.0, 210.0);
/// Number of legend entries per line.
const NAMES_EACH: usize = 3;

/// Maximum number of points drawn per series.
const MOST_DOTS: usize = 2000;

impl Plot<'_> {
    /// Draws the plot as SVG.
    pub fn draw(&self, series: &[Series<'_>]) -> String {
        let n_lines = series.iter().filter(|s| !s.name.is_empty()).count().div_ceil(NAMES_EACH);
        let mut svg = Svg::new(WIDTH, HEIGHT + 16.0 * n_lines as f64);
        svg.text(10.0, 20.0, Anchor::Start, "title", self.title);
        let finite = |p: &&(f64, f64)| p.0.is_finite() && p.1.is_finite();
        let all: Vec<(f64, f64)> = series.iter().flat_map(|s| s.points.iter().filter(finite).copied()).collect();
        let Some(((left, right), (low, high))) = self.ranges.or_else(|| ranges(&all)) else { return svg.finish() };
        let scale = |v: f64, from: f64, to: f64| if to > from { (v - from) / (to - from) } else { 0.5 };
        let place =
            |&(x, y): &(f64, f64)| (BOX.0 + BOX.2 * scale(x, left, right), BOX.1 + BOX.3 * (1.0 - scale(y, low, high)));
        self.axes(&mut svg, (left, right), (low, high));
        let mut n_named = 0;
        for (i, s) in series.iter().enumerate() {
            let color = COLORS[i % COLORS.len()];
            let points: Vec<(f64, f64)> = s.points.iter().filter(finite).map(place).collect();
            match s.mark {
                Mark::Line => svg.colored_line(&points, color),
                Mark::Guide => svg.line(&points, "guide"),
                Mark::Dots => {
                    let step = points.len().div_ceil(MOST_DOTS).max(1);
                    points.iter().step_by(step).for_each(|&at| svg.dot(at, 2.5, color));
                }
            }
            if !s.name.is_empty() {
                let x = BOX.0 + 96.0 * (n_named % NAMES_EACH) as f64 - 40.0;
                let y = HEIGHT + 16.0 * (n_named / NAMES_EACH) as f64;
                svg.rect((x, y), (12.0, 4.0), "", Some(color));
                svg.text(x + 16.0, y + 6.0, Anchor::Start, "small", &short(s.name, 13));
                n_named += 1;
            }
        }
        svg.finish()
    }

    fn axes(&self, svg: &mut Svg, (left, right): (f64, f64), (low, high): (f64, f64)) {
        let (x, y, width, height) = BOX;
        svg.line(&[(x, y), (x, y + height), (x + width, y + height)], "axis");
        for share in [0.0, 0.5, 1.0] {
            let (at_x, at_y) = (x + share * width, y + (1.0 - share) * height);
            svg.text(
                at_x,
                y + height + 16.0,
                Anchor::Middle,
                "small",
                &tick(left + share * (right - left), right - left),
            );
            svg.text(x - 6.0, at_y + 4.0, Anchor::End, "small", &tick(low + share * (high - low), high - low));
        }
        svg.text(x + width / 2.0, y + height + 36.0, Anchor::Middle, "small", self.axes.0);
        svg.text(10.0, y - 12.0, Anchor::Start, "small", self.axes.1);
    }
}

/// A tick label with only as many digits as the axis needs.
fn tick(value: f64, length: f64) -> String {
    let unit = 10f64.powf((length.abs().max(1e-300) / 1000.0).log10().ceil());
    number((value / unit).round() * unit)
}

/// Widths of the labels and of the plot area in plots with one label per line; narrow enough for a phone.
const NAMES: f64 = 160.0;
const LENGTH: f64 = 220.0;
const NAMED_WIDTH: f64 = NAMES + LENGTH + 80.0;
/// Maximum length of a label in characters.
const NAME: usize = 20;

/// Horizontal bars with error bars, longest first.
pub fn bars(title: &str, rows: &[(String, f64, f64)]) -> String {
    let top = if title.is_empty() { 4.0 } else { 34.0 };
    let mut svg = Svg::new(NAMED_WIDTH, top + 10.0 + 22.0 * rows.len() as f64);
    if !title.is_empty() {
        svg.text(10.0, 20.0, Anchor::Start, "title", title);
    }
    let longest = rows.iter().map(|r| (r.1 + r.2).abs()).fold(f64::MIN_POSITIVE, f64::max);
    for (i, (name, value, spread)) in rows.iter().enumerate() {
        let y = top + 22.0 * i as f64;
        let length = |v: f64| LENGTH * (v / longest).clamp(0.0, 1.0);
        svg.text(NAMES - 8.0, y + 13.0, Anchor::End, "small", &both_ends(name, NAME));
        svg.rect((NAMES, y + 3.0), (length(*value), 13.0), "", Some(COLORS[0]));
        if *spread > 0.0 {
            svg.line(&[(NAMES + length(value - spread), y + 9.5), (NAMES + length(value + spread), y + 9.5)], "axis");
        }
        svg.text(NAMES + 6.0 + length(value + spread), y + 14.0, Anchor::Start, "small", &number(rounded(*value)));
    }
    svg.finish()
}

/// Named numbers under a title.
pub type NamedNumbers = (String, Vec<(String, f64)>);

/// Maximum number of bars per panel, and of panels.
const MOST_BARS: usize = 20;
const MOST_PANELS: usize = 6;

/// A curve below the panels of a bar chart.
pub struct CurveBelow<'a> {
    /// Labels of the x and y axis.
    pub names: (&'a str, &'a str),
    /// Points (x, y); with fewer than two, no curve is drawn.
    pub points: Vec<(f64, f64)>,
    /// The x value to mark; NaN for none.
    pub marked: f64,
}

/// Panels of positive and negative bars, largest absolute value first, with a curve below them.
pub fn bar_panels(panels: &[NamedNumbers], curve: &CurveBelow<'_>) -> String {
    let shown = |rows: &[(String, f64)]| rows.len().min(MOST_BARS);
    let height =
        |rows: &[(String, f64)]| 40.0 + 22.0 * shown(rows) as f64 + if rows.len() > MOST_BARS { 18.0 } else { 0.0 };
    let has_curve = curve.points.len() > 1;
    let panels = &panels[..panels.len().min(MOST_PANELS)];
    let bars: f64 = panels.iter().map(|(_, rows)| height(rows)).sum();
    let mut svg = Svg::new(NAMED_WIDTH, bars + 10.0 + if has_curve { 250.0 } else { 0.0 });
    let mut y = 0.0;
    for (title, rows) in panels {
        let mut order: Vec<&(String, f64)> = rows.iter().collect();
        order.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let longest = order.first().map_or(0.0, |row| row.1.abs()).max(f64::MIN_POSITIVE);
        let is_signed = rows.iter().any(|row| row.1 < 0.0);
        let (zero, length) = if is_signed { (NAMES + LENGTH / 2.0, LENGTH / 2.0) } else { (NAMES, LENGTH) };
        svg.text(10.0, y + 20.0, Anchor::Start, "title", title);
        for (i, (name, value)) in order.iter().take(MOST_BARS).enumerate() {
            let (at, long) = (y + 34.0 + 22.0 * i as f64, length * (value.abs() / longest).min(1.0));
            let (start, fill) = if *value < 0.0 { (zero - long, COLORS[5]) } else { (zero, COLORS[0]) };
            svg.text(NAMES - 8.0, at + 13.0, Anchor::End, "small", &both_ends(name, NAME));
            svg.rect((start, at + 3.0), (long, 13.0), "", Some(fill));
            svg.text(NAMES + LENGTH + 8.0, at + 14.0, Anchor::Start, "small", &number(rounded(*value)));
        }
        svg.line(&[(zero, y + 34.0), (zero, y + 34.0 + 22.0 * shown(rows) as f64)], "axis");
        if rows.len() > MOST_BARS {
            let more = format!("... and {} more", rows.len() - MOST_BARS);
            svg.text(NAMES, y + height(rows) - 8.0, Anchor::Start, "small", &more);
        }
        y += height(rows);
    }
    if has_curve {
        svg.curve(&curve.points, (110.0, y + 24.0), (320.0, 180.0), curve.names, curve.marked);
    }
    svg.finish()
}

/// Dots with error bars, one line each, in the given order.
pub fn dots(rows: &[(String, f64, f64)], name: &str) -> String {
    let mut svg = Svg::new(NAMED_WIDTH, 58.0 + 22.0 * rows.len() as f64);
    let ends = rows.iter().filter(|r| r.1.is_finite()).flat_map(|r| [(r.1 - r.2, 0.0), (r.1 + r.2, 0.0)]);
    let Some(((low, high), _)) = ranges(&ends.collect::<Vec<_>>()) else { return svg.finish() };
    let (left, length) = (NAMES + 20.0, LENGTH + 40.0);
    let place = |v: f64| left + length * if high > low { (v - low) / (high - low) } else { 0.5 };
    for (i, (name, value, spread)) in rows.iter().enumerate().filter(|(_, r)| r.1.is_finite()) {
        let y = 24.0 + 22.0 * i as f64;
        svg.text(NAMES + 8.0, y + 4.0, Anchor::End, "small", &both_ends(name, NAME + 2));
        svg.line(&[(place(value - spread), y), (place(value + spread), y)], "axis");
        svg.dot((place(*value), y), 4.5, COLORS[0]);
    }
    let bottom = 28.0 + 22.0 * rows.len() as f64;
    svg.line(&[(left, bottom - 8.0), (left + length, bottom - 8.0)], "axis");
    svg.text(left, bottom + 8.0, Anchor::Start, "small", &tick(low, high - low));
    svg.text(left + length, bottom + 8.0, Anchor::End, "small", &tick(high, high - low));
    svg.text(left + length / 2.0, bottom + 8.0, Anchor::Middle, "small", name);
    svg.finish()
}

/// A confusion matrix; each row is shaded by its proportions.
pub fn matrix(names: &[String], counts: &[Vec<f64>], axes: (&str, &str)) -> String {
    let k = names.len() as f64;
    let cell = (420.0 / k).clamp(18.0, 64.0);
    let (left, top) = (150.0, 70.0);
    let mut svg = Svg::new(left + cell * k + 20.0, top + cell * k + 14.0);
    svg.text(left + cell * k / 2.0, 20.0, Anchor::Middle, "small", axes.1);
    svg.text(10.0, 20.0, Anchor::Start, "small", axes.0);
    for (i, row) in counts.iter().enumerate() {
        let total: f64 = row.iter().sum();
        let y = top + cell * i as f64;
        svg.text(left - 8.0, y + cell / 2.0 + 4.0, Anchor::End, "", &short(&names[i], 18));
        svg.text(
            left + cell * (i as f64 + 0.5),
            top - 10.0 - 14.0 * (i % 2) as f64,
            Anchor::Middle,
            "small",
            &short(&names[i], (cell / 4.0) as usize),
        );
        for (j, &count) in row.iter().enumerate() {
            let share = if total > 0.0 { count / total } else { 0.0 };
            let x = left + cell * j as f64;
            svg.shade((x + 1.0, y + 1.0), (cell - 2.0, cell - 2.0), if i == j { COLORS[0] } else { COLORS[5] }, share);
            if cell >= 30.0 {
                svg.text(x + cell / 2.0, y + cell / 2.0 + 1.0, Anchor::Middle, "", &number(rounded(count)));
                svg.text(
                    x + cell / 2.0,
                    y + cell / 2.0 + 14.0,
                    Anchor::Middle,
                    "small",
                    &format!("{:.0}%", 100.0 * share),
                );
            }
        }
    }
    svg.finish()
}

fn rounded(x: f64) -> f64 {
    format!("{x:.3e}").parse().unwrap_or(x)
}

fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.into() } else { text.chars().take(most.max(2) - 1).chain(['…']).collect() }
}

/// Shortens a long name in the middle, since column names often differ only at the end.
fn both_ends(text: &str, most: usize) -> String {
    let n = text.chars().count();
    if n <= most {
        return text.into();
    }
    let (head, tail) = (most / 3, most - 1 - most / 3);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(n - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_drawn_at_their_coordinates() {
        let plot = Plot { title: "t", axes: ("x", "y"), ranges: Some(((0.0, 1.0), (0.0, 1.0))) };
        let drawn =
            plot.draw(&[Series { name: "a", points: vec![(0.0, 0.0), (1.0, 1.0), (f64::NAN, 0.0)], mark: Mark::Line }]);
        assert!(drawn.contains("points=\"56.0,260.0 326.0,50.0\""), "{drawn}");
        assert!(!drawn.contains("NaN"));
        assert!(!plot.draw(&[]).contains("NaN") && !bars("b", &[("x".into(), 0.0, 0.0)]).contains("NaN"));
        assert!(!matrix(&["a".into()], &[vec![0.0]], ("t", "p")).contains("NaN"));
    }

    #[test]
    fn long_names_are_shortened_in_the_middle() {
        assert_eq!(both_ends("Mean_Acc1298_Std_Mem40_MFCC_12", 16), "Mean_…40_MFCC_12");
        assert_eq!(both_ends("short", 16), "short");
        assert_eq!(both_ends("Mean_Acc1298_Std_Mem40_MFCC_12", 16).chars().count(), 16);
    }

    #[test]
    fn ticks_have_no_superfluous_digits() {
        assert_eq!(
            [tick(0.333333, 1.0), tick(1234.5678, 2000.0), tick(0.0012345, 0.004)],
            ["0.333", "1230", "0.00123"]
        );
    }
}
