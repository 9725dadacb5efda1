//! NATS as the bus, by the files that `[cluster.nats]` names.

use std::{io, path::Path, time::Duration};

use wharf_files::regular_file;
use wharf_nats::{NatsBus, NatsLogin, NatsServer, NatsSettings, NatsTls};
use zeroize::Zeroizing;

use super::ClusterBusError;
use crate::{
    configuration::{ClusterSettings, NatsSection},
    secret,
};

/// How long a look at the bus may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(3);
/// What is read of a file at most.
const MAX_BYTES: u64 = 1 << 20;

pub(super) async fn open(cluster: &ClusterSettings, nats: &NatsSection) -> Result<NatsBus, ClusterBusError> {
    Ok(NatsBus::open(&cluster.name, &settings(nats)?).await?)
}

pub(super) fn settings(nats: &NatsSection) -> Result<NatsSettings, ClusterBusError> {
    let secret = |path: &Path| {
        let read = secret::read_bytes(path, nats.allow_unprotected, MAX_BYTES);
        read.map_err(|source| ClusterBusError::File { path: path.to_owned(), source })
    };
    let text = |path: &Path| -> Result<_, ClusterBusError> {
        let bytes = secret(path)?;
        Ok(Zeroizing::new(std::str::from_utf8(&bytes).unwrap_or_default().to_owned()))
    };
    let word = |path: &Path| {
        let text = text(path)?;
        let word = text.trim();
        if word.is_empty() || word.contains(char::is_whitespace) {
            let source = io::Error::new(io::ErrorKind::InvalidData, "it must hold one word");
            return Err(ClusterBusError::File { path: path.to_owned(), source });
        }
        Ok(Zeroizing::new(word.to_owned()))
    };
    let plain = |path: &Path| {
        let read = regular_file::read(path, MAX_BYTES);
        read.map_err(|source| ClusterBusError::File { path: path.to_owned(), source })
    };
    let login = match (&nats.user, &nats.password_file, &nats.token_file, &nats.credentials_file) {
        (Some(user), Some(file), ..) => NatsLogin::Password { user: user.clone(), password: word(file)? },
        (_, _, Some(file), _) => NatsLogin::Token(word(file)?),
        (_, _, _, Some(file)) => NatsLogin::Credentials(text(file)?),
        _ => NatsLogin::None,
    };
    let certificate = match (&nats.certificate, &nats.key) {
        (Some(certificate), Some(key)) => Some((plain(certificate)?, secret(key)?)),
        _ => None,
    };
    let authority = nats.authority.as_deref().map(plain).transpose()?;
    let servers = nats.servers.iter().map(|server| server.parse::<NatsServer>());
    let servers = servers.collect::<Result<_, _>>().map_err(ClusterBusError::Server)?;
    Ok(NatsSettings { servers, login, tls: NatsTls { authority, certificate } })
}
