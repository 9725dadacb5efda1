//! The ways in which a host logs in to NATS, each with a real server.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use nkeys::KeyPair;
use serde_json::{Value, json};
use wharf_test_support::nats::{NatsLogin, NatsServer};
use wharf_tests::Holds;

use super::notices::telling;

/// What `nsc` makes: an operator whom the server believes, an account of its, and a user of that.
fn credentials() -> NatsLogin {
    let [operator, account, user] = [KeyPair::new_operator(), KeyPair::new_account(), KeyPair::new_user()];
    let operator_token = token(&operator, &operator, "operator", json!({}));
    let limits = json!({"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
        "conn": -1, "leaf": -1});
    let account_token = token(&operator, &account, "account", json!({"limits": limits}));
    let user_token = token(&account, &user, "user", json!({"subs": -1, "data": -1, "payload": -1}));
    let server = format!(
        "operator: {operator_token}\nresolver: MEMORY\nresolver_preload: {{ {}: {account_token} }}",
        account.public_key()
    );
    let file = format!(
        "-----BEGIN NATS USER JWT-----\n{user_token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{}\n------END USER NKEY SEED------\n",
        user.seed().expect("a new key has one")
    );
    NatsLogin::Credentials { server, file }
}

/// What `issuer` says of `subject`, signed.
fn token(issuer: &KeyPair, subject: &KeyPair, of: &str, mut claims: Value) -> String {
    claims["type"] = of.into();
    claims["version"] = 2.into();
    let body = json!({
        "jti": subject.public_key(), "iat": 1_700_000_000, "iss": issuer.public_key(), "sub": subject.public_key(),
        "name": of, "nats": claims,
    });
    let head = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let [head, body] = [head, body].map(|part| BASE64_URL_SAFE_NO_PAD.encode(part.to_string()));
    let signed = format!("{head}.{body}");
    let signature = issuer.sign(signed.as_bytes()).expect("it has its seed");
    format!("{signed}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
}

#[track_caller]
fn carries(login: NatsLogin) {
    let Some(nats) = NatsServer::start_for(login) else { return };
    let Some(cluster) = telling(&nats.table()) else { return };
    let data = cluster.prepare("one", &cluster.authority, Holds::Now);
    nats.prepare(data.path());
    let one = cluster.host_in("one", data);
    one.server.until_logged("NATS carries the notices");
    let doctor = one.command(&["doctor", "--cluster"]).run();
    assert!(doctor.out.contains("hosts hear of changes over it"), "{doctor:?}");
}

#[test]
fn a_host_logs_in_by_a_token() {
    carries(NatsLogin::Token);
}

#[test]
fn a_host_logs_in_by_its_certificate() {
    carries(NatsLogin::Certificate);
}

#[test]
fn a_host_logs_in_by_a_file_with_credentials() {
    carries(credentials());
}
