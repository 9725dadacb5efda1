//! What the doctor says of what keeps programs in: processes, terminals, and the
//! browser.

use std::path::Path;

use wharf::{
    Configuration, Host,
    configuration::HostConfinement,
    confinement::{confinement_offered, confinement_offered_with},
    processes::{Capabilities, ProcessLimitScope, SandboxMechanism, SpawnError, Spawner},
};
#[cfg(target_os = "linux")]
use wharf::{
    chromium::{Chromium, ChromiumError},
    with_causes,
};

use super::finding::Finding;

/// What the configuration asks of containment.
#[derive(Clone, Copy)]
pub(super) struct ContainmentDemand {
    programs: bool,
    given_up: bool,
}

impl ContainmentDemand {
    pub(super) fn of(configuration: &Configuration, host: Option<&Host>) -> Self {
        let installed = host.map(Host::installed).unwrap_or_default();
        let own = configuration.host_grants();
        let mut granted = installed.iter().map(|plugin| &*plugin.policy.grants).chain([&own]).flat_map(|grants| {
            let process = grants.process.as_ref().map(|grant| grant.children.require_containment);
            process.into_iter().chain(grants.terminal.as_ref().map(|grant| grant.require_containment))
        });
        let written = configuration.plugins.values().filter_map(|plugin| plugin.grants.as_ref());
        let mut written = written.map(|grants| grants.process.is_some() || grants.terminal.is_some());
        let required: Vec<_> = granted.by_ref().collect();
        Self {
            programs: written.any(|is_written| is_written) || !required.is_empty(),
            given_up: required.contains(&false),
        }
    }
}

const NULL_DEVICE: &str =
    "no program is started until then: `rm -f /dev/null && mknod -m 666 /dev/null c 1 3`, as root";

/// What to do where the system makes no namespaces for the host.
const ALLOW_NAMESPACES: &str = "let the user of the host make user namespaces: `sysctl user.max_user_namespaces` above 0, \
     `kernel.unprivileged_userns_clone` 1 where there is one, and on Ubuntu an AppArmor profile for this program that \
     allows `userns`, or `kernel.apparmor_restrict_unprivileged_userns` 0; in a container, let its runtime allow \
     namespaces; or run the host as root";

/// What to do where namespaces do not work.
fn namespaces_remedy(capabilities: &Capabilities) -> &'static str {
    if capabilities.settled { ALLOW_NAMESPACES } else { "mend that" }
}

/// What to do where something failed for want of the null device: this error says so.
pub(super) fn needs_null_device(told: &str) -> Option<&'static str> {
    told.contains("no program can be started without the null device").then_some(NULL_DEVICE)
}

/// What to do where no program can be started at all.
pub(super) fn remedy(error: &SpawnError) -> &'static str {
    match error {
        SpawnError::NullDevice(_) => NULL_DEVICE,
        SpawnError::Supervisor(_) => "this program must be able to run itself again (/proc/self/exe)",
        _ => "no program is started until then",
    }
}

/// What a host that serves gives up on this machine.
pub(super) fn confinement(configuration: &Configuration, file: Option<&Path>) -> Finding {
    const WHAT: &str = "confinement";
    let offered = file.map_or_else(confinement_offered, confinement_offered_with);
    let holds = format!("`wharf serve` has {}", offered.holds.join(", "));
    match (configuration.host.confined, offered.lacks()) {
        (HostConfinement::Off, _) => Finding::doubtful(
            WHAT,
            "off: who takes the process of a host over has all that its user has",
            "take `confined = \"off\"` out of [host] in wharf.toml",
        ),
        (HostConfinement::Required, Some(lacks)) => Finding::ill(
            WHAT,
            format!("not whole: {lacks}"),
            "no host serves until then, since `confined = \"required\"` under [host] wants all of it",
        ),
        (HostConfinement::Auto, Some(lacks)) => Finding::doubtful(
            WHAT,
            format!("not whole: {lacks}"),
            "a host serves with the rest; Linux 6.12 has all of it",
        ),
        (HostConfinement::Auto | HostConfinement::Required, None) if is_root() && configuration.host.user.is_none() => {
            Finding::well(
                WHAT,
                format!("{holds}; started by root it stays root, unless `user` under [host] names another"),
            )
        }
        (HostConfinement::Auto | HostConfinement::Required, None) => Finding::well(WHAT, holds),
    }
}

fn is_root() -> bool {
    #[cfg(unix)]
    let is_root = rustix::process::geteuid().is_root();
    #[cfg(not(unix))]
    let is_root = false;
    is_root
}

pub(super) fn containment(capabilities: &Capabilities, demand: ContainmentDemand) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.push(match &capabilities.containment {
        Ok(SandboxMechanism::Namespaces) => Finding::well("containment", "namespaces: a program was run in them"),
        Ok(SandboxMechanism::Landlock) => landlock(capabilities),
        Err(missing) if demand.programs && (!demand.given_up || capabilities.namespaces_required) => Finding::ill(
            "containment",
            format!("none: {missing}"),
            if cfg!(not(target_os = "linux")) {
                "processes are refused; `require_containment = false` in a grant runs its programs without".to_owned()
            } else {
                format!("{}; until then, processes are refused", namespaces_remedy(capabilities))
            },
        ),
        Err(missing) => Finding::well("containment", format!("none: {missing}")),
    });
    for warning in &capabilities.warnings {
        findings.push(Finding::ill(
            "containment",
            warning,
            "until then, programs work with paths relative to their workspace",
        ));
    }
    if demand.given_up && capabilities.namespaces_required {
        findings.push(Finding::well(
            "given up",
            "nothing: `required = \"namespaces\"` under [process] goes before the `require_containment = false` of a grant",
        ));
    } else if demand.given_up {
        findings.push(Finding::well(
            "given up",
            "a grant has `require_containment = false`: where nothing contains its processes, they may do all that the \
             user of the host may",
        ));
    }
    findings.push(match capabilities.process_limit {
        ProcessLimitScope::Tree => Finding::well("process limit", "holds for the processes of each command"),
        ProcessLimitScope::TreeOfAnotherUser => {
            Finding::well("process limit", "holds for each session: the host is root, and gives each a user of its own")
        }
        ProcessLimitScope::User => Finding::well(
            "process limit",
            "counted with all that this user runs; where namespaces work, it holds for each command by itself",
        ),
        ProcessLimitScope::Nothing => Finding::well("process limit", "none: this system limits no command"),
    });
    let memory = match capabilities.process_limit {
        ProcessLimitScope::Nothing => "none",
        _ if capabilities.memory_of_trees => "of all processes of a command",
        _ => "of each process",
    };
    findings.push(Finding::well("memory limit", memory));
    findings
}

/// Landlock contains: because the system forbids namespaces, which many containers do on
/// purpose, or because they do not work, which nobody wants.
fn landlock(capabilities: &Capabilities) -> Finding {
    let why = capabilities.namespaces.as_ref().err().map(|why| format!("; {why}")).unwrap_or_default();
    let says = format!("Landlock and seccomp: a program was run under them, which hide less than namespaces{why}");
    if capabilities.settled {
        return Finding::well("containment", says);
    }
    Finding::ill(
        "containment",
        says,
        "mend that, or have processes refused until then: `required = \"namespaces\"` under [process]",
    )
}

/// The browser that runs web pages: started once, where any plugin may have some.
pub(super) async fn browser(configuration: &Configuration, spawner: &Spawner, host: Option<&Host>) -> Finding {
    const WHAT: &str = "browser";
    let own = configuration.host_grants().webview.is_some();
    if !host.is_some_and(|host| own || host.installed().iter().any(|plugin| plugin.policy.grants.webview.is_some())) {
        return Finding::well(WHAT, "not tried: no plugin is granted web pages ([plugin.NAME.grants.webview])");
    }
    #[cfg(target_os = "linux")]
    return match Chromium::probe(spawner.clone(), configuration.webview.chromium()).await {
        Ok(found) => {
            let sandbox = if found.sandbox {
                "pages run in its own sandbox"
            } else {
                "WITHOUT its own sandbox, as [webview] `sandbox = false` says"
            };
            let user = found.user.map(|user| format!(" as the user {user}")).unwrap_or_default();
            let files = if found.closes_files {
                "files of the host are out of its reach"
            } else {
                "NOT kept from the files of its user, for want of Landlock or because it does not start so"
            };
            let whose = if configuration.webview.shared { "one for all tenants" } else { "one for each tenant" };
            let says = format!("{} ({}){user}, {whose}; {sandbox}; {files}", found.program.display(), found.version);
            Finding::well(WHAT, says)
        }
        Err(error) => Finding::ill(WHAT, with_causes(&error), remedy_for_pages(&error)),
    };
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (configuration, spawner);
        Finding::ill(WHAT, "the host runs a browser of its own on Linux only", "remove the grants of web pages")
    }
}

/// What to do where no browser starts.
#[cfg(target_os = "linux")]
fn remedy_for_pages(error: &ChromiumError) -> &'static str {
    match error {
        ChromiumError::Spawn(error) if !matches!(error, SpawnError::Program { .. }) => remedy(error),
        // These say themselves what to do.
        ChromiumError::Sandbox { .. } | ChromiumError::Directory { .. } | ChromiumError::Crashing { .. } => {
            "web pages are refused until then"
        }
        _ => {
            "web pages are refused until then; on Debian: apt-get install --no-install-recommends chromium-headless-shell"
        }
    }
}
