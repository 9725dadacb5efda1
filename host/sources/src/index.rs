//! Indexes: JSON texts that list plugins, and where each of their versions is.
//!
//! All that an index says is hostile: its length, its memory and the number of its entries
//! are bounded, and every text of it is one line of visible characters before anybody sees
//! it. An entry that is wrong is told and left out; the others stay.

#[cfg(test)]
mod tests;

use semver::Version;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use wharf_core::{Digest, PluginName, json::Estimate, text};

use crate::{
    fetch::FetchError,
    oci::RegistryLogins,
    sought::{ListKind, Sought},
    source::PluginSource,
};

/// The format that is known.
const FORMAT: u64 = 1;
/// What an index may have.
const MOST_BYTES: u64 = 4 << 20;
/// Memory that its JSON may take, as estimated before it is read.
const MOST_MEMORY_BYTES: u64 = 64 << 20;
/// Plugins that it may list.
const MOST_PLUGINS: usize = 5_000;
/// Versions that a plugin of it may have.
const MOST_VERSIONS: usize = 200;
/// Languages that a plugin of it may name.
const MOST_LANGUAGES: usize = 10;
/// Entries that are left out and told; more are counted.
const MOST_PROBLEMS: usize = 20;
/// Bytes of a description; the rest is cut.
const DESCRIPTION_BYTES: usize = 500;
/// Bytes of another text; the rest is cut.
const TEXT_BYTES: usize = 200;
/// Bytes of a source, which is refused where it is longer.
const SOURCE_BYTES: usize = 1_000;

/// Why an index cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// It cannot be fetched.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// It is no JSON of this form.
    #[error("{from} is no index of plugins: {problem}")]
    Text {
        /// From where.
        from: String,
        /// What is wrong.
        problem: String,
    },
    /// It has a format that is not known.
    #[error("{from} is an index of the format {found}, and this version of Wharf reads {FORMAT}")]
    Format {
        /// From where.
        from: String,
        /// Its format.
        found: u64,
    },
    /// It lists too much.
    #[error("{from} lists {found} plugins, and {MOST_PLUGINS} is what is read")]
    Plugins {
        /// From where.
        from: String,
        /// How many.
        found: usize,
    },
}

/// What an index lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PluginIndex {
    /// Its plugins, in its order.
    pub plugins: Vec<IndexedPlugin>,
    /// Why entries were left out: the first of them.
    pub problems: Vec<String>,
    /// How many entries were left out.
    pub left_out: usize,
}

/// A plugin as an index describes it. Its texts are lines of visible characters, and no more
/// than its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexedPlugin {
    /// What it is called.
    pub name: PluginName,
    /// What it does.
    pub description: String,
    /// Its licences, as an SPDX expression.
    pub licenses: Option<String>,
    /// Where people read more.
    pub homepage: Option<String>,
    /// What it is written in.
    pub languages: Vec<String>,
    /// Its versions, the newest first; at least one.
    pub versions: Vec<IndexedVersion>,
}

/// One version of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexedVersion {
    /// Which.
    pub version: Version,
    /// Where its component is.
    #[serde(serialize_with = "as_text")]
    pub source: PluginSource,
    /// The component that has to be there.
    pub digest: Digest,
}

fn as_text<S: Serializer>(source: &PluginSource, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(source)
}

/// An index as it is written. Members that are not known are left alone: a later index may say
/// more of a plugin.
#[derive(Deserialize)]
struct WrittenIndex {
    wharf_index: u64,
    plugins: Vec<Value>,
}

#[derive(Deserialize)]
struct WrittenPlugin {
    name: String,
    description: String,
    licenses: Option<String>,
    homepage: Option<String>,
    #[serde(default)]
    languages: Vec<String>,
    versions: Vec<WrittenVersion>,
}

#[derive(Deserialize)]
struct WrittenVersion {
    version: Version,
    source: String,
    digest: Digest,
}

impl PluginSource {
    /// Fetches and reads the index that is here. A registry that asks for a login gets the one
    /// that `logins` has for it, or none. Blocks, ten minutes at most.
    ///
    /// # Errors
    /// See [`IndexError`].
    pub fn fetch_index(&self, logins: &RegistryLogins, came: &mut dyn FnMut(u64)) -> Result<PluginIndex, IndexError> {
        let (bytes, _) = self.fetch_sought((Sought::List(ListKind::Index), MOST_BYTES), logins, came)?;
        PluginIndex::read(&bytes, self)
    }
}

impl PluginIndex {
    /// Reads an index that lies at `from`.
    ///
    /// # Errors
    /// Where it is none, or lists more than is read.
    pub fn read(bytes: &[u8], from: &PluginSource) -> Result<Self, IndexError> {
        let shown = || text::line(&from.to_string(), SOURCE_BYTES);
        let refused = |problem: String| IndexError::Text { from: shown(), problem: text::line(&problem, TEXT_BYTES) };
        if Estimate::of(bytes).bytes() > MOST_MEMORY_BYTES {
            return Err(refused(format!("its JSON takes more than {MOST_MEMORY_BYTES} bytes of memory")));
        }
        let written: WrittenIndex = serde_json::from_slice(bytes).map_err(|error| refused(error.to_string()))?;
        if written.wharf_index != FORMAT {
            return Err(IndexError::Format { from: shown(), found: written.wharf_index });
        }
        if written.plugins.len() > MOST_PLUGINS {
            return Err(IndexError::Plugins { from: shown(), found: written.plugins.len() });
        }
        let mut index = Self::default();
        let mut names = std::collections::HashSet::new();
        for (at, entry) in written.plugins.into_iter().enumerate() {
            let plugin = IndexedPlugin::read(entry, from);
            let plugin = plugin.and_then(|plugin| match names.insert(plugin.name.clone()) {
                true => Ok(plugin),
                false => Err("an entry before has this name".to_owned()),
            });
            match plugin {
                Ok(plugin) => index.plugins.push(plugin),
                Err(problem) => {
                    index.left_out += 1;
                    if index.problems.len() < MOST_PROBLEMS {
                        index.problems.push(format!("plugins[{at}]: {}", text::line(&problem, TEXT_BYTES)));
                    }
                }
            }
        }
        Ok(index)
    }
}

impl IndexedPlugin {
    fn read(entry: Value, index: &PluginSource) -> Result<Self, String> {
        let written: WrittenPlugin = serde_json::from_value(entry).map_err(|error| error.to_string())?;
        let name = written.name.parse::<PluginName>().map_err(|error| error.to_string())?;
        if written.versions.len() > MOST_VERSIONS || written.languages.len() > MOST_LANGUAGES {
            return Err(format!("it has more than {MOST_VERSIONS} versions or {MOST_LANGUAGES} languages"));
        }
        let mut versions = Vec::new();
        for WrittenVersion { version, source, digest } in written.versions {
            let source = resolve(&source, index).map_err(|problem| format!("version {version}: {problem}"))?;
            versions.push(IndexedVersion { version, source, digest });
        }
        versions.sort_by(|one, other| other.version.cmp(&one.version));
        if versions.is_empty() {
            return Err("it has no version".to_owned());
        }
        if versions.windows(2).any(|pair| pair[0].version == pair[1].version) {
            return Err("it has a version twice".to_owned());
        }
        let word = |said: String| Some(text::line(said.trim(), TEXT_BYTES)).filter(|said| !said.trim().is_empty());
        Ok(Self {
            name,
            description: text::line(written.description.trim(), DESCRIPTION_BYTES),
            licenses: written.licenses.and_then(word),
            homepage: written.homepage.and_then(word),
            languages: written.languages.into_iter().filter_map(word).collect(),
            versions,
        })
    }

    /// The version for who does not ask for one: the newest that is no preview, or the newest.
    #[must_use]
    pub fn newest(&self) -> Option<&IndexedVersion> {
        self.versions.iter().find(|version| version.version.pre.is_empty()).or(self.versions.first())
    }

    /// How well it fits: none where a word is neither in its name nor in its description, in
    /// whatever case; else how many of them are in its name.
    #[must_use]
    pub fn fit(&self, words: &[String]) -> Option<usize> {
        let (name, description) = (self.name.as_str(), self.description.to_lowercase());
        let words: Vec<_> = words.iter().map(|word| word.to_lowercase()).collect();
        let is_here = |word: &String| name.contains(word.as_str()) || description.contains(word.as_str());
        let in_name = words.iter().filter(|word| name.contains(word.as_str())).count();
        words.iter().all(is_here).then_some(in_name)
    }
}

/// Where a component is that an index names: an address, a reference, or a path from where the
/// index itself lies. An index that was fetched names no file of this machine.
fn resolve(written: &str, index: &PluginSource) -> Result<PluginSource, String> {
    if written.is_empty() || text::line(written, SOURCE_BYTES) != written {
        return Err(format!("its source is no line of 1 to {SOURCE_BYTES} visible bytes"));
    }
    let parse = |text: &str| text.parse::<PluginSource>().map_err(|error| error.to_string());
    if written.contains("://") {
        return parse(written);
    }
    match index {
        PluginSource::File(file) => {
            let folder = file.parent().unwrap_or(file);
            Ok(PluginSource::File(folder.join(written)))
        }
        PluginSource::Address(address) => {
            let beside = address.join(written).map_err(|error| error.to_string())?;
            match parse(beside.as_str())? {
                found @ PluginSource::Address(_) => Ok(found),
                PluginSource::File(_) | PluginSource::Registry(_) => Err("its source is no address".to_owned()),
            }
        }
        PluginSource::Registry(_) => {
            Err("its source is a path, and beside an index in a registry there is none: name an address".to_owned())
        }
    }
}
