//! The parcel for a child's supervisor: the launch in a file of memory, and the
//! three streams. Further descriptors of the child travel behind them.
//!
//! Knows nothing of how it travels.

use std::{
    ffi::OsString,
    fs::File,
    io,
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt as _, ffi::OsStringExt as _},
    },
};

use rustix::{
    fs::{MemfdFlags, memfd_create},
    pipe::{PipeFlags, pipe_with},
    process::Uid,
};

use crate::{
    ChildInput, ChildOutput, SpawnError, SpawnRequest,
    pipes::ChildPipes,
    supervisor,
    wire::{ChildLaunch, Enclosure},
};

/// The launch in a file of memory.
pub(crate) fn launch_of(request: &SpawnRequest, enclosure: Enclosure) -> Result<OwnedFd, SpawnError> {
    let program = request.program.as_os_str().as_bytes().to_vec();
    let arguments = request.arguments.iter().map(|argument| argument.as_bytes().to_vec());
    let variable = |(name, value): &(OsString, OsString)| {
        let mut text = name.clone().into_vec();
        text.push(b'=');
        text.extend(value.as_bytes());
        text
    };
    let launch = ChildLaunch {
        arguments: [program.clone()].into_iter().chain(arguments).collect(),
        program,
        environment: request.environment.iter().map(variable).collect(),
        working_directory: request.working_directory.as_os_str().as_bytes().to_vec(),
        limits: request.limits,
        descriptors: request.descriptors.iter().map(|descriptor| descriptor.number).collect(),
        terminal: matches!(request.stdin, ChildInput::Terminal(_)),
        // In a sandbox the supervisor itself runs as that user.
        user: request.user.filter(|_| !matches!(enclosure, Enclosure::Around(_))),
        enclosure,
    };
    let bytes = postcard::to_stdvec(&launch).map_err(io::Error::other);
    let bytes = bytes.map_err(SpawnError::system("describe a child"))?;
    let file =
        memfd_create("wharf-launch", MemfdFlags::CLOEXEC).map_err(SpawnError::system("make a file of memory"))?;
    let mut file = File::from(file);
    io::Write::write_all(&mut file, &bytes).map_err(SpawnError::system("describe a child"))?;
    Ok(file.into())
}

/// The host's ends of the streams, and the child's in the order of their numbers.
pub(crate) fn streams(request: &SpawnRequest) -> Result<(ChildPipes, [OwnedFd; 3]), SpawnError> {
    let mut pipes = ChildPipes::default();
    let null = || supervisor::null().map_err(SpawnError::system("open the null device"));
    let pipe = || {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(SpawnError::system("make a pipe"))?;
        if let Some(user) = request.user {
            // Programs may open their streams again, by /dev/stderr.
            let owner = Some(Uid::from_raw(user));
            rustix::fs::fchown(&writer, owner, None).map_err(SpawnError::system("give away a pipe"))?;
        }
        Ok((reader, writer))
    };
    let share =
        |file: &File| file.try_clone().map(OwnedFd::from).map_err(SpawnError::system("share a file with a child"));
    let stdin = match &request.stdin {
        ChildInput::Null => null()?,
        ChildInput::Terminal(terminal) => {
            if let Some(user) = request.user {
                // The mode stays, so no other user may write to the terminal.
                let owner = Some(Uid::from_raw(user));
                rustix::fs::fchown(terminal, owner, None).map_err(SpawnError::system("give away a terminal"))?;
            }
            share(terminal)?
        }
        ChildInput::Pipe => {
            let (reader, writer) = pipe()?;
            pipes.stdin = Some(writer);
            reader
        }
    };
    let output = |output: &ChildOutput, kept: &mut Option<OwnedFd>| match output {
        ChildOutput::Null => null(),
        ChildOutput::File(file) => share(file),
        ChildOutput::Terminal => match &request.stdin {
            ChildInput::Terminal(terminal) => share(terminal),
            // `SpawnRequest::check` refuses this.
            ChildInput::Null | ChildInput::Pipe => null(),
        },
        ChildOutput::Pipe => {
            let (reader, writer) = pipe()?;
            *kept = Some(reader);
            Ok(writer)
        }
    };
    let stdout = output(&request.stdout, &mut pipes.stdout)?;
    let stderr = output(&request.stderr, &mut pipes.stderr)?;
    Ok((pipes, [stdin, stdout, stderr]))
}
