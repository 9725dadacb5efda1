//! What an app says in code of plugins and of the host, where an operator writes it into
//! `wharf.toml`. The other settings are fields of the configuration.

use wharf_core::{Grants, PluginName};

use super::{document::Configuration, plugin::PluginSettings};

impl Configuration {
    /// Says of a plugin what `[plugin.NAME]` would say. `change` begins with what holds of it
    /// so far; limits above the ceilings are lowered to them.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use wharf::{Configuration, Grants, StateGrant};
    ///
    /// let configuration = Configuration::default()
    ///     .with_plugin("plans".parse()?, |plugin| {
    ///         plugin.source = Some("/srv/plugins/plans.wasm".into());
    ///         plugin.grants = Some(Grants { state: Some(StateGrant::with_reason("keeps plans")), ..Grants::default() });
    ///         plugin.limits.wall_time_milliseconds = 5_000;
    ///     })
    ///     .with_plugin("browser".parse()?, |plugin| plugin.enabled = false);
    /// assert!(!configuration.settings_of(&"browser".parse()?).enabled);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_plugin(mut self, name: PluginName, change: impl FnOnce(&mut PluginSettings)) -> Self {
        let mut settings = self.settings_of(&name);
        change(&mut settings);
        settings.limits = settings.limits.at_most(&self.call_ceilings);
        self.plugins.insert(name, settings);
        self
    }

    /// Says what the host's own routes may use, as `[plugin.host.grants]` would.
    #[must_use]
    pub fn with_host_grants(mut self, grants: Grants) -> Self {
        self.written_host_grants = Some(grants);
        self
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use wharf_core::{CallLimits, StateGrant, TerminalGrant};

    use super::*;

    #[test]
    fn what_is_said_in_code_is_what_a_file_would_say() {
        let name = || "x".parse::<PluginName>().expect("legal");
        let text = "[plugin.x]\nsource = \"/x.wasm\"\nprefix = false\nlimits = {wall_time_milliseconds = 7}\n\
                    [plugin.x.grants.state]\nreason = \"r\"\n[plugin.host.grants.terminal]\nreason = \"r\"";
        let written = Configuration::parse(text, Path::new("/")).expect("parses");
        let said = Configuration::default()
            .with_plugin(name(), |plugin| {
                plugin.source = Some("/x.wasm".into());
                plugin.prefix = false;
                plugin.limits.wall_time_milliseconds = 7;
                plugin.grants = Some(Grants { state: Some(StateGrant::with_reason("r")), ..Grants::default() });
            })
            .with_host_grants(Grants { terminal: Some(TerminalGrant::with_reason("r")), ..Grants::default() });
        assert_eq!(format!("{:?}", said.settings_of(&name())), format!("{:?}", written.settings_of(&name())));
        assert_eq!(said.host_grants().terminal, written.host_grants().terminal);
        assert!(said.host_grants().terminal.is_some());
    }

    #[test]
    fn a_limit_above_its_ceiling_is_lowered_to_it() {
        let name = || "x".parse::<PluginName>().expect("legal");
        let said =
            Configuration::default().with_plugin(name(), |plugin| plugin.limits.wall_time_milliseconds = u64::MAX);
        let ceiling = CallLimits::ceilings().wall_time_milliseconds;
        assert_eq!(said.settings_of(&name()).limits.wall_time_milliseconds, ceiling);
    }
}
