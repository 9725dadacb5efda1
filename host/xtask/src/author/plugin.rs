//! A plugin that an author made with `wharf new`, and what is done with it in every language alike.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::client::Client;
use crate::command::{self, say};

/// Where the sources of a language keep what is edited here.
pub(super) struct LanguageLayout {
    pub(super) name: &'static str,
    /// The file with the version.
    pub(super) manifest: &'static str,
    /// The folder of the sources; one of the plugin's own name where absent.
    pub(super) sources: Option<&'static str>,
    pub(super) ending: &'static str,
    /// What its compiler refuses at the end of a file.
    pub(super) broken: &'static str,
}

pub(super) const RUST: LanguageLayout =
    LanguageLayout { name: "rust", manifest: "Cargo.toml", sources: Some("src"), ending: "rs", broken: "\nfn" };
pub(super) const PYTHON: LanguageLayout =
    LanguageLayout { name: "python", manifest: "pyproject.toml", sources: None, ending: "py", broken: "\ndef" };
pub(super) const TYPESCRIPT: LanguageLayout = LanguageLayout {
    name: "typescript",
    manifest: "package.json",
    sources: Some("src"),
    ending: "ts",
    broken: "\nconst",
};
pub(super) const JAVASCRIPT: LanguageLayout = LanguageLayout { name: "javascript", ending: "js", ..TYPESCRIPT };

/// The plugin, and what its language's tools find in their environment.
pub(super) struct AuthoredPlugin {
    pub(super) name: &'static str,
    pub(super) language: &'static LanguageLayout,
    pub(super) folder: PathBuf,
    wharf: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl AuthoredPlugin {
    /// Makes one in a folder of `here`. `prepare` sets the environment.
    pub(super) fn make(
        (name, language, with): (&'static str, &'static LanguageLayout, &str),
        (wharf, here): (&Path, &Path),
        prepare: impl FnOnce(&mut Command),
    ) -> Result<Self> {
        let mut tools = Command::new(wharf);
        prepare(&mut tools);
        let set = tools.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        let environment = set.collect();
        let mut new = Command::new(wharf);
        new.args(["new", name, "--language", language.name, "--with", with]).current_dir(here);
        command::run(&mut new)?;
        Ok(Self { name, language, folder: here.join(name), wharf: wharf.to_owned(), environment })
    }

    /// The command `wharf` in its folder, as its author has it.
    pub(super) fn wharf<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut wharf = Command::new(&self.wharf);
        wharf
            .args(arguments)
            .current_dir(&self.folder)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        wharf
    }

    /// The name of one of its tools, as a client sees it.
    pub(super) fn tool(&self, tool: &str) -> String {
        format!("{}__{tool}", self.name)
    }

    /// Changes a text file of it.
    pub(super) fn change(&self, file: &Path, change: impl FnOnce(&str) -> String) -> Result<()> {
        let path = self.folder.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let changed = change(&text);
        ensure!(changed != text, "{} has nothing to change", path.display());
        Ok(fs::write(path, changed)?)
    }

    /// The source of the tool that greets.
    pub(super) fn greeting(&self) -> PathBuf {
        Path::new(self.language.sources.unwrap_or(self.name)).join("greeting").with_extension(self.language.ending)
    }

    /// Builds it, and runs its cases: all of them, and then where nothing real may be used.
    pub(super) fn test(&self, cases: usize) -> Result<()> {
        let told = command::run_and_capture(&mut self.wharf(["test"]))?;
        let closing = format!("test result: ok. {cases} passed; 0 failed");
        ensure!(told.contains(&closing), "`wharf test` told\n{told}");
        let written = fs::read_to_string(self.folder.join("cases.toml"))?;
        let scripted = self.folder.join("dist/scripted.toml");
        fs::write(&scripted, format!("only_scripted = true\n{written}"))?;
        command::run_and_capture(&mut self.wharf(["test", "--no-build", "--cases", "dist/scripted.toml"]))?;
        Ok(fs::remove_file(scripted)?)
    }

    /// A client that is connected to `wharf dev` sees what an edit changes, and nothing of one that does
    /// not build.
    pub(super) fn edit(&self) -> Result<()> {
        say(&format!("Editing the plugin in {} while `wharf dev` serves a client", self.language.name));
        let (source, greet, ada) = (self.greeting(), self.tool("greet"), json!({ "name": "Ada" }));
        let mut client = Client::start(&mut self.wharf(["dev", "--stdio"]))?;
        client.until_described(&greet, "The model reads this to choose the tool.")?;
        let before = fs::read_to_string(self.folder.join(&source))?;
        self.change(&source, |text| format!("{text}{}", self.language.broken))?;
        client.until_logged("still serving the build before")?;
        client.expect(&greet, &ada, "Welcome, Ada.").context("what does not build changes what is served")?;
        self.change(&source, |_broken| {
            before.replace("The model reads this to choose the tool.", "Edited.").replace("Welcome,", "Good day,")
        })?;
        client.until_described(&greet, "Edited.")?;
        client.expect(&greet, &ada, "Good day, Ada.").context("the edit is not served")?;
        client.end()
    }
}
