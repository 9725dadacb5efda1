//! What an operator finds out of a cell.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, KeyPair, date_time_ymd};

use super::{Authority, TestCell, free_address};
use crate::{Found, Members as _, PeerAddress, PeerTls, survey};

/// A certificate of this authority for `localhost`.
fn certificate(authority: &Authority, change: impl FnOnce(&mut CertificateParams)) -> PeerTls {
    let key = KeyPair::generate().expect("a key");
    let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).expect("parameters");
    change(&mut parameters);
    let certificate = parameters.signed_by(&key, &authority.0).expect("a certificate").pem();
    PeerTls::new(certificate.as_bytes(), key.serialize_pem().as_bytes(), authority.0.pem().as_bytes())
        .expect("they fit")
}

fn address(text: &str) -> PeerAddress {
    text.parse().expect("an address")
}

#[test]
fn a_certificate_is_valid_until_it_expires_for_its_name_and_for_both_sides() {
    let (authority, now) = (Authority::new(), SystemTime::now());
    let here = address("localhost:7443");
    let since = now.duration_since(UNIX_EPOCH).expect("after 1970");
    let expires = date_time_ymd(1970, 1, 1) + since + Duration::from_secs(7_200);
    let hours = certificate(&authority, |made| made.not_after = expires);
    let valid = hours.valid_for(&here, now).expect("valid").as_secs();
    assert!((7_190..=7_201).contains(&valid), "{valid}");
    for other in ["localhorst:7443", "127.0.0.1:7443"] {
        let error = hours.valid_for(&address(other), now).expect_err("another name");
        assert!(wharf_core::text::with_causes(&error).contains("not valid for name"), "{error:?}");
    }
    let error = hours.valid_for(&here, now + Duration::from_secs(8_000)).expect_err("expired");
    assert!(wharf_core::text::with_causes(&error).contains("expired"), "{error:?}");
    for usage in [ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth] {
        let half = certificate(&authority, |made| made.extended_key_usages = vec![usage.clone()]);
        half.valid_for(&here, now).expect_err("it is for one side");
    }
    let foreign = authority.host_that_trusts(&Authority::new());
    foreign.valid_for(&here, now).expect_err("of another authority");
}

#[tokio::test]
async fn a_survey_tells_who_reaches_whom() {
    let test = TestCell::new();
    let (one, two) = (test.host("one").await, test.host("two").await);
    let [first, second] = [&one, &two].map(|host| host.cell.incarnation());
    let both = test.store.list().await.expect("it answers");
    let ways = |found: &crate::Survey| {
        let mut ways: Vec<_> = found.passages.iter().map(|way| (way.from, way.to, way.found.clone())).collect();
        ways.sort_by_key(|(from, ..)| *from);
        ways
    };
    // The hosts know each other once they have read the list.
    let found = wharf_test_support::until_async("they reach each other", async || {
        let found = survey(&test.authority.host(), &both).await;
        found.passages.iter().all(|way| way.found == Found::Alive).then_some(found)
    })
    .await;
    assert_eq!(ways(&found).len(), 2);
    for look in &found.looks {
        assert_eq!(look.found, Found::Alive);
        assert!(look.ahead_seconds.is_some_and(|ahead| ahead.abs() <= 2), "{look:?}");
    }
    // At the address that the list has of the second one nobody listens; the first one knows better.
    let mut moved = both.clone();
    moved
        .iter_mut()
        .filter(|host| host.incarnation == second)
        .for_each(|host| host.address = free_address().to_string());
    let found = survey(&test.authority.host(), &moved).await;
    let look = found.looks.iter().find(|look| look.host == second).expect("looked at");
    assert_eq!((look.found.clone(), look.ahead_seconds), (Found::Ended, None));
    let from_second = ways(&found).into_iter().find(|(from, ..)| *from == second).expect("a way");
    assert_eq!(from_second, (second, first, Found::Unclear(None)), "who is not reached tells nothing");
    // Who shows a foreign certificate learns why it is told nothing.
    let found = survey(&Authority::new().host(), &both).await;
    let whys: Vec<_> = found.looks.iter().map(|look| look.found.clone()).collect();
    assert!(whys.iter().all(|why| matches!(why, Found::Unclear(Some(why)) if why.contains("certificate"))), "{whys:?}");
}
