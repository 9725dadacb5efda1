//! `wharf plugin remove`, `enable` and `disable`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use wharf::{AddedError, PluginName};

use super::{Place, show, unusable};
use crate::command::{Unusable, hosts::Hosts, print_json};

pub(super) fn remove(place: &Place, name: &PluginName) -> Result<ExitCode> {
    match place.added.remove(name) {
        Ok(()) => {}
        Err(AddedError::Unknown { .. }) if is_known(place, name) => bail!(Unusable(format!(
            "the plugin {name} was not added by command, so wharf.toml, the folder of plugins or this binary brings it; \
             `wharf plugin disable {name}` switches it off"
        ))),
        Err(error) => return Err(unusable(&error)),
    }
    let hosts = Hosts::tell(&place.data)?;
    if place.json {
        print_json(&serde_json::json!({"removed": name, "hosts": hosts.to_json(None)}))?;
        return Ok(hosts.code());
    }
    println!("Removed {name}.");
    hosts.print_problems();
    let still = place.configuration.plugins.contains_key(name);
    if still {
        println!("wharf.toml still says what it may use, under [plugin.{name}].");
    }
    Ok(hosts.code())
}

pub(super) fn switch(place: &Place, name: &PluginName, on: bool) -> Result<ExitCode> {
    let hosts = Hosts::asked(&place.data)?;
    if !is_known(place, name) && !hosts.know(name) {
        bail!(Unusable(format!("there is no plugin {name}; `wharf plugin list` shows those that there are")));
    }
    let settings = place.configuration.plugins.get(name);
    if on && settings.is_some_and(|settings| !settings.enabled) {
        bail!(Unusable(format!("wharf.toml says `enabled = false` under [plugin.{name}]; change that instead")));
    }
    place.added.switch(name, on).map_err(|error| unusable(&error))?;
    let hosts = Hosts::tell(&place.data)?;
    if !place.json {
        println!("The plugin {name} is {}.", if on { "on" } else { "off" });
    }
    show::told(place, name, &hosts)
}

/// Whether the next host would know of it.
pub(super) fn is_known(place: &Place, name: &PluginName) -> bool {
    show::wanted(place).is_ok_and(|wanted| wanted.iter().any(|plugin| plugin.name == *name))
}
