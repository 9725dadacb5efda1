//! Components built by the tools of their language: what the author would type, with the metadata
//! of the manifest in the result.

mod coverage;
mod javascript;
mod python;
mod rust;
mod tool;

use std::{
    ffi::OsString,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

pub use self::coverage::{Coverage, CoveredFile};
use self::tool::RawComponent;
use crate::{
    error::AuthorError,
    language::Language,
    metadata::{self, ManifestMetadata},
};

/// What a component starts with. A core module has another fifth byte.
const COMPONENT_PREAMBLE: &[u8] = b"\0asm\x0d\0\x01\0";

/// The folder of a plugin, as an author has it.
#[derive(Debug, Clone)]
pub struct Project {
    folder: PathBuf,
    language: Language,
}

/// A component that was built.
#[derive(Debug, Clone)]
pub struct BuiltComponent {
    /// The file.
    pub file: PathBuf,
    /// The name of its manifest.
    pub name: String,
    /// The version of its manifest, where it has one.
    pub version: Option<String>,
    /// Its size.
    pub bytes: u64,
}

impl Project {
    /// The file of its folder that says what it may use while it is tried.
    pub const CONFIGURATION: &str = "wharf.toml";
    /// The file of its folder with the calls that test it.
    pub const CASES: &str = "cases.toml";

    /// The plugin in this folder.
    ///
    /// # Errors
    /// [`AuthorError::NoProject`] where no manifest of a known language is there.
    pub fn open(folder: &Path) -> Result<Self, AuthorError> {
        let language = Language::of(folder).ok_or_else(|| AuthorError::NoProject(folder.to_owned()))?;
        // Tools are started there, and told paths.
        let folder = std::path::absolute(folder).map_err(AuthorError::file(folder))?;
        Ok(Self { folder, language })
    }

    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The language of its manifest.
    #[must_use]
    pub const fn language(&self) -> Language {
        self.language
    }

    /// The component that was built before, in `dist/`.
    ///
    /// # Errors
    /// Where there is none, or the manifest cannot be read.
    pub fn built(&self) -> Result<BuiltComponent, AuthorError> {
        let ManifestMetadata { name, version, .. } = match self.language {
            Language::Rust => rust::manifest(&self.folder)?,
            Language::TypeScript | Language::JavaScript => javascript::manifest(&self.folder)?,
            Language::Python => python::manifest(&self.folder)?,
        };
        let file = self.place(&name);
        let bytes = fs::metadata(&file).map_err(AuthorError::file(&file))?.len();
        Ok(BuiltComponent { file, name, version, bytes })
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.join("dist").join(format!("{name}.wasm"))
    }

    /// Builds the component and writes it to `output`; where nothing is said, to
    /// `dist/NAME.wasm` in the folder. What stands there stays until the new one is whole.
    /// `arguments` are for the tool of the language, behind those that are needed. Its messages go
    /// to standard error. Blocks for as long as that takes.
    ///
    /// # Errors
    /// Where a tool is missing or fails, or the manifest says what no component can carry.
    pub fn build(&self, output: Option<&Path>, arguments: &[OsString]) -> Result<BuiltComponent, AuthorError> {
        let manifest = self.folder.join(self.language.manifest());
        let RawComponent { bytes, metadata, libraries } = match self.language {
            Language::Rust => rust::build(&self.folder, arguments)?,
            Language::TypeScript | Language::JavaScript => javascript::build(&self.folder, arguments)?,
            Language::Python => python::build(&self.folder, arguments)?,
        };
        if !bytes.starts_with(COMPONENT_PREAMBLE) {
            return Err(AuthorError::NoComponent(format!(
                "{} was built as a core module, and a host runs components: build it for wasm32-wasip2",
                metadata.name
            )));
        }
        let bytes = metadata::stamp(&bytes, &metadata, libraries, &manifest)?;
        let file = match output {
            Some(file) => std::path::absolute(file).map_err(AuthorError::file(file))?,
            None => self.place(&metadata.name),
        };
        write_whole(&file, &bytes)?;
        let ManifestMetadata { name, version, .. } = metadata;
        Ok(BuiltComponent { file, name, version, bytes: bytes.len() as u64 })
    }
}

/// Replaces a file: a host that reads it meanwhile has the one before, or this one.
fn write_whole(file: &Path, bytes: &[u8]) -> Result<(), AuthorError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(AuthorError::file(folder))?;
    let mut unfinished = tempfile::NamedTempFile::new_in(folder).map_err(AuthorError::file(folder))?;
    unfinished.write_all(bytes).map_err(AuthorError::file(file))?;
    unfinished.persist(file).map_err(|error| AuthorError::file(file)(error.error))?;
    readable(file)
}

/// A temporary file is its user's alone; a component is no secret.
#[cfg(unix)]
fn readable(file: &Path) -> Result<(), AuthorError> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).map_err(AuthorError::file(file))
}

/// A temporary file has the rights of its folder.
#[cfg(not(unix))]
fn readable(_file: &Path) -> Result<(), AuthorError> {
    Ok(())
}
