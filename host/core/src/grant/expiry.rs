//! Until when a grant holds.

use std::{borrow::Cow, fmt, str::FromStr, time::SystemTime};

use chrono::{DateTime, Days, NaiveDate, NaiveTime, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The end of a grant: a day (`2027-01-31`), which it still holds in UTC, or a
/// time with its zone (`2027-01-31T18:00:00Z`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    written: String,
    /// The first moment at which it does not hold.
    end: DateTime<Utc>,
}

/// A text that names no end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`expires` is a day (2027-01-31) or a time with its zone (2027-01-31T18:00:00Z), not `{shown}`")]
pub struct InvalidExpiry {
    shown: String,
}

impl Expiry {
    /// Whether it does not hold any more.
    #[must_use]
    pub fn is_over(&self, now: SystemTime) -> bool {
        now >= SystemTime::from(self.end)
    }

    /// How long it still holds.
    #[must_use]
    pub fn left(&self, now: SystemTime) -> std::time::Duration {
        SystemTime::from(self.end).duration_since(now).unwrap_or_default()
    }

    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// What both ways of writing it match; for an editor's schema.
    pub(super) const PATTERN: &'static str =
        r"^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$";
}

impl FromStr for Expiry {
    type Err = InvalidExpiry;

    fn from_str(written: &str) -> Result<Self, InvalidExpiry> {
        let day = || {
            // The parser takes signs and spaces, too, which no day has.
            let plain = written.len() == 10 && written.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            let day = plain.then(|| written.parse::<NaiveDate>().ok())??;
            Some(day.checked_add_days(Days::new(1))?.and_time(NaiveTime::MIN).and_utc())
        };
        let time = || Some(DateTime::parse_from_rfc3339(written).ok()?.with_timezone(&Utc));
        match day().or_else(time) {
            Some(end) => Ok(Self { written: written.to_owned(), end }),
            None => Err(InvalidExpiry { shown: crate::text::line(written, 64) }),
        }
    }
}

impl fmt::Display for Expiry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

impl Serialize for Expiry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.written)
    }
}

impl<'de> Deserialize<'de> for Expiry {
    /// A text, or what formats with times of their own hand over for one: a map
    /// with one private key, and the time's text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Expiry;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a day (2027-01-31) or a time with its zone (2027-01-31T18:00:00Z)")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Expiry, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Expiry, A::Error> {
                match map.next_key::<Cow<'de, str>>()? {
                    Some(key) if key.starts_with("$__") => self.visit_str(&map.next_value::<String>()?),
                    _ => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
                }
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl schemars::JsonSchema for Expiry {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Expiry".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": Self::PATTERN})
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(text: &str) -> SystemTime {
        DateTime::parse_from_rfc3339(text).expect("a time").into()
    }

    #[test]
    fn a_day_holds_to_its_end_in_utc_and_a_time_to_the_moment() {
        let day: Expiry = "2027-01-31".parse().expect("a day");
        assert!(!day.is_over(at("2027-01-31T23:59:59Z")));
        assert!(day.is_over(at("2027-02-01T00:00:00Z")));
        let time: Expiry = "2027-01-31T18:00:00+02:00".parse().expect("a time");
        assert!(!time.is_over(at("2027-01-31T15:59:59Z")));
        assert!(time.is_over(at("2027-01-31T16:00:00Z")));
        assert_eq!(time.left(at("2027-01-31T15:59:00Z")), Duration::from_secs(60));
        assert_eq!(time.left(at("2027-02-01T00:00:00Z")), Duration::ZERO);
    }

    #[test]
    fn what_names_no_moment_is_refused_and_so_is_a_time_without_a_zone() {
        for text in ["", "never", "2027-02-30", "2027-1-31", "+027-01-31", "2027-01-31T18:00:00", "31.01.2027", "2027"]
        {
            assert!(text.parse::<Expiry>().is_err(), "{text}");
        }
        let long = "9".repeat(1 << 20);
        assert!(long.parse::<Expiry>().expect_err("no day").to_string().len() < 300);
    }
}
