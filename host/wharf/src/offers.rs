//! What the installed plugins offer beside tools, and whose each of it is.
//!
//! Made anew with each registry; knows no caller.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use wharf_core::{
    Digest, PluginName,
    service::{
        Announcements, Audience, Viewer,
        offer::{Change, PromptDefinition, ResourceTemplate},
    },
};
use wharf_engine::Plugin;

use crate::installed::Installed;

/// Prompts under their full names, templates, and which plugins answer for addresses.
#[derive(Debug)]
pub(crate) struct Offers {
    prompts: Arc<[PromptDefinition]>,
    templates: Arc<[ResourceTemplate]>,
    /// By full name: whose prompt it is, and which of its plugin's.
    places: BTreeMap<String, (usize, usize)>,
    /// The plugins that have resources.
    readers: Vec<usize>,
    /// Which components those are: another one may list other resources.
    read_by: BTreeMap<PluginName, Digest>,
    prompts_by: BTreeMap<PluginName, Vec<PromptDefinition>>,
}

/// The names under which the two have something else.
fn differing<'m, T: PartialEq>(
    one: &'m BTreeMap<PluginName, T>,
    other: &'m BTreeMap<PluginName, T>,
) -> impl Iterator<Item = PluginName> + 'm {
    one.keys().chain(other.keys()).filter(|name| one.get(*name) != other.get(*name)).cloned()
}

impl Offers {
    pub(crate) fn of(installed: &[Installed]) -> Self {
        let mut places = BTreeMap::new();
        let (mut readers, mut read_by, mut templates) = (Vec::new(), BTreeMap::new(), Vec::new());
        let mut prompts_by = BTreeMap::<_, Vec<_>>::new();
        for (at, owner) in installed.iter().enumerate() {
            let plugin = &owner.plugin;
            for (prompt, known) in plugin.prompts().iter().enumerate() {
                places.insert(owner.listed_name(&known.name), (at, prompt));
            }
            if !plugin.claims().is_empty() {
                readers.push(at);
                read_by.insert(plugin.name().clone(), plugin.digest());
                templates.extend(plugin.templates().iter().cloned());
            }
        }
        templates.sort_by(|one: &ResourceTemplate, other| one.uri_template.cmp(&other.uri_template));
        let named = |(name, (at, prompt)): (&String, &(usize, usize))| PromptDefinition {
            name: name.clone(),
            ..installed[*at].plugin.prompts()[*prompt].clone()
        };
        let prompts: Arc<[_]> = places.iter().map(named).collect();
        for (prompt, (at, _)) in prompts.iter().zip(places.values()) {
            prompts_by.entry(installed[*at].plugin.name().clone()).or_default().push(prompt.clone());
        }
        Self { prompts, templates: templates.into(), places, readers, read_by, prompts_by }
    }

    /// The prompts that this viewer sees.
    pub(crate) fn prompts(&self, installed: &[Installed], viewer: Viewer<'_>) -> Arc<[PromptDefinition]> {
        if viewer.plugins.is_none() {
            return Arc::clone(&self.prompts);
        }
        // `places` has the names in the order of the prompts.
        let all = self.prompts.iter().zip(self.places.values());
        let seen = all.filter(|(_, (at, _))| installed.get(*at).is_some_and(|owner| owner.is_seen_by(viewer)));
        seen.map(|(prompt, _)| prompt.clone()).collect()
    }

    /// The templates that this viewer sees.
    pub(crate) fn templates(&self, installed: &[Installed], viewer: Viewer<'_>) -> Arc<[ResourceTemplate]> {
        if viewer.plugins.is_none() {
            return Arc::clone(&self.templates);
        }
        let owner = |template: &ResourceTemplate| self.describer(installed, &template.uri_template);
        let seen = |template: &&ResourceTemplate| owner(template).is_some_and(|owner| owner.is_seen_by(viewer));
        self.templates.iter().filter(seen).cloned().collect()
    }

    /// The prompt of this full name, and whose it is.
    pub(crate) fn prompt<'i>(
        &self,
        installed: &'i [Installed],
        name: &str,
    ) -> Option<(&'i Installed, &'i PromptDefinition)> {
        let (at, prompt) = self.places.get(name)?;
        let owner = installed.get(*at)?;
        Some((owner, owner.plugin.prompts().get(*prompt)?))
    }

    /// The plugins that have resources.
    pub(crate) fn readers<'i>(&self, installed: &'i [Installed]) -> impl Iterator<Item = &'i Installed> {
        self.readers.iter().filter_map(|at| installed.get(*at))
    }

    /// The plugin that answers for an address.
    pub(crate) fn reader<'i>(&self, installed: &'i [Installed], uri: &str) -> Option<&'i Installed> {
        // No two claims overlap, so that the order means nothing.
        self.readers(installed).find(|reader| reader.plugin.claims().cover(uri))
    }

    /// The plugin that has a template.
    pub(crate) fn describer<'i>(&self, installed: &'i [Installed], template: &str) -> Option<&'i Installed> {
        self.readers(installed)
            .find(|reader| reader.plugin.templates().iter().any(|known| known.uri_template == template))
    }

    /// Tells which lists differ from `before`, to clients that may use what changed.
    pub(crate) fn tell_changes(&self, before: &Self, announcements: &Announcements) {
        let prompts: BTreeSet<_> = differing(&self.prompts_by, &before.prompts_by).collect();
        if !prompts.is_empty() {
            announcements.tell(Change::Prompts(Audience::of_plugins(prompts)));
        }
        let readers: BTreeSet<_> = differing(&self.read_by, &before.read_by).collect();
        if !readers.is_empty() {
            announcements.tell(Change::Resources(Audience::of_plugins(readers)));
        }
    }
}

/// Why a plugin cannot be installed beside these: it claims addresses of one of
/// them.
pub(crate) fn clash(plugin: &Plugin, installed: &[Installed]) -> Option<String> {
    let others = installed.iter().filter(|other| other.plugin.name() != plugin.name());
    let mut clashes = others.filter_map(|other| {
        let (mine, theirs) = plugin.claims().overlap(other.plugin.claims())?;
        Some(format!(
            "it claims the addresses that start with `{mine}`, and plugin `{}`, which was loaded before, those that \
             start with `{theirs}`; an address has one owner, so disable one of the two",
            other.plugin.name()
        ))
    });
    clashes.next()
}
