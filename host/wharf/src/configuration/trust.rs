//! `[plugins]`: where plugins lie beside their own tables, whose signatures count, and what must not run.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use wharf_sources::PluginSource;
use wharf_trust::{IdentityPattern, TrustPolicy, TrustRule, TrustedKey};

use super::deny::{DenySettings, WrittenDeny};

/// Where a component was taken from, as far as it matters for who may have made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ComponentPlace {
    /// A file, by the `source` of a table or by `wharf plugin add`.
    File,
    /// The folder of plugins.
    Folder,
    /// An `https:` address.
    Https,
    /// An OCI registry.
    Oci,
}

impl ComponentPlace {
    /// Its word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Https => "https",
            Self::Oci => "oci",
        }
    }

    const ALL: [Self; 4] = [Self::File, Self::Folder, Self::Https, Self::Oci];
}

impl From<&PluginSource> for ComponentPlace {
    fn from(source: &PluginSource) -> Self {
        match source {
            PluginSource::File(_) => Self::File,
            PluginSource::Address(_) => Self::Https,
            PluginSource::Registry(_) => Self::Oci,
        }
    }
}

/// Whose signatures count, and which components need one.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TrustSettings {
    /// Whose signatures count.
    pub policy: TrustPolicy,
    /// The places from which a component needs a signature that counts.
    pub required: BTreeSet<ComponentPlace>,
    /// What must not run.
    pub deny: Option<DenySettings>,
    /// The files of keys and of the root of trust, which are read with each reading of the configuration.
    pub files: Vec<PathBuf>,
}

/// `[plugins]`, as it is written.
#[derive(Debug, Default, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrittenPlugins {
    /// A folder in which every `NAME.wasm` is a plugin.
    pub(super) folder: Option<PathBuf>,
    /// Indexes that `wharf plugin search` reads: files, `https:` addresses, `oci:` references.
    pub(super) indexes: Vec<String>,
    /// Whose signatures of plugins count: each line names a key, or an identity with its issuer. None does where absent.
    trust: Vec<WrittenTrustRule>,
    /// Whether a component is loaded only where somebody signed it whom `trust` names: `true` for all but the bundled
    /// plugins, or a list of where components come from: `file`, `folder`, `https`, `oci`. `false` where absent.
    require_signature: RequiredSignature,
    /// The `trusted_root.json` of a sigstore instance, which has its certificate authorities and logs; where absent, that of
    /// the public instance of sigstore.dev, as it was when this version was built.
    sigstore_root: Option<PathBuf>,
    /// What must not run, although it may be signed.
    deny: Option<WrittenDeny>,
}

/// One line of `trust`.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenTrustRule {
    /// Who signs, by a certificate of sigstore: an address of a workflow or of a person; `*` stands for any text.
    identity: Option<String>,
    /// Who says so: the address of the identity provider, exactly. Goes with `identity`.
    issuer: Option<String>,
    /// The file of a public key: of minisign, or PEM as `cosign` writes it.
    key: Option<PathBuf>,
    /// The key itself, instead of its file.
    public_key: Option<String>,
    /// What people call the owner of the key.
    name: Option<String>,
}

/// `require_signature`.
#[derive(Debug, Clone, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
enum RequiredSignature {
    /// Of all, or of none.
    All(bool),
    /// Of those from these places.
    From(BTreeSet<ComponentPlace>),
}

impl Default for RequiredSignature {
    fn default() -> Self {
        Self::All(false)
    }
}

impl WrittenPlugins {
    pub(super) fn trust(&self, base: &Path) -> Result<TrustSettings, String> {
        let root = self.sigstore_root.as_ref().map(|file| read(&base.join(file), "sigstore_root")).transpose()?;
        let policy = policy("[plugins] `trust`", &self.trust, root.as_deref(), base)?;
        let required = match &self.require_signature {
            RequiredSignature::All(false) => BTreeSet::new(),
            RequiredSignature::All(true) => ComponentPlace::ALL.into(),
            RequiredSignature::From(places) => places.clone(),
        };
        if !required.is_empty() && policy.trusts_nobody() {
            return Err("[plugins] `require_signature` without `trust` refuses every plugin: name whose signatures count, such as \
                        `trust = [{ key = \"release.pub\" }]`"
                .to_owned());
        }
        let deny = self.deny.as_ref().map(|deny| deny.check(root.as_deref(), base)).transpose()?;
        let rules = self.trust.iter().chain(self.deny.iter().flat_map(WrittenDeny::trust));
        let files = rules.filter_map(|rule| rule.key.as_ref()).chain(&self.sigstore_root);
        let files = files.map(|file| base.join(file)).collect();
        Ok(TrustSettings { policy, required, deny, files })
    }
}

/// What lines of `trust` come to.
pub(super) fn policy(
    place: &str,
    written: &[WrittenTrustRule],
    root: Option<&str>,
    base: &Path,
) -> Result<TrustPolicy, String> {
    let rules = written.iter().map(|rule| rule.check(base)).collect::<Result<_, _>>();
    let policy = rules.and_then(|rules| TrustPolicy::new(rules, root).map_err(|error| error.to_string()));
    policy.map_err(|problem| format!("{place}: {problem}"))
}

impl WrittenTrustRule {
    fn check(&self, base: &Path) -> Result<TrustRule, String> {
        let Self { identity, issuer, key, public_key, name } = self;
        match (identity, issuer, key, public_key) {
            (Some(identity), Some(issuer), None, None) => {
                if name.is_some() {
                    return Err("`name` is of a key; an identity has one of its own".to_owned());
                }
                let identity: IdentityPattern =
                    identity.parse().map_err(|error| format!("`identity` {identity}: {error}"))?;
                Ok(TrustRule::Identity { identity, issuer: issuer.clone() })
            }
            (None, None, Some(file), None) => {
                let file = base.join(file);
                let key = TrustedKey::read(&read(&file, "key")?);
                let key = key.map_err(|error| format!("`key` {}: {error}", file.display()))?;
                Ok(TrustRule::Key { key, name: name.clone() })
            }
            (None, None, None, Some(text)) => {
                let key = TrustedKey::read(text).map_err(|error| format!("`public_key`: {error}"))?;
                Ok(TrustRule::Key { key, name: name.clone() })
            }
            (Some(_), None, ..) => {
                Err("an `identity` says little without the `issuer` that vouches for it: add that, such \
                                        as `issuer = \"https://token.actions.githubusercontent.com\"`"
                    .to_owned())
            }
            _ => Err("a line has either `identity` and `issuer`, or `key`, or `public_key`".to_owned()),
        }
    }
}

/// Bytes of a key or of a root of trust.
const MOST_BYTES: u64 = 1 << 20;

fn read(file: &Path, what: &str) -> Result<String, String> {
    let bytes = wharf_files::regular_file::read(file, MOST_BYTES);
    let bytes = bytes.map_err(|error| format!("`{what}` {} cannot be read: {error}", file.display()))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("`{what}` {} has more than {MOST_BYTES} bytes", file.display()));
    }
    String::from_utf8(bytes).map_err(|_| format!("`{what}` {} is no text", file.display()))
}
