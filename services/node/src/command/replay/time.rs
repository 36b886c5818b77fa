//! Times and places, as people type them.

use chrono::{DateTime, TimeDelta, Utc};

/// Where a replay ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// With this fact.
    Seq(u64),
    /// With the facts of that time.
    Time(DateTime<Utc>),
}

/// A time, or so long ago.
pub(in crate::command) fn since(text: &str) -> Result<DateTime<Utc>, String> {
    time(text, Utc::now())
}

/// A fact's number, or a time.
pub(super) fn until(text: &str) -> Result<Until, String> {
    match text.parse() {
        Ok(seq) => Ok(Until::Seq(seq)),
        Err(_) => time(text, Utc::now()).map(Until::Time),
    }
}

fn time(text: &str, now: DateTime<Utc>) -> Result<DateTime<Utc>, String> {
    if let Ok(time) = text.parse::<DateTime<Utc>>() {
        return Ok(time);
    }
    let wrong = || "expected a time such as 2026-05-01T12:00:00Z, or 90s, 15m, 2h, 7d ago".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let number = text.trim_end_matches(unit).parse::<u32>().map_err(|_| wrong())?;
    let ago = match unit {
        's' => TimeDelta::seconds(number.into()),
        'm' => TimeDelta::minutes(number.into()),
        'h' => TimeDelta::hours(number.into()),
        'd' => TimeDelta::days(number.into()),
        _ => return Err(wrong()),
    };
    now.checked_sub_signed(ago).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_absolute_or_so_long_ago() {
        let now = "2026-05-01T12:00:00Z".parse().unwrap();
        assert_eq!(
            time("2026-05-01T10:00:00+02:00", now),
            "2026-05-01T08:00:00Z".parse().map_err(|_| String::new())
        );
        assert_eq!(time("90s", now), Ok(now - TimeDelta::seconds(90)));
        assert_eq!(time("2h", now), Ok(now - TimeDelta::hours(2)));
        assert!(time("yesterday", now).is_err() && time("", now).is_err() && time("5", now).is_err());
        assert_eq!(until("17"), Ok(Until::Seq(17)));
    }
}
