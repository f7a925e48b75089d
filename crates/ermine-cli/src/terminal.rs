//! The terminal: colors, width, and writing to stdout and stderr.

use crate::clean::clean;
use crate::failure::Failure;
use console::{Term, measure_text_width, style};
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write};

/// Enables colors on terminals that support them, unless NO_COLOR is set.
pub fn init() {
    let unwanted = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty())
        || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    console::set_colors_enabled(!unwanted && std::io::stdout().is_terminal());
    console::set_colors_enabled_stderr(!unwanted && std::io::stderr().is_terminal());
}

/// The same for clap.
pub fn clap_colors() -> clap::ColorChoice {
    let seen = console::colors_enabled() && console::colors_enabled_stderr();
    if seen { clap::ColorChoice::Auto } else { clap::ColorChoice::Never }
}

/// The width of the terminal, if stdout is one.
pub fn width() -> Option<usize> {
    Term::stdout().size_checked().map(|(_, columns)| usize::from(columns).max(20))
}

/// Writes to stdout.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(stdout_failure)
}

/// Writes a line to stderr; an error in doing so has nowhere to go.
pub fn print_message(line: impl Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Writes a value to stdout as JSON.
pub fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    print(&format!("{}\n", serde_json::to_string_pretty(value).map_err(Failure::work)?))
}

/// The failure for an error of stdout.
pub fn stdout_failure(error: std::io::Error) -> Failure {
    if error.kind() == ErrorKind::BrokenPipe { Failure::BrokenPipe } else { Failure::Work(format!("stdout: {error}")) }
}

/// A heading.
pub fn bold(text: &str) -> String {
    style(text).bold().to_string()
}

/// Secondary text.
pub fn dim(text: &str) -> String {
    style(text).dim().to_string()
}

/// Success.
pub fn green(text: &str) -> String {
    style(text).green().to_string()
}

/// A warning.
pub fn yellow(text: &str) -> String {
    style(text).yellow().to_string()
}

/// Each line truncated to the width of the terminal, if there is one.
pub fn fitted(text: &str) -> String {
    let Some(width) = width() else { return text.to_string() };
    let mut cut: String =
        text.lines().map(|line| console::truncate_str(line, width, "…").into_owned() + "\n").collect();
    if !text.ends_with('\n') {
        cut.pop();
    }
    cut
}

/// Wraps text at `room` characters, if there is a limit, indented by `indent` spaces.
pub fn wrapped(text: &str, indent: usize, room: Option<usize>) -> String {
    let room = room.map_or(usize::MAX, |room| room.saturating_sub(indent).max(20));
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let length = lines.last().map_or(0, |line| measure_text_width(line));
        if length > 0 && length + 1 + measure_text_width(word) > room {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.iter().map(|line| format!("{:indent$}{line}\n", "")).collect()
}

/// A name in a column of `column` characters, and a value.
pub fn fact(name: &str, column: usize, known: &str) -> String {
    let lines = wrapped(&clean(known), column, width());
    format!("{}{}", dim(&format!("  {name:<0$}", column - 2)), &lines[column..])
}

/// The first few items, and the number of the others.
pub fn listed(items: &[String], most: usize) -> String {
    match items.len() {
        n if n <= most => items.join(", "),
        n => format!("{}, ... ({} more)", items[..most].join(", "), n - most),
    }
}

/// A duration as text.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.2} s"),
        s => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

/// Number of decimals for a score: four significant digits, and at least four decimals below 10.
pub fn decimals(size: f64) -> usize {
    /// Maximum number of decimals.
    const MOST: i32 = 12;
    match size.abs() {
        size if size == 0.0 || !size.is_finite() => 4,
        size if size < 1.0 => (3 - size.log10().floor() as i32).min(MOST) as usize,
        size => 4usize.saturating_sub(size.log10() as usize),
    }
}

/// A count with its noun: `1 setting`, `20,000 settings`.
pub fn counted(n: usize, what: &str) -> String {
    format!("{} {what}{}", count(n), if n == 1 { "" } else { "s" })
}

/// An integer with commas between thousands.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if n < 10_000 { digits } else { text }
}

/// A number of bytes as text.
pub fn bytes(n: usize) -> String {
    match n as f64 {
        b if b < 1000.0 => format!("{n} bytes"),
        b if b < 1e6 => format!("{:.1} kB", b / 1e3),
        b => format!("{:.1} MB", b / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded() {
        assert_eq!([count(7), count(9999), count(10_000), count(1_234_567)], ["7", "9999", "10,000", "1,234,567"]);
        assert_eq!([time(0.00005), time(0.25), time(12.0), time(125.0)], ["50 us", "250 ms", "12.00 s", "2 min 05 s"]);
        assert_eq!([0.5, 0.0, 9.9, 10.0, 473.4, 211823.05, f64::NAN].map(decimals), [4, 4, 4, 3, 2, 0, 4]);
        assert_eq!([bytes(12), bytes(1234), bytes(20_000_000)], ["12 bytes", "1.2 kB", "20.0 MB"]);
    }

    #[test]
    fn text_is_wrapped_without_loss() {
        let text = "a stump asks one question about one column of the table";
        assert_eq!(wrapped(text, 2, None), format!("  {text}\n"));
        let lines = wrapped(text, 2, Some(24));
        assert!(lines.lines().all(|line| line.starts_with("  ") && line.len() <= 24), "{lines}");
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>().join(" "), text);
    }
}
