//! Quotas and ceilings hold at exactly their value, and never refuse a change that
//! shrinks.

use wharf_core::ScopeKey;

use super::store_under_test::{IDLE, StoreUnderTest, delete, generous, put, thread};
use crate::{Ceilings, ScopePolicy, StateError};

pub(super) async fn check(fresh: &impl Fn(Ceilings) -> StoreUnderTest) {
    a_quota_of_bytes_is_exact(&fresh(Ceilings::default())).await;
    a_quota_of_entries_is_exact(&fresh(Ceilings::default())).await;
    shrinking_is_never_refused(&fresh(Ceilings::default())).await;
    tenants_are_limited_apart(&fresh(Ceilings { bytes_per_tenant: 100, ..Ceilings::default() })).await;
    scopes_with_content_are_counted(&fresh(Ceilings { scopes_per_tenant: 2, ..Ceilings::default() })).await;
    all_tenants_together_are_limited(&fresh(Ceilings { bytes: 100, ..Ceilings::default() })).await;
}

fn with_tenant(tenant: &str, session: &str) -> ScopeKey {
    ScopeKey { tenant: tenant.parse().expect("legal"), ..thread(session, "", "") }
}

async fn a_quota_of_bytes_is_exact(subject: &StoreUnderTest) {
    let subject = &subject.limited(ScopePolicy { quota_bytes: 100, ..generous() });
    let scope = thread("bytes", "", "");
    subject.put(&scope, "key", &[0; 47]).await;
    subject.put(&scope, "key2", &[0; 46]).await;
    assert_eq!(subject.usage(&scope).await, (2, 100), "just as much as allowed");
    for change in [put("key", &[0; 48]), put("k", b"")] {
        let refused = subject.apply(&scope, vec![change]).await.expect_err("above the quota");
        let message = refused.to_string();
        assert!(message.contains("holds 100 of 100 bytes") && message.contains("worth 1 bytes"), "{message}");
        assert!(matches!(refused, StateError::QuotaBytes { used: 100, wanted: 101, quota: 100, .. }), "{refused:?}");
    }
    assert_eq!(subject.usage(&scope).await, (2, 100));
    subject.apply(&scope, vec![put("k", &[0; 49]), delete("key")]).await.expect("room is made and used at once");
    assert_eq!(subject.usage(&scope).await, (2, 100));
    subject.put(&thread("another", "", ""), "key", &[0; 97]).await;

    subject.clock.advance(IDLE);
    subject.put(&scope, "key", &[0; 97]).await;
    assert_eq!(subject.usage(&scope).await, (1, 100), "expired content does not count");
}

async fn a_quota_of_entries_is_exact(subject: &StoreUnderTest) {
    let subject = &subject.limited(ScopePolicy { quota_entries: 2, ..generous() });
    let scope = thread("entries", "", "");
    subject.apply(&scope, vec![put("a", b""), put("b", b"")]).await.expect("just as many as allowed");
    let refused = subject.apply(&scope, vec![put("c", b"")]).await.expect_err("above the quota");
    assert!(matches!(refused, StateError::QuotaEntries { used: 2, wanted: 3, quota: 2, .. }), "{refused:?}");
    subject.apply(&scope, vec![put("a", b"replaced"), put("b", b"too")]).await.expect("no entry more");
    subject.apply(&scope, vec![put("c", b""), delete("a")]).await.expect("no entry more");
}

async fn shrinking_is_never_refused(subject: &StoreUnderTest) {
    let scope = thread("shrinking", "", "");
    subject.apply(&scope, vec![put("a", &[0; 50]), put("b", &[0; 50]), put("c", &[0; 50])]).await.expect("a batch");
    let subject = &subject.limited(ScopePolicy { quota_bytes: 10, quota_entries: 1, ..generous() });
    subject.apply(&scope, vec![put("a", &[1; 50])]).await.expect("as large as before");
    subject.apply(&scope, vec![put("a", &[1; 49]), delete("b")]).await.expect("smaller than before");
    assert!(subject.apply(&scope, vec![put("a", &[1; 50])]).await.is_err(), "grows above the quota");
    subject.apply(&scope, vec![delete("c"), delete("absent")]).await.expect("only deletes");
    assert_eq!(subject.usage(&scope).await, (1, 50));
}

async fn tenants_are_limited_apart(subject: &StoreUnderTest) {
    let (one, two) = (with_tenant("one", "s1"), with_tenant("one", "s2"));
    subject.put(&one, "k", &[0; 59]).await;
    subject.put(&two, "k", &[0; 39]).await;
    let refused = subject.apply(&two, vec![put("k", &[0; 40])]).await.expect_err("above the ceiling");
    assert!(matches!(refused, StateError::TenantBytes { used: 100, wanted: 101, ceiling: 100 }), "{refused:?}");
    subject.put(&with_tenant("two", "s1"), "k", &[0; 99]).await;
    subject.apply(&one, vec![delete("k")]).await.expect("a deletion");
    subject.put(&two, "k", &[0; 99]).await;
    subject.clock.advance(IDLE);
    subject.put(&one, "k", &[0; 99]).await;
}

async fn scopes_with_content_are_counted(subject: &StoreUnderTest) {
    let scopes: Vec<_> = ["s1", "s2", "s3"].map(|session| with_tenant("one", session)).into();
    subject.put(&scopes[0], "k", b"").await;
    subject.put(&scopes[1], "k", b"").await;
    let refused = subject.apply(&scopes[2], vec![put("k", b"")]).await.expect_err("above the ceiling");
    assert!(matches!(refused, StateError::TenantScopes { ceiling: 2 }), "{refused:?}");
    subject.apply(&scopes[2], vec![delete("k")]).await.expect("a deletion makes no scope");
    subject.put(&scopes[1], "more", b"").await;
    subject.put(&with_tenant("two", "s1"), "k", b"").await;

    subject.apply(&scopes[0], vec![delete("k")]).await.expect("a deletion");
    subject.put(&scopes[2], "k", b"").await;
    assert!(subject.apply(&scopes[0], vec![put("k", b"")]).await.is_err(), "an emptied scope is counted twice");
    subject.clock.advance(IDLE);
    subject.put(&scopes[0], "k", b"").await;
    subject.put(&scopes[1], "k", b"").await;
    assert!(subject.apply(&scopes[2], vec![put("k", b"")]).await.is_err(), "an expired scope is counted twice");
}

async fn all_tenants_together_are_limited(subject: &StoreUnderTest) {
    let (one, two) = (with_tenant("one", "s"), with_tenant("two", "s"));
    subject.put(&one, "k", &[0; 59]).await;
    subject.put(&two, "k", &[0; 39]).await;
    let refused = subject.apply(&two, vec![put("k", &[0; 40])]).await.expect_err("above the ceiling");
    assert!(matches!(refused, StateError::HostBytes { ceiling: 100 }), "{refused:?}");
    subject.apply(&one, vec![put("k", &[0; 58])]).await.expect("shrinks");
    subject.put(&two, "k", &[0; 40]).await;
}

impl StoreUnderTest {
    fn limited(&self, policy: ScopePolicy) -> Self {
        Self { store: self.store.clone(), clock: self.clock.clone(), policy }
    }
}
