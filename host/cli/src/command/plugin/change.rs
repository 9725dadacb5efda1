//! `wharf plugin remove`, `enable` and `disable`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use wharf::{PluginName, added::InstalledChange};

use super::{
    installation::{Installation, unusable},
    show,
};
use crate::{exit::Unusable, hosts::HostAnswers, print::print_json};

/// Removes a plugin that was added; hosts are to be told.
pub(super) fn removed(installation: &Installation, name: &PluginName) -> Result<()> {
    let is_added = installation.added.list().map_err(|error| unusable(&error))?.contains_key(name);
    if !is_added && is_known(installation, name) {
        bail!(Unusable(format!(
            "the plugin {name} was not added by command, so wharf.toml, the folder of plugins or this binary brings it; \
             `wharf plugin disable {name}` switches it off"
        )));
    }
    installation.apply(InstalledChange::Remove(name))?;
    Ok(())
}

pub(super) fn remove(installation: &Installation, name: &PluginName) -> Result<ExitCode> {
    removed(installation, name)?;
    let hosts = HostAnswers::reload(&installation.data)?;
    if installation.json {
        print_json(&serde_json::json!({"removed": name, "hosts": hosts.to_json(None)}))?;
        return Ok(hosts.code());
    }
    println!("Removed {name}.");
    show::tell_cluster(installation);
    hosts.print_problems();
    let still = installation.configuration.plugins.contains_key(name);
    if still {
        println!("wharf.toml still says what it may use, under [plugin.{name}].");
    }
    Ok(hosts.code())
}

pub(super) fn switch(installation: &Installation, name: &PluginName, on: bool) -> Result<ExitCode> {
    let hosts = HostAnswers::ask(&installation.data)?;
    if !is_known(installation, name) && !hosts.know(name) {
        bail!(Unusable(format!("there is no plugin {name}; `wharf plugin list` shows those that there are")));
    }
    let settings = installation.configuration.plugins.get(name);
    if on && settings.is_some_and(|settings| !settings.enabled) {
        bail!(Unusable(format!("wharf.toml says `enabled = false` under [plugin.{name}]; change that instead")));
    }
    installation.apply(InstalledChange::Switch { name, on })?;
    let hosts = HostAnswers::reload(&installation.data)?;
    if !installation.json {
        println!("The plugin {name} is {}.", if on { "on" } else { "off" });
        show::tell_cluster(installation);
    }
    show::told(installation, name, &hosts)
}

/// Whether the next host would know of it.
pub(super) fn is_known(installation: &Installation, name: &PluginName) -> bool {
    show::known(installation).is_ok_and(|wanted| wanted.iter().any(|plugin| plugin.name == *name))
}
