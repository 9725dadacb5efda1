//! What is told to the operator.

mod plugin;
mod process;
mod state;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use plugin::{PluginLimitReport, PluginLookReport, PluginReport};
pub use process::{
    ContainmentReport, PollReport, ProcessLimitsReport, ProcessLookReport, ProcessOutput, ProcessReport,
    TreeProcessReport,
};
pub use state::{BucketReport, BucketsReport, StateReport};

/// How a host is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct HostReport {
    /// The version of the program.
    pub version: String,
    /// Its process id.
    pub pid: u32,
    /// When it was opened, as RFC 3339.
    pub started: String,
    /// The name among the hosts of its cluster, where it is in one.
    pub name: Option<String>,
    /// Calls that compute or wait for what they asked for.
    pub calls_running: u64,
    /// Calls that wait for a place.
    pub calls_waiting: u64,
    /// Processes, terminals and pages that run.
    pub things_running: u64,
    /// Calls that wait for a person.
    pub approvals_waiting: u64,
    /// Calls that have ended since it was opened.
    pub calls_ended: u64,
    /// Those of them that ended with an error.
    pub calls_failed: u64,
    /// What plugins asked for and are not granted, since it was opened.
    pub denials: u64,
    /// How many of the calls that have ended took how long: number `i` of these counts those of at least
    /// `(4 + i mod 4) × 2^(i div 4) / 4` microseconds and less than where the next one begins.
    pub durations: Vec<u64>,
    /// The page that shows a trace, with `{trace}` where its id goes, where the configuration names one.
    pub trace_page: Option<String>,
}

impl HostReport {
    /// One of this program, where nothing has happened yet.
    #[must_use]
    pub fn new(version: impl Into<String>, started: impl Into<String>) -> Self {
        Self {
            version: version.into(),
            pid: std::process::id(),
            started: started.into(),
            name: None,
            calls_running: 0,
            calls_waiting: 0,
            things_running: 0,
            approvals_waiting: 0,
            calls_ended: 0,
            calls_failed: 0,
            denials: 0,
            durations: Vec::new(),
            trace_page: None,
        }
    }
}

/// A host of a cluster, as its database says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClusterHostReport {
    /// Its name.
    pub name: String,
    /// Where the other hosts reach it.
    pub address: String,
    /// The version of its program.
    pub version: String,
    /// `alive`, `draining`, `silent` or `dead`.
    pub state: String,
    /// Sessions whose home it is.
    pub sessions: u64,
    /// Calls that run.
    pub calls: u64,
    /// Milliseconds since its last beat.
    pub silent_milliseconds: u64,
}

/// A call that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallReport {
    /// Names it, also in the audit.
    pub id: String,
    /// The name of the tool that clients see.
    pub tool: String,
    /// The plugin; `app` for tools of the app and of front ends.
    pub plugin: String,
    /// On whose behalf.
    pub tenant: String,
    /// In which session.
    pub session: String,
    /// By which assistant.
    pub assistant: Option<String>,
    /// In which thread.
    pub thread: Option<String>,
    /// The program that calls, as it calls itself.
    pub client: Option<String>,
    /// For how long, in milliseconds.
    pub milliseconds: u64,
    /// What it has asked its host for so far, files of WASI aside.
    pub host_calls: u64,
    /// Linear memory that an instance of it has had at most so far; 0 where none was made here.
    pub memory_bytes: u64,
}

/// A terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TerminalReport {
    /// Its handle.
    pub id: String,
    /// Whose it is.
    pub tenant: String,
    /// The plugin that opened it; `host` for a transport.
    pub plugin: String,
    /// In which session.
    pub session: String,
    /// By which assistant.
    pub assistant: Option<String>,
    /// What runs in it.
    pub command: String,
    /// `starting`, `running`, `restarting`, `ended`, `closed` and the like.
    pub status: String,
    /// How wide it is.
    pub columns: u16,
    /// How high it is.
    pub rows: u16,
    /// The system's id of its program, while that runs.
    pub pid: Option<u32>,
    /// When it was opened.
    pub started: String,
    /// When it was last used.
    pub last_used: String,
    /// When it ended.
    pub ended: Option<String>,
    /// How its program ended: `code` or `signal`.
    pub exit: Option<Value>,
    /// Why it is over, in words.
    pub because: Option<String>,
    /// How often its program was started again.
    pub restarts: u32,
    /// The file on which it is recorded.
    pub recording: Option<String>,
    /// How many look at it.
    pub viewers: u64,
    /// The turn that runs, or the last one.
    pub turn: Option<TurnReport>,
}

/// A turn of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TurnReport {
    /// Its number in the terminal.
    pub number: u64,
    /// Whether it is over.
    pub is_over: bool,
    /// Why it was taken for complete.
    pub reason: Option<String>,
    /// How sure that is: `low`, `medium`, `high`.
    pub confidence: Option<String>,
}

/// A web page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PageReport {
    /// Its handle.
    pub id: String,
    /// Whose it is.
    pub tenant: String,
    /// The plugin that opened it; `host` for a transport.
    pub plugin: String,
    /// In which session.
    pub session: String,
    /// Where it is.
    pub address: String,
    /// What it calls itself.
    pub title: String,
    /// `open`, `closed` and the like.
    pub status: String,
    /// When it was opened.
    pub opened: String,
    /// When it was last used.
    pub last_used: String,
    /// Scripts and steps that have no outcome yet.
    pub requests_pending: u64,
}

/// A stream of events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StreamReport {
    /// Its handle.
    pub id: String,
    /// Whose it is.
    pub tenant: String,
    /// The plugin that writes it; `host` for a transport.
    pub plugin: String,
    /// In which session.
    pub session: String,
    /// What it is about, in the words of its plugin.
    pub title: String,
    /// The last status that its source said of itself.
    pub status: Option<String>,
    /// Why it ended; absent while it lives.
    pub ended: Option<String>,
    /// Its last turn; 0 where none began.
    pub turn: u64,
    /// Events that were written.
    pub events: u64,
    /// Bytes that it keeps.
    pub bytes: u64,
    /// Milliseconds since it was opened.
    pub age_milliseconds: u64,
    /// Milliseconds since it was last written to or read.
    pub idle_milliseconds: u64,
}

/// What a page has said and asked for of late, which its operator reads without using it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PageLookReport {
    /// The page.
    pub page: PageReport,
    /// The last 200 entries of its console, the oldest first, each with `number` and `time`.
    pub console: Vec<Value>,
    /// The last 200 requests that it made, refused ones included: `denied` and `failure` say so.
    pub requests: Vec<Value>,
}

/// A picture of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagePicture {
    /// A JPEG, as Base64.
    pub jpeg: String,
}

/// A session that has something.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SessionReport {
    /// Whose it is.
    pub tenant: String,
    /// Its id.
    pub session: String,
    /// Calls that run.
    pub calls: u64,
    /// Processes that run.
    pub processes: u64,
    /// Terminals that are open.
    pub terminals: u64,
    /// Pages that are open.
    pub pages: u64,
    /// Bytes of its files; absent where it has none.
    pub file_bytes: Option<u64>,
    /// Bytes that its files may have; absent where it has none.
    pub file_quota_bytes: Option<u64>,
    /// When its files were last used.
    pub files_used: Option<String>,
}

impl SessionReport {
    /// One that has nothing yet.
    #[must_use]
    pub fn new(tenant: impl Into<String>, session: impl Into<String>) -> Self {
        Self { tenant: tenant.into(), session: session.into(), ..Self::default() }
    }

    /// Adds what another host has of it.
    pub fn add(&mut self, other: Self) {
        self.calls += other.calls;
        self.processes += other.processes;
        self.terminals += other.terminals;
        self.pages += other.pages;
        // The same files, seen by each host.
        self.file_bytes = self.file_bytes.max(other.file_bytes);
        self.file_quota_bytes = self.file_quota_bytes.max(other.file_quota_bytes);
        self.files_used = self.files_used.take().max(other.files_used);
    }
}

/// A tool, as `wharf tools --json` has it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct ToolReport(pub Value);

/// What a tool answered to its operator.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialReport {
    /// Whether it could not do what it was asked for.
    pub is_error: bool,
    /// What a model would read.
    pub content: Vec<TrialContent>,
    /// The same for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured: Option<Value>,
    /// What the tool asks its caller for before it answers, in words: here nobody can be asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
}

/// A part of what a tool answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrialContent {
    /// What it is.
    pub mime_type: String,
    /// Its text, where it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// How long it is.
    pub bytes: u64,
}

/// What a rule under `[approvals]` allows for good, exactly as it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalRule {
    /// A command line.
    Command(String),
    /// An origin.
    Origin(String),
}

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ApprovalReport {
    /// Names it, for an answer.
    pub id: String,
    /// The name of the tool that clients see.
    pub tool: String,
    /// The plugin whose tool it is; `app` for those of the app and of front ends.
    pub plugin: String,
    /// What the component is; absent for tools of the app and of front ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// On whose behalf.
    pub tenant: String,
    /// In which session.
    pub session: String,
    /// By which assistant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant: Option<String>,
    /// In which thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The program that calls, as it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The beginning of its arguments, as JSON text: at most 64 KiB.
    pub arguments: String,
    /// How many bytes the whole text has.
    pub argument_bytes: u64,
    /// What the running call asks for, in words, such as "start `git push`"; absent where the call itself
    /// waits. At most 64 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<String>,
    /// What would allow that for good; absent where it is too long for a rule, or has characters that
    /// nobody sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
    /// Milliseconds that it has waited.
    pub waited_milliseconds: u64,
    /// Milliseconds after which it is refused.
    pub left_milliseconds: u64,
}
