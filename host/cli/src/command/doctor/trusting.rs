//! What the doctor says of whose plugins run, where they run, and of the evidence that is kept.

use std::path::Path;

use wharf::{
    Configuration, Host,
    component::WorkersBy,
    configuration::{ComponentPlace, DenyFailure},
    trust::DenyKeeper,
};

use super::finding::Finding;

/// Whose signatures count, and where one is asked for.
pub(super) fn signatures(configuration: &Configuration) -> Finding {
    const WHAT: &str = "signatures";
    let trust = &configuration.trust;
    let places: Vec<_> = trust.required.iter().copied().map(ComponentPlace::as_str).collect();
    match (trust.policy.trusts_nobody(), places.is_empty()) {
        (true, true) => Finding::well(WHAT, "none is asked for, and `[plugins] trust` names nobody"),
        (false, true) => Finding::well(WHAT, "those of `[plugins] trust` count, and none is asked for"),
        (true, false) => Finding::doubtful(
            WHAT,
            format!("asked for of components from {}, and `[plugins] trust` names nobody", places.join(", ")),
            "name a signer there: until then no such component is loaded",
        ),
        (false, false) => Finding::well(WHAT, format!("asked for of components from {}", places.join(", "))),
    }
}

/// The list of what must not run.
pub(super) fn denied(configuration: &Configuration, data: &Path) -> Finding {
    const WHAT: &str = "deny list";
    let trust = &configuration.trust;
    let Some(settings) = &trust.deny else {
        return Finding::well(WHAT, "none; `[plugins.deny]` names one");
    };
    // The host that was opened has fetched it where that was due.
    let status = DenyKeeper::of(Some(data)).status(settings, &trust.policy);
    let is_young = |age: &u64| *age <= settings.maximum_age.as_secs();
    match (status.sequence, status.age_seconds.filter(is_young), status.unknown_signers.is_empty()) {
        (Some(sequence), Some(age), true) => {
            Finding::well(WHAT, format!("sequence {sequence}, {} entries, {age} s old", status.denied))
        }
        (Some(sequence), Some(_), false) => Finding::doubtful(
            WHAT,
            format!("sequence {sequence} names {} signer(s) whom nobody knows", status.unknown_signers.len()),
            "nothing is refused for them; `wharf plugin denied` names them, and a line of `[plugins] trust` makes one known",
        ),
        _ => {
            let says = format!("none from {} that is young enough", status.source);
            match settings.fails {
                DenyFailure::Closed => Finding::ill(
                    WHAT,
                    says,
                    "nothing runs but the bundled plugins; `wharf plugin denied --refresh` says why",
                ),
                DenyFailure::Open => Finding::doubtful(WHAT, says, "`wharf plugin denied --refresh` says why"),
            }
        }
    }
}

/// Where instances of plugins run: a process for them is started and ended.
pub(super) async fn isolation(configuration: &Configuration, host: Option<&Host>) -> Finding {
    const WHAT: &str = "isolation";
    let Some(isolation) = &configuration.isolation else {
        let says =
            "plugins run in the host's process; `level = \"process\"` under [isolation] gives each tenant processes";
        return Finding::well(WHAT, says);
    };
    let whose = match isolation.by {
        WorkersBy::Plugin => "each plugin of each tenant runs in a process of its own",
        WorkersBy::Tenant => "the plugins of each tenant run in a process of their own",
    };
    let Some(host) = host else { return Finding::well(WHAT, whose) };
    match host.try_worker().await {
        Ok(()) => Finding::well(WHAT, format!("{whose}; one was started and ended")),
        Err(error) => Finding::ill(
            WHAT,
            error.message,
            "no plugin can be called until it starts; `level = \"thread\"` runs plugins in the host's process",
        ),
    }
}

/// What keeps the audit from being written anew.
pub(super) fn audit(configuration: &Configuration) -> Finding {
    const WHAT: &str = "audit";
    let audit = &configuration.audit;
    if !audit.enabled {
        return Finding::well(WHAT, "off, as `enabled = false` under [audit] says: nothing tells what was done");
    }
    let signed = match &audit.key {
        Some(key) => format!("signed by the key in {}", key.display()),
        None => "not signed: what can write the data directory can write it anew".to_owned(),
    };
    let sent = match &audit.syslog {
        Some(_) => "copied to a log server",
        None => "on this machine alone",
    };
    Finding::well(WHAT, format!("{signed}; {sent}"))
}
