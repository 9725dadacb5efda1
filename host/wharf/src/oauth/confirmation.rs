//! Tokens that are bound to the certificate of their client (RFC 8705, section 3): who stole one cannot show it.
//!
//! A token says so by its confirmation, `cnf`. One that has a confirmation is never taken without it, whatever the
//! operator says of others.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use serde_json::{Map, Value};
use wharf_http::ConnectionCertificate;

use crate::configuration::CertificateBinding;

/// SHA-256 of the certificate, as a confirmation names it.
const THUMBPRINT: &str = "x5t#S256";

/// Why a token is refused, for the client that shows it.
const OF_ANOTHER_KIND: &str = "it is bound (`cnf`) by more or something else than the SHA-256 thumbprint of a certificate (`x5t#S256`), which this \
     host does not check";
const NOT_TAKEN: &str = "it is bound to the certificate of its client (`cnf`), and this host asks clients for none; the operator may set \
     `certificate_bound_tokens` under [http.oauth]";
const UNSEEN: &str = "it is bound to the certificate of its client (`cnf`), which this host does not see: TLS ends before it, as at a \
     proxy; call the host itself over TLS";
const NOT_SHOWN: &str = "it is bound to the certificate of its client (`cnf`), and this connection shows none; connect with the certificate \
     for which it was issued";
const ANOTHER: &str = "it is bound to another certificate than that of this connection (`cnf`); connect with the certificate for which it \
     was issued";
const UNBOUND: &str = "it is bound to no certificate (`cnf`), and this host takes no other token; get one over a connection with a client \
     certificate (RFC 8705)";

/// Whether a token may be shown on a connection of this certificate. `claims` are all that is said of the token: by
/// itself, and by its issuer.
pub(super) fn check(
    claims: &[&Map<String, Value>],
    certificate: &ConnectionCertificate,
    binding: CertificateBinding,
) -> Result<(), &'static str> {
    let mut confirmations = claims.iter().filter_map(|claims| claims.get("cnf")).peekable();
    if confirmations.peek().is_none() {
        return if binding == CertificateBinding::Required { Err(UNBOUND) } else { Ok(()) };
    }
    for confirmation in confirmations {
        let bound = thumbprint(confirmation).ok_or(OF_ANOTHER_KIND)?;
        match certificate {
            ConnectionCertificate::Unseen => return Err(UNSEEN),
            _ if binding == CertificateBinding::Refused => return Err(NOT_TAKEN),
            ConnectionCertificate::Shown(shown) if digest(&SHA256, shown).as_ref() == bound => {}
            ConnectionCertificate::Shown(_) => return Err(ANOTHER),
            // What a later listener knows of a client is no proof here.
            _ => return Err(NOT_SHOWN),
        }
    }
    Ok(())
}

/// The thumbprint that a confirmation consists of. Another member would be a further proof that the client owes.
fn thumbprint(confirmation: &Value) -> Option<[u8; SHA256_OUTPUT_LEN]> {
    let members = confirmation.as_object().filter(|members| members.len() == 1)?;
    URL_SAFE_NO_PAD.decode(members.get(THUMBPRINT)?.as_str()?).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CERTIFICATE: &[u8] = b"the bytes of a certificate";

    fn claims(confirmation: Value) -> Map<String, Value> {
        Map::from_iter([("cnf".to_owned(), confirmation)])
    }

    fn of(bytes: &[u8]) -> Value {
        json!({ THUMBPRINT: URL_SAFE_NO_PAD.encode(digest(&SHA256, bytes)) })
    }

    #[test]
    fn a_confirmation_that_is_not_understood_whole_is_never_taken() {
        let shown = ConnectionCertificate::Shown(CERTIFICATE.into());
        let taken = |claims: &[&Map<String, Value>]| check(claims, &shown, CertificateBinding::Accepted);
        let right = claims(of(CERTIFICATE));
        assert_eq!(taken(&[&right]), Ok(()));
        assert_eq!(taken(&[&Map::new(), &right]), Ok(()));
        let hexadecimal: String =
            digest(&SHA256, CERTIFICATE).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        for confirmation in [
            Value::Null,
            json!({}),
            json!("x5t#S256"),
            json!({"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}),
            json!({"x5t#S256": null}),
            json!({"x5t#S256": ""}),
            json!({"x5t#S256": hexadecimal}),
            json!({"x5t#S256": of(CERTIFICATE)["x5t#S256"].as_str().expect("a text").to_owned() + "="}),
            json!({"x5t#S256": of(CERTIFICATE)["x5t#S256"], "jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}),
        ] {
            assert_eq!(taken(&[&claims(confirmation.clone())]), Err(OF_ANOTHER_KIND), "{confirmation}");
        }
        // Each of the two counts.
        assert_eq!(taken(&[&right, &claims(of(b"another"))]), Err(ANOTHER));
        assert_eq!(taken(&[&claims(of(b"another")), &right]), Err(ANOTHER));
    }

    #[test]
    fn a_bound_token_needs_its_certificate_whatever_the_operator_says_of_others() {
        use CertificateBinding::{Accepted, Refused, Required};
        use ConnectionCertificate::{None, Shown, Unseen};
        let bound = claims(of(CERTIFICATE));
        let (right, other) = (Shown(CERTIFICATE.into()), Shown(b"another".as_slice().into()));
        for (certificate, binding, outcome) in [
            (&right, Refused, Err(NOT_TAKEN)),
            (&right, Accepted, Ok(())),
            (&right, Required, Ok(())),
            (&other, Accepted, Err(ANOTHER)),
            (&None, Accepted, Err(NOT_SHOWN)),
            (&None, Required, Err(NOT_SHOWN)),
            (&Unseen, Refused, Err(UNSEEN)),
            (&Unseen, Accepted, Err(UNSEEN)),
        ] {
            assert_eq!(check(&[&bound], certificate, binding), outcome, "{certificate:?} {binding:?}");
        }
        for certificate in [&right, &None, &Unseen] {
            assert_eq!(check(&[&Map::new()], certificate, Accepted), Ok(()));
            assert_eq!(check(&[&Map::new()], certificate, Refused), Ok(()));
            assert_eq!(check(&[&Map::new()], certificate, Required), Err(UNBOUND));
        }
    }
}
