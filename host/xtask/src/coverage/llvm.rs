//! LLVM's coverage tools, of the version that rustc itself was built with: found,
//! added by rustup, or made of Debian's packages. Knows their command lines.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::command::{self, say};
use crate::debian;
use crate::toolchain::{self, Choice};
use crate::workspace::Workspace;

/// A machine that only reaches package mirrors may leave a download hanging.
const RUSTUP_LIMIT: Duration = Duration::from_secs(120);

/// `llvm-profdata` and `llvm-cov`, ready to run.
pub(crate) struct LlvmTools {
    profdata: PathBuf,
    cov: PathBuf,
    libraries: Option<OsString>,
}

impl LlvmTools {
    pub(crate) fn find(workspace: &Workspace, choice: Choice) -> Result<Self> {
        let of_toolchain = toolchain::tools()?;
        let version = major_version()?;
        if choice != Choice::Debian {
            if let Some(tools) = Self::of_folder(&of_toolchain) {
                return Ok(tools);
            }
            say("Adding llvm-tools with rustup (seconds, where it can be downloaded).");
            let mut rustup = Command::new("rustup");
            if command::succeeds_within(rustup.args(["component", "add", "llvm-tools"]), RUSTUP_LIMIT)
                && let Some(tools) = Self::of_folder(&of_toolchain)
            {
                return Ok(tools);
            }
        }
        let of_system = PathBuf::from(format!("/usr/lib/llvm-{version}/bin"));
        match choice {
            Choice::Rustup => bail!("`rustup component add llvm-tools` did not succeed; try it by hand to see why"),
            Choice::Auto | Choice::Debian => match Self::of_folder(&of_system) {
                Some(tools) => Ok(tools),
                None => Self::of_debian(workspace, &version),
            },
        }
    }

    fn of_folder(folder: &Path) -> Option<Self> {
        let tool = |name: &str| folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        let (profdata, cov) = (tool("llvm-profdata"), tool("llvm-cov"));
        (profdata.is_file() && cov.is_file()).then_some(Self { profdata, cov, libraries: None })
    }

    /// Unpacked beside the build, once. The folder gets its name when it is
    /// complete.
    fn of_debian(workspace: &Workspace, version: &str) -> Result<Self> {
        let folder = workspace.target().join("llvm-tools");
        let root = folder.join(version);
        if !root.is_dir() {
            if !debian::available() {
                bail!("coverage needs LLVM {version}: `rustup component add llvm-tools`, or install llvm-{version}");
            }
            say(&format!("Unpacking Debian's LLVM {version} under target/ (once; about 80 MB to download)."));
            debian::refresh_lists()?;
            let stage = folder.join("stage");
            if stage.exists() {
                fs::remove_dir_all(&stage)?;
            }
            let packages = debian::with_libraries(&format!("llvm-{version}"))?;
            debian::unpack(&packages, &folder.join("downloads"), &stage)?;
            fs::rename(&stage, &root)?;
            fs::remove_dir_all(folder.join("downloads"))?;
        }
        let bin = root.join("usr/lib").join(format!("llvm-{version}")).join("bin");
        let tools = Self::of_folder(&bin).with_context(|| format!("Debian's llvm-{version} has no llvm-cov"))?;
        Ok(Self { libraries: Some(toolchain::library_path(&root)?), ..tools })
    }

    /// Merges what the processes wrote.
    pub(super) fn merge(&self, profiles: &Path, merged: &Path) -> Result<PathBuf> {
        let mut list = String::new();
        for entry in fs::read_dir(profiles)? {
            let path = entry?.path();
            // A process that was killed before it wrote leaves an empty file.
            if fs::metadata(&path)?.len() > 0 {
                list.push_str(&format!("{}\n", path.display()));
            }
        }
        let inputs = merged.with_extension("inputs");
        fs::write(&inputs, list)?;
        let mut profdata = self.tool(&self.profdata);
        // Killed while writing: that file is damaged, the others are not.
        profdata.args(["merge", "--sparse", "--failure-mode=all", "--input-files"]).arg(&inputs).arg("-o").arg(merged);
        command::capture(&mut profdata)?;
        Ok(merged.to_path_buf())
    }

    /// Line counts of every file, as LLVM's JSON.
    pub(super) fn export(&self, profile: &Path, binaries: &[PathBuf]) -> Result<Value> {
        let mut cov = self.tool(&self.cov);
        cov.args(["export", "--summary-only", "--format=text"]);
        let text = command::capture(with_binaries(&mut cov, profile, binaries))?;
        serde_json::from_str(&text).context("llvm-cov did not print JSON")
    }

    /// Pages that show each line; returns the first of them.
    pub(super) fn html(&self, profile: &Path, binaries: &[PathBuf], folder: &Path) -> Result<PathBuf> {
        let mut cov = self.tool(&self.cov);
        cov.args(["show", "--format=html", "--ignore-filename-regex=(registry|rustc|rustlib)/"]);
        cov.arg(format!("--output-dir={}", folder.display()));
        command::capture(with_binaries(&mut cov, profile, binaries))?;
        Ok(folder.join("index.html"))
    }

    /// Has a program find them by its environment.
    pub(crate) fn environment(&self, program: &mut Command) {
        program.env("LLVM_PROFDATA", &self.profdata).env("LLVM_COV", &self.cov);
        if let Some(libraries) = &self.libraries {
            program.env("LD_LIBRARY_PATH", libraries);
        }
    }

    fn tool(&self, path: &Path) -> Command {
        let mut tool = Command::new(path);
        if let Some(libraries) = &self.libraries {
            tool.env("LD_LIBRARY_PATH", libraries);
        }
        tool
    }
}

fn with_binaries<'c>(cov: &'c mut Command, profile: &Path, binaries: &[PathBuf]) -> &'c mut Command {
    let mut argument = OsString::from("--instr-profile=");
    argument.push(profile);
    cov.arg(argument);
    for binary in binaries {
        cov.arg("--object").arg(binary);
    }
    cov
}

/// Profiles are read by the LLVM that wrote them: the one inside rustc.
fn major_version() -> Result<String> {
    let verbose = command::capture(command::rustc().arg("-vV"))?;
    let version = verbose.lines().find_map(|line| line.strip_prefix("LLVM version: "));
    let major = version.and_then(|version| version.split('.').next());
    major.map(str::to_owned).context("rustc -vV names no LLVM version")
}
