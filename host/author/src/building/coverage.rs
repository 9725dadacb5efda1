//! Which lines of a plugin its native tests reach: cargo's own tests, compiled with counters.
//!
//! No stable compiler counts in Wasm, for which it brings no profiler runtime, so calls in the
//! sandbox are not counted.

mod lcov;
mod llvm;

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    process::Stdio,
};

use self::{lcov::LcovReport, llvm::LlvmTools};
use super::{
    Project,
    rust::{self, CARGO},
};
use crate::{error::AuthorError, language::Language};

pub use self::lcov::CoveredFile;

/// What has the compiler put counters into the code.
const COUNTERS: &str = "-C instrument-coverage";

/// Folders of a plugin whose code is not its own logic.
const NOT_COUNTED: [&str; 4] = ["kit", "target", "tests", "benches"];

/// What the tests of a plugin reach.
#[derive(Debug, Clone)]
pub struct Coverage {
    /// The files of the plugin, by their paths.
    pub files: Vec<CoveredFile>,
    /// The same for other programs, in the format of lcov.
    pub lcov: PathBuf,
    /// Whether all tests passed.
    pub tests_passed: bool,
}

impl Project {
    /// Runs the native tests with counters, and says which lines they reach. `lcov` is where that is
    /// written for other programs; else it is `coverage/lcov.info` in cargo's target folder. What
    /// the tests print goes to standard error. Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`AuthorError::NoCoverage`] in another language than Rust; where LLVM's tools are missing, or
    /// a tool fails.
    pub fn coverage(&self, lcov: Option<&Path>) -> Result<Coverage, AuthorError> {
        if self.language() != Language::Rust {
            return Err(AuthorError::NoCoverage(format!(
                "lines are counted for Rust alone, and this plugin is in {}; its language's own tools count those of its tests",
                self.language().name()
            )));
        }
        // Asked first: tests take their time.
        let tools = LlvmTools::find(self.folder())?;
        let target = rust::target_folder(self.folder())?.join("coverage");
        let profiles = target.join("profiles");
        if profiles.exists() {
            fs::remove_dir_all(&profiles).map_err(AuthorError::file(&profiles))?;
        }
        fs::create_dir_all(&profiles).map_err(AuthorError::file(&profiles))?;
        let counted = CountedTests { project: self, target: &target, profiles: &profiles };
        let programs = counted.build()?;
        let tests_passed = counted.run()?;
        let profile = tools.merge(&profiles, &target.join("merged.profdata"))?;
        let report = LcovReport::read(&tools.export(&profile, &programs)?, self.folder(), &NOT_COUNTED);
        let lcov = lcov.map_or_else(|| target.join("lcov.info"), Path::to_owned);
        fs::write(&lcov, &report.text).map_err(AuthorError::file(&lcov))?;
        Ok(Coverage { files: report.files, lcov, tests_passed })
    }
}

/// The tests of a plugin, with counters.
struct CountedTests<'c> {
    project: &'c Project,
    target: &'c Path,
    profiles: &'c Path,
}

impl CountedTests<'_> {
    fn cargo(&self, arguments: &[&str]) -> std::process::Command {
        let mut flags = env::var_os("RUSTFLAGS").unwrap_or_default();
        flags.push(" ");
        flags.push(COUNTERS);
        let mut cargo = CARGO.command(self.project.folder());
        // Documentation's tests are compiled elsewhere, and have no counters.
        cargo.args(["test", "--lib", "--bins", "--tests", "--target-dir"]).arg(self.target).args(arguments);
        // A file for each process: one that is killed spoils no other's.
        cargo.env("RUSTFLAGS", flags).env("LLVM_PROFILE_FILE", self.profiles.join("%p-%m.profraw"));
        // It has flags of its own, which would take the place of these.
        cargo.env_remove("CARGO_ENCODED_RUSTFLAGS");
        cargo
    }

    /// The programs of the tests.
    fn build(&self) -> Result<Vec<PathBuf>, AuthorError> {
        let mut cargo = self.cargo(&["--no-run", "--message-format", "json-render-diagnostics"]);
        let (status, printed) = CARGO.run(&mut cargo)?;
        if !status.success() {
            return Err(CARGO.failed(&cargo, status));
        }
        let programs = rust::test_programs(&printed);
        match programs.is_empty() {
            true => Err(AuthorError::NoCoverage("the plugin has no native tests to count with".to_owned())),
            false => Ok(programs),
        }
    }

    /// Whether all of them pass.
    fn run(&self) -> Result<bool, AuthorError> {
        let mut cargo = self.cargo(&["--no-fail-fast"]);
        // Standard output is the caller's.
        let status = cargo.stdin(Stdio::null()).stdout(io::stderr()).status();
        status.map(|status| status.success()).map_err(|error| CARGO.absent(error))
    }
}

/// A path with this text in front.
fn joined(option: &str, path: &Path) -> OsString {
    let mut argument = OsString::from(option);
    argument.push(path);
    argument
}
