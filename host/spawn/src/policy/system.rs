//! What programs expect of each system: a search path, a shell, and variables.

use std::{ffi::OsString, path::PathBuf};

use super::WorkspaceView;

/// The variables of every child.
#[cfg(unix)]
pub(super) fn variables(view: &WorkspaceView) -> Vec<(&'static str, OsString)> {
    /// The search path for programs, unless the operator has children inherit the host's
    /// own `PATH`.
    const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    vec![
        ("PATH", PATH.into()),
        ("HOME", view.home.clone().into_os_string()),
        ("TMPDIR", view.temporary.clone().into_os_string()),
        ("LANG", "C.UTF-8".into()),
    ]
}

/// The shell, and its arguments to run a text or else to be typed to.
#[cfg(unix)]
pub(super) fn shell(text: Option<&str>) -> (PathBuf, Vec<OsString>) {
    let bash = PathBuf::from("/bin/bash");
    let shell = if bash.exists() { bash } else { PathBuf::from("/bin/sh") };
    (shell, text.map_or_else(|| vec!["-i".into()], |text| vec!["-c".into(), text.into()]))
}

/// The variables of every child, without which few programs of Windows start.
#[cfg(windows)]
pub(super) fn variables(view: &WorkspaceView) -> Vec<(&'static str, OsString)> {
    let root = system_root();
    let system = root.join("System32");
    let path = std::env::join_paths([&system, &root, &system.join("WindowsPowerShell").join("v1.0")]);
    vec![
        ("PATH", path.unwrap_or_default()),
        ("PATHEXT", ".COM;.EXE;.BAT;.CMD".into()),
        ("SystemRoot", root.into_os_string()),
        ("ComSpec", system.join("cmd.exe").into_os_string()),
        ("HOME", view.home.clone().into_os_string()),
        ("USERPROFILE", view.home.clone().into_os_string()),
        ("TEMP", view.temporary.clone().into_os_string()),
        ("TMP", view.temporary.clone().into_os_string()),
    ]
}

/// PowerShell, which takes a text as it is, unlike `cmd.exe`, and its arguments to run a
/// text or else to be typed to.
#[cfg(windows)]
pub(super) fn shell(text: Option<&str>) -> (PathBuf, Vec<OsString>) {
    let shell = system_root().join("System32").join("WindowsPowerShell").join("v1.0").join("powershell.exe");
    let arguments = text.map_or_else(
        || vec!["-NoLogo".into()],
        |text| vec!["-NoProfile".into(), "-NonInteractive".into(), "-Command".into(), text.into()],
    );
    (shell, arguments)
}

#[cfg(windows)]
fn system_root() -> PathBuf {
    std::env::var_os("SystemRoot").map_or_else(|| PathBuf::from(r"C:\Windows"), PathBuf::from)
}
