//! Lines that commands append to a file of their session, which is on one host: a host that acts for
//! the session sees all lines that were acknowledged, or the session has been told that its files
//! are lost.

use serde_json::{Value, json};
use wharf_test_support::blocking;

use super::lane::{AtHome, structured};
use crate::cluster::ClusterHost;

const SHELL: &str = "workspace__execute_shell";

/// Lines of one session, before the next one is begun: an answer has room for all of them.
const OF_ONE_SESSION: usize = 40;

/// One session after the other, and what it was told.
pub(super) struct Files {
    number: usize,
    session: usize,
    appended: u64,
    lines: Vec<u64>,
    /// Of calls without an answer: each may turn up at any later time, once.
    unknown: Vec<u64>,
    /// How often its files were told as lost.
    pub(super) lost: u64,
}

/// What came of a call.
enum Heard {
    /// The lines that the file has now.
    Lines(Vec<u64>),
    /// The files are lost, and the call did nothing.
    Lost,
    /// Nobody knows whether it ran; why.
    Unknown(String),
}

impl AtHome for Files {
    /// Appends a line.
    fn step(&mut self, host: &ClusterHost) -> bool {
        if self.lines.len() + self.unknown.len() >= OF_ONE_SESSION {
            *self = Self { session: self.session + 1, lost: self.lost, ..Self::new(self.number) };
        }
        self.appended += 1;
        let line = self.appended;
        match self.run(host, &format!("echo {line} >> log; cat log")) {
            Heard::Lines(found) => {
                self.lines.push(line);
                self.check(found);
                true
            }
            Heard::Lost => {
                self.lose();
                true
            }
            Heard::Unknown(_) => {
                self.unknown.push(line);
                false
            }
        }
    }

    fn verify(&mut self, host: &ClusterHost) {
        let found =
            blocking::until("a host acts for the session", || match self.run(host, "cat log 2>/dev/null || true") {
                Heard::Lines(found) => Ok(found),
                Heard::Lost => {
                    self.lose();
                    Err("the files are lost".to_owned())
                }
                Heard::Unknown(why) => Err(why),
            });
        self.check(found);
    }
}

impl Files {
    pub(super) fn new(number: usize) -> Self {
        Self { number, session: 0, appended: 0, lines: Vec::new(), unknown: Vec::new(), lost: 0 }
    }

    fn run(&self, host: &ClusterHost, command: &str) -> Heard {
        let meta = json!({"dev.wharf/sessionId": format!("files-{}-{}", self.number, self.session)});
        let Some(result) = host.attempt(SHELL, &json!({"command": command}), &meta) else {
            return Heard::Unknown("there is no answer".to_owned());
        };
        if result["isError"] != true {
            let text = structured(&result)["stdout"]["text"].as_str().unwrap_or_default();
            return Heard::Lines(text.lines().map(|line| line.parse().expect("a number")).collect());
        }
        let error: &Value = &result["_meta"]["dev.wharf/error"];
        let said = error["message"].as_str().unwrap_or_default();
        match error["code"].as_str() {
            Some("gone") if said.contains("are lost") => Heard::Lost,
            Some("gone" | "unavailable") => Heard::Unknown(said.to_owned()),
            _ => panic!("{result}"),
        }
    }

    fn lose(&mut self) {
        self.lost += 1;
        self.lines.clear();
    }

    fn check(&mut self, found: Vec<u64>) {
        let of_unknown: Vec<u64> = found.iter().copied().filter(|line| self.unknown.contains(line)).collect();
        let mut once = of_unknown.clone();
        once.dedup();
        assert_eq!(once, of_unknown, "a call ran twice");
        let others: Vec<u64> = found.iter().copied().filter(|line| !self.unknown.contains(line)).collect();
        let acknowledged: Vec<u64> = self.lines.iter().copied().filter(|line| !self.unknown.contains(line)).collect();
        assert_eq!(others, acknowledged, "session {}: acknowledged lines are lost, or others are there", self.number);
    }
}
