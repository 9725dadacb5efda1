//! The files of a session, for the operator to take away.

use std::{
    io::{self, Write},
    sync::Arc,
};

use tokio::sync::{Semaphore, mpsc};
use wharf_core::{Code, Error, SessionId, TenantId, WorkspaceKey, service::operator::Pieces, text::with_causes};

use super::{blocking::blocking, missing::none};
use crate::host::Host;

/// How many archives a process makes at a time: each has a thread, for as long as its reader takes.
static ARCHIVES: Semaphore = Semaphore::const_new(2);

/// The size of a piece, and how many wait for their reader.
const PIECE: usize = 64 << 10;
const WAITING: usize = 4;

pub(super) async fn archive(host: &Host, tenant: &TenantId, session: &SessionId) -> Result<Pieces, Error> {
    let workspaces = Arc::clone(host.workspaces().ok_or_else(|| none("session with files"))?);
    let key = WorkspaceKey::restored(tenant.clone(), session.clone());
    let place = ARCHIVES
        .try_acquire()
        .map_err(|_| Error::retryable(Code::Limit, "two archives are being made; try again when one is done"))?;
    let (found, known) = (Arc::clone(&workspaces), key.clone());
    if !blocking(move || found.find(&known).is_some()).await? {
        return Err(none("session with files"));
    }
    let (pieces, told) = mpsc::channel(WAITING);
    tokio::task::spawn_blocking(move || {
        let _place = place;
        let mut out = io::BufWriter::with_capacity(PIECE, Sending(&pieces));
        let written = workspaces.archive(&key, &mut out).map(|_| out.flush());
        let failed = match written {
            Ok(Ok(())) => return,
            Ok(Err(error)) => with_causes(&error),
            Err(error) => with_causes(&error),
        };
        // A reader that has gone hears nothing of it.
        let _ = pieces.blocking_send(Err(Error::new(Code::Internal, failed)));
    });
    Ok(told)
}

struct Sending<'s>(&'s mpsc::Sender<Result<Vec<u8>, Error>>);

impl Write for Sending<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(bytes.to_vec()));
        sent.map(|()| bytes.len()).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
