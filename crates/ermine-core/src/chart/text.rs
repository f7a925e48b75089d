//! Text charts.

/// Draws a curve as a block of `height` lines of `width` characters, with the ranges of both axes.
pub fn curve(points: &[(f64, f64)], x_name: &str, y_name: &str, width: usize, height: usize) -> String {
    curves(&[(points.to_vec(), '•')], x_name, y_name, width, height)
}

/// Draws several curves on shared axes, each with its own character; later curves are drawn over earlier ones.
pub fn curves(curves: &[(Vec<(f64, f64)>, char)], x_name: &str, y_name: &str, width: usize, height: usize) -> String {
    let finite = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
    };
    let all: Vec<(f64, f64)> = curves.iter().flat_map(|(points, _)| finite(points)).collect();
    let Some(((left, right), (low, high))) = ranges(&all) else { return String::new() };
    let place = |v: f64, (from, to): (f64, f64), n: usize| {
        if to > from { ((v - from) / (to - from) * (n - 1) as f64).round() as usize } else { 0 }
    };
    let mut rows = vec![vec![' '; width]; height];
    for (points, mark) in curves {
        for (x, y) in finite(points) {
            let row = height - 1 - place(y, (low, high), height);
            rows[row][place(x, (left, right), width)] = *mark;
        }
    }
    let label = |row: usize| match row {
        0 => number(high),
        r if r == height - 1 => number(low),
        _ => String::new(),
    };
    let wide = (0..height).map(|row| label(row).chars().count()).max().unwrap_or(0).max(9);
    let mut text = format!("{y_name}\n");
    for (row, cells) in rows.iter().enumerate() {
        text.push_str(&format!("{:>wide$} │{}\n", label(row), cells.iter().collect::<String>().trim_end()));
    }
    let (left, right) = (number(left), number(right));
    let gap = width.saturating_sub(left.chars().count() + right.chars().count());
    let (corner, indent) = (" ".repeat(wide), " ".repeat(wide + 2));
    text.push_str(&format!("{corner} └{}\n{indent}{left}{}{right}  {x_name}\n", "─".repeat(width), " ".repeat(gap)));
    text
}

/// The ranges of both coordinates.
pub fn ranges(points: &[(f64, f64)]) -> Option<((f64, f64), (f64, f64))> {
    let (&(x, y), rest) = points.split_first()?;
    let grow = |(low, high): (f64, f64), v: f64| (low.min(v), high.max(v));
    Some(rest.iter().fold(((x, x), (y, y)), |(xs, ys), &(x, y)| (grow(xs, x), grow(ys, y))))
}

/// Formats a number for display: integers in full up to 15 digits, other numbers with 6 significant digits.
pub fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || !x.is_finite() {
        // An empty sum is -0; print it as 0.
        return (x + 0.0).to_string();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{x:.5e}").replace("00000e", "e").replace(".e", "e");
    }
    let digits = (5 - size.log10().floor() as i32).max(i32::from(x.fract() != 0.0)) as usize;
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// Formats a number with enough digits to read back exactly the same number.
pub fn exact_number(x: f64) -> String {
    let size = x.abs();
    if x != 0.0 && !(1e-4..1e15).contains(&size) && x.is_finite() { format!("{x:e}") } else { (x + 0.0).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_numbers_round_trip() {
        for x in [0.1 + 0.2, 1e300, 206.5, -1.0 / 3.0, 2.5e-9, f64::MIN_POSITIVE, f64::INFINITY, 123456789.123] {
            assert_eq!(exact_number(x).parse::<f64>().unwrap(), x);
        }
        assert_eq!((exact_number(206.5), exact_number(-0.0)), ("206.5".into(), "0".into()));
    }

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, 1.0, -0.25, 206.5, 123456.78, 1e-9, 1e300, 1.7e9, 1717203600.5, 0.000312345, 1.25e-7, 1e6];
        let words: Vec<String> = numbers.into_iter().map(number).collect();
        let expected = [
            "0",
            "1",
            "-0.25",
            "206.5",
            "123456.8",
            "1e-9",
            "1e300",
            "1700000000",
            "1717203600.5",
            "0.000312345",
            "1.25000e-7",
            "1000000",
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn the_lowest_point_is_drawn_on_the_lowest_line() {
        let drawn = curve(&[(0.0, 3.0), (1.0, 1.0), (2.0, 3.0)], "t", "risk", 21, 5);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[5].chars().nth(11 + 10), Some('•'), "{drawn}");
        assert!(lines[1].ends_with('•') && lines[7].ends_with("2  t"), "{drawn}");
        assert_eq!(curve(&[(f64::NAN, 1.0)], "t", "risk", 20, 5), "");
    }
}
