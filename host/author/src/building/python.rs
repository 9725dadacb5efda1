//! Python: componentize-py, by the kit of the plugin.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::tool::{RawComponent, Tool};
use crate::{error::AuthorError, metadata::ManifestMetadata};

/// Windows names the interpreter, the folder of an environment's programs and the programs otherwise.
const INTERPRETER: &str = if cfg!(windows) { "python" } else { "python3" };
const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

const PYTHON: Tool = Tool { program: INTERPRETER, remedy: "install Python 3.11 or later" };
/// The version whose components were tried.
const COMPONENTIZE: Tool = Tool {
    program: "componentize-py",
    remedy: if cfg!(windows) {
        "`python -m venv .venv` and `.venv\\Scripts\\pip install componentize-py==0.25.1` in the folder of the plugin"
    } else {
        "`python3 -m venv .venv` and `.venv/bin/pip install componentize-py==0.25.1` in the folder of the plugin"
    },
};

/// Prints `[project]` of a manifest as JSON: Python reads TOML itself.
const READ: &str = "import json, sys, tomllib; \
print(json.dumps(tomllib.load(open(sys.argv[1], 'rb')).get('project', {}), default=str))";

/// `[project]`, as packagers of Python read it.
#[derive(Debug, Deserialize)]
struct PythonProject {
    name: String,
    version: Option<String>,
    description: Option<String>,
    license: Option<License>,
    #[serde(default)]
    authors: Vec<PythonAuthor>,
    #[serde(default)]
    urls: std::collections::BTreeMap<String, String>,
}

/// An expression of SPDX, or the table of earlier manifests.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum License {
    Expression(String),
    Table { text: Option<String> },
}

#[derive(Debug, Deserialize)]
struct PythonAuthor {
    name: Option<String>,
    email: Option<String>,
}

pub(super) fn build(folder: &Path, arguments: &[OsString]) -> Result<RawComponent, AuthorError> {
    let metadata = manifest(folder)?;
    let componentize = program(folder, &COMPONENTIZE)?;
    let unfinished =
        tempfile::Builder::new().suffix(".wasm").tempfile().map_err(AuthorError::file("a temporary file"))?;
    let mut python = interpreter(folder);
    python.args(["-m", "wharf_sdk", "build", &metadata.name.replace('-', "_"), "--output"]).arg(unfinished.path());
    python.arg("--componentize-py").arg(componentize).args(arguments);
    let (status, _) = PYTHON.run(&mut python)?;
    if !status.success() {
        return Err(PYTHON.failed(&python, status));
    }
    let bytes = fs::read(unfinished.path()).map_err(AuthorError::file(unfinished.path()))?;
    Ok(RawComponent { bytes, metadata, libraries: None })
}

/// What the manifest in the folder says.
pub(super) fn manifest(folder: &Path) -> Result<ManifestMetadata, AuthorError> {
    let manifest = folder.join("pyproject.toml");
    let mut python = interpreter(folder);
    let (status, printed) = PYTHON.run(python.args(["-c", READ]).arg(&manifest))?;
    if !status.success() {
        return Err(PYTHON.failed(&python, status));
    }
    let project: PythonProject = serde_json::from_slice(&printed).map_err(|error| AuthorError::Manifest {
        problem: format!("[project] is not what packagers of Python read: {error}"),
        manifest: manifest.clone(),
    })?;
    Ok(project.into())
}

impl From<PythonProject> for ManifestMetadata {
    fn from(project: PythonProject) -> Self {
        let PythonProject { name, version, description, license, authors, urls } = project;
        let author = |PythonAuthor { name, email }| match (name, email) {
            (Some(name), Some(email)) => Some(format!("{name} <{email}>")),
            (name, email) => name.or(email),
        };
        let authors: Vec<_> = authors.into_iter().filter_map(author).collect();
        // Their names are free; packagers compare them so.
        let url =
            |wanted: &str| urls.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, url)| url.clone());
        Self {
            name,
            version,
            description,
            licence: license.and_then(|license| match license {
                License::Expression(expression) => Some(expression),
                License::Table { text } => text,
            }),
            homepage: url("homepage"),
            repository: url("repository"),
            authors: Some(authors.join(", ")).filter(|authors| !authors.is_empty()),
        }
    }
}

/// The interpreter of the folder's environment, where it has one, with the kit on its path.
fn interpreter(folder: &Path) -> std::process::Command {
    let own = first_file(environments(folder), &PYTHON);
    let mut python = match own {
        Some(python) => PYTHON.command_by(&python, folder),
        None => PYTHON.command(folder),
    };
    let before = env::var_os("PYTHONPATH").unwrap_or_default();
    let paths = [folder.join("kit"), folder.to_owned()].into_iter().chain(env::split_paths(&before));
    if let Ok(path) = env::join_paths(paths) {
        python.env("PYTHONPATH", path);
    }
    // What is compiled while it is built is no source of the author's.
    python.env("PYTHONDONTWRITEBYTECODE", "1");
    python
}

/// A program of the folder's environment, or of the search path.
fn program(folder: &Path, tool: &Tool) -> Result<PathBuf, AuthorError> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = first_file(environments(folder).chain(env::split_paths(&path)), tool);
    found.ok_or(AuthorError::Missing { program: tool.program, remedy: tool.remedy })
}

/// The program of a tool in the first of these folders that has it.
fn first_file(mut folders: impl Iterator<Item = PathBuf>, tool: &Tool) -> Option<PathBuf> {
    let name = format!("{}{}", tool.program, env::consts::EXE_SUFFIX);
    folders.find_map(|folder| Some(folder.join(&name)).filter(|program| program.is_file()))
}

/// Where a virtual environment of the folder keeps its programs.
fn environments(folder: &Path) -> impl Iterator<Item = PathBuf> {
    [".venv", "venv"].map(|name| folder.join(name).join(PROGRAMS)).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_a_folders_environment_come_before_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let programs = folder.path().join("venv").join(PROGRAMS);
        fs::create_dir_all(&programs).expect("made");
        let named = |tool: &Tool| programs.join(format!("{}{}", tool.program, env::consts::EXE_SUFFIX));
        assert_eq!(interpreter(folder.path()).get_program(), PYTHON.program);
        for tool in [&PYTHON, &COMPONENTIZE] {
            fs::write(named(tool), "").expect("written");
        }
        assert_eq!(interpreter(folder.path()).get_program(), named(&PYTHON));
        assert_eq!(program(folder.path(), &COMPONENTIZE).expect("is there"), named(&COMPONENTIZE));
    }

    #[test]
    fn manifests_of_python_say_the_same_in_several_ways() {
        let project = r#"{"name": "p", "version": "1", "license": {"text": "MIT"}, "urls": {"Homepage": "https://a.example"},
            "authors": [{"name": "Ada", "email": "ada@example.com"}, {"email": "b@example.com"}, {}]}"#;
        let project: PythonProject = serde_json::from_str(project).expect("a project");
        let metadata = ManifestMetadata::from(project);
        assert_eq!(metadata.licence.as_deref(), Some("MIT"));
        assert_eq!(metadata.homepage.as_deref(), Some("https://a.example"));
        assert_eq!(metadata.authors.as_deref(), Some("Ada <ada@example.com>, b@example.com"));
        let project: PythonProject = serde_json::from_str(r#"{"name": "p", "license": "MIT"}"#).expect("a project");
        assert_eq!(ManifestMetadata::from(project).licence.as_deref(), Some("MIT"));
    }
}
