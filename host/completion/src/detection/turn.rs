//! What is known of the turn that runs.

use std::time::Duration;

use super::{
    AgentStatus, Reason, Verdict,
    echo::{Echo, last_line},
};

/// What is kept of the input's last line, in bytes.
const LONGEST_LINE: usize = 256;

#[derive(Debug, Clone)]
pub(super) struct Turn {
    pub(super) began: Duration,
    pub(super) echo: Echo,
    /// The end of the input's last line.
    line: Box<str>,
    /// A shell runs a command for each line.
    pub(super) several_lines: bool,
    /// A command ran at the input, so the next end may be that one's.
    pub(super) interrupts: bool,
    pub(super) messages: u64,
    pub(super) attempts: u32,
    pub(super) empty_polls: u32,
    pub(super) last_event: Duration,
    pub(super) last_output: Duration,
    pub(super) last_attempt: Duration,
    status: Option<AgentStatus>,
    /// Since when the status says that the agent is done.
    pub(super) done_since: Option<Duration>,
    /// A status that said so did not hold.
    pub(super) done_passed: bool,
    /// The agent said in this turn that it works.
    pub(super) worked: bool,
    /// An error status was seen.
    pub(super) failed: bool,
    /// What the source said, and from when on it counts.
    pub(super) signal: Option<(Duration, Reason)>,
    pub(super) prompt: Option<(Duration, Verdict)>,
    /// Whether the program waits for input, as last seen.
    pub(super) waits: Option<bool>,
    /// When it was last seen to be busy with something else.
    pub(super) busy_at: Option<Duration>,
    /// When it will have woken by itself since its last output.
    pub(super) wakes_by: Option<Duration>,
    /// When to look at the cursor's row.
    pub(super) look: Option<Duration>,
    /// Once there, nothing of this changes any more.
    pub(super) verdict: Option<(Duration, Verdict)>,
}

impl Turn {
    pub(super) fn new(text: &str, at: Duration, command_runs: bool) -> Self {
        let line = last_line(text);
        let mut start = line.len().saturating_sub(LONGEST_LINE);
        while !line.is_char_boundary(start) {
            start += 1;
        }
        Self {
            began: at,
            echo: Echo::new(text),
            line: line[start..].into(),
            several_lines: text.trim_end().contains(['\n', '\r']),
            interrupts: command_runs,
            messages: 0,
            attempts: 0,
            empty_polls: 0,
            last_event: at,
            last_output: at,
            last_attempt: at,
            status: None,
            done_since: None,
            done_passed: false,
            worked: false,
            failed: false,
            signal: None,
            prompt: None,
            waits: None,
            busy_at: None,
            wakes_by: None,
            look: None,
            verdict: None,
        }
    }

    /// Something came.
    pub(super) fn touch(&mut self, at: Duration) {
        self.last_event = at;
        self.empty_polls = 0;
        // What was seen of the program was before this.
        (self.waits, self.wakes_by) = (None, None);
    }

    pub(super) fn message(&mut self, at: Duration) {
        self.touch(at);
        self.messages = self.messages.saturating_add(1);
    }

    /// The screen changed; its row is looked at when it has been quiet.
    pub(super) fn output(&mut self, at: Duration, quiet: Duration) {
        self.touch(at);
        self.last_output = at;
        self.look = Some(at.saturating_add(quiet));
    }

    pub(super) fn status(&mut self, status: AgentStatus, at: Duration) {
        let repeated = self.status.replace(status) == Some(status);
        // One that repeats that it works is alive; one that repeats that it is
        // done, or failed, has nothing to add.
        if !repeated || works(status) {
            self.touch(at);
        }
        self.worked |= works(status);
        self.failed |= status == AgentStatus::Error;
        if is_done(status) {
            self.done_since.get_or_insert(at);
        } else if self.done_since.take().is_some() {
            self.done_passed = true;
        }
    }

    pub(super) fn polled(&mut self, empty: bool, distance: Duration, at: Duration) {
        if !empty {
            self.empty_polls = 0;
        }
        if at.saturating_sub(self.last_attempt) < distance {
            return;
        }
        self.last_attempt = at;
        self.attempts = self.attempts.saturating_add(1);
        if empty && at.saturating_sub(self.last_event) >= distance {
            self.empty_polls = self.empty_polls.saturating_add(1);
        }
    }

    /// Whether silence means anything yet.
    pub(super) fn may_idle(&self) -> bool {
        self.messages > 0 || self.failed
    }

    /// Whether the agent says that there is more to come.
    pub(super) fn is_working(&self) -> bool {
        self.status.is_some_and(works)
    }

    /// Whether a row ends with the input as it was typed behind a prompt.
    pub(super) fn is_typed(&self, row: &str) -> bool {
        let row = row.trim();
        !self.line.is_empty() && row.len() > self.line.len() && row.ends_with(&*self.line)
    }
}

/// Whether an agent that says so has more to come.
fn works(status: AgentStatus) -> bool {
    matches!(status, AgentStatus::Processing | AgentStatus::Typing)
}

/// Whether an agent that says so has nothing more to come.
fn is_done(status: AgentStatus) -> bool {
    matches!(status, AgentStatus::Ready | AgentStatus::Completed)
}
