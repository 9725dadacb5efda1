//! Changes of `wharf.toml` by a command: what the operator wrote stays as it
//! is, comments and order included.
//!
//! The changed file is checked as a whole before it is written, and appears whole, by
//! rename. Only the operator's commands come here. The tables that all hosts of a cluster have are
//! changed the same way, and are in its database.

mod confirming;
mod place;
#[cfg(test)]
mod tests;
mod tokens;

use std::{
    io,
    path::{Path, PathBuf},
    rc::Rc,
};

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value, value};
use wharf::{
    Configuration, Grants, InvalidConfiguration, PluginName,
    configuration::{ALWAYS, ALWAYS_COMMANDS, ALWAYS_ORIGINS},
    grant::{Capability, ExchangeFolder, Expiry},
    service::operator::ApprovalRule,
};

pub(crate) use self::confirming::PinChoice;
use self::place::EditPlace;
use crate::cluster_shelf::{ClusterShelf, ShelfError};

/// Why a configuration cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    /// The file cannot be read or written.
    #[error("cannot {what} the configuration {path}")]
    File {
        /// `read` or `write`.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is no TOML.
    #[error("the configuration {place} is not usable:\n{problem}")]
    Text {
        /// Where it stands.
        place: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// The change would make it unusable; nothing was written.
    #[error("the configuration would not be usable, and was not changed:\n{problem}")]
    Refused {
        /// What would be wrong.
        problem: InvalidConfiguration,
    },
    /// Somebody else changed it in the meantime; nothing was written.
    #[error("the configuration {path} has changed meanwhile, and was not written; try again")]
    Changed {
        /// Which file.
        path: PathBuf,
    },
    /// What all hosts of a cluster have cannot be read or written.
    #[error(transparent)]
    Cluster(#[from] ShelfError),
    /// A host that serves could not use it; nothing was written.
    #[error("the host {host} could not use it, and nothing was changed:\n{problem}")]
    OfHost {
        /// Which one.
        host: String,
        /// Why.
        problem: String,
    },
    /// Grants cannot be bound to a signer that there is not.
    #[error(
        "nobody whom `[plugins] trust` names signed the component of {plugin}, so there is no signer to confirm: have it \
         signed, or `wharf grant {plugin} --confirm --pin digest` confirms this one component"
    )]
    Unsigned {
        /// The plugin.
        plugin: PluginName,
    },
    /// A value that has no table around it where one is needed.
    #[error("`{key}` in the configuration is no table; write it as one first")]
    NoTable {
        /// Which key.
        key: String,
    },
}

/// A text as TOML writes it, to stand as a value.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A `wharf.toml` that is being changed.
#[derive(Debug)]
pub(crate) struct ConfigurationEdit {
    place: EditPlace,
    before: Option<String>,
    document: DocumentMut,
}

/// What is granted by a command.
#[derive(Debug, Clone)]
pub(crate) struct GrantChange {
    /// The capability.
    pub(crate) capability: Capability,
    /// Why.
    pub(crate) reason: String,
    /// Until when, if not for ever.
    pub(crate) expires: Option<Expiry>,
    /// Keys of the grant's table with their values; lists are added to.
    pub(crate) keys: Vec<(String, GrantValue)>,
}

/// A value of a grant.
#[derive(Debug, Clone)]
pub(crate) enum GrantValue {
    /// Added to a list, each that is not there.
    Names(Vec<String>),
    /// Set, in place of what was there. TOML.
    Plain(String),
    /// Added to a list of tables.
    Folders(Vec<ExchangeFolder>),
}

impl ConfigurationEdit {
    /// Reads a configuration to change it. One that is not there yet is empty.
    ///
    /// # Errors
    /// Where it cannot be read, or is no TOML.
    pub(crate) fn open(path: &Path) -> Result<Self, EditError> {
        Self::at(EditPlace::file(path))
    }

    /// Reads what has the table of a plugin: the tables of all hosts of a cluster, where there are
    /// such and the host has no table of its own for it, and else its file.
    ///
    /// # Errors
    /// As [`ConfigurationEdit::open`].
    pub(crate) fn of_plugin(
        name: &PluginName,
        path: &Path,
        shelf: Option<&Rc<ClusterShelf>>,
    ) -> Result<Self, EditError> {
        match shelf.filter(|shelf| !shelf.host_names(name)) {
            Some(shelf) => Self::at(EditPlace::Cluster(Rc::clone(shelf))),
            None => Self::open(path),
        }
    }

    /// Reads what all hosts of a cluster have.
    ///
    /// # Errors
    /// As [`ConfigurationEdit::open`].
    pub(crate) fn of_cluster(shelf: &Rc<ClusterShelf>) -> Result<Self, EditError> {
        Self::at(EditPlace::Cluster(Rc::clone(shelf)))
    }

    fn at(place: EditPlace) -> Result<Self, EditError> {
        let before = place.read()?;
        let document = before.as_deref().unwrap_or_default().parse::<DocumentMut>();
        let document = document.map_err(|error| EditError::Text { place: place.name(), problem: error.to_string() })?;
        Ok(Self { place, before, document })
    }

    /// What a person calls what is changed: the path of a file, or that it is of all hosts.
    pub(crate) fn place(&self) -> String {
        self.place.name()
    }

    /// What the file will say.
    pub(crate) fn text(&self) -> String {
        self.document.to_string()
    }

    /// What the file said.
    pub(crate) fn before(&self) -> &str {
        self.before.as_deref().unwrap_or_default()
    }

    /// Names the file of a plugin's component.
    ///
    /// # Errors
    /// Where the plugin is written as something else than a table.
    pub(crate) fn source(&mut self, plugin: &PluginName, source: &Path) -> Result<(), EditError> {
        let source = source.to_string_lossy().into_owned();
        set(self.plugin(plugin)?, "source", value(source));
        Ok(())
    }

    /// Has each function of a plugin's component be a tool.
    ///
    /// # Errors
    /// As [`ConfigurationEdit::source`].
    pub(crate) fn functions(&mut self, plugin: &PluginName) -> Result<(), EditError> {
        set(self.plugin(plugin)?, "functions", value(true));
        Ok(())
    }

    /// Grants a capability, or adds to what is granted of it.
    ///
    /// # Errors
    /// As [`ConfigurationEdit::source`].
    pub(crate) fn grant(&mut self, plugin: &PluginName, granting: &GrantChange) -> Result<(), EditError> {
        let GrantChange { capability, reason, expires, keys } = granting;
        let grants = table(self.plugin(plugin)?, "grants", true)?;
        let grant = table(grants, capability.as_str(), false)?;
        set(grant, "reason", value(reason.as_str()));
        if let Some(expires) = expires {
            // A time of TOML where it can be one, as its own editors write it.
            let written = expires.as_str().parse::<Value>().unwrap_or_else(|_| Value::from(expires.as_str()));
            set(grant, "expires", Item::Value(written));
        }
        for (key, wanted) in keys {
            match wanted {
                GrantValue::Plain(plain) => {
                    let plain = plain.parse::<Value>().unwrap_or_else(|_| Value::from(plain.as_str()));
                    set(grant, key, Item::Value(plain));
                }
                GrantValue::Folders(folders) => add_folders(grant, key, folders)?,
                GrantValue::Names(names) => add_names(grant, key, names)?,
            }
        }
        Ok(())
    }

    /// Has calls of a tool wait for nobody.
    ///
    /// # Errors
    /// Where `[approvals]` or its list is written as something else.
    pub(crate) fn always_allow(&mut self, tool: &str) -> Result<(), EditError> {
        let approvals = table(self.document.as_table_mut(), "approvals", false)?;
        add_names(approvals, ALWAYS, &[tool.to_owned()])
    }

    /// Has a command or an origin wait for nobody.
    ///
    /// # Errors
    /// As [`ConfigurationEdit::always_allow`].
    pub(crate) fn always_allow_act(&mut self, rule: &ApprovalRule) -> Result<(), EditError> {
        let approvals = table(self.document.as_table_mut(), "approvals", false)?;
        let (key, text) = match rule {
            ApprovalRule::Command(command) => (ALWAYS_COMMANDS, command),
            ApprovalRule::Origin(origin) => (ALWAYS_ORIGINS, origin),
        };
        add_names(approvals, key, std::slice::from_ref(text))
    }

    /// Sets a limit of the plugin's calls.
    ///
    /// # Errors
    /// As [`ConfigurationEdit::source`].
    pub(crate) fn limit(&mut self, plugin: &PluginName, name: &str, limit: u64) -> Result<(), EditError> {
        let limits = table(self.plugin(plugin)?, "limits", false)?;
        set(limits, name, value(i64::try_from(limit).unwrap_or(i64::MAX)));
        Ok(())
    }

    /// Writes down what a plugin is granted that the file does not say: a
    /// bundled plugin has its grants by default, until the file has any.
    ///
    /// # Errors
    /// As [`ConfigurationEdit::source`].
    pub(crate) fn write_down(&mut self, plugin: &PluginName, grants: &Grants) -> Result<(), EditError> {
        let text = toml::to_string(grants).unwrap_or_default();
        let written = text.parse::<DocumentMut>().unwrap_or_default();
        let plugin = self.plugin(plugin)?;
        if plugin.contains_key("grants") {
            return Ok(());
        }
        let grants = table(plugin, "grants", true)?;
        for (capability, grant) in written.iter() {
            // Key by key: a table knows where it stood in the text that it is of.
            let target = table(grants, capability, false)?;
            for (key, item) in grant.as_table_like().into_iter().flat_map(TableLike::iter) {
                if let Ok(value) = item.clone().into_value() {
                    set(target, key, Item::Value(value));
                }
            }
        }
        Ok(())
    }

    /// Takes a capability back, or all of them. False where none was written.
    ///
    /// # Errors
    /// As [`ConfigurationEdit::source`].
    pub(crate) fn revoke(&mut self, plugin: &PluginName, capability: Option<Capability>) -> Result<bool, EditError> {
        let plugin = self.plugin(plugin)?;
        if !plugin.contains_key("grants") {
            return Ok(false);
        }
        let grants = table(plugin, "grants", true)?;
        let taken = match capability {
            Some(capability) => grants.remove(capability.as_str()).is_some(),
            None => {
                let all: Vec<_> = grants.iter().map(|(key, _)| key.to_owned()).collect();
                all.iter().filter(|key| grants.remove(key).is_some()).count() > 0
            }
        };
        if grants.is_empty() {
            // Said, so that a bundled plugin does not get its defaults back.
            let mut nothing = Table::new();
            nothing.set_implicit(false);
            plugin.insert("grants", Item::Table(nothing));
        }
        Ok(taken)
    }

    /// What the changed file amounts to.
    ///
    /// # Errors
    /// Where it would not be usable.
    pub(crate) fn check(&self) -> Result<Configuration, EditError> {
        self.place.check(&self.text()).map_err(|problem| EditError::Refused { problem })
    }

    /// Writes it, if it is usable and nobody else has changed it.
    ///
    /// # Errors
    /// Where it would not be usable, has changed meanwhile, or cannot be
    /// written. The file is as it was then.
    pub(crate) fn save(&self) -> Result<(), EditError> {
        self.check()?;
        self.place.write(self.before.as_deref(), &self.text())
    }

    fn plugin(&mut self, name: &PluginName) -> Result<&mut dyn TableLike, EditError> {
        let plugins = table(self.document.as_table_mut(), "plugin", true)?;
        table(plugins, name.as_str(), false)
    }
}

/// Adds to a list of texts, each that is not there.
fn add_names(of: &mut dyn TableLike, key: &str, names: &[String]) -> Result<(), EditError> {
    let list = of.entry(key).or_insert_with(|| value(Array::new()));
    let list = list.as_array_mut().ok_or_else(|| EditError::NoTable { key: key.to_owned() })?;
    for name in names {
        if !list.iter().any(|known| known.as_str() == Some(name)) {
            list.push(name.as_str());
        }
    }
    Ok(())
}

/// The table under a key, made where it is missing. An implicit one has no
/// header of its own, as `plugin` in `[plugin.x]`.
fn table<'t>(of: &'t mut dyn TableLike, key: &str, implicit: bool) -> Result<&'t mut dyn TableLike, EditError> {
    let item = of.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(implicit);
        Item::Table(table)
    });
    item.as_table_like_mut().ok_or_else(|| EditError::NoTable { key: key.to_owned() })
}

/// Adds folders to a list, in the form that the list has.
fn add_folders(grant: &mut dyn TableLike, key: &str, folders: &[ExchangeFolder]) -> Result<(), EditError> {
    let list = grant.entry(key).or_insert_with(|| value(Array::new()));
    for folder in folders {
        let path = folder.path.to_string_lossy().into_owned();
        let written = [("name", folder.name.clone()), ("path", path), ("access", folder.access.as_str().to_owned())];
        match list {
            Item::Value(Value::Array(list)) => list.push(written.into_iter().collect::<InlineTable>()),
            Item::ArrayOfTables(list) => list.push(written.map(|(key, text)| (key, value(text))).into_iter().collect()),
            _ => return Err(EditError::NoTable { key: key.to_owned() }),
        }
    }
    Ok(())
}

/// Sets a value and leaves the comments around the one before.
fn set(table: &mut dyn TableLike, key: &str, mut new: Item) {
    if let (Some(Item::Value(old)), Item::Value(new)) = (table.get(key), &mut new) {
        *new.decor_mut() = old.decor().clone();
    }
    match table.get_mut(key) {
        Some(item) => *item = new,
        None => {
            table.insert(key, new);
        }
    }
}
