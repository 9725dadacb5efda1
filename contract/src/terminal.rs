//! Interactive programs in terminals: how they are, why they end, what holds
//! for them. The words of their turns are in [`turn`](crate::turn).

use serde::{Deserialize, Serialize};

pub use crate::process::{AnyContainment, AnyOutcomeKind, Containment, OutcomeKind};
use crate::words::words;

/// The most columns of a terminal. What a program can make an emulator compute
/// and keep grows with the screen.
pub const MAX_COLUMNS: u16 = 500;
/// The most rows of a terminal.
pub const MAX_ROWS: u16 = 200;

words! {
    /// How a terminal is. Take another word for [`Status::Ready`].
    Status, open AnyStatus, "status" {
        /// Its program runs, has printed nothing, and nothing was typed.
        Starting = "starting";
        /// No turn runs.
        Ready = "ready";
        /// A turn runs.
        Busy = "busy";
        /// The last turn ended with a question, or with a command that is not
        /// complete.
        NeedsInput = "needs-input";
        /// Its program crashed and is being started again.
        Restarting = "restarting";
        /// Its program has ended for good.
        Closed = "closed";
    }
}

words! {
    /// Why the host closed a terminal. More may come.
    CloseReason, "reason" {
        /// Its owner asked.
        Owner = "owner";
        /// Its owner started another one.
        Replaced = "replaced";
        /// Nobody used it.
        Idle = "idle";
        /// Another owner of its tenant needed the room, and it had been unused for
        /// longest.
        Evicted = "evicted";
        /// It was open for as long as it may.
        TimeLimit = "time-limit";
        /// Its program crashed too often.
        Crashes = "crashes";
        /// The operator asked.
        Operator = "operator";
        /// The files of its session took more than they may.
        Quota = "quota";
        /// The host ends.
        ShuttingDown = "shutting-down";
        /// Its host ended without closing it.
        HostLost = "host-lost";
    }
}

words! {
    /// What is read of a terminal. Each counts its own cursors.
    View, "view" {
        /// Without control sequences, as UTF-8.
        Text = "text";
        /// As the program printed it.
        Raw = "raw";
    }
}

words! {
    /// When a program is started again.
    Restart, "value of `restart`" {
        /// Never: its terminal is closed when it ends.
        Never = "never";
        /// When it crashes: it ends by a signal or with another code than 0, and
        /// the last input was not one that ends programs, as `exit` or C-d.
        OnCrash = "on-crash";
    }
}

/// What holds for the terminals of a plugin here: what `status` answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TerminalRules {
    /// Whether a shell is granted.
    pub shell: bool,
    /// The granted patterns of programs.
    pub programs: Vec<String>,
    /// The presets that the host knows, each a
    /// [`Preset`](crate::turn::Preset).
    pub presets: Vec<String>,
    /// Names of the operator's profiles, which can be named in their place.
    pub profiles: Vec<String>,
    /// What contains a program.
    pub containment: AnyContainment,
    /// Why nothing contains programs here, in words; absent where something does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// Why nothing can be started here, in words; absent where it can, be it
    /// because the operator gave containment up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether there is a network.
    pub network: bool,
    /// The workspace as programs see it.
    pub directory: String,
    /// How many terminals an owner may have at once.
    pub maximum_per_owner: u64,
    /// After how many seconds without use one is closed.
    pub idle_seconds: u64,
    /// How many seconds one may be open.
    pub lifetime_seconds: u64,
}

/// The `options` of a launch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchOptions {
    /// A [`Restart`]: whether a program that crashed is started again. The
    /// operator decides where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<String>,
}

/// The `options` of a turn. `P` holds the parameters of completion detection,
/// each under its name: see [`Parameter`](crate::turn::Parameter).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "P: Deserialize<'de>"))]
pub struct TurnOptions<P> {
    /// Numbers that are to be otherwise than the terminal's preset has them.
    #[serde(default, deserialize_with = "crate::present", skip_serializing_if = "Option::is_none")]
    pub parameters: Option<P>,
}

/// The `meta` of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnMeta {
    /// How long silence had to last, where that adapts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveSilence>,
}

/// How long silence had to last before it ended a turn, where that adapts to
/// what the source usually takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AdaptiveSilence {
    /// Milliseconds of silence.
    pub inactivity_milliseconds: u64,
    /// How many earlier turns it was learned from; 0 where it is the configured
    /// limit still.
    pub turns: u32,
}

/// The `meta` of a terminal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Meta {
    /// Why it ended, in words such as `it was ended by signal 11 (SIGSEGV)`;
    /// absent while it lives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Where its program is, as it sees it; as last seen.
    pub directory: String,
    /// A [`Restart`]: when its program is started again.
    pub restart: String,
}
