//! Under which circumstances a run was made: figures of two machines are not comparable.

use std::{fs, process::Command};

/// What the report says of a run beside its figures.
#[derive(Debug, Clone)]
pub(crate) struct Circumstances {
    pub(crate) processor: String,
    pub(crate) cores: usize,
    pub(crate) system: String,
    pub(crate) commit: String,
    pub(crate) date: String,
}

impl Circumstances {
    /// Here and now. What the system does not tell is `unknown`.
    pub(crate) fn of_this_run() -> Self {
        Self {
            processor: processor().unwrap_or_else(unknown),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: system().unwrap_or_else(unknown),
            commit: commit().unwrap_or_else(unknown),
            date: chrono::Utc::now().format("%Y-%m-%d").to_string(),
        }
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn processor() -> Option<String> {
    let told = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = told.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn system() -> Option<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    Some(format!("Linux {}", release.trim()))
}

/// The commit that is checked out, and whether files differ from it.
fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let ran = Command::new("git").args(arguments).output().ok()?;
        ran.status.success().then(|| String::from_utf8_lossy(&ran.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { commit } else { format!("{commit}, with changes") })
}
