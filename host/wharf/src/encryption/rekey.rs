//! Stores a data directory anew: under a new data key, or in the clear.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Serialize;
use wharf_encryption::{AtRest, DataKeys, Reencrypted};
use wharf_files::private_files;
use wharf_state::{StatePlace, reencrypt};

use super::{EncryptionError, look, masters, state_keys, stored_state};
use crate::{
    Configuration,
    backends::PROCESSES,
    configuration::{RECORDINGS, RECORDS},
    control::running_hosts,
};

/// The most bytes of a record of a process or a terminal, or of what is kept of one.
const MOST_RECORD_BYTES: u64 = 64 << 20;

/// What was stored anew.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RekeyReport {
    /// Whether there is state, which was stored anew.
    pub state: bool,
    /// Files beside it.
    pub files: u64,
    /// Bytes of their content.
    pub bytes: u64,
}

/// Encrypts a data directory anew: under a new data key, which the master key of the configuration wraps. What is in the
/// clear is encrypted, too. No host may serve on the directory. `progress` hears how many bytes of files were stored
/// anew. Blocks.
///
/// A command that is killed leaves a data directory that can be used, under old keys and new ones; running it again
/// completes it.
///
/// # Errors
/// See [`EncryptionError`].
pub fn rekey(
    configuration: &Configuration,
    data: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<RekeyReport, EncryptionError> {
    let Some(settings) = &configuration.encryption else { return Err(EncryptionError::NoKey) };
    let masters = masters(settings)?;
    let Some(master) = masters.first() else { return Err(EncryptionError::NoKey) };
    check(data)?;
    private_files::make_directory(data).map_err(EncryptionError::file(data))?;
    let keys = match DataKeys::open(data, &masters)? {
        Some(keys) => keys.with_new_key(),
        None => {
            stored_state(configuration, data)?;
            DataKeys::make()
        }
    };
    let keys = keys.map_err(EncryptionError::file(data))?;
    // Both keys are on disk before something is encrypted under the new one.
    keys.save(data, master)?;
    let all = state_keys(&keys);
    let mut anew = StoringAnew { data, configuration, progress, report: RekeyReport::default() };
    anew.state(&StatePlace::encrypted(data, all.clone()), all.first())?;
    let at_rest = AtRest::encrypted(keys);
    anew.files(&at_rest, &at_rest)?;
    if let Some(keys) = at_rest.keys() {
        keys.current_alone().save(data, master)?;
    }
    Ok(anew.report)
}

/// Stores a data directory in the clear again, which the key of the configuration encrypts, and removes its keyring. Take
/// `[encryption]` out of the configuration then. As for the rest, like [`rekey`].
///
/// # Errors
/// See [`EncryptionError`].
pub fn decrypt(
    configuration: &Configuration,
    data: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<RekeyReport, EncryptionError> {
    check(data)?;
    let keys = look(configuration, data)?;
    if !keys.at_rest.is_encrypted() {
        return Err(EncryptionError::NoKey);
    }
    let mut anew = StoringAnew { data, configuration, progress, report: RekeyReport::default() };
    anew.state(&keys.state, None)?;
    anew.files(&keys.at_rest, &AtRest::in_clear())?;
    DataKeys::remove(data)?;
    Ok(anew.report)
}

/// Refuses the data directory of somebody else, and one on which hosts serve: they would go on under keys that are gone.
/// A host that an app embeds is noticed by its state, which it has open.
fn check(data: &Path) -> Result<(), EncryptionError> {
    #[cfg(unix)]
    if let Ok(about) = fs::metadata(data) {
        let owner = std::os::unix::fs::MetadataExt::uid(&about);
        if owner != rustix::process::geteuid().as_raw() {
            return Err(EncryptionError::Owner { data: data.to_owned(), owner });
        }
    }
    match running_hosts(data).map_err(EncryptionError::file(data))?.len() {
        0 => Ok(()),
        hosts => Err(EncryptionError::InUse { hosts, data: data.to_owned() }),
    }
}

struct StoringAnew<'s> {
    data: &'s Path,
    configuration: &'s Configuration,
    progress: &'s mut dyn FnMut(u64),
    report: RekeyReport,
}

impl StoringAnew<'_> {
    fn state(&mut self, place: &StatePlace, key: Option<&wharf_state::StateKey>) -> Result<(), EncryptionError> {
        if self.configuration.state.database_file.is_none() {
            self.report.state = reencrypt(place, key)?;
        }
        Ok(())
    }

    fn files(&mut self, from: &AtRest, to: &AtRest) -> Result<(), EncryptionError> {
        let recordings = self.configuration.terminal.recording_directory().map(Path::to_owned);
        for path in entries(&recordings.unwrap_or_else(|| self.data.join(RECORDINGS)))? {
            if path.extension().is_some_and(|extension| extension == "cast") {
                self.file(&path, |path| to.reencrypt(from, path))?;
            }
        }
        for root in [PROCESSES, RECORDS] {
            for host in entries(&self.data.join(root))? {
                for one in entries(&host)? {
                    for path in entries(&one)? {
                        let is_output = path.file_name().is_some_and(|name| name == "stdout" || name == "stderr");
                        self.file(&path, |path| match is_output {
                            true => to.reencrypt(from, path),
                            false => to.reencrypt_whole(from, path, MOST_RECORD_BYTES),
                        })?;
                    }
                }
            }
        }
        Ok(())
    }

    fn file(
        &mut self,
        path: &Path,
        anew: impl FnOnce(&Path) -> io::Result<Reencrypted>,
    ) -> Result<(), EncryptionError> {
        let written = if path.extension().is_some_and(|extension| extension == private_files::ASIDE) {
            match fs::remove_file(path) {
                // The file beside it was written anew, and this was in its way.
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Reencrypted::AsItWas),
                removed => removed.map(|()| Reencrypted::AsItWas),
            }
        } else {
            anew(path)
        };
        if let Reencrypted::Written(bytes) = written.map_err(EncryptionError::file(path))? {
            self.report.files += 1;
            self.report.bytes += bytes;
            (self.progress)(bytes);
        }
        Ok(())
    }
}

/// What is in a directory, in the order of the names; nothing where it is none.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, EncryptionError> {
    let read = || -> io::Result<Vec<PathBuf>> {
        let mut paths = fs::read_dir(directory)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    match read() {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        read => read.map_err(EncryptionError::file(directory)),
    }
}
