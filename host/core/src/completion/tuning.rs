//! What somebody wants to be otherwise in how turns are judged: every number of
//! [`Parameters`], each by its name.
//!
//! Configurations, turns and streams all take this, so that none knows a
//! parameter that the others do not.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Adaptation, InvalidParameter, Parameters};

/// What is to be otherwise; what is absent stays, but for what may not exceed a
/// limit that became shorter, which is shortened with it. Times are from 1 ms to
/// 24 hours.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tuning {
    /// How long one look for output waits, which is an attempt.
    pub wait_for_data_milliseconds: Option<u64>,
    /// Attempts after which a turn is over, whatever came.
    pub max_attempts: Option<u32>,
    /// Attempts in a row that found nothing, after which a turn is over.
    pub consecutive_empty_polls: Option<u32>,
    /// How long a turn may be silent once something came.
    pub inactivity_timeout_milliseconds: Option<u64>,
    /// The same while the program is known to work.
    pub busy_inactivity_timeout_milliseconds: Option<u64>,
    /// How long a turn may last, whatever comes.
    pub time_limit_milliseconds: Option<u64>,
    /// How long a status that says `ready` must hold.
    pub settle_milliseconds: Option<u64>,
    /// How long output is waited for once the program has ended.
    pub drain_milliseconds: Option<u64>,
    /// How long a terminal is quiet before a strict prompt counts.
    pub strict_quiet_milliseconds: Option<u64>,
    /// How long it is quiet before what may be a prompt counts.
    pub broad_quiet_milliseconds: Option<u64>,
    /// Whether `inactivity_timeout` follows what the source usually takes: 1.5
    /// times the mean of its turns so far, within the two bounds.
    pub adaptive: Option<bool>,
    /// The shortest that it becomes by that; 30,000 where absent.
    pub adaptive_shortest_milliseconds: Option<u64>,
    /// The longest that it becomes by that; 120,000 where absent.
    pub adaptive_longest_milliseconds: Option<u64>,
}

impl Tuning {
    /// Whether nothing is to be otherwise.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

fn set<T>(place: &mut T, wanted: Option<T>) {
    if let Some(wanted) = wanted {
        *place = wanted;
    }
}

/// Shortens what nobody asked for.
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
        let time = |milliseconds: Option<u64>| milliseconds.map(Duration::from_millis);
        set(&mut self.wait_for_data, time(tuning.wait_for_data_milliseconds));
        set(&mut self.max_attempts, tuning.max_attempts);
        set(&mut self.consecutive_empty_polls, tuning.consecutive_empty_polls);
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
            self.busy_inactivity_timeout = self.busy_inactivity_timeout.max(self.inactivity_timeout).min(limit);
        }
        let most = self.busy_inactivity_timeout;
        at_most(&mut self.inactivity_timeout, tuning.inactivity_timeout_milliseconds.is_some(), most);
        at_most(&mut self.settle, tuning.settle_milliseconds.is_some(), limit);
        at_most(&mut self.broad_quiet, tuning.broad_quiet_milliseconds.is_some(), self.inactivity_timeout);
        at_most(&mut self.strict_quiet, tuning.strict_quiet_milliseconds.is_some(), self.broad_quiet);
        at_most(&mut self.consecutive_empty_polls, tuning.consecutive_empty_polls.is_some(), self.max_attempts);
        self.adaptation = self.adapted(tuning);
        self.validate()?;
        Ok(self)
    }

    fn adapted(&self, tuning: &Tuning) -> Option<Adaptation> {
        if !tuning.adaptive.unwrap_or(self.adaptation.is_some()) {
            return None;
        }
        let mut bounds = self.adaptation.unwrap_or_default();
        let (shortest, longest) = (tuning.adaptive_shortest_milliseconds, tuning.adaptive_longest_milliseconds);
        set(&mut bounds.shortest, shortest.map(Duration::from_millis));
        set(&mut bounds.longest, longest.map(Duration::from_millis));
        at_most(&mut bounds.longest, longest.is_some(), self.time_limit);
        at_most(&mut bounds.shortest, shortest.is_some(), bounds.longest);
        if shortest.is_none() {
            bounds.shortest = bounds.shortest.max(self.broad_quiet).min(bounds.longest);
        }
        Some(bounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::completion::Preset;

    fn tuned(preset: Preset, json: &str) -> Result<Parameters, String> {
        let tuning: Tuning = serde_json::from_str(json).map_err(|error| error.to_string())?;
        preset.parameters().tuned(&tuning).map_err(|error| error.to_string())
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
        } = tuned(Preset::Agent, all).expect("valid");
        let times = [wait_for_data, inactivity_timeout, busy_inactivity_timeout, time_limit, settle, drain];
        assert_eq!(times.map(|time| time.as_millis()), [11_000, 40_000, 50_000, 90_000, 300, 70]);
        assert_eq!([strict_quiet, broad_quiet].map(|time| time.as_millis()), [150, 1_500]);
        assert_eq!((max_attempts, consecutive_empty_polls), (12, 4));
        let bounds = adaptation.map(|bounds| (bounds.shortest.as_secs(), bounds.longest.as_secs()));
        assert_eq!(bounds, Some((2, 60)));
        assert!(Tuning::default().is_empty());
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
        for (json, named) in [
            (r#"{"max_attempts": 2, "consecutive_empty_polls": 3}"#, "consecutive_empty_polls"),
            (r#"{"time_limit_milliseconds": 10, "inactivity_timeout_milliseconds": 20}"#, "inactivity_timeout"),
            (r#"{"strict_quiet_milliseconds": 9, "broad_quiet_milliseconds": 8}"#, "strict_quiet"),
            (r#"{"wait_for_data_milliseconds": 0}"#, "wait_for_data"),
            (r#"{"time_limit_milliseconds": 86400001}"#, "time_limit"),
            (r#"{"adaptive": true, "adaptive_shortest_milliseconds": 1}"#, "adaptation.shortest"),
            (r#"{"silence": 3}"#, "silence"),
        ] {
            let error = tuned(Preset::Shell, json).expect_err(json);
            assert!(error.contains(named), "{json}: {error}");
        }
    }
}
