//! Takes a child from its supervisor's fork to the program: session, streams, limits,
//! directory, and the program itself.

use std::{
    ffi::CString,
    fs::File,
    io::{self, Read as _, Write as _},
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt as _, fs::FileExt as _},
    },
};

use rustix::{
    fs::{Mode, OFlags},
    pipe::{PipeFlags, pipe_with},
    process::{
        DumpableBehavior, Pid, Resource, Rlimit, Signal, getrlimit, getuid, ioctl_tiocsctty, set_dumpable_behavior,
        set_parent_process_death_signal, setrlimit, setsid,
    },
};

use super::{
    confine,
    system::{self, ForkSide},
};
use crate::{
    ChildLimits, packet,
    request::{MAX_DESCRIPTOR_NUMBER, MAX_REQUEST_BYTES},
    tree,
    wire::{ChildLaunch, Enclosure, StartStep, SupervisorReport},
};

/// The first number above those of a program's descriptors.
const FIRST_OWN_NUMBER: i32 = MAX_DESCRIPTOR_NUMBER as i32 + 1;

/// The step of a start that failed, and the system's number of the error.
pub(super) struct StartFailure {
    pub(super) step: StartStep,
    pub(super) errno: i32,
}

impl StartFailure {
    fn at<E: Into<io::Error>>(step: StartStep) -> impl Fn(E) -> Self {
        move |error| Self { step, errno: error.into().raw_os_error().unwrap_or(libc::EIO) }
    }

    fn preparing<E: Into<io::Error>>(error: E) -> Self {
        Self::at(StartStep::Prepare)(error)
    }
}

/// Reads the launch out of the file in which it came.
pub(super) fn read(file: OwnedFd) -> Option<ChildLaunch> {
    let file = File::from(file);
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
    // Twice the limit, because every text has a length beside it.
    if length > 2 * MAX_REQUEST_BYTES {
        return None;
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0).ok()?;
    postcard::from_bytes(&bytes).ok()
}

/// Starts the program and returns once it runs. `opened` has its descriptors
/// in the order of their numbers, streams first.
pub(super) fn start(launch: ChildLaunch, control: &OwnedFd, opened: Vec<OwnedFd>) -> Result<Pid, StartFailure> {
    // The pipe closes by itself when the program takes over; else it carries the failure.
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(StartFailure::preparing)?;
    match system::fork().map_err(StartFailure::preparing)? {
        ForkSide::Child => {
            // Neither may have a number of the program's descriptors.
            let (Ok(control), Ok(writer)) = (out_of_the_way(control), out_of_the_way(&writer)) else { system::leave() };
            let failure = become_program(launch, &control, &opened);
            if let Ok(said) = postcard::to_stdvec(&(failure.step, failure.errno)) {
                let _ = File::from(writer).write_all(&said);
            }
            system::leave()
        }
        ForkSide::Parent(pid) => {
            drop((writer, opened));
            let mut said = Vec::new();
            File::from(reader).read_to_end(&mut said).map_err(StartFailure::preparing)?;
            match postcard::from_bytes(&said) {
                Ok((step, errno)) => Err(StartFailure { step, errno }),
                Err(_) => Ok(pid),
            }
        }
    }
}

/// Becomes the program; returns only a failure.
fn become_program(launch: ChildLaunch, control: &OwnedFd, opened: &[OwnedFd]) -> StartFailure {
    match prepare(&launch, control, opened) {
        Err(failure) => failure,
        Ok((program, arguments, environment)) => {
            StartFailure::at(StartStep::Execute)(system::execute(&program, &arguments, &environment))
        }
    }
}

type ExecCommand = (CString, Vec<CString>, Vec<CString>);

fn prepare(launch: &ChildLaunch, control: &OwnedFd, opened: &[OwnedFd]) -> Result<ExecCommand, StartFailure> {
    let [stdin, stdout, stderr, others @ ..] = opened else {
        return Err(StartFailure { step: StartStep::Prepare, errno: libc::EBADF });
    };
    let bound = bound_of_processes(launch);
    setsid().map_err(StartFailure::preparing)?;
    rustix::stdio::dup2_stdin(stdin).map_err(StartFailure::preparing)?;
    rustix::stdio::dup2_stdout(stdout).map_err(StartFailure::preparing)?;
    rustix::stdio::dup2_stderr(stderr).map_err(StartFailure::preparing)?;
    give(others, &launch.descriptors).map_err(StartFailure::preparing)?;
    if launch.terminal {
        ioctl_tiocsctty(rustix::stdio::stdin()).map_err(StartFailure::preparing)?;
    }
    // With the rights of the supervisor: the directories above may be closed
    // to the user that the child becomes.
    let enclosure = confine::prepare(&launch.enclosure, launch.user, launch.terminal)
        .map_err(StartFailure::at(StartStep::Confine))?;
    let directory = StartDirectory::of(launch)?;
    if let Some(user) = launch.user {
        confine::become_user(user).map_err(StartFailure::preparing)?;
    }
    // The child dies with its supervisor. A later change of the
    // user would undo this.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(StartFailure::preparing)?;
    let texts = |texts: &[Vec<u8>]| texts.iter().map(|text| text_of(text)).collect::<Result<Vec<_>, _>>();
    let command = (text_of(&launch.program)?, texts(&launch.arguments)?, texts(&launch.environment)?);
    directory.enter().map_err(StartFailure::at(StartStep::Enter))?;
    packet::send(control, &SupervisorReport::Starting, &[]).map_err(StartFailure::preparing)?;
    system::accept_signals();
    // Late, because with few files or little memory the steps above could fail.
    limit(&launch.limits, bound).map_err(StartFailure::preparing)?;
    enclosure.enter().map_err(StartFailure::at(StartStep::Confine))?;
    Ok(command)
}

/// The working directory of a child.
struct StartDirectory {
    /// The shown directory at or above it, opened with the
    /// rights of the supervisor.
    shown: Option<OwnedFd>,
    /// The path from there, or the whole path: the child enters it with its own rights,
    /// since it may lead over links that a guest has made.
    path: CString,
}

impl StartDirectory {
    fn of(launch: &ChildLaunch) -> Result<Self, StartFailure> {
        let whole = confine::path_of(&launch.working_directory);
        if let (Enclosure::Landlock(confinement) | Enclosure::Files(confinement), Some(_)) =
            (&launch.enclosure, launch.user)
        {
            let shown = confinement.writable.iter().chain(&confinement.readable).map(|path| confine::path_of(path));
            let around = shown.filter(|shown| whole.starts_with(shown)).max_by_key(|shown| shown.components().count());
            if let Some((around, way)) = around.and_then(|around| Some((around, whole.strip_prefix(around).ok()?))) {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let shown =
                    rustix::fs::open(around, flags, Mode::empty()).map_err(StartFailure::at(StartStep::Enter))?;
                return Ok(Self { shown: Some(shown), path: text_of(way.as_os_str().as_bytes())? });
            }
        }
        Ok(Self { shown: None, path: text_of(&launch.working_directory)? })
    }

    fn enter(self) -> io::Result<()> {
        if let Some(shown) = self.shown {
            rustix::process::fchdir(&shown)?;
        }
        if !self.path.is_empty() {
            rustix::process::chdir(&self.path)?;
        }
        Ok(())
    }
}

/// The same descriptor under a number above those of programs.
fn out_of_the_way(descriptor: &OwnedFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, FIRST_OWN_NUMBER)?)
}

/// Leaves these descriptors open for the program, under these numbers.
fn give(descriptors: &[OwnedFd], numbers: &[u32]) -> io::Result<()> {
    // One descriptor may have the number that another one gets.
    let moved = descriptors.iter().map(out_of_the_way).collect::<io::Result<Vec<_>>>()?;
    for (descriptor, number) in moved.iter().zip(numbers) {
        system::give(descriptor, *number)?;
    }
    Ok(())
}

/// The system's limit that gives the tree its number of processes.
/// The system counts the processes of a user: in a sandbox only those of the tree, the
/// supervisor among them; outside also all others of the user.
fn bound_of_processes(launch: &ChildLaunch) -> Option<u64> {
    let processes = launch.limits.processes?;
    let others = match launch.enclosure {
        Enclosure::Around(_) => 1,
        Enclosure::None | Enclosure::Landlock(_) | Enclosure::Files(_) => {
            let user = launch.user.unwrap_or_else(|| getuid().as_raw());
            // This process becomes the program, which belongs to the tree.
            tree::threads_of(user).saturating_sub(u64::from(user == getuid().as_raw()))
        }
    };
    Some(processes.saturating_add(others))
}

fn text_of(bytes: &[u8]) -> Result<CString, StartFailure> {
    CString::new(bytes).map_err(StartFailure::preparing)
}

fn limit(limits: &ChildLimits, processes: Option<u64>) -> io::Result<()> {
    let limits = [
        (Resource::Core, Some(0)),
        (Resource::Cpu, limits.cpu_seconds),
        // What AddressSanitizer reserves in this very process would count.
        (Resource::Data, limits.memory_bytes.filter(|_| !cfg!(asan))),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, processes),
        (Resource::Fsize, limits.file_size_bytes),
    ];
    for (resource, limit) in limits {
        let Some(limit) = limit else { continue };
        // Only root may raise a limit, and no request needs more than the host has.
        let ceiling = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        // A second between SIGXCPU, which can be caught, and SIGKILL.
        let spare = u64::from(resource == Resource::Cpu);
        let maximum = limit.saturating_add(spare).min(ceiling);
        setrlimit(resource, Rlimit { current: Some(limit.min(maximum)), maximum: Some(maximum) })?;
    }
    Ok(())
}

/// Keeps other processes of this user from reading or tracing this one.
pub(crate) fn seal() {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
