//! The files, network and processes that Landlock lets a process reach.
//!
//! Knows nothing of system calls that Landlock does not check: see `filter`.

use std::{
    fs, io,
    os::fd::BorrowedFd,
    path::{Path, PathBuf},
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, Scope,
};

use crate::MissingAbility;

/// The first version that contains signals and abstract sockets, of Linux 6.12.
const NEEDED: ABI = ABI::V6;

/// Files about the whole machine that programs read. Landlock shows no file of a single
/// process, and so none of the host: it leaves links of `/proc/self`, which programs use
/// most, to the system, which follows them for the process itself and, under
/// Landlock, for no other.
pub(crate) const OF_THE_MACHINE: [&str; 13] = [
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/ngroups_max",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/vm/overcommit_memory",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Devices without memory and without an owner.
pub(crate) const DEVICES: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// The controlling terminal of the process that opens it: the child's own, since every child
/// begins a session.
const OWN_TERMINAL: &str = "/dev/tty";

/// Where terminals are made.
const TERMINALS: [&str; 2] = ["/dev/ptmx", "/dev/pts"];

/// A ruleset that gives up files, other processes and, unless allowed, the network.
fn ruleset(level: CompatLevel, network: bool) -> Result<RulesetCreated, landlock::RulesetError> {
    let ruleset = Ruleset::default().set_compatibility(level).handle_access(AccessFs::from_all(NEEDED))?;
    let ruleset = if network { ruleset } else { ruleset.handle_access(AccessNet::from_all(NEEDED))? };
    ruleset.scope(Scope::from_all(NEEDED))?.create()
}

/// Checks that the system offers every needed right; else says what is missing.
pub(crate) fn offered() -> Result<(), MissingAbility> {
    ruleset(CompatLevel::HardRequirement, false).map(drop).map_err(|error| {
        MissingAbility(format!("Landlock does not offer what is needed, which Linux 6.12 does: {error}"))
    })
}

/// Whether the system has Landlock, of any version: what [`crate::Containment::Files`] needs.
#[must_use]
pub fn offers_landlock() -> bool {
    version() > 0
}

/// The last version whose rights the system offers, up to the one that is needed; 0 without any.
pub(crate) fn version() -> u32 {
    let offers = |version: ABI| {
        let ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(version))?;
        let network = AccessNet::from_all(version);
        let ruleset = if network.is_empty() { ruleset } else { ruleset.handle_access(network)? };
        let scope = Scope::from_all(version);
        let ruleset = if scope.is_empty() { ruleset } else { ruleset.scope(scope)? };
        ruleset.create()
    };
    let versions = [ABI::V1, ABI::V2, ABI::V3, ABI::V4, ABI::V5, NEEDED];
    let offered = versions.into_iter().take_while(|version| offers(*version).is_ok());
    offered.last().map_or(0, |version| version as u32)
}

/// The rules that restrict a thread and its descendants to these paths, and to its
/// controlling terminal, if it has one. Opens the paths now,
/// with the rights that this thread has now.
pub(crate) fn rules<'a>(
    readable: impl IntoIterator<Item = (&'a Path, bool)>,
    writable: impl IntoIterator<Item = &'a Path>,
    terminal: Option<BorrowedFd<'_>>,
    network: bool,
    level: CompatLevel,
) -> io::Result<RulesetCreated> {
    let mut rules = ruleset(level, network).map_err(io::Error::other)?;
    for (path, needed) in readable {
        match PathFd::new(path) {
            Ok(open) => rules = allow(rules, open, path, AccessFs::from_read(NEEDED))?,
            Err(_) if !needed => {}
            Err(_) => return Err(io::Error::from_raw_os_error(libc::ENOENT)),
        }
    }
    // No devices: each would be another way out.
    let writing = AccessFs::from_all(NEEDED) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    for path in writable {
        let open = PathFd::new(path).map_err(|_| io::Error::from_raw_os_error(libc::ENOENT))?;
        rules = allow(rules, open, path, writing)?;
    }
    let using = AccessFs::ReadFile | AccessFs::WriteFile;
    for device in DEVICES {
        let Ok(open) = PathFd::new(device) else { continue };
        rules = rules.add_rule(PathBeneath::new(open, using)).map_err(io::Error::other)?;
    }
    if let Some(terminal) = terminal {
        let using = using | AccessFs::IoctlDev;
        rules = rules.add_rule(PathBeneath::new(terminal, using)).map_err(io::Error::other)?;
        let open = PathFd::new(OWN_TERMINAL).map_err(io::Error::other)?;
        rules = rules.add_rule(PathBeneath::new(open, using)).map_err(io::Error::other)?;
    }
    Ok(rules)
}

/// The paths that a host keeps; what is not there is left out.
pub(crate) struct HostPaths {
    pub(crate) readable: Vec<PathBuf>,
    pub(crate) writable: Vec<PathBuf>,
    /// Directories in which sockets are made and replaced.
    pub(crate) sockets: Vec<PathBuf>,
    /// Whether sockets without a file stay within reach.
    pub(crate) abstract_sockets: bool,
}

/// The rules that restrict a host to these paths, to terminals that it makes, and to signals for itself, as far as
/// this system has them. It keeps the network, and runs no file.
pub(crate) fn host_rules(paths: &HostPaths) -> io::Result<RulesetCreated> {
    let scopes = Scope::from_all(NEEDED);
    let scopes = if paths.abstract_sockets { scopes & !Scope::AbstractUnixSocket } else { scopes };
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::BestEffort);
    let ruleset = ruleset.handle_access(AccessFs::from_all(NEEDED)).and_then(|ruleset| ruleset.scope(scopes));
    let mut rules = ruleset.and_then(Ruleset::create).map_err(io::Error::other)?;
    let reading = AccessFs::ReadFile | AccessFs::ReadDir;
    let devices = AccessFs::MakeBlock | AccessFs::MakeChar | AccessFs::IoctlDev;
    let writing = AccessFs::from_all(NEEDED) & !(devices | AccessFs::Execute);
    let sockets = AccessFs::MakeDir | AccessFs::MakeSock | AccessFs::RemoveDir | AccessFs::RemoveFile;
    let sockets = sockets | AccessFs::Refer | AccessFs::ReadDir;
    let of_device = AccessFs::ReadFile | AccessFs::WriteFile;
    let all = [(&paths.readable, reading), (&paths.writable, writing), (&paths.sockets, sockets)];
    for (path, access) in all.into_iter().flat_map(|(paths, access)| paths.iter().map(move |path| (path, access))) {
        let Ok(open) = PathFd::new(path) else { continue };
        rules = allow(rules, open, path, access)?;
    }
    let devices = DEVICES.into_iter().map(|device| (device, of_device));
    let terminals = TERMINALS.into_iter().map(|device| (device, of_device | AccessFs::IoctlDev));
    for (device, access) in devices.chain(terminals) {
        let Ok(open) = PathFd::new(device) else { continue };
        rules = rules.add_rule(PathBeneath::new(open, access)).map_err(io::Error::other)?;
    }
    Ok(rules)
}

/// Restricts this thread and its descendants.
pub(crate) fn restrict(rules: RulesetCreated) -> io::Result<()> {
    rules.restrict_self().map(drop).map_err(io::Error::other)
}

/// Gives up every file, and every other right that this system's Landlock knows.
pub(crate) fn give_up_all() -> io::Result<()> {
    let rules = ruleset(CompatLevel::BestEffort, false).map_err(io::Error::other)?;
    rules.restrict_self().map(drop).map_err(io::Error::other)
}

fn allow(rules: RulesetCreated, open: PathFd, path: &Path, access: BitFlags<AccessFs>) -> io::Result<RulesetCreated> {
    let access = if fs::metadata(path)?.is_dir() { access } else { access & AccessFs::from_file(NEEDED) };
    rules.add_rule(PathBeneath::new(open, access)).map_err(io::Error::other)
}
