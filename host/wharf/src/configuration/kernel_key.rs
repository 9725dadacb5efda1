//! Secrets in the kernel's keyrings: keys of the type `user`, which Linux keeps in memory that is never swapped out.
//!
//! A confined host may make no system call for keys. A part of it that stays outside reads them then.

use std::fmt;

use serde::{Deserialize, Serialize};
use wharf_core::text::for_shell;
use zeroize::Zeroizing;

/// The longest description that the kernel takes.
const MAX_DESCRIPTION_BYTES: usize = 4095;

/// A key of the type `user`, by its description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelKey(String);

/// Why there is no text of a key; never what it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub(super) enum KernelKeyError {
    #[error(
        "`keyring` is {0:?}; name a key by its type and its description, as in \"user:wharf-api\"; the type is `user`"
    )]
    NoName(String),
    #[error(
        "there is no key user:{0} in the keyrings of the session and the user; add it: keyctl padd user {quoted} @u",
        quoted = for_shell(.0)
    )]
    Missing(String),
    #[error("the key user:{0} has expired or was revoked; add it anew")]
    Over(String),
    #[error(
        "the kernel gives the key user:{0} to nobody here: its permissions, a container's filter of system calls, or a \
         unit without `KeyringMode=shared` keep it"
    )]
    Forbidden(String),
    #[error("the key user:{0} is longer than a secret may be here, which is {1} bytes")]
    TooLong(String, usize),
    #[error("the key user:{0} is empty, or no text")]
    NoText(String),
    #[error("the kernel does not say what the key user:{0} is: {1}")]
    Other(String, String),
}

impl KernelKey {
    /// The key of this type and description.
    pub(super) fn named(written: &str) -> Result<Self, KernelKeyError> {
        let description = written.strip_prefix("user:").filter(|description| {
            (1..=MAX_DESCRIPTION_BYTES).contains(&description.len()) && !description.contains(char::is_control)
        });
        description.map(|description| Self(description.to_owned())).ok_or_else(|| {
            // Its beginning says enough.
            KernelKeyError::NoName(written.chars().take(60).collect())
        })
    }
}

impl fmt::Display for KernelKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the key user:{} of the kernel", self.0)
    }
}

impl KernelKey {
    /// The text of the key, without the end of its line.
    #[cfg(target_os = "linux")]
    pub(super) fn read(&self) -> Result<Zeroizing<String>, KernelKeyError> {
        let payload = Zeroizing::new(linux::read(&self.0)?);
        let text = std::str::from_utf8(&payload).map_err(|_| KernelKeyError::NoText(self.0.clone()))?;
        let text = text.strip_suffix('\n').unwrap_or(text);
        if text.is_empty() {
            return Err(KernelKeyError::NoText(self.0.clone()));
        }
        Ok(Zeroizing::new(text.to_owned()))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn read(&self) -> Result<Zeroizing<String>, KernelKeyError> {
        Err(KernelKeyError::Other(self.0.clone(), "only Linux has such keys; use `command` here".to_owned()))
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use linux_keyutils::{Key, KeyError, KeyRing, KeyRingIdentifier};
    use wharf_spawn::{OutsidePart, confine, serve_outside};
    use zeroize::Zeroizing;

    use super::KernelKeyError;

    /// The longest key that is read: it crosses to a confined host in one packet.
    const MAX_PAYLOAD_BYTES: usize = 16 << 10;

    /// First argument that makes this program read a key. No user types it.
    const READ: &str = "wharf-secret:key";

    type Payload = Result<Vec<u8>, KernelKeyError>;

    pub(super) fn read(description: &str) -> Payload {
        if !confine::is_confined() {
            return read_here(description.to_owned());
        }
        let answered = OutsidePart::start(READ).and_then(|part| part.ask::<_, Payload>(&description));
        answered.unwrap_or_else(|error| Err(KernelKeyError::Other(description.to_owned(), error.to_string())))
    }

    /// Decides, before `main`, whether this process is here to read a key.
    #[ctor::ctor(unsafe)]
    fn before_main() {
        serve_outside(READ, read_here);
    }

    fn read_here(description: String) -> Payload {
        let told = |error: KeyError| match error {
            KeyError::KeyDoesNotExist | KeyError::KeyringDoesNotExist => KernelKeyError::Missing(description.clone()),
            KeyError::KeyExpired | KeyError::KeyRevoked | KeyError::KeyRejected => {
                KernelKeyError::Over(description.clone())
            }
            KeyError::AccessDenied | KeyError::PermissionDenied | KeyError::OperationNotSupported => {
                KernelKeyError::Forbidden(description.clone())
            }
            other => KernelKeyError::Other(description.clone(), other.to_string()),
        };
        let session = KeyRing::from_special_id(KeyRingIdentifier::Session, false);
        match session.and_then(|session| session.search(&*description)).and_then(|key| payload_of(&key)) {
            Ok(payload) => payload,
            // The kernel lets only who possesses a keyring read its keys: that of the user is linked to this thread.
            Err(_) => {
                let thread = KeyRing::from_special_id(KeyRingIdentifier::Thread, true).map_err(told)?;
                thread.link_keyring_id(KeyRingIdentifier::User).map_err(told)?;
                let found = thread.search(&*description).and_then(|key| payload_of(&key));
                thread.unlink_keyring_id(KeyRingIdentifier::User).map_err(told)?;
                found.map_err(told)?
            }
        }
        .ok_or(KernelKeyError::TooLong(description, MAX_PAYLOAD_BYTES))
    }

    /// What a key has; none where that is too long.
    fn payload_of(key: &Key) -> Result<Option<Vec<u8>>, KeyError> {
        let mut bytes = Zeroizing::new(vec![0; MAX_PAYLOAD_BYTES]);
        // The kernel says how long it is, also where it does not fit.
        let length = key.read(&mut &mut bytes[..])?;
        Ok(bytes.get(..length).map(<[u8]>::to_vec))
    }
}
