//! The files that a browser can reach: the system's, its own program and profile, and what its pages are given.
//!
//! Landlock keeps all others out of its reach, beside the sandbox in which it runs pages: code that breaks out of that
//! still finds no file of the host.

use std::path::{Path, PathBuf};

use wharf_spawn::{Bind, Containment, Sandbox};

use crate::profile::Profile;

/// What a browser reads beside what all programs do, where it is there.
const OF_THE_SYSTEM: [&str; 6] =
    ["/etc/chromium", "/etc/chromium.d", "/etc/fonts", "/etc/opt/chrome", "/sys/devices", "/var/cache/fontconfig"];

/// Where a browser makes the user namespaces of its sandbox, and finds its own processes. Of a process outside of its
/// Landlock the system shows it what all users see, and neither memory, files nor environment.
const PROCESSES: &str = "/proc";

/// What one browser reads beside that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReachableFiles<'a> {
    /// Where files wait that its pages are given.
    pub(crate) staging: Option<&'a Path>,
    /// What the operator names.
    pub(crate) named: &'a [PathBuf],
}

impl ReachableFiles<'_> {
    /// The containment of a browser with this program and profile.
    pub(crate) fn containment(self, program: &Path, profile: &Profile) -> Containment {
        let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        let beside_program = program.parent().filter(|place| place.parent().is_some());
        let named = self.named.iter().map(PathBuf::as_path);
        let readable = OF_THE_SYSTEM.map(Path::new).into_iter().chain(beside_program).chain(self.staging).chain(named);
        // What is not there needs no way to it.
        let readable = readable.filter(|path| path.exists()).map(Bind::same).collect();
        let mut writable = profile.writable().map(Bind::same).to_vec();
        writable.push(Bind::same(PROCESSES));
        Containment::Files(Sandbox { writable, readable, network: true })
    }
}
