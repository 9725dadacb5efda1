//! Signatures of minisign: an Ed25519 key and its id, no certificate and no log.

use minisign_verify::{Error, PublicKey, Signature};

use crate::refusal::Refusal;

/// A parsed signature of minisign.
pub(crate) struct MinisignSignature(Signature);

impl MinisignSignature {
    pub(crate) fn parse(text: &str) -> Result<Self, Refusal> {
        Signature::decode(text)
            .map(Self)
            .map_err(|_| Refusal::unusable("the signature of minisign is damaged; fetch it again, or sign again"))
    }

    /// Checks it over these bytes.
    pub(crate) fn verify(&self, key: &PublicKey, bytes: &[u8]) -> Result<(), Refusal> {
        key.verify(bytes, &self.0, false).map_err(|error| match error {
            Error::UnexpectedKeyId => Refusal::other_key("it is signed with minisign, by a key that no rule has"),
            Error::UnexpectedAlgorithm => Refusal::unusable(
                "the signature of minisign has its old form, without a hash; sign again with minisign 0.10 or later, \
                 without `-l`, or with `minisign -S -H`",
            ),
            Error::InvalidSignature => {
                Refusal::other_bytes("the signature of minisign is over other bytes, or forged; fetch both again")
            }
            error => Refusal::unusable(format!("the signature of minisign cannot be checked: {error}")),
        })
    }
}
