//! Statements of in-toto about a component: plain, in an envelope (DSSE), or in a bundle of sigstore.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::Value;
use wharf_core::text::line;

use crate::{
    bill::{BillError, BillOfMaterials, sha256},
    provenance::BuildProvenance,
};

/// How much is quoted of a type.
const QUOTED_BYTES: usize = 120;
/// The type of a payload that is a statement.
const PAYLOAD: &str = "application/vnd.in-toto+json";
/// The beginnings of the types of predicates that are read.
const BILLS: [&str; 2] = ["https://cyclonedx.org/bom", "https://spdx.dev/Document"];
const PROVENANCE: &str = "https://slsa.dev/provenance/";

/// Why something is no statement that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatementError {
    /// It is longer than any that is read.
    #[error("it has more than {most} bytes")]
    TooLong {
        /// The most bytes.
        most: usize,
    },
    /// It has neither form.
    #[error("it is neither a statement of in-toto nor an envelope or a bundle with one: {0}")]
    Malformed(String),
    /// It is a signature over a component, and says nothing of it.
    #[error("it is a signature, and says nothing of what it signs")]
    Signature,
    /// It says it of another type than is read.
    #[error("it is a statement of the type {0}, and none with a bill of materials or provenance")]
    OtherType(String),
    /// The bill in it cannot be read.
    #[error("the bill of materials in it cannot be read")]
    Bill(#[from] BillError),
}

/// What a statement says about its subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatementContent {
    /// What they are made of.
    Bill(BillOfMaterials),
    /// How they were built.
    Provenance(BuildProvenance),
}

/// A statement, of which no signature is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statement {
    /// The SHA-256 digests of what it is about, in lower hexadecimal digits.
    pub subjects: Vec<String>,
    /// Whether it came in a bundle of sigstore, whose signature can be verified.
    pub is_bundle: bool,
    /// What it says.
    pub content: StatementContent,
}

/// Any of the three forms.
#[derive(Deserialize)]
struct Written {
    #[serde(rename = "dsseEnvelope")]
    bundled: Option<Envelope>,
    #[serde(rename = "messageSignature")]
    signature: Option<serde::de::IgnoredAny>,
    #[serde(flatten)]
    envelope: Option<Envelope>,
    #[serde(flatten)]
    statement: Option<Said>,
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "payloadType")]
    kind: String,
    payload: String,
}

#[derive(Deserialize)]
struct Said {
    #[serde(rename = "_type")]
    kind: String,
    #[serde(rename = "predicateType")]
    predicate_type: String,
    #[serde(default)]
    subject: Vec<StatementSubject>,
    #[serde(default)]
    predicate: Value,
}

#[derive(Deserialize)]
struct StatementSubject {
    #[serde(default)]
    digest: std::collections::BTreeMap<String, String>,
}

impl Statement {
    /// The most bytes of a statement with all that is around it: 6 MiB, since an envelope has its
    /// payload in Base64.
    pub const MAX_BYTES: usize = 6 << 20;
    /// The most subjects that are compared.
    const MAX_SUBJECTS: usize = 1_000;

    /// Reads a statement in any of its forms.
    ///
    /// # Errors
    /// [`StatementError`].
    pub fn read(bytes: &[u8]) -> Result<Self, StatementError> {
        if bytes.len() > Self::MAX_BYTES {
            return Err(StatementError::TooLong { most: Self::MAX_BYTES });
        }
        let malformed = |error: &dyn std::fmt::Display| StatementError::Malformed(line(&error.to_string(), 200));
        let written: Written = serde_json::from_slice(bytes).map_err(|error| malformed(&error))?;
        let is_bundle = written.bundled.is_some();
        let said = match (written.bundled.or(written.envelope), written.statement) {
            (Some(envelope), _) => {
                if envelope.kind != PAYLOAD {
                    return Err(StatementError::OtherType(line(&envelope.kind, QUOTED_BYTES)));
                }
                let payload = STANDARD.decode(&envelope.payload).map_err(|error| malformed(&error))?;
                serde_json::from_slice(&payload).map_err(|error| malformed(&error))?
            }
            (None, Some(said)) => said,
            (None, None) if written.signature.is_some() => return Err(StatementError::Signature),
            (None, None) => return Err(StatementError::Malformed("it has no payload and no subject".to_owned())),
        };
        Self::of(said, is_bundle)
    }

    fn of(said: Said, is_bundle: bool) -> Result<Self, StatementError> {
        if !said.kind.starts_with("https://in-toto.io/Statement/") {
            return Err(StatementError::OtherType(line(&said.kind, QUOTED_BYTES)));
        }
        let digests = said.subject.iter().take(Self::MAX_SUBJECTS).filter_map(|subject| subject.digest.get("sha256"));
        let subjects = digests.filter_map(|digest| sha256(digest)).collect();
        let kind = said.predicate_type.as_str();
        let content = if BILLS.iter().any(|known| kind.starts_with(known)) {
            // cosign before version 3 has it one level deeper.
            let bill = match said.predicate {
                Value::Object(mut members) if members.contains_key("Data") => {
                    members.remove("Data").unwrap_or_default()
                }
                bill => bill,
            };
            StatementContent::Bill(BillOfMaterials::of_json(bill)?)
        } else if kind.starts_with(PROVENANCE) {
            StatementContent::Provenance(BuildProvenance::of(&said.predicate))
        } else {
            return Err(StatementError::OtherType(line(kind, QUOTED_BYTES)));
        };
        Ok(Self { subjects, is_bundle, content })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const DIGEST: &str = "aa00000000000000000000000000000000000000000000000000000000000000";

    fn statement(kind: &str, predicate: &Value) -> Value {
        json!({
            "_type": "https://in-toto.io/Statement/v1",
            "subject": [{"name": "greeter.wasm", "digest": {"sha256": DIGEST.to_uppercase()}}, {"name": "other"}],
            "predicateType": kind,
            "predicate": predicate,
        })
    }

    fn enveloped(statement: &Value) -> Value {
        json!({"payloadType": PAYLOAD, "payload": STANDARD.encode(statement.to_string()), "signatures": []})
    }

    fn read(value: &Value) -> Result<Statement, StatementError> {
        Statement::read(value.to_string().as_bytes())
    }

    #[test]
    fn a_statement_is_read_plain_in_an_envelope_and_in_a_bundle() {
        let plain =
            statement("https://cyclonedx.org/bom", &json!({"bomFormat": "CycloneDX", "components": [{"name": "a"}]}));
        let envelope = enveloped(&plain);
        let bundle = json!({"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "dsseEnvelope": envelope});
        for (form, is_bundle) in [(&plain, false), (&envelope, false), (&bundle, true)] {
            let read = read(form).expect("a statement");
            assert_eq!((read.subjects.as_slice(), read.is_bundle), ([DIGEST.to_owned()].as_slice(), is_bundle));
            assert!(matches!(&read.content, StatementContent::Bill(bill) if bill.packages.len() == 1), "{read:?}");
        }
        let older = statement("https://spdx.dev/Document", &json!({"Data": {"spdxVersion": "SPDX-2.3"}}));
        assert!(matches!(read(&older).map(|read| read.content), Ok(StatementContent::Bill(_))));
        let built = statement("https://slsa.dev/provenance/v1", &json!({"runDetails": {"builder": {"id": "b"}}}));
        assert!(matches!(read(&built).map(|read| read.content), Ok(StatementContent::Provenance(_))));
    }

    #[test]
    fn what_is_no_statement_of_these_is_told_in_words() {
        let scan = statement("https://example.com/scan\n/v1", &json!({}));
        assert_eq!(read(&scan), Err(StatementError::OtherType("https://example.com/scan/v1".to_owned())));
        let bill = statement("https://cyclonedx.org/bom", &json!({"bomFormat": "other"}));
        assert_eq!(read(&bill), Err(StatementError::Bill(BillError::Unknown)));
        let mut image = enveloped(&scan);
        image["payloadType"] = json!("text/plain");
        assert_eq!(read(&image), Err(StatementError::OtherType("text/plain".to_owned())));
        let signature = json!({"mediaType": "application/vnd.dev.sigstore.bundle.v0.3+json", "messageSignature": {}});
        assert_eq!(read(&signature), Err(StatementError::Signature));
        let mut broken = enveloped(&scan);
        broken["payload"] = json!("%");
        for broken in [broken, json!({}), json!([]), json!({"_type": 1})] {
            assert!(matches!(read(&broken), Err(StatementError::Malformed(_))), "{broken}");
        }
        assert!(matches!(Statement::read(&vec![b' '; Statement::MAX_BYTES + 1]), Err(StatementError::TooLong { .. })));
    }
}
