//! The authority that certifies identities, and the log that sees its certificates.

use std::{
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    time::Duration,
};

use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData as _, SanType, SigningKey as _, date_time_ymd,
};

use super::{Defect, SignAs, sha256};

/// Extensions of the issuer: in its first form, and in the one that replaced it.
const ISSUER_V1: [u64; 9] = [1, 3, 6, 1, 4, 1, 57264, 1, 1];
const ISSUER_V2: [u64; 9] = [1, 3, 6, 1, 4, 1, 57264, 1, 8];
/// The extension of what logs of certificates promised: RFC 6962.
const CERTIFICATE_TIMESTAMPS: [u64; 10] = [1, 3, 6, 1, 4, 1, 11129, 2, 4, 2];
/// How long a certificate holds.
const HOLDS: Duration = Duration::from_secs(600);

/// Authorities of this process.
static NUMBER: AtomicU32 = AtomicU32::new(0);

#[derive(Debug)]
pub(super) struct CertificateAuthority {
    issuer: Issuer<'static, KeyPair>,
    certificate: Vec<u8>,
    log: KeyPair,
}

/// A certificate and its key.
pub(super) struct Certified {
    pub(super) der: Vec<u8>,
    pub(super) pem: String,
    pub(super) key: KeyPair,
}

impl CertificateAuthority {
    pub(super) fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        (parameters.not_before, parameters.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2120, 1, 1));
        // Without a name of its own it would be taken for another one with a broken signature.
        let number = NUMBER.fetch_add(1, Relaxed);
        parameters.distinguished_name.push(DnType::CommonName, format!("sigstore of a test {number}"));
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate").der().to_vec();
        Self { issuer: Issuer::new(parameters, key), certificate, log: KeyPair::generate().expect("a key") }
    }

    pub(super) fn certificate(&self) -> &[u8] {
        &self.certificate
    }

    pub(super) fn log_key(&self) -> &KeyPair {
        &self.log
    }

    /// Certifies who signs, at this time.
    pub(super) fn certify(&self, sign: &SignAs<'_>, now: Duration) -> Certified {
        let begins = match sign.defect {
            Some(Defect::Expired) => now - 2 * HOLDS,
            _ => now - HOLDS / 2,
        };
        let key = KeyPair::generate().expect("a key");
        let mut parameters = parameters(sign, begins);
        if sign.defect != Some(Defect::NoCertificateTimestamp) {
            // The log signs the certificate without its own extension, which is the last.
            let unlogged = parameters.signed_by(&key, &self.issuer).expect("a certificate");
            let timestamps = self.timestamps(signed_part(unlogged.der()), begins);
            parameters.custom_extensions.push(CustomExtension::from_oid_content(&CERTIFICATE_TIMESTAMPS, timestamps));
        }
        let certificate = parameters.signed_by(&key, &self.issuer).expect("a certificate");
        Certified { der: certificate.der().to_vec(), pem: certificate.pem(), key }
    }

    /// The list of one signed timestamp: RFC 6962, 3.2 and 3.3.
    fn timestamps(&self, certificate: &[u8], time: Duration) -> Vec<u8> {
        let time = u64::try_from(time.as_millis()).expect("a time").to_be_bytes();
        let mut seen = vec![0, 0];
        seen.extend(time);
        seen.extend([0, 1]);
        seen.extend(sha256(&self.issuer.key().subject_public_key_info()));
        seen.extend(&u32::try_from(certificate.len()).expect("a short certificate").to_be_bytes()[1..]);
        seen.extend(certificate);
        seen.extend([0, 0]);
        let signature = self.log.sign(&seen).expect("a signature");

        let mut timestamp = vec![0];
        timestamp.extend(sha256(&self.log.subject_public_key_info()));
        timestamp.extend(time);
        // No extensions; SHA-256 and ECDSA.
        timestamp.extend([0, 0, 4, 3]);
        timestamp.extend(sized(&signature));
        der(0x04, &sized(&sized(&timestamp)))
    }
}

fn parameters(sign: &SignAs<'_>, begins: Duration) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name = DistinguishedName::new();
    parameters.use_authority_key_identifier_extension = true;
    // Whole seconds: a certificate has no others.
    let begins = date_time_ymd(1970, 1, 1) + Duration::from_secs(begins.as_secs());
    (parameters.not_before, parameters.not_after) = (begins, begins + HOLDS);
    let identity = sign.identity.try_into().expect("an identity in ASCII");
    let is_address = sign.identity.contains("://");
    parameters.subject_alt_names =
        vec![if is_address { SanType::URI(identity) } else { SanType::Rfc822Name(identity) }];
    parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    parameters.extended_key_usages = vec![match sign.defect {
        Some(Defect::NotForCode) => ExtendedKeyUsagePurpose::ServerAuth,
        _ => ExtendedKeyUsagePurpose::CodeSigning,
    }];
    let issuer = sign.issuer.as_bytes();
    parameters.custom_extensions = vec![
        CustomExtension::from_oid_content(&ISSUER_V1, issuer.to_vec()),
        CustomExtension::from_oid_content(&ISSUER_V2, der(0x0c, issuer)),
    ];
    parameters
}

/// What an authority signs of a certificate: the first element of the outer sequence.
fn signed_part(certificate: &[u8]) -> &[u8] {
    let (header, _) = element(certificate);
    let inner = &certificate[header..];
    let (header, length) = element(inner);
    &inner[..header + length]
}

/// Lengths of an element of DER: of its header and of its content.
fn element(bytes: &[u8]) -> (usize, usize) {
    match bytes[1] {
        short if short < 0x80 => (2, usize::from(short)),
        long => {
            let digits = usize::from(long & 0x7f);
            (2 + digits, bytes[2..2 + digits].iter().fold(0, |length, digit| (length << 8) | usize::from(*digit)))
        }
    }
}

/// An element of DER.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("a short element").to_be_bytes();
    let mut element = match length {
        [0, short] if short < 0x80 => vec![tag, short],
        [0, short] => vec![tag, 0x81, short],
        [high, low] => vec![tag, 0x82, high, low],
    };
    element.extend(content);
    element
}

/// Bytes after their length, as TLS has them.
fn sized(bytes: &[u8]) -> Vec<u8> {
    let mut sized = u16::try_from(bytes.len()).expect("a short field").to_be_bytes().to_vec();
    sized.extend(bytes);
    sized
}
