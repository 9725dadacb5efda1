//! What the caller of an unknown tool is told: why the tool cannot be called, what to do about it,
//! and what the name was probably meant to be.

use wharf_core::{PluginName, ToolDefinition, service::Viewer};

use super::Registry;
use crate::{
    installed::{Compiling, Installed, Off},
    nearest::nearest,
    tool_name::{SEPARATOR, front_end_of},
};

/// Names that a caller of an unknown tool is told.
const SIMILAR: usize = 10;
/// How like a name has to be where neither plugin nor tool is the same.
const ALIKE: f64 = 0.7;

impl Registry {
    /// Why no tool of this name can be called, and what to do about it, as this viewer may
    /// know it: the plugin that the name begins with, or else the nearest names, those of the
    /// tenant's front ends among them.
    pub(crate) fn hint(&self, viewer: Viewer<'_>, name: &str, front_ends: &[ToolDefinition]) -> String {
        let plugin = name.split_once(SEPARATOR).map(|(plugin, _)| plugin).filter(|plugin| viewer.allows(plugin));
        let has = |known: &&Installed| {
            known.plugin.tools().iter().any(|tool| known.listed_name(&tool.definition.name) == name)
        };
        if let Some(owner) = self.installed().iter().filter(|known| known.is_seen_by(viewer)).find(has)
            && !self.tools.contains_key(name)
        {
            return format!("the operator left it out, by `tools` or `skip_tools` of [plugin.{}]", owner.plugin.name());
        }
        if let Some(why) = plugin.and_then(|plugin| self.why_none_of(plugin)) {
            return why;
        }
        if let Some(Compiling { name, .. }) = self.awaited(viewer, name) {
            return format!("the plugin {name} is still being compiled; call the tool again later");
        }
        let similar = self.similar(viewer, name, front_ends);
        if !similar.is_empty() {
            return format!("there are: {}", similar.join(", "));
        }
        let meant = plugin.and_then(|plugin| self.nearest_without_tools(viewer, plugin));
        match meant.and_then(|meant| Some((meant, self.why_none_of(meant)?))) {
            Some((meant, why)) => format!("did you mean one of `{meant}`? {why}"),
            None => "list the tools to see which there are".to_owned(),
        }
    }

    /// Why a plugin that the host knows has no tools.
    fn why_none_of(&self, plugin: &str) -> Option<String> {
        let is_it = |name: &PluginName| name.as_str() == plugin;
        if self.plugins.rejected.iter().any(|rejected| is_it(&rejected.name)) {
            return Some(format!(
                "plugin `{plugin}` could not be loaded; `wharf plugin list` and the log of the host say why"
            ));
        }
        if let Some(Off { developer, .. }) = self.plugins.off.iter().find(|off| is_it(&off.name)) {
            let profile = if *developer { ", or with `--profile developer`" } else { "" };
            return Some(format!(
                "plugin `{plugin}` is off, since it is granted nothing; the operator grants it something under \
                 [plugin.{plugin}.grants] in wharf.toml{profile}"
            ));
        }
        let disabled = self.plugins.disabled.iter().find(|disabled| is_it(&disabled.name))?;
        Some(format!("plugin `{plugin}` is switched off: {}", disabled.reason()))
    }

    /// The name of a plugin without tools that this one was probably meant to be.
    fn nearest_without_tools(&self, viewer: Viewer<'_>, plugin: &str) -> Option<&str> {
        let rejected = self.plugins.rejected.iter().map(|rejected| &rejected.name);
        let off = self.plugins.off.iter().map(|off| &off.name);
        let disabled = self.plugins.disabled.iter().map(|disabled| &disabled.name);
        let known = rejected.chain(off).chain(disabled).map(PluginName::as_str);
        let known: Vec<_> = known.filter(|name| viewer.allows(name)).collect();
        nearest(plugin, &known, 1, ALIKE).pop()
    }

    /// Names that the caller of an unknown tool may have meant, the likest first: those
    /// of the same plugin, the same tool of another one, and others that look like it.
    fn similar<'n>(&'n self, viewer: Viewer<'_>, name: &str, front_ends: &'n [ToolDefinition]) -> Vec<&'n str> {
        let (plugin, tool) = name.split_once(SEPARATOR).unwrap_or((name, name));
        let (mut related, mut others) = (Vec::new(), Vec::new());
        let seen = self.tools.iter().filter(|(known, callee)| callee.is_seen_by(viewer, known));
        let of_front_ends = front_ends.iter().map(|tool| tool.name.as_str());
        let of_front_ends = of_front_ends.filter(|name| viewer.allows(front_end_of(name)));
        for known in seen.map(|(known, _)| known.as_str()).chain(of_front_ends) {
            let (of_plugin, of_tool) = known.split_once(SEPARATOR).unwrap_or((known, known));
            if of_plugin == plugin || of_tool == tool { related.push(known) } else { others.push(known) }
        }
        related.extend(nearest(name, &others, SIMILAR, ALIKE));
        nearest(name, &related, SIMILAR, 0.0)
    }
}
