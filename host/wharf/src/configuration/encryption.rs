//! `[encryption]`: where the master key of encryption at rest comes from.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use wharf_encryption::MasterKey;

use super::{
    SecretSource, SecretUnavailable,
    secret_source::{self, WrittenSource},
};

/// `[encryption]`, as it is written.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenEncryption {
    /// The master key. Where it is named, state, the output and the records of processes and terminals, and recordings
    /// are encrypted on disk.
    key: Option<WrittenMasterKey>,
    /// The master key before, until `wharf state rekey` has run.
    previous_key: Option<WrittenMasterKey>,
}

/// `[encryption.key]` and `[encryption.previous_key]`, as they are written: a line of at least 32 random characters.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenMasterKey {
    /// The variable of the host's environment that has it.
    environment: Option<String>,
    /// The file that has it, and nothing else.
    file: Option<PathBuf>,
    /// The credential of the host's systemd unit that has it, by its name under `LoadCredential=` or
    /// `LoadCredentialEncrypted=`.
    credential: Option<String>,
    /// The program that prints it, by its whole path, and its arguments; no shell is involved.
    command: Option<Vec<String>>,
    /// The key of the kernel's keyrings that has it, on Linux: `user:` and its description.
    keyring: Option<String>,
    /// Whether it may come from a file that others may read, or from a program that others may change.
    #[serde(default)]
    allow_unprotected: bool,
}

/// Encryption at rest.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EncryptionSettings {
    /// The master key.
    pub key: MasterKeySettings,
    /// The master key before.
    pub previous: Option<MasterKeySettings>,
}

/// Where a master key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MasterKeySettings {
    /// Where its text comes from.
    pub from: SecretSource,
    /// Whether that may be a file that others may read, or a program that others may change.
    pub allow_unprotected: bool,
    table: &'static str,
}

impl WrittenEncryption {
    pub(super) fn check(self, base: &Path) -> Result<Option<EncryptionSettings>, String> {
        let previous = self.previous_key.map(|key| key.check("encryption.previous_key", base)).transpose()?;
        let key = self.key.map(|key| key.check("encryption.key", base)).transpose()?;
        match (key, previous) {
            (Some(key), previous) => Ok(Some(EncryptionSettings { key, previous })),
            (None, None) => Ok(None),
            (None, Some(_)) => Err("[encryption.previous_key] is the key before that of [encryption.key], which is \
                                    missing; to store files in the clear again, name the key under [encryption.key] \
                                    and run `wharf state rekey --decrypt`"
                .to_owned()),
        }
    }
}

impl WrittenMasterKey {
    fn check(self, table: &'static str, base: &Path) -> Result<MasterKeySettings, String> {
        let Self { environment, file, credential, command, keyring, allow_unprotected } = self;
        let from = WrittenSource { environment, file, credential, command, keyring };
        let from = from.check(&format!("[{table}]"), base)?;
        Ok(MasterKeySettings { from, allow_unprotected, table })
    }
}

impl MasterKeySettings {
    /// Reads the key.
    ///
    /// # Errors
    /// Why it cannot be had; never what it is.
    pub(crate) fn read(&self) -> Result<MasterKey, SecretUnavailable> {
        let text = secret_source::read_secret_text(self.table, &self.from, self.allow_unprotected)?;
        MasterKey::new(&text).map_err(|error| SecretUnavailable::unfit(self.table, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Configuration;

    fn parse(text: &str) -> Result<Option<EncryptionSettings>, String> {
        let parsed = Configuration::parse(text, Path::new("/etc/wharf")).map_err(|error| crate::with_causes(&error));
        parsed.map(|configuration| configuration.encryption)
    }

    #[test]
    fn the_master_key_comes_from_one_place_and_never_from_the_configuration_itself() {
        assert_eq!(parse("").expect("nothing"), None);
        assert_eq!(parse("[encryption]\n").expect("nothing"), None);
        let written = parse("[encryption.key]\nfile = \"key\"\n[encryption.previous_key]\nenvironment = \"OLD\"\n");
        let written = written.expect("read").expect("keys");
        assert_eq!(written.key.from, SecretSource::File("/etc/wharf/key".into()));
        assert_eq!(written.previous.expect("there").from, SecretSource::Environment("OLD".to_owned()));
        for (text, problem) in [
            ("[encryption.key]\n", "[encryption.key] names where the secret is, once"),
            ("[encryption.key]\nfile = \"a\"\nenvironment = \"A\"\n", "once"),
            ("[encryption.key]\ncredential = \"../a\"\n", "once"),
            ("[encryption.key]\nfile = \"a\"\ncommand = [\"/bin/a\"]\n", "once"),
            ("[encryption.key]\ncommand = [\"a\"]\n", "[encryption.key] `command` names \"a\""),
            ("[encryption.key]\nkeyring = \"a\"\n", "[encryption.key] `keyring` is \"a\""),
            ("[encryption.previous_key]\nfile = \"a\"\n", "rekey --decrypt"),
            ("[encryption]\nkey = \"0123456789abcdef0123456789abcdef\"\n", "key"),
            ("[encryption.key]\ntext = \"0123456789abcdef0123456789abcdef\"\n", "text"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn a_key_that_cannot_be_had_is_told_without_what_it_is() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("key");
        let settings = || {
            let text = format!("[encryption.key]\nfile = \"{}\"\n", path.display());
            parse(&text).expect("read").expect("a key").key.read().map_err(|error| error.to_string())
        };
        assert!(settings().expect_err("no file").contains("[encryption.key] cannot read"));
        private_files_write(&path, "too short");
        let error = settings().expect_err("short");
        assert!(error.contains("at least 32 random characters") && !error.contains("too short"), "{error}");
        private_files_write(&path, &"k".repeat(64));
        settings().expect("a key");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("changed");
        assert!(settings().expect_err("others may read it").contains("chmod 600"));
    }

    #[test]
    fn a_program_may_print_the_key() {
        let text = format!("[encryption.key]\ncommand = [\"/bin/echo\", \"{}\"]\n", "k".repeat(64));
        let settings = parse(&text).expect("read").expect("a key");
        settings.key.read().expect("a key");
        let short =
            parse("[encryption.key]\ncommand = [\"/bin/echo\", \"too short\"]\n").expect("read").expect("a key");
        let error = short.key.read().expect_err("short").to_string();
        assert!(error.contains("at least 32 random characters") && !error.contains("too short"), "{error}");
    }

    fn private_files_write(path: &Path, text: &str) {
        wharf_files::private_files::replace(path, text.as_bytes()).expect("written");
    }
}
