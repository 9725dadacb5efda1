//! LLVM's tools for counters, of the version that the compiler was built with: no other one
//! reads what it writes.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::joined;
use crate::error::AuthorError;

/// `llvm-profdata` and `llvm-cov`, ready to run.
pub(super) struct LlvmTools {
    profdata: PathBuf,
    cov: PathBuf,
}

impl LlvmTools {
    /// Those that `LLVM_PROFDATA` and `LLVM_COV` name, those of the toolchain, or those of the
    /// system.
    pub(super) fn find(folder: &Path) -> Result<Self, AuthorError> {
        let named = |name: &str| env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        if let (Some(profdata), Some(cov)) = (named("LLVM_PROFDATA"), named("LLVM_COV")) {
            return Ok(Self { profdata, cov });
        }
        let told = captured(Command::new("rustc").arg("-vV").current_dir(folder))?;
        let told = String::from_utf8_lossy(&told);
        let line = |name: &str| told.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let (host, version) = (line("host:").unwrap_or_default(), line("LLVM version:").unwrap_or_default());
        let major = version.split('.').next().unwrap_or_default();
        let root = captured(Command::new("rustc").args(["--print", "sysroot"]).current_dir(folder))?;
        let root = PathBuf::from(String::from_utf8_lossy(&root).trim());
        let folders = [
            root.join("lib/rustlib").join(host).join("bin"),
            PathBuf::from(format!("/usr/lib/llvm-{major}/bin")),
            PathBuf::from(format!("/opt/homebrew/opt/llvm@{major}/bin")),
        ];
        folders.iter().find_map(|folder| Self::of(folder)).ok_or_else(|| {
            AuthorError::NoCoverage(format!(
                "`llvm-profdata` and `llvm-cov` of LLVM {major} are not there: `rustup component add llvm-tools` adds \
                 them; or install LLVM {major}, or name them in LLVM_PROFDATA and LLVM_COV"
            ))
        })
    }

    fn of(folder: &Path) -> Option<Self> {
        let tool = |name: &str| folder.join(format!("{name}{}", env::consts::EXE_SUFFIX));
        let (profdata, cov) = (tool("llvm-profdata"), tool("llvm-cov"));
        (profdata.is_file() && cov.is_file()).then_some(Self { profdata, cov })
    }

    /// Merges what the processes wrote.
    pub(super) fn merge(&self, profiles: &Path, merged: &Path) -> Result<PathBuf, AuthorError> {
        let mut list = String::new();
        for entry in fs::read_dir(profiles).map_err(AuthorError::file(profiles))? {
            let path = entry.map_err(AuthorError::file(profiles))?.path();
            // A process that was killed before it wrote leaves an empty file.
            if fs::metadata(&path).is_ok_and(|file| file.len() > 0) {
                list.push_str(&format!("{}\n", path.display()));
            }
        }
        if list.is_empty() {
            return Err(AuthorError::NoCoverage("the tests wrote no counters: none of them ran to its end".to_owned()));
        }
        let inputs = merged.with_extension("inputs");
        fs::write(&inputs, list).map_err(AuthorError::file(&inputs))?;
        let mut profdata = Command::new(&self.profdata);
        // Killed while writing: that file is damaged, the others are not.
        profdata.args(["merge", "--sparse", "--failure-mode=all", "--input-files"]).arg(&inputs).arg("-o").arg(merged);
        captured(&mut profdata)?;
        Ok(merged.to_owned())
    }

    /// The counts of all lines, in the format of lcov.
    pub(super) fn export(&self, profile: &Path, programs: &[PathBuf]) -> Result<String, AuthorError> {
        let mut cov = Command::new(&self.cov);
        cov.args(["export", "--format=lcov"]).arg(joined("--instr-profile=", profile));
        for program in programs {
            cov.arg("--object").arg(program);
        }
        Ok(String::from_utf8_lossy(&captured(&mut cov)?).into_owned())
    }
}

/// What a tool printed. Its messages go to standard error.
fn captured(command: &mut Command) -> Result<Vec<u8>, AuthorError> {
    let program = command.get_program().to_owned();
    let output = command.stderr(std::process::Stdio::inherit()).output().map_err(AuthorError::file(&program))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let command = format!("{} {}", program.display(), command.get_args().next().unwrap_or_default().display());
    Err(AuthorError::Failed { command, status: output.status.to_string() })
}
