//! What an operator does, in the words of the audit.

use super::{ApprovalAnswer, ApprovalRule, ConfigurationChange, OperatorRequest, PluginChange, StateSelection};
use crate::{PluginName, ScopeKind, SessionId};

/// What an operator does to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorAct {
    /// What is done.
    pub word: &'static str,
    /// To what: an id, or names with `/` between them. Some of it may be foreign text.
    pub to: String,
    /// Bytes that are typed.
    pub bytes: u64,
}

impl OperatorRequest {
    /// What the request does; nothing where it only looks, or tries what a change would come to. To take
    /// the state of a session away is an act, too.
    #[must_use]
    pub fn act(&self) -> Option<OperatorAct> {
        let (word, to, bytes) = match self {
            Self::SignIn { by_link: true } => ("sign-in", "by a link".to_owned(), 0),
            Self::SignIn { by_link: false } => ("sign-in", "by a token".to_owned(), 0),
            Self::CancelCall { call } => ("cancel-call", call.clone(), 0),
            // Of Base64; nobody needs the exact number.
            Self::TypeBytes { terminal, content, .. } => ("type", terminal.clone(), content.len() as u64 / 4 * 3),
            Self::ResizeTerminal { terminal, .. } => ("resize-terminal", terminal.clone(), 0),
            Self::CloseTerminal { terminal, .. } => ("close-terminal", terminal.clone(), 0),
            Self::StopProcess { process, .. } => ("stop-process", process.clone(), 0),
            Self::ClosePage { page } => ("close-page", page.clone(), 0),
            Self::EndSession { tenant, session } => ("end-session", format!("{tenant}/{session}"), 0),
            Self::RemoveFiles { tenant, session } => ("remove-files", format!("{tenant}/{session}"), 0),
            Self::ExportState(selection) => ("export-state", selected(selection), 0),
            Self::ClearState(selection) => ("clear-state", selected(selection), 0),
            Self::DrainHost { host, is_draining: true } => ("drain-host", host.clone(), 0),
            Self::DrainHost { host, is_draining: false } => ("undrain-host", host.clone(), 0),
            Self::SwitchPlugin { plugin, is_on: true } => ("enable-plugin", plugin.to_string(), 0),
            Self::SwitchPlugin { plugin, is_on: false } => ("disable-plugin", plugin.to_string(), 0),
            Self::TryTool { tool, session, .. } => ("try-tool", format!("{tool}/{session}"), 0),
            Self::Configure { change, is_trial: false } => match change {
                ConfigurationChange::Grant { plugin, .. } => ("grant", plugin.clone(), 0),
                ConfigurationChange::Revoke { plugin, capability } => ("revoke", format!("{plugin}/{capability}"), 0),
                ConfigurationChange::Confirm { plugin } => ("confirm", plugin.clone(), 0),
                ConfigurationChange::AlwaysAllow { tool } => ("always-allow", tool.clone(), 0),
                // No audit has the text of a command.
                ConfigurationChange::AlwaysAllowAct(ApprovalRule::Command(_)) => {
                    ("always-allow", "a command".to_owned(), 0)
                }
                ConfigurationChange::AlwaysAllowAct(ApprovalRule::Origin(origin)) => {
                    ("always-allow", origin.clone(), 0)
                }
            },
            Self::Install { change, is_trial: false } => match change {
                PluginChange::Add { name, source, .. } => ("add-plugin", name.as_ref().unwrap_or(source).clone(), 0),
                PluginChange::Update { plugin, .. } => ("update-plugin", plugin.clone(), 0),
                PluginChange::Remove { plugin } => ("remove-plugin", plugin.clone(), 0),
            },
            Self::Answer { approval, answer } => match answer {
                ApprovalAnswer::Once | ApprovalAnswer::Session => ("allow", approval.clone(), 0),
                ApprovalAnswer::Refuse(_) => ("refuse", approval.clone(), 0),
            },
            Self::List { .. }
            | Self::Recording { .. }
            | Self::ProcessOutput { .. }
            | Self::LookAtProcess { .. }
            | Self::LookAtPage { .. }
            | Self::DrawPage { .. }
            | Self::Buckets(_)
            | Self::LookAtPlugin { .. }
            | Self::Tool { .. }
            | Self::Grants { .. }
            | Self::Configure { is_trial: true, .. }
            | Self::Install { is_trial: true, .. }
            | Self::Audit(_) => return None,
        };
        Some(OperatorAct { word, to, bytes })
    }
}

/// A selection of state by its names.
fn selected(selection: &StateSelection) -> String {
    let StateSelection { tenant, plugin, scope, session } = selection;
    let plugin = plugin.as_ref().map(PluginName::as_str);
    let session = session.as_ref().map(SessionId::as_str);
    let names = [Some(tenant.as_str()), plugin, scope.map(ScopeKind::as_str), session];
    names.into_iter().flatten().collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TenantId;

    #[test]
    fn an_act_is_told_and_a_look_or_a_trial_is_not() {
        let grant = || ConfigurationChange::Grant {
            plugin: "notes".to_owned(),
            allow: vec!["process=git".to_owned()],
            reason: "r".to_owned(),
            expires: None,
        };
        let act = |request: OperatorRequest| request.act().map(|act| (act.word, act.to));
        let told = |word, to: &str| Some((word, to.to_owned()));
        assert_eq!(act(OperatorRequest::Configure { change: grant(), is_trial: false }), told("grant", "notes"));
        assert_eq!(act(OperatorRequest::Configure { change: grant(), is_trial: true }), None);
        assert_eq!(act(OperatorRequest::LookAtPage { page: "p".to_owned() }), None);
        let selection = StateSelection {
            tenant: TenantId::local(),
            plugin: Some("notes".parse().expect("legal")),
            scope: Some(ScopeKind::Session),
            session: Some("s-1".parse().expect("legal")),
        };
        assert_eq!(act(OperatorRequest::ClearState(selection)), told("clear-state", "local/notes/session/s-1"));
    }

    #[test]
    fn no_text_of_a_command_or_of_an_answer_is_told() {
        let secret = "curl -H 'Authorization: Bearer abc'".to_owned();
        let rule = ConfigurationChange::AlwaysAllowAct(ApprovalRule::Command(secret.clone()));
        let refused =
            OperatorRequest::Answer { approval: "a-1".to_owned(), answer: ApprovalAnswer::Refuse(secret.clone()) };
        let typed = OperatorRequest::TypeBytes { terminal: "t-1".to_owned(), content: secret.clone(), force: true };
        for request in [OperatorRequest::Configure { change: rule, is_trial: false }, refused, typed] {
            let act = request.act().expect("an act");
            assert!(!act.to.contains("curl"), "{act:?}");
        }
    }
}
