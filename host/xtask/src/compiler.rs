//! What stands between cargo and rustc where the members of the workspace are
//! compiled in another way than usual: a copy of this very binary, which adds
//! flags. So nothing but the members is compiled again: wasmtime keeps the code
//! that it has.
//!
//! Owns how the copy is made and called. Its callers know what the flags are for.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

/// Says to the copy that it was called in the place of rustc: the flags that it
/// adds, with [`BETWEEN`] between them.
const FLAGS: &str = "WHARF_XTASK_COMPILER_FLAGS";

/// What no flag has in it, nor any path.
const BETWEEN: &str = "\u{1f}";

/// Whether cargo called this process to compile something.
pub(crate) fn is_called() -> bool {
    env::var_os(FLAGS).is_some()
}

/// Calls rustc with the arguments of this process, and with the flags where it
/// compiles something that is part of the product.
pub(crate) fn compile() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let Some((rustc, rest)) = arguments.split_first() else {
        return ExitCode::FAILURE;
    };
    let mut compiler = Command::new(rustc);
    compiler.args(rest);
    if wants_flags(rest) {
        let flags = env::var(FLAGS).unwrap_or_default();
        compiler.args(flags.split(BETWEEN).filter(|flag| !flag.is_empty()));
    }
    match compiler.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Build scripts and macros run while something is compiled, not while it is
/// tested; and cargo also asks rustc questions without compiling.
fn wants_flags(arguments: &[OsString]) -> bool {
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).and_then(|value| value.to_str())
    };
    match after("--crate-name") {
        None | Some("___") => false,
        Some(name) => !name.starts_with("build_script_") && after("--crate-type") != Some("proc-macro"),
    }
}

/// What cargo is told, so that it calls the copy at `compiler` for the members.
pub(crate) fn environment(compiler: &Path, flags: &str) -> [(&'static str, OsString); 2] {
    let flags = flags.split_whitespace().collect::<Vec<_>>().join(BETWEEN);
    [("RUSTC_WORKSPACE_WRAPPER", compiler.into()), (FLAGS, flags.into())]
}

/// The same for all that is compiled. These flags are no part of what cargo knows a build by, so that builds are the same
/// whose flags name different folders.
pub(crate) fn environment_of_all(compiler: &Path, flags: &[String]) -> [(&'static str, OsString); 2] {
    [("RUSTC_WRAPPER", compiler.into()), (FLAGS, flags.join(BETWEEN).into())]
}

/// A copy in this folder, since cargo replaces the original. Where it lies is
/// part of what cargo knows a build by: each caller has a folder of its own.
pub(crate) fn install(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let compiler = folder.join(format!("rustc-with-counters{}", env::consts::EXE_SUFFIX));
    let unfinished = folder.join(format!("rustc-with-counters.{}", std::process::id()));
    fs::copy(env::current_exe()?, &unfinished).context("cannot copy xtask")?;
    fs::rename(&unfinished, &compiler)?;
    Ok(compiler)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wants(arguments: &[&str]) -> bool {
        wants_flags(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn only_what_is_tested_gets_counters() {
        assert!(wants(&["--crate-name", "wharf_core", "--edition=2024", "--crate-type", "lib"]));
        assert!(wants(&["--crate-name", "wharf_core", "--test"]));
        assert!(!wants(&["--crate-name", "build_script_build", "--crate-type", "bin"]));
        assert!(!wants(&["--crate-name", "wharf_sdk_macros", "--crate-type", "proc-macro"]));
        assert!(!wants(&["-", "--crate-name", "___", "--print=file-names"]));
        assert!(!wants(&["-vV"]));
    }
}
