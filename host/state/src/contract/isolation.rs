//! Entries of one scope are never visible from another.

use wharf_core::{ScopeKey, ScopeKind};

use super::store_under_test::{StoreUnderTest, delete, thread};

pub(super) async fn check(subject: &StoreUnderTest) {
    let scopes = lookalikes();
    for (number, scope) in scopes.iter().enumerate() {
        assert_eq!(subject.get(scope, "key").await, None, "{scope:?} sees the entry of another");
        subject.put(scope, "key", number.to_string().as_bytes()).await;
    }
    for (number, scope) in scopes.iter().enumerate() {
        let value = subject.value(scope, "key").await.expect("what was put");
        assert_eq!(value, number.to_string().as_bytes(), "{scope:?} holds the entry of another");
        let page = subject.scan(scope, "", None, 10).await;
        assert_eq!((page.entries.len(), page.next), (1, None), "{scope:?} scans the entries of another");
        assert_eq!(subject.usage(scope).await.0, 1, "{scope:?} counts the entries of another");
    }
    subject.apply(&scopes[0], vec![delete("key")]).await.expect("a deletion");
    for scope in &scopes[1..] {
        assert!(subject.get(scope, "key").await.is_some(), "{scope:?} lost its entry to a deletion in another");
    }
}

/// Scopes that a joined string, a NULL or a default would mix up.
fn lookalikes() -> Vec<ScopeKey> {
    let plain = thread("s", "a", "t");
    let mut scopes = vec![
        plain.clone(),
        thread("s::a", "t", ""),
        thread("s", "a::t", ""),
        thread("s::a::t", "", ""),
        thread("s", "", "a::t"),
        thread("s", "", ""),
        thread("s", "none", ""),
        thread("s", "", "none"),
        thread("s", "none", "none"),
        thread("s", "default", "default"),
        thread("default", "", ""),
        thread("none", "", ""),
        thread("null", "null", "null"),
        thread("s", "a", ""),
        thread("s", "", "a"),
        thread("s", "", "t"),
        thread("S", "a", "t"),
        thread("s:", "a", "t"),
        thread("s", ":a", "t"),
    ];
    for kind in [ScopeKind::Session, ScopeKind::Assistant, ScopeKind::Plugin] {
        scopes.push(ScopeKey { kind, ..plain.clone() });
        scopes.push(ScopeKey { kind, ..thread("", "", "") });
    }
    scopes.push(ScopeKey { tenant: "planning".parse().expect("legal"), ..plain.clone() });
    scopes.push(ScopeKey { plugin: "local".parse().expect("legal"), ..plain.clone() });
    scopes.push(ScopeKey { bucket: "Main".parse().expect("legal"), ..plain.clone() });
    scopes.push(ScopeKey { bucket: "t".parse().expect("legal"), ..plain });
    scopes
}
