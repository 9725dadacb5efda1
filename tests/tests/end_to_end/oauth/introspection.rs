//! Tokens that the issuer is asked about: those that say nothing themselves, and those that were revoked.

use std::{sync::Arc, time::Duration};

use jsonwebtoken::get_current_timestamp;
use serde_json::{Value, json};
use wharf::{
    configuration::{IntrospectionSettings, OAuthSettings, SecretSource},
    http::{TokenRefused, TokenVerifier},
};
use wharf_tests::Data;

use super::{
    VerifyAlone as _,
    issuer::{Issuer, Key, RESOURCE},
};

/// An issuer, and the secret of this host there.
struct Asked {
    issuer: Issuer,
    key: Key,
    secrets: Data,
}

impl Asked {
    fn new() -> Self {
        let key = Key::new("one");
        let secrets = Data::new();
        secrets.write_private("secret", "s3cr:t\n");
        Self { issuer: Issuer::new(vec![key.public.clone()]), key, secrets }
    }

    fn settings(&self, kept: Duration) -> OAuthSettings {
        let from = SecretSource::File(self.secrets.path().join("secret"));
        let mut asked = IntrospectionSettings::new("wharf host", from);
        asked.kept = kept;
        let mut settings = self.issuer.settings();
        settings.introspection = Some(asked);
        settings
    }

    fn verifier(&self, kept: Duration) -> Arc<dyn TokenVerifier> {
        wharf::http::protected_resource(self.settings(kept)).verifier
    }

    /// Has the issuer say this of a token.
    fn says(&self, token: &str, claims: Value) {
        self.issuer.active.lock().expect("a lock").insert(token.to_owned(), claims);
    }

    fn revokes(&self, token: &str) {
        self.issuer.active.lock().expect("a lock").remove(token);
    }

    fn asked(&self) -> usize {
        self.issuer.introspected.lock().expect("a lock").len()
    }
}

fn holds() -> Value {
    json!({"active": true, "aud": RESOURCE, "sub": "ada", "scope": "tools"})
}

const LONG: Duration = Duration::from_secs(600);

#[tokio::test]
async fn a_token_that_says_nothing_is_its_subjects_where_the_issuer_says_so() {
    let asked = Asked::new();
    asked.says("opaque", holds());
    let verifier = asked.verifier(LONG);
    for _ in 0..3 {
        let verified = verifier.verify_alone("opaque").await.expect("holds");
        assert_eq!((verified.tenant.to_string().as_str(), verified.subject.as_deref()), ("oauth:ada", Some("ada")));
    }
    assert_eq!(asked.asked(), 1, "an answer is remembered");
    let told = asked.issuer.introspected.lock().expect("a lock")[0].clone();
    assert!(
        told.starts_with("POST /introspect ") && told.ends_with("token=opaque&token_type_hint=access_token"),
        "{told}"
    );

    for (token, claims, problem) in [
        ("unknown", json!({"active": false, "sub": "ada"}), "does not hold"),
        ("elsewhere", json!({"active": true, "aud": "https://other.example", "sub": "ada"}), "for somebody else"),
        ("nowhere", json!({"active": true, "sub": "ada"}), "`aud`"),
        ("nobody", json!({"active": true, "aud": RESOURCE}), "`sub`"),
        (
            "over",
            json!({"active": true, "aud": RESOURCE, "sub": "ada", "exp": get_current_timestamp() - 100}),
            "expired",
        ),
        (
            "foreign",
            json!({"active": true, "aud": RESOURCE, "sub": "ada", "iss": "https://o.example"}),
            "another issuer",
        ),
    ] {
        asked.says(token, claims);
        let refused = verifier.verify_alone(token).await.expect_err(token);
        assert!(
            matches!(refused, TokenRefused::Invalid(_)) && refused.to_string().contains(problem),
            "{token}: {refused}"
        );
    }
    let mut settings = asked.settings(LONG);
    settings.scopes = vec!["admin".to_owned()];
    let refused = wharf::http::protected_resource(settings).verifier.verify_alone("opaque").await;
    assert!(matches!(refused, Err(TokenRefused::Scope(_))), "{refused:?}");
}

#[tokio::test]
async fn a_signed_token_is_refused_once_its_issuer_has_revoked_it_and_a_made_up_one_reaches_no_issuer() {
    let asked = Asked::new();
    let token = asked.key.sign(&asked.issuer.claims());
    asked.says(&token, json!({"active": true}));
    let verifier = asked.verifier(Duration::ZERO);
    verifier.verify_alone(&token).await.expect("holds");
    asked.revokes(&token);
    let refused = verifier.verify_alone(&token).await.expect_err("revoked");
    assert!(refused.to_string().contains("its issuer says that it does not hold"), "{refused}");
    let before = asked.asked();
    let made_up = Key::new("one").sign(&asked.issuer.claims());
    verifier.verify_alone(&made_up).await.expect_err("another key");
    verifier.verify_alone(&asked.key.sign(&asked.issuer.claims_but("aud", json!("x")))).await.expect_err("for another");
    assert_eq!(asked.asked(), before);
    // An answer that is remembered is as old as the operator allows.
    asked.says(&token, json!({"active": true}));
    let remembering = asked.verifier(LONG);
    remembering.verify_alone(&token).await.expect("holds");
    asked.revokes(&token);
    remembering.verify_alone(&token).await.expect("still remembered");
}

#[tokio::test]
async fn an_issuer_that_does_not_say_is_no_refusal_and_a_secret_may_be_replaced() {
    let asked = Asked::new();
    asked.says("opaque", holds());
    asked.says("odd", json!({"sub": "ada"}));
    let verifier = asked.verifier(LONG);
    assert_eq!(verifier.verify_alone("odd").await, Err(TokenRefused::Unavailable));
    asked.secrets.write_private("secret", "wrong");
    assert_eq!(verifier.verify_alone("opaque").await, Err(TokenRefused::Unavailable));
    asked.secrets.write_private("secret", "n3xt");
    verifier.verify_alone("opaque").await.expect("the new secret is taken");
    let mut settings = asked.settings(LONG);
    settings.introspection.as_mut().expect("there").address = "http://127.0.0.1:1/".parse().ok();
    let away = wharf::http::protected_resource(settings).verifier;
    assert_eq!(away.verify_alone("opaque").await, Err(TokenRefused::Unavailable));
}

#[tokio::test]
async fn requests_of_one_token_at_once_ask_the_issuer_once() {
    let asked = Asked::new();
    asked.says("opaque", holds());
    let verifier = asked.verifier(LONG);
    let all = (0..50).map(|_| {
        let verifier = Arc::clone(&verifier);
        tokio::spawn(async move { verifier.verify_alone("opaque").await })
    });
    for one in all.collect::<Vec<_>>() {
        one.await.expect("no panic").expect("holds");
    }
    assert_eq!(asked.asked(), 1);
}
