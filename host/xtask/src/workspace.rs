//! Where things are: the root of the workspace, its packages, the folders that
//! xtask writes to. Knows cargo's metadata and nothing of what is built.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command;

/// The workspace that this xtask belongs to.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    metadata: Value,
}

/// A member of the workspace.
pub(crate) struct Package {
    pub(crate) name: String,
    /// The folder of its `Cargo.toml`.
    pub(crate) folder: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    /// Name of its `cdylib` target, where it has one.
    pub(crate) component: Option<String>,
    /// Whether its manifest lets it go to a registry.
    pub(crate) is_published: bool,
}

/// One entry of a package's manifest.
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) development: bool,
    /// Whether it is found by its path alone, which a package has not.
    pub(crate) has_path_alone: bool,
}

impl Workspace {
    /// Finds the workspace from the folder that cargo names, or from the
    /// current folder upwards.
    pub(crate) fn find() -> Result<Self> {
        let start = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(folder) => PathBuf::from(folder),
            None => env::current_dir()?,
        };
        let root = start
            .ancestors()
            .find(|folder| folder.join("wit").is_dir() && folder.join("Cargo.lock").is_file())
            .with_context(|| format!("{} is not inside Wharf's repository", start.display()))?;
        Self::at(root.to_path_buf())
    }

    /// The workspace of this root.
    pub(crate) fn at(root: PathBuf) -> Result<Self> {
        let text = command::capture(command::cargo(&root).args(["metadata", "--no-deps", "--format-version", "1"]))?;
        let metadata = serde_json::from_str(&text).context("cargo metadata did not print JSON")?;
        Ok(Self { root, metadata })
    }

    /// What xtask itself leaves behind: components, toolchains, environments.
    pub(crate) fn target(&self) -> PathBuf {
        self.root.join("target")
    }

    /// Where `cargo xtask plugins` leaves the components.
    pub(crate) fn components(&self) -> PathBuf {
        self.target().join("plugins").join("components")
    }

    /// Where the library's build script looks for the plugins that it embeds.
    pub(crate) fn bundled(&self) -> PathBuf {
        self.root.join("host").join("wharf").join("components")
    }

    /// Where cargo keeps what it compiles, which is where it leaves programs unless it was told another place.
    pub(crate) fn build_directory(&self) -> PathBuf {
        let mut named = ["build_directory", "target_directory"].iter().map(|name| &self.metadata[name]);
        named.find_map(Value::as_str).map_or_else(|| self.target(), PathBuf::from)
    }

    /// A binary that cargo built: `profile` is the folder, `debug` or `release`.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        let target = self.metadata["target_directory"].as_str().map_or_else(|| self.target(), PathBuf::from);
        target.join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// All members, in cargo's order.
    pub(crate) fn packages(&self) -> Result<Vec<Package>> {
        let Some(packages) = self.metadata["packages"].as_array() else {
            bail!("cargo metadata lists no packages");
        };
        packages.iter().map(package).collect()
    }

    /// A path as messages show it: relative to the root.
    pub(crate) fn shown<'p>(&self, path: &'p Path) -> std::path::Display<'p> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}

fn package(entry: &Value) -> Result<Package> {
    let name = entry["name"].as_str().context("a package without a name")?.to_owned();
    let manifest = Path::new(entry["manifest_path"].as_str().context("a package without a manifest")?);
    let folder = manifest.parent().context("a manifest without a folder")?.to_path_buf();
    let dependencies = entry["dependencies"].as_array().into_iter().flatten().map(|dependency| Dependency {
        name: dependency["name"].as_str().unwrap_or_default().to_owned(),
        development: dependency["kind"].as_str() == Some("dev"),
        has_path_alone: dependency["path"].is_string() && dependency["req"].as_str() == Some("*"),
    });
    let component = entry["targets"].as_array().into_iter().flatten().find(|target| {
        target["crate_types"].as_array().into_iter().flatten().any(|kind| kind.as_str() == Some("cdylib"))
    });
    Ok(Package {
        name,
        folder,
        dependencies: dependencies.collect(),
        component: component.and_then(|target| target["name"].as_str()).map(str::to_owned),
        is_published: !entry["publish"].as_array().is_some_and(Vec::is_empty),
    })
}
