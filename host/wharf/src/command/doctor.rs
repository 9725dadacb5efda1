//! `wharf doctor`: what this machine offers, and what that means for a host.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;
#[cfg(target_os = "linux")]
use wharf::webview::chromium::Chromium;
use wharf::{Capabilities, Configuration, Contained, Host, Off, ProcessLimit, Spawner, with_causes};

use super::{FAILED, Global, print_json, runtime};

/// Find out what holds on this machine: containment of processes, limits, plugins, directories, the browser
///
/// Everything is tried, not guessed. Exit code 0 where all is well, 1 where
/// something that the configuration asks for does not work here.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    says: String,
    /// What to do where it is not well.
    advice: Option<String>,
}

impl Finding {
    fn well(what: &'static str, says: impl Into<String>) -> Self {
        Self { what, says: says.into(), advice: None }
    }

    fn ill(what: &'static str, says: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { what, says: says.into(), advice: Some(advice.into()) }
    }
}

impl Doctor {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let data = global.data(&configuration)?;
        let mut findings = vec![
            Finding::well("version", env!("CARGO_PKG_VERSION")),
            Finding::well(
                "configuration",
                global
                    .configuration_path()
                    .map_or("none; the defaults hold".to_owned(), |path| path.display().to_string()),
            ),
        ];
        let runtime = runtime()?;
        let opened = runtime.block_on(global.open(configuration.clone()));
        match &opened {
            Ok(host) => {
                findings.push(Finding::well("data", data.display().to_string()));
                findings.push(clock(host));
                findings.extend(plugins(host));
            }
            Err(error) => findings.push(Finding::ill(
                "data",
                format!("{error:#}"),
                "name a directory that can be written with --data",
            )),
        }
        // As the host has it: tried in a workspace, and with what is required.
        let spawner = opened.as_ref().map_or_else(|_| Spawner::new(), |host| host.spawner().clone());
        let probed = runtime.block_on(spawner.capabilities());
        let wanted = Wanted::of(&configuration, opened.as_ref().ok());
        match probed {
            Ok(capabilities) => findings.extend(containment(&capabilities, wanted)),
            Err(error) => findings.push(Finding::ill(
                "children",
                with_causes(&error),
                "this program must be able to run itself again (/proc/self/exe)",
            )),
        }
        findings.push(runtime.block_on(browser(&configuration, &spawner, opened.as_ref().ok())));
        findings.push(polls(&configuration));
        drop(opened);
        runtime.shutdown_timeout(Duration::from_secs(5));
        let ill = findings.iter().any(|finding| finding.advice.is_some());
        if self.json {
            let findings: Vec<_> = findings
                .iter()
                .map(|Finding { what, says, advice }| json!({"what": what, "says": says, "advice": advice}))
                .collect();
            print_json(&json!({"well": !ill, "findings": findings}))?;
        } else {
            show(&findings)?;
        }
        Ok(if ill { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
    }
}

fn clock(host: &Host) -> Finding {
    match host.state().host_time().doubt() {
        None => Finding::well("clock", "it agrees with the time that hosts have counted"),
        Some(doubt) => Finding::ill(
            "clock",
            doubt.to_string(),
            "set the clock, or say with `wharf state confirm-clock` that it is right",
        ),
    }
}

/// What the configuration asks of containment.
#[derive(Clone, Copy)]
struct Wanted {
    processes: bool,
    given_up: bool,
}

impl Wanted {
    fn of(configuration: &Configuration, host: Option<&Host>) -> Self {
        let grants = host.map(Host::installed).unwrap_or_default();
        let granted: Vec<_> = grants.iter().filter_map(|plugin| plugin.grants.process.clone()).collect();
        let written =
            configuration.plugins.values().any(|plugin| plugin.grants.iter().any(|grants| grants.process.is_some()));
        Self {
            processes: written || !granted.is_empty(),
            given_up: granted.iter().any(|grant| !grant.require_containment),
        }
    }
}

fn plugins(host: &Host) -> Vec<Finding> {
    let names: Vec<_> = host.installed().iter().map(|installed| installed.plugin.name().to_string()).collect();
    let mut findings = vec![Finding::well("plugins", names.join(", "))];
    for Off { name, developer } in host.off() {
        let profile = if developer { ", or use --profile developer" } else { "" };
        let says = format!("{name}; grant it something under [plugin.{name}.grants] in wharf.toml{profile}");
        findings.push(Finding::well("off", says));
    }
    for rejected in host.rejected() {
        let advice = format!("mend or remove [plugin.{}] in wharf.toml", rejected.name);
        findings.push(Finding::ill("rejected", format!("{}: {}", rejected.name, rejected.reason), advice));
    }
    findings
}

fn containment(capabilities: &Capabilities, wanted: Wanted) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.push(match &capabilities.containment {
        Ok(Contained::Bubblewrap) => Finding::well("containment", "bubblewrap: a program was run in it"),
        Ok(Contained::Landlock) => landlock(capabilities),
        Err(missing) if wanted.processes && (!wanted.given_up || capabilities.bubblewrap_required) => Finding::ill(
            "containment",
            format!("none: {missing}"),
            "install bubblewrap (Debian: apt-get install bubblewrap); processes are refused until then",
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
    if wanted.given_up {
        findings.push(Finding::well(
            "given up",
            "a grant has `require_containment = false`: where nothing contains its processes, they may do all that the \
             user of the host may",
        ));
    }
    findings.push(match &capabilities.process_limit {
        ProcessLimit::Tree => Finding::well("process limit", "holds for the processes of each command"),
        ProcessLimit::TreeOfAnotherUser => {
            Finding::well("process limit", "holds for each session: the host is root, and gives each a user of its own")
        }
        ProcessLimit::User => Finding::well(
            "process limit",
            "counted with all that this user runs; install bubblewrap to have it for each command by itself",
        ),
    });
    let memory = if capabilities.memory_of_trees { "of all processes of a command" } else { "of each process" };
    findings.push(Finding::well("memory limit", memory));
    findings
}

/// Landlock contains: because bubblewrap is not there, which somebody may want, or
/// because it does not work, which nobody wants.
fn landlock(capabilities: &Capabilities) -> Finding {
    let says = "Landlock and seccomp: a program was run under them";
    match &capabilities.bubblewrap {
        Err(why) if why.starts_with("bubblewrap is installed") => Finding::ill(
            "containment",
            format!("{says}, which hides less than bubblewrap; {why}"),
            "make bubblewrap work, or have processes refused until it does: `required = \"bubblewrap\"` under [process]",
        ),
        Err(_) | Ok(()) => {
            Finding::well("containment", format!("{says}; bubblewrap, which hides more, does not work here"))
        }
    }
}

/// The browser that runs web pages: started once, where any plugin may have some.
async fn browser(configuration: &Configuration, spawner: &Spawner, host: Option<&Host>) -> Finding {
    const WHAT: &str = "browser";
    if !host.is_some_and(|host| host.installed().iter().any(|plugin| plugin.grants.webview.is_some())) {
        return Finding::well(WHAT, "not tried: no plugin is granted web pages ([plugin.NAME.grants.webview])");
    }
    #[cfg(target_os = "linux")]
    return match Chromium::find(spawner.clone(), configuration.webview.chromium()).await {
        Ok(found) => {
            let sandbox = if found.sandbox {
                "pages run in its own sandbox"
            } else {
                "WITHOUT its own sandbox, as [webview] `sandbox = false` says"
            };
            let user = found.user.map(|user| format!(" as the user {user}")).unwrap_or_default();
            Finding::well(WHAT, format!("{} ({}){user}; {sandbox}", found.program.display(), found.version))
        }
        Err(error) => Finding::ill(
            WHAT,
            with_causes(&error),
            "web pages are refused until then; on Debian: apt-get install --no-install-recommends chromium-headless-shell",
        ),
    };
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (configuration, spawner);
        Finding::ill(WHAT, "the host runs a browser of its own on Linux only", "remove the grants of web pages")
    }
}

fn polls(configuration: &Configuration) -> Finding {
    let says = if configuration.polls.guidance {
        let sooner = configuration.polls.hasty_threshold;
        let sooner = sooner.map_or(String::new(), |polls| format!(", from {polls} where they are hasty"));
        let apart = configuration.polls.tenant.len();
        let apart = if apart == 0 { String::new() } else { format!("; apart for {apart} tenants") };
        format!("advice from {} polls in a row on{sooner}{apart}", configuration.polls.threshold)
    } else {
        "no advice".to_owned()
    };
    Finding::well("polling", says)
}

fn show(findings: &[Finding]) -> Result<()> {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    for Finding { what, says, advice } in findings {
        writeln!(out, "{} {what:<14} {says}", if advice.is_some() { "!!" } else { "ok" })
            .context("cannot write the findings")?;
        if let Some(advice) = advice {
            writeln!(out, "{:17} -> {advice}", "").context("cannot write the findings")?;
        }
    }
    Ok(())
}
