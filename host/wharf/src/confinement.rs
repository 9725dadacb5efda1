//! The confinement of a process that serves one host: the paths that it keeps, and what a later configuration names
//! beside them.
//!
//! `wharf serve` confines itself. An app decides for its own process, which may need more than its hosts do.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use wharf_files::private_files;
use wharf_sources::PluginSource;
use wharf_spawn::MissingAbility;
pub use wharf_spawn::confine::{
    ConfineError, Confinement, ConfinementReport, confine_host, confinement_offered, is_confined,
};
#[cfg(target_os = "linux")]
pub use wharf_spawn::confine::{SystemUser, UserError};

use crate::{
    added::AddedPlugins,
    configuration::{Configuration, ConfigurationReach},
};

/// Directories that have much beside what a host needs. A host that reads a file in one of them reads that file, and
/// not the one that takes its place.
const WIDE: [&str; 24] = [
    "/",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/run/user",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/usr/local",
    "/usr/share",
    "/var",
    "/var/cache",
    "/var/lib",
    "/var/log",
    "/var/run",
    "/var/tmp",
];

/// What a host reaches, and what it was told so by.
#[derive(Debug, Clone, Default)]
pub struct HostReach {
    confinement: Confinement,
    /// A directory that stays within reach although it has more than a host needs.
    wide: Option<PathBuf>,
}

impl HostReach {
    /// What a host with this configuration and this data directory reaches. Makes the data directory where it is
    /// missing.
    ///
    /// # Errors
    /// Where the data directory cannot be made.
    pub fn new(configuration: &Configuration, data: &Path) -> io::Result<Self> {
        private_files::make_directory(data)?;
        let mut reach = Self::default();
        let ConfigurationReach { files, readable, writable } = configuration.reach();
        files.iter().for_each(|file| reach.add_file(file));
        reach.confinement.readable.extend(readable);
        reach.confinement.writable.extend(writable);
        reach.confinement.writable.push(data.to_owned());
        // Where plugins came from that were added, and where a later component of theirs lies.
        let added = AddedPlugins::of(data);
        for name in added.list().unwrap_or_default().keys() {
            let source = added.receipt(name).ok().flatten().and_then(|receipt| receipt.source.parse().ok());
            if let Some(PluginSource::File(file)) = source {
                reach.add_file(&file);
            }
        }
        // A part of it may be on another disk.
        let entries = fs::read_dir(data)?.flatten();
        let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        reach.confinement.writable.extend(links.map(|link| link.path()));
        Ok(reach)
    }

    /// Adds a file that is read, with the directories that have it and what it leads to, so that another of its name
    /// can take its place.
    pub fn add_file(&mut self, file: &Path) {
        let real = fs::canonicalize(file).ok();
        let above = [Some(file), real.as_deref()].into_iter().flatten().filter_map(Path::parent);
        self.confinement.readable.extend(above.filter(|above| !is_wide(above)).map(Path::to_owned));
        self.confinement.readable.push(file.to_owned());
    }

    /// Adds the file of the configuration, which is read again and written by the operator's commands. Its directory
    /// stays within reach, whatever else is there: a change must not pass unnoticed.
    pub fn add_configuration(&mut self, file: &Path) {
        self.add_file(file);
        let Some(directory) = file.parent() else { return };
        if is_wide(directory) {
            self.confinement.readable.push(directory.to_owned());
            self.wide = Some(directory.to_owned());
        } else {
            // A file that is not there yet may be made.
            if let Err(error) = private_files::make_directory(directory) {
                tracing::debug!(%error, "there is no directory for a configuration");
            }
            self.confinement.writable.push(directory.to_owned());
        }
    }

    /// Adds a directory that is read and written.
    pub fn add_writable(&mut self, directory: &Path) {
        self.confinement.writable.push(directory.to_owned());
    }

    /// Adds the directory in which a socket is made.
    pub fn add_socket(&mut self, socket: &Path) {
        self.confinement.sockets.extend(socket.parent().map(Path::to_owned));
    }

    /// What is given up beside files.
    pub fn confinement_mut(&mut self) -> &mut Confinement {
        &mut self.confinement
    }

    /// Confines this process: see [`confine_host`].
    ///
    /// # Errors
    /// As [`confine_host`].
    pub fn confine(&self) -> Result<ConfinementReport, ConfineError> {
        let mut report = confine_host(&self.confinement)?;
        report.missing.extend(self.wide.as_deref().map(stays_readable));
        Ok(report)
    }

    /// The paths that a configuration names and this process does not reach: they were not named when it was confined,
    /// or were not there.
    #[must_use]
    pub fn beyond(&self, configuration: &Configuration) -> Vec<PathBuf> {
        let real = |paths: &[PathBuf]| paths.iter().filter_map(|path| fs::canonicalize(path).ok()).collect::<Vec<_>>();
        let (writable, readable) = (real(&self.confinement.writable), real(&self.confinement.readable));
        let is_in = |path: &Path, kept: &[PathBuf]| kept.iter().any(|kept| path.starts_with(kept));
        let reach = configuration.reach();
        let named = reach.paths().filter(|path| {
            // Where it will be, if it is not there yet.
            let there = path.ancestors().find_map(|above| fs::canonicalize(above).ok());
            let real = there.unwrap_or_else(|| path.to_path_buf());
            let may_read = is_in(&real, &readable) && !reach.writable.contains(*path);
            !may_read && !is_in(&real, &writable)
        });
        named.map(Path::to_owned).collect()
    }
}

/// What this machine offers to a host whose configuration is in this file.
#[must_use]
pub fn confinement_offered_with(file: &Path) -> ConfinementReport {
    let mut report = confinement_offered();
    report.missing.extend(file.parent().filter(|directory| is_wide(directory)).map(stays_readable));
    report
}

fn stays_readable(directory: &Path) -> MissingAbility {
    MissingAbility(format!(
        "all of {} stays readable, since the configuration is there: keep it in a directory of its own",
        directory.display()
    ))
}

/// Whether a directory has more than a host needs: one of the system, or one that has the user's home.
fn is_wide(directory: &Path) -> bool {
    let real = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    WIDE.iter().any(|wide| real == Path::new(wide)) || home.is_some_and(|home| home.starts_with(&real))
}

/// A directory for temporary files of this user's hosts alone, in that of the system: a host that keeps all of the
/// system's reaches the files of other programs.
///
/// # Errors
/// Where it cannot be made, also because another user has taken its name.
#[cfg(unix)]
pub fn own_temporary() -> io::Result<PathBuf> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
    let user = rustix::process::geteuid();
    let directory = std::env::temp_dir().join(format!("wharf-{}", user.as_raw()));
    // A browser that is another user passes through.
    let mode = if user.is_root() { 0o711 } else { 0o700 };
    match fs::DirBuilder::new().mode(mode).create(&directory) {
        Ok(()) => Ok(directory),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let about = fs::symlink_metadata(&directory)?;
            match about.is_dir() && about.uid() == user.as_raw() && about.mode() & 0o022 == 0 {
                true => Ok(directory),
                false => Err(io::Error::new(
                    io::ErrorKind::AlreadyExists,
                    format!("{} is not a directory of this user alone; remove it", directory.display()),
                )),
            }
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configuration(text: &str, base: &Path) -> Configuration {
        Configuration::parse(text, base).expect("a configuration")
    }

    #[test]
    fn a_host_reaches_what_its_configuration_names_and_a_later_one_names_more() {
        let place = tempfile::tempdir().expect("a directory");
        let root = fs::canonicalize(place.path()).expect("a path");
        for folder in ["data", "shared", "later", "keys", "other"] {
            fs::create_dir(root.join(folder)).expect("a directory");
        }
        fs::write(root.join("keys/token"), "").expect("a file");
        fs::write(root.join("other/token"), "").expect("a file");
        let exchange = |folder: &str, access: &str| {
            format!(
                "[plugin.files.grants.workspace]\nreason = \"tests\"\n\
                 exchange = [{{ name = \"x\", path = \"{folder}\", access = \"{access}\" }}]\n"
            )
        };
        let token = |file: &str| format!("[[http.tokens]]\nname = \"ci\"\nfile = \"{file}\"\n");
        let first = configuration(&(token("keys/token") + &exchange("shared", "read")), &root);
        let reach = HostReach::new(&first, &root.join("data")).expect("a reach");
        assert_eq!(reach.beyond(&first), Vec::<PathBuf>::new());
        // A token that is renewed, and one that is not there yet.
        fs::write(root.join("keys/next"), "").expect("a file");
        for named in ["keys/next", "keys/none"] {
            assert_eq!(reach.beyond(&configuration(&token(named), &root)), Vec::<PathBuf>::new(), "{named}");
        }
        for (text, path) in [
            (token("other/token"), "other/token"),
            (token("other/none"), "other/none"),
            (exchange("later", "read"), "later"),
            // It is within reach, and not to write.
            (exchange("shared", "write"), "shared"),
        ] {
            assert_eq!(reach.beyond(&configuration(&text, &root)), [root.join(path)], "{text}");
        }
    }

    #[test]
    fn what_lies_in_a_directory_of_much_else_is_kept_alone() {
        let mut reach = HostReach::default();
        reach.add_file(Path::new("/etc/hostname"));
        assert_eq!(reach.confinement.readable, [Path::new("/etc/hostname")]);
        assert!(reach.wide.is_none());
        reach.add_configuration(Path::new("/etc/wharf.toml"));
        assert_eq!(reach.wide.as_deref(), Some(Path::new("/etc")));
        assert!(reach.confinement.writable.is_empty(), "{reach:?}");
    }
}
