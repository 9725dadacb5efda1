//! Parts of the host that run as processes of their own, outside of its confinement: this very program, run again
//! with a hidden first argument.
//!
//! An unconfined host runs such a part itself. A confined one may run nothing, so it asks the keeper, which it has
//! started before. Knows nothing of what the parts do.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{packet, supervisor};

/// How all first arguments of parts begin. No user types one.
const PARTS: &str = "wharf-";

/// The most memory that a question takes of a part, beside that of its answer.
const STACK_BYTES: usize = 256 << 10;

/// The socket to the keeper of a process that has confined itself.
static KEEPER: OnceLock<OwnedFd> = OnceLock::new();

/// What the keeper is to run; the socket of the part comes beside it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeeperOrder {
    role: String,
}

/// Starts the keeper.
pub(crate) fn keep() -> io::Result<()> {
    let (control, other) = packet::pair()?;
    let child = run(supervisor::KEEPER, other)?;
    // It ends with this process, which never asks how.
    drop(child);
    KEEPER.set(control).map_err(|_| io::ErrorKind::AlreadyExists.into())
}

pub(crate) fn is_kept() -> bool {
    KEEPER.get().is_some()
}

/// Runs this program again, with a socket as standard input; nothing is to be waited for where the keeper does.
pub(crate) fn run_again(role: &str, socket: OwnedFd) -> io::Result<Option<Child>> {
    match KEEPER.get() {
        Some(keeper) => {
            packet::send(keeper, &KeeperOrder { role: role.to_owned() }, &[socket.as_fd()])?;
            Ok(None)
        }
        None => run(role, socket).map(Some),
    }
}

fn run(role: &str, socket: OwnedFd) -> io::Result<Child> {
    let mut command = Command::new("/proc/self/exe");
    command.arg(role).env_clear().current_dir("/").stdin(Stdio::from(socket));
    if let Some(libraries) = std::env::var_os("LD_LIBRARY_PATH") {
        // The program itself may need the variable; its children do not get it.
        command.env("LD_LIBRARY_PATH", libraries);
    }
    // The command holds the other end of the socket, which must close where the part fails.
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// The keeper: runs parts for a confined process, until that is gone.
pub(crate) fn keep_for(control: &OwnedFd) {
    let mut parts = Vec::<Child>::new();
    while let Ok(Some(order)) = packet::receive::<KeeperOrder>(control) {
        parts.retain_mut(|part| matches!(part.try_wait(), Ok(None)));
        let (KeeperOrder { role }, mut sockets) = (order.message, order.descriptors);
        if let Some(socket) = sockets.pop()
            && role.starts_with(PARTS)
            && role != supervisor::KEEPER
        {
            // The host hears of a failure by the socket, which closes.
            parts.extend(run(&role, socket));
        }
    }
}

/// A part of the host that answers questions, in a process of its own. It ends with this value.
#[derive(Debug)]
pub struct OutsidePart(OwnedFd);

impl OutsidePart {
    /// Starts the part that [`serve_outside`] serves under this role, which begins with `wharf-`.
    ///
    /// # Errors
    /// Where this program cannot be run again.
    pub fn start(role: &str) -> io::Result<Self> {
        let (control, other) = packet::pair()?;
        // A child that nobody waits for is not started by a host that runs for long: it is confined then.
        run_again(role, other)?;
        Ok(Self(control))
    }

    /// Asks, and waits for the answer as long as it takes. Questions of several threads are answered side by side.
    ///
    /// # Errors
    /// Where the part is gone, or the question has more than 32 KiB.
    pub fn ask<Q: Serialize, A: DeserializeOwned>(&self, question: &Q) -> io::Result<A> {
        let (own, other) = packet::pair()?;
        packet::send(&self.0, question, &[other.as_fd()])?;
        drop(other);
        let answer = packet::receive(&own)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(answer.message)
    }
}

/// Where this process was run as the part of this role: answers its host's questions, and never returns. To be called
/// before `main`.
pub fn serve_outside<Q, A>(role: &str, answer: fn(Q) -> A)
where
    Q: DeserializeOwned + Send + 'static,
    A: Serialize + 'static,
{
    if std::env::args_os().nth(1).is_none_or(|first| first != role) {
        return;
    }
    let control = supervisor::control();
    supervisor::seal();
    while let Ok(Some(question)) = packet::receive::<Q>(&control) {
        let (message, Some(asker)) = (question.message, { question.descriptors }.pop()) else { continue };
        let reply = move || {
            // Who asked may have gone.
            let _ = packet::send(&asker, &answer(message), &[]);
        };
        // Without a thread, the question is as one whose part is gone.
        let _ = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(reply);
    }
    std::process::exit(0)
}
