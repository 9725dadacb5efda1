//! The folder of a new plugin: made whole, or not at all.

use std::{
    fs,
    path::{Path, PathBuf},
};

use wharf_core::PluginName;

use crate::{
    capability::PluginCapability,
    error::AuthorError,
    language::Language,
    template::{TOOLS, Wanted},
};

/// Where the crates or packages of the kit are, below the plugin's folder.
const KIT: &str = "kit";

/// A plugin that is to be made.
#[derive(Debug, Clone)]
pub struct Scaffold {
    name: PluginName,
    language: Language,
    capabilities: Vec<PluginCapability>,
}

/// A plugin that was made.
#[derive(Debug, Clone)]
pub struct ScaffoldedPlugin {
    /// Its folder.
    pub folder: PathBuf,
    /// Its files, the kit's left out, by their paths in the folder.
    pub files: Vec<String>,
    /// What runs its tests.
    pub test_command: &'static str,
    /// The names of its tools.
    pub tools: Vec<&'static str>,
}

impl Scaffold {
    /// A plugin of this name and language, with a tool for each capability.
    ///
    /// # Errors
    /// Where no plugin can be called so.
    pub fn new(
        name: &str,
        language: Language,
        capabilities: impl IntoIterator<Item = PluginCapability>,
    ) -> Result<Self, AuthorError> {
        let refused = |reason: String| AuthorError::Name { name: wharf_core::text::line(name, 64), reason };
        let parsed: PluginName = name.parse().map_err(|error| refused(format!("{error}")))?;
        // Cargo and Python name modules after it.
        if !name.starts_with(|first: char| first.is_ascii_lowercase()) {
            return Err(refused("its name is a module's, too, and begins with a letter".to_owned()));
        }
        let mut capabilities: Vec<_> = capabilities.into_iter().collect();
        capabilities.sort_unstable();
        capabilities.dedup();
        Ok(Self { name: parsed, language, capabilities })
    }

    /// Makes the folder with all of its files.
    ///
    /// # Errors
    /// [`AuthorError::Taken`] where something is there; where it cannot be written, nothing is left.
    pub fn write(&self, folder: &Path) -> Result<ScaffoldedPlugin, AuthorError> {
        if folder.symlink_metadata().is_ok() {
            return Err(AuthorError::Taken(folder.to_owned()));
        }
        let tools: Vec<_> = TOOLS
            .iter()
            .filter(|tool| tool.capability().is_none_or(|capability| self.capabilities.contains(&capability)))
            .collect();
        let wanted = Wanted { name: self.name.as_str(), language: self.language, tools: &tools };
        let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(AuthorError::file(parent))?;
        // Beside it, so that it can be renamed; gone again where anything fails.
        let unfinished = tempfile::Builder::new().prefix(".wharf-new-").tempdir_in(parent);
        let unfinished = unfinished.map_err(AuthorError::file(parent))?;
        let place = unfinished.path().join("plugin");
        let files = wanted.files();
        for (path, text) in &files {
            let path = place.join(path);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(AuthorError::file(parent))?;
            }
            fs::write(&path, text).map_err(AuthorError::file(&path))?;
        }
        self.language.kit().write(&place.join(KIT))?;
        fs::rename(&place, folder).map_err(AuthorError::file(folder))?;
        Ok(ScaffoldedPlugin {
            folder: folder.to_owned(),
            files: files.into_iter().map(|(path, _)| path).collect(),
            test_command: wanted.test_command(),
            tools: tools.iter().map(|tool| tool.name).collect(),
        })
    }
}
