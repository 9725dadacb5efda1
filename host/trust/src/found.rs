//! A signature as it was found: its text and its form, of which nothing is verified yet.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

/// What the media types of sigstore's bundles begin with, in all their versions.
const BUNDLE_MEDIA_TYPE: &str = "application/vnd.dev.sigstore.bundle";
/// What a signature of minisign begins with.
const MINISIGN_COMMENT: &str = "untrusted comment:";

/// A signature as it was found; nothing of it is verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredSignature")]
pub struct FoundSignature {
    form: SignatureForm,
    text: String,
}

/// Which program makes such a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SignatureForm {
    /// The four lines that `minisign -S` writes.
    Minisign,
    /// The JSON bundle that cosign and the attestations of GitHub have.
    Sigstore,
}

/// Why a text is no signature that could be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// It is longer than any signature.
    #[error("the signature has more than {most} bytes; give the signature itself, not what it signs")]
    TooLong {
        /// The most bytes.
        most: usize,
    },
    /// It has bytes that no signature has.
    #[error("the signature is no UTF-8 text; give a bundle of sigstore (JSON) or a signature of minisign")]
    NotText,
    /// It has neither form.
    #[error(
        "this is neither a bundle of sigstore nor a signature of minisign; `cosign sign-blob --new-bundle-format \
         --bundle FILE` and `minisign -S` make them"
    )]
    Unknown,
}

/// What is kept of a signature.
#[derive(Deserialize)]
struct StoredSignature {
    form: SignatureForm,
    text: String,
}

/// The beginning of a bundle: the rest is read when it is verified.
#[derive(Deserialize)]
struct BundleHead<'b> {
    #[serde(rename = "mediaType", borrow)]
    media_type: Cow<'b, str>,
}

impl FoundSignature {
    /// The most bytes of a signature: 256 KiB.
    pub const MAX_BYTES: usize = 256 << 10;

    /// Tells the form by the content.
    ///
    /// # Errors
    /// [`SignatureError`]; nothing is parsed of a text that is too long.
    pub fn read(bytes: &[u8]) -> Result<Self, SignatureError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(SignatureError::TooLong { most: Self::MAX_BYTES });
        }
        let text = std::str::from_utf8(bytes).map_err(|_| SignatureError::NotText)?.trim();
        let form = if text.starts_with(MINISIGN_COMMENT) {
            SignatureForm::Minisign
        } else if is_bundle(text) {
            SignatureForm::Sigstore
        } else {
            return Err(SignatureError::Unknown);
        };
        Ok(Self { form, text: text.to_owned() })
    }

    /// Which program makes such a signature.
    #[must_use]
    pub fn form(&self) -> SignatureForm {
        self.form
    }

    /// The signature, without space around it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl TryFrom<StoredSignature> for FoundSignature {
    type Error = SignatureError;

    fn try_from(stored: StoredSignature) -> Result<Self, SignatureError> {
        let found = Self::read(stored.text.as_bytes())?;
        if found.form == stored.form { Ok(found) } else { Err(SignatureError::Unknown) }
    }
}

impl SignatureForm {
    /// Its name, as it is written and shown.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minisign => "minisign",
            Self::Sigstore => "sigstore",
        }
    }
}

impl fmt::Display for SignatureForm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

fn is_bundle(text: &str) -> bool {
    text.starts_with('{')
        && serde_json::from_str::<BundleHead<'_>>(text).is_ok_and(|head| head.media_type.starts_with(BUNDLE_MEDIA_TYPE))
}
