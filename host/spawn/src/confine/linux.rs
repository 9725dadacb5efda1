//! The steps by which a process gives up its rights on Linux, and what of them a machine offers.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::{
    process::{Resource, Rlimit, geteuid, setrlimit},
    thread::{CapabilitySet, capabilities},
};

use super::{ConfineError, Confinement, ConfinementReport};
use crate::{
    MissingAbility,
    filter::{self, SyscallFilter},
    landlock::{self, HostPaths},
    outside,
    privileges::keep_capabilities,
};

/// What root keeps: the files of sessions belong to users of their own, who get pipes and terminals from it.
/// Landlock bounds the files that it opens by them.
const OF_ROOT: [(CapabilitySet, &str); 3] =
    [(CapabilitySet::CHOWN, "CHOWN"), (CapabilitySet::DAC_OVERRIDE, "DAC_OVERRIDE"), (CapabilitySet::FOWNER, "FOWNER")];
const LOW_PORTS: (CapabilitySet, &str) = (CapabilitySet::NET_BIND_SERVICE, "NET_BIND_SERVICE");

/// Directories of the system that libraries of a host read: code that is loaded, names of zones, certificates.
const SYSTEM: [&str; 15] = [
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/local/lib",
    "/usr/share/zoneinfo",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/etc/ca-certificates",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/ssl/certs",
    "/etc/ld.so.conf.d",
];

/// Files of the system's settings that libraries of a host read.
const SETTINGS: [&str; 16] = [
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/openssl.cnf",
];

/// What the system says of itself and of processes. Landlock lets a confined process look into no process outside,
/// whatever `/proc` has of it.
const OF_THE_MACHINE: [&str; 4] =
    ["/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"];

/// The settings of name resolution, which the system replaces while hosts run.
const RESOLVER: &str = "/etc/resolv.conf";

/// Has this process give up, for good, what it does not need: new privileges, capabilities, system calls that a host
/// never makes (`execve` among them), core dumps, and every file but these. Threads that it starts later inherit it,
/// and whatever this process starts by a [`Spawner`](crate::Spawner) does not: a part that is started here, before,
/// and stays outside, starts programs for it.
///
/// A step that this machine does not offer is left out, which the report says.
///
/// # Errors
/// [`ConfineError::Threads`], [`ConfineError::Again`] and [`ConfineError::Keeper`] before anything is given up;
/// [`ConfineError::Step`] where the system refuses a step that it offers: a part is given up then.
pub fn confine_host(confinement: &Confinement) -> Result<ConfinementReport, ConfineError> {
    let threads = fs::read_dir("/proc/self/task").map_or(1, Iterator::count);
    if threads != 1 {
        return Err(ConfineError::Threads(threads));
    }
    if is_confined() {
        return Err(ConfineError::Again);
    }
    outside::keep().map_err(ConfineError::Keeper)?;
    let failed = |step: &'static str| move |source: io::Error| ConfineError::Step { step, source };
    let version = landlock::version();
    // Opened with the rights of now.
    let rules = (version > 0).then(|| landlock::host_rules(&paths(confinement))).transpose();
    let rules = rules.map_err(failed("prepare the rules of Landlock"))?;
    limit().map_err(failed("lower the limits of this process"))?;
    let kept = give_up_capabilities(confinement.low_ports);
    let kept = kept.map_err(failed("give up new privileges and capabilities"))?;
    if let Some(rules) = rules {
        landlock::restrict(rules).map_err(failed("enter the confinement of Landlock"))?;
    }
    let filters = has_filters();
    if filters {
        let program = filter::program(SyscallFilter::Host { itself: std::process::id() });
        let program = program.map_err(failed("prepare the filter of system calls"))?;
        let applied = seccompiler::apply_filter_all_threads(&program).map_err(io::Error::other);
        applied.map_err(failed("filter system calls"))?;
    }
    Ok(report(&kept, version, filters))
}

/// What would hold of a host that confines itself here, as this user. Gives up nothing.
#[must_use]
pub fn confinement_offered() -> ConfinementReport {
    let kept: Vec<_> = kept(false).map(|(_, name)| name).collect();
    report(&kept, landlock::version(), has_filters())
}

/// Whether this process has confined itself.
#[must_use]
pub fn is_confined() -> bool {
    outside::is_kept()
}

fn report(kept: &[&str], version: u32, filters: bool) -> ConfinementReport {
    let mut report = ConfinementReport::default();
    report.holds.push("no new privileges".to_owned());
    report.holds.push(match kept {
        [] => "no capabilities".to_owned(),
        kept => format!("no capabilities but {}", kept.join(", ")),
    });
    report.holds.push("no core dumps".to_owned());
    if filters {
        report.holds.push("a filter of system calls".to_owned());
    } else {
        let says = "the kernel filters no system calls (CONFIG_SECCOMP_FILTER)";
        report.missing.push(MissingAbility(says.to_owned()));
    }
    if version > 0 {
        report.holds.push(format!("files by Landlock {version}"));
    }
    match landlock::offered() {
        Ok(()) => {}
        Err(_) if version == 0 => {
            let says = "all files stay within reach: the kernel has no Landlock, or the boot leaves it out (`lsm=`)";
            report.missing.push(MissingAbility(says.to_owned()));
        }
        Err(_) => report.missing.push(MissingAbility(format!(
            "Landlock is of version {version}, and 6 (Linux 6.12) has all rights that are given up"
        ))),
    }
    report
}

fn has_filters() -> bool {
    Path::new("/proc/sys/kernel/seccomp/actions_avail").exists()
}

/// The capabilities that a host needs, as far as it has them.
fn kept(low_ports: bool) -> impl Iterator<Item = (CapabilitySet, &'static str)> {
    let of_root = geteuid().is_root().then_some(OF_ROOT).into_iter().flatten();
    let has = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.permitted);
    of_root.chain(low_ports.then_some(LOW_PORTS)).filter(move |(capability, _)| has.contains(*capability))
}

/// Gives up all capabilities but those that a host needs; the names of these.
fn give_up_capabilities(low_ports: bool) -> io::Result<Vec<&'static str>> {
    let (mut all, mut names) = (CapabilitySet::empty(), Vec::new());
    for (capability, name) in kept(low_ports) {
        all |= capability;
        names.push(name);
    }
    keep_capabilities(all)?;
    Ok(names)
}

/// A process that is taken over leaves no copy of its memory in a file, and gets no better of its processors.
fn limit() -> io::Result<()> {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    for resource in [Resource::Core, Resource::Msgqueue, Resource::Nice, Resource::Rtprio] {
        setrlimit(resource, none)?;
    }
    Ok(())
}

fn paths(confinement: &Confinement) -> HostPaths {
    let system = SYSTEM.iter().chain(&SETTINGS).chain(&OF_THE_MACHINE).map(PathBuf::from);
    let certificates = ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    HostPaths {
        readable: system.chain(certificates).chain(resolver()).chain(confinement.readable.iter().cloned()).collect(),
        writable: confinement.writable.clone(),
        sockets: confinement.sockets.clone(),
        abstract_sockets: confinement.abstract_sockets,
    }
}

/// The directory that has the settings of name resolution: a file that takes the place of another there must be
/// within reach. All of `/etc` where it is that, unless this process is root, who may read what is secret there.
fn resolver() -> Option<PathBuf> {
    let directory = fs::canonicalize(RESOLVER).ok()?.parent()?.to_owned();
    let device = |path: &Path| Some(std::os::unix::fs::MetadataExt::dev(&fs::metadata(path).ok()?));
    // A container mounts the file, and writes it in place.
    let is_mounted = device(Path::new(RESOLVER)) != device(&directory);
    let is_open = directory != Path::new("/etc") || !geteuid().is_root();
    (!is_mounted && is_open && directory != Path::new("/")).then_some(directory)
}
