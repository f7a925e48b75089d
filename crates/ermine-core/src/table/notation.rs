//! Formatted numbers: decimal commas, thousands separators, currency and percent signs, and dates.
//!
//! A text column is parsed in a notation if all of its cells can be; the model stores the notation, so that new tables are parsed the same way. A percent sign doesn't change the number: 12 %
//! is 12. Parentheses mean a negative amount.

use super::date::{DateForm, DatePart, common_form, parse};
use super::number::number;
use serde::{Deserialize, Serialize};

/// The format of a numeric column.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notation {
    /// Plain numbers, possibly with thousands separators, currency or percent signs.
    #[default]
    Plain,
    /// Decimal comma: `3,14`, `1.234,5`.
    DecimalComma,
    /// Dates: days since 1970-01-01.
    Date(DateForm),
    /// Timestamps: seconds since 1970-01-01T00:00.
    Timestamp(DateForm),
    /// Times of day: seconds since midnight.
    Time,
    /// Derived from the dates of another column.
    DatePart {
        /// The column.
        of: String,
        /// The part.
        part: DatePart,
    },
}

impl Notation {
    /// Whether cells are plain numbers.
    pub fn is_plain(&self) -> bool {
        *self == Notation::Plain
    }

    /// Parses a cell in this notation.
    pub fn read(&self, text: &str) -> Option<f64> {
        match self {
            Notation::Plain => number(text.trim().as_bytes()).or_else(|| formatted(text, '.')),
            Notation::DecimalComma => formatted(text, ','),
            Notation::Date(form) => parse(text, *form).map(|moment| moment.days()),
            Notation::Timestamp(form) => parse(text, *form).map(|moment| moment.seconds()),
            Notation::Time => parse(text, DateForm::TimeOfDay).map(|moment| moment.seconds()),
            Notation::DatePart { .. } => None,
        }
    }

    /// The factor that converts the numbers to days, for dates.
    pub fn in_days(&self) -> Option<f64> {
        match self {
            Notation::Date(_) => Some(1.0),
            Notation::Timestamp(_) => Some(1.0 / super::date::SECONDS_PER_DAY),
            _ => None,
        }
    }

    /// The date notation in which all texts can be parsed.
    pub fn of_dates<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Option<Notation> {
        let form = common_form(texts.clone())?;
        let has_time = |text: &str| parse(text, form).is_some_and(|moment| moment.has_time());
        Some(match form {
            DateForm::TimeOfDay => Notation::Time,
            _ if texts.clone().any(has_time) => Notation::Timestamp(form),
            _ => Notation::Date(form),
        })
    }

    /// The name of the notation in messages.
    pub fn expected(&self) -> &'static str {
        match self {
            Notation::Plain => "a number",
            Notation::DecimalComma => "a number with a decimal comma",
            Notation::Date(DateForm::DayFirst) | Notation::Timestamp(DateForm::DayFirst) => "a date with the day first",
            Notation::Date(DateForm::MonthFirst) | Notation::Timestamp(DateForm::MonthFirst) => {
                "a date with the month first"
            }
            Notation::Date(_) | Notation::Timestamp(_) | Notation::DatePart { .. } => "a date",
            Notation::Time => "a time",
        }
    }
}

/// Parses a number with this decimal sign, thousands separators, a currency sign or a percent sign.
fn formatted(text: &str, decimal: char) -> Option<f64> {
    let text = text.trim();
    if let Some(amount) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        return formatted(amount, decimal).filter(|x| *x >= 0.0).map(|x| -x);
    }
    let is_sign = |c: char| "$€£¥₹%".contains(c);
    let (negative, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = text.trim_start_matches(is_sign).trim();
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) if !negative => (true, rest),
        _ => (negative, text),
    };
    let text = text.trim_end_matches(is_sign).trim_end();
    let (whole, fraction) = match text.rsplit_once(decimal) {
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole = ungrouped(whole, decimal)?;
    let size = number(format!("{}.{}", whole, if fraction.is_empty() { "0" } else { fraction }).as_bytes())?;
    Some(if negative { -size } else { size })
}

/// Digits without thousands separators, which must precede every three digits.
fn ungrouped(whole: &str, decimal: char) -> Option<String> {
    let Some(separator) = whole.chars().find(|c| !c.is_ascii_digit()) else { return Some(whole.to_string()) };
    let allowed = [' ', '\'', '\u{a0}', '\u{202f}', if decimal == '.' { ',' } else { '.' }];
    if !allowed.contains(&separator) {
        return None;
    }
    let groups: Vec<&str> = whole.split(separator).collect();
    let is_group = |group: &&str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups[0];
    let fits =
        (1..=3).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_digit()) && groups[1..].iter().all(is_group);
    fits.then(|| groups.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatted_numbers_are_parsed() {
        let point = |text: &str| Notation::Plain.read(text);
        for (text, value) in [
            ("1,234.5", 1234.5),
            ("$1,200", 1200.0),
            ("-$3.50", -3.5),
            ("$-3.50", -3.5),
            ("12%", 12.0),
            ("12.5 %", 12.5),
            ("1 234 567", 1234567.0),
            ("(1,000)", -1000.0),
            ("€ 7", 7.0),
            ("7 €", 7.0),
            ("1'000", 1000.0),
            (".5", 0.5),
            ("+2,000", 2000.0),
        ] {
            assert_eq!(point(text), Some(value), "{text}");
        }
        for text in [
            "1,23",
            "12,34,567",
            "1,2345",
            "abc",
            "$",
            "%",
            "1.2.3",
            "1,234,56",
            "--5",
            "3 4",
            "",
            "1,234 567",
            "5 apples",
            "(−5)",
        ] {
            assert_eq!(point(text), None, "{text}");
        }
        let comma = |text: &str| Notation::DecimalComma.read(text);
        for (text, value) in [
            ("3,25", 3.25),
            ("1.234,5", 1234.5),
            ("7", 7.0),
            ("-0,5", -0.5),
            ("1 000,25 €", 1000.25),
            ("1.000", 1000.0),
        ] {
            assert_eq!(comma(text), Some(value), "{text}");
        }
        for text in ["3.14", "1,234,5", "a,b", ","] {
            assert_eq!(comma(text), None, "{text}");
        }
    }
}
