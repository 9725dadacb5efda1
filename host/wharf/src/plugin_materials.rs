//! What is said of the components of the plugins that a host would know.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use wharf_core::{PluginName, text::with_causes};
use wharf_engine::Component;
use wharf_files::regular_file;
use wharf_materials::{BillOfMaterials, Package};

use crate::{
    added::{AddedError, AddedPlugins},
    bundled,
    configuration::Configuration,
    found_materials::FoundMaterials,
};

/// Why nothing can be said of a plugin's component.
#[derive(Debug, thiserror::Error)]
#[error("the component of {name} cannot be read: {reason}")]
pub struct UnreadComponent {
    /// Whose.
    pub name: PluginName,
    /// Why.
    pub reason: String,
}

/// Why a file is no bill of materials that can be read.
#[derive(Debug, thiserror::Error)]
#[error("the bill of materials {} cannot be read: {reason}", file.display())]
pub struct UnreadBill {
    /// Which.
    pub file: PathBuf,
    /// Why.
    pub reason: String,
}

/// What a bill of materials lists that is of no plugin, such as that of Wharf's own packages: CycloneDX or SPDX 2 as
/// JSON, 4 MiB at most. Each package once, in order.
///
/// # Errors
/// [`UnreadBill`], in words of what to do.
pub fn packages_of_bill(file: &Path) -> Result<Vec<Package>, UnreadBill> {
    let unread = |reason: String| UnreadBill { file: file.to_owned(), reason };
    let limit = BillOfMaterials::MAX_BYTES as u64;
    let bytes = regular_file::read(file, limit).map_err(|error| unread(with_causes(&error)))?;
    Ok(BillOfMaterials::read(&bytes).map_err(|error| unread(with_causes(&error)))?.packages)
}

impl Configuration {
    /// What is said of the component that a host would load as this plugin; nothing where there is no such
    /// plugin. Of one that was added, what was found then is kept, and no server is asked. Blocks.
    ///
    /// # Errors
    /// Where there is a component, and it cannot be read.
    pub fn materials(&self, data: &Path, name: &PluginName) -> Result<Option<FoundMaterials>, UnreadComponent> {
        let unread = |reason: String| UnreadComponent { name: name.clone(), reason };
        let limit = self.host_limits.component_bytes;
        let of_file = |file: &Path| {
            let bytes = regular_file::read(file, limit).map_err(|error| unread(error.to_string()))?;
            let component = Component::new(bytes);
            let beside = FoundMaterials::beside(file, &component, &self.trust.policy);
            Ok(Some(FoundMaterials::within(&component).and(beside)))
        };
        if let Some(source) = self.settings_of(name).source {
            return of_file(&source);
        }
        if let Some(component) = bundled::component(name) {
            return Ok(Some(FoundMaterials::within(&component)));
        }
        let added = AddedPlugins::of(data);
        let failed = |error| unread(with_causes(&error));
        if let Some(sourced) = added.component_of(name, limit).map_err(failed)? {
            let kept = added.receipt(name).map_err(failed)?.map(|receipt| receipt.materials).unwrap_or_default();
            return Ok(Some(FoundMaterials::within(&sourced.component).and(kept)));
        }
        match self.folder_plugins().into_iter().find(|(found, _)| found == name) {
            Some((_, file)) => of_file(&file),
            None => Ok(None),
        }
    }

    /// The same of all plugins that a host would know.
    ///
    /// # Errors
    /// Where it cannot be read which plugins were added.
    pub fn all_materials(
        &self,
        data: &Path,
    ) -> Result<BTreeMap<PluginName, Result<FoundMaterials, UnreadComponent>>, AddedError> {
        let written =
            self.plugins.iter().filter(|(_, settings)| settings.source.is_some()).map(|(name, _)| name.clone());
        let added = AddedPlugins::of(data).list()?.into_keys();
        let folder = self.folder_plugins().into_iter().map(|(name, _)| name);
        let names = written.chain(bundled::names()).chain(added).chain(folder);
        Ok(names.filter_map(|name| Some((name.clone(), self.materials(data, &name).transpose()?))).collect())
    }
}
