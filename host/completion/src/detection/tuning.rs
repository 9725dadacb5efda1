//! Changes to how turns are judged: every number of [`Parameters`], each by its name.
//!
//! Configurations, turns and streams all take this, so that none knows a
//! parameter that the others do not.

use std::{fmt, time::Duration};

use schemars::JsonSchema;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::{
    Adaptation, InvalidParameter, Parameters,
    parameters::{
        BROAD, BUSY, DRAIN, INACTIVITY, LIMIT, LONGEST, LONGEST_MILLISECONDS, MAX_ATTEMPTS, SETTLE, SHORTEST, STRICT,
        WAIT, given_time, order,
    },
};

const MILLISECOND: Duration = Duration::from_millis(1);

/// What is to be otherwise; what is absent stays, but for what may not exceed a
/// limit that became shorter, which is shortened with it. Times are from 1 ms to
/// 24 hours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, remote = "Tuning")]
pub struct Tuning {
    /// How long one look for output waits, which is an attempt.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub wait_for_data_milliseconds: Option<u64>,
    /// Attempts after which a turn is over, whatever came.
    #[schemars(range(min = 1, max = MAX_ATTEMPTS))]
    pub max_attempts: Option<u32>,
    /// Attempts in a row that found nothing, after which a turn is over, also
    /// while the program is known to work.
    #[schemars(range(min = 1, max = MAX_ATTEMPTS))]
    pub consecutive_empty_polls: Option<u32>,
    /// How long a turn may be silent once something came; also while the program
    /// is known to work, unless `busy_inactivity_timeout_milliseconds` is given,
    /// and however long its turns usually are, unless `adaptive` is.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub inactivity_timeout_milliseconds: Option<u64>,
    /// The same while the program is known to work.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub busy_inactivity_timeout_milliseconds: Option<u64>,
    /// How long a turn may last, whatever comes.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub time_limit_milliseconds: Option<u64>,
    /// How long a status that says `ready` must hold.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub settle_milliseconds: Option<u64>,
    /// How long output is waited for once the program has ended.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub drain_milliseconds: Option<u64>,
    /// How long a terminal is quiet before a strict prompt counts.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub strict_quiet_milliseconds: Option<u64>,
    /// How long it is quiet before what may be a prompt counts.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub broad_quiet_milliseconds: Option<u64>,
    /// Whether the inactivity timeout follows what the source usually takes: 1.5
    /// times the mean of its turns so far, within the two bounds.
    pub adaptive: Option<bool>,
    /// The shortest that it becomes by that; 30,000 where absent, or what it is
    /// without where that is shorter.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub adaptive_shortest_milliseconds: Option<u64>,
    /// The longest that it becomes by that; 120,000 where absent.
    #[schemars(range(min = 1, max = LONGEST_MILLISECONDS))]
    pub adaptive_longest_milliseconds: Option<u64>,
}

impl Tuning {
    /// Whether nothing is to be otherwise.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Every time, by its name.
    fn times(&self) -> [(&'static str, Option<u64>); 10] {
        [
            (WAIT, self.wait_for_data_milliseconds),
            (INACTIVITY, self.inactivity_timeout_milliseconds),
            (BUSY, self.busy_inactivity_timeout_milliseconds),
            (LIMIT, self.time_limit_milliseconds),
            (SETTLE, self.settle_milliseconds),
            (DRAIN, self.drain_milliseconds),
            (STRICT, self.strict_quiet_milliseconds),
            (BROAD, self.broad_quiet_milliseconds),
            (SHORTEST, self.adaptive_shortest_milliseconds),
            (LONGEST, self.adaptive_longest_milliseconds),
        ]
    }
}

impl Serialize for Tuning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// Only of an object: by itself, `serde` takes a list for one, by its places.
impl<'de> Deserialize<'de> for Tuning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Tuning;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tuning, A::Error> {
                Tuning::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

fn set<T>(place: &mut T, wanted: Option<T>) {
    if let Some(wanted) = wanted {
        *place = wanted;
    }
}

/// Shortens values that were not asked for.
fn at_most<T: Ord + Copy>(place: &mut T, asked: bool, most: T) {
    if !asked {
        *place = (*place).min(most);
    }
}

impl Parameters {
    /// The same with what is to be otherwise.
    ///
    /// # Errors
    /// Where what was asked for is out of range or contradicts itself, by its
    /// name.
    pub fn tuned(mut self, tuning: &Tuning) -> Result<Self, InvalidParameter> {
        // First, so that nothing is named that was only shortened with it.
        for (name, given) in tuning.times() {
            given_time(name, given)?;
        }
        Self::refuse_contradictions(tuning)?;
        let time = |milliseconds: Option<u64>| milliseconds.map(Duration::from_millis);
        set(&mut self.wait_for_data, time(tuning.wait_for_data_milliseconds));
        set(&mut self.max_attempts, tuning.max_attempts);
        set(&mut self.consecutive_empty_polls, tuning.consecutive_empty_polls);
        self.empty_polls_while_busy |= tuning.consecutive_empty_polls.is_some();
        set(&mut self.time_limit, time(tuning.time_limit_milliseconds));
        set(&mut self.inactivity_timeout, time(tuning.inactivity_timeout_milliseconds));
        set(&mut self.busy_inactivity_timeout, time(tuning.busy_inactivity_timeout_milliseconds));
        set(&mut self.settle, time(tuning.settle_milliseconds));
        set(&mut self.drain, time(tuning.drain_milliseconds));
        set(&mut self.strict_quiet, time(tuning.strict_quiet_milliseconds));
        set(&mut self.broad_quiet, time(tuning.broad_quiet_milliseconds));
        let limit = self.time_limit;
        at_most(&mut self.inactivity_timeout, tuning.inactivity_timeout_milliseconds.is_some(), limit);
        if tuning.busy_inactivity_timeout_milliseconds.is_none() {
            self.busy_inactivity_timeout = match tuning.inactivity_timeout_milliseconds {
                // A caller that sets the silence means it for busy programs, too.
                Some(_) => self.inactivity_timeout,
                None => self.busy_inactivity_timeout.max(self.inactivity_timeout).min(limit),
            };
        }
        let most = self.busy_inactivity_timeout;
        at_most(&mut self.inactivity_timeout, tuning.inactivity_timeout_milliseconds.is_some(), most);
        at_most(&mut self.settle, tuning.settle_milliseconds.is_some(), limit);
        at_most(&mut self.broad_quiet, tuning.broad_quiet_milliseconds.is_some(), self.inactivity_timeout);
        let adapts = tuning.adaptive.unwrap_or_else(|| {
            // What was asked for holds, and is no beginning of something else.
            self.adaptation.is_some() && tuning.inactivity_timeout_milliseconds.is_none()
        });
        if let Some(floor) = time(tuning.adaptive_shortest_milliseconds).filter(|_| adapts) {
            at_most(&mut self.broad_quiet, tuning.broad_quiet_milliseconds.is_some(), floor);
        }
        at_most(&mut self.strict_quiet, tuning.strict_quiet_milliseconds.is_some(), self.broad_quiet);
        at_most(&mut self.consecutive_empty_polls, tuning.consecutive_empty_polls.is_some(), self.max_attempts);
        let bounds = self.bounds(tuning);
        if tuning.adaptive_shortest_milliseconds.or(tuning.adaptive_longest_milliseconds).is_some() {
            // Also where it does not adapt: the bounds are wrong in any case.
            let quiet = if adapts { self.broad_quiet } else { MILLISECOND };
            Self { broad_quiet: quiet, ..self.clone() }.validate_adaptation(bounds)?;
        }
        self.adaptation = adapts.then_some(bounds);
        self.validate()?;
        Ok(self)
    }

    /// Of what was asked for, each must leave room for the others.
    fn refuse_contradictions(tuning: &Tuning) -> Result<(), InvalidParameter> {
        let asked = [
            (STRICT, tuning.strict_quiet_milliseconds),
            (BROAD, tuning.broad_quiet_milliseconds),
            (INACTIVITY, tuning.inactivity_timeout_milliseconds),
            (BUSY, tuning.busy_inactivity_timeout_milliseconds),
            (LIMIT, tuning.time_limit_milliseconds),
        ];
        let asked = asked.into_iter().filter_map(|(name, given)| Some((name, Duration::from_millis(given?))));
        let asked: Vec<_> = asked.collect();
        for (place, shorter) in asked.iter().enumerate() {
            for longer in &asked[place + 1..] {
                order(*shorter, *longer)?;
            }
        }
        Ok(())
    }

    /// The bounds of adaptation with what is to be otherwise.
    fn bounds(&self, tuning: &Tuning) -> Adaptation {
        let mut bounds = self.adaptation.unwrap_or_default();
        let (shortest, longest) = (tuning.adaptive_shortest_milliseconds, tuning.adaptive_longest_milliseconds);
        set(&mut bounds.shortest, shortest.map(Duration::from_millis));
        set(&mut bounds.longest, longest.map(Duration::from_millis));
        at_most(&mut bounds.longest, longest.is_some(), self.time_limit);
        at_most(&mut bounds.shortest, shortest.is_some(), bounds.longest);
        if shortest.is_none() {
            // No quick answer makes silence last longer than it would without.
            bounds.shortest = bounds.shortest.min(self.inactivity_timeout).max(self.broad_quiet).min(bounds.longest);
        }
        bounds
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde::de::IgnoredAny;
    use wharf_contract::turn::Parameter;

    use super::*;
    use crate::detection::Preset;

    fn tuned(preset: Preset, json: &str) -> Result<Parameters, String> {
        let tuning: Tuning = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Parameters::from(preset).tuned(&tuning).map_err(|error| error.to_string())
    }

    #[test]
    fn every_number_of_a_detector_can_be_set_by_its_name() {
        let all = r#"{"wait_for_data_milliseconds": 11000, "max_attempts": 12, "consecutive_empty_polls": 4,
            "inactivity_timeout_milliseconds": 40000, "busy_inactivity_timeout_milliseconds": 50000,
            "time_limit_milliseconds": 90000, "settle_milliseconds": 300, "drain_milliseconds": 70,
            "strict_quiet_milliseconds": 150, "broad_quiet_milliseconds": 1500, "adaptive": true,
            "adaptive_shortest_milliseconds": 2000, "adaptive_longest_milliseconds": 60000}"#;
        let Parameters {
            wait_for_data,
            max_attempts,
            consecutive_empty_polls,
            inactivity_timeout,
            busy_inactivity_timeout,
            time_limit,
            settle,
            drain,
            strict_quiet,
            broad_quiet,
            prompts: _,
            adaptation,
            empty_polls_while_busy: _,
        } = tuned(Preset::Agent, all).expect("valid");
        let times = [wait_for_data, inactivity_timeout, busy_inactivity_timeout, time_limit, settle, drain];
        assert_eq!(times.map(|time| time.as_millis()), [11_000, 40_000, 50_000, 90_000, 300, 70]);
        assert_eq!([strict_quiet, broad_quiet].map(|time| time.as_millis()), [150, 1_500]);
        assert_eq!((max_attempts, consecutive_empty_polls), (12, 4));
        let bounds = adaptation.map(|bounds| (bounds.shortest.as_secs(), bounds.longest.as_secs()));
        assert_eq!(bounds, Some((2, 60)));
        assert!(Tuning::default().is_empty());
        let all: BTreeMap<&str, IgnoredAny> = serde_json::from_str(all).expect("an object");
        assert_eq!(all.into_keys().collect::<BTreeSet<_>>(), Parameter::WORDS.iter().copied().collect());
    }

    #[test]
    fn what_nobody_asked_for_gives_way_and_what_was_asked_for_does_not() {
        for preset in Preset::ALL {
            for json in [
                "{}",
                r#"{"time_limit_milliseconds": 1000}"#,
                r#"{"inactivity_timeout_milliseconds": 5}"#,
                r#"{"inactivity_timeout_milliseconds": 200000}"#,
                r#"{"busy_inactivity_timeout_milliseconds": 500}"#,
                r#"{"max_attempts": 1}"#,
                r#"{"adaptive": true}"#,
                r#"{"adaptive": true, "time_limit_milliseconds": 1000}"#,
            ] {
                tuned(preset, json).unwrap_or_else(|error| panic!("{preset} {json}: {error}"));
            }
        }
        for (json, said) in [
            (r#"{"max_attempts": 2, "consecutive_empty_polls": 3}"#, "`consecutive_empty_polls` must be from 1 to 2"),
            (
                r#"{"time_limit_milliseconds": 10, "inactivity_timeout_milliseconds": 20}"#,
                "`inactivity_timeout_milliseconds` (20) must not exceed `time_limit_milliseconds` (10)",
            ),
            (
                r#"{"time_limit_milliseconds": 10, "strict_quiet_milliseconds": 20}"#,
                "`strict_quiet_milliseconds` (20) must not exceed `time_limit_milliseconds` (10)",
            ),
            (r#"{"time_limit_milliseconds": 0}"#, "`time_limit_milliseconds` must be from 1 to 86400000, not 0"),
            (
                r#"{"strict_quiet_milliseconds": 9, "broad_quiet_milliseconds": 8}"#,
                "`strict_quiet_milliseconds` (9) must not exceed `broad_quiet_milliseconds` (8)",
            ),
            (
                r#"{"adaptive": true, "adaptive_shortest_milliseconds": 5, "broad_quiet_milliseconds": 8}"#,
                "`broad_quiet_milliseconds` (8) must not exceed `adaptive_shortest_milliseconds` (5)",
            ),
            (r#"{"wait_for_data_milliseconds": 0}"#, "`wait_for_data_milliseconds` must be from 1 to 86400000, not 0"),
            (r#"{"time_limit_milliseconds": 86400001}"#, "`time_limit_milliseconds` must be"),
            (r#"{"silence": 3}"#, "silence"),
        ] {
            let error = tuned(Preset::Shell, json).expect_err(json);
            assert!(error.contains(said), "{json}: {error}");
        }
    }

    #[test]
    fn the_bounds_of_adaptation_are_checked_whether_or_not_it_adapts() {
        let bounds = |more: &str| {
            format!(r#"{{"adaptive_shortest_milliseconds": 9000, "adaptive_longest_milliseconds": 8000{more}}}"#)
        };
        for json in [bounds(""), bounds(r#", "adaptive": true"#), bounds(r#", "adaptive": false"#)] {
            let error = tuned(Preset::Agent, &json).expect_err(&json);
            assert!(error.contains("`adaptive_shortest_milliseconds` (9000)"), "{json}: {error}");
        }
        let error = tuned(Preset::Agent, r#"{"adaptive_longest_milliseconds": 0}"#).expect_err("no time");
        assert!(error.contains("`adaptive_longest_milliseconds` must be"), "{error}");
        // Values that were not asked for give way to a floor, too.
        let json = r#"{"adaptive": true, "adaptive_shortest_milliseconds": 5000}"#;
        let parameters = tuned(Preset::Agent, json).expect("valid");
        assert_eq!(parameters.broad_quiet, Duration::from_secs(5));
    }

    #[test]
    fn the_floor_of_adaptation_is_no_longer_than_the_silence_of_the_preset() {
        let floor =
            |preset, json| tuned(preset, json).expect("valid").adaptation.expect("it adapts").shortest.as_secs();
        assert_eq!(floor(Preset::Repl, r#"{"adaptive": true}"#), 3);
        assert_eq!(floor(Preset::Agent, r#"{"adaptive": true}"#), 30);
        assert_eq!(floor(Preset::Agent, r#"{"adaptive": true, "inactivity_timeout_milliseconds": 12000}"#), 12);
        assert_eq!(floor(Preset::Repl, r#"{"adaptive": true, "adaptive_shortest_milliseconds": 20000}"#), 20);
    }

    #[test]
    fn silence_that_was_asked_for_holds_while_the_program_works_and_whatever_was_usual() {
        let seconds = Duration::from_secs;
        for preset in Preset::ALL {
            let own = Parameters::from(preset);
            let asked = tuned(preset, r#"{"inactivity_timeout_milliseconds": 2000}"#).expect("valid");
            assert_eq!((asked.inactivity_timeout, asked.busy_inactivity_timeout), (seconds(2), seconds(2)), "{preset}");
            assert!(!asked.empty_polls_while_busy);
            let both = r#"{"inactivity_timeout_milliseconds": 2000, "busy_inactivity_timeout_milliseconds": 9000}"#;
            assert_eq!(tuned(preset, both).expect("valid").busy_inactivity_timeout, seconds(9), "{preset}");
            let polls = tuned(preset, r#"{"consecutive_empty_polls": 1}"#).expect("valid");
            assert!(polls.empty_polls_while_busy && !own.empty_polls_while_busy);
            let adaptive = tuned(preset, r#"{"adaptive": true}"#).expect("valid");
            let limited = adaptive.clone().limited(Some(seconds(2)), None).expect("valid");
            assert_eq!((limited.inactivity_timeout, limited.busy_inactivity_timeout), (seconds(2), seconds(2)));
            assert_eq!(limited.adaptation, None, "what was asked for is no beginning of something else");
            let short = adaptive.limited(None, Some(seconds(1))).expect("what was not asked for gives way");
            assert!(short.adaptation.is_some_and(|bounds| bounds.longest == seconds(1)), "{preset}");
        }
    }

    #[test]
    fn a_list_is_no_tuning() {
        for json in ["[500, 3, 1]", "[]", r#"[{"adaptive": true}]"#, "3"] {
            assert!(tuned(Preset::Agent, json).is_err(), "{json}");
        }
    }
}
