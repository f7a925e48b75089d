//! Dates and times in text, and features derived from them.
//!
//! | form | examples |
//! |---|---|
//! | [`DateForm::YearFirst`] (ISO 8601) | `2024-03-31`, `2024/3/31`, `2024-03-31T12:30`, `2024-03-31 12:30:15.5Z`, `2024-03-31T12:30+02:00` |
//! | [`DateForm::MonthFirst`] | `3/31/2024`, `03/31/2024 12:30` |
//! | [`DateForm::DayFirst`] | `31.3.2024`, `31/03/2024`, `31-03-2024 12:30` |
//! | [`DateForm::MonthName`] | `31 Mar 2024`, `31-Mar-2024`, `March 31, 2024` |
//! | [`DateForm::TimeOfDay`] | `12:30`, `12:30:15` |
//!
//! All cells of a column have the same form. If days and months can't be distinguished in any cell, `/` means month first and other separators day first. Dates become days since 1970-01-01,
//! timestamps seconds since 1970-01-01T00:00 (UTC if a zone is given), times of day seconds since midnight.

use serde::{Deserialize, Serialize};

/// The order of the parts of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateForm {
    /// Year, month, day.
    YearFirst,
    /// Month, day, year, all as numbers.
    MonthFirst,
    /// Day, month, year, all as numbers.
    DayFirst,
    /// A month by its English name or its first three letters.
    MonthName,
    /// A time without a date.
    TimeOfDay,
}

/// A feature derived from a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatePart {
    /// 1 for January.
    Month,
    /// 1 for Monday.
    Weekday,
    /// The hour from 0 to 24, with minutes as fractions.
    Hour,
}

impl DatePart {
    /// All parts.
    pub const ALL: [DatePart; 3] = [DatePart::Month, DatePart::Weekday, DatePart::Hour];

    /// The suffix of the column name.
    pub fn suffix(self) -> &'static str {
        match self {
            DatePart::Month => "month",
            DatePart::Weekday => "weekday",
            DatePart::Hour => "hour",
        }
    }

    /// The part of a time given in days since 1970-01-01.
    pub fn of_days(self, days: f64) -> f64 {
        let whole = days.floor();
        if !whole.is_finite() || whole.abs() > MOST_DAYS {
            return f64::NAN;
        }
        match self {
            DatePart::Month => f64::from(civil(whole as i64).1),
            // 1970-01-01 was a Thursday.
            DatePart::Weekday => ((whole as i64 + 3).rem_euclid(7) + 1) as f64,
            // Rounded to seconds, since fractions of days are not exact.
            DatePart::Hour => ((days - whole) * SECONDS_PER_DAY).round() / 3600.0,
        }
    }
}

/// The number of seconds in a day.
pub const SECONDS_PER_DAY: f64 = 86_400.0;

/// Dates beyond ten thousand years are rejected.
const MOST_DAYS: f64 = 4e6;

/// A parsed date or time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    days: i64,
    /// Seconds of the day, if a time is given.
    seconds: Option<f64>,
}

impl Moment {
    /// Whether a time is given.
    pub fn has_time(self) -> bool {
        self.seconds.is_some()
    }

    /// Days since 1970-01-01.
    pub fn days(self) -> f64 {
        self.days as f64 + self.seconds.unwrap_or(0.0) / SECONDS_PER_DAY
    }

    /// Seconds since 1970-01-01T00:00.
    pub fn seconds(self) -> f64 {
        self.days as f64 * SECONDS_PER_DAY + self.seconds.unwrap_or(0.0)
    }
}

/// The form in which all texts can be parsed; `None` if there is none.
pub fn common_form<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Option<DateForm> {
    texts.clone().next()?;
    let slashes = texts.clone().any(|text| text.contains('/'));
    let by_numbers =
        if slashes { [DateForm::MonthFirst, DateForm::DayFirst] } else { [DateForm::DayFirst, DateForm::MonthFirst] };
    let forms = [DateForm::YearFirst].into_iter().chain(by_numbers).chain([DateForm::MonthName, DateForm::TimeOfDay]);
    forms.into_iter().find(|form| texts.clone().all(|text| parse(text, *form).is_some()))
}

/// Parses a text in this form.
pub fn parse(text: &str, form: DateForm) -> Option<Moment> {
    let text = text.trim();
    if form == DateForm::TimeOfDay {
        return Some(Moment { days: 0, seconds: Some(time(text)?) });
    }
    // The date ends at a T or blank before the first colon.
    let (date, clock) = match text.find(':') {
        None => (text, None),
        Some(colon) => {
            let cut = text[..colon].rfind(['T', ' '])?;
            (text[..cut].trim_end().trim_end_matches(','), Some(text[cut + 1..].trim_start()))
        }
    };
    let days = if form == DateForm::MonthName { named_date(date)? } else { numbered_date(date, form)? };
    let Some(clock) = clock else { return Some(Moment { days, seconds: None }) };
    let (clock, offset) = zone(clock)?;
    let seconds = time(clock)? - offset;
    let more = (seconds / SECONDS_PER_DAY).floor();
    Some(Moment { days: days + more as i64, seconds: Some(seconds - more * SECONDS_PER_DAY) })
}

/// Three numbers with the same separator.
fn numbered_date(text: &str, form: DateForm) -> Option<i64> {
    let separator = text.chars().find(|c| !c.is_ascii_digit()).filter(|c| "-/.".contains(*c))?;
    let parts: Vec<&str> = text.split(separator).collect();
    let [a, b, c] = parts[..] else { return None };
    let (year, month, day) = match form {
        DateForm::YearFirst => (a, b, c),
        DateForm::MonthFirst => (c, a, b),
        _ => (c, b, a),
    };
    (year.len() == 4).then(|| date(whole(year)?, whole(month)?, whole(day)?)).flatten()
}

/// A day, a month by name and a year, or the month before the day.
fn named_date(text: &str) -> Option<i64> {
    let parts: Vec<&str> = text.split([' ', '-', ',', '.']).filter(|part| !part.is_empty()).collect();
    let [a, b, year] = parts[..] else { return None };
    let (day, month) = if a.starts_with(|c: char| c.is_ascii_digit()) { (a, b) } else { (b, a) };
    (year.len() == 4).then(|| date(whole(year)?, month_of(month)?, whole(day)?)).flatten()
}

fn month_of(name: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let name = name.to_ascii_lowercase();
    MONTHS.iter().position(|month| *month == name || (name.len() == 3 && month[..3] == name)).map(|k| k as u32 + 1)
}

fn whole(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// `12:30`, `12:30:15`, `12:30:15.25`, `1:30 PM`: seconds since midnight.
fn time(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let (text, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(rest), _) => (rest.trim_end(), Some(0)),
        (_, Some(rest)) => (rest.trim_end(), Some(12)),
        _ => (lower.as_str(), None),
    };
    let parts: Vec<&str> = text.split(':').collect();
    let (hours, minutes, seconds) = match parts[..] {
        [hours, minutes] => (hours, minutes, "0"),
        [hours, minutes, seconds] => (hours, minutes, seconds),
        _ => return None,
    };
    let (hours, minutes) = (whole(hours)?, whole(minutes).filter(|_| minutes.len() == 2)?);
    let plain = seconds.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let seconds: f64 = if plain { seconds.parse().ok()? } else { return None };
    let hours = match half {
        None => hours,
        Some(shift) if (1..=12).contains(&hours) => hours % 12 + shift,
        Some(_) => return None,
    };
    (hours < 24 && minutes < 60 && seconds < 61.0).then(|| f64::from(hours * 3600 + minutes * 60) + seconds)
}

/// A time without its zone, and the offset of the zone from UTC in seconds.
fn zone(text: &str) -> Option<(&str, f64)> {
    if let Some(rest) = text.strip_suffix(['Z', 'z']) {
        return Some((rest.trim_end(), 0.0));
    }
    let Some(sign) = text.rfind(['+', '-']) else { return Some((text, 0.0)) };
    let digits: String = text[sign + 1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (whole(&digits)?, 0),
        4 => (whole(&digits[..2])?, whole(&digits[2..])?),
        _ => return None,
    };
    let offset = f64::from(hours * 3600 + minutes * 60);
    Some((text[..sign].trim_end(), if text.as_bytes()[sign] == b'-' { -offset } else { offset }))
}

/// Days since 1970-01-01; `None` for an invalid date.
fn date(year: u32, month: u32, day: u32) -> Option<i64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let longest = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let exists = (1..=longest).contains(&day) && year >= 1;
    exists.then(|| days_before(i64::from(year), i64::from(month)) + i64::from(day) - 1)
}

/// Days from 1970-01-01 to the first day of a month. Years start in March, so that the leap day comes last.
fn days_before(year: i64, month: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // From March on, months have 31, 30, 31, 30, 31 days, repeating: 153 in five.
    of_years + (153 * month + 2) / 5 - 719_468
}

/// Year and month of a day.
fn civil(days: i64) -> (i64, u32) {
    // The year from its mean length may be off by one.
    let mut year = 1970 + (days as f64 / 365.2425).floor() as i64;
    while days_before(year + 1, 1) <= days {
        year += 1;
    }
    while days_before(year, 1) > days {
        year -= 1;
    }
    let month = (1..=12).rev().find(|&month| days_before(year, month) <= days).unwrap_or(1);
    (year, month as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_four_centuries_round_trips() {
        let (mut year, mut month, mut day) = (1800, 1, 1);
        let first = date(year, month, day).unwrap();
        for days in first..first + 146_097 {
            assert_eq!(date(year, month, day), Some(days), "{year}-{month}-{day}");
            assert_eq!(DatePart::Month.of_days(days as f64), f64::from(month));
            day += 1;
            if date(year, month, day).is_none() {
                (month, day) = (month + 1, 1);
            }
            if month == 13 {
                (year, month) = (year + 1, 1);
            }
        }
        // 2024-02-29 was a Thursday, 2000-01-01 a Saturday.
        assert_eq!(DatePart::Weekday.of_days(date(2024, 2, 29).unwrap() as f64), 4.0);
        assert_eq!(DatePart::Weekday.of_days(date(2000, 1, 1).unwrap() as f64), 6.0);
        assert_eq!(date(1970, 1, 1), Some(0));
        assert_eq!(date(2023, 2, 29), None);
    }

    #[test]
    fn the_form_is_inferred_from_all_cells() {
        let form = |texts: &[&str]| common_form(texts.iter().copied());
        assert_eq!(form(&["2024-03-31", "2024-12-01T10:00"]), Some(DateForm::YearFirst));
        assert_eq!(form(&["01/12/2017", "31/12/2017"]), Some(DateForm::DayFirst));
        assert_eq!(form(&["01/12/2017", "12/31/2017"]), Some(DateForm::MonthFirst));
        assert_eq!(form(&["01/02/2017"]), Some(DateForm::MonthFirst));
        assert_eq!(form(&["01.02.2017"]), Some(DateForm::DayFirst));
        assert_eq!(form(&["31 Mar 2024", "April 1, 2024", "2-may-2024"]), Some(DateForm::MonthName));
        assert_eq!(form(&["12:30", "7:05:30 pm"]), Some(DateForm::TimeOfDay));
        for none in [
            &["2024-13-01"][..],
            &["2024-02-30"],
            &["1.2.3"],
            &["2024-01-01", "soon"],
            &["12"],
            &[],
            &["a:b"],
            &["24:00"],
            &["1/2/24"],
        ] {
            assert_eq!(form(none), None, "{none:?}");
        }
    }

    #[test]
    fn times_and_zones_are_parsed() {
        let seconds = |text: &str| parse(text, DateForm::YearFirst).unwrap().seconds();
        assert_eq!(seconds("1970-01-02"), 86_400.0);
        assert_eq!(seconds("1970-01-01T01:00:00.5"), 3600.5);
        assert_eq!(seconds("1970-01-01 01:00Z"), 3600.0);
        assert_eq!(seconds("1970-01-01T01:00+02:00"), -3600.0);
        assert_eq!(seconds("1970-01-01T23:00-0200"), 25.0 * 3600.0);
        assert_eq!(seconds("1970-01-01 12:15 AM"), 900.0);
        let days = parse("2024-03-31T18:00", DateForm::YearFirst).unwrap().days();
        assert_eq!(DatePart::Hour.of_days(days), 18.0);
        assert_eq!(DatePart::Hour.of_days(0.1), 2.4);
        assert!(DatePart::Month.of_days(f64::NAN).is_nan() && DatePart::Month.of_days(1e300).is_nan());
    }
}
