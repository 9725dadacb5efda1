//! What an operator does, told to the audit: who, what, to what, and what came of it.

use std::time::{Duration, Instant};

use serde_json::Value;
use wharf_core::{
    Error, SessionId, TenantId,
    audit::{AuditOutcome, Replaced, Requester},
    service::operator::{ConfigurationChange, OperatorAct, OperatorRequest, Pieces},
};

use super::{acts, files, missing::is_elsewhere};
use crate::host::Host;

pub(super) async fn operate(host: &Host, request: OperatorRequest, by: &Requester) -> Result<Value, Error> {
    let Some(act) = request.act() else { return acts::operate(host, request).await };
    let shows_change = shows_change(&request);
    let began = Instant::now();
    let done = acts::operate(host, request).await;
    if done.as_ref().is_err_and(is_elsewhere) {
        // Who asks all hosts tells it, once none has it.
        return done;
    }
    let replaced = done.as_ref().ok().filter(|_| shows_change).and_then(replaced);
    host.recorder().operated(&act, by, outcome(&done), replaced, began.elapsed());
    done
}

/// An act on what no host has.
pub(super) fn in_vain(host: &Host, act: &OperatorAct, by: &Requester, error: &Error, took: Duration) {
    host.recorder().operated(act, by, AuditOutcome::Failed(error.code), None, took);
}

pub(super) async fn files(
    host: &Host,
    tenant: &TenantId,
    session: &SessionId,
    by: &Requester,
) -> Result<Pieces, Error> {
    let began = Instant::now();
    let taken = files::archive(host, tenant, session).await;
    let act = OperatorAct { word: "export-files", to: format!("{tenant}/{session}"), bytes: 0 };
    host.recorder().operated(&act, by, outcome(&taken), None, began.elapsed());
    taken
}

fn outcome<T>(done: &Result<T, Error>) -> AuditOutcome {
    done.as_ref().err().map_or(AuditOutcome::Ok, |error| AuditOutcome::Failed(error.code))
}

/// Whether the audit may have the lines that change: those of a rule have the text of a command.
fn shows_change(request: &OperatorRequest) -> bool {
    !matches!(request, OperatorRequest::Configure { change: ConfigurationChange::AlwaysAllowAct(_), .. })
}

/// What a [`ChangeReport`](wharf_core::service::operator::ChangeReport) or a
/// [`PluginChangeReport`](wharf_core::service::operator::PluginChangeReport) says of before and after.
fn replaced(report: &Value) -> Option<Replaced> {
    match report["difference"].as_str() {
        Some(difference) => Replaced::of(lines(difference, '-').as_deref(), lines(difference, '+').as_deref()),
        None if report.get("is_done").is_some() => {
            Replaced::of(report["before"].as_str(), report["component"]["digest"].as_str())
        }
        None => None,
    }
}

/// The lines of a unified difference that are taken out or put in.
fn lines(difference: &str, sign: char) -> Option<String> {
    let header = [sign; 3].iter().collect::<String>();
    let lines = difference.lines().filter(|line| !line.starts_with(&header));
    let lines: Vec<_> =
        lines.filter_map(|line| line.strip_prefix(sign)).map(str::trim).filter(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wharf_core::audit::MAX_CHANGE_BYTES;

    use super::*;

    #[test]
    fn a_change_is_told_by_its_lines_and_a_plugin_by_its_digests() {
        let difference = "--- wharf.toml\n+++ wharf.toml\n@@ -1,2 +1,2 @@\n [plugin.notes.grants.process]\n-commands = [\"git\"]\n+commands = [\"git\", \"make\"]\n";
        let told = replaced(&json!({"place": "wharf.toml", "difference": difference, "is_written": true}));
        let told = told.expect("a change");
        assert_eq!(told.before.as_deref(), Some("commands = [\"git\"]"));
        assert_eq!(told.after.as_deref(), Some("commands = [\"git\", \"make\"]"));
        let told = replaced(&json!({"plugin": "n", "component": null, "before": "blake3:aa", "is_done": true}));
        assert_eq!(told, Some(Replaced { before: Some("blake3:aa".into()), after: None }));
        assert_eq!(replaced(&json!({"difference": ""})), None);
        assert_eq!(replaced(&json!(null)), None);
        let long = replaced(&json!({"difference": format!("+{}\n", "x".repeat(10_000))})).expect("a change");
        assert_eq!(long.after.map(|line| line.len()), Some(MAX_CHANGE_BYTES));
    }
}
