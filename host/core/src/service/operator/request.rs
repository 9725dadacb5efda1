//! What an operator asks for, in whichever way it arrives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ConfigurationChange, PluginChange};
use crate::{PluginName, ScopeKind, SessionId, TenantId};

/// A list of what hosts have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorList {
    /// The hosts themselves: [`HostReport`](super::HostReport).
    Hosts,
    /// The calls that run, those that began first before others, the first 1,000 of a host:
    /// [`CallReport`](super::CallReport).
    Calls,
    /// The terminals, ended ones that are kept included: [`TerminalReport`](super::TerminalReport).
    Terminals,
    /// The processes in the order in which they were started, the newest 1,000 of a host:
    /// [`ProcessReport`](super::ProcessReport).
    Processes,
    /// The web pages: [`PageReport`](super::PageReport).
    Pages,
    /// The plugins, and what became of each: [`PluginReport`](super::PluginReport).
    Plugins,
    /// The calls that wait for a person, those that have waited for longest first:
    /// [`ApprovalReport`](super::ApprovalReport).
    Approvals,
    /// The hosts of the cluster, those that died within the last hour included; none where this host
    /// is in none: [`ClusterHostReport`](super::ClusterHostReport).
    Cluster,
    /// The sessions that have anything, with the sizes of their files, which are measured for it:
    /// [`SessionReport`](super::SessionReport).
    Sessions,
    /// The streams of events, ended ones that are kept included, the oldest 1,000 of a host:
    /// [`StreamReport`](super::StreamReport).
    Streams,
    /// What plugins keep in their state, which is counted for it: [`StateReport`](super::StateReport).
    State,
}

impl OperatorList {
    /// Those that are cheap to make again and again.
    pub const FOLLOWED: [Self; 9] = [
        Self::Hosts,
        Self::Calls,
        Self::Terminals,
        Self::Processes,
        Self::Pages,
        Self::Streams,
        Self::Plugins,
        Self::Approvals,
        Self::Cluster,
    ];

    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hosts => "hosts",
            Self::Calls => "calls",
            Self::Terminals => "terminals",
            Self::Processes => "processes",
            Self::Pages => "pages",
            Self::Plugins => "plugins",
            Self::Approvals => "approvals",
            Self::Cluster => "cluster",
            Self::Sessions => "sessions",
            Self::Streams => "streams",
            Self::State => "state",
        }
    }
}

/// What is asked for. A grace is how long a program may take to end by itself, in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum OperatorRequest {
    /// Signs somebody in to a console: an act for the audit alone. The answer is null.
    SignIn {
        /// Whether by a link of `wharf console`, and not by a token.
        by_link: bool,
    },
    /// A list: an array.
    List {
        /// Which.
        of: OperatorList,
    },
    /// Ends a call: its caller gets `cancelled`. The answer is null.
    CancelCall {
        /// Which.
        call: String,
    },
    /// Types bytes into a terminal as they are. While a turn runs that is a `conflict`, unless it is
    /// forced: what is typed is taken for a part of it. The answer is null.
    TypeBytes {
        /// Where.
        terminal: String,
        /// The bytes, as Base64.
        content: String,
        /// Whether they are typed while a turn runs, too.
        force: bool,
    },
    /// Changes the size of a terminal, for everybody. The answer is null.
    ResizeTerminal {
        /// Which.
        terminal: String,
        /// How wide.
        columns: u16,
        /// How high.
        rows: u16,
    },
    /// Closes a terminal: [`TerminalReport`](super::TerminalReport).
    CloseTerminal {
        /// Which.
        terminal: String,
        /// How long its program has.
        grace: u64,
    },
    /// A piece of the recording of a terminal, whole lines of an asciicast where it has any:
    /// [`ProcessOutput`](super::ProcessOutput).
    Recording {
        /// Of which terminal.
        terminal: String,
        /// The first byte.
        from: u64,
        /// How much at most.
        bytes: usize,
    },
    /// What a process has printed: the end of it, or from a cursor on. Counts as no poll:
    /// [`ProcessOutput`](super::ProcessOutput).
    ProcessOutput {
        /// Which process.
        process: String,
        /// Which of what it prints.
        stream: ProcessStream,
        /// The cursor of the first byte.
        from: Option<u64>,
        /// How much at most.
        bytes: usize,
    },
    /// What a process may use up and reach, and all that runs of it. Counts as no poll:
    /// [`ProcessLookReport`](super::ProcessLookReport).
    LookAtProcess {
        /// Which.
        process: String,
    },
    /// Ends a process: [`ProcessReport`](super::ProcessReport).
    StopProcess {
        /// Which.
        process: String,
        /// How long it has.
        grace: u64,
    },
    /// What a page has said and asked for: [`PageLookReport`](super::PageLookReport).
    LookAtPage {
        /// Which.
        page: String,
    },
    /// What is seen of a page now, or was less than a second ago: [`PagePicture`](super::PagePicture).
    DrawPage {
        /// Which.
        page: String,
    },
    /// Closes a page: [`PageReport`](super::PageReport).
    ClosePage {
        /// Which.
        page: String,
    },
    /// Ends what a session runs at each host: calls, processes, terminals, pages. Its files and its
    /// state stay. The answer is how many ended, a number.
    EndSession {
        /// Of whom.
        tenant: TenantId,
        /// Which.
        session: SessionId,
    },
    /// Removes the files of a session. The answer is null.
    RemoveFiles {
        /// Of whom.
        tenant: TenantId,
        /// Which session.
        session: SessionId,
    },
    /// The buckets of a selection: [`BucketsReport`](super::BucketsReport).
    Buckets(StateSelection),
    /// What plugins keep of a selection, as the lines of `wharf state export`: a text.
    ExportState(StateSelection),
    /// Removes what plugins keep of a selection: how many entries went, a number.
    ClearState(StateSelection),
    /// Has a host of the cluster take no further session, or take some again. The answer is null.
    DrainHost {
        /// Its name.
        host: String,
        /// Whether it takes none.
        is_draining: bool,
    },
    /// Switches a plugin on or off, as `wharf plugin enable` and `disable` do. The answer is null.
    SwitchPlugin {
        /// Which.
        plugin: PluginName,
        /// Whether it is on from now on.
        is_on: bool,
    },
    /// Where a plugin comes from, to what its grants are bound, and what its calls may use up:
    /// [`PluginLookReport`](super::PluginLookReport).
    LookAtPlugin {
        /// Which.
        plugin: PluginName,
    },
    /// A tool of the local tenant: [`ToolReport`](super::ToolReport).
    Tool {
        /// Its full name.
        tool: String,
    },
    /// Calls a tool for the local tenant, as an agent would: [`TrialReport`](super::TrialReport).
    TryTool {
        /// Its full name.
        tool: String,
        /// What it is given.
        arguments: Map<String, Value>,
        /// In which session.
        session: SessionId,
    },
    /// What a plugin may use, asks for and was denied: [`GrantsReport`](super::GrantsReport).
    Grants {
        /// Which.
        plugin: PluginName,
    },
    /// Changes the configuration, or says what a change would come to:
    /// [`ChangeReport`](super::ChangeReport).
    Configure {
        /// How.
        change: ConfigurationChange,
        /// Whether nothing is written.
        is_trial: bool,
    },
    /// Adds, replaces or removes a plugin, or says what that would bring:
    /// [`PluginChangeReport`](super::PluginChangeReport).
    Install {
        /// How.
        change: PluginChange,
        /// Whether nothing is changed.
        is_trial: bool,
    },
    /// Answers a call that waits: what it was, an [`ApprovalReport`](super::ApprovalReport).
    Answer {
        /// Which.
        approval: String,
        /// With what.
        answer: ApprovalAnswer,
    },
    /// Lines of the audit, the oldest first, each as `wharf audit --json` prints it.
    Audit(Box<AuditQuery>),
}

/// Which of what plugins keep: of one tenant, and what else is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateSelection {
    /// Of whom.
    pub tenant: TenantId,
    /// What this plugin wrote.
    pub plugin: Option<PluginName>,
    /// Of this scope.
    pub scope: Option<ScopeKind>,
    /// Of this session and its threads.
    pub session: Option<SessionId>,
}

/// What a person says of a call that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalAnswer {
    /// It may run.
    Once,
    /// It may run, and so may further calls of this tool in this session, until the host ends or the
    /// plugin is another one. Where a running call asks for a command or an origin: the same one, by
    /// any tool of the plugin.
    Session,
    /// It may not; why, in words that the agent reads.
    Refuse(String),
}

/// Which of what a process prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProcessStream {
    /// Its output.
    #[default]
    Stdout,
    /// Its errors.
    Stderr,
}

/// Which lines of the audit to read. What is absent matches every line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    /// The plugin.
    pub plugin: Option<String>,
    /// The tool's own name, or `PLUGIN__TOOL`.
    pub tool: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The tenant.
    pub tenant: Option<String>,
    /// `INTERFACE.FUNCTION` of a host call, or the interface alone.
    pub function: Option<String>,
    /// `ok`, `tool-error`, or the code of an error.
    pub outcome: Option<String>,
    /// `call`, `offer`, `host-call`, `denied`, `approval`, `change`, `operator`, `authentication`, `limited`.
    pub kind: Option<String>,
    /// The id of a call: all that it asked the host for is there, too.
    pub id: Option<String>,
    /// At or after this time, as `2026-11-28T17:00:00.000Z`; 24 hours ago where absent.
    pub since: Option<String>,
    /// Before this time.
    pub until: Option<String>,
    /// The last so many lines; 200 where absent, 2,000 at most.
    pub last: Option<usize>,
}
