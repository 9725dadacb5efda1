//! Which tokens of an authorization server hold, by its keys.

use std::{
    collections::BTreeSet,
    net::TcpListener,
    sync::{Arc, atomic::Ordering::SeqCst},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, Header, get_current_timestamp};
use ring::hmac;
use serde_json::{Value, json};
use wharf::{
    configuration::OAuthSettings,
    http::{TokenRefused, TokenVerifier, VerifiedToken},
};

use super::{
    VerifyAlone as _,
    issuer::{Issuer, Key, RESOURCE, token},
};

fn of(settings: OAuthSettings) -> Arc<dyn TokenVerifier> {
    wharf::http::protected_resource(settings).verifier
}

#[track_caller]
fn refused(verified: Result<VerifiedToken, TokenRefused>) -> String {
    verified.expect_err("refused").to_string()
}

#[tokio::test]
async fn a_token_of_the_issuer_for_this_host_is_its_subjects() {
    let key = Key::new("one");
    let issuer = Issuer::new(vec![json!({"kty": "something of tomorrow"}), key.public.clone()]);
    let verifier = of(issuer.settings());
    let tenant = |verified: VerifiedToken| verified.tenant.to_string();
    let verified = verifier.verify_alone(&key.sign(&issuer.claims())).await.expect("holds");
    assert_eq!(tenant(verified), "oauth:ada");
    let many = issuer.claims_but("aud", json!(["https://other.example", RESOURCE]));
    verifier.verify_alone(&key.sign(&many)).await.expect("for several");
    let mut subjects = BTreeSet::new();
    for subject in ["auth0|7", "auth0|8", "blake3.00", "x".repeat(500).as_str(), "한글", "ada"] {
        let token = key.sign(&issuer.claims_but("sub", json!(subject)));
        subjects.insert(tenant(verifier.verify_alone(&token).await.expect("holds")));
    }
    assert_eq!(subjects.len(), 6, "{subjects:?}");
    assert!(subjects.iter().all(|tenant| tenant.starts_with("oauth:")), "{subjects:?}");
    assert!(!subjects.contains("oauth:blake3.00"), "it could be called as the digest of another one");
    assert_eq!(issuer.asked.load(SeqCst), 1, "keys are kept");
    let mut by_organisation = issuer.settings();
    by_organisation.tenant_claim = "org".to_owned();
    let verifier = of(by_organisation);
    let token = key.sign(&issuer.claims_but("org", json!("acme")));
    assert_eq!(tenant(verifier.verify_alone(&token).await.expect("holds")), "oauth:acme");
    assert!(refused(verifier.verify_alone(&key.sign(&issuer.claims())).await).contains("`org`"));
}

#[tokio::test]
async fn a_token_that_is_not_the_issuers_for_this_host_now_is_refused() {
    let key = Key::new("one");
    let issuer = Issuer::new(vec![key.public.clone()]);
    let verifier = of(issuer.settings());
    let now = get_current_timestamp();
    for (name, value, reason) in [
        ("iss", json!("https://evil.example"), "another issuer"),
        ("iss", json!([issuer.address, "x"]), "another issuer"),
        ("aud", json!("https://wharf.example"), "somebody else"),
        ("aud", Value::Null, "needs"),
        ("exp", json!(now - 120), "expired"),
        ("exp", json!("tomorrow"), ""),
        ("exp", Value::Null, ""),
        ("nbf", json!(now + 120), "nbf"),
        ("nbf", json!("yesterday"), ""),
        ("sub", Value::Null, ""),
        ("sub", json!(""), "`sub`"),
        ("sub", json!(7), ""),
    ] {
        let mut claims = issuer.claims_but(name, value.clone());
        if value.is_null() {
            claims.as_object_mut().expect("an object").remove(name);
        }
        let problem = refused(verifier.verify_alone(&key.sign(&claims)).await);
        assert!(problem.contains(reason), "{name} = {value}: {problem}");
    }
    // By another key under the same name.
    let forged = Key::new("one").sign(&issuer.claims());
    assert!(refused(verifier.verify_alone(&forged).await).contains("signature"));
    let good = key.sign(&issuer.claims());
    let parts: Vec<_> = good.split('.').collect();
    let header = |text: &str| URL_SAFE_NO_PAD.encode(text);
    for forged in [
        format!("{}.{}.", header(r#"{"alg":"none","kid":"one"}"#), parts[1]),
        format!("{}.{}.{}", header(r#"{"alg":"none","kid":"one"}"#), parts[1], parts[2]),
        format!("{}.{}.{}", header(r#"{"alg":"ES384","kid":"one"}"#), parts[1], parts[2]),
        format!("{}.{}.{}", header(r#"{"alg":"RS256","kid":"one"}"#), parts[1], parts[2]),
        format!("{}.{}.{}", header(r#"{"alg":"ES256","kid":"one","typ":"logout+jwt"}"#), parts[1], parts[2]),
        format!("{}.{}.{}", parts[0], header(r#"{"sub":"root"}"#), parts[2]),
        format!("{}.{}.AAAA", parts[0], parts[1]),
        "a.b.c".to_owned(),
        String::new(),
    ] {
        refused(verifier.verify_alone(&forged).await);
    }
    // Signed with the public key, as if that were a shared secret.
    let public = serde_json::to_vec(&key.public).expect("JSON");
    let header = Header { kid: Some("one".to_owned()), ..Header::new(Algorithm::HS256) };
    let shared = token(&header, &issuer.claims(), |message| {
        hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &public), message).as_ref().to_vec()
    });
    assert!(refused(verifier.verify_alone(&shared).await).contains("algorithm"));
}

#[tokio::test(start_paused = true)]
async fn keys_change_and_strangers_do_not_decide_how_often_they_are_asked_for() {
    let (old, new) = (Key::new("old"), Key::new("new"));
    let issuer = Issuer::new(vec![old.public.clone()]);
    let verifier = of(issuer.settings());
    for _ in 0..50 {
        let unknown = Key::new("unknown").sign(&issuer.claims());
        assert!(refused(verifier.verify_alone(&unknown).await).contains("no such key"));
    }
    assert_eq!(issuer.asked.load(SeqCst), 1);
    *issuer.keys.lock().expect("a lock") = vec![new.public.clone()];
    tokio::time::advance(Duration::from_secs(31)).await;
    verifier.verify_alone(&new.sign(&issuer.claims())).await.expect("by the new key");
    assert!(refused(verifier.verify_alone(&old.sign(&issuer.claims())).await).contains("no such key"));
    assert_eq!(issuer.asked.load(SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stranger_for_whose_key_the_issuer_is_asked_makes_nobody_wait_whose_key_is_known() {
    let key = Key::new("known");
    let issuer = Issuer::new(vec![key.public.clone()]);
    let verifier = of(issuer.settings());
    let known = key.sign(&issuer.claims());
    verifier.verify_alone(&known).await.expect("by the key");
    tokio::time::advance(Duration::from_secs(31)).await;
    let silent = issuer.silent();
    let unknown = Key::new("unknown").sign(&issuer.claims());
    let stranger = tokio::spawn({
        let verifier = Arc::clone(&verifier);
        async move { verifier.verify_alone(&unknown).await }
    });
    while issuer.asked.load(SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    verifier.verify_alone(&known).await.expect("by the key");
    assert!(!stranger.is_finished(), "the bearer of a known key waited for the stranger");
    drop(silent);
    assert!(refused(stranger.await.expect("ended")).contains("no such key"));
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_hangs_stalls_no_token_by_a_key_that_it_confirmed_within_a_day() {
    let key = Key::new("known");
    let issuer = Issuer::new(vec![key.public.clone()]);
    let verifier = of(issuer.settings());
    let known = key.sign(&issuer.claims_but("exp", json!(get_current_timestamp() + 86_400)));
    verifier.verify_alone(&known).await.expect("by the key");
    let silent = issuer.silent();
    // The keys are asked for again on the side, and nobody answers that.
    tokio::time::advance(Duration::from_secs(1_900)).await;
    verifier.verify_alone(&known).await.expect("nobody waits for newer keys");
    while issuer.asked.load(SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_secs(3_600)).await;
    let began = tokio::time::Instant::now();
    for _ in 0..20 {
        verifier.verify_alone(&known).await.expect("by the key, while its issuer is away");
    }
    assert_eq!(began.elapsed(), Duration::ZERO, "somebody waited");
    tokio::time::advance(Duration::from_secs(86_400 - 1_900 - 3_600 - 10)).await;
    verifier.verify_alone(&known).await.expect("it was confirmed within a day");
    tokio::time::advance(Duration::from_secs(11)).await;
    // It waits for the issuer for a moment first.
    let (verified, ()) = tokio::join!(verifier.verify_alone(&known), tokio::time::advance(Duration::from_secs(5)));
    assert_eq!(verified, Err(TokenRefused::Unconfirmed));
    drop(silent);
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_fails_for_a_day_has_its_tokens_refused_until_it_answers() {
    let key = Key::new("known");
    let issuer = Issuer::new(vec![key.public.clone()]);
    let verifier = of(issuer.settings());
    let known = key.sign(&issuer.claims_but("exp", json!(get_current_timestamp() + 10 * 86_400)));
    verifier.verify_alone(&known).await.expect("by the key");
    let described = std::mem::take(&mut *issuer.description.lock().expect("a lock"));
    for (hours, holds) in [(2, true), (21, true), (2, false), (100, false)] {
        tokio::time::advance(Duration::from_secs(hours * 3_600)).await;
        let verified = verifier.verify_alone(&known).await;
        let refused = (!holds).then_some(TokenRefused::Unconfirmed);
        assert_eq!(verified.err(), refused, "{hours} hours later");
    }
    *issuer.description.lock().expect("a lock") = described;
    tokio::time::advance(Duration::from_secs(60)).await;
    verifier.verify_alone(&known).await.expect("it answers again");
    assert!(TokenRefused::Unconfirmed.to_string().contains("24 hours"), "the reason says how long");
}

#[tokio::test]
async fn a_scope_that_is_missing_is_said_and_an_issuer_that_is_away_is_no_refusal() {
    let key = Key::new("one");
    let issuer = Issuer::new(vec![key.public.clone()]);
    let scopes = vec!["wharf".to_owned(), "tools".to_owned()];
    let mut settings = issuer.settings();
    settings.scopes = scopes;
    let verifier = of(settings);
    for (claim, value, holds) in [
        ("scope", json!("tools other wharf"), true),
        ("scp", json!(["wharf", "tools"]), true),
        ("scope", json!("wharf"), false),
        ("scope", json!("wharftools"), false),
        ("other", json!("wharf tools"), false),
    ] {
        let verified = verifier.verify_alone(&key.sign(&issuer.claims_but(claim, value.clone()))).await;
        let lacks = matches!(verified, Err(TokenRefused::Scope(_)));
        assert_eq!((verified.is_ok(), lacks), (holds, !holds), "{value}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").expect("an address").local_addr().expect("bound");
    let away = OAuthSettings::new(format!("http://{nobody}"), RESOURCE);
    let verified = of(away).verify_alone(&key.sign(&issuer.claims())).await;
    assert_eq!(verified, Err(TokenRefused::Unavailable));
}

#[tokio::test]
async fn a_key_checks_what_its_issuer_made_it_for_and_nothing_else() {
    let (key, other) = (Key::new("one"), Key::new("two"));
    for (name, value) in [
        ("use", json!("enc")),
        ("key_ops", json!(["encrypt"])),
        ("key_ops", json!(["sign", "deriveKey"])),
        ("alg", json!("ES384")),
        ("alg", json!("RS256")),
    ] {
        let issuer = Issuer::new(vec![key.public_but(name, value.clone())]);
        let problem = refused(of(issuer.settings()).verify_alone(&key.sign(&issuer.claims())).await);
        assert!(problem.contains("no such key"), "{name} = {value}: {problem}");
    }
    // A token that names no key may be by the only one, and by none of several.
    for (keys, holds) in [(vec![key.public.clone()], true), (vec![key.public.clone(), other.public], false)] {
        let issuer = Issuer::new(keys);
        let nameless = key.sign_as(Header { kid: None, ..key.header() }, &issuer.claims());
        assert_eq!(of(issuer.settings()).verify_alone(&nameless).await.is_ok(), holds);
    }
}

#[tokio::test]
async fn what_a_header_calls_critical_and_nobody_here_knows_is_refused() {
    let key = Key::new("one");
    let issuer = Issuer::new(vec![key.public.clone()]);
    // RFC 7515, section 4.1.11: a verifier that does not understand it must not take the token.
    let header = Header { crit: Some(vec!["https://example.com/bound".to_owned()]), ..key.header() };
    let problem = refused(of(issuer.settings()).verify_alone(&key.sign_as(header, &issuer.claims())).await);
    assert!(problem.contains("`crit`"), "{problem}");
}

#[tokio::test]
async fn a_token_of_another_kind_is_no_access_token_whoever_signed_it() {
    let key = Key::new("one");
    let issuer = Issuer::new(vec![key.public.clone()]);
    let verifier = of(issuer.settings());
    for (kind, holds) in [("at+jwt", true), ("application/AT+JWT", true), ("JWT", true), ("logout+jwt", false)] {
        let token = key.sign_as(Header { typ: Some(kind.to_owned()), ..key.header() }, &issuer.claims());
        assert_eq!(verifier.verify_alone(&token).await.is_ok(), holds, "{kind}");
    }
}

#[tokio::test]
async fn keys_are_taken_from_where_the_issuer_itself_says_and_nobody_on_the_way_can_change_them() {
    let key = Key::new("one");
    let issuer = Issuer::new(vec![key.public.clone()]);
    let keys = format!("{}/keys", issuer.address);
    for (name, said) in [
        ("another issuer", json!({"issuer": "https://evil.example", "jwks_uri": keys})),
        ("a longer name of it", json!({"issuer": format!("{}/", issuer.address), "jwks_uri": keys})),
        ("over no TLS", json!({"issuer": issuer.address, "jwks_uri": keys.replace("127.0.0.1", "localhost")})),
        ("from a file", json!({"issuer": issuer.address, "jwks_uri": "file:///etc/passwd"})),
    ] {
        *issuer.description.lock().expect("a lock") = said;
        let verified = of(issuer.settings()).verify_alone(&key.sign(&issuer.claims())).await;
        assert_eq!(verified, Err(TokenRefused::Unavailable), "{name}");
    }
    assert_eq!(issuer.asked.load(SeqCst), 0, "nobody asked for keys");
}

#[tokio::test(start_paused = true)]
async fn a_key_that_its_issuer_has_withdrawn_holds_for_an_hour_at_most() {
    let (old, new) = (Key::new("old"), Key::new("new"));
    let issuer = Issuer::new(vec![old.public.clone()]);
    let verifier = of(issuer.settings());
    let token = old.sign(&issuer.claims_but("exp", json!(get_current_timestamp() + 86_400)));
    verifier.verify_alone(&token).await.expect("holds");
    *issuer.keys.lock().expect("a lock") = vec![new.public.clone()];
    tokio::time::advance(Duration::from_secs(3_590)).await;
    verifier.verify_alone(&token).await.expect("keys are believed for an hour");
    tokio::time::advance(Duration::from_secs(11)).await;
    assert!(refused(verifier.verify_alone(&token).await).contains("no such key"));
}
