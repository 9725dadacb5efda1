//! What of a program the system signals and kills as one: its process group on Unix, a job
//! on Windows.

#[cfg(unix)]
pub(super) use unix::{ProcessTree, wait};
#[cfg(windows)]
pub(super) use windows::{ProcessTree, wait};

#[cfg(unix)]
mod unix {
    use std::{io, os::unix::process::ExitStatusExt as _, process::Child};

    use parking_lot::Mutex;
    use rustix::{
        io::Errno,
        process::{Pid, Signal as Number, WaitId, WaitIdOptions, kill_process_group, waitid},
    };

    use crate::{ChildExit, Signal, SpawnError};

    /// The process group that a program leads.
    #[derive(Debug)]
    pub(in super::super) struct ProcessTree(Pid);

    impl ProcessTree {
        pub(in super::super) fn of(program: &Child) -> io::Result<Self> {
            let group = i32::try_from(program.id()).ok().and_then(Pid::from_raw);
            Ok(Self(group.ok_or(io::ErrorKind::InvalidInput)?))
        }

        pub(in super::super) fn signal(&mut self, signal: Signal) -> Result<(), SpawnError> {
            let number = match signal {
                Signal::Hangup => Number::HUP,
                Signal::Interrupt => Number::INT,
                Signal::Quit => Number::QUIT,
                Signal::Terminate => Number::TERM,
                Signal::Kill => Number::KILL,
                Signal::User1 => Number::USR1,
                Signal::User2 => Number::USR2,
                Signal::Stop => Number::STOP,
                Signal::Continue => Number::CONT,
            };
            let sent = kill_process_group(self.0, number);
            sent.map_err(|error| SpawnError::System { action: "send a signal", source: error.into() })
        }

        pub(in super::super) fn kill(&mut self) {
            // Refused where nothing of the group lives.
            let _ = self.signal(Signal::Kill);
        }
    }

    /// Waits for the end of a program, kills the rest of its group, and reaps it when nobody
    /// can signal it any more: until then the group's number is its own.
    pub(in super::super) fn wait(mut program: Child, tree: &Mutex<Option<ProcessTree>>) -> io::Result<ChildExit> {
        let ProcessTree(pid) = ProcessTree::of(&program)?;
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
        let mut tree = tree.lock();
        if let Some(mut group) = tree.take() {
            group.kill();
        }
        let status = program.wait()?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => ChildExit::Exited { code },
            (None, signal) => ChildExit::Signaled { signal: signal.unwrap_or_default() },
        })
    }
}

#[cfg(windows)]
mod windows {
    use std::{
        io,
        os::windows::io::{AsRawHandle as _, RawHandle},
        process::Child,
    };

    use parking_lot::Mutex;
    use win32job::{ExtendedLimitInfo, Job};

    use crate::{ChildExit, Signal, SpawnError};

    /// The job of a program: Windows kills all processes in it when it is closed, also by
    /// the end of the host. A descendant that starts before the program is in it stays out.
    #[derive(Debug)]
    pub(in super::super) struct ProcessTree(Option<Job>);

    impl ProcessTree {
        pub(in super::super) fn of(program: &Child) -> io::Result<Self> {
            Self::of_handle(program.as_raw_handle())
        }

        pub(in super::super) fn of_handle(program: RawHandle) -> io::Result<Self> {
            let job = Job::create_with_limit_info(ExtendedLimitInfo::new().limit_kill_on_job_close());
            let job = job.map_err(io::Error::other)?;
            job.assign_process(program as isize).map_err(io::Error::other)?;
            Ok(Self(Some(job)))
        }

        pub(in super::super) fn signal(&mut self, signal: Signal) -> Result<(), SpawnError> {
            if signal != Signal::Kill {
                return Err(SpawnError::Unsupported("Windows has no signals: a program there can only be killed"));
            }
            self.kill();
            Ok(())
        }

        pub(in super::super) fn kill(&mut self) {
            drop(self.0.take());
        }
    }

    /// Waits for the end of a program and kills the rest of its job.
    pub(in super::super) fn wait(mut program: Child, tree: &Mutex<Option<ProcessTree>>) -> io::Result<ChildExit> {
        let status = program.wait();
        tree.lock().take();
        Ok(ChildExit::Exited { code: status?.code().unwrap_or_default() })
    }
}
