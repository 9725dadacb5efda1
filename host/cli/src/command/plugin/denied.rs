//! `wharf plugin denied`: the list of what must not run.

use std::process::ExitCode;

use anyhow::{Result, bail};
use wharf::trust::DenyKeeper;

use super::installation::{Installation, unusable};
use crate::{exit::Unusable, hosts::HostAnswers, print::print_json};

pub(super) fn show(installation: &Installation, refresh: bool) -> Result<ExitCode> {
    let Some(settings) = &installation.configuration.trust.deny else {
        bail!(Unusable("wharf.toml names no list of what must not run: `source` under [plugins.deny] does".to_owned()));
    };
    let keeper = DenyKeeper::of(Some(&installation.data));
    let mut code = ExitCode::SUCCESS;
    let mut is_other = None;
    if refresh {
        let fetching = installation.progress.step(format!("fetching {}", settings.source));
        let refreshed = keeper.refresh(settings);
        drop(fetching);
        is_other = Some(refreshed.map_err(|error| unusable(&error))?);
        // Hosts take the copy, and unload what it names.
        code = HostAnswers::reload(&installation.data)?.code();
    }
    let status = keeper.status(settings, &installation.configuration.trust.policy);
    if installation.json {
        print_json(&serde_json::json!({"list": status, "changed": is_other}))?;
        return Ok(code);
    }
    println!("The list of what must not run, from {}", status.source);
    match (status.sequence, status.age_seconds) {
        (Some(sequence), Some(age)) => {
            println!("  sequence {sequence}, {} entries, {age} s old", status.denied);
        }
        _ => println!("  None was ever had; `wharf plugin denied --refresh` fetches it."),
    }
    for signer in &status.unknown_signers {
        println!("  {signer}: no line of `[plugins] trust` knows this signer, so nothing is refused for it");
    }
    match is_other {
        Some(true) => println!("It is another one now."),
        Some(false) => println!("It is the one that was known."),
        None => {}
    }
    Ok(code)
}
