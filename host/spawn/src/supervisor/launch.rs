//! From a supervisor's fork to the program: session, streams, limits, directory,
//! and the program itself.

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
    system::{self, Side},
    tree,
};
use crate::{
    Limits, packet,
    request::{MAX_DESCRIPTOR_NUMBER, MAX_REQUEST_BYTES},
    wire::{Launch, Report, Step, Walls},
};

/// The first number above those that a program may be given.
const FIRST_OWN_NUMBER: i32 = MAX_DESCRIPTOR_NUMBER as i32 + 1;

/// Where a start failed, and the system's number for why.
pub(super) struct Failure {
    pub(super) step: Step,
    pub(super) errno: i32,
}

impl Failure {
    fn at<E: Into<io::Error>>(step: Step) -> impl Fn(E) -> Self {
        move |error| Self { step, errno: error.into().raw_os_error().unwrap_or(libc::EIO) }
    }

    fn preparing<E: Into<io::Error>>(error: E) -> Self {
        Self::at(Step::Prepare)(error)
    }
}

/// Reads the launch out of the file in which it came.
pub(super) fn read(file: OwnedFd) -> Option<Launch> {
    let file = File::from(file);
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
    // Twice the limit: every text has a length beside it.
    if length > 2 * MAX_REQUEST_BYTES {
        return None;
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0).ok()?;
    postcard::from_bytes(&bytes).ok()
}

/// Starts the program and returns once it is that program. What it has open comes
/// in the order of the numbers: streams first.
pub(super) fn start(launch: Launch, control: &OwnedFd, opened: Vec<OwnedFd>) -> Result<Pid, Failure> {
    // Closes by itself when the program takes over; else carries why not.
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(Failure::preparing)?;
    match system::fork().map_err(Failure::preparing)? {
        Side::Child => {
            // Neither may have a number that the program is given.
            let (Ok(control), Ok(writer)) = (out_of_the_way(control), out_of_the_way(&writer)) else { system::leave() };
            let failure = become_program(launch, &control, &opened);
            if let Ok(said) = postcard::to_stdvec(&(failure.step, failure.errno)) {
                let _ = File::from(writer).write_all(&said);
            }
            system::leave()
        }
        Side::Parent(pid) => {
            drop((writer, opened));
            let mut said = Vec::new();
            File::from(reader).read_to_end(&mut said).map_err(Failure::preparing)?;
            match postcard::from_bytes(&said) {
                Ok((step, errno)) => Err(Failure { step, errno }),
                Err(_) => Ok(pid),
            }
        }
    }
}

/// Returns only why not.
fn become_program(launch: Launch, control: &OwnedFd, opened: &[OwnedFd]) -> Failure {
    match prepare(&launch, control, opened) {
        Err(failure) => failure,
        Ok((program, arguments, environment)) => {
            Failure::at(Step::Execute)(system::execute(&program, &arguments, &environment))
        }
    }
}

type Command = (CString, Vec<CString>, Vec<CString>);

fn prepare(launch: &Launch, control: &OwnedFd, opened: &[OwnedFd]) -> Result<Command, Failure> {
    let [stdin, stdout, stderr, others @ ..] = opened else {
        return Err(Failure { step: Step::Prepare, errno: libc::EBADF });
    };
    let bound = bound_of_processes(launch);
    setsid().map_err(Failure::preparing)?;
    rustix::stdio::dup2_stdin(stdin).map_err(Failure::preparing)?;
    rustix::stdio::dup2_stdout(stdout).map_err(Failure::preparing)?;
    rustix::stdio::dup2_stderr(stderr).map_err(Failure::preparing)?;
    give(others, &launch.descriptors).map_err(Failure::preparing)?;
    if launch.terminal {
        ioctl_tiocsctty(rustix::stdio::stdin()).map_err(Failure::preparing)?;
    }
    // With the rights of the supervisor: the directories above these may be closed
    // to the user that the child becomes.
    let walls = confine::make_ready(&launch.walls, launch.user, launch.terminal).map_err(Failure::at(Step::Confine))?;
    let place = Place::of(launch)?;
    if let Some(user) = launch.user {
        confine::become_user(user).map_err(Failure::preparing)?;
    }
    // Should the supervisor be killed, its child goes with it. A change of the
    // user would undo it.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(Failure::preparing)?;
    let texts = |texts: &[Vec<u8>]| texts.iter().map(|text| text_of(text)).collect::<Result<Vec<_>, _>>();
    let command = (text_of(&launch.program)?, texts(&launch.arguments)?, texts(&launch.environment)?);
    place.enter().map_err(Failure::at(Step::Enter))?;
    packet::send(control, &Report::Starting, &[]).map_err(Failure::preparing)?;
    system::accept_signals();
    // Last: with few files or little memory the steps above could fail.
    limit(&launch.limits, bound).map_err(Failure::preparing)?;
    walls.stay_inside().map_err(Failure::at(Step::Confine))?;
    Ok(command)
}

/// Where a child starts.
struct Place {
    /// The directory that it is shown and starts in or below, opened with the
    /// rights of the supervisor.
    shown: Option<OwnedFd>,
    /// The way from there, or the whole path: gone with the child's own rights,
    /// since it may lead over links that a guest has made.
    path: CString,
}

impl Place {
    fn of(launch: &Launch) -> Result<Self, Failure> {
        let whole = confine::path_of(&launch.working_directory);
        if let (Walls::Landlock(confinement), Some(_)) = (&launch.walls, launch.user) {
            let shown = confinement.writable.iter().chain(&confinement.readable).map(|path| confine::path_of(path));
            let around = shown.filter(|shown| whole.starts_with(shown)).max_by_key(|shown| shown.components().count());
            if let Some((around, way)) = around.and_then(|around| Some((around, whole.strip_prefix(around).ok()?))) {
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let shown = rustix::fs::open(around, flags, Mode::empty()).map_err(Failure::at(Step::Enter))?;
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

/// The same descriptor with a number that no program is given.
fn out_of_the_way(descriptor: &OwnedFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, FIRST_OWN_NUMBER)?)
}

/// Leaves these open for the program, under these numbers.
fn give(descriptors: &[OwnedFd], numbers: &[u32]) -> io::Result<()> {
    // One may have the number that another is to have.
    let moved = descriptors.iter().map(out_of_the_way).collect::<io::Result<Vec<_>>>()?;
    for (descriptor, number) in moved.iter().zip(numbers) {
        system::give(descriptor, *number)?;
    }
    Ok(())
}

/// What the system is told so that the tree has as many processes as it may.
/// The system counts those of a user: in a sandbox, where the supervisor is
/// one, from the beginning; outside, with all that the user has already.
fn bound_of_processes(launch: &Launch) -> Option<u64> {
    let processes = launch.limits.processes?;
    let others = match launch.walls {
        Walls::Around => 1,
        Walls::None | Walls::Landlock(_) => {
            let user = launch.user.unwrap_or_else(|| getuid().as_raw());
            // This process becomes the program, which counts as the tree's.
            tree::threads_of(user).saturating_sub(u64::from(user == getuid().as_raw()))
        }
    };
    Some(processes.saturating_add(others))
}

fn text_of(bytes: &[u8]) -> Result<CString, Failure> {
    CString::new(bytes).map_err(Failure::preparing)
}

fn limit(limits: &Limits, processes: Option<u64>) -> io::Result<()> {
    let wanted = [
        (Resource::Core, Some(0)),
        (Resource::Cpu, limits.cpu_seconds),
        (Resource::Data, limits.memory_bytes),
        (Resource::Nofile, limits.open_files),
        (Resource::Nproc, processes),
        (Resource::Fsize, limits.file_size_bytes),
    ];
    for (resource, wanted) in wanted {
        let Some(wanted) = wanted else { continue };
        // Nobody but root may raise a limit, and nobody has to.
        let ceiling = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        // A second between the signal that can be caught and the one that
        // cannot.
        let spare = u64::from(resource == Resource::Cpu);
        let maximum = wanted.saturating_add(spare).min(ceiling);
        setrlimit(resource, Rlimit { current: Some(wanted.min(maximum)), maximum: Some(maximum) })?;
    }
    Ok(())
}

/// Has no other process of this user look into a supervisor or steer it.
pub(super) fn seal() {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
