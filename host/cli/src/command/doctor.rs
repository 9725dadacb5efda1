//! `wharf doctor`: what this machine offers, and what that means for a host.

#[cfg_attr(not(feature = "postgres"), path = "doctor/no_cluster.rs")]
mod cluster;
mod containing;
mod finding;
mod machine;
mod named;
mod opening;
mod trusting;

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;
use wharf::{Configuration, Host, Off, processes::Spawner, with_causes};

use self::{
    containing::ContainmentDemand,
    finding::{Finding, Level},
};
use crate::{
    exit::FAILED,
    global::{Global, runtime},
    print::print_json,
};

/// Find out what holds on this machine: containment of processes, limits, plugins, directories, the disk, the browser
///
/// Everything is tried, not guessed, and all is opened that the configuration names, as `wharf
/// config check` does. Exit code 0 where all is well, also with warnings (`! `); 1 where something
/// that the configuration asks for does not work here (`!!`).
#[derive(Debug, Args)]
pub(super) struct DoctorArguments {
    /// Find out how the cluster is as well: its database, the certificate of this host, the
    /// clocks, and which hosts reach each other
    #[arg(long)]
    cluster: bool,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl DoctorArguments {
    pub(super) fn run(self, global: &Global) -> Result<ExitCode> {
        let configuration = global.configuration()?;
        let data = global.data(&configuration)?;
        let mut findings = vec![Finding::well("version", env!("CARGO_PKG_VERSION"))];
        let runtime = runtime()?;
        let trying = global.progress().step("trying what holds on this machine");
        let opened = runtime.block_on(global.builder(configuration.clone())?.fixed_grants().open());
        findings.push(opening::configuration(global.configuration_path().as_deref(), opened.as_ref().err()));
        findings.extend(named::named(&configuration, &data, opened.as_ref()));
        findings.push(opening::data(&data, opened.as_ref().err()));
        findings.extend(machine::disk(&configuration, &data));
        findings.extend(machine::hosts(&data));
        findings.extend(opening::database(&configuration, opened.as_ref().err()));
        findings.push(opening::encryption(&configuration));
        if let Ok(host) = &opened {
            findings.push(opening::cache(host));
            findings.push(clock(host));
            findings.extend(plugins(host));
        }
        // As the host has it: tried in a workspace, and with what is required.
        let spawner = opened.as_ref().map_or_else(|_| Spawner::new(), |host| host.spawner().clone());
        let probed = runtime.block_on(spawner.capabilities());
        let demand = ContainmentDemand::of(&configuration, opened.as_ref().ok());
        match probed {
            Ok(capabilities) => {
                findings.extend(machine::kernel(&capabilities));
                findings.extend(containing::containment(&capabilities, demand));
            }
            Err(error) => findings.push(Finding::ill("children", with_causes(&error), containing::remedy(&error))),
        }
        findings.push(containing::confinement(&configuration, global.configuration_target().ok().as_deref()));
        findings.push(runtime.block_on(trusting::isolation(&configuration, opened.as_ref().ok())));
        findings.push(trusting::signatures(&configuration));
        findings.push(trusting::denied(&configuration, &data));
        findings.push(trusting::audit(&configuration));
        findings.push(runtime.block_on(containing::browser(&configuration, &spawner, opened.as_ref().ok())));
        findings.push(polls(&configuration));
        if self.cluster {
            findings.extend(runtime.block_on(cluster::cluster(&configuration)));
        }
        drop(opened);
        drop(trying);
        runtime.shutdown_timeout(Duration::from_secs(5));
        let ill = findings.iter().any(|finding| finding.level == Level::Error);
        if self.json {
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

fn plugins(host: &Host) -> Vec<Finding> {
    let names: Vec<_> = host.installed().iter().map(|installed| installed.plugin.name().to_string()).collect();
    let mut findings = vec![Finding::well("plugins", names.join(", "))];
    for Off { name, developer, .. } in host.off() {
        let profile = if developer { ", or use --profile developer" } else { "" };
        let says = format!("{name}; grant it something under [plugin.{name}.grants] in wharf.toml{profile}");
        findings.push(Finding::well("off", says));
    }
    for rejected in host.rejected() {
        // A plugin that cannot be compiled for want of the null device is as good as another.
        let advice = match containing::needs_null_device(&rejected.reason) {
            Some(advice) => advice.to_owned(),
            None => format!("mend or remove [plugin.{}] in wharf.toml", rejected.name),
        };
        findings.push(Finding::ill("rejected", format!("{}: {}", rejected.name, rejected.reason), advice));
    }
    findings
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
    for Finding { what, level, says, advice } in findings {
        writeln!(out, "{} {what:<14} {says}", level.mark()).context("cannot write the findings")?;
        if let Some(advice) = advice {
            writeln!(out, "{:17} -> {advice}", "").context("cannot write the findings")?;
        }
    }
    Ok(())
}
