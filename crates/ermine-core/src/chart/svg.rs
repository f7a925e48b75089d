//! Building blocks of SVG pictures.

use super::text::{number, ranges};
use std::fmt::Write;

/// An SVG picture under construction.
pub struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// Alignment of text relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// The text starts at the point.
    Start,
    /// The text is centered at the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A color-blind safe palette (Okabe and Ito).
pub const COLORS: [&str; 8] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"];

impl Svg {
    /// An empty picture.
    pub fn new(width: f64, height: f64) -> Svg {
        Svg { width, height, body: String::new() }
    }

    /// Writes text.
    pub fn text(&mut self, x: f64, y: f64, anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let text = escape(text);
        self.push(format_args!(r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" class="{class}">{text}</text>"#));
    }

    /// Draws a line through points.
    pub fn line(&mut self, points: &[(f64, f64)], class: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        self.push(format_args!(r#"<polyline points="{}" class="{class}"/>"#, points.join(" ")));
    }

    /// Draws a line through points in a color.
    pub fn colored_line(&mut self, points: &[(f64, f64)], color: &str) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let path = points.join(" ");
        self.push(format_args!(r#"<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>"#));
    }

    /// Draws a dot.
    pub fn dot(&mut self, (x, y): (f64, f64), radius: f64, color: &str) {
        self.push(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" fill="{color}" fill-opacity="0.7"/>"#));
    }

    /// Draws a ring.
    pub fn ring(&mut self, (x, y): (f64, f64), radius: f64) {
        self.push(format_args!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="{radius}" class="axis"/>"#));
    }

    /// Draws a box whose opacity is `share`, from 0 to 1.
    pub fn shade(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), color: &str, share: f64) {
        let opacity = 0.04 + 0.6 * share.clamp(0.0, 1.0);
        self.push(format_args!(
            r#"<rect x="{x:.1}" y="{y:.1}" width="{width:.1}" height="{height:.1}" rx="3" fill="{color}" fill-opacity="{opacity:.3}"/>"#
        ));
    }

    /// Draws a straight edge of the given width.
    pub fn edge(&mut self, (x, y): (f64, f64), (to_x, to_y): (f64, f64), width: f64) {
        self.push(format_args!(
            r#"<line x1="{x:.1}" y1="{y:.1}" x2="{to_x:.1}" y2="{to_y:.1}" class="edge" stroke-width="{width:.1}" stroke-opacity="0.5"/>"#
        ));
    }

    /// Draws a box.
    pub fn rect(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), class: &str, fill: Option<&str>) {
        let fill = fill.map(|color| format!(r#" fill="{color}""#)).unwrap_or_default();
        let class = if class.is_empty() { String::new() } else { format!(r#" class="{class}""#) };
        let (w, h) = (width.max(0.0), height.max(0.0));
        self.push(format_args!(r#"<rect x="{x:.1}" y="{y:.1}" width="{w:.1}" height="{h:.1}" rx="3"{class}{fill}/>"#));
    }

    /// Draws a curve with axes in the box with top left corner `(x, y)` and marks the point at `marked`.
    pub fn curve(
        &mut self,
        points: &[(f64, f64)],
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        names: (&str, &str),
        marked: f64,
    ) {
        let points: Vec<(f64, f64)> = points.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite()).collect();
        let Some(((left, right), (low, high))) = ranges(&points) else { return };
        let scale = |v: f64, from: f64, to: f64| if to > from { (v - from) / (to - from) } else { 0.5 };
        let place =
            |&(a, b): &(f64, f64)| (x + width * scale(a, left, right), y + height * (1.0 - scale(b, low, high)));
        self.line(&[(x, y), (x, y + height), (x + width, y + height)], "axis");
        if marked.is_finite() {
            let at = place(&(marked, low)).0;
            self.line(&[(at, y), (at, y + height)], "mark");
            self.text(at, y - 5.0, Anchor::Middle, "small", &number(marked));
        }
        self.line(&points.iter().map(place).collect::<Vec<_>>(), "curve");
        self.text(x - 6.0, y + 4.0, Anchor::End, "small", &number(high));
        self.text(x - 6.0, y + height + 4.0, Anchor::End, "small", &number(low));
        self.text(x, y + height + 16.0, Anchor::Start, "small", &number(left));
        self.text(x + width, y + height + 16.0, Anchor::End, "small", &number(right));
        self.text(x + width / 2.0, y + height + 16.0, Anchor::Middle, "small", names.0);
        self.text(x - 6.0, y + height / 2.0, Anchor::End, "small", names.1);
    }

    /// Draws named curves on shared axes that start at 0, with a legend.
    pub fn curves(
        &mut self,
        curves: &[(&str, Vec<(f64, f64)>)],
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        names: (&str, &str),
    ) {
        let all: Vec<(f64, f64)> = curves.iter().flat_map(|(_, points)| points.iter().copied()).collect();
        let Some(((left, right), (low, high))) = ranges(&all) else { return };
        let low = low.min(0.0);
        let scale = |v: f64, from: f64, to: f64| if to > from { (v - from) / (to - from) } else { 0.5 };
        let place =
            |&(a, b): &(f64, f64)| (x + width * scale(a, left, right), y + height * (1.0 - scale(b, low, high)));
        self.line(&[(x, y), (x, y + height), (x + width, y + height)], "axis");
        let shown = curves.iter().filter(|(_, points)| !points.is_empty()).enumerate();
        for (i, (name, points)) in shown {
            let color = COLORS[i % COLORS.len()];
            self.colored_line(&points.iter().map(place).collect::<Vec<_>>(), color);
            let top = y + 6.0 + 18.0 * i as f64;
            self.rect((x + width - 150.0, top), (14.0, 4.0), "", Some(color));
            self.text(x + width - 130.0, top + 6.0, Anchor::Start, "small", name);
        }
        self.text(x - 6.0, y + 4.0, Anchor::End, "small", &number(high));
        self.text(x - 6.0, y + height + 4.0, Anchor::End, "small", &number(low));
        self.text(x, y + height + 16.0, Anchor::Start, "small", &number(left));
        self.text(x + width, y + height + 16.0, Anchor::End, "small", &number(right));
        self.text(x + width / 2.0, y + height + 16.0, Anchor::Middle, "small", names.0);
        self.text(x - 6.0, y + height / 2.0, Anchor::End, "small", names.1);
    }

    /// Returns the finished picture.
    pub fn finish(self) -> String {
        let (w, h) = (self.width, self.height);
        let style = concat!(
            "<style>svg{background:#fff;font:13px system-ui,sans-serif}text{fill:#222}.small{font-size:11px;fill:#666}",
            ".title{font-size:15px;font-weight:600}.box{fill:#f5f5f2;stroke:#bbb}.axis,.edge{fill:none;stroke:#999}",
            ".curve{fill:none;stroke:#0072b2;stroke-width:1.5}.mark{stroke:#d55e00;stroke-dasharray:3 3}.guide{fill:none;stroke:#999;stroke-dasharray:4 4}",
            "@media(prefers-color-scheme:dark){svg{background:#1b1b1d}text{fill:#eee}.small{fill:#aaa}",
            ".box{fill:#2a2a2d;stroke:#555}.curve{stroke:#56b4e9}}</style>",
        );
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w:.0} {h:.0}\" width=\"{w:.0}\" height=\"{h:.0}\">\n{style}\n{}</svg>\n",
            self.body
        )
    }

    fn push(&mut self, piece: std::fmt::Arguments<'_>) {
        // Writing to a String can't fail.
        let _ = writeln!(self.body, "{piece}");
    }
}

/// Escapes text for SVG and HTML. Control characters, which XML forbids, become spaces.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        let mut svg = Svg::new(100.0, 50.0);
        svg.text(0.0, 0.0, Anchor::Start, "title", "<script>&\"\u{0}");
        let drawn = svg.finish();
        assert!(drawn.contains("&lt;script&gt;&amp;&quot; ") && !drawn.contains("<script>"), "{drawn}");
    }
}
