//! The log: a JSON object in each line of standard error.

use crate::config::LogLevel;
use serde_json::{Map, Value};
use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes lines of the log.
#[derive(Debug, Clone, Copy)]
pub struct EventLog {
    level: LogLevel,
}

impl EventLog {
    /// A log of this level.
    pub fn new(level: LogLevel) -> EventLog {
        EventLog { level }
    }

    /// Whether lines of this level are written.
    pub fn has(&self, level: LogLevel) -> bool {
        self.level >= level
    }

    /// Writes a line, if its level is to be written. `fields` is a JSON object.
    pub fn write(&self, level: LogLevel, event: &str, fields: Value) {
        if !self.has(level) {
            return;
        }
        let mut line = Map::new();
        line.insert("time".into(), now().into());
        line.insert("event".into(), event.into());
        if let Value::Object(fields) = fields {
            line.extend(fields);
        }
        let mut text = Value::Object(line).to_string();
        text.push('\n');
        // There is no other place to report that the log can't be written.
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

/// The time in UTC, as RFC 3339 has it.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, day) = civil(days as i64);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

/// Year, month and day of a number of days since 1970-01-01 (H. Hinnant, "chrono-compatible low-level date algorithms").
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_are_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_775), (2026, 11, 18));
    }
}
