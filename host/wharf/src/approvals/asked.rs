//! What a person is asked: about a call before it runs, or about what a running call asks for; and what
//! came of it. Waits for nothing.

use std::{sync::Arc, time::Duration};

use serde::Serialize;
use wharf_core::{
    AssistantId, Digest, PluginName, SessionId, TenantId, ThreadId,
    service::{Caller, GuardedAct, operator::ApprovalRule},
    text,
};

use crate::configuration::MOST_RULE_BYTES;

/// What of the arguments is shown: the beginning of longer ones.
pub(super) const MOST_SHOWN: usize = 64 << 10;
/// Bytes of the words around a command or an address.
const MOST_AROUND: usize = 128;

/// A call that waits for a person.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct WaitingCall {
    /// Names it, for [`Approvals::answer`].
    pub id: String,
    /// The name of the tool that clients see.
    pub tool: String,
    /// The plugin whose tool it is; `app` for those of the app and of front ends.
    pub plugin: PluginName,
    /// What the component is; absent for tools of the app and of front ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// On whose behalf.
    pub tenant: TenantId,
    /// In which session.
    pub session: SessionId,
    /// By which assistant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assistant: Option<AssistantId>,
    /// In which thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The program that calls, as it calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<Arc<str>>,
    /// The beginning of its arguments, as JSON text: at most 64 KiB.
    pub arguments: String,
    /// How many bytes the whole text has.
    pub argument_bytes: u64,
    /// What the running call asks for, in words; absent where the call itself waits. At most 64 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wants: Option<String>,
    /// What would allow that for good, where that can be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<ApprovalRule>,
    /// Milliseconds that it has waited.
    pub waited_milliseconds: u64,
    /// Milliseconds after which it is refused.
    pub left_milliseconds: u64,
}

/// What came of waiting, for the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    Allowed,
    AllowedForSession,
    AllowedByRule,
    AllowedByClient,
    Refused,
    RefusedByClient,
    TimedOut,
    Withdrawn,
}

impl Approval {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::AllowedForSession => "allowed-for-session",
            Self::AllowedByRule => "allowed-by-rule",
            Self::AllowedByClient => "allowed-by-client",
            Self::Refused => "refused",
            Self::RefusedByClient => "refused-by-client",
            Self::TimedOut => "timed-out",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// What a person is asked about.
pub(crate) struct AskedCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) plugin: PluginName,
    pub(crate) digest: Option<Digest>,
    pub(crate) caller: &'a Caller,
    pub(crate) arguments: &'a str,
    /// What the running call asks for; nothing where the call itself waits.
    pub(crate) act: Option<&'a WantedAct>,
    pub(crate) wait: Duration,
}

impl AskedCall<'_> {
    /// What the client hears meanwhile.
    pub(super) fn waits(&self) -> &'static str {
        match self.act {
            None => "a person has to allow this call",
            Some(WantedAct { kind: ActKind::Start, .. }) => "a person has to allow a command of this call",
            Some(WantedAct { kind: ActKind::Open | ActKind::Request, .. }) => {
                "a person has to allow an address of this call"
            }
        }
    }

    /// What was asked about, and what has not happened.
    fn sentence(&self) -> (&'static str, &'static str) {
        match self.act.map(|act| act.kind) {
            None => ("this call", "it has not run"),
            Some(ActKind::Start) => ("this command", "it has not been started"),
            Some(ActKind::Open) => ("this address", "it has not been opened"),
            Some(ActKind::Request) => ("this request", "it has not been sent"),
        }
    }

    pub(super) fn timed_out(&self) -> String {
        let (what, not) = self.sentence();
        format!(
            "nobody allowed {what} within {} seconds (`wait_seconds` under [approvals]), so {not}; ask the person to look \
             at `wharf approvals`, and call again then",
            self.wait.as_secs()
        )
    }

    pub(super) fn refused(&self, why: &str) -> String {
        let (what, not) = self.sentence();
        let reason = if why.is_empty() { "" } else { ": " };
        format!("a person has refused {what}, and {not}{reason}{why}")
    }
}

/// What a running call asks its host to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WantedAct {
    kind: ActKind,
    /// The command, the address or the request: at most as much as is shown.
    shown: String,
    /// How many bytes the whole of it has.
    pub(crate) bytes: u64,
    /// What the audit calls it.
    pub(crate) name: String,
    /// The whole command, or the origin.
    rule: ApprovalRule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ActKind {
    Start,
    Open,
    Request,
}

impl WantedAct {
    pub(crate) fn of(act: GuardedAct<'_>) -> Self {
        let (kind, text, name, rule) = match act {
            GuardedAct::Start(line) => {
                // The text of a command may hold a secret.
                let name = line.program.unwrap_or("shell").to_owned();
                (ActKind::Start, &*line.exact, name, ApprovalRule::Command(line.exact.clone().into_owned()))
            }
            GuardedAct::Open { origin, address } => {
                (ActKind::Open, address, origin.to_string(), ApprovalRule::Origin(origin.to_string()))
            }
            GuardedAct::Request { origin, request } => {
                (ActKind::Request, request, origin.to_string(), ApprovalRule::Origin(origin.to_string()))
            }
        };
        Self { kind, shown: text::cut(text, MOST_SHOWN - MOST_AROUND).to_owned(), bytes: text.len() as u64, name, rule }
    }

    /// What it is, in words for a person.
    pub(super) fn words(&self) -> String {
        let seen = text::visible(self.shown.clone());
        let about = match (self.bytes > self.shown.len() as u64, text::is_visible(&self.shown)) {
            (false, true) => String::new(),
            (true, true) => format!(" … ({} bytes)", self.bytes),
            (false, false) => " (with characters that nobody sees)".to_owned(),
            (true, false) => format!(" … ({} bytes, with characters that nobody sees)", self.bytes),
        };
        match self.kind {
            ActKind::Start => format!("start `{seen}`{about}"),
            ActKind::Open => format!("open {seen}{about}"),
            ActKind::Request => format!("send {seen}{about}"),
        }
    }

    /// What would allow it for good: nothing that a person cannot read as it is.
    pub(super) fn rule(&self) -> Option<ApprovalRule> {
        let is_readable = |text: &str| text.len() <= MOST_RULE_BYTES && text::is_visible(text);
        let (ApprovalRule::Command(text) | ApprovalRule::Origin(text)) = &self.rule;
        is_readable(text).then(|| self.rule.clone())
    }

    /// Names the command or the origin among what a session has been allowed.
    pub(super) fn digest(&self) -> Digest {
        match &self.rule {
            ApprovalRule::Command(command) => Digest::of(format!("command {command}").as_bytes()),
            ApprovalRule::Origin(origin) => Digest::of(format!("origin {origin}").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use wharf_core::{CommandLine, Grants, Origin, ProcessGrant, grant::ChildGrant};

    use super::*;

    /// What a text for the shell asks for.
    fn shell(text: &str) -> WantedAct {
        let children = ChildGrant { shell: true, ..ChildGrant::with_reason("for tests") };
        let grants = Grants { process: Some(ProcessGrant::of(children)), ..Grants::default() };
        let plugin = "p".parse().expect("legal");
        let granted = grants.process(&plugin).expect("granted");
        let command = granted.shell(text).expect("granted");
        WantedAct::of(GuardedAct::Start(&CommandLine::of(&command, &[])))
    }

    fn open(address: &str) -> WantedAct {
        WantedAct::of(GuardedAct::Open { origin: &Origin::of_text(address).expect("an origin"), address })
    }

    #[test]
    fn a_person_reads_what_is_wanted_and_a_rule_says_all_of_it() {
        let push = shell("git push\n");
        assert_eq!(push.words(), "start `git push\n`");
        assert_eq!(push.rule(), Some(ApprovalRule::Command("git push\n".to_owned())));
        assert_eq!((push.name.as_str(), push.bytes), ("shell", 9));
        let page = open("https://bank.example/transfer?to=x");
        assert_eq!(page.words(), "open https://bank.example/transfer?to=x");
        assert_eq!(page.rule(), Some(ApprovalRule::Origin("https://bank.example".to_owned())));
        assert_eq!(page.name, "https://bank.example");
    }

    #[test]
    fn what_a_person_cannot_read_is_bounded_cleaned_and_no_rule() {
        let hidden = shell("git\u{200b} push");
        assert_eq!(hidden.words(), "start `git push` (with characters that nobody sees)");
        assert_eq!(hidden.rule(), None);
        let long = shell(&"ä".repeat(1 << 20));
        assert!(long.words().len() <= MOST_SHOWN && long.words().ends_with("` … (2097152 bytes)"));
        assert_eq!(long.rule(), None);
        assert!(shell(&"a".repeat(MOST_RULE_BYTES)).rule().is_some());
        assert!(shell(&"a".repeat(MOST_RULE_BYTES + 1)).rule().is_none());
    }

    #[test]
    fn what_a_session_is_allowed_is_the_whole_command_or_the_origin() {
        assert_ne!(shell("git push").digest(), shell("git push ").digest());
        assert_ne!(shell("https://a.example").digest(), open("https://a.example/").digest());
        assert_eq!(open("https://a.example/1").digest(), open("https://a.example/2").digest());
        // Also where all that is shown of two is the same.
        let long = "a".repeat(MOST_SHOWN);
        assert_ne!(shell(&format!("{long}1")).digest(), shell(&format!("{long}2")).digest());
    }
}
