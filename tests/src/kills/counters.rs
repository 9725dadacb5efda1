//! Shells and pages that count, each on one host: one that answers has counted every call that was
//! acknowledged, and one that is gone stays gone.

use serde_json::{Value, json};
use wharf_test_support::blocking;

use super::lane::{AtHome, structured};
use crate::cluster::{ClusterHost, code_of};

/// Counters that are remembered once they are gone.
const REMEMBERED: usize = 3;

/// What counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    Shell,
    Page,
}

impl Of {
    /// The tool that makes one, and the field of its answer by which the counter is called.
    fn begin(self) -> (&'static str, Value, &'static str) {
        match self {
            Self::Shell => ("terminal__start_terminal", json!({"program": "sh"}), "terminal_id"),
            Self::Page => ("browser__create_session", json!({}), "session"),
        }
    }

    fn count(self, counter: &Value) -> (&'static str, Value) {
        match self {
            Self::Shell => {
                ("terminal__send_message", json!({"terminal_id": counter, "text": "n=$((n+1)); echo is-$n-"}))
            }
            Self::Page => {
                let script = "globalThis.n = (globalThis.n ?? 0) + 1; `is-${globalThis.n}-`";
                ("browser__evaluate", json!({"session": counter, "script": script}))
            }
        }
    }

    fn look(self, counter: &Value) -> (&'static str, Value) {
        match self {
            Self::Shell => ("terminal__read_screen", json!({"terminal_id": counter})),
            Self::Page => ("browser__get_page_content", json!({"session": counter})),
        }
    }
}

/// One counter after the other, in one session.
pub(super) struct Counters {
    of: Of,
    number: usize,
    counter: Option<Value>,
    counted: u64,
    /// Calls without an answer that have not shown: each may have counted, or count later.
    unknown: u64,
    gone: Vec<Value>,
}

impl AtHome for Counters {
    fn step(&mut self, host: &ClusterHost) -> bool {
        self.count(host).is_ok()
    }

    /// Counts on, once a host acts for the session, and asks for those that are gone.
    fn verify(&mut self, host: &ClusterHost) {
        blocking::until("a host acts for the session", || self.count(host));
        for gone in &self.gone {
            blocking::until("it is gone for ever", || {
                let (tool, arguments) = self.of.look(gone);
                let why = self.call(host, tool, &arguments).expect_err("it was gone");
                if why.starts_with("gone") { Ok(()) } else { Err(why) }
            });
        }
    }
}

impl Counters {
    pub(super) fn new(of: Of, number: usize) -> Self {
        Self { of, number, counter: None, counted: 0, unknown: 0, gone: Vec::new() }
    }

    /// Begins a counter, or has it count on. Why that was not answered.
    fn count(&mut self, host: &ClusterHost) -> Result<(), String> {
        let Some(counter) = self.counter.clone() else {
            let (tool, arguments, name) = self.of.begin();
            let begun = self.call(host, tool, &arguments)?;
            let counter = &structured(&begun)[name];
            assert!(counter.is_string(), "{begun}");
            self.counter = Some(counter.clone());
            (self.counted, self.unknown) = (0, 0);
            return Ok(());
        };
        let (tool, arguments) = self.of.count(&counter);
        let answer = match self.call(host, tool, &arguments) {
            Ok(answer) => answer,
            Err(why) if why.starts_with("gone") => {
                self.gone.insert(0, counter);
                self.gone.truncate(REMEMBERED);
                self.counter = None;
                return Err(why);
            }
            Err(why) => {
                // A shell that still counts for an unanswered call refuses the next one.
                self.unknown += u64::from(!why.starts_with("conflict"));
                return Err(why);
            }
        };
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        let counts = text.split("is-").filter_map(|rest| rest.split_once('-')?.0.parse::<u64>().ok());
        let count = counts.last().unwrap_or_else(|| panic!("it has not counted: {answer}"));
        let next = self.counted + 1;
        let possible = next..=next + self.unknown;
        assert!(possible.contains(&count), "{count} is none of {possible:?}: another {:?} answers", self.of);
        (self.counted, self.unknown) = (count, self.unknown - (count - next));
        Ok(())
    }

    fn call(&self, host: &ClusterHost, tool: &str, arguments: &Value) -> Result<Value, String> {
        let meta = json!({"dev.wharf/sessionId": format!("{:?}-{}", self.of, self.number)});
        let answer = host.attempt(tool, arguments, &meta).ok_or("there is no answer")?;
        match code_of(&answer).as_deref() {
            None => Ok(answer),
            Some(code @ ("gone" | "unavailable" | "conflict")) => Err(format!("{code}: {answer}")),
            Some(_) => panic!("{answer}"),
        }
    }
}
