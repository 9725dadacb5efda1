//! Shells that say when a command begins and how it ended: the files that make
//! bash and zsh do so, and how a shell is given them.
//!
//! Each session has a nonce of its own, which goes by the environment; the files
//! take it out of there and hold no secret. `stream` reads what the shell says with
//! it, and the detector judges that. A program of the same user that looks
//! for the nonce finds it where the system shows how the shell was started: it
//! could then end its own turn early, and nothing else.

use std::{
    ffi::{OsStr, OsString},
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use wharf_completion::detection::Nonce;
use wharf_core::handle::Handle;
use wharf_spawn::{Bind, Containment};

use crate::TerminalRequest;

const BASH: (&str, &str) = ("rc.bash", include_str!("integration/rc.bash"));
/// zsh looks for this name.
const ZSH: (&str, &str) = (".zshenv", include_str!("integration/rc.zsh"));
const NONCE: &str = "WHARF_SHELL_NONCE";
/// Everybody reads the files.
const FILE_MODE: u32 = 0o644;

/// Options of a shell that change nothing of which files it reads, but for
/// `--noprofile`, which is of other files.
const BASH_OPTIONS: [&str; 3] = ["-i", "--noediting", "--noprofile"];
/// The same for zsh, which reads the one file in every case.
const ZSH_OPTIONS: [&str; 4] = ["-i", "-l", "-il", "--login"];

/// The files of the integration, in a directory that shells can read.
#[derive(Debug, Clone)]
pub struct ShellIntegration {
    directory: Arc<Path>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IntegratedShell {
    Bash,
    Zsh,
}

impl ShellIntegration {
    /// Writes the files into a directory, which is made where it is not there.
    /// Everybody may read them, whatever user a shell is. Its path has to be
    /// absolute, and reachable for that user.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn write(directory: &Path) -> io::Result<Self> {
        let directory = std::path::absolute(directory)?;
        fs::create_dir_all(&directory)?;
        let_everybody_read(&directory, 0o755)?;
        for (name, content) in [BASH, ZSH] {
            if is_written(&directory.join(name), content) {
                continue;
            }
            // Shells may be reading one that is there: it is replaced as a
            // whole.
            let new = directory.join(format!("{name}.{}", random_word()?));
            fs::write(&new, content)?;
            let_everybody_read(&new, FILE_MODE)?;
            fs::rename(&new, directory.join(name))?;
        }
        Ok(Self { directory: directory.into() })
    }

    /// What a sandbox has to show. A request that is contained gets it by
    /// itself.
    #[must_use]
    pub fn bind(&self) -> Bind {
        Bind::same(&*self.directory)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// Whether a host before this one left the same file: each start of a host would write it anew.
fn is_written(path: &Path, content: &str) -> bool {
    let is_as_made = |about: fs::Metadata| about.is_file() && about.len() == content.len() as u64 && is_for_all(&about);
    fs::symlink_metadata(path).is_ok_and(is_as_made)
        && fs::read(path).is_ok_and(|written| written == content.as_bytes())
}

#[cfg(unix)]
fn is_for_all(about: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777 == FILE_MODE
}

/// Windows has no such permissions.
#[cfg(not(unix))]
fn is_for_all(_: &fs::Metadata) -> bool {
    true
}

/// Lets every user read a file or a directory.
#[cfg(unix)]
fn let_everybody_read(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))
}

/// Windows has no such permissions.
#[cfg(not(unix))]
fn let_everybody_read(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// Gives the files to a shell that is to read some, and returns what it will say
/// its marks with. Nothing changes for other programs, and where the arguments
/// ask for something else.
pub(crate) fn integrate(request: &mut TerminalRequest) -> io::Result<Option<Nonce>> {
    let Some(integration) = request.integration.take() else { return Ok(None) };
    let Some(shell) = integrated_shell(&request.program, &request.arguments) else { return Ok(None) };
    let raw = random_word()?;
    let nonce = Nonce::new(&raw).map_err(io::Error::other)?;
    match shell {
        IntegratedShell::Bash => {
            // Before options of one letter, or bash takes them for others.
            let file = integration.path(BASH.0).into_os_string();
            request.arguments.splice(0..0, [OsString::from("--rcfile"), file]);
        }
        IntegratedShell::Zsh => {
            for (name, _) in &mut request.environment {
                if name == "ZDOTDIR" {
                    *name = "WHARF_ZDOTDIR".into();
                }
            }
            request.environment.push(("ZDOTDIR".into(), integration.directory.as_os_str().into()));
        }
    }
    request.environment.push((NONCE.into(), raw.into()));
    if let Containment::Required(sandbox) = &mut request.containment {
        sandbox.readable.push(integration.bind());
    }
    Ok(Some(nonce))
}

fn integrated_shell(program: &Path, arguments: &[OsString]) -> Option<IntegratedShell> {
    let name = program.file_name().and_then(OsStr::to_str)?;
    let (shell, options) = match name {
        "bash" => (IntegratedShell::Bash, &BASH_OPTIONS[..]),
        "zsh" => (IntegratedShell::Zsh, &ZSH_OPTIONS[..]),
        _ => return None,
    };
    arguments.iter().all(|argument| options.iter().any(|option| argument == option)).then_some(shell)
}

fn random_word() -> io::Result<String> {
    Handle::random().map(|handle| handle.to_string())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn only_a_shell_that_would_read_its_own_file_is_given_ours() {
        let found = |program: &str, arguments: &[&str]| {
            let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
            integrated_shell(Path::new(program), &arguments)
        };
        assert_eq!(found("/bin/bash", &[]), Some(IntegratedShell::Bash));
        assert_eq!(found("/bin/bash", &["--noprofile", "-i"]), Some(IntegratedShell::Bash));
        assert_eq!(found("/usr/bin/zsh", &["-il"]), Some(IntegratedShell::Zsh));
        for (program, arguments) in [
            ("/bin/sh", &[][..]),
            ("/bin/bash", &["-c", "ls"]),
            ("/bin/bash", &["--norc"]),
            ("/bin/bash", &["--rcfile", "/x"]),
            ("/bin/bash", &["-l"]),
            ("/bin/bash", &["script"]),
            ("/bin/zsh", &["-f"]),
            ("/bin/zsh", &["script"]),
        ] {
            assert_eq!(found(program, arguments), None, "{program} {arguments:?}");
        }
    }

    #[test]
    fn the_files_are_there_for_everybody_and_can_be_written_again() {
        let place = tempfile::tempdir().expect("a directory");
        let directory = place.path().join("shells");
        for _ in 0..2 {
            ShellIntegration::write(&directory).expect("written");
        }
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o7777;
        assert_eq!(mode(&directory), 0o755);
        let names = fs::read_dir(&directory).expect("a directory").map(|entry| entry.expect("an entry"));
        let mut names: Vec<_> = names.map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, [ZSH.0, BASH.0]);
        assert!(names.iter().all(|name| mode(&directory.join(name)) == 0o644));
    }

    #[test]
    fn a_file_stays_where_it_is_as_it_should_be_and_is_replaced_where_it_is_not() {
        use std::os::unix::fs::{MetadataExt as _, symlink};

        let place = tempfile::tempdir().expect("a directory");
        let file = place.path().join(BASH.0);
        let write = || {
            ShellIntegration::write(place.path()).expect("written");
            let about = fs::symlink_metadata(&file).expect("there");
            assert!(about.is_file() && fs::read_to_string(&file).expect("read") == BASH.1);
            about.ino()
        };
        let first = write();
        assert_eq!(write(), first);
        for spoil in [
            |file: &Path| fs::write(file, BASH.1.replace('#', "%")),
            |file: &Path| fs::set_permissions(file, fs::Permissions::from_mode(0o600)),
            |file: &Path| fs::rename(file, file.with_extension("old")).and_then(|()| symlink("rc.old", file)),
        ] as [fn(&Path) -> io::Result<()>; 3]
        {
            spoil(&file).expect("spoilt");
            let spoilt = fs::symlink_metadata(&file).expect("there").ino();
            assert_ne!(write(), spoilt);
        }
    }
}
