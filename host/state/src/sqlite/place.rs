//! Where the database of a store is, and the key that opens it.

use std::{
    fmt::{self, Write as _},
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags};
use zeroize::Zeroizing;

use super::schema;
use crate::OpenError;

/// How a database in the clear begins.
const IN_CLEAR: &[u8; 16] = b"SQLite format 3\0";
/// What SQLite says where a key was set and it can do nothing with one.
const NO_CIPHER: &str =
    "this build of Wharf cannot encrypt state: build the crate `wharf` with the feature `encryption`";

/// The key of an encrypted database. It is wiped when it is dropped, and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct StateKey(Zeroizing<[u8; 32]>);

impl StateKey {
    /// The key with these bytes, which are random.
    #[must_use]
    pub fn new(bytes: Zeroizing<[u8; 32]>) -> Self {
        Self(bytes)
    }

    /// As SQL has it: a key that is used as it is, and no password.
    pub(super) fn literal(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(2 + 2 * self.0.len() + 1));
        text.push_str("x'");
        for byte in self.0.iter() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\'');
        text
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("StateKey")
    }
}

/// The directory of a store, and whether its database is encrypted.
#[derive(Debug, Clone)]
pub struct StatePlace {
    directory: PathBuf,
    keys: Vec<StateKey>,
}

impl StatePlace {
    /// A store in the clear.
    #[must_use]
    pub fn in_clear(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into(), keys: Vec::new() }
    }

    /// An encrypted store, which one of these keys opens; the first one encrypts a new store. Without a key the store is
    /// in the clear.
    #[must_use]
    pub fn encrypted(directory: impl Into<PathBuf>, keys: Vec<StateKey>) -> Self {
        Self { directory: directory.into(), keys }
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What the file of the database has. One that cannot be read has nothing: opening it tells what is wrong.
    #[must_use]
    pub fn stored(&self) -> StoredState {
        StoredState::of(&self.path()).unwrap_or(StoredState::Nothing)
    }

    /// The database, which need not be there.
    pub(super) fn path(&self) -> PathBuf {
        self.directory.join(schema::FILE_NAME)
    }

    /// The database with the key that opens it.
    ///
    /// # Errors
    /// Where it is encrypted and should not be, or the other way round, or no key opens it.
    pub(super) fn database(&self) -> Result<DatabaseFile, OpenError> {
        let path = self.path();
        match (self.stored(), self.keys.first()) {
            (StoredState::InClear, Some(_)) => Err(OpenError::InClear { path }),
            (StoredState::Nothing, first) => Ok(DatabaseFile { path, key: first.cloned() }),
            (StoredState::Other | StoredState::InClear, None) => Ok(DatabaseFile { path, key: None }),
            (StoredState::Other, Some(_)) => self.unlocked(path),
        }
    }

    /// An encrypted database with the first of the keys that opens it.
    fn unlocked(&self, path: PathBuf) -> Result<DatabaseFile, OpenError> {
        for key in &self.keys {
            let file = DatabaseFile { path: path.clone(), key: Some(key.clone()) };
            match file.opens() {
                Ok(true) => return Ok(file),
                Ok(false) => {}
                Err(error) => return Err(schema::storage(&path, error)),
            }
        }
        Err(OpenError::OtherKey { path })
    }
}

impl From<&Path> for StatePlace {
    fn from(directory: &Path) -> Self {
        Self::in_clear(directory)
    }
}

impl From<&PathBuf> for StatePlace {
    fn from(directory: &PathBuf) -> Self {
        Self::in_clear(directory)
    }
}

/// What the file of a database has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredState {
    /// No file, or an empty one.
    Nothing,
    /// A database in the clear.
    InClear,
    /// Encrypted, or no database.
    Other,
}

impl StoredState {
    fn of(path: &Path) -> io::Result<Self> {
        let mut beginning = Vec::new();
        match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            opened => opened?.take(IN_CLEAR.len() as u64).read_to_end(&mut beginning)?,
        };
        Ok(match beginning.as_slice() {
            [] => Self::Nothing,
            beginning if beginning == IN_CLEAR => Self::InClear,
            _ => Self::Other,
        })
    }
}

/// The file of a database, with the key that opens it.
#[derive(Debug, Clone)]
pub(super) struct DatabaseFile {
    pub(super) path: PathBuf,
    pub(super) key: Option<StateKey>,
}

impl DatabaseFile {
    /// A connection to it, or to what stands for it: a name that SQLite understands.
    pub(super) fn connect(&self, name: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
        #[cfg(feature = "encryption")]
        super::cipher::prepare();
        let connection = Connection::open_with_flags(name, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        if let Some(key) = &self.key {
            set_key(&connection, key)?;
        }
        Ok(connection)
    }

    /// Whether its key opens it.
    fn opens(&self) -> rusqlite::Result<bool> {
        let read = |flags| {
            let connection = self.connect(&self.path, flags)?;
            connection.busy_timeout(schema::READ_PATIENCE)?;
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
        };
        let found = match read(OpenFlags::SQLITE_OPEN_READ_WRITE) {
            Err(error) if schema::cannot_write(&error) => read(OpenFlags::SQLITE_OPEN_READ_ONLY),
            read => read,
        };
        match found {
            Ok(_) => Ok(true),
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ffi::ErrorCode::NotADatabase) => Ok(false),
            // What can be said of it is said where it is opened.
            Err(error) if schema::cannot_write(&error) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Has a connection encrypt and decrypt. SQLite itself would ignore the key, and write in the clear.
fn set_key(connection: &Connection, key: &StateKey) -> rusqlite::Result<()> {
    // What goes wrong is an error; the library would write it to standard error as well.
    let statement = Zeroizing::new(format!("PRAGMA cipher_log_level = NONE; PRAGMA key = \"{}\"", &*key.literal()));
    connection.execute_batch(&statement)?;
    let mut version = connection.prepare("PRAGMA cipher_version")?;
    if version.exists([])? { Ok(()) } else { Err(rusqlite::Error::InvalidParameterName(NO_CIPHER.to_owned())) }
}
